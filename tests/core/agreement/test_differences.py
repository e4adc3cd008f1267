"""Differences of coefficients: paired where cases are shared, independent where they are not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from core.agreement.bootstrap import bootstrap
from core.agreement.coefficients import fleiss_kappa, gwet_ac
from core.agreement.differences import compare, difference
from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.errors import Cancelled, NotApplicableError
from core.runtime.chunks import CancelToken
from tests.core.agreement.examples import FLEISS, counts_of, dataset_of, jackknife, random_cases, random_panel


def panel_data(seed=5, n_cases=200, n_raters=6):
    return dataset_of(random_panel(seed, n_cases=n_cases, n_raters=n_raters, gaps=0.2), 4, n_raters)


def named(found):
    return {one.first: one for one in found}


def test_two_coefficients_on_the_same_data_are_compared_resample_by_resample():
    result = bootstrap(counts_of(FLEISS, 5))
    gwet, fleiss = result.position("gwet_ac"), result.position("fleiss_kappa")
    found = difference(result, gwet, fleiss, level=0.9)
    apart = result.replicates[:, gwet] - result.replicates[:, fleiss]
    assert found.value == result.coefficients[gwet].value - result.coefficients[fleiss].value
    assert found.se == pytest.approx(apart.std(ddof=1))
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(np.quantile(apart, [0.05, 0.95])))
    assert found.p_first_larger == np.mean(apart > 0) == 1 - difference(result, fleiss, gwet).p_first_larger
    assert found.paired and (found.n_first, found.n_second) == (30, 30)
    alone = np.hypot(result.coefficients[gwet].se, result.coefficients[fleiss].se)
    assert found.se < 0.5 * alone


def test_the_error_of_a_paired_difference_is_that_of_the_jackknife():
    """300 cases of two classes, one twice as common; the bootstrap's own error at 4,000 replicates is 1.1%."""
    cases = [[int(k == 0) for k in case] for case in random_cases(8, n_cases=300, n_classes=3) if len(case) > 1]
    result = bootstrap(counts_of(cases, 2), n_replicates=4000)
    found = difference(result, result.position("gwet_ac"), result.position("fleiss_kappa"))

    def apart(some):
        return gwet_ac(counts_of(some, 2)).value - fleiss_kappa(counts_of(some, 2)).value

    assert found.se == pytest.approx(jackknife(apart, cases), rel=0.05)


def test_a_dataset_less_itself_is_0_exactly():
    data = panel_data(n_cases=40)
    for one in compare(data, data, n_replicates=50):
        assert (one.value, one.se, one.ci_low, one.ci_high, one.p_first_larger) == (0, 0, 0, 0, 0.5)
        assert one.paired and one.note == "the difference is the same in every resample"
    result = bootstrap(data, n_replicates=50)
    assert difference(result, 0, 0).se == 0


def uneven_panel(n_cases=200, n_raters=6):
    """Easy cases, on which all say the truth, and hard ones, on which each rater guesses."""
    rng = np.random.default_rng(4)
    hard, truth = rng.random(n_cases) < 0.5, rng.integers(0, 4, n_cases)
    guesses = rng.integers(0, 4, (n_cases, n_raters))
    answer = np.where(hard[:, None], guesses, truth[:, None])
    return dataset_of([list(enumerate(row.tolist())) for row in answer], 4)


def test_two_groups_of_raters_on_the_same_cases_are_paired_which_makes_the_error_smaller():
    """The same selections under other case ids are independent: their errors add up in squares.

    Half of the variance of a group's percent agreement is of how hard the cases are, which both groups share.
    """
    data = uneven_panel()
    one, other = data.select(raters=data.raters[:3]), data.select(raters=data.raters[3:])
    stranger = replace(other, cases=tuple(f"other {case}" for case in other.cases))
    paired, apart = (named(compare(one, side, n_replicates=4000)) for side in (other, stranger))
    first, second = (named_se(side) for side in (one, other))
    assert set(paired) == set(apart)
    for label, found in paired.items():
        assert found.paired and not apart[label].paired
        assert found.first_value - found.second_value == found.value
        assert apart[label].value == pytest.approx(found.value, abs=1e-12)
        # The errors of three runs of 4,000 are 1.1% each.
        assert apart[label].se == pytest.approx(np.hypot(first[label], second[label]), rel=0.06)
        assert found.se < 0.85 * apart[label].se


def named_se(data):
    return {(one.name, one.weights): one.se for one in bootstrap(data, n_replicates=4000).coefficients}


def test_selections_that_share_half_of_their_cases_have_the_error_of_the_literal_resampling():
    """90 cases, 30 of them shared, against 1,500 resamples by hand: both errors are 1.8%, and 4 SD are allowed."""
    data = panel_data(seed=9, n_cases=90, n_raters=4)
    first, second = data.select(cases=data.cases[:60]), data.select(cases=data.cases[30:])
    found = named(compare(first, second, names=["fleiss_kappa", "conger_kappa"], n_replicates=1500))
    assert (found["fleiss_kappa", "identity"].n_first, found["conger_kappa", "identity"].n_second) == tuple(
        int(np.count_nonzero(class_counts(one).per_case() > 1)) for one in (first, second)
    )
    cases = [list(data.answer[data.case_ptr[i] : data.case_ptr[i + 1]]) for i in range(data.n_cases)]
    rng = np.random.default_rng(0)
    apart = []
    for _ in range(1500):
        drawn = rng.integers(0, len(cases), len(cases))
        sides = [[cases[i] for i in drawn if i < 60], [cases[i] for i in drawn if i >= 30]]
        apart.append(fleiss_kappa(counts_of(sides[0], 4)).value - fleiss_kappa(counts_of(sides[1], 4)).value)
    one = found["fleiss_kappa", "identity"]
    assert one.paired
    assert one.se == pytest.approx(np.std(apart, ddof=1), rel=4 * 0.026)
    assert (one.ci_low, one.ci_high) == pytest.approx(tuple(np.quantile(apart, [0.025, 0.975])), abs=0.35 * one.se)


def test_cases_in_another_order_are_still_the_same_cases():
    data = panel_data(seed=2, n_cases=50)
    order = np.arange(data.n_cases)[::-1]
    turned = Dataset.from_classes(
        "turned",
        [data.cases[i] for i in order],
        data.raters,
        data.classes,
        order[data.case_of_annotation],
        data.rater,
        data.answer,
    )
    for one in compare(data, turned, n_replicates=40):
        assert one.paired and abs(one.value) < 1e-12 and abs(one.ci_low or 0) < 1e-12


def test_counts_have_no_case_ids_and_are_independent():
    first, second = counts_of(random_cases(1, 60), 4), counts_of(random_cases(1, 60), 4)
    for one in compare(first, second, n_replicates=200):
        assert not one.paired and one.value == 0 and one.se > 0
        assert one.ci_low < 0 < one.ci_high
        assert 0.3 < one.p_first_larger < 0.7


def test_only_what_both_sides_allow_is_compared():
    data = panel_data(n_cases=60)
    pair, rest = data.select(raters=data.raters[:2]), data.select(raters=data.raters[2:])
    names = [one.first[0] for one in compare(pair, rest, n_replicates=10)]
    assert "fleiss_kappa" in names and not {"cohen_kappa", "scott_pi", "conger_kappa"} & set(names)
    with pytest.raises(NotApplicableError, match="exactly two"):
        compare(pair, rest, names=["cohen_kappa"])


def test_a_side_without_a_value_leaves_the_difference_undefined_and_says_which():
    fine, single = counts_of(FLEISS, 5), counts_of([[0, 0], [0, 0]], 5)
    found = named(compare(fine, single, names=["fleiss_kappa", "percent"], n_replicates=20))
    fleiss = found["fleiss_kappa", "identity"]
    assert fleiss.value is None and fleiss.p_first_larger is None and fleiss.second_value is None
    assert fleiss.note == "undefined: the second coefficient is undefined"
    assert found["percent", "identity"].value < 0
    both = compare(single, single, names=["fleiss_kappa"], n_replicates=20)
    assert both[0].note == "undefined: both coefficients are undefined"


def test_it_can_be_cancelled_and_the_progress_of_two_runs_is_one():
    first, second = counts_of(FLEISS, 5), counts_of(FLEISS[:20], 5)
    told, token = [], CancelToken()
    compare(first, second, n_replicates=300, progress=told.append)
    assert told == sorted(told) and told[-1] == 1
    token.cancel()
    with pytest.raises(Cancelled):
        compare(first, second, token=token)


def test_chance_of_being_larger_is_that_of_a_normal_difference_of_the_same_error():
    """Raters who agree more: the share of resamples and Φ(value/SE) differ by less than 0.03 on 200 cases."""
    data = panel_data(seed=21)
    for one in compare(data.select(raters=data.raters[:3]), data.select(raters=data.raters[3:]), n_replicates=4000):
        assert one.p_first_larger == pytest.approx(ndtr(one.value / one.se), abs=0.03)
