"""Gold classes held fixed in a fit, and what to do with annotations that a rater repeats."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.models.gold import gold_cases
from core.models.gold_measures import N_FOLDS, beta_by_gold, gold_measures
from core.models.held_out import BETAS
from core.models.one_coin import OneCoin
from core.models.tap import TAP
from core.models.tempering import tempered
from core.runtime.seeds import case_seeds
from tests.core.models.rows import random_rows, simulated

CONFUSION = np.full((4, 3, 3), 0.15) + 0.55 * np.eye(3)


def with_gold(dataset, gold):
    return replace(dataset, gold=np.array(gold, np.int32))


def test_with_every_class_known_the_fit_is_counting(build):
    rows, truth = simulated(1, 60, CONFUSION, (0.5, 0.3, 0.2), 3)
    fit = DawidSkene("none", use_gold=True).fit(with_gold(build(rows, 3, 60, 4), truth))
    for rater in range(4):
        for true in range(3):
            answers = [answer for case, r, answer in rows if r == rater and truth[case] == true]
            shares = np.bincount(answers, minlength=3) / len(answers)
            assert fit.confusion[rater, true] == pytest.approx(shares, abs=1e-12)
    assert fit.prevalence == pytest.approx(np.bincount(truth, minlength=3) / 60, abs=1e-12)
    log_likelihood = sum(np.log(fit.prevalence[truth[case]]) for case in range(60))
    log_likelihood += sum(np.log(fit.confusion[rater, truth[case], answer]) for case, rater, answer in rows)
    assert fit.log_likelihood == pytest.approx(log_likelihood, abs=1e-9)


@pytest.mark.parametrize("model", [DawidSkene("none"), OneCoin("none"), TAP("none")])
def test_known_classes_are_not_used_unless_that_is_asked_for(model, build):
    rows, truth = simulated(2, 60, CONFUSION, (0.5, 0.3, 0.2), 3)
    dataset = build(rows, 3, 60, 4)
    plain, beside = model.fit(dataset), model.fit(with_gold(dataset, truth))
    assert (plain.class_probability == beside.class_probability).all()
    assert not beside.settings["use_gold"]


def test_known_classes_bring_the_rest_nearer_to_the_truth(build):
    """Adversarial raters are in the majority; with gold the fit knows which side is which."""
    confusion = np.array([[[0.9, 0.1], [0.1, 0.9]]] * 2 + [[[0.15, 0.85], [0.85, 0.15]]] * 3)
    rows, truth = simulated(3, 300, confusion, (0.6, 0.4), 5)
    dataset = build(rows, 2, 300, 5)
    gold = np.where(np.arange(300) < 30, truth, -1)
    rest = slice(30, None)
    blind = DawidSkene("none").fit(dataset).top_class()[rest]
    told = DawidSkene("none", use_gold=True).fit(with_gold(dataset, gold)).top_class()[rest]
    assert np.mean(told == truth[rest]) > 0.95 > 0.1 > np.mean(blind == truth[rest])


def test_known_classes_need_one_annotation_per_case(build):
    rows = [(case, case % 2, case % 3) for case in range(12)]
    dataset = build(rows, 3)
    with pytest.raises(NotApplicableError, match="Cannot determine rater accuracy"):
        DawidSkene("none").fit(with_gold(dataset, [0] * 12))
    fit = DawidSkene("none", use_gold=True).fit(with_gold(dataset, [case % 3 for case in range(6)] + [-1] * 6))
    assert fit.confusion == pytest.approx(np.array([np.eye(3)] * 2))


def test_gold_that_is_asked_for_must_be_there(build):
    dataset = build(random_rows(1), 3)
    for other in (dataset, with_gold(dataset, [-1] * dataset.n_cases)):
        with pytest.raises(NotApplicableError, match="Could not hold gold classes fixed: no case has a gold class"):
            DawidSkene("none", use_gold=True).fit(other)
        assert gold_cases(other).size == 0


def test_a_known_case_without_an_annotation_counts_nowhere(build):
    rows = random_rows(2)
    model = DawidSkene("none", use_gold=True)
    plain = model.fit(with_gold(build(rows, 3, 25), [1] + [-1] * 24))
    more = with_gold(build(rows, 3, 27), [1] + [-1] * 24 + [2, 2])
    fit = model.fit(more)
    assert fit.prevalence == pytest.approx(plain.prevalence, abs=1e-12)
    assert fit.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-9)
    assert fit.class_probability[25:].tolist() == [[0, 0, 1]] * 2
    assert gold_cases(more).tolist() == [0]


def test_restarts_leave_known_classes_known(build):
    rows, truth = simulated(4, 60, CONFUSION, (0.5, 0.3, 0.2), 3)
    dataset = with_gold(build(rows, 3, 60, 4), np.where(np.arange(60) < 10, (truth + 1) % 3, -1))
    model = DawidSkene("none", use_gold=True)
    best = model.restarts(dataset, model.fit(dataset), 3).best
    assert (best.class_probability[np.arange(10), (truth[:10] + 1) % 3] == 1).all()


def test_repeats_count_as_independent_or_once_or_are_refused(build):
    rows = random_rows(3)
    dataset = build(rows, 3)
    first = list({(case, rater): (case, rater, answer) for case, rater, answer in reversed(rows)}.values())[::-1]
    n_repeats = len(rows) - len(first)
    assert n_repeats > 0
    once = DawidSkene("none", repeats="first").fit(dataset)
    by_hand = DawidSkene("none", repeats="refuse").fit(build(first, 3))
    assert once.class_probability == pytest.approx(by_hand.class_probability, abs=1e-12)
    assert once.n_annotations.sum() == len(first)
    every = DawidSkene("none").fit(dataset)
    assert every.n_annotations.sum() == len(rows)
    assert any(note.startswith(f"{n_repeats} of {len(rows)} annotations repeat") for note in every.notes)
    assert not any("repeat" in note for note in once.notes)
    with pytest.raises(NotApplicableError, match=f"{n_repeats} annotations repeat"):
        DawidSkene("none", repeats="refuse").fit(dataset)


# Gold measures: Class probabilities against gold classes.


def judged(build, probability, gold):
    dataset = build([(case, rater, 0) for case in range(len(gold)) for rater in range(2)], len(probability[0]))
    dataset = replace(dataset, gold=np.array(gold, np.int32))
    return dataset, replace(OneCoin().fit(dataset), class_probability=np.array(probability))


def test_measures_of_four_cases_by_hand(build):
    """One without a gold class; one certain and right, one 0.6 and wrong, one tied."""
    dataset, fit = judged(build, [[0.99, 0.01], [0.6, 0.4], [0.5, 0.5], [0.2, 0.8]], [0, 1, 1, -1])
    found = gold_measures(dataset, fit)
    assert found.n == 3
    assert found.accuracy.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert found.log_loss.value == pytest.approx(-(np.log(0.99) + np.log(0.4) + np.log(0.5)) / 3)
    assert found.brier.value == pytest.approx((2 * 0.01**2 + 2 * 0.6**2 + 2 * 0.5**2) / 3)
    assert found.ece.value == pytest.approx((0.01 + 0.6 + 0.0) / 3)  # the tied case has 0.5 of right at 0.5
    assert found.n_certain == 1 and found.certain_right.value == 1 and found.certain_right.low < 0.3
    for measure in (found.accuracy, found.log_loss, found.brier):
        assert measure.low <= measure.value <= measure.high


def test_the_floor_keeps_a_veto_finite(build):
    found = gold_measures(*judged(build, [[1.0, 0.0]], [1]))
    assert found.log_loss.value == pytest.approx(-np.log(1e-12))
    assert found.certain_right.value == 0
    assert gold_measures(*judged(build, [[0.98, 0.02]], [0])).certain_right is None


def test_intervals_of_log_loss_have_the_width_of_the_normal_one(build):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 500)
    gold = (rng.random(500) > p).astype(int)
    found = gold_measures(*judged(build, np.stack([p, 1 - p], axis=1), gold))
    loss = -np.log(np.where(gold == 0, p, 1 - p))
    width = found.log_loss.high - found.log_loss.low
    assert width == pytest.approx(2 * 1.96 * loss.std() / np.sqrt(500), rel=0.15)


def test_beta_by_gold_is_low_if_raters_copy(build):
    confusion = np.full((6, 3, 3), 0.2) + 0.4 * np.eye(3)
    rows, truth = simulated(2, 400, confusion, (0.4, 0.3, 0.3), 3)
    gold = truth.astype(np.int32)
    alone = replace(build(rows, 3), gold=gold)
    copied = replace(build([(c, 3 * r + twin, a) for c, r, a in rows for twin in range(3)], 3), gold=gold)
    low, high = (beta_by_gold(dataset, OneCoin().fit(dataset)) for dataset in (copied, alone))
    assert low.beta <= 0.5 < high.beta
    assert low.n == high.n == 400
    assert gold_measures(copied, OneCoin().fit(copied)).log_loss.value > low.log_loss


def test_each_fifth_of_gold_is_judged_at_the_others_beta(build):
    confusion = np.full((5, 3, 3), 0.2) + 0.4 * np.eye(3)
    rows, truth = simulated(5, 120, confusion, (0.4, 0.3, 0.3), 4)
    dataset = replace(build(rows, 3), gold=truth.astype(np.int32))
    fit = OneCoin().fit(dataset)
    each = np.arange(120)
    loss = [-np.log(tempered(fit, dataset, float(beta)).class_probability[each, truth]) for beta in BETAS]
    loss = np.array(loss)
    fold = case_seeds(0, dataset.cases, "β by gold") % N_FOLDS
    best = [loss[:, fold != number].sum(axis=1).argmin() for number in range(N_FOLDS)]
    found = beta_by_gold(dataset, fit)
    assert found.beta == BETAS[loss.sum(axis=1).argmin()] and len(set(best)) > 1
    assert found.log_loss == pytest.approx(np.mean([loss[best[place], case] for case, place in enumerate(fold)]))
    assert found.log_loss > loss.mean(axis=1).min()


def test_few_known_classes_and_those_that_were_used_cannot_judge(build):
    dataset = build(random_rows(1), 3)
    with pytest.raises(NotApplicableError, match="gold class"):
        gold_measures(dataset, OneCoin().fit(dataset))
    some = replace(dataset, gold=np.zeros(dataset.n_cases, np.int32))
    with pytest.raises(NotApplicableError, match="100 annotated gold cases"):
        beta_by_gold(some, OneCoin().fit(some))
    with pytest.raises(NotApplicableError, match="used the gold classes"):
        gold_measures(some, OneCoin(use_gold=True).fit(some))


def test_another_seed_leaves_the_values(build):
    p = np.random.default_rng(1).uniform(0.5, 1, 60)
    data = judged(build, np.stack([p, 1 - p], axis=1), [0, 0, 1] * 20)
    first, again, other = (gold_measures(*data, seed=seed) for seed in (3, 3, 4))
    for name in ("log_loss", "brier", "ece"):
        one, same, drawn = (getattr(found, name) for found in (first, again, other))
        assert (one.value, one.low, one.high) == (same.value, same.low, same.high)
        assert one.value == drawn.value and (one.low, one.high) != (drawn.low, drawn.high)
