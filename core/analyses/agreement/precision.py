"""Precision of agreement now, and the effect of more annotations."""

from dataclasses import dataclass

from ...agreement.adaptive import AdaptiveCheck, adaptive_collection
from ...agreement.precision import WAYS, PrecisionCurve, precision_curve
from ...annotations.dataset import Dataset
from ...figures import agreement_parts as figures
from ...text import number, percent, plural, with_interval
from ..blocks import Block, Download, Figure, Heading, Name, Strong, Words
from ..schema import Column, frame_of

_BUYS = 500
COLUMNS = (
    Column("on"),
    Column("added", unit="count"),
    Column("n_cases", "cases", "count"),
    Column("n_annotations", "annotations", "count"),
    *(Column(f"{what}_{end}", unit="error") for what in ("se", "width") for end in ("low", "high")),
)


@dataclass(frozen=True, slots=True)
class AgreementPrecision:
    """Precision on new cases and on the present ones, and how the annotations were collected."""

    curves: tuple[PrecisionCurve, ...]
    adaptive: AdaptiveCheck


def compute(dataset: Dataset, options) -> AgreementPrecision:
    """Compute the present precision and the effect of more annotations, on new cases and on the present ones."""
    return AgreementPrecision(tuple(precision_curve(dataset, how=how) for how in WAYS), adaptive_collection(dataset))


def present(found: AgreementPrecision, dataset: Dataset, options) -> list[Block]:
    """Show the width of the interval against annotations added."""
    curves = found.curves
    now = curves[0].points[0]
    bought = {curve.how: point for curve in curves for point in curve.points if point.extra == _BUYS}
    words = {how: _range(*point.width_range) for how, point in bought.items()}
    return [
        Heading("How much would more annotations narrow the interval?", "precision"),
        Words(
            (
                "The 95% interval of SPA is ", Strong(number(now.width_range[1], 3)), f" wide. With {_BUYS} more "
                "annotations on new cases, its width would be ", Strong(words["new_cases"]), "; with as many on the "
                "present cases, ", Strong(words["present_cases"]), ".",
            )
        ),
        Figure(
            lambda theme: figures.precision_figure(curves, theme, "Width of the SPA interval"),
            "Width of the interval by number of added annotations",
            "precision",
        ),
        *(
            Words((Name(note[0].upper() + note[1:] + "."),), "note")
            for note in dict.fromkeys(curve.note for curve in curves if curve.note)
        ),
        Words(
            "These forecasts assume that raters are interchangeable and that new cases are like the present ones. More "
            "annotations of a few cases cannot replace additional cases.",
            "note",
        ),
        Download(table_of(found, dataset, options), "Precision", "precision", "precision_table"),
        *_collected(found.adaptive),
    ]  # fmt: skip


def table_of(found: AgreementPrecision, dataset: Dataset, options):
    """Return one row per way and number of annotations added."""
    rows = (
        (curve.how, point.extra, point.n_cases, point.n_annotations, *point.se_range, *point.width_range)
        for curve in found.curves
        for point in curve.points
    )
    return frame_of(rows, COLUMNS)


def _range(low: float, high: float) -> str:
    ends = number(low, 3), number(high, 3)
    return ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"


def _collected(found: AdaptiveCheck) -> list[Block]:
    if found.difference is None or found.warn:
        return []
    return [
        Words(
            "Cases received a third annotation about equally often whether the first two agreed or disagreed "
            f"({found.more_agree:,} of {found.n_agree:,} and {found.more_disagree:,} of "
            f"{plural(found.n_disagree, 'case')}), so there is no sign that missing annotations bias agreement.",
            "note",
        )
    ]


def adaptive_warning(found: AdaptiveCheck) -> list[Block]:
    """Warn that agreement is biased if cases with early disagreement got more annotations; the first two are not."""
    if not found.warn:
        return []
    more = "more" if (found.difference or 0.0) > 0 else "less"
    first, every = found.first_two[1], found.everything[1]
    return [
        Words(
            f"Cases whose first two annotations disagreed received a third annotation {more} often "
            f"({percent(found.more_disagree / found.n_disagree)} versus {percent(found.more_agree / found.n_agree)} "
            "of cases), so agreement among all annotations is biased. From the first two annotations of each "
            f"case, α is {with_interval(first.value, first.ci_low, first.ci_high)}; from all annotations, "
            f"{with_interval(every.value, every.ci_low, every.ci_high)}. Report the value from the first two.",
            "warning",
        )
    ]
