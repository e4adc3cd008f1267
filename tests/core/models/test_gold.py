"""Gold classes held fixed in a fit, and what to do with annotations that a rater repeats."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.models.gold import gold_cases
from core.models.one_coin import OneCoin
from core.models.tap import TAP
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


def test_one_annotation_per_case_is_enough_where_classes_are_known(build):
    rows = [(case, case % 2, case % 3) for case in range(12)]
    dataset = build(rows, 3)
    with pytest.raises(NotApplicableError, match="Cannot determine rater accuracy"):
        DawidSkene("none").fit(with_gold(dataset, [0] * 12))
    fit = DawidSkene("none", use_gold=True).fit(with_gold(dataset, [case % 3 for case in range(6)] + [-1] * 6))
    assert fit.confusion == pytest.approx(np.array([np.eye(3)] * 2))


def test_gold_that_is_asked_for_must_be_there(build):
    dataset = build(random_rows(1), 3)
    for other in (dataset, with_gold(dataset, [-1] * dataset.n_cases)):
        with pytest.raises(NotApplicableError, match="Could not fix gold classes: no case has a gold class"):
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
