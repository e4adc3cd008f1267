"""Comparison of a fit with counts: annotations of pairs, and kappa against accuracy.

Under t-a-p with one accuracy and one p for all, two annotations on a case are k and l with probability c_k c_l +
a² (t_k 1(k = l) − t_k t_l), c = a t + ā p, hence Fleiss' kappa a² (1 − t·t)/(1 − c·c): a² where p = t. Eubanks, Kappa
Zoo, chapter 9, has the case p = t.
"""

from dataclasses import dataclass

import numpy as np

from ..agreement.coefficients import fleiss_kappa
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ._pair_kernels import expected_pair_tables, mean_product
from .result import RaterModelFit
from .tap import METHODS as TAP


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Shares of pairs of annotations on the same case; each case of two annotations or more counts the same.

    Attributes
    ----------
    classes : tuple of str
        Both axes: one annotation, the other annotation.
    expected, observed : ndarray, shape (n_classes, n_classes)
    n_cases : int
        With two annotations or more.
    """

    classes: tuple[str, ...]
    expected: np.ndarray
    observed: np.ndarray
    n_cases: int


@dataclass(frozen=True, slots=True)
class KappaCheck:
    """Fleiss' kappa as observed and under a t-a-p fit.

    Attributes
    ----------
    observed, low, high : float or None
        Fleiss' kappa with its 95% interval; None if it is undefined.
    expected : float or None
        Under the fit; a² (1 − t·t)/(1 − c·c) where accuracy and p are common. None where only one class is expected.
    a_squared : float
        Mean of a_j a_h over pairs of raters as they met; a² if it is common.
    """

    observed: float | None
    low: float | None
    high: float | None
    expected: float | None
    a_squared: float


def pair_table(dataset: Dataset, fit: RaterModelFit) -> PairTable:
    """Compute observed and expected pairs of annotations; for any model with confusion matrices.

    Raises
    ------
    NotApplicableError
        No case has two annotations.
    """
    observed, expected, _, _, n_paired, _ = _tables(dataset, fit)
    return PairTable(dataset.classes, expected / n_paired, observed / n_paired, n_paired)


def kappa_check(dataset: Dataset, fit: RaterModelFit) -> KappaCheck:
    """Compare Fleiss' kappa with the accuracies of a t-a-p fit.

    Raises
    ------
    NotApplicableError
        The fit is of another model, or no case has two annotations.
    """
    if fit.model != TAP[0].name:
        raise NotApplicableError(f"Could not compare kappa with accuracies: the model must be t-a-p, not {fit.model}.")
    _, expected, _, meant, n_paired, n_rated = _tables(dataset, fit)
    chance = float(((meant / n_rated) ** 2).sum())
    agreed = float(np.trace(expected)) / n_paired
    found = fleiss_kappa(dataset)
    a = np.broadcast_to(fit.parameters["a"], (dataset.n_raters,))
    return KappaCheck(
        found.value,
        found.ci_low,
        found.ci_high,
        None if chance >= 1 - 1e-12 else (agreed - chance) / (1 - chance),
        float(mean_product(dataset.case_ptr, dataset.rater, np.ascontiguousarray(a, np.float64))),
    )


def _tables(dataset: Dataset, fit: RaterModelFit):
    found = expected_pair_tables(
        dataset.case_ptr,
        dataset.rater,
        dataset.answer,
        np.ascontiguousarray(fit.confusion, np.float64),
        np.ascontiguousarray(fit.prevalence, np.float64),
    )
    if found[4] == 0:
        raise NotApplicableError("No case has two annotations, so pairs cannot be compared.")
    return found
