"""Intraclass correlations of complete tables of scores, with intervals from the F distribution.

Shrout & Fleiss (1979), DOI 10.1037/0033-2909.86.2.420; McGraw & Wong (1996), DOI 10.1037/1082-989X.1.1.30. The
intervals of ICC(2) take Satterthwaite's degrees of freedom.
"""

import numpy as np

from core.agreement.intervals import Coefficient, few_cases, undefined

EXACT = 1e-13


def one_way_anova(table: np.ndarray, level: float, what: str) -> list[Coefficient]:
    """ICC(1) and its mean-of-k version of a table of shape (n_cases, k): raters of different cases are others.

    ``what`` stands in ``weights`` of the result.
    """
    n, k = table.shape
    between, within = _between(table), _mean_square(table - table.mean(axis=1, keepdims=True), n * (k - 1))
    return _from_f("icc_1", table, between, within, n * (k - 1), level, what)


def two_way_anova(table: np.ndarray, level: float, what: str) -> list[Coefficient]:
    """ICC(2), ICC(3) and their mean-of-k versions of a table of shape (n_cases, n_raters)."""
    n, k = table.shape
    raters = table.mean(axis=0)
    residual = table - table.mean(axis=1, keepdims=True) - raters + table.mean()
    df = (n - 1) * (k - 1)
    between, error = _between(table), _mean_square(residual, df)
    by_rater = n * float(np.var(raters, ddof=1))
    single, mean = _from_f("icc_3", table, between, error, df, level, what)
    return [*_absolute(table, between, by_rater, error, level, what), single, mean]


def spearman_brown(value: float, k: float) -> float:
    """Reliability of the mean of k from that of one; monotone for values above −1/(k − 1)."""
    return k * value / (1 + (k - 1) * value)


def _between(table: np.ndarray) -> float:
    return table.shape[1] * float(np.var(table.mean(axis=1), ddof=1))


def _mean_square(residual: np.ndarray, df: int) -> float:
    return float((residual * residual).sum()) / df


def _pair(name: str, table: np.ndarray, k: int, what: str, single: tuple, mean: tuple, note: str) -> list[Coefficient]:
    n, size = len(table), table.size
    return [
        Coefficient(name, what, single[0], None, single[1], single[2], n, size, note),
        Coefficient(f"{name}k", f"{what}, mean of {k}", mean[0], None, mean[1], mean[2], n, size, note),
    ]


def _nothing_varies(name: str, table: np.ndarray, k: int, what: str) -> list[Coefficient]:
    why = "all scores are the same"
    return [
        undefined(name, what, why, len(table), table.size),
        undefined(f"{name}k", f"{what}, mean of {k}", why, len(table), table.size),
    ]


def _from_f(
    name: str, table: np.ndarray, between: float, error: float, df: int, level: float, what: str
) -> list[Coefficient]:
    """(F − 1)/(F + k − 1), and 1 − 1/F of the mean, with the ends of F."""
    from scipy.special import fdtri

    n, k = table.shape
    if between + error <= 0:
        return _nothing_varies(name, table, k, what)
    value, mean = (between - error) / (between + (k - 1) * error), None if between <= 0 else 1 - error / between
    if error <= EXACT * between or mean is None:
        note = "undetermined interval: the scores of a case differ by nothing but raters"
        if mean is None:
            note = "undetermined interval: the means of all cases are the same"
        return _pair(name, table, k, what, (value, None, None), (mean, None, None), note)
    upper = (1 + level) / 2
    low, high = between / error / fdtri(n - 1, df, upper), between / error * fdtri(df, n - 1, upper)
    ends = [float((f - 1) / (f + k - 1)) for f in (low, high)], [float(1 - 1 / f) for f in (low, high)]
    return _pair(name, table, k, what, (value, *ends[0]), (mean, *ends[1]), few_cases(n))


def _absolute(
    table: np.ndarray, between: float, by_rater: float, error: float, level: float, what: str
) -> list[Coefficient]:
    from scipy.special import fdtri

    n, k = table.shape
    if between + by_rater + error <= 0:
        return _nothing_varies("icc_2", table, k, what)
    raters = k * by_rater + (k * n - k - n) * error
    value = n * (between - error) / (n * between + raters)
    below = between + (by_rater - error) / n
    mean = (between - error) / below if below > 0 else None
    if error <= EXACT * (between + by_rater) or mean is None:
        note = "undetermined interval: the scores of a case differ by nothing but raters"
        return _pair("icc_2", table, k, what, (value, None, None), (mean, None, None), note)
    ratio = by_rater / error
    rest = n * (1 + (k - 1) * value) - k * value
    spread = (n - 1) * (k * value * ratio) ** 2 + rest**2
    df = (k - 1) * (n - 1) * (k * value * ratio + rest) ** 2 / spread
    upper = (1 + level) / 2
    f_low, f_high = float(fdtri(n - 1, df, upper)), float(fdtri(df, n - 1, upper))
    low = n * (between - f_low * error) / (f_low * raters + n * between)
    high = n * (f_high * between - error) / (raters + n * f_high * between)
    ends = [spearman_brown(end, k) if 1 + (k - 1) * end > 0 else None for end in (low, high)]
    return _pair("icc_2", table, k, what, (value, low, high), (mean, *ends), few_cases(n))
