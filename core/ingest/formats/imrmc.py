"""Files of iMRMC as annotations: scores of readers, a question for each modality.

Front matter, a line ``BEGIN DATA:``, then ``reader,case,modality,score`` per line; rows of the reader or modality
"truth" hold the truth of each case. Tables of the iMRMC package for R have these as columns.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from ...text import plural
from .delimited import read_delimited
from .questionnaire import Questionnaire
from .raw_table import RawTable
from .reader import Reader
from .source import Source

NAME, TITLE = "imrmc", "iMRMC (reader study)"
_BEGIN = re.compile(rb"^[ \t]*begin data:.*$", re.IGNORECASE | re.MULTILINE)
_FIRST_BYTES = 1 << 16
_COLUMNS = ("reader", "case", "modality", "score")
_TRUTH = "truth"


def table_of_imrmc(content: bytes) -> RawTable | None:
    """Read the rows below ``BEGIN DATA:`` with the names of their columns; None without such a line.

    Parameters
    ----------
    content : bytes
    """
    begin = _BEGIN.search(content[:_FIRST_BYTES])
    if begin is None:
        return None
    above = content[: begin.end()].count(b"\n")
    raw = read_delimited(",".join(_COLUMNS).encode() + b"\n" + content[begin.end() :].lstrip(b"\r\n"), has_header=True)
    return replace(raw, line=raw.line + above)


def recognise(columns: Sequence[str]) -> str | None:
    """Recognise the file by its columns of readers, cases, modalities and scores."""
    return "readers, cases, modalities and scores" if _named(columns) is not None else None


def _named(columns: Sequence[str]) -> Sequence[str] | None:
    """Return the columns in the order of `_COLUMNS`; None if one is missing."""
    plain = {column.strip().casefold().removesuffix("id").rstrip(" _"): column for column in columns}
    return [plain[name] for name in _COLUMNS] if plain.keys() >= set(_COLUMNS) else None


def holds(raw: RawTable) -> bool:
    """Check that some rows contain the truth."""
    reader, _, modality, _ = _named(raw.columns) or _COLUMNS
    return any(
        cell.strip().casefold() == _TRUTH
        for column in (reader, modality)
        for cell in set(raw.table[column].cast("string").to_pylist())
    )


def read(raw: RawTable) -> Source:
    """Read the scores of each modality as a question.

    Parameters
    ----------
    raw : RawTable
    """
    columns = _named(raw.columns) or _COLUMNS
    reader, case, modality, score = (
        [str(cell).strip() for cell in raw.table[column].cast("string").to_pylist()] for column in columns
    )
    asked, known = Questionnaire(("row",)), set()
    for row in range(raw.table.num_rows):
        if _TRUTH in (reader[row].casefold(), modality[row].casefold()):
            known.add(case[row])
            continue
        asked.begin(int(raw.line[row]), (row + 1,), case[row], reader[row], only=modality[row])
        asked.answer(modality[row], [[score[row]]] if score[row] else [], "score")
    cases = plural(len(known), "case")
    notes = [f"The truth of {cases} was left out, because it is a class, whereas the annotations are scores."]
    return Source(NAME, TITLE, recognise(raw.columns) or "said so", asked.questions([*raw.notes, *notes]))


METHOD = Reader(
    NAME,
    TITLE,
    "table",
    recognise,
    read,
    holds=holds,
    place=25,
    plainly="Scores from a reader study with more than one modality, in iMRMC format. Each modality becomes a "
    "question.",
    exactly="`BEGIN DATA:`, then `reader,case,modality,score`; rows with `truth` as reader or modality are the truth.",
    sources=("iMRMC, user manual, https://github.com/DIDSR/iMRMC",),
)
