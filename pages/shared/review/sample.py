"""A random sample to review: how many cases, for what, and by which seed."""

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.machines.rates import likely_named, likely_right
from core.review.random_sample import random_sample
from core.review.worklist import Queue
from core.text import shorten
from pages.shared.cache import cases as cached_cases
from pages.shared.kit import plausibility_models, state


def queue(place, dataset: Dataset, people: Dataset, model, reliability: float) -> Queue | None:
    """Return a sample by budget, seed and target; None while certainty is computed."""
    budget = place.number_input(
        "Approximate number", 1, dataset.n_cases, min(50, dataset.n_cases), key="sample_budget", persist_state="session"
    )
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    target = left.selectbox(
        "To estimate", _targets(dataset), format_func=_target_words, key="sample_target", persist_state="session",
        help="Informative cases are drawn more often, so you need fewer reviews. Plurality records each case's chance "
        "of being drawn and corrects all rates for it. This sample can also estimate other rates, but less precisely.",
    )  # fmt: skip
    seed = right.number_input(
        "Seed", 0, 2**31 - 1, 0, key="sample_seed", persist_state="session",
        help="With the same seed, a larger number of cases extends the sample. A different seed draws a separate "
        "sample, and the two cannot be combined.",
    )  # fmt: skip
    if target[0] == "any":
        return random_sample(dataset, budget, seed)
    if target[0] == "vote":
        likely = _certainty(dataset, people, model, reliability)
    else:
        likely = _likely(dataset, people, *target)
    return None if likely is None else random_sample(dataset, budget, seed, likely, _plain_target(target))


def _targets(dataset: Dataset) -> list[tuple[str, str]]:
    """Return the possible targets of a sample: any rate, accuracy of the panel or an AI rater, frequency of a class."""
    if dataset.kind == "score":
        return [("any", "")]
    machines = [] if dataset.kind == "set" else [one.name for one in state.marked_machines()]
    return [
        ("any", ""),
        ("vote", ""),
        *(("machine", name) for name in machines if name in dataset.raters),
        *(("class", name) for name in dataset.classes),
    ]


def _plain_target(target: tuple[str, str]) -> str:
    kind, name = target
    of = {"any": "any rate", "vote": "how often the leading class is correct", "class": f"the share of {name}"}
    return of.get(kind, f"how often {name} is correct")


def _target_words(target: tuple[str, str]) -> str:
    words = shorten(_plain_target(target), 60)
    return (
        "Any rate (all cases are equally likely to be drawn)"
        if target[0] == "any"
        else f"{words[0].upper()}{words[1:]}"
    )


def _likely(dataset: Dataset, people: Dataset, kind: str, name: str) -> np.ndarray:
    """How likely a further person says that a case has the class, or the machine's; machines do not count for it."""
    view, _ = dataset.as_classes(name if dataset.kind == "set" else None)
    if kind == "machine":
        return likely_right(view, people.raters, name)
    return likely_named(view, people.raters, view.classes[1] if dataset.kind == "set" else name)


def _certainty(dataset: Dataset, people: Dataset, model, reliability: float) -> np.ndarray | None:
    """How certain the most plausible class of each case is, of sets the set; None while it is worked out."""
    if people.kind == "set":
        return _over_all(people, cached_cases.label_sets(people, model, reliability).whole, dataset)
    view = plausibility_models.data_for(model.name, people, quietly=True)
    found = plausibility_models.case_certainty(view, model, reliability)
    return None if found is None else _over_all(view, found.certainty.certainty[:, 0], dataset)


def _over_all(people: Dataset, certainty: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Certainty of every case of the dataset; none of those that people have not read: full doubt."""
    of_case = dict(zip(people.cases, certainty, strict=True))
    return np.array([of_case.get(case_id, np.nan) for case_id in dataset.cases])
