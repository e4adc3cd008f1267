"""Posterior mode and maximum likelihood of λ by EM over arrival times: expected exposures instead of drawn ones."""

import numpy as np

from ...runtime.numba_setup import njit
from ._arrival_kernels import expected_large
from ._kernels import LARGEST_TABLE, TABLE_SIZE, fill_table, mass_after

_LEAST = 1e-30  # Share of a class whose maximum is at 0; eight such classes in one block still do not underflow.


@njit(cache=True, nogil=True)
def expected_block(member, start, stop, copies, lam, after, exposure, rate, table, flow):
    """Add expected arrivals of one block's classes after the previous one to ``exposure``, and return their time."""
    size = stop - start
    if size > LARGEST_TABLE:
        return copies * expected_large(member, start, stop, lam, after, copies, exposure)
    spent = 0.0
    fill_table(member, start, stop, lam, after, 1.0, rate, table)
    full = (1 << size) - 1
    flow[1 : full + 1] = 0.0
    flow[full] = copies
    for mask in range(full, 0, -1):
        stage = flow[mask] / rate[mask]
        spent += stage
        total = 0.0
        for i in range(size):
            if mask >> i & 1:
                exposure[member[start + i]] += stage
                total += table[mask ^ (1 << i)]
        for i in range(size):
            if mask >> i & 1:
                flow[mask ^ (1 << i)] += flow[mask] * table[mask ^ (1 << i)] / total
    return spent


@njit(cache=True, nogil=True)
def expected_exposures(rater_ptr, block_ptr, member, weight, lam, exposure, after, rate, table, flow):
    """Add expected censored exposures of all places given λ to ``exposure``."""
    n_places = lam.size
    for rater in range(rater_ptr.size - 1):
        mass_after(rater_ptr, block_ptr, member, lam, rater, after)
        copies = weight[rater]
        elapsed = 0.0
        for b in range(rater_ptr[rater], rater_ptr[rater + 1]):
            start, stop = block_ptr[b], block_ptr[b + 1]
            spent = expected_block(member, start, stop, copies, lam, after[b], exposure, rate, table, flow)
            for e in range(start, stop):
                exposure[member[e]] += elapsed
            elapsed += spent
        for k in range(n_places):
            ranked = False
            for e in range(block_ptr[rater_ptr[rater]], block_ptr[rater_ptr[rater + 1]]):
                if member[e] == k:
                    ranked = True
                    break
            if not ranked:
                exposure[k] += elapsed


@njit(cache=True, nogil=True)
def maximise(rater_ptr, block_ptr, member, weight, n_places, pseudo, tolerance, most_steps):
    """Find the mode of Σ weight ln p(ranking | λ) + Σ pseudo ln λ on the simplex, by EM over arrival times.

    Returns the normalised λ and whether it converged. The scale of λ is free in the likelihood: under a Gamma prior of
    rate pseudo x places, or 0 for none, its best sum is 1, to which every step returns.
    """
    counts = np.zeros(n_places)
    for rater in range(rater_ptr.size - 1):
        for e in range(block_ptr[rater_ptr[rater]], block_ptr[rater_ptr[rater + 1]]):
            counts[member[e]] += weight[rater]
    lam = counts + 0.5
    lam /= lam.sum()
    shares = lam.copy()
    exposure = np.empty(n_places)
    after = np.empty(max(1, block_ptr.size))
    rate = np.empty(TABLE_SIZE)
    table = np.empty(TABLE_SIZE)
    flow = np.empty(TABLE_SIZE)
    for _ in range(most_steps):
        exposure[:] = pseudo * n_places
        expected_exposures(rater_ptr, block_ptr, member, weight, lam, exposure, after, rate, table, flow)
        total = 0.0
        for k in range(n_places):
            count = counts[k] + pseudo
            lam[k] = max(count / exposure[k], _LEAST) if count > 0.0 else _LEAST
            total += lam[k]
        moved = 0.0
        for k in range(n_places):
            lam[k] /= total
            moved = max(moved, abs(lam[k] - shares[k]))
            shares[k] = lam[k]
        if moved < tolerance:
            return shares, True
    return shares, False
