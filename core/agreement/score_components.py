"""Intraclass correlations from variance components: restricted maximum likelihood over all cases, with gaps.

ICC(1): ``y = μ + a_i + e``, ρ = σ_a²/(σ_a² + σ_e²). With λ = σ_a²/σ_e² and w_i = n_i/(1 + n_i λ), −2 restricted log
likelihood is ``(N − 1) log Q + Σ log(1 + n_i λ) + log Σ w_i``, Q = SS within + Σ w_i (ȳ_i − μ̂)² [Patterson & Thompson
(1971), DOI 10.1093/biomet/58.3.545]. The interval is where it is less than χ²₁ above its least (profile likelihood).

ICC(2) and ICC(3), of crossed cases and raters: ``y = μ + a_i + b_j + e``, ICC(2) = σ_a²/(σ_a² + σ_b² + σ_e²), ICC(3) =
σ_a²/(σ_a² + σ_e²), σ_e² profiled out; for many raters and cases at once Henderson's first method (1953), DOI
10.2307/3001853.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations._kernels import counting_sort
from ._score_kernels import incidence_by_size, restricted

FAR = 16.0  # logits and logarithms beyond this are 0 or 1 for every purpose
Ends = tuple[float, float | None, float | None]
MOST_INNER = 400
MOST_CELLS = 5_000_000
MOST_STEPS = 300_000_000
MOST_FOR_PROFILE = 60


def one_way_reml(n: np.ndarray, total: np.ndarray, squares: float, level: float) -> Ends:
    """Estimate ICC(1) and its interval; no interval if the scores of a case never differ.

    Parameters
    ----------
    n, total : ndarray of float64, shape (n_cases,)
        Scores of each case, 1 or more, and their sum, from scores centred at about 0.
    squares : float
        Sum of the squared scores.
    level : float
        Confidence level of the interval, 0 to 1.
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
    """Find where a criterion (−2 log likelihood of a logit) is χ²₁ above its minimum; 0 and 1 where it never is.

    Parameters
    ----------
    criterion : callable
        Function of a logit.
    best, at_best : float
        Logit at which it is least, and its value there.
    level : float
        Confidence level of the interval, 0 to 1.

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
    """Find the place of the minimum: the best of a grid, then refined between its neighbours.

    Parameters
    ----------
    criterion : callable
        Function of one number to minimise.
    low, high : float
        Where to look.
    """
    from scipy.optimize import minimize_scalar

    grid = np.linspace(low, high, 33)
    at = int(np.argmin([criterion(x) for x in grid]))
    bounds = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    return float(minimize_scalar(criterion, bounds=bounds, method="bounded", options={"xatol": 1e-7}).x)


def expit(x: float) -> float:
    """Compute 1/(1 + e^−x)."""
    return float(1 / (1 + np.exp(-x)))


@dataclass(frozen=True, slots=True)
class Components:
    """ICC(2) and ICC(3) of one fit.

    Attributes
    ----------
    method : str
        "REML, profile interval", "REML, delta-method interval", or "Henderson" for moments without an interval.
    absolute, consistent : tuple
        ICC(2) and ICC(3): value, low, high; ends None if there is no interval.
    """

    method: str
    absolute: Ends
    consistent: Ends


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """Sums of the scores, with the many units (outer) grouped by their number of scores.

    Attributes
    ----------
    sizes, units : ndarray of float64, shape (n_groups,)
        Scores of each unit of a group, and how many units.
    total, total_squares : ndarray of float64, shape (n_groups,)
        Sums over the units of a group of their sum of scores, and of its square.
    together : ndarray of float64, shape (n_groups, n_inner, n_inner)
    single, summed : ndarray of float64, shape (n_groups, n_inner)
        See `core.agreement._score_kernels.incidence_by_size`.
    inner_n, inner_total : ndarray of float64, shape (n_inner,)
        Scores of each of the few, and their sum.
    squares : float
        Sum of all squared scores.
    cases_outer : bool
        True if the many are the cases.
    """

    sizes: np.ndarray
    units: np.ndarray
    total: np.ndarray
    total_squares: np.ndarray
    together: np.ndarray
    single: np.ndarray
    summed: np.ndarray
    inner_n: np.ndarray
    inner_total: np.ndarray
    squares: float
    cases_outer: bool

    def criterion(self, case: float, rater: float) -> float:
        """Compute −2 restricted log likelihood at log(σ_a²/σ_e²) and log(σ_b²/σ_e²), up to a constant."""
        outer, inner = np.exp([case, rater] if self.cases_outer else [rater, case])
        return restricted(
            outer,
            inner,
            self.sizes,
            self.units,
            self.total,
            self.total_squares,
            self.together,
            self.single,
            self.summed,
            self.inner_n,
            self.inner_total,
            self.squares,
        )


def two_way(case: np.ndarray, rater: np.ndarray, score: np.ndarray, level: float) -> Components | None:
    """Estimate components of scores by case and rater, each pair once; None if moments do not determine them.

    Parameters
    ----------
    case, rater : ndarray of int32, shape (n_scores,)
        Ascending by case; codes without gaps.
    score : ndarray of float64, shape (n_scores,)
        Centred at about 0.
    level : float
        Confidence level of the intervals, 0 to 1.
    """
    case_part, rater_part, error = henderson(case, rater, score)
    crossed = _crossed(case, rater, score)
    if crossed is None:
        whole = case_part + rater_part + error
        if whole <= 0 or case_part + error <= 0:
            return None
        return Components("Henderson", (case_part / whole, None, None), (case_part / (case_part + error), None, None))
    floor = 1e-3 * max(case_part + rater_part + error, 1e-300)
    start = np.log([max(part, floor) / max(error, floor) for part in (case_part, rater_part)])
    return _reml(crossed, start, level)


def henderson(case: np.ndarray, rater: np.ndarray, score: np.ndarray) -> tuple[float, float, float]:
    """Estimate variances of cases, of raters and the rest by equating sums of squares to their expectations.

    Parameters
    ----------
    case, rater : ndarray of int64, shape (n_scores,)
        Codes without gaps: every case and every rater has a score.
    score : ndarray of float64, shape (n_scores,)

    Returns
    -------
    tuple of three float
        Variances of cases, of raters, and of the rest; they may be negative.
    """
    n, total = np.bincount(case), np.bincount(case, score)
    m, by_rater = np.bincount(rater), np.bincount(rater, score)
    size, mean = score.size, float(score.sum()) ** 2 / score.size
    own_case, own_rater = float((n * n).sum()) / size, float((m * m).sum()) / size
    left = [
        [size - own_case, size - own_rater, size - 1],
        [size - own_case, n.size - own_rater, n.size - 1],
        [m.size - own_case, size - own_rater, m.size - 1],
    ]
    sums = (float(score @ score), float((total * total / n).sum()), float((by_rater * by_rater / m).sum()))
    found = np.linalg.lstsq(np.array(left), np.array(sums) - mean, rcond=None)[0]
    return float(found[0]), float(found[1]), float(found[2])


def _crossed(case: np.ndarray, rater: np.ndarray, score: np.ndarray) -> Crossed | None:
    """Compute the sums of a likelihood; None if they or their use would take too long."""
    n_cases, n_raters = int(case[-1]) + 1, int(rater.max()) + 1
    cases_outer = n_cases >= n_raters
    outer, inner = (case, rater) if cases_outer else (rater, case)
    n_outer, n_inner = max(n_cases, n_raters), min(n_cases, n_raters)
    n = np.bincount(outer, minlength=n_outer)
    sizes, group = np.unique(n, return_inverse=True)
    steps = float((n.astype(float) ** 2).sum())
    if n_inner > MOST_INNER or sizes.size * n_inner**2 > MOST_CELLS or steps > MOST_STEPS:
        return None
    ptr, order = counting_sort(np.ascontiguousarray(outer, np.int32), n_outer)
    total = np.bincount(outer, score, n_outer)
    together, single, summed = incidence_by_size(ptr, inner[order], score[order], group, sizes.size, n_inner)
    return Crossed(
        sizes.astype(float),
        np.bincount(group).astype(float),
        np.bincount(group, total),
        np.bincount(group, total * total),
        together,
        single,
        summed,
        np.bincount(inner, minlength=n_inner).astype(float),
        np.bincount(inner, score, n_inner),
        float(score @ score),
        cases_outer,
    )


def _reml(crossed: Crossed, start: np.ndarray, level: float) -> Components:
    from scipy.optimize import minimize

    def at(theta: np.ndarray) -> float:
        return crossed.criterion(*np.clip(theta, -FAR, FAR))

    simplex = start + np.array([[0, 0], [0.7, 0], [0, 0.7]])
    options = {"initial_simplex": simplex, "xatol": 1e-6, "fatol": 1e-9, "maxiter": 500}
    found = minimize(at, start, method="Nelder-Mead", options=options)
    case, rater = (float(x) for x in np.clip(found.x, -FAR, FAR))
    # On the boundary the criterion is flat, and the last step is anywhere on it.
    case = -FAR if crossed.criterion(-FAR, rater) <= found.fun + 1e-7 else case
    rater = -FAR if crossed.criterion(case, -FAR) <= found.fun + 1e-7 else rater
    least = crossed.criterion(case, rater)
    absolute, consistent = case - float(np.log1p(np.exp(rater))), case
    values = [0.0 if case == -FAR else expit(logit) for logit in (absolute, consistent)]
    if case > FAR - 1:
        return Components("REML", (values[0], None, None), (values[1], None, None))
    if crossed.inner_n.size <= MOST_FOR_PROFILE:
        low_high = [
            ends(lambda x: _profile(crossed, x, rater, True), absolute, least, level),
            ends(lambda x: _profile(crossed, x, rater, False), consistent, least, level),
        ]
        return Components("REML, profile interval", (values[0], *low_high[0]), (values[1], *low_high[1]))
    return Components("REML, delta-method interval", *_by_curvature(crossed, case, rater, values, level))


def _profile(crossed: Crossed, logit: float, rater: float, absolute: bool) -> float:
    """Minimise the criterion at one ICC over the variance of raters, searched around its previous value."""
    from scipy.optimize import minimize_scalar

    def at(theta: float) -> float:
        case = logit + float(np.log1p(np.exp(theta))) if absolute else logit
        return crossed.criterion(min(case, 2 * FAR), theta)

    low, high = max(rater, -10.0) - 6, max(rater, -10.0) + 6
    return float(minimize_scalar(at, bounds=(low, high), method="bounded", options={"xatol": 1e-3}).fun)


def _by_curvature(crossed: Crossed, case: float, rater: float, values: list[float], level: float) -> tuple[Ends, Ends]:
    """Compute ends on the logit scale from second differences at the minimum; none if cases are at their bound."""
    from scipy.special import ndtri

    if case == -FAR:
        return (values[0], None, None), (values[1], None, None)
    step = 0.02
    f = {
        (i, j): crossed.criterion(case + i * step, rater + j * step)
        for i, j in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1))
    }
    hessian = np.array(
        [
            [f[1, 0] - 2 * f[0, 0] + f[-1, 0], (f[1, 1] + f[-1, -1] - f[1, -1] - f[-1, 1]) / 4],
            [(f[1, 1] + f[-1, -1] - f[1, -1] - f[-1, 1]) / 4, f[0, 1] - 2 * f[0, 0] + f[0, -1]],
        ]
    )
    if rater == -FAR:  # the one part that is at its bound says nothing about the other
        hessian[0, 1] = hessian[1, 0] = hessian[1, 1] = 0.0
    covariance = np.linalg.pinv(hessian / step**2 / 2)
    z = float(ndtri((1 + level) / 2))
    found = []
    for value, slope in zip(values, ([1.0, -expit(rater)], [1.0, 0.0]), strict=True):
        half = z * float(np.sqrt(max(np.array(slope) @ covariance @ slope, 0.0)))
        logit = float(np.log(value / (1 - value)))
        found.append((value, expit(logit - half), expit(logit + half)))
    return found[0], found[1]
