"""What a colleague would say: how well plausibilities at each reliability γ predict a reader who is held out.

``LOO(γ) = (1/N) Σ_{i: R_i ≥ 2} Σ_r log ∫ p(b_ir | λ) p_γ(λ | b_i,−r) dλ``: the posterior of the other readers of a case
counts each of their annotations γ times, the held-out annotation counts once. This is the choice of a power likelihood
by its predictive score [Grünwald & van Ommen, Inconsistency of Bayesian inference for misspecified linear models, and a
proposal for repairing it, Bayesian Analysis 12 (2017), doi:10.1214/17-BA1085].

Repeated annotations of a reader on a case are held out together, and the first of them is scored. The score needs no
truth, and is blind to mistakes that readers share: it does not say how sure one may be that the top class is right.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.plackett_luce.gibbs import PlackettLuce
from ..plausibility.prirn import PrIRN
from ..plausibility.protocol import PlausibilityModel, check_sampling
from ..result_base import Result
from ..runtime.chunks import CancelToken
from ..text import exact
from .held_out_closed import ClosedForm, closed_form, held_out_annotations, maximum
from .held_out_draws import drawn_scores, held_out_rankings

GRID = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0)
DRAWN_GRID = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
PRIRN_GRID = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0)
N_DRAWS = 400
_WITHIN = 2.0  # standard errors


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldOutCurve(Result):
    """The held-out score by reliability.

    Attributes
    ----------
    model : str
    reliability : ndarray, shape (n_points,)
        γ, ascending.
    score, se : ndarray, shape (n_points,)
        Nats a reader, and its standard error, clustered by case; NaN where there is one case only.
    diff, diff_se : ndarray, shape (n_points,)
        Score less that of the best point, and its standard error, paired by case.
    bias, mc_se : ndarray, shape (n_points,)
        Estimated Monte Carlo bias (to subtract: the score lies below its limit) and error of ``score``; 0 where it is
        exact.
    best : float
        γ of the largest score.
    low, high : float
        Range of γ about it where the score is within two standard errors of the best.
    at_end : {"", "lowest", "highest"}
        Where the largest score lies at an end of what was searched: the data give no maximum.
    open_ends : tuple of bool
        Whether the range reaches to the lowest and to the highest γ that was searched.
    n_held_out, n_cases : int
        Annotations held out, and the cases they are of.
    note : str
        What γ stands for in this model, and what the curve cannot tell.
    """

    model: str
    reliability: np.ndarray
    score: np.ndarray
    se: np.ndarray
    diff: np.ndarray
    diff_se: np.ndarray
    bias: np.ndarray
    mc_se: np.ndarray
    best: float
    low: float
    high: float
    at_end: str
    open_ends: tuple[bool, bool]
    n_held_out: int
    n_cases: int
    note: str

    TABLES = ("curve",)
    COLUMNS = ("reliability", "score", "se", "diff", "diff_se", "bias", "mc_se")


def held_out_curve(
    dataset: Dataset,
    model: PlausibilityModel,
    reliabilities: Sequence[float] | None = None,
    *,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> HeldOutCurve:
    """The held-out readers' curve of a plausibility model.

    Exact for Dirichlet counts, ``((γ n_y + α)/(γ n + K α))`` with n_y of the n other annotations naming the same class;
    for PrIRN, ``(γ λ̂ + ε s)/(γ + K ε)`` with λ̂ the share of the s classes of the first block by the other readers; and
    for Gaussian scores, by the Student t predictive. By draws for Plackett-Luce.

    Parameters
    ----------
    dataset : Dataset
        Of a kind that the model takes as it is.
    model : DirichletCounts, PrIRN, PlackettLuce or GaussianScores
    reliabilities : sequence of float, optional
        Points of the curve; the best one found joins them.
    n_draws : int
        Draws of each held-out ranking (Plackett-Luce); extended where their number biases the score.
    seed : int
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        No case has annotations of two raters, or the model does not take this kind of annotation.
    InputError
        A reliability is out of range, or fewer than two are given.
    """
    held, reader = held_out_annotations(dataset)
    of_case = dataset.case_of_annotation[held]
    per_case = np.bincount(of_case, minlength=dataset.n_cases)
    drawn = isinstance(model, PlackettLuce)
    default = DRAWN_GRID if drawn else PRIRN_GRID if isinstance(model, PrIRN) else GRID
    points = sorted({float(value) for value in (default if reliabilities is None else reliabilities)})
    if len(points) < 2:
        raise InputError(f"{len(points):,} reliabilities were given.", "Give at least two different ones.")
    for value in points:
        check_sampling(value, n_draws)
    if drawn:
        sums, noise, bounds = _drawn(dataset, model, held, reader, points, n_draws, seed, token, progress)
    else:
        closed = closed_form(dataset, model, held, reader)
        best, dense = maximum(closed)
        bounds = (dense[0], dense[-1])
        points = sorted({*points, best})
        sums = {value: closed.case_sum(value, dataset.n_cases) for value in points}
        sums |= _outward(closed, best, dense, per_case)
        noise = dict.fromkeys(sums, (0.0, 0.0))
    return _curve(model, sums, noise, points if not drawn else sorted(sums), bounds, per_case)


def _outward(closed: ClosedForm, best: float, dense: list[float], per_case: np.ndarray) -> dict[float, np.ndarray]:
    """Sums by case of points on both sides of the best, up to the first that is no longer within its margin."""
    found = {}
    top = closed.case_sum(best, len(per_case))
    for side in ([value for value in reversed(dense) if value < best], [value for value in dense if value > best]):
        for value in side:
            found[value] = closed.case_sum(value, len(per_case))
            diff = found[value] - top
            mean = diff.sum() / per_case.sum()
            if mean < -_WITHIN * np.sqrt(np.square(diff - mean * per_case).sum()) / per_case.sum():
                break
    return found


def _drawn(dataset, model, held, reader, points, n_draws, seed, token, progress):
    """Sums by case of every point and of the vertex of the parabola through the best three, with Monte Carlo errors."""
    items = held_out_rankings(dataset, held, reader)
    sums: dict[float, np.ndarray] = {}
    noise: dict[float, tuple[float, float]] = {}

    def add(value: float) -> None:
        done = len(sums)

        def told(share: float) -> None:
            if progress is not None:
                progress((done + share) / (len(points) + 1))

        found = drawn_scores(
            dataset, items, model, value, n_draws=n_draws, seed=seed, token=token, progress=told if progress else None
        )
        sums[value], noise[value] = found.case_sum, (found.bias, found.mc_se)

    for value in points:
        add(value)
    totals = [sums[value].sum() for value in points]
    top = int(np.argmax(totals))
    if 0 < top < len(points) - 1:
        vertex = _vertex(np.log(points[top - 1 : top + 2]), totals[top - 1 : top + 2])
        if float(np.exp(vertex)) not in sums:
            add(float(np.exp(vertex)))
    return sums, noise, (points[0], points[-1])


def _vertex(x: np.ndarray, y: Sequence[float]) -> float:
    """Where the parabola through three points with the middle one highest has its top; between the outer two."""
    rise, fall = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
    if rise == fall:
        return float(x[1])
    bend = (fall - rise) / (x[2] - x[0])
    return float(np.clip((x[0] + x[1]) / 2 - rise / (2 * bend), x[0], x[2]))


def _curve(model, sums, noise, points, bounds, per_case) -> HeldOutCurve:
    """Scores, paired differences to the best, and the range within two standard errors."""
    n, used = int(per_case.sum()), per_case > 0
    n_cases = int(used.sum())
    values = np.array(sorted(sums))
    by_case = np.array([sums[value][used] for value in values])
    weight = per_case[used]
    score = by_case.sum(axis=1) / n
    top = int(score.argmax())

    def error(part: np.ndarray, mean: np.ndarray) -> np.ndarray:
        if n_cases < 2:
            return np.full(len(mean), np.nan)
        return np.sqrt(np.square(part - mean[:, None] * weight).sum(axis=1)) / n

    diff = score - score[top]
    diff_se = error(by_case - by_case[top], diff)
    margin = _WITHIN * diff_se if n_cases > 1 else np.full(len(diff), np.inf)
    low, high, open_ends = within(values, diff, margin, top)
    kept = np.isin(values, points)
    at_end = "lowest" if values[top] <= bounds[0] else "highest" if values[top] >= bounds[1] else ""
    bias, mc_se = np.array([noise[value] for value in values[kept]]).T
    return HeldOutCurve(
        model.name,
        values[kept],
        score[kept],
        error(by_case, score)[kept],
        diff[kept],
        diff_se[kept],
        bias,
        mc_se,
        float(values[top]),
        low,
        high,
        at_end,
        open_ends,
        n,
        n_cases,
        _note(model, at_end, n_cases),
    )


def within(x: np.ndarray, diff: np.ndarray, margin: np.ndarray, top: int) -> tuple[float, float, tuple[bool, bool]]:
    """The run of points about the best whose difference to it is within its margin, and which ends it does not leave.

    About a maximum a difference grows with the square of the distance and its error in proportion to it, in ln x: the
    first point outside says where the two are equal.

    Parameters
    ----------
    x : ndarray, shape (n_points,)
        Ascending, positive.
    diff, margin : ndarray, shape (n_points,)
        Value less that of the best point, 0 or below, and how far below still counts as within.
    top : int
        Place of the best point.
    """
    ends, is_open = [], []
    for side in (range(top - 1, -1, -1), range(top + 1, len(x))):
        end, outside = float(x[top]), False
        for place in side:
            outside = not diff[place] >= -margin[place]
            if outside:
                share = margin[place] / -diff[place]
                reach = float(np.exp(np.log(x[top]) + share * np.log(x[place] / x[top])))
                end = min(end, reach) if place < top else max(end, reach)
                break
            end = float(x[place])
        ends.append(end)
        is_open.append(not outside)
    return ends[0], ends[1], (is_open[0], is_open[1])


def reach(low: float, high: float, open_ends: tuple[bool, bool], write: Callable[[float], str]) -> str:
    """A range of γ in words: an end of what was searched is none of the range.

    Parameters
    ----------
    low, high : float
    open_ends : tuple of bool
        Whether the range reaches to the lowest and to the highest γ that was searched.
    write : callable
        A γ as text.
    """
    if all(open_ends):
        return f"any that was tried, {write(low)} to {write(high)}"
    if open_ends[1]:
        return f"{write(low)} or more"
    return f"{write(high)} or less" if open_ends[0] else f"{write(low)} to {write(high)}"


def _note(model: PlausibilityModel, at_end: str, n_cases: int) -> str:
    stands = ""
    if isinstance(model, DirichletCounts):
        stands = f"The curve depends on γ/α alone; it is given at α = {exact(model.alpha)}. "
    elif isinstance(model, PrIRN):
        stands = f"The curve depends on ε/γ alone; it is given at ε = {exact(model.epsilon)}. "
    ends = {
        "lowest": "The other raters' annotations do not help to predict a rater: the lowest γ searched is the best. ",
        "highest": "Raters agree so often that no γ is too high: the highest γ searched is the best. ",
    }.get(at_end, "")
    few = "One case only: there is no standard error. " if n_cases < 2 else ""
    return f"{stands}{ends}{few}The curve is blind to mistakes that raters share."
