"""Raters against what is acceptable: thresholds, posteriors, false discoveries, and when nothing may be said."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.raters.accuracy_threshold import bayesian_discoveries, default_judge, gold_rates, judge_accuracy, why_not
from core.raters.leave_one_rater_out import panel_of
from tests.core.raters.raters_simulated import names, rebuilt, rows, simulated


def judged(data, **how):
    return judge_accuracy(panel_of(data, DawidSkene("pooled").fit(data)), **how)


def with_gold(data, truth, share=1.0):
    gold = np.where(np.arange(data.n_cases) < share * data.n_cases, truth, -1).astype(np.int32)
    return replace(data, gold=gold)


@pytest.mark.parametrize(
    ("chance", "q", "found"),
    [
        ([0.001, 0.04, 0.1, 0.9], 0.05, [0, 1, 2]),  # mean of three 0.047
        ([0.001, 0.04, 0.12, 0.9], 0.05, [0, 1]),  # mean of three 0.0537
        ([0.9, 0.04, 0.001, np.nan], 0.05, [1, 2]),
        ([0.06, 0.5], 0.05, []),
        ([np.nan], 0.05, []),
    ],
)
def test_as_many_are_flagged_as_keep_the_mean_chance_of_being_acceptable(chance, q, found):
    assert np.flatnonzero(bayesian_discoveries(np.array(chance), q)).tolist() == found


def test_the_default_is_a_tenth_below_the_mean_over_annotations():
    """Accuracies 0.9 and 0.6, and who is 0.6 has given most annotations: the mean is of annotations, not of raters."""
    data, _ = simulated(1, np.r_[np.full(11, 0.9), 0.4], n_cases=600, per_case=5)
    found = judged(data)
    n = found.n_annotations
    assert found.default
    assert found.mean == pytest.approx((n * found.accuracy.value).sum() / n.sum(), abs=1e-9)
    assert found.acceptable == pytest.approx(found.mean - 0.1, abs=1e-12)
    assert found.mean == pytest.approx((11 * 0.9 + 0.4) / 12, abs=0.03)
    assert np.flatnonzero(found.flagged).tolist() == [11]
    assert found.order()[0] == 11
    assert found.expected_wrong[11] == pytest.approx(n[11] * 0.6, rel=0.15)
    assert found.cost == pytest.approx(found.expected_wrong[11])
    assert 1 <= found.n_below < 1.6


def test_it_is_never_below_half_way_from_blind_answers_to_the_mean():
    """Two classes, accuracy 0.62: blind annotations reach 0.5, a tenth below the mean would be nearly blind."""
    data, _ = simulated(2, np.full(12, 0.64), n_cases=1500, per_case=9, n_classes=2)
    found = judged(data)
    assert found.blind == pytest.approx(0.5, abs=0.02)
    assert found.mean - 0.1 < (found.mean + found.blind) / 2
    assert found.acceptable == pytest.approx((found.mean + found.blind) / 2, abs=1e-12)


def test_what_the_user_calls_acceptable_is_taken():
    data, _ = simulated(3, [0.9, 0.9, 0.85, 0.9, 0.75], n_cases=800, per_case=5)
    assert not judged(data, acceptable=0.6).flagged.any()
    found = judged(data, acceptable=0.84)
    assert (found.acceptable, found.default) == (0.84, False)
    assert np.flatnonzero(found.flagged).tolist() == [4]
    assert judged(data, acceptable=0.97).flagged.all()


def test_the_posterior_on_gold_is_that_of_a_beta_prior_where_there_is_one_rater():
    """One rater, 30 of 40 right: Beta(10 m + 30, 10 (1 - m) + 10), whose mean m is its own fixed point 0.75."""
    right, truth = np.arange(40) < 30, np.arange(40) % 2
    data = Dataset.from_classes(
        "x", *names(40, 1, 2), np.arange(40), np.zeros(40, int), np.where(right, truth, 1 - truth)
    )
    data = replace(data, gold=truth.astype(np.int32))
    found = judge_accuracy(panel_of(data, MajorityVote().fit(data)), acceptable=0.7)
    from scipy.special import betainc, betaincinv

    assert found.judged_by == "gold"
    assert found.accuracy.value[0] == pytest.approx(0.75, abs=1e-3)
    assert found.chance[0] == pytest.approx(1 - betainc(37.5, 12.5, 0.7), abs=2e-3)
    ends = betaincinv(37.5, 12.5, [0.025, 0.975])
    assert [found.accuracy.low[0], found.accuracy.high[0]] == pytest.approx(ends, abs=4e-3)
    assert (found.gold.value[0], found.gold.n[0]) == (0.75, 40)


def test_gold_judges_who_has_twenty_annotations_on_it_and_the_model_the_others():
    data, truth = simulated(4, np.r_[np.full(9, 0.85), 0.3], n_cases=400, per_case=4)
    half = with_gold(data, truth, 0.5)
    assert default_judge(half) == "gold"
    assert default_judge(with_gold(data, truth, 0.02)) == "model"
    assert default_judge(data) == "model"
    assert default_judge(replace(data, gold=np.where(truth == 1, 1, -1).astype(np.int32))) == "model"
    few, known = simulated(4, np.full(30, 0.8), n_cases=60, per_case=3)  # six annotations each
    assert default_judge(with_gold(few, known)) == "gold" and default_judge(with_gold(few, known, 0.7)) == "model"
    assert judged(with_gold(few, known)).by_gold.all()
    found, by_model = judged(half), judged(half, judged_by="model")
    assert found.by_gold.all()
    assert (found.accuracy.n == found.gold.n).all()
    assert np.abs(found.accuracy.value - found.gold.value).max() < 0.08
    assert np.array_equal(found.model.value, by_model.accuracy.value)
    assert not by_model.by_gold.any()
    assert np.flatnonzero(found.flagged).tolist() == np.flatnonzero(by_model.flagged).tolist() == [9]
    case, rater, answer = rows(half)
    few = ~((rater == 0) & (case >= 15) & (case < 200))  # rater 0 keeps few annotations on gold cases
    less = Dataset.from_classes("x", half.cases, half.raters, half.classes, case[few], rater[few], answer[few])
    mixed = judged(replace(less, gold=half.gold))
    assert mixed.judged_by == "gold"
    assert np.flatnonzero(~mixed.by_gold).tolist() == [0]
    assert mixed.accuracy.n[0] > mixed.gold.n[0]


def test_shares_on_gold_are_counted():
    data = Dataset.from_classes("x", *names(3, 2, 2), [0, 1, 2, 0], [0, 0, 0, 1], [0, 1, 1, 1])
    found = gold_rates(replace(data, gold=np.array([0, 0, -1], np.int32)))
    assert found.n.tolist() == [2, 1]
    assert found.value.tolist() == [0.5, 0.0]
    assert np.isnan(gold_rates(data).value).all()


def test_accuracy_is_not_pulled_towards_chance_where_the_others_are_unsure():
    """Three raters a case at 0.75: the others alone give the annotations 0.64 on average; the posterior finds 0.75."""
    data, truth = simulated(5, np.full(60, 0.75), n_cases=800, per_case=3, n_classes=2)
    panel = panel_of(data, DawidSkene("pooled").fit(data))
    found = judge_accuracy(panel)
    right = (truth[data.case_of_annotation] == data.answer).mean()
    assert panel.right.mean() < right - 0.08
    assert found.mean == pytest.approx(right, abs=0.03)
    assert not judged(data, acceptable=0.66).flagged.any()


def test_beside_many_who_are_surely_below_nobody_is_flagged_who_is_likely_acceptable():
    """The mean of 15 chances of 0 and one of 0.7 is below 0.05."""
    accuracy = np.r_[np.full(135, 0.8), np.full(15, 0.25)]
    found = judged(simulated(0, accuracy, n_cases=1200, per_case=5)[0])
    assert found.chance[found.flagged].max() <= 0.5
    assert bayesian_discoveries(np.r_[np.zeros(15), 0.7], 0.05).all()


def test_honest_raters_who_are_alike_are_seldom_flagged():
    """150 raters, all of 0.8 but 15 who guess: of those flagged at 0.05, few are honest; most who guess are found."""
    false, guessing = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        accuracy = np.r_[rng.beta(80, 20, 135), np.full(15, 0.25)]
        found = judged(simulated(seed, accuracy, n_cases=1200, per_case=5)[0])
        false.append(found.flagged[:135].sum() / max(found.n_flagged, 1))
        guessing.append(found.flagged[135:].mean())
        assert (found.accuracy.low < accuracy).mean() > 0.93
        assert (found.accuracy.high > accuracy).mean() > 0.93
    assert np.mean(false) <= 0.06
    assert np.mean(guessing) > 0.95


@pytest.mark.parametrize("per_case", [2, 3, 4])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_of_noise_nothing_is_said(per_case, n_classes):
    for seed in range(5):
        data, _ = simulated(seed, np.full(8, 1 / n_classes), n_cases=30, per_case=per_case, n_classes=n_classes)
        found = judged(data)
        assert found.why
        assert found.acceptable is None
        assert found.mean is None
        assert not found.flagged.any()
        assert np.isnan(found.accuracy.value).all()


def test_of_unanimous_answers_nothing_is_said_unless_gold_judges():
    case, rater = np.divmod(np.arange(200), 4)
    data = Dataset.from_classes("x", *names(50, 4, 3), case, rater, case % 3)
    found = judged(data)
    assert "no two annotations of a case differ" in found.why
    assert np.isnan(found.expected_wrong).all()
    assert (found.n_judged, found.n_flagged, found.cost) == (0, 0, 0.0)
    wrong = replace(data, gold=((np.arange(50) + (np.arange(50) < 25)) % 3).astype(np.int32))
    by_gold = judged(wrong)
    assert by_gold.accuracy.value == pytest.approx(0.5, abs=0.05)
    assert not by_gold.why


def test_two_raters_who_differ_cannot_be_told_apart():
    data, _ = simulated(6, [0.9, 0.6], n_cases=300, per_case=2)
    found = judged(data)
    assert "who is wrong when raters differ" in found.why
    assert found.why_no_order
    assert not found.flagged.any()


def test_who_has_given_one_annotation_is_not_flagged_for_it():
    data, _ = simulated(7, np.r_[np.full(9, 0.85), 0.2], n_cases=400, per_case=4)
    case, rater, answer = rows(data)
    own = np.flatnonzero(rater == 9)
    keep = np.ones(case.size, bool)
    keep[own[1:]] = False
    less = Dataset.from_classes("x", data.cases, data.raters, data.classes, case[keep], rater[keep], answer[keep])
    found = judged(less)
    assert found.n_annotations[9] == 1
    assert not found.flagged.any()
    assert found.accuracy.high[9] - found.accuracy.low[9] > 0.3


def test_a_rater_whom_nobody_else_judges_is_left_out():
    data, _ = simulated(8, np.full(6, 0.8), n_cases=200, per_case=4)
    case, rater, answer = rows(data)
    case, rater = np.append(case, [200, 201]), np.append(rater, [6, 6])
    more = Dataset.from_classes("x", *names(202, 7, 4), case, rater, np.append(answer, [0, 0]))
    found = judged(more)
    assert np.isnan(found.chance[6])
    assert found.n_judged == 6
    assert found.order()[-1] == 6


def test_one_class_that_is_nearly_always_true_flags_nobody():
    """Two classes, prevalence 0.99, twelve raters right in 0.97: blind annotations do as well as they."""
    rng = np.random.default_rng(9)
    truth = (rng.random(2000) < 0.01).astype(int)
    case = np.repeat(np.arange(2000), 4)
    rater = rng.random((2000, 12)).argsort(axis=1)[:, :4].ravel()
    answer = np.where(rng.random(case.size) < 0.97, truth[case], 1 - truth[case])
    found = judged(Dataset.from_classes("x", *names(2000, 12, 2), case, rater, answer))
    assert not found.flagged.any()
    assert found.acceptable is None or found.acceptable < found.mean


def test_a_thousand_classes_are_judged():
    data, _ = simulated(10, np.r_[np.full(9, 0.8), 0.1], n_cases=300, per_case=4, n_classes=1000)
    found = judge_accuracy(panel_of(data, MajorityVote().fit(data)))
    assert np.flatnonzero(found.flagged).tolist() == [9]


def test_names_of_raters_change_nothing():
    data, _ = simulated(11, np.r_[np.full(9, 0.85), 0.3], n_cases=300, per_case=4)
    order = np.random.default_rng(0).permutation(10)
    case, rater, answer = rows(data)
    other = Dataset.from_classes("x", data.cases, data.raters, data.classes, case, order[rater], answer)
    assert judged(other).chance[order] == pytest.approx(judged(data).chance, abs=1e-6)


@pytest.mark.parametrize("how", [{"acceptable": 1.0}, {"q": 0.0}, {"level": 1.0}, {"judged_by": "me"}])
def test_bad_parameters_are_refused(how):
    data, _ = simulated(12, np.full(5, 0.8), n_cases=50)
    with pytest.raises(InputError):
        judged(data, **how)


def test_gold_cannot_judge_where_there_is_none():
    data, _ = simulated(13, np.full(5, 0.8), n_cases=50)
    with pytest.raises(NotApplicableError, match="gold"):
        judged(data, judged_by="gold")


def test_the_reason_is_empty_where_raters_can_be_judged_and_names_one_class():
    data, _ = simulated(14, np.full(5, 0.8), n_cases=100)
    assert why_not(data) == ""
    single = rebuilt(Dataset.from_classes("x", *names(2, 2, 1), [0, 0, 1], [0, 1, 0], [0, 0, 0]), np.zeros(3, int))
    assert "one class" in why_not(single)
