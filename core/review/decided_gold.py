"""Decisions of arbitration as gold, equivalent to a column of gold classes or sets; used only on request."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..text import plural
from .adjudicated import results
from .opinions import Opinion
from .states import CaseReview


@dataclass(frozen=True, slots=True, eq=False)
class DecidedGold:
    """Dataset whose gold includes decisions of arbitration.

    Attributes
    ----------
    dataset : Dataset
        Dataset with a content digest of its own.
    n_decided : int
        Number of cases of the dataset whose gold is a decision.
    n_differ : int
        Number of cases whose gold is another class or set than the decision; their gold stays.
    n_no_class : int
        Number of cases whose decision is not a single first class; for sets, not a set of labels of the data.
    """

    dataset: Dataset
    n_decided: int
    n_differ: int
    n_no_class: int

    @property
    def words(self) -> str:
        """Origin of the gold, in a sentence."""
        what = "gold sets" if self.dataset.kind == "set" else "gold classes"
        n_known = int((_gold_of(self.dataset)[:, 0] >= 0).sum())
        words = f"{self.n_decided:,} of {n_known:,} {what} come from arbitration by people who saw the annotations"
        if self.n_differ:
            differ = plural(self.n_differ, "other decision differs", "other decisions differ")
            words += f". {differ} from the gold in the file, which takes precedence"
        return f"{words}."


def decided_gold(dataset: Dataset, reviews: Mapping[str, CaseReview]) -> DecidedGold:
    """Return the dataset with arbitrated classes, or sets of labels, as gold for cases without gold.

    Parameters
    ----------
    dataset : Dataset
        Reviewed dataset, or a selection of it; not of scores.
    reviews : mapping of str to CaseReview
        Reviews by case. Only finished arbitrations count: agreement with the panel is not gold.
    """
    gold = _gold_of(dataset)
    place = {case_id: number for number, case_id in enumerate(dataset.cases)}
    n_decided = n_differ = n_no_class = 0
    for case_id, (opinion, _) in results(reviews).items():
        if case_id not in place:
            continue
        known, said = gold[place[case_id]], _said(dataset, opinion)
        if said is None:
            n_no_class += 1
        elif known[0] < 0:
            known[:] = said
            n_decided += 1
        else:
            n_differ += int((known != said).any())
    if not n_decided:
        return DecidedGold(dataset, 0, n_differ, n_no_class)
    changed = replace(dataset, gold_sets=gold) if dataset.kind == "set" else replace(dataset, gold=gold[:, 0])
    return DecidedGold(changed, n_decided, n_differ, n_no_class)


def _gold_of(dataset: Dataset) -> np.ndarray:
    """Return a copy of the gold, one row per case: the code of its class, or for sets the labels; -1 unknown."""
    if dataset.kind == "set":
        shape = (dataset.n_cases, dataset.n_classes)
        return np.full(shape, -1, np.int8) if dataset.gold_sets is None else np.array(dataset.gold_sets, np.int8)
    one = np.full(dataset.n_cases, -1, np.int32) if dataset.gold is None else np.array(dataset.gold, np.int32)
    return one[:, None]


def _said(dataset: Dataset, opinion: Opinion) -> np.ndarray | int | None:
    """Return a decision as a row of the gold; None if it is not a single first class, or not a set."""
    first = opinion.blocks[0] if opinion.blocks else ()
    if opinion.is_set != (dataset.kind == "set") or not first or not set(first) <= set(dataset.classes):
        return None
    if dataset.kind == "set":
        return np.isin(dataset.classes, first).astype(np.int8)
    return dataset.classes.index(first[0]) if len(first) == 1 else None
