"""Agreement over time: windows of cases by the date of their first annotation."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import MISSING_TIME, Dataset
from ..errors import InputError, OptionError
from ..methods import AS_IS, methods
from ..options import check_whole
from ..result_base import Columns, Result, rows
from .coefficient_methods import CoefficientMethod
from .coefficients import one_way
from .intervals import Coefficient
from .krippendorff import KRIPPENDORFF_ALPHA
from .probability import SPA

PERIODS = ("week", "month", "quarter", "year")
DAY = 86_400


@dataclass(frozen=True, slots=True, repr=False)
class Window(Result):
    """Window of time with the cases that began in it.

    Attributes
    ----------
    label : str
        For the screen: 2021-05-03 (the Monday of a week), 2021-05, 2021 Q2, 2021; or the first and the last day.
    start, stop : int
        First and last time at which a case of the window began, seconds since 1970-01-01 UTC.
    n_cases : int
        Cases that began in it, with however many annotations.
    coefficients : tuple of Coefficient
        Coefficients in the requested order; ``n_cases`` of each are those with two annotations or more.
    """

    label: str
    start: int
    stop: int
    n_cases: int
    coefficients: tuple[Coefficient, ...]


@dataclass(frozen=True, slots=True, repr=False)
class OverTime(Result):
    """Windows in order of time.

    Attributes
    ----------
    by : str
        "cases" for equal numbers of them, or one of `PERIODS` (in UTC; periods without a case are left out).
    windows : tuple of Window
    n_undated : int
        Cases without any known time, which are in no window.
    """

    by: str
    windows: tuple[Window, ...]
    n_undated: int

    TABLES = ("windows",)

    def _columns(self, table: str, most: int | None) -> Columns:
        each = [(window, one) for window in self.windows for one in window.coefficients]
        return {
            "window": [window.label for window, _ in each],
            "start": np.array([window.start for window, _ in each], np.int64),
            "stop": np.array([window.stop for window, _ in each], np.int64),
            "n_cases_begun": np.array([window.n_cases for window, _ in each], np.int64),
            **rows([one for _, one in each], Coefficient.COLUMNS),
        }


def over_time(
    dataset: Dataset,
    by: str = "period",
    *,
    n_windows: int = 10,
    coefficients: Sequence[str] = (SPA, KRIPPENDORFF_ALPHA),
    level: float = 0.95,
) -> OverTime:
    """Compute coefficients with intervals in windows of time; a case is in the window of its first known annotation.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with times.
    by : str
        "cases": ``n_windows`` windows of about equally many cases (cases of one time stay together); one of `PERIODS`;
        or "period": that of them which suits the span of the data.
    n_windows : int
        At least 1; for "cases".
    coefficients : sequence of str
        Names of coefficients of single classes that do not need identified raters.
    level : float
        Confidence level of the intervals, 0 to 1.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes.
    InputError
        No annotation has a known time, or there is no window to make.
    """
    known = _of_classes()
    unknown = [name for name in coefficients if name not in known]
    if unknown or by not in ("cases", "period", *PERIODS):
        raise OptionError(f"unknown: {unknown[0] if unknown else by!r}")
    dataset.check_kind("class", "Cannot show agreement over time")
    check_whole(n_windows, "The number of windows", 1)
    began = _first_times(dataset)
    dated = np.flatnonzero(began != MISSING_TIME)
    if dated.size == 0:
        raise InputError("Cannot show agreement over time: these annotations have no dates.")
    dated = dated[np.argsort(began[dated], kind="stable")]
    times = began[dated]
    by = period_for(int(times[-1] - times[0])) if by == "period" else by
    if by == "cases":
        cuts = np.searchsorted(times, times[np.arange(1, n_windows) * dated.size // n_windows])
    else:
        cuts = np.flatnonzero(np.diff(_period(times, by))) + 1
    bounds = np.unique(np.concatenate([[0], cuts, [dated.size]]))
    counts = class_counts(dataset)
    windows = []
    for low, high in pairwise(bounds):
        part = selected_counts(counts, np.sort(dated[low:high]))
        found = tuple(_computed(known[name], part, level) for name in coefficients)
        start, stop = int(times[low]), int(times[high - 1])
        windows.append(Window(_label(start, stop, by), start, stop, int(high - low), found))
    return OverTime(by, tuple(windows), dataset.n_cases - int(dated.size))


def _computed(method: CoefficientMethod, counts: ClassCounts, level: float) -> Coefficient:
    if counts.mirrored and method.beyond_chance:
        return one_way(method.make(counts.both_ways(), level=level), level)
    return method.make(counts, level=level)


def _of_classes() -> dict[str, CoefficientMethod]:
    """Return the coefficients of single classes that need no identified raters."""
    known = methods(CoefficientMethod).items()
    return {name: one for name, one in known if one.takes.get("class") == AS_IS and one.needs == ("overlap",)}


def period_for(seconds: int) -> str:
    """Choose the period that divides a span into a readable number of windows: at most about thirty."""
    days = seconds / DAY
    if days <= 200:
        return "week"
    if days <= 900:
        return "month"
    return "quarter" if days <= 2700 else "year"


def selected_counts(counts: ClassCounts, cases: np.ndarray) -> ClassCounts:
    """Return the counts of some cases, given as ndarray of int, in this order."""
    size = counts.ptr[cases + 1] - counts.ptr[cases]
    ptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    entry = np.arange(ptr[-1]) + np.repeat(counts.ptr[cases] - ptr[:-1], size)
    return ClassCounts(ptr, counts.class_code[entry], counts.count[entry], counts.n_classes, mirrored=counts.mirrored)


def _first_times(dataset: Dataset) -> np.ndarray:
    """Find the earliest known time of each case; `MISSING_TIME` if there is none."""
    began = np.full(dataset.n_cases, MISSING_TIME)
    if dataset.time is not None:
        known = np.flatnonzero(dataset.time != MISSING_TIME)
        # Annotations of a case are in order of time, so the first known one is the earliest.
        cases, first = np.unique(dataset.case_of_annotation[known], return_index=True)
        began[cases] = dataset.time[known[first]]
    return began


def _period(times: np.ndarray, by: str) -> np.ndarray:
    """Return the number of the period of each time."""
    if by == "week":
        return (times // DAY + 3) // 7  # 1970-01-01 was a Thursday
    months = times.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
    return months // {"month": 1, "quarter": 3, "year": 12}[by]


def _label(start: int, stop: int, by: str) -> str:
    day, last = np.array([start, stop]).astype("datetime64[s]").astype("datetime64[D]")
    if by == "cases":
        return f"{day} to {last}"
    if by == "week":
        return str(day - (start // DAY + 3) % 7)
    if by == "quarter":
        month = int(day.astype("datetime64[M]").astype(np.int64))
        return f"{day.astype('datetime64[Y]')} Q{month % 12 // 3 + 1}"
    return str(day.astype("datetime64[M]" if by == "month" else "datetime64[Y]"))
