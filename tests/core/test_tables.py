"""Tables as files hold what they were given, and run nothing when they are opened."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from core import tables
from core.errors import LimitError

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
