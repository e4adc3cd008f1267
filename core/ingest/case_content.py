"""Texts and pictures of a case table and of files, each matched to its case."""

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from ..text import plural
from .case_facts import CaseFacts
from .companion_files import CaseTable
from .images import SUFFIXES, path_parts

_SEVERAL = re.compile(r"\s*[;|]\s*")


def case_facts(
    cases: Collection[str], table: CaseTable | None, pictures: Sequence[tuple[str, bytes]], notes: list[str]
) -> CaseFacts | None:
    """Return the facts of a case table and pictures on these cases; add sentences on what did not match to ``notes``.

    A picture belongs to the case whose address ends like its path, else to the case with the name of the picture or of
    its folder.

    Parameters
    ----------
    cases : collection of str
        Ids of the dataset's cases.
    table : CaseTable, optional
    pictures : sequence of (str, bytes)
        Path and content of each picture.
    notes : list of str
        Notes, extended by what did not match.

    Returns
    -------
    CaseFacts or None
        Facts; None if there are none on any case.
    """
    if table is None and not pictures:
        return None
    known = set(cases)
    text: dict[str, str] = {}
    address: dict[str, tuple[str, ...]] = {}
    if table is not None:
        if table.text is not None:
            text = {case: words for case, words in zip(table.ids, table.text, strict=True) if case in known and words}
        if table.address is not None:
            pairs = zip(table.ids, table.address, strict=True)
            address = {case: addresses(cell) for case, cell in pairs if case in known and cell}
    images = _matched(known, address, pictures, notes)
    facts = CaseFacts(text, address, images)
    return facts if facts else None


def addresses(cell: str) -> tuple[str, ...]:
    """Return the addresses in a cell: one, a JSON list, or several separated by ``;``, ``|`` or line breaks."""
    cell = cell.strip()
    if "\n" in cell:
        return tuple(one for line in cell.splitlines() for one in addresses(line))
    if cell.startswith("["):
        try:
            listed = json.loads(cell)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list) and listed and all(isinstance(one, str) for one in listed):
            return tuple(one.strip() for one in listed if one.strip())
    parts = [part for part in _SEVERAL.split(cell) if part]
    if not cell.startswith("data:") and len(parts) > 1 and all(part.casefold().endswith(SUFFIXES) for part in parts):
        return tuple(parts)
    return (cell,) if cell else ()


def _matched(
    cases: set[str], address: dict[str, tuple[str, ...]], pictures: Sequence[tuple[str, bytes]], notes: list[str]
) -> dict[str, dict[str, bytes | Path]]:
    by_name: dict[str, list[int]] = {}
    parts = [path_parts(name) for name, _ in pictures]
    for place, path in enumerate(parts):
        if path:
            by_name.setdefault(path[-1].casefold(), []).append(place)
    images: dict[str, dict[str, bytes | Path]] = {}
    used = set()
    for case, wanted in address.items() if pictures else ():
        for one in wanted:
            path = path_parts(one)
            places = by_name.get(path[-1].casefold(), []) if path else []
            if not places:
                continue
            depth = [_common(path, parts[place]) for place in places]
            best = [place for place, length in zip(places, depth, strict=True) if length == max(depth)]
            if len(best) == 1:  # two files that fit equally well are ambiguous
                images.setdefault(case, {})[one] = pictures[best[0]][1]
                used.add(best[0])
    for place, path in enumerate(parts):
        if place in used or not path:
            continue
        stem = path[-1].rsplit(".", 1)[0]
        whose = next((name for name in (stem, path[-1], *path[-2:-1]) if name in cases), None)
        if whose is not None:
            images.setdefault(whose, {})[pictures[place][0]] = pictures[place][1]
            used.add(place)
    if pictures:
        n_without = len(pictures) - len(used)
        notes.append(
            f"{plural(len(used), 'image')} of {plural(len(images), 'case')}."
            if not n_without
            else f"Could not match {n_without:,} of {plural(len(pictures), 'image')} to a case. Name the files after "
            "the cases, or add a case table with a column of image paths."
        )
    return images


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many last parts two paths have in common."""
    length = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a.casefold() != b.casefold():
            break
        length += 1
    return length
