"""Classifiers against gold: by hand, and on two that guess."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.evaluation.gold_accuracy import gold_accuracy
from core.evaluation.predictions import Predictions


def data(gold, n_classes=4, empty=()):
    """One annotation a case, none of those in ``empty``."""
    cases = [case for case in range(len(gold)) if case not in empty]
    built = Dataset.from_classes(
        "d",
        [f"case {case}" for case in range(len(gold))],
        ["r"],
        [f"class {code}" for code in range(n_classes)],
        np.array(cases),
        np.zeros(len(cases), int),
        np.zeros(len(cases), int),
    )
    return replace(built, gold=np.array(gold, np.int32))


def predicted(name, lists):
    """Lists of (class, block of ties) by case."""
    ptr = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
    flat = [entry for each in lists for entry in each]
    return Predictions(name, ptr, np.array([code for code, _ in flat]), np.array([tie for _, tie in flat]))


def test_accuracy_by_gold_is_that_by_hand_with_ties_in_expectation():
    """Right, wrong, one of a tie of two, not listed, no prediction, no gold, no annotation."""
    dataset = data([0, 1, 2, 3, 0, -1, 0], empty={6})
    one = predicted("one", [[(0, 0), (1, 1)], [(0, 0), (1, 1)], [(1, 0), (2, 0)], [(0, 0)], [], [(0, 0)], [(0, 0)]])
    first, second = gold_accuracy(dataset, [one]), gold_accuracy(dataset, [one], 2)
    assert first.n.tolist() == second.n.tolist() == [4]
    assert first.value[0] == pytest.approx((1 + 0 + 0.5 + 0) / 4)
    assert second.value[0] == pytest.approx((1 + 1 + 1 + 0) / 4)
    assert first.low[0] < first.value[0] < first.high[0]
    assert first.words() == ""


def test_a_classifier_without_a_gold_case_has_no_number():
    dataset = data([0, 1, -1])
    found = gold_accuracy(dataset, [predicted("a", [[(0, 0)], [(1, 0)], []]), predicted("b", [[], [], [(0, 0)]])])
    assert found.n.tolist() == [2, 0] and np.isnan([found.value[1], found.low[1], found.gap[0, 1]]).all()
    assert found.words() == ""


def test_two_that_guess_are_told_apart_by_neither_sign_and_two_that_differ_are():
    rng = np.random.default_rng(0)
    gold = rng.integers(4, size=400)
    dataset = data(gold)

    def guessing(name, right):
        codes = np.where(rng.random(400) < right, gold, rng.integers(4, size=400))
        return predicted(name, [[(int(code), 0)] for code in codes])

    random, other, good = guessing("x", 0), guessing("y", 0), guessing("z", 0.6)
    found = gold_accuracy(dataset, [random, other, good])
    differ = found.gap[0, 1]
    assert differ == pytest.approx(found.value[0] - found.value[1]) == -found.gap[1, 0]
    assert "do not clearly differ" in gold_accuracy(dataset, [random, other]).words()
    assert "do not clearly" not in found.words() and found.words().startswith("z and ")
    assert found.n_both.tolist() == np.full((3, 3), 400).tolist()
    assert found.to_frame()["n_gold"].tolist() == [400] * 3


def test_the_error_of_a_difference_is_that_of_a_mean_of_few_cases():
    """Differences 1, 0 and 0: their variance is 1/3 on two degrees of freedom, that of the mean 1/9."""
    dataset = data([0, 1, 2])
    one = predicted("one", [[(0, 0)], [(1, 0)], [(3, 0)]])
    two = predicted("two", [[(1, 0)], [(1, 0)], [(3, 0)]])
    found = gold_accuracy(dataset, [one, two])
    assert found.gap[0, 1] == pytest.approx(1 / 3) and found.gap_se[0, 1] == pytest.approx(1 / 3)
    assert found.words() == (
        "one and two do not clearly differ in accuracy against gold: difference 0.333 ± 0.333, n = 3 cases."
    )


@pytest.mark.parametrize(("n", "told"), [(2, False), (3, False), (12, True)])
def test_a_few_cases_that_all_differ_alike_do_not_tell_who_is_better(n, told):
    """Their plain error is 0; with two more pairs it is √(((n + 1)/(n + 2) − (n/(n + 2))²)/(n + 2))."""
    dataset = data([0] * n)
    right, wrong = (predicted(name, [[(code, 0)]] * n) for name, code in (("right", 0), ("wrong", 1)))
    said = gold_accuracy(dataset, [right, wrong]).words()
    error = np.sqrt(((n + 1) / (n + 2) - (n / (n + 2)) ** 2) / (n + 2))
    assert said.startswith("right and wrong d") and f"difference 1.000 ± {error:.3f}, n" in said
    assert ("do not clearly" not in said) == told


@pytest.mark.parametrize(("second", "shared"), [([], "no case"), ([(0, 0)], "only one case")])
def test_of_classifiers_that_hardly_share_a_case_nothing_can_be_said(second, shared):
    dataset = data([0, 1, 2])
    one, two = predicted("one", [[(1, 0)], [(0, 0)], second]), predicted("two", [[], [], [(2, 0)]])
    said = gold_accuracy(dataset, [one, two]).words()
    assert said == f"Cannot compare two and one using gold: {shared} with gold has predictions from both."
