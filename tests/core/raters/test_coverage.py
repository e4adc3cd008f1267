import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from core.models.majority import MajorityVote
from core.raters.coverage import coverage


def two_groups():
    """r0 and r1 share cases a and b; r2 and r3 share c; case d is r0's alone."""
    case, rater = [0, 0, 1, 1, 2, 2, 3], [0, 1, 0, 1, 2, 3, 0]
    answer = [0, 0, 1, 1, 2, 2, 0]
    return Dataset.from_classes("x", list("abcd"), ["r0", "r1", "r2", "r3"], ["k", "l", "m"], case, rater, answer)


def test_overlaps_groups_and_classes_are_what_a_hand_count_says():
    data = two_groups()
    found = coverage(data, MajorityVote().fit(data), few=2)
    assert found.shared.tolist() == [[0, 2, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert found.n_components == 2 and found.component.tolist() == [0, 0, 1, 1]
    assert [1, 2] in found.lacking.tolist() and [2, 3] in found.lacking.tolist()
    assert [0, 1] not in found.lacking.tolist()
    assert found.answers_per_case.tolist() == [0, 1, 3]
    assert found.class_cases.tolist() == [2, 1, 1] and found.class_shared.tolist() == [1, 1, 1]
    assert found.class_met[0].tolist() == [2, 1, 0] and found.not_met.tolist() == [1, 1, 2, 2]
    assert found.lacking_classes.tolist() == [0, 1, 2]
    assert "2 groups" in found.notes[0] and "No case has more than 2 annotations" in found.notes[-1]


def test_an_annotation_that_a_rater_repeats_is_no_second_rater():
    data = two_groups()
    more = [np.append(values, add) for values, add in ((data.case_of_annotation, 3), (data.rater, 0), (data.answer, 0))]
    data = Dataset.from_classes("x", data.cases, data.raters, data.classes, *more)
    found = coverage(data, MajorityVote().fit(data), few=2)
    assert found.answers_per_case.tolist() == [0, 0, 4]
    assert found.class_cases.tolist() == [2, 1, 1] and found.class_shared.tolist() == [1, 1, 1]


def test_a_design_of_pairs_identifies_nothing_without_an_odd_cycle():
    data = two_groups()
    found = coverage(data, MajorityVote().fit(data))
    assert not found.odd_cycle.any()
    assert "Not identified" in found.identified["dawid-skene"] and "odd" not in found.identified["tap-common"]
    assert "4 of 4 raters" in found.identified["tap"]


def test_the_design_of_skin_lacks_nothing_between_raters(skin, skin_table):
    """Its description says that every pair shares at least 41 cases with all annotations; here ties are left out."""
    found = coverage(skin, skin_table.panel.fit)
    assert found.n_components == 1 and len(found.lacking) == 0 and found.odd_cycle.all()
    assert not any(found.identified.values()) and found.notes == ()
    assert found.class_cases.sum() == pytest.approx((np.diff(skin.case_ptr) > 0).sum())


def test_one_rater_alone_overlaps_with_nobody():
    data = Dataset.from_classes("x", ["a"], ["r"], ["k", "l"], [0], [0], [1])
    found = coverage(data, MajorityVote().fit(data))
    assert found.shared.tolist() == [[0]] and found.lacking.shape == (0, 2) and found.n_components == 1


def test_scores_and_silly_numbers_are_refused():
    data = two_groups()
    fit = MajorityVote().fit(data)
    with pytest.raises(NotApplicableError):
        coverage(Dataset.from_scores("x", ["a"], ["r"], [0], [0], [1.0]), fit)
    with pytest.raises(ValueError, match="few"):
        coverage(data, fit, few=0)
