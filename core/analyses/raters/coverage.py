"""Overlap of raters, and what is missing."""

from collections.abc import Callable

import pandas as pd

from ...annotations.dataset import Dataset
from ...models.dawid_skene import DawidSkene
from ...raters.coverage import Coverage, coverage
from ...runtime.chunks import CancelToken
from ..blocks import Block, Download, Grid, Heading, KeyFigure, Name, Row, Stack, Words
from ..schema import Column

MOST_ROWS = 500
_HEIGHT = 360
PAIRS = (Column("rater"), Column("other rater"), Column("shared cases", unit="count"))
RATERS = (
    Column("rater"),
    Column("group", unit="count"),
    Column("classes hardly met", "rarely seen classes"),
    Column("in an odd cycle"),
)
CLASSES = (
    Column("class"),
    Column("expected cases", unit="tenths"),
    Column("of them with two raters or more", "with two or more raters", unit="tenths"),
)


def compute(
    dataset: Dataset, options, *, token: CancelToken | None = None, progress: Callable[[float], None] | None = None
) -> Coverage:
    """Compute the overlap of raters and of classes, by the classes that Dawid-Skene finds."""
    return coverage(dataset, DawidSkene().fit(dataset, token=token, progress=progress))


def table_of(found: Coverage, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per rater."""
    values = found.raters, found.component + 1, found.not_met, found.odd_cycle
    return pd.DataFrame(dict(zip((column.name for column in RATERS), values, strict=True)))


def present(found: Coverage, dataset: Dataset, options) -> list[Block]:
    """Show groups, pairs that lack overlap, raters and classes."""
    figures = (
        ("Groups of raters that have no cases in common", found.n_components),
        (f"Pairs of raters with fewer than {found.few:,} shared cases", len(found.lacking)),
        ("Classes with few shared cases", len(found.lacking_classes)),
    )
    blocks: list[Block] = [Row(tuple(Stack(1, [KeyFigure(label, f"{value:,}")]) for label, value in figures))]
    notes = dict.fromkeys([*found.notes, *found.identified.values()])
    blocks += [Words((Name(note),), icon="info") for note in notes if note]
    rows = [(found.raters[a], found.raters[b], int(found.shared[a, b])) for a, b in found.lacking[:MOST_ROWS]]
    if rows:
        pairs = pd.DataFrame(rows, columns=[column.name for column in PAIRS])
        said = "Pairs of raters with little overlap"
        blocks += [Heading(said), Grid(pairs, f"{said}.", 40, PAIRS, "lacking_pairs", height=_HEIGHT)]
    raters = table_of(found, dataset, options)
    met = pd.DataFrame(found.class_met, columns=list(found.classes))
    met.insert(0, "rater", list(found.raters), allow_duplicates=True)
    sizes = [f"{count:,} with {n}" for n, count in enumerate(found.answers_per_case) if count]
    classes = pd.DataFrame(
        dict(
            zip(
                (column.name for column in CLASSES), (found.classes, found.class_cases, found.class_shared), strict=True
            )
        )
    )
    classes = classes.sort_values("of them with two raters or more", kind="stable")
    return [
        *blocks,
        Heading("Raters"),
        Words(
            "Raters within a group are linked by shared cases. If no case has three annotations, models need odd "
            "cycles: an odd number of raters linked in a closed chain, such as A–B, B–C and C–A.",
            "note",
        ),
        Grid(raters, "Raters and their groups.", 40, RATERS, "rater_coverage", height=_HEIGHT),
        Download(raters, "Raters", "rater_coverage", "rater_coverage_table"),
        Download(met, "Expected annotations by rater and class", "class_met", "class_met"),
        Words(f"Cases by number of annotations: {', '.join(sizes[:12])}{' …' if len(sizes) > 12 else ''}.", "note"),
        Heading("Classes"),
        Grid(classes, "Expected number of cases of each class.", 40, CLASSES, "class_coverage", height=_HEIGHT),
        Download(classes, "Classes", "class_coverage", "class_coverage_table"),
    ]
