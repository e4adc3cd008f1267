"""REDCap, CSV of a project with double data entry: ``7--1`` and ``7--2`` are one record, entered by two people."""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from ...annotations.columns import as_numpy, of_numpy
from ...annotations.vocabulary import one_dictionary
from .questionnaire import Questionnaire
from .raw_table import RawTable
from .reader import Reader
from .source import Source

NAME, TITLE = "redcap", "REDCap (double data entry CSV)"
_ENTRY = re.compile(r"(.+)--([12])")
# Fields that REDCap adds to those of the project.
_OWN = re.compile(r"redcap_.*|.*_complete|.*_timestamp")


def recognise(columns: Sequence[str]) -> str | None:
    """Recognise a first column of records and others; `holds` tests for double entries."""
    return "records with --1 and --2" if len(columns) > 1 else None


def holds(raw: RawTable) -> bool:
    """Return whether the records of the first column are entered twice: most end in --1 or --2, and some in both."""
    records = one_dictionary(raw.table[raw.columns[0]])
    if not pc.any(pc.match_substring(records.dictionary, "--")).as_py():  # as in most files
        return False
    texts = pc.utf8_trim_whitespace(records.dictionary)
    entered = as_numpy(pc.match_substring_regex(texts, f"^{_ENTRY.pattern}$"))  # most have none: examine no row
    if not entered.any():
        return False
    n_found = int(np.bincount(as_numpy(records.indices), minlength=len(entered))[entered].sum())
    hits = {text.rpartition("--")[::2] for text in texts.filter(of_numpy(entered)).to_pylist()}
    return n_found * 2 > len(records) and len({record for record, _ in hits}) < len(hits)


def read(raw: RawTable) -> Source:
    """Read every field as a question; its two entries are raters ``person 1`` and ``person 2``.

    A merged record, which has no ending, is the decision of a third person and is left out with that reason. Fields of
    REDCap itself (``redcap_…``, ``…_complete``) are ignored; boxes of one field (``signs___1``) stay 0 or 1.
    """
    record, *others = raw.columns
    fields = [name for name in others if not _OWN.fullmatch(name)]
    event = next((name for name in ("redcap_event_name",) if name in raw.columns), None)
    repeat = next((name for name in ("redcap_repeat_instance",) if name in raw.columns), None)
    cells = {name: raw.table[name].to_pylist() for name in raw.columns}
    asked = Questionnaire(("row",))
    for row in range(raw.table.num_rows):
        hit = _ENTRY.fullmatch(cells[record][row].strip())
        case = hit.group(1) if hit else cells[record][row].strip()
        parts = [cells[name][row].strip() for name in (event, repeat) if name is not None]
        name = " ".join([case, *(part for part in parts if part)])
        asked.begin(int(raw.line[row]), (row + 1,), name, f"person {hit.group(2)}" if hit else "")
        if hit is None:
            asked.drop("a merged record, not an entry by one person")
            continue
        for field in fields:
            text = cells[field][row].strip()
            asked.answer(field, [[text]] if text else [])
    return Source(NAME, TITLE, recognise(raw.columns) or "said so", asked.questions(raw.notes))


METHOD = Reader(
    NAME,
    TITLE,
    "table",
    recognise,
    read,
    holds=holds,
    place=82,
    plainly="A REDCap project with double data entry: two people enter each record.",
    exactly="CSV of raw or labelled data; record names end in `--1` or `--2` for the two people.",
    sources=("REDCap, Double Data Entry module, data export CSV",),
)
