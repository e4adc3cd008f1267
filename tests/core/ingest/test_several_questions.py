"""Several questions of one upload: which go together, and that each is read as if it were alone."""

import io
import json
import re
from dataclasses import replace

import openpyxl
import pytest

from core.command_line import main
from core.ingest.answer_rules import Treatment
from core.ingest.formats.detect import open_source
from core.ingest.read_files import build_question, read
from core.ingest.several_questions import columns_of_others, joint_questions, other_questions, read_questions
from core.runtime.encoding import from_bytes, to_bytes
from core.runtime.workers import NO_DATA

from .made_tables import delimited, panel

CLASSES = {"birads": ("B2", "B3", "B4"), "density": ("a", "b", "c", "d"), "finding": ("mass", "none")}


def three_questions(code: str = "") -> bytes:
    """A row per annotation with three questions, the first answer of the second one replaced by a code."""
    answers = {name: panel(place, 20, 3, classes) for place, (name, classes) in enumerate(CLASSES.items())}
    if code:
        answers["density"][0][0] = code
    rows = [[f"c{row}", f"r{place}", *(answers[name][row][place] for name in CLASSES)]
            for row in range(20) for place in range(3)]  # fmt: skip
    return delimited([["case", "reader", *CLASSES], *rows])


def rounds() -> bytes:
    """Columns of two rounds and two doctors under two header rows: all columns may be raters as well."""
    answers = panel(4, 20, 4, ("x", "y", "z"))
    head = [["", "Round 1", "", "Round 2", ""], ["case", "Dr A", "Dr B", "Dr A", "Dr B"]]
    return delimited([*head, *([f"c{row}", *answers[row]] for row in range(20))])


def wide_questions(columns: tuple[str, ...], *, same_values: bool = False) -> bytes:
    """One column for each of two raters and two questions: the names of the second question have two more letters."""
    second = CLASSES["finding"] if same_values else ("1", "2", "3", "4")
    answers = panel(5, 20, 2, CLASSES["finding"]), panel(6, 20, 2, second)
    rows = [[f"c{row}", *(answers[asked][row][rater] for rater in (0, 1) for asked in (0, 1))] for row in range(20)]
    return delimited([["case", *columns], *rows])


def source_of(content: bytes):
    return open_source([("t.csv", content)])


def test_read_questions_gives_each_the_digest_that_it_has_alone():
    content = three_questions()
    source = source_of(content)
    others = other_questions(source, source.questions[0], source.questions[0].mapping)
    found = read_questions(source, others, "breast")
    assert [one.name for one in found] == ["density", "finding"]
    for one in found:
        assert one.reading.dataset.digest == read(content, question=one.name).dataset.digest
        assert one.reading.dataset.name == f"breast · {one.name}"


def test_joint_questions_leave_out_a_reading_that_takes_the_columns_of_others_as_one():
    source = source_of(rounds())
    assert [one.name for one in source.questions] == ["all columns", "Round 1", "Round 2"]
    assert [one.name for one in joint_questions(source)] == ["Round 1", "Round 2"]
    assert other_questions(source, source.questions[0], source.questions[0].mapping) == ()


@pytest.mark.parametrize("content", [three_questions(), rounds()])
def test_questions_of_one_table_are_known_as_such_if_another_process_read_them(content):
    source = source_of(content)
    returned = from_bytes(to_bytes(source, NO_DATA, compress=False), NO_DATA)
    assert len({id(question.raw.table) for question in returned.questions}) == 1
    for place, question in enumerate(source.questions):
        assert columns_of_others(returned, returned.questions[place]) == columns_of_others(source, question) != {}
    assert [one.name for one in joint_questions(returned)] == [one.name for one in joint_questions(source)]


def test_other_questions_take_the_columns_of_cases_and_raters_that_were_chosen():
    source = source_of(three_questions())
    shown = source.questions[0]
    mapping = source.questions[0].mapping
    chosen = replace(mapping, rater="finding")
    (left,) = other_questions(source, shown, chosen)
    assert (left.name, left.mapping.rater, left.mapping.answer) == ("density", "finding", "density")


def test_read_questions_tells_codes_of_each_question_until_they_are_decided():
    source = source_of(three_questions("-9"))
    others = other_questions(source, source.questions[0], source.questions[0].mapping)
    density = read_questions(source, others, "t")[0].reading
    assert density.report.codes == {"-9": 1}
    decided = read_questions(source, others, "t", Treatment(missing=frozenset(["-9"])))[0].reading
    assert (decided.report.codes, decided.dataset.n_annotations) == ({}, 59)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(three_questions())
    return str(path)


def answer_of(capsys, *arguments):
    assert main([*arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_question_all_gives_the_answers_of_a_command_to_each_question(file, capsys):
    found = answer_of(capsys, "agreement", file, "--question", "all")["questions"]
    assert list(found) == list(CLASSES)
    alone = answer_of(capsys, "agreement", file, "--question", "density")
    assert found["density"]["coefficients"] == alone["coefficients"]
    assert main(["agreement", file, "--question", "all", "--csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].endswith(",question") and {row.rsplit(",", 1)[1] for row in rows[1:]} == set(CLASSES)


def test_question_all_says_which_question_a_command_cannot_answer(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_bytes(three_questions("-9"))
    assert main(["agreement", str(path), "--question", "all"]) == 0
    out = capsys.readouterr()
    assert "codes for missing" in json.loads(out.out)["questions"]["density"]["error"]
    assert "density: The data may contain codes for missing annotations: '-9'" in out.err


@pytest.mark.parametrize("more", [["--class", "density"], ["--out", "merged.csv"]])
def test_question_all_refuses_what_is_of_one_question(more, file, capsys):
    assert main(["guideline", file, "--question", "all", *more]) == 2
    assert more[0] in capsys.readouterr().err


def test_questions_gives_agreement_and_flagged_raters_of_each_as_their_own_commands_do(file, capsys):
    rows = answer_of(capsys, "questions", file)["rows"]
    assert [row["question"] for row in rows] == list(CLASSES)
    for row in rows:
        quoted = answer_of(capsys, "agreement", file, "--question", row["question"])["quote"]["coefficient"]
        raters = answer_of(capsys, "raters", file, "--question", row["question"])
        assert (row["agreement"], row["ci_low"]) == (quoted["value"], quoted["ci_low"])
        assert row["n_flagged"] == (None if raters["why_not"] else len(raters["flagged"]))


def test_a_report_of_all_questions_compares_them_and_has_the_sections_of_each(file, tmp_path, capsys):
    out = tmp_path / "all.html"
    more = ["--question", "all", "--sections", "agreement,data"]
    assert answer_of(capsys, "report", file, "--out", str(out), *more)["questions"] == list(CLASSES)
    titles = re.findall(r"<h2[^>]*>([^<]*)", out.read_text(encoding="utf-8"))
    assert titles[:2] == ["How do the questions in this upload compare?", "birads: Summary"]
    assert [title for title in titles if "agree?" in title] == [f"{name}: Do the raters agree?" for name in CLASSES]
    ids = re.findall(r'<section id="([^"]*)"', out.read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids)) == 8
    assert answer_of(capsys, "report", file, "--out", str(out), "--question", "density", "--sections", "data")
    assert "How do the questions in this upload compare?" not in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("columns", "raters", "questions"),
    [
        (("r1_benign", "r1_size", "r2_benign", "r2_size"), ("r1", "r2"), ["benign", "size"]),
        (("benign-ann", "size-ann", "benign-bob", "size-bob"), ("ann", "bob"), ["benign", "size"]),
        (("benign1", "size1", "benign2", "size2"), ("1", "2"), ["benign", "size"]),
        (("Reader 1 shape", "Reader 1 size", "Reader 2 shape", "Reader 2 size"), ("Reader 1", "Reader 2"), None),
        (("AnnShape", "AnnSize", "BobShape", "BobSize"), ("Ann", "Bob"), ["Shape", "Size"]),
        (("q1_ann", "q2_ann", "q1_bob", "q2_bob"), ("ann", "bob"), ["q1", "q2"]),
        (("ann.q1", "ann.q2", "bob.q1", "bob.q2"), ("ann", "bob"), ["q1", "q2"]),
        (("left", "first", "right", "second"), None, ["left, right", "first, second"]),
    ],
)
def test_questions_of_a_wide_table_name_each_rater_alike(columns, raters, questions):
    content = wide_questions(columns)
    names = [one.name for one in source_of(content).questions]
    assert names == (questions or ["shape", "size"])
    for place, name in enumerate(names):
        reading = read(content, question=name)
        assert reading.dataset.raters == (raters or (columns[place], columns[place + 2]))
        assert len(reading.dataset.classes) == 2 * (place + 1)


def test_questions_of_a_wide_table_know_the_digest_with_columns_for_names_of_raters():
    content = wide_questions(("r1_benign", "r1_size", "r2_benign", "r2_size"))
    source = source_of(content)
    by_column = replace(source.questions[1], mapping=replace(source.questions[1].mapping, rater_names=()))
    before = build_question(source, by_column, "t").dataset
    assert before.raters == ("r1_size", "r2_size")
    assert before.digest in read(content, question="size").earlier


def test_questions_whose_raters_may_be_either_part_of_the_names_are_asked_about():
    source = source_of(wide_questions(("ann_left", "ann_right", "bob_left", "bob_right"), same_values=True))
    assert [one.name for one in source.questions] == ["all columns", "left", "right", "ann", "bob"]
    assert [one.name for one in joint_questions(source)] == ["left", "right"]


def test_an_ai_rater_of_several_questions_is_marked_by_its_own_name():
    found = panel(7, 20, 3, CLASSES["finding"]), panel(8, 20, 3, CLASSES["birads"])
    header = ["case", *(f"{rater} {asked}" for asked in ("shape", "birads") for rater in ("ann", "bob", "AI"))]
    content = delimited([header, *([f"c{row}", *found[0][row], *found[1][row]] for row in range(20))])
    reading = read(content, question="birads")
    assert reading.dataset.raters == ("AI", "ann", "bob")
    assert [name for name, *_ in reading.machines] == ["AI"]


def test_two_columns_of_gold_with_values_of_their_own_are_no_raters():
    found = panel(9, 20, 4, CLASSES["finding"]), panel(10, 20, 2, CLASSES["birads"])
    header = ["case", "ann", "bob", "cem", "dan", "gold_a", "gold_b"]
    content = delimited([header, *([f"c{row}", *found[0][row], *found[1][row]] for row in range(20))])
    first, *_ = source_of(content).questions
    assert first.mapping.raters == ("ann", "bob", "cem", "dan")


@pytest.mark.parametrize(
    "columns",
    [
        ("r1_shape", "r2_shape", "gold_shape", "r1_size", "r2_size", "gold_size"),
        ("r1_shape", "r2_shape", "shape_consensus", "r1_size", "r2_size", "size_consensus"),
        ("shape r1", "shape r2", "consensus shape", "size r1", "size r2", "consensus size"),
    ],
)
@pytest.mark.parametrize("classes", [CLASSES["finding"], CLASSES["birads"]])
def test_each_question_of_a_wide_table_has_its_own_gold(columns, classes):
    asked = panel(9, 20, 3, CLASSES["finding"]), panel(10, 20, 3, classes)
    content = delimited([["case", *columns], *([f"c{row}", *asked[0][row], *asked[1][row]] for row in range(20))])
    for place, name in enumerate(("shape", "size")):
        dataset = read(content, question=name).dataset
        assert dataset.raters == ("r1", "r2")
        gold = [dataset.classes[code] for code in dataset.gold]
        assert gold == [row[2] for row in asked[place]]


@pytest.mark.parametrize("rater", ["rater", "Arzt"])
def test_dates_and_confidence_are_no_questions(rater):
    grades, sure = panel(1, 40, 3, "01234"), panel(2, 40, 3, "12345")
    rows = [[f"c{case}", "abc"[who], f"{case % 9 + 1:02d}.03.2024", grades[case][who], sure[case][who]]
            for case in range(40) for who in range(3)]  # fmt: skip
    (question,) = source_of(delimited([["Fall-Nr", rater, "Datum", "Befund", "Sicherheit"], *rows])).questions
    assert (question.mapping.rater, question.mapping.answer) == (rater, "Befund")


def batch(head: str, first: int, classes: str = "xyz", more: str = "") -> bytes:
    """Three raters of 20 cases from a number on."""
    rows = (f"c{case},{rater},{classes[case * place % 3]}{more}\n" for case in range(first, first + 20)
            for place, rater in enumerate(("ann", "bob", "cid"), 1))  # fmt: skip
    return f"{head}\n{''.join(rows)}".encode()


@pytest.mark.parametrize("later", [
    batch("case,reader,label,comment", 20, more=",ok"), batch("item,rater,class", 20),
    batch("Fallnummer,reader,label", 20),
])  # fmt: skip
def test_a_later_batch_with_other_names_or_more_columns_is_part_of_the_same_table(later):
    source = open_source([("a.csv", batch("case,reader,label", 0)), ("b.csv", later)])
    (question,) = source.questions
    dataset = build_question(source, question, "both").dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.n_annotations) == (40, 3, 120) and not source.parts


@pytest.mark.parametrize("later", [
    batch("case,reader,label,comment", 0, more=",ok"), batch("case,reader,label,comment", 20, "uvw", ",ok"),
    batch("case,reader,shape", 20),
])  # fmt: skip
def test_files_that_may_be_parts_or_different_questions_are_offered_as_both(later):
    source = open_source([("a.csv", batch("case,reader,label", 0)), ("b.csv", later)])
    assert len(source.questions) == 2
    assert [one.raw.table.num_rows for one in source.parts] == [120]


@pytest.mark.parametrize("head", ["Fall-Nr,Befund", "case,label"])
def test_sheets_of_raters_are_read_by_their_names_also_next_to_another_table(head):
    sheets = [(name, f"{head}\n" + "".join(f"c{case},{case * place % 3}\n" for case in range(20)))
              for place, name in enumerate(("Dr. Müller", "A. Weber", "J.Klein"), 1)]  # fmt: skip
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, text in sheets:
        sheet = book.create_sheet(name)
        for line in text.splitlines():
            sheet.append(line.split(","))
    stored = io.BytesIO()
    book.save(stored)
    raters = {"Dr. Müller", "A. Weber", "J.Klein"}
    assert {*read(stored.getvalue()).dataset.raters} == raters
    rows = "".join(f"c{case},{who},{case % 3}\n" for case in range(15, 30) for who in ("ann", "bob"))
    case, answer = head.split(",")
    source = open_source([("a.xlsx", stored.getvalue()), ("b.csv", f"{case},who,{answer}\n{rows}".encode())])
    whole = (source.parts or source.questions)[0]
    assert {*build_question(source, whole, "both").dataset.raters} == raters | {"ann", "bob"}
