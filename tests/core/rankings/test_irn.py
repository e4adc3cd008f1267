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
from core.errors import InputError, LimitError, NotApplicableError
from core.rankings import irn as module
from core.rankings.blocks import entries_of, ranked_entries
from core.rankings.irn import irn
from core.rankings.leave_one_out import leave_one_out


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


# Leave one out: Leave-one-rater-out agreement against fractions, one rater at a time.


def one_rater(answers, place, ties):
    """Agreement of the annotation at ``place`` of a case with those of all other raters; None without any."""
    rater, own = answers[place]
    weight = defaultdict(Fraction)
    for other, blocks in answers:
        for i, block in enumerate(blocks, start=1):
            for k in block:
                weight[k] += 0 if other == rater else Fraction(1, i * (len(block) if ties == "split" else 1))
    best = max(weight.values())
    if best == 0:
        return None
    first = {k for k, w in weight.items() if w == best}
    return float(Fraction(len(first & {k for block in own for k in block}), len(first)))


@pytest.mark.parametrize("ties", ["split", "full"])
@pytest.mark.parametrize(("seed", "n_classes", "most"), [(0, 3, 4), (1, 4, 6), (2, 6, 9), (3, 12, 5), (4, 2, 12)])
def test_every_annotation_is_compared_with_all_other_raters(seed, n_classes, most, ties, ranked, some_cases):
    cases = some_cases(seed, n_classes, n_cases=80, most=most)
    dataset = ranked(cases, n_classes)
    found = leave_one_out(dataset, ties)
    expected = [[one_rater(answers, place, ties) for place in range(len(answers))] for answers in cases]
    flat = [np.nan if value is None else value for values in expected for value in values]
    assert found.annotation == pytest.approx(flat, abs=1e-15, nan_ok=True)
    means = [np.nan if None in values else np.mean(values) for values in expected]
    assert found.case == pytest.approx(means, abs=1e-15, nan_ok=True)
    assert (found.defined == ~np.isnan(means)).all()
    assert found.mean == pytest.approx(np.nanmean(means), abs=1e-15)
    assert 0 < found.n_cases < len(cases)


def test_two_raters_agree_where_one_names_the_others_first(ranked):
    found = leave_one_out(
        ranked([[(0, [[0], [1]]), (1, [[1], [2]])], [(0, [[0]]), (1, [[1]])], [(0, [[0]]), (1, [[0]])]], 3)
    )
    assert found.annotation.tolist() == [1, 0, 0, 0, 1, 1]
    assert found.case.tolist() == [0.5, 0, 1]
    assert found.mean == 0.5


def test_of_classes_tied_for_the_first_place_the_share_that_was_ranked_counts(ranked):
    found = leave_one_out(ranked([[(0, [[0]]), (1, [[0, 1, 2]]), (2, [[3]])]], 5), "full")
    assert found.annotation.tolist() == [1 / 4, 1 / 2, 0]


def test_the_rule_for_ties_decides_who_comes_first(ranked):
    """{0, 1} against 2 ranked second: split gives each 1/2, as the second place has; full puts 0 and 1 before it."""
    dataset = ranked([[(0, [[2]]), (1, [[0, 1], [2]])]], 4)
    assert leave_one_out(dataset, "split").annotation[0] == pytest.approx(1 / 3, rel=1e-15)
    assert leave_one_out(dataset, "full").annotation[0] == 0


def test_a_rater_who_answers_twice_is_left_out_altogether(ranked):
    """Else they would agree with themselves."""
    found = leave_one_out(ranked([[(0, [[0]]), (0, [[0]]), (1, [[1]])], [(0, [[0]]), (0, [[0]])]], 2))
    assert found.annotation[:3].tolist() == [0, 0, 0]
    assert np.isnan(found.annotation[3:]).all()
    assert found.defined.tolist() == [True, False]


def test_with_one_rater_agreement_is_not_defined(ranked):
    found = leave_one_out(ranked([[(0, [[0]])], []], 2))
    assert found.mean is None and found.n_cases == 0
    assert np.isnan(found.case).all() and not found.defined.any()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    names=st.permutations(range(5)),
    raters=st.permutations(range(6)),
    order=st.randoms(use_true_random=False),
)
def test_names_and_order_of_raters_and_classes_change_nothing(seed, names, raters, order, ranked, some_cases):
    cases = some_cases(seed, 5, n_cases=4)
    renamed = [
        order.sample([(raters[r], [[names[k] for k in block] for block in blocks]) for r, blocks in case], len(case))
        for case in cases
    ]
    assert leave_one_out(ranked(cases, 5)).case == pytest.approx(
        leave_one_out(ranked(renamed, 5)).case, abs=1e-14, nan_ok=True
    )


def test_other_cases_change_nothing(ranked, some_cases):
    cases = some_cases(8, 5)
    every = leave_one_out(ranked(cases, 5))
    some = leave_one_out(ranked(cases[3:7], 5))
    assert some.case == pytest.approx(every.case[3:7], abs=0, nan_ok=True)


def test_unanimous_raters_agree_however_many_they_are(ranked):
    found = leave_one_out(ranked([[(rater, [[2], [0, 1]]) for rater in range(n)] for n in range(2, 9)], 4))
    assert (found.annotation == 1).all() and found.mean == 1


def test_a_hundred_thousand_raters_of_one_case_take_no_pairs(single):
    """For single classes it is the share of raters who say what most say."""
    answers = np.repeat([0, 1, 2], [50_000, 30_000, 20_000])
    rows = np.column_stack([np.zeros(100_000, int), np.arange(100_000), answers])
    found = leave_one_out(single(rows, 3))
    assert found.mean == pytest.approx(0.5, abs=1e-12)
    assert (found.annotation == (answers == 0)).all()


def test_scores_are_refused(scores):
    with pytest.raises(NotApplicableError, match="scores"):
        leave_one_out(scores)


# Blocks: Blocks as arrays against the dataset's own lists.


def as_blocks(entries, annotation):
    """Lists of tied classes again, by the places alone."""
    blocks = {}
    for e in range(entries.ptr[annotation], entries.ptr[annotation + 1]):
        blocks.setdefault((int(entries.before[e]), int(entries.size[e])), []).append(int(entries.class_code[e]))
    return [blocks[place] for place in sorted(blocks)]


@pytest.mark.parametrize("seed", range(5))
def test_places_and_sizes_tell_the_blocks_of_every_annotation(seed, ranked, some_cases):
    dataset = ranked(some_cases(seed, 7), 7)
    entries = ranked_entries(dataset)
    assert len(entries.ptr) == dataset.n_annotations + 1
    for annotation in range(dataset.n_annotations):
        blocks = dataset.blocks_of(annotation)
        assert as_blocks(entries, annotation) == blocks
        start = 0
        for place, block in enumerate(blocks):
            these = entries.ptr[annotation] + start + np.arange(len(block))
            assert (entries.block[these] == place).all()
            assert (entries.before[these] == start).all()
            assert (entries.size[these] == len(block)).all()
            start += len(block)


def test_a_run_of_annotations_has_their_entries_counted_from_its_first(ranked, some_cases):
    dataset = ranked(some_cases(1, 6), 6)
    part = ranked_entries(dataset, range(4, 9))
    assert part.ptr[0] == 0 and len(part.ptr) == 6
    assert [as_blocks(part, a) for a in range(5)] == [dataset.blocks_of(a) for a in range(4, 9)]
    assert len(ranked_entries(dataset, range(3, 3)).class_code) == 0


def test_a_single_class_is_one_block_of_one_class(single):
    dataset = single([(0, 0, 2), (0, 1, 1), (1, 0, 0)], 3)
    entries = ranked_entries(dataset)
    assert [as_blocks(entries, a) for a in range(3)] == [[[2]], [[1]], [[0]]]
    assert [as_blocks(ranked_entries(dataset, range(1, 3)), a) for a in range(2)] == [[[1]], [[0]]]


def test_lists_of_blocks_become_the_same_entries_as_a_dataset_of_them(ranked, some_cases):
    cases = some_cases(3, 5, n_cases=1)
    lists = [blocks for _, blocks in cases[0]]
    ours, theirs = entries_of(lists, 5), ranked_entries(ranked(cases, 5))
    for name in ("ptr", "class_code", "block", "before", "size"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([[0], []], "ranking 1: block 2 is empty"),
        ([[0], [3]], "block 2 has class code 3. Use class codes from 0 to 2"),
        ([[-1]], "block 1 has class code -1"),
        ([[0, 1], [0]], "ranking 1: it contains class 0 twice"),
    ],
)
def test_lists_that_are_no_ranking_are_refused_with_their_place(blocks, message):
    with pytest.raises(InputError, match=message):
        entries_of([blocks], 3)


def test_scores_have_no_blocks(scores):
    with pytest.raises(NotApplicableError, match="scores"):
        ranked_entries(scores)
