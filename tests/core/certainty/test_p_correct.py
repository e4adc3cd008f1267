"""P(correct) beside certainty: it is that of the average of rater models, and a sentence says why the two differ."""

from dataclasses import replace

import numpy as np
import pytest

from core.certainty.p_correct import PCorrect, of_average, why_they_differ
from core.models.average import average_models
from core.models.choose import choose
from tests.core.models.test_majority import panel


def made(dataset, probability, beta=0.9, confusion=None):
    n, k = dataset.n_raters, dataset.n_classes
    confusion = np.full((n, k, k), 1 / k) if confusion is None else confusion
    return PCorrect(dataset.cases, dataset.classes, np.array(probability, float), confusion, beta)


def test_it_is_the_average_of_the_models_that_were_scored(build):
    dataset = build(panel(3, 60, 3, 4, 0.8), 3)
    choice = choose(dataset)
    averaged = average_models(choice, dataset)
    found = of_average(averaged, dataset)
    assert found.probability == pytest.approx(averaged.fit.class_probability)
    weight = sum(each.weight for each in averaged.members)
    assert found.beta == pytest.approx(sum(each.weight * each.beta.mean for each in averaged.members) / weight)
    frame = found.to_frame()
    assert frame["p_correct"].tolist() == pytest.approx(averaged.fit.class_probability.max(axis=1))


def test_a_class_that_nobody_named_has_none(build):
    found = made(build([(0, 0, 0), (1, 0, 1)], 2), [[0.8, 0.2], [0.3, 0.7]])
    assert np.isnan(found.of(np.array([-1, 1]))).tolist() == [True, False] and found.of(np.array([0, 1]))[1] == 0.7


def test_the_raters_who_differ_are_named_where_they_are_the_more_accurate_ones(build):
    dataset = build([(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 1), (0, 4, 1)], 2)
    good, poor = [[0.95, 0.05], [0.05, 0.95]], [[0.55, 0.45], [0.45, 0.55]]
    found = made(dataset, [[0.2, 0.8]], confusion=np.array([poor, poor, poor, [[0.9, 0.1], [0.1, 0.9]], good]))
    said = why_they_differ(found, dataset, 0, 0, 0.7)
    assert said == (
        f"much lower than certainty: the raters who chose “{dataset.classes[1]}” are more accurate "
        f"({dataset.raters[4]} and {dataset.raters[3]}). P(correct) of “{dataset.classes[1]}” is 80%."
    )
    hidden = why_they_differ(found, dataset, 0, 0, 0.7, hide_names=True)
    assert dataset.raters[4] not in hidden and "are more accurate." in hidden


def test_it_is_said_that_raters_share_mistakes_only_where_they_do(build):
    dataset = build([(0, rater, 0) for rater in range(8)], 2)
    found = made(dataset, [[0.7, 0.3]], beta=0.4)
    assert "raters make similar mistakes" in why_they_differ(found, dataset, 0, 0, 0.99)
    assert "weight raters by their accuracy" in why_they_differ(replace(found, beta=0.8), dataset, 0, 0, 0.99)
    assert "weight raters by their accuracy" in why_they_differ(replace(found, beta=None), dataset, 0, 0, 0.99)
    higher = why_they_differ(found, dataset, 0, 0, 0.4)
    assert higher.startswith("much higher") and "similar mistakes" not in higher


def test_a_tie_that_the_models_decide_is_called_one_and_no_shared_mistake(build):
    dataset = build([(0, rater, rater % 2) for rater in range(4)], 2)
    said = why_they_differ(made(dataset, [[0.1, 0.9]], beta=0.3), dataset, 0, 0, 0.5)
    name = dataset.classes[1]
    assert said.endswith(f"lower than certainty: annotations are tied, and P(correct) of “{name}” is 90%.")
    repeated = build([(0, 0, 1), (0, 0, 1), (0, 1, 0)], 2)
    said = why_they_differ(made(repeated, [[0.1, 0.9]], beta=0.3), repeated, 0, 0, 0.5)
    assert "repeats by one rater count once for certainty" in said
    alone = build([(0, rater, 0) for rater in range(4)], 2)
    said = why_they_differ(made(alone, [[0.1, 0.9]], beta=0.3), alone, 0, 0, 0.9)
    assert "no rater chose" in said and "similar mistakes" not in said


def test_few_annotations_are_the_reason_only_where_they_are_few(build):
    dataset = build([(0, 0, 0), (0, 1, 1), (1, 0, 0)], 2)
    found = made(dataset, [[0.9, 0.1], [0.9, 0.1]])
    assert why_they_differ(found, dataset, 0, 0, 0.5).endswith("higher than certainty: the case has few annotations.")
    assert why_they_differ(found, dataset, 1, 0, 0.5) == "", "one annotation has no certainty"


@pytest.mark.parametrize(("p", "certainty"), [(0.75, 0.9), (0.95, 0.8), (0.5, 0.5)])
def test_nothing_is_said_where_the_two_numbers_are_near(p, certainty, build):
    dataset = build([(0, rater, rater % 2) for rater in range(4)], 2)
    assert why_they_differ(made(dataset, [[p, 1 - p]], beta=0.2), dataset, 0, 0, certainty) == ""
    assert why_they_differ(made(dataset, [[p, 1 - p]], beta=0.2), dataset, 0, -1, 0.1) == ""
