"""Comparison of modalities in a reader study: uncertainty from readers and cases, and from the uncertain truth.

The truth is gold, or a panel's. With a panel, the same analysis is made twice: with its majority taken as truth, and
with draws of the truth (`core.studies.truth`) that are combined by Rubin's rules (`core.studies.analysis`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..errors import InputError, NotApplicableError
from ..options import check_choice, check_level, check_number, check_whole
from ..result_base import Columns, Result, rows
from ..text import plural
from .accuracy import MEASURES, TITLES, Measure, contributions, error_covariance, values_by_reader
from .estimates import DifferenceComponents, StudyMoments, pairs_of
from .obuchowski_rockette import compute_obuchowski_rockette
from .study import UNKNOWN_TRUTH, ReadingStudy, check_usable, is_complete
from .truth import FEWEST_DRAWS, draw_truths, majority_truth
from .u_statistics import compute_u_statistics, moments_of

Method = Literal["automatic", "obuchowski-rockette", "u-statistics"]
METHODS: tuple[Method, ...] = get_args(Method)
Truth = Literal["gold", "panel_majority", "drawn"]
TABLES = ("differences", "modalities", "readers")
READER_COLUMNS = ("modality", "reader", "value", "se", "low", "high")
MODALITY_COLUMNS = ("modality", "value", "se", "df", "low", "high")
DIFFERENCE_COLUMNS = ("modality", "other_modality", "value", "se", "df", "low", "high", "p")
COLUMNS = dict(zip(TABLES, (DIFFERENCE_COLUMNS, MODALITY_COLUMNS, READER_COLUMNS), strict=True))
ASSUMED_PANEL = "These intervals assume that panellists err independently of each other given the truth."
MAJORITY = "The majority of the panel counts as the truth, so these intervals do not include the panel's errors."
NO_VARIANCE = "Some rows have no interval, because there is no variation between readers or between cases."


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """Options of the analysis of a reader study.

    Attributes
    ----------
    measure : {"auc", "sensitivity", "specificity"}
    threshold : float, optional
        Scores at or above it are positive; required for sensitivity and specificity.
    method : {"automatic", "obuchowski-rockette", "u-statistics"}
        Automatic takes Obuchowski-Rockette for complete designs and U-statistics for others.
    level : float
        Confidence level of intervals.
    n_draws : int
        Draws of the truth, at least 50.
    seed : int
        Seed of the draws.
    """

    measure: Measure = "auc"
    threshold: float | None = None
    method: Method = "automatic"
    level: float = 0.95
    n_draws: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse values out of range.

        Raises
        ------
        InputError
            The option and its range are named.
        """
        check_choice(self.measure, "The measure", MEASURES)
        check_choice(self.method, "The method", METHODS)
        check_level(self.level)
        check_whole(self.n_draws, "The number of draws", FEWEST_DRAWS)
        check_whole(self.seed, "The seed", 0)
        if self.threshold is not None:
            check_number(self.threshold, "The threshold")
        elif self.measure != "auc":
            raise InputError(
                f"Could not compute {TITLES[self.measure]}: it needs a threshold.",
                "Choose the lowest score that counts as positive.",
            )


@dataclass(frozen=True, slots=True, repr=False)
class StudyEstimate(Result):
    """One estimate of a reader study with its interval.

    Attributes
    ----------
    truth : {"gold", "panel_majority", "drawn"}
        Kind of truth.
    modality : str
    other_modality : str
        For differences, the modality that is subtracted; else empty.
    reader : str
        Empty for means over readers.
    value, se, df : float
    low, high : float
        Ends of the interval: on the logit scale, or of differences cut to −1 to 1; NaN without variance.
    p : float
        Two-sided, of no difference; NaN for estimates that are not differences, and without variance.
    """

    truth: Truth
    modality: str
    other_modality: str
    reader: str
    value: float
    se: float
    df: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudyEstimates(Result):
    """All estimates for one way of knowing the truth.

    Attributes
    ----------
    measure : {"auc", "sensitivity", "specificity"}
    truth : {"gold", "panel_majority", "drawn"}
    method : {"obuchowski-rockette", "u-statistics"}
    level : float
        Confidence level of the intervals.
    n_with, n_without : float
        Cases with and without the condition; means over the draws of the truth.
    differences, modalities, readers : tuple of StudyEstimate
        Between modalities, of means over readers, and of each reader.
    components : DifferenceComponents
        Components of the variance of each difference, for the size of a next study.
    truth_variance : tuple of float
        Part of the variance of each difference that is due to the uncertain truth.
    notes : tuple of str
        What the intervals rest on.
    """

    measure: Measure
    truth: Truth
    method: Method
    level: float
    n_with: float
    n_without: float
    differences: tuple[StudyEstimate, ...]
    modalities: tuple[StudyEstimate, ...]
    readers: tuple[StudyEstimate, ...]
    components: DifferenceComponents
    truth_variance: tuple[float, ...]
    notes: tuple[str, ...]

    TABLES = TABLES

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(getattr(self, table)[:most], COLUMNS[table])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudyAnalysis(Result):
    """Analysis of a reader study with the truth as given, and with its uncertainty.

    Attributes
    ----------
    estimates : tuple of StudyEstimates
        With gold; or with the panel's majority taken as truth, and with drawn truths. Tables show both side by side.
    probability : ndarray, shape (n_cases,)
        Posterior probability of the condition; the truth itself with gold, NaN if it is unknown.
    n_redrawn : int
        Draws of the truth that could not be analysed and were drawn again.
    """

    estimates: tuple[StudyEstimates, ...]
    probability: np.ndarray
    n_redrawn: int

    TABLES = TABLES

    @property
    def taken(self) -> StudyEstimates:
        """Estimates with gold, or with the majority of the panel taken as truth."""
        return self.estimates[0]

    @property
    def in_doubt(self) -> StudyEstimates | None:
        """Estimates with drawn truths; None with gold."""
        return self.estimates[1] if len(self.estimates) > 1 else None

    def _columns(self, table: str, most: int | None) -> Columns:
        listed = [one for each in self.estimates for one in getattr(each, table)]
        return rows(listed[:most], ("truth", *COLUMNS[table]))


def compute(
    study: ReadingStudy, options: StudyOptions | None = None, progress: Callable[[float], None] | None = None
) -> StudyAnalysis:
    """Analyse a reader study.

    Parameters
    ----------
    study : ReadingStudy
        With a truth or a panel; the truth is used if it has both.
    options : StudyOptions, optional
    progress : callable, optional
        Called with the share of draws of the truth that are done.

    Raises
    ------
    NotApplicableError
        There is no truth and no panel, or the design cannot be analysed; the message says why.
    """
    options = options or StudyOptions()
    if study.truth is not None:
        taken = _estimates(study, options, "gold", study.truth[None])
        known = np.where(study.truth == UNKNOWN_TRUTH, np.nan, study.truth)
        return StudyAnalysis((taken,), known, 0)
    if study.panel is None:
        raise NotApplicableError(
            "Cannot compare modalities: the truth is unknown.", "Add the truth of each case, or a panel's opinions."
        )
    taken = _estimates(study, options, "panel_majority", majority_truth(study.panel)[None])
    fit, truths, n_redrawn = draw_truths(study, options.n_draws, options.seed, progress)
    drawn = _estimates(study, options, "drawn", truths, n_redrawn)
    return StudyAnalysis((taken, drawn), fit.probability, n_redrawn)


def compute_moments(study: ReadingStudy, truth: np.ndarray, options: StudyOptions) -> tuple[StudyMoments, Method]:
    """Analyse a study for one truth.

    Parameters
    ----------
    study : ReadingStudy
    truth : ndarray of int8, shape (n_cases,)
    options : StudyOptions

    Returns
    -------
    moments : StudyMoments
    method : {"obuchowski-rockette", "u-statistics"}

    Raises
    ------
    NotApplicableError
        The design cannot be analysed, or not by the method that was chosen.
    """
    check_usable(study, truth)
    complete = is_complete(study, truth)
    if options.method == "obuchowski-rockette" and not complete:
        raise NotApplicableError(
            "Could not use the Obuchowski-Rockette method: some readers did not score every case in every modality.",
            "Use u-statistics.",
        )
    shape = study.scores.shape[:2]
    parts = contributions(study, truth, options.measure, options.threshold)
    by_reader = values_by_reader(parts, shape)
    if complete and options.method != "u-statistics":
        covariance = error_covariance(parts, shape)
        return compute_obuchowski_rockette(by_reader[0], covariance), "obuchowski-rockette"
    sizes = {kind: int((truth == kind).sum()) for kind in (0, 1)}
    kinds = {"auc": (0, 1), "sensitivity": (1,), "specificity": (0,)}[options.measure]
    moments = moments_of(study, truth, options.measure, options.threshold, by_reader[0])
    return compute_u_statistics(moments, by_reader, tuple(sizes[kind] for kind in kinds)), "u-statistics"


def interval_for_these_readers(found: StudyEstimates, pair: int = 0) -> tuple[float, float]:
    """Compute the interval of a difference for the readers of a complete study only, with random cases.

    The variance is ``σ²_cases + σ²_rest / R + σ²_truth``, without that of readers [Obuchowski & Rockette 1995].

    Parameters
    ----------
    found : StudyEstimates
    pair : int
        Index of a difference.

    Returns
    -------
    tuple of float
        NaN without variance, and if the study is not complete.
    """
    if found.method != "obuchowski-rockette":
        return float("nan"), float("nan")
    n_readers = len({one.reader for one in found.readers})
    cases, rest = (float(getattr(found.components, name)[pair]) for name in ("cases", "rest"))
    se = np.sqrt(max(cases + rest / n_readers + found.truth_variance[pair], 0.0))
    value = found.differences[pair].value
    low, high = np.stack(interval(np.array([value]), np.array([se]), np.array([np.inf]), found.level)).clip(-1, 1)
    return float(low[0]), float(high[0])


def _estimates(
    study: ReadingStudy, options: StudyOptions, truth: Truth, truths: np.ndarray, n_redrawn: int = 0
) -> StudyEstimates:
    """Build estimates for one truth, or pooled over several draws of it."""
    each = [compute_moments(study, one, options) for one in truths]
    moments = [one for one, _ in each]
    value, variance, df, between = (np.concatenate(part) for part in zip(*_pooled(moments), strict=True))
    n_pairs = len(moments[0].difference)
    table = _table(study, truth, options.level, value, variance, df)
    differences, modalities = table[:n_pairs], table[n_pairs : n_pairs + len(study.modalities)]
    return StudyEstimates(
        options.measure,
        truth,
        each[0][1],
        options.level,
        float((truths == 1).sum(axis=1).mean()),
        float((truths == 0).sum(axis=1).mean()),
        differences,
        modalities,
        tuple(one for one in table[n_pairs + len(study.modalities) :] if not np.isnan(one.value)),
        DifferenceComponents(
            *(
                np.mean([getattr(one.components, name) for one in moments], axis=0)
                for name in DifferenceComponents.__slots__
            )
        ),
        tuple(between[:n_pairs].tolist()),
        _notes(truth, truths, moments, bool((variance <= 0).any()), n_redrawn),
    )


def _pooled(moments: list[StudyMoments]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Pool value, variance, degrees of freedom and variance between draws of differences, modalities and readers."""
    found = []
    for name in ("difference", "value", "reader_value"):
        value = np.stack([getattr(one, name).ravel() for one in moments])
        spread = "variance" if name == "value" else f"{name.removesuffix('_value')}_variance"
        variance = np.stack([getattr(one, spread).ravel() for one in moments])
        free = {"difference": "difference_df", "value": "df"}.get(name)
        df = np.full_like(value, np.inf) if free is None else np.stack([getattr(one, free) for one in moments])
        if len(moments) == 1:
            found.append((value[0], variance[0], df[0], np.zeros(value.shape[1])))
        else:
            total = pool(value, variance, df)
            found.append((*total, total[1] - variance.mean(axis=0)))
    return found


def _table(
    study: ReadingStudy, truth: Truth, level: float, value: np.ndarray, variance: np.ndarray, df: np.ndarray
) -> tuple[StudyEstimate, ...]:
    """Build the rows of all estimates: differences, then modalities, then readers."""
    first, second = pairs_of(len(study.modalities))
    names = [(study.modalities[a], study.modalities[b], "") for a, b in zip(first, second, strict=True)]
    names += [(modality, "", "") for modality in study.modalities]
    names += [(modality, "", reader) for modality in study.modalities for reader in study.readers]
    se = np.sqrt(np.maximum(variance, 0.0))
    n_pairs = len(first)
    between = np.stack(interval(value[:n_pairs], se[:n_pairs], df[:n_pairs], level)).clip(-1.0, 1.0)
    single = np.stack(logit_interval(value[n_pairs:], se[n_pairs:], df[n_pairs:], level))
    low, high = np.concatenate([between, single], axis=1)
    p = np.full(len(value), np.nan)
    p[:n_pairs] = two_sided_p(value[:n_pairs], se[:n_pairs], df[:n_pairs])
    columns = zip(value, se, df, low, high, p, strict=True)
    return tuple(StudyEstimate(truth, *name, *map(float, row)) for name, row in zip(names, columns, strict=True))


def interval(value: np.ndarray, se: np.ndarray, df: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the ends of Student's interval; NaN without variance.

    Parameters
    ----------
    value, se, df : ndarray
    level : float
    """
    from scipy.special import ndtri, stdtrit

    tail = (1 + level) / 2
    half = np.where(np.isinf(df), ndtri(tail), stdtrit(np.where(np.isinf(df), 1.0, df), tail)) * se
    half = np.where(se > 0, half, np.nan)
    return value - half, value + half


def logit_interval(value: np.ndarray, se: np.ndarray, df: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the ends of Student's interval on the logit scale, for values from 0 to 1; NaN without variance.

    In 1,000 simulated studies of 5 readers with AUC 0.79 and 0.86 it held 95% and 94%, the interval without the logit
    93% and 92%.

    Parameters
    ----------
    value, se, df : ndarray
    level : float
    """
    inside = (value > 0) & (value < 1)
    share = np.where(inside, value, 0.5)
    centre = np.log(share / (1 - share))
    ends = interval(centre, np.where(inside, se / (share * (1 - share)), 0.0), df, level)
    low, high = (1 / (1 + np.exp(-end)) for end in ends)
    return low, high


def two_sided_p(value: np.ndarray, se: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Compute the probability of a difference at least as large if there is none; NaN without variance.

    Parameters
    ----------
    value, se, df : ndarray
    """
    from scipy.special import ndtr, stdtr

    t = -np.abs(np.divide(value, se, out=np.full(len(value), np.nan), where=se > 0))
    p: np.ndarray = 2 * np.where(np.isinf(df), ndtr(t), stdtr(np.where(np.isinf(df), 1.0, df), t))
    return p


def _notes(
    truth: Truth, truths: np.ndarray, moments: list[StudyMoments], without_variance: bool, n_redrawn: int
) -> tuple[str, ...]:
    notes = [MAJORITY] if truth == "panel_majority" else [ASSUMED_PANEL] if truth == "drawn" else []
    if unknown := int((truths[0] == UNKNOWN_TRUTH).sum()):
        why = "the panel is tied or has no opinion" if truth == "panel_majority" else "the truth is unknown"
        notes.append(f"{plural(unknown, 'case')} left out: {why}.")
    if n_redrawn:
        notes.append(
            f"{plural(n_redrawn, 'draw')} of the truth {'was' if n_redrawn == 1 else 'were'} repeated, because the "
            f"study could not be analysed with the original {'draw' if n_redrawn == 1 else 'draws'}."
        )
    if any(one.replaced for one in moments):
        notes.append("A negative variance estimate was replaced by a larger estimate that cannot be negative.")
    if without_variance:
        notes.append(NO_VARIANCE)
    return tuple(notes)


def pool(value: np.ndarray, variance: np.ndarray, df: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pool estimates of several draws of the truth.

    Parameters
    ----------
    value, variance, df : ndarray, shape (n_draws, ...)
        Value, variance and degrees of freedom of each draw; at least two draws.

    Returns
    -------
    value, variance, df : ndarray, shape (...)
    """
    n = len(value)
    within, between = variance.mean(axis=0), (1 + 1 / n) * value.var(axis=0, ddof=1)
    total = within + between
    share = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        complete = 1 / np.mean(1 / df, axis=0)  # harmonic: a single draw can have almost unlimited ones
        drawn = (n - 1) / share**2
        observed = np.where(np.isinf(complete), np.inf, (complete + 1) / (complete + 3) * complete) * (1 - share)
        found = 1 / (1 / drawn + 1 / observed)
    return value.mean(axis=0), total, found
