"""One sentence says why a case is uncertain."""

import numpy as np
import pytest
from scipy.stats import binom

from core.annotations.dataset import Dataset
from core.certainty.explain import at_most, below_peers, why
from core.raters.flags import FALSE_ALARMS
from tests.benchmarks.equal_raters import panel, share_named


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ([0], "There is only one annotation."),
        ([1, 1, 1], "All three annotations name the same class."),
        ([0, 1, 2], "The three annotations name three different classes."),
        ([1, 1], "Both annotations name the same class."),
        ([0, 1], "The two annotations name different classes."),
        ([0, 0, 1], "Three annotations are split 2 to 1 between two classes."),
        ([0] * 10, "All ten annotations name the same class."),
        ([0] * 11, "All 11 annotations name the same class."),
        ([0] * 11 + [1], "12 annotations are split 11 to 1 between two classes."),
        ([0, 1, 2, 1, 2, 2], "Six annotations are split 3, 2 and 1 among three classes."),
    ],
)
def test_classes_are_told_by_how_they_split(answers, sentence, build):
    dataset = build([(0, rater, answer) for rater, answer in enumerate(answers)], 3)
    assert why(dataset, 0, len(answers)) == sentence


@pytest.mark.parametrize(
    ("sets", "sentence"),
    [
        (["bus", "bus", "bus"], "All three annotations name “bus”."),
        (["dog", "dog", "dog"], "None of the three annotations names “bus”."),
        (["bus", "dog", "dog"], "One of the three annotations names “bus”."),
        (["bus", "dog", "bus"], "Two of the three annotations name “bus”."),
        (["bus", "bus"], "Both annotations name “bus”."),
        (["dog", "dog"], "Neither of the two annotations names “bus”."),
        (["dog"], "The only annotation does not name “bus”."),
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
            "There is one annotation, and no rater has a single first choice; one with a tied first choice is not "
            "counted here.",
        ),
        (
            ([(0, 1)], [(1, 1), (2, 1)], [(0, 1), (1, 1)]),
            "Only one of the three annotations has a single first choice; two include “a”; "
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
        (([(0, 1)], [(1, 1)]), "The two annotations name different classes first."),
        (
            ([(0, 1), (2, 2)], [(1, 1), (2, 2)], [(2, 1)]),
            "The three annotations name three different classes first; all include “c”.",
        ),
        (
            ([(0, 1)], [(0, 1), (1, 2), (2, 2)], [(1, 1)]),
            "Three annotations are split 2 to 1 between two classes.",
        ),
        (
            ([(0, 1), (1, 1)], [(0, 1), (1, 1)]),
            "There are two annotations, and no rater has a single first choice; both include “a”.",
        ),
    ],
)
def test_rankings_that_count_whole_are_told_with_their_ties_and_common_ground(annotations, sentence):
    dataset = rankings(*annotations)
    assert why(dataset, 0, dataset.n_annotations) == sentence


@pytest.mark.parametrize(
    ("design", "rare"),
    [((3, 50, 4), False), ((5, 50, 2), False), ((5, 150, 4), True), ((3, 500, 2), True), ((2, 100, 2), False)],
)
@pytest.mark.parametrize("accuracy", [0.4, 0.8])
def test_below_peers_names_somebody_in_at_most_five_percent_of_panels_of_equal_raters(design, rare, accuracy):
    panels = 150
    named = share_named(np.random.default_rng(7), panels, *design, rare=rare, accuracy=accuracy) * panels
    assert named <= binom.ppf(0.999, panels, FALSE_ALARMS)


def test_below_peers_finds_the_one_who_follows_no_case():
    found = below_peers(panel(np.random.default_rng(1), 5, 150, 4, poor=0.1), FALSE_ALARMS)
    assert found.named.tolist() == [True, False, False, False, False]
    assert found.own[0] < 0.6 < found.peers[0]


def test_below_peers_names_nobody_for_a_small_difference_in_many_cases():
    found = below_peers(panel(np.random.default_rng(2), 5, 20_000, 2, poor=0.7), FALSE_ALARMS)
    assert found.own[0] < found.peers[0]
    assert not found.named.any()


def test_below_peers_counts_by_hand(build):
    # Case 0: a a b, case 1: a a a, case 2: a b (tied), case 3: b alone; rater 2 says b of case 0 twice.
    rows = [
        (0, 0, 0),
        (0, 1, 0),
        (0, 2, 1),
        (0, 2, 1),
        (1, 0, 0),
        (1, 1, 0),
        (1, 2, 0),
        (2, 0, 0),
        (2, 1, 1),
        (3, 0, 1),
    ]
    found = below_peers(build(rows, 2), FALSE_ALARMS)
    assert found.n.tolist() == [2, 2, 2]
    assert found.own.tolist() == [1, 1, 0.5]
    assert found.peers.tolist() == [0.75, 0.75, 1]
    assert not found.named.any()


def test_at_most_is_the_tail_of_the_poisson_binomial_distribution():
    chance, times = np.array([0.2, 0.5, 1.0]), np.array([3, 2, 1])
    trials = np.repeat(chance, times)
    mass = [1.0]
    for p in trials:
        mass = np.convolve(mass, [1 - p, p])
    for k in range(7):
        assert at_most(k, chance, times) == pytest.approx(sum(mass[: k + 1]), abs=1e-12)
    assert at_most(40, np.array([0.6]), np.array([100])) == pytest.approx(binom.cdf(40, 100, 0.6), rel=1e-9)


def test_one_annotation_that_leaves_two_places_tied_is_one():
    dataset = rankings([(0, 1), (1, 2), (2, 2), (3, 3), (4, 3)], [(0, 1)], [(0, 1)], classes="abcde")
    assert why(dataset, 0, 3) == "All three annotations name the same class first."
