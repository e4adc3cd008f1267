"""Reader study: the modality in which readers decide better, and the size of a next study."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..figures.estimates import estimates as lines_of
from ..figures.studies import MOST_POINTS, MOST_READERS, forest, roc
from ..methods import AS_IS, Verdict
from ..multiplicity import holm
from ..runtime.chunks import CancelToken
from ..studies.accuracy import MEASURES, TITLES, Measure
from ..studies.analysis import (
    METHODS,
    Method,
    StudyAnalysis,
    StudyEstimate,
    StudyEstimates,
    StudyOptions,
    interval_for_these_readers,
)
from ..studies.analysis import compute as analyse_study
from ..studies.next_study import NextStudy, compute_next_study
from ..studies.roc import RocCurves, compute_roc_curves
from ..studies.study import ReadingStudy, reason_against
from ..studies.truth import FEWEST_DRAWS, majority_truth
from ..text import number, percent, plural
from .base import Analysis, AnalysisPart, option
from .blocks import Block, Download, Figure, Grid, Heading, Name, Span, Words
from .schema import Column, frame_of, intervals

TERM = "reader study"
N_READERS = (3, 5, 8, 10, 15, 20)  # of next studies
ENOUGH_READERS = 4  # With fewer, the result for these readers only is said as well.
FEW_READERS = " With so few readers, the study provides little information about other readers, and intervals are wide."
MOST_PAIRS_NAMED = 3
_MEASURES = {str(name): title for name, title in TITLES.items()}
METHOD_TITLES = {
    "automatic": "by the design",
    "obuchowski-rockette": "Obuchowski-Rockette",
    "u-statistics": "U-statistics",
}
TRUTH_TITLES = {
    "gold": "known truth",
    "panel_majority": "majority of the panel",
    "drawn": "panel, corrected for its errors",
}
NO_TRUTH = "the truth is unknown; add the truth of each case, or a panel's opinions"
_VALUE = (
    *intervals("value", unit="difference", heads=("95% low", "95% high")),
    Column("se", "standard error", "error"),
)
MODALITIES = (
    Column("truth"), Column("modality"), Column("other_modality", "minus"), *_VALUE,
    Column("df", "degrees of freedom", "tenths"), Column("p", unit="error"),
)  # fmt: skip
READERS = (Column("truth"), Column("modality"), Column("reader"), *_VALUE)
CURVES = (
    Column("modality"), Column("reader"), Column("threshold", "score from", "score"),
    Column("false_positive", "1 − specificity", "error"), Column("sensitivity", unit="error"),
)  # fmt: skip
SIZES = (
    Column("modality"), Column("other_modality", "minus"), Column("n_readers", "readers", "count"),
    Column("n_cases", "cases", "count"), Column("power", unit="rate"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModalityOptions:
    """Options of all parts of a reader study.

    Attributes
    ----------
    measure, method : str
    level : float
    draws : int
        Number of draws of the truth, if it comes from a panel.
    threshold : float, optional
        Scores at or above it are positive.
    seed : int
    """

    measure: Measure = option(
        "auc", "Measure", MEASURES, _MEASURES.__getitem__, TERM, "study_measure", look="side by side",
        help="Measure of accuracy",
    )  # fmt: skip
    method: Method = option("automatic", "Method", METHODS, METHOD_TITLES.__getitem__, help="Method of the analysis")
    level: float = option(0.95, "Level", help="Confidence level of intervals, 0 to 1")
    draws: int = option(
        100,
        "Draws of the truth",
        kind="integer",
        low=FEWEST_DRAWS,
        help="Number of times the truth is drawn from a panel",
    )
    threshold: float | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SizeOptions(ModalityOptions):
    """Options of the size of a next study.

    Attributes
    ----------
    effect : float
        Difference to find.
    power : float
    """

    effect: float = option(0.05, "Difference to find", help="Difference that the next study should detect")
    power: float = option(0.8, "Power", help="Probability that the next study detects it")


class AnalysedStudy(NamedTuple):
    """A study with its analysis, on which all parts rest."""

    study: ReadingStudy
    analysis: StudyAnalysis


def analyse(
    study: ReadingStudy,
    options: ModalityOptions,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> AnalysedStudy:
    """Analyse a study.

    Parameters
    ----------
    study : ReadingStudy
    options : ModalityOptions
    token : CancelToken, optional
    progress : callable, optional
        Called with the share of draws of the truth that are done.
    """

    def tell(share: float) -> None:
        if token is not None:
            token.check()
        if progress is not None:
            progress(share)

    asked = StudyOptions(
        options.measure, options.threshold, options.method, options.level, options.draws, options.seed
    )  # fmt: skip
    return AnalysedStudy(study, analyse_study(study, asked, tell))


def compute_modalities(found: AnalysedStudy, options: ModalityOptions) -> AnalysedStudy:
    """Return the analysis itself."""
    return found


def compute_roc(found: AnalysedStudy, options: ModalityOptions) -> RocCurves:
    """Compute ROC curves; of a panel's cases, each counts on both sides by its probability."""
    return compute_roc_curves(found.study, found.analysis.probability)


def compute_size(found: AnalysedStudy, options: SizeOptions) -> tuple[NextStudy, ...]:
    """Compute sizes of a next study of each pair of modalities that vary, allowing for errors of a panel."""
    best = _best(found.analysis)
    n_readers = sorted({*N_READERS, max(2, len(found.study.readers))})
    return tuple(
        compute_next_study(
            best, options.effect, n_readers, pair=pair, power=options.power, significance=1 - options.level
        )
        for pair, one in enumerate(best.differences)
        if one.low == one.low
    )


def present_modalities(found: AnalysedStudy, study: ReadingStudy, options: ModalityOptions) -> list[Block]:
    """Show the better modality, with the panel's errors and with its majority as truth, and the design."""
    best, table = _best(found.analysis), table_of_modalities(found, study, options)
    blocks: list[Block] = [Heading("Do the modalities differ?", TERM), Words(lead(found), "lead")]
    if found.analysis.in_doubt is not None:
        blocks.append(
            Words(
                ("These estimates take the panel's majority as the truth, as is common. ", *said(found.analysis.taken))
            )
        )
    title, axis = _title(best), f"difference in {_measure(best)}"
    blocks.append(
        Figure(
            lambda theme: lines_of(_differences(found.analysis), theme, title, axis, 0.0, len(best.differences)),
            "Difference between each pair of modalities, with its interval",
            "study_differences",
        )
    )
    blocks += [Words(design(found), "note"), *(Words(note, "note") for note in _notes(found.analysis))]
    caption = (
        f"{_measure(best, capital=True)} of each modality, and differences between modalities, with "
        f"{percent(options.level)} intervals."
    )
    return [
        *blocks,
        Grid(table, caption, 60, _shown(table, MODALITIES), "study_modalities"),
        Download(table, "Modalities", "modalities", "study_table"),
    ]


def _shown(table: pd.DataFrame, schema: tuple[Column, ...]) -> tuple[Column, ...]:
    """Hide the kind of truth if all rows have the same."""
    same = table["truth"].nunique() == 1
    return tuple(replace(one, hidden=same and one.name == "truth") for one in schema)


def present_readers(found: AnalysedStudy, study: ReadingStudy, options: ModalityOptions) -> list[Block]:
    """Show each reader in each modality, and count the readers with the same difference."""
    best, table = _best(found.analysis), table_of_readers(found, study, options)
    shown = (*best.modalities, *best.readers)
    title = f"{_measure(best, capital=True)} of each reader"
    beyond = (
        f" Only the first {MOST_READERS} of {len(study.readers):,} readers are shown."
        if len(study.readers) > MOST_READERS
        else ""
    )
    return [
        Heading("How do the readers perform?", TERM),
        Words(_by_reader(best), "lead"),
        Figure(
            lambda theme: forest(shown, theme, title, _measure(best)),
            "Each reader in each modality with an interval, and the mean over readers",
            "study_readers",
        ),
        Words(
            "Intervals for readers account for variation between cases. Intervals for means account for variation "
            f"between readers and between cases.{beyond}",
            "note",
        ),
        Grid(
            table,
            f"{title}; {percent(options.level)} intervals over cases.",
            60,
            _shown(table, READERS),
            "study_reader_table",
        ),
        Download(table, "Readers", "readers", "study_readers_download"),
    ]


def present_roc(curves: RocCurves, study: ReadingStudy, options: ModalityOptions) -> list[Block]:
    """Show the average curves with the points of readers."""
    table = table_of_roc(curves, study, options)
    points = Counter((one.modality, one.reader) for one in curves.points)
    few = max(points.values(), default=0) <= MOST_POINTS
    marks = "Points: scores of each reader" if few else "Thin: each reader"
    in_doubt = study.truth is None
    return [
        Heading("How do sensitivity and specificity trade off?", TERM),
        Figure(
            lambda theme: roc(curves, theme, "ROC curves, mean over readers"),
            "Average ROC curve of each modality, with the readers",
            "study_roc",
        ),
        Words(
            f"Line: mean sensitivity of readers at each specificity · {marks}."
            + (
                " Each case counts both as having and as not having the condition, weighted by the probability of each."
                if in_doubt
                else ""
            ),
            "note",
        ),
        Download(table, "ROC curves", "roc", "study_roc_download"),
    ]


def present_size(found: tuple[NextStudy, ...], study: ReadingStudy, options: SizeOptions) -> list[Block]:
    """Show the number of cases that a next study needs, by its number of readers."""
    table = table_of_size(found, study, options)
    blocks: list[Block] = [
        Heading("How large must the next study be?", TERM),
        Words(_size(found, study, options), "lead"),
    ]
    if not found:
        return blocks
    return [
        *blocks,
        Words(
            "The numbers are based on this study's variances between readers, cases and draws of the truth, and on its "
            "share of cases with the condition. The two-sided significance level is "
            f"{number(1 - options.level, 2)}. The numbers are approximate if the study has few readers.",
            "note",
        ),
        Grid(table, "Minimum number of cases by number of readers.", 60, SIZES, "study_sizes"),
        Download(table, "Sizes", "study_sizes", "study_sizes_download"),
    ]


def table_of_modalities(found: AnalysedStudy, study: ReadingStudy, options: ModalityOptions) -> pd.DataFrame:
    """Return the table of differences and modalities, by gold and by the panel if the study has both."""
    listed = [one for each in _all(found.analysis) for one in (*each.differences, *each.modalities)]
    return _frame(listed, MODALITIES)


def table_of_readers(found: AnalysedStudy, study: ReadingStudy, options: ModalityOptions) -> pd.DataFrame:
    """Return the table with one row per reader and modality."""
    return _frame([one for each in _all(found.analysis) for one in each.readers], READERS)


def table_of_roc(curves: RocCurves, study: ReadingStudy, options: ModalityOptions) -> pd.DataFrame:
    """Return the points of the average curves, whose reader is empty, and of the curves of each reader."""
    rows: list[tuple] = [(one.modality, "", np.nan, one.false_positive, one.sensitivity) for one in curves.average]
    rows += [(one.modality, one.reader, one.threshold, one.false_positive, one.sensitivity) for one in curves.points]
    return frame_of(rows, CURVES)


def table_of_size(found: tuple[NextStudy, ...], study: ReadingStudy, options: SizeOptions) -> pd.DataFrame:
    """Return the table with one row per pair of modalities and number of readers."""
    rows = [
        (each.modality, each.other_modality, one.n_readers, one.n_cases, one.power)
        for each in found
        for one in each.sizes
    ]
    table = frame_of(rows, SIZES)
    return table.astype({"n_cases": "Int64"})


def headline(found: AnalysedStudy) -> str:
    """Summarise the study in a short sentence, with the names of the modalities if there are two.

    Parameters
    ----------
    found : AnalysedStudy
    """
    best = _best(found.analysis)
    if len(best.differences) != 1:
        return f"{_title(best)} in {_measure(best)}"
    (one,) = best.differences
    if not _is_clear(best, one):
        return f"{one.modality} and {one.other_modality} do not clearly differ in {_measure(best)}"
    first, second = (one.modality, one.other_modality)[:: 1 if one.value > 0 else -1]
    return f"{_measure(best, capital=True)} is higher with {first} than with {second}"


def lead(found: AnalysedStudy) -> list[Span]:
    """Name the better modality, with a note if the truth comes from a panel.

    Parameters
    ----------
    found : AnalysedStudy
    """
    best = _best(found.analysis)
    before = "These estimates are corrected for the panel's errors. " if found.analysis.in_doubt is not None else ""
    return [before, *said(best)] if before else said(best)


def said(found: StudyEstimates) -> list[Span]:
    """Name the modalities that differ, for one kind of truth.

    Parameters
    ----------
    found : StudyEstimates
    """
    if len(found.differences) == 1:
        one = found.differences[0]
        return [*_pair(found, one, clear=_is_clear(found, one)), *_for_these_readers(found, one)]
    clear = set(holm(np.array([one.p for one in found.differences]), 1 - found.level).tolist())
    words: list[Span] = [
        f"{len(clear):,} of {plural(len(found.differences), 'pair')} of modalities clearly "
        f"{'differs' if len(clear) == 1 else 'differ'} in {_measure(found)} (after Holm's correction for "
        f"{plural(len(found.differences), 'test')}). "
    ]
    order = sorted(range(len(found.differences)), key=lambda place: (place not in clear, place))
    for place in order[:MOST_PAIRS_NAMED]:
        words += [*_pair(found, found.differences[place], clear=place in clear), " "]
    return words


def design(found: AnalysedStudy) -> str:
    """Describe readers, cases and the method.

    Parameters
    ----------
    found : AnalysedStudy
    """
    best = _best(found.analysis)
    n = round(best.n_with + best.n_without)
    about = "about " if best.truth == "drawn" else ""
    few = FEW_READERS if len(found.study.readers) < ENOUGH_READERS else ""
    return (
        f"{plural(len(found.study.readers), 'reader')} and {plural(n, 'case')}, {about}{round(best.n_with):,} with "
        f"the condition. Method: {METHOD_TITLES[best.method]}, with readers and cases as random effects, so the result "
        f"applies to similar readers and cases.{few}"
    )


def _pair(found: StudyEstimates, one: StudyEstimate, *, clear: bool) -> list[Span]:
    """Write the sentence of a comparison: clear, not clear, or without an interval."""
    value = {each.modality: each.value for each in found.modalities}
    first, second, between, low, high = _higher_first(one, one)
    both = f"{_said(found, value[first])} against {_said(found, value[second])}"
    if one.low != one.low:
        return [
            "Cannot determine whether ", Name(first), " and ", Name(second),
            f" differ in {_measure(found)} ({both}): there is no variation between readers and cases.",
        ]  # fmt: skip
    ends = f"{_said(found, low, True)} to {_said(found, high, True)}"
    difference = f"difference {_said(found, between, True)} ({percent(found.level)} interval {ends}), p {_p(one.p)}"
    if clear:
        higher = f"{_measure(found, capital=True)} is higher with "
        return [higher, Name(first), " than with ", Name(second), f": {both}, {difference}."]
    return [Name(first), " and ", Name(second), f" do not clearly differ in {_measure(found)}: {both}, {difference}."]


def _higher_first(one: StudyEstimate, by: StudyEstimate) -> tuple[str, str, float, float, float]:
    """Return the modality with the higher value in ``by``, the other one, and their difference with its interval."""
    if by.value >= 0:
        return one.modality, one.other_modality, one.value, one.low, one.high
    return one.other_modality, one.modality, -one.value, -one.high, -one.low


def _for_these_readers(found: StudyEstimates, one: StudyEstimate) -> list[Span]:
    """State the difference for the readers of this study only, if they are too few to stand for others."""
    n = len({each.reader for each in found.readers})
    low, high = interval_for_these_readers(found)
    if n >= ENOUGH_READERS or low != low:
        return []
    *_, between, low, high = _higher_first(replace(one, low=low, high=high), one)
    said = " to ".join(_said(found, end, True) for end in (low, high))
    return [
        f" For these {plural(n, 'reader')} only, on similar cases: difference {_said(found, between, True)} ({said})."
    ]


def _is_clear(found: StudyEstimates, one: StudyEstimate) -> bool:
    return one.p < 1 - found.level


def _title(found: StudyEstimates) -> str:
    """Return the title of the figure of differences, without names."""
    if len(found.differences) == 1:
        return "The modalities clearly differ" if _is_clear(found, found.differences[0]) else "No clear difference"
    n = holm(np.array([one.p for one in found.differences]), 1 - found.level).size
    return f"{n:,} of {plural(len(found.differences), 'pair')} clearly {'differs' if n == 1 else 'differ'}"


def _differences(found: StudyAnalysis) -> list[tuple[str, float, float, float]]:
    several, best = found.in_doubt is not None, _best(found)
    lines = []
    for each in (best, *([found.taken] if several else [])):
        for one, by in zip(each.differences, best.differences, strict=True):
            first, second, value, low, high = _higher_first(one, by)
            name = f"{first} minus {second}"
            name += (
                f", {'majority as truth' if each.truth == 'panel_majority' else 'errors allowed for'}"
                if several
                else ""
            )
            lines.append((name, value, *((value, value) if low != low else (low, high))))
    return lines


def _by_reader(found: StudyEstimates) -> list[Span]:
    """Describe the range of readers in each modality, and count those who do better in one of two."""
    words: list[Span] = []
    for one in found.modalities:
        values = [each.value for each in found.readers if each.modality == one.modality]
        words += [
            Name(one.modality),
            f": mean {_measure(found)} {_said(found, one.value)}, readers {_said(found, min(values))} to "
            f"{_said(found, max(values))}. ",
        ]
    if len(found.modalities) == 2:
        first, second = (
            {one.reader: one.value for one in found.readers if one.modality == each.modality}
            for each in found.modalities
        )
        both = [name for name in first if name in second]
        better = sum(second[name] > first[name] for name in both)
        perform = "performs" if better == 1 else "perform"
        count = f"{better:,} of {plural(len(both), 'reader')} {perform} better in "
        words += [count, Name(found.modalities[1].modality), "."]
    return words


def _size(found: tuple[NextStudy, ...], study: ReadingStudy, options: SizeOptions) -> list[Span]:
    if not found:
        return ["Cannot determine the size of the next study: this study shows no variation between readers and cases."]
    words: list[Span] = []
    for each in found[:MOST_PAIRS_NAMED]:
        if len(found) > 1:
            words += [Name(each.modality), " and ", Name(each.other_modality), ": "]
        one = next(size for size in each.sizes if size.n_readers == max(2, len(study.readers)))
        finds = f"a difference of {number(each.effect, 2)} with a power of {percent(each.target)}"
        enough = next(((size.n_readers, size.n_cases) for size in each.sizes if size.n_cases is not None), None)
        if one.n_cases is not None:
            words.append(
                f"A study with {plural(one.n_readers, 'reader')} and {plural(one.n_cases, 'case')} can detect {finds}. "
            )
            more = next((size for size in each.sizes if size.n_readers > max(one.n_readers, ENOUGH_READERS)), None)
            if one.n_readers < ENOUGH_READERS and more is not None and more.n_cases is not None:
                words.append(f"{plural(more.n_readers, 'reader')} need {plural(more.n_cases, 'case')}. ")
        elif enough is not None:
            words.append(
                f"{plural(one.n_readers, 'reader')} are too few to detect {finds}; {plural(enough[0], 'reader')} "
                f"with {plural(enough[1], 'case')} are enough. "
            )
        else:
            words.append(f"Even {N_READERS[-1]} readers cannot detect {finds}, however many cases they read. ")
    return words


def _best(found: StudyAnalysis) -> StudyEstimates:
    """Return the estimates that allow for errors of the panel if there is one, otherwise those by the truth."""
    return found.in_doubt or found.taken


def _all(found: StudyAnalysis) -> tuple[StudyEstimates, ...]:
    return tuple(reversed(found.estimates))


def _notes(found: StudyAnalysis) -> list[str]:
    return list(dict.fromkeys(note for each in _all(found) for note in each.notes))


def _measure(found: StudyEstimates, capital: bool = False) -> str:
    title = TITLES[found.measure]
    return title if capital or found.measure == "auc" else title.casefold()


def _said(found: StudyEstimates, value: float, difference: bool = False) -> str:
    """Write a value with the digits and the unit of its measure."""
    if found.measure == "auc":
        return number(value, 3)
    return f"{number(100 * value, 1)} points" if difference else percent(value, 1)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {number(value, 3)}"


def _frame(listed: list[StudyEstimate], columns: tuple[Column, ...]) -> pd.DataFrame:
    names = {"value_low": "low", "value_high": "high"}

    def cell(one: StudyEstimate, column: str) -> Any:
        return TRUTH_TITLES[one.truth] if column == "truth" else getattr(one, names.get(column, column))

    return frame_of(([cell(one, column.name) for column in columns] for one in listed), columns)


def _applicable(study: ReadingStudy) -> Verdict:
    if study.truth is not None:
        reason = reason_against(study, study.truth)
    elif study.panel is not None:
        reason = reason_against(study, majority_truth(study.panel))
    else:
        reason = NO_TRUTH
    return Verdict("study", "Reader study", not reason, reason or AS_IS)


def _part(
    name: str, title: str, compute: str, present: str, table: str, options: type = ModalityOptions
) -> AnalysisPart:
    named = [f"{__name__}:{function}" for function in (compute, present, table, "analyse")]
    return AnalysisPart(name, title, _applicable, named[0], named[1], named[2], options, named[3])


STUDY = Analysis(
    "study",
    "Reader study",
    "Do readers perform better in one modality than in another?",
    (
        _part("modalities", "Modalities", "compute_modalities", "present_modalities", "table_of_modalities"),
        _part("readers", "Readers", "compute_modalities", "present_readers", "table_of_readers"),
        _part("roc", "ROC curves", "compute_roc", "present_roc", "table_of_roc"),
        _part("size", "Next study", "compute_size", "present_size", "table_of_size", SizeOptions),
    ),
)
