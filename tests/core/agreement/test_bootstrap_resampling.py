"""Resamples: what is drawn, how often, and that it depends on nothing but the seed."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from core.agreement import resampling
from core.agreement._bootstrap_kernels import binomial, distinct_vectors, draw_resamples
from core.agreement.resampling import Pool, pick, pool_of, resample, vector_numbers
from core.errors import Cancelled
from core.runtime.chunks import CancelToken
from tests.core.agreement.examples import counts_of, random_cases


class Weights:
    """The weights themselves, as a statistic."""

    def __init__(self, n_vectors, n_cases=0):
        self.needs_cases = n_cases > 0
        self.n_values = self.n_sums = n_vectors + n_cases

    def __call__(self, vector_weight, case_weight):
        return np.concatenate([vector_weight, case_weight] if self.needs_cases else [vector_weight])


def pool_with(sizes):
    start = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return Pool(np.arange(start[-1]), start)


def test_cases_of_equal_counts_and_no_others_share_a_number():
    cases = random_cases(0, n_cases=300, n_classes=3, most=4)
    counts = counts_of(cases, 3)
    number, first = distinct_vectors(counts.ptr, counts.class_code, counts.count)
    as_table = [tuple(case.count(k) for k in range(3)) for case in cases]
    assert len(first) == len(set(as_table))
    assert [as_table[i] for i in first[number]] == as_table
    assert list(first) == sorted(as_table.index(vector) for vector in set(as_table))


def test_a_pool_sorts_cases_by_vector_and_leaves_out_those_without_answers():
    counts = counts_of([[0, 1], [], [1, 1], [1, 0], [], [2]], 3)
    pool = pool_of(vector_numbers(counts))
    assert pool.n_cases == 4
    groups = [set(pool.order[a:b]) for a, b in zip(pool.start[:-1], pool.start[1:], strict=True)]
    assert sorted(map(sorted, groups)) == [[0, 3], [2], [5]]
    assert pool_of(np.full(3, -1)).n_cases == 0


def test_picked_rows_hold_their_entries_and_a_negative_row_holds_none():
    ptr = np.array([0, 2, 2, 5])
    picked, entries = pick(ptr, np.array([2, -1, 0, 1, 2]))
    assert picked.tolist() == [0, 3, 3, 5, 5, 8]
    assert entries.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]


@pytest.mark.parametrize(("n", "p"), [(5, 0.3), (60, 0.01), (19, 0.5), (40, 0.5), (300, 0.07), (200_000, 0.002)])
def test_binomials_have_their_distribution(n, p):
    """Chi-squared of 100,000 draws over values expected at least five times, seed fixed, at 0.001."""
    draw_resamples(np.array([5], np.uint32), np.array([0, 1]), np.zeros(0, int), False, *empty(1, 0))  # sets the seed
    drawn = np.array([binomial(n, p) for _ in range(100_000)])
    values = np.arange(drawn.max() + 1)
    expected = 1e5 * binom.pmf(values, n, p)
    kept = expected >= 5
    seen = np.append(np.bincount(drawn)[kept], np.count_nonzero(~kept[drawn]))
    expected = np.append(expected[kept], 1e5 - expected[kept].sum())
    if expected[-1] < 1:
        seen, expected = seen[:-1], expected[:-1] * seen[:-1].sum() / expected[:-1].sum()
    assert chisquare(seen, expected).pvalue > 0.001


def empty(n_vectors, n_cases):
    return np.zeros((n_vectors, 1), np.int32), np.zeros((n_cases, 1), np.uint8)


@pytest.mark.parametrize("sizes", [[1, 2, 3, 4], [1, 500, 2, 97]], ids=["case by case", "by binomials"])
def test_weights_are_multinomial_over_vectors_and_cases(sizes):
    """Sum, mean and covariance of 20,000 resamples; the tolerance is 4.5 standard errors of each."""
    pool, n = pool_with(sizes), sum(sizes)
    assert (n < 8 * len(sizes)) == (sizes[1] == 2)
    (found,) = resample(pool, [Weights(len(sizes), n)], 20_000, 3, "test")
    vectors, cases = found[:, : len(sizes)], found[:, len(sizes) :]
    assert (cases.sum(axis=1) == n).all()
    assert (np.add.reduceat(cases, pool.start[:-1], axis=1) == vectors).all()
    p = np.array(sizes) / n
    assert (np.abs(vectors.mean(axis=0) - n * p) < 4.5 * np.sqrt(n * p * (1 - p) / 20_000)).all()
    away = vectors - n * p
    products = away[:, :, None] * away[:, None, :]
    exact = n * (np.diag(p) - np.outer(p, p))
    assert (np.abs(products.mean(axis=0) - exact) < 4.5 * products.std(axis=0) / np.sqrt(20_000) + 1e-9).all()
    one = 1 - 1 / n
    assert np.abs(cases.mean() - 1) < 1e-12
    assert np.abs(cases.var(axis=0) - one).max() < 4.5 * np.sqrt(3 / 20_000)
    assert np.abs(cases.mean(axis=0) - 1).max() < 4.5 * np.sqrt(one / 20_000)


@pytest.mark.parametrize("sizes", [[1, 2, 3, 4], [1, 500, 2, 97]])
def test_weights_of_vectors_are_the_same_whether_or_not_cases_are_asked_for(sizes):
    pool = pool_with(sizes)
    (alone,) = resample(pool, [Weights(4)], 50, 3, "test")
    (both,) = resample(pool, [Weights(4, pool.n_cases)], 50, 3, "test")
    assert (both[:, :4] == alone).all()


@pytest.mark.parametrize("cells", [1, 40, 10_000])
def test_a_replicate_depends_on_its_number_and_the_seed_alone(monkeypatch, cells):
    pool = pool_with([3, 300, 20])
    (whole,) = resample(pool, [Weights(3)], 101, 3, "test")
    monkeypatch.setattr(resampling, "_CELLS", cells)
    (cut,) = resample(pool, [Weights(3)], 45, 3, "test")
    assert (cut == whole[:45]).all()
    for seed, stream in ((4, "test"), (3, "other")):
        assert not (resample(pool, [Weights(3)], 45, seed, stream)[0] == cut).all()
    assert len(np.unique(whole, axis=0)) > 60


def test_progress_is_told_and_a_cancelled_run_stops(monkeypatch):
    monkeypatch.setattr(resampling, "_CELLS", 1)
    told, token = [], CancelToken()
    resample(pool_with([5, 5]), [Weights(2)], 10, 0, "test", token, told.append)
    assert told[-1] == 1 and told == sorted(told) and len(told) == 5

    def stop(share):
        if share > 0.3:
            token.cancel()

    with pytest.raises(Cancelled):
        resample(pool_with([5, 5]), [Weights(2)], 1000, 0, "test", token, stop)
