"""Families of raters, who agree more often than expected from what each shares with all others.

Where raters are independent given a case's class, the chance-corrected agreement of two is a product of one number for
each, ``agree_jl − chance_jl ≈ u_j u_l`` (exact with two classes: Parisi et al. 2014, doi:10.1073/pnas.1219097111). What
misleads or puzzles everybody raises every u and leaves the product as it is; raters who copy each other, or were taught
alike, agree beyond it: the dependence that Jaffe et al. (2016), *Unsupervised ensemble learning with dependent
classifiers*, look for. No model of the classes is fitted, which could take the largest family for the truth.
"""

import numpy as np
from scipy.special import ndtri

from ..annotations.dataset import Dataset
from ._kernels import first_answers

LEAST_CASES = 30
LEAST_EXCESS = 0.1
LEVEL = 0.01
FEWEST_RATERS = 4
MOST_RATERS = 300
_USUAL_WEIGHT = 2.5
_TRIMMED_FROM = 2.0
_MOST_ROUNDS, _STEPS = 60, 10
_EDGE = 0.02


def families(dataset: Dataset) -> np.ndarray:
    """Find the family of each rater: the smallest position among its raters, or the rater's own if there is none.

    Two raters are of one family if they agree on `LEAST_EXCESS` more of their common cases than the product says, and
    more clearly so than `LEVEL` over all pairs (Bonferroni); families are closed under that. Only the `MOST_RATERS`
    with most annotations and pairs with `LEAST_CASES` common cases can be compared.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes. Of several annotations of a rater on a case the first counts.

    Returns
    -------
    ndarray of int64, shape (n_raters,)
    """
    chosen, z, above = pair_excess(dataset)
    n_told = np.isfinite(z[np.triu_indices(chosen.size, 1)]).sum()
    return _closed(dataset.n_raters, chosen, (z > -ndtri(LEVEL / max(n_told, 1))) & (above > LEAST_EXCESS))


def _closed(n_raters: int, chosen: np.ndarray, together: np.ndarray) -> np.ndarray:
    from scipy.sparse.csgraph import connected_components

    own = np.arange(n_raters)
    if together.any():
        _, label = connected_components(together, directed=False)
        _, first = np.unique(label, return_index=True)
        own[chosen] = chosen[first[label]]
    return own


def pair_excess(dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute how much raters agree beyond the product, for pairs with enough data.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.

    Returns
    -------
    ndarray of int64, shape (n_chosen,)
        Positions of the raters; none if no pair can be compared.
    ndarray, shape (n_chosen, n_chosen)
        In standard errors, NaN for pairs that cannot be told.
    ndarray, shape (n_chosen, n_chosen)
        As a share of common cases.
    """
    nobody = np.empty(0, np.int64), np.empty((0, 0)), np.empty((0, 0))
    if dataset.n_raters < FEWEST_RATERS or dataset.n_classes < 2 or not dataset.raters_identified:
        return nobody
    chosen = np.sort(np.argsort(-dataset.annotations_of_raters, kind="stable")[:MOST_RATERS])
    common, agree, chance = _agreement(dataset, chosen)
    told = (common >= LEAST_CASES) & ~np.eye(chosen.size, dtype=bool)
    return (chosen, *_beyond_product(common, agree, chance, told)) if told.any() else nobody


def members(family: np.ndarray) -> list[np.ndarray]:
    """Return positions of the raters of each family of two or more, the largest family first.

    Parameters
    ----------
    family : ndarray of int64, shape (n_raters,)
        Result of `families`.
    """
    heads, size = np.unique(family, return_counts=True)
    order = np.lexsort((heads, -size))
    return [np.flatnonzero(family == heads[place]) for place in order if size[place] > 1]


def independent_share(dataset: Dataset, family: np.ndarray) -> float:
    """Divide families by raters, each summed over the cases; 1 if no raters form a family.

    Parameters
    ----------
    dataset : Dataset
    family : ndarray of int64, shape (n_raters,)
    """
    if not members(family):
        return 1.0
    case, rater = dataset.case_of_annotation.astype(np.int64) * dataset.n_raters, dataset.rater
    return np.unique(case + family[rater]).size / np.unique(case + rater).size


def _agreement(dataset: Dataset, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count common cases of every pair, the share of agreement, and that expected of their classes."""
    from scipy.sparse import csr_array

    place = np.full(dataset.n_raters, -1)
    place[chosen] = np.arange(chosen.size)
    first = first_answers(dataset.case_ptr, dataset.rater, dataset.n_raters)
    kept = np.flatnonzero(first & (place[dataset.rater] >= 0))
    case, rater, answer = dataset.case_of_annotation[kept], place[dataset.rater[kept]], dataset.answer[kept]

    def table(rows: np.ndarray, columns: np.ndarray):
        return csr_array((np.ones(rows.size), (rows, columns)), shape=(dataset.n_cases, chosen.size))

    here = table(case, rater)
    common = (here.T @ here).toarray()
    same, by_chance = np.zeros_like(common), np.zeros_like(common)
    for k in np.unique(answer):
        of_class = table(case[answer == k], rater[answer == k])
        same += (of_class.T @ of_class).toarray()
        named = (of_class.T @ here).toarray()  # [j, l]: how often j names k on the cases of both
        by_chance += named * named.T
    pairs = np.maximum(common, 1)
    return common, same / pairs, by_chance / pairs**2


def _beyond_product(
    common: np.ndarray, agree: np.ndarray, chance: np.ndarray, told: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute how far pairs agree beyond the product u_j u_l, fitted by least squares to the pairs that do not.

    Pairs above the product by more than two standard errors are left out until these no longer change; a rater's u is
    drawn to the usual one as by a few common cases, since with one pair it would be anything.
    """
    weight, excess = np.where(told, common, 0.0), np.where(told, agree - chance, 0.0)
    u = np.sqrt(np.maximum((weight * excess).sum(axis=1) / np.maximum(weight.sum(axis=1), 1), _EDGE / 2))
    kept, z, above = weight, np.zeros_like(weight), np.zeros_like(weight)
    for _ in range(_MOST_ROUNDS):
        for _ in range(_STEPS):
            fitted = (kept * excess) @ u + _USUAL_WEIGHT * np.median(u)
            u = (u + fitted / (kept @ u**2 + _USUAL_WEIGHT)) / 2
        expected = np.clip(chance + np.outer(u, u), _EDGE, 1 - _EDGE)
        above = agree - expected
        z = np.where(told, above * np.sqrt(np.maximum(common, 1) / (expected * (1 - expected))), 0.0)
        left = np.where(z < _TRIMMED_FROM, weight, 0.0)
        if np.array_equal(left, kept):
            break
        kept = left
    each = z[np.triu(told, 1)]
    spread = max(1.0, 1.4826 * float(np.median(np.abs(each - np.median(each)))))
    return np.where(told, z / spread, np.nan), above
