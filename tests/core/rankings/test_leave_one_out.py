"""Leave-one-rater-out agreement against fractions, one rater at a time."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import NotApplicableError
from core.rankings.leave_one_out import leave_one_out


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
