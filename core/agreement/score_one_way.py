"""ICC(1) from variance components: restricted maximum likelihood over all cases, with any numbers of scores.

``y = μ + a_i + e``, ρ = σ_a²/(σ_a² + σ_e²). With λ = σ_a²/σ_e² and w_i = n_i/(1 + n_i λ), −2 restricted log likelihood
is ``(N − 1) log Q + Σ log(1 + n_i λ) + log Σ w_i``, Q = SS within + Σ w_i (ȳ_i − μ̂)² [Patterson & Thompson
(1971), DOI 10.1093/biomet/58.3.545]. The interval is where it is less than χ²₁ above its least (profile likelihood).
"""

from collections.abc import Callable

import numpy as np

FAR = 16.0  # logits and logarithms beyond this are 0 or 1 for every purpose
Ends = tuple[float, float | None, float | None]


def one_way_reml(n: np.ndarray, total: np.ndarray, squares: float, level: float) -> Ends:
    """ICC(1) and its interval; no interval where the scores of a case never differ.

    Parameters
    ----------
    n, total : ndarray of float64, shape (n_cases,)
        Scores of each case, 1 or more, and their sum, from scores centred at about 0.
    squares : float
        Sum of the squared scores.
    level : float
        Of the interval, 0 to 1.
    """
    within = squares - float((total * total / n).sum())
    if within <= 1e-13 * squares:
        return 1.0, None, None
    sizes, group = np.unique(n, return_inverse=True)
    cases = np.bincount(group).astype(float)
    means = np.bincount(group, total / n)
    mean_squares = np.bincount(group, (total / n) ** 2)
    df = float(n.sum()) - 1

    def criterion(logit: float) -> float:
        size = sizes * np.exp(logit)
        weight = sizes / (1 + size)
        centre = float(weight @ means) / float(weight @ cases)
        between = float(weight @ (mean_squares - 2 * centre * means + centre**2 * cases))
        return df * np.log((within + between) / squares) + float(cases @ np.log1p(size)) + float(np.log(weight @ cases))

    best = least(criterion, -FAR, FAR)
    value = 0.0 if criterion(-FAR) <= criterion(best) + 1e-9 else expit(best)
    return value, *ends(criterion, best, criterion(best), level)


def ends(criterion: Callable[[float], float], best: float, at_best: float, level: float) -> tuple[float, float]:
    """Where a criterion (−2 log likelihood of a logit) is χ²₁ above its least; 0 and 1 where it never is.

    Parameters
    ----------
    criterion : callable
        Of a logit.
    best, at_best : float
        Where it is least, as a logit, and its value there.
    level : float
        Of the interval, 0 to 1.

    Returns
    -------
    tuple of two float
        Low and high, as shares.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    allowed = at_best + float(ndtri((1 + level) / 2)) ** 2
    best = min(max(best, -FAR), FAR)
    found = []
    for side in (-1.0, 1.0):
        inside, step = best, 0.5
        outside = best + side * step
        while criterion(outside) < allowed and side * outside < FAR:
            inside, step = outside, 2 * step
            outside = min(max(outside + side * step, -FAR), FAR)
        if criterion(outside) < allowed:
            found.append(0.0 if side < 0 else 1.0)
        else:
            found.append(expit(float(brentq(lambda x: criterion(x) - allowed, inside, outside, xtol=1e-6))))
    return found[0], found[1]


def least(criterion: Callable[[float], float], low: float, high: float) -> float:
    """Place of the least value: the best of a grid, then refined between its neighbours.

    Parameters
    ----------
    criterion : callable
        Of one number.
    low, high : float
        Where to look.
    """
    from scipy.optimize import minimize_scalar

    grid = np.linspace(low, high, 33)
    at = int(np.argmin([criterion(x) for x in grid]))
    bounds = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    return float(minimize_scalar(criterion, bounds=bounds, method="bounded", options={"xatol": 1e-7}).x)


def expit(x: float) -> float:
    """1/(1 + e^−x)."""
    return float(1 / (1 + np.exp(-x)))
