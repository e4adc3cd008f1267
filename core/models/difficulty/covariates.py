"""Effects of facts of raters on their accuracy, and of facts of cases on prevalence and difficulty.

A difficulty model with covariates (Han, Adıgüzel & Carpenter 2024, section on covariates); see `covariate_density`. By
mode: Laplace's approximation given τ, integrated over its posterior, since the joint mode of raters and their spread is
at a corner; then each draw is moved by a few Hamiltonian steps, which correct the approximation. Effects are average
differences of probabilities: of a right annotation, over raters, cases and true classes, or of the positive class, over
cases.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...agreement.intervals import IntervalEstimate, percentile_interval
from ...annotations.dataset import Dataset
from ...errors import InputError, LimitError, NotApplicableError
from ...multiplicity import holm
from ...options import check_choice, check_level, check_whole
from ...runtime.chunks import CancelToken
from ...text import plural
from ..nuts.diagnostics import estimates
from ..nuts.sampler import sample
from ..reparametrise import expit
from .covariate_density import PRIOR_LOG_TAU, CovariateDensity, CovariateParameters
from .covariate_design import MOST_COLUMNS, Covariate, Side, covariate, side_by_side
from .mode import ascend, principal_spread
from .model import one_against_rest
from .nodes import difficulty_rule

MOST_RATERS = 300
N_DRAWS = 1000
_FIRST_TAUS, _N_TAUS = 6, 6
_WIDEST_TAU = 2.8  # standard deviations of the prior of ln τ
_MOST_PROFILES, _N_POINTS, _N_NODES = 200, 128, 9
_MODE_SHARE = 0.1  # of the progress of chains
_MOVES, _KEPT_MOVES, _STEPS, _STEP, _LEAST_ACCEPTED = 4, 2, 4, 0.4, 0.5
_ROUGH = (
    "The approximation at the mode is rough for these data. Intervals may be too narrow. Use the full posterior (NUTS)."
)
Outcome = Literal["accuracy", "prevalence", "difficulty"]
Facts = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class CovariateEffect:
    """Effect of one value of a column.

    Attributes
    ----------
    side : {"raters", "cases"}
    column : str
    value, reference : str
        Value, and the most frequent value, which it is compared with; both empty for numbers.
    outcome : {"accuracy", "prevalence", "difficulty"}
        Effect on the accuracy of raters, on the prevalence of the positive class, or on accuracy because the cases are
        easier or harder.
    difference : IntervalEstimate
        Difference of probabilities; for numbers, of one standard deviation more.
    unit : float
        Standard deviation of numbers; 1 otherwise.
    n : int
        Number of raters or cases with the value.
    p : float
        Posterior probability of the other sign, times two, by the normal approximation.
    clear : bool
        True if the sign is clear over all effects (Holm).
    """

    side: Side
    column: str
    value: str
    reference: str
    outcome: Outcome
    difference: IntervalEstimate
    unit: float
    n: int
    p: float
    clear: bool


@dataclass(frozen=True, slots=True)
class CovariateFit:
    """Effects of all columns.

    Attributes
    ----------
    effects : tuple of CovariateEffect
    positive : str
        Class whose prevalence is estimated, and that raters tell from all others.
    way : {"map", "nuts"}
    level : float
    prevalence, accuracy : float
        Posterior means, over cases and raters as they are.
    rater_spread : float
        Posterior mean of τ: spread of raters that the columns do not explain, in log odds.
    converged : bool
    diagnostics : str
        Words on the chains, or on a mode that is not good enough.
    """

    effects: tuple[CovariateEffect, ...]
    positive: str
    way: str
    level: float
    prevalence: float
    accuracy: float
    rater_spread: float
    converged: bool
    diagnostics: str = ""


def fit_covariates(
    dataset: Dataset,
    of_raters: Facts,
    of_cases: Facts,
    *,
    way: Literal["map", "nuts"] = "map",
    positive: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    **lengths: int,
) -> CovariateFit:
    """Estimate the effects of columns of facts.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with identified raters.
    of_raters, of_cases : mapping of str to sequence of str
        Chosen columns, at most `MOST_COLUMNS` each: by name the value of each rater, or of each case; empty if unknown.
    way : {"map", "nuts"}
        Posterior mode with Laplace's approximation, or chains.
    positive : str, optional
        Class that is told from all others; needed for more than two classes.
    level : float
        Confidence level of intervals, 0 to 1.
    seed : int
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.
    **lengths
        Lengths of draws, see `draw_parameters`.

    Raises
    ------
    InputError
        The facts belong to other data, or an option is out of range.
    NotApplicableError
        There is no column, too many, or one that cannot be used; or see `one_against_rest`.
    LimitError
        There are more than `MOST_RATERS` raters.
    Cancelled
    """
    check_level(level)
    two, code = one_against_rest(dataset, positive)
    columns = [*_columns("raters", of_raters, two.n_raters), *_columns("cases", of_cases, two.n_cases)]
    _check(two, columns)
    # In the order of their names, so that draws do not depend on the order in which columns were chosen.
    ordered = sorted(columns, key=lambda one: one.name)
    density = _density(two, code, ordered)
    draws, converged, words = draw_parameters(
        density, way, level=level, seed=seed, token=token, progress=progress, **lengths
    )
    kept = draws[np.linspace(0, len(draws) - 1, min(len(draws), N_DRAWS)).round().astype(int)]
    probabilities = Probabilities(density, ordered, kept)
    prevalence = float(probabilities.prevalence().mean())
    accuracy = float(probabilities.accuracy_of_raters(probabilities.alpha).mean())
    spread, effects = float(np.exp(probabilities.at.log_tau).mean()), _effects_of(columns, probabilities, level)
    return CovariateFit(effects, two.classes[code], way, level, prevalence, accuracy, spread, converged, words)


def _effects_of(columns: list[Covariate], probabilities: "Probabilities", level: float) -> tuple[CovariateEffect, ...]:
    """Return the effects of all columns, those with a clear sign marked.

    Parameters
    ----------
    columns : list of Covariate
    probabilities : Probabilities
    level : float
    """
    found = [
        _effect(one, place, outcome, draws, level)
        for one in columns
        for place, outcome, draws in probabilities.effects(one)
    ]
    clear = set(holm(np.array([one.p for one in found]), 1 - level).tolist())
    return tuple(replace(one, clear=place in clear) for place, one in enumerate(found))


def draw_parameters(
    density: CovariateDensity,
    way: Literal["map", "nuts"],
    *,
    level: float = 0.95,
    n_draws: int = N_DRAWS,
    n_tune: int = 1000,
    n_chains: int = 4,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, bool, str]:
    """Draw parameters by Laplace's approximation or by chains; see `fit_covariates`.

    Parameters
    ----------
    density : CovariateDensity
    way : {"map", "nuts"}
    level : float
    n_draws : int
        Number of draws: in all for the mode, per chain otherwise.
    n_tune, n_chains, seed : int
    token : CancelToken, optional
    progress : callable, optional

    Returns
    -------
    draws : ndarray, shape (n_draws, ndim)
    converged : bool
    words : str
        On the chains, or on a mode that is not good enough.
    """
    check_choice(way, "The method", ("map", "nuts"))
    check_whole(seed, "The seed", 0)
    check_whole(n_draws, "The number of draws", 100)
    share = 1.0 if way == "map" else _MODE_SHARE
    report = progress or (lambda done: None)
    strata = _nested(density, token or CancelToken(), lambda done: report(share * done))
    if way == "map":
        draws, accepted = _moved(density, strata, n_draws, seed, token or CancelToken())
        arrived, rough = all(one.arrived for one in strata), accepted < _LEAST_ACCEPTED
        words = "" if arrived else "The search for the mode ran out of steps. Results may still change."
        return draws, arrived and not rough, words or (_ROUGH if rough else "")
    return _chains(
        density, strata, level, n_draws=n_draws, n_tune=n_tune, n_chains=n_chains, seed=seed, token=token,
        progress=lambda done, _: report(share + (1 - share) * done),
    )  # fmt: skip


def _density(two: Dataset, code: int, columns: list[Covariate]) -> CovariateDensity:
    """Build the posterior of the data with these columns.

    Parameters
    ----------
    two : Dataset
        Dataset of two classes.
    code : int
        Positive class.
    columns : list of Covariate
    """
    of_cases, of_raters = (
        side_by_side([one for one in columns if one.side == side], n)
        for side, n in (("cases", two.n_cases), ("raters", two.n_raters))
    )
    return CovariateDensity(two, code, of_cases, of_raters)


def _columns(side: Side, facts: Facts, n: int) -> list[Covariate]:
    """Return the columns of one side.

    Parameters
    ----------
    side : {"raters", "cases"}
    facts : mapping of str to sequence of str
    n : int
        Number of raters or cases.
    """
    for name, values in facts.items():
        if len(values) != n:
            one = side.removesuffix("s")
            raise InputError(
                f"Could not use column {name!r}: it has {plural(len(values), 'value')} for {plural(n, one)}.",
                f"Provide one value per {one}.",
            )
    if len(facts) > MOST_COLUMNS:
        raise NotApplicableError(
            f"Could not use {plural(len(facts), 'column')} of {side}: at most {MOST_COLUMNS} are allowed."
        )
    return [covariate(side, name, values) for name, values in facts.items()]


def _check(two: Dataset, columns: list[Covariate]) -> None:
    """Refuse data without annotations or identified raters, too many raters, and no column."""
    if not columns:
        raise NotApplicableError("Could not estimate effects: no column is chosen. Choose a rater or case column.")
    if two.n_annotations == 0 or not two.raters_identified:
        what = "there are none" if two.n_annotations == 0 else "the annotations are anonymous"
        raise NotApplicableError(f"Could not estimate effects: this needs annotations by named raters, but {what}.")
    if two.n_raters > MOST_RATERS:
        raise LimitError(
            f"Could not estimate effects: there are {two.n_raters:,} raters; the limit is {MOST_RATERS}. "
            "Select fewer raters."
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Stratum:
    """Laplace's approximation given τ; parameters without ln τ, which is the last.

    Attributes
    ----------
    log_tau : float
    mode : ndarray, shape (ndim - 1,)
    sd : ndarray, shape (ndim - 1,)
        Standard deviations along the axes.
    axes : ndarray, shape (ndim - 1, ndim - 1)
    height : float
        Log posterior density at the mode.
    evidence : float
        Log posterior density of ln τ, up to a constant.
    arrived : bool
        False if the search for the mode ran out of steps.
    """

    log_tau: float
    mode: np.ndarray
    sd: np.ndarray
    axes: np.ndarray
    height: float
    evidence: float
    arrived: bool

    @property
    def scale(self) -> np.ndarray:
        """Symmetric root of the covariance."""
        return (self.axes * self.sd) @ self.axes.T


def _nested(density: CovariateDensity, token: CancelToken, report: Callable[[float], None]) -> list[_Stratum]:
    """Return approximations at the middle of equally probable ranges of τ.

    Parameters
    ----------
    density : CovariateDensity
    token : CancelToken
    report : callable
        Called with the share done.
    """
    from scipy.interpolate import CubicSpline

    start, n, done = density.start()[:-1], _FIRST_TAUS + _N_TAUS, 0
    first: list[_Stratum] = []
    mean, sd = PRIOR_LOG_TAU
    for log_tau in mean + sd * np.linspace(-_WIDEST_TAU, _WIDEST_TAU, _FIRST_TAUS):
        first.append(_given(density, float(log_tau), first[-1].mode if first else start, token))
        report((done := done + 1) / n)
    at = np.linspace(first[0].log_tau, first[-1].log_tau, 1001)
    height = CubicSpline([one.log_tau for one in first], [one.evidence for one in first])(at)
    below = np.cumsum(np.exp(height - height.max()))
    middle = np.interp((np.arange(_N_TAUS) + 0.5) / _N_TAUS, below / below[-1], at)
    found: list[_Stratum] = []
    for log_tau in middle:
        near = min(first, key=lambda one: abs(one.log_tau - log_tau))
        found.append(_given(density, float(log_tau), near.mode, token))
        report((done := done + 1) / n)
    return found


def _given(density: CovariateDensity, log_tau: float, start: np.ndarray, token: CancelToken) -> _Stratum:
    """Approximate the posterior given τ.

    Parameters
    ----------
    density : CovariateDensity
    log_tau : float
    start : ndarray, shape (ndim - 1,)
    token : CancelToken
    """

    def conditional(theta: np.ndarray) -> tuple[float, np.ndarray]:
        token.check()
        value, gradient = density.value_and_gradient(np.append(theta, log_tau))
        return value, gradient[:-1]

    mode, value, arrived = ascend(conditional, start)
    sd, axes = principal_spread(conditional, mode, token)
    return _Stratum(log_tau, mode, sd, axes, value, value + float(np.log(sd).sum()), arrived)


def _moved(
    density: CovariateDensity, strata: list[_Stratum], n_draws: int, seed: int, token: CancelToken
) -> tuple[np.ndarray, float]:
    """Draw from the approximation, and move each draw by Hamiltonian steps that keep the posterior.

    Parameters
    ----------
    density : CovariateDensity
    strata : list of _Stratum
    n_draws, seed : int
    token : CancelToken

    Returns
    -------
    draws : ndarray, shape (n_draws, ndim)
    accepted : float
        Share of moves that were accepted.
    """
    rng, kept, accepted = np.random.default_rng(seed), [], 0
    scaled = [_scaled(density, one, strata) for one in strata]
    n = -(-n_draws // _KEPT_MOVES)
    for number in range(n):
        token.check()
        own = scaled[number % len(scaled)]
        place = np.append(rng.standard_normal(density.ndim - 1), 0.0)
        value, slope = own.value_and_gradient(place)
        for move in range(_MOVES):
            momentum, step = rng.standard_normal(density.ndim), _STEP * rng.uniform(0.75, 1.0)
            energy, goal, uphill = value - 0.5 * momentum @ momentum, place, slope
            for _ in range(_STEPS):
                momentum = momentum + 0.5 * step * uphill
                goal = goal + step * momentum
                height, uphill = own.value_and_gradient(goal)
                momentum = momentum + 0.5 * step * uphill
            if np.log(rng.random()) < height - 0.5 * momentum @ momentum - energy:
                place, value, slope = goal, height, uphill
                accepted += 1
            if move >= _MOVES - _KEPT_MOVES:
                kept.append(own.parameters_at(place))
    return np.array(kept)[:n_draws], accepted / (n * _MOVES)


def _scaled(density: CovariateDensity, one: _Stratum, strata: list[_Stratum]) -> CovariateDensity:
    """Return the density on coordinates that are scaled by an approximation, ln τ by its spread over all.

    Parameters
    ----------
    density : CovariateDensity
    one : _Stratum
    strata : list of _Stratum
    """
    scale = np.zeros((density.ndim, density.ndim))
    scale[:-1, :-1], scale[-1, -1] = one.scale, max(0.1, float(np.std([each.log_tau for each in strata])))
    return replace(density, mode=np.append(one.mode, one.log_tau), scale=scale)


def _chains(
    density: CovariateDensity, strata: list[_Stratum], level: float, *, seed: int, **how
) -> tuple[np.ndarray, bool, str]:
    """Draw by NUTS on coordinates that are scaled by the approximation.

    Parameters
    ----------
    density : CovariateDensity
    strata : list of _Stratum
    level : float
    seed : int
    **how
        Lengths of chains, token and progress; see `sample`.

    Returns
    -------
    draws : ndarray, shape (n_draws, ndim)
    converged : bool
    words : str
    """
    # The sampler asks for no patterns.
    scaled: Any = _scaled(density, strata[len(strata) // 2], strata)
    chains = sample(scaled, seed=seed, **how)
    draws = scaled.parameters_at(chains.flat())
    at = density.split(draws)
    names = ("intercept", "prevalence", "difficulty", "log_spread", "mean", "ability", "log_tau")
    watched = {name: getattr(at, name) for name in names if getattr(at, name).size}
    diagnostics = estimates(watched, chains.divergent, density.dataset, level)[1]
    return draws, bool(diagnostics.converged), diagnostics.words


class Probabilities:
    """Probabilities of draws, averaged over cases and raters; arrays have a row per draw.

    P(right) is a function of the ability alone, or of the location of the case alone, once averaged over the others: it
    is computed on a grid and interpolated.
    """

    def __init__(self, density: CovariateDensity, columns: list[Covariate], draws: np.ndarray):
        self.at: CovariateParameters = density.split(draws)
        self.alpha = density.abilities(self.at)
        self.node, self.node_weight = difficulty_rule(_N_NODES)
        ends = {"raters": 0, "cases": 0}
        self.part: dict[tuple[str, str], slice] = {}
        for one in columns:
            self.part[one.side, one.name] = slice(ends[one.side], ends[one.side] + one.matrix.shape[1])
            ends[one.side] += one.matrix.shape[1]
        rows, weight = np.unique(density.of_cases, axis=0, return_counts=True)
        if len(rows) > _MOST_PROFILES:
            evenly = np.linspace(0, density.dataset.n_cases - 1, _MOST_PROFILES).round().astype(int)
            rows = density.of_cases[np.lexsort(density.of_cases.T)][evenly]
            weight = np.ones(_MOST_PROFILES, np.int64)
        self.profiles, self.weight = rows, weight / weight.sum()

    def coefficients(self, one: Covariate) -> tuple[np.ndarray, ...]:
        """Return the coefficients of a column, each of shape (n_draws, n_regressors).

        Of raters on specificity and sensitivity, or of cases on prevalence and difficulty.
        """
        part = self.part[one.side, one.name]
        if one.side == "cases":
            return self.at.prevalence[:, part], self.at.difficulty[:, part]
        by_side = self.at.ability.reshape(len(self.alpha), 2, -1)
        return by_side[:, 0, part], by_side[:, 1, part]

    def positive(self, shift: np.ndarray | float = 0.0) -> np.ndarray:
        """Return P(positive) of the profiles, with their log odds moved, (n_draws, n_profiles)."""
        return expit(self.at.intercept + self.at.prevalence @ self.profiles.T + shift)

    def prevalence(self, shift: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the prevalence, with the log odds of profiles moved, (n_draws,)."""
        return self.positive(shift) @ self.weight

    def accuracy_of_raters(self, alpha: np.ndarray) -> np.ndarray:
        """Return the mean P(right) of raters with these abilities, (n_draws, n_raters, 2), over cases; (n_draws,)."""
        positive = self.positive()
        location, spread = self.at.difficulty @ self.profiles.T, np.exp(self.at.log_spread)
        found = np.empty(len(alpha))
        for s in range(len(alpha)):
            hard = np.add.outer(location[s], spread[s] * self.node)
            found[s] = 0.0
            for z, share in enumerate((1 - positive[s], positive[s])):
                weight = np.outer(self.weight * share, self.node_weight)
                found[s] += _interpolated(alpha[s, :, z], hard.ravel(), weight.ravel(), 1).mean()
        return found

    def accuracy_on_cases(self, shift: np.ndarray) -> np.ndarray:
        """Return the mean P(right) with cases moved in difficulty by (n_draws, n_profiles); (n_draws,)."""
        positive = self.positive()
        location, spread = self.at.difficulty @ self.profiles.T + shift, np.exp(self.at.log_spread)
        found = np.empty(len(location))
        n = self.alpha.shape[1]
        for s in range(len(location)):
            found[s] = 0.0
            for z, share in enumerate((1 - positive[s], positive[s])):
                able = np.subtract.outer(self.alpha[s, :, z], spread[s] * self.node)
                weight = np.outer(np.full(n, 1 / n), self.node_weight)
                right = _interpolated(location[s], able.ravel(), weight.ravel(), -1)
                found[s] += (self.weight * share) @ right
        return found

    def effects(self, one: Covariate) -> Iterator[tuple[int, Outcome, np.ndarray]]:
        """Yield the effects of each value of a column, with its place: outcome and draws, (n_draws,).

        For numbers, of half a standard deviation more against half a one less.
        """
        coefficients, of_numbers = self.coefficients(one), not one.reference
        for place in range(len(one.values)):
            if one.side == "raters":
                own, base = _moves(one.matrix, coefficients, place, of_numbers)
                more, less = (self.accuracy_of_raters(self.alpha + np.stack(move, axis=-1)) for move in (own, base))
                yield place, "accuracy", more - less
                continue
            rows = self.profiles[:, self.part[one.side, one.name]]
            own, base = _moves(rows, coefficients, place, of_numbers)
            yield place, "prevalence", self.prevalence(own[0]) - self.prevalence(base[0])
            yield place, "difficulty", self.accuracy_on_cases(own[1]) - self.accuracy_on_cases(base[1])


def _interpolated(values: np.ndarray, others: np.ndarray, weight: np.ndarray, sign: int) -> np.ndarray:
    """Compute ``Σ weight expit(sign (values − others))`` for each value, by linear interpolation on a grid.

    Parameters
    ----------
    values : ndarray, shape (n,)
    others, weight : ndarray, shape (n_others,)
    sign : {1, -1}
    """
    low, high = values.min(), values.max()
    points = np.linspace(low, high, _N_POINTS) if high > low else np.array([low])
    on_points = expit(sign * np.subtract.outer(points, others)) @ weight
    return np.interp(values, points, on_points)


def _moves(
    rows: np.ndarray, coefficients: tuple[np.ndarray, ...], place: int, of_numbers: bool
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return how linear predictors move if every row had the value, and if every row had the reference.

    Parameters
    ----------
    rows : ndarray, shape (n_rows, n_regressors)
    coefficients : tuple of ndarray, each of shape (n_draws, n_regressors)
    place : int
        Regressor of the value.
    of_numbers : bool
        Move every row by half a standard deviation instead.
    """
    if of_numbers:
        half = [0.5 * np.repeat(each[:, :1], len(rows), axis=1) for each in coefficients]
        return half, [-each for each in half]
    base = [-(each @ rows.T) for each in coefficients]
    return [back + each[:, [place]] for back, each in zip(base, coefficients, strict=True)], base


def _effect(one: Covariate, place: int, outcome: Outcome, draws: np.ndarray, level: float) -> CovariateEffect:
    """Summarise the draws of an effect; its sign is tested by the normal approximation.

    Parameters
    ----------
    one : Covariate
    place : int
        Place of the value.
    outcome : {"accuracy", "prevalence", "difficulty"}
    draws : ndarray, shape (n_draws,)
    level : float
    """
    from scipy.special import ndtr

    mean, sd = float(draws.mean()), float(draws.std(ddof=1))
    p = float(2 * ndtr(-abs(mean) / sd)) if sd > 0 else 1.0
    estimate = percentile_interval(mean, draws, level)
    return CovariateEffect(
        one.side, one.name, one.values[place], one.reference, outcome, estimate, one.sd, one.counts[place], p, False
    )
