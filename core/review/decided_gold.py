"""Classes that were decided in arbitration, as gold: the same as a column of gold classes, where that is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from .adjudicated import results
from .states import CaseReview


@dataclass(frozen=True, slots=True, eq=False)
class DecidedGold:
    """A dataset whose gold holds what was decided.

    Attributes
    ----------
    dataset : Dataset
        With a content digest of its own.
    n_decided : int
        Cases of the dataset whose gold is a decision.
    n_differ : int
        Cases with gold of another class than the decision; their gold stays.
    n_no_class : int
        Cases whose decision is no single first class.
    """

    dataset: Dataset
    n_decided: int
    n_differ: int
    n_no_class: int

    @property
    def words(self) -> str:
        """What gold now rests on, in a sentence."""
        known = 0 if self.dataset.gold is None else int((self.dataset.gold >= 0).sum())
        words = f"{self.n_decided:,} of {known:,} gold classes come from arbitration, by people who saw the annotations"
        if self.n_differ:
            differ = "differs" if self.n_differ == 1 else "differ"
            words += f"; {self.n_differ:,} more {differ} from the gold of the file, which stays"
        return f"{words}."


def decided_gold(dataset: Dataset, reviews: Mapping[str, CaseReview]) -> DecidedGold:
    """The dataset with arbitrated classes as gold where it has none.

    Parameters
    ----------
    dataset : Dataset
        What was reviewed, or a selection of it.
    reviews : mapping of str to CaseReview
        By case. Only finished arbitrations count: agreement with the panel is no gold.
    """
    gold = np.full(dataset.n_cases, -1, np.int32) if dataset.gold is None else np.array(dataset.gold, np.int32)
    place = {case_id: number for number, case_id in enumerate(dataset.cases)}
    codes = {name: code for code, name in enumerate(dataset.classes)}
    n_decided = n_differ = n_no_class = 0
    for case_id, (opinion, _) in results(reviews).items():
        if case_id not in place:
            continue
        first = opinion.blocks[0] if opinion.blocks else ()
        if len(first) != 1 or first[0] not in codes:
            n_no_class += 1
        elif gold[place[case_id]] < 0:
            gold[place[case_id]] = codes[first[0]]
            n_decided += 1
        else:
            n_differ += int(gold[place[case_id]] != codes[first[0]])
    if not n_decided:
        return DecidedGold(dataset, 0, n_differ, n_no_class)
    return DecidedGold(replace(dataset, gold=gold), n_decided, n_differ, n_no_class)
