"""Agreement of each rater with the others, of the others without them, and of the rater with themselves."""

from dataclasses import dataclass

from ...agreement.by_rater import AgreementByRater, IntraRater, by_rater, intra_rater
from ...agreement.coefficient_methods import CoefficientMethod
from ...annotations.dataset import Dataset
from ...extremes import clearly_least
from ...figures import agreement_parts as figures
from ...methods import method_named
from ...order import lowest_first
from ...text import percent_with_interval, plotly, shorten, with_interval
from ..blocks import Block, Download, Figure, Grid, Words
from ..schema import Column, frame_of

MOST_LISTED = 2000
COLUMNS = (
    Column("rater"),
    Column("n_annotations", "annotations", "count"),
    Column("n_cases", "cases", "count"),
    Column("with_the_others", "with the others", "coefficient", "ci_low", "ci_high", "95% interval"),
    Column("ci_low", "95% from", "coefficient"),
    Column("ci_high", "to", "coefficient"),
    Column("without", "without this rater", "coefficient"),
    Column("difference", unit="difference"),
    Column("with_themselves", "with themselves", "share"),
    Column("n_cases_repeated", "cases repeated", "count"),
)


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of each rater with the others, without them, and with themselves."""

    others: AgreementByRater
    themselves: IntraRater


def compute(dataset: Dataset, options) -> RaterAgreement:
    """Compute agreement of each rater with the others, and with themselves."""
    return RaterAgreement(by_rater(dataset, options.coefficient), intra_rater(dataset))


def present(found: RaterAgreement, dataset: Dataset, options) -> list[Block]:
    """Show a line for each rater with its interval, and a table."""
    others, own = found.others, found.themselves.overall
    blocks: list[Block] = []
    known = sum(one.value is not None for one in others.each)
    if known:
        title, axis = agrees_least(others), "Agreement with other raters (share of annotation pairs)"
        blocks.append(
            Figure(
                lambda theme: figures.named_forest(others.raters, others.each, theme, title, axis),
                "Agreement of each rater with the others",
                "by_rater",
            )
        )
        if known > figures.MOST_LINES:
            blocks.append(
                Words(f"Shown: the {figures.MOST_LINES} raters (of {known:,}) who agree least with the others.", "note")
            )
    overall = with_interval(others.overall.value, others.overall.ci_low, others.overall.ci_high)
    blocks.append(
        Words(
            f"{method_named(CoefficientMethod, options.coefficient).title} of all raters: {overall}. A positive "
            "difference means that agreement is higher without the rater.",
            "note",
        )
    )
    table = table_of(found, dataset, options)
    columns: tuple[Column, ...] = COLUMNS
    if own.value is None:
        columns = COLUMNS[:-2]
    else:
        blocks.append(
            Words(
                "When raters annotated a case again, they agreed with themselves in "
                f"{percent_with_interval(own.value, own.ci_low, own.ci_high)} of pairs.",
                "note",
            )
        )
    order = lowest_first(table["with_the_others"].to_numpy(float))[:MOST_LISTED]
    least = table.iloc[order][[column.name for column in columns]]
    return [
        *blocks,
        Grid(least, "Raters, lowest agreement with the others first.", 40, columns, "by_rater_table"),
        Download(table, "Raters", "agreement_by_rater", "by_rater_table"),
    ]


def agrees_least(found: AgreementByRater) -> str:
    """Return a title with the rater who clearly agrees least with the others, if there is one."""
    least = clearly_least(*([getattr(one, end) for one in found.each] for end in ("value", "ci_low", "ci_high")))
    if least is None:
        return "No rater clearly agrees least with the others"
    return f"{plotly(shorten(found.raters[least], 40))} agrees least with the others"


def table_of(found: RaterAgreement, dataset: Dataset, options):
    """Return one row per rater."""
    others, own = found.others, found.themselves
    rows = (
        (rater, one.n_annotations, one.n_cases, one.value, one.ci_low, one.ci_high, without, difference, self.value,
         self.n_cases)
        for rater, one, without, difference, self in zip(
            others.raters, others.each, others.without, others.difference, own.each, strict=True
        )
    )  # fmt: skip
    return frame_of(rows, COLUMNS)
