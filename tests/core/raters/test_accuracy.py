import numpy as np
import pytest

from core.agreement.intervals import Coefficient, undefined
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.raters._accuracy_kernels import log_likelihood
from core.raters.accuracy import accuracies_of, binomial_mixture_tail, shrink
from core.raters.leave_one_rater_out import panel_of
from core.raters.rates import entropy_of, rates_of
from tests.benchmarks.rater_monitoring import SETTINGS, coverage
from tests.core.raters.raters_simulated import simulated

POINTS = 1 / (1 + np.exp(-np.linspace(-9, 9, 241)))


def known_truth(right, n):
    """Accuracies of raters whose right annotations are counted, as if the truth were known."""
    right, n = np.asarray(right, float)[:, None], np.asarray(n, float)[:, None]
    values = right * np.log(POINTS) + (n - right) * np.log1p(-POINTS)
    points = np.tile(POINTS, (len(values), 1))
    return shrink(points, values - values.max(axis=1, keepdims=True), n[:, 0].astype(int), 0.95)


# Of each annotation, whether it is unlikely of a rater who is right, and of one who is mistaken.
UNLIKELY = {
    "neither way": [(False, False)],
    "of one who is right": [(True, False)],
    "of one who is mistaken": [(False, True)],
    "both ways, then one, then the other": [(True, True)] * 25 + [(False, True)] * 75 + [(True, False)] * 100,
}


@pytest.mark.parametrize("smallest", [1e-3, 1e-30, 1e-99], ids=lambda least: f"chances of {least:g}")
@pytest.mark.parametrize("n", [0, 1, 40, 3_000])
@pytest.mark.parametrize("unlikely", UNLIKELY.values(), ids=UNLIKELY)
def test_the_likelihood_of_an_accuracy_is_the_sum_of_logs(unlikely, n, smallest):
    """However small its factors are, and whichever annotations are left out."""
    rng = np.random.default_rng(n)
    order = rng.permutation(n)
    right, wrong = rng.uniform(0.1, 1, (2, n))
    right[order], wrong[order] = np.where(np.resize(unlikely, (n, 2)), smallest, np.stack([right, wrong], axis=1)).T
    judged, found = rng.random(n) < 0.9, np.full(len(POINTS), np.nan)
    log_likelihood(right, wrong, judged, order, n // 8, n, POINTS, found)
    rows = order[n // 8 :][judged[order[n // 8 :]]]
    expected = np.log(np.outer(POINTS, right[rows]) + np.outer(1 - POINTS, wrong[rows])).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_alone_is_the_beta_posterior_when_the_truth_is_known():
    """x right of n under an even prior: Beta(x + 1, n − x + 1)."""
    from scipy.stats import beta

    found = known_truth([9], [12])
    assert found.alone[0] == pytest.approx(10 / 14, abs=1e-3)
    assert found.alone_low[0] == pytest.approx(beta.ppf(0.025, 10, 4), abs=2e-3)
    assert found.alone_high[0] == pytest.approx(beta.ppf(0.975, 10, 4), abs=2e-3)
    assert found.shrunk[0] == pytest.approx(found.alone[0])  # one rater has no pool


def test_shrinking_is_the_hierarchical_beta_binomial_model():
    """Against a plain grid over (mean, size), with closed-form Beta-binomial marginals."""
    from scipy.special import betaln

    right, n = np.array([3, 5, 8, 10, 4, 9]), np.array([10, 10, 10, 10, 5, 15])
    found = known_truth(right, n)
    logit, log_size = np.linspace(-6, 6, 241), np.linspace(-6, 13, 241)
    m, s = (x.ravel() for x in np.meshgrid(1 / (1 + np.exp(-logit)), np.exp(log_size)))
    log_weight = np.log(m * (1 - m)) + np.log(s) - 2 * np.log1p(s)
    for x, k in zip(right, n, strict=True):
        log_weight += betaln(m * s + x, (1 - m) * s + k - x) - betaln(m * s, (1 - m) * s)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    expected = [float(weight @ ((m * s + x) / (s + k))) for x, k in zip(right, n, strict=True)]
    np.testing.assert_allclose(found.shrunk, expected, atol=4e-3)
    assert found.pool_mean == pytest.approx(float(weight @ m), abs=0.01)


def test_raters_who_are_alike_are_drawn_to_one_value_and_unlike_ones_are_not():
    alike = known_truth([7, 8, 7, 8] * 10, [10] * 40)
    assert np.ptp(alike.shrunk) < 0.3 * np.ptp(alike.alone)
    unlike = known_truth([20, 180, 100, 150] * 5, [200] * 20)
    np.testing.assert_allclose(unlike.shrunk, unlike.alone, atol=0.01)


def test_a_rater_with_few_answers_is_drawn_further_than_one_with_many():
    found = known_truth([3, 300, 8, 80, 160, 7], [10, 1000, 10, 100, 200, 10])
    moved = np.abs(found.shrunk - found.alone)
    assert moved[0] > 10 * moved[1]


def test_the_tail_below_others_is_beta_binomial_where_the_pool_is_a_beta_distribution():
    from scipy.stats import beta, betabinom

    edges = np.linspace(0, 1, 401)
    for one, two, n in ((8, 3, 20), (30, 10, 100), (6, 6, 50)):
        x = np.array([0.0, n // 4, n // 2, n])
        mass = np.tile(np.diff(beta.cdf(edges, one, two)), (4, 1))
        found = binomial_mixture_tail(x, np.full(4, float(n)), (edges[1:] + edges[:-1]) / 2, mass)
        np.testing.assert_allclose(found, betabinom.cdf(x, n, one, two), rtol=2e-3, atol=1e-7)


def test_an_honest_rater_is_as_seldom_below_the_others_as_said():
    """The probability is at most 0.1 for about a tenth of raters from one Beta pool."""
    rng = np.random.default_rng(0)
    below = [known_truth(rng.binomial(40, rng.beta(8, 3, 25)), np.full(25, 40)).below_others for _ in range(8)]
    assert abs(np.mean(np.concatenate(below) <= 0.1) - 0.1) < 3 * np.sqrt(0.09 / 200)


@pytest.mark.parametrize("setting", SETTINGS[1:4], ids=lambda setting: setting.title)
def test_intervals_hold_the_accuracy_of_simulated_raters_and_shrinking_does_not_harm(setting):
    """0.95 within 0.03, and three standard errors of the count; errors of the shrunk are no larger."""
    found = coverage(setting, 10)
    slack = 0.03 + 3 * np.sqrt(0.05 * 0.95 / found["n"])
    assert abs(found["alone"] - 0.95) < slack
    assert abs(found["shrunk"] - 0.95) < slack
    assert found["error shrunk"] <= found["error alone"]


def test_accuracy_is_found_whichever_model_weighs_the_others():
    accuracy = np.linspace(0.55, 0.95, 9)
    data, _ = simulated(5, accuracy, n_cases=700)
    for model in (DawidSkene("none"), MajorityVote()):
        found = accuracies_of(panel_of(data, model.fit(data)))
        assert np.abs(found.alone - accuracy).max() < 0.09
        assert (found.alone_low < found.alone).all() and (found.alone < found.alone_high).all()


def test_a_rater_nobody_can_judge_has_no_accuracy():
    data, _ = simulated(6, [0.8], n_cases=10, per_case=1)
    found = accuracies_of(panel_of(data, MajorityVote().fit(data)))
    assert found.n_judged.tolist() == [0]
    assert np.isnan([found.alone[0], found.shrunk[0], found.low[0], found.below_others[0]]).all()


def test_chances_below_a_bound_grow_with_it():
    found = known_truth([8, 2], [10, 10])
    assert found.chance_below(np.array([0.5, 0.5]))[0] < found.chance_below(np.array([0.9, 0.5]))[0]
    assert found.chance_below(np.array([0.5, 0.5]), shrunk=False)[1] > 0.9


# Rates: Numbers of raters stand in the row of their rater, with both ends.


def test_each_rater_has_their_own_share_ends_and_cases_and_what_is_undefined_is_unknown():
    each = (
        Coefficient("percent", "identity", 0.7, 0.1, 0.55, 0.75, 11, 31),
        undefined("percent", "identity", "no pair", 3, 4),
        Coefficient("percent", "identity", 0.2, None, None, None, 1, 2),
        Coefficient("percent", "identity", 0.4, 0.1, 0.15, 0.5, 7, 20),
    )
    found = rates_of(each, 4)
    np.testing.assert_array_equal(found.value, [0.7, np.nan, 0.2, 0.4])
    np.testing.assert_array_equal(found.low, [0.55, np.nan, np.nan, 0.15])
    np.testing.assert_array_equal(found.high, [0.75, np.nan, np.nan, 0.5])
    assert found.n.tolist() == [11, 3, 1, 7]


def test_bits_of_the_classes_are_those_of_each_raters_own_shares(build):
    """Rater 0 uses two classes evenly, rater 1 one alone, rater 2 three as 2 : 1 : 1, rater 3 none."""
    rater = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])
    answer = np.array([0, 2, 1, 1, 1, 0, 0, 1, 2])
    data = build([(case, r, a) for case, (r, a) in enumerate(zip(rater, answer, strict=True))], 3, n_raters=4)
    found = entropy_of(rater, answer, data)
    assert found[:3] == pytest.approx([1, 0, 1.5]) and np.isnan(found[3])
