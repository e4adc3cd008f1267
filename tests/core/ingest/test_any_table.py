"""Tables as people have them: read right, or one question with the readings that remain."""

import gzip
import io
import json
from dataclasses import replace

import numpy as np
import openpyxl
import pandas as pd
import pytest

from core.command_line import main
from core.errors import InputError
from core.ingest.column_mapping import Mapping
from core.ingest.formats.detect import open_source
from core.ingest.read_files import build_question, read

from .made_tables import delimited, panel, triples, wide

CLASSES = ("cat", "dog", "fox")
GRADES = ("1", "2", "3")


def question_of(content: bytes, name: str = "t.csv"):
    (question,) = open_source([(name, content)]).questions
    return question


def names_of(content: bytes, name: str = "t.csv") -> list[str]:
    return [question.name for question in open_source([(name, content)]).questions]


def by_case(dataset) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    places = zip(dataset.case_of_annotation, dataset.rater, dataset.answer, strict=True)
    for case, rater, answer in places:
        found.setdefault(dataset.cases[case], {})[dataset.raters[rater]] = dataset.classes[answer]
    return found


# Roles of columns


def records(n: int, **columns) -> bytes:
    """One row per recording with a nurse, facts of the patient and flags, as in databases of hospitals."""
    facts = {"sex": "01", "sedated": ("True", "False"), "second_opinion": ("False", "True"), "checked": "01",
             "axis": ("LAD", "MID", "RAD", "ERAD")}  # fmt: skip
    made = columns | {name: [values[row * 7 // 3 % len(values)] for row in range(n)] for name, values in facts.items()}
    nurse = [str(row * 5 % 7) for row in range(n)]
    head = ["ecg_id", "patient_id", "nurse", *made]
    rows = zip(range(1, n + 1), (90 + row * 9 // 10 for row in range(n)), nurse, *made.values(), strict=True)
    return delimited([head, *rows])


def test_read_asks_which_column_has_annotations_if_cases_have_one_row_of_facts():
    with pytest.raises(InputError, match="Could not recognise the annotation column"):
        read(records(60))


def test_read_takes_objects_that_name_labels_for_annotations_of_cases_with_one_row():
    codes = ("{'NORM': 100.0, 'SR': 0.0}", "{'IMI': 35.0}", "{'AFIB': 0.0, 'IMI': 80.0, 'SR': 0.0}")
    reading = read(records(60, scp_codes=[codes[row % 3] for row in range(60)]))
    dataset = reading.dataset
    assert (dataset.kind, dataset.n_cases, dataset.classes) == ("set", 60, ("AFIB", "IMI", "NORM", "SR"))
    assert {"sex", "sedated", "checked"}.isdisjoint(dataset.classes)
    assert any("The names were read as labels" in note for note in reading.report.notes)


@pytest.mark.parametrize("more", [0, 1])
def test_read_asks_for_the_rater_if_columns_of_two_persons_are_beside_objects(more):
    codes = [("{'A': 100.0}", "{'B': 0.0, 'A': 1.0}")[row % 2] for row in range(60)]
    content = records(60, scp_codes=codes, validated_by=[str(row % 3 + more) for row in range(60)])
    question = question_of(content)
    readings = (question.mapping, *question.mapping.instead)
    assert {(one.rater, one.answer, one.label_sign) for one in readings} == {
        ("nurse", "scp_codes", "{ }"), ("validated_by", "scp_codes", "{ }")
    }  # fmt: skip
    assert question.mapping.doubt == "More than one column may contain the rater."


@pytest.mark.parametrize("flags", [("toxic", "insult", "threat"), ("care", "harm")])
def test_read_takes_most_columns_of_0_and_1_for_labels_also_if_cases_have_one_row(flags):
    rows = [[f"t{row}", f"r{row % 4}", *(str((row >> at) % 2) for at in range(len(flags)))] for row in range(40)]
    dataset = read(delimited([["item", "rater", *flags], *rows])).dataset
    assert (dataset.kind, dataset.n_annotations) == ("set", 40)


def test_read_keeps_questions_of_one_vocabulary_if_cases_have_one_row():
    rows = [[f"t{row}", f"r{row % 4}", *(str(row * k % 5) for k in (1, 2, 3))] for row in range(40)]
    content = delimited([["item", "rater", "fluency", "adequacy", "style"], *rows])
    assert names_of(content) == ["fluency", "adequacy", "style"]


def test_read_offers_no_question_for_texts_of_many_names():
    few, many = ("gender", "race", "culture"), [f"group {n}" for n in range(40)]
    rows = [
        [f"h{row // 3}", f"w{row % 3}", few[row * row % 7 % 3], many[row % 8] if row % 4 else f"about {row // 4}"]
        for row in range(400)
    ]
    content = delimited([["HITId", "WorkerId", "offensive", "target"], *rows])
    question = question_of(content)
    assert question.mapping.answer == "offensive"
    rows = [[*row[:3], many[row_number % 40]] for row_number, row in enumerate(rows)]
    assert names_of(delimited([["HITId", "WorkerId", "offensive", "target"], *rows])) == ["offensive", "target"]


def test_objects_of_counts_are_not_sets_of_labels():
    counts = ["{'A': 2, 'B': 1}", "{'A': 0, 'B': 3}", "{'A': 3, 'B': 0}"]
    rows = [[f"c{row}", f"r{row % 3}", counts[row % 3]] for row in range(30)]
    assert question_of(delimited([["case", "rater", "label"], *rows])).mapping.label_sign is None


@pytest.mark.parametrize("first", ["", "Unnamed: 0", "index"])
def test_read_leaves_out_row_numbers_beside_a_column_of_cases(first):
    answers = panel(1, 12, 3, GRADES)
    content = wide(answers, ("r1", "r2", "r3"), "subject", before=[(first, range(1, 13))])
    dataset = read(content).dataset
    assert (dataset.raters, dataset.classes) == (("r1", "r2", "r3"), GRADES)


@pytest.mark.parametrize("after", ["consensus", "majority vote", "Expert consensus", "adjudicated"])
@pytest.mark.parametrize(
    ("raters", "classes"), [(("ann", "bob"), CLASSES), (("doctor 1", "doctor 2", "doctor 3"), GRADES)]
)
def test_read_takes_a_column_of_consensus_for_gold(after, raters, classes):
    answers = panel(2, 20, len(raters), classes)
    reading = read(wide(answers, raters, after=[(after, [row[0] for row in answers])]))
    assert reading.dataset.raters == raters
    assert reading.dataset.gold is not None and (reading.dataset.gold >= 0).all()


@pytest.mark.parametrize("name", ["algorithm", "AI", "CAD output"])
def test_read_marks_a_column_of_an_algorithm_as_an_ai_rater(name):
    answers = panel(3, 20, 3, CLASSES)
    reading = read(wide(answers, ("ann", "bob", "cid"), after=[(name, [row[1] for row in answers])]))
    assert [machine for machine, *_ in reading.machines] == [name]


@pytest.mark.parametrize("name", ["mean", "Agreement", "agree?", "total", "kappa", "average"])
def test_read_leaves_out_columns_that_summarise_raters(name):
    answers = panel(4, 15, 3, GRADES)
    dataset = read(wide(answers, ("ann", "bob", "cid"), after=[(name, [f"{row}.5" for row in range(15)])])).dataset
    assert dataset.raters == ("ann", "bob", "cid")


@pytest.mark.parametrize(
    "last",
    [["Total", "", "", "9"], ["Kappa", "", "", "0.53"], ["Mean", "1.5", "2.5", "2.0"], ["Summe", "9", "10", "8"]],
)
def test_read_leaves_out_last_rows_of_totals_and_says_so(last):
    answers = panel(5, 10, 3, GRADES)
    content = wide(answers, ("ann", "bob", "cid")) + ",".join(last).encode() + b"\n"
    reading = read(content)
    assert (reading.dataset.n_cases, reading.dataset.classes) == (10, GRADES)
    (dropped,) = reading.report.dropped
    assert "totals" in dropped.reason and dropped.line == 12


def test_read_keeps_a_last_case_that_is_called_like_any_other():
    answers = panel(5, 10, 3, GRADES)
    assert read(wide(answers, ("ann", "bob", "cid")) + b"Tot,1,2,3\n").dataset.n_cases == 11


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        (("r1_birads", "r2_birads", "r1_shape", "r2_shape"), ["birads", "shape"]),
        (("shape reader1", "birads reader1", "shape reader2", "birads reader2"), ["shape", "birads"]),
    ],
)
def test_read_asks_which_of_several_questions_columns_of_raters_answer(columns, asked):
    birads, shape = panel(6, 15, 2, ("B2", "B3", "B4")), panel(7, 15, 2, ("oval", "round"))
    cells = {
        ("birads" in c, "2" in c): [(birads if "birads" in c else shape)[row]["2" in c] for row in range(15)]
        for c in columns
    }
    rows = [[f"c{row}", *(cells["birads" in c, "2" in c][row] for c in columns)] for row in range(15)]
    content = delimited([["case", *columns], *rows])
    assert names_of(content) == asked
    with pytest.raises(InputError, match="--question"):
        read(content)
    assert set(read(content, question="birads").dataset.classes) == {"B2", "B3", "B4"}


def test_read_asks_which_column_of_a_long_table_holds_the_annotations():
    birads, density = panel(8, 20, 3, ("B2", "B3", "B4")), panel(9, 20, 3, ("a", "b", "c", "d"))
    rows = [[f"c{row}", f"r{place}", 3 * row + place, birads[row][place], density[row][place]]
            for row in range(20) for place in range(3)]  # fmt: skip
    content = delimited([["case", "reader", "annotation_id", "birads", "density"], *rows])
    assert names_of(content) == ["birads", "density"]
    assert read(content, question="density").dataset.n_classes == 4
    assert read(content, answer="birads").dataset.n_classes == 3  # a given column answers the question


@pytest.mark.parametrize(
    "extra", [("annotation_id", lambda row, place: 100 + 7 * row + place), ("notes", lambda *_: "")]
)
def test_an_id_or_an_empty_column_is_never_the_annotation(extra):
    answers = panel(10, 15, 3, CLASSES)
    name, cell = extra
    rows = [[f"c{row}", f"r{place}", cell(row, place), answers[row][place]] for row in range(15) for place in range(3)]
    assert read(delimited([["case", "reader", name, "margin"], *rows])).dataset.classes == CLASSES


@pytest.mark.parametrize(
    ("case", "rater", "answer"), [("doc", "lf", "vote"), ("orig_id", "!amt_worker_ids", "response")]
)
def test_read_finds_case_and_rater_by_what_tells_rows_apart(case, rater, answer):
    answers = panel(11, 30, 5, ("0", "1"))
    rows = [[f"{row}", f"w{place}", answers[row][place]] for row in range(30) for place in range(5)]
    dataset = read(delimited([[case, rater, answer], *rows])).dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.n_annotations) == (30, 5, 150)


@pytest.mark.parametrize("beside", ["algorithm,score", "system,prob"])
def test_a_table_of_predictions_is_not_read_as_annotations(beside):
    name = beside.split(",")[0]
    rows = [[f"m{place}", f"c{row}", "cat" if row % 2 else "dog", "0.9"] for place in range(3) for row in range(9)]
    with pytest.raises(InputError):
        read(delimited([["classifier" if name == "algorithm" else name, "case", "class", "score"], *rows]))


@pytest.mark.parametrize(
    ("raters", "cases"),
    [
        (("coder1", "coder2", "coder3"), [f"item{n}" for n in range(20)]),
        (("c0", "c1"), [f"scan_{n}.png" for n in range(9)]),
    ],
)
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_triples_without_a_header_are_read_by_the_shapes_of_ids(raters, cases, delimiter):
    answers = panel(12, len(cases), len(raters), ("Noun", "Verb", "Adj"))
    dataset = read(delimited(triples(answers, raters, cases), delimiter)).dataset
    assert (dataset.raters, set(dataset.cases)) == (raters, set(cases))


@pytest.mark.parametrize("n_each", [5, 6])
def test_triples_whose_ids_do_not_tell_are_asked_about(n_each):
    answers = panel(13, n_each, n_each, CLASSES)
    rows = triples(answers, [f"a{n}" for n in range(n_each)], [f"b{n}" for n in range(n_each)])
    mapping = question_of(delimited(rows)).mapping
    (other,) = mapping.instead
    assert (mapping.case, mapping.rater) == (other.rater, other.case)


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_read_takes_the_first_column_of_a_headerless_table_for_a_rater_if_it_holds_annotations(delimiter):
    answers = [["" if (row + place) % 4 == 0 else label for place, label in enumerate(labels)]
               for row, labels in enumerate(panel(14, 24, 5, ("NOUN", "VERB", "ADJ")))]  # fmt: skip
    dataset = read(delimited(answers, delimiter)).dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.n_classes) == (24, 5, 3)


def test_a_matrix_apart_by_white_space_is_read():
    answers = panel(15, 12, 4, ("LOW", "MEDIUM", "HIGH"))
    dataset = read("\n".join("  ".join(row) for row in answers).encode()).dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.n_classes) == (12, 4, 3)


@pytest.mark.parametrize(
    "stems", [("annotator{}", "label{}"), ("rater{}", "class{}"), ("Reviewer{} name", "Reviewer{} vote")]
)
@pytest.mark.parametrize("sign", ["_", " "])
def test_numbered_pairs_of_rater_and_annotation_are_rows(stems, sign):
    answers, names = panel(16, 18, 2, CLASSES), ("anna", "bob", "cy")
    header = ["id", *(stem.format(f"{sign}{place}") for place in (1, 2) for stem in stems)]
    rows = [[row, names[row % 3], answers[row][0], names[(row + 1) % 3], answers[row][1]] for row in range(18)]
    dataset = read(delimited([header, *rows])).dataset
    assert (dataset.raters, dataset.classes, dataset.n_annotations) == (names, CLASSES, 36)


# JSON of two levels


@pytest.mark.parametrize(("outer", "inner"), [("{}", "{}"), ("t{}", "u{}")])
def test_json_of_two_levels_is_asked_about_if_names_do_not_tell(outer, inner):
    answers = panel(17, 4, 5, ("0", "1"))
    content = json.dumps(
        {outer.format(c): {inner.format(r): label for r, label in enumerate(row)} for c, row in enumerate(answers)}
    )
    mapping = question_of(content.encode(), "a.json").mapping
    assert {mapping.case, *(one.case for one in mapping.instead)} == {"case", "rater"}
    reading = read(content.encode(), case="rater", rater="case")
    assert (reading.dataset.n_cases, reading.dataset.n_raters, reading.doubt) == (4, 5, "")
    assert "4 raters × 5 cases" in read(content.encode()).doubt


@pytest.mark.parametrize(("outer", "inner"), [("annotator{}", "item{}"), ("rater {}", "img_{}.png")])
def test_json_of_two_levels_is_read_if_names_tell(outer, inner):
    answers = panel(18, 6, 4, ("0", "1"))
    content = json.dumps(
        {outer.format(r): {inner.format(c): row[r] for c, row in enumerate(answers)} for r in range(4)}
    )
    assert not question_of(content.encode(), "a.json").mapping.instead


@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "table"])
@pytest.mark.parametrize(("case", "classes"), [("case", GRADES), ("image_id", CLASSES)])
def test_frames_of_pandas_are_read_in_every_orientation(orient, case, classes):
    answers = panel(19, 9, 3, classes)
    frame = pd.DataFrame(answers, columns=["r1", "r2", "r3"])
    frame.insert(0, case, [f"c{row}" for row in range(9)])
    expected = read(wide(answers, ("r1", "r2", "r3"), case)).dataset.digest
    assert read(frame.to_json(orient=orient).encode()).dataset.digest == expected


def test_the_command_line_ends_with_status_2_and_the_options_that_choose(tmp_path, capsys):
    answers = panel(17, 4, 5, ("0", "1"))
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps({str(c): {str(r): label for r, label in enumerate(row)} for c, row in enumerate(answers)})
    )
    assert main(["describe", str(path)]) == 2
    said = capsys.readouterr().err
    assert "5 raters × 4 cases" in said and "4 raters × 5 cases" in said
    assert "--case case --rater rater" in said and "--case rater --rater case" in said
    assert main(["describe", str(path), "--case", "rater", "--rater", "case"]) == 0
    assert json.loads(capsys.readouterr().out)["n_cases"] == 4


# Headers


def workbook(rows, merged=()) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([cell or None for cell in row])
    for cells in merged:
        book.active.merge_cells(cells)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@pytest.mark.parametrize("kind", ["csv", "xlsx", "titled"])
def test_two_header_rows_are_joined_and_asked_about(kind):
    answers = panel(20, 10, 4, GRADES)
    rows = [["Case", "Round 1", "", "Round 2", ""], ["", "Dr A", "Dr B", "Dr A", "Dr B"]]
    rows += [[f"F{row}", *answers[row]] for row in range(10)]
    if kind == "titled":
        rows.insert(0, ["Study of 2024", "", "", "", ""])
    content = delimited(rows) if kind != "xlsx" else workbook(rows, ("B1:C1", "D1:E1"))
    assert names_of(content) == ["all columns", "Round 1", "Round 2"]
    dataset = read(content, question="all columns").dataset
    assert dataset.raters == ("Round 1 / Dr A", "Round 1 / Dr B", "Round 2 / Dr A", "Round 2 / Dr B")
    assert dataset.n_cases == 10 and read(content, question="Round 2").dataset.n_raters == 2


@pytest.mark.parametrize("filled", [False, True])
def test_three_header_rows_are_joined(filled):
    answers = panel(18, 12, 8, CLASSES)
    rounds = [f"Round {1 + place // 4}" if filled or place % 4 == 0 else "" for place in range(8)]
    days = [f"Day {1 + place % 4 // 2}" if filled or place % 2 == 0 else "" for place in range(8)]
    rows = [["", *rounds], ["", *days], ["Case", *("AB"[place % 2] for place in range(8))]]
    content = delimited([*rows, *([f"c{row}", *answers[row]] for row in range(12))])
    assert names_of(content)[:3] == ["all columns", "Round 1 / Day 1", "Round 1 / Day 2"]
    reading = read(content, question="Round 2 / Day 1")
    assert (reading.dataset.n_cases, reading.dataset.n_raters, set(reading.dataset.classes)) == (12, 2, set(CLASSES))
    assert "3 header rows were joined." in reading.report.notes


def test_rounds_that_are_written_out_above_each_rater_are_joined_with_these():
    answers = panel(19, 12, 4, CLASSES)
    rows = [["", "Round 1", "Round 1", "Round 2", "Round 2"], ["case", "Dr A", "Dr B", "Dr A", "Dr B"]]
    content = delimited([*rows, *([f"c{row}", *answers[row]] for row in range(12))])
    assert names_of(content) == ["all columns", "Round 1", "Round 2"]


def test_a_first_row_of_annotations_below_names_that_come_twice_is_no_header():
    content = b"case,label,label\nc1,x,y\nc2,y,z\nc3,u,v\n"
    with pytest.raises(InputError, match="contains 'label' 2 times"):
        read(content)


@pytest.mark.parametrize(("first", "n_raters"), [("study_object", 12), ("Fall", 5)])
def test_raters_called_by_numbers_are_a_header(first, n_raters):
    answers = panel(21, 8, n_raters, ("2", "3"))
    dataset = read(wide(answers, range(1, n_raters + 1), first)).dataset
    assert (dataset.n_cases, dataset.n_raters) == (8, n_raters)


def test_numbers_without_a_name_above_the_ids_are_no_header():
    rows = [[f"S{row}", *row_answers] for row, row_answers in enumerate(panel(22, 8, 3, GRADES))]
    assert read(delimited(rows)).dataset.n_cases == 8


# Votes, shares, probabilities


@pytest.mark.parametrize(("name", "classes"), [("votes", ("cat", "dog")), ("label_counter", ("e", "n", "c"))])
def test_objects_of_counts_are_counts(name, classes):
    rng = np.random.default_rng(23)
    counts = [map(int, rng.multinomial(10, np.ones(len(classes)) / len(classes))) for _ in range(8)]
    records = [
        {"uid": f"u{row}", name: dict(zip(classes, each, strict=True)), "example": {"premise": "p"}, "entropy": 1.2}
        for row, each in enumerate(counts)
    ]
    dataset = read("\n".join(map(json.dumps, records)).encode()).dataset
    assert (dataset.n_annotations, set(dataset.classes)) == (80, set(classes))


@pytest.mark.parametrize("columns", [("spiral", "elliptical", "merger"), ("P_A", "P_B", "P_C")])
def test_shares_are_asked_about_and_become_counts_by_a_column_of_numbers(columns):
    rng = np.random.default_rng(24)
    counts = rng.multinomial(40, (0.5, 0.3, 0.2), 30)
    rows = [[f"g{row}", 40, *(f"{count / 40:.3f}" for count in counts[row])] for row in range(30)]
    content = delimited([["object_id", "n_votes", *columns], *rows])
    mapping = question_of(content).mapping
    assert {mapping.layout, *(one.layout for one in mapping.instead)} == {"wide", "counts"}
    dataset = read(content, format="counts").dataset
    assert dataset.n_annotations == 1200 and dataset.classes == tuple(sorted(columns))
    without = delimited([["object_id", *columns], *([row[0], *row[2:]] for row in rows)])
    with pytest.raises(
        InputError, match="Could not use shares from 0 to 1: no column contains the number of annotations per case"
    ):
        read(without, format="counts")


def test_scores_from_0_to_1_of_raters_are_not_asked_about():
    rng = np.random.default_rng(25)
    rows = [[f"c{row}", *np.round(rng.random(3), 3)] for row in range(30)]
    assert not question_of(delimited([["case", "rater1", "rater2", "rater3"], *rows])).mapping.instead


# Lists, lines and numbers in cells


@pytest.mark.parametrize("write", [json.dumps, str])
@pytest.mark.parametrize("labels", [("3", "5", "11"), ("edema", "effusion", "no finding")])
def test_lists_in_cells_are_sets(write, labels):
    rng = np.random.default_rng(26)
    chosen = [
        [[labels[k] for k in np.flatnonzero(rng.random(3) < 0.6)] or [labels[0]] for _ in range(2)] for _ in range(20)
    ]
    rows = [[f"c{row}", *(write(one) for one in both)] for row, both in enumerate(chosen)]
    dataset = read(delimited([["case", "annotator_1", "annotator_2"], *rows])).dataset
    assert (dataset.kind, set(dataset.classes), dataset.n_annotations) == ("set", set(labels), 40)


def test_lines_in_cells_are_sets_if_they_come_again():
    rng = np.random.default_rng(27)
    rows = [[f"c{row}", f"r{place}", "\n".join(np.array(CLASSES)[rng.random(3) < 0.6].tolist() or ["cat"])]
            for row in range(10) for place in range(3)]  # fmt: skip
    dataset = read(delimited([["case", "rater", "class"], *rows])).dataset
    assert (dataset.kind, dataset.classes) == ("set", CLASSES)


def test_a_class_written_as_json_is_warned_about():
    rows = [[f"c{row}", f"r{place}", '{"a": 1}' if row % 3 == 0 else "cat"] for row in range(9) for place in range(2)]
    warnings = read(delimited([["case", "rater", "class"], *rows])).report.warnings
    assert [one for one in warnings if "written as JSON" in one]


@pytest.mark.parametrize(
    ("write", "delimiter"),
    [
        (lambda n: f"{n + 1000:,}.5", ","),
        (lambda n: f"{n + 1000:,}.5".replace(",", "_").replace(".", ",").replace("_", "."), ";"),
        (lambda n: f"{n}%", ","),
        (lambda n: "<1" if n < 3 else f"{n / 7:.2f}", ","),
    ],
    ids=["1,200.5", "1.200,5", "30%", "<1"],
)
def test_numbers_with_separators_percent_and_limits_are_scores(write, delimiter):
    rows = [[f"s{row}", f"r{place}", write(3 * row + place)] for row in range(12) for place in range(3)]
    reading = read(delimited([["subject", "rater", "volume"], *rows], delimiter))
    assert (reading.dataset.kind, reading.dataset.n_annotations) == ("score", 36)
    assert any("limit" in one for one in reading.report.warnings) == (write(0) == "<1")


def test_few_percentages_stay_classes():
    rows = [
        [f"s{row}", f"r{place}", ("0%", "50%", "100%")[(row + place) % 3]] for row in range(9) for place in range(3)
    ]
    assert read(delimited([["case", "rater", "class"], *rows])).dataset.kind == "class"


# The same file as earlier versions read it


@pytest.mark.parametrize("after", ["consensus", "mean"])
def test_a_table_read_anew_knows_the_digest_that_it_had(after):
    answers = panel(28, 12, 2, CLASSES)
    source = open_source([("t.csv", wide(answers, ("ann", "bob"), after=[(after, [row[0] for row in answers])]))])
    (question,) = source.questions
    every = replace(question, mapping=Mapping("wide", case="case", raters=("ann", "bob", after)))
    had = build_question(source, every, "t").dataset.digest
    found = build_question(source, question, "t")
    assert found.dataset.digest != had and had in found.earlier


def test_a_table_without_its_totals_knows_the_digest_that_it_had_with_them():
    content = wide(panel(28, 12, 3, CLASSES), ("ann", "bob", "cid")) + b"Total,cat,cat,dog\n"
    (question,) = open_source([("t.csv", content.replace(b"Total", b"c99"))]).questions
    every = replace(question.raw, table=open_source([("t.csv", content)]).before.raw.table)
    had = build_question(open_source([("t.csv", content)]), replace(question, raw=every), "t").dataset.digest
    found = read(content)
    assert found.dataset.n_cases == 12 and had in found.earlier


def test_lists_in_cells_know_the_digest_that_they_had_as_classes():
    rows = [
        [f"c{row}", *(json.dumps([CLASSES[k], CLASSES[k - 1]]) for k in (row % 3, (row + 1) % 3))] for row in range(9)
    ]
    content = delimited([["case", "rater1", "rater2"], *rows])
    source = open_source([("t.csv", content)])
    (question,) = source.questions
    as_classes = replace(question, mapping=replace(question.mapping, label_sign=None))
    found = read(content)
    assert found.dataset.kind == "set"
    assert build_question(source, as_classes, "t").dataset.digest in found.earlier


def test_a_table_read_as_ever_has_no_earlier_digest():
    assert read(wide(panel(29, 12, 3, CLASSES), ("ann", "bob", "cid"))).earlier == ()


# Packed


@pytest.mark.parametrize("name", ["t.csv.gz", "t.gz"])
def test_files_packed_by_gzip_are_read(name):
    content = wide(panel(30, 9, 3, CLASSES), ("ann", "bob", "cid"))
    (question,) = open_source([(name, gzip.compress(content))]).questions
    assert question.mapping.raters == ("ann", "bob", "cid")


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("category", [False, True])
def test_arrow_files_are_read(compression, category):
    answers = panel(31, 40, 3, CLASSES)
    frame = pd.DataFrame(answers, columns=["ann", "bob", "cid"])
    frame.insert(0, "case", [f"c{row}" for row in range(40)])
    content = io.BytesIO()
    (frame.astype("category") if category else frame).to_feather(content, compression=compression)
    expected = read(wide(answers, ("ann", "bob", "cid"))).dataset.digest
    assert read(content.getvalue()).dataset.digest == expected


# Files that belong together


def get_another_label(seed: int):
    """Assigned labels, correct labels, categories and costs, without headers, as Get-Another-Label takes them."""
    objects, workers = [f"http://site{n}.example" for n in range(20)], [f"worker{n}" for n in range(5)]
    answers = panel(seed, 20, 5, CLASSES)
    labels = [
        [worker, one, answers[row][place]] for place, worker in enumerate(workers) for row, one in enumerate(objects)
    ]
    correct = [[one, answers[row][0]] for row, one in enumerate(objects[:6])]
    costs = [[one, other, str(int(one != other))] for one in CLASSES for other in CLASSES]
    files = {
        "labels.txt": labels,
        "correct.txt": correct,
        "categories.txt": [[c, "0.3"] for c in CLASSES],
        "costs.txt": costs,
    }
    return [(name, delimited(rows, "\t")) for name, rows in files.items()]


def test_files_of_get_another_label_are_told_apart_by_their_values():
    files = get_another_label(21)
    source = open_source(files)
    (question,) = source.questions
    reading = build_question(source, question, "sites")
    assert (reading.dataset.n_cases, reading.dataset.n_raters, reading.dataset.n_annotations) == (20, 5, 100)
    assert int((reading.dataset.gold >= 0).sum()) == 6
    assert [
        "costs.txt was read as costs for pairs of classes, which are not used." in source.notes,
        len(source.notes),
    ] == [True, 3]
    alone = read(files[0][1]).dataset
    assert (alone.cases, alone.raters) == (reading.dataset.cases, reading.dataset.raters)


@pytest.mark.parametrize("header", [["image", "label"], ["case", "class"]])
def test_tables_of_a_rater_each_are_no_gold_of_each_other(header):
    answers = panel(22, 12, 2, CLASSES)
    files = [
        (f"{who}.csv", delimited([header, *([f"c{row}", answers[row][place]] for row in range(12 - place))]))
        for place, who in enumerate(("ann", "bob"))
    ]
    dataset = build_question(source := open_source(files), source.questions[0], "two").dataset
    assert dataset.raters == ("ann", "bob") and dataset.gold is None


def test_a_further_table_with_a_header_is_no_gold_by_its_values_alone():
    files = get_another_label(23)
    named = [("more.csv", b"object,label\n" + files[1][1].replace(b"\t", b","))]
    assert open_source([files[0], *named]).side.gold is None


@pytest.mark.parametrize("front", [b"Any words\nN0: 3\nBEGIN DATA:\n", b"readerID,caseID,modalityID,score\n"])
def test_scores_of_imrmc_are_a_question_for_each_modality(front):
    scores = {(r, c, m): 10 * r + c + 0.5 * (m == "B") for r in range(1, 4) for c in range(6) for m in "AB"}
    rows = [["truth", f"case{c}", "truth", str(c % 2)] for c in range(6)]
    rows += [[f"R{r}", f"case{c}", m, str(score)] for (r, c, m), score in scores.items()]
    content = front + delimited(rows)
    assert names_of(content, "study.imrmc") == ["A", "B"]
    reading = read(content, question="B")
    assert (reading.dataset.kind, reading.dataset.n_cases, reading.dataset.n_raters) == ("score", 6, 3)
    assert sorted(reading.dataset.score) == sorted(score for (_, _, m), score in scores.items() if m == "B")
    assert reading.dataset.gold_scores is None and any("The truth of 6 cases" in note for note in reading.report.notes)


def test_gold_without_a_header_has_all_its_cases_whatever_its_file_is_called():
    labels, (_, correct), *_ = get_another_label(24)
    for name in ("gold.txt", "truth.csv", "answers.txt"):
        gold = open_source([labels, (name, correct)]).side.gold
        assert len(gold) == 6 and gold["http://site0.example"] in CLASSES


def test_readers_and_findings_in_the_names_of_columns_are_questions_beside_a_column_of_categories():
    findings, n = ("ICH", "IPH", "SDH"), 24
    answers = {one: panel(place, n, 3, ("0", "1")) for place, one in enumerate(findings)}
    header = ["name", "Category", *(f"R{reader}:{one}" for reader in (1, 2, 3) for one in findings)]
    rows = [[f"CT-{row}", f"B{row % 2}", *(answers[one][row][reader] for reader in range(3) for one in findings)]
            for row in range(n)]  # fmt: skip
    content = delimited([header, *rows])
    assert names_of(content) == list(findings)
    assert read(content, question="SDH").dataset.raters == ("R1", "R2", "R3")


@pytest.mark.parametrize("told", ["response", "hate_speech_score"])
def test_a_text_or_score_that_each_case_has_of_its_own_is_no_annotation(told):
    answers = panel(31, 20, 3, CLASSES)
    value = {row: f"reply {row} of the machine" if told == "response" else f"{row / 7:.3f}" for row in range(20)}
    rows = [[f"c{row}", f"r{place}", value[row], answers[row][place]] for row in range(20) for place in range(3)]
    dataset = read(delimited([["item_id", "rater_id", told, "Q_overall"], *rows])).dataset
    assert dataset.classes == CLASSES


def test_counts_are_found_by_their_total_beside_row_numbers_and_the_class_that_most_gave():
    rng, rows = np.random.default_rng(5), []
    for row in range(40):
        counts = rng.multinomial(3 * rng.integers(1, 4), rng.dirichlet(np.ones(3)))
        rows.append([row, counts.sum(), *counts, counts.argmax(), f"a text of its own, number {row}"])
    header = ["", "count", "hate_speech", "offensive_language", "neither", "class", "tweet"]
    dataset = read(delimited([header, *rows])).dataset
    assert dataset.n_annotations == sum(row[1] for row in rows) and dataset.n_cases == 40
    assert set(dataset.classes) == {"hate_speech", "offensive_language", "neither"}


def test_responses_of_surveymonkey_are_raters():
    answers = panel(33, 4, 8, ("None", "Mild", "Severe"))
    fixed = ["Respondent ID", "Collector ID", "Start Date", "End Date", "IP Address"]
    rows = [[*fixed, *(f"How severe is image {case}?" for case in range(4))], ["", "", "", "", "", *["Response"] * 4]]
    rows += [[118 + who, 4, "01/02/2024", "01/02/2024", f"10.0.0.{who}", *(answers[case][who] for case in range(4))]
             for who in range(8)]  # fmt: skip
    reading = read(delimited(rows))
    assert (reading.dataset.n_cases, reading.dataset.n_raters, reading.dataset.n_annotations) == (4, 8, 32)
    assert [one.reason for one in reading.report.dropped] == ["a second header row"]


def test_an_object_that_names_each_record_is_a_list_of_records():
    posts = {
        f"{row}_gab": {
            "post_id": f"{row}_gab",
            "annotators": [{"label": one, "annotator_id": 200 + who} for who, one in enumerate(answers)],
            "post_tokens": ["some", "words"],
        }
        for row, answers in enumerate(panel(34, 15, 3, ("hatespeech", "normal", "offensive")))
    }
    dataset = read(json.dumps(posts).encode()).dataset
    assert (dataset.n_cases, dataset.n_raters, len(dataset.classes)) == (15, 3, 3)


def kili(answers, **more):
    """Assets of Kili with two jobs."""

    def label(row, who):
        jobs = {"JOB_0": [answers[row][who]], "JOB_1": ["LARGE", "BLURRED"]}
        response = {job: {"categories": [{"name": one} for one in names]} for job, names in jobs.items()}
        response["JOB_2"] = {"annotations": []}
        return {"author": {"email": f"r{who}@example.org"}, "labelType": "DEFAULT", "jsonResponse": response, **more}

    assets = ((row, [label(row, who) for who in range(3)]) for row in range(12))
    return json.dumps(
        [{"id": f"x{row}", "externalId": f"{row}.jpg", "labels": labels} for row, labels in assets]
    ).encode()


def test_classification_jobs_of_kili_are_questions():
    content = kili(panel(35, 12, 3, ("OK", "DEFECT")))
    assert names_of(content, "export.json") == ["JOB_0", "JOB_1"]
    dataset = read(content, question="JOB_0").dataset
    assert (dataset.n_cases, dataset.raters[0], dataset.kind) == (12, "r0@example.org", "class")
    assert read(content, question="JOB_1").dataset.kind == "set"


def test_predictions_in_a_file_of_kili_are_no_annotations():
    with pytest.raises(InputError, match="Could not read annotations: the file contains none that Plurality supports"):
        read(kili(panel(35, 12, 3, ("OK", "DEFECT")), labelType="PREDICTION"))


def test_tables_of_raters_with_several_findings_are_no_gold_whatever_they_are_called():
    answers = {who: panel(place, 12, 3, ("0", "1")) for place, who in enumerate(("bc1_gt", "bc2_gt", "bc3"))}
    header = ["study", "edema", "mass", "fracture"]
    files = [
        (f"{who}.csv", delimited([header, *([f"s{n}", *row] for n, row in enumerate(rows))]))
        for who, rows in answers.items()
    ]
    source = open_source(files)
    assert source.side.gold is None
    assert build_question(source, source.questions[0], "x").dataset.n_annotations == 36


# Kinds seen in public files


def crowd(n_cases: int = 20, n_raters: int = 4, seed: int = 40):
    answers = panel(seed, n_cases, n_raters, ("0", "1"))
    return [(f"c{row}", f"r{place}", answers[row][place]) for row in range(n_cases) for place in range(n_raters)]


def test_a_fact_of_the_case_is_no_annotation_if_other_columns_are_called_so():
    rows = [[case, "en" if int(case[1:]) % 2 else "de", rater, answer, answer] for case, rater, answer in crowd()]
    content = delimited([["row", "condition", "annotator", "label1", "label2"], *rows])
    assert names_of(content) == ["label1", "label2"]
    assert read(content, question="label2").dataset.classes == ("0", "1")


def test_a_label_that_is_the_same_for_all_raters_of_a_case_is_gold_of_another_column():
    rows = [[rater, case, int(case[1:]) % 2, answer] for case, rater, answer in crowd()]
    dataset = read(delimited([["annotator", "instance", "label", "prediction"], *rows])).dataset
    assert (dataset.kind, dataset.classes) == ("class", ("0", "1"))
    assert {name: dataset.classes[code] for name, code in zip(dataset.cases, dataset.gold, strict=True)} == {
        case: str(int(case[1:]) % 2) for case in dataset.cases
    }


def test_a_label_on_which_all_raters_agree_stays_the_annotation_beside_other_facts():
    rows = [[rater, case, int(case[1:]) % 2, seconds % 7] for seconds, (case, rater, _) in enumerate(crowd())]
    dataset = read(delimited([["annotator", "instance", "label", "difficulty"], *rows])).dataset
    assert dataset.gold is None
    assert dataset.classes == ("0", "1")


def test_two_columns_that_are_called_annotations_are_two_questions():
    rows = [[case, rater, 10 * int(answer) + place % 7, 1 + int(answer)]
            for place, (case, rater, answer) in enumerate(crowd())]  # fmt: skip
    assert names_of(delimited([["bottle", "judge", "response", "rating"], *rows])) == ["response", "rating"]


def test_final_ratings_are_gold_and_measures_are_no_raters():
    grades = panel(41, 20, 4, GRADES)
    rows = [[f"img{row}", *grades[row], f"0.{row}37"] for row in range(20)]
    names = ["FileID", "Rating_1", "Rating_2", "Rating_3", "Rating_Final", "Hair_Ratio"]
    content = delimited([names, *rows])
    dataset = read(content).dataset
    assert not any("annotation" in reason for reason in question_of(content).mapping.reasons())
    assert dataset.raters == ("Rating_1", "Rating_2", "Rating_3")
    assert [dataset.classes[code] for code in dataset.gold] == [row[3] for row in grades]


def test_numbered_raters_with_decimals_stay_raters_of_scores():
    rows = [[f"img{row}", *(f"{1 + (row * place) % 4}.5" for place in (1, 2, 3))] for row in range(20)]
    assert read(delimited([["id", "Rating_1", "Rating_2", "Rating_3"], *rows])).dataset.n_raters == 3


def test_a_mark_that_is_not_numbered_like_the_labels_is_no_label():
    marks = panel(42, 60, 5, ("0", "1"))
    rows = [[f"c{row // 3}", f"u{row % 3}", *marks[row]] for row in range(60)]
    content = delimited([["post_id", "user_id", "successful", *(f"category_{n}" for n in range(1, 5))], *rows])
    assert question_of(content).mapping.across == tuple(f"category_{n}" for n in range(1, 5))


@pytest.mark.parametrize("rows_called", ["rownames", "", "Unnamed: 0"])
def test_patterns_of_annotations_are_counted_beside_row_numbers(rows_called):
    cells = [(one, other) for one in CLASSES for other in CLASSES]
    rows = [[place + 1, *pair, 2 + place] for place, pair in enumerate(cells)]
    dataset = read(delimited([[rows_called, "Husband", "Wife", "Freq"], *rows])).dataset
    assert (dataset.raters, dataset.n_cases) == (("Husband", "Wife"), sum(2 + place for place in range(9)))


def test_a_column_that_names_questions_makes_them():
    asked = {"Bias": panel(43, 20, 2, GRADES), "Type": panel(44, 20, 2, CLASSES)}
    rows = [[row, f"Ann. {place}", name, answers[row][place]]
            for row in range(20) for place in (0, 1) for name, answers in asked.items()]  # fmt: skip
    content = delimited([["art_id", "ann", "criterionID", "annotation"], *rows])
    assert names_of(content) == ["Bias", "Type"]
    dataset = read(content, question="Type").dataset
    assert (dataset.raters, dataset.classes, dataset.n_annotations) == (("Ann. 0", "Ann. 1"), CLASSES, 40)
    assert by_case(dataset)["3"] == {f"Ann. {place}": asked["Type"][3][place] for place in (0, 1)}


def test_a_column_of_questions_that_are_the_cases_makes_no_questions():
    rows = [[case, rater, answer] for case, rater, answer in crowd()]
    assert len(names_of(delimited([["question", "worker", "answer"], *rows]))) == 1


def test_rows_of_two_ids_and_an_annotation_are_not_taken_for_counts_or_raters():
    rows = [[query, 100 + 7 * query + page, int(page == 3)] for query in range(1, 30) for page in range(20)]
    with pytest.raises(InputError, match="Could not recognise the rater column"):
        read(delimited([["qid", "pid", "annotation"], *rows]))


def test_columns_of_names_and_of_numbers_without_a_header_are_asked_about():
    rows = [
        [name, label, start, start + 9]
        for name in ("Joe", "Jack", "Bill")
        for label, start in zip("ABC", (6, 29, 50), strict=True)
    ]
    with pytest.raises(InputError, match=r"Could not recognise the \w+ column"):
        read(delimited(rows))


def test_a_headerless_table_of_few_grades_has_all_its_columns_as_raters():
    dataset = read(b"2,2,3,2,2\n2,2,2,2,2\n2,NaN,2,2,1\n1,2,2,2,2\n").dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.n_annotations) == (4, 5, 19)


def test_shares_over_raters_are_asked_about_and_no_case():
    shares = ("1.0", "0.6666666666666666", "0.3333333333333333", "0.0")
    rows = [[f"h{row}", *(shares[(row * place) % 4] for place in (1, 2, 3))] for row in range(20)]
    mapping = question_of(delimited([["hash", "Frame_Errors", "Other_Errors", "Gram_Errors"], *rows])).mapping
    assert mapping.case == "hash" and len(mapping.raters) == 3
    assert {one.layout for one in mapping.instead} == {"counts"}


def test_letters_behind_questions_are_raters_and_the_question_alone_its_gold():
    answers = {name: panel(place, 20, 3, ("0", "1")) for place, name in enumerate(("has_claim", "is_new"), 45)}
    head = [f"{name}{end}" for name in answers for end in ("", "_e", "_w")]
    rows = [
        [
            f"p{row}",
            f"A title of paper {row}",
            2020 + row % 4,
            *(cell for own in answers.values() for cell in own[row]),
            "",
        ]
        for row in range(20)
    ]
    content = delimited([["id", "title", "year", *head, "comment_e"], *rows])
    dataset = read(content, question="has_claim").dataset
    assert (dataset.raters, dataset.cases[0]) == (("e", "w"), "p0")
    assert [dataset.classes[code] for code in dataset.gold] == [row[0] for row in answers["has_claim"]]


def test_the_case_is_the_column_of_ids_among_those_that_tell_rows_apart_with_the_rater():
    rows = [["x", f"m{row}", f"key {row}", place, 1 + (row * place) % 5, (10 * row + place) % 40]
            for row in range(12) for place in range(9)]  # fmt: skip
    content = delimited([["condition", "pieceID", "key", "participant", "valence", "arousal"], *rows])
    found = open_source([("t.csv", content)]).questions
    assert [(one.name, one.mapping.case, one.mapping.rater) for one in found] == [
        ("valence", "pieceID", "participant"), ("arousal", "pieceID", "participant"),
    ]  # fmt: skip


@pytest.mark.parametrize("names", ["row,c1,c2", "id,Rating_1,Rating_2,Rating_3,size"])
def test_infinite_numbers_are_no_numbers_of_rows_and_no_measures(names):
    n_others = names.count(",")
    content = f"{names}\n" + "".join(f"{1 + row},{','.join(['inf'] * n_others)}\n" for row in range(6))
    swapped = f"{names}\n" + "".join(f"inf,{','.join(str(1 + row % 3) for _ in range(n_others))}\n" for row in range(6))
    for text in (content, swapped):
        assert open_source([("t.csv", text.encode())]).questions


def test_ids_of_annotations_are_no_raters():
    rows = [[4708094 + row % 29, 23492245 + min(row, 28), "T0", CLASSES[row % 3], "NA"] for row in range(30)]
    with pytest.raises(InputError, match="Could not recognise the rater column"):
        read(delimited([["subject_ids", "classification_id", "task", "choice", "how_many"], *rows]))


def test_a_few_triples_without_a_header_are_one_row_per_annotation():
    dataset = read(b"case,rater,class\n1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n", has_header=False).dataset
    assert (dataset.n_raters, dataset.n_annotations) == (3, 5)


@pytest.mark.parametrize(
    ("raters", "after"),
    [
        (("Northern neurologist", "Southern neurologist"), "city"),
        (("Expert.1", "Expert.2", "Expert.3"), "Majority Decision"),
        (("expert A", "expert B"), "Final diagnosis"),
    ],
)
def test_columns_called_like_raters_that_share_their_classes_are_one_rater_each(raters, after):
    answers = panel(51, 20, len(raters), CLASSES)
    facts = [row[0] for row in answers] if after != "city" else ["north", "south"] * 10
    dataset = read(wide(answers, raters, after=[(after, facts)])).dataset
    assert (sorted(dataset.raters), dataset.classes) == (sorted(raters), CLASSES)
    assert (dataset.gold is None) == (after == "city")


def test_a_rater_by_number_stays_one_beside_grades_of_cases_with_one_row():
    rows = [[f"c{row}", 1 + row % 3, 1 + row % 4] for row in range(20)]
    mapping = question_of(delimited([["case", "expert", "grade"], *rows])).mapping
    assert (mapping.layout, mapping.rater, mapping.answer) == ("long", "expert", "grade")


def test_a_rater_stays_one_beside_a_class_of_the_same_name():
    mapping = question_of(delimited([["case", "rater", "class"], *([f"c{row}", "x", "x"] for row in range(6))])).mapping
    assert (mapping.layout, mapping.rater, mapping.answer) == ("long", "rater", "class")


def test_numbered_labels_are_one_rater_each_beside_other_labels_of_the_case():
    answers = panel(52, 30, 3, [str(place) for place in range(10)], noise=0.1)
    others = [(name, [row[0] for row in answers]) for name in ("clean_label", "aggregate_label")]
    rows = [[row, *(cells[row] for _, cells in others), *answers[row]] for row in range(30)]
    header = ["index", *(name for name, _ in others), "random_label1", "random_label2", "random_label3"]
    assert question_of(delimited([header, *rows])).mapping.raters == ("random_label1", "random_label2", "random_label3")


@pytest.mark.parametrize("numbered", [False, True])
def test_patterns_are_counted_in_each_group_of_cases(numbered):
    cells = [(one, other, city) for city in ("north", "south") for one in CLASSES for other in CLASSES]
    rows = [[place + 1] * numbered + [*cell, place % 4] for place, cell in enumerate(cells)]
    header = [""] * numbered + ["First.reader", "Second.reader", "Patients", "Freq"]
    dataset = read(delimited([header, *rows])).dataset
    assert (dataset.raters, dataset.n_cases) == (("First.reader", "Second.reader"), sum(row[-1] for row in rows))
    groups = dict(zip(*np.unique(dataset.case_group, return_counts=True), strict=True))
    assert groups == {city: sum(row[-1] for row in rows if city in row) for city in ("north", "south")}


def test_counts_of_every_column_are_asked_about_without_a_header_and_read_with_names_of_classes():
    rng = np.random.default_rng(53)
    rows = [np.bincount(rng.choice(5, 50 + rng.integers(-2, 3), p=share), minlength=5).tolist()
            for share in rng.dirichlet([0.2] * 5, 60)]  # fmt: skip
    names = ["plane", "car", "bird", "cat", "deer"]
    dataset = read(delimited([names, *rows])).dataset
    assert (dataset.n_cases, set(dataset.classes), dataset.n_annotations) == (60, set(names), sum(map(sum, rows)))
    asked = question_of(delimited(rows)).mapping
    assert [asked.layout, *(one.layout for one in asked.instead)] == ["counts", "wide"]


def test_a_further_column_of_adjudication_is_no_rater():
    grades = panel(54, 40, 3, ("0", "1", "2", "3"))
    content = wide(
        grades, ("grader1_grade", "grader2_grade", "grader3_grade"), "image",
        before=[("adjudicated_grade", [row[0] for row in grades])], after=[("adjudicated_gradable", [1] * 40)],
    )  # fmt: skip
    mapping = question_of(content).mapping
    assert (mapping.gold, mapping.raters) == ("adjudicated_grade", ("grader1_grade", "grader2_grade", "grader3_grade"))


def test_corners_of_boxes_are_no_raters_of_a_table_of_classes():
    classes = panel(55, 20, 3, CLASSES)
    rows = [[f"i{row}", classes[row][place], f"R{place}", *range(row, row + 4)]
            for row in range(20) for place in range(3)]  # fmt: skip
    content = delimited([["image_id", "class_name", "rad_id", "x_min", "y_min", "x_max", "y_max"], *rows])
    dataset = read(content).dataset
    assert (dataset.n_cases, dataset.raters, dataset.classes) == (20, ("R0", "R1", "R2"), CLASSES)


def test_a_mark_in_words_is_no_label_beside_labels_in_numbers_and_the_earlier_digest_is_known():
    marks = panel(56, 60, 4, ("0", "1"))
    unclear = ["True" if row % 9 == 0 else "False" for row in range(60)]
    rows = [[f"c{row // 3}", f"u{row % 3}", unclear[row], *marks[row]] for row in range(60)]
    content = delimited([["id", "rater_id", "unclear", "joy", "anger", "fear", "love"], *rows])
    question = question_of(content)
    assert question.mapping.across == ("joy", "anger", "fear", "love")
    source = open_source([("t.csv", content)])
    assert question.mapping.before is not None and "unclear" in question.mapping.before.across
    before = build_question(source, replace(question, mapping=question.mapping.before), "t")
    assert before.dataset.digest in read(content).earlier


def test_many_repeats_point_to_the_column_of_cases():
    rows = [
        [f"d{row // 20}", row % 20, f"r{place}", CLASSES[(row * place) % 3]] for row in range(60) for place in (1, 2)
    ]
    reading = read(delimited([["doc", "paragraph", "rater", "category"], *rows]))
    assert reading.report is not None
    assert any("join them into one column" in caution for caution in reading.report.warnings)
