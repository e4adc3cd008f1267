"""Texts and addresses of cases in the table of annotations itself, repeated in every row of a case."""

import numpy as np

from ..annotations.vocabulary import encode
from .column_mapping import Mapping
from .companion_files import CaseTable
from .formats.raw_table import RawTable

_TEXT = ("text", "sentence", "case text", "document text")
_ADDRESS = ("image", "image path", "image url", "image file", "img", "picture", "photo", "filename", "file name")


def shown_beside(raw: RawTable, mapping: Mapping) -> CaseTable | None:
    """Return facts on cases from the columns of a long table that no annotation is taken from.

    A column counts only if all rows of a case agree and some case has several rows: otherwise it may be text of a
    rater.
    """
    if mapping.layout != "long" or mapping.case is None:
        return None
    taken = {
        getattr(mapping, role) for role in ("case", "rater", "answer", "rank", "time", "group", "confidence", "gold")
    }
    free = {
        " ".join(column.casefold().replace("_", " ").split()): column for column in raw.columns if column not in taken
    }
    found = {
        role: next((free[name] for name in names if name in free), None)
        for role, names in (("text", _TEXT), ("address", _ADDRESS))
    }
    if not any(found.values()) or raw.table.num_rows == 0:
        return None
    cases = encode(raw.table[mapping.case])
    named = np.flatnonzero(cases.code >= 0)
    code, first = np.unique(cases.code[named], return_index=True)
    if len(code) == len(named):
        return None
    place = np.searchsorted(code, cases.code[named])
    parts = {}
    for role, column in found.items():
        if column is None:
            continue
        cells = encode(raw.table[column])
        of_row = cells.code[named]
        of_case = of_row[first]
        if (of_case[place] == of_row).all() and (of_case >= 0).any():
            parts[role] = tuple(cells.values[cell] if cell >= 0 else "" for cell in of_case)
    return CaseTable(tuple(cases.values[one] for one in code), **parts) if parts else None
