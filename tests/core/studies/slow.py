"""Slow and obvious references for reader studies, by enumeration in numpy."""

import itertools

import numpy as np


def success(negative, positive):
    """1 where the positive score is higher, half where they are equal; NaN where one of them is missing."""
    x, y = np.asarray(negative)[:, None], np.asarray(positive)[None]
    return np.where(np.isnan(x) | np.isnan(y), np.nan, (y > x) + 0.5 * (y == x))


def enumerated(first, second):
    """Covariance of the means of two arrays of observations (readers, ...cases), by going through all pairs.

    The expectation of the product of two observations depends on which indices they share: its mean over the pairs that
    share exactly these is unbiased, and the covariance is their weighted sum less that of independent observations.
    """
    places = [list(zip(*np.nonzero(~np.isnan(of)), strict=True)) for of in (first, second)]
    products = {}
    for a, b in itertools.product(*places):
        shared = tuple(int(x == y) for x, y in zip(a, b, strict=True))
        products.setdefault(shared, []).append(first[a] * second[b])
    n_pairs = sum(map(len, products.values()))
    nothing = (0,) * first.ndim
    return sum(np.mean(of) * (len(of) / n_pairs - (shared == nothing)) for shared, of in products.items())


def delong(scores, truth):
    """AUC of each field, and their covariances [DeLong et al. 1988, equations 4 to 6], by loops."""
    fields = scores.reshape(-1, scores.shape[-1])
    each = [success(field[truth == 0], field[truth == 1]) for field in fields]
    auc = np.array([of.mean() for of in each])
    covariance = np.empty((len(fields), len(fields)))
    for (i, a), (j, b) in itertools.product(enumerate(each), repeat=2):
        total = 0.0
        for axis in (0, 1):
            x, y = a.mean(axis=axis), b.mean(axis=axis)
            total += sum((p - auc[i]) * (q - auc[j]) for p, q in zip(x, y, strict=True)) / (len(x) - 1) / len(x)
        covariance[i, j] = total
    shape = scores.shape[:2]
    return auc.reshape(shape), covariance.reshape(*shape, *shape)


def jackknife(values_of, n_cases):
    """Covariance of a vector of statistics by leaving out one case at a time."""
    each = np.array([values_of(np.delete(np.arange(n_cases), case)) for case in range(n_cases)])
    spread = each - each.mean(axis=0)
    return (n_cases - 1) / n_cases * spread.T @ spread


def unbiased_error_covariance(scores, truth):
    """Unbiased covariances of the AUCs of pairs of fields, whose readers are given: as iMRMC's Obuchowski-Rockette."""
    fields = scores.reshape(-1, scores.shape[-1])
    each = [success(field[truth == 0], field[truth == 1]) for field in fields]
    n_0, n_1 = each[0].shape
    found = np.empty((len(fields), len(fields)))
    for (i, a), (j, b) in itertools.product(enumerate(each), repeat=2):
        both = (a * b).sum()
        negative = (a.sum(axis=1) * b.sum(axis=1)).sum() - both
        positive = (a.sum(axis=0) * b.sum(axis=0)).sum() - both
        neither = a.sum() * b.sum() - both - negative - positive
        found[i, j] = (both + negative + positive + neither) / (n_0 * n_1) ** 2
        found[i, j] -= neither / (n_0 * (n_0 - 1) * n_1 * (n_1 - 1))
    shape = scores.shape[:2]
    return found.reshape(*shape, *shape)
