"""Groups of raters: agreement within and across them, and what they see differently."""

from dataclasses import dataclass, field

import pandas as pd

from ..annotations.dataset import Dataset
from ..figures.estimates import estimates
from ..methods import AS_IS, Verdict
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


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Of groups of raters.

    Attributes
    ----------
    fdr, level : float
    facts : RaterFacts
        Of the raters of the dataset, in their order.
    seed : int
    """

    fdr: float = field(default=0.05, metadata={"option": PartOption("The false discovery rate")})
    level: float = field(default=0.95, metadata={"option": PartOption("The level of the intervals")})
    facts: RaterFacts = field(default_factory=RaterFacts)
    seed: int = 0


def compute(dataset: Dataset, options: GroupOptions) -> GroupReview:
    """Agreement within and across groups."""
    return review_groups(dataset, options.facts, q=options.fdr, level=options.level, seed=options.seed)


def present(found: GroupReview, dataset: Dataset, options: GroupOptions) -> list[Block]:
    """Groups that differ, agreement within over across for each group, and a table."""
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
    """Which groups differ, and by what.

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
    """A row for each group."""
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


_GROUPS = AnalysisPart(
    "groups",
    "Groups of raters",
    _applicable,
    f"{__name__}:compute",
    f"{__name__}:present",
    f"{__name__}:table_of",
    GroupOptions,
)
GROUPS = Analysis("groups", "Groups of raters", "Do groups of raters see cases differently?", (_GROUPS,))
