"""Raters of scores: how far each scores above the average rater, and how far scores scatter about those of the case.

Ordered classes count as scores 0, 1, 2, …: a step from one class to the next is one.

    y = μ_case + δ_rater + ε,  μ ~ N(m, τ²),  δ ~ N(0, ω²),  ε ~ N(0, σ²_rater).

Severity is δ less its mean over raters, spread is σ. Given the variances, μ and δ are jointly normal: cases are summed
out and what is left is one system in the raters. Variances follow by restricted fixed-point steps, each the sum of
squares over its effective degrees of freedom [Harville, Maximum likelihood approaches to variance component estimation,
JASA 72 (1977), 320-338]. As weights of scores the variances of raters are shrunk towards each other, as moderated
variances are [Smyth, Linear models and empirical Bayes methods, Statistical Applications in Genetics and Molecular
Biology 3 (2004), article 3]; what is reported of a rater is not.
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
_FLOOR = 1e-10  # of a variance, as a share of that of all scores
_LEAST_FREEDOM = 1.0  # of a rater's scores, for anything to be said of the rater
_MOST_PRIOR = 1e6  # degrees of freedom of the common spread, where raters do not differ in theirs
_CHUNK = 4096
_LEAST_SHARED = 10  # cases with others, for a correlation with these


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreRaters(Result):
    """Severity and spread of each rater, in units of the scores.

    Attributes
    ----------
    raters : tuple of str
    n : ndarray of int64, shape (n_raters,)
        Scores of each.
    shared : ndarray of int64, shape (n_raters,)
        Cases of each that others scored too.
    severity, severity_low, severity_high : ndarray, shape (n_raters,)
        How far a rater scores above the average rater, and the ends of its interval; negative is below. NaN where the
        rater shares no case with anybody, or too few.
    spread, spread_low, spread_high : ndarray, shape (n_raters,)
        Standard deviation of a rater's scores about the case's score and the rater's own level; NaN as above.
    severe, erratic : ndarray of bool, shape (n_raters,)
        Whether severity differs from 0, and whether spread is above that of the median rater, at a family-wise level:
        5% that any honest rater is among them.
    p_severe, p_erratic : ndarray, shape (n_raters,)
        Chance of a severity as far from 0, and of a spread as large, from a rater like the others; NaN as above.
    with_others, with_others_low, with_others_high : ndarray, shape (n_raters,)
        Correlation, over cases, of a rater's scores with the mean of the others' less their severity, and the ends of
        its interval. NaN below `_LEAST_SHARED` cases, and where one of the two does not vary; 1 and -1 have no ends.
    attainable : ndarray, shape (n_raters,)
        The same correlation of a rater without any scatter: the others' mean is not the case's score. NaN as above.
    against : ndarray of bool, shape (n_raters,)
        Whether that correlation is below 0, at a family-wise level as above.
    mean : float
        Mean of the cases' scores, m.
    between_cases, between_raters : float
        τ and ω.
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
        """Who stands out, in a few sentences; nobody where none does so clearly. Not escaped.

        Parameters
        ----------
        digits : int
            After the point of scores.
        """
        return ". ".join(self.sentences(digits))

    def sentences(self, digits: int = 2) -> tuple[str, ...]:
        """The same one by one, without the point at their ends: names of raters may hold points, too.

        Parameters
        ----------
        digits : int
            After the point of scores.
        """
        said = [self._against()] if self.against.any() else []
        if self.severe.any():
            one = int(np.argmax(np.where(self.severe, np.abs(self.severity), -1)))
            how = "lower" if self.severity[one] < 0 else "higher"
            ends = sorted(abs(end) for end in (self.severity_low[one], self.severity_high[one]))
            said.append(
                f"{self.raters[one]} scores {number(abs(self.severity[one]), digits)} {how} than the average rater "
                f"({number(ends[0], digits)} to {number(ends[1], digits)})"
            )
        if self.erratic.any():
            one = int(np.argmax(np.where(self.erratic, self.spread, -1)))
            said.append(
                f"{self.raters[one]}'s scores scatter by {number(self.spread[one], digits)} "
                f"({number(self.spread_low[one], digits)} to {number(self.spread_high[one], digits)}), those of the "
                "median rater "
                f"by {number(self.median_spread, digits)}"
            )
        return tuple(said) or ("No rater clearly scores above or below the others, or scatters more",)

    def _against(self) -> str:
        """Whose scores fall where the others' rise. Of two raters, neither alone runs the other way."""
        one = int(np.argmin(np.where(self.against, self.with_others, 2.0)))
        low, high = (None if np.isnan(end) else end for end in (self.with_others_low[one], self.with_others_high[one]))
        found = with_interval(self.with_others[one], low, high)
        n, judged = int(self.against.sum()), int(np.isfinite(self.with_others).sum())
        if 2 * n >= judged:
            return (
                f"{self.raters[one]}'s scores fall where those of others rise (correlation {found}): some read the "
                "scale the other way round, and the scores do not tell who"
            )
        more = f"; so do those of {plural(n - 1, 'other rater')}" if n > 1 else ""
        return (
            f"{self.raters[one]}'s scores fall where those of the others rise (correlation {found}), as if the scale "
            f"ran the other way{more}"
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
    """Severity and spread of the raters who share cases with others.

    Parameters
    ----------
    dataset : Dataset
        Of scores, or of ordered classes, by raters who are told apart.
    level : float
        Of the intervals, 0 to 1.
    token, progress
        See `core.runtime.chunks.map_chunks`; progress is that of the logarithm of what still moves.

    Raises
    ------
    NotApplicableError
        The annotations are neither scores nor ordered classes, are anonymous, or no case has scores of two raters, or
        too few have.
    InputError
        All scores are equal, or the level is out of range.
    LimitError
        There are more than `MOST_RATERS` raters.
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
    """Scores, or of ordered classes their places 0, 1, 2, …; shape (n_annotations,)."""
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
        raise NotApplicableError("Severity and spread need scores or ordered classes; these annotations have no order.")
    if not dataset.raters_identified:
        raise NotApplicableError("The scores are anonymous, so raters cannot be told apart.")
    case, rater = dataset.case_of_annotation.astype(np.int64), dataset.rater.astype(np.int64)
    shared = raters_per_case(dataset)[case] >= 2
    if not shared.any():
        raise NotApplicableError("No case has scores of two raters, so raters cannot be compared.")
    used, codes = np.unique(rater[shared], return_inverse=True)
    if used.size > MOST_RATERS:
        raise LimitError(f"Severity of {plural(int(used.size), 'rater')} was asked for; {MOST_RATERS:,} are the most.")
    score = values_of(dataset)[shared]
    middle, unit = float(score.mean()), float(score.std())
    if unit == 0:
        raise InputError("All scores are equal.", "Raters can be compared only where scores differ.")
    places, row = np.unique(case[shared], return_inverse=True)
    lowest, highest = np.full(len(places), np.inf), np.full(len(places), -np.inf)
    np.minimum.at(lowest, row, score)
    np.maximum.at(highest, row, score)
    if (lowest == highest).all():
        raise NotApplicableError("No two scores of a case differ, so nothing tells raters apart.")
    return _Table(row, codes, (score - middle) / unit, used, middle, unit, len(places))


class _Fit:
    """Variances and what follows from them."""

    def __init__(self, table: _Table) -> None:
        self.table = table
        self.m = 0.0
        self.tau2, self.omega2 = 0.5, 0.1
        self.sigma2 = np.full(len(table.used), 0.4)
        self.freedom = np.ones(len(table.used))
        self.own = self.sigma2  # of each rater's scores alone
        self.prior_freedom = 1.0
        self.delta = np.zeros(len(table.used))
        self.covariance: np.ndarray = np.eye(len(table.used))
        self.system: np.ndarray = self.covariance
        self.right = self.delta

    def variances(self) -> np.ndarray:
        """All of them, to see whether they still move."""
        return np.array([self.tau2, self.omega2, *self.sigma2])

    def step(self) -> None:
        """Cases and raters given the variances, then the variances given these."""
        from scipy.sparse import csr_matrix

        t, n_raters = self.table, len(self.table.used)
        weight = 1 / self.sigma2[t.rater]
        w = csr_matrix((weight, (t.case, t.rater)), shape=(t.n_cases, n_raters))  # scores of one cell are summed
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
        """Of each case's score by the uncertainty of raters, and of each score's case with its rater."""
        t = self.table
        of_case, with_rater = np.empty(t.n_cases), np.empty(len(t.case))
        for start, stop in chunk_ranges(t.n_cases, _CHUNK):
            rows = share[start:stop] @ self.covariance
            of_case[start:stop] = np.asarray(share[start:stop].multiply(rows).sum(axis=1)).ravel()
            mine = slice(*np.searchsorted(t.case, [start, stop]))  # cases ascend
            with_rater[mine] = rows[t.case[mine] - start, t.rater[mine]]
        return of_case, with_rater

    def _told(self, precision: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Degrees of freedom that each rater's variance is known with: 2 σ⁴ over its variance by Fisher information.

        That of all variances of raters and of τ² together, ½ tr(P V_j P V_k), case by case; one is gone for δ. Scores
        less the case's mean hold the errors of the others, too, so these are fewer than there are residuals.
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
        """Variances of the raters, shrunk towards a common one as far as they are alike (Smyth 2004, section 6.2)."""
        from scipy.special import digamma, polygamma

        d = self.freedom
        s2 = self.own = np.maximum(s2, _FLOOR)
        told = d >= _LEAST_FREEDOM
        if told.sum() <= 2:  # two raters do not tell how alike raters are
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
    """X with trigamma(x) = value, by Newton on 1/trigamma (Smyth 2004, appendix)."""
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
    alone = np.linalg.inv(fit.system)  # of raters as they are, not as of one crowd: generalised least squares
    severity = contrast @ alone @ fit.right
    error = np.sqrt(np.maximum(np.diag(contrast @ alone @ contrast), 0))
    told = fit.freedom >= _LEAST_FREEDOM
    if not told.any():
        raise NotApplicableError("There are too few scores of cases with two raters to tell raters apart.")
    # Neither is shrunk: intervals of shrunk ones hold too seldom where few raters tell how alike raters are.
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
        flagged((against < 0) | (np.isnan(against) & (together < 0))),  # -1 has no end
        table.middle + table.unit * fit.m,
        float(np.sqrt(fit.tau2)) * table.unit,
        float(np.sqrt(fit.omega2)) * table.unit,
        level,
        converged,
    )


def _with_others(table: _Table, fit: _Fit, severity: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlation of each rater with the weighted mean of the others over cases, their number, and the most attainable.

    Several scores of a rater for a case count as their mean; others count by their precision, less their severity. Of
    what varies in the others' mean of a case, τ² / (τ² + 1 / precision) is the case.
    """
    level = np.where(np.isfinite(severity), severity, fit.delta)
    weight = 1 / fit.sigma2[table.rater]
    cell, row = np.unique(table.case * len(table.used) + table.rater, return_inverse=True)
    of_case, of_rater = np.divmod(cell, len(table.used))
    own_weight: np.ndarray = np.bincount(row, weight)
    own = np.bincount(row, weight * (table.score - level[table.rater]))  # times its weight
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
