import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from core.models.difficulty.names import switches
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
from tests.core.models.difficulty.reference import logistic


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
