from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import betabinom, binom
from scipy.stats import t as student

from core.multiplicity import holm
from core.raters.carelessness import beta_binomial_tail, carelessness
from core.raters.flags import Evidence, raise_flags
from core.raters.monitoring import monitor
from core.raters.response_times import _p_fast, response_times
from tests.benchmarks.rater_monitoring import SETTINGS, flagged, simulate
from tests.core.raters.raters_simulated import rebuilt, simulated


def test_holm_rejects_what_a_hand_count_says():
    """0.01, 0.02 and 0.04 at 0.05: 0.01 ≤ 0.05/3, 0.02 ≤ 0.05/2, 0.04 ≤ 0.05; 0.03 in the middle stops it."""
    assert holm(np.array([0.04, 0.01, np.nan, 0.02]), 0.05).tolist() == [0, 1, 3]
    assert holm(np.array([0.04, 0.01, 0.03]), 0.05).tolist() == [1]
    assert holm(np.array([np.nan]), 0.05).tolist() == []


def test_the_rate_is_shared_by_the_rules_that_judge_somebody():
    nobody, one = np.array([np.nan, np.nan]), np.array([0.02, 1.0])
    words = "rater {}".format
    assert len(raise_flags({"spam": Evidence(one, words), "drift": Evidence(nobody, words)}, 0.05)) == 1
    assert not raise_flags({"spam": Evidence(one, words), "drift": Evidence(one[::-1] * 0 + 1, words)}, 0.05)
    assert not raise_flags({"spam": Evidence(one, words, np.array([False, True]))}, 0.05)


@pytest.mark.parametrize("setting", SETTINGS[1:4], ids=lambda setting: setting.title)
def test_honest_raters_are_flagged_in_at_most_one_data_set_of_twenty(setting):
    """Within three standard errors of 5% of 12 data sets: at most 2."""
    honest, _, rules = flagged(setting, 12, first=500)
    assert honest <= 2, rules


@pytest.mark.parametrize(
    ("odd", "rule"), [("careless", "careless"), ("spam", "spam"), ("streaks", "streaks"), ("fast", "fast")]
)
def test_odd_raters_are_found_by_their_own_sign_and_others_left_alone(odd, rule):
    """20 classes, 166 annotations each: in at least three of 4 data sets."""
    honest, own, rules = flagged(SETTINGS[3], 4, odd)
    assert own >= 3 and honest <= 1
    assert rules.get(f"{rule} of rater 0", 0) >= 3


def test_a_careless_rater_is_found_among_four_classes_too():
    """Somebody right in 0.8 of the annotations who gives one class in a third of them without looking, of 300."""
    found = 0
    for seed in range(4):
        data, _ = simulated(seed, [0.88] * 8, n_cases=600, n_classes=4)
        rng = np.random.default_rng(seed)
        answer = data.answer.copy()
        answer[(data.rater == 3) & (rng.random(answer.size) < 0.33)] = 2
        found += (3, "careless") in [(flag.rater, flag.rule) for flag in monitor(rebuilt(data, answer)).flags]
    assert found >= 3


def test_confusing_two_classes_is_not_careless():
    """Half of the annotations on class 1 are class 0: a habit on one class, however often."""
    for seed in range(3):
        data, truth = simulated(seed, [0.9] * 8, n_cases=600)
        rng = np.random.default_rng(seed)
        answer = data.answer.copy()
        answer[(data.rater == 3) & (truth[data.case_of_annotation] == 1) & (rng.random(answer.size) < 0.5)] = 0
        assert "careless" not in {flag.rule for flag in monitor(rebuilt(data, answer)).flags}


def test_cases_sorted_by_class_make_no_streaks():
    """Honest raters repeat themselves there, and the expected share says so."""
    data, truth = simulated(8, [0.85] * 6, n_cases=400)
    rank = np.argsort(np.argsort(truth, kind="stable"))
    table = monitor(rebuilt(data, data.answer, rank[data.case_of_annotation] * 60 + 1))
    assert (table.response_times.repeated > 0.5).all()
    # Each rater has about 260 successive annotations: four standard errors of a share near 0.7.
    np.testing.assert_allclose(
        table.response_times.repeated, table.response_times.expected, atol=4 * np.sqrt(0.7 * 0.3 / 200)
    )
    assert not table.flags


def test_a_rater_who_mixes_up_two_classes_of_two_is_adversarial():
    data, _ = simulated(9, [0.85] * 6, n_cases=300, n_classes=2)
    answer = np.where(data.rater == 2, 1 - data.answer, data.answer)
    table = monitor(rebuilt(data, answer))
    assert "adversarial" in {flag.rule for flag in table.flags_of(2)}
    assert table.adversarial[2] > 0.99 and (np.delete(table.adversarial, 2) < 0.01).all()


@pytest.mark.parametrize("odd", [None, 0])
def test_nobody_is_adversarial_where_nothing_can_depend_on_the_truth(odd):
    """Of two classes one alone is given, or by one rater once the other: blind annotations are right nearly always."""
    data, _ = simulated(9, [0.85] * 3, n_cases=30, per_case=3, n_classes=2)
    answer = np.zeros_like(data.answer)
    answer[: 0 if odd is None else 1] = 1
    table = monitor(rebuilt(data, answer))
    assert np.isnan(table.adversarial).all() and not table.flags


def test_honest_raters_of_a_rare_class_are_not_adversarial():
    """2 of 1,000 cases are positive, and most raters call none of them so."""
    rng, truth = np.random.default_rng(0), np.arange(1000) < 2
    data, _ = simulated(9, [0.85] * 5, n_cases=1000, n_classes=2)
    flags = []
    for _ in range(10):
        right = rng.random(data.answer.size) < np.where(truth[data.case_of_annotation], 0.6, 0.999)
        answer = (truth[data.case_of_annotation] == right).astype(data.answer.dtype)
        flags += [flag.rule for flag in monitor(rebuilt(data, answer)).flags]
    assert not flags


def test_spam_is_certain_for_a_spammer_and_out_of_the_question_for_the_others():
    data, _ = simulate(SETTINGS[0], 3, "spam")
    spam = monitor(data).spam
    assert spam[0] > 0.9 and (spam[1:] < 0.1).all()


def test_the_beta_binomial_tail_is_the_sum_of_its_probabilities():
    x, n, one, two = np.array([0, 2, 5]), np.array([4, 6, 5]), np.array([1.0, 2.5, 3]), np.array([4.0, 9, 1])
    expected = betabinom.sf(x - 1, n, one, two)
    np.testing.assert_allclose(beta_binomial_tail(x, n, one, two), expected, rtol=1e-9)


def panel(rater, top, answer, n_classes, time=None, sure=1.0):
    """Annotations of cases of which the others are certain, or ``sure`` of each, in their order."""
    n = len(rater)
    dataset = SimpleNamespace(
        n_raters=max(rater) + 1, n_classes=n_classes, rater=np.array(rater), answer=np.array(answer)
    )
    order = np.argsort(rater, kind="stable")
    return SimpleNamespace(
        dataset=dataset, judged=np.ones(n, bool), sure=np.full(n, sure), top=np.array(top), order=order, time=time
    )


def test_a_rater_who_repeats_is_compared_with_the_others_and_not_with_themselves():
    """Five turns each, of which 4 and 3 are kept: the usual rates are (3 + 1)/(5 + 2) and (4 + 1)/(5 + 2).

    In any order the two would keep 4 and 5 of 9 pairs, which is less.
    """
    found = response_times(
        panel([0] * 6 + [1] * 6, [0, 1] * 6, [0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0], 2, 1_700_000_000 + np.arange(12))
    )
    assert found.n_turns.tolist() == [5, 5] and found.n_kept.tolist() == [4, 3]
    assert found.p_kept == pytest.approx(binom.sf([3, 2], 5, [4 / 7, 5 / 7]))


def test_a_favourite_is_as_surprising_as_one_of_all_classes_may_be():
    """Class 3 on 8 cases of each other class; nobody else is ever far off, so it is Beta-binomial(24, 1, 3).

    The class on which it is named most may be a habit: 16 of 24 are left, and four classes could have been the one.
    """
    others = np.repeat(np.arange(4), 30)
    odd = np.repeat(np.arange(3), 8)
    found = carelessness(panel([0] * 24 + [1] * 120, [*odd, *others], [*np.full(24, 3), *others], 4))
    assert (found.favourite[0], found.n_favourite[0], found.n_over[0], found.n_regardless[0]) == (3, 24, 3, 16)
    assert found.p_favourite[0] == pytest.approx(4 * betabinom.sf(15, 24, 1, 3))
    assert found.p_favourite[1] == 1 and found.n_far.tolist() == [24, 0]


@pytest.mark.parametrize(
    ("n_others", "n_same", "n_far"), [(9, 0, 0), (10, 0, 1), (20, 1, 0), (21, 1, 1), (40, 2, 0), (41, 2, 1)]
)
def test_far_off_is_what_less_than_one_in_twenty_of_ten_others_or_more_say(n_others, n_same, n_far):
    """The rater's own five other answers on the class are not among those of the others."""
    others = [2] * n_same + [0] * (n_others - n_same)
    found = carelessness(panel([0] * 6 + [1] * n_others, [0] * (6 + n_others), [0] * 5 + [2] + others, 3))
    assert found.n_clear.tolist() == [6, n_others] and found.n_far.tolist() == [n_far, 0]


def test_the_others_are_certain_from_nine_tenths_on():
    made = [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0], 2, np.arange(4)
    for sure, n_clear, n_turns in ((0.9, 4, 3), (np.nextafter(0.9, 0), 0, 0)):
        found = panel(*made, sure=sure)
        assert carelessness(found).n_clear.tolist() == [n_clear] and response_times(found).n_turns.tolist() == [n_turns]


def evidence(count, prior):
    """Log probability of answers in one order, whose shares are from a Dirichlet distribution."""
    return gammaln(prior.sum()) - gammaln(count.sum() + prior.sum()) + (gammaln(count + prior) - gammaln(prior)).sum()


def test_the_factor_of_blind_answers_is_what_a_slow_sum_says_and_one_rater_of_a_hundred_is_taken_for_blind():
    """Two pseudo-answers behind each row: as the others answer on the class, of which two more are taken as known."""
    rng = np.random.default_rng(2)
    rater, top, answer = rng.integers(3, size=90), rng.integers(3, size=90), rng.integers(3, size=90)
    answer = np.where((rater > 0) & (rng.random(90) < 0.7), top, answer)
    top[rater == 2] = 1  # on one class alone nothing can be said
    found = carelessness(panel(rater, top, answer, 3))
    counts = np.zeros((3, 3, 3))
    np.add.at(counts, (rater, top, answer), 1)
    usual = (counts.sum(axis=(0, 1)) + 1) / (90 + 3)
    for j in range(2):
        others = counts.sum(axis=0) - counts[j]
        honest = 0.0
        for k in range(3):
            expected = (others[k] + np.eye(3)[k] + usual) / (others[k].sum() + 2)
            honest += evidence(counts[j, k], 2 * expected)
        factor = evidence(counts[j].sum(axis=0), 2 * usual) - honest
        assert found.log_factor[j] == pytest.approx(factor)
        assert found.spam[j] == pytest.approx(np.exp(factor) / (np.exp(factor) + 99))
    assert np.isnan(found.log_factor[2]) and np.isnan(found.spam[2])


def test_a_sitting_ends_after_half_an_hour_and_its_median_is_between_the_middle_two():
    """Gaps of 10, 30, 1800, 1801 and 9 seconds; somebody else answers once."""
    time = np.array([1200, 1210, 1240, 3040, 4841, 4850, 1200])
    made = panel([0] * 6 + [1], [0] * 7, [0] * 7, 2, time)
    found = response_times(made)
    assert found.n_gaps.tolist() == [4, 0] and found.n_sittings.tolist() == [2, 1]
    assert found.seconds[0] == 20 and np.isnan(found.seconds[1]) and found.why_no_speed == ""
    shorter = response_times(made, sitting=1799)
    assert (shorter.n_gaps[0], shorter.n_sittings[0], shorter.seconds[0]) == (3, 3, 10)


@pytest.mark.parametrize(("step", "n_gaps"), [(1200, 4), (86_400, 0)])
def test_times_are_days_where_all_of_them_are_midnights(step, n_gaps):
    found = response_times(panel([0] * 5, [0] * 5, [0] * 5, 2, step * np.arange(5)))
    assert found.n_gaps.tolist() == [n_gaps] and bool(found.why_no_speed) == (n_gaps == 0)


def test_speed_is_judged_from_ten_times_on_and_among_four_raters_or_more():
    """Log median against those of the others, as one more draw from their normal distribution."""
    seconds = np.array([4.0, 20.0, 25.0, 30.0, 0.0, 3.0, np.nan])
    n_gaps = np.array([10, 10, 11, 40, 50, 9, 0])
    found = _p_fast(seconds, n_gaps)
    logs = np.log(seconds[:4])
    for j in range(4):
        others = np.delete(logs, j)
        score = (logs[j] - others.mean()) / (others.std(ddof=1) * np.sqrt(1 + 1 / 3))
        assert found[j] == pytest.approx(student.cdf(score, 2))
    assert found[4:].tolist() == [1, 1, 1]
    assert _p_fast(seconds[1:], n_gaps[1:]).tolist() == [1] * 6
