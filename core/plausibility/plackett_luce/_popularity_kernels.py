"""One Plackett-Luce vector g for all rankings: EM over arrival times, as in `_mode_kernels`, for very many classes.

A class that a ranking does not name waits for its last named class. These waits are summed once and subtracted for the
few named classes, so that the cost of a ranking depends only on its own classes.
"""

import numpy as np

from ...runtime.numba_setup import njit
from ._kernels import TABLE_SIZE, log_block
from ._mode_kernels import expected_block

_LEAST = 1e-30


@njit(cache=True, nogil=True)
def informative_blocks(entry_ptr, entry_class, entry_block, n_classes):
    """Return blocks of every annotation over all classes, without a last block that has no classes after it.

    Returns ranking_ptr (blocks of each annotation), block_ptr and member (class codes).
    """
    n_rankings = entry_ptr.size - 1
    ranking_ptr = np.zeros(n_rankings + 1, np.int64)
    block_ptr = np.zeros(entry_class.size + 1, np.int64)
    member = np.empty(entry_class.size, np.int64)
    n_blocks = 0
    n_members = 0
    for ranking in range(n_rankings):
        first, last = entry_ptr[ranking], entry_ptr[ranking + 1]
        for e in range(first, last):
            if last - first == n_classes and entry_block[e] == entry_block[last - 1]:
                break
            if e == first or entry_block[e] != entry_block[e - 1]:
                n_blocks += 1
            member[n_members] = entry_class[e]
            n_members += 1
            block_ptr[n_blocks] = n_members
        ranking_ptr[ranking + 1] = n_blocks
    return ranking_ptr, block_ptr[: n_blocks + 1].copy(), member[:n_members].copy()


@njit(cache=True, nogil=True)
def mass_behind(first, last, block_ptr, member, lam, named, after):
    """Fill ``after[i]`` = share of all classes after block ``first`` + i; λ has sum 1, ``named`` is scratch, all False.

    If at least half of the classes are named, the others are summed: 1 minus the named would cancel.
    """
    low, high = block_ptr[first], block_ptr[last]
    if 2 * (high - low) >= lam.size:
        for e in range(low, high):
            named[member[e]] = True
        total = 0.0
        for k in range(lam.size):
            if not named[k]:
                total += lam[k]
        for e in range(low, high):
            named[member[e]] = False
    else:
        total = 1.0
        for e in range(low, high):
            total -= lam[member[e]]
        total = max(total, _LEAST)
    for b in range(last - 1, first - 1, -1):
        after[b - first] = total
        for e in range(block_ptr[b], block_ptr[b + 1]):
            total += lam[member[e]]


@njit(cache=True, nogil=True)
def popularity_mode(ranking_ptr, block_ptr, member, n_classes, most_blocks, pseudo, tolerance, most_steps):
    """Find the mode of Σ ln p(ranking | g) + Σ pseudo ln g on the simplex. Returns g and whether it converged."""
    counts = np.zeros(n_classes)
    for e in range(member.size):
        counts[member[e]] += 1.0
    lam = (counts + 0.5) / (counts.sum() + 0.5 * n_classes)
    exposure = np.empty(n_classes)
    named = np.zeros(n_classes, np.bool_)
    after = np.empty(max(1, most_blocks))
    rate = np.empty(TABLE_SIZE)
    table = np.empty(TABLE_SIZE)
    flow = np.empty(TABLE_SIZE)
    for _ in range(most_steps):
        exposure[:] = pseudo * n_classes
        waits = 0.0
        for ranking in range(ranking_ptr.size - 1):
            first, last = ranking_ptr[ranking], ranking_ptr[ranking + 1]
            mass_behind(first, last, block_ptr, member, lam, named, after)
            elapsed = 0.0
            for b in range(first, last):
                start, stop = block_ptr[b], block_ptr[b + 1]
                spent = expected_block(member, start, stop, 1.0, lam, after[b - first], exposure, rate, table, flow)
                for e in range(start, stop):
                    exposure[member[e]] += elapsed
                elapsed += spent
            for e in range(block_ptr[first], block_ptr[last]):
                exposure[member[e]] -= elapsed
            waits += elapsed
        total = 0.0
        for k in range(n_classes):
            exposure[k] = max((counts[k] + pseudo) / (exposure[k] + waits), _LEAST)
            total += exposure[k]
        moved = 0.0
        for k in range(n_classes):
            new = exposure[k] / total
            moved = max(moved, abs(new - lam[k]) / new)
            lam[k] = new
        if moved < tolerance:
            return lam, True
    return lam, False


@njit(cache=True, nogil=True)
def log_popular(ranking_ptr, block_ptr, member, most_blocks, lam):
    """Compute ln p(b | g) of every annotation, for g of sum 1."""
    value = np.zeros(ranking_ptr.size - 1)
    named = np.zeros(lam.size, np.bool_)
    after = np.empty(max(1, most_blocks))
    rate = np.empty(TABLE_SIZE)
    table = np.empty(TABLE_SIZE)
    for ranking in range(ranking_ptr.size - 1):
        first, last = ranking_ptr[ranking], ranking_ptr[ranking + 1]
        mass_behind(first, last, block_ptr, member, lam, named, after)
        for b in range(first, last):
            value[ranking] += log_block(member, block_ptr[b], block_ptr[b + 1], lam, after[b - first], rate, table)
    return value
