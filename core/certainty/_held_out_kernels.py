"""Log probability of one partial ranking under draws of λ that were made without it.

``p(b | λ) = Π_l (Π_{k in b_l} λ_k) R_l(b_l)`` [Stutz et al., Evaluating AI systems under uncertain ground truth,
appendix B.4; see `core.plausibility.plackett_luce._kernels`]. Classes that only the ranking itself names have no λ of
their own in the draws: the draw's remainder is split over all such classes by Dirichlet(1, ..., 1). No bounds are
checked.
"""

import numpy as np

from ..plausibility._kernels import gamma_draw
from ..plausibility.plackett_luce._kernels import TABLE_SIZE, log_block, mass_after
from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def log_ranking(seed, share, rest, n_rest, block_ptr, member, n_new):
    """Compute ln p(b | λ) of one ranking for each draw, shape (n_draws,).

    ``member`` holds places: those below ``share.shape[1]`` are its columns, the ``n_new`` after them are members of the
    remainder ``rest``, which ``n_rest`` classes share.
    """
    np.random.seed(seed)
    n_draws, n_named = share.shape
    left = n_rest - n_new
    lam = np.empty(n_named + n_new + (1 if left > 0 else 0))
    n_blocks = block_ptr.size - 1
    rater_ptr = np.array([0, n_blocks])
    after = np.empty(max(1, n_blocks))
    rate = np.empty(TABLE_SIZE)
    table = np.empty(TABLE_SIZE)
    value = np.empty(n_draws)
    for draw in range(n_draws):
        for place in range(n_named):
            lam[place] = share[draw, place]
        total = 0.0
        for place in range(n_named, n_named + n_new):
            lam[place] = -np.log(1.0 - np.random.random())
            total += lam[place]
        if left > 0:
            lam[n_named + n_new] = gamma_draw(float(left))
            total += lam[n_named + n_new]
        for place in range(n_named, lam.size):
            lam[place] *= rest[draw] / total
        mass_after(rater_ptr, block_ptr, member, lam, 0, after)
        value[draw] = 0.0
        for block in range(n_blocks):
            value[draw] += log_block(member, block_ptr[block], block_ptr[block + 1], lam, after[block], rate, table)
    return value
