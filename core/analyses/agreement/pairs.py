"""Agreement of every two raters."""

from dataclasses import dataclass

import numpy as np

from ...agreement.pairs import PairMatrix, pair_matrix, similarity_order
from ...annotations.dataset import Dataset
from ...figures import agreement as figures
from ...text import plural
from ..blocks import Block, Download, Figure, OnPage, Words

MOST_RATERS = 40
_CHOOSE = "Choose a cell to see the cases where two raters differ. Hover to see the interval."


@dataclass(frozen=True, slots=True, eq=False)
class RaterPairs:
    """Coefficient of every two raters.

    Attributes
    ----------
    matrix : PairMatrix
    order : ndarray, shape (n_raters,)
        Order in which similar raters are neighbours.
    n_raters : int
        Number of raters in the data; those with most annotations are compared.
    """

    matrix: PairMatrix
    order: np.ndarray
    n_raters: int


def busiest(dataset: Dataset) -> Dataset:
    """Return the annotations of the `MOST_RATERS` raters with most of them."""
    if dataset.n_raters <= MOST_RATERS:
        return dataset
    most = np.argsort(-np.bincount(dataset.rater, minlength=dataset.n_raters), kind="stable")[:MOST_RATERS]
    return dataset.select(raters=[dataset.raters[code] for code in np.sort(most)])


def compute(dataset: Dataset, options) -> RaterPairs:
    """Compute a coefficient of every two raters, and an order in which similar raters are neighbours."""
    matrix = pair_matrix(busiest(dataset), options.coefficient)
    return RaterPairs(matrix, similarity_order(matrix), dataset.n_raters)


def present(found: RaterPairs, dataset: Dataset, options) -> list[Block]:
    """Show the matrix, with similar raters as neighbours."""
    matrix = found.matrix
    blocks: list[Block] = []
    if found.n_raters > len(matrix.raters):
        shown = f"Shown: the {len(matrix.raters)} raters (of {found.n_raters:,}) with the most annotations."
        blocks.append(Words(shown, "note"))
    n = matrix.n[np.triu_indices(len(matrix.raters), 1)]
    seldom = int((n < figures.FEW_PAIRS).sum())
    if seldom == len(n):
        few = f"No two raters have {figures.FEW_PAIRS} or more pairs of annotations, so no raters can be compared."
        blocks.append(Words(few, "apart"))
    else:
        words = ""
        if seldom:
            words = (
                f" Not coloured: {seldom:,} of {plural(len(n), 'pair')} of raters, with fewer than "
                f"{figures.FEW_PAIRS} pairs of annotations."
            )
        title = "Raters who agree are next to each other"
        blocks += [
            Figure(
                lambda theme: figures.pair_heatmap(matrix, found.order, theme, title),
                "Agreement matrix of all pairs of raters",
                f"pairs-{matrix.coefficient}",
            ),
            Words((OnPage(_CHOOSE), words), "note"),
        ]
    return [*blocks, Download(table_of(found, dataset, options), "Pairs", "pairs", "pairs")]


def table_of(found: RaterPairs, dataset: Dataset, options):
    """Return one row per pair of raters."""
    return found.matrix.to_frame()
