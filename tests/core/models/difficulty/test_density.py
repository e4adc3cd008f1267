from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from core.annotations.dataset import Dataset
from core.errors import Cancelled, LimitError
from core.models.difficulty.density import DifficultyDensity, Specification
from core.models.difficulty.mode import at_its_mode, whitened
from core.models.difficulty.names import TAGS, switches
from core.models.difficulty.nodes import (
    NodeCounts,
    difficulty_rule,
    discrimination_rule,
    finer,
    first_counts,
    guessing_rule,
    nodes,
)
from core.models.patterns import collapse
from core.runtime.chunks import CancelToken
from tests.core.models.difficulty.full_density import FullDifficultyDensity
from tests.core.models.difficulty.reference import (
    ALL,
    case_likelihood,
    density_of,
    log_density,
    logistic,
    parameters,
    small_data,
)

PUBLISHED = [("AC", True), ("ABCE", True)]


def numeric(density, theta, step=1e-5):
    unit = np.eye(density.ndim) * step
    rise = [density.value_and_gradient(theta + d)[0] - density.value_and_gradient(theta - d)[0] for d in unit]
    return np.array(rise) / (2 * step)


@pytest.mark.parametrize(("tag", "cooperative"), ALL)
def test_gradients_are_those_of_central_differences(tag, cooperative):
    data = small_data()
    density = density_of(data, tag, cooperative)
    for seed in (1, 2):
        theta = np.random.default_rng(seed).normal(0.5, 1.0, density.ndim)
        _, gradient = density.value_and_gradient(theta)
        scale = max(1.0, np.abs(gradient).max(initial=0))
        assert gradient == pytest.approx(numeric(density, theta), abs=1e-6 * scale)
        full = FullDifficultyDensity(density)
        theta = np.random.default_rng(seed).normal(0.5, 1.0, full.ndim)
        _, gradient = full.value_and_gradient(theta)
        scale = max(1.0, np.abs(gradient).max(initial=0))
        assert gradient == pytest.approx(numeric(full, theta), abs=1e-6 * scale)


@pytest.mark.parametrize(("tag", "cooperative"), [("Full", True), ("ABC", True), ("AD", False), ("ABCE", True)])
def test_whitened_coordinates_are_the_same_density_elsewhere(tag, cooperative):
    plain = at_its_mode(density_of(small_data(), tag, cooperative))
    white = whitened(plain)
    theta = np.random.default_rng(3).normal(size=plain.ndim)
    value, gradient = white.value_and_gradient(theta)
    assert value == pytest.approx(plain.value_and_gradient(white.parameters_at(theta[None])[0])[0], rel=1e-12)
    assert gradient == pytest.approx(numeric(white, theta), abs=1e-5)
    assert white.value_and_gradient(np.zeros(plain.ndim))[0] == pytest.approx(plain.value_and_gradient(plain.mode)[0])
    full = FullDifficultyDensity(white)
    theta = np.random.default_rng(4).normal(size=full.ndim)
    assert full.value_and_gradient(theta)[1] == pytest.approx(numeric(full, theta), abs=1e-5)


@pytest.mark.parametrize(
    ("tag", "cooperative", "as_published"), [(*model, False) for model in ALL] + [(*model, True) for model in PUBLISHED]
)
def test_the_density_is_that_of_loops_over_the_equations(tag, cooperative, as_published):
    """Differences between two points, since the density leaves constants out."""
    density = density_of(small_data(n_cases=5), tag, cooperative, as_published=as_published)
    density = DifficultyDensity(density.dataset, density.specification, _fine(density))
    one, two = np.random.default_rng(5).normal(0.7, 0.8, (2, density.ndim))
    found = density.value_and_gradient(one)[0] - density.value_and_gradient(two)[0]
    assert found == pytest.approx(log_density(density, one) - log_density(density, two), abs=2e-5)
    if density.ndim == 0:
        assert density.value_and_gradient(one)[0] == pytest.approx(log_density(density, one), abs=1e-8)


def _fine(density):
    counts = density.node_counts
    return NodeCounts(
        *(31 if count > 1 else 1 for count in (counts.difficulty, counts.discrimination)), counts.guessing
    )


@pytest.mark.parametrize("tag", TAGS)
def test_probabilities_of_all_answers_sum_to_one(tag):
    """Over the 2^4 ways in which four raters can annotate a case."""
    ways = np.array(list(product([0, 1], repeat=4)))
    case, rater = np.repeat(np.arange(16), 4), np.tile(np.arange(4), 16)
    names = [[str(number) for number in range(size)] for size in (16, 4)]
    density = density_of(Dataset.from_classes("all", *names, ["no", "yes"], case, rater, ways.ravel()), tag)
    draws = np.random.default_rng(6).normal(size=(5, density.ndim))
    log_p = density.log_likelihood(draws)
    assert (np.exp(log_p) @ density.case_count if not density.on.ability else np.exp(log_p).sum(axis=1)) == (
        pytest.approx(np.ones(5), abs=1e-9)
    )


@pytest.mark.parametrize("tag", ["Full", "ABC", "ABDE", "ABCE", "CD"])
def test_log_likelihood_and_class_probability_are_those_of_single_cases(tag):
    data = small_data()
    density = density_of(data, tag)
    density = DifficultyDensity(data, density.specification, _fine(density))
    draws = np.random.default_rng(7).normal(0.5, 0.5, (2, density.ndim))
    log_p, positive = density.probabilities(draws)
    for draw, theta in enumerate(draws):
        prevalence, alpha = parameters(density, theta)
        for case in (0, 3, data.n_cases - 1):
            own = slice(data.case_ptr[case], data.case_ptr[case + 1])
            both = case_likelihood(prevalence, alpha, data.rater[own], data.answer[own], density.on)
            true = prevalence * case_likelihood(1.0, alpha, data.rater[own], data.answer[own], density.on)
            place = density.patterns.pattern_of_case[case]
            assert log_p[draw, place] == pytest.approx(np.log(both), abs=1e-5)
            assert positive[draw, place] == pytest.approx(true / both, abs=1e-5)


@pytest.mark.parametrize("tag", ["Full", "ABC", "A", "BCD"])
def test_nothing_raises_where_parameters_are_absurd(tag):
    density = density_of(small_data(), tag)
    for size in (50.0, 1e3, 1e5, 1e200, np.inf, np.nan):
        for sign in (-1, 1):
            value, gradient = density.value_and_gradient(np.full(density.ndim, sign * size))
            assert value == -np.inf or (np.isfinite(value) and np.isfinite(gradient).all())
            assert not np.isnan(value) and np.isfinite(gradient).all()


def test_products_that_underflow_are_done_again_in_logs():
    """400 annotations by sure raters on one case, half of them wrong: far below the smallest number."""
    answer = np.tile([0, 1], 200)
    data = Dataset.from_classes("long", ["c"], ["r"], ["no", "yes"], np.zeros(400, int), np.zeros(400, int), answer)
    density = density_of(data, "ABC", cooperative=False)
    theta = np.array([0.0, 12.0, 12.0])
    found = density.log_likelihood(theta[None])[0, 0]
    assert found == pytest.approx(200 * (np.log(logistic(12.0)) + np.log(logistic(-12.0))), rel=1e-12)
    assert density.value_and_gradient(theta)[1] == pytest.approx(numeric(density, theta), abs=1e-4)


def test_the_same_density_comes_out_of_its_job():
    density = whitened(at_its_mode(density_of(small_data(), "A", positive=0)))
    settings, arrays = density.job()
    import json

    again = DifficultyDensity.from_job(json.loads(json.dumps(settings)), arrays)
    theta = np.random.default_rng(8).normal(size=density.ndim)
    assert again.value_and_gradient(theta)[0] == density.value_and_gradient(theta)[0]
    assert (again.starts(3, 1) == density.starts(3, 1)).all()
    full = FullDifficultyDensity.from_job(*FullDifficultyDensity(density).job())
    assert full.starts(2, 1).shape == (2, full.ndim)
    draws = full.starts(3, 1)
    assert (full.log_likelihood(draws) == density.log_likelihood(draws[:, : density.ndim])).all()
    assert (full.simulate(draws[0], 4) == density.simulate(draws[0, : density.ndim], 4)).all()


def test_a_positive_class_that_stands_first_mirrors_the_data():
    data = small_data()
    mirrored = Dataset.from_classes(
        "m", data.cases, data.raters, ["yes", "no"], data.case_of_annotation, data.rater, 1 - data.answer
    )
    one, two = density_of(data, "AB"), density_of(mirrored, "AB", positive=0)
    theta = np.random.default_rng(9).normal(size=one.ndim)
    assert one.value_and_gradient(theta)[0] == two.value_and_gradient(theta)[0]
    assert (one.simulate(theta, 3) == 1 - two.simulate(theta, 3)).all()


def test_a_grid_too_large_for_memory_names_the_remedy():
    data = small_data()
    with pytest.raises(LimitError, match="fewer case effects"):
        DifficultyDensity(data, Specification("Full"), NodeCounts(10_000, 100, 100))


def test_the_search_for_the_mode_stops_on_request():
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        at_its_mode(density_of(small_data(), "AB"), token)


@pytest.mark.parametrize("tag", ["AB", "A"])
def test_three_hundred_answers_on_a_case_are_no_obstacle(tag):
    """Two cases, three raters who annotate a hundred times each: the grid is refined until it is fine enough."""
    rater = np.tile(np.arange(3), 200)
    answer = np.concatenate((np.arange(300) % 3 == 0, np.arange(300) % 7 > 0)).astype(int)
    names = ["a", "b"], ["r", "s", "t"]
    data = Dataset.from_classes("long", *names, ["no", "yes"], np.repeat([0, 1], 300), rater, answer)
    density = at_its_mode(density_of(data, tag))
    assert density.node_counts.difficulty > 61 and density.arrived
    finer = DifficultyDensity(data, density.specification, NodeCounts(401, 1 if tag == "AB" else 101, 1))
    assert density.log_likelihood(density.mode[None]) == pytest.approx(
        finer.log_likelihood(density.mode[None]), abs=5e-6
    )


@pytest.mark.parametrize("n_nodes", [15, 31, 61, 123, 247])
def test_rules_have_the_moments_of_a_standard_normal(n_nodes):
    value, weight = difficulty_rule(n_nodes)
    assert [weight @ value**power for power in range(5)] == pytest.approx([1, 0, 1, 0, 3], abs=1e-9)


def test_discrimination_is_log_normal_with_a_quarter_as_its_sd():
    value, weight = discrimination_rule(7)
    assert [weight @ value, weight @ value**2] == pytest.approx([np.exp(0.25**2 / 2), np.exp(2 * 0.25**2)], rel=1e-9)


@pytest.mark.parametrize("n_answers", [1, 2, 5, 8])
def test_half_as_many_nodes_as_answers_are_exact_for_guessing(n_answers):
    """E[(a + b λ)^n] under Beta(2, 2) by the binomial formula."""
    from math import comb

    value, weight = guessing_rule(first_counts(switches("BC"), n_answers).guessing, True)
    moments = [6 / ((m + 2) * (m + 3)) for m in range(n_answers + 1)]
    exact = sum(comb(n_answers, m) * 0.3 ** (n_answers - m) * 0.7**m * moments[m] for m in range(n_answers + 1))
    assert weight @ (0.3 + 0.7 * value) ** n_answers == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("n_answers", [5, 20, 100, 400])
def test_the_grid_serves_hundreds_of_answers_on_a_case(n_answers):
    """Against adaptive quadrature of the log-concave integrand about its top."""
    right = n_answers * 2 // 3

    def log_joint(beta):
        p = logistic(1.5 - beta)
        return norm.logpdf(beta) + right * np.log(p) + (n_answers - right) * np.log1p(-p)

    grid = np.linspace(-6, 6, 100_001)
    top = log_joint(grid).max()
    exact = quad(lambda beta: np.exp(log_joint(beta) - top), -9, 9, epsabs=0, epsrel=1e-12, points=[0, 1], limit=500)[0]
    n_nodes = {5: 31, 20: 61, 100: 123, 400: 247}[n_answers]
    value, weight = difficulty_rule(n_nodes)
    found = weight @ np.exp(log_joint(value) - norm.logpdf(value) - top)
    assert np.log(found) == pytest.approx(np.log(exact), abs=2e-6)


def test_a_grid_without_effects_is_one_node():
    one = nodes(switches("ABC"), NodeCounts(1, 1, 1))
    assert one.delta.tolist() == [1.0]
    assert one.table.tolist() == [[1.0], [0.0], [1.0]]


def test_refining_goes_in_each_direction_that_is_not_exact():
    counts = first_counts(switches("Full"), 5)
    assert counts == NodeCounts(15, 7, 3)
    assert finer(counts, 5) == [NodeCounts(31, 7, 3), NodeCounts(15, 13, 3)]
    assert finer(NodeCounts(31, 7, 16), 80) == [NodeCounts(61, 7, 16), NodeCounts(31, 13, 16), NodeCounts(31, 7, 32)]


def test_cases_with_the_same_answers_by_the_same_raters_are_one_pattern():
    case_ptr = np.array([0, 2, 4, 4, 6, 7])
    rater = np.array([0, 1, 1, 0, 0, 0, 1])
    answer = np.array([1, 0, 0, 1, 1, 1, 1])
    found = collapse(case_ptr, rater, answer)
    place = found.pattern_of_case
    assert place[0] == place[1] and len(set(place[[0, 2, 3, 4]])) == 4
    assert found.count[place].tolist() == [2, 2, 1, 1, 1]
    cells = [found.cell[found.ptr[p] : found.ptr[p + 1]].tolist() for p in place]
    assert cells == [[1, 2], [1, 2], [], [1, 1], [3]]
    assert found.longest == 2


def test_caries_has_thirty_two_patterns_and_six_where_raters_are_alike():
    from core import load_sample

    data = load_sample("caries")
    assert collapse(data.case_ptr, data.rater, data.answer).count.size == 32
    alike = collapse(data.case_ptr, np.zeros_like(data.rater), data.answer)
    assert alike.count.size == 6 and alike.count.sum() == 3869
