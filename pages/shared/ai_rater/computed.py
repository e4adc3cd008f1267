"""What the page shows, computed once for the content of the data, the machines and the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.rater_codes import renamed_raters
from core.errors import NotApplicableError, PluralityError
from core.evaluation.predictions import Predictions
from core.evaluation.score_predictions import ScorePredictions
from core.machines.alternative_test import AlternativeTest, MachineStanding, alternative_test, people_in_its_place
from core.machines.annotation_scores import Score
from core.machines.disagreements import Differences
from core.machines.equivalent_readers import EquivalentReaders, equivalent_readers
from core.machines.joined import joined, of_predictions
from core.machines.marks import Machine
from core.machines.pair_agreement import PairAgreement, pair_agreement
from core.machines.subgroup_differences import SubgroupDifference
from core.machines.versions import VersionDrift
from core.plausibility.dirichlet import DirichletCounts
from core.runtime.jobs import Job
from core.text import markdown
from core.thresholds import PANEL_DECIDED
from pages.shared.cache import datasets as cached
from pages.shared.cache.machines import differs as cached_differs
from pages.shared.cache.machines import subgroup_differences as cached_leads
from pages.shared.cache.machines import version_drift as cached_drift
from pages.shared.kit import job_progress, opening, predictions, presentation

SEED = 0
TITLE = "Comparing AI raters with people"
MOST_PEOPLE = 60
RANKINGS = 10.0  # seconds that the log score of rankings may take


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """Results of the tests of all AI raters; an entry of ``worth`` is a reason if it has no value.

    ``by_log_score`` has the machines that give probabilities.
    """

    test: AlternativeTest
    people: tuple[MachineStanding, ...]
    worth: tuple[EquivalentReaders | str, ...]
    by_log_score: tuple[EquivalentReaders, ...]
    agreement: tuple[PairAgreement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """AI raters that the page compares, with the data that have all of them as raters.

    Attributes
    ----------
    dataset : Dataset
    names : tuple of str
    probability : mapping of str to ndarray, shape (n_cases, n_classes)
    stamp : tuple of str
        Key of the predictions behind the probabilities.
    notes : mapping of str to tuple of str
        Notes on rows of an AI rater's file that are not in the data.
    """

    dataset: Dataset
    names: tuple[str, ...]
    probability: Mapping[str, np.ndarray]
    stamp: tuple[str, ...]
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def people(self) -> tuple[str, ...]:
        """All other raters."""
        return tuple(name for name in self.dataset.raters if name not in set(self.names))


def with_classifiers(dataset: Dataset, machines: tuple[str, ...], *, said: bool = True) -> Machines:
    """Return the dataset with AI raters from files added as raters, and the probabilities of marked AI raters.

    Classifiers come first, in their order, so that each has the same colour as on other pages.

    Parameters
    ----------
    dataset : Dataset
    machines : tuple of str
        Raters of it.
    said : bool
        True if the screen shows why a file does not fit.
    """
    found, marked, probability, stamps, notes = dataset, set(machines), {}, [], {}
    first: tuple[str, ...] = ()
    for classifier in predictions.classifiers(dataset):
        name = classifier.name
        if name not in marked:
            found, names = _with_rater(found, classifier, said)
            if not names:
                continue
            (name,) = names
        first += (name,)
        notes[name] = classifier.notes
        given = classifier.probabilities(dataset.n_classes) if isinstance(classifier, Predictions) else None
        if given is not None:
            probability[name] = given
            stamps.append(predictions.fingerprint(classifier))
    for answers in predictions.answers(dataset):
        if marked.isdisjoint(answers.raters):
            found, names = _with_rater(found, answers, said)
            machines += names
    machines = tuple(dict.fromkeys(first + machines))
    more = found.n_classes - dataset.n_classes  # classes that only a machine gave are the last
    probability = {name: np.pad(given, ((0, 0), (0, more))) for name, given in probability.items()}
    called = presentation.veiled_names(machines, marked)
    found = renamed_raters(found, [called.get(name, name) for name in found.raters]) if called else found
    return Machines(
        found,
        tuple(called.get(name, name) for name in machines),
        {called.get(name, name): given for name, given in probability.items()},
        tuple(stamps),
        {called.get(name, name): each for name, each in notes.items()},
    )


def _with_rater(
    dataset: Dataset, machine: Dataset | Predictions | ScorePredictions, said: bool
) -> tuple[Dataset, tuple[str, ...]]:
    """Return the data with an AI rater's annotations or predictions, and its names in them; none if they do not fit."""
    try:
        found, names, _ = joined(dataset, machine if isinstance(machine, Dataset) else of_predictions(dataset, machine))
    except PluralityError as error:
        if said:
            st.caption(markdown(error))
        return dataset, ()
    return found, names


def reliability(dataset: Dataset, people: tuple[str, ...]) -> float:
    """Return γ as pages open with it on people's annotations, and redraw when what may change it is ready."""
    view = cached.class_view(dataset.select(raters=people), None)[0]
    for job in opening.at_work(view, DirichletCounts(), view):
        job_progress.redraw_after(job)
    return opening.settings(view, DirichletCounts(), view).reliability


def may_move(dataset: Dataset, people: tuple[str, ...]) -> bool:
    """Return True while that γ is still being chosen from the data."""
    view = cached.class_view(dataset.select(raters=people), None)[0]
    return opening.settings(view, DirichletCounts(), view).reliability_open


def of(machines: Machines, epsilon: float, score: Score) -> Computed | None:
    """Return the results; None while they are computed and the screen shows the progress.

    Parameters
    ----------
    machines : Machines
    epsilon : float
    score : {"accuracy", "rmse", "overlap"}
    """
    key, work = _work(machines, epsilon, score)
    found = job_progress.result_of(key, TITLE, work, of=machines.dataset)
    return None if found is None else Computed(*found)


def job_of(machines: Machines, epsilon: float, score: Score, *, background: bool = False) -> Job:
    """Return the job that computes the fields of `Computed`, without showing it; arguments as for `of`.

    ``background`` if nothing waits for it yet.
    """
    key, work = _work(machines, epsilon, score)
    return cached.job(key, TITLE, work, of=machines.dataset, background=background)


def known(machines: Machines, epsilon: float, score: Score) -> Computed | None:
    """Return the results if they are known; starts and shows nothing. Arguments as for `of`."""
    found = cached.known_result(_work(machines, epsilon, score)[0], TITLE, machines.dataset)
    return None if found is None else Computed(*found)


def _work(machines: Machines, epsilon: float, score: Score) -> tuple[tuple, Callable[[Job], tuple]]:
    coded, m, p = _coded(machines)
    probability = {code: machines.probability.get(name) for code, name in zip(m, machines.names, strict=True)}

    def work(job: Job) -> tuple:  # results on disk know the classes of `core` alone
        return _computed(coded, m, p, epsilon, score, probability, job)

    return (machines.dataset.content_digest, "machines", m, p, machines.stamp, epsilon, score, SEED), work


def differs(machines: Machines, gamma: float, level: float = PANEL_DECIDED) -> tuple[Differences | str, ...]:
    """Compare each AI rater with a decided panel at a γ, or return why this is not possible.

    Parameters
    ----------
    machines : Machines
    gamma : float
        Reliability γ of the panel's certainty.
    level : float
        Certainty from which the panel is decided.
    """
    return cached_differs(machines.dataset, *_coded(machines)[1:], gamma, level)


def subgroup_differences(
    machines: Machines, score: Score, gamma: float
) -> tuple[tuple[SubgroupDifference, ...], dict[str, str]]:
    """Return people's lead over each AI rater on parts of the cases, and AI raters without one, with the reason.

    Parameters
    ----------
    machines : Machines
    score : {"accuracy", "rmse", "overlap"}
    gamma : float
        Reliability γ of the panel's certainty.
    """
    found = cached_leads(machines.dataset, *_coded(machines)[1:], score, gamma)
    each = dict(zip(machines.names, found, strict=True))
    known = tuple(lead for one in each.values() if not isinstance(one, str) for lead in one)
    return known, {name: one for name, one in each.items() if isinstance(one, str)}


def versions(machines: Machines, marked: Sequence[Machine], score: Score) -> tuple[VersionDrift, ...]:
    """Versions of each family side by side.

    Parameters
    ----------
    machines : Machines
    marked : sequence of Machine
        The same machines, with families and versions.
    score : {"accuracy", "rmse", "overlap"}
    """
    _, names, people = _coded(machines)
    told = tuple((code, one.family, one.version) for code, one in zip(names, marked, strict=True))
    return cached_drift(machines.dataset, told, people, score)


def _coded(machines: Machines) -> tuple[Dataset, tuple[str, ...], tuple[str, ...]]:
    """Return the data with raters without names, and the codes of the AI raters and of the people."""
    dataset = machines.dataset
    codes = dict(zip(dataset.raters, dataset.coded.raters, strict=True))
    names, people = (tuple(codes[name] for name in group) for group in (machines.names, machines.people))
    return dataset.coded, names, people


def _computed(
    dataset: Dataset, machines: tuple[str, ...], people: tuple[str, ...], epsilon: float, score: Score,
    probability: Mapping[str, np.ndarray | None], job: Job,
) -> tuple:  # fmt: skip
    """Compute the fields of `Computed`, in their order."""
    how = {"people": people, "epsilon": epsilon, "score": score, "seed": SEED, "token": job.token}
    test = alternative_test(dataset, machines, **how, progress=lambda share: job.report(0.4 * share))
    everybody: tuple[MachineStanding, ...] = ()
    if 3 <= len(people) <= MOST_PEOPLE:
        everybody = people_in_its_place(dataset, **how, progress=lambda share: job.report(0.4 + 0.4 * share))
    worth, by_log_score = [], []
    for name in machines:
        job.token.check()
        worth.append(_or_why(equivalent_readers, dataset, name, people, seed=SEED))
        if (given := probability[name]) is not None:
            found = _or_why(
                cached.run, job, equivalent_readers, dataset, dataset, name, people, score="log", probability=given,
                seed=SEED, progress=None, seconds=RANKINGS if dataset.kind == "ranking" else 0.0,
            )  # fmt: skip
            by_log_score += [found] if isinstance(found, EquivalentReaders) else []
    near = tuple(pair_agreement(dataset, name, people, score=score, seed=SEED) for name in machines)
    return test, everybody, tuple(worth), tuple(by_log_score), near


def _or_why(work, *asked, **more):
    try:
        return work(*asked, **more)
    except NotApplicableError as error:
        return str(error)
