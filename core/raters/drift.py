"""Drift of a rater's accuracy: windows, a control chart with a limit, and the time of the change.

The truth is that of the panel without the rater (`Panel`), so an annotation on a case that the others are uncertain of
moves the chart little. The limit is set so that a stable rater's chart crosses it at any time with a probability that
the user chooses: the annotations are repeatedly put into random order, which keeps their number, the rater's accuracy
and the panel's certainty. For a stable rater every order is as likely as the one seen, so this is valid for any number
of annotations and any accuracy; constants of the literature are for long runs and a known accuracy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..annotations.dataset import MISSING_TIME
from ..errors import InputError, NotApplicableError
from ..options import check_level
from ..result_base import Result
from ..runtime.chunks import CancelToken, map_chunks
from ..runtime.seeds import case_seeds
from ._chart_kernels import change_points, chart_of, shuffled_highest
from .accuracy_windows import FEWEST, POINTS, Windows, mean_accuracy, windows_of
from .leave_one_rater_out import Panel

Chart = Literal["cusum", "ewma"]
FALL = 0.5  # The CUSUM is tuned to a drop of the odds of a correct annotation by this factor.
EWMA_WEIGHT = 0.1
N_ORDERS = 2000
_ENOUGH = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drift(Result):
    """Chart of one rater over time; arrays of shape (n_judged,) in order of time.

    Attributes
    ----------
    rater : str
    kind : {"cusum", "ewma"}
    annotation : ndarray of int64
        Positions of the annotations in the dataset.
    time : ndarray of int64
    chart : ndarray
        Values of the chart, which rise if annotations get worse.
    limit : float
    false_alarm : float
        P(the chart of a stable rater crosses the limit anywhere).
    alarm : int or None
        First place at which the chart is above the limit; None if there is none.
    p : float
        P(a stable rater's chart reaches as high).
    accuracy : float
        Accuracy over all annotations, at which the chart expects no change.
    change : int or None
        Number of annotations before the change, the median of its posterior; None without an alarm.
    change_low, change_high : int or None
        Ends of its interval.
    before, after : float or None
        Accuracy before and after ``change``.
    windows : Windows
    level : float
    n_undated : int
        Number of annotations left out because their time is unknown.
    """

    rater: str
    kind: str
    annotation: np.ndarray
    time: np.ndarray
    chart: np.ndarray
    limit: float
    false_alarm: float
    alarm: int | None
    p: float
    accuracy: float
    change: int | None
    change_low: int | None
    change_high: int | None
    before: float | None
    after: float | None
    windows: Windows
    level: float
    n_undated: int

    TABLES = ("chart",)
    COLUMNS = ("annotation", "time", "chart")

    def time_of(self, place: int | None) -> int | None:
        """Return the time of the first annotation after a change."""
        return None if place is None else int(self.time[min(place, len(self.time) - 1)])


def drift_of(
    panel: Panel,
    rater: int,
    *,
    kind: Chart = "cusum",
    false_alarm: float = 0.05,
    n_windows: int = 8,
    level: float = 0.95,
    n_orders: int = N_ORDERS,
    seed: int = 0,
) -> Drift:
    """Chart one rater over time.

    Parameters
    ----------
    panel : Panel
    rater : int
        Position of the rater.
    kind : {"cusum", "ewma"}
        CUSUM for a fall of the odds of a correct annotation to `FALL`; EWMA with weight `EWMA_WEIGHT`.
    false_alarm : float
        P(a stable rater's chart crosses the limit), over all their annotations together; 0.0005 to 0.5.
    n_windows : int
        Largest number of windows in which the accuracy is computed.
    level : float
        Confidence level of the intervals, 0 to 1.
    n_orders, seed : int
        Number of random orders that determine the limit, and seed.

    Raises
    ------
    NotApplicableError
        The data have no times, or fewer than `FEWEST` judged annotations have one.
    InputError
        A parameter is out of range.
    """
    _check(kind, false_alarm, n_windows, n_orders, level)
    rows, n_undated = _dated(panel, rater)
    right, wrong, _, accuracy = answers = _answers(panel, rows)
    chart, highest = _charted(answers, kind, _seed(seed, rater), n_orders)
    limit = float(np.sort(highest)[max(n_orders - int(np.floor(false_alarm * (n_orders + 1))), 0)])
    above = np.flatnonzero(chart > limit * (1 + 1e-9) + 1e-12)
    alarm = int(above[0]) if above.size else None
    return Drift(
        panel.dataset.raters[rater],
        kind,
        rows,
        panel.time[rows],
        chart,
        limit,
        false_alarm,
        alarm,
        _tail(highest, n_orders, float(chart.max())),
        accuracy,
        *_change(right, wrong, alarm, level),
        windows_of(panel, rows, n_windows, level),
        level,
        n_undated,
    )


def _check(kind: Chart, false_alarm: float, n_windows: int, n_orders: int, level: float) -> None:
    if kind not in ("cusum", "ewma"):
        raise InputError(f"Unknown chart {kind!r}.", "Use cusum or ewma.")
    if not 0.0005 <= false_alarm <= 0.5:
        raise InputError(
            f"The false-alarm rate must be between 0.0005 and 0.5; got {false_alarm}.", "Use a number such as 0.05."
        )
    if n_windows < 1:
        raise InputError(f"The number of windows must be at least 1; got {n_windows}.", "Use at least one window.")
    if n_orders * false_alarm < 1:
        raise InputError(
            f"The number of orders must be at least 1 / (false-alarm rate); got {n_orders}.", "Use more orders."
        )
    check_level(level, "The level")


def _dated(panel: Panel, rater: int) -> tuple[np.ndarray, int]:
    """Return judged annotations in order of time, and how many are undated; raise an error if there are too few."""
    rows, n_undated = _rows(panel, rater)
    if panel.dataset.time is None:
        raise NotApplicableError("Cannot compute drift: these annotations have no dates.")
    if rows.size < FEWEST:
        raise NotApplicableError(
            f"Could not compute drift: {panel.dataset.raters[rater]} has {rows.size} dated annotations on shared "
            f"cases; at least {FEWEST} are needed."
        )
    return rows, n_undated


def _charted(answers: tuple, kind: Chart, seed: int, n_orders: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the chart of the annotations in their order, and its maximum in each of ``n_orders`` random ones."""
    right, wrong, confused, accuracy = answers
    settings = (FALL, EWMA_WEIGHT if kind == "ewma" else 0.0)
    chart = np.empty(right.size)
    chart_of(right, wrong, confused, np.arange(right.size), accuracy, *settings, chart)
    highest = np.empty(n_orders)
    shuffled_highest(seed, *answers, *settings, np.inf, n_orders + 1, highest)
    return chart, highest


def _change(
    right: np.ndarray, wrong: np.ndarray, alarm: int | None, level: float
) -> tuple[int | None, int | None, int | None, float | None, float | None]:
    """Find when a rater changed, with its interval, and the accuracy before and after; None without an alarm."""
    if alarm is None:
        return None, None, None, None, None
    change, low, high = change_point(right, wrong, level)
    before, after = (mean_accuracy(right[part], wrong[part]) for part in (slice(change), slice(change, None)))
    return change, low, high, before, after


def drift_chances(
    panel: Panel,
    *,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    """Compute P(a stable rater's CUSUM is as high as the rater's), shape (n_raters,); NaN without a chart.

    Random orders are drawn until `_ENOUGH` of them reach as high, at most `N_ORDERS` (Besag & Clifford 1991, DOI
    10.1093/biomet/78.2.301). Below that, the tail of the chart's maximum is approximated as exponential beyond its
    highest 10%, as in Siegmund's approximation.

    Parameters
    ----------
    panel : Panel
    seed : int
        Seed; the orders of a rater depend only on it and on the rater's position.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.
    """
    dataset = panel.dataset
    if dataset.time is None:
        return np.full(dataset.n_raters, np.nan)
    size = 32
    chunks = [(start, min(start + size, dataset.n_raters)) for start in range(0, dataset.n_raters, size)]

    def one(chunk: tuple[int, int]) -> np.ndarray:
        found = np.full(chunk[1] - chunk[0], np.nan)
        highest = np.empty(N_ORDERS)
        for rater in range(*chunk):
            rows, _ = _rows(panel, rater)
            if rows.size < FEWEST:
                continue
            answers = _answers(panel, rows)
            settings = (FALL, 0.0)
            reached = chart_of(*answers[:3], np.arange(rows.size), answers[3], *settings, np.empty(rows.size))
            seed_of = _seed(seed, rater)
            n = shuffled_highest(seed_of, *answers, *settings, reached * (1 - 1e-12), _ENOUGH, highest)
            found[rater - chunk[0]] = _tail(highest, n, reached)
        return found

    return np.concatenate([*map_chunks(one, chunks, token=token, progress=progress), np.empty(0)])


def change_point(right: np.ndarray, wrong: np.ndarray, level: float = 0.95) -> tuple[int, int, int]:
    """Compute the posterior median and equal-tailed interval of the number of annotations before the change.

    The model has one change at an unknown place, with an even prior over places and over the accuracies before and
    after.

    Parameters
    ----------
    right, wrong : ndarray, shape (n_answers,)
        P(annotation | correct) and P(annotation | mistaken), in order of time.
    level : float
        Confidence level of the interval, 0 to 1.
    """
    log_prior = np.full(POINTS.size, -np.log(POINTS.size))
    evidence = change_points(right, wrong, POINTS, log_prior)
    mass = np.exp(evidence - evidence.max())
    reached = np.cumsum(mass / mass.sum())
    places = np.searchsorted(reached, [0.5, (1 - level) / 2, (1 + level) / 2]) + 1
    middle, low, high = (int(min(place, right.size - 1)) for place in places)
    return middle, low, high


def _rows(panel: Panel, rater: int) -> tuple[np.ndarray, int]:
    """Return judged annotations of known time, in order of time, and the number of undated ones."""
    rows = panel.of(rater)
    rows = rows[panel.judged[rows]]
    if panel.dataset.time is None:
        return rows[:0], rows.size
    known = panel.time[rows] != MISSING_TIME
    return rows[known], int((~known).sum())


def _answers(panel: Panel, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return the input of charts: right, wrong and P(correct) of each annotation, and the overall accuracy."""
    right, wrong = np.ascontiguousarray(panel.right[rows]), np.ascontiguousarray(panel.wrong[rows])
    accuracy = mean_accuracy(right, wrong)
    return right, wrong, accuracy * right / (accuracy * right + (1 - accuracy) * wrong), accuracy


def _tail(highest: np.ndarray, n: int, reached: float) -> float:
    above = int((highest[:n] >= reached * (1 - 1e-12)).sum())
    if above >= _ENOUGH or n < highest.size:
        return above / n if n < highest.size else (above + 1) / (n + 1)
    start = float(np.quantile(highest, 0.9))
    over = highest[highest > start]
    mean = float((over - start).mean()) if over.size else 0.0
    if mean <= 0 or reached <= start:
        return (above + 1) / (n + 1)
    return over.size / n * float(np.exp(-(reached - start) / mean))


def _seed(seed: int, rater: int) -> int:
    # The seed depends on the position, so that names of raters have no effect.
    return int(case_seeds(seed, [str(rater)], "drift")[0])
