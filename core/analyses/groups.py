"""Groups of raters: agreement within and across them, and differences in their annotations."""

from dataclasses import dataclass, field

import pandas as pd

from ..annotations.dataset import Dataset
from ..figures.estimates import estimates
from ..methods import AS_IS, Verdict
from ..raters.group_views import FEWEST_ON_CASE, CasesApart, find_cases_apart
from ..raters.groups import FEWEST_RATERS, GroupReview, RaterFacts, review_groups
from ..text import number, plural
from .base import Analysis, AnalysisPart, PartOption
from .blocks import Block, Download, Figure, Grid, Heading, Name, Span, Words
from .schema import Column, frame_of

TERM = "groups of raters"
MOST_NAMED = 3
COLUMNS = (
    Column("fact"),
    Column("group"),
    Column("named", "differs"),
    Column("n_raters", "raters", "count"),
    Column("of_class", "class"),
    Column("difference", "difference of means", "coefficient"),
    Column("difference_low", "95% low", "coefficient"),
    Column("difference_high", "95% high", "coefficient"),
    Column("p_difference", "p of the difference", "difference"),
    Column("association", "within / across", "coefficient"),
    Column("association_low", "95% low ", "coefficient"),
    Column("association_high", "95% high ", "coefficient"),
    Column("p_association", "p of within / across", "difference"),
    Column("within", "agreement within", "coefficient"),
    Column("within_low", "95% low", "coefficient", hidden=True),
    Column("within_high", "95% high", "coefficient", hidden=True),
    Column("across", "agreement across", "coefficient"),
    Column("across_low", "95% low", "coefficient", hidden=True),
    Column("across_high", "95% high", "coefficient", hidden=True),
    Column("n_annotations", "annotations", "count"),
    Column("n_cases", "cases shared", "count"),
)

CASES = (
    Column("case"),
    Column("fact"),
    Column("group"),
    Column("leans"),
    Column("of_class", "class"),
    Column("difference", unit="coefficient"),
    Column("p", unit="error"),
    Column("clear"),
)


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Options of groups of raters.

    Attributes
    ----------
    fdr, level : float
    facts : RaterFacts
        Facts on the raters of the dataset, in their order.
    seed : int
    """

    fdr: float = field(default=0.05, metadata={"option": PartOption("The false discovery rate")})
    level: float = field(default=0.95, metadata={"option": PartOption("The level of the intervals")})
    facts: RaterFacts = field(default_factory=RaterFacts)
    seed: int = 0


def compute(dataset: Dataset, options: GroupOptions) -> GroupReview:
    """Compute agreement within and across groups."""
    return review_groups(dataset, options.facts, q=options.fdr, level=options.level, seed=options.seed)


def present(found: GroupReview, dataset: Dataset, options: GroupOptions) -> list[Block]:
    """Show groups that differ, the ratio of agreement within to across for each group, and a table."""
    table = table_of(found, dataset, options)
    lines = [
        (f"{one.fact}: {one.group}", *one.association)
        for one in found.groups
        if one.association.value == one.association.value
    ]
    named = sum(one.named for one in found.groups)
    title = (
        f"{plural(named, 'group')} of raters clearly differ{'s' if named == 1 else ''}"
        if named
        else "No group of raters clearly differs"
    )
    blocks: list[Block] = [Heading("Do groups of raters differ?", TERM), Words(lead(found), "lead")]
    if lines:
        axis = "agreement within over agreement across"
        blocks.append(
            Figure(
                lambda theme: estimates(lines, theme, title, axis, 1.0),
                "Agreement within each group over agreement with the others, with its interval",
                "groups_association",
            )
        )
    small = [f"{fact} ({n:,})" for fact, n in found.too_small]
    hidden = (
        f" Not shown, with fewer than {FEWEST_RATERS} raters or others: groups of {', '.join(small)}." if small else ""
    )
    return [
        *blocks,
        Grid(table, f"Groups of at least {FEWEST_RATERS} raters.{hidden}", 60, COLUMNS, "groups_table"),
        Words(
            "Above 1: the group agrees with itself more than with others. p by permuting facts of raters. “Differs”: "
            f"at a false discovery rate of {number(found.q, 2)} over {plural(found.n_tests, 'test')}.",
            "note",
        ),
        Download(table, "Groups of raters", "groups", "groups_download"),
    ]


def lead(found: GroupReview) -> list[Span]:
    """Return which groups differ, and how, in a sentence.

    Parameters
    ----------
    found : GroupReview
    """
    named = [one for one in found.groups if one.named]
    tested = f"{plural(len(found.groups), 'group')} and {plural(found.n_tests, 'test')}"
    if not named:
        return [f"No group of raters clearly differs from the others ({tested})."]
    said: list[Span] = []
    for one in named[:MOST_NAMED]:
        ends = [number(value, 2).replace("-", "−") for value in (*one.difference, *one.association)]
        of: list[Span] = (
            ["difference of means "] if not one.of_class else ["share of ", Name(one.of_class), " differs by "]
        )
        said += [Name(f"{one.fact}: {one.group}"), " differs from the other raters: ", *of]
        said.append(
            f"{ends[0]} ({ends[1]} to {ends[2]}), agreement within over across {ends[3]} ({ends[4]} to {ends[5]}). "
        )
    more = len(named) - MOST_NAMED
    return [*said, f"{plural(more, 'more group')} differ. " if more > 0 else "", f"Tested: {tested}."]


def table_of(found: GroupReview, dataset: Dataset, options: GroupOptions) -> pd.DataFrame:
    """Return one row per group."""
    rows = []
    for one in found.groups:
        row = {name: getattr(one, name) for name in (*type(one).COLUMNS, "of_class")}
        for name in ("within", "across", "association", "difference"):
            value, low, high = getattr(one, name)
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append([row[column.name] for column in COLUMNS])
    return frame_of(rows, COLUMNS)


def _applicable(dataset: Dataset) -> Verdict:
    reason = ""
    if dataset.kind not in ("class", "score"):
        reason = f"does not take {dataset.kind}s; choose a label"
    elif not dataset.raters_identified:
        reason = "the annotations are anonymous"
    elif dataset.n_raters < 2 * FEWEST_RATERS:
        reason = f"two groups of {FEWEST_RATERS} raters are needed, and there are {plural(dataset.n_raters, 'rater')}"
    return Verdict("groups", "Groups of raters", not reason, reason or AS_IS)


def compute_cases(dataset: Dataset, options: GroupOptions) -> CasesApart:
    """Find the cases that groups see most differently."""
    return find_cases_apart(dataset, options.facts, q=options.fdr, seed=options.seed)


def present_cases(found: CasesApart, dataset: Dataset, options: GroupOptions) -> list[Block]:
    """Show the number of cases that groups clearly see differently, and the cases in which they differ most."""
    table = table_of_cases(found, dataset, options)
    blocks: list[Block] = [Heading("Which cases do groups see differently?", TERM), Words(lead_of_cases(found), "lead")]
    if not found.cases:
        return blocks
    note = (
        f"Compared on cases that {FEWEST_ON_CASE} of the group and {FEWEST_ON_CASE} others annotated; p by permuting "
        f"them. Differences are shown from {FEWEST_RATERS} of each on, because they could name the members."
    )
    return [
        *blocks,
        Grid(table, "Cases in which a group differs most.", 40, CASES, "group_cases", opens_case=True),
        Words(note, "note"),
        Download(table, "Cases", "group_cases", "group_cases_download"),
    ]


def lead_of_cases(found: CasesApart) -> str:
    """Return the sentence that counts the cases that groups clearly see differently.

    Parameters
    ----------
    found : CasesApart
    """
    if not found.n_compared:
        return f"No case has annotations of {FEWEST_ON_CASE} raters of a group and {FEWEST_ON_CASE} others."
    clear = len({one.case_id for one in found.cases if one.clear})
    tested = f"{plural(found.n_compared, 'test')} of cases and groups"
    if not clear:
        return f"No case is clearly seen differently by a group ({tested}). Those below may differ by chance."
    return f"{plural(clear, 'case is', 'cases are')} clearly seen differently by a group of raters ({tested})."


def table_of_cases(found: CasesApart, dataset: Dataset, options: GroupOptions) -> pd.DataFrame:
    """Return the table with one row per case and group."""
    names = ["case_id", *(column.name for column in CASES[1:])]
    rows = [[getattr(one, name) for name in names] for one in found.cases]
    return frame_of(rows, CASES)


_GROUPS = AnalysisPart(
    "groups",
    "Groups of raters",
    _applicable,
    f"{__name__}:compute",
    f"{__name__}:present",
    f"{__name__}:table_of",
    GroupOptions,
)
_CASES = AnalysisPart(
    "cases",
    "Cases that groups see differently",
    _applicable,
    f"{__name__}:compute_cases",
    f"{__name__}:present_cases",
    f"{__name__}:table_of_cases",
    GroupOptions,
)
GROUPS = Analysis("groups", "Groups of raters", "Do groups of raters see cases differently?", (_GROUPS, _CASES))
