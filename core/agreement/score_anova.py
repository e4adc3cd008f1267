"""Intraclass correlations of complete tables of scores, with intervals from the F distribution.

Shrout & Fleiss (1979), DOI 10.1037/0033-2909.86.2.420; McGraw & Wong (1996), DOI 10.1037/1082-989X.1.1.30. The
intervals of ICC(2) take Satterthwaite's degrees of freedom; with few raters who differ much they cover too little: of
3 or 4 raters with one to four times the spread of the cases 88 to 92% instead of 95% (30 cases, 2,000 simulations).

Where ICC(2) is negative these degrees of freedom subtract one mean square from another. The interval is the textbook's
there, too (McGraw & Wong, table 7, and the packages that follow it). Of the negative estimates at a true correlation of
0 it covers .97 to 1, at .05 with 6 to 10 cases .98, where degrees of freedom taken at 0 cover .95 and .93; only where
it does not hold its own estimate, because hardly a degree of freedom is left (6 in 2,000 at most), are they taken at 0.
"""

from dataclasses import replace

import numpy as np

from .intervals import Coefficient, few_cases, undefined

EXACT = 1e-13  # of the other mean squares: rounding
FEW_RATERS = 6
LEAST_DF = 1e-3  # F quantiles of fewer are no numbers
SAME = "all scores are the same"
ALIKE = "the cases do not differ, or less than they would by chance"
EXACTLY = "the scores of a case differ by nothing but raters"


def one_way_anova(table: np.ndarray, level: float, what: str, name: str) -> list[Coefficient]:
    """ICC(1) and its mean-of-k version: raters of different cases are others.

    Parameters
    ----------
    table : ndarray of float64, shape (n_cases, k)
        The scores of a case in a row, in any order.
    level : float
        Of the intervals, 0 to 1.
    what : str
        Stands in ``weights`` of the result.
    name : str
        Of the single score; followed by "k" for the mean.
    """
    n, k = table.shape
    between, within = _between(table), _mean_square(table - table.mean(axis=1, keepdims=True), n * (k - 1))
    return _from_f(name, table, between, within, n * (k - 1), level, what)


def two_way_anova(table: np.ndarray, level: float, what: str, names: tuple[str, str]) -> list[Coefficient]:
    """ICC(2), ICC(3) and their mean-of-k versions.

    Parameters
    ----------
    table : ndarray of float64, shape (n_cases, n_raters)
        Without gaps.
    level : float
        Of the intervals, 0 to 1.
    what : str
        Stands in ``weights`` of the result.
    names : tuple of two str
        Of ICC(2) and of ICC(3), of the single score; followed by "k" for the mean.
    """
    absolute, consistent = names
    n, k = table.shape
    raters = table.mean(axis=0)
    residual = table - table.mean(axis=1, keepdims=True) - raters + table.mean()
    df = (n - 1) * (k - 1)
    between, error = _between(table), _mean_square(residual, df)
    by_rater = n * float(np.var(raters, ddof=1))
    single, mean = _from_f(consistent, table, between, error, df, level, what)
    return [*_absolute(absolute, table, between, by_rater, error, level, what), single, mean]


def spearman_brown(value: float, k: float) -> float:
    """Reliability of the mean of k from that of one; monotone for values above −1/(k − 1)."""
    return k * value / (1 + (k - 1) * value)


def _between(table: np.ndarray) -> float:
    return table.shape[1] * float(np.var(table.mean(axis=1), ddof=1))


def _mean_square(residual: np.ndarray, df: int) -> float:
    return float((residual * residual).sum()) / df


def _from_f(
    name: str, table: np.ndarray, between: float, error: float, df: int, level: float, what: str
) -> list[Coefficient]:
    """(F − 1)/(F + k − 1), and 1 − 1/F of the mean, with the ends of F."""
    from scipy.special import fdtri

    n, k = table.shape
    if between + error <= 0:
        return [_none(name, table, what, SAME), _none(name, table, what, SAME, k)]
    value = (between - error) / (between + (k - 1) * error)
    if between <= EXACT * error:
        return [_one(name, table, what, (value, None, None), ALIKE), _none(name, table, what, ALIKE, k)]
    mean = 1 - error / between
    if error <= EXACT * between:
        return [
            _one(name, table, what, (value, None, None), EXACTLY),
            _one(name, table, what, (mean, None, None), EXACTLY, k),
        ]
    upper = (1 + level) / 2
    low, high = between / error / fdtri(n - 1, df, upper), between / error * fdtri(df, n - 1, upper)
    single = value, float((low - 1) / (low + k - 1)), float((high - 1) / (high + k - 1))
    return [
        _one(name, table, what, single),
        _one(name, table, what, (mean, float(1 - 1 / low), float(1 - 1 / high)), k=k),
    ]


def _absolute(
    name: str, table: np.ndarray, between: float, by_rater: float, error: float, level: float, what: str
) -> list[Coefficient]:
    n, k = table.shape
    total = between + by_rater + error
    if total <= 0:
        return [_none(name, table, what, SAME), _none(name, table, what, SAME, k)]
    raters = k * by_rater + (k * n - k - n) * error
    whole, below = n * between + raters, between + (by_rater - error) / n
    if whole <= EXACT * total:
        return [_none(name, table, what, ALIKE), _none(name, table, what, ALIKE, k)]
    value = n * (between - error) / whole
    if below <= EXACT * total or between <= EXACT * error:  # no end could move from the value
        return [_one(name, table, what, (value, None, None), ALIKE), _none(name, table, what, ALIKE, k)]
    mean = (between - error) / below
    if error <= EXACT * total:
        return [
            _one(name, table, what, (value, None, None), EXACTLY),
            _one(name, table, what, (mean, None, None), EXACTLY, k),
        ]
    low, high = _absolute_ends(value, between, by_rater, error, (n, k), level)
    if not low < value < high:
        low, high = _absolute_ends(max(value, 0.0), between, by_rater, error, (n, k), level)
    # Of cases whose scores differ less than by chance the correlation of k scores is -1/(k - 1) at least.
    single = _few_raters(_one(name, table, what, (value, max(low, min(value, -1 / (k - 1))), high)), k)
    if 1 + (k - 1) * low <= 0:
        return [single, _one(name, table, what, (mean, None, None), "its lower end has no bound", k)]
    ends = mean, spearman_brown(low, k), spearman_brown(high, k)
    return [single, _few_raters(_one(name, table, what, ends, k=k), k)]


def _absolute_ends(
    at: float, between: float, by_rater: float, error: float, shape: tuple[int, int], level: float
) -> tuple[float, float]:
    """Ends of ICC(2), with Satterthwaite's degrees of freedom where the correlation is ``at``."""
    from scipy.special import fdtri

    n, k = shape
    ratio = by_rater / error
    raters = k * by_rater + (k * n - k - n) * error
    rest = n * (1 + (k - 1) * at) - k * at
    spread = (n - 1) * (k * at * ratio) ** 2 + rest**2
    df = max((k - 1) * (n - 1) * (k * at * ratio + rest) ** 2 / spread, LEAST_DF)
    upper = (1 + level) / 2
    f_low, f_high = float(fdtri(n - 1, df, upper)), float(fdtri(df, n - 1, upper))
    low = n * (between - f_low * error) / (f_low * raters + n * between)
    high = n * (f_high * between - error) / (raters + n * f_high * between)
    return low, high


def _few_raters(coefficient: Coefficient, k: int) -> Coefficient:
    if k >= FEW_RATERS:
        return coefficient
    note = "few raters: where they differ much the interval covers less than it says"
    return replace(coefficient, note="; ".join(filter(None, (coefficient.note, note))))


def _one(name: str, table: np.ndarray, what: str, ends: tuple, why: str = "", k: int = 0) -> Coefficient:
    """One coefficient, of the mean of k where k is given; ``why`` it has no interval."""
    note = f"undetermined interval: {why}" if why else few_cases(len(table))
    name, what = (f"{name}k", f"{what}, mean of {k}") if k else (name, what)
    return Coefficient(name, what, ends[0], None, ends[1], ends[2], len(table), table.size, note)


def _none(name: str, table: np.ndarray, what: str, why: str, k: int = 0) -> Coefficient:
    name, what = (f"{name}k", f"{what}, mean of {k}") if k else (name, what)
    return undefined(name, what, why, len(table), table.size)
