"""Excel workbooks: sheets, values, titles, and what is broken."""

import datetime
import io

import openpyxl
import pytest

from core.errors import InputError
from core.ingest.formats.detect import open_source
from core.ingest.formats.tables import open_table
from core.ingest.read_files import read
from tests.core.ingest.as_read import answers, reasons


def workbook(**sheets) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


LONG = [["case", "rater", "class"], [1, "ann", "x"], [1, "bob", "y"], [2.0, "ann", True]]


def test_numbers_text_and_truth_values_are_text():
    reading = read(workbook(answers=LONG))
    assert answers(reading.dataset) == [("1", "ann", "x"), ("1", "bob", "y"), ("2", "ann", "true")]


def test_a_title_above_the_table_and_empty_rows_are_passed_over():
    rows = [["Our study"], [], *LONG[:2], [None, None], *LONG[2:], ["case", "rater", "class"]]
    reading = read(workbook(answers=rows))
    assert reading.report.n_kept == 3
    assert reasons(reading) == [(8, "a repeated header")]
    assert "1 row above the table was left out." in reading.report.notes


def test_a_sheet_of_settings_is_passed_over_where_it_is_one_that_was_exported_here():
    """Somebody's own table may be called so."""
    exported = workbook(answers=LONG, Settings=[["setting", "value"], ["seed", 7]])
    assert [question.name for question in open_source([("a.xlsx", exported)]).questions] == ["answers"]
    assert read(workbook(Settings=LONG)).report.n_kept == 3


def test_dates_are_dates():
    rows = [
        ["case", "rater", "class", "date"],
        [1, "a", "x", datetime.datetime(2024, 1, 2)],
        [1, "b", "x", datetime.date(2024, 1, 3)],
    ]
    assert read(workbook(s=rows)).dataset.time.tolist() == [1704153600, 1704240000]


def test_of_several_sheets_the_user_chooses():
    content = workbook(first=LONG, notes=[["just words"]], second=[["case", "Ann", "Bob"], [1, "x", "y"]])
    assert [question.name for question in open_source([("a.xlsx", content)]).questions] == ["first", "second"]
    with pytest.raises(InputError, match="'first', 'second'"):
        read(content)
    second = read(content, question="second")
    assert second.dataset.raters == ("Ann", "Bob")
    assert "Sheet 'notes': it has only one column, so it was left out." in second.report.notes
    assert [one.raw.sheet for one in open_source([("a.xlsx", content)]).questions] == ["first", "second"]
    assert open_source([("a.xlsx", workbook(first=LONG))]).questions[0].raw.sheet == ""
    assert any("first of 2 sheets" in note for note in open_table(content).notes)


def test_a_sheet_of_classes_is_a_side_file():
    content = workbook(answers=LONG, classes=[["class", "risk"], ["y", "high"], ["x", "low"], ["true", ""]])
    dataset = read(content).dataset
    assert dataset.classes == ("y", "x", "true")
    assert dataset.class_risk.tolist() == [2, 0, -1]


def test_a_workbook_without_a_table_is_refused_by_sheet():
    with pytest.raises(InputError, match="Sheet 'a': it has only one column"):
        read(workbook(a=[["x"], ["y"]]))
    with pytest.raises(InputError, match="a header but no rows"):
        read(workbook(a=LONG[:1]))


def test_a_broken_workbook_is_refused():
    content = workbook(a=LONG)
    for broken in (content[:-40], content[:200] + b"\xff" * 400 + content[600:]):
        with pytest.raises(InputError) as caught:
            read(broken)
        assert caught.value.remedy


def test_cells_merged_down_a_column_hold_their_value_in_every_row():
    """All but the first of merged cells are empty in the file: half of the annotations had no case."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (("A study", None, None), ("case", "rater", "class")):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    for case in ("c1", "c2"):
        sheet.append((case, "ann", "x"))
        sheet.append((None, "bob", "y"))
        sheet.merge_cells(start_row=sheet.max_row - 1, end_row=sheet.max_row, start_column=1, end_column=1)
    sink = io.BytesIO()
    book.save(sink)
    reading = read(sink.getvalue())
    assert sorted(answers(reading.dataset)) == sorted(
        (case, rater, name) for case in ("c1", "c2") for rater, name in (("ann", "x"), ("bob", "y"))
    )
    assert "2 merged cells were filled with the value above." in reading.report.notes
