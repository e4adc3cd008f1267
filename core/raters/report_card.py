"""Data of a page about one rater, to hand to them: nobody else is named."""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import MISSING_TIME
from ..errors import NotApplicableError, NotFoundError
from ..order import FITTED, highest_first
from ..thresholds import CLEAR_CASE
from .drift import Chart, Drift, drift_of
from .flagged_raters import FlaggedRaters
from .leave_one_rater_out import Panel
from .monitoring import RaterTable

_Triple = tuple[float, float, float]
_NO_DRIFT = "Accuracy over time is not available, because raters are not judged by accuracy."


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Annotations of each class by a rater or by the pool of all others; axes: class by the panel, annotated class.

    Attributes
    ----------
    share, low, high : ndarray, shape (n_classes, n_classes)
        Share of the annotations on cases of a class, with its interval; NaN if there are none.
    n : ndarray, shape (n_classes,)
        Expected number of annotations on cases of each class.
    """

    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Annotation that differs from the class of the others, who are certain.

    Attributes
    ----------
    case, answer, others : str
        Case, the rater's class, and the class of the others.
    sure : float
        Probability of that class by the others.
    n_others, n_agree : int
        Number of annotations of others, and of those that name that class.
    time : int or None
        Time of the rater's annotation, seconds since 1970-01-01 UTC.
    """

    case: str
    answer: str
    others: str
    sure: float
    n_others: int
    n_agree: int
    time: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ReportCard:
    """Data of one rater, without the name of any other rater.

    Attributes
    ----------
    rater : str
    classes : tuple of str
    n_annotations, n_cases, n_judged, n_clear : int
        Numbers of annotations, of cases, of annotations that others judge, and of these on cases that the others are
        certain of.
    n_raters : int
        Number of raters in the pool, including this one.
    accuracy, pool_accuracy : tuple of (float, float, float), or None
        Accuracy with its interval, see `core.raters.accuracy_threshold`; median over all raters with the middle half.
    judged_by : {"gold", "model"}
        Source of ``accuracy``, or of ``follows``.
    follows, reading : str
        Correlation with the case, and how the rater reads the scale, for ordered classes, which have no accuracy here;
        else empty.
    own_classes : bool
        True if the classes of the model are those of the raters; if not, nothing is compared by class.
    agreement : tuple of (float, float, float), or None
        Agreement with others.
    seconds, pool_seconds : float or None
        Median time between annotations, and its median over raters.
    bias : ndarray, shape (n_classes,)
    own, pool : Annotations
    differences : tuple of Disagreement
        Annotations that differ from the others, the most certain first.
    n_differences : int
        Number of such annotations, of which ``differences`` are the first; a case that the rater repeated may have
        several.
    over_time : Drift or None
    why_not_over_time : str
    flags : tuple of (str, str)
        Titles and evidence of the flags.
    level : float
    """

    rater: str
    classes: tuple[str, ...]
    n_annotations: int
    n_cases: int
    n_judged: int
    n_clear: int
    n_raters: int
    accuracy: tuple[float, float, float] | None
    pool_accuracy: tuple[float, float, float] | None
    judged_by: str
    follows: str
    reading: str
    own_classes: bool
    agreement: tuple[float, float, float] | None
    seconds: float | None
    pool_seconds: float | None
    bias: np.ndarray
    own: Answers
    pool: Answers
    differences: tuple[Disagreement, ...]
    n_differences: int
    over_time: Drift | None
    why_not_over_time: str
    flags: tuple[tuple[str, str], ...]
    level: float


def report_card(
    table: RaterTable,
    found: FlaggedRaters,
    rater: str,
    *,
    certain: float = CLEAR_CASE,
    most: int = 50,
    chart: Chart = "cusum",
    false_alarm: float = 0.05,
    n_windows: int = 8,
    seed: int = 0,
) -> ReportCard:
    """Collect the data of one rater's page.

    Parameters
    ----------
    table, found : RaterTable, FlaggedRaters
        Results of `monitor`, and of `flag_raters` for it, which has accuracies and flags.
    rater : str
    certain : float
        Probability from which the others count as certain of a case.
    most : int
        Largest number of differences that are listed.
    chart, false_alarm, n_windows, seed
        See `core.raters.drift.drift_of`.

    Raises
    ------
    NotFoundError
        The rater is unknown.
    """
    if rater not in table.raters:
        raise NotFoundError(f"Could not find rater {rater!r} in these data.")
    place, panel = table.raters.index(rater), table.panel
    rows = panel.of(place)
    clear, wrong = _clear_and_wrong(panel, rows, certain)
    named = found.acceptable.own_classes
    # Otherwise the class that the others are certain of is not the class of that name.
    wrong = wrong[: wrong.size * named]
    how = {"kind": chart, "false_alarm": false_alarm, "n_windows": n_windows, "level": table.level, "seed": seed}
    return ReportCard(
        rater,
        table.classes,
        int(table.n_annotations[place]),
        int(table.n_cases[place]),
        int(panel.judged[rows].sum()),
        int(clear.size),
        len(table.raters),
        *_judged(found, place),
        named,
        _triple(table.agreement, place),
        *_pace(table.response_times.seconds, place),
        table.bias[place],
        *_by_class(panel, place, named, table.level),
        tuple(_disagreement(panel, int(a)) for a in wrong[:most]),
        int(wrong.size),
        *(_drift(panel, place, how) if found.following is None and named else (None, _NO_DRIFT)),
        tuple((flag.title, flag.words) for flag in found.flags if flag.rater == place),
        table.level,
    )


def _by_class(panel: Panel, place: int, named: bool, level: float) -> tuple[Answers, Answers]:
    """Compute annotations on each class of the rater and of the pool; empty if the classes are not those named."""
    own = panel.expected_answers(place) * named
    return _answers(own, level), _answers(np.maximum(panel.pool - own, 0) * named, level)


def _judged(found: FlaggedRaters, place: int) -> tuple[_Triple | None, _Triple | None, str, str, str]:
    """Return accuracies of the rater and the pool, the judge, and the descriptions for ordered classes instead."""
    rates, judge, following = found.acceptable.accuracy, found.acceptable.judge_of(place), found.following
    if following is not None:
        return None, None, judge, following.said(place), following.shift(place)
    return _triple(rates, place), _middle(rates.value), judge, "", ""


def _clear_and_wrong(panel: Panel, rows: np.ndarray, certain: float) -> tuple[np.ndarray, np.ndarray]:
    """Return annotations on cases that the others are certain of, and those that differ, the most certain first."""
    clear = rows[panel.judged[rows] & (panel.sure[rows] >= certain)]
    wrong = clear[panel.top[clear] != panel.dataset.answer[clear]]
    return clear, wrong[highest_first(panel.sure[wrong].round(FITTED))]


def _drift(panel: Panel, place: int, how: dict) -> tuple[Drift | None, str]:
    """Compute the change of the rater's accuracy, or explain why it is not available."""
    try:
        return drift_of(panel, place, **how), ""
    except NotApplicableError as error:
        return None, str(error)


def _pace(seconds: np.ndarray, place: int) -> tuple[float | None, float | None]:
    """Return the seconds per case of this rater and of the median rater."""
    return _known(seconds[place]), _known(np.nanmedian(seconds)) if np.isfinite(seconds).any() else None


def _answers(table: np.ndarray, level: float) -> Answers:
    """Compute shares with Wilson's intervals on the expected annotations of their row."""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    n = table.sum(axis=1)
    size = np.where(n > 1e-6, n, np.nan)[:, None]
    share = table / size
    centre = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z * np.sqrt(np.maximum(share * (1 - share), 0) / size + z * z / (4 * size * size)) / (1 + z * z / size)
    return Answers(share, np.maximum(centre - half, 0), np.minimum(centre + half, 1), n)


def _disagreement(panel: Panel, annotation: int) -> Disagreement:
    dataset = panel.dataset
    case = int(dataset.case_of_annotation[annotation])
    given = dataset.annotations_of(case)
    others = [int(dataset.answer[a]) for a in given if dataset.rater[a] != dataset.rater[annotation]]
    top = int(panel.top[annotation])
    time = None if dataset.time is None else int(dataset.time[annotation])
    return Disagreement(
        dataset.cases[case],
        dataset.classes[dataset.answer[annotation]],
        dataset.classes[top],
        float(panel.sure[annotation]),
        len(others),
        others.count(top),
        None if time == MISSING_TIME else time,
    )


def _triple(rates, place: int) -> tuple[float, float, float] | None:
    found = float(rates.value[place]), float(rates.low[place]), float(rates.high[place])
    return found if np.isfinite(found).all() else None


def _middle(values: np.ndarray) -> tuple[float, float, float] | None:
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    middle, low, high = np.quantile(known, (0.5, 0.25, 0.75)).tolist()
    return middle, low, high


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
