"""Common result of all rater models."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.validation import frozen
from ..result_base import Columns, Result, counted, named
from ..runtime.identity_cache import cache_by_identity


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Spread(Result):
    """Uncertainty of an array of estimates, in the shape of the estimates, NaN if it cannot be estimated.

    Attributes
    ----------
    sd : ndarray
        Standard error, or standard deviation of the posterior.
    low, high : ndarray
        Ends of the interval.
    """

    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Uncertainty(Result):
    """Precision of a fit.

    Attributes
    ----------
    method : str
        "observed information", "case bootstrap" or "posterior".
    level : float
        Confidence level of the intervals, 0 to 1.
    prevalence : Spread, shape (n_classes,)
    accuracy : Spread, shape (n_raters,)
        Spread of `RaterModelFit.accuracy`.
    confusion : Spread, shape (n_raters, n_classes, n_classes)
    class_probability : Spread or None, shape (n_cases, n_classes)
        Because parameters are uncertain; the truth of a case is uncertain beyond it.
    n_replicates : int or None
        Bootstrap replicates, or draws of the parameters for ``class_probability``.
    seed : int or None
    notes : tuple of str
        Remarks on the intervals.
    """

    method: str
    level: float
    prevalence: Spread
    accuracy: Spread
    confusion: Spread
    class_probability: Spread | None = None
    n_replicates: int | None = None
    seed: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CaseEffect(Result):
    """One property of every case under a model with case effects; arrays of shape (n_cases,).

    Attributes
    ----------
    name : {"difficulty", "discrimination", "guessing"}
    mean : ndarray
    spread : Spread
    """

    name: str
    mean: np.ndarray
    spread: Spread


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class RaterModelFit(Result):
    """A fitted model of raters and truth.

    Attributes
    ----------
    model, method : str
        Name of the `core.methods.Method`, and the way in which it was fitted: "vote", "em", "map" or "nuts".
    cases, raters, classes : tuple of str
        Names along the axes below.
    prevalence : ndarray, shape (n_classes,)
        Distribution of the true class over cases.
    confusion : ndarray, shape (n_raters, n_classes, n_classes)
        Axes: rater, true class, annotated class. Rows sum to 1.
    evidence : ndarray, shape (n_raters, n_classes)
        Expected annotations of a rater on cases of each true class; where it is 0 the row of ``confusion`` is uniform
        by convention, without information.
    class_probability : ndarray, shape (n_cases, n_classes)
    n_annotations : ndarray of int64, shape (n_raters,)
    log_likelihood : float or None
        None for a rule that has no likelihood.
    objective : tuple of float
        Maximised function, by iteration; empty if nothing was maximised.
    converged : bool
    settings : dict
        Smoothing, start, seed and the like.
    notes : tuple of str
        Remarks on the use of the numbers.
    uncertainty : Uncertainty or None
    effects : tuple of CaseEffect
        Empty for models without case effects.
    parameters : dict
        Parameters of the model beyond prevalence and confusion, by name, each an ndarray.
    """

    model: str
    method: str
    cases: tuple[str, ...]
    raters: tuple[str, ...]
    classes: tuple[str, ...]
    prevalence: np.ndarray
    confusion: np.ndarray
    evidence: np.ndarray
    class_probability: np.ndarray
    n_annotations: np.ndarray
    log_likelihood: float | None = None
    objective: tuple[float, ...] = ()
    converged: bool = True
    settings: dict = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    uncertainty: Uncertainty | None = None
    effects: tuple[CaseEffect, ...] = ()
    parameters: dict[str, np.ndarray] = field(default_factory=dict)

    TABLES = ("cases", "raters", "classes", "confusion")

    def _columns(self, table: str, most: int | None) -> Columns:
        return {"cases": self._by_case, "raters": self._by_rater, "classes": self._by_class}.get(table, self._by_cell)(
            most
        )

    def _facts(self) -> Iterable[str]:
        yield f"{self.model} by {self.method}"
        yield from counted(self, ("cases", "raters", "classes"))
        yield "converged" if self.converged else "not converged"

    def _by_case(self, most: int | None) -> Columns:
        shown = self.class_probability[:most]
        effects: dict[str, np.ndarray] = {}
        for effect in self.effects:
            spread = {f"{effect.name}_{name}": getattr(effect.spread, name)[:most] for name in ("sd", "low", "high")}
            effects |= {effect.name: effect.mean[:most], **spread}
        return {
            "case": self.cases[:most],
            "class": named(self.classes, top_classes(shown)),
            "probability": shown.max(axis=1),
            **effects,
            **{f"p_{name}": shown[:, code] for code, name in enumerate(self.classes)},
        }

    def _by_rater(self, most: int | None) -> Columns:
        found: dict[str, Any] = {"rater": self.raters, "n": self.n_annotations, "accuracy": self.accuracy()}
        return found | ({} if self.uncertainty is None else _interval(self.uncertainty.accuracy))

    def _by_class(self, most: int | None) -> Columns:
        found: dict[str, Any] = {"class": self.classes, "prevalence": self.prevalence}
        return found | ({} if self.uncertainty is None else _interval(self.uncertainty.prevalence))

    def _by_cell(self, most: int | None) -> Columns:
        rater, true, answered = (axis.ravel() for axis in np.indices(self.confusion.shape))
        found: dict[str, Any] = {
            "rater": named(self.raters, rater),
            "true_class": named(self.classes, true),
            "answered_class": named(self.classes, answered),
            "probability": self.confusion.ravel(),
            "evidence": self.evidence[rater, true],
        }
        return found | ({} if self.uncertainty is None else _interval(self.uncertainty.confusion))

    @property
    def beta(self) -> float:
        """Weight of an annotation in ``class_probability``, as a share of an independent one; 1 by default."""
        return float(self.settings.get("beta", 1.0))

    @cache_by_identity
    def top_class(self) -> np.ndarray:
        """Return the most likely class of each case, int64, (n_cases,), read-only; -1 if two are equally probable."""
        return frozen(top_classes(self.class_probability))

    def accuracy(self) -> np.ndarray:
        """Compute P(rater's annotation is right) under the model's prevalence, shape (n_raters,)."""
        return right_in_all(self.prevalence, self.confusion)


def expected_annotations(dataset: Dataset, class_probability: np.ndarray) -> np.ndarray:
    """Count annotations of each rater on cases of each true class, (n_raters, n_classes), by P(class) of the cases."""
    evidence = np.zeros((dataset.n_raters, dataset.n_classes))
    np.add.at(evidence, dataset.rater, class_probability[dataset.case_of_annotation])
    return evidence


def right_in_all(prevalence: np.ndarray, confusion: np.ndarray) -> np.ndarray:
    """Compute P(annotation is right) of each rater, (n_raters,), from matrices (n_raters, n_classes, n_classes)."""
    return np.einsum("jkk,k->j", confusion, prevalence)


def worse_than_chance(prevalence: np.ndarray, confusion: np.ndarray) -> tuple[str, ...]:
    """Return the note that the median rater is less accurate than guessing, 1 in n_classes, if so."""
    if len(prevalence) > 1 and float(np.median(right_in_all(prevalence, confusion))) < 1 / len(prevalence):
        return ("The typical rater is worse than chance in this fit: the classes may be swapped.",)
    return ()


def top_classes(probability: np.ndarray) -> np.ndarray:
    """Return the most likely class of each row, (n_cases, n_classes), int64; -1 if two are equally probable."""
    if probability.shape[1] == 1:
        return np.zeros(len(probability), np.int64)
    best_two = np.partition(probability, -2, axis=1)[:, -2:]
    tied = np.isclose(best_two[:, 0], best_two[:, 1], rtol=1e-9, atol=1e-12)
    return np.where(tied, -1, probability.argmax(axis=1))


def _interval(spread: Spread) -> dict[str, np.ndarray]:
    """Return columns of a spread, one row for each of its estimates."""
    return {"se": spread.sd.ravel(), "ci_low": spread.low.ravel(), "ci_high": spread.high.ravel()}
