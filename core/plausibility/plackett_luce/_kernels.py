"""Plackett-Luce with ties and unranked classes: lattice of the orders within a block.

p(b | λ) = Π_l (Π_{k in b_l} λ_k) R_l(b_l),  R_l(A) = Σ_{a in A} R_l(A minus a) / (Z_l + Σ_{a in A} λ_a),  R(∅) = 1,
Z_l the sum of λ of all that comes after block l [Stutz et al., appendix B.4]. Classes arrive like exponential clocks of
rate λ; a class's exposure is its arrival time, or that of the last ranked class if it is unranked. (The paper's text
updates λ with full arrival times and without counting the last block, which has no proper limit; here exposures are
censored at the last ranked arrival, which is correct and mixes many times better.)

A rater's blocks are listed by ``rater_ptr`` -> ``block_ptr`` -> ``member`` (places in λ); ``weight`` is how often the
rater's ranking counts. λ's last place is the sum of the classes that nobody named. No bounds are checked.
"""

import numpy as np

from ...runtime.numba_setup import njit
from ._arrival_kernels import log_large_block

LARGEST_TABLE = 8
TABLE_SIZE = 256


@njit(cache=True, nogil=True)
def alike_before(entry_ptr, entry_class, entry_block, example, n_distinct, annotation):
    """Return which distinct ranking so far an annotation equals, -1 for none; ``example`` has an annotation of each."""
    size = entry_ptr[annotation + 1] - entry_ptr[annotation]
    for d in range(n_distinct):
        other = example[d]
        if entry_ptr[other + 1] - entry_ptr[other] != size:
            continue
        alike = True
        for e in range(size):
            if (
                entry_class[entry_ptr[annotation] + e] != entry_class[entry_ptr[other] + e]
                or entry_block[entry_ptr[annotation] + e] != entry_block[entry_ptr[other] + e]
            ):
                alike = False
                break
        if alike:
            return d
    return -1


@njit(cache=True, nogil=True)
def first_at_least(ascending, n, value):
    """Return the place of the first of ``n`` ascending values that is not below ``value``; ``n`` if all are."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def distinct(values, first, last):
    """Return distinct values from ``first`` to ``last``, ascending; numba's own function takes seconds to compile."""
    found = np.empty(last - first, values.dtype)
    n = np.int64(0)
    for e in range(first, last):
        place = first_at_least(found, n, values[e])
        if place < n and found[place] == values[e]:
            continue
        for after in range(n, place, -1):
            found[after] = found[after - 1]
        found[place] = values[e]
        n += 1
    return found[:n].copy()


@njit(cache=True, nogil=True)
def local_blocks(entry_ptr, entry_class, entry_block, first, last, n_classes):
    """Convert annotations ``first`` to ``last`` to blocks over the classes named there, and count identical rankings.

    A last block with no classes after it has no information and is left out. Returns classes, rater_ptr,
    block_ptr, member and how often each distinct ranking occurs.
    """
    n_entries = entry_ptr[last] - entry_ptr[first]
    classes = distinct(entry_class, entry_ptr[first], entry_ptr[last])
    rater_ptr = np.zeros(last - first + 1, np.int64)
    block_ptr = np.zeros(n_entries + 1, np.int64)
    member = np.empty(n_entries, np.int64)
    multiplicity = np.zeros(last - first, np.int64)
    example = np.empty(last - first, np.int64)
    n_raters = np.int64(0)
    n_blocks = 0
    n_members = 0
    for a in range(first, last):
        same = alike_before(entry_ptr, entry_class, entry_block, example, n_raters, a)
        if same >= 0:
            multiplicity[same] += 1
            continue
        example[n_raters] = a
        multiplicity[n_raters] = 1
        last_block = entry_block[entry_ptr[a + 1] - 1]
        names_all = entry_ptr[a + 1] - entry_ptr[a] == n_classes
        for e in range(entry_ptr[a], entry_ptr[a + 1]):
            if names_all and entry_block[e] == last_block:
                break
            if e == entry_ptr[a] or entry_block[e] != entry_block[e - 1]:
                n_blocks += 1
            member[n_members] = first_at_least(classes, classes.size, entry_class[e])
            n_members += 1
            block_ptr[n_blocks] = n_members
        n_raters += 1
        rater_ptr[n_raters] = n_blocks
    return (
        classes,
        rater_ptr[: n_raters + 1].copy(),
        block_ptr[: n_blocks + 1].copy(),
        member[:n_members].copy(),
        multiplicity[:n_raters].copy(),
    )


@njit(cache=True, nogil=True)
def fill_table(member, start, stop, lam, after, power, rate, table):
    """Fill ``rate[mask]`` = after + sum of λ in the mask, and ``table[mask]`` = R(mask) with rates to the given power.

    Rates in R are relative to that of the full mask, which keeps R of a block of tiny λ from overflowing.
    """
    size = stop - start
    rate[0] = after
    table[0] = 1.0
    for i in range(size):
        bit = 1 << i
        for mask in range(bit, bit << 1):
            rate[mask] = rate[mask - bit] + lam[member[start + i]]
    whole = rate[(1 << size) - 1]
    for mask in range(1, 1 << size):
        total = 0.0
        left = mask
        i = 0
        while left:
            if left & 1:
                total += table[mask ^ (1 << i)]
            left >>= 1
            i += 1
        relative = rate[mask] / whole
        table[mask] = total / (relative if power == 1.0 else relative**power)


@njit(cache=True, nogil=True)
def fill_tables(member, start, stop, lam, after, power, rate, table, powered):
    """Fill ``table`` as `fill_table` does at power 1 and ``powered`` at the given power, in one walk of the lattice."""
    size = stop - start
    rate[0] = after
    table[0] = 1.0
    powered[0] = 1.0
    for i in range(size):
        bit = 1 << i
        for mask in range(bit, bit << 1):
            rate[mask] = rate[mask - bit] + lam[member[start + i]]
    whole = rate[(1 << size) - 1]
    for mask in range(1, 1 << size):
        total = 0.0
        of_power = 0.0
        left = mask
        while left:
            bit = left & -left
            total += table[mask ^ bit]
            of_power += powered[mask ^ bit]
            left ^= bit
        relative = rate[mask] / whole
        table[mask] = total / relative
        powered[mask] = of_power / relative**power


@njit(cache=True, nogil=True)
def mass_after(rater_ptr, block_ptr, member, lam, rater, after):
    """Fill ``after[b]`` = λ of all that follows block b of a rater, by suffix sums (subtraction would cancel to 0)."""
    n_places = lam.size
    total = 0.0
    for k in range(n_places):
        ranked = False
        for e in range(block_ptr[rater_ptr[rater]], block_ptr[rater_ptr[rater + 1]]):
            if member[e] == k:
                ranked = True
                break
        if not ranked:
            total += lam[k]
    for b in range(rater_ptr[rater + 1] - 1, rater_ptr[rater] - 1, -1):
        after[b] = total
        for e in range(block_ptr[b], block_ptr[b + 1]):
            total += lam[member[e]]


@njit(cache=True, nogil=True)
def log_block(member, start, stop, lam, after, rate, table):
    """Compute ln P(the classes of the block arrive before all later ones)."""
    size = stop - start
    if size > LARGEST_TABLE:
        return log_large_block(member, start, stop, lam, after)
    value = 0.0
    for e in range(start, stop):
        value += np.log(lam[member[e]])
    if size == 1:
        return value - np.log(after + lam[member[start]])
    fill_table(member, start, stop, lam, after, 1.0, rate, table)
    full = (1 << size) - 1
    return value + np.log(table[full]) - size * np.log(rate[full])
