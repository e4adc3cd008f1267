"""What the page shows, computed once for the content of the data, the machines and the settings."""

from dataclasses import dataclass

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError, PluralityError
from core.jobs import Job
from core.machines.alternative_test import AlternativeTest, MachineStanding, alternative_test, people_in_its_place
from core.machines.annotation_scores import Score
from core.machines.differs import Differences
from core.machines.joined import joined, of_predictions
from core.machines.pair_agreement import PairAgreement, pair_agreement
from core.machines.worth import Worth, worth_readers
from core.plausibility.dirichlet import DirichletCounts
from core.text import markdown
from pages.shared.cache import datasets as cached
from pages.shared.cache.machines import differs as cached_differs
from pages.shared.kit import job_progress, opening, predictions

SEED = 0
MOST_PEOPLE = 60


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """What is tested; an entry of ``worth`` is the reason where there is none."""

    test: AlternativeTest
    people: tuple[MachineStanding, ...]
    worth: tuple[Worth | str, ...]
    agreement: tuple[PairAgreement, ...]


def with_classifiers(dataset: Dataset, machines: tuple[str, ...]) -> tuple[Dataset, tuple[str, ...]]:
    """The dataset with the predictions of classifiers as raters, too, and the names of all machines."""
    if dataset.kind == "score":
        return dataset, machines
    for classifier in predictions.classifiers(dataset):
        try:
            dataset, names, _ = joined(dataset, of_predictions(dataset, classifier))
        except PluralityError as error:
            st.caption(markdown(error))
            continue
        machines += names
    return dataset, machines


def reliability(dataset: Dataset, people: tuple[str, ...]) -> float:
    """The γ at which pages of counts open on the people's annotations."""
    view = cached.class_view(dataset.select(raters=people), None)[0]
    return opening.reliability(view, DirichletCounts(), view)[0]


def of(
    dataset: Dataset, machines: tuple[str, ...], people: tuple[str, ...], epsilon: float, score: Score
) -> Computed | None:
    """The results; None while they are computed, with that on screen.

    Parameters
    ----------
    dataset : Dataset
    machines, people : tuple of str
        Raters of it.
    epsilon : float
    score : {"accuracy", "rmse", "overlap"}
    """
    codes = dict(zip(dataset.raters, dataset.coded.raters, strict=True))
    m, p = tuple(codes[name] for name in machines), tuple(codes[name] for name in people)

    def work(job: Job) -> Computed:
        return _computed(dataset.coded, m, p, epsilon, score, job)

    key = (dataset.content_digest, "machines", m, p, epsilon, score, SEED)
    return job_progress.result_of(key, "Machines against raters", work, of=dataset)


def differs(
    dataset: Dataset, machines: tuple[str, ...], people: tuple[str, ...], gamma: float
) -> tuple[Differences | str, ...]:
    """Where each machine differs from a decided panel at a γ, or why that cannot be said.

    Parameters
    ----------
    dataset : Dataset
    machines, people : tuple of str
        Raters of it.
    gamma : float
        Of the panel's certainty.
    """
    codes = dict(zip(dataset.raters, dataset.coded.raters, strict=True))
    m, p = tuple(codes[name] for name in machines), tuple(codes[name] for name in people)
    return cached_differs(dataset, m, p, gamma)


def _computed(
    dataset: Dataset, machines: tuple[str, ...], people: tuple[str, ...], epsilon: float, score: Score, job: Job
) -> Computed:  # fmt: skip
    how = {"people": people, "epsilon": epsilon, "score": score, "seed": SEED, "token": job.token}
    test = alternative_test(dataset, machines, **how, progress=lambda share: job.report(0.4 * share))
    everybody: tuple[MachineStanding, ...] = ()
    if 3 <= len(people) <= MOST_PEOPLE:
        everybody = people_in_its_place(dataset, **how, progress=lambda share: job.report(0.4 + 0.4 * share))
    worth = []
    for name in machines:
        job.token.check()
        worth.append(_or_why(worth_readers, dataset, name, people, seed=SEED))
    near = tuple(pair_agreement(dataset, name, people, score=score, seed=SEED) for name in machines)
    return Computed(test, everybody, tuple(worth), near)


def _or_why(work, *asked, **more):
    try:
        return work(*asked, **more)
    except NotApplicableError as error:
        return str(error)
