"""Average overlap against the matrices of its definition, all orders of ties, and sums over pairs."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError, NotApplicableError
from core.rankings.overlap import mean_ao, rater_overlaps, soft_permutation, uao


@st.composite
def pairs_of_rankings(draw, most=7):
    """Two partial rankings, the number of classes, and a depth."""
    n_classes = draw(st.integers(1, most))
    rankings = []
    for _ in range(2):
        order = draw(st.permutations(range(n_classes)))[: draw(st.integers(0, n_classes))]
        blocks = []
        for k in order:
            if blocks and draw(st.booleans()):
                blocks[-1].append(k)
            else:
                blocks.append([k])
        rankings.append(blocks)
    return *rankings, n_classes, draw(st.integers(1, n_classes))


def by_matrices(first, second, n_classes, depth):
    """The trace of the definition, with full matrices."""
    lower = np.tril(np.ones((n_classes, n_classes)))
    positions = np.arange(1, n_classes + 1)
    weights = np.diag(np.where(positions <= depth, 1 / (depth * positions), 0))
    a, b = (soft_permutation(blocks, n_classes) for blocks in (first, second))
    return float(np.trace((lower @ b).T @ weights @ (lower @ a)))


def orders(blocks, n_classes):
    """All orders that a partial ranking may stand for."""
    named = {k for block in blocks for k in block}
    blocks = [*blocks, [k for k in range(n_classes) if k not in named]]
    return [sum(parts, ()) for parts in product(*(permutations(block) for block in blocks))]


def average_overlap(first, second, depth):
    return np.mean([len(set(first[:k]) & set(second[:k])) / k for k in range(1, depth + 1)])


def alone(*order):
    return [[k] for k in order]


@pytest.mark.parametrize(
    ("second", "depth", "expected"),
    [((0, 1, 2, 4, 3), 3, 0.5), ((1, 0, 2, 4, 3), 4, 0.625), ((1, 0, 2, 4, 3), 5, 0.7)],
)
def test_average_overlap_of_the_worked_examples(second, depth, expected):
    assert uao(alone(2, 0, 1, 4, 3), alone(*second), 5, depth) == pytest.approx(expected, abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(pairs_of_rankings())
def test_average_overlap_is_the_trace_of_its_definition(problem):
    first, second, n_classes, depth = problem
    expected = by_matrices(first, second, n_classes, depth)
    assert uao(first, second, n_classes, depth) == pytest.approx(expected, abs=1e-13)
    norm = np.sqrt(by_matrices(first, first, n_classes, depth) * by_matrices(second, second, n_classes, depth))
    assert mean_ao(first, second, n_classes, depth) == pytest.approx(expected / norm, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(pairs_of_rankings(most=4))
def test_average_overlap_is_its_mean_over_all_ways_to_break_the_ties(problem):
    first, second, n_classes, depth = problem
    every = [average_overlap(a, b, depth) for a in orders(first, n_classes) for b in orders(second, n_classes)]
    assert uao(first, second, n_classes, depth) == pytest.approx(np.mean(every), abs=1e-13)


@settings(max_examples=50, deadline=None)
@given(pairs_of_rankings(most=4))
def test_a_soft_permutation_says_how_often_each_class_stands_at_each_place(problem):
    blocks, _, n_classes, depth = problem
    matrix = np.zeros((n_classes, n_classes))
    every = orders(blocks, n_classes)
    for order in every:
        matrix[np.arange(n_classes), order] += 1 / len(every)
    assert soft_permutation(blocks, n_classes) == pytest.approx(matrix, abs=1e-12)
    assert (soft_permutation(blocks, n_classes, depth) == soft_permutation(blocks, n_classes)[:depth]).all()


@settings(max_examples=80, deadline=None)
@given(pairs_of_rankings(most=12))
def test_rows_and_columns_of_a_soft_permutation_sum_to_1(problem):
    blocks, _, n_classes, depth = problem
    assert soft_permutation(blocks, n_classes, depth).sum(axis=1) == pytest.approx(np.ones(depth), abs=1e-12)
    assert soft_permutation(blocks, n_classes).sum(axis=0) == pytest.approx(np.ones(n_classes), abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(pairs_of_rankings(most=9))
def test_overlap_is_symmetric_from_0_to_1_and_normalised_1_with_itself(problem):
    first, second, n_classes, depth = problem
    plain, scaled = uao(first, second, n_classes, depth), mean_ao(first, second, n_classes, depth)
    assert 0 <= plain <= 1 + 1e-14 and 0 <= scaled <= 1
    assert plain <= scaled + 1e-14
    assert uao(second, first, n_classes, depth) == pytest.approx(plain, abs=1e-14)
    assert mean_ao(first, first, n_classes, depth) == pytest.approx(1, abs=1e-14)


@settings(max_examples=50, deadline=None)
@given(pairs_of_rankings(most=5))
def test_without_normalisation_a_ranking_has_1_with_itself_only_where_nothing_is_tied(problem):
    blocks, _, n_classes, _ = problem
    untied = len(orders(blocks, n_classes)) == 1
    assert (uao(blocks, blocks, n_classes, n_classes) > 1 - 1e-12) == untied


def test_what_stands_beyond_the_depth_does_not_matter():
    first = alone(3, 1, 0, 2, 4)
    for order in permutations((0, 2, 4)):
        assert uao(first, alone(1, 3, *order), 5, 2) == uao(first, alone(1, 3), 5, 2) == 0.5
    assert uao(first, alone(1, 3, 2), 5, 3) != uao(first, alone(1, 3, 0), 5, 3)


def test_classes_of_the_unranked_block_overlap_by_chance():
    """Place 2 of {0} is any of four classes; so is that of {1}, and three of them are the same."""
    assert uao([[0]], [[1]], 5, 1) == 0
    assert uao([[0]], [[1]], 5, 2) == pytest.approx((0 + (2 * 1 / 4 + 3 / 16) / 2) / 2, abs=1e-15)
    assert uao([], [], 4, 1) == pytest.approx(1 / 4, abs=1e-15)


def pairwise(answers, n_classes, depth, function):
    pairs = [(a, b) for a, b in combinations(answers, 2) if a[0] != b[0]]
    values = [function(a, b, n_classes, depth) for (_, a), (_, b) in pairs]
    return (np.mean(values) if values else np.nan), len(values)


@pytest.mark.parametrize(("seed", "n_classes", "depth"), [(0, 3, 3), (1, 5, 1), (2, 6, 4), (3, 30, 10), (4, 2, 2)])
def test_the_mean_of_a_case_is_over_all_pairs_of_different_raters(seed, n_classes, depth, ranked, some_cases):
    cases = some_cases(seed, n_classes, n_cases=30)
    found = rater_overlaps(ranked(cases, n_classes), depth)
    for values, function in ((found.uao, uao), (found.mean_ao, mean_ao)):
        means, counts = zip(*(pairwise(answers, n_classes, depth, function) for answers in cases), strict=True)
        assert values == pytest.approx(means, abs=1e-12, nan_ok=True)
        assert found.n_pairs.tolist() == list(counts)
        assert (found.defined == ~np.isnan(means)).all()
    assert found.overall_uao == pytest.approx(np.nanmean(found.uao))
    assert found.overall_mean_ao == pytest.approx(np.nanmean(found.mean_ao))
    assert 0 < found.n_cases < 30


def test_without_two_raters_overlap_is_not_defined(ranked):
    found = rater_overlaps(ranked([[(0, [[0]])], [], [(0, [[0]]), (0, [[1]])]], 2), 1)
    assert found.overall_uao is None and found.overall_mean_ao is None and found.n_cases == 0
    assert np.isnan(found.uao).all() and found.n_pairs.tolist() == [0, 0, 0]


def test_raters_who_say_the_same_overlap_fully_when_normalised(ranked):
    found = rater_overlaps(ranked([[(rater, [[2], [0, 1]]) for rater in range(n)] for n in range(2, 9)], 6), 4)
    assert found.mean_ao == pytest.approx(np.ones(7), abs=1e-14)
    assert (found.mean_ao <= 1).all()
    assert found.uao == pytest.approx(np.full(7, uao([[2], [0, 1]], [[2], [0, 1]], 6, 4)), abs=1e-14)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), names=st.permutations(range(5)), raters=st.permutations(range(6)))
def test_names_of_raters_and_classes_change_nothing(seed, names, raters, ranked, some_cases):
    cases = some_cases(seed, 5, n_cases=4)
    renamed = [[(raters[r], [[names[k] for k in block] for block in blocks]) for r, blocks in a] for a in cases]
    ours, theirs = rater_overlaps(ranked(cases, 5), 3), rater_overlaps(ranked(renamed, 5), 3)
    assert ours.uao == pytest.approx(theirs.uao, abs=1e-12, nan_ok=True)
    assert ours.mean_ao == pytest.approx(theirs.mean_ao, abs=1e-12, nan_ok=True)


def test_other_cases_change_nothing(ranked, some_cases):
    cases = some_cases(8, 5)
    every, some = rater_overlaps(ranked(cases, 5), 2), rater_overlaps(ranked(cases[3:7], 5), 2)
    assert some.uao == pytest.approx(every.uao[3:7], abs=0, nan_ok=True)


def test_a_hundred_thousand_raters_of_one_case_take_no_pairs(single):
    """At depth 1 single classes overlap where they are the same."""
    counts = np.array([50_000, 30_000, 20_000])
    rows = np.column_stack([np.zeros(100_000, int), np.arange(100_000), np.repeat([0, 1, 2], counts)])
    found = rater_overlaps(single(rows, 4), 1)
    expected = (counts * (counts - 1)).sum() / (100_000 * 99_999)
    assert found.overall_uao == pytest.approx(expected, rel=1e-12)
    assert found.n_pairs[0] == 100_000 * 99_999 // 2


@pytest.mark.parametrize("depth", [0, -1, 4])
def test_a_depth_that_the_classes_do_not_have_is_refused(depth, ranked):
    for call in (
        lambda: uao([[0]], [[1]], 3, depth),
        lambda: mean_ao([[0]], [[1]], 3, depth),
        lambda: soft_permutation([[0]], 3, depth),
        lambda: rater_overlaps(ranked([[(0, [[0]]), (1, [[1]])]], 3), depth),
    ):
        with pytest.raises(InputError, match="must be between 1 and 3"):
            call()


def test_scores_are_refused(scores):
    with pytest.raises(NotApplicableError, match="scores"):
        rater_overlaps(scores, 1)
