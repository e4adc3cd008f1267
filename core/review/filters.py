"""Filters of a queue: by class, rater, raters who disagree, date, state and gold. Results are masks of cases."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..annotations.dataset import MISSING_TIME, Dataset
from ..errors import InputError, NotFoundError
from .states import PENDING, SETTLED, STATES, CaseReview


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions for a case to be in a session; omitted ones do not matter.

    Attributes
    ----------
    named : str, optional
        Class that a rater named on the case, at any position.
    rater : str, optional
        Rater who has annotated the case.
    pair : (str, str), optional
        Two raters whose first choices on the case differ, as in a cell of the agreement matrix.
    since, until : int, optional
        Times with an annotation from ``since`` (inclusive) to ``until`` (exclusive), seconds since 1970-01-01 UTC.
    states : collection of str, optional
        States of the review (`core.review.states.STATES`); if omitted, all but closed and adjudicated.
    without_gold : bool
        True leaves out cases that gold settles (`settled_by_gold`).
    """

    named: str | None = None
    rater: str | None = None
    pair: tuple[str, str] | None = None
    since: int | None = None
    until: int | None = None
    states: Collection[str] | None = None
    without_gold: bool = False


def settled_by_gold(dataset: Dataset) -> np.ndarray:
    """Return the cases with gold, bool, shape (n_cases,); none if all have gold, because no case would be left."""
    gold = dataset.gold_of_cases()
    known = np.zeros(dataset.n_cases, bool) if gold is None else pd.notna(np.array(gold, object))
    return known & ~known.all()


def open_cases(dataset: Dataset, reviews: Mapping[str, CaseReview]) -> np.ndarray:
    """Return the cases without gold that reviews neither settled nor wait for, bool, shape (n_cases,).

    Parameters
    ----------
    dataset : Dataset
    reviews : mapping
        Review of each case that has one.
    """
    return matching(dataset, Filter(states=STATES.keys() - SETTLED - PENDING, without_gold=True), reviews)


def matching(dataset: Dataset, wanted: Filter, reviews: Mapping[str, CaseReview]) -> np.ndarray:
    """Return the cases that pass a filter, bool, shape (n_cases,).

    Parameters
    ----------
    dataset : Dataset
    wanted : Filter
    reviews : mapping
        Review of each case that has one (`ReviewStore.cases`).

    Raises
    ------
    NotFoundError
        A class or a rater that the data do not have.
    InputError
        Dates or raters are given and the data have none, or a state does not exist.
    """
    kept = _by_state(dataset, wanted.states, reviews)
    annotation = np.ones(dataset.n_annotations, bool)
    if wanted.rater is not None:
        annotation &= dataset.rater == _rater(dataset, wanted.rater)
    if wanted.since is not None or wanted.until is not None:
        if dataset.time is None:
            raise InputError("Cannot filter by date: these data have no dates.", "Leave the dates out of the filter.")
        annotation &= dataset.time != MISSING_TIME
        if wanted.since is not None:
            annotation &= dataset.time >= wanted.since
        if wanted.until is not None:
            annotation &= dataset.time < wanted.until
    if not annotation.all():
        kept &= np.bincount(dataset.case_of_annotation[annotation], minlength=dataset.n_cases) > 0
    if wanted.without_gold:
        kept &= ~settled_by_gold(dataset)
    if wanted.named is not None:
        kept &= _names(dataset, wanted.named)
    if wanted.pair is not None:
        kept &= _disagree(dataset, *(_rater(dataset, name) for name in wanted.pair))
    return kept


def _by_state(dataset: Dataset, states: Collection[str] | None, reviews: Mapping[str, CaseReview]) -> np.ndarray:
    if states is None:
        states = STATES.keys() - SETTLED
    if unknown := [state for state in states if state not in STATES]:
        raise InputError(f"Unknown state {unknown[0]!r}.", f"Use one of {', '.join(STATES)}.")
    kept = np.full(dataset.n_cases, "open" in states)
    for case, case_id in enumerate(dataset.cases):
        if case_id in reviews:
            kept[case] = reviews[case_id].state in states
    return kept


def _rater(dataset: Dataset, name: str) -> int:
    if not dataset.raters_identified:
        raise InputError("Cannot filter by rater: the annotations are anonymous.", "Leave raters out of the filter.")
    try:
        return dataset.raters.index(name)
    except ValueError:
        raise NotFoundError(f"Could not find rater {name!r} in {dataset.name}.") from None


def _names(dataset: Dataset, name: str) -> np.ndarray:
    if name not in dataset.classes:
        raise NotFoundError(f"Could not find class {name!r} in {dataset.name}.")
    code = dataset.classes.index(name)
    case, named = dataset.named_classes()
    return np.bincount(case[named == code], minlength=dataset.n_cases) > 0


def _disagree(dataset: Dataset, a: int, b: int) -> np.ndarray:
    """Return the cases that both annotated, with no first choice, or no score, in common."""
    firsts: list[dict[int, set[float]]] = [{}, {}]
    for place, rater in enumerate((a, b)):
        for annotation in np.flatnonzero(dataset.rater == rater).tolist():
            case = int(dataset.case_of_annotation[annotation])
            blocks = [[float(dataset.score[annotation])]] if dataset.kind == "score" else dataset.blocks_of(annotation)
            firsts[place].setdefault(case, set()).update(*blocks[:1])
    kept = np.zeros(dataset.n_cases, bool)
    for case in firsts[0].keys() & firsts[1].keys():
        kept[case] = not firsts[0][case] & firsts[1][case]
    return kept
