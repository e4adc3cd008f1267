"""Codes that may stand for missing annotations stand out by evidence, and are asked about."""

import numpy as np
import pytest

from core import read
from core.agreement.applicable_coefficients import coefficients_for
from core.ingest.answer_rules import Treatment
from core.ingest.missing_codes import codes_of
from core.ingest.samples import SAMPLES, read_sample

PYTHON_NONE = b"item,rater1,rater2,rater3\n0,1,1,None\n1,1,1,1\n2,2,None,2\n"


def codes(*names: str, of_sets: bool = False) -> list[str]:
    """Those of the names that may stand for missing annotations."""
    return list(codes_of(names, np.full(len(names), 3), of_sets=of_sets))


@pytest.mark.parametrize(
    "token",
    ["[]", "{}", "k. A.", "missing", "Not rated", "None", "-1", "-9", "-999", "99", "999", "N.A.", "#VALUE!", "(null)"],
)
def test_codes_stand_out_from_words(token):
    assert codes("A", "B", token) == [token]


@pytest.mark.parametrize(
    ("numbers", "token"),
    [
        (("1", "2"), "None"),
        (("1", "2"), "none"),
        (("0", "1"), "-1"),
        (("1", "2"), "-1"),
        (("1", "2"), "-999"),
        (("1", "2"), "999"),
        (("1", "2", "3", "4", "5"), "9"),
        (("1", "2", "3", "4", "5"), "99"),
        (("1.5", "2.25", "40"), "-9.0"),
        (("0", "1"), "\u22129"),
        (("-2", "-1", "0", "1", "2"), "-99"),
        (("10", "20", "30"), "99"),
    ],
)
def test_codes_stand_out_from_numbers_by_their_distance(numbers, token):
    assert codes(*numbers, token) == [token]


@pytest.mark.parametrize(
    "names",
    [
        ("-2", "-1", "0", "1", "2"),
        ("-1", "1"),
        ("1", "0", "2"),
        tuple("0123456789"),
        ("0", "3", "6", "9"),
        ("60", "70", "98", "99"),
        tuple(str(number) for number in range(-9, 10)),
        ("none", "mild", "moderate", "severe"),
        ("None", "Mild"),
        ("benign", "none", "malignant"),
        ("1", "x", "99"),
        ("missing",),
        ("NaN-like", "B"),
        (),
    ],
)
def test_classes_that_do_not_stand_out_are_not_asked_about(names):
    assert codes(*names) == []


def test_several_codes_of_one_file_are_found_together():
    assert codes("1", "2", "3", "98", "99", "-1", "None") == ["98", "99", "-1", "None"]


def test_labels_of_sets_are_not_asked_about_for_their_numbers_or_none():
    assert codes("A", "None", "-1", "missing", of_sets=True) == ["missing"]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_nothing_is_asked_about_in_a_sample(sample):
    assert read_sample(sample.name).report.codes == {}


def test_codes_are_counted_and_warned_of_until_something_is_said_of_them():
    report = read(PYTHON_NONE).report
    assert report.codes == {"None": 2}
    assert any(
        "2 of 9 annotations may be codes for missing annotations: 'None' (2)." in words for words in report.warnings
    )
    for said in (Treatment(missing=frozenset({"None"})), Treatment(kept=frozenset({"None"}))):
        report = read(PYTHON_NONE, treatment=said).report
        assert report.codes == {}
        assert not any("may be codes" in words for words in report.warnings)


def test_declared_classes_leave_nothing_to_ask():
    assert read(PYTHON_NONE, classes=["1", "2"]).report.codes == {}


def test_a_placeholder_that_counts_as_missing_leaves_perfect_agreement():
    dataset = read(PYTHON_NONE, treatment=Treatment(missing=frozenset({"None"}))).dataset
    assert coefficients_for(dataset).quoted.value == pytest.approx(1.0)
    with_class = read(PYTHON_NONE, treatment=Treatment(kept=frozenset({"None"}))).dataset
    assert coefficients_for(with_class).quoted.value == pytest.approx(1 / 3)


def test_scores_with_a_placeholder_are_scores_once_it_counts_as_missing():
    rows = "".join(f"{case},{case / 7:.3f},{'None' if case == 3 else round(case / 6, 3)}\n" for case in range(9))
    content = f"case,a,b\n{rows}".encode()
    assert read(content).dataset.kind == "class"
    assert read(content, treatment=Treatment(missing=frozenset({"None"}))).dataset.kind == "score"


def test_a_code_among_scores_is_asked_about():
    rows = "".join(f"{case},{20 + case / 7:.3f},{-99 if case == 3 else 20 + case / 6:.3f}\n" for case in range(9))
    report = read(f"case,a,b\n{rows}".encode()).report
    assert report.codes == {"-99.000": 1}
