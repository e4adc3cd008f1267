"""ROC curves of readers, and their average in each modality.

A reader's curve joins the points (share of positive cases without, with the condition) at each threshold. The average
is vertical: the mean sensitivity of readers at each false-positive fraction, so that the area below it is the mean AUC
[Chen & Samuelson 2014, DOI 10.1259/bjr.20140016].
"""

from dataclasses import dataclass

import numpy as np

from ..result_base import Columns, Result, rows
from .study import UNKNOWN_TRUTH, ReadingStudy, check_usable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocPoint(Result):
    """One operating point of a reader.

    Attributes
    ----------
    modality, reader : str
    threshold : float
        Scores at or above it are positive; infinite at the beginning of the curve.
    false_positive, sensitivity : float
    """

    modality: str
    reader: str
    threshold: float
    false_positive: float
    sensitivity: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AveragePoint(Result):
    """One point of an average over readers.

    Attributes
    ----------
    modality : str
    false_positive, sensitivity : float
    """

    modality: str
    false_positive: float
    sensitivity: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocCurves(Result):
    """ROC curves of a study.

    Attributes
    ----------
    average : tuple of AveragePoint
        Along each modality's curve; the points are joined by straight lines.
    points : tuple of RocPoint
        Along the curve of each reader in each modality.
    """

    average: tuple[AveragePoint, ...]
    points: tuple[RocPoint, ...]

    TABLES = ("average", "points")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "average":
            return rows(self.average[:most], ("modality", "false_positive", "sensitivity"))
        return rows(self.points[:most], ("modality", "reader", "threshold", "false_positive", "sensitivity"))


def compute_roc_curves(study: ReadingStudy, probability: np.ndarray) -> RocCurves:
    """Compute the curves of all readers and their averages.

    Parameters
    ----------
    study : ReadingStudy
    probability : ndarray, shape (n_cases,)
        Probability of the condition, by which a case counts on both sides; 1 or 0 if known, NaN if unknown.

    Raises
    ------
    NotApplicableError
        See `core.studies.study.check_usable`.
    """
    check_usable(study, np.where(np.isnan(probability), UNKNOWN_TRUTH, probability > 0.5))
    average: list[AveragePoint] = []
    points: list[RocPoint] = []
    for m, modality in enumerate(study.modalities):
        curves = []
        for r, reader in enumerate(study.readers):
            read = ~np.isnan(study.scores[m, r]) & ~np.isnan(probability)
            if read.any():
                threshold, false_positive, sensitivity = _curve(study.scores[m, r, read], probability[read])
                curves.append((false_positive, sensitivity))
                points += [
                    RocPoint(modality, reader, *map(float, point))
                    for point in zip(threshold, false_positive, sensitivity, strict=True)
                ]
        average += [AveragePoint(modality, *map(float, point)) for point in _average(curves)]
    return RocCurves(tuple(average), tuple(points))


def _curve(scores: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute thresholds, false-positive fractions and sensitivities, from the strictest threshold down."""
    threshold, place = np.unique(scores, return_inverse=True)
    shares = [
        np.append(np.cumsum(np.bincount(place, weight)[::-1])[::-1], 0.0)[::-1] / weight.sum()
        for weight in (1 - probability, probability)
    ]
    return np.append(threshold, np.inf)[::-1], *(np.clip(share, 0.0, 1.0) for share in shares)


def _average(curves: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[float, float]]:
    """Average the sensitivity at every false-positive fraction at which a curve bends, from below and from above."""
    places = np.unique(np.concatenate([x for x, _ in curves]))
    low, high = (np.mean([_at(x, y, places, side) for x, y in curves], axis=0) for side in ("left", "right"))
    both = [(x, y) for place, a, b in zip(places, low, high, strict=True) for x, y in ((place, a), (place, b))]
    return list(dict.fromkeys(both))


def _at(x: np.ndarray, y: np.ndarray, places: np.ndarray, side: str) -> np.ndarray:
    """Interpolate a curve at places; if it rises straight up there, take its lower or its upper end."""
    if side == "left":
        first = np.searchsorted(x, places, "left")
        on = (first < len(x)) & (x[np.minimum(first, len(x) - 1)] == places)
        exact = y[np.minimum(first, len(x) - 1)]
    else:
        last = np.searchsorted(x, places, "right") - 1
        on, exact = x[last] == places, y[last]
    return np.where(on, exact, np.interp(places, x, y))
