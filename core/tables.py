"""Tables as files: numbers as numbers, text safe to open in a spreadsheet."""

import pandas as pd

from core.text import spreadsheet


def to_csv(table: pd.DataFrame) -> bytes:
    """CSV in UTF-8 with a byte order mark, so that spreadsheet programs read letters with accents right."""
    # By place and not by name: a class may bear the name of another column.
    columns = [table.iloc[:, place] for place in range(table.shape[1])]
    safe = pd.concat([c if pd.api.types.is_numeric_dtype(c) else c.map(spreadsheet) for c in columns], axis=1)
    safe.columns = [spreadsheet(name) for name in table.columns]
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")
