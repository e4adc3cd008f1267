"""A column that says which raters are machines is read only where every word of it is understood."""

import json

import pytest

from core.command_line import main
from core.ingest.read_files import read

ROWS = [("1", "a", "person", "", ""), ("2", "a", "person", "", ""), ("1", "g-1", "Machine", "G", "1"),
        ("2", "g-2", "machine", "G", "2"), ("2", "b", "", "", ""), ("1", "b", "", "", "")]  # fmt: skip


def machines(kind, rows=ROWS, names=("family", "version")):
    lines = [",".join((case, rater, how, family, version, "x")) for case, rater, how, family, version in rows]
    header = f"case,rater,{kind},{','.join(names)},class"
    return read("\n".join([header, *lines]).encode()).machines


@pytest.mark.parametrize("kind", ["rater_type", "Annotator Kind", "is_machine", "human or ai"])
def test_raters_of_the_column_are_machines_with_their_family_and_version(kind):
    assert machines(kind) == (("g-1", "G", "1"), ("g-2", "G", "2"))


def test_without_columns_of_family_and_version_they_are_empty():
    assert machines("rater_type", names=("remark", "note")) == (("g-1", "", ""), ("g-2", "", ""))


@pytest.mark.parametrize(
    "rows",
    [
        [*ROWS, ("3", "c", "maybe", "", "")],  # a word that nobody knows
        [*ROWS, ("3", "a", "machine", "", "")],  # a rater who is both
    ],
)
def test_a_column_that_is_not_understood_marks_nobody(rows):
    assert machines("rater_type", rows) == ()


def test_another_column_marks_nobody():
    assert machines("difficulty") == machines("machine") == ()  # a machine may be a scanner


def test_machines_of_the_column_are_compared_by_the_command_and_are_no_people(tmp_path, capsys):
    lines = ["case,rater,rater_type,class"]
    for case in range(40):
        lines += [f"{case},{name},person,{'xy'[(case + place) % 5 == 0]}" for place, name in enumerate("abc")]
        lines += [f"{case},g,machine,{'xy'[case % 2]}", f"{case},h,machine,x"]
    path = tmp_path / "told.csv"
    path.write_text("\n".join(lines))
    assert main(["machine", str(path)]) == 0
    both = json.loads(capsys.readouterr().out)
    assert [one["machine"] for one in both["machines"]] == ["g", "h"]
    assert {rater["rater"] for rater in both["machines"][0]["raters"]} == set("abc")
    assert main(["machine", str(path), "--machine", "g"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert {rater["rater"] for rater in one["machines"][0]["raters"]} == set("abc")
    assert one["machines"][0]["rho"] == both["machines"][0]["rho"] and one["notes"] == [
        "Raters who are machines by their column are not among the people: h."
    ]
