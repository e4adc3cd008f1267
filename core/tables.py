"""Tables as files: numbers as numbers, text safe to open in a spreadsheet."""

import io
import re
from collections import Counter

import pandas as pd

from core.errors import LimitError
from core.text import spreadsheet

MOST_ROWS_XLSX = 1_048_575
_LONGEST_CELL = 32_767
_NO_XLSX = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def to_csv(table: pd.DataFrame) -> bytes:
    """CSV in UTF-8 with a byte order mark, so that spreadsheet programs read letters with accents right."""
    safe = _safe(table)
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")


def to_xlsx(table: pd.DataFrame) -> bytes:
    """An Excel workbook of one sheet.

    Characters that the format cannot hold are left out, and a text of more than 32,767 of them is cut there.

    Raises
    ------
    LimitError
        More rows than a sheet can hold.
    """
    from openpyxl import Workbook

    if len(table) > MOST_ROWS_XLSX:
        raise LimitError(f"A sheet holds {MOST_ROWS_XLSX:,} rows, the table has {len(table):,}. Take CSV or Parquet.")
    book = Workbook(write_only=True)
    sheet = book.create_sheet("table")
    safe = _safe(table)
    sheet.append([_cell(name) for name in safe.columns])
    for row in safe.astype(object).itertuples(index=False, name=None):
        sheet.append([_cell(value) for value in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def to_parquet(table: pd.DataFrame) -> bytes:
    """Parquet with text as it is; a name that comes twice is numbered, as the format needs."""
    seen: Counter[str] = Counter()
    names = []
    for name in map(str, table.columns):
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    content = io.BytesIO()
    table.set_axis(names, axis=1).to_parquet(content, index=False)
    return content.getvalue()


def _safe(table: pd.DataFrame) -> pd.DataFrame:
    # By place and not by name: a class may bear the name of another column.
    columns = [table.iloc[:, place] for place in range(table.shape[1])]
    safe = pd.concat([c if pd.api.types.is_numeric_dtype(c) else c.map(spreadsheet) for c in columns], axis=1)
    safe.columns = [spreadsheet(name) for name in table.columns]
    return safe


def _cell(value: object) -> object:
    if isinstance(value, str):
        return _NO_XLSX.sub("", value)[:_LONGEST_CELL]
    if value is None or value is pd.NaT or value != value or value in (float("inf"), float("-inf")):
        return None
    return value.item() if hasattr(value, "item") else value
