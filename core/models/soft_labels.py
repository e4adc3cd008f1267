"""Soft labels: class probabilities for training, never only the best class.

Han, Adıgüzel & Carpenter, Crowdsourcing with Difficulty, section 5: training on log-odds does best, then weighting each
class by its probability, then drawing a class; the most likely class alone does worst.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..annotations.dataset import Dataset
from ..result_base import Columns, Result
from .result import RaterModelFit

if TYPE_CHECKING:
    import pandas as pd

LOG_ODDS_BOUND = 20.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SoftLabels(Result):
    """Soft labels; arrays of shape (n_cases, n_classes).

    Attributes
    ----------
    cases, classes : tuple of str
    probability : ndarray
        Rows sum to 1.
    log_odds : ndarray
        ln p/(1 − p), within ±``bound``.
    weight : ndarray
        Weight of the example (case, class) in training: the probability, and 0 for cases that nobody annotated.
    bound : float
    """

    cases: tuple[str, ...]
    classes: tuple[str, ...]
    probability: np.ndarray
    log_odds: np.ndarray
    weight: np.ndarray
    bound: float

    TABLES = ("labels",)

    def _columns(self, table: str, most: int | None) -> Columns:
        cases = self.cases[:most]
        found = {name: getattr(self, name)[:most].ravel() for name in ("probability", "log_odds", "weight")}
        return {
            "case": [case for case in cases for _ in self.classes],
            "class": list(self.classes) * len(cases),
            **found,
        }


def soft_labels(dataset: Dataset, fit: RaterModelFit, bound: float = LOG_ODDS_BOUND) -> SoftLabels:
    """Build the class probabilities of a fit of ``dataset`` in three forms.

    Parameters
    ----------
    dataset : Dataset
    fit : RaterModelFit
        Fit of the dataset.
    bound : float
        Largest log-odds, either way.
    """
    p = fit.class_probability
    # The mass of the other classes, summed: 1 − p has lost it where p is near 1.
    others = np.stack([np.delete(p, k, axis=1).sum(axis=1) for k in range(p.shape[1])], axis=1)
    with np.errstate(divide="ignore"):
        log_odds = np.clip(np.log(p) - np.log(others), -bound, bound)
    rated = np.diff(dataset.case_ptr) > 0
    return SoftLabels(fit.cases, fit.classes, p, log_odds, np.where(rated[:, None], p, 0.0), bound)


def by_class(cases: tuple[str, ...], classes: tuple[str, ...], values: np.ndarray) -> "pd.DataFrame":
    """Return one row per case with a column for each class.

    Parameters
    ----------
    cases, classes : tuple of str
    values : ndarray, shape (n_cases, n_classes)
    """
    import pandas as pd  # takes longer than all that a small file needs

    table = pd.DataFrame(values, columns=list(classes))
    table.insert(0, "case", list(cases), allow_duplicates=True)  # a class may be called "case"
    return table
