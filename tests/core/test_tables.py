"""Tables as files hold what they were given, and run nothing when they are opened."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook
from pyarrow import parquet

from core import tables
from core.errors import LimitError
from core.ingest.read_files import read

TABLE = pd.DataFrame(
    {"case": ["=1+1", "b\x07c", "é"], "ci_low": [0.25, np.nan, np.inf], "n": [1, 2, 3], "open": [True, False, None]}
)


def sheet_of(content: bytes) -> list[tuple]:
    """The cells of a workbook."""
    return list(load_workbook(io.BytesIO(content)).active.iter_rows(values_only=True))


def test_a_workbook_holds_numbers_as_numbers_and_formulas_as_text():
    rows = sheet_of(tables.to_xlsx(TABLE))
    assert rows[0] == ("case", "ci_low", "n", "open")
    assert rows[1] == ("'=1+1", 0.25, 1, True)
    assert rows[2] == ("bc", None, 2, False)
    assert rows[3] == ("é", None, 3, None)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, None])
def test_what_is_no_number_leaves_its_cell_of_a_workbook_empty(value):
    found = sheet_of(tables.to_xlsx(pd.DataFrame({"x": [1.5, value], "n": [1, 2]})))
    assert found == [("x", "n"), (1.5, 1), (None, 2)]


SETTINGS = {"data": "=skin", "seed": 3, "reliabilities": [1.0, 2.5], "select": "", "model": None, "name": "Zoë"}


def test_a_workbook_has_its_settings_on_a_second_sheet():
    book = load_workbook(io.BytesIO(tables.to_xlsx(TABLE, SETTINGS)))
    assert book.sheetnames == ["table", "Settings"]
    rows = list(book["Settings"].iter_rows(values_only=True))
    assert rows[0] == ("setting", "value")
    assert ("data", "'=skin") in rows and ("seed", 3) in rows and ("reliabilities", "[1.0, 2.5]") in rows
    assert len(rows) == len(SETTINGS) + 1


def test_parquet_has_its_settings_in_the_metadata_and_the_same_table():
    plain, told = tables.to_parquet(TABLE), tables.to_parquet(TABLE, SETTINGS)
    schema = parquet.read_schema(io.BytesIO(told))
    assert json.loads(schema.metadata[tables.SETTINGS_KEY]) == SETTINGS
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(told)), pd.read_parquet(io.BytesIO(plain)))


def test_settings_beside_csv_are_json():
    assert json.loads(tables.to_json(SETTINGS)) == SETTINGS


def test_a_table_with_its_settings_is_read_as_the_table_alone():
    frame = pd.DataFrame({"case": ["1", "1"], "rater": ["a", "b"], "class": ["x", "y"]})
    assert read(tables.to_xlsx(frame, SETTINGS)).dataset.digest == read(tables.to_csv(frame)).dataset.digest
    assert read(tables.to_parquet(frame, SETTINGS)).dataset.digest == read(tables.to_csv(frame)).dataset.digest


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_any_text_can_stand_in_a_workbook_and_none_is_a_formula(texts):
    found = load_workbook(io.BytesIO(tables.to_xlsx(pd.DataFrame({"x": texts})))).active
    for row in found.iter_rows():
        assert row[0].data_type in ("s", "n", "inlineStr")


def test_a_sheet_that_cannot_hold_all_rows_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "MOST_ROWS_XLSX", 2)
    with pytest.raises(LimitError, match="has 3"):
        tables.to_xlsx(TABLE)


def test_parquet_brings_the_table_back_and_numbers_names_that_come_twice():
    twice = pd.DataFrame([["a", 0.5], ["=b", 0.25]], columns=["case", "case"])
    back = pd.read_parquet(io.BytesIO(tables.to_parquet(twice)))
    assert list(back.columns) == ["case", "case (2)"]
    assert back.to_numpy().tolist() == [["a", 0.5], ["=b", 0.25]]


def test_all_three_formats_hold_every_value_in_its_own_row_and_column():
    """Numbers to the last bit, also very small and very large ones, in Excel to 16 digits; the unknown stays empty."""
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal(40) * 10.0 ** rng.integers(-300, 300, 40)
    frame = pd.DataFrame(
        {
            "case": [f"case {place}" for place in rng.permutation(40)],
            "value": numbers,
            "share": np.where(np.arange(40) % 7 == 3, np.nan, rng.random(40)),
            "n": rng.integers(-5, 2**53, 40),
            "low": np.arange(40)[::-1] / 3,
            "open": rng.random(40) < 0.5,
        }
    )
    header, *cells = sheet_of(tables.to_xlsx(frame))
    for bits, found in (
        (
            0,
            pd.read_csv(io.BytesIO(tables.to_csv(frame)), dtype=str).assign(open=lambda table: table["open"] == "True"),
        ),
        (5e-16, pd.DataFrame(cells, columns=header)),
        (0, pd.read_parquet(io.BytesIO(tables.to_parquet(frame)))),
    ):
        assert list(found.columns) == list(frame.columns) and len(found) == 40
        assert list(found["case"]) == list(frame["case"]) and list(found["open"]) == list(frame["open"])
        for name in ("value", "share", "n", "low"):
            np.testing.assert_allclose(found[name].to_numpy(float), frame[name].to_numpy(float), rtol=bits, atol=0)


def test_the_index_of_a_table_is_not_a_column_and_does_not_order_its_rows():
    frame = pd.DataFrame({"rater": ["a", "b", "c"], "n": [3, 1, 2]}, index=[2, 0, 1])
    header, *cells = sheet_of(tables.to_xlsx(frame))
    assert (header, cells) == (("rater", "n"), [("a", 3), ("b", 1), ("c", 2)])
    assert tables.to_csv(frame).decode("utf-8-sig") == "rater,n\r\na,3\r\nb,1\r\nc,2\r\n"
    back = pd.read_parquet(io.BytesIO(tables.to_parquet(frame)))
    assert back.to_numpy().tolist() == [["a", 3], ["b", 1], ["c", 2]]


def test_a_text_as_long_as_a_cell_can_hold_stays_whole_and_a_longer_one_is_cut_there():
    rows = sheet_of(tables.to_xlsx(pd.DataFrame({"x": ["a" * 32_767, "b" * 32_768]})))
    assert [len(row[0]) for row in rows[1:]] == [32_767, 32_767]


def test_a_sheet_that_can_just_hold_all_rows_is_written(monkeypatch):
    monkeypatch.setattr(tables, "MOST_ROWS_XLSX", 3)
    assert len(sheet_of(tables.to_xlsx(TABLE))) == 4


def test_a_column_is_named_by_text_that_no_program_runs():
    frame = pd.DataFrame([["a", 0.5, 0.25]], columns=["case", "=1+1", "@class"])
    assert tables.to_csv(frame).decode("utf-8-sig") == "case,'=1+1,'@class\r\na,0.5,0.25\r\n"
    assert sheet_of(tables.to_xlsx(frame)) == [("case", "'=1+1", "'@class"), ("a", 0.5, 0.25)]
