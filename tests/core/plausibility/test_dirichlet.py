"""Draws of Dirichlet counts against exact distributions, numerical integration, and draws over every class."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from numba import njit
from scipy import stats
from scipy.integrate import quad
from scipy.stats import binom, chisquare

from core.annotations import counts
from core.annotations.dataset import Dataset
from core.certainty.top_sets import annotation_certainty
from core.errors import InputError, NotApplicableError
from core.plausibility._kernels import binomial_draw, dirichlet_draws, log_gamma_draw
from core.plausibility.dirichlet import DirichletCounts
from core.reducers.sets import TopSets

N = 20_000


@njit
def gamma_draws(seed, shape, n_draws):
    np.random.seed(seed)  # noqa: NPY002 - the generator inside compiled code
    draws = np.empty(n_draws)
    for draw in range(n_draws):
        draws[draw] = log_gamma_draw(shape)
    return draws


def votes(*counts):
    """Rows of one case: one rater per annotation, so many for each class."""
    answers = [code for code, count in enumerate(counts) for _ in range(count)]
    return [(0, rater, answer) for rater, answer in enumerate(answers)]


def drawn(dataset, case=0, *, alpha=1.0, reliability=1.0, n_draws=N, seed=1):
    model = DirichletCounts(alpha)
    ((_, draws),) = model.draws(
        dataset, reliability=reliability, n_draws=n_draws, seed=seed, cases=range(case, case + 1)
    )
    return draws


def top_sets(draws, max_top=3):
    reducer = TopSets(max_top)
    state = reducer.init(1, draws.n_draws)
    reducer.update(state, 0, 0, draws)
    return state.frequency[0], state.with_rest[0]


@pytest.mark.parametrize("shape", [1e-3, 0.2, 1.0, 3.7, 250.0])
def test_gamma_draws_follow_the_gamma_distribution_in_logs(shape):
    """Kolmogorov-Smirnov on the logarithm, which is defined where the draw itself underflows."""
    logs = gamma_draws(1, shape, 20 * N)
    assert np.isfinite(logs).all()
    assert stats.kstest(logs, stats.loggamma(shape).cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("counts", "n_classes", "alpha", "reliability"),
    [((3, 1), 2, 1.0, 1.0), ((3, 1, 2), 5, 1.0, 2.0), ((4, 2), 7, 0.3, 0.5), ((1, 1, 1, 1), 40, 2.5, 10.0)],
)
def test_shares_have_the_moments_and_beta_marginals_of_the_dirichlet(counts, n_classes, alpha, reliability, build):
    draws = drawn(build(votes(*counts), n_classes), alpha=alpha, reliability=reliability)
    shape = np.array([reliability * count + alpha for count in counts] + [alpha] * (n_classes - len(counts)))
    exact = stats.dirichlet(shape)
    named = len(counts)
    error = np.sqrt(exact.var()[:named] / N)
    assert (np.abs(draws.share.mean(axis=0) - exact.mean()[:named]) < 4.5 * error).all()
    for k in range(named):
        marginal = stats.beta(shape[k], shape.sum() - shape[k])
        assert stats.kstest(draws.share[:, k], marginal.cdf).pvalue > 1e-4
    for a, b in combinations(range(named), 2):
        sample = (draws.share[:, a] - draws.share[:, a].mean()) * (draws.share[:, b] - draws.share[:, b].mean())
        assert abs(sample.mean() - exact.cov()[a, b]) < 4.5 * sample.std() / np.sqrt(N)
    if n_classes > named:
        mass = shape[named:].sum()
        assert stats.kstest(draws.rest, stats.beta(mass, shape.sum() - mass).cdf).pvalue > 1e-4
    assert draws.share.sum(axis=1) + draws.rest == pytest.approx(np.ones(N), abs=1e-12)


@pytest.mark.parametrize("alpha", [1.0, 0.3, 2.5])
@pytest.mark.parametrize("counts", [(), (2,), (2, 1, 1), (5, 1)], ids=str)
@pytest.mark.parametrize("n_classes", [4, 6, 12])
def test_the_first_three_are_as_certain_as_when_every_class_is_drawn(alpha, counts, n_classes, build):
    """The certainties by enumeration of sets, and how often a never-named class is among the first."""
    rows = [*votes(*counts), *[(1, 0, 0)]]
    draws = drawn(build(rows, n_classes, 2), alpha=alpha)
    shape = np.full(n_classes, alpha)
    shape[: len(counts)] += counts
    full = np.random.default_rng(2).dirichlet(shape, N)
    order = np.argsort(-full, axis=1)
    named = order < len(counts)
    frequency, with_rest = top_sets(draws)
    for j in range(1, 4):
        # A set is the named classes in it, one bit each; how many others it has follows from its size.
        sets, n_times = np.unique((named[:, :j] << order[:, :j]).sum(axis=1), return_counts=True)
        expected = 0.0
        error = 0.0
        for members, times in zip(sets.tolist(), n_times.tolist(), strict=True):
            ways = comb(n_classes - len(counts), j - members.bit_count())
            if times / N / ways > expected:
                expected = times / N / ways
                error = np.sqrt(2 * times / N * (1 - times / N) / N) / ways
        # Where two sets are nearly as frequent, the maxima of both samples are pulled up alike.
        assert abs(frequency[j - 1] - expected) < 4.5 * error + 1e-12 + 3 / N
        share = np.mean(~named[:, :j].all(axis=1))
        assert abs(with_rest[j - 1] - share) <= 4.5 * np.sqrt(2 * share * (1 - share) / N) + 1e-12


@pytest.mark.parametrize(("a", "b"), [(3, 1), (1, 1), (7, 5)])
def test_for_two_classes_top_1_is_the_beta_tail(a, b, build):
    frequency, _ = top_sets(drawn(build(votes(a, b), 2)), 2)
    exact = max(stats.beta(a + 1, b + 1).sf(0.5), stats.beta(a + 1, b + 1).cdf(0.5))
    assert abs(frequency[0] - exact) < 4.5 * np.sqrt(exact * (1 - exact) / N) + (1 / np.sqrt(N) if a == b else 0)
    assert frequency[1] == 1


@pytest.mark.parametrize("counts", [(3, 2, 1), (2, 1, 0), (2, 0, 0), (4, 3, 3)], ids=str)
@pytest.mark.parametrize(("alpha", "reliability"), [(1.0, 1.0), (0.3, 1.0), (2.5, 3.0)])
def test_for_three_classes_top_1_is_the_integral_over_gamma_variables(counts, alpha, reliability, build):
    """P(λ_0 is largest) = ∫ f_0(x) F_1(x) F_2(x) dx over independent gamma variables; named and never-named."""
    draws = drawn(build(votes(*counts), 3), alpha=alpha, reliability=reliability)
    shape = [alpha + reliability * count for count in counts]
    exact, _ = quad(
        lambda x: stats.gamma.pdf(x, shape[0]) * stats.gamma.cdf(x, shape[1]) * stats.gamma.cdf(x, shape[2]), 0, 200
    )
    found = np.mean(draws.top[:, 0] == 0)
    assert abs(found - exact) < 4.5 * np.sqrt(exact * (1 - exact) / N)


def test_two_raters_against_one_give_the_exact_top_1_of_the_worked_example(build):
    """Dirichlet(3, 2, 1) by two-dimensional reasoning: P(top-1 = never named) is the smallest of three."""
    draws = drawn(build(votes(2, 1), 3))
    found = np.bincount(draws.top[:, 0], minlength=3) / N
    for k in range(3):
        shape = np.roll([3, 2, 1], -k)
        exact, _ = quad(
            lambda x, s=shape: stats.gamma.pdf(x, s[0]) * stats.gamma.cdf(x, s[1]) * stats.gamma.cdf(x, s[2]), 0, 200
        )
        assert abs(found[k] - exact) < 4.5 * np.sqrt(exact * (1 - exact) / N)


@pytest.mark.parametrize("n_classes", [3, 12, 60])
def test_tiny_shapes_give_finite_rows_that_sum_to_1(n_classes, build):
    draws = drawn(build(votes(1, 1), n_classes), alpha=1e-3, reliability=1e-3)
    for array in (draws.share, draws.rest):
        assert np.isfinite(array).all() and (array >= 0).all()
    assert draws.share.sum(axis=1) + draws.rest == pytest.approx(np.ones(N), abs=1e-12)


def test_tiny_shapes_keep_the_order_of_classes_whose_shares_underflow(build):
    """Against draws in logs, ln U / a + ln Gamma(a + 1): ties at 0 would fall to the first class."""
    draws = drawn(build(votes(1, 1, 2), 5), alpha=1e-3, reliability=1e-3)
    shape = np.array([2e-3, 2e-3, 3e-3, 1e-3, 1e-3])
    rng = np.random.default_rng(0)
    logs = np.log(rng.gamma(shape + 1, size=(N, 5))) + np.log(1 - rng.random((N, 5))) / shape
    order = np.argsort(-logs, axis=1)
    for j in (1, 2, 3):
        theirs = (order[:, :j] < 3).sum(axis=1)
        ours = (draws.top[:, :j] < 3).sum(axis=1)
        for k in range(3):
            share = np.mean((order[:, :j] == k).any(axis=1))
            found = np.mean((draws.top[:, :j] == k).any(axis=1))
            assert abs(found - share) < 4.5 * np.sqrt(2 * share * (1 - share) / N)
        assert abs(ours.mean() - theirs.mean()) < 4.5 * np.sqrt((ours.var() + theirs.var()) / N)


def test_a_high_reliability_draws_the_shares_of_the_votes(build):
    """At γ = 1e9 the posterior is the vote; equal votes still come in random order."""
    draws = drawn(build(votes(2, 2, 1), 3), reliability=1e9)
    assert draws.share == pytest.approx(np.tile([0.4, 0.4, 0.2], (N, 1)), abs=1e-3)
    first = np.mean(draws.share[:, 0] > draws.share[:, 1])
    assert abs(first - 0.5) < 4.5 * 0.5 / np.sqrt(N)


def test_named_classes_stand_in_the_order_of_their_shares(build):
    """Where only named classes come first they descend; a never-named one comes first only where it can."""
    draws = drawn(build(votes(4, 3, 3, 2), 9), alpha=0.5)
    shares = np.column_stack([draws.share, np.zeros(N)])
    for place in range(2):
        both = (draws.top[:, place] < 4) & (draws.top[:, place + 1] < 4)
        first = shares[np.arange(N), draws.top[:, place]]
        assert (first >= shares[np.arange(N), draws.top[:, place + 1]])[both].all()
    never = draws.top[:, 0] == 4
    assert 0 < never.mean() < 1
    assert (draws.rest[never] > draws.share[never].max(axis=1)).all()


@pytest.mark.parametrize("alpha", [1.0, 0.4])
def test_there_are_no_more_never_named_classes_among_the_first_than_there_are(alpha, build):
    draws = drawn(build([*votes(1), (1, 0, 0)], 3, 2), alpha=alpha)
    assert draws.n_rest == 2
    assert (np.sort(draws.top, axis=1) == [0, 1, 1]).all()
    two = drawn(build([*votes(1), (1, 0, 0)], 2, 2), alpha=alpha)
    assert (two.top[:, 2] == -1).all()


def test_a_case_is_drawn_alike_whatever_other_cases_and_raters_are_there(build):
    rng = np.random.default_rng(0)
    rows = [(case, rater, int(rng.integers(4))) for case in range(12) for rater in range(3)]
    every = dict(DirichletCounts().draws(build(rows, 6), reliability=2.0, n_draws=50, seed=9))
    part = dict(DirichletCounts().draws(build(rows, 6), reliability=2.0, n_draws=50, seed=9, cases=range(4, 7)))
    renamed = build([(case, 2 - rater, answer) for case, rater, answer in rows], 6)
    other = dict(DirichletCounts().draws(renamed, reliability=2.0, n_draws=50, seed=9))
    alone = build(rows, 6).select(cases=["case 5"])
    ((_, single),) = DirichletCounts().draws(alone, reliability=2.0, n_draws=50, seed=9)
    assert list(part) == [4, 5, 6]
    for draws in (part[5], other[5], single):
        assert (draws.share == every[5].share).all()
        assert (draws.top == every[5].top).all()
    assert not (every[4].rest == every[5].rest).all()


def test_another_seed_gives_other_draws(build):
    dataset = build(votes(2, 1), 4)
    assert (drawn(dataset, seed=1, n_draws=20).rest == drawn(dataset, seed=1, n_draws=20).rest).all()
    assert not (drawn(dataset, seed=1, n_draws=20).rest == drawn(dataset, seed=2, n_draws=20).rest).all()


def test_shapes_are_reliability_times_votes_plus_alpha(build):
    rows = [*votes(1), (1, 0, 2), (1, 1, 2), (1, 2, 0)]
    named, shape, n_rest = DirichletCounts(0.5).shapes(build(rows, 5), 1, 3.0)
    assert named.tolist() == [0, 2]
    assert shape.tolist() == [3.5, 6.5]
    assert n_rest == 3


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan, np.inf, 1e-12, 1e12])
def test_a_prior_outside_its_range_is_refused(alpha):
    with pytest.raises(InputError, match="prior α"):
        DirichletCounts(alpha)


def test_a_depth_below_1_is_refused():
    with pytest.raises(InputError, match="depth"):
        DirichletCounts(depth=0)


@pytest.mark.parametrize("reliability", [0.0, -1.0, np.nan, np.inf, 1e12])
def test_a_reliability_outside_its_range_is_refused(reliability, build):
    with pytest.raises(InputError, match="reliability γ"):
        drawn(build(votes(1), 2), reliability=reliability)


def test_no_draws_and_answers_that_are_no_classes_are_refused(build):
    with pytest.raises(InputError, match="at least 1"):
        drawn(build(votes(1), 2), n_draws=0)
    scores = build(votes(1), 2)
    scores = Dataset.from_scores("s", scores.cases, scores.raters, [0], [0], [1.5])
    with pytest.raises(NotApplicableError, match="scores"):
        drawn(scores)


def test_each_annotation_is_counted_a_fixed_number_of_times_however_many_chunks_there_are(monkeypatch):
    """Chunks that each count all the data take time with the square of it."""
    n_cases, walked = 1_000, []

    def counted(case_ptr, answer, n_classes, kernel=counts.count_classes):
        walked.append(answer.size)
        return kernel(case_ptr, answer, n_classes)

    monkeypatch.setattr(counts, "count_classes", counted)
    case = np.repeat(np.arange(n_cases), 3)
    answer = np.random.default_rng(0).integers(0, 4, case.size)
    names = [str(one) for one in range(n_cases)]
    dataset = Dataset.from_classes("many", names, ["a", "b", "c"], list("wxyz"), case, np.arange(case.size) % 3, answer)
    found = annotation_certainty(DirichletCounts(), dataset, reliability=1.0, n_draws=5)
    assert len(walked) > 5 and sum(walked) <= 2 * case.size
    whole, run = counts.class_counts(dataset), counts.class_counts(dataset, range(130, 400))
    entries = slice(whole.ptr[130], whole.ptr[400])
    assert np.array_equal(run.ptr, whole.ptr[130:401] - whole.ptr[130])
    assert np.array_equal(run.class_code, whole.class_code[entries])
    assert np.array_equal(run.count, whole.count[entries])
    alone = annotation_certainty(DirichletCounts(), dataset.select(cases=names[300:310]), reliability=1.0, n_draws=5)
    assert np.array_equal(alone.certainty, found.certainty[300:310])


# Binomials: Binomial draws have their distribution: by inversion, and where the mean is halved first.


N_DRAWS = 50_000


@pytest.mark.parametrize(
    ("n", "p"), [(2, 0.5), (2, 1e-12), (5, 0.7), (60, 0.5), (61, 0.5), (400, 0.9), (400, 0.08), (1000, 0.35)]
)
def test_binomial_draws_have_their_distribution(n, p):
    """Chi-squared over values expected at least five times, those below and above them joined; seed fixed, at 0.001."""
    dirichlet_draws(np.uint32(11), np.ones(1), 1.0, 0, 1, 1)  # sets the seed
    drawn = np.array([binomial_draw(n, p) for _ in range(N_DRAWS)])
    assert drawn.min() >= 0 and drawn.max() <= n
    expected = N_DRAWS * binom.pmf(np.arange(n + 1), n, p)
    kept = np.flatnonzero(expected >= 5)
    places = np.clip(drawn, kept[0], kept[-1]) - kept[0]
    of_kept = expected[kept]
    of_kept[0] += expected[: kept[0]].sum()
    of_kept[-1] += expected[kept[-1] + 1 :].sum()
    if len(kept) == 1:
        assert (drawn == kept[0]).all()
    else:
        assert chisquare(np.bincount(places, minlength=len(kept)), of_kept).pvalue > 0.001
