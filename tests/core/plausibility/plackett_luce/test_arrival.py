"""Draws of a large block: its first later arrival, the arrivals within it, and both ways of drawing a small one."""

import numpy as np
import pytest
from numba import njit
from scipy import stats
from scipy.integrate import cumulative_trapezoid
from scipy.special import logsumexp

from core.plausibility.plackett_luce._arrival_kernels import (
    arrival_hull,
    draw_first_arrival,
    expected_large,
    log_large_block,
)
from core.plausibility.plackett_luce._gibbs_kernels import walk_large, walk_table
from core.plausibility.plackett_luce._kernels import fill_table
from tests.benchmarks import ties

N = 20_000


@njit
def first_arrivals(seed, lam, after, n_draws):
    np.random.seed(seed)  # noqa: NPY002 - the generator inside compiled code
    member = np.arange(lam.size)
    draws = np.empty(n_draws)
    hull = arrival_hull(member, 0, lam.size, lam, after)
    for draw in range(n_draws):
        draws[draw] = draw_first_arrival(member, 0, lam.size, lam, after, hull)
    return draws


@njit
def walks(seed, large, lam, after, copies, elapsed, n_draws):
    """Exposures of each class and the time spent, by either way of drawing."""
    np.random.seed(seed)  # noqa: NPY002 - the generator inside compiled code
    size = lam.size
    member = np.arange(size)
    rate, table = np.empty(1 << size), np.empty(1 << size)
    count = np.zeros(1 << size, np.int64)
    fill_table(member, 0, size, lam, after, 1.0, rate, table)
    out = np.zeros((n_draws, size + 1))
    for draw in range(n_draws):
        exposure = out[draw, :size]
        if large:
            out[draw, size] = walk_large(member, 0, size, copies, lam, after, exposure, elapsed)
        else:
            out[draw, size] = walk_table(member, 0, size, copies, 1.0, rate, table, count, exposure, elapsed)
    return out


def by_rejection(rng, lam, after, n_draws):
    """Arrivals of the block's classes, of all draws in which they come before the first later arrival."""
    kept = []
    while sum(map(len, kept)) < n_draws:
        arrivals = rng.exponential(1 / lam, (200_000, lam.size))
        later = rng.exponential(1 / after, 200_000)
        kept.append(np.column_stack([arrivals, later])[arrivals.max(axis=1) < later])
    return np.concatenate(kept)[:n_draws]


@pytest.mark.parametrize("after", [1e-9, 0.02, 1.0, 300.0])
@pytest.mark.parametrize(
    "lam",
    [np.array([0.7]), np.geomspace(1e-6, 10, 9), np.ones(30), np.array([1e-12, 1e-9, 5.0]), np.full(10, 1e4)],
    ids=["one", "spread", "thirty", "tiny", "huge"],
)
def test_the_first_later_arrival_follows_its_density(lam, after):
    """Kolmogorov-Smirnov against the cumulative sum of e^u exp(-Z e^u) Π (1 - exp(-λ e^u)) over u = ln s."""
    u = np.linspace(-45, np.log(60 + 3 * lam.size), 200_001) - np.log(after)
    log_density = u - after * np.exp(u) + np.log(-np.expm1(-lam * np.exp(u)[:, None])).sum(axis=1)
    cumulative = cumulative_trapezoid(np.exp(log_density - log_density.max()), u, initial=0)
    draws = np.log(first_arrivals(1, lam, after, N))
    assert stats.kstest(draws, lambda x: np.interp(x, u, cumulative / cumulative[-1])).pvalue > 1e-5


@pytest.mark.parametrize(("after", "lam"), [(1.0, [1.0, 2.0, 0.3]), (0.1, [0.05, 0.4]), (3.0, [1.0, 5.0, 2.0, 2.0])])
def test_both_ways_to_draw_a_block_are_the_arrivals_that_come_before_all_later_ones(after, lam):
    """Each class's arrival and the last of them against draws kept where the block came first."""
    lam = np.array(lam)
    kept = by_rejection(np.random.default_rng(0), lam, after, N)
    exact = np.column_stack([kept[:, :-1], kept[:, :-1].max(axis=1)])
    for large in (True, False):
        found = walks(1, large, lam, after, 1, 0.0, N)
        for column in range(lam.size + 1):
            assert stats.ks_2samp(found[:, column], exact[:, column]).pvalue > 1e-5
        error = np.sqrt(2 / N) * 4.5
        assert stats.spearmanr(found).statistic == pytest.approx(stats.spearmanr(exact).statistic, abs=error)


@pytest.mark.parametrize("copies", [1, 2, 7, 40])
def test_copies_take_the_summed_time_of_as_many_raters(copies):
    """The table sends all copies down together; the other way draws one after the other."""
    lam = np.array([0.9, 0.2, 0.4, 1.5])
    together = walks(1, False, lam, 0.6, copies, 2.5, N)
    one_by_one = walks(2, True, lam, 0.6, copies, 2.5, N)
    for column in range(5):
        assert stats.ks_2samp(together[:, column], one_by_one[:, column]).pvalue > 1e-5
    ranks = stats.spearmanr(together).statistic
    assert ranks == pytest.approx(stats.spearmanr(one_by_one).statistic, abs=np.sqrt(2 / N) * 4.5)


def test_time_before_the_block_is_added_to_its_classes_and_not_to_what_it_takes():
    lam = np.array([0.9, 0.2, 0.4])
    for large in (True, False):
        early, late = (walks(1, large, lam, 0.6, 3, elapsed, 10) for elapsed in (0.0, 5.0))
        assert late[:, :3] == pytest.approx(early[:, :3] + 5, abs=1e-12)
        assert (late[:, 3] == early[:, 3]).all()


@pytest.mark.parametrize("after", [0.01, 1.0, 50.0])
def test_expected_arrivals_are_the_means_of_drawn_ones(after):
    lam = np.geomspace(0.01, 4, 10)
    draws = walks(3, True, lam, after, 1, 0.0, N)
    exposure = np.zeros(10)
    last = expected_large(np.arange(10), 0, 10, lam, after, 1.0, exposure)
    error = draws.std(axis=0) / np.sqrt(N)
    assert (np.abs(draws.mean(axis=0) - np.append(exposure, last)) < 4.5 * error).all()
    twice = np.zeros(10)
    expected_large(np.arange(10), 0, 10, lam, after, 2.0, twice)
    assert twice == pytest.approx(2 * exposure, rel=1e-12)


def test_nobody_waits_for_a_large_block_after_which_nothing_comes():
    exposure = np.zeros(9)
    lam = np.arange(1.0, 10.0)
    assert expected_large(np.arange(9), 0, 9, lam, 0.0, 1.0, exposure) == 0
    assert exposure == pytest.approx(1 / lam)


@pytest.mark.parametrize("after", [1e-9, 0.02, 1.0, 300.0])
@pytest.mark.parametrize(
    "lam",
    [
        np.array([0.7]), np.geomspace(1e-6, 10, 9), np.full(12, 0.1), np.ones(16), np.geomspace(1e-3, 1e3, 16),
        np.ones(30), np.full(10, 1e4), np.full(400, 1e-3), np.geomspace(1e-9, 1, 419),
    ],
    ids=["one", "spread", "twelve", "sixteen", "sixteen-spread", "thirty", "huge", "many-small", "many-spread"],
)  # fmt: skip
def test_the_probability_of_a_large_block_is_that_of_a_fine_sum(lam, after):
    """Ln Z ∫ exp(-Z s) Π (1 - exp(-λ s)) ds over 4,001 points of ln s, to 1e-9."""
    u = np.linspace(-60, np.log(60 + 3 * lam.size), 4_001) - np.log(after)
    log_density = u - after * np.exp(u) + np.log(-np.expm1(-lam * np.exp(u)[:, None])).sum(axis=1)
    exact = np.log(after) + logsumexp(log_density) + np.log(u[1] - u[0])
    assert log_large_block(np.arange(lam.size), 0, lam.size, lam, after) == pytest.approx(exact, abs=1e-9)


def test_the_benchmark_of_ties_measures_every_size_of_block():
    """Half a copy more leaves some proposals untaken, whole ones none."""
    found = ties.patterns(16)
    assert [len(found[f"{size} tied"][0][0]) for size in range(2, 17)] == list(range(2, 17))
    assert max(max(map(len, blocks)) for annotations in found.values() for blocks in annotations) == 16
    for name, half_taken in (("9 tied", True), ("12, then 4", True), ("2 tied", True)):
        milliseconds, taken, effective = ties.measured(found[name], 1.5, 1)
        assert milliseconds > 0
        assert (taken < 1) is half_taken
        assert 10 < effective <= ties.N_DRAWS
        assert ties.measured(found[name], 2.0, 1)[1] == 1
