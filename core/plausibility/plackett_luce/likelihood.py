"""Exact likelihood of partial rankings with ties and unranked classes under Plackett-Luce.

Stutz et al., *Evaluating AI systems under uncertain ground truth*, appendix B.4.
"""

from collections.abc import Sequence

import numpy as np

from ...errors import InputError
from ._kernels import log_block, mass_after


def log_likelihood(blocks: Sequence[Sequence[int]], plausibility: np.ndarray) -> float:
    """Compute ln p(blocks | λ) of one partial ranking.

    Parameters
    ----------
    blocks : sequence of sequences of int
        Classes in order, tied classes together; classes in no block are unranked. A last block with no classes after it
        has no information.
    plausibility : ndarray, shape (n_classes,)
        λ > 0, in any scale.

    Raises
    ------
    InputError
        A block is empty, a class is named twice or unknown, or a plausibility is not a positive number.
    """
    lam = np.ascontiguousarray(plausibility, np.float64)
    named = [code for block in blocks for code in block]
    if any(len(block) == 0 for block in blocks):
        raise InputError("Could not read a ranking: a block is empty.", "Remove the block.")
    if len(set(named)) < len(named) or any(not 0 <= code < lam.size for code in named):
        raise InputError(
            "Could not read a ranking: a class is unknown or occurs twice.",
            "Use only known classes, each at most once.",
        )
    if not (np.isfinite(lam).all() and (lam > 0).all()):
        raise InputError(
            "Could not use the plausibilities: one is not a positive number.", "Use a number above 0 for each class."
        )
    lam = lam / lam.max() if lam.size else lam
    if len(named) == lam.size:
        blocks = blocks[:-1]
    if not blocks:
        return 0.0
    rater_ptr = np.array([0, len(blocks)])
    block_ptr = np.concatenate([[0], np.cumsum([len(block) for block in blocks])])
    member = np.array([code for block in blocks for code in block], np.int64)
    after, rate, table = np.empty(len(blocks)), np.empty(256), np.empty(256)
    mass_after(rater_ptr, block_ptr, member, lam, 0, after)
    return float(
        sum(
            log_block(member, block_ptr[block], block_ptr[block + 1], lam, after[block], rate, table)
            for block in range(len(blocks))
        )
    )
