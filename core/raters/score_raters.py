"""Raters of scores: how far each scores above the average rater, and how much scores scatter around those of the case.

Ordered classes count as scores 0, 1, 2, …: a step from one class to the next is one.

    y = μ_case + δ_rater + ε,  μ ~ N(m, τ²),  δ ~ N(0, ω²),  ε ~ N(0, σ²_rater).

Severity is δ less its mean over raters, spread is σ. Given the variances, μ and δ are jointly normal: cases are summed
out, which leaves one system in the raters. Variances follow by restricted fixed-point steps, each the sum of squares
over its effective degrees of freedom [Harville, Maximum likelihood approaches to variance component estimation, JASA 72
(1977), 320-338]. As weights of scores the variances of raters are shrunk towards each other, as moderated variances are
[Smyth, Linear models and empirical Bayes methods, Statistical Applications in Genetics and Molecular Biology 3 (2004),
article 3]; reported values are not.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations.counts import raters_per_case
from ..annotations.dataset import Dataset
from ..correlation import fisher_interval
from ..errors import InputError, LimitError, NotApplicableError
from ..options import check_level
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken, chunk_ranges
from ..text import number, plural, with_interval

MOST_RATERS = 1000
_STEPS, _CLOSE = 500, 1e-8
_FLOOR = 1e-10  # Smallest variance, as a share of that of all scores.
_LEAST_FREEDOM = 1.0  # Smallest number of degrees of freedom of a rater's scores for an estimate.
_MOST_PRIOR = 1e6  # Degrees of freedom of the common spread if raters have the same.
_CHUNK = 4096
_LEAST_SHARED = 10  # Smallest number of cases with others for a correlation with these.


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreRaters(Result):
    """Severity and spread of each rater, in units of the scores.

    Attributes
    ----------
    raters : tuple of str
    n : ndarray of int64, shape (n_raters,)
        Number of scores of each.
    shared : ndarray of int64, shape (n_raters,)
        Number of cases of each that others scored, too.
    severity, severity_low, severity_high : ndarray, shape (n_raters,)
        Mean difference of a rater from the average rater, and the ends of its interval; negative is below. NaN if the
        rater shares no case with anybody, or too few.
    spread, spread_low, spread_high : ndarray, shape (n_raters,)
        Standard deviation of a rater's scores around the case's score and the rater's own level; NaN as above.
    severe, erratic : ndarray of bool, shape (n_raters,)
        True if severity differs from 0, and if spread is above that of the median rater, at a family-wise level: the
        probability that any honest rater is included is 5%.
    p_severe, p_erratic : ndarray, shape (n_raters,)
        Probability of a severity as far from 0, and of a spread as large, for a rater like the others; NaN as above.
    with_others, with_others_low, with_others_high : ndarray, shape (n_raters,)
        Correlation, over cases, of a rater's scores with the mean of the others' less their severity, and the ends of
        its interval. NaN below `_LEAST_SHARED` cases, and if one of the two does not vary; 1 and -1 have no ends.
    attainable : ndarray, shape (n_raters,)
        Same correlation for a rater without any scatter, which is below 1 because the others' mean differs from the
        case's score. NaN as above.
    against : ndarray of bool, shape (n_raters,)
        True if that correlation is below 0, at a family-wise level as above.
    mean : float
        Mean of the cases' scores, m.
    between_cases, between_raters : float
        Standard deviations τ and ω.
    level : float
    converged : bool
    """

    raters: tuple[str, ...]
    n: np.ndarray
    shared: np.ndarray
    severity: np.ndarray
    severity_low: np.ndarray
    severity_high: np.ndarray
    spread: np.ndarray
    spread_low: np.ndarray
    spread_high: np.ndarray
    severe: np.ndarray
    erratic: np.ndarray
    p_severe: np.ndarray
    p_erratic: np.ndarray
    with_others: np.ndarray
    with_others_low: np.ndarray
    with_others_high: np.ndarray
    attainable: np.ndarray
    against: np.ndarray
    mean: float
    between_cases: float
    between_raters: float
    level: float
    converged: bool

    TABLES = ("raters",)

    @property
    def median_spread(self) -> float:
        """Spread of the median rater, in units of the scores."""
        return float(np.nanmedian(self.spread))

    def words(self, digits: int = 2) -> str:
        """Describe who stands out, in a few sentences; nobody if no rater clearly does. Not escaped.

        Parameters
        ----------
        digits : int
            Number of decimals of scores.
        """
        return ". ".join(self.sentences(digits))

    def sentences(self, digits: int = 2) -> tuple[str, ...]:
        """Return these sentences one by one without full stops, because names of raters may contain full stops, too.

        Parameters
        ----------
        digits : int
            Number of decimals of scores.
        """
        said = [self._against()] if self.against.any() else []
        if self.severe.any():
            one = int(np.argmax(np.where(self.severe, np.abs(self.severity), -1)))
            how = "lower" if self.severity[one] < 0 else "higher"
            ends = sorted(abs(end) for end in (self.severity_low[one], self.severity_high[one]))
            said.append(
                f"{self.raters[one]}'s scores are {number(abs(self.severity[one]), digits)} points "
                f"({number(ends[0], digits)} to {number(ends[1], digits)}) {how} than the average rater's"
            )
        if self.erratic.any():
            one = int(np.argmax(np.where(self.erratic, self.spread, -1)))
            said.append(
                f"{self.raters[one]}'s scores vary more than those of the other raters: spread "
                f"{number(self.spread[one], digits)} ({number(self.spread_low[one], digits)} to "
                f"{number(self.spread_high[one], digits)}), compared with {number(self.median_spread, digits)} for the "
                "median rater"
            )
        return tuple(said) or ("No rater clearly scores higher, lower or less consistently than the others",)

    def _against(self) -> str:
        """Return raters whose scores fall if the others' rise. With two raters, neither alone is reversed."""
        one = int(np.argmin(np.where(self.against, self.with_others, 2.0)))
        low, high = (None if np.isnan(end) else end for end in (self.with_others_low[one], self.with_others_high[one]))
        found = with_interval(self.with_others[one], low, high)
        n, judged = int(self.against.sum()), int(np.isfinite(self.with_others).sum())
        if 2 * n >= judged:
            return (
                f"Some raters seem to reverse the scale, but it is unclear which. For example, "
                f"{self.raters[one]}'s scores fall as the others' rise, with a correlation of {found}"
            )
        if n > 1:
            return (
                f"{self.raters[one]} and {plural(n - 1, 'other rater')} seem to reverse the scale: their scores fall "
                f"as the others' rise, with a correlation of {found} for {self.raters[one]}"
            )
        return (
            f"{self.raters[one]} seems to reverse the scale: their scores fall as the others' rise, with a correlation "
            f"of {found}"
        )

    def _columns(self, table: str, most: int | None) -> Columns:
        names = (
            "n",
            *(f"{name}{end}" for name in ("severity", "spread", "with_others") for end in ("", "_low", "_high")),
        )
        return {"rater": self.raters[:most]} | {name: getattr(self, name)[:most] for name in names}


def score_raters(
    dataset: Dataset,
    *,
    level: float = 0.95,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> ScoreRaters:
    """Estimate severity and spread of the raters who share cases with others.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores, or of ordered classes, by identified raters.
    level : float
        Confidence level of the intervals, 0 to 1.
    token, progress
        See `core.runtime.chunks.map_chunks`; progress is that of the logarithm of the last change.

    Raises
    ------
    NotApplicableError
        The annotations are neither scores nor ordered classes, are anonymous, or no case, or too few, have scores of
        two raters.
    InputError
        All scores are equal, or the level is out of range.
    LimitError
        The data have more than `MOST_RATERS` raters.
    """
    check_level(level)
    table = _table(dataset)
    fit = _Fit(table)
    converged = False
    for _ in range(_STEPS):
        if token is not None:
            token.check()
        before = fit.variances()
        fit.step()
        moved = max(float(np.abs(np.log(fit.variances() / before)).max()), _CLOSE / 2)
        if progress is not None:
            progress(min(max(np.log(moved) / np.log(_CLOSE), 0.0), 1.0))
        if moved < _CLOSE:
            converged = True
            break
    return _result(dataset, table, fit, level, converged)


def values_of(dataset: Dataset) -> np.ndarray:
    """Return scores, or places 0, 1, 2, … of ordered classes; shape (n_annotations,)."""
    return dataset.score if dataset.kind == "score" else dataset.answer.astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Scores of cases with two raters or more, centred and in units of their standard deviation."""

    case: np.ndarray
    rater: np.ndarray
    score: np.ndarray
    used: np.ndarray
    middle: float
    unit: float
    n_cases: int


def _table(dataset: Dataset) -> _Table:
    if dataset.kind != "score" and not dataset.ordinal:
        raise NotApplicableError("Cannot estimate severity: these annotations are neither scores nor ordered classes.")
    dataset.check_raters("Cannot estimate severity")
    case, rater = dataset.case_of_annotation.astype(np.int64), dataset.rater.astype(np.int64)
    shared = raters_per_case(dataset)[case] >= 2
    if not shared.any():
        raise NotApplicableError(
            "Cannot estimate severity: no case was scored by two raters. Add a second score to some cases."
        )
    used, codes = np.unique(rater[shared], return_inverse=True)
    if used.size > MOST_RATERS:
        raise LimitError(
            f"Cannot estimate the severity of more than {MOST_RATERS:,} raters: these data have {int(used.size):,}."
        )
    score = values_of(dataset)[shared]
    middle, unit = float(score.mean()), float(score.std())
    if unit == 0:
        raise InputError("Cannot estimate severity: all scores are the same.", "Check the score column.")
    places, row = np.unique(case[shared], return_inverse=True)
    lowest, highest = np.full(len(places), np.inf), np.full(len(places), -np.inf)
    np.minimum.at(lowest, row, score)
    np.maximum.at(highest, row, score)
    if (lowest == highest).all():
        raise NotApplicableError("Cannot estimate severity: the raters agree on the score of every case.")
    return _Table(row, codes, (score - middle) / unit, used, middle, unit, len(places))


class _Fit:
    """Variances and the estimates that follow from them."""

    def __init__(self, table: _Table) -> None:
        self.table = table
        self.m = 0.0
        self.tau2, self.omega2 = 0.5, 0.1
        self.sigma2 = np.full(len(table.used), 0.4)
        self.freedom = np.ones(len(table.used))
        self.own = self.sigma2  # Variances of each rater's own scores.
        self.prior_freedom = 1.0
        self.delta = np.zeros(len(table.used))
        self.covariance: np.ndarray = np.eye(len(table.used))
        self.system: np.ndarray = self.covariance
        self.right = self.delta

    def variances(self) -> np.ndarray:
        """Return all variances, to check convergence."""
        return np.array([self.tau2, self.omega2, *self.sigma2])

    def step(self) -> None:
        """Update cases and raters given the variances, then the variances given these."""
        from scipy.sparse import csr_matrix

        t, n_raters = self.table, len(self.table.used)
        weight = 1 / self.sigma2[t.rater]
        w = csr_matrix((weight, (t.case, t.rater)), shape=(t.n_cases, n_raters))  # Scores of one cell are summed.
        precision = 1 / self.tau2 + np.asarray(w.sum(axis=1)).ravel()
        share = csr_matrix(w.multiply(1 / precision[:, None]))
        off = t.score - self.m
        by_case = np.bincount(t.case, weight * off, t.n_cases)
        self.system = np.diag(np.bincount(t.rater, weight, n_raters)) - (w.T @ share).toarray()
        self.right = right = np.bincount(t.rater, weight * off, n_raters) - share.T @ by_case
        self.covariance = np.linalg.inv(self.system + np.eye(n_raters) / self.omega2)
        self.delta = self.covariance @ right
        mu = (by_case - w @ self.delta) / precision  # less m
        of_case, with_rater = self._covariances(share)
        of_mu = 1 / precision + of_case
        spread = of_mu[t.case] + np.diag(self.covariance)[t.rater] - 2 * with_rater
        squares = np.bincount(t.rater, (off - mu[t.case] - self.delta[t.rater]) ** 2, n_raters)
        count = np.bincount(t.rater, minlength=n_raters)
        left = np.maximum(count - np.bincount(t.rater, spread, n_raters) / self.sigma2, 1e-3)
        self.freedom = self._told(precision, weight)
        self._moderate(squares / left)
        self.m += float(mu.mean())
        mu = mu - mu.mean()
        # The mean of the cases is estimated, too: one degree of freedom less.
        known = max(t.n_cases - 1 - float(of_mu.sum()) / self.tau2, 1e-3)
        self.tau2 = max(float(mu @ mu) / known, _FLOOR)
        known = max(n_raters - float(np.trace(self.covariance)) / self.omega2, 1e-3)
        self.omega2 = max(float(self.delta @ self.delta) / known, _FLOOR)

    def _covariances(self, share) -> tuple[np.ndarray, np.ndarray]:
        """Compute covariances of each case's score by the uncertainty of raters, and of each score's case and rater."""
        t = self.table
        of_case, with_rater = np.empty(t.n_cases), np.empty(len(t.case))
        for start, stop in chunk_ranges(t.n_cases, _CHUNK):
            rows = share[start:stop] @ self.covariance
            of_case[start:stop] = np.asarray(share[start:stop].multiply(rows).sum(axis=1)).ravel()
            mine = slice(*np.searchsorted(t.case, [start, stop]))  # cases ascend
            with_rater[mine] = rows[t.case[mine] - start, t.rater[mine]]
        return of_case, with_rater

    def _told(self, precision: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Compute the degrees of freedom of each rater's variance: 2 σ⁴ over its variance by Fisher information.

        The information is that of all variances of raters and of τ² together, ½ tr(P V_j P V_k), case by case, less one
        for δ. Scores less the case's mean contain the errors of the others, too, so these are fewer than the number of
        residuals.
        """
        from scipy.sparse import csr_matrix

        t, n_raters = self.table, len(self.table.used)
        of_case = precision[t.case]
        apart = csr_matrix((weight**2 / of_case, (t.case, t.rater)), shape=(t.n_cases, n_raters))
        information = np.empty((n_raters + 1, n_raters + 1))
        information[:-1, :-1] = (apart.T @ apart).toarray()
        own = np.bincount(t.rater, (weight - weight**2 / of_case) ** 2, n_raters)
        information[np.arange(n_raters), np.arange(n_raters)] = own
        information[:-1, -1] = information[-1, :-1] = np.bincount(
            t.rater, (weight / (self.tau2 * of_case)) ** 2, n_raters
        )
        information[-1, -1] = np.square(1 - 1 / (self.tau2 * precision)).sum() / self.tau2**2
        try:
            covariance = np.linalg.inv(information / 2)
        except np.linalg.LinAlgError:
            return np.full(n_raters, 1e-3)
        known = np.diag(covariance)[:-1]
        found = 2 * self.sigma2**2 / np.where(known > 0, known, np.inf) - 1
        return np.maximum(found, 1e-3)

    def _moderate(self, s2: np.ndarray) -> None:
        """Shrink variances of the raters to a common one as far as they are similar (Smyth 2004, section 6.2)."""
        from scipy.special import digamma, polygamma

        d = self.freedom
        s2 = self.own = np.maximum(s2, _FLOOR)
        told = d >= _LEAST_FREEDOM
        if told.sum() <= 2:  # Two raters do not show how similar raters are.
            self.prior_freedom = 0.0
            self.sigma2 = np.where(told | ~told.any(), s2, s2[told].mean() if told.any() else 1.0)
            return
        e = np.log(s2[told]) - digamma(d[told] / 2) + np.log(d[told] / 2)
        apart = float(np.square(e - e.mean()).sum() / (len(e) - 1) - polygamma(1, d[told] / 2).mean())
        self.prior_freedom = min(2 * _inverse_trigamma(apart), _MOST_PRIOR) if apart > 0 else _MOST_PRIOR
        d0 = self.prior_freedom
        common = np.exp(e.mean() + digamma(d0 / 2) - np.log(d0 / 2))
        self.sigma2 = np.maximum((d0 * common + d * s2) / (d0 + d), _FLOOR)


def _inverse_trigamma(value: float) -> float:
    """Return x with trigamma(x) = value, by Newton on 1/trigamma (Smyth 2004, appendix)."""
    from scipy.special import polygamma

    if value > 1e7:
        return 1 / np.sqrt(value)
    if value < 1e-6:
        return 1 / value
    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, x))
        x += step
        if -step / x < 1e-10:
            break
    return x


def _result(dataset: Dataset, table: _Table, fit: _Fit, level: float, converged: bool) -> ScoreRaters:
    from scipy.special import stdtr, stdtrit
    from scipy.stats import chi2

    n = len(table.used)
    contrast = np.eye(n) - 1 / n
    alone = np.linalg.inv(fit.system)  # Raters are fixed instead of one population: generalised least squares.
    severity = contrast @ alone @ fit.right
    error = np.sqrt(np.maximum(np.diag(contrast @ alone @ contrast), 0))
    told = fit.freedom >= _LEAST_FREEDOM
    if not told.any():
        raise NotApplicableError("Cannot estimate severity: too few cases were scored by two raters.")
    # Neither is shrunk, because intervals of shrunk values have too low coverage with few raters.
    freedom = np.where(told, fit.freedom, np.nan)
    severity, spread = np.where(told, severity, np.nan), np.where(told, np.sqrt(fit.own), np.nan)
    tail, family = (1 - level) / 2, 0.05 / n

    def every(values: np.ndarray, else_: float = np.nan) -> np.ndarray:
        found = np.full(dataset.n_raters, else_)
        found[table.used] = values
        return found

    def all_raters(values: np.ndarray) -> np.ndarray:
        return every(values * table.unit)

    def flagged(which: np.ndarray) -> np.ndarray:
        return every(which, 0.0) > 0

    reach = stdtrit(freedom, 1 - tail) * error
    squares = fit.own * freedom
    p_erratic = chi2.sf(squares / max(np.nanmedian(spread) ** 2, _FLOOR), freedom)
    p_severe = 2 * stdtr(freedom, -np.abs(severity) / np.maximum(error, _FLOOR))
    together, shared, attainable = _with_others(table, fit, severity)
    least, most = fisher_interval(together, shared, tail)
    against = fisher_interval(together, shared, family)[1]
    return ScoreRaters(
        dataset.raters,
        np.bincount(dataset.rater, minlength=dataset.n_raters),
        every(shared, 0.0).astype(np.int64),
        all_raters(severity),
        all_raters(severity - reach),
        all_raters(severity + reach),
        all_raters(spread),
        all_raters(np.sqrt(squares / chi2.ppf(1 - tail, freedom))),
        all_raters(np.sqrt(squares / chi2.ppf(tail, freedom))),
        flagged(p_severe < family),
        flagged(p_erratic < family),
        every(p_severe),
        every(p_erratic),
        every(together),
        every(least),
        every(most),
        every(attainable),
        flagged((against < 0) | (np.isnan(against) & (together < 0))),  # -1 has no end.
        table.middle + table.unit * fit.m,
        float(np.sqrt(fit.tau2)) * table.unit,
        float(np.sqrt(fit.omega2)) * table.unit,
        level,
        converged,
    )


def _with_others(table: _Table, fit: _Fit, severity: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlate each rater with the weighted mean of the others over cases, with the number and the most attainable.

    Several scores of a rater for a case count as their mean; others count by their precision, less their severity. The
    share of the case in the variance of the others' mean is τ² / (τ² + 1 / precision).
    """
    level = np.where(np.isfinite(severity), severity, fit.delta)
    weight = 1 / fit.sigma2[table.rater]
    cell, row = np.unique(table.case * len(table.used) + table.rater, return_inverse=True)
    of_case, of_rater = np.divmod(cell, len(table.used))
    own_weight: np.ndarray = np.bincount(row, weight)
    own = np.bincount(row, weight * (table.score - level[table.rater]))  # Error times its weight.
    left = np.bincount(of_case, own_weight)[of_case] - own_weight
    others = (np.bincount(of_case, own)[of_case] - own) / left
    found, shared = np.full(len(table.used), np.nan), np.zeros(len(table.used))
    of_the_case = fit.tau2 / (fit.tau2 + 1 / left)
    attainable = np.sqrt(np.bincount(of_rater, of_the_case) / np.bincount(of_rater))
    for rater in range(len(table.used)):
        mine = of_rater == rater
        x, y = own[mine] / own_weight[mine], others[mine]
        shared[rater] = x.size
        if x.size >= _LEAST_SHARED and np.ptp(x) > 0 and np.ptp(y) > 0:
            found[rater] = np.clip(np.corrcoef(x, y)[0, 1], -1, 1)
    return found, shared, np.where(np.isfinite(found), attainable, np.nan)
