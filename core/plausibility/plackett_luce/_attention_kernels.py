"""Kernels for u of mixture Plackett-Luce: a ranking follows its case (u = 1) or is a guess by popularity (u = 0).

P(u = 1 | ·) = a p(b | λ)^γ / (a p(b | λ)^γ + (1 - a) p(b | g)^γ), with orders and arrival times summed out.

Each u has its own stream, SplitMix64 (Steele, Lea & Flood 2014): number t depends only on its key and on t.
"""

import math

import numpy as np

from ...runtime.numba_setup import njit
from .._kernels import log_gamma_draw
from ._kernels import alike_before, log_block, mass_after

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
LEAST = 1e-250  # A Gamma of tiny shape may underflow; draws of relevant shapes are never so small.


@njit(cache=True, nogil=True)
def keyed_uniform(key, number):
    """Return number ``number`` >= 0 of the stream ``key`` (uint64), uniform on [0, 1): SplitMix64."""
    z = key + np.uint64(number + 1) * _STEP
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 1.1102230246251565e-16


@njit(cache=True, nogil=True)
def same_ranking(entry_ptr, entry_class, entry_block, first, last):
    """Return, for annotations ``first`` to ``last`` of one case, which distinct ranking each is."""
    which = np.empty(last - first, np.int64)
    example = np.empty(last - first, np.int64)
    n_distinct = 0
    for a in range(first, last):
        same = alike_before(entry_ptr, entry_class, entry_block, example, n_distinct, a)
        if same < 0:
            example[n_distinct] = a
            same = n_distinct
            n_distinct += 1
        which[a - first] = same
    return which


@njit(cache=True, nogil=True)
def log_ranking(rater_ptr, block_ptr, member, lam, ranking, after, rate, table):
    """Compute ln p(b | λ) of one distinct ranking of a case; the scale of λ is free."""
    mass_after(rater_ptr, block_ptr, member, lam, ranking, after)
    value = 0.0
    for b in range(rater_ptr[ranking], rater_ptr[ranking + 1]):
        value += log_block(member, block_ptr[b], block_ptr[b + 1], lam, after[b], rate, table)
    return value


@njit(cache=True, nogil=True)
def pool_own(rater_ptr, block_ptr, member, ranking, named_by, lam, prior, own):
    """Mark in ``own`` the classes that the ranking names and no other ranking with u = 1 does.

    ``named_by`` counts the other rankings with u = 1 by place. Other rankings with u = 1 see the classes that none of
    them names only through their sum, the pool; its split is Dirichlet by the prior. Returns how many classes are own,
    the sum of the pool and of its part that is not own, and the prior shape of that part.
    """
    own[:] = False
    n_own = 0
    for e in range(block_ptr[rater_ptr[ranking]], block_ptr[rater_ptr[ranking + 1]]):
        if named_by[member[e]] == 0:
            own[member[e]] = True
            n_own += 1
    pool = 0.0
    others = 0.0
    others_shape = 0.0
    for k in range(lam.size):
        if named_by[k] == 0:
            pool += lam[k]
            if not own[k]:
                others += lam[k]
                others_shape += prior[k]
    return n_own, pool, others, others_shape


@njit(cache=True, nogil=True)
def log_split(gamma, own, lam, prior, pool, others_shape):
    """Compute ln of Dirichlet(prior) over Dirichlet(prior + γ on own classes), at the split of the pool in ``lam``."""
    value = 0.0
    total = others_shape
    n_own = 0
    for k in range(lam.size):
        if own[k]:
            value += math.lgamma(prior[k] + gamma) - math.lgamma(prior[k]) - gamma * np.log(lam[k] / pool)
            total += prior[k]
            n_own += 1
    return value + math.lgamma(total) - math.lgamma(total + gamma * n_own)


@njit(cache=True, nogil=True)
def split_pool(extra, own, named_by, lam, prior, pool, others, others_shape, new):
    """Draw a new split of the pool: Dirichlet(prior + ``extra`` on own classes); the others keep their ratios."""
    largest = log_gamma_draw(others_shape) if others_shape > 0.0 else -np.inf
    rest = largest
    for k in range(lam.size):
        if own[k]:
            new[k] = log_gamma_draw(prior[k] + extra)
            largest = max(largest, new[k])
    total = np.exp(rest - largest)
    for k in range(lam.size):
        if own[k]:
            total += np.exp(new[k] - largest)
    for k in range(lam.size):
        if own[k]:
            new[k] = max(pool * np.exp(new[k] - largest) / total, LEAST)
        elif named_by[k] == 0:
            new[k] = max(lam[k] / others * pool * np.exp(rest - largest) / total, LEAST)
        else:
            new[k] = lam[k]


@njit(cache=True, nogil=True)
def attend(
    sweep,
    rater_ptr,
    block_ptr,
    member,
    which,
    rater,
    key,
    log_guess,
    gamma,
    trust,
    prior,
    lam,
    attends,
    chance,
    log_case,
    named_by,
    own,
    new,
    after,
    rate,
    table,
):
    """Draw u of every annotation of a case in turn, given a and λ; return True if anything has changed.

    If others with u = 1 name all classes of a ranking, u comes from its conditional. Otherwise, u and the split of the
    pool move together (reversible: the split comes from the prior for u = 0, from the prior with γ more on own classes
    for u = 1), because a class that nobody else names is large if u = 1 and almost 0 if u = 0.
    """
    named_by[:] = 0
    for n in range(which.size):
        if attends[n]:
            for e in range(block_ptr[rater_ptr[which[n]]], block_ptr[rater_ptr[which[n] + 1]]):
                named_by[member[e]] += 1
    log_case[:] = np.nan
    changed = False
    for n in range(which.size):
        ranking = which[n]
        first, last = block_ptr[rater_ptr[ranking]], block_ptr[rater_ptr[ranking + 1]]
        before = attends[n]
        a = trust[rater[n]]
        if attends[n]:
            for e in range(first, last):
                named_by[member[e]] -= 1
        n_own, pool, others, others_shape = pool_own(rater_ptr, block_ptr, member, ranking, named_by, lam, prior, own)
        uniform = keyed_uniform(key[n], sweep)
        if a <= 0.0 or a >= 1.0:
            attends[n] = a >= 1.0
            chance[n] = a
        elif n_own == 0:
            if np.isnan(log_case[ranking]):
                log_case[ranking] = log_ranking(rater_ptr, block_ptr, member, lam, ranking, after, rate, table)
            chance[n] = 1.0 / (1.0 + (1.0 - a) / a * np.exp(gamma * (log_guess[n] - log_case[ranking])))
            attends[n] = uniform < chance[n]
        else:
            if attends[n]:
                for place in range(lam.size):
                    new[place] = lam[place]
            else:
                split_pool(gamma, own, named_by, lam, prior, pool, others, others_shape, new)
            odds = np.log(a) - np.log1p(-a) - gamma * log_guess[n]
            odds += gamma * log_ranking(rater_ptr, block_ptr, member, new, ranking, after, rate, table)
            odds += log_split(gamma, own, new, prior, pool, others_shape)
            if np.log(uniform) < (-odds if attends[n] else odds):
                if attends[n]:
                    split_pool(0.0, own, named_by, lam, prior, pool, others, others_shape, new)
                attends[n] = not attends[n]
                for place in range(lam.size):
                    lam[place] = new[place]
                log_case[:] = np.nan
                changed = True
            chance[n] = 1.0 if attends[n] else 0.0
        changed |= attends[n] != before
        if attends[n]:
            for e in range(first, last):
                named_by[member[e]] += 1
    return changed


@njit(cache=True, nogil=True)
def scattered_start(key, attends):
    """Draw u at random to start a chain apart from the first, with a number of each stream that no sweep uses."""
    for n in range(key.size):
        attends[n] = keyed_uniform(key[n], 1 << 40) < 0.5
