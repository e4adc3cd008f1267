"""Kernels of sets of first classes, and of metrics of lists."""

import numpy as np

from ..plausibility._kernels import log_gamma_draw
from ..runtime.numba_setup import njit
from ._metric_kernels import choose


@njit(cache=True, nogil=True)
def set_keys(top, n_named, max_top):
    """Encode the set of the j most plausible classes of each draw as one number, j = 1..max_top; count its rest.

    ``top`` holds the first places of each draw, ``n_named`` for a never-named class, -1 if there are fewer classes.
    """
    n_draws = top.shape[0]
    keys = np.empty((max_top, n_draws), np.int64)
    with_rest = np.zeros(max_top)
    chosen = np.empty(max_top, np.int64)
    base = n_named + 1
    for draw in range(n_draws):
        from_rest = 0
        for j in range(max_top):
            here = top[draw, j]
            if here == n_named:
                from_rest += 1
            elif here < 0:
                here = n_named  # There are fewer than j classes.
            place = j
            while place > 0 and chosen[place - 1] > here:
                chosen[place] = chosen[place - 1]
                place -= 1
            chosen[place] = here
            key = np.int64(0)
            for i in range(j + 1):
                key = key * base + chosen[i]
            keys[j, draw] = key
            if from_rest > 0:
                with_rest[j] += 1.0
    return keys, with_rest / n_draws


@njit(cache=True, nogil=True)
def commonest_sets(keys, n_rest, n_named):
    """Compute the frequency of the most frequent set of each size, from keys of `set_keys` sorted in each row.

    Never-named classes are exchangeable: a set with r of the T of them counts 1 / C(T, r) of each draw in which r
    of them are among the first j. Returns the largest frequency for each j, the named classes of that set (places,
    ascending, -1 beyond them), and 1 / C(T, r) of the set: the largest frequency that it can have.
    """
    max_top, n_draws = keys.shape
    base = n_named + 1
    certainty = np.zeros(max_top)
    ceiling = np.ones(max_top)
    members = np.empty((max_top, max_top), np.int64)
    members[:] = -1
    for j in range(max_top):
        run = 0
        for draw in range(n_draws):
            run += 1
            if draw + 1 < n_draws and keys[j, draw + 1] == keys[j, draw]:
                continue
            key = keys[j, draw]
            r = 0
            rest_key = key
            for _ in range(j + 1):
                if rest_key % base == n_named:
                    r += 1
                rest_key //= base
            ways = 1.0
            for i in range(r):
                ways = ways * (n_rest - i) / (i + 1)
            frequency = run / n_draws / max(ways, 1.0)
            if frequency > certainty[j]:
                certainty[j] = frequency
                ceiling[j] = 1.0 / max(ways, 1.0)
                members[j, :] = -1
                for i in range(j, -1, -1):
                    if key % base != n_named:
                        members[j, i] = key % base
                    key //= base
            run = 0
    return certainty, members, ceiling


N_LIST, N_SOFT = 3, 3


@njit(cache=True, nogil=True)
def list_scores(order, n_rest, top, target, rank, bucket, against_rest, rest_cost, scale, worst, inside, tie, scores):
    """Compute Kendall's tau, footrule and "target within prediction" of one classifier on every draw.

    ``order`` as of `core.reducers._metric_kernels.classifier_scores`. ``rank`` and ``bucket`` are the place of each
    named class in the classifier's list, ``against_rest`` the sum of signs against the never-named ones, ``rest_cost``
    the summed distance of these from each place 1 to k + 1. ``scale`` makes tau of the sum of signs, ``worst`` is the
    largest footrule. ``inside`` is 2 for a named class that is certain to be within the first k, 1 within the tie
    across place k, else 0; ``tie`` has never-named classes certain to be within, those in the tie, the size of the tie,
    and its free places.
    """
    n_named = rank.size
    truth = np.empty(n_named, np.int64)
    for draw in range(order.shape[0]):
        for a in range(n_named):
            truth[a] = top + 1
        from_rest = 0
        footrule = 0.0
        for p in range(top):
            here = order[draw, p]
            if here == n_named:
                from_rest += 1
                footrule += rest_cost[p] / n_rest
            elif here >= 0:
                truth[here] = p + 1
        if n_rest > 0:
            footrule += (n_rest - from_rest) * rest_cost[top] / n_rest
        signs = 0.0
        for a in range(n_named):
            footrule += abs(truth[a] - rank[a])
            for b in range(a):
                if truth[a] != truth[b] and bucket[a] != bucket[b]:
                    signs += 1.0 if (truth[a] < truth[b]) == (bucket[a] < bucket[b]) else -1.0
            if n_rest > 0 and against_rest[a] != 0:
                before = 0.0
                for p in range(top):
                    if order[draw, p] == n_named:
                        before += 1.0 if truth[a] < p + 1 else -1.0
                if truth[a] <= top:
                    before += n_rest - from_rest
                signs += before / n_rest * against_rest[a]
        scores[0, draw] = signs * scale
        scores[1, draw] = 1.0 - footrule / worst if worst > 0 else 1.0
        missed = False
        in_tie = 0
        n_unnamed = 0
        for p in range(target):
            here = order[draw, p]
            if here == n_named:
                n_unnamed += 1
            elif here >= 0:
                if inside[here] == 1:
                    in_tie += 1
                elif inside[here] == 0:
                    missed = True
        scores[2, draw] = 0.0
        if not missed:
            for tied in range(n_unnamed + 1):
                ways = choose(tie[0], n_unnamed - tied) * choose(tie[1], tied)
                taken = in_tie + tied
                if ways > 0 and taken <= tie[3]:
                    kept = choose(tie[2] - taken, tie[3] - taken) / choose(tie[2], tie[3])
                    scores[2, draw] += ways / choose(n_rest, n_unnamed) * kept


@njit(cache=True, nogil=True)
def soft_scores(seed, share, rest, n_rest, rest_shape, predicted, predicted_rest, least, scores):
    """Compute cross entropy (nats), Jensen-Shannon divergence (bits) and Manhattan distance to each draw of a case.

    ``predicted`` is the probability of each named class, ``predicted_rest`` of each never-named one. The share of
    these is split by a symmetric Dirichlet draw, the same for all classifiers.
    """
    np.random.seed(seed)
    part = np.empty(n_rest)
    for draw in range(rest.size):
        for metric in range(N_SOFT):
            scores[metric, draw] = 0.0
        for a in range(predicted.size):
            _add(share[draw, a], predicted[a], least, scores, draw)
        if n_rest > 0:
            largest = -np.inf
            for c in range(n_rest):
                part[c] = log_gamma_draw(rest_shape)
                largest = max(largest, part[c])
            total = 0.0
            for c in range(n_rest):
                part[c] = np.exp(part[c] - largest)
                total += part[c]
            for c in range(n_rest):
                _add(rest[draw] * part[c] / total, predicted_rest[c], least, scores, draw)


@njit(cache=True, nogil=True)
def _add(true, predicted, least, scores, draw):
    middle = (true + predicted) / 2
    if true > 0:
        scores[0, draw] -= true * np.log(max(predicted, least))
        scores[1, draw] += true * np.log2(true / middle) / 2
    if predicted > 0:
        scores[1, draw] += predicted * np.log2(predicted / middle) / 2
    scores[2, draw] += abs(true - predicted)
