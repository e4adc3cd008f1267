"""Check that the classes of a model are the classes that raters name; otherwise its accuracies mean something else.

A latent class k of the model is the user's class k if raters name k on it more often than any other class, and above
chance. With ``θ_kl`` the share of l among the annotations on latent class k (the truth by the other raters of each
case, `Panel.pool`), the first requires ``θ_kk > θ_kl`` for every other l. If two are close, the estimate decides:
neighbours are often close in hard cases, and an interval would fail both. The second requires that the 95% interval of
the ratio ``(1 − θ_kk) / (1 − q_k)`` is below 1, q_k the share of k among all annotations: how often another class is
named on k, against how often anywhere. Its error is linearised, with cases as the clusters, at the probabilities of the
fit. A ratio is used instead of a difference, so that a class that nearly all cases have can pass: 1% of other classes
on it are few if 3% are usual.

Accuracies may be shown if the classes that fail have at most `MOST_HELD` of the annotations. Rare classes fail often,
and have little weight in any accuracy; if common ones fail, correct raters are judged wrong.
"""

from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import Z95
from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..models.result import RaterModelFit
from ..runtime.chunks import chunk_ranges
from ..text import percent
from .leave_one_rater_out import Panel

MOST_HELD = 0.2
_CASES = 20_000  # Number of cases whose class probabilities are copied at once.


@dataclass(frozen=True, slots=True, eq=False)
class OwnClasses:
    """Comparison of a model's latent classes with the classes that raters name; arrays of shape (n_classes,).

    Attributes
    ----------
    held : ndarray
        Share of the annotations that are on cases of the latent class.
    named : ndarray
        Share of these that name the class itself; NaN without any.
    other : ndarray of int64
        Other class that is named most on it.
    other_named : ndarray
        Share of these that name that other class.
    ratio_high : ndarray
        Upper end of the interval of how often another class is named on it, relative to how often anywhere.
    own : ndarray of bool
        True if the latent class is the class of its name, or has no annotations.
    """

    held: np.ndarray
    named: np.ndarray
    other: np.ndarray
    other_named: np.ndarray
    ratio_high: np.ndarray
    own: np.ndarray

    @property
    def judge(self) -> bool:
        """True if accuracies by these classes may be shown."""
        return float(self.held[~self.own].sum()) <= MOST_HELD

    def why_not(self, classes: tuple[str, ...]) -> str:
        """Explain, not escaped, why accuracies may not be shown, by the largest class that fails; empty if they may."""
        if self.judge:
            return ""
        one = int(np.argmax(np.where(self.own, -1.0, self.held)))
        name = classes[one]
        held = f"on cases that the model assigns to “{name}” ({percent(self.held[one])} of the annotations)"
        if self.other_named[one] >= self.named[one]:
            return f"{held}, raters choose “{classes[self.other[one]]}” more often than “{name}”"
        return f"{held}, raters do not choose “{name}” clearly more often than on other cases"


def own_classes(panel: Panel) -> OwnClasses:
    """Compare the latent classes of a panel's model with the classes that raters name on them."""
    return _compared(panel.dataset, panel.pool, panel.fit.class_probability)


def own_classes_of(dataset: Dataset, fit: RaterModelFit) -> OwnClasses:
    """Compare the latent classes of a fit with the classes that raters name on them.

    Parameters
    ----------
    dataset : Dataset
    fit : RaterModelFit
        Fit of ``dataset``.
    """
    by_annotation = fit.class_probability[dataset.case_of_annotation]
    pool = np.stack(
        [np.bincount(dataset.answer, by_annotation[:, k], dataset.n_classes) for k in range(dataset.n_classes)]
    )
    return _compared(dataset, pool, fit.class_probability)


def _compared(dataset: Dataset, pool: np.ndarray, probability: np.ndarray) -> OwnClasses:
    """Compare latent classes with expected annotations ``pool``, shape (true class, annotated class)."""
    n_classes = len(pool)
    held, total = pool.sum(axis=1), max(pool.sum(), 1e-12)
    some = held > 0
    theta = np.divide(pool, held[:, None], out=np.zeros_like(pool), where=some[:, None])
    named, rest = np.diag(theta).copy(), theta - 2 * np.eye(n_classes)
    other = rest.argmax(axis=1)
    other_named = theta[np.arange(n_classes), other] if n_classes > 1 else np.zeros(1)
    high = _ratio_high(dataset, probability, named, pool.sum(axis=0) / total)
    own = ~some | ((named > other_named) & (high < 1))
    return OwnClasses(held / total, np.where(some, named, np.nan), other, other_named, high, own)


def _ratio_high(dataset: Dataset, probability: np.ndarray, named: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Compute the upper end of the interval of (1 − θ_kk) / (1 − q_k), shape (n_classes,); infinite if undefined.

    It is 0 for a class that all annotations name.
    """
    n = np.diff(dataset.case_ptr)
    mass, total = np.maximum(n @ probability, 1e-12), max(int(n.sum()), 1)
    on_class, anywhere = np.zeros(share.size), np.zeros(share.size)
    chunks = list(chunk_ranges(dataset.n_cases, _CASES))
    for start, stop in chunks:
        others = n[start:stop, None] - _counted(dataset, start, stop)
        on_class += (probability[start:stop] * others).sum(axis=0) / mass
        anywhere += others.sum(axis=0) / total
    squares = np.zeros(share.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        for start, stop in chunks:
            size = n[start:stop, None]
            others = size - _counted(dataset, start, stop)
            above = probability[start:stop] * (others - size * on_class) / (mass * anywhere)
            below = on_class * (others - size * anywhere) / (total * anywhere**2)
            squares += np.square(above - below).sum(axis=0)
        high = (1 - named) / (1 - share) + Z95 * np.sqrt(squares)
    return np.where(share >= 1, 0.0, np.where(np.isfinite(high), high, np.inf))


def _counted(dataset: Dataset, start: int, stop: int) -> np.ndarray:
    """Count annotations of each case that name each class, shape (n_cases, n_classes)."""
    counts = class_counts(dataset, range(start, stop))
    found = np.zeros((stop - start, dataset.n_classes))
    found[np.repeat(np.arange(stop - start), np.diff(counts.ptr)), counts.class_code] = counts.count
    return found
