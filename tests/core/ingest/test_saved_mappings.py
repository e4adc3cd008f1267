"""What the user said of a file is offered again for a file of the same shape."""

import pytest

from core.errors import InputError
from core.ingest.answer_rules import Treatment
from core.ingest.column_mapping import Mapping
from core.ingest.formats.detect import open_source
from core.ingest.saved_mappings import Choices, recall, remember

TABLE = b"A,B,C\n1,ann,x\n1,bob,y\n"
CHOICES = Choices(
    Mapping("long", case="A", rater="B", answer="C", why={"case": "chosen"}),
    kind="class",
    classes=("y", "x"),
    ordinal=True,
    repeats="first",
    treatment=Treatment({"x": "X"}, frozenset({"?"})),
)


def opened(content: bytes, name: str = "a.csv"):
    source = open_source([(name, content)])
    return source, source.questions[0]


def test_choices_come_back_for_a_file_of_the_same_columns():
    assert recall(*opened(TABLE)) is None
    remember(*opened(TABLE), CHOICES)
    assert recall(*opened(b"A,B,C\n7,eve,q\n", "other.csv")) == CHOICES
    assert recall(*opened(b"A,B,D\n7,eve,q\n")) is None
    remember(*opened(TABLE), Choices(Mapping("wide", case="A", raters=("B", "C"), separators=(">", "="))))
    assert recall(*opened(TABLE)).mapping.raters == ("B", "C")
    assert recall(*opened(TABLE)).mapping.separators == (">", "=")


def test_a_damaged_record_is_no_record(home):
    remember(*opened(TABLE), CHOICES)
    (path,) = (home / "mappings").glob("*.json")
    for content in (
        "",
        "[]",
        "{}",
        path.read_text().replace('"A"', '"gone"', 3),
        path.read_text().replace("1", "2", 1),
    ):
        path.write_text(content)
        assert recall(*opened(TABLE)) is None


def test_a_home_that_cannot_be_written_is_told(home):
    home.mkdir()
    (home / "mappings").write_text("in the way")
    with pytest.raises(InputError, match="Could not write"):
        remember(*opened(TABLE), CHOICES)


def test_choices_on_one_question_of_a_table_are_not_those_on_another():
    rows = "".join(f"c{row},{row % 2},{'abc'[row % 3]},{row // 2 % 2},{'abc'[row // 3 % 3]}\n" for row in range(12))
    source = open_source([("t.csv", ("case,ann_size,ann_shape,bob_size,bob_shape\n" + rows).encode())])
    size, shape = source.questions
    remember(source, size, Choices(size.mapping, ordinal=True))
    assert recall(source, size).ordinal
    assert recall(source, size).mapping.rater_names == (("ann_size", "ann"), ("bob_size", "bob"))
    assert recall(source, shape) is None
