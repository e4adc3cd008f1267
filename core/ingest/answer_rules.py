"""Treatment of annotations before they become a dataset: rankings split, classes renamed, classes and raters merged."""

from collections.abc import Mapping as Mapped
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ..annotations.columns import of_texts
from ..annotations.vocabulary import Coded, compact, encode
from ..text import plural
from .formats.raw_table import RawTable
from .long_rows import Rows, drop

# Words that people write if they cannot decide; each may be a class of its own or a missing annotation.
_CANNOT_TELL = frozenset(
    {"cannot tell", "can't tell", "cant tell", "can not tell", "cannot say", "can't say", "cannot determine", "?", "-"}
    | {"unsure", "not sure", "uncertain", "unknown", "don't know", "dont know", "do not know", "idk", "unclear", "--"}
    | {"undecided", "undetermined", "indeterminate", "skip", "skipped", "no answer", "not applicable", "ungradable"}
    | {"ungradeable", "not gradable"}
)

COUNTS_AS_MISSING = "counts as a missing annotation"  # end of the reason for a row that is left out on request
AS_POSITIONS = (
    "No annotation matches a name in the list of classes, so annotations were read as positions in the list, "
    "starting at 0."
)


@dataclass(frozen=True, slots=True)
class Treatment:
    """Treatment of the classes of the file.

    Attributes
    ----------
    renamed : dict
        New name by the name in the file; classes with the same new name are merged.
    missing : frozenset of str
        Annotations that count as missing.
    kept : frozenset of str
        Annotations that are classes or scores although they look like codes for missing ones.
    raters : dict
        Name of the rater to whom another name in the file belongs; its own if the two are different raters.
    """

    renamed: Mapped[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    raters: Mapped[str, str] = field(default_factory=dict)

    @property
    def given(self) -> bool:
        """True if the user chose any rule."""
        return bool(self.decided or self.raters)

    @property
    def decided(self) -> frozenset[str]:
        """Annotations for which the user stated whether they are missing."""
        return self.missing | self.kept | frozenset(self.renamed)


def cannot_tell(classes: Sequence[str]) -> tuple[str, ...]:
    """Return those classes that may mean that a rater could not decide."""
    return tuple(name for name in classes if " ".join(name.casefold().replace("’", "'").split()) in _CANNOT_TELL)


def positions(values: Sequence[str], classes: Sequence[str]) -> dict[str, str] | None:
    """Return the class of each annotation that is a position in a list, from 0; None if annotations are not positions.

    They are positions if none of them is a name in the list and all are integers within it.
    """
    if not len(values) or not all(value.isascii() and value.isdigit() for value in values):
        return None
    if not set(values).isdisjoint(classes) or max(map(int, values)) >= len(classes):
        return None
    return {value: classes[int(value)] for value in values}


def count_missing(rows: Rows, treatment: Treatment | None) -> dict[str, int]:
    """Count the annotations that the user treats as missing, by the names in the file.

    Parameters
    ----------
    rows : Rows
    treatment : Treatment or None
    """
    if treatment is None or not treatment.missing:
        return {}
    counts = np.bincount(rows.answer_code, minlength=len(rows.answer.values))
    return {name: int(n) for name, n in zip(rows.answer.values, counts, strict=True) if n and name in treatment.missing}


def treat(rows: Rows, raw: RawTable, treatment: Treatment) -> list[str]:
    """Merge, rename and drop classes of the rows in place; return sentences on it, with counts.

    Missing annotations are matched by the names in the file, before any renaming.

    Parameters
    ----------
    rows : Rows
        Rows, changed in place.
    raw : RawTable
        Table of the rows, for the account of those that are left out.
    treatment : Treatment
    """
    notes = []
    counts = np.bincount(rows.answer_code, minlength=len(rows.answer.values))
    for code, name in enumerate(rows.answer.values):
        if name in treatment.missing and counts[code]:
            notes.append(f"{name!r} {COUNTS_AS_MISSING} ({plural(int(counts[code]), 'annotation')}).")
            drop(rows, raw, rows.answer_code == code, f"{name!r} {COUNTS_AS_MISSING}")
    renamed = {
        name: new.strip() for name, new in treatment.renamed.items() if new.strip() and name not in treatment.missing
    }
    used = [(code, name) for code, name in enumerate(rows.answer.values) if name in renamed and renamed[name] != name]
    if not used:
        rows.answer_code, values = compact(rows.answer_code, rows.answer.values)
        rows.answer = Coded(rows.answer_code, values, rows.answer.missing)
        return notes
    for place, name in used:
        notes.append(f"{name!r} is now {renamed[name]!r} ({plural(int(counts[place]), 'annotation')}).")
    codes, names = compact(rows.answer_code, rows.answer.values)
    rows.answer, recode = _in_order([renamed.get(name, name) for name in names], rows.answer.missing)
    rows.answer_code = recode[codes]
    drop(rows, raw, rows.answer_code < 0, "the class was marked as missing")
    return notes


def merge_raters(rows: Rows, treatment: Treatment | None) -> list[str]:
    """Count raters under the name of another one, in place; sentences on what was done.

    Parameters
    ----------
    rows : Rows
        Changed in place.
    treatment : Treatment or None
        Whose ``raters`` say who is the same.
    """
    raters = treatment.raters if treatment is not None else {}
    code_of = {name: code for code, name in enumerate(rows.rater.values)}
    merged = {old: new for old, new in raters.items() if old != new and old in code_of and new in code_of}
    if not merged:
        return []
    codes = np.arange(len(code_of), dtype=rows.rater_code.dtype)
    for old, new in merged.items():
        codes[code_of[old]] = code_of[new]
    rows.rater_code = codes[rows.rater_code]
    return [f"Rater {old!r} was merged into {new!r}." for old, new in merged.items()]


def take_apart(rows: Rows, raw: RawTable, separators: tuple[str, str]) -> None:
    """Split annotations such as "A > B = C" into one row per ranked class, in place.

    Parameters
    ----------
    rows : Rows
        Rows, changed in place.
    raw : RawTable
        Table of the rows, for the account of those that are left out.
    separators : tuple of two str
        Signs between ranks, and between classes of one rank.
    """
    after, tied = separators
    pieces: list[list[tuple[int, str]]] = []
    sound = np.ones(len(rows.answer.values), bool)
    for code, text in enumerate(rows.answer.values):
        blocks = [[name.strip() for name in block.split(tied)] for block in text.split(after)]
        sound[code] = all(name for block in blocks for name in block)
        pieces.append([(rank, name) for rank, block in enumerate(blocks, 1) for name in block] if sound[code] else [])
    drop(rows, raw, ~sound[rows.answer_code], f"a class is missing before or after {after!r} or {tied!r}")
    size = np.array([len(piece) for piece in pieces], np.int64)
    entry_start = np.cumsum(size) - size
    names = [name for piece in pieces for _, name in piece]
    ranks = np.array([rank for piece in pieces for rank, _ in piece], np.float64)
    coded, recode = _in_order(names, rows.answer.missing)
    per_row = size[rows.answer_code]
    within = np.arange(int(per_row.sum())) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    entry = np.repeat(entry_start[rows.answer_code], per_row) + within
    annotation = np.repeat(np.arange(rows.row.size), per_row)
    rows.keep(annotation)
    rows.answer, rows.answer_code = coded, recode[entry]
    rows.rank = ranks[entry]
    rows.annotation = annotation
    drop(rows, raw, rows.answer_code < 0, "no class is ranked")


def _in_order(names: list[str], missing: dict[str, int]) -> tuple[Coded, np.ndarray]:
    """Return a vocabulary of names in natural order, and the code of each name as it came (-1 for a missing token)."""
    coded = encode(pa.chunked_array([of_texts(names)]))
    return Coded(coded.code, coded.values, missing), coded.code
