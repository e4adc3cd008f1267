"""Texts and pictures of cases: found in a case table, in columns of a long table and in files, and saved with data."""

import json
import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from ..annotations.vocabulary import encode
from ..runtime.files import draft_name, put_in_place
from ..text import plural
from .case_facts import CaseFacts
from .column_mapping import Mapping
from .companion_files import CaseTable
from .formats.raw_table import RawTable
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


_TEXT = ("text", "sentence", "case text", "document text")
_ADDRESS = ("image", "image path", "image url", "image file", "img", "picture", "photo", "filename", "file name")


def shown_beside(raw: RawTable, mapping: Mapping) -> tuple[CaseTable | None, dict[str, str]]:
    """Return facts on cases from the columns of a long table that no annotation is taken from, and these columns.

    The columns are by role, "text" or "address". A column counts only if all rows of a case agree and some case has
    several rows: otherwise it may be text of a rater.
    """
    if mapping.layout != "long" or mapping.case is None:
        return None, {}
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
        return None, {}
    cases = encode(raw.table[mapping.case])
    named = np.flatnonzero(cases.code >= 0)
    code, first = np.unique(cases.code[named], return_index=True)
    if len(code) == len(named):
        return None, {}
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
    if not parts:
        return None, {}
    used = {role: column for role, column in found.items() if column is not None and role in parts}
    return CaseTable(tuple(cases.values[one] for one in code), **parts), used


_FOLDER, _TABLE, _INDEX = "facts", "cases.parquet", "images.json"


def write_case_facts(facts: CaseFacts, folder: Path) -> None:
    """Write the facts into the folder, whole or not at all, in place of earlier ones."""
    draft = folder / draft_name("writing")
    draft.mkdir()
    try:
        cases = list(dict.fromkeys((*facts.text, *facts.address)))
        columns = {
            "case": pa.array(cases, pa.string()),
            "text": pa.array([facts.text.get(case) for case in cases], pa.string()),
            "address": pa.array([facts.address.get(case, ()) for case in cases], pa.list_(pa.string())),
        }
        parquet.write_table(pa.table(columns), draft / _TABLE)
        written: dict[object, str] = {}
        index: dict[str, dict[str, str]] = {}
        for case, images in facts.images.items():
            for address, image in images.items():
                name = written.setdefault(image if isinstance(image, Path) else id(image), f"{len(written):06d}")
                path = draft / name
                if not path.exists():
                    _copy(image, path)
                if path.exists():
                    index.setdefault(case, {})[address] = name
        (draft / _INDEX).write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
        if (folder / _FOLDER).exists():
            shutil.rmtree(folder / _FOLDER)
        put_in_place(draft, folder / _FOLDER)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _copy(image: bytes | Path, path: Path) -> None:
    if isinstance(image, bytes):
        path.write_bytes(image)
    elif image.exists():  # an image of a dataset that was forgotten meanwhile is gone
        shutil.copyfile(image, path)


def read_case_facts(folder: Path) -> CaseFacts | None:
    """Return the facts in the folder, images as files; None if there are none or they are damaged."""
    place = folder / _FOLDER
    try:
        table = parquet.read_table(place / _TABLE)
        index = json.loads((place / _INDEX).read_text(encoding="utf-8"))
        cases = table["case"].to_pylist()
        text = {case: words for case, words in zip(cases, table["text"].to_pylist(), strict=True) if words}
        address = {case: tuple(found) for case, found in zip(cases, table["address"].to_pylist(), strict=True) if found}
        images: dict[str, dict[str, bytes | Path]] = {
            case: {named: place / Path(file).name for named, file in files.items()} for case, files in index.items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError, pa.ArrowException):
        return None
    return CaseFacts(text, address, images)
