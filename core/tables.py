"""Tables as files: numbers as numbers, text safe to open in a spreadsheet."""

import pandas as pd

from core.text import spreadsheet


def to_csv(table: pd.DataFrame) -> bytes:
    """CSV in UTF-8 with a byte order mark, so that spreadsheet programs read letters with accents right."""
    safe = table.rename(columns=spreadsheet)
    for column in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[column]):
            safe[column] = safe[column].map(spreadsheet)
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")
