"""Weights of partial agreement between classes: eight families, or your own matrix.

Gwet, Handbook of Inter-Rater Reliability (2014), chapter 3. The family "ordinal" counts ranks between two classes;
Krippendorff's ordinal *metric* counts annotations between them and is in `core.agreement.krippendorff`.
"""

from collections.abc import Sequence

import numpy as np

from ..errors import InputError, LimitError, OptionError
from ..settings import current_settings
from ..text import exact

WEIGHT_FAMILIES = ("identity", "linear", "quadratic", "radical", "ordinal", "ratio", "circular", "bipolar")
Weights = str | np.ndarray | None
_EXTREME = 1e100


def weight_matrix(family: str, n_classes: int, labels: Sequence[float] | None = None) -> np.ndarray:
    """Compute agreement weights of a family.

    Parameters
    ----------
    family : str
        One of `WEIGHT_FAMILIES`.
    n_classes : int
        Length of the declared class list.
    labels : sequence of float, length n_classes, optional
        Numbers of the classes; 1, 2, ... in the declared order if omitted.

    Returns
    -------
    ndarray of float64, shape (n_classes, n_classes)
        Symmetric, 1 on the diagonal, within 0 and 1.

    Raises
    ------
    InputError
        Labels that are not distinct finite numbers, or negative ones for "ratio".
    LimitError
        The matrix would not fit into memory.
    """
    if family not in WEIGHT_FAMILIES:
        raise OptionError(f"`weights` must be one of {', '.join(WEIGHT_FAMILIES)}; got {family!r}")
    _check_size(n_classes)
    x = class_labels(n_classes, labels, at_least_zero=family == "ratio")
    if n_classes < 2 or family == "identity":
        return np.eye(n_classes)
    d = np.abs(x[:, None] - x)
    if family == "linear":
        w = 1 - d / d.max()
    elif family == "quadratic":
        w = 1 - (d / d.max()) ** 2
    elif family == "radical":
        w = 1 - np.sqrt(d / d.max())
    elif family == "ordinal":
        rank = np.argsort(np.argsort(x))
        apart = np.abs(rank[:, None] - rank)
        w = 1 - apart * (apart + 1) / (n_classes * (n_classes - 1))
    elif family == "ratio":
        total = x[:, None] + x
        ratio = np.divide(d, total, out=np.zeros_like(d), where=total > 0)
        w = 1 - (ratio / ratio.max()) ** 2
    elif family == "circular":
        s = np.sin(np.pi * d / (d.max() + 1)) ** 2
        w = 1 - s / s.max()
    else:
        below, above = (x - x.min())[:, None] + (x - x.min()), (x.max() - x)[:, None] + (x.max() - x)
        apart = d > 0
        b = np.divide(d, below, out=np.zeros_like(d), where=apart)
        b *= np.divide(d, above, out=np.zeros_like(d), where=apart)
        w = 1 - b / b.max()
    np.fill_diagonal(w, 1)
    return np.clip((w + w.T) / 2, 0, 1)


def checked_weights(matrix: np.ndarray, n_classes: int) -> np.ndarray:
    """Check that your own matrix can be agreement weights of ``n_classes`` classes.

    Raises
    ------
    InputError
        It is not square of that size, not finite, not symmetric, not 1 on the diagonal, or not within 0 and 1.
    LimitError
        It is larger than a matrix may be.
    """
    try:
        w = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        raise InputError("Could not use the weights: they are not a table of numbers.") from None
    if w.shape != (n_classes, n_classes):
        raise InputError(
            f"Could not use the weights: their shape is {w.shape}.",
            f"Use {n_classes:,} rows and {n_classes:,} columns.",
        )
    _check_size(n_classes)
    if not np.isfinite(w).all() or (w < 0).any() or (w > 1).any():
        raise InputError(
            "Could not use the weights: at least one is outside the range 0 to 1.",
            "Use 1 for full agreement and 0 for none.",
        )
    if (np.diag(w) != 1).any():
        raise InputError(
            "Could not use the weights: a weight on the diagonal is not 1.",
            "Use 1 on the diagonal: a class agrees fully with itself.",
        )
    if not np.allclose(w, w.T, rtol=0, atol=1e-12):
        raise InputError(
            "Could not use the weights: they are not symmetric.", "Use the same numbers in both halves of the matrix."
        )
    return (w + w.T) / 2


def resolve_weights(
    weights: Weights, n_classes: int, labels: Sequence[float] | None = None
) -> tuple[str, np.ndarray | None]:
    """Return name and matrix of the chosen weights; no matrix for identity, which any number of classes allows.

    Parameters
    ----------
    weights : str or ndarray, optional
        See `weight_matrix`.
    n_classes : int
    labels : sequence of float, length n_classes, optional
    """
    if weights is None or (isinstance(weights, str) and weights == "identity"):
        return "identity", None
    if isinstance(weights, str):
        return weights, weight_matrix(weights, n_classes, labels)
    return "custom", checked_weights(weights, n_classes)


def class_labels(n_classes: int, labels: Sequence[float] | None, *, at_least_zero: bool = False) -> np.ndarray:
    """Check the numbers of the classes, and return them as ndarray of float64, shape (n_classes,).

    Parameters
    ----------
    n_classes : int
    labels : sequence of float, length n_classes, or None
        1, 2, ... if omitted.
    at_least_zero : bool
        True if negative numbers are refused.
    """
    if labels is None:
        return np.arange(1.0, n_classes + 1)
    try:
        x = np.array(labels, np.float64)
    except (TypeError, ValueError):
        raise InputError("Could not use the class labels: they are not numbers.") from None
    if x.shape != (n_classes,):
        raise InputError(
            f"Could not use the class labels: there are {x.size} labels for {n_classes:,} classes.",
            "Use one number per class.",
        )
    if not (np.abs(x) <= _EXTREME).all():
        raise InputError("Could not use the class labels: a label is not a finite number, or is too large.")
    if at_least_zero and (x < 0).any():
        raise InputError(
            f"Could not use the label {exact(x.min())}: it is negative.", "Ratio weights need labels of 0 or more."
        )
    if np.unique(x).size < n_classes or (n_classes > 1 and np.ptp(x) < 1 / _EXTREME):
        raise InputError(
            "Could not use the class labels: two classes have the same label.", "Use a different number for each class."
        )
    return x


def _check_size(n_classes: int) -> None:
    limit = current_settings().max_model_cells
    if n_classes**2 > limit:
        raise LimitError(
            f"Could not use weights: {n_classes:,} classes need {n_classes**2:,} cells; the limit is {limit:,}. "
            "Use identity weights."
        )
