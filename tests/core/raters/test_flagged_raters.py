"""All flags in one place, each where it must be and not where it must not, and the sentence made of them."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.models.one_class_raters import one_class_raters
from core.raters.accuracy_threshold import agree_beyond_chance, judge_accuracy, why_not
from core.raters.flagged_raters import FlaggedRaters, flag_raters
from core.raters.flags import ADVICE, RULES, SHORT
from core.raters.leave_one_rater_out import panel_of
from core.raters.monitoring import monitor
from core.raters.one_class import one_class
from core.text import percent, percent_with_interval
from tests.core.raters.raters_simulated import names, one_class_each, rare, rebuilt, rows, simulated, with_spammers


def found_in(data, **how):
    return flag_raters(monitor(data, model=DawidSkene("pooled")), **how)


def honest(seed=0, n_raters=12, n_cases=900, **how):
    return simulated(seed, np.full(n_raters, 0.85), n_cases=n_cases, per_case=5, **how)[0]


def kinds(found):
    return {found.raters[rater]: found.kinds_of(rater) for rater in found.flagged()}


def test_every_rule_has_advice_and_a_short_name_of_its_own():
    assert set(ADVICE) == set(SHORT) == set(RULES) and len(set(SHORT.values())) == len(RULES)


@pytest.mark.parametrize("seed", range(4))
def test_honest_raters_who_differ_a_little_are_not_flagged(seed):
    accuracy = np.random.default_rng(seed).uniform(0.8, 0.9, 12)
    found = found_in(simulated(seed, accuracy, n_cases=900, per_case=5)[0])
    assert kinds(found) == {}
    assert found.words().startswith("No rater is clearly below the acceptable accuracy (")


@pytest.mark.parametrize(
    ("n_judged", "chance", "who"),
    [
        (8, [0.6, 0.7, 0.9], "but it is not clear which"),
        (8, [0.9, 0.3, 0.9], "most likely r1"),
        (8, [0.4, 0.45, np.nan], "but it is not clear which"),
        (1, [0.2], "but the only rater may be"),
    ],
)
def test_who_may_be_below_the_acceptable_accuracy_is_said_in_full(n_judged, chance, who):
    judged = SimpleNamespace(
        n_judged=n_judged, acceptable=0.6, judged_by="model", n_below=0.8, n_flagged=0, check=None,
        chance=np.array(chance),
    )  # fmt: skip
    said = FlaggedRaters._accuracies(SimpleNamespace(raters=("r0", "r1", "r2")), judged)
    assert said.endswith(f"below the acceptable accuracy (60%), {who}.")
    assert said.startswith("About 1 of 8 raters is probably") == (n_judged == 8)


def test_who_is_often_wrong_is_low_and_nothing_else():
    data, _ = simulated(1, np.r_[np.full(11, 0.85), 0.6], n_cases=900, per_case=5)
    found = found_in(data)
    assert kinds(found) == {"r11": ("low accuracy",)}
    words = found.flags[0].words
    assert "estimated from" in words
    assert "Probability that it is acceptable (at least" in words and words.endswith("under 0.1%.")
    assert found.flags[0].p == found.acceptable.chance[11]


def test_who_names_one_class_is_low_of_one_class_and_blind():
    data = honest(2)
    answer = data.answer.copy()
    answer[data.rater == 3] = 1
    found = found_in(rebuilt(data, answer))
    assert list(kinds(found)) == ["r3"]
    assert {"low accuracy", "one class"} < set(kinds(found)["r3"])
    n = int((data.rater == 3).sum())
    words = next(flag.words for flag in found.flags if flag.rule == "one_class")
    assert f"Named k1 in {n} of {n} annotations" in words


def test_who_gets_worse_drifts():
    data, _ = simulated(3, np.full(12, 0.9), n_cases=1500, per_case=5, change={4: (900, 0.55)})
    found = found_in(data, acceptable=0.6)
    assert kinds(found) == {"r4": ("got worse",)}


def test_who_repeats_the_previous_answer_repeats():
    data = honest(4, n_cases=1200)
    _, rater, answer = rows(data)
    own = np.flatnonzero(rater == 2)
    rng = np.random.default_rng(0)
    for before, here in pairwise(own):
        if rng.random() < 0.3:
            answer[here] = answer[before]
    found = found_in(rebuilt(data, answer), acceptable=0.4)
    assert kinds(found) == {"r2": ("repeats",)}


def test_who_is_much_faster_is_fast():
    data = honest(5, n_cases=1200)
    rng = np.random.default_rng(1)
    seconds = np.zeros(data.n_annotations, np.int64)
    for j in range(12):
        own = np.flatnonzero(data.rater == j)
        pace = 1.0 if j == 6 else 40 * rng.lognormal(0, 0.2)
        seconds[own] = 1_700_000_000 + np.cumsum(np.maximum(1, pace * rng.lognormal(0, 0.3, own.size))).astype(int)
    found = found_in(rebuilt(data, data.answer, seconds))
    assert kinds(found) == {"r6": ("fast",)}


def test_flags_stand_in_the_order_of_what_they_cost():
    """r10 is worse, r11 is less bad but gave three times as many annotations."""
    data, _ = simulated(6, np.r_[np.full(10, 0.9), 0.3, 0.5], n_cases=1500, per_case=6)
    case, rater, answer = rows(data)
    keep = (rater != 10) | (case < 300)
    data = Dataset.from_classes("x", data.cases, data.raters, data.classes, case[keep], rater[keep], answer[keep])
    found = found_in(data)
    assert found.flagged() == (11, 10)
    act = found.acceptable
    assert act.accuracy.value[10] < act.accuracy.value[11]
    assert act.expected_wrong[11] > act.expected_wrong[10]


def test_the_sentence_says_how_many_how_surely_and_what_they_cost():
    data, truth = simulated(7, np.r_[np.full(27, 0.85), 0.3, 0.3, 0.3], n_cases=1500, per_case=5)
    found = found_in(data)
    act = found.acceptable
    n, cost = int(act.n_annotations[27:].sum()), round(act.cost)
    share = round(100 * act.cost / act.expected_wrong.sum())
    assert found.words() == (
        f"3 of 30 raters are flagged as below the acceptable accuracy ({act.acceptable:.0%}). An estimated "
        f"{cost:,} of the flagged raters' {n:,} annotations are wrong, {share}% of all wrong annotations."
    )
    wrong = (truth[data.case_of_annotation] != data.answer)[data.rater >= 27].sum()
    assert cost == pytest.approx(wrong, rel=0.05)
    by_gold = found_in(replace(data, gold=truth.astype(np.int32)))
    assert "measured against gold" in by_gold.words()


def test_one_rater_is_not_told_in_the_plural():
    data, _ = simulated(3, np.r_[np.full(3, 0.9), 0.3], n_cases=800, per_case=3)
    words = found_in(data).words()
    assert words.startswith("1 of 4 raters is flagged as below the acceptable accuracy (")
    assert "). An estimated " in words


def with_gold_of(data, known, truth):
    """Gold of the cases ``known``, -1 elsewhere."""
    gold = np.full(data.n_cases, -1, np.int32)
    gold[known] = truth[known]
    return replace(data, gold=gold)


def test_gold_too_scarce_to_judge_confirms_the_model_where_raters_are_independent():
    data, truth = simulated(11, np.full(12, 0.85), n_cases=900, per_case=5)
    found = found_in(with_gold_of(data, np.arange(40), truth))
    check = found.acceptable.check
    case = data.case_of_annotation
    right = (truth[case] == data.answer)[case < 40]
    assert found.acceptable.judged_by == "model"
    assert (check.n, check.n_cases, check.right) == (200, 40, right.mean())
    assert check.agrees and (check.n_missed, check.n_cleared) == (0, 0)
    shown = percent_with_interval(check.right, check.low, check.high)
    assert found.words().endswith(
        f" Of 200 annotations with gold, {shown} are correct. The model estimates {percent(check.model)}, which agrees."
    )
    assert found_in(with_gold_of(data, np.arange(19), truth)).acceptable.check is None
    assert found_in(with_gold_of(data, np.flatnonzero(truth == 1)[:40], truth)).acceptable.check is None
    assert found_in(data).acceptable.check is None
    assert found_in(replace(data, gold=truth.astype(np.int32))).acceptable.check is None  # gold itself judges


def test_gold_too_scarce_to_judge_says_that_the_model_takes_raters_for_better_where_they_share_mistakes():
    data, truth = simulated(12, np.full(12, 0.85), n_cases=900, per_case=5)
    misled = truth.copy()
    misled[::3] = (misled[::3] + 1) % data.n_classes
    found = found_in(with_gold_of(data, np.arange(40), misled))
    check = found.acceptable.check
    by_case = np.add.reduceat(misled[data.case_of_annotation] == data.answer, data.case_ptr[:-1])[:40]
    spread = np.sqrt(((by_case - by_case.mean()) ** 2).sum()) / 200  # five annotations a case
    assert check.high - check.right == pytest.approx(norm.ppf(0.975) * spread)
    assert check.high < check.model == pytest.approx(0.85, abs=0.02)
    assert "so it overrates raters. Treat its estimates with caution" in found.words()


def test_gold_names_how_many_raters_the_model_misses_and_how_many_it_flags_for_nothing():
    """By gold r0 is always wrong, r1 right; of those the model flags r45 is right, r46 now and then, r47 never."""
    data = simulated(13, np.r_[np.full(45, 0.85), np.full(3, 0.5)], n_cases=3600, per_case=5)[0]
    case, answer, gold = data.case_of_annotation, data.answer, np.full(data.n_cases, -1, np.int32)
    for rater, share in {0: 0, 1: 1, 45: 1, 46: 0.7, 47: 0}.items():
        rows = np.flatnonzero((data.rater == rater) & (gold[case] < 0))[100:122]
        gold[case[rows]] = (answer[rows] + (np.arange(22) >= share * 22)) % data.n_classes
    found = found_in(replace(data, gold=gold), acceptable=0.68)
    check = found.acceptable.check
    assert np.flatnonzero(found.acceptable.flagged).tolist() == [45, 46, 47]
    assert found.acceptable.judged_by == "model" and (check.n_missed, check.n_cleared) == (1, 1)
    assert check.model == pytest.approx(found.acceptable.model.value[data.rater[gold[case] >= 0]].mean(), abs=1e-12)
    assert found.words().endswith(
        " Measured against gold, 1 more rater is below the acceptable accuracy. Measured against gold, "
        "1 of the flagged raters is above the acceptable accuracy."
    )


def test_where_nothing_can_be_said_nothing_is_claimed():
    """Unanimous annotations, two raters, and noise: no number, no flag."""
    case, rater = np.divmod(np.arange(400), 4)
    unanimous = Dataset.from_classes("x", *names(100, 4, 3), case, rater, case % 3)
    two = simulated(8, [0.9, 0.5], n_cases=200, per_case=2)[0]
    noise = simulated(9, np.full(6, 0.25), n_cases=60, per_case=3)[0]
    for data in (unanimous, two, noise):
        found = found_in(data)
        assert found.words().startswith("Cannot determine rater accuracy: ")
        assert not any(character.isdigit() for character in found.words())
        assert "low" not in {flag.rule for flag in found.flags}
        assert np.isnan(found.acceptable.expected_wrong).all()


@pytest.mark.parametrize(("n_raters", "mixed_up"), [(2, [1]), (4, [2, 3])])
def test_where_raters_contradict_each_other_nobody_is_said_to_mix_up_the_classes(n_raters, mixed_up):
    """Half of them give the other class: which half is wrong, no annotation tells."""
    data, _ = simulated(10, np.full(n_raters, 0.9), n_cases=100, per_case=n_raters, n_classes=2)
    data = rebuilt(data, np.where(np.isin(data.rater, mixed_up), 1 - data.answer, data.answer))
    table = monitor(data)
    assert "adversarial" in {flag.rule for flag in table.flags}
    assert not flag_raters(table).flags


def test_in_skin_the_careless_rater_is_blind_and_the_drifting_one_drifts(skin_table):
    found = flag_raters(skin_table)
    assert "got worse" in found.kinds_of(3)
    assert "careless" in found.kinds_of(6)
    assert {found.raters[rater] for rater in found.flagged()} <= {"R04", "R07", "R05"}


@pytest.mark.parametrize("seed", range(3))
def test_two_spammers_do_not_silence_the_page(seed):
    """Twenty raters right on 0.85, and two who give one class on all cases, each the other one."""
    data, truth = with_spammers(seed)
    assert not agree_beyond_chance(data)
    found = flag_raters(monitor(data))
    act = found.acceptable
    assert not act.why and act.aside == (20, 21) and act.n_judged == 22
    assert {"allno", "allyes"} <= {found.raters[rater] for rater in found.flagged()}
    assert all("one class" in found.kinds_of(rater) for rater in (20, 21))
    right = np.bincount(data.rater, truth[data.case_of_annotation] == data.answer) / data.annotations_of_raters
    assert act.accuracy.value[:20].mean() == pytest.approx(right[:20].mean(), abs=0.07)
    assert found.words().endswith(" Raters agree beyond chance only without allno and allyes, who are flagged.")
    assert why_not(data) == ""  # so other pages say the same


def test_who_was_left_out_is_not_said_where_it_made_no_difference():
    data = honest(2)
    answer = data.answer.copy()
    answer[data.rater == 3] = 1
    found = found_in(rebuilt(data, answer))
    assert found.acceptable.aside == () and "only without" not in found.words()


def test_many_who_guess_do_not_silence_the_page_either():
    """Fifteen who guess on every case hide two who are right on 0.8."""
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=200)
    case, rater = (axis.ravel() for axis in np.indices((200, 17)))
    answer = np.where(rng.random(case.size) < 0.8, truth[case], 1 - truth[case])
    answer = np.where(rater < 15, rng.integers(2, size=case.size), answer)
    data = Dataset.from_classes("x", *names(200, 17, 2), case, rater, answer)
    panel = panel_of(data, DawidSkene("pooled").fit(data))
    assert judge_accuracy(panel).why == "agreement between raters is not clearly better than chance"
    judged = judge_accuracy(panel, careless=range(15))
    assert judged.why != judge_accuracy(panel).why and judged.aside == tuple(range(15))


@pytest.mark.parametrize("prevalence", [0.01, 0.03, 0.05])
def test_a_rare_class_flags_no_good_rater_as_one_class(prevalence):
    for seed in range(6):
        data = rare(seed, prevalence, per_case=2 + 2 * (seed % 2))
        single = one_class(data)
        assert (single.n_named >= 0.9 * single.n).all() and not single.found().size
        assert not one_class_raters(data).most
        answer = data.answer.copy()
        answer[data.rater == 0] = 0
        if prevalence > 0.01:
            assert one_class(rebuilt(data, answer)).found().tolist() == [0]


def test_a_rare_class_is_judged_as_before():
    found = found_in(rare(1, 0.05))
    assert not found.acceptable.why and "one_class" not in {flag.rule for flag in found.flags}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("prevalence", [0.15, 0.3, 0.5])
def test_where_most_raters_give_one_class_each_nobody_is_judged_or_flagged(prevalence, seed):
    data = one_class_each(seed, prevalence)
    found = flag_raters(monitor(data))
    assert found.words().startswith("Cannot determine rater accuracy: most raters use only one class")
    assert not found.flags and np.isnan(found.acceptable.accuracy.value).all()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_of_noise_nobody_is_left_out_until_the_others_agree(n_classes):
    """Whoever is flagged in noise is no reason to believe the rest."""
    for seed in range(8):
        data = simulated(seed, np.full(12, 1 / n_classes), n_cases=150, per_case=5, n_classes=n_classes)[0]
        found = flag_raters(monitor(data))
        assert found.acceptable.why and found.acceptable.aside == ()
