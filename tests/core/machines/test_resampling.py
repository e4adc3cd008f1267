"""Intervals of agreement and of its differences where cases are alike, and in the scale of the scores."""

from dataclasses import replace

import numpy as np
import pytest

from core.agreement.intervals import wilson
from core.annotations.dataset import Dataset
from core.machines.annotation_scores import AnnotationScore
from core.machines.equivalent_readers import equivalent_readers
from core.machines.marks import Machine
from core.machines.pair_agreement import pair_agreement
from core.machines.resampling import of_agreement, of_differences, of_sides, resampled, scale_of
from core.machines.versions import version_drift

PEOPLE = ("p0", "p1")
NAMES = [*PEOPLE, "m0", "m1"]


def classes(answer):
    n = len(answer)
    case, rater = np.divmod(np.arange(n * 4), 4)
    cases = [f"c{place}" for place in range(n)]
    return Dataset.from_classes("d", cases, NAMES, ["yes", "no"], case, rater, np.ravel(answer))


def scores(value):
    n = len(value)
    case, rater = np.divmod(np.arange(n * 4), 4)
    return Dataset.from_scores("d", [f"c{place}" for place in range(n)], NAMES, case, rater, np.ravel(value))


@pytest.mark.parametrize("n", [10, 40, 400])
def test_unanimous_cases_leave_room_for_what_none_of_them_showed(n):
    found = pair_agreement(classes(np.zeros((n, 4), int)), "m0", PEOPLE)
    assert (found.people, found.machine_people, found.difference) == (1.0, 1.0, 0.0)
    for low, high in ((found.people_low, found.people_high), (found.machine_low, found.machine_high)):
        assert high == 1.0 and low == pytest.approx(wilson(1.0, n, 1.96)[0], abs=0.04)
    assert found.low < 0 < found.high


def test_versions_that_always_agree_with_people_leave_that_room_too():
    versions = [Machine("m0", "Lyra", "1"), Machine("m1", "Lyra", "2")]
    for data in (classes(np.zeros((40, 4), int)), scores(np.repeat(np.arange(40.0)[:, None], 4, axis=1))):
        (found,) = version_drift(data, versions, PEOPLE)
        assert all(one.low < one.agreement == one.high for one in found.versions)


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_agreement_is_held_as_often_as_wilsons_interval_says(wrong):
    near = np.repeat([1.0, 0.0], [20 - wrong, wrong])
    how = AnnotationScore(classes(np.zeros((1, 4), int)))
    drawn = resampled(of_agreement(near, how, 1.0)[:, None], 4_000, 0)
    assert np.quantile(drawn, 0.025) == pytest.approx(wilson(near.mean(), 20, 1.96)[0], abs=0.06)


def test_cases_that_lack_little_are_widened_by_little():
    how = AnnotationScore(classes(np.zeros((1, 4), int)))
    assert of_agreement(np.full(12, 0.9), how, 1.0)[12:] == pytest.approx([1.0, 0.8])
    assert of_differences(np.array([0.1, 0.0, -0.1]), 1.0)[3:] == pytest.approx([0.1, -0.1])


def test_distances_are_widened_in_the_scale_of_the_scores():
    """The same scores in hundreds have hundred times the interval, also where nobody differs."""
    rng = np.random.default_rng(3)
    alike = np.repeat(rng.normal(size=(30, 1)), 4, axis=1)
    for value in (alike, alike + rng.normal(size=(30, 4))):
        found, larger = (pair_agreement(scores(scale * value), "m0", PEOPLE) for scale in (1, 100))
        for name in ("people_low", "machine_low", "low", "high"):
            assert getattr(larger, name) == pytest.approx(100 * getattr(found, name)), name
        assert found.people_low < found.people <= found.people_high and found.low < found.high
    data = scores(alike)
    how = AnnotationScore(data)
    apart = np.subtract.outer(alike[:, 0], alike[:, 0])
    assert scale_of(how, np.arange(120)) == pytest.approx(np.sqrt((apart**2).mean()))
    assert scale_of(AnnotationScore(replace(data, score=np.ones(120))), np.arange(120)) == 1.0


def test_a_machine_that_no_case_tells_from_a_reader_is_not_surely_worth_one():
    answer = np.repeat(np.arange(12)[:, None] % 2, 4, axis=1)
    case, rater = np.divmod(np.arange(48), 4)
    data = Dataset.from_classes("d", [f"c{n}" for n in range(12)], NAMES, ["yes", "no"], case, rater, answer.ravel())
    found = equivalent_readers(data, "m1", (*PEOPLE, "m0"))
    assert (found.k, found.value, found.k_max) == (1.0, 1.0, 2)
    assert found.k_low < 1 < found.k_high and found.low < 1 == found.high
    assert (found.panel_low[1:] < 1).all() and found.words() == "1.0 (0.5 to more than 2)"
    plain = np.column_stack([np.linspace(0, 1, 9), np.linspace(0, 1, 9) + 0.1])
    more = of_sides(plain, np.linspace(0, 1, 9), 1.0, 0.0, 1.0)[9:]
    assert more == pytest.approx(np.array([[0.5, 0.55, 0.55], [0.5, 0.65, 0.45]]))
