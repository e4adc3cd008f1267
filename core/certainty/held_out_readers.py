"""Held-out readers: how well plausibilities at each reliability γ predict a reader who is held out.

``LOO(γ) = (1/N) Σ_{i: R_i ≥ 2} Σ_r log ∫ p(b_ir | λ) p_γ(λ | b_i,−r) dλ``: the posterior of the other readers of a case
counts each of their annotations γ times, the held-out annotation counts once. This is the choice of a power likelihood
by its predictive score [Grünwald & van Ommen, Inconsistency of Bayesian inference for misspecified linear models, and a
proposal for repairing it, Bayesian Analysis 12 (2017), doi:10.1214/17-BA1085].

Repeated annotations of a reader on a case are held out together, and the first of them is scored. The score needs no
truth, and does not detect mistakes that readers share: it does not show how likely the top class is correct.

Held-out annotations in closed form: their log probability given the other readers of the case, by reliability γ.

Dirichlet counts ``(γ n_y + α)/(γ n + K α)``; PrIRN ``(γ λ̂ + ε s)/(γ + K ε)``; Gaussian scores by the Student t
predictive of their conjugate posterior [Stutz et al., Evaluating AI systems under uncertain ground truth, appendices A
and B.3].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import InputError, NotApplicableError
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.gaussian import GaussianScores
from ..plausibility.plackett_luce.gibbs import PlackettLuce
from ..plausibility.prirn import PrIRN
from ..plausibility.protocol import PlausibilityModel, check_sampling
from ..rankings.blocks import ranked_entries
from ..rankings.irn import whole_weights
from ..result_base import Result
from ..runtime.chunks import CancelToken
from ..text import exact
from .held_out_draws import drawn_scores, held_out_rankings

GRID = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0)
DRAWN_GRID = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
PRIRN_GRID = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0)
N_DRAWS = 400
_WITHIN = 2.0  # standard errors
_RATIO_BOUNDS = (1e-3, 1e3)  # Range of γ/α, and of γ for scores.
_PRIRN_BOUNDS = (1e-2, 1e6)  # Range of γ/ε.
_STEPS = 121
_APART = 1e-3  # Step of ln γ.


@dataclass(frozen=True, slots=True, eq=False)
class ClosedForm:
    """Held-out log probabilities in closed form, which take few distinct values.

    Attributes
    ----------
    log_p : callable
        Log probabilities of the distinct held-out annotations at one γ.
    place : ndarray of int64, shape (n_held_out,)
        Index of each held-out annotation among the distinct ones.
    case : ndarray of int64, shape (n_held_out,)
    bounds : tuple of float
        Range of γ that is searched.
    """

    log_p: Callable[[float], np.ndarray]
    place: np.ndarray
    case: np.ndarray
    bounds: tuple[float, float]

    def case_sum(self, reliability: float, n_cases: int) -> np.ndarray:
        """Sum over the held-out annotations of each case."""
        return np.bincount(self.case, self.log_p(reliability)[self.place], n_cases)


def held_out_annotations(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Find the annotations that are held out, and the reader of every annotation.

    The first annotation of each reader is held out on cases with two readers or more, ascending. If raters are
    anonymous, each annotation has its own reader.

    Raises
    ------
    NotApplicableError
        No case has two readers.
    """
    n = dataset.n_annotations
    reader = dataset.rater.astype(np.int64) if dataset.raters_identified else np.arange(n)
    _, first = np.unique(_groups(dataset.case_of_annotation, reader), return_index=True)
    case = dataset.case_of_annotation[first]
    held = np.sort(first[np.bincount(case, minlength=dataset.n_cases)[case] >= 2])
    if held.size == 0:
        raise NotApplicableError(
            "Cannot predict a rater from the others: no case has annotations by two raters. Add annotations to "
            "some cases."
        )
    return held, reader


def closed_form(dataset: Dataset, model: PlausibilityModel, held: np.ndarray, reader: np.ndarray) -> ClosedForm:
    """Compute log probabilities of held-out annotations under a model, in closed form.

    Parameters
    ----------
    dataset : Dataset
    model : PlausibilityModel
    held : ndarray of int64, shape (n_held,)
        Positions of held-out annotations, ascending, as returned by `held_out_annotations`.
    reader : ndarray of int64, shape (n_annotations,)
        Reader of each annotation, from the same function.

    Raises
    ------
    NotApplicableError
        The model has no closed form, or does not support this kind of annotation.
    """
    if isinstance(model, DirichletCounts):
        return _counts(dataset, model, held, reader)
    if isinstance(model, PrIRN):
        return _first_blocks(dataset, model, held, reader)
    if isinstance(model, GaussianScores):
        return _scores(dataset, model, held, reader)
    raise NotApplicableError(
        f"Cannot compute a held-out score with {getattr(model, 'name', type(model).__name__)!r}: the score needs a "
        "model with independent cases, such as Plackett-Luce."
    )


def _groups(*columns: np.ndarray) -> np.ndarray:
    """Assign a number to each distinct row of some integer columns, ndarray of int64."""
    group = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        group = np.unique(group * (np.int64(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return group


def _counts(dataset: Dataset, model: DirichletCounts, held: np.ndarray, reader: np.ndarray) -> ClosedForm:
    """Compute Dirichlet counts, which depend on how many of the other annotations name the class."""
    dataset.check_kind("class", "Could not use Dirichlet counts")
    case, answer = dataset.case_of_annotation, dataset.answer
    own, same = _groups(case, reader), _groups(case, answer)
    own_same = _groups(own, answer)
    total = np.diff(dataset.case_ptr)[case] - np.bincount(own)[own]
    match = np.bincount(same)[same] - np.bincount(own_same)[own_same]
    pairs, place = np.unique(np.column_stack([match[held], total[held]]), axis=0, return_inverse=True)
    alpha, n_classes = model.alpha, dataset.n_classes

    def log_p(reliability: float) -> np.ndarray:
        return np.log((reliability * pairs[:, 0] + alpha) / (reliability * pairs[:, 1] + n_classes * alpha))

    return ClosedForm(log_p, place.ravel(), case[held], (alpha * _RATIO_BOUNDS[0], alpha * _RATIO_BOUNDS[1]))


def _first_blocks(dataset: Dataset, model: PrIRN, held: np.ndarray, reader: np.ndarray) -> ClosedForm:
    """Compute PrIRN from the share that the other readers' weights give to the classes of the first block."""
    entries = ranked_entries(dataset)
    units = whole_weights(entries, model.ties)
    annotation = np.repeat(np.arange(dataset.n_annotations), np.diff(entries.ptr))
    case = dataset.case_of_annotation[annotation]

    def summed(group: np.ndarray) -> np.ndarray:
        # The weights are integers, so that differences of equal values are exactly 0.
        total = np.zeros(group.max(initial=-1) + 1, np.int64)
        np.add.at(total, group, units)
        return total[group]

    own = _groups(case, reader[annotation])
    by_class = summed(_groups(case, entries.class_code)) - summed(_groups(own, entries.class_code))
    total = summed(case) - summed(own)
    first = entries.block == 0
    n = dataset.n_annotations
    share = np.bincount(annotation[first], by_class[first] / np.maximum(total[first], 1), n)[held]
    size = np.bincount(annotation[first], minlength=n)[held]
    pairs, place = np.unique(np.column_stack([share, size]), axis=0, return_inverse=True)
    epsilon, n_classes = model.epsilon, dataset.n_classes

    def log_p(reliability: float) -> np.ndarray:
        return np.log((reliability * pairs[:, 0] + epsilon * pairs[:, 1]) / (reliability + n_classes * epsilon))

    bounds = epsilon * _PRIRN_BOUNDS[0], epsilon * _PRIRN_BOUNDS[1]
    return ClosedForm(log_p, place.ravel(), dataset.case_of_annotation[held], bounds)


def _scores(dataset: Dataset, model: GaussianScores, held: np.ndarray, reader: np.ndarray) -> ClosedForm:
    """Compute scores: y | others ~ t with 2 an degrees of freedom about mn, squared scale bn (κn + 1)/(an κn)."""
    dataset.check_kind("score", "Could not use the Gaussian model")
    from scipy.special import gammaln

    case, score = dataset.case_of_annotation, dataset.score
    mean = (np.bincount(case, score, dataset.n_cases) / np.maximum(np.diff(dataset.case_ptr), 1))[case]
    # Sums are taken about the mean of the case, so that large scores do not cancel.
    own, off = _groups(case, reader), score - mean
    n = (np.bincount(case)[case] - np.bincount(own)[own])[held]
    left = (np.bincount(case, off)[case] - np.bincount(own, off)[own])[held] / n
    squares = (np.bincount(case, off**2)[case] - np.bincount(own, off**2)[own])[held] - n * left**2
    middle, squares, y = mean[held] + left, np.maximum(squares, 0.0), score[held]

    def log_p(reliability: float) -> np.ndarray:
        weight = reliability * n
        k = model.k0 + weight
        a = model.a0 + weight / 2
        b = model.b0 + reliability * squares / 2 + model.k0 * weight * (middle - model.m0) ** 2 / (2 * k)
        centre = (model.k0 * model.m0 + weight * middle) / k
        spread = 2 * b * (k + 1) / k  # Degrees of freedom times the squared scale.
        constant = gammaln(a + 0.5) - gammaln(a) - 0.5 * np.log(np.pi * spread)
        return constant - (a + 0.5) * np.log1p((y - centre) ** 2 / spread)

    return ClosedForm(log_p, np.arange(held.size), case[held], _RATIO_BOUNDS)


def maximum(closed: ClosedForm) -> tuple[float, list[float]]:
    """Find γ of the largest score within the bounds, and the points between which it was searched.

    If scores slightly below and above γ are equal, the maximum is between them: their difference is below rounding
    error.
    """
    from scipy.optimize import brentq

    times = np.bincount(closed.place)

    def score(log_reliability: float) -> float:
        return float(times @ closed.log_p(np.exp(log_reliability)))

    dense = np.geomspace(*closed.bounds, _STEPS)
    values = [score(value) for value in np.log(dense)]
    top = int(np.argmax(values))
    if top in (0, _STEPS - 1):
        return float(dense[top]), dense.tolist()
    low, high = np.log(dense[top - 1]), np.log(dense[top + 1])
    best = brentq(lambda x: score(x + _APART) - score(x - _APART), low, high, xtol=1e-10)
    return float(np.exp(best)), dense.tolist()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldOutCurve(Result):
    """Held-out score by reliability.

    Attributes
    ----------
    model : str
    reliability : ndarray, shape (n_points,)
        γ, ascending.
    score, se : ndarray, shape (n_points,)
        Score in nats per reader, and its standard error, clustered by case; NaN with a single case.
    diff, diff_se : ndarray, shape (n_points,)
        Score less that of the best point, and its standard error, paired by case.
    bias, mc_se : ndarray, shape (n_points,)
        Estimated Monte Carlo bias (to subtract: the score lies below its limit) and error of ``score``; 0 if it is
        exact.
    best : float
        γ of the largest score.
    low, high : float
        Range of γ around ``best`` in which the score is within two standard errors of the best.
    at_end : {"", "lowest", "highest"}
        End of the searched range at which the score is largest, if any: the data then have no maximum.
    open_ends : tuple of bool
        True if the range reaches the lowest, and the highest, γ that was searched.
    n_held_out, n_cases : int
        Number of held-out annotations, and of their cases.
    note : str
        Meaning of γ in this model, and limits of the curve.
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


@checked
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
    """Compute the held-out readers' curve of a plausibility model.

    Exact for Dirichlet counts, ``((γ n_y + α)/(γ n + K α))`` with n_y of the n other annotations naming the same class;
    for PrIRN, ``(γ λ̂ + ε s)/(γ + K ε)`` with λ̂ the share of the s classes of the first block by the other readers;
    and for Gaussian scores, by the Student t predictive. By draws for Plackett-Luce.

    Parameters
    ----------
    dataset : Dataset
        Dataset of a kind that the model takes without conversion.
    model : DirichletCounts, PrIRN, PlackettLuce or GaussianScores
    reliabilities : sequence of float, optional
        Points of the curve; the best one found is added.
    n_draws : int
        Draws of each held-out ranking (Plackett-Luce); increased if their number biases the score.
    seed : int
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        No case has annotations of two raters, or the model does not support this kind of annotation.
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
        raise InputError(
            f"Could not draw the curve: it needs at least two different values of γ; got {len(points):,}.",
            "Add another value of γ.",
        )
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
    """Sum by case at points on both sides of the best, up to the first that is no longer within its margin."""
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
    """Sum by case at every point and at the vertex of the parabola through the best three, with Monte Carlo errors."""
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
    """Compute the vertex of the parabola through three points, the middle one highest; between the outer two."""
    rise, fall = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
    if rise == fall:
        return float(x[1])
    bend = (fall - rise) / (x[2] - x[0])
    return float(np.clip((x[0] + x[1]) / 2 - rise / (2 * bend), x[0], x[2]))


def _curve(model, sums, noise, points, bounds, per_case) -> HeldOutCurve:
    """Build the curve: scores, paired differences to the best, and the range within two standard errors."""
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
    """Find the points around the best whose difference to it is within its margin, and the ends that it reaches.

    Near a maximum, the difference grows with the square of the distance in ln x, and its error in proportion to it. The
    first point outside shows where the two are equal.

    Parameters
    ----------
    x : ndarray, shape (n_points,)
        Ascending, positive.
    diff, margin : ndarray, shape (n_points,)
        Value less that of the best point, 0 or below, and largest distance below that counts as within.
    top : int
        Index of the best point.
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
    """Format a range of γ; ends of the searched range are not ends of the range.

    Parameters
    ----------
    low, high : float
    open_ends : tuple of bool
        True if the range reaches the lowest, and the highest, γ that was searched.
    write : callable
        Function that formats a γ.
    """
    if all(open_ends):
        return f"{write(low)} to {write(high)}, the whole range tested"
    if open_ends[1]:
        return f"{write(low)} or more"
    return f"{write(high)} or less" if open_ends[0] else f"{write(low)} to {write(high)}"


def _note(model: PlausibilityModel, at_end: str, n_cases: int) -> str:
    stands = ""
    if isinstance(model, DirichletCounts):
        stands = f"The curve depends only on γ/α; it is shown for α = {exact(model.alpha)}. "
    elif isinstance(model, PrIRN):
        stands = f"The curve depends only on ε/γ; it is shown for ε = {exact(model.epsilon)}. "
    ends = {
        "lowest": "Other raters' annotations do not help to predict a rater's annotations, so the lowest γ is best. ",
        "highest": "Raters agree so often that the highest γ is best. ",
    }.get(at_end, "")
    few = "There is only one case, so there is no standard error. " if n_cases < 2 else ""
    return f"{stands}{ends}{few}The curve does not detect mistakes that raters share."
