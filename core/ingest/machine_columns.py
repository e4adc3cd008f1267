"""Columns of a long table that state which raters are AI raters, of which family and version."""

import re
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ..annotations.vocabulary import encode
from ..text import listed, plural, was_or_were
from .column_evidence import is_machine_by_name
from .column_mapping import Mapping
from .formats.raw_table import RawTable

_KIND = re.compile(
    r"(rater|annotator|reader|judge|worker|reviewer|source|author)[\W_]*(type|kind)"
    r"|(is|by)[\W_]*(a[\W_]*)?(machine|ai|llm|model|bot)|human[\W_]*or[\W_]*(machine|ai|llm|model)"
)
_PLAIN_KIND = re.compile("type|kind|role|source|origin")  # may be anything, unless every value is an unmistakable word
_FAMILY = re.compile(r"(model[\W_]*|machine[\W_]*)?family|provider|vendor")
_VERSION = re.compile(r"(model[\W_]*|machine[\W_]*)?version|checkpoint")
_MACHINE = frozenset(re.findall(r"\w+", "machine ai llm model bot classifier algorithm automatic true yes y 1"))
_YES_OR_NO = frozenset(("true", "false", "yes", "no", "y", "n", "1", "0"))
_PERSON = frozenset(re.findall(r"\w+", "human person people expert manual annotator reader rater crowd false no n 0"))


@dataclass(frozen=True, slots=True)
class ToldMachines:
    """AI raters by the columns of a table.

    Attributes
    ----------
    machines : tuple of (str, str, str)
        Name, family and version of each; empty if unknown.
    notes : tuple of str
        State whether such columns are used, or why not.
    columns : dict of str to str
        Columns that are used, by their role: "type", "family" or "version".
    """

    machines: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)


def told_machines(raw: RawTable, mapping: Mapping) -> ToldMachines:
    """Return AI raters by a column of the table, each with family and version.

    A column counts only if its name and every one of its values are known words, and no rater is both.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
    """
    if mapping.layout == "wide":
        by_name = [rater for rater in map(mapping.rater_of, mapping.raters) if is_machine_by_name(rater)]
        if not by_name or len(mapping.raters) - len(by_name) < 2:
            return ToldMachines()
        names = listed([f"“{name}”" for name in by_name])
        read = "was treated as an AI rater because of its name"
        if len(by_name) > 1:
            read = "were treated as AI raters because of their names"
        return ToldMachines(tuple((name, "", "") for name in by_name), (f"{names} {read}.",))
    if mapping.layout != "long" or mapping.rater is None or raw.table.num_rows == 0:
        return ToldMachines()
    taken = {getattr(mapping, role) for role in ("case", "rater", "answer", "rank", "time", "group", "confidence")}
    free = [column for column in raw.columns if column not in taken]
    rater = encode(raw.table[mapping.rater])
    details = [[(name, _words(rater, raw, name)) for name in free if _is(name, how)] for how in (_FAMILY, _VERSION)]
    one_each = [next(((name, told) for name, told in found if told and any(told)), None) for found in details]
    used = [f"“{one[0]}”" for one in one_each if one]
    for column in free:
        plain = _is(column, _PLAIN_KIND)
        said = _words(rater, raw, column) if plain or _is(column, _KIND) else None
        words = (_MACHINE | _PERSON | {""}) - (_YES_OR_NO if plain else frozenset())
        if said is None or not all(word.casefold() in words for word in said):
            continue
        family, version = (one[1] if one else [""] * len(said) for one in one_each)
        machines = tuple(
            (name, family[place], version[place])
            for place, name in enumerate(rater.values)
            if said[place].casefold() in _MACHINE
        )
        if not machines:
            return ToldMachines(columns={"type": column})
        what = [word for word, one in zip(("family", "version"), one_each, strict=True) if one]
        beside = f", with {listed(what)} from {listed(used)}" if used else ""
        several = [
            name for found, one in zip(details, one_each, strict=True) if not one for name, told in found if not told
        ]
        names = listed([f"“{name}”" for name in several])
        in_it = "it" if len(several) == 1 else "them"
        unused = f" {names} {was_or_were(len(several))} not used: some raters have more than one value in {in_it}."
        left = unused if several else ""
        note = f"Column “{column}” marks {plural(len(machines), 'AI rater')}{beside}.{left}"
        more = {role: one[0] for role, one in zip(("family", "version"), one_each, strict=True) if one}
        return ToldMachines(machines, (note,), {"type": column, **more})
    if not used:
        return ToldMachines()
    note = (
        f"{listed(used)} {was_or_were(len(used))} not used, because no column marks AI raters. You can enter "
        "the family and version on the “AI as a rater” page."
    )
    return ToldMachines(notes=(note,))


def _is(column: str, how: re.Pattern) -> bool:
    return how.fullmatch(column.strip().casefold()) is not None


def _words(rater, raw: RawTable, column: str) -> list[str] | None:
    return _of_rater(rater.code, len(rater.values), raw.table[column])


def _of_rater(code: np.ndarray, n_raters: int, cells: pa.ChunkedArray) -> list[str] | None:
    """Return the cell of each rater, "" for none; None if cells of one rater differ in more than capitals."""
    told = encode(cells)
    found = np.full(n_raters, -1, np.int64)
    named = (code >= 0) & (told.code >= 0)
    found[code[named][::-1]] = told.code[named][::-1]  # the first spelling is shown
    word = np.unique([text.strip().casefold() for text in told.values], return_inverse=True)[1]
    if (word[found[code[named]]] != word[told.code[named]]).any():
        return None
    return [told.values[place] if place >= 0 else "" for place in found]
