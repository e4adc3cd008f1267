"""IRN weights against worked examples and sums of fractions."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.annotations.counts import class_counts
from core.errors import LimitError, NotApplicableError
from core.rankings import irn as module
from core.rankings.irn import irn


def by_hand(answers, ties):
    """Weights of one case as fractions."""
    weight = defaultdict(Fraction)
    for _, blocks in answers:
        for place, block in enumerate(blocks, start=1):
            for k in block:
                weight[k] += Fraction(1, place * (len(block) if ties == "split" else 1))
    return dict(sorted(weight.items()))


def rows_of(weights, case):
    entries = slice(weights.ptr[case], weights.ptr[case + 1])
    return weights.class_code[entries].tolist(), weights.weight[entries].tolist()


SIX = [[[391]], [[320]], [[320], [330]], [[391], [410]], [[320]], [[320, 415], [391]]]


def test_two_raters_who_differ_give_one_half_each(ranked):
    weights = irn(ranked([[(0, [[372]]), (1, [[15]])]], 419))
    assert weights.class_code.tolist() == [15, 372]
    assert weights.normalised.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("full", {320: 8 / 17, 330: 1 / 17, 391: 5 / 17, 410: 1 / 17, 415: 2 / 17}),
        ("split", {320: 7 / 15, 330: 1 / 15, 391: 5 / 15, 410: 1 / 15, 415: 1 / 15}),
    ],
)
def test_the_worked_example_with_ties_has_its_weights_under_both_rules(ties, expected, ranked):
    weights = irn(ranked([list(enumerate(SIX))], 419), ties)
    assert dict(zip(weights.class_code.tolist(), weights.normalised.tolist(), strict=True)) == pytest.approx(
        expected, rel=1e-15
    )
    assert weights.n_answers.tolist() == [6]


@pytest.mark.parametrize("ties", ["split", "full"])
@pytest.mark.parametrize("seed", range(6))
def test_weights_are_sums_of_fractions_to_the_last_bit(seed, ties, ranked, some_cases):
    cases = some_cases(seed, 5)
    weights = irn(ranked(cases, 5), ties)
    for case, answers in enumerate(cases):
        expected = by_hand(answers, ties)
        assert rows_of(weights, case) == (list(expected), [float(weight) for weight in expected.values()])
        assert weights.n_answers[case] == len(answers)


@pytest.mark.parametrize("sizes", [(29, 31), (30, 3), (9, 9, 37)])
def test_blocks_of_any_size_have_their_share_to_eleven_digits(sizes, ranked):
    """Sizes that do not divide the unit are rounded."""
    edges = np.cumsum([0, *sizes])
    blocks = [list(range(low, high)) for low, high in pairwise(edges)]
    answers = [(0, blocks)]
    expected = by_hand(answers, "split")
    assert irn(ranked([answers], 200)).weight == pytest.approx([float(w) for w in expected.values()], abs=1e-12)


@pytest.mark.parametrize("places", [(2, 3, 6), (7,) * 7, (10,) * 10, (3, 5, 5, 5, 15)])
def test_fractions_that_sum_to_1_tie_with_1(places, ranked):
    """Floating point would break some of these ties: seven sevenths are less than 1 there."""
    answers = [(0, [[1]])]
    for rater, place in enumerate(places, start=1):
        answers.append((rater, [*([k] for k in range(2, place + 1)), [0]]))
    codes, weight = rows_of(irn(ranked([answers], 20)), 0)
    assert weight[codes.index(0)] == weight[codes.index(1)] == 1


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.randoms(use_true_random=False))
def test_the_order_of_raters_changes_no_bit(seed, order, ranked, some_cases):
    (answers,) = some_cases(seed, 9, n_cases=1, most=12)
    shuffled = order.sample(answers, len(answers))
    assert irn(ranked([answers], 9)).weight.tolist() == irn(ranked([shuffled], 9)).weight.tolist()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), names=st.permutations(range(6)))
def test_classes_and_raters_may_be_renamed(seed, names, ranked, some_cases):
    cases = some_cases(seed, 6, n_cases=3)
    renamed = [[(5 - rater, [[names[k] for k in block] for block in blocks]) for rater, blocks in a] for a in cases]
    ours, theirs = irn(ranked(cases, 6)), irn(ranked(renamed, 6))
    for case in range(3):
        codes, weight = rows_of(ours, case)
        other = dict(zip(*rows_of(theirs, case), strict=True))
        assert [other[names[k]] for k in codes] == weight


def test_single_classes_have_their_counts_as_weights(single):
    rng = np.random.default_rng(0)
    dataset = single(np.column_stack([rng.integers(0, 20, 300), rng.integers(0, 9, 300), rng.integers(0, 5, 300)]), 5)
    counts = class_counts(dataset)
    for ties in ("split", "full"):
        weights = irn(dataset, ties)
        assert weights.ptr.tolist() == counts.ptr.tolist()
        assert weights.class_code.tolist() == counts.class_code.tolist()
        assert weights.weight.tolist() == counts.count.tolist()


def test_normalised_weights_sum_to_1_and_a_case_without_answers_has_none(ranked, some_cases):
    cases = some_cases(2, 8)
    cases[4] = []
    weights = irn(ranked(cases, 8))
    sums = [weights.normalised[weights.ptr[i] : weights.ptr[i + 1]].sum() for i in range(len(cases))]
    assert sums == pytest.approx([float(case != 4) for case in range(len(cases))], abs=1e-15)
    assert weights.n_cases == len(cases) and weights.n_answers[4] == 0


def test_a_run_of_cases_has_the_rows_of_those_cases(ranked, single, some_cases):
    cases = some_cases(7, 6)
    rows = [(case, rater, blocks[0][0]) for case, answers in enumerate(cases) for rater, blocks in answers]
    for dataset in (ranked(cases, 6), single(rows, 6)):
        every, part = irn(dataset), irn(dataset, cases=range(3, 8))
        assert [rows_of(part, case) for case in range(5)] == [rows_of(every, case) for case in range(3, 8)]
        assert (part.normalised == every.normalised[every.ptr[3] : every.ptr[8]]).all()
        assert irn(dataset, cases=range(5, 5)).n_cases == 0
        assert len(irn(dataset, cases=range(5, 5)).normalised) == 0


def test_what_cannot_be_summed_is_refused(ranked, scores, monkeypatch):
    dataset = ranked([[(0, [[0]])], [(0, [[0]]), (1, [[1]]), (2, [[1]])]], 2)
    with pytest.raises(NotApplicableError, match="scores"):
        irn(scores)
    with pytest.raises(ValueError, match="`ties` must be one of split, full"):
        irn(dataset, "none")
    with pytest.raises(ValueError, match="steps of 2"):
        irn(dataset, cases=range(0, 2, 2))
    monkeypatch.setattr(module, "MOST_ANSWERS", 2)
    with pytest.raises(LimitError, match="'case 1' has 3 annotations"):
        irn(dataset)
    assert irn(dataset, cases=range(1)).n_cases == 1


def test_the_most_answers_of_a_case_do_not_overflow():
    assert module.MOST_ANSWERS > 2_000_000
    assert module.MOST_ANSWERS * module.UNIT < 2**63


def test_a_longer_class_list_changes_nothing(ranked, some_cases):
    dataset = ranked(some_cases(5, 6), 6)
    longer = replace(dataset, classes=(*dataset.classes, *(f"other {k}" for k in range(100))))
    assert (irn(longer).weight == irn(dataset).weight).all()
    assert irn(longer).n_classes == 106
