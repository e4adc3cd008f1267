"""Cases whose class is known: fixed in a fit if requested, otherwise kept apart to judge it."""

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from .result import RaterModelFit


def known_classes(dataset: Dataset, use_gold: bool) -> np.ndarray:
    """Return the known class of each case, -1 if unknown, int32, (n_cases,); empty if gold is not used.

    Raises
    ------
    NotApplicableError
        Gold is to be used and there is none.
    """
    if not use_gold:
        return np.empty(0, np.int32)
    if dataset.gold is None or not (dataset.gold >= 0).any():
        raise NotApplicableError(
            "Could not hold gold classes fixed: no case has a gold class. Fit the model without gold."
        )
    return np.array(dataset.gold, np.int32)


def gold_cases(dataset: Dataset) -> np.ndarray:
    """Return cases with a gold class or score and at least one annotation, ascending; empty if there is none."""
    if dataset.gold is not None:
        known = dataset.gold >= 0
    elif dataset.gold_scores is not None:
        known = ~np.isnan(dataset.gold_scores)
    else:
        return np.empty(0, np.int64)
    return np.flatnonzero(known & (np.diff(dataset.case_ptr) > 0))


def note_of_one_class(dataset: Dataset) -> str:
    """Return a note if all gold cases have the same class; empty otherwise."""
    cases = gold_cases(dataset)
    known = np.empty(0) if dataset.gold is None else np.unique(dataset.gold[cases])
    if len(known) != 1 or dataset.n_classes < 2:
        return ""
    only = dataset.classes[known[0]]
    return f"All {cases.size:,} gold cases are “{only}”, so gold shows nothing about other classes."


def judging_gold(dataset: Dataset, fit: RaterModelFit) -> tuple[np.ndarray, np.ndarray]:
    """Return cases whose gold class may judge a fit, ascending, and these classes.

    Raises
    ------
    NotApplicableError
        There is none, or the fit held them fixed.
    """
    cases = gold_cases(dataset)
    if dataset.gold is None or not cases.size:
        raise NotApplicableError("Cannot compare with gold: no annotated case has a gold class.")
    if fit.settings.get("use_gold"):
        raise NotApplicableError(
            "Cannot test this fit against gold: it used the gold classes. Fit the model without them."
        )
    return cases, dataset.gold[cases]
