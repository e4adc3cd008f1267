"""Difference of two agreement coefficients with its interval, by bootstrap over cases.

Of two coefficients on the same data the replicates are paired. Of two sets of data the cases that both have are drawn
together, since their errors go together; sets that share no case are drawn independently.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..checked import checked
from ..options import check_level, check_whole
from ..result_base import Columns, Result, rows
from ..runtime.chunks import CancelToken
from .bootstrap import BootstrapResult, percentiles
from .bootstrap_sample import BootstrapSample, CoefficientOptions, chosen
from .linearised import as_counts
from .probability import SPA_WEIGHTINGS
from .resampling import Pool, pool_of, pool_of_data, resample, vector_numbers
from .weights import Weights


@dataclass(frozen=True, slots=True, repr=False)
class Difference(Result):
    """Difference of two coefficients, with its uncertainty. Undefined values are None, with the reason in ``note``.

    Attributes
    ----------
    first, second : tuple of (str, str)
        Name and weights of either coefficient.
    first_value, second_value : float or None
    value, se, ci_low, ci_high : float or None
        Difference, the first less the second, with error and interval.
    n_first, n_second : int
        Cases with two annotations or more on either side.
    p_first_larger : float or None
        Share of the resamples in which the first is larger, ties counted half.
    paired : bool
        True if cases that both sides have were drawn together.
    note : str
        Reason why a value is undefined, or a caution; empty otherwise.
    """

    first: tuple[str, str]
    second: tuple[str, str]
    first_value: float | None
    second_value: float | None
    value: float | None
    se: float | None
    ci_low: float | None
    ci_high: float | None
    n_first: int
    n_second: int
    p_first_larger: float | None
    paired: bool
    note: str = ""

    TABLES = ("difference",)
    COLUMNS = (
        *("first_value", "second_value", "value", "se", "ci_low", "ci_high"),
        *("n_first", "n_second", "p_first_larger", "paired", "note"),
    )

    def _columns(self, table: str, most: int | None) -> Columns:
        named = {"first": self.first[0], "first_weights": self.first[1]}
        named |= {"second": self.second[0], "second_weights": self.second[1]}
        return {name: [value] for name, value in named.items()} | rows([self], self.COLUMNS)


def difference(result: BootstrapResult, first: int, second: int, level: float = 0.95) -> Difference:
    """Compute the difference of two coefficients on the same data.

    Parameters
    ----------
    result : BootstrapResult
    first, second : int
        Places of the coefficients, see `BootstrapResult.position`.
    level : float
        Confidence level of the interval, 0 to 1.
    """
    a, b = result.coefficients[first], result.coefficients[second]
    replicates = result.replicates[:, [first, second]]
    return _difference(
        (a.name, a.weights), (b.name, b.weights), a.value, b.value, a.n_cases, b.n_cases, replicates, True, level
    )


@checked
def compare(
    first: ClassCounts | Dataset,
    second: ClassCounts | Dataset,
    *,
    n_replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    names: Sequence[str] | None = None,
    spa_weightings: Sequence[str] = SPA_WEIGHTINGS[:1],
    weights: Weights = None,
    labels: Sequence[float] | None = None,
    metric: str | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Difference, ...]:
    """Compare each coefficient on one set of data with the same on another.

    Cases are the same where two datasets have the same case id; counts have no ids, and share no case.

    Parameters
    ----------
    first, second : ClassCounts or Dataset
        Two selections of raters, cases, groups or dates from one dataset, or two datasets.
    n_replicates, seed, level, spa_weightings, weights, labels, metric, token, progress
        See `core.agreement.bootstrap.bootstrap`.
    names : sequence of str, optional
        Names of coefficients; all that both sets of data allow if omitted.

    Returns
    -------
    tuple of Difference
        In the order of `core.agreement.coefficients.agreement_table`.

    Raises
    ------
    NotApplicableError
        A coefficient that one of the sets of data does not allow.
    InputError
        Weights or labels that cannot be used.

    Notes
    -----
    Where some cases are shared, the cases of both sides together are resampled, so that a side has as many of its own
    as the draw gives it. Where none is, either side is resampled by itself.
    """
    check_whole(n_replicates, "n_replicates", 2)
    check_whole(seed, "The seed")
    check_level(level)
    how = CoefficientOptions(tuple(spa_weightings), weights, labels, metric)
    data = first, second
    counts = as_counts(first), as_counts(second)
    of_first, of_second = (chosen(one, names) for one in data)
    names = [name for name in of_first if name in of_second]
    case_of = _union(*data, *counts)
    pools = [_joint_pool(counts, case_of)] * 2 if case_of else list(map(pool_of_data, data, counts))
    cases = case_of or [np.arange(n.n_cases) for n in counts]
    sides = [BootstrapSample(data[k], counts[k], names, how, pools[k], cases[k]) for k in range(2)]
    draw = partial(resample, n_replicates=n_replicates, seed=seed, token=token)
    replicates = _replicates(sides, pools, draw, progress)
    return tuple(_at(place, sides, replicates, case_of is not None, level) for place in range(len(sides[0].labels)))


def _replicates(
    sides: list[BootstrapSample],
    pools: list[Pool],
    draw: Callable[..., list[np.ndarray]],
    progress: Callable[[float], None] | None,
) -> list[np.ndarray]:
    """Draw replicates of both sides, together if they are from one pool."""
    statistics = [side.statistics for side in sides]
    if pools[0] is pools[1]:
        found = draw(pools[0], [*statistics[0], *statistics[1]], stream="agreement", progress=progress)
        return [sides[0].in_order(found[: len(statistics[0])]), sides[1].in_order(found[len(statistics[0]) :])]
    halves = [None if progress is None else lambda done, k=k: progress((k + done) / 2) for k in range(2)]
    streams = "agreement of the first", "agreement of the second"
    return [sides[k].in_order(draw(pools[k], statistics[k], stream=streams[k], progress=halves[k])) for k in range(2)]


def _joint_pool(counts: tuple[ClassCounts, ClassCounts], case_of: tuple[np.ndarray, np.ndarray]) -> Pool:
    """Pool the cases of both sides, distinguished by their count vectors on either."""
    numbers = [_numbers(one, cases) for one, cases in zip(counts, case_of, strict=True)]
    joint = numbers[0] * (numbers[1].max(initial=0) + 1) + numbers[1]
    joint[(numbers[0] == 0) & (numbers[1] == 0)] = -1
    _, joint[joint >= 0] = np.unique(joint[joint >= 0], return_inverse=True)
    return pool_of(joint)


def _at(
    place: int, sides: list[BootstrapSample], replicates: list[np.ndarray], paired: bool, level: float
) -> Difference:
    """Compute the difference of the coefficient at one place in the order of both sides."""
    first, second = sides
    one, other = (None if np.isnan(side.observed[place]) else float(side.observed[place]) for side in sides)
    drawn = np.column_stack([drawn_of[:, place] for drawn_of in replicates])
    labels = first.labels[place], second.labels[place]
    return _difference(*labels, one, other, first.n_cases, second.n_cases, drawn, paired, level)


def _difference(
    first: tuple[str, str],
    second: tuple[str, str],
    first_value: float | None,
    second_value: float | None,
    n_first: int,
    n_second: int,
    replicates: np.ndarray,
    paired: bool,
    level: float,
) -> Difference:
    known = first, second, first_value, second_value
    if first_value is None or second_value is None:
        one = "the first coefficient is" if first_value is None else "the second coefficient is"
        which = "both coefficients are" if first_value is second_value else one
        why = f"undefined: {which} undefined"
        return Difference(*known, None, None, None, None, n_first, n_second, None, paired, why)
    apart = replicates[:, 0] - replicates[:, 1]
    value = first_value - second_value
    se, low, high, note = percentiles(apart, min(n_first, n_second), level)
    if paired and value == 0 and not apart.any():
        se, low, high, note = 0.0, 0.0, 0.0, "the difference is the same in every resample"
    seen = apart[~np.isnan(apart)]
    larger = float(np.mean((seen > 0) + 0.5 * (seen == 0))) if seen.size else None
    return Difference(*known, value, se, low, high, n_first, n_second, larger, paired, note)


def _union(
    first: ClassCounts | Dataset, second: ClassCounts | Dataset, first_counts: ClassCounts, second_counts: ClassCounts
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return for every case of either side its place on both (−1 none); None if no annotated case is shared."""
    if not (isinstance(first, Dataset) and isinstance(second, Dataset)):
        return None
    place = {case_id: case for case, case_id in enumerate(first.cases)}
    shared = np.array([place.get(case_id, -1) for case_id in second.cases], np.int64)
    met = shared >= 0
    annotated = (first_counts.per_case()[shared] > 0) & (second_counts.per_case() > 0)
    if not (met & annotated).any():
        return None
    on_second = np.full(first.n_cases, -1)
    on_second[shared[met]] = np.flatnonzero(met)
    alone = np.flatnonzero(~met)
    return np.append(np.arange(first.n_cases), np.full(alone.size, -1)), np.append(on_second, alone)


def _numbers(counts: ClassCounts, cases: np.ndarray) -> np.ndarray:
    """Return the count vector of each of some cases, from 1; 0 without an annotation, or if the case is missing."""
    numbers = vector_numbers(counts)[cases] + 1
    numbers[cases < 0] = 0
    return numbers
