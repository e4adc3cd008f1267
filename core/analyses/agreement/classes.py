"""Agreement class by class: the probability that a second annotation has a class, given that the first has it."""

from ...agreement.intervals import Coefficient
from ...agreement.specific import specific_agreement
from ...annotations.dataset import Dataset
from ...extremes import clearly_least
from ...figures import agreement_parts as figures
from ...text import plotly, shorten, with_interval
from ..blocks import Block, Download, Figure, Heading, Words
from .columns import coefficient_table


def compute(dataset: Dataset, options) -> tuple[Coefficient, ...]:
    """Compute the specific agreement of each class."""
    return specific_agreement(dataset)


def present(found: tuple[Coefficient, ...], dataset: Dataset, options) -> list[Block]:
    """Show a line for each class with its interval."""
    heading = Heading("Class by class", "specific agreement")
    known = [(name, one) for name, one in zip(dataset.classes, found, strict=True) if one.value is not None]
    if not known:
        return [heading, Words("No case has two annotations.")]
    title, axis = least_agreed_on(known), "Probability that a second annotation names the class if the first does"
    blocks: list[Block] = [
        heading,
        Figure(
            lambda theme: figures.named_forest(dataset.classes, found, theme, title, axis),
            "Specific agreement on each class with its interval",
            "by_class",
        ),
    ]
    if len(known) > figures.MOST_LINES:
        blocks.append(
            Words(f"Shown: the {figures.MOST_LINES} classes (of {len(known):,}) with the lowest agreement.", "note")
        )
    if dataset.compares:
        words = "The order of the two items in a pair is arbitrary, so both preferences have the same value."
        blocks.append(Words(words, "note"))
    table = table_of(found, dataset, options)
    return [*blocks, Download(table, "Classes", "agreement_by_class", "by_class_table")]


def table_of(found: tuple[Coefficient, ...], dataset: Dataset, options):
    """Return one row per class."""
    return coefficient_table(dataset.classes, found, "class")


def least_agreed_on(known: list[tuple[str, Coefficient]]) -> str:
    """Return a title with the class that raters clearly agree on least, if there is one."""
    least = clearly_least(*([getattr(one, end) for _, one in known] for end in ("value", "ci_low", "ci_high")))
    if least is None and len(known) > 1:
        return "No class clearly has the lowest agreement"
    name, one = known[least or 0]
    said = f"{plotly(shorten(name, 40))}, {with_interval(one.value, one.ci_low, one.ci_high)}"
    return f"Agreement on {said}" if least is None else f"Lowest agreement: {said}"
