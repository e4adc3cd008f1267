"""What two annotations per case can tell, against the rank of what the model says of pairs."""

import numpy as np
import pytest

from core.models.dawid_skene import DawidSkene
from core.models.identifiability import left_free, tap_identifiability, unidentified_raters
from core.models.tap import TAP

GRAPHS = {
    "triangle": [(0, 1), (1, 2), (0, 2)],
    "pair": [(0, 1)],
    "path": [(0, 1), (1, 2)],
    "square": [(0, 1), (1, 2), (2, 3), (0, 3)],
    "triangle with a tail": [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)],
    "two triangles": [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)],
    "a triangle and a pair": [(0, 1), (1, 2), (0, 2), (3, 4)],
    "two pairs": [(0, 1), (2, 3)],
}


def of_graph(edges, n_classes, build):
    return build([(case, rater, 0) for case, pair in enumerate(edges) for rater in pair], n_classes)


def moves_unseen(edges, n_classes):
    """Raters whose accuracy can move while the tables of all pairs stand still, by the rank of their derivative."""
    n_raters = 1 + max(max(pair) for pair in edges)
    rng = np.random.default_rng(0)
    start = rng.normal(0, 0.5, (n_classes - 1) + n_raters * n_classes)

    def tables(x):
        softmax = np.exp(np.append(x[: n_classes - 1], 0))
        t = softmax / softmax.sum()
        theta = []
        for own in x[n_classes - 1 :].reshape(n_raters, n_classes):
            a, p = 1 / (1 + np.exp(-own[0])), np.exp(np.append(own[1:], 0))
            theta.append(a * np.eye(n_classes) + (1 - a) * p / p.sum())
        return np.concatenate([(theta[j].T @ np.diag(t) @ theta[h]).ravel() for j, h in edges])

    step = 1e-5
    columns = [(tables(start + e) - tables(start - e)) / (2 * step) for e in step * np.eye(start.size)]
    _, size, directions = np.linalg.svd(np.array(columns).T, full_matrices=True)
    rank = int((size > 1e-7).sum())
    place = n_classes - 1 + n_classes * np.arange(n_raters)
    return np.flatnonzero(np.abs(directions[rank:][:, place]).max(axis=0, initial=0) > 1e-4)


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("n_classes", [3, 4])
def test_accuracies_are_lost_exactly_where_the_component_of_pairs_has_no_odd_cycle(edges, n_classes, build):
    dataset = of_graph(edges, n_classes, build)
    assert unidentified_raters(dataset).tolist() == moves_unseen(edges, n_classes).tolist()
    notes = tap_identifiability(dataset, common=False)
    assert bool(notes) == bool(unidentified_raters(dataset).size)


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
def test_with_two_classes_every_accuracy_is_lost(edges, build):
    dataset = of_graph(edges, 2, build)
    assert len(moves_unseen(edges, 2)) == dataset.n_raters
    assert "two classes and two annotations" in tap_identifiability(dataset, common=False)[0]
    assert tap_identifiability(dataset, common=True)


def test_common_parameters_of_three_classes_need_no_cycle_and_three_annotations_need_nothing(build):
    assert tap_identifiability(of_graph(GRAPHS["pair"], 3, build), common=True) == ()
    three = build([(0, rater, 0) for rater in range(3)], 2)
    assert tap_identifiability(three, common=False) == ()


def test_a_fit_tells_what_its_design_cannot(build):
    pairs = build([(case, rater, case % 2) for case in range(30) for rater in (0, 1)], 2)
    for model in (TAP(), TAP(raters="common"), DawidSkene()):
        assert any("Not identified" in note for note in model.fit(pairs).notes)
    three = build([(case, rater, case % 2) for case in range(30) for rater in (0, 1, 2)], 2)
    for model in (TAP(), DawidSkene()):
        assert not any("Not identified" in note for note in model.fit(three).notes)


def test_accuracies_at_their_bounds_leave_other_parameters_free(build):
    assert left_free(np.array([0.0, 0.0])) == (
        "All accuracies are 0 in this fit: annotations are guesses, and the data do not determine the prevalence t.",
    )
    assert left_free(np.array([0.0, 0.5]))[0].startswith("Accuracy 0 for 1 of 2 raters")
    assert left_free(np.array([1.0, 0.5, 1.0]))[0].startswith("Accuracy 1 for 2 of 3 raters")
    assert left_free(np.array([0.4])) == ()
    perfect = build([(case, rater, case % 3) for case in range(30) for rater in range(3)], 3)
    assert any("Accuracy 1 for 3 of 3" in note for note in TAP("none").fit(perfect).notes)
