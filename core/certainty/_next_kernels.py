"""Reweighting of the draws of one case by one more annotation of a single class, under Plackett-Luce.

The likelihood of "class k first, all others unranked" is θ_k, so with γ copies a draw weighs w = θ_k^γ:
``A[k, c] = E[θ_k] E[θ_k^γ 1(top-1 = c)] / E[θ_k^γ]``.

A class that nobody has named also gets a prior of its own once it is named: λ_k ~ Gamma(α), and Gamma(1) for the sum
of the other T - 1, in place of Gamma(1) for the sum S of all T, split Dirichlet(1, ..., 1). With θ_k = u S the ratio of
the two priors times the likelihood is, over u in (0, 1), S · (u S)^(α - 1) · (u S)^γ: draws weigh S^(α + γ), and
u ~ Beta(α + γ, 1). With T = 1 there is nothing to split: u = 1 and S^(α - 1 + γ).
"""

import numpy as np

from ..plausibility._kernels import split_largest
from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def place_of_largest(share):
    """Return the first place of the largest share; -1 if there is none."""
    best = -1
    for c in range(share.size):
        if best < 0 or share[c] > share[best]:
            best = c
    return best


@njit(cache=True, nogil=True)
def power_of(unnamed, n_rest, reliability, alpha):
    """Return the power of the mass in the weight of draws: γ, plus that of its priors for a never-named class."""
    if not unnamed:
        return reliability
    return reliability + (alpha if n_rest > 1 else alpha - 1.0)


@njit(cache=True, nogil=True)
def next_answers(seed, share, rest, first, n_rest, reliability, alpha):
    """Compute the first place after each possible next annotation.

    ``first`` is the place of the top-1 class of each draw, n_named for a never-named one. Returns, for the annotations
    0..n_named - 1 and, last, "one that nobody has named yet": the probability of the annotation, the effective share of
    draws behind it, and the probabilities of first places after it, shape (n_named + 1, n_named + 2). Their columns are
    the named classes, then the given class if nobody had named it (0 in other rows), then any single one
    of the other never-named classes.
    """
    n_draws, n_named = share.shape
    answered = np.zeros(n_named + 1)
    effective = np.zeros(n_named + 1)
    after = np.zeros((n_named + 1, n_named + 2))
    logs = np.empty(n_draws)
    largest = np.empty(1)
    np.random.seed(seed)
    for k in range(n_named + 1):
        unnamed = k == n_named
        if unnamed and n_rest == 0:
            break
        power = power_of(unnamed, n_rest, reliability, alpha)
        best = -np.inf
        for draw in range(n_draws):
            mass = rest[draw] if unnamed else share[draw, k]
            answered[k] += mass / n_draws
            logs[draw] = power * np.log(max(mass, 1e-300))
            best = max(best, logs[draw])
        total, squares = 0.0, 0.0
        for draw in range(n_draws):
            weight = np.exp(logs[draw] - best)
            total += weight
            squares += weight * weight
            top = first[draw]
            if not unnamed:
                if top < n_named:
                    after[k, top] += weight
                else:
                    after[k, n_named + 1] += weight / n_rest
                continue
            u = 1.0
            if n_rest > 1:
                u = (1.0 - np.random.random()) ** (1.0 / (alpha + reliability))
            named = place_of_largest(share[draw])
            leader = share[draw, named] if named >= 0 else 0.0
            own, others = u * rest[draw], (1.0 - u) * rest[draw]
            if n_rest > 1 and others > max(own, leader):
                split_largest(np.log(others), 1.0, n_rest - 1, largest)
                if largest[0] > max(own, leader):
                    after[k, n_named + 1] += weight / (n_rest - 1)
                    continue
            if own > leader:
                after[k, n_named] += weight
            else:
                after[k, named] += weight
        effective[k] = total * total / squares / n_draws
        for c in range(n_named + 2):
            after[k, c] /= total
    return answered, effective, after
