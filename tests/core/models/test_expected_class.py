"""Places on an ordered scale are said in the numbers or names of the classes, not counted from 1 beside others."""

import numpy as np
import pytest

from core.models.expected_class import (
    class_values,
    expected_class,
    expected_said,
    in_class_names,
    place_said,
    without_shared_words,
)

GRADES, WORDS = ("0", "1", "2", "3"), ("none", "mild", "severe")


def test_grades_from_nought_are_said_in_grades():
    scale = expected_class(np.array([[0.02, 0.66, 0.32, 0.0]]))
    mean, low, high = scale.mean[0], scale.spread.low[0], scale.spread.high[0]
    assert (mean, low, high) == (pytest.approx(2.3), 2, 3)
    assert expected_said(GRADES, mean, low, high) == "1.3 (1 to 2)"
    assert place_said(GRADES, mean) == "1.3" and expected_said(("10", "20", "30"), 2.5, 2, 3) == "25.0 (20 to 30)"
    assert in_class_names(GRADES, np.array([1.0, 4.0])).tolist() == [0, 3]


@pytest.mark.parametrize("classes", [WORDS, ("1", "2", "4"), ("1", "1+", "2"), ("nan", "1", "2")])
def test_names_that_are_no_even_numbers_are_said_as_names(classes):
    assert class_values(classes) is None and in_class_names(classes, np.array([1.5])).tolist() == [1.5]
    assert expected_said(classes, 1.4, 1, 2) == f"{classes[0]} to {classes[1]}"
    assert expected_said(classes, 2.0, 2, 2) == classes[1] == place_said(classes, 1.97)
    assert place_said(classes, 2.5) == f"between {classes[1]} and {classes[2]}"


def test_a_word_that_both_ends_have_before_a_number_is_said_once():
    assert expected_said(("grade 0", "grade 1", "grade 2"), 1.5, 1, 3) == "grade 0 to 2"
    assert expected_said(("very mild", "mild", "very severe"), 1.5, 1, 3) == "very mild to very severe"
    assert expected_said(("grade 1", "stage 2", "stage 3"), 1.5, 1, 2) == "grade 1 to stage 2"


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_leaves_half_of_the_rest_on_each_side_and_turns_round_with_the_scale(level):
    tail = (1 - level) / 2
    ends = np.array([[tail * 1.2, 1 - tail * 1.4, tail * 0.2], [tail * 1.6, 1 - tail * 3.2, tail * 1.6]])
    probability = np.vstack([ends, np.random.default_rng(3).dirichlet([0.4, 2.0, 0.3], 200)])
    found, turned = (expected_class(each, level).spread for each in (probability, probability[:, ::-1]))
    reached = np.cumsum(probability, axis=1)
    assert found.low.tolist() == [1 + int(np.argmax(row >= tail)) for row in reached]
    assert found.high.tolist() == [1 + int(np.argmax(row >= 1 - tail)) for row in reached]
    assert (turned.low.tolist(), turned.high.tolist()) == ((4 - found.high).tolist(), (4 - found.low).tolist())
    assert (found.low[1], found.high[1]) == (1, 3)


@pytest.mark.parametrize(
    ("classes", "short"),
    [
        (("grade 0", "grade 1", "grade 10"), ("0", "1", "10")),
        (("BI-RADS cat 2", "BI-RADS cat 3"), ("2", "3")),
        (("very mild", "very mild pain"), ("mild", "mild pain")),
        (("grade", "grade 1"), ("grade", "grade 1")),
        (("mild", "severe"), ("mild", "severe")),
        (("a b", "a b"), ("b", "b")),
        (("only one",), ("only one",)),
        ((), ()),
    ],
)
def test_words_with_which_all_names_begin_are_left_out_and_something_stays(classes, short):
    assert without_shared_words(classes) == short
