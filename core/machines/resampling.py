"""Resampling of cases with two added cases, which allow for differences that no case showed.

Percentiles of resampled cases have no width if all cases are alike, however few they are. Two values are therefore
added to those of the cases: of differences one up and one down by the root mean square of those that are not 0, of
agreement one up and one down from its mean by the root mean square of what cases lack of full agreement, within what
agreement can be. Twenty cases of shares, on nineteen of which all agree, get one of 1 and one of 0 [Agresti & Coull
1998]. If no case differs, or all agree fully, the size is the difference of unrelated annotations.
"""

import numpy as np

from .annotation_scores import AnnotationScore

_CELLS = 1 << 22
_SAME = 1e-12


def of_differences(apart: np.ndarray, scale: float) -> np.ndarray:
    """Add two differences to those of the cases, of the size that was seen, up and down.

    Parameters
    ----------
    apart : ndarray, shape (n,)
    scale : float
        Size of the added differences if no case differs, see `scale_of`.

    Returns
    -------
    ndarray, shape (n + 2,)
    """
    size = _size(apart, scale)
    return np.append(apart, [size, -size])


def of_agreement(near: np.ndarray, how: AnnotationScore, scale: float) -> np.ndarray:
    """Add two values to the agreement on the cases, up and down by what cases lack of full agreement.

    Parameters
    ----------
    near : ndarray, shape (n,)
    how : AnnotationScore
        Score by which agreement was computed.
    scale : float
        What the two values lack of full agreement if no case does, see `scale_of`.

    Returns
    -------
    ndarray, shape (n + 2,)
    """
    least, best = (-np.inf, 0.0) if how.name == "rmse" else (0.0, 1.0)
    size, mean = _size(best - near, scale), float(near.mean())
    return np.append(near, np.clip([mean + size, mean - size], least, best))


def of_sides(panel: np.ndarray, value: np.ndarray, scale: float, least: float, best: float) -> np.ndarray:
    """Add two cases to the scores of panels and of an AI rater: one that the AI rater wins, one that the panels win.

    They win by the difference of the AI rater and one reader, half of it up and half down, so that neither is clearly
    as good as the other if no case differs. The score of an empty panel, k = 0, is unchanged.

    Parameters
    ----------
    panel : ndarray, shape (n, k_max + 1)
    value : ndarray, shape (n,)
    scale : float
        Their difference if no case differs.
    least, best : float
        Lowest and highest possible score.

    Returns
    -------
    ndarray, shape (n + 2, k_max + 2)
    """
    both = np.column_stack([panel, value])
    size = _size(value - panel[:, 1], scale)
    more = np.tile(both.mean(axis=0), (2, 1))
    up = min(size / 2, best - more[0, -1])
    more[0, -1] += up
    more[0, 1:-1] -= size - up
    up = min(size / 2, best - more[1, 1:-1].max())
    more[1, 1:-1] += up
    more[1, -1] -= size - up
    return np.vstack([both, np.maximum(more, least)])


def scale_of(how: AnnotationScore, human: np.ndarray) -> float:
    """Compute how far unrelated annotations differ: 1 for shares, from the spread for distances.

    Parameters
    ----------
    how : AnnotationScore
    human : ndarray of int64
        Positions of people's annotations. If all are the same number, the scale is unknown, and 1 is used.
    """
    if how.name != "rmse":
        return 1.0
    spread = float(np.sqrt(2) * how.numbers[human].std()) if human.size else 0.0
    return spread if spread > _SAME else 1.0


def resampled(values: np.ndarray, n_resamples: int, seed: int) -> np.ndarray:
    """Compute means of each column over resamples of n of the n + 2 rows, the same resamples for as many rows.

    Parameters
    ----------
    values : ndarray, shape (n + 2, n_columns)
    n_resamples, seed : int

    Returns
    -------
    ndarray, shape (n_resamples, n_columns)
    """
    n = len(values) - 2
    rng = np.random.default_rng([abs(seed), seed < 0, n])
    parts, step = [], max(1, _CELLS // n)
    for low in range(0, n_resamples, step):
        weight = rng.multinomial(n, np.full(n + 2, 1 / (n + 2)), size=min(step, n_resamples - low))
        parts.append(weight @ values / n)
    return np.concatenate(parts)


def _size(apart: np.ndarray, scale: float) -> float:
    some = apart[np.abs(apart) > _SAME]
    return float(np.sqrt((some**2).mean())) if some.size else scale
