"""Comparison of certainty with the truth: whether the top-1 class is correct as often as its certainty states, by γ.

Over the cases whose class is known: the binary log loss of "the top-1 class is the truth" with the annotation certainty
as its probability, the expected calibration error (ECE) over ten equal bins of certainty, and the reliability diagram.
If several classes are on top by the same count, each of them is the top-1 class with the same probability.

Under the ordinal truth the top-1 class itself changes with γ, and the loss of its certainty is smallest if only
prevalence determines it, with a low certainty that is correct. Therefore the log loss is that of the true class, which
is a proper score.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..agreement.intervals import Z95
from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import InputError, NotApplicableError
from ..models.gold import gold_cases
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.ordinal_truth import OrdinalTruth
from ..plausibility.prirn import PrIRN
from ..plausibility.protocol import PlausibilityModel, check_sampling
from ..reducers.protocol import reduce_draws
from ..reducers.sets import TopSets
from ..result_base import Result
from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..runtime.seeds import case_seeds
from .calibration import (
    LEAST_DOUBT,
    ReliabilityBin,
    binary_log_loss,
    calibration_error_interval,
    expected_calibration_error,
    reliability_bins,
)
from .first_place import first_place
from .held_out_readers import GRID, within

N_FOLDS = 5
FEWEST_FOR_FOLDS = 10
_LADDER = 4  # Number of points between neighbours of the grid around its best.
_CHUNK = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TruthCurve(Result):
    """Certainty against truth by reliability. Intervals are of 95%, over cases.

    Attributes
    ----------
    model : str
    reliability : ndarray, shape (n_points,)
        γ, ascending.
    case : ndarray of int64, shape (n_cases,)
        Positions of the cases whose class is known.
    doubt : ndarray, shape (n_points, n_cases)
        1 − annotation certainty.
    right_by_case : ndarray, shape (n_points, n_cases)
        1 if the top-1 class is the truth, 0 if not; a share if several classes are equally on top.
    certainty, right : ndarray, shape (n_points,)
        Means over cases.
    log_loss, log_loss_low, log_loss_high, ece, ece_low, ece_high : ndarray, shape (n_points,)
        Log loss of `scored`, and ECE, with intervals.
        The ECE of a sample is above that of all cases; so is its interval, by the bootstrap.
    best : float
        γ of the smallest log loss.
    low, high : float
        Range of γ around ``best`` in which the log loss is within two standard errors of the smallest, paired by case.
    open_ends : tuple of bool
        True if that range reaches the lowest, and the highest, γ.
    cross_validated : float or None
        Log loss of cases at the γ that is best for the other four fifths; None below ten cases.
    fold_best : tuple of float
        Best γ for each fold.
    exact : bool
        False if certainties are shares of draws.
    """

    model: str
    reliability: np.ndarray
    case: np.ndarray
    doubt: np.ndarray
    right_by_case: np.ndarray
    certainty: np.ndarray
    right: np.ndarray
    log_loss: np.ndarray
    log_loss_low: np.ndarray
    log_loss_high: np.ndarray
    ece: np.ndarray
    ece_low: np.ndarray
    ece_high: np.ndarray
    best: float
    low: float
    high: float
    open_ends: tuple[bool, bool]
    cross_validated: float | None
    fold_best: tuple[float, ...]
    exact: bool

    TABLES = ("curve",)
    COLUMNS = (
        *("reliability", "certainty", "right", "log_loss", "log_loss_low", "log_loss_high"),
        *("ece", "ece_low", "ece_high"),
    )

    @property
    def n_cases(self) -> int:
        """Number of cases whose class is known and that have an annotation."""
        return len(self.case)

    @property
    def scored(self) -> str:
        """Subject of the log loss: the certainty of the top-1 class, or the true class if the top-1 class varies."""
        return "the true class" if self.model == OrdinalTruth.name else "certainty"

    def place_of(self, reliability: float) -> int:
        """Return the index of the point nearest to a reliability, in ln γ."""
        return int(np.abs(np.log(self.reliability / reliability)).argmin())

    def diagram(self, reliability: float) -> tuple[ReliabilityBin, ...]:
        """Compute the reliability diagram at the point nearest to a reliability; bins without cases are left out."""
        place = self.place_of(reliability)
        return reliability_bins(1 - self.doubt[place], self.right_by_case[place])


@checked
def truth_curve(
    dataset: Dataset,
    model: PlausibilityModel,
    reliabilities: Sequence[float] | None = None,
    *,
    n_draws: int = 1000,
    seed: int = 0,
    least_doubt: float = LEAST_DOUBT,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> TruthCurve:
    """Compare certainty with the truth at a grid of reliabilities, refined around the best of them.

    Parameters
    ----------
    dataset : Dataset
        Dataset with gold, of a kind that the model takes without conversion.
    model : PlausibilityModel
        Model of the declared classes. Dirichlet counts, PrIRN and the ordinal truth need no draws.
    reliabilities : sequence of float, optional
        Values of γ; 0.05 to 30 if omitted.
    n_draws, seed : int
    least_doubt : float
        Floor of 1 − certainty in the log loss, so that one mistake among certain cases does not outweigh all others.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        Fewer than two cases have both a gold class and an annotation, or the model's classes are not those of gold.
    InputError
        A reliability is out of range, or none is given.
    """
    cases = gold_cases(dataset)
    if len(cases) < 2 or hasattr(model, "classes"):
        raise NotApplicableError(
            f"Cannot compare certainty with gold: {len(cases):,} {'case has' if len(cases) == 1 else 'cases have'} "
            "both a gold class and an annotation; at least 2 are needed."
            if not hasattr(model, "classes")
            else "Cannot compare certainty with gold: this model splits scores at a threshold, so there are no gold "
            "classes."
        )
    points = _checked(GRID if reliabilities is None else reliabilities, n_draws)
    source = _source(dataset, model, cases, n_draws, seed, token)
    n_all = len(points) + 2 * _LADDER
    found: dict[float, tuple[np.ndarray, ...]] = {}

    def add(values: Sequence[float]) -> None:
        for value in values:
            found[value] = source(value)
            if progress is not None:
                progress(min(1.0, len(found) / n_all))

    add(points)
    add(_between(points, [_loss(found[value], least_doubt).mean() for value in points]))
    if progress is not None:
        progress(1.0)
    exact = isinstance(model, DirichletCounts | PrIRN | OrdinalTruth)
    return _curve(model.name, dataset, cases, found, seed, exact, least_doubt)


def _checked(reliabilities: Sequence[float], n_draws: int) -> list[float]:
    """Return each reliability once, ascending."""
    points = sorted({float(value) for value in reliabilities})
    if not points:
        raise InputError("Could not compute certainty: no reliability γ was given.", "Use at least one value of γ.")
    for value in points:
        check_sampling(value, n_draws)
    return points


def _between(points: list[float], losses: list[float]) -> list[float]:
    """Return the points of a finer grid in ln γ on both sides of the best."""
    top = int(np.argmin(losses))
    finer: list[float] = []
    for low, high in ((top - 1, top), (top, top + 1)):
        if low >= 0 and high < len(points):
            finer += np.geomspace(points[low], points[high], _LADDER + 2)[1:-1].tolist()
    return finer


def _source(dataset, model, cases, n_draws, seed, token):
    """Return a function from γ to doubt and correctness of every gold case, and P(true class) for ordered classes."""
    gold = dataset.gold[cases]
    if isinstance(model, DirichletCounts):
        counts = model.votes(dataset)
        return _exact(counts.ptr, counts.class_code, counts.count.astype(float), cases, gold, dataset, model, token)
    if isinstance(model, PrIRN):
        weights = model.point(dataset)
        return _exact(weights.ptr, weights.class_code, weights.normalised, cases, gold, dataset, model, token)
    if isinstance(model, OrdinalTruth):
        fitted = model if model.fitted is not None else replace(model, fitted=model.fit(dataset, token=token))

        def at(reliability: float) -> tuple[np.ndarray, ...]:
            chance = fitted.probability(dataset, reliability, token)[cases]
            right = (chance.argmax(axis=1) == gold).astype(np.float64)
            return 1 - chance.max(axis=1), right, chance[np.arange(len(gold)), gold]

        return at
    chosen = dataset.select(cases=[dataset.cases[case] for case in cases])

    def drawn(reliability: float) -> tuple[np.ndarray, np.ndarray]:
        (tops,) = reduce_draws(
            model, chosen, [TopSets(1)], reliability=reliability, n_draws=n_draws, seed=seed, token=token
        )
        top, share = tops.members[:, 0, 0], tops.frequency[:, 0]
        n_rest = np.maximum(1, np.round(1 / np.maximum(tops.ceiling[:, 0], 1e-12)))
        named = _is_named(chosen, gold)
        return 1 - share, np.where(top >= 0, top == gold, ~named / n_rest)

    return drawn


def _loss(found: tuple[np.ndarray, ...], least_doubt: float) -> np.ndarray:
    """Compute the log loss of every case: of P(true class) if available, otherwise of certainty."""
    doubt, right, *of_truth = found
    return -np.log(np.maximum(of_truth[0], least_doubt)) if of_truth else binary_log_loss(doubt, right, least_doubt)


def _is_named(dataset: Dataset, gold: np.ndarray) -> np.ndarray:
    """Return True for each case whose gold class somebody named."""
    from ..plausibility.plackett_luce.blocks import ranking_entries

    ptr, code, _ = ranking_entries(dataset)
    case = np.repeat(dataset.case_of_annotation, np.diff(ptr))
    return np.bincount(case[code == gold[case]], minlength=dataset.n_cases) > 0


def _exact(ptr, code, weight, cases, gold, dataset, model, token):
    """Compute doubt by integration, once for each distinct set of shapes; the classes on top do not depend on γ."""
    prior = model.epsilon if isinstance(model, PrIRN) else model.alpha
    shapes: dict[tuple[float, ...], int] = {}
    place, right = np.empty(len(cases), np.int64), np.empty(len(cases))
    for row, case in enumerate(cases):
        of_case = slice(ptr[case], ptr[case + 1])
        value = weight[of_case]
        key = tuple(np.sort(value)[::-1].tolist())
        place[row] = shapes.setdefault(key, len(shapes))
        top = code[of_case][value == value.max()]
        right[row] = (top == gold[row]).sum() / len(top)
    patterns = list(shapes)

    def doubts(chunk: tuple[int, int], reliability: float) -> list[float]:
        found = []
        for pattern in patterns[chunk[0] : chunk[1]]:
            n_rest = dataset.n_classes - len(pattern)
            first = first_place(reliability * np.array(pattern) + prior, prior, n_rest)
            # Sum the others instead of subtracting the largest from 1, so that small values stay exact.
            found.append(first[1:-1].sum() + n_rest * first[-1])
        return found

    def integrated(reliability: float) -> tuple[np.ndarray, np.ndarray]:
        chunks = chunk_ranges(len(patterns), _CHUNK)
        parts = map_chunks(lambda chunk: doubts(chunk, reliability), chunks, token=token)
        return np.concatenate([np.array(part) for part in parts])[place], right

    return integrated


def _curve(name, dataset, cases, found, seed, exact, least_doubt) -> TruthCurve:
    values = np.array(sorted(found))
    doubt, right = (np.array([found[value][part] for value in values]) for part in (0, 1))
    losses = np.array([_loss(found[value], least_doubt) for value in values])
    n = len(cases)
    mean = losses.mean(axis=1)
    se = losses.std(axis=1, ddof=1) / np.sqrt(n)
    top = int(mean.argmin())
    paired = (losses - losses[top]).std(axis=1, ddof=1) / np.sqrt(n)
    low, high, open_ends = within(values, mean[top] - mean, 2 * paired, top)
    ids = [dataset.cases[case] for case in cases]
    ece = np.array([expected_calibration_error(*row) for row in zip(1 - doubt, right, strict=True)])
    ece_low, ece_high = calibration_error_interval(1 - doubt, right, ids, seed)
    cross_validated, fold_best = _folds(values, losses, ids, seed)
    return TruthCurve(
        name,
        values,
        cases,
        doubt,
        right,
        1 - doubt.mean(axis=1),
        right.mean(axis=1),
        mean,
        mean - Z95 * se,
        mean + Z95 * se,
        ece,
        ece_low,
        ece_high,
        float(values[top]),
        low,
        high,
        open_ends,
        cross_validated,
        fold_best,
        exact,
    )


def _folds(values: np.ndarray, losses: np.ndarray, ids: list[str], seed: int):
    """Compute each fifth's log loss at the γ that is best for the others; equal fifths in the order of seeds."""
    n = len(ids)
    if n < FEWEST_FOR_FOLDS:
        return None, ()
    fold = np.empty(n, np.int64)
    fold[np.argsort(case_seeds(seed, ids, "truth folds"), kind="stable")] = np.arange(n) % N_FOLDS
    best = [int(losses[:, fold != f].mean(axis=1).argmin()) for f in range(N_FOLDS)]
    total = sum(losses[best[f], fold == f].sum() for f in range(N_FOLDS))
    return float(total / n), tuple(float(values[place]) for place in best)
