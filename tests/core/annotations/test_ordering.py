"""Declaring the order of the classes moves names and codes together."""

from dataclasses import replace

import numpy as np
import pytest

from core import load_sample, read
from core.agreement.coefficients import fleiss_kappa
from core.annotations.ordering import may_be_ordered, order_by_name, order_in_words, scale_order, with_class_order
from core.errors import InputError, NotApplicableError

DATA = read(b"case,rater,class\n1,a,mild\n1,b,severe\n2,a,none\n2,b,mild\n3,a,none\n3,b,none\n").dataset


def test_answers_risk_and_gold_keep_their_names():
    side = {"class_risk": np.array([0, 1, 2], np.int8), "gold": np.array([0, 2, -1], np.int32)}
    before = replace(DATA, **side)
    after = with_class_order(before, ["none", "mild", "severe"])
    assert after.ordinal and after.classes == ("none", "mild", "severe")
    assert [after.classes[code] for code in after.answer] == [before.classes[code] for code in before.answer]
    assert after.class_risk.tolist() == [1, 0, 2]
    assert [after.classes[code] if code >= 0 else None for code in after.gold] == ["mild", "severe", None]


def test_what_knows_no_order_stays_the_same():
    assert fleiss_kappa(with_class_order(DATA, ["severe", "none", "mild"])) == fleiss_kappa(DATA)


@pytest.mark.parametrize("order", [["none", "mild"], ["none", "mild", "severe", "none"], []])
def test_an_order_that_is_not_of_all_classes_is_refused(order):
    with pytest.raises(InputError):
        with_class_order(DATA, order)


def test_rankings_have_no_order_of_classes():
    with pytest.raises(NotApplicableError):
        with_class_order(load_sample("skin"), ["x"])


@pytest.mark.parametrize(
    ("classes", "asked"),
    [
        (("1", "2", "3"), True),
        (("-1", "0", "1"), True),
        (("\u22121", "0,5", "<5"), True),
        (("agree", "disagree", "strongly agree"), True),
        (("0", "0.5", "1"), True),
        (("Grade 1", "Grade 2", "Grade 3a"), True),
        (("high", "low", "medium"), True),
        (("0", "1"), False),
        (("1", "2", "x"), False),
        (("apple", "pear", "plum"), False),
        ((), False),
    ],
)
def test_a_scale_is_asked_about(classes, asked):
    assert may_be_ordered(classes) is asked


SCALES = {
    "severity": ("none", "mild", "moderate", "severe"),
    "agreement": ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"),
    "likelihood": ("very unlikely", "unlikely", "possible", "likely", "very likely"),
    "certainty": ("no", "possible", "probable", "definite"),
    "frequency": ("never", "rarely", "sometimes", "often", "always"),
    "quality": ("very poor", "poor", "fair", "good", "excellent"),
    "sound": ("bad", "poor", "fair", "good", "excellent"),
    "pain": ("no pain", "mild pain", "moderate pain", "severe pain", "worst possible pain"),
    "level": ("very_low", "low", "medium", "high", "very-high"),
    "satisfaction": ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    "sentiment": ("negative", "neutral", "positive"),
}


@pytest.mark.parametrize("name", SCALES)
def test_scale_order_is_from_low_to_high_whatever_the_order_of_the_names(name):
    scale = SCALES[name]
    for names in (scale, scale[::-1], tuple(sorted(scale))):
        assert scale_order(names) == scale
        assert order_by_name(names) == scale
        assert may_be_ordered(names)
    assert scale_order((*scale, "another word")) is None


@pytest.mark.parametrize(
    "names",
    [
        ("neg", "ind", "pos"),
        ("severe", "major", "mild"),  # two words of one step
        ("severe",),
    ],
)
def test_scale_order_is_not_known_of_other_words(names):
    assert scale_order(names) is None


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (("apple", "pear", "plum"), None),
        (("pear", "apple", "plum"), None),
        (("high", "low"), ("low", "high")),
        (("2", "1", "-1"), ("-1", "1", "2")),
        (("T10", "T1", "T2"), ("T1", "T2", "T10")),
        (("Grade 1", "Grade 2", "Grade 3a"), ("Grade 1", "Grade 2", "Grade 3a")),
    ],
)
def test_order_by_name_is_that_of_numbers_grades_and_known_scales(names, order):
    assert order_by_name(names) == order


def test_order_in_words_names_the_ends_of_many_classes():
    assert order_in_words(("a", "b", "c")) == "a < b < c"
    assert order_in_words(tuple(map(str, range(20)))) == "0 < 1 < 2 < … < 17 < 18 < 19"
