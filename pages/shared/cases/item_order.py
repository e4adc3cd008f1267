"""Items of paired comparisons in order, pairs of items, and how well raters follow the order."""

from core.analyses.comparisons import ORDER
from core.annotations.dataset import Dataset
from pages.shared.kit import blocks, provenance


def show(dataset: Dataset) -> None:
    """Show all parts of the order; they have one result."""
    found = blocks.result_of(ORDER.parts[0], dataset)
    if found is None:
        return
    for part in ORDER.parts:
        if part.applicable(dataset).possible:
            blocks.show(part.blocks(found, dataset, part.resolve()))
    provenance.show(dataset, ["order"], "order FILE", {"level": 0.95, "seed": 0}, "order")
