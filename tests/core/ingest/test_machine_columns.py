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


def test_capitals_do_not_make_a_rater_both():
    rows = [*ROWS, ("3", "g-1", " machine", "g", "1"), ("3", "a", "Person", "", "")]
    assert machines("rater_type", rows) == (("g-1", "G", "1"), ("g-2", "G", "2"))


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
        "These raters do not count as people, because a column marks them as AI raters: h."
    ]


def test_machines_of_the_column_count_for_nothing_elsewhere_unless_they_are_asked_for(tmp_path, capsys):
    """The rule of the pages: agreement, certainty and rates are of people; what is said names who is left out."""
    lines = ["case,rater,rater_type,class"]
    for case in range(40):
        lines += [f"{case},{name},person,{'xy'[(case + place) % 5 == 0]}" for place, name in enumerate("abc")]
        lines += [f"{case},g,machine,{'xy'[case % 2]}", f"{case},h,machine,x"]
    path, alone = tmp_path / "told.csv", tmp_path / "people.csv"
    path.write_text("\n".join(lines))
    alone.write_text("\n".join(line.replace("machine", "person") for line in lines if "machine," not in line))

    def run(*line):
        assert main([str(part) for part in line]) == 0
        told = capsys.readouterr()
        return json.loads(told.out), told.err

    found, said = run("agreement", path)
    people, _ = run("agreement", alone)
    assert found["coefficients"] == people["coefficients"]
    assert "left out: g, h" in said
    every, said = run("agreement", path, "--with-machines")
    assert every["coefficients"] != people["coefficients"] and "were included: g, h" in said
    asked = ("--class", "x", "--method", "humans")
    rate, _ = run("rate", path, "--machine", "g", *asked)
    assert rate["estimate"] == run("rate", alone, "--machine", f"g={predicted(tmp_path)}", *asked)[0]["estimate"]


def predicted(folder):
    path = folder / "g.csv"
    path.write_text("case,class,score\n" + "\n".join(f"{case},{'xy'[case % 2]},1" for case in range(40)))
    return path


def test_a_file_of_machines_alone_is_of_raters(tmp_path, capsys):
    path = tmp_path / "alone.csv"
    rows = [f"{case},{name},machine,{'xy'[case % 2]}" for case in range(6) for name in "gh"]
    path.write_text("\n".join(["case,rater,rater_type,class", *rows]))
    assert main(["agreement", str(path)]) == 0
    assert "were included: g, h" in capsys.readouterr().err


def notes(kind, rows=ROWS, names=("family", "version")):
    lines = [",".join((case, rater, how, family, version, "x")) for case, rater, how, family, version in rows]
    header = f"case,rater,{kind},{','.join(names)},class"
    return [
        one for one in read("\n".join([header, *lines]).encode()).report.notes if "used" in one or "AI rater" in one
    ]


def test_it_is_said_which_columns_say_who_is_a_machine_and_which_are_not_used():
    assert notes("rater_type") == [
        "Column “rater_type” marks 2 AI raters, with family and version from “family” and “version”."
    ]
    assert notes("rater_type", names=("remark", "note")) == ["Column “rater_type” marks 2 AI raters."]
    assert notes("difficulty") == [
        "“family” and “version” were not used, because no column marks AI raters. You can enter the family and version "
        "on the “AI as a rater” page."
    ]
    assert notes("difficulty", names=("remark", "version"))[0].startswith(
        "“version” was not used, because no column marks"
    )
    assert notes("difficulty", names=("remark", "note")) == []
    both = [*ROWS, ("3", "g-1", "Machine", "G", "7")]
    assert notes("rater_type", both) == [
        "Column “rater_type” marks 2 AI raters, with family from “family”. “version” was not used: some raters have "
        "more than one value in it."
    ]


def test_a_plain_column_name_counts_only_with_unmistakable_values():
    """A column called type or source may be about anything: yes and no do not say who is an AI rater."""
    assert notes("type", names=("remark", "note")) == ["Column “type” marks 2 AI raters."]
    as_yes = [(case, rater, "yes" if how.casefold() == "machine" else "no", *rest) for case, rater, how, *rest in ROWS]
    assert notes("source", as_yes, names=("remark", "note")) == []
    assert notes("is_ai", as_yes, names=("remark", "note")) == ["Column “is_ai” marks 2 AI raters."]
