"""Tables as files: numbers as numbers, text safe to open in a spreadsheet."""

import io
import json
import re
from collections import Counter
from typing import TYPE_CHECKING

from .errors import LimitError
from .text import spreadsheet

if TYPE_CHECKING:
    import pandas as pd

SETTINGS_SHEET = "Settings"
SETTINGS_HEADER = ("setting", "value")
SETTINGS_KEY = b"plurality"
MOST_ROWS_XLSX = 1_048_575
_LONGEST_CELL = 32_767
_NO_XLSX = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def to_csv(table: "pd.DataFrame") -> bytes:
    """Return CSV in UTF-8 with a byte order mark, so that spreadsheet programs read accented letters correctly."""
    return to_csv_text(table, "\r\n").encode("utf-8-sig")


def to_csv_text(table: "pd.DataFrame", line_end: str = "\n") -> str:
    """Return CSV as text, for a terminal or a pipe."""
    return _safe(table).to_csv(index=False, lineterminator=line_end)


def to_json(settings: dict) -> bytes:
    """Return settings as JSON, for a table in a format that has no place for them, such as CSV."""
    return json.dumps(settings, ensure_ascii=False, indent=1).encode()


def to_json_lines(table: "pd.DataFrame") -> bytes:
    """Return JSON Lines, one object per row, which Hugging Face's `datasets` reads; missing values are null."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def to_xlsx(table: "pd.DataFrame", settings: dict | None = None) -> bytes:
    """Return an Excel workbook of the table and, on a second sheet, the settings it came from.

    Characters that the format does not allow are left out, and a text of more than 32,767 of them is cut there.

    Raises
    ------
    LimitError
        The table has more rows than a sheet allows.
    """
    from openpyxl import Workbook

    if len(table) > MOST_ROWS_XLSX:
        raise LimitError(
            f"Could not write the Excel file: the table has {len(table):,} rows, and a sheet can have at most "
            f"{MOST_ROWS_XLSX:,}. Use CSV or Parquet."
        )
    book = Workbook(write_only=True)
    sheet = book.create_sheet("table")
    safe = _safe(table)
    sheet.append([_cell(name) for name in safe.columns])
    for row in safe.astype(object).itertuples(index=False, name=None):
        sheet.append([_cell(value) for value in row])
    if settings is not None:
        sheet = book.create_sheet(SETTINGS_SHEET)
        for row in (SETTINGS_HEADER, *settings.items()):
            sheet.append([_cell(spreadsheet(_plain(value))) for value in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def to_parquet(table: "pd.DataFrame", settings: dict | None = None) -> bytes:
    """Return Parquet with text as it is; a repeated name is numbered, as the format requires.

    Settings are JSON under the key `SETTINGS_KEY` of the schema's metadata.
    """
    import pyarrow as pa
    from pyarrow import parquet

    seen: Counter[str] = Counter()
    names = []
    for name in map(str, table.columns):
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    arrow = pa.Table.from_pandas(table.set_axis(names, axis=1), preserve_index=False)
    if settings is not None:
        arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), SETTINGS_KEY: to_json(settings)})
    content = io.BytesIO()
    parquet.write_table(arrow, content)
    return content.getvalue()


def _plain(value: object) -> object:
    """Return a setting as one cell, with nested values as JSON."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return json.dumps(value, ensure_ascii=False)


def _safe(table: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    # By position and not by name, because a class may have the name of another column.
    if not table.shape[1]:
        return table
    columns = [table.iloc[:, place] for place in range(table.shape[1])]
    safe = pd.concat([c if pd.api.types.is_numeric_dtype(c) else c.map(_text) for c in columns], axis=1)
    safe.columns = [spreadsheet(name) for name in table.columns]
    return safe


def _text(value: object) -> object:
    """Write a value as text that a spreadsheet does not run as a formula; a list as JSON."""
    return spreadsheet(_plain(value) if isinstance(value, list) else value)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return _NO_XLSX.sub("", value)[:_LONGEST_CELL]
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    return value.item() if hasattr(value, "item") else value
