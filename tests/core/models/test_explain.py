"""Soft labels, and the reason why a case has its class."""

from dataclasses import replace

import numpy as np
import pytest

from core.models.classifier_evidence import CLASSIFIER
from core.models.dawid_skene import DawidSkene
from core.models.explain import BOUND, explain
from core.models.majority import MajorityVote
from core.models.soft_labels import soft_labels
from tests.core.models.rows import random_rows


def crafted(build, answers, prevalence, confusion):
    """One case with one annotation of each rater, and a fit with these parameters."""
    rows = [(0, rater, answer) for rater, answer in enumerate(answers)]
    dataset = build(rows, len(prevalence), 1, len(confusion))
    prevalence, confusion = np.array(prevalence), np.array(confusion)
    weight = prevalence * np.prod([confusion[rater, :, answer] for _, rater, answer in rows], axis=0)
    fit = replace(
        MajorityVote().fit(dataset),
        prevalence=prevalence,
        confusion=confusion,
        class_probability=(weight / weight.sum())[None],
    )
    return dataset, fit


SHARP, DULL = [[0.95, 0.05], [0.05, 0.95]], [[0.55, 0.45], [0.45, 0.55]]


def test_what_answers_and_prevalence_add_is_the_log_odds(build):
    dataset = build(random_rows(3), 3, 25, 4)
    fit = DawidSkene("pooled").fit(dataset)
    for case in range(25):
        reason = explain(dataset, fit, case)
        p = fit.class_probability[case]
        total = reason.prevalence + sum(value for _, _, value in reason.answers)
        assert reason.top == p.argmax()
        assert total == pytest.approx(np.log(p[reason.top] / p[reason.against]), abs=1e-9)
        sizes = [abs(value) for _, _, value in reason.answers]
        assert max(sizes, default=0) < BOUND  # so nothing was cut
        assert sizes == sorted(sizes, reverse=True)


def test_few_who_are_right_more_often_outweigh_many(build):
    dataset, fit = crafted(build, [0, 0, 0, 1, 1], [0.5, 0.5], [DULL] * 3 + [SHARP] * 2)
    reason = explain(dataset, fit, 0)
    assert reason.top == 1 and reason.against == 0
    assert reason.sentence == (
        "3 of 5 annotations name class 0, but the two raters who name class 1 are more often correct when they "
        "name it than the others are when they name class 0."
    )
    assert reason.answers[0][:2] == ("rater 3", "class 1")
    one, fit = crafted(build, [0, 0, 1], [0.5, 0.5], [DULL] * 2 + [SHARP])
    assert "the one rater who names class 1 is more often correct" in explain(one, fit, 0).sentence


def test_a_common_class_wins_against_weak_answers(build):
    dataset, fit = crafted(build, [0, 0, 1], [0.05, 0.95], [DULL] * 3)
    assert explain(dataset, fit, 0).sentence == (
        "2 of 3 annotations name class 0, but class 1 is more probable because it is the more common class."
    )


def test_adversaries_can_make_a_class_probable_that_nobody_named(build):
    turned = [[0.05, 0.95], [0.95, 0.05]]
    dataset, fit = crafted(build, [0, 0, 0], [0.5, 0.5], [turned] * 3)
    assert explain(dataset, fit, 0).sentence == (
        "3 of 3 annotations name class 0, and none names class 1, but together the annotations are more likely if the "
        "truth is class 1."
    )


def test_the_plain_cases_have_plain_sentences(build):
    def sentence(*crafted_with):
        return explain(*crafted(build, *crafted_with), 0).sentence

    assert sentence([1, 1, 1], [0.5, 0.5], [SHARP] * 3) == "All 3 annotations name class 1."
    assert sentence([1], [0.5, 0.5], [SHARP]) == "The only annotation is class 1."
    assert (
        sentence([1, 1, 0], [0.5, 0.5], [SHARP] * 3)
        == "2 of 3 annotations name class 1, and the others do not outweigh them."
    )
    assert sentence([1, 0], [0.5, 0.5], [SHARP] * 2) == "class 0 and class 1 are equally probable."
    three = np.full((4, 3, 3), 0.1) + 0.7 * np.eye(3)
    assert sentence([2, 2, 0, 1], [0.3, 0.3, 0.4], three).startswith(
        "2 of 4 annotations name class 2, and the two raters who name class 2"
    )
    empty, fit = crafted(build, [0, 1], [0.5, 0.5], [SHARP] * 2)
    empty = build([(0, 0, 0), (0, 1, 1)], 2, 2)
    fit = DawidSkene("diagonal").fit(empty)
    assert explain(empty, fit, 1).sentence.startswith(
        "No rater annotated this case, so its probabilities equal the prevalence"
    )
    known = replace(empty, gold=np.array([1, -1], np.int32))
    assert (
        explain(known, DawidSkene("none", use_gold=True).fit(known), 0).sentence == "The class is known to be class 1."
    )
    single = build([(0, 0, 0), (0, 1, 0)], 1)
    assert explain(single, DawidSkene("none").fit(single), 0).sentence == "There is only one class."


def test_impossible_answers_add_no_more_than_the_bound(build):
    dataset, fit = crafted(build, [0, 1, 0], [0.5, 0.5], [np.eye(2), DULL, DULL])
    assert max(abs(value) for _, _, value in explain(dataset, fit, 0).answers) == BOUND


def test_log_odds_are_bounded_and_exact_within_and_weights_leave_unanswered_cases_out(build):
    dataset = build(random_rows(3), 3, 27, 4)
    fit = DawidSkene("none").fit(dataset)
    found = soft_labels(dataset, fit)
    assert np.isfinite(found.log_odds).all() and np.abs(found.log_odds).max() <= found.bound == 20
    p = fit.class_probability
    inner = (p > 1e-6) & (p < 1 - 1e-6)
    assert found.log_odds[inner] == pytest.approx(np.log(p[inner] / (1 - p[inner])), abs=1e-6)
    rated = np.diff(dataset.case_ptr) > 0
    assert not rated.all() and (found.weight[~rated] == 0).all() and (found.weight[rated] == p[rated]).all()
    assert soft_labels(dataset, fit, bound=3).log_odds.max() == 3


def test_log_odds_near_certainty_are_not_lost_in_rounding(build):
    dataset = build([(0, 0, 0), (0, 1, 1)], 2)
    fit = replace(MajorityVote().fit(dataset), class_probability=np.array([[1.0, 1e-18]]))
    assert soft_labels(dataset, fit, bound=100).log_odds[0] == pytest.approx([18 * np.log(10), -18 * np.log(10)])


def test_what_the_annotations_alone_would_say_is_said_only_where_they_say_it(build):
    """A classifier as evidence decides only where prior and annotations together speak against the class."""
    three = np.full((3, 3, 3), 0.15) + 0.55 * np.eye(3)

    def sentence(answers, prevalence, probability):
        dataset, fit = crafted(build, answers, prevalence, three)
        fit = replace(fit, class_probability=np.array([probability]), settings=dict(fit.settings) | {CLASSIFIER: "net"})
        return explain(dataset, fit, 0).sentence

    decides = (
        "With net as evidence, class 2 is the most likely class. From the annotations alone, class 0 is more probable."
    )
    assert sentence([0, 0, 1], [0.5, 0.3, 0.2], [0.3, 0.1, 0.6]) == decides
    assert sentence([0, 0, 2], [0.3, 0.1, 0.6], [0.3, 0.1, 0.6]) == decides  # the prior is for it, annotations are not
    assert sentence([2, 2, 0], [0.3, 0.5, 0.2], [0.3, 0.1, 0.6]).startswith("2 of 3 annotations name class 2")


def test_a_class_is_weighed_against_the_likelier_of_those_named_as_often(build):
    three = np.full((5, 3, 3), 0.15) + 0.55 * np.eye(3)
    for shares, against in (([0.1, 0.2, 0.7], 1), ([0.2, 0.1, 0.7], 0)):
        dataset, fit = crafted(build, [0, 0, 1, 1, 2], [0.3, 0.3, 0.4], three)
        reason = explain(dataset, replace(fit, class_probability=np.array([shares])), 0)
        assert (reason.top, reason.against) == (2, against)
        assert reason.sentence.startswith(f"2 of 5 annotations name class {against}, but ")


def test_a_class_is_the_commoner_one_only_where_its_annotations_do_not_speak_for_it(build):
    better = [[0.7, 0.3], [0.3, 0.7]]
    dataset, fit = crafted(build, [0, 0, 1], [0.4, 0.6], [DULL, DULL, better])
    said = (
        "2 of 3 annotations name class 0, but the one rater who names class 1 is more often correct when they "
        "name it than the others are when they name class 0."
    )
    assert explain(dataset, fit, 0).sentence == said
    dataset, fit = crafted(build, [0, 0, 1], [0.3, 0.7], [DULL] * 3)
    assert explain(dataset, fit, 0).sentence.endswith("class 1 is more probable because it is the more common class.")


def test_those_who_are_more_but_less_often_right_are_not_called_right_more_often(build):
    weak, sharp = [[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.1, 0.9]]
    dataset, fit = crafted(build, [1, 1, 0, 0], [0.5, 0.5], [weak, weak, sharp, sharp])
    fit = replace(fit, class_probability=np.array([[0.3, 0.7]]))
    assert explain(dataset, fit, 0).sentence == (
        "2 of 4 annotations name class 1, and together, the annotations are more likely if the truth is class 1."
    )


def test_gold_of_the_first_class_is_known_too_and_that_of_another_case_is_not(build):
    dataset = build([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)], 2)
    known = replace(dataset, gold=np.array([0, -1], np.int32))
    fit = DawidSkene("none", use_gold=True).fit(known)
    assert explain(known, fit, 0).sentence == "The class is known to be class 0."
    assert explain(known, fit, 1).sentence == "Both annotations name class 1."
