"""ROC curves of readers, and their average in each modality.

A reader's curve joins the points (share of positive cases without, with the condition) at each threshold. The average
is vertical: the mean sensitivity of readers at each false-positive fraction, so that the area below it is the mean AUC
[Chen & Samuelson 2014, DOI 10.1259/bjr.20140016].
"""

from dataclasses import dataclass

import numpy as np

from ..result_base import Columns, Result, rows
from .study import ReadingStudy, check_usable


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


def compute_roc_curves(study: ReadingStudy, truth: np.ndarray) -> RocCurves:
    """Compute the curves of all readers and their averages.

    Parameters
    ----------
    study : ReadingStudy
    truth : ndarray of int8, shape (n_cases,)

    Raises
    ------
    NotApplicableError
        See `core.studies.study.check_usable`.
    """
    check_usable(study, truth)
    average: list[AveragePoint] = []
    points: list[RocPoint] = []
    for m, modality in enumerate(study.modalities):
        curves = []
        for r, reader in enumerate(study.readers):
            scores = study.scores[m, r]
            if not np.isnan(scores).all():
                threshold, false_positive, sensitivity = _curve(scores[truth == 1], scores[truth == 0])
                curves.append((false_positive, sensitivity))
                points += [
                    RocPoint(modality, reader, *map(float, point))
                    for point in zip(threshold, false_positive, sensitivity, strict=True)
                ]
        average += [AveragePoint(modality, *map(float, point)) for point in _average(curves)]
    return RocCurves(tuple(average), tuple(points))


def _curve(positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute thresholds, false-positive fractions and sensitivities, from the strictest threshold down."""
    positive, negative = np.sort(positive[~np.isnan(positive)]), np.sort(negative[~np.isnan(negative)])
    threshold = np.append(np.unique(np.concatenate([positive, negative])), np.inf)[::-1]
    return (
        threshold,
        1 - np.searchsorted(negative, threshold, "left") / len(negative),
        1 - np.searchsorted(positive, threshold, "left") / len(positive),
    )


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
