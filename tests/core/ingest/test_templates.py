"""Each template is read as what its title says."""

import pytest

from core.ingest.column_mapping import LAYOUTS
from core.ingest.formats.detect import open_source
from core.ingest.read_files import read
from core.ingest.templates import TEMPLATES

BY_NAME = {one.name: one for one in TEMPLATES}
ANNOTATIONS = [one for one in TEMPLATES if not one.beside]
READ_AS = {
    "one_row_per_annotation": ("long", "class"),
    "a_column_per_rater": ("wide", "class"),
    "a_row_per_rater": ("transposed", "class"),
    "counts_per_case": ("counts", "class"),
    "two_raters": ("contingency", "class"),
    "patterns": ("patterns", "class"),
    "a_column_per_label": ("labels", "set"),
    "comparisons": ("comparisons", "class"),
    "rankings": ("long", "ranking"),
    "scores": ("long", "score"),
}


def opened(*names):
    return open_source([(f"{name}.csv", BY_NAME[name].text.encode()) for name in names])


@pytest.mark.parametrize("name", READ_AS)
def test_a_template_is_read_as_its_layout_without_a_question(name):
    (question,) = opened(name).questions
    assert not question.mapping.instead
    assert (question.mapping.layout, read(BY_NAME[name].text.encode()).dataset.kind) == READ_AS[name]


def test_there_is_a_template_for_every_layout():
    assert {layout for layout, _ in READ_AS.values()} == set(LAYOUTS)
    assert {one.name for one in ANNOTATIONS} == {*READ_AS, "several_questions"}


def test_the_template_of_several_questions_has_several():
    assert [one.name for one in opened("several_questions").questions] == ["finding", "density"]


def test_tables_that_go_with_annotations_are_recognised_beside_them():
    beside = [one.name for one in TEMPLATES if one.beside]
    side = opened("one_row_per_annotation", *beside).side
    assert side.gold == {"case 1": "benign", "case 2": "malignant"}
    assert side.classes.names == ("benign", "malignant") and side.cases.text[0] == "First text"
    assert [name for name, _ in side.predictions] == ["predictions.csv"]
