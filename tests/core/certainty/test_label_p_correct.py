"""P(correct) of labels: each by its own average, rare ones together, and the label of none from the others."""

from dataclasses import replace

import numpy as np
import pytest

from core.analyses.cases import ShownCase
from core.analyses.cases.labels import present
from core.analyses.inputs import Inputs
from core.annotations.dataset import Dataset
from core.certainty.label_p_correct import FEWEST_NAMED, LabelGroup, label_groups, of_groups, p_correct_of_labels
from core.certainty.label_sets import label_set_certainty
from core.certainty.p_correct import PCorrect, p_correct

LABELS = ("cat", "dog", "newt", "eel", "none of these")


def sets(n_cases=60, seed=4) -> Dataset:
    """Cats and dogs are frequent, newts and eels rare; three raters overlook a tenth of the labels of a case."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n_cases, 4)) < (0.5, 0.4, 0.04, 0.04)
    truth[0], truth[1] = (1, 0, 1, 0), (0, 1, 0, 1)
    rows: list[list[int]] = []
    for case in range(n_cases):
        for _ in range(3):
            named = np.flatnonzero(truth[case] & (rng.random(4) < 0.9)).tolist()
            rows.append(named or [4])
    case, rater = np.repeat(np.arange(n_cases), 3), np.tile(np.arange(3), n_cases)
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    names = "animals", [f"c{k}" for k in range(n_cases)], list("abc"), LABELS
    return Dataset.from_sets(*names, case, rater, ptr, np.concatenate(rows))


def test_rare_labels_are_averaged_together_and_the_label_of_none_by_no_model():
    dataset = sets()
    groups = label_groups(dataset)
    assert [group.labels for group in groups] == [("cat",), ("dog",), ("newt", "eel")]
    named = np.bincount(dataset.entry_class, minlength=5)
    assert named[2] < FEWEST_NAMED > named[3] and min(named[:2]) >= FEWEST_NAMED
    together = groups[-1].classes
    assert together.n_cases == 2 * dataset.n_cases and together.raters == dataset.raters
    for place, label in enumerate(("newt", "eel")):
        for case in range(dataset.n_cases):
            own = together.answer[together.annotations_of(place * dataset.n_cases + case)]
            assert own.tolist() == dataset.names_label(label)[dataset.annotations_of(case)].tolist()


def test_a_frequent_label_has_the_number_of_its_two_classes():
    dataset = sets()
    found = p_correct_of_labels(dataset)
    alone = p_correct(dataset.as_classes("dog")[0]).probability[:, 1]
    assert found.probability[:, 1] == pytest.approx(alone, abs=1e-12)
    assert found.probability[:, 4] == pytest.approx((1 - found.probability[:, :4]).prod(axis=1))
    assert found.probability[0, 2] > 0.5 > found.probability[2:, 2].mean(), "the slice of its own cases"
    assert found.probability[1, 3] > 0.5 > found.probability[2:, 3].mean()


def by(dataset: Dataset, cat: float):
    """P(correct) of each label, of which that of the cat in case 0 is given, and the newt is not known yet."""
    groups = [LabelGroup((label,), dataset.as_classes(label)[0]) for label in LABELS[:4]]
    probability = np.tile([0.9, 0.1], (dataset.n_cases, 1))
    parts = []
    for label in LABELS[:4]:
        own = probability.copy()
        own[0] = (1 - cat, cat) if label == "cat" else own[0]
        classes = dataset.as_classes(label)[0].classes
        parts.append(PCorrect(dataset.cases, classes, own, np.full((3, 2, 2), 0.5), 0.9))
    parts[2] = None
    return of_groups(dataset, groups, parts)


def test_a_decision_that_is_even_or_not_known_has_no_number():
    dataset = sets()
    even = np.arange(dataset.n_cases * 5).reshape(-1, 5) % 7 == 1
    found = replace(label_set_certainty(dataset), correct=by(dataset, 0.3), even=even)
    p = found.p_correct()
    assert np.isnan(p[:, 2]).all() and np.isnan(p[found.even]).all()
    kept = ~found.even[:, 1]
    expected = np.where(found.applies[kept, 1], 0.1, 0.9)
    assert p[kept, 1] == pytest.approx(expected)
    frame = found.to_frame("cases")
    assert frame["p_correct"][0] == pytest.approx(np.nanmin(p[0]))
    assert "p_correct" not in label_set_certainty(dataset).to_frame("cases")


@pytest.mark.parametrize(("cat", "said"), [(0.3, True), (0.8, False)])
def test_the_case_says_why_the_numbers_of_a_label_differ_only_where_they_do(cat, said):
    dataset = sets()
    found = replace(label_set_certainty(dataset), correct=by(dataset, cat))
    assert found.applies[0, 0] and found.certainty[0, 0] > 0.6
    words = "".join(str(block) for block in present(found, Inputs(dataset), ShownCase(0)))
    assert ("cat" in words and "P(correct) is much lower than certainty" in words) is said
