"""Sentences of flags are made from the numbers of the rater that they are about."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.raters.flags import (
    accuracy_evidence,
    adversarial_evidence,
    careless_evidence,
    spam_evidence,
    speed_evidence,
    streak_evidence,
)

P = np.array([0.3, 0.002, 0.7])


def found(**arrays):
    return SimpleNamespace(**{name: np.array(values) for name, values in arrays.items()})


def test_streaks_are_told_by_how_many_turns_were_not_taken():
    evidence = streak_evidence(found(n_kept=[3, 1250, 0], n_turns=[4000, 5000, 0], p_kept=P))
    assert evidence.words(1).startswith("Repeated the previous annotation 1,250 of 5,000 times (25%) when")
    assert evidence.words(2).startswith("Repeated the previous annotation 0 of 0 times (0%) when")
    np.testing.assert_array_equal(evidence.p, [0.3, 0.002, np.nan])


def test_speed_is_told_beside_the_median_of_those_who_have_one():
    evidence = speed_evidence(found(seconds=[40.0, 2.25, np.nan], n_gaps=[9, 9, 0], p_fast=P))
    assert evidence.words(1) == "2.2 seconds between annotations (median rater: 21.1 seconds)."
    np.testing.assert_array_equal(evidence.p, [0.3, 0.002, np.nan])
    nobody = speed_evidence(found(seconds=[np.nan] * 3, n_gaps=[0, 0, 0], p_fast=P))
    assert np.isnan(nobody.p).all()


def test_accuracy_is_told_with_both_ends_beside_the_pool_or_chance():
    accuracy, low, high = np.array([0.9, 0.42, 0.8]), np.array([0.8, 0.31, 0.7]), np.array([0.95, 0.57, 0.88])
    assert accuracy_evidence(P, accuracy, low, high, 0.77).words(1) == (
        "Accuracy: 42% (31% to 57%); mean of all raters: 77%."
    )
    said = adversarial_evidence(P, np.array([0.3, 0.53, 0.4])).words(1)
    assert "below that of guesses" in said and "be correct in 53% of annotations" in said


@pytest.mark.parametrize(("n_regardless", "may"), [(0, False), (1000, True)])
def test_favourites_are_named_with_what_was_counted_and_what_was_expected(n_regardless, may):
    clear = {"n_clear": [10, 1000, 0], "n_regardless": [0, n_regardless, 0], "p_favourite": P}
    counts = {"favourite": [0, 2, 1], "n_favourite": [1, 17, 0], "n_over": [1, 4, 0], "n_far": [2, 93, 0]}
    evidence = careless_evidence(found(**clear, **counts, expected=[0.1, 2.34, 0.0]), ("acne", "mole", "wart"))
    assert evidence.words(0).startswith("Named “acne” 1 time in ")
    said = evidence.words(1)
    assert said.startswith("Named “wart” 17 times in ")
    assert " 93 cases " in said and said.endswith("; expected: 2.3 times.") and bool(evidence.may[1]) == may
    np.testing.assert_array_equal(evidence.p, [0.3, 0.002, np.nan])


def test_spam_is_told_by_its_cases_and_factor():
    evidence = spam_evidence(found(n_clear=[10, 1234, 0], log_factor=[-5.0, 12.4, np.nan], p_spam=P))
    said = evidence.words(1)
    assert said.startswith("On 1,234 cases where") and "about 200,000 times more likely if they ignore the case" in said
    most = spam_evidence(found(n_clear=[10, 1234, 0], log_factor=[-5.0, 20.0, np.nan], p_spam=P)).words(1)
    assert "over 1,000,000 times more likely" in most and "e^" not in said + most
    np.testing.assert_array_equal(evidence.p, [0.3, 0.002, np.nan])
