import numpy as np
import pytest
from scipy.stats import norm

from core.errors import InputError, LimitError, NotApplicableError
from core.models.difficulty.covariate_density import PRIOR_LOG_TAU, CovariateDensity
from core.models.difficulty.covariate_design import covariate
from core.models.difficulty.covariates import MOST_RATERS, Probabilities, draw_parameters, fit_covariates
from core.models.reparametrise import expit
from tests.core.models.difficulty.covariate_examples import columns_of, dataset_of, density_of, simulated

CLEAR = {"intercept": -0.5, "log_spread": -0.5, "mean": 1.7, "log_tau": -1.5, "difficulty": 0.0, "prevalence": 0.0}
LARGE = (160, 12, 6)


def by_name(fit):
    return {(one.column, one.value, one.outcome): one for one in fit.effects}


def test_value_and_gradient_are_those_of_a_slow_sum():
    dataset, of_raters, of_cases, theta = simulated(1, 20, 10, 3)
    density = density_of(dataset, columns_of(of_raters, of_cases))
    node, weight = np.polynomial.hermite_e.hermegauss(31)
    at, alpha = density.split(theta), density.abilities(density.split(theta))
    slow = 0.0
    for case in range(dataset.n_cases):
        positive = expit(float(at.intercept[0] + density.of_cases[case] @ at.prevalence))
        hard = float(density.of_cases[case] @ at.difficulty) + np.exp(at.log_spread[0]) * node
        total = 0.0
        for z, share in ((0, 1 - positive), (1, positive)):
            product = np.ones(31)
            for place in dataset.annotations_of(case):
                right = expit(alpha[dataset.rater[place], z] - hard)
                product *= right if dataset.answer[place] == z else 1 - right
            total += share * (weight / weight.sum()) @ product
        slow += np.log(total)
    centre, sd = density._prior
    value, gradient = density.value_and_gradient(theta)
    assert value == pytest.approx(slow - 0.5 * (((theta - centre) / sd) ** 2).sum(), abs=1e-9)
    steps = 1e-5 * np.eye(density.ndim)
    rise = [density.value_and_gradient(theta + d)[0] - density.value_and_gradient(theta - d)[0] for d in steps]
    assert gradient == pytest.approx(np.array(rise) / 2e-5, abs=1e-5)


def test_hundreds_of_annotations_have_a_finite_density():
    case, rater = np.repeat(np.arange(10), 400), np.tile(np.arange(400) % 20, 10)
    dataset = dataset_of(case, rater, (np.arange(4000) % 7 < 3).astype(int))
    facts = {"role": ["a", "b"] * 10}
    density = density_of(dataset, columns_of(facts, {}))
    value, gradient = density.value_and_gradient(density.start())
    assert np.isfinite(value) and value < -1000 and np.abs(gradient).max() > 0


def test_scaled_coordinates_and_the_job_are_the_same_density():
    dataset, of_raters, of_cases, theta = simulated(2, 20, 10, 3)
    plain = density_of(dataset, columns_of(of_raters, of_cases))
    root = np.diag(np.linspace(0.5, 1.5, plain.ndim))
    scaled = CovariateDensity(dataset, 1, plain.of_cases, plain.of_raters, theta, root)
    settings, arrays = scaled.job()
    again, place = CovariateDensity.from_job(settings, arrays), np.full(plain.ndim, 0.1)
    value, gradient = plain.value_and_gradient(theta + root @ place)
    for one in (scaled, again):
        assert one.value_and_gradient(place)[0] == pytest.approx(value)
        assert one.value_and_gradient(place)[1] == pytest.approx(root @ gradient)


def test_effects_are_averages_over_raters_and_cases():
    """Against a slow sum over all raters, cases and difficulties."""
    dataset, of_raters, of_cases, theta = simulated(3, 40, 10, 3)
    columns = columns_of(of_raters, of_cases)
    density = density_of(dataset, columns)
    found = {(one.name, outcome): draws[0] for one in columns for _, outcome, draws in
             Probabilities(density, columns, theta[None]).effects(one)}  # fmt: skip
    at = density.split(theta)
    node, weight = np.polynomial.hermite_e.hermegauss(9)

    def accuracy(of_raters, location, positive):
        ability = at.mean[None] + of_raters @ at.ability.reshape(2, -1).T
        ability = ability + np.exp(at.log_tau) * at.rater.reshape(2, -1).T
        hard = location[:, None] + np.exp(at.log_spread) * node
        by_side = [(expit(ability[:, z, None, None] - hard) @ (weight / weight.sum())).mean(axis=0) for z in (0, 1)]
        return float(((1 - positive) * by_side[0] + positive * by_side[1]).mean())

    site, role, years = density.of_cases[:, 0], density.of_raters[:, 0], density.of_raters[:, 1]
    location, positive = site * at.difficulty[0], expit(at.intercept[0] + site * at.prevalence[0])
    more, less = (accuracy(np.column_stack([np.full(10, x), years]), location, positive) for x in (1.0, 0.0))
    assert found["role", "accuracy"] == pytest.approx(more - less, abs=2e-4)
    more, less = (accuracy(np.column_stack([role, years + x]), location, positive) for x in (0.5, -0.5))
    assert found["years", "accuracy"] == pytest.approx(more - less, abs=2e-4)
    change = expit(at.intercept[0] + at.prevalence[0]) - expit(at.intercept[0])
    assert found["site", "prevalence"] == pytest.approx(change)
    more, less = (accuracy(density.of_raters, np.full(40, x * at.difficulty[0]), positive) for x in (1.0, 0.0))
    assert found["site", "difficulty"] == pytest.approx(more - less, abs=2e-4)


def test_a_clear_effect_of_raters_is_named_with_its_size():
    change = CLEAR | {"ability": (-1.2, 0.0, -1.2, 0.0)}
    dataset, of_raters, of_cases, theta = simulated(4, *LARGE, change)
    columns = columns_of(of_raters, of_cases)
    truth = Probabilities(density_of(dataset, columns), columns, theta[None])
    (_, _, (true,)) = next(truth.effects(columns[0]))
    one = fit_covariates(dataset, of_raters, of_cases).effects[0]
    assert one.clear and true < -0.1
    assert abs(one.difference.value - true) < 3 * (one.difference.high - one.difference.low) / 3.92
    assert (one.column, one.outcome, one.n) == ("role", "accuracy", 6)


def test_chains_and_the_mode_agree():
    """Means within half a standard error, widths within a third. p is that of the interval, and small if clear."""
    dataset, of_raters, of_cases, _ = simulated(8, 60, 10, 5, CLEAR | {"ability": -0.5})
    by_mode = fit_covariates(dataset, of_raters, of_cases)
    by_chains = fit_covariates(dataset, of_raters, of_cases, way="nuts", n_draws=300, n_tune=200, n_chains=2)
    assert by_chains.way == "nuts" and by_chains.diagnostics
    for one, other in zip(by_mode.effects, by_chains.effects, strict=True):
        width, others = (each.difference.high - each.difference.low for each in (one, other))
        assert abs(one.difference.value - other.difference.value) < 0.5 * others / 3.92
        assert 2 / 3 < width / others < 1.5
        assert norm.isf(one.p / 2) == pytest.approx(abs(one.difference.value) * 3.92 / width, rel=0.2)
        assert not one.clear or one.p < 0.05
    assert max(one.p for one in by_mode.effects) > 0.05


def test_almost_without_data_the_spread_of_raters_is_its_prior():
    """Within three standard errors of 500 draws: both tails, which six values of the spread do not reach."""
    dataset, of_raters, of_cases, _ = simulated(9, 10, 10, 1, CLEAR)
    density = density_of(dataset, columns_of(of_raters, of_cases))
    log_tau = density.split(draw_parameters(density, "map")[0]).log_tau[:, 0]
    mean, sd = PRIOR_LOG_TAU
    ends = np.quantile(log_tau, [0.025, 0.975])
    assert ends == pytest.approx(
        [mean - 1.96 * sd, mean + 1.96 * sd], abs=3 * sd * (0.025 * 0.975 / 500) ** 0.5 / 0.0584
    )
    assert log_tau.std() == pytest.approx(sd, abs=3 * sd / 1000**0.5)


def test_effects_of_cases_are_found():
    change = CLEAR | {"ability": 0.0, "prevalence": 2.0, "difficulty": 1.5, "mean": 3.0}
    dataset, _, of_cases, _ = simulated(5, *LARGE, change)
    found = by_name(fit_covariates(dataset, {}, of_cases))
    assert found["site", "south", "prevalence"].clear and found["site", "south", "prevalence"].difference.low > 0.1
    assert found["site", "south", "difficulty"].clear and found["site", "south", "difficulty"].difference.high < 0


def test_the_order_of_columns_changes_no_number():
    dataset, of_raters, of_cases, _ = simulated(6, 30, 10, 3)
    turned = dict(reversed(of_raters.items()))
    one, two = (fit_covariates(dataset, facts, of_cases) for facts in (of_raters, turned))
    assert by_name(one) == by_name(two) and [e.column for e in two.effects[:2]] == ["years", "role"]


def test_columns_that_cannot_be_used_are_refused_in_words():
    same, each = ["a"] * 20, [f"v{place}" for place in range(20)]
    for values, words in (
        (same, "all raters have the same value"),
        ([""] * 20, "no rater has a value"),
        (each, "every rater has a different value"),
        ([*each[:8], *["v1"] * 12], "8 different values for 20 raters; the limit is 4"),
        (["1", "2", "3", *[""] * 17], "numbers for only 3 raters"),
    ):
        with pytest.raises(NotApplicableError, match=words):
            covariate("raters", "role", values)
    dataset, _, of_cases, _ = simulated(7, 30, 10, 3)
    with pytest.raises(NotApplicableError, match="no column is chosen"):
        fit_covariates(dataset, {}, {})
    with pytest.raises(NotApplicableError, match="at most 3"):
        fit_covariates(dataset, {}, dict.fromkeys("abcd", of_cases["site"]))
    with pytest.raises(InputError, match="it has 1 value for"):
        fit_covariates(dataset, {"role": ["a"]}, {})
    crowd = dataset_of(
        np.repeat(np.arange(2), MOST_RATERS + 1), np.tile(np.arange(MOST_RATERS + 1), 2), np.zeros(602, int)
    )
    with pytest.raises(LimitError, match="the limit is 300"):
        fit_covariates(crowd, {"role": ["a", "b"] * 150 + ["a"]}, {})


def test_values_are_compared_with_the_most_frequent():
    one = covariate("raters", "role", ["b"] * 7 + ["a"] * 12 + [""])
    assert (one.reference, one.values, one.counts) == ("a", ("b",), (7,))
    assert one.matrix.sum(axis=0).tolist() == [7, 1] and one.matrix[-1].tolist() == [0, 1]
    tied = covariate("cases", "site", ["b", "a"] * 10)
    assert tied.reference == "a"
    numbers = covariate("raters", "years", ["1", "2", "4", "5", "8", ""])
    assert numbers.matrix[:-1, 0].mean() == pytest.approx(0) and numbers.matrix[:-1, 0].std() == pytest.approx(1)
    assert numbers.matrix[-1].tolist() == [0, 1] and numbers.sd == pytest.approx(np.std([1, 2, 4, 5, 8]))
