"""Kernels of reducers for the draws of one case, on plain arrays."""

import numpy as np

from ..runtime.numba_setup import njit


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
