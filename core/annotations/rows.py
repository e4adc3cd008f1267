"""Rows of a table as one row per answer, while they are sifted."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa

from core.annotations.mapping import Mapping
from core.annotations.readers.raw import Dropped, RawTable
from core.annotations.times import to_seconds
from core.annotations.vocabulary import Coded, encode, to_numbers


@dataclass(slots=True)
class Rows:
    """Long rows while they are sifted. ``row`` is the place in the raw table, for lines."""

    case: Coded
    rater: Coded
    answer: Coded
    row: np.ndarray
    case_code: np.ndarray
    rater_code: np.ndarray
    answer_code: np.ndarray
    time: np.ndarray | None = None
    rank: np.ndarray | None = None
    dropped: list[Dropped] = field(default_factory=list)

    def keep(self, mask: np.ndarray) -> None:
        """Only the rows marked in ``mask``."""
        for name in ("row", "case_code", "rater_code", "answer_code", "time", "rank"):
            array = getattr(self, name)
            if array is not None:
                setattr(self, name, array[mask])


def long_rows(raw: RawTable, mapping: Mapping) -> tuple[Rows, dict[str, int]]:
    """Rows of a long table, and its missing answers by token."""
    case, answer = encode(raw.table[mapping.case]), encode(raw.table[mapping.answer])
    if mapping.rater is not None:
        rater = encode(raw.table[mapping.rater])
    else:
        number = _number_within(case.code)
        places = tuple(f"answer {place}" for place in range(1, int(number.max(initial=0)) + 2))
        rater = Coded(number.astype(np.int32), places, {})
    rows = Rows(case, rater, answer, np.arange(case.code.size), case.code, rater.code, answer.code)
    if mapping.time is not None:
        rows.time = to_seconds(raw.table[mapping.time])
    drop(rows, raw, rows.case_code < 0, "no case")
    drop(rows, raw, rows.rater_code < 0, "no rater")
    tokens = raw.table[mapping.answer]
    for row in rows.row[rows.answer_code < 0]:
        token = tokens[int(row)].as_py().strip()
        rows.dropped.append(Dropped(int(raw.line[row]), f"no answer ({token!r})" if token else "no answer"))
    rows.keep(rows.answer_code >= 0)
    if mapping.rank is not None:
        ranks = encode(raw.table[mapping.rank])
        rows.rank = np.append(to_numbers(ranks.values, decimal_comma=raw.decimal_comma), np.nan)[ranks.code][rows.row]
        drop(rows, raw, ~np.isfinite(rows.rank), "the rank is not a number")
    return rows, answer.missing


def wide_rows(raw: RawTable, mapping: Mapping) -> tuple[Rows, dict[str, int]]:
    """Rows of a table with a column per rater, and its missing answers by token."""
    n_rows = raw.table.num_rows
    if mapping.case is not None:
        case = encode(raw.table[mapping.case])
    else:
        case = Coded(np.arange(n_rows, dtype=np.int32), tuple(str(row) for row in range(1, n_rows + 1)), {})
    answer = encode(pa.chunked_array([chunk for column in mapping.raters for chunk in raw.table[column].chunks]))
    raters = encode(pa.chunked_array([pa.array(mapping.raters)]))
    row = np.tile(np.arange(n_rows), len(mapping.raters))
    rows = Rows(case, raters, answer, row, case.code[row], np.repeat(raters.code, n_rows), answer.code)
    no_case = np.flatnonzero(case.code < 0)
    answered = np.zeros(n_rows, bool)
    answered[rows.row[rows.answer_code >= 0]] = True
    empty = np.flatnonzero((case.code >= 0) & ~answered)
    rows.dropped += [Dropped(int(raw.line[place]), "no case") for place in no_case]
    rows.dropped += [Dropped(int(raw.line[place]), "no rater answered") for place in empty]
    rows.keep((rows.answer_code >= 0) & (rows.case_code >= 0))
    return rows, answer.missing


def drop(rows: Rows, raw: RawTable, bad: np.ndarray, reason: str) -> None:
    """Take rows out with a reason. A row of a wide table goes only when its last answer goes."""
    if not bad.any():
        return
    leaving, staying = np.unique(rows.row[bad]), rows.row[~bad]
    gone = leaving[~np.isin(leaving, staying)]
    rows.dropped += [Dropped(int(raw.line[row]), reason) for row in gone]
    rows.keep(~bad)


def _number_within(code: np.ndarray) -> np.ndarray:
    return pd.Series(code).groupby(code).cumcount().to_numpy()
