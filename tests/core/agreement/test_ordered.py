"""Agreement of partial rankings as coefficients, against their means over cases."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from core.agreement.intervals import wilson
from core.agreement.ordered import ranking_agreement
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.rankings.leave_one_out import leave_one_out
from core.rankings.overlap import mean_ao
from tests.core.agreement.examples import dataset_of
from tests.core.kinds import as_scores


def ranked(cases, n_classes):
    """A dataset from one list per case of (rater, blocks)."""
    rows = [(case, rater, blocks) for case, answers in enumerate(cases) for rater, blocks in answers]
    ptr, code, rank = [0], [], []
    for _, _, blocks in rows:
        for place, block in enumerate(blocks):
            code += block
            rank += [place] * len(block)
        ptr.append(len(code))
    case, rater = (np.array([row[i] for row in rows]) for i in (0, 1))
    names = [f"c{i}" for i in range(len(cases))], [f"r{j}" for j in range(max(rater) + 1)]
    names = *names, [f"k{k}" for k in range(n_classes)]
    return Dataset.from_rankings("test", *names, case, rater, np.array(ptr), np.array(code), np.array(rank, float))


def random_rankings(seed, n_cases=40, n_classes=5):
    rng = np.random.default_rng(seed)
    return [
        [(rater, [[int(k)] for k in rng.permutation(n_classes)[: rng.integers(1, 4)]]) for rater in range(size)]
        for size in rng.integers(1, 5, n_cases)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_every_coefficient_is_the_mean_over_cases_with_two_raters(seed):
    cases = random_rankings(seed)
    dataset = ranked(cases, 5)
    found = ranking_agreement(dataset, (1, 2, 4))
    usable = [case for case in cases if len(case) > 1]
    assert [(one.name, one.weights) for one in found] == [
        ("leave_one_out_top1", "ties split"),
        ("mean_average_overlap", "L = 1"),
        ("mean_average_overlap", "L = 2"),
        ("mean_average_overlap", "L = 4"),
    ]
    assert found[0].value == pytest.approx(leave_one_out(dataset).mean, abs=1e-12)
    for one, depth in zip(found[1:], (1, 2, 4), strict=True):
        values = [
            np.mean([mean_ao(a, b, 5, depth) for i, (_, a) in enumerate(case) for _, b in case[:i]]) for case in usable
        ]
        assert one.value == pytest.approx(np.mean(values), abs=1e-9)
        assert one.se == pytest.approx(np.std(values, ddof=1) / np.sqrt(len(values)), rel=1e-9)
        n_eff = one.value * (1 - one.value) / one.se**2
        ends = wilson(one.value, n_eff, student.ppf(0.975, len(values) - 1))
        assert (one.ci_low, one.ci_high) == pytest.approx(ends, abs=1e-9)
    for one in found:
        assert (one.n_cases, one.n_annotations) == (len(usable), sum(map(len, usable)))


def test_equal_rankings_agree_fully_with_an_interval_that_has_width():
    for one in ranking_agreement(ranked([[(0, [[0], [1]]), (1, [[0], [1]])]] * 30, 3)):
        assert one.value == pytest.approx(1) and one.ci_low < 1


def test_of_single_classes_the_overlap_of_first_places_is_percent_agreement():
    dataset = dataset_of([[(0, 0), (1, 0)]] * 3 + [[(0, 0), (1, 1)]], 3)
    assert ranking_agreement(dataset, (1,))[1].value == pytest.approx(0.75)


def test_names_and_order_of_raters_cases_and_classes_do_not_matter():
    cases = random_rankings(5)
    other = [[(9 - r, [[4 - k for k in block] for block in blocks]) for r, blocks in case] for case in cases[::-1]]
    one, two = (ranking_agreement(ranked(some, 5)) for some in (cases, other))
    assert [c.value for c in two] == pytest.approx([c.value for c in one], abs=1e-12)
    assert [c.ci_low for c in two] == pytest.approx([c.ci_low for c in one], abs=1e-12)


def test_depths_beyond_the_classes_are_left_out_and_those_below_1_refused():
    dataset = ranked(random_rankings(0), 5)
    assert [one.weights for one in ranking_agreement(dataset, (5, 6, 7))[1:]] == ["L = 5"]
    with pytest.raises(InputError, match="got 0"):
        ranking_agreement(dataset, (0,))


def test_one_rater_is_undefined_and_one_case_has_no_interval():
    for one in ranking_agreement(ranked([[(0, [[0], [1]])], [(0, [[2]])]], 3)):
        assert one.value is None and "no case has two raters" in one.note
    for one in ranking_agreement(ranked([[(0, [[0], [1]]), (1, [[0]])]], 3)):
        assert one.value is not None and one.ci_low is None and "only one case" in one.note


def test_anonymous_raters_of_a_case_are_still_different_raters():
    dataset = ranked(random_rankings(1), 5)
    assert ranking_agreement(replace(dataset, raters_identified=False)) == ranking_agreement(dataset)


def test_scores_are_refused():
    with pytest.raises(NotApplicableError, match="scores"):
        ranking_agreement(as_scores(dataset_of([[(0, 1), (1, 1)]], 2)))
