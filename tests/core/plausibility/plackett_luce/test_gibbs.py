"""Draws of the Gibbs sampler against posteriors by integration over the simplex and by weighted draws."""

import numpy as np
import pytest
from numba import njit
from scipy import stats
from scipy.special import softmax

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from core.plausibility.plackett_luce import _gibbs_kernels
from core.plausibility.plackett_luce._gibbs_kernels import effective_draws, gibbs
from core.plausibility.plackett_luce.blocks import case_blocks, ranking_entries
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from tests.benchmarks import sampler_calibration
from tests.benchmarks.sampler_calibration import DESIGNS, calibrate

GAMMAS = [0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0]
N = 20_000

THREE = {
    "ties": [[[0, 1]], [[0], [1, 2]], [[2]]],
    "full": [[[0], [1], [2]], [[0, 2], [1]], [[1], [0], [2]]],
    "identical": [[[0], [1]], [[0], [1]], [[0], [1]], [[1, 2]], [[1, 2]]],
    "never named": [[[0]], [[0, 1]], [[1], [0]]],
    "all tied": [[[0, 1, 2]], [[2]], [[0, 1]]],
}
P6 = [[[0]], [[0]], [[1]]]
P6_TOP, P6_MEAN = [0.6366, 0.2847, 0.0787], [0.5, 0.3333, 0.1667]

MANY = {
    "eight tied": [[list(range(8))], [[0], [9]]],
    "seven tied before three": [[[0, 2, 3, 4, 5, 6, 7], [1], [10, 11]], [[8]]],
    "nine tied": [[list(range(9))], [[0], [9]]],
    "ten tied after one": [[[10], list(range(10))], [[3, 4]]],
    "nine tied before three": [[[0, 2, 3, 4, 5, 6, 7, 8, 9], [1], [10, 11]], [[1]]],
}


def shares(draws):
    """Shares with the rest as one more column, where there is a rest."""
    return np.column_stack([draws.share, draws.rest]) if draws.n_rest else draws.share


def weighted_draws(annotations, n_classes, reliability, likelihood, like, n_draws, seed):
    """Draws of λ over every class by itself, and their weights under prior and likelihood.

    Prior: Gamma(1) on named classes and on the sum of the never-named, which is split by a flat Dirichlet. Log ratios
    to that sum are drawn from a multivariate t as wide as in ``like``; its tails are heavier than those of any
    posterior, and the weights take it back.
    """
    rng = np.random.default_rng(seed)
    named = sorted({k for blocks in annotations for block in blocks for k in block})
    others = np.setdiff1d(np.arange(n_classes), named)
    ratios = np.log(like[:, :-1] / like[:, -1:])
    proposal = stats.multivariate_t(ratios.mean(axis=0), np.cov(ratios.T), df=6, seed=rng)
    ratio = proposal.rvs(n_draws)
    share = softmax(np.column_stack([ratio, np.zeros(n_draws)]), axis=1)
    lam = np.empty((n_draws, n_classes))
    lam[:, named] = share[:, :-1]
    lam[:, others] = share[:, -1:] * rng.dirichlet(np.ones(others.size), n_draws)
    log_weight = sum(reliability * np.log(likelihood(blocks, lam)) for blocks in annotations)
    log_weight += np.log(share).sum(axis=1) - proposal.logpdf(ratio)  # Π share: from the simplex to log ratios
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    assert 1 / np.square(weight).sum() > 0.1 * n_draws  # else errors of weighted means could not be trusted
    return lam, weight


def weighted_mean(values, weight):
    """Weighted means of columns, and their Monte Carlo errors."""
    mean = weight @ values
    return mean, np.sqrt(np.square(weight) @ np.square(values - mean))


@pytest.mark.parametrize("reliability", GAMMAS)
@pytest.mark.parametrize("alpha", [1.0, 2.0])
@pytest.mark.parametrize("name", THREE)
def test_three_classes_have_the_posterior_of_integration_over_the_simplex(name, alpha, reliability, slow):
    """Which class is first, which is second, and means and squares of shares; a never-named class has shape 1."""
    lam = slow.triangle()
    shape = [alpha, alpha, 1.0 if name == "never named" else alpha]
    weight = slow.posterior(THREE[name], lam, shape, reliability)
    draws = slow.draw_case(THREE[name], 3, alpha=alpha, reliability=reliability, n_draws=N)
    slow.assert_means(slow.places(draws.top, 3), weight @ slow.first_two(lam))
    slow.assert_means(shares(draws), weight @ lam)
    slow.assert_means(np.square(shares(draws)), weight @ np.square(lam))


def test_integration_over_the_simplex_has_converged(slow):
    """Twice as fine a grid gives the same within the error that comparisons allow."""
    for name, annotations in THREE.items():
        for reliability in (0.1, 10.0) if name == "never named" else (10.0,):
            coarse, fine = (
                slow.posterior(annotations, lam, [1, 1, 1], reliability) @ np.column_stack([lam, slow.first_two(lam)])
                for lam in (slow.triangle(), slow.triangle(600))
            )
            assert coarse == pytest.approx(fine, abs=1e-4)


def test_two_raters_against_one_have_the_printed_posterior(slow):
    draws = slow.draw_case(P6, 3, n_draws=200_000)
    slow.assert_means(slow.places(draws.top, 3)[:, :3], P6_TOP)
    slow.assert_means(shares(draws), P6_MEAN)


def test_a_sampler_by_the_printed_update_fails_where_the_right_ones_pass(slow):
    """Full arrival times with last blocks not counted have no proper limit; counted, they have the same posterior."""
    answers = np.array([0, 0, 1])

    def chain(shape, n_chains=400, n_sweeps=1_500, n_burn=500):
        rng = np.random.default_rng(0)
        lam = np.ones((n_chains, 3))
        first = np.empty((n_sweeps - n_burn, n_chains, 3))
        for sweep in range(n_sweeps):
            earliest = rng.exponential(size=(n_chains, 3, 1)) / lam.sum(axis=1)[:, None, None]
            arrival = earliest + rng.exponential(size=(n_chains, 3, 3)) / lam[:, None, :]
            arrival[:, np.arange(3), answers] = earliest[:, :, 0]
            lam = np.maximum(rng.gamma(shape, size=(n_chains, 3)) / (1 + arrival.sum(axis=1)), 1e-300)
            if sweep >= n_burn:
                first[sweep - n_burn] = lam.argmax(axis=1)[:, None] == np.arange(3)
        return first.mean(axis=0)  # one row per chain, independent of the others

    slow.assert_means(chain(np.array([4.0, 4.0, 4.0])), P6_TOP)
    printed = chain(np.array([3.0, 2.0, 1.0]))
    assert printed[:, 0].mean() > 0.85
    with pytest.raises(AssertionError, match="is not"):
        slow.assert_means(printed, P6_TOP)


@pytest.mark.parametrize("reliability", [0.5, 1.0, 3.0])
def test_two_never_named_classes_of_four_have_the_posterior_of_integration(reliability, slow):
    """The first is never-named where max(U, 1 - U) of their sum, U uniform, is above both named classes."""
    annotations = [[[0, 1]], [[0]]]
    lam = slow.triangle(800)
    weight = slow.posterior(annotations, lam, [1, 1, 1], reliability)
    rest_first = np.clip(2 * (1 - lam[:, :2].max(axis=1) / lam[:, 2]), 0, 1)
    zero_first = (1 - rest_first) * (lam[:, 0] > lam[:, 1])
    draws = slow.draw_case(annotations, 4, reliability=reliability, n_draws=N)
    first = (draws.top[:, :1] == [0, 2]).astype(float)
    slow.assert_means(first, weight @ np.column_stack([zero_first, rest_first]))
    slow.assert_means(shares(draws), weight @ lam)


@pytest.mark.parametrize("reliability", [0.5, 1.0, 1.5, 3.0])
def test_never_named_classes_taken_together_have_the_posterior_of_each_by_itself(reliability, slow):
    """Three named and four never-named classes against weighted draws of all seven; names of the first three."""
    annotations = [[[0], [1]], [[1, 2]], [[2]]]
    three = [[0], [1], [2], [3, 4, 5, 6]]

    def likelihood(blocks, lam):
        # One class in place of four that nobody names: any order of them agrees with every ranking.
        return slow.likelihood(blocks, np.column_stack([lam[:, group].sum(axis=1) for group in three]))

    draws = slow.draw_case(annotations, 7, reliability=reliability, n_draws=N)
    lam, weight = weighted_draws(annotations, 7, reliability, likelihood, shares(draws), 100_000, 0)
    order = np.minimum(np.argsort(-lam, axis=1)[:, :3], 3)
    theirs = np.concatenate([order[:, [j]] == np.arange(4) for j in range(3)], axis=1)
    exact, error = weighted_mean(np.column_stack([theirs, lam[:, :3]]), weight)
    ours = np.concatenate([draws.top[:, [j]] == np.arange(4) for j in range(3)], axis=1)
    slow.assert_means(np.column_stack([ours, draws.share]).astype(float), exact, error)


def test_unranked_classes_by_themselves_are_as_likely_as_their_sum(slow):
    """What taking never-named classes together rests on."""
    lam = np.random.default_rng(0).gamma(1, size=(50, 6))
    together = np.column_stack([lam[:, :3], lam[:, 3:].sum(axis=1)])
    for blocks in ([[0], [1]], [[1, 2]], [[0, 2], [1]]):
        assert slow.likelihood(blocks, lam) == pytest.approx(slow.likelihood(blocks, together), rel=1e-12)


@pytest.mark.parametrize("reliability", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("name", MANY)
def test_blocks_of_many_classes_have_the_posterior_of_weighted_draws(name, reliability, slow):
    draws = slow.draw_case(MANY[name], 13, reliability=reliability, n_draws=N)
    lam, weight = weighted_draws(MANY[name], 13, reliability, slow.blocks_likelihood, shares(draws), 40_000, 0)
    theirs = np.column_stack([lam[:, draws.classes], lam.argmax(axis=1)[:, None] == draws.classes])
    exact, error = weighted_mean(theirs, weight)
    ours = np.column_stack([draws.share, draws.top[:, :1] == np.arange(len(draws.classes))])
    slow.assert_means(ours, exact, error)


@pytest.fixture(scope="module")
def without_tables():
    """The sampler compiled afresh to draw every block of two or more classes as a large one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_gibbs_kernels, "LARGEST_TABLE", 1)
        for name in ("log_correction", "set_copies", "propose", "try_proposal"):
            patch.setattr(_gibbs_kernels, name, njit(getattr(_gibbs_kernels, name).py_func))
        sampler = njit(gibbs.py_func)
        no_rater = np.zeros(1, np.int64)
        sampler(0, no_rater, no_rater, no_rater[:0], np.ones(0), 1, 0, 1.0, 0, 1, 1, 3)
    return sampler


@pytest.mark.parametrize("reliability", [0.5, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("name", ["ties", "full", "identical"])
def test_blocks_drawn_without_the_table_have_the_same_posterior(name, reliability, without_tables, slow):
    dataset = slow.dataset_of([THREE[name]], 3)
    blocks = case_blocks(dataset, 0, ranking_entries(dataset))
    share, _, top, accepted = without_tables(
        1,
        blocks.rater_ptr,
        blocks.block_ptr,
        blocks.member,
        blocks.weight(reliability),
        3,
        0,
        1.0,
        500,
        N,
        1,
        3,
    )
    lam = slow.triangle()
    weight = slow.posterior(THREE[name], lam, [1, 1, 1], reliability)
    slow.assert_means(slow.places(top, 3), weight @ slow.first_two(lam))
    slow.assert_means(share, weight @ lam)
    # Fractions of tied blocks need the correction; three and two identical raters leave none of a tied block.
    assert (accepted < 1) == (reliability in (0.5, 1.5) and name != "identical")


@pytest.mark.parametrize("reliability", [0.5, 1.0, 1.5, 3.0])
def test_thirty_tied_classes_are_drawn_alike(reliability, slow):
    """Finite, a larger share than the rest, and none before the others."""
    draws = slow.draw_case([[list(range(30))]], 40, reliability=reliability, n_draws=4_000)
    every = shares(draws)
    assert np.isfinite(every).all()
    assert every.sum(axis=1) == pytest.approx(np.ones(4_000), abs=1e-12)
    slow.assert_means(draws.share, (1 - draws.rest.mean()) / 30)
    first = draws.top[:, :1] == np.arange(30)
    slow.assert_means(first.astype(float), first.mean())


@pytest.mark.parametrize("reliability", [0.5, 1.0, 2.5])
def test_identical_rankings_count_as_often_as_they_are_there(reliability, slow):
    """Three raters drawn one by one and as one of weight 3 have the integral's posterior."""
    lam = slow.triangle()
    weight = slow.posterior([[[0, 1]]] * 3, lam, [1, 1, 1], reliability)
    block_ptr, member = np.array([0, 2, 4, 6]), np.array([0, 1] * 3)
    seed = np.uint32(1)
    apart = gibbs(seed, np.arange(4), block_ptr, member, np.full(3, reliability), 3, 0, 1.0, 500, N, 1, 3)
    merged = gibbs(seed, np.arange(2), block_ptr[:2], member[:2], np.array([3 * reliability]), 3, 0, 1.0, 500, N, 1, 3)
    for share, _, top, _ in (apart, merged):
        slow.assert_means(share, weight @ lam)
        slow.assert_means(slow.places(top, 3), weight @ slow.first_two(lam))


def test_mass_after_a_block_is_kept_beside_a_mass_of_a_thousand_million(slow):
    """At γ = 1e9 the rest is about 1e-18 of the first class; its split stays symmetric."""
    draws = slow.draw_case([[[0], [1]]], 3, reliability=1e9, n_draws=2_000)
    assert (shares(draws) > 0).all()
    ratio = draws.rest / draws.share[:, 1]
    # The rest is a Beta(1, γ + 1) part of what is left after the first class: γ times the ratio has mean 1.
    slow.assert_means((ratio * 1e9)[:, None], 1.0, 1e-6)


@pytest.mark.parametrize("reliability", [1e-10, 1e-4])
def test_a_reliability_near_0_gives_the_prior(reliability, slow):
    """Shares of three Gamma(1) variables: each is first in a third of the draws."""
    draws = slow.draw_case([[[0]], [[0, 1]], [[1], [2]]], 3, reliability=reliability, n_draws=N)
    slow.assert_means(slow.places(draws.top, 3), 1 / 3, 2e-4)
    slow.assert_means(np.square(shares(draws)), 1 / 6, 2e-4)


def test_effective_draws_of_independent_ones_are_about_their_number():
    values = np.random.default_rng(0).normal(size=(20_000, 1))
    assert 0.9 * 20_000 < effective_draws(values) <= 20_000


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_effective_draws_of_an_autoregression_are_its_closed_form(rho):
    """(1 - ρ) / (1 + ρ) of the draws, within the estimate's own error (Sokal, for a window of 5 τ)."""
    n = 200_000
    noise = np.random.default_rng(0).normal(size=n)
    values = np.empty((n, 1))
    values[0] = noise[0] / np.sqrt(1 - rho**2)
    for i in range(1, n):
        values[i] = rho * values[i - 1] + noise[i]
    tau = (1 + rho) / (1 - rho)
    error = np.sqrt(2 * (2 * 5 * tau + 1) / n)
    assert abs(effective_draws(values) * tau / n - 1) < 4.5 * error


def test_effective_draws_are_those_of_the_worst_column():
    rng = np.random.default_rng(0)
    slow_column = np.repeat(rng.normal(size=(500, 1)), 20, axis=0)
    both = np.column_stack([rng.normal(size=(10_000, 1)), slow_column])
    assert effective_draws(both) == effective_draws(slow_column)
    assert effective_draws(slow_column) < 1_000


@pytest.mark.parametrize("n_draws", [1, 2, 3, 5, 1_000])
def test_effective_draws_are_never_more_than_there_are(n_draws):
    rng = np.random.default_rng(0)
    alternating = (np.arange(n_draws) % 2 + 0.01 * rng.normal(size=n_draws))[:, None]
    assert effective_draws(alternating) <= n_draws
    assert effective_draws(np.ones((n_draws, 2))) == n_draws


# Calibration: Simulation-based calibration: the true share has a uniform rank among the draws.


N_REPLICATIONS = 1_500
FALSE_ALARM = 1e-5  # of each p-value; 30 of them and 7 z raise one once in 3,000 seeds


@pytest.mark.parametrize("name", DESIGNS)
def test_true_shares_have_uniform_ranks_among_the_draws(name):
    """And the class that is truly first is never-named as often as the draws say."""
    p_values, z = calibrate(DESIGNS[name], N_REPLICATIONS)
    assert (p_values > FALSE_ALARM).all()
    assert abs(z) < 4.4


def test_draws_that_trust_the_raters_too_much_fail_the_same_check(monkeypatch):
    """Every annotation counted three times leaves ranks at both ends."""

    class Trusting(PlackettLuce):
        def draws(self, dataset, *, reliability, **rest):
            return super().draws(dataset, reliability=3 * reliability, **rest)

    monkeypatch.setattr(sampler_calibration, "PlackettLuce", Trusting)
    p_values, _ = calibrate(DESIGNS["ties and unranked"], N_REPLICATIONS)
    assert (p_values < FALSE_ALARM).any()


@pytest.mark.parametrize("name", ["ties, all named", "two never named"])
def test_data_to_calibrate_with_are_what_the_design_says(name):
    """Tied classes stand in one block in any order of theirs; exactly the first classes are named."""
    design = DESIGNS[name]
    _, orders = sampler_calibration.simulate(design, 50, np.random.default_rng(0))
    dataset = sampler_calibration.as_dataset(design, orders)
    for case in range(50):
        rankings = [dataset.blocks_of(annotation) for annotation in dataset.annotations_of(case)]
        assert [tuple(map(len, blocks)) for blocks in rankings] == list(design.sizes)
        assert {k for blocks in rankings for block in blocks for k in block} == set(range(design.n_named))
        for blocks, order in zip(rankings, orders, strict=True):
            assert [k for block in blocks for k in sorted(block)] == [k for block in blocks for k in block]
            assert set(blocks[0]) == set(order[case, : len(blocks[0])].tolist())


# Blocks: Annotations of a case as distinct rankings over the classes named there.


def blocks_of(dataset, case=0):
    return case_blocks(dataset, case, ranking_entries(dataset))


def as_lists(blocks):
    """Each distinct ranking as blocks of class codes."""
    return [
        [
            blocks.classes[blocks.member[blocks.block_ptr[b] : blocks.block_ptr[b + 1]]].tolist()
            for b in range(blocks.rater_ptr[rater], blocks.rater_ptr[rater + 1])
        ]
        for rater in range(len(blocks.multiplicity))
    ]


def test_identical_rankings_are_counted_together_whatever_the_order_within_a_tie(slow):
    rankings = [[[7, 2], [4]], [[4]], [[2, 7], [4]], [[2], [7], [4]], [[4]], [[7, 2], [4]]]
    blocks = blocks_of(slow.dataset_of([rankings], 9))
    assert blocks.classes.tolist() == [2, 4, 7]
    assert as_lists(blocks) == [[[2, 7], [4]], [[4]], [[2], [7], [4]]]
    assert blocks.multiplicity.tolist() == [3, 2, 1]
    assert blocks.n_rest == 6
    assert blocks.weight(1.5).tolist() == [4.5, 3.0, 1.5]


def test_a_last_block_after_which_nothing_is_left_is_not_there(slow):
    """Its classes are still named; with a class left over the block stays."""
    rankings = [[[0], [2, 1]], [[0, 1, 2]], [[0], [2], [1]]]
    blocks = blocks_of(slow.dataset_of([rankings], 3))
    assert as_lists(blocks) == [[[0]], [], [[0], [2]]]
    assert blocks.classes.tolist() == [0, 1, 2]
    assert blocks.n_rest == 0
    assert as_lists(blocks_of(slow.dataset_of([rankings], 4))) == [[[0], [1, 2]], [[0, 1, 2]], [[0], [2], [1]]]


def test_each_case_has_its_own_classes(slow):
    dataset = slow.dataset_of([[[[5], [1]]], [[[3, 0]], [[3], [0]]]], 6)
    assert as_lists(blocks_of(dataset, 0)) == [[[5], [1]]]
    assert as_lists(blocks_of(dataset, 1)) == [[[0, 3]], [[3], [0]]]
    assert blocks_of(dataset, 0).n_rest == 4


def test_random_rankings_are_counted_as_by_hand(slow):
    rng = np.random.default_rng(0)
    for _ in range(30):
        n_classes = int(rng.integers(1, 5))
        rankings = []
        for _ in range(6):
            classes = rng.permutation(n_classes)[: rng.integers(1, n_classes + 1)]
            cuts = np.flatnonzero(rng.random(len(classes) - 1) < 0.5) + 1
            rankings.append([sorted(part.tolist()) for part in np.split(classes, cuts)])
        distinct = [blocks for i, blocks in enumerate(rankings) if blocks not in rankings[:i]]
        kept = [blocks if sum(map(len, blocks)) < n_classes else blocks[:-1] for blocks in distinct]
        found = blocks_of(slow.dataset_of([rankings], n_classes))
        assert as_lists(found) == kept
        assert found.multiplicity.tolist() == [rankings.count(blocks) for blocks in distinct]


def test_single_classes_are_rankings_of_one_block(build):
    dataset = build([(0, 0, 3), (0, 1, 1), (0, 2, 3)], 5)
    blocks = blocks_of(dataset)
    assert as_lists(blocks) == [[[3]], [[1]]]
    assert blocks.multiplicity.tolist() == [2, 1]


def test_a_case_with_no_annotation_has_no_blocks(build):
    blocks = blocks_of(build([(1, 0, 0)], 3, 2))
    assert len(blocks.classes) == len(blocks.multiplicity) == 0
    assert blocks.n_rest == 3


def test_scores_have_no_blocks():
    scores = Dataset.from_scores("s", ["a"], ["r"], np.array([0]), np.array([0]), np.array([1.0]))
    with pytest.raises(NotApplicableError, match="Could not rank scores"):
        ranking_entries(scores)
