"""Document on how a reference standard was made, with checklists of what papers must report about it.

Each sentence comes from the data, or names what the authors must write. The items are those on the reference
standard of STARD 2015 [Bossuyt et al., DOI 10.1136/bmj.h5527] and CLAIM 2024 [Tejani et al., DOI
10.1148/ryai.240300], and all of GRRAS 2011 [Kottner et al., DOI 10.1016/j.jclinepi.2010.03.002], in our words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..agreement.applicable_coefficients import coefficients_for
from ..agreement.coefficients import percent_agreement
from ..agreement.intervals import share_of
from ..analyses.blocks import Block, Grid, Name, Section, Words
from ..annotations.counts import class_counts
from ..annotations.dataset import MISSING_TIME, Dataset
from ..errors import InputError, NotApplicableError
from ..figures.agreement import title_of
from ..models.majority import MajorityVote
from ..review.decisions import decisions
from ..review.summary import by_reviewer, summarise_reviews
from ..text import day_words, exact, percent, plural, utc
from ..version import __version__
from .build import ReportRequest
from .page import to_html

TO_WRITE = "To be written by you"
MOST_RATERS = 60
ENDINGS = ("docx", "html")
# Section of the document, or empty if only the authors know: guideline, number, what to report.
ITEMS: tuple[tuple[str, str, str, str], ...] = (
    ("STARD 2015", "10b", "The reference standard, in enough detail to allow replication", "process"),
    ("STARD 2015", "11", "Why this reference standard was chosen", ""),
    (
        "STARD 2015",
        "12b",
        "Result categories of the reference standard, and whether they were set in advance",
        "process",
    ),
    (
        "STARD 2015",
        "13b",
        "Clinical information and index test results known to assessors of the reference standard",
        "blinding",
    ),
    ("STARD 2015", "15", "Handling of indeterminate results", "undetermined"),
    ("STARD 2015", "16", "Handling of missing data", "cases"),
    ("STARD 2015", "17", "Analyses of variability in diagnostic accuracy, and which of them were planned", ""),
    ("STARD 2015", "18", "Intended sample size, and how it was determined", ""),
    ("STARD 2015", "22", "Time and treatment between index test and reference standard", ""),
    ("CLAIM 2024", "14", "How the reference standard was obtained", "process"),
    ("CLAIM 2024", "15", "Why this reference standard was chosen", ""),
    ("CLAIM 2024", "16", "Source of the annotations: raters and their qualifications", "readers"),
    ("CLAIM 2024", "17", "How the test set was annotated", "process"),
    ("CLAIM 2024", "18", "Measures of variability between and within raters", "agreement"),
    ("GRRAS 2011", "1", "Agreement or reliability in the title or abstract", ""),
    ("GRRAS 2011", "2", "Diagnosis or measurement", ""),
    ("GRRAS 2011", "3", "The population of subjects", ""),
    ("GRRAS 2011", "4", "The population of raters", ""),
    ("GRRAS 2011", "5", "What is known about agreement, and why the study was done", ""),
    ("GRRAS 2011", "6", "How the sample size was chosen", ""),
    ("GRRAS 2011", "7", "How subjects and raters were sampled", ""),
    ("GRRAS 2011", "8", "The rating process: time intervals, clinical information, blinding", "blinding"),
    ("GRRAS 2011", "9", "Whether ratings were independent", "blinding"),
    ("GRRAS 2011", "10", "The statistical analysis", "agreement"),
    ("GRRAS 2011", "11", "Numbers of raters, subjects and repeated ratings", "cases"),
    ("GRRAS 2011", "12", "Characteristics of raters and subjects", "readers"),
    ("GRRAS 2011", "13", "Estimates with their uncertainty", "agreement"),
    ("GRRAS 2011", "14", "What the results mean in practice", ""),
    ("GRRAS 2011", "15", "Detailed results, if possible", "provenance"),
)


@dataclass(frozen=True, slots=True)
class _Data:
    """Data that the sections are made from.

    Attributes
    ----------
    request : ReportRequest
    view : Dataset
        As single classes.
    per_case : ndarray of int64, shape (n_cases,)
        Annotations.
    share : ndarray, shape (n_cases, n_classes)
        Share of votes.
    """

    request: ReportRequest
    view: Dataset
    per_case: np.ndarray
    share: np.ndarray

    @property
    def tied(self) -> np.ndarray:
        """Cases in which several classes have most votes."""
        most = (self.share >= self.share.max(axis=1, keepdims=True) - 1e-12).sum(axis=1)
        return (most > 1) & (self.per_case > 0)


def build_reference_standard(request: ReportRequest, ending: str) -> bytes:
    """Write the document.

    Parameters
    ----------
    request : ReportRequest
    ending : {"docx", "html"}

    Raises
    ------
    InputError
        There is no such format.
    NotApplicableError
        The annotations are not single classes, or there are none.
    """
    if ending not in ENDINGS:
        raise InputError(
            f"Could not write a document with the extension {ending!r}.",
            f"Use a name that ends in {' or '.join(f'.{one}' for one in ENDINGS)}.",
        )
    title = f"{request.dataset.name}: how the reference standard was established"
    found = sections_of(request)
    if ending == "html":
        footer = "Made with Plurality from the annotations and the review record. This file works offline."
        return to_html(title, found, footer)
    from .word import to_docx

    return to_docx(title, found)


def sections_of(request: ReportRequest) -> list[Section]:
    """Build the sections of the document, the checklist last.

    Parameters
    ----------
    request : ReportRequest

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or there are none.
    """
    if request.no_classes:
        raise NotApplicableError("Could not describe the reference standard: scores need a threshold.", "Choose one.")
    view = request.dataset.as_classes(request.threshold)[0]
    if view.n_annotations == 0:
        raise NotApplicableError("Could not describe the reference standard: the data have no annotations.")
    data = _Data(request, view, np.diff(view.case_ptr), np.asarray(MajorityVote().fit(view).class_probability))
    built = [
        Section(key, title, tuple(write(data)))
        for key, title, write in (
            ("cases", "Cases and annotations", _cases),
            ("readers", "Who annotated", _readers),
            ("process", "How the reference standard was established", _process),
            ("blinding", "Blinding", _blinding),
            ("agreement", "Agreement before adjudication", _agreement),
            ("adjudication", "Adjudication", _adjudication),
            ("undetermined", "Cases with an undetermined truth", _undetermined),
            ("subgroups", "Subgroups", _subgroups),
            ("provenance", "Digests and record", _provenance),
        )
    ]
    return [*built, Section("checklist", "Checklist", (checklist(built),))]


def checklist(sections: Sequence[Section]) -> Grid:
    """List the items of the guidelines, each with the section that answers it, or who has to.

    Parameters
    ----------
    sections : sequence of Section
    """
    titles = {one.key: one.title for one in sections}
    open_items = {one.key: any(_is_to_write(block) for block in one.blocks) for one in sections}
    answered = {one.key: any(not _is_to_write(block) for block in one.blocks) for one in sections}

    def where(key: str) -> str:
        if not key or not answered[key]:
            return TO_WRITE
        return f"{titles[key]}{'; complete it' if open_items[key] else ''}"

    rows = [(guideline, number, words, where(key)) for guideline, number, words, key in ITEMS]
    table = pd.DataFrame(rows, columns=["guideline", "item", "to report", "answered in"])
    n = sum(row[3] != TO_WRITE for row in rows)
    return Grid(table, f"{n:,} of {plural(len(rows), 'item')} can be answered from the data.", len(rows))


def _is_to_write(block: Block) -> bool:
    return isinstance(block, Words) and block.plain.startswith(TO_WRITE)


def _to_write(what: str) -> Words:
    return Words(f"{TO_WRITE}: {what}.", "note")


def _cases(data: _Data) -> list[Block]:
    view, request = data.view, data.request
    low, high = int(data.per_case.min()), int(data.per_case.max())
    each = f"{low:,}" if low == high else f"{low:,} to {high:,} (median {exact(float(np.median(data.per_case)))})"
    size = f"{plural(view.n_cases, 'case')}, {plural(view.n_annotations, 'annotation')}, {each} per case."
    blocks: list[Block] = [Words(size, "lead")]
    if request.selected:
        blocks.append(Words(("Selected annotations: ", Name(request.selected), ".")))
    if request.report is not None:
        dropped = request.report.n_rows - request.report.n_kept
        kept = f"{request.report.n_kept:,} of {plural(request.report.n_rows, 'row')} in the file were used"
        blocks.append(Words(f"{kept}, and {dropped:,} {_be(dropped, 'was', 'were')} left out."))
    empty, single = int((data.per_case == 0).sum()), int((data.per_case == 1).sum())
    few = f"{plural(empty, 'case')} {_be(empty, 'has', 'have')} no annotation"
    blocks.append(Words(f"{few}, and {single:,} {_be(single, 'has', 'have')} only one."))
    known = None if view.time is None else view.time[view.time != MISSING_TIME]
    if known is not None and known.size:
        first, last = (day_words(utc(float(each))) for each in (known.min(), known.max()))
        blocks.append(Words(f"Annotated from {first} to {last} (UTC)."))
    blocks.append(_to_write("where and when cases were collected, eligibility criteria, and how cases were sampled"))
    return blocks


def _readers(data: _Data) -> list[Block]:
    view, request = data.view, data.request
    blocks: list[Block] = []
    if view.raters_identified:
        rows = [
            (name, int(n), len(np.unique(view.case_of_annotation[view.rater == code])))
            for code, (name, n) in enumerate(zip(view.raters, view.annotations_of_raters, strict=True))
        ]
        table = pd.DataFrame(rows, columns=["rater", "annotations", "cases"])
        blocks += [Words(f"{plural(view.n_raters, 'rater')}.", "lead"), Grid(table, "Annotations.", MOST_RATERS)]
    else:
        blocks.append(Words("The file does not name the raters.", "lead"))
    if request.machines:
        blocks.append(
            Words(
                f"{plural(len(request.machines), 'AI rater is', 'AI raters are')} left out of the reference standard."
            )
        )
    return [*blocks, _to_write("training, experience and instruction of the raters")]


def _process(data: _Data) -> list[Block]:
    view = data.view
    n, settled = view.n_cases, _settled(data)
    tied = int(data.tied.sum())
    others = f"For the other {plural(n - settled, 'case')}, the" if settled else "The"
    before = (
        f"{plural(settled, 'case was', 'cases were')} settled by review."
        if settled
        else "No case was settled by review."
    )
    blocks: list[Block] = [
        Words(f"{before} {others} class with the most annotations is used.", "lead"),
        Words(_pattern(data)),
        Words(("Classes: ", Name(", ".join(view.classes)), ".")),
    ]
    if tied:
        blocks.append(Words(f"In {tied:,} of {plural(n, 'case')}, two or more classes tie for the most annotations."))
    counts = np.bincount(data.per_case)
    table = pd.DataFrame({"annotations per case": np.flatnonzero(counts), "cases": counts[counts > 0]})
    return [
        *blocks,
        Grid(table, "Annotations per case.", 40),
        _to_write("whether the classes were fixed before annotation, and which annotation tool was used"),
    ]


def _pattern(data: _Data) -> str:
    """Name the common reading process that the annotations look like."""
    unanimous = data.share.max(axis=1) > 1 - 1e-12
    two, three = data.per_case == 2, data.per_case == 3
    if (data.per_case == 1).all():
        return "Every case has only one annotation."
    if (two | three).all() and two.any() and three.any() and unanimous[two].all() and not unanimous[three].any():
        return (
            "Annotations agree on all cases with two annotations, and on no case with three. This suggests 2+1 reading."
        )
    if three.all():
        return "Every case has three annotations, which suggests a majority vote of three raters."
    if two.all():
        return "Every case has two annotations, which suggests double reading."
    if (data.per_case == data.per_case[0]).all():
        return f"Every case has {data.per_case[0]:,} annotations."
    return "The number of annotations per case does not follow a common pattern."


def _blinding(data: _Data) -> list[Block]:
    reviews = data.request.reviews
    people = by_reviewer(data.request.dataset, reviews) if reviews else []
    reads, blind = (sum(getattr(one, name) for one in people) for name in ("n_reads", "n_blind"))
    blocks: list[Block] = []
    if reads:
        said = f"In Review, {blind:,} of {plural(reads, 'opinion')} {_be(blind, 'was', 'were')} recorded blind"
        blocks.append(Words(f"{said}, before the panel's annotations were shown.", "lead"))
    what = "whether raters knew clinical information, index test results or other annotations"
    return [*blocks, _to_write(what)]


def _agreement(data: _Data) -> list[Block]:
    found = coefficients_for(data.view if data.request.dataset.kind != "ranking" else data.request.dataset)
    rows = [
        (title_of(one), one.value, one.ci_low, one.ci_high, one.n_cases)
        for one in found.coefficients
        if one.value is not None
    ]
    table = pd.DataFrame(rows, columns=["coefficient", "value", "95% low", "95% high", "cases"])
    return [
        Words(f"{found.words()}.", "lead"),
        Grid(
            table,
            "Agreement among all annotations before any adjudication, with 95% intervals over cases.",
            40,
        ),
        _to_write("which coefficient was planned as primary, and agreement within raters"),
    ]


def _settled(data: _Data) -> int:
    if not data.request.reviews:
        return 0
    states = summarise_reviews(data.request.dataset, data.request.reviews).states
    return int(states["closed"] + states["adjudicated"])


def _adjudication(data: _Data) -> list[Block]:
    request = data.request
    here = {case: request.reviews[case] for case in request.dataset.cases if case in request.reviews}
    if not here:
        return [_to_write("whether cases were adjudicated, how many, and by whom. Plurality has no record of this")]
    summary = summarise_reviews(request.dataset, here)
    n, reviewed = summary.n_cases, summary.n_reviewed
    ended = int(summary.states["adjudicated"])
    blocks: list[Block] = [
        Words(
            f"Of {plural(n, 'case')}, {_share(reviewed, n)} were reviewed and {_share(ended, n)} were arbitrated.",
            "lead",
        )
    ]
    if words := summary.settled.words():
        blocks.append(Words(words))
    place = {case: code for code, case in enumerate(data.view.cases)}
    changed = compared = 0
    for one in decisions(here):
        case, first = place[one.case_id], one.opinion.first
        if one.state in ("closed", "adjudicated") and len(first) == 1 and not data.tied[case]:
            compared += 1
            changed += data.view.classes[int(data.share[case].argmax())] != first[0]
    if compared:
        blocks.append(
            Words(f"{_share(changed, compared)} of {plural(compared, 'decision')} differed from the majority.")
        )
    return [*blocks, _to_write("who adjudicated, and by which rule")]


def _be(n: int, one: str, several: str) -> str:
    return one if n == 1 else several


def _undetermined(data: _Data) -> list[Block]:
    n = data.view.n_cases
    tied, single = int(data.tied.sum()), int((data.per_case == 1).sum())
    reviews = data.request.reviews
    waits = summarise_reviews(data.request.dataset, reviews).states["arbitration"] if reviews else 0
    blocks: list[Block] = [
        Words(
            f"Of {plural(n, 'case')}, {_share(tied, n)} {_be(tied, 'has', 'have')} no majority, and {single:,} "
            f"{_be(single, 'has', 'have')} only one annotation.",
            "lead",
        )
    ]
    if waits:
        blocks.append(Words(f"{plural(waits, 'case is', 'cases are')} still in arbitration."))
    settled = ("closed", "adjudicated")
    unknown = {one.case_id for one in decisions(reviews) if one.state in settled and not one.opinion.first}
    if unknown:
        blocks.append(Words(f"{plural(len(unknown), 'case was', 'cases were')} settled as undetermined in Review."))
    return [
        *blocks,
        _to_write("how cases with an undetermined truth were handled (for example, annotated again or excluded)"),
    ]


def _subgroups(data: _Data) -> list[Block]:
    view = data.view
    if view.case_group is None or not any(view.case_group):
        return [
            _to_write(
                "agreement and numbers of cases by subgroup, such as site, device, sex and age. The data contain no "
                "subgroups"
            )
        ]
    groups = np.array(view.case_group)
    rows = []
    for group in sorted(set(view.case_group) - {""}):
        cases = np.flatnonzero(groups == group)
        own = view.select(cases=[view.cases[case] for case in cases])
        found = percent_agreement(class_counts(own))
        rows.append((group, len(cases), found.value, found.ci_low, found.ci_high, int(data.tied[cases].sum())))
    columns = ["subgroup", "cases", "percent agreement", "95% low", "95% high", "without a majority"]
    table = pd.DataFrame(rows, columns=columns)
    return [Grid(table, "Percent agreement by subgroup, with 95% intervals over cases.", 60)]


def _provenance(data: _Data) -> list[Block]:
    request = data.request
    rows = [
        ("digest of the annotations", request.dataset.digest),
        ("selection", request.selected or "all annotations"),
        ("version of Plurality", __version__),
    ]
    if request.record is not None:
        rows.append(("events in the review record", f"{request.record.number:,}"))
        rows.append(("last hash of the record", request.record.hash))
    return [Grid(pd.DataFrame(rows, columns=["what", "value"]), "Source of the numbers.")]


def _share(count: int, n: int) -> str:
    """Write a count with its share and Wilson's interval."""
    if n == 0:
        return f"{count:,}"
    one = share_of(count, n)
    return f"{count:,} ({percent(one.value)}, 95% interval {percent(one.low)} to {percent(one.high)})"
