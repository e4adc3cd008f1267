"""Annotations of several labels in every form that they are written in, and what is no such thing."""

import csv
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.annotations.label_text import by_label
from core.annotations.none_of_these import label_of_none
from core.annotations.write import long_table, wide_table
from core.commands.fits import with_gold
from core.errors import InputError
from core.ingest.answer_rules import Treatment
from core.ingest.build_dataset import build_dataset
from core.ingest.column_mapping import Mapping
from core.ingest.companion_files import SideFiles, with_side_files
from core.ingest.formats.tables import open_table
from core.ingest.read_files import read
from core.ingest.samples import SAMPLE_FOLDER, load_sample
from core.library import keep, reopen
from tests.core.kinds import as_sets

TOGETHER = "case,rater,labels\na,r1,war;drama\na,r2,drama\nb,r1,comedy; war\nb,r2,comedy;drama;war\n"
COLUMNS = "case,rater,drama,comedy,war\na,r1,1,0,1\na,r2,1,0,0\nb,r1,0,1,1\nb,r2,1,1,1\n"
LABELS = {
    "a": {"r1": ["drama", "war"], "r2": ["drama"]},
    "b": {"r1": ["comedy", "war"], "r2": ["comedy", "drama", "war"]},
}


def of_file(tmp_path, text, name="d.csv", **how):
    path = tmp_path / name
    path.write_text(text)
    return read(path, **how)


def labels_of(dataset):
    """Labels by case and rater, in natural order."""
    found = {}
    for annotation, (case, rater) in enumerate(zip(dataset.case_of_annotation, dataset.rater, strict=True)):
        named = sorted(dataset.classes[code] for code in dataset.blocks_of(annotation)[0])
        found.setdefault(dataset.cases[case], {})[dataset.raters[rater]] = named
    return found


def label_studio(sets):
    """Tasks whose raters chose several."""
    return json.dumps(
        [
            {
                "id": task,
                "data": {"text": f"text {task}"},
                "annotations": [
                    {
                        "id": 10 * task + place,
                        "completed_by": rater,
                        "result": [{"from_name": "genre", "type": "choices", "value": {"choices": labels}}],
                    }
                    for place, (rater, labels) in enumerate(annotations)
                ],
            }
            for task, annotations in enumerate(sets, 1)
        ]
    )


@pytest.mark.parametrize("text", [TOGETHER, COLUMNS, TOGETHER.replace(";", "|"), COLUMNS.replace("0", "")])
def test_cells_and_columns_of_labels_are_recognised(tmp_path, text):
    reading = of_file(tmp_path, text)
    assert reading.dataset.kind == "set"
    assert labels_of(reading.dataset) == LABELS
    assert reading.report.n_kept == 4


def test_label_studio_and_doccano_say_several_labels(tmp_path):
    tasks = [[("u1", ["drama", "war"]), ("u2", ["drama"])], [("u1", ["comedy"]), ("u2", ["war", "comedy"])]]
    reading = of_file(tmp_path, label_studio(tasks), "t.json")
    expected = {"1": {"u1": ["drama", "war"], "u2": ["drama"]}, "2": {"u1": ["comedy"], "u2": ["comedy", "war"]}}
    assert labels_of(reading.dataset) == expected
    assert (
        "Annotations were read as sets of labels, because 2 of 4 annotations have more than one label."
        in reading.report.notes
    )
    for name, own in (("ann", (["drama", "war"], ["war"])), ("bo", (["drama"], ["comedy", "war"]))):
        lines = [json.dumps({"id": case, "text": "t", "label": labels}) for case, labels in enumerate(own, 1)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    both = read([tmp_path / "ann.jsonl", tmp_path / "bo.jsonl"]).dataset
    assert labels_of(both) == {
        "1": {"ann": ["drama", "war"], "bo": ["drama"]}, "2": {"ann": ["war"], "bo": ["comedy", "war"]},
    }  # fmt: skip


def test_one_odd_record_among_many_makes_no_sets_and_is_left_out_aloud(tmp_path):
    tasks = [[("u1", ["drama"]), ("u2", ["war"])] for _ in range(40)]
    tasks[3][1] = ("u2", ["drama", "war"])
    text = label_studio(tasks)
    reading = of_file(tmp_path, text, "t.json")
    assert (reading.dataset.kind, reading.dataset.n_annotations) == ("class", 79)
    assert any("1 annotation with more than one label was left out" in one for one in reading.report.warnings)
    assert any("names more than one label instead of one class" in one.reason for one in reading.report.dropped)
    asked = of_file(tmp_path, text, "t.json", kind="set")
    assert (asked.dataset.kind, asked.dataset.n_annotations) == ("set", 80)


def test_two_readings_of_a_rater_stay_two_annotations(tmp_path):
    tasks = [[("u1", ["drama", "war"]), ("u1", ["drama"])], [("u1", ["war"]), ("u2", ["war", "drama"])]]
    dataset = of_file(tmp_path, label_studio(tasks), "t.json").dataset
    assert dataset.n_annotations == 4
    assert len(dataset.entry_class) == 6


def test_beside_columns_of_labels_raters_are_those_that_tell_the_rows_of_a_case_apart(tmp_path):
    rows = COLUMNS.splitlines()
    text = "\n".join([rows[0].replace("rater", "listener") + ",noir", *(row + ",0" for row in rows[1:])])
    reading = of_file(tmp_path, text)
    assert labels_of(reading.dataset) == LABELS and reading.dataset.raters_identified
    assert "never with the same 'listener'" in reading.report.mapping.why["rater"]
    said = "No rater chose 'noir', so this label is left out. To use it, list all labels as classes."
    assert said in reading.report.notes
    closed = of_file(tmp_path, text, classes=["comedy", "drama", "noir", "war"]).dataset
    assert closed.classes == ("comedy", "drama", "noir", "war")
    again = text.replace("a,r2", "a,r1")  # names that stand twice in a case are not those of raters
    assert not of_file(tmp_path, again).dataset.raters_identified


def test_the_label_that_none_applies_has_a_name_that_no_column_has(tmp_path):
    rows = ["a,r1,1,0,1", "a,r2,0,0,0", "b,r1,0,1,0", "b,r2,0,0,0"]
    for columns, name in (("war,drama,comedy", "none of these"), ("war,none of these,comedy", "(none of these)"),
                          ("none of these,war,(none of these)", "((none of these))")):  # fmt: skip
        text = "\n".join([f"case,rater,{columns}", *rows])
        found = of_file(tmp_path, text, kind="set").dataset
        one, two, three = columns.split(",")
        assert labels_of(found) == {
            "a": {"r1": sorted([one, three]), "r2": [name]},
            "b": {"r1": [two], "r2": [name]},
        }


def test_raters_who_say_0_or_1_are_no_labels(tmp_path):
    assert of_file(tmp_path, "case,r1,r2,r3\na,1,0,1\nb,0,0,1\nc,1,1,1\n").dataset.kind == "class"


@pytest.mark.parametrize(
    "cells",
    [
        ["Carcinoma, squamous", "Carcinoma, basal", "Naevus", "Naevus"],
        ["yes/no", "n/a", "yes", "no"],
        ["a;b", "c", "c", "d"],
    ],
)
def test_signs_inside_of_names_are_no_labels(tmp_path, cells):
    rows = "".join(f'c{place // 2},r{place % 2},"{cell}"\n' for place, cell in enumerate(cells))
    assert of_file(tmp_path, f"case,rater,label\n{rows}").dataset.kind == "class"


def many_tags(sign):
    """200 annotations of up to four of 300 tags, of which few stand alone and some come once."""
    rng = np.random.default_rng(3)
    share = 1 / np.arange(1, 301) ** 0.8
    tags = [sign.join(f"tag{code}" for code in np.sort(rng.choice(300, n, replace=False, p=share / share.sum())))
            for n in rng.integers(1, 5, 200)]  # fmt: skip
    return "".join(f'c{place // 2},r{place % 2},"{cell}"\n' for place, cell in enumerate(tags))


@pytest.mark.parametrize("sign", [";", "|", ","])
def test_of_very_many_tags_some_come_once_and_none_stands_alone(tmp_path, sign):
    text = f"case,rater,tags\n{many_tags(sign)}"
    reading = of_file(tmp_path, text)
    assert reading.dataset.kind == "set"
    assert f"Annotations were read as sets of labels separated by {sign!r}" in " ".join(reading.report.notes)
    assert of_file(tmp_path, text, kind="class").dataset.kind == "class"


@pytest.mark.parametrize("sign", [";", "|", ","])
def test_parts_of_names_come_again_and_have_each_their_place(tmp_path, sign):
    sites, kinds, grades = ("colon", "lung", "skin", "liver"), ("benign", "malignant"), ("low", "middle", "high")
    cells = [f"{a}{sign} {b}{sign} {c}" for a in sites for b in kinds for c in grades]
    cells += [f"{a}{sign} {b}" for a in sites for b in kinds]
    if sign != ",":
        cells = [f"{cell}{sign} seen {place}" for place, cell in enumerate(cells)]  # else four of five come again
    rows = "".join(f'c{place // 2},r{place % 2},"{cell}"\n' for place, cell in enumerate(cells))
    assert of_file(tmp_path, f"case,rater,label\n{rows}").dataset.kind == "class"


@pytest.mark.parametrize("name", ["none", "(none)", "[No label]", "< none of these >"])
def test_a_label_that_says_that_no_other_applies_may_stand_in_brackets(tmp_path, name):
    dataset = of_file(tmp_path, TOGETHER + f"c,r1,{name}\nc,r2,{name}\n").dataset
    assert label_of_none(dataset) == name
    beside = of_file(tmp_path, TOGETHER + f"c,r1,{name}; war\nc,r2,{name}\n").dataset
    assert label_of_none(beside) is None


def test_where_it_is_in_doubt_it_is_asked_and_both_answers_are_taken(tmp_path):
    text = "case,rater,label\na,r1,war\na,r1,drama\na,r2,war\nb,r1,war\nb,r2,drama\nb,r2,war\n"
    reading = of_file(tmp_path, text)
    assert reading.dataset.kind == "class"
    assert any("choose “A set of labels” as the kind of annotation" in one for one in reading.report.warnings)
    asked = of_file(tmp_path, text, kind="set").dataset
    assert labels_of(asked) == {
        "a": {"r1": ["drama", "war"], "r2": ["war"]},
        "b": {"r1": ["war"], "r2": ["drama", "war"]},
    }
    assert of_file(tmp_path, TOGETHER, kind="class").dataset.n_classes == 4


def test_what_is_no_annotation_is_left_out_with_its_reason(tmp_path):
    text = "case,rater,drama,comedy\na,r1,1,0\na,r2,2,0\nb,r1,,\nb,r2,0,\nc,r1,0,0\nc,r2,1,1\n"
    reading = of_file(tmp_path, text, layout="labels")
    assert labels_of(reading.dataset) == {
        "a": {"r1": ["drama"]}, "c": {"r1": ["none of these"], "r2": ["comedy", "drama"]},
    }  # fmt: skip
    assert [one.reason for one in reading.report.dropped] == [
        "the label 'drama' has the value '2', which is neither 0 nor 1", "no annotation",
        "neither 0 nor 1 for the label 'comedy'",
    ]  # fmt: skip
    assert any("1 annotation with 0 in every label column" in one for one in reading.report.warnings)
    without = of_file(tmp_path, text, layout="labels", treatment=Treatment(missing=frozenset({"none of these"})))
    assert without.dataset.classes == ("comedy", "drama")


def test_annotations_without_a_label_are_told_since_no_label_may_apply(tmp_path):
    """Empty cells and choices alike; not of single classes, where empty is no annotation, nor where 0 says so."""
    (warning,) = of_file(tmp_path, TOGETHER + "c,r1,\nc,r2,\n").report.warnings
    assert warning == (
        "2 annotations were left out, because they name no label. If no label applies, write 'none of these' in the "
        "file, or choose the option for empty cells."
    )
    records = [
        {"id": n, "text": "t", "label": label, "username": "ann"} for n, label in enumerate((["a", "b"], [], ["a"]))
    ]
    lines = "\n".join(map(json.dumps, records))
    assert "1 annotation was left out, because it names no label." in " ".join(
        of_file(tmp_path, lines, "d.jsonl").report.warnings
    )
    assert not of_file(tmp_path, "case,rater,class\na,r1,x\na,r2,y\nb,r1,x\nb,r2,\n").report.warnings
    said = " ".join(of_file(tmp_path, COLUMNS + "c,r1,0,0,0\nc,r2,1,0,0\n").report.warnings)
    assert "1 annotation with 0" in said and "name no label" not in said


def test_an_empty_cell_says_that_no_label_applies_where_that_is_said(tmp_path):
    """NA is something, and stays no annotation; a name of the file for "no label" is kept."""
    text = TOGETHER + "c,r1,\nc,r2,NA\n"
    reading = of_file(tmp_path, text, empty="none")
    assert labels_of(reading.dataset) == LABELS | {"c": {"r1": ["none of these"]}}
    assert [one.reason for one in reading.report.dropped] == ["no annotation ('NA')"]
    assert not [one for one in reading.report.warnings if "no label" in one]
    named = of_file(tmp_path, text + "d,r1,No finding\n", empty="none").dataset
    assert labels_of(named)["c"] == {"r1": ["No finding"]}


def test_an_empty_cell_of_a_column_of_0_and_1_is_0_where_that_is_said(tmp_path):
    text = COLUMNS + "c,r1,1,,0\nc,r2,,,\nd,r1,NA,1,0\n"
    left_out = of_file(tmp_path, text)
    assert labels_of(left_out.dataset) == LABELS
    assert left_out.report.warnings[0] == (
        "2 annotations were left out, because they have neither 0 nor 1 for some labels. If an empty cell means that "
        "the label does not apply, choose that option."
    )
    reading = of_file(tmp_path, text, empty="none")
    assert labels_of(reading.dataset) == LABELS | {"c": {"r1": ["drama"], "r2": ["none of these"]}}
    assert "1 annotation with 0 or an empty cell in every label column" in " ".join(reading.report.warnings)


def test_what_an_empty_cell_is_taken_for_is_told_where_no_column_holds_a_0(tmp_path):
    text = "case,rater,drama,comedy\na,r1,x,\na,r2,x,x\nb,r1,,x\nb,r2,,\n"
    reading = of_file(tmp_path, text, layout="labels")
    assert labels_of(reading.dataset) == {"a": {"r1": ["drama"], "r2": ["comedy", "drama"]}, "b": {"r1": ["comedy"]}}
    assert "No label column contains a 0" in " ".join(reading.report.notes)
    assert "or choose the option for empty cells" in " ".join(reading.report.warnings)
    said = of_file(tmp_path, text, layout="labels", empty="none")
    assert labels_of(said.dataset)["b"] == {"r1": ["comedy"], "r2": ["none of these"]}
    assert "No label column contains a 0" not in " ".join(of_file(tmp_path, COLUMNS).report.notes)


def test_a_label_that_stands_twice_counts_once_and_empty_places_are_nothing(tmp_path):
    reading = of_file(tmp_path, TOGETHER.replace("war;drama", "war;war;drama;"))
    assert labels_of(reading.dataset) == LABELS
    assert "1 repeated label was merged, because a label counts once per annotation." in reading.report.warnings
    empty = of_file(tmp_path, TOGETHER + "c,r1,;\n")
    assert [one.reason for one in empty.report.dropped] == ["the label is missing"]


BOXES = "\n".join(["image,reader,finding,x_min,y_min,x_max,y_max", *(
    f"i{case},R{reader},{name},{at},{at},{at + 5},{at + 5}"
    for case in range(12) for reader in (1, 2, 3) for at, name in enumerate(("mass", "mass", f"f{case % 3}"))
)]) + "\n"  # fmt: skip


def test_rows_of_one_label_are_merged_and_not_left_out(tmp_path):
    reading = of_file(tmp_path, BOXES)
    assert labels_of(reading.dataset)["i1"]["R2"] == ["f1", "mass"]
    assert (reading.report.n_kept, reading.report.dropped) == (reading.report.n_rows, ())
    assert "36 repeated labels were merged, because a label counts once per annotation." in reading.report.warnings
    listed = of_file(tmp_path, BOXES, classes=["mass", "f0", "f1"])
    assert (listed.report.n_kept, len(listed.report.dropped)) == (72, 36)


def test_merged_labels_of_an_annotation_that_is_left_out_are_left_out_with_it(tmp_path):
    head, *rows = BOXES.replace("image,reader", "image,when,reader").splitlines()
    text = "\n".join([head, *(f"{row.replace(',', f',{year}-01-01,', 1)}" for year in (2020, 2021) for row in rows)])
    columns = {"case": "image", "rater": "reader", "answer": "finding", "time": "when"}
    raw = open_table(text.encode())
    _, report = build_dataset(raw, Mapping("long", **columns, label_sign="rows"), "x", repeats="first")
    assert (report.n_kept, len(report.dropped)) == (108, 108)
    assert sum(one.reason == "its annotation is left out" for one in report.dropped) == 36


def doccano(sets):
    """Records of one file, whose raters are anonymous."""
    records = [{"id": case, "text": "t", "label": labels} for case, own in enumerate(sets, 1) for _, labels in own]
    return "\n".join(map(json.dumps, records))


@pytest.mark.parametrize(("written", "name"), [(label_studio, "t.json"), (doccano, "t.jsonl")])
def test_labels_twice_none_and_unknown_of_multiple_choices_are_told(tmp_path, written, name):
    tasks = [[("u1", ["war", "war", "drama"]), ("u2", [])], [("u1", ["tram", "war"]), ("u2", ["war", "war"])]]
    text = written(tasks)
    reading = of_file(tmp_path, text, name, kind="set")
    sets = [["drama", "war"], ["tram", "war"], ["war"]]
    assert [labels for own in labels_of(reading.dataset).values() for labels in own.values()] == sets
    assert [one.reason.split(": ")[1] for one in reading.report.dropped] == ["no answer to this question"]
    notes = reading.report.notes
    assert notes.count("2 repeated labels were merged, because a label counts once per annotation.") == 1
    assert "Annotations were read as sets of labels, because 2 of 3 annotations have more than one label." in notes
    declared = of_file(tmp_path, text, name, kind="set", classes=["drama", "war"])
    assert [labels for own in labels_of(declared.dataset).values() for labels in own.values()] == [sets[0], sets[2]]
    why = "the annotation is not in the declared list of classes"
    assert len([one for one in declared.report.dropped if one.reason.endswith(why)]) == 2  # it has two labels
    once = of_file(tmp_path, written([[("u1", ["war"]), ("u2", ["drama", "war"])]]), name)
    assert not any("twice" in one for one in (*once.report.notes, *once.report.warnings))


def test_an_annotation_with_a_label_outside_of_the_list_is_left_out_whole(tmp_path):
    reading = of_file(tmp_path, TOGETHER, classes=["drama", "comedy"], kind="set")
    assert labels_of(reading.dataset) == {"a": {"r2": ["drama"]}}
    why = "the annotation is not in the declared list of classes"
    assert [(one.line, one.reason) for one in reading.report.dropped] == [(2, why), (4, why), (5, why)]


def test_a_column_of_gold_has_all_labels_of_the_case(tmp_path):
    """One label or several, or that none applies; unknown labels are told, and empty cells are no gold."""
    text = TOGETHER.replace("labels", "labels,gold").replace("\n", ",war\n").replace("gold,war", "gold")
    found = of_file(tmp_path, text).dataset
    war = found.classes.index("war")
    assert found.gold is None and (found.gold_sets == (np.arange(found.n_classes) == war)).all()
    bare = replace(found, gold_sets=None)
    for texts, rows, told in (
        (("comedy; war", "none of these"), [["comedy", "war"], []], None),
        (
            ("war", "tram"),
            [["war"], None],
            "1 gold label is not in the list of labels ('tram'), so cases with it have no gold",
        ),
        (("drama|war", ""), [["drama", "war"], None], None),
    ):
        known, notes = with_side_files(bare, SideFiles(gold=dict(zip("ab", texts, strict=True))))
        for own, row in zip(known.gold_sets, rows, strict=True):
            expected = [-1] * 3 if row is None else [int(label in row) for label in found.classes]
            assert own.tolist() == expected
        assert not notes if told is None else told in notes[0]


def test_known_sets_go_with_their_data(tmp_path):
    """Into the views by label, selections, the digest, the library and the table of cases."""
    names = ("d", ("1", "2", "3"), ("r", "s"), ("x", "y", "z"))
    plain = Dataset.from_sets(*names, [0, 0, 1, 1, 2, 2], [0, 1] * 3, [0, 2, 3, 4, 5, 6, 7], [0, 1, 0, 1, 1, 2, 2])
    known = replace(plain, gold_sets=np.array([[1, 1, 0], [-1, -1, -1], [0, 0, 0]]))
    assert known.digest != plain.digest and known.as_classes("y")[0].gold.tolist() == [1, -1, 0]
    assert known.select(cases=["1", "3"]).gold_sets.tolist() == [[1, 1, 0], [0, 0, 0]]
    assert known.to_frame("cases")["gold"].fillna("unknown").tolist() == ["x; y", "unknown", ""]
    keep(known)
    assert reopen(known.digest).gold_sets.tolist() == known.gold_sets.tolist()
    one = Dataset.from_sets(*names, [0, 1, 2], [0, 1, 0], [0, 1, 2, 3], [0, 1, 2])
    alone = replace(one, gold_sets=np.array([[0, 1, 0], [-1, -1, -1], [1, 1, 0]]))
    assert alone.as_classes()[0].gold.tolist() == [1, -1, -1]
    in_part = np.array([[1, -1, 0]] * 3)
    for wrong, said in (
        (np.zeros((2, 3)), "shape"),
        (np.full((3, 3), 2), r"1, 0 or -1 \(unknown\)"),
        (in_part, "only some of its labels are -1"),
    ):
        with pytest.raises(InputError, match=said):
            replace(plain, gold_sets=wrong)
    with pytest.raises(InputError, match="not label sets"):
        replace(load_sample("anaesthesia"), gold_sets=np.zeros((45, 4)))


def test_sets_that_are_written_read_back_to_the_same(tmp_path):
    dataset = as_sets(load_sample("anaesthesia"))
    first = dataset.select(cases=dataset.cases[:20])
    long_table(first).to_csv(tmp_path / "long.csv", index=False)
    assert (
        read(tmp_path / "long.csv", name=first.name, classes=first.classes, kind="set").dataset.digest == first.digest
    )
    once = first.select(raters=first.raters[1:])  # the first rater read cases again
    wide_table(once).to_csv(tmp_path / "wide.csv", index=False)
    again = read(tmp_path / "wide.csv", classes=once.classes, kind="set").dataset
    assert labels_of(again) == labels_of(once)


@pytest.mark.parametrize(
    ("text", "how", "found"),
    [
        ("case,rater,drama\na,r1,x\n", {"layout": "labels", "case": "opera"}, "Could not find the column"),
        (
            "case,rater,d,e\na,r1,5,5\n",
            {"layout": "labels"},
            "Could not read annotations: no row has a case, a rater and an annotation",
        ),
    ],
)
def test_what_cannot_be_read_as_labels_says_so(tmp_path, text, how, found):
    with pytest.raises(InputError, match=found):
        of_file(tmp_path, text, **how)


def test_gold_of_one_label_is_read_from_a_file_of_sets():
    """What `--gold` with `--label` does: the label where the set has it, not where it has others or none."""
    file = SAMPLE_FOLDER / "street" / "truth.csv"
    street, options = load_sample("street"), SimpleNamespace(gold=str(file), label="bus", cautions=[])
    found = with_gold(street.as_classes("bus")[0], options)
    with file.open(encoding="utf-8", newline="") as lines:
        truth = {row["photo"]: row["labels"].split("; ") for row in csv.DictReader(lines)}
    assert found.gold.tolist() == [int("bus" in truth[case]) for case in street.cases] and not options.cautions
    assert [by_label(text, "bus") for text in ("minibus", "rain; bus", "bus|rain", "bus", "", None)] == (
        ["not bus", "bus", "bus", "bus", None, None]
    )


def test_sets_of_columns_of_raters_with_repeated_rows_account_for_each_row_once():
    rows = [[f"c{row % 4}", *("xyz"[(row % 4 + rater) % 3] for rater in range(3))] for row in range(12)]
    reading = read("\n".join(",".join(row) for row in [["case", "r1", "r2", "r3"], *rows]).encode(), kind="set")
    assert reading.report.n_kept + len(reading.report.dropped) == reading.report.n_rows == 12
