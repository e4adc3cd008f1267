"""One sentence says why a case is uncertain."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.certainty.explain import CLEARLY_LESS, distrusted, why


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ([0], "There is one annotation only."),
        ([1, 1, 1], "All three annotations name the same class."),
        ([0, 1, 2], "Three annotations, and no class is named twice."),
        ([1, 1], "Both annotations name the same class."),
        ([0, 1], "Only two annotations, and no class is named twice."),
        ([0, 0, 1], "Three annotations split 2 to 1 over two classes."),
        ([0] * 10, "All ten annotations name the same class."),
        ([0] * 11, "All 11 annotations name the same class."),
        ([0] * 11 + [1], "12 annotations split 11 to 1 over two classes."),
        ([0, 1, 2, 1, 2, 2], "Six annotations split 3 to 2 to 1 over three classes."),
    ],
)
def test_classes_are_told_by_how_they_split(answers, sentence, build):
    dataset = build([(0, rater, answer) for rater, answer in enumerate(answers)], 3)
    assert why(dataset, 0, len(answers)) == sentence


@pytest.mark.parametrize(
    ("sets", "sentence"),
    [
        (["bus", "bus", "bus"], "All three annotations name bus."),
        (["dog", "dog", "dog"], "None of the three annotations names bus."),
        (["bus", "dog", "dog"], "One of three annotations names bus."),
        (["bus", "dog", "bus"], "Two of three annotations name bus."),
        (["bus", "bus"], "Both annotations name bus."),
        (["dog", "dog"], "Neither of the two annotations names bus."),
        (["dog"], "The one annotation does not name bus."),
    ],
)
def test_a_label_of_sets_is_told_as_named_or_not(sets, sentence):
    code = [["dog", "bus"].index(name) for name in sets]
    who = [f"r{k}" for k in range(len(sets))]
    zero = np.zeros(len(sets), int)
    whole = Dataset.from_sets("s", ["c"], who, ["dog", "bus"], zero, range(len(sets)), range(len(sets) + 1), code)
    assert why(whole.as_classes("bus")[0], 0, len(sets)) == sentence


def rankings(*annotations, classes="abc"):
    """One case; every annotation is a list of (class, rank)."""
    entries = [entry for annotation in annotations for entry in annotation]
    return Dataset.from_rankings(
        "test",
        ["case"],
        [f"rater {i}" for i in range(len(annotations))],
        list(classes),
        np.zeros(len(annotations), np.int64),
        np.arange(len(annotations)),
        np.cumsum([0, *map(len, annotations)]),
        np.array([code for code, _ in entries]),
        np.array([rank for _, rank in entries], float),
    )


@pytest.mark.parametrize(
    ("annotations", "sentence"),
    [
        (
            ([(0, 1), (1, 1)],),
            "One annotation, and no rater settled on a first choice; one with a tied first choice is not counted here.",
        ),
        (
            ([(0, 1)], [(1, 1), (2, 1)], [(0, 1), (1, 1)]),
            "One annotation names one class first; two of them name a somewhere; "
            "two with a tied first choice are not counted here.",
        ),
        (([(0, 1), (1, 2)], [(0, 1)]), "Both annotations name the same class first."),
    ],
)
def test_tied_first_choices_are_told_as_left_out(annotations, sentence):
    dataset = rankings(*annotations)
    used, _ = dataset.as_classes()
    assert why(dataset, 0, used.n_annotations) == sentence


@pytest.mark.parametrize(
    ("annotations", "sentence"),
    [
        (([(0, 1)], [(1, 1)]), "Only two annotations, and no class is named first twice."),
        (
            ([(0, 1), (2, 2)], [(1, 1), (2, 2)], [(2, 1)]),
            "Three annotations, and no class is named first twice; three of them name c somewhere.",
        ),
        (
            ([(0, 1)], [(0, 1), (1, 2), (2, 2)], [(1, 1)]),
            "Three annotations split 2 to 1 over two classes; one leaves classes tied.",
        ),
        (
            ([(0, 1), (1, 1)], [(0, 1), (1, 1)]),
            "Two annotations, and no rater settled on a first choice; two leave classes tied; "
            "two of them name a somewhere.",
        ),
    ],
)
def test_rankings_that_count_whole_are_told_with_their_ties_and_common_ground(annotations, sentence):
    dataset = rankings(*annotations)
    assert why(dataset, 0, dataset.n_annotations) == sentence


def test_raters_far_below_the_median_are_distrusted_if_they_have_enough_annotations():
    accuracy = np.array([0.8, 0.82, 0.79, 0.6, 0.1])
    found = distrusted(accuracy, np.array([50, 60, 70, 40, 5]))
    assert found.tolist() == [False, False, False, True, False]


def test_the_median_rater_is_the_yardstick_whatever_the_best_and_the_worst_do():
    enough = np.full(5, 100)
    just, below = CLEARLY_LESS * 0.8 + 0.01, CLEARLY_LESS * 0.8 - 0.01
    assert distrusted(np.array([1.0, 1.0, 0.8, 0.8, just]), enough).tolist() == [False] * 5
    assert distrusted(np.array([0.8, 0.8, 0.0, 0.8, below]), enough).tolist() == [False, False, True, False, True]


def test_with_fewer_than_three_judged_raters_nobody_is_distrusted():
    assert not distrusted(np.array([0.9, 0.1, 0.1]), np.array([50, 50, 3])).any()


def test_one_annotation_that_leaves_two_places_tied_is_one():
    dataset = rankings([(0, 1), (1, 2), (2, 2), (3, 3), (4, 3)], [(0, 1)], [(0, 1)], classes="abcde")
    assert why(dataset, 0, 3) == "All three annotations name the same class first; one leaves classes tied."
