"""Each rater against the others and each rater left out, against doing it one by one."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import t as student

from core.agreement.by_rater import OVERALL, by_rater
from core.agreement.coefficient_methods import CoefficientMethod
from core.agreement.intervals import wilson
from core.agreement.tables import from_contingency
from core.annotations.dataset import keep_only
from core.errors import LimitError, NotApplicableError
from core.methods import method_named
from tests.core.agreement.examples import dataset_of, jackknife, random_panel
from tests.core.kinds import as_scores


def repeating_panel(seed, **size):
    """A panel in which some raters annotate a case twice."""
    rng = np.random.default_rng(seed)
    return [
        [
            pair
            for rater, answer in case
            for pair in [(rater, answer)] + [(rater, int(rng.integers(4)))] * (rng.random() < 0.1)
        ]
        for case in random_panel(seed, **size)
    ]


def slow_share(panel, rater):
    """Pairs of an annotation of the rater with one of another on the same case: how many agree, of how many."""
    pairs = [a == b for case in panel for (r, a), (s, b) in product(case, case) if r == rater and s != rater]
    return sum(pairs) / len(pairs)


@pytest.mark.parametrize("seed", range(4))
def test_agreement_with_the_others_is_the_share_of_agreeing_pairs_with_a_jackknife_error(seed):
    panel = repeating_panel(seed)
    found = by_rater(dataset_of(panel, 4, 5))
    for rater, one in enumerate(found.each):
        meets = [case for case in panel if {r for r, _ in case} > {rater}]
        assert one.value == pytest.approx(slow_share(meets, rater), abs=1e-12)
        assert (one.n_cases, one.n_annotations) == (len(meets), sum(r == rater for case in meets for r, _ in case))
        squares = [(slow_share(meets[:i] + meets[i + 1 :], rater) - one.value) ** 2 for i in range(len(meets))]
        assert one.se == pytest.approx(np.sqrt((1 - 1 / len(meets)) * sum(squares)), rel=1e-9)
        n_eff = one.value * (1 - one.value) / one.se**2
        ends = wilson(one.value, n_eff, student.ppf(0.975, len(meets) - 1))
        assert (one.ci_low, one.ci_high) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("coefficient", [*OVERALL, "gwet_ac", "brennan_prediger"])
@pytest.mark.parametrize("seed", range(3))
def test_without_a_rater_the_coefficient_is_that_of_the_data_without_the_rater(seed, coefficient):
    panel = repeating_panel(seed, n_cases=30, n_raters=5, gaps=0.5)
    dataset = dataset_of(panel, 4, 5)
    found = by_rater(dataset, coefficient)
    assert found.overall == method_named(CoefficientMethod, coefficient).make(dataset)
    for rater in range(5):
        rest = method_named(CoefficientMethod, coefficient).make(keep_only(dataset, dataset.rater != rater))
        assert found.without[rater] == pytest.approx(rest.value, abs=1e-12)
        assert found.difference[rater] == pytest.approx(rest.value - found.overall.value, abs=1e-12)
        assert found.n_cases_without[rater] == rest.n_cases


def test_two_raters_have_the_same_agreement_and_nothing_is_left_without_either():
    found = by_rater(from_contingency([[20, 5], [10, 15]]))
    assert [one.value for one in found.each] == [35 / 50] * 2
    assert found.without == found.difference == (None, None) and found.n_cases_without == (0, 0)


def test_a_rater_who_meets_nobody_has_no_agreement_and_changes_none():
    found = by_rater(dataset_of([[(0, 1), (1, 1)], [(0, 0), (1, 1)], [(0, 0), (1, 0)], [(2, 1)]], 2), "percent")
    assert found.each[2].value is None and "no other rater annotated this rater's cases" in found.each[2].note
    assert found.difference[2] == 0


def test_when_one_class_is_left_beyond_chance_is_undefined_and_percent_is_1():
    panel = [[(0, 0), (1, 0), (2, 1)]] * 5
    assert by_rater(dataset_of(panel, 2), "krippendorff_alpha").without[2] is None
    assert by_rater(dataset_of(panel, 2), "fleiss_kappa").without[2] is None
    assert by_rater(dataset_of(panel, 2), "percent").without == pytest.approx((0, 0, 1), abs=1e-12)


def test_cases_that_are_alike_have_no_error_and_an_interval_with_width():
    for m in (3, 49):
        one = by_rater(dataset_of([[(0, 0), (1, 0), (2, 1)]] * m, 2)).each[0]
        assert one.value == 0.5 and one.se == 0 and one.ci_high - one.ci_low > 0.1


def test_names_and_order_of_raters_do_not_matter():
    panel = repeating_panel(7)
    order = np.random.default_rng(0).permutation(5)
    plain = by_rater(dataset_of(panel, 4, 5))
    other = by_rater(dataset_of([[(int(order[r]), a) for r, a in case] for case in panel], 4, 5))
    for rater in range(5):
        assert other.each[order[rater]].value == pytest.approx(plain.each[rater].value, abs=1e-12)
        assert other.without[order[rater]] == pytest.approx(plain.without[rater], abs=1e-12)


def test_the_error_of_raters_shrinks_with_the_root_of_their_cases():
    panel = random_panel(3, n_cases=60, gaps=0.0)
    once, four = (by_rater(dataset_of(panel * times, 4, 5)).each[0].se for times in (1, 4))
    assert four == pytest.approx(once / 2, rel=0.02)


def test_one_case_gives_a_value_without_an_interval():
    one = by_rater(dataset_of([[(0, 0), (1, 0)]], 2)).each[0]
    assert one.value == 1 and one.ci_low is None and "only one case" in one.note


def test_what_cannot_be_compared_is_refused(monkeypatch):
    dataset = dataset_of(random_panel(0), 4, 5)
    with pytest.raises(NotApplicableError, match="anonymous"):
        by_rater(replace(dataset, raters_identified=False))
    with pytest.raises(NotApplicableError, match="scores"):
        by_rater(as_scores(dataset))
    with pytest.raises(ValueError, match="percent"):
        by_rater(dataset, "conger_kappa")
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "19")
    with pytest.raises(LimitError, match="Select fewer raters"):
        by_rater(dataset)


def test_the_reference_error_is_that_of_the_jackknife_of_the_examples():
    """The reference above centres on the value, that of the examples on the mean of deletions: close, not equal."""
    panel = [case for case in random_panel(1, n_cases=80, gaps=0.2) if {r for r, _ in case} > {0}]
    assert by_rater(dataset_of(panel, 4, 5)).each[0].se == pytest.approx(
        jackknife(lambda cases: slow_share(cases, 0), panel), rel=0.01
    )


def test_the_interval_of_all_or_none_ends_there_exactly():
    """Of 80 in 80 a rounding error below 1 would be told as "over 99%"."""
    for n in range(1, 400):
        assert wilson(1.0, n, 1.959963984540054)[1] == 1.0
        assert wilson(0.0, n, 1.959963984540054)[0] == 0.0
