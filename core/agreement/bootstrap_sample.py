"""Statistics of every resample of one set of data: weighted sums over its distinct count vectors or its cases.

Coefficients are those functions of sums that `core.agreement.formulas` takes. Here each sum is an array over resamples,
on the last axis, and what is undefined is NaN.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError, OptionError
from ..methods import method_named, methods
from ..settings import current_settings
from ._bootstrap_kernels import unlike_pairs, weighted_sums
from ._kernels import agreeing_pairs, paired
from .coefficient_methods import CoefficientMethod, formulas
from .coefficients import agreement_table, both_ways
from .cohen_conger import raters_used, repeats_of
from .formulas import Draws, Formula, Sums, chance_of_raters
from .intervals import Coefficient
from .krippendorff import Metric, Squares, metric_of_classes, midranks, scaled
from .probability import SPA_WEIGHTINGS, pairs_of_cases, weights_of_sizes
from .resampling import Pool, Statistic, pick
from .weights import Weights, resolve_weights


@dataclass(frozen=True, slots=True)
class CoefficientOptions:
    """Options of the coefficients; see `core.agreement.coefficients.agreement_table`."""

    spa_weightings: Sequence[str] = SPA_WEIGHTINGS[:1]
    weights: Weights = None
    labels: Sequence[float] | None = None
    metric: str | None = None

    def __post_init__(self) -> None:
        for weighting in self.spa_weightings:
            if weighting not in SPA_WEIGHTINGS:
                raise OptionError(f"`weighting` must be one of {', '.join(SPA_WEIGHTINGS)}; got {weighting!r}")

    def metric_of(self, n_classes: int) -> Metric:
        """Return how alpha compares classes: by a metric, or else by the weights."""
        weights = self.weights if self.metric is None else None
        return metric_of_classes(n_classes, self.metric or "nominal", self.labels, weights)


def chosen(data: ClassCounts | Dataset, names: Sequence[str] | None) -> list[str]:
    """Return the coefficients to compute, in the order of lists: the named ones, or all that the data allow."""
    known = {name: method for name, method in methods(CoefficientMethod).items() if method.formula is not None}
    used = raters_used(data) if isinstance(data, Dataset) and data.raters_identified else 0
    barred = {
        name
        for name, method in known.items()
        if ("two raters" in method.needs and used != 2) or ("raters" in method.needs and used < 3)
    }
    allowed = [name for name in known if name not in barred]
    for name in allowed if names is None else names:
        if name not in known:
            raise OptionError(f"Unknown coefficient {name!r}. Use one of {', '.join(known)}.")
        if name in barred:
            raise NotApplicableError(
                f"Cannot compute {name}: it needs {'more than' if 'raters' in known[name].needs else 'exactly'} two "
                f"identified raters, but these data have {used:,}. Choose another coefficient."
            )
    return allowed if names is None else [name for name in known if name in names]


class Totals:
    """Sums that rows add to, collected by name and then summed with weights.

    A row (a distinct count vector, or a case) adds to few numbers out of many, so that they are kept in CSR. Of
    comparisons, a row and the same backwards (see `core.agreement.coefficients.both_ways`) have the same weight.
    """

    def __init__(self, n_rows: int, mirrored: bool = False):
        self.n_rows = n_rows // 2 if mirrored else n_rows
        self.n_sums = 0
        self._places: dict[str, slice] = {}
        self._row: list[np.ndarray] = []
        self._column: list[np.ndarray] = []
        self._value: list[np.ndarray] = []

    def add(
        self, name: str, row: np.ndarray, value: np.ndarray, which: np.ndarray | None = None, n_sums: int = 1
    ) -> None:
        """Add the contributions of some rows to the sums of a name.

        Parameters
        ----------
        name : str
        row : ndarray of int64, shape (n_added,)
            Number of the row; a row may occur several times.
        value : ndarray, shape (n_added,)
            Contribution of the row.
        which : ndarray of int64, shape (n_added,), optional
            Number of the sum, 0 to ``n_sums`` − 1; the first if omitted.
        n_sums : int
            Number of sums of the name.
        """
        self._places[name] = slice(self.n_sums, self.n_sums + n_sums)
        self._row.append(row)
        self._column.append(np.full(row.size, self.n_sums) if which is None else which + np.int64(self.n_sums))
        self._value.append(np.asarray(value, np.float64))
        self.n_sums += n_sums

    def close(self) -> None:
        """Sort the contributions by row; nothing is added after that."""
        row = np.concatenate(self._row) % max(1, self.n_rows)
        order = np.argsort(row, kind="stable")
        self._ptr = np.searchsorted(row[order], np.arange(self.n_rows + 1)).astype(np.int64)
        self._columns = np.concatenate(self._column)[order].astype(np.int64)
        self._values = np.concatenate(self._value)[order]

    def sums(self, weight: np.ndarray) -> dict[str, np.ndarray]:
        """Return the sums of each name, (n_sums, n_resamples), under weights of shape (n_rows, n_resamples)."""
        found = np.zeros((self.n_sums, weight.shape[1]))
        weighted_sums(self._ptr, self._columns, self._values, weight, found)
        return {name: found[place] for name, place in self._places.items()}


class Alpha:
    """Sums that alpha needs of each count vector, and of resamples of them.

    Parameters
    ----------
    counts : ClassCounts
        One case for each vector.
    metric : Metric
    totals : Totals
        Totals to which the sums are added.
    """

    def __init__(self, counts: ClassCounts, metric: Metric, totals: Totals):
        n, pairs = agreeing_pairs(counts.ptr, counts.count)
        self._ordinal = metric.metric == "ordinal"
        if metric.values is not None and self._ordinal:
            # The distances depend on the resample, so sums of the coincidence matrix are needed.
            self._order = np.argsort(metric.values, kind="stable")
            row, low, high, product = unlike_pairs(counts.ptr, counts.class_code, counts.count)
            code, which = np.unique(low * counts.n_classes + high, return_inverse=True)
            self._low, self._high = code // counts.n_classes, code % counts.n_classes
            totals.add("coincidences", row, 2 * product / (n[row] - 1), which, code.size)
            return
        self._draws: Draws | Squares = metric.draws
        if metric.values is not None and metric.metric == "ratio":
            self._draws = Draws(0.0, 1.0, _ratio_distances(metric.values))
        elif metric.values is not None:
            used = np.bincount(counts.class_code, minlength=counts.n_classes) > 0
            scaled_values = scaled(metric.values, used.astype(float))
            metric = replace(metric, values=scaled_values)
            self._draws = Squares(scaled_values[:, None])
        totals.add("within", np.arange(n.size), metric.within(counts, n, pairs))

    def __call__(self, sums: dict[str, np.ndarray]) -> Sums:
        """Compute the sums of resamples from ``sums``, in which "pooled" are the annotations of each class."""
        pooled, m = sums["pooled"], sums["usable"][0]
        size = pooled.sum(axis=0)
        if not self._ordinal:
            return Sums(sums["within"][0], m, m, size, self._draws.mean(pooled / size))
        ranks = midranks(self._order, pooled)
        within = (sums["coincidences"] * (ranks[self._low] - ranks[self._high]) ** 2).sum(axis=0)
        return Sums(within, m, m, size, Squares(ranks).mean(pooled / size))


def _ratio_distances(values: np.ndarray) -> np.ndarray:
    limit = current_settings().max_model_cells
    if values.size**2 > limit:
        raise LimitError(
            f"Could not resample alpha with the ratio metric: {values.size:,} different values need "
            f"{values.size**2:,} cells; the limit is {limit:,}. Use the interval metric on the logarithms of the "
            "values."
        )
    total = values[:, None] + values
    return np.divide(values[:, None] - values, total, out=np.zeros_like(total), where=total > 0) ** 2


class ByVector:
    """Coefficients that are functions of count vectors, as a `core.agreement.resampling.Statistic`.

    Parameters
    ----------
    counts : ClassCounts
        One case for each distinct vector, in the order of the pool; one without annotations counts for nothing. Of
        comparisons, the same backwards follow.
    names : sequence of str
        Any of `formulas` but those of each rater's own class shares; SPA has one value for each weighting.
    how : CoefficientOptions
    """

    needs_cases = False

    def __init__(self, counts: ClassCounts, names: Sequence[str], how: CoefficientOptions):
        self.n_classes = counts.n_classes
        self.weights, self.matrix = resolve_weights(how.weights, counts.n_classes, how.labels)
        self.totals = _agreement_totals(counts, self.matrix)
        self.sizes = _add_classes_and_sizes(self.totals, counts)
        known = formulas()
        labels: list[tuple[str, str]] = []
        for name in names:
            formula = known[name]
            forms: tuple[str, ...] = (self.weights,)
            if formula.of == "annotations":
                metric = how.metric_of(counts.n_classes)
                self.alpha = Alpha(counts, metric, self.totals)
                forms = (metric.called,)
            elif formula.by_size:
                forms = tuple(how.spa_weightings) if formula.of == "none" else SPA_WEIGHTINGS[:1]
            labels += [(name, form) for form in forms]
        self.totals.close()
        self.labels = tuple(labels)
        self.formulas = [known[name] for name, _ in labels]
        self.n_values, self.n_sums = len(labels), self.totals.n_sums

    def __call__(self, vector_weight: np.ndarray, case_weight: np.ndarray) -> np.ndarray:
        """Values of shape (n_values, n_resamples); see `core.agreement.resampling.Statistic`."""
        sums = self.totals.sums(vector_weight)
        values = np.full((self.n_values, vector_weight.shape[1]), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            for row, (formula, (_, label)) in enumerate(zip(self.formulas, self.labels, strict=True)):
                if self.n_classes >= formula.needs_classes:
                    values[row] = formula(self._sums(formula, label, sums))
        return np.where(sums["usable"] > 0, np.minimum(values, 1.0), np.nan)

    def _sums(self, formula: Formula, label: str, sums: dict[str, np.ndarray]) -> Sums:
        if formula.of == "annotations":
            return self.alpha(sums)
        pooled = sums["pooled"]
        agreement, paired, rated, size = sums["agreement"][0], sums["usable"][0], sums["rated"][0], pooled.sum(axis=0)
        if formula.by_size:
            weight = weights_of_sizes(self.sizes[:, None], label, pooled / size)
            agreement = (weight * sums["agreement of size"]).sum(axis=0)
            paired = rated = (weight * sums["cases of size"]).sum(axis=0)
        chance = 0.0
        if formula.of == "other cases":
            every, size = pooled + sums["single"], sums["annotations"][0]
            alike, all_pairs = pairs_of_cases((every * every).sum(axis=0), sums["pairs"][0], size, sums["squares"][0])
            chance = alike / all_pairs
        elif formula.chance is not None:
            draws = formula.chance(self.n_classes, self.matrix)
            chance = draws.mean(sums["share"] / rated) if draws.factor else draws.constant
        return Sums(agreement, paired, rated, size, chance)


def _agreement_totals(counts: ClassCounts, matrix: np.ndarray | None) -> Totals:
    """Return which vectors have two annotations, and the weighted share of their pairs that agree."""
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    some = np.flatnonzero(n >= 2)
    alike = pairs if matrix is None else paired(counts.ptr, counts.class_code, counts.count, matrix) - n
    totals = Totals(n.size, counts.mirrored)
    totals.add("usable", some, np.ones(some.size))
    totals.add("agreement", some, alike[some] / (n * (n - 1))[some])
    return totals


def _add_classes_and_sizes(totals: Totals, counts: ClassCounts) -> np.ndarray:
    """Add class shares and sums by number of annotations, and return the numbers of annotations that cases have."""
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    every, some = np.arange(n.size), np.flatnonzero(n >= 2)
    sizes, size = np.unique(n[some], return_inverse=True)
    totals.add("rated", every, n >= 1)
    totals.add("annotations", every, n)
    totals.add("squares", every, n * n)
    totals.add("pairs", every, pairs)
    totals.add("cases of size", some, np.ones(some.size), size, sizes.size)
    totals.add("agreement of size", some, pairs[some] / (n * (n - 1))[some], size, sizes.size)
    row, code, count = np.repeat(every, np.diff(counts.ptr)), counts.class_code, counts.count
    totals.add("share", row, count / n[row], code, counts.n_classes)
    for name, which in (("pooled", n[row] >= 2), ("single", n[row] < 2)):
        totals.add(name, row[which], count[which], code[which], counts.n_classes)
    return sizes


class RaterKappa:
    """Kappa of each rater's own class shares in the resample, as a `core.agreement.resampling.Statistic`.

    Parameters
    ----------
    name : str
        One of `formulas` whose chance is of raters.
    counts : ClassCounts
        One case for each distinct vector, in the order of the pool.
    case_ptr, rater, answer : ndarray
        Annotations by case, in the order of the pool; see `core.annotations.dataset.Dataset`.
    n_raters : int
    how : CoefficientOptions
    """

    needs_cases = True
    n_values = 1

    def __init__(
        self,
        name: str,
        counts: ClassCounts,
        case_ptr: np.ndarray,
        rater: np.ndarray,
        answer: np.ndarray,
        n_raters: int,
        how: CoefficientOptions,
    ):
        weights, self.matrix = resolve_weights(how.weights, counts.n_classes, how.labels)
        self.labels = ((name, weights),)
        self.formula = formulas()[name]
        self.shape = n_raters, counts.n_classes
        self.totals = _agreement_totals(counts, self.matrix)
        self.totals.close()
        self.table = Totals(case_ptr.size - 1, counts.mirrored)
        cell = rater * np.int64(counts.n_classes) + answer
        case = np.repeat(np.arange(case_ptr.size - 1), np.diff(case_ptr))
        self.table.add("table", case, np.ones(case.size), cell, n_raters * counts.n_classes)
        self.table.close()
        self.n_sums = self.table.n_sums

    def __call__(self, vector_weight: np.ndarray, case_weight: np.ndarray) -> np.ndarray:
        """Values of shape (1, n_resamples); see `core.agreement.resampling.Statistic`."""
        sums = self.totals.sums(vector_weight)
        agreement, m = sums["agreement"][0], sums["usable"][0]
        table = self.table.sums(case_weight)["table"].reshape(*self.shape, -1)
        n = table.sum(axis=1)
        table /= np.maximum(n, 1)[:, None]
        n_raters = np.count_nonzero(n, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = chance_of_raters(table, n_raters, self.matrix)
            value = np.minimum(self.formula(Sums(agreement, m, m, m, chance)), 1.0)
        return np.where((m > 0) & (n_raters >= 2), value, np.nan)[None]


class BootstrapSample:
    """Data whose cases are among those of a pool.

    Parameters
    ----------
    data : ClassCounts or Dataset
    counts : ClassCounts
        Counts of the data.
    names : sequence of str
        Names from `formulas` that the data allow.
    how : CoefficientOptions
    pool : Pool
        Pool of cases that differ in their count vectors.
    case_of : ndarray of int64
        Which case of the data a case of the pool is; −1 if it is none.
    """

    def __init__(
        self,
        data: ClassCounts | Dataset,
        counts: ClassCounts,
        names: Sequence[str],
        how: CoefficientOptions,
        pool: Pool,
        case_of: np.ndarray,
    ):
        self.data, self.counts, self.how = data, counts, how
        whole = both_ways(data) if counts.mirrored and isinstance(data, Dataset) else data
        every = counts.both_ways() if counts.mirrored else counts

        def rows_of(cases: np.ndarray) -> np.ndarray:
            cases = case_of[cases]
            return np.append(cases, np.where(cases < 0, cases, cases + counts.n_cases)) if counts.mirrored else cases

        ptr, entries = pick(every.ptr, rows_of(pool.order[pool.start[:-1]]))
        shared = every.class_code[entries], every.count[entries], every.n_classes
        vectors = ClassCounts(ptr, *shared, mirrored=counts.mirrored)
        self._skipped = [name for name in names if self._cannot(name)]
        names = [name for name in names if name not in self._skipped]
        known = formulas()
        by_vector = ByVector(vectors, [name for name in names if known[name].of != "raters"], how)
        self.statistics: list[Statistic] = [by_vector]
        for name in names:
            if known[name].of == "raters" and isinstance(whole, Dataset):
                ptr, entries = pick(whole.case_ptr, rows_of(pool.order))
                rater, answer = whole.rater[entries], whole.answer[entries]
                self.statistics.append(RaterKappa(name, vectors, ptr, rater, answer, whole.n_raters, how))
        labels = [label for statistic in self.statistics for label in statistic.labels]
        labels += [(name, by_vector.weights) for name in self._skipped]
        place_of = {name: place for place, name in enumerate(known)}
        self._order = sorted(range(len(labels)), key=lambda place: place_of[labels[place][0]])
        self.labels = [labels[place] for place in self._order]
        once = np.diff(pool.start)[:, None].astype(np.int32), np.ones((pool.n_cases, 1), np.uint8)
        self.observed = self.in_order([statistic(*once).T for statistic in self.statistics])[0]
        size = counts.per_case()
        self.n_cases, self.n_annotations = int(np.count_nonzero(size >= 2)), int(size[size >= 2].sum())

    def _cannot(self, name: str) -> bool:
        """Return True if a coefficient is undefined on these data and on all resamples of them."""
        if not isinstance(self.data, Dataset):
            return False
        if "two raters" in method_named(CoefficientMethod, name).needs:
            return repeats_of(self.data) > 0
        cells = self.data.n_raters * self.data.n_classes
        return formulas()[name].of == "raters" and cells > current_settings().max_model_cells

    def in_order(self, found: Sequence[np.ndarray]) -> np.ndarray:
        """Return results of `core.agreement.resampling.resample` as (n_replicates, n_coefficients), by labels."""
        nothing = np.full((len(found[0]), len(self._skipped)), np.nan)
        return np.concatenate([*found, nothing], axis=1)[:, self._order]

    def why_undefined(self) -> dict[tuple[str, str], Coefficient]:
        """Return the notes of the coefficients that are undefined on the data."""
        table = agreement_table(
            self.counts,
            spa_weightings=self.how.spa_weightings,
            weights=self.how.weights,
            labels=self.how.labels,
            metric=self.how.metric,
            dataset=self.data if isinstance(self.data, Dataset) else None,
        )
        said = {(one.name, one.weights): one for one in table}
        return {label: said[label] for label, value in zip(self.labels, self.observed, strict=True) if np.isnan(value)}
