"""Bias, spam and adversaries under a fit."""

from dataclasses import replace

import numpy as np
import pytest

from core.agreement.intervals import wilson
from core.models.dawid_skene import DawidSkene
from core.models.expected_class import (
    class_values,
    expected_class,
    expected_said,
    in_class_names,
    place_said,
    without_shared_words,
)
from core.models.majority import MajorityVote
from core.models.precision import precision_of
from core.models.rater_summary import leaning, rater_summary
from tests.core.models.rows import random_rows, simulated

RATERS = {"good": [[0.9, 0.1], [0.2, 0.8]], "spammer": [[0.7, 0.3], [0.7, 0.3]], "adversary": [[0.2, 0.8], [0.9, 0.1]]}


@pytest.fixture(scope="module")
def fitted():
    from core.annotations.dataset import Dataset

    confusion = np.array([RATERS["good"]] * 4 + [RATERS["spammer"], RATERS["adversary"]])
    rows, truth = simulated(1, 1500, confusion, (0.6, 0.4), 6)
    case, rater, answer = np.array(rows).T
    names = ([str(i) for i in range(n)] for n in (1500, 6, 2))
    dataset = Dataset.from_classes("simulated", *names, case, rater, answer)
    model = DawidSkene("none")
    fit = model.fit(dataset)
    return dataset, replace(fit, uncertainty=precision_of(model, dataset, fit, n_replicates=20)), truth


def test_dependence_is_the_distance_of_sens_and_spec_from_1(fitted):
    dataset, fit, _ = fitted
    found = rater_summary(dataset, fit)
    youden = fit.confusion[:, 0, 0] + fit.confusion[:, 1, 1] - 1
    assert found.dependence == pytest.approx(np.abs(youden), abs=1e-12)
    assert found.dependence[:4].min() > 0.6 > 0.1 > found.dependence[4]


def test_an_adversary_is_recovered_and_flagged_and_a_spammer_is_not(fitted):
    dataset, fit, truth = fitted
    found = rater_summary(dataset, fit)
    assert found.adversarial.tolist() == [False] * 5 + [True]
    assert found.from_uncertainty
    assert (found.low < found.accuracy).all() and (found.accuracy < found.high).all()
    assert fit.confusion[5] == pytest.approx(np.array(RATERS["adversary"]), abs=0.08)
    assert np.mean(fit.top_class() == truth) > 0.9


def test_accuracy_is_below_chance_exactly_where_sens_and_spec_are_below_1(fitted):
    dataset, fit, _ = fitted
    found = rater_summary(dataset, fit)
    youden = fit.confusion[:, 0, 0] + fit.confusion[:, 1, 1] - 1
    prevalence = fit.prevalence[0] * fit.prevalence[1]
    assert found.accuracy - found.chance == pytest.approx(2 * prevalence * youden, abs=1e-12)


def test_a_rater_leans_to_what_they_say_too_often_and_never_to_what_they_say_too_seldom():
    bias = [[-0.3, 0.1, 0.2], [0.2, -0.2, 0.0], [0.0, 0.0, 0.0], [np.nan] * 3, [1e-17, -1e-17, 0.0]]
    assert leaning(np.array(bias)).tolist() == [2, 0, -1, -1, -1]


def test_bias_is_the_share_of_answers_less_the_share_of_true_classes(build):
    rows = random_rows(4)
    dataset = build(rows, 3, 25, 5)  # the fifth rater is silent
    fit = MajorityVote().fit(dataset)
    found = rater_summary(dataset, fit)
    for rater in range(4):
        mine = [(case, answer) for case, r, answer in rows if r == rater]
        for k in range(3):
            said = np.mean([answer == k for _, answer in mine])
            true = np.mean([fit.class_probability[case, k] for case, _ in mine])
            assert found.bias[rater, k] == pytest.approx(said - true, abs=1e-12)
    assert np.isnan(found.bias[4]).all() and np.isnan(found.accuracy[4]) and not found.adversarial[4]
    assert not found.from_uncertainty
    assert (found.low[0], found.high[0]) == pytest.approx(wilson(found.accuracy[0], found.n_annotations[0], 1.959964))


@pytest.mark.parametrize("seed", range(3))
def test_dependence_is_the_root_of_the_published_score(seed, build):
    """Raykar & Yu 2012: 1/(K (K − 1)) Σ_{c<c'} Σ_k (A_ck − A_c'k)²; perfect raters have 1, spammers 0."""
    dataset = build(random_rows(seed, n_classes=3), 3, 25, 4)
    fit = DawidSkene("diagonal").fit(dataset)
    found = rater_summary(dataset, fit)
    for rater in range(4):
        rows = fit.confusion[rater]
        score = sum(((rows[c] - rows[d]) ** 2).sum() for c in range(3) for d in range(c)) / 6
        assert found.dependence[rater] == pytest.approx(np.sqrt(score), abs=1e-12)
    perfect = replace(fit, confusion=np.array([np.eye(3), np.full((3, 3), 1 / 3), np.eye(3)[[1, 2, 0]], np.eye(3)]))
    assert rater_summary(dataset, perfect).dependence == pytest.approx([1, 0, 1, 1], abs=1e-7)


def test_classes_that_a_rater_never_met_do_not_count(build):
    rows = [(case, rater, case % 2) for case in range(10) for rater in range(3)] + [(0, 3, 0)]
    dataset = build(rows, 3)
    found = rater_summary(dataset, DawidSkene("none").fit(dataset))
    assert found.dependence[:3] == pytest.approx([1, 1, 1])
    assert np.isnan(found.dependence[3])


# Expected class: Places on an ordered scale are said in the numbers or names of the classes, not counted from 1
# beside others.


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
