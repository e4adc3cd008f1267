"""Reader studies: what they are made of, and what is refused in words."""

import numpy as np
import pytest

from core.errors import InputError, NotApplicableError
from core.studies.analysis import StudyOptions, compute
from core.studies.study import ReadingStudy, study_from_rows
from tests.core.studies.worlds import roe_metz, study_of


def small():
    """Two modalities, three readers, twelve cases."""
    return roe_metz(np.random.default_rng(0), 3, 12)


def refusal(scores, truth):
    with pytest.raises(NotApplicableError) as refused:
        compute(study_of(scores, truth))
    return str(refused.value)


def test_one_modality_is_refused():
    scores, truth = small()
    assert "the study has only one modality, M1" in refusal(scores[:1], truth)


@pytest.mark.parametrize(("kind", "words"), [(0, "without the condition"), (1, "with the condition")])
def test_no_case_of_a_kind_is_refused(kind, words):
    scores, truth = small()
    assert f"no case {words}" in refusal(scores, np.full_like(truth, 1 - kind))


def test_a_reader_without_both_kinds_of_cases_is_named():
    scores, truth = small()
    scores[1, 2, truth == 1] = np.nan
    assert "reader R3 read only 0 cases with the condition in modality M2" in refusal(scores, truth)
    scores[1, 2, np.flatnonzero(truth == 1)[0]] = 1.0
    assert "reader R3 read only 1 case with" in refusal(scores, truth)


def test_a_modality_with_one_reader_is_refused():
    scores, truth = small()
    scores[1, 1:] = np.nan
    assert "modality M2 has 1 reader" in refusal(scores, truth)


def test_a_reader_of_one_modality_is_not_refused():
    scores, truth = roe_metz(np.random.default_rng(0), 4, 30)
    scores[0, :2], scores[1, 2:] = np.nan, np.nan
    found = compute(study_of(scores, truth)).taken
    assert found.method == "u-statistics"
    assert [(one.modality, one.reader) for one in found.readers] == [
        ("M1", "R3"),
        ("M1", "R4"),
        ("M2", "R1"),
        ("M2", "R2"),
    ]


def test_a_study_without_truth_and_panel_is_refused():
    scores, _ = small()
    assert "the truth is unknown" in refusal(scores, None)


def test_obuchowski_rockette_refuses_missing_readings():
    scores, truth = small()
    scores[0, 0, 0] = np.nan
    with pytest.raises(NotApplicableError, match="some readers did not score every case"):
        compute(study_of(scores, truth), StudyOptions(method="obuchowski-rockette"))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"readers": ("a", "a", "b")}, "reader 'a' appears twice"),
        ({"cases": ("a",)}, "shape"),
        ({"truth": np.full(12, 2)}, "a value is not 1, 0 or −1"),
        ({"truth": np.zeros(3)}, "Could not use the truth: its shape"),
        ({"panel": np.zeros((2, 3))}, "Could not use the panel: its shape"),
        ({"scores": np.full((2, 3, 12), np.inf)}, "infinite"),
    ],
)
def test_parts_that_do_not_match_are_refused(changed, words):
    scores, truth = small()
    parts = {
        "scores": scores,
        "modalities": ("A", "B"),
        "readers": ("a", "b", "c"),
        "cases": tuple(map(str, range(12))),
        "truth": truth,
    }
    with pytest.raises(InputError, match=words):
        ReadingStudy(**parts | changed)


def test_a_study_keeps_its_own_scores():
    scores, truth = small()
    study = study_of(scores, truth)
    scores[:] = 0
    assert study.scores.any()
    with pytest.raises(ValueError, match="read-only"):
        study.scores[0, 0, 0] = 1.0


def test_rows_become_a_study_in_the_order_of_their_names():
    rows = [("r2", "c1", "m1", 1.0), ("r1", "c2", "m2", 2.0), ("r2", "c2", "m1", 3.0)]
    study = study_from_rows(rows, {"c2": 1}, {"p1": {"c1": 0}, "p2": {"c1": 1, "c2": 1}})
    assert (study.readers, study.cases, study.modalities) == (("r2", "r1"), ("c1", "c2"), ("m1", "m2"))
    np.testing.assert_array_equal(study.scores[0], [[1.0, 3.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(study.scores[1], [[np.nan, np.nan], [np.nan, 2.0]])
    np.testing.assert_array_equal(study.truth, [-1, 1])
    np.testing.assert_array_equal(study.panel, [[0, -1], [1, 1]])


def test_a_second_score_for_the_same_reading_is_refused():
    with pytest.raises(InputError, match="reader r scored case c twice in modality m"):
        study_from_rows([("r", "c", "m", 1.0), ("r", "c", "m", 1.0)])
    with pytest.raises(InputError, match="no readings"):
        study_from_rows([])
