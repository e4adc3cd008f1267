"""Groups of raters: agreement within and across them, and differences in their annotations."""

from dataclasses import dataclass, field

import pandas as pd

from ..agreement.intervals import IntervalEstimate
from ..annotations.dataset import Dataset
from ..figures.estimates import estimates
from ..methods import AS_IS, Verdict
from ..raters.group_views import FEWEST_ON_CASE, CasesApart, find_cases_apart
from ..raters.groups import FEWEST_RATERS, GroupAgreement, GroupReview, RaterFacts, review_groups
from ..text import number, plural, with_interval
from .base import Analysis, option, part_of
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
    Column("difference", "difference in means or shares", "coefficient"),
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

    fdr: float = option(0.05, "The false discovery rate")
    level: float = option(0.95, "The confidence level of the intervals")
    facts: RaterFacts = field(default_factory=RaterFacts)
    seed: int = 0


def compute(dataset: Dataset, options: GroupOptions) -> GroupReview:
    """Compute agreement within and across groups."""
    return review_groups(dataset, options.facts, q=options.fdr, level=options.level, seed=options.seed)


def present(found: GroupReview, dataset: Dataset, options: GroupOptions) -> list[Block]:
    """Show groups that differ, the ratio of agreement within to across for each group, and a table."""
    table = table_of(found, dataset, options)
    scores = not any(one.of_class for one in found.groups)
    differences = [
        (f"{one.fact}: {one.group}{f', {one.of_class}' if one.of_class else ''}", *one.difference)
        for one in found.groups
    ]
    ratios = [
        (f"{one.fact}: {one.group}", *one.association)
        for one in found.groups
        if one.association.value == one.association.value
    ]
    blocks: list[Block] = [
        Heading("Do groups of raters differ?", TERM),
        Words(lead(found), "lead"),
        _figure(differences, "difference in means" if scores else "difference in shares", 0.0, "groups_difference"),
    ]
    if ratios:
        blocks.append(_figure(ratios, "agreement within / across", 1.0, "groups_association"))
    small = [f"{fact}: {plural(n, 'group')}" for fact, n in found.too_small]
    hidden = (
        f" Groups with fewer than {FEWEST_RATERS} raters inside or outside them are not shown ({', '.join(small)})."
        if small
        else ""
    )
    return [
        *blocks,
        Grid(table, f"Groups of at least {FEWEST_RATERS} raters.", 60, COLUMNS, "groups_table"),
        Words(
            "A ratio above 1 means that raters in the group agree more with each other than with other raters. The p "
            "values come from permuting the facts about raters. “Differs” controls the false discovery rate at "
            f"{number(found.q, 2)} over {plural(found.n_tests, 'test')}.{hidden}",
            "note",
        ),
        Download(table, "Groups of raters", "groups", "groups_download"),
    ]


def _figure(lines: list[tuple[str, float, float, float]], axis: str, reference: float, key: str) -> Figure:
    title = f"Groups compared with the other raters: {axis}"
    alt = f"{title}, with intervals"
    return Figure(lambda theme: estimates(lines, theme, title, axis, reference, strong=len(lines)), alt, key)


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
        said += ["Raters with ", Name(one.fact), " “", Name(one.group), "”", *_differs(one), ". "]
    more = len(named) - MOST_NAMED
    others = f"{plural(more, 'more group')} {'differs' if more == 1 else 'differ'}. " if more > 0 else ""
    return [*said, f"{others}Tested: {tested}."]


def _differs(one: GroupAgreement) -> list[Span]:
    """State how a group differs, by that of its two tests with the smaller p."""
    if not one.p_difference <= one.p_association:
        sign = "more" if one.association.value > 1 else "less"
        return [f" agree {sign} with each other than with the others: ratio {_signed(one.association)}"]
    sign = "more" if one.difference.value > 0 else "less"
    if one.of_class:
        points = _signed(one.difference, 100, 0).replace(" (", " points (", 1)
        return [" choose “", Name(one.of_class), f"” {sign} often than the others: difference {points}"]
    higher = "higher" if one.difference.value > 0 else "lower"
    return [f" give {higher} values than the others: difference in means {_signed(one.difference)}"]


def _signed(one: IntervalEstimate, factor: int = 1, digits: int = 2) -> str:
    value, low, high = (factor * each for each in one)
    return with_interval(value, low, high, digits)


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
        reason = f"does not support {dataset.kind}s; choose a label"
    elif not dataset.raters_identified:
        reason = "the annotations are anonymous"
    elif dataset.n_raters < 2 * FEWEST_RATERS:
        reason = (
            f"two groups of at least {FEWEST_RATERS} raters are needed; these data have "
            f"{plural(dataset.n_raters, 'rater')}"
        )
    return Verdict("groups", "Groups of raters", not reason, reason or AS_IS)


def compute_cases(dataset: Dataset, options: GroupOptions) -> CasesApart:
    """Find the cases that groups see most differently."""
    return find_cases_apart(dataset, options.facts, q=options.fdr, seed=options.seed)


def present_cases(found: CasesApart, dataset: Dataset, options: GroupOptions) -> list[Block]:
    """Show the number of cases that groups clearly see differently, and the cases in which they differ most."""
    table = table_of_cases(found, dataset, options)
    blocks: list[Block] = [Heading("On which cases do groups differ?", TERM), Words(lead_of_cases(found), "lead")]
    if not found.cases:
        return blocks
    note = (
        f"A case is compared if at least {FEWEST_ON_CASE} raters in the group and {FEWEST_ON_CASE} others annotated "
        f"it. The p values come from permuting these raters. Differences are shown only if there are at least "
        f"{FEWEST_RATERS} raters on each side, because smaller groups could reveal their members."
    )
    return [
        *blocks,
        Grid(
            table,
            "Cases on which groups differ most.",
            40,
            CASES,
            "group_cases",
            opens_case=True,
        ),
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
        return (
            f"No case was annotated both by at least {FEWEST_ON_CASE} raters in a group and by at least "
            f"{FEWEST_ON_CASE} others."
        )
    clear = len({one.case_id for one in found.cases if one.clear})
    tested = f"{plural(found.n_compared, 'test')}, one per case and group"
    if not clear:
        return f"Groups do not clearly differ on any case ({tested}). The differences below may be due to chance."
    return f"Groups of raters clearly differ on {plural(clear, 'case')} ({tested})."


def table_of_cases(found: CasesApart, dataset: Dataset, options: GroupOptions) -> pd.DataFrame:
    """Return the table with one row per case and group."""
    names = ["case_id", *(column.name for column in CASES[1:])]
    rows = [[getattr(one, name) for name in names] for one in found.cases]
    return frame_of(rows, CASES)


_GROUPS = part_of(__name__, "groups", "Groups of raters", _applicable, GroupOptions)
_CASES = part_of(__name__, "cases", "Cases on which groups differ", _applicable, GroupOptions, of="_cases")
GROUPS = Analysis("groups", "Groups of raters", "On which cases do groups of raters differ?", (_GROUPS, _CASES))
