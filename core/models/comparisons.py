"""Bradley-Terry model of paired comparisons, with Davidson's ties, a discrimination of each rater, and the side shown.

Rater r prefers item i to item j with P(i) ∝ exp(d / 2), P(j) ∝ exp(-d / 2) and P(tie) ∝ ν, where

    d = a_r (θ_i - θ_j) + δ s.

θ are strengths in log odds, a_r is the discrimination of the rater (1 for the average rater, 0 for answers at random,
below 0 for the reversed order), and δ is the advantage of the item shown first (s is 1 if that is i, -1 if it is j).
Strengths have the prior N(0, σ²), which keeps the estimates finite if an item always wins, discriminations N(1, 0.5²)
with the mean 1, log ν N(0, 3²) and δ N(0, 1). σ is learned: its prior is log-normal, and its posterior is Laplace's
approximation on a grid. For each σ, the mode is found by Newton's method, with the normal approximation there; results
are those of the mixture. Strengths are differences from the mean of the items that are connected by comparisons.

Sources: Bradley and Terry (1952), Biometrika 39, 324-345; Davidson (1970), JASA 65, 317-328; raters that differ in
accuracy: Chen et al. (2013), Pairwise ranking aggregation in a crowdsourced setting, WSDM.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, ndtr, ndtri

from ..annotations.dataset import Dataset
from ..annotations.paired_items import FIRST, SECOND, TIE
from ..errors import NotApplicableError
from ..result_base import Columns, Result

RATER_SPREAD, TIE_SPREAD, SIDE_SPREAD = 0.5, 3.0, 1.0  # standard deviations of the priors
SPREADS = tuple(float(one) for one in 0.125 * 2 ** np.arange(0, 6.5, 0.5))  # grid of σ, 0.125 to 8
_TYPICAL_LOG_SPREAD = (0.0, 1.0)  # prior mean and sd of ln σ
_LEAST_WEIGHT = -7.0  # log weight, against the largest, under which a spread is left out
_SAME_MEAN = 1e4  # precision of the mean discrimination, which is 1
_FEW_SIDES = 10  # annotations of pairs that are shown both ways, for the advantage of the side
_STEPS, _SETTLED = 100, 1e-9
_NEVER = 1e-6  # smallest probability, and largest less than 1: further out, the approximation is not to be trusted
_MOST_ORDERED = 12  # items up to which whole orders are counted


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Counts of a dataset of comparisons, one cell for each pair of items, rater and side.

    Attributes
    ----------
    items, raters : tuple of str
    first, second, rater : ndarray of int, shape (n_cells,)
    side : ndarray of float, shape (n_cells,)
        1 if the first item was shown first, -1 if the second was, 0 if unknown.
    count : ndarray of float, shape (n_cells, 3)
        Number of annotations: first is better, tie, second is better.
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    rater: np.ndarray
    side: np.ndarray
    count: np.ndarray

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def table(self) -> np.ndarray:
        """Return how often each item won against each other one, float, shape (n_items, n_items); ties left out."""
        found = np.zeros((self.n_items, self.n_items))
        np.add.at(found, (self.first, self.second), self.count[:, 0])
        np.add.at(found, (self.second, self.first), self.count[:, 2])
        return found

    def of_rater(self, rater: int) -> "Comparisons":
        """Return the comparisons of one rater."""
        own = self.rater == rater
        cells = (part[own] for part in (self.first, self.second, self.rater, self.side, self.count))
        return Comparisons(self.items, self.raters, *cells)


def comparisons_of(dataset: Dataset) -> Comparisons:
    """Return the counts of a dataset of comparisons.

    Raises
    ------
    NotApplicableError
        Cases are not pairs of items, or the classes are others.
    """
    if dataset.pairs is None or not dataset.compares:
        raise NotApplicableError(
            "Could not compare items: the cases are not pairs of items.", "Open a file of paired comparisons."
        )
    names = [{FIRST: 0, TIE: 1, SECOND: 2}[name] for name in dataset.classes]
    answer = np.array(names, np.int64)[dataset.answer]
    pair = dataset.pairs.of_case[dataset.case_of_annotation].astype(np.int64)
    swapped = dataset.pairs.swapped
    side = np.zeros(len(answer), np.int64) if swapped is None else np.array([1, -1, 0])[swapped]
    n = dataset.pairs.n_items
    key = ((dataset.rater.astype(np.int64) * n + pair[:, 0]) * n + pair[:, 1]) * 3 + side + 1
    cells, cell = np.unique(key, return_inverse=True)
    count = np.bincount(cell * 3 + answer, minlength=3 * len(cells)).reshape(-1, 3).astype(float)
    whole, sides = np.divmod(cells, 3)
    whole, second = np.divmod(whole, n)
    rater, first = np.divmod(whole, n)
    return Comparisons(dataset.pairs.items, dataset.raters, first, second, rater, (sides - 1).astype(float), count)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ComparisonFit(Result):
    """Strengths of items, with their order and its certainty.

    Attributes
    ----------
    items, raters : tuple of str
    strength, low, high : ndarray, shape (n_items,)
        Log odds against the mean of the items of the group, with the interval.
    group : ndarray of int, shape (n_items,)
        Items that comparisons connect; the order of items of two groups is unknown.
    above : ndarray, shape (n_items, n_items)
        Probability that the item of the row is stronger than that of the column; NaN between groups.
    best : ndarray, shape (n_items,)
        Probability that the item is the strongest of its group.
    order : ndarray of int, shape (n_items,)
        Items by group, the strongest first.
    p_order : float
        Probability that this whole order is true.
    n_orders : int or None
        Number of orders that together have a probability of 90%; None with more than 12 items.
    won : ndarray, shape (n_items, 3)
        Number of comparisons that each item won, tied and lost.
    discrimination, discrimination_low, discrimination_high : ndarray, shape (n_raters,)
        Of each rater, with its interval; 1 for all if raters are not told apart.
    evidence : ndarray, shape (n_raters,)
        Discrimination by the rater's own comparisons, without the prior, in standard errors: above 1.96 the rater
        clearly follows the order, below −1.96 reverses it. 0 if raters are not told apart.
    accuracy, accuracy_low, accuracy_high : ndarray, shape (n_raters,)
        Probability that the rater prefers the stronger item, if the rater prefers one, over all compared pairs.
    tie : float or None
        Probability of a tie of two equal items; None without ties.
    side, side_low, side_high : float or None
        Log odds by which the item shown first is preferred; None if unknown.
    level : float
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    strength: np.ndarray
    low: np.ndarray
    high: np.ndarray
    group: np.ndarray
    above: np.ndarray
    best: np.ndarray
    order: np.ndarray
    p_order: float
    n_orders: int | None
    won: np.ndarray
    discrimination: np.ndarray
    discrimination_low: np.ndarray
    discrimination_high: np.ndarray
    evidence: np.ndarray
    accuracy: np.ndarray
    accuracy_low: np.ndarray
    accuracy_high: np.ndarray
    tie: float | None
    side: float | None
    side_low: float | None
    side_high: float | None
    level: float

    TABLES = ("items", "raters")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "items":
            place = self.order[:most]
            numbers = {name: getattr(self, name)[place] for name in ("strength", "low", "high", "best")}
            return {"item": [self.items[item] for item in place], **numbers}
        names = ("accuracy", "accuracy_low", "accuracy_high", "discrimination")
        return {"rater": self.raters[:most], **{name: getattr(self, name)[:most] for name in names}}

    @property
    def n_groups(self) -> int:
        """Number of groups of items that no comparison connects."""
        return int(self.group.max()) + 1


class _Posterior:
    """Posterior density of all parameters with its derivatives: strengths, discriminations, log ν, δ."""

    def __init__(self, data: Comparisons, *, raters: bool, ties: bool, sides: bool, spread: float, rater_spread: float):
        self.data, self.m, self.spread = data, data.n_items, spread
        self.r = len(data.raters) if raters else 0
        self.ties, self.sides = ties, sides
        self.n = self.m + self.r + ties + sides
        self.at_tie, self.at_side = self.m + self.r, self.m + self.r + ties
        parts = [(0.0, spread)] * self.m + [(1.0, rater_spread)] * self.r
        parts += [(0.0, TIE_SPREAD)] * ties + [(0.0, SIDE_SPREAD)] * sides
        self.mean, sd = (np.array(part) for part in zip(*parts, strict=True))
        self.precision = np.diag(1 / sd**2)
        self.log_prior = -float(np.log(sd).sum())
        if self.r:
            own = slice(self.m, self.m + self.r)
            self.precision[own, own] += _SAME_MEAN / self.r**2
        self.total = data.count.sum(axis=1)
        self.scored = (data.count[:, 0] - data.count[:, 2]) / 2

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return discrimination, difference of strengths and log odds of each cell."""
        data = self.data
        gap = x[data.first] - x[data.second]
        a = x[self.m + data.rater] if self.r else np.ones(len(gap))
        return a, gap, a * gap + (x[self.at_side] * data.side if self.sides else 0.0)

    def chances(self, x: np.ndarray, odds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the log of the sum of the three terms, P(first) - P(second) and P(tie), each (n_cells,)."""
        half = odds / 2
        if not self.ties:
            return np.logaddexp(half, -half), np.tanh(half), np.zeros(len(half))
        top = np.maximum(np.abs(half), x[self.at_tie])
        one, other, tie = np.exp(half - top), np.exp(-half - top), np.exp(x[self.at_tie] - top)
        whole = one + other + tie
        return top + np.log(whole), (one - other) / whole, tie / whole

    def value(self, x: np.ndarray) -> float:
        """Return the log density up to a constant."""
        odds = self.parts(x)[2]
        total = float((self.scored * odds).sum() - (self.total * self.chances(x, odds)[0]).sum())
        if self.ties:
            total += float(self.data.count[:, 1].sum()) * x[self.at_tie]
        return total - 0.5 * float((x - self.mean) @ self.precision @ (x - self.mean))

    def derivatives(self, x: np.ndarray, *, observed: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return gradient and information matrix: the observed one, or the expected one, which is positive definite."""
        data = self.data
        a, gap, odds = self.parts(x)
        _, lean, tie = self.chances(x, odds)
        score = self.scored - self.total * lean / 2
        weight = self.total * ((1 - tie) / 4 - lean**2 / 4)
        rows = [(data.first, a), (data.second, -a)]
        rows += [(self.m + data.rater, gap)] if self.r else []
        rows += [(np.full(len(gap), self.at_side), data.side)] if self.sides else []
        gradient, flat = np.zeros(self.n), np.zeros(self.n * self.n)
        for place, part in rows:
            gradient += np.bincount(place, score * part, self.n)
            for other, factor in rows:
                flat += np.bincount(place * self.n + other, weight * part * factor, self.n * self.n)
        if self.ties:
            gradient[self.at_tie] += (data.count[:, 1] - self.total * tie).sum()
            flat[self.at_tie * (self.n + 1)] += (self.total * tie * (1 - tie)).sum()
            for place, part in rows:
                cross = np.bincount(place, -self.total * lean * tie / 2 * part, self.n)
                flat[self.at_tie * self.n : (self.at_tie + 1) * self.n] += cross
                flat[np.arange(self.n) * self.n + self.at_tie] += cross
        if observed and self.r:
            for place, sign in ((data.first, -1.0), (data.second, 1.0)):
                of = self.m + data.rater
                flat += np.bincount(place * self.n + of, sign * score, self.n * self.n)
                flat += np.bincount(of * self.n + place, sign * score, self.n * self.n)
        return gradient - self.precision @ (x - self.mean), flat.reshape(self.n, self.n) + self.precision

    def mode(self, start: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the mode, and the lower Cholesky factor of the information there; ``start`` is the mean if omitted."""
        x = (self.mean if start is None else start).copy()
        value = self.value(x)
        for _ in range(_STEPS):
            gradient, factor = self._factored(x)
            step = cho_solve((factor, True), gradient)
            gain, share = float(gradient @ step), 1.0
            if gain < _SETTLED:
                x = x + step
                break
            while (now := self.value(x + share * step)) < value + 1e-4 * share * gain and share > 1e-8:
                share /= 2
            if share <= 1e-8:
                break
            x, value = x + share * step, now
        return x, self._factored(x)[1]

    def _factored(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient and the factor of the observed information, or of the expected one far from the mode."""
        gradient, information = self.derivatives(x, observed=True)
        try:
            return gradient, cho_factor(information, lower=True)[0]
        except np.linalg.LinAlgError:
            return gradient, cho_factor(self.derivatives(x, observed=False)[1], lower=True)[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Mixture:
    """Normal approximations at the modes of several spreads of strengths, with their weights.

    Attributes
    ----------
    weight : ndarray, shape (n_parts,)
    modes : ndarray, shape (n_parts, n)
    roots : ndarray, shape (n_parts, n, n)
        The covariance of each part is ``root.T @ root``.
    """

    weight: np.ndarray
    modes: np.ndarray
    roots: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean of all parameters."""
        return self.weight @ self.modes

    def sd(self, of: np.ndarray) -> np.ndarray:
        """Return standard deviations of linear combinations, ``of`` with shape (n_combinations, n)."""
        within = ((self.roots @ of.T) ** 2).sum(axis=1)
        return np.sqrt(self.weight @ (within + ((self.modes - self.mean) @ of.T) ** 2))

    def above(self, m: int) -> np.ndarray:
        """Return the probability that the first ``m`` parameters are above each other, shape (m, m)."""
        found = np.zeros((m, m))
        for weight, mode, root in zip(self.weight, self.modes[:, :m], self.roots[:, :, :m], strict=True):
            covariance = root.T @ root
            spread = np.diag(covariance)
            sd = np.sqrt(np.maximum(spread[:, None] + spread - 2 * covariance, 1e-300))
            found += weight * ndtr((mode[:, None] - mode) / sd)
        return found

    def draws(self, n: int, order: np.ndarray, seed: int) -> np.ndarray:
        """Return ``n`` draws of the first parameters; random numbers belong to places in ``order``, not to names."""
        rng = np.random.default_rng(seed)
        ends = np.round(np.cumsum(self.weight) * n).astype(int)
        found = []
        for own, mode, root in zip(np.diff(ends, prepend=0), self.modes, self.roots, strict=True):
            factor = np.linalg.qr(root[:, order], mode="r")  # unlike the root itself, it depends only on the covariance
            factor *= np.sign(np.diag(factor))[:, None]
            found.append(mode[order] + rng.standard_normal((own, len(order))) @ factor)
        return np.concatenate(found)[:, np.argsort(order)]


def _mixture(build: Callable[[float], _Posterior], spread: float | None) -> _Mixture:
    """Approximate the posteriors of several spreads, and weight them by Laplace's evidence.

    Parameters
    ----------
    build : callable
        Return the posterior of a spread.
    spread : float or None
        The only spread; None for those of the grid that matter, from the middle to both ends.
    """
    if spread is not None:
        return _Mixture(np.ones(1), *(part[None] for part in _normal(build(spread))[1:]))
    parts: list[tuple[float, np.ndarray, np.ndarray]] = []
    middle = len(SPREADS) // 2
    for side in (SPREADS[middle:], SPREADS[:middle][::-1]):
        start = parts[0][1] if parts else None
        for one in side:
            parts.append(_normal(build(one), start))
            start, best = parts[-1][1], max(height for height, *_ in parts)
            fades = parts[-1][0] < best + _LEAST_WEIGHT
            parts = [part for part in parts if part[0] >= best + _LEAST_WEIGHT]
            if fades:
                break
    height, modes, roots = (np.array(part) for part in zip(*parts, strict=True))
    weight = np.exp(height - height.max())
    return _Mixture(weight / weight.sum(), modes, roots)


def _normal(one: _Posterior, start: np.ndarray | None = None) -> tuple[float, np.ndarray, np.ndarray]:
    """Return Laplace's log evidence of a spread with its prior, the mode, and a root of the covariance.

    Parameters
    ----------
    one : _Posterior
    start : ndarray, shape (n,), optional
        Start of the search for the mode.
    """
    x, factor = one.mode(start)
    off = (np.log(one.spread) - _TYPICAL_LOG_SPREAD[0]) / _TYPICAL_LOG_SPREAD[1]
    height = one.value(x) + one.log_prior - float(np.log(np.diag(factor)).sum()) - 0.5 * off**2
    return height, x, solve_triangular(factor, np.eye(len(x)), lower=True)


def fit_comparisons(
    dataset: Dataset | Comparisons,
    *,
    spread: float | None = None,
    rater_spread: float = RATER_SPREAD,
    level: float = 0.95,
    n_draws: int = 4000,
    seed: int = 0,
    raters: bool = True,
) -> ComparisonFit:
    """Estimate the strengths of items from paired comparisons.

    Parameters
    ----------
    dataset : Dataset or Comparisons
        Dataset whose cases are pairs of items.
    spread : float, optional
        Standard deviation of the prior of strengths; learned from the data if omitted.
    rater_spread : float
        Standard deviation of the prior of discriminations.
    level : float
        Level of the intervals.
    n_draws, seed : int
        Number of draws of strengths for the probabilities of orders, and their seed.
    raters : bool
        True to estimate the discrimination of each rater, if there are at least two and they are identified.

    Raises
    ------
    NotApplicableError
        Cases are not pairs of items.
    """
    data = dataset if isinstance(dataset, Comparisons) else comparisons_of(dataset)
    apart = raters and len(data.raters) > 1 and (isinstance(dataset, Comparisons) or dataset.raters_identified)
    kinds = {"raters": apart, "ties": bool(data.count[:, 1].any()), "sides": _shown_both_ways(data)}
    build = partial(_Posterior, data, rater_spread=rater_spread, **kinds)
    found, posterior = _mixture(lambda one: build(spread=one), spread), build(spread=1.0)
    x, m, unit = found.mean, data.n_items, np.eye(posterior.n)
    group = _groups(data)
    strengths = _Strengths(found, m, group, level)
    best, p_order, n_orders = _orders(found.draws(n_draws, strengths.order, seed), group, strengths.order)
    z = float(ndtri((1 + level) / 2))
    ends, evidence = np.ones((3, len(data.raters))), np.zeros(len(data.raters))
    if posterior.r:
        a, sd = x[m : posterior.at_tie], found.sd(unit[m : posterior.at_tie])
        ends = a + z * sd * np.array([[0.0], [-1.0], [1.0]])
        evidence = _without_prior(a, sd**2, rater_spread)
    side: list[float | None] = [None, None, None]
    if posterior.sides:
        shift = z * float(found.sd(unit[posterior.at_side :])[0])
        side = [float(x[posterior.at_side]) + shift * sign for sign in (0, -1, 1)]
    nu = float(np.exp(x[posterior.at_tie])) if posterior.ties else None
    return ComparisonFit(
        data.items, data.raters, strengths.contrast, strengths.low, strengths.high, group, strengths.above, best,
        strengths.order, p_order, n_orders, _won(data), ends[0], ends[1], ends[2], evidence,
        _followed(data, strengths.contrast, ends[0]), _followed(data, strengths.contrast, ends[1]),
        _followed(data, strengths.contrast, ends[2]), None if nu is None else nu / (2 + nu),
        side[0], side[1], side[2], level,
    )  # fmt: skip


def _without_prior(a: np.ndarray, variance: np.ndarray, spread: float) -> np.ndarray:
    """Return the discriminations by the comparisons alone, in standard errors, from those of the posterior."""
    prior = 1 / (spread**2 * (1 - 1 / len(a)))
    own = 1 / variance - prior
    known = own > 1e-6 * prior
    return np.where(known, (a / variance - prior) / np.sqrt(np.where(known, own, 1.0)), 0.0)


class _Strengths:
    """Strengths against the mean of their group, with intervals, and the probability that one is above another."""

    def __init__(self, found: _Mixture, m: int, group: np.ndarray, level: float):
        size = np.bincount(group)
        centre = np.zeros((m, found.modes.shape[1]))
        centre[:, :m] = np.eye(m) - (group[:, None] == group) / size[group]
        self.contrast = centre @ found.mean
        self.contrast[size[group] == 1] = 0.0
        half = float(ndtri((1 + level) / 2)) * found.sd(centre)
        self.low, self.high = self.contrast - half, self.contrast + half
        self.above = np.clip(found.above(m), _NEVER, 1 - _NEVER)
        np.fill_diagonal(self.above, np.nan)
        self.above[group[:, None] != group] = np.nan
        self.order = np.lexsort((np.arange(m), -np.round(self.contrast, 9), group))


def _shown_both_ways(data: Comparisons) -> bool:
    """Return whether enough annotations are of pairs that were shown in both orders."""
    key = data.first * data.n_items + data.second
    total = data.count.sum(axis=1)
    shown = [np.bincount(key, total * (data.side == side), data.n_items**2) for side in (1, -1)]
    return bool(np.where((shown[0] > 0) & (shown[1] > 0), shown[0] + shown[1], 0).sum() >= _FEW_SIDES)


def _groups(data: Comparisons) -> np.ndarray:
    """Return the group of each item, the largest first; items of a group are connected by comparisons."""
    met = data.count.sum(axis=1) > 0
    links = coo_array((met[met], (data.first[met], data.second[met])), shape=(data.n_items, data.n_items))
    n, label = connected_components(links, directed=False)
    rank = np.empty(n, np.int64)
    rank[np.argsort(-np.bincount(label), kind="stable")] = np.arange(n)
    return rank[label]


def _orders(draws: np.ndarray, group: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, float, int | None]:
    """Return P(best of its group) of each item, P(whole order), and the number of orders that make up 90%."""
    best = np.zeros(len(group))
    for number in range(int(group.max()) + 1):
        own = np.flatnonzero(group == number)
        counts = np.bincount(draws[:, own].argmax(axis=1), minlength=len(own))
        best[own] = (counts + 1 / len(own)) / (len(draws) + 1)  # one more draw, so that none is impossible
    ordered = draws[:, order]
    falls = (ordered[:, 1:] < ordered[:, :-1]) | (np.diff(group[order]) > 0)
    p_order = float(falls.all(axis=1).mean())
    if len(group) > _MOST_ORDERED:
        return best, p_order, None
    shown = np.lexsort((-draws.T, np.broadcast_to(group[:, None], draws.T.shape)), axis=0).T
    counts = np.sort(np.unique(shown, axis=0, return_counts=True)[1])[::-1]
    return best, p_order, int(np.searchsorted(np.cumsum(counts), 0.9 * len(draws)) + 1)


def _followed(data: Comparisons, strength: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return P(prefers the stronger item, if one) of raters with these discriminations, over all compared pairs."""
    key = data.first * data.n_items + data.second
    n_each = np.bincount(key, data.count.sum(axis=1))
    pairs = np.flatnonzero(n_each)
    gap = np.abs(strength[pairs // data.n_items] - strength[pairs % data.n_items])
    share = n_each[pairs] / n_each[pairs].sum()
    return np.array([float(share @ expit(own * gap)) for own in a])


def _won(data: Comparisons) -> np.ndarray:
    """Return how many comparisons each item won, tied and lost, shape (n_items, 3)."""
    columns = [
        np.bincount(data.first, data.count[:, own], data.n_items)
        + np.bincount(data.second, data.count[:, 2 - own], data.n_items)
        for own in range(3)
    ]
    return np.stack(columns, 1)
