"""Raters under a fit: accuracy, bias, and whether and how annotations depend on the truth.

Raykar & Yu (2012), Eliminating spammers and ranking annotators for crowdsourced labeling tasks, JMLR 13.
"""

from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import Z95, wilson
from ..annotations.dataset import Dataset
from ..annotations.validation import frozen
from ..runtime.identity_cache import cache_by_identity
from .result import RaterModelFit

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RaterSummary:
    """Summary of each rater, one row each.

    Attributes
    ----------
    raters : tuple of str
    n_annotations : ndarray of int64, shape (n_raters,)
    accuracy, low, high : ndarray, shape (n_raters,)
        With the interval of the fit's uncertainty; without one, Wilson's 95% as if the true classes were known, which
        is too short. NaN for a rater without annotations.
    chance : ndarray, shape (n_raters,)
        Accuracy of annotations with the rater's own shares of classes that do not depend on the truth.
    bias : ndarray, shape (n_raters, n_classes)
        Share of a class among the rater's annotations, less its expected share among the true classes of the cases they
        annotated; NaN without annotations.
    dependence : ndarray, shape (n_raters,)
        How much the annotations depend on the truth: 0 for a spammer, 1 for a perfect rater or one who is always wrong
        in the same way. ``√(Σ_{c<c'} Σ_k (θ_ck − θ_c'k)² / (K (K − 1)))``, the root of Raykar & Yu's score, over the K
        classes that the rater met; for two classes |sens + spec − 1|. Few annotations make it too large. NaN if the
        rater met fewer than two classes.
    adversarial : ndarray of bool, shape (n_raters,)
        The whole interval of the accuracy lies below ``chance``; for two classes that is sens + spec < 1.
    from_uncertainty : bool
        True if the intervals are those of the fit.
    """

    raters: tuple[str, ...]
    n_annotations: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    chance: np.ndarray
    bias: np.ndarray
    dependence: np.ndarray
    adversarial: np.ndarray
    from_uncertainty: bool


@cache_by_identity
def rater_summary(dataset: Dataset, fit: RaterModelFit) -> RaterSummary:
    """Summarise the raters of a fit of ``dataset``; arrays are read-only."""
    n_raters, n_classes = dataset.n_raters, dataset.n_classes
    n = np.bincount(dataset.rater, minlength=n_raters)
    silent = n == 0
    accuracy = np.where(silent, np.nan, fit.accuracy())
    if fit.uncertainty is None:
        ends = [(np.nan, np.nan) if m == 0 else wilson(p, m, Z95) for p, m in zip(accuracy, n, strict=True)]
        low, high = np.array(ends).reshape(-1, 2).T
    else:
        low, high = fit.uncertainty.accuracy.low, fit.uncertainty.accuracy.high
    chance = np.einsum("k,jkl,l->j", fit.prevalence, fit.confusion, fit.prevalence)
    given = dataset.rater.astype(np.int64) * n_classes + dataset.answer
    answered = np.bincount(given, minlength=n_raters * n_classes).reshape(n_raters, n_classes)
    true = np.zeros((n_raters, n_classes))
    by_annotation = fit.class_probability[dataset.case_of_annotation]
    for k in range(n_classes):
        true[:, k] = np.bincount(dataset.rater, by_annotation[:, k], n_raters)
    bias = np.full((n_raters, n_classes), np.nan)
    np.divide(answered - true, n[:, None], out=bias, where=~silent[:, None])
    return RaterSummary(
        dataset.raters,
        frozen(n),
        frozen(accuracy),
        frozen(low),
        frozen(high),
        frozen(chance),
        frozen(bias),
        frozen(_dependence(fit.confusion, fit.evidence > 1e-6)),
        frozen(np.nan_to_num(high, nan=np.inf) < chance),
        fit.uncertainty is not None,
    )


def leaning(bias: np.ndarray) -> np.ndarray:
    """Return the class that a rater gives too often, by the most; -1 if there is none or it is unknown.

    Parameters
    ----------
    bias : ndarray, shape (n_raters, n_classes)
        See `RaterSummary`.

    Returns
    -------
    ndarray of int64, shape (n_raters,)
    """
    known = np.nan_to_num(bias)
    return np.where(known.max(axis=1) > _ROUNDING, known.argmax(axis=1), -1)


def _dependence(confusion: np.ndarray, met: np.ndarray) -> np.ndarray:
    """Compute the root of the mean over pairs of met classes of half the squared distance of their rows."""
    rows = np.where(met[:, :, None], confusion, 0)
    n = met.sum(axis=1)
    # Σ_{c<c'} |θ_c − θ_c'|² = K Σ_c |θ_c|² − |Σ_c θ_c|², without a loop over pairs.
    spread = n * (rows**2).sum(axis=(1, 2)) - (rows.sum(axis=1) ** 2).sum(axis=1)
    score = np.full(len(confusion), np.nan)
    np.divide(np.maximum(spread, 0), n * (n - 1), out=score, where=n > 1)
    return np.sqrt(score)
