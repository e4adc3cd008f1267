"""Speed of raters, and repetitions of the previous annotation."""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import MISSING_TIME
from ..result_base import Result
from ..thresholds import CLEAR_CASE
from .leave_one_rater_out import Panel

SITTING = 1800  # Seconds without an annotation that end a sitting.
_DAY = 86_400


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResponseTimes(Result):
    """Speed and repetitions of each rater; arrays of shape (n_raters,), NaN if undefined.

    Attributes
    ----------
    seconds : ndarray
        Median time between successive annotations of a sitting.
    n_gaps : ndarray of int64
        Number of such times.
    n_sittings : ndarray of int64
        Number of runs of annotations without a longer pause; 0 if no time is known.
    why_no_speed, why_no_streaks : str
        Reason why they are undefined for all raters; empty otherwise.
    p_fast : ndarray
        P(a rater this fast or faster | log medians of raters are normal): Student's t of this rater against the others.
    repeated : ndarray
        Share of annotations that equal the rater's previous one, both on cases that the others are certain of.
    expected : ndarray
        Same share for annotations of the rater on any two cases of the same classes.
    n_turns : ndarray of int64
        Number of successive annotations on cases that the others assign to different classes.
    n_kept : ndarray of int64
        Number of these with the same annotation.
    p_kept : ndarray
        P(as many or more | as often as in any two of the rater's annotations on cases of different classes or, if that
        is more, as the others keep theirs); 1 without data.
    """

    seconds: np.ndarray
    n_gaps: np.ndarray
    n_sittings: np.ndarray
    why_no_speed: str
    why_no_streaks: str
    p_fast: np.ndarray
    repeated: np.ndarray
    expected: np.ndarray
    n_turns: np.ndarray
    n_kept: np.ndarray
    p_kept: np.ndarray

    TABLES = ("raters",)
    COLUMNS = (
        *("seconds", "n_gaps", "n_sittings", "p_fast", "repeated", "expected"),
        *("n_turns", "n_kept", "p_kept"),
    )


def response_times(panel: Panel, sitting: int = SITTING, certain: float = CLEAR_CASE) -> ResponseTimes:
    """Compute speed and repetitions of every rater.

    Parameters
    ----------
    panel : Panel
    sitting : int
        Seconds without an annotation that end a sitting.
    certain : float
        Probability from which the others are certain of a class.
    """
    seconds, n_gaps, n_sittings, why, p_fast = _speed(panel, sitting)
    repeated, expected, n_turns, n_kept, p_kept = _streaks(panel, certain)
    return ResponseTimes(
        seconds, n_gaps, n_sittings, why, _no_order(panel), p_fast, repeated, expected, n_turns, n_kept, p_kept
    )


def _no_order(panel: Panel) -> str:
    time = panel.time
    if time is None or not (time != MISSING_TIME).any():
        return "undefined: the annotations have no timestamps, so their order is unknown"
    return ""


def _speed(panel: Panel, sitting: int):
    n_raters = panel.dataset.n_raters
    nothing, none = np.full(n_raters, np.nan), np.zeros(n_raters, np.int64)
    if why := _no_order(panel):
        return nothing, none, none, why.replace(", so their order is unknown", ""), np.ones(n_raters)
    rater, time = panel.dataset.rater[panel.order], panel.time[panel.order]
    known = time != MISSING_TIME
    rater, time = rater[known], time[known]
    same, gap = np.diff(rater) == 0, np.diff(time)
    n_sittings = np.bincount(rater[np.concatenate([[True], ~same | (gap > sitting)])], minlength=n_raters)
    if (time % _DAY == 0).all():
        return nothing, none, none, "undefined: the timestamps have no time of day", np.ones(n_raters)
    within = same & (gap <= sitting)
    by, gap = rater[1:][within], gap[within]
    order = np.lexsort((gap, by))
    by, gap = by[order], gap[order]
    n_gaps = np.bincount(by, minlength=n_raters)
    start = np.cumsum(n_gaps) - n_gaps
    some = n_gaps > 0
    seconds = nothing.copy()
    low, high = start + np.maximum(n_gaps - 1, 0) // 2, start + n_gaps // 2
    seconds[some] = (gap[low[some]] + gap[high[some]]) / 2
    return seconds, n_gaps, n_sittings, "", _p_fast(seconds, n_gaps)


def _p_fast(seconds: np.ndarray, n_gaps: np.ndarray, least: int = 10) -> np.ndarray:
    """Compute Student's t of one log median against all others; 1 for medians of 0, few times or few raters."""
    from scipy.special import stdtr

    p = np.ones(len(seconds))
    judged = (n_gaps >= least) & (np.nan_to_num(seconds) > 0)
    m = int(judged.sum()) - 1
    if m < 3:
        return p
    x = np.log(seconds[judged])
    mean = (x.sum() - x) / m
    squares = np.maximum(((x**2).sum() - x**2) - m * mean**2, 1e-12)
    error = np.sqrt(squares / (m - 1) * (1 + 1 / m))
    p[judged] = stdtr(m - 1, (x - mean) / error)
    return p


def _streaks(panel: Panel, certain: float):
    """Compare successive annotations with pairs in any order, separately for equal and for different classes.

    If data are sorted by class, honest raters repeat themselves, but not on cases of different classes. Only
    annotations on cases that the others are certain of show the difference.
    """
    from scipy.special import betainc

    n_raters, n_classes = panel.dataset.n_raters, panel.dataset.n_classes
    nothing, none = np.full(n_raters, np.nan), np.zeros(n_raters, np.int64)
    if _no_order(panel):
        return nothing, nothing, none, none, np.ones(n_raters)
    rows = panel.order[panel.time[panel.order] != MISSING_TIME]
    clear = panel.judged[rows] & (panel.sure[rows] >= certain)
    rater, top, answer = panel.dataset.rater[rows].astype(np.int64), panel.top[rows], panel.dataset.answer[rows]
    next_to = (np.diff(rater) == 0) & clear[1:] & clear[:-1]
    by, equal = rater[1:][next_to], (answer[1:] == answer[:-1])[next_to]
    turn = (top[1:] != top[:-1])[next_to]
    rater, top, answer = rater[clear], top[clear], answer[clear]
    n = np.bincount(by, minlength=n_raters)
    n_turns, n_kept = (np.bincount(by, x, n_raters).astype(np.int64) for x in (turn, turn & equal))
    size = np.bincount(rater, minlength=n_raters).astype(float)
    answers, tops, cells = (
        _pairs(rater, key, n_raters) for key in (answer, top, top.astype(np.int64) * n_classes + answer)
    )
    different = size * (size - 1) - tops
    rate_same = np.divide(cells, tops, out=np.zeros(n_raters), where=tops > 0)
    rate_turn = np.divide(answers - cells, different, out=np.zeros(n_raters), where=different > 0)
    expected = np.divide((n - n_turns) * rate_same + n_turns * rate_turn, n, out=nothing.copy(), where=n > 0)
    repeated = np.divide(np.bincount(by, equal, n_raters), n, out=nothing.copy(), where=n > 0)
    # If the others are wrong about a turn, which is frequent in data sorted by class, everybody keeps the class.
    usual = (n_kept.sum() - n_kept + 1) / (n_turns.sum() - n_turns + 2)
    usual = np.where(n_turns.sum() > n_turns, usual, 0.0)
    p = np.ones(n_raters)
    some = n_kept > 0
    # P(X ≥ x) of a binomial; the rate cannot be 0, because the current pair is one of those counted.
    p[some] = betainc(
        n_kept[some], n_turns[some] - n_kept[some] + 1, np.minimum(np.maximum(rate_turn, usual)[some], 1.0)
    )
    return repeated, expected, n_turns, n_kept, p


def _pairs(rater: np.ndarray, key: np.ndarray, n_raters: int) -> np.ndarray:
    """Count ordered pairs of different annotations of a rater that have the same key, shape (n_raters,)."""
    both = np.stack([rater, key.astype(np.int64)])
    code = both[0] * (int(both[1].max(initial=0)) + 1) + both[1]
    unique, count = np.unique(code, return_counts=True)
    by = unique // (int(both[1].max(initial=0)) + 1)
    return np.bincount(by, count * (count - 1.0), n_raters)
