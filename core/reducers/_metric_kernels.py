"""Scores of classifiers against the draws of one case; ties and never-named classes count by expectation.

Y is the top-k of a draw: A its named classes among the first k, r = k - |A| never-named ones out of T. C is the top-k
of a classifier: A_c the classes strictly above the tie at place k, T_c the tied ones, r_c = k - |A_c|
[Stutz et al., eq. 7-12; ties are never broken at random or by the order of classes].
"""

import numpy as np

from ..plausibility._kernels import log_gamma_draw
from ..runtime.numba_setup import njit

N_METRICS = 5


@njit(cache=True, nogil=True)
def choose(n, k):
    """Compute the binomial coefficient; 0 outside its range."""
    if k < 0 or k > n:
        return 0.0
    value = 1.0
    for i in range(k):
        value = value * (n - i) / (i + 1)
    return value


@njit(cache=True, nogil=True)
def classifier_scores(order, n_named, n_rest, place, group, top, scores):
    """Score one classifier on every draw of one case.

    ``order[draw, j]`` is the place of the j-th most plausible class, ``n_named`` for a never-named one, -1 where there
    are fewer classes. ``place[i]`` is the place of the classifier's i-th class (-1: nobody named it), ``group[i]`` its
    block of tied scores, ascending. Fills ``scores[metric, draw]``: top-1 accuracy, top-k accuracy, top-k set accuracy,
    overlap at k, average overlap at k, with k = ``top``. Missing places are misses: the divisor stays k, and a set of
    fewer than k classes, predicted or in the list, is never correct.
    """
    n_draws = order.shape[0]
    n_predicted = place.size
    member = np.zeros((top, n_named))
    rest_member = np.zeros(top)
    firm = np.zeros((top, n_named), np.bool_)
    loose = np.zeros((top, n_named), np.bool_)
    firm_named = np.zeros(top, np.int64)
    firm_rest = np.zeros(top, np.int64)
    loose_size = np.zeros(top, np.int64)
    loose_rest = np.zeros(top, np.int64)
    loose_taken = np.zeros(top, np.int64)
    for j in range(top):
        k = j + 1
        i = 0
        above = 0
        while i < n_predicted and above < k:
            stop = i
            while stop < n_predicted and group[stop] == group[i]:
                stop += 1
            tied = above + stop - i > k
            weight = (k - above) / (stop - i) if tied else 1.0
            for m in range(i, stop):
                if place[m] < 0:
                    rest_member[j] += weight / max(n_rest, 1)
                    if tied:
                        loose_rest[j] += 1
                    else:
                        firm_rest[j] += 1
                else:
                    member[j, place[m]] = weight
                    if tied:
                        loose[j, place[m]] = True
                    else:
                        firm[j, place[m]] = True
                        firm_named[j] += 1
            if tied:
                loose_size[j] = stop - i
                loose_taken[j] = k - above
                above = k
            else:
                above += stop - i
            i = stop
    for draw in range(n_draws):
        first = order[draw, 0]
        scores[0, draw] = member[0, first] if first < n_named else rest_member[0]
        scores[1, draw] = member[top - 1, first] if first < n_named else rest_member[top - 1]
        average = 0.0
        for j in range(top):
            shared = 0.0
            for p in range(j + 1):
                here = order[draw, p]
                if here >= 0:
                    shared += member[j, here] if here < n_named else rest_member[j]
            overlap = shared / (j + 1)
            average += overlap / top
            if j == top - 1:
                scores[3, draw] = overlap
        scores[4, draw] = average
        j = top - 1
        named = 0
        from_rest = 0
        in_firm = 0
        in_loose = 0
        for p in range(top):
            here = order[draw, p]
            if here == n_named:
                from_rest += 1
            elif here >= 0:
                named += 1
                if firm[j, here]:
                    in_firm += 1
                elif loose[j, here]:
                    in_loose += 1
        complete = firm_named[j] + firm_rest[j] + loose_taken[j] == top and named + from_rest == top
        if complete and in_firm == firm_named[j] and in_firm + in_loose == named:
            ways = choose(loose_rest[j], from_rest - firm_rest[j])
            scores[2, draw] = ways / (choose(n_rest, from_rest) * choose(loose_size[j], loose_taken[j]))
        else:
            scores[2, draw] = 0.0


@njit(cache=True, nogil=True)
def risk_of_draws(seed, share, rest, order, named_level, rest_levels, rest_shape, n_levels, level_mass, top_level):
    """Compute per draw the summed plausibility of each risk level, and each level's share in the top-1 class.

    ``named_level`` is the level of each named class, ``rest_levels`` the number of never-named classes at each level.
    Their sum is split over levels by a Dirichlet draw, in logs as shapes may be tiny; which of them is the top-1 class
    is exchangeable.
    """
    from_rest = rest_levels.sum()
    np.random.seed(seed)
    parts = np.empty(n_levels)
    for draw in range(share.shape[0]):
        for level in range(n_levels):
            level_mass[draw, level] = 0.0
            top_level[draw, level] = 0.0
        for k in range(named_level.size):
            level_mass[draw, named_level[k]] += share[draw, k]
        if from_rest > 0:
            largest = -np.inf
            for level in range(n_levels):
                parts[level] = log_gamma_draw(rest_shape * rest_levels[level]) if rest_levels[level] > 0 else -np.inf
                largest = max(largest, parts[level])
            total = 0.0
            for level in range(n_levels):
                parts[level] = np.exp(parts[level] - largest)
                total += parts[level]
            for level in range(n_levels):
                level_mass[draw, level] += rest[draw] * parts[level] / total
        first = order[draw, 0]
        if first < named_level.size:
            top_level[draw, named_level[first]] = 1.0
        else:
            for level in range(n_levels):
                top_level[draw, level] = rest_levels[level] / from_rest
