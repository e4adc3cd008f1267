"""An order of raters in which those who agree stand side by side.

Average-linkage clustering with optimal leaf ordering: Bar-Joseph et al. (2001),
DOI 10.1093/bioinformatics/17.suppl_1.S22.
"""

import numpy as np

from .pairs import PairMatrix

SHRINKAGE = 5.0  # pairs of annotations at the mean that each cell is given
MOST_FOR_OPTIMAL = 300


def similarity_order(matrix: PairMatrix) -> np.ndarray:
    """Positions of the raters in an order by similarity, ndarray of int64, shape (n_raters,).

    The distance of two raters is 1 less their coefficient, drawn to the mean of all pairs as if `SHRINKAGE` more pairs
    of annotations had that mean: cells of few annotations, or none, say little. The end with more agreement comes
    first; raters who never meet another stand last. Above `MOST_FOR_OPTIMAL` raters the leaves of the tree are not
    turned.
    """
    met = (matrix.n > 0).any(axis=1)
    found = ~np.isnan(matrix.value)
    size = np.where(found, matrix.n, 0).astype(float)
    value = np.where(found, matrix.value, 0.0)
    mean = float((size * value).sum() / size.sum()) if size.sum() else 0.0
    near = (size * value + SHRINKAGE * mean) / (size + SHRINKAGE)
    inner, alone = np.flatnonzero(met), np.flatnonzero(~met)
    if inner.size > 2:
        inner = inner[_leaves(near[np.ix_(inner, inner)])]
        # Neighbours weigh most at the ends, so that turning the matrix round does not turn the order round.
        place = np.linspace(1, -1, inner.size)
        own = (np.where(found, near, 0.0).sum(axis=1) / np.maximum(found.sum(axis=1), 1))[inner]
        inner = inner[::-1] if place @ own < 0 else inner
    return np.concatenate([inner, alone])


def _leaves(near: np.ndarray) -> np.ndarray:
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    distance = np.maximum(1 - near, 0.0)
    np.fill_diagonal(distance, 0.0)
    distance = squareform((distance + distance.T) / 2, checks=False)
    tree = linkage(distance, "average")
    return leaves_list(optimal_leaf_ordering(tree, distance) if len(near) <= MOST_FOR_OPTIMAL else tree)
