"""JSON and JSON Lines, record by record: the whole file is never in memory as objects at once."""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
import orjson

from ...errors import InputError
from ...text import first_twice, plural, shorten, was_or_were
from .._json_kernels import scan_records_of_json
from .budget import rows_left, spend_as_values
from .encoding import to_utf8

DEEPEST = 64
LARGEST_SINGLE_VALUE = 128 << 20
MOST_RECORDS = 20_000_000
_HEAD = 25
_TOLD_EVERY = 0.2  # seconds
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class JsonFile:
    """File of JSON with the place of each record.

    Attributes
    ----------
    name : str
    content : bytes
        Content in UTF-8.
    start, stop, line : ndarray of int64, shape (n_records,)
        Bytes and physical line of each record.
    shape : {"array", "lines", "object"}
        One array of records, records one after another, or a single object.
    head : tuple
        First records, parsed, and some from all of the rest, by which the format is recognised.
    long_numbers: bool
        True if some number has 19 digits or more.
    broken : frozenset of int
        Lines of JSON Lines that are not valid JSON: their records are None, and are left out with their place.
    """

    name: str
    content: bytes
    start: np.ndarray
    stop: np.ndarray
    line: np.ndarray
    shape: Literal["array", "lines", "object"]
    head: tuple
    long_numbers: bool = False
    broken: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.start)

    def records(self, progress: Progress | None = None) -> Iterator[tuple[int, object]]:
        """Yield line and value of every record, one at a time."""
        told = time.monotonic()
        for first in range(0, len(self.start), _A_TURN):
            if progress is not None and time.monotonic() - told > _TOLD_EVERY:
                progress(first / len(self.start))
                told = time.monotonic()
            part = slice(first, first + _A_TURN)
            for start, stop, line in zip(
                self.start[part].tolist(), self.stop[part].tolist(), self.line[part].tolist(), strict=True
            ):
                if line in self.broken:
                    yield line, None
                else:
                    yield line, _value(self.name, self.content[start:stop], line, self.long_numbers)


def looks_like_json(content: bytes) -> bool:
    """Return whether the text starts as JSON does, or most of its first lines are objects of JSON Lines."""
    if content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        return True
    lines = [line.strip() for line in content[: 1 << 16].splitlines()[:50]]
    objects = [line for line in lines if line.startswith(b'{"') and line.endswith(b"}")]
    return 2 * len(objects) > sum(map(bool, lines))


def open_json(name: str, content: bytes) -> JsonFile:
    """Open a file of JSON or JSON Lines, and find its records.

    Raises
    ------
    InputError
        The file is broken, cut off, nested too deep, or has no records; the message names the line.
    """
    content, _ = to_utf8(content)
    data = np.frombuffer(content, np.uint8)
    is_array = content[:4096].lstrip()[:1] == b"["
    shape: Literal["array", "lines", "object"] = "array" if is_array else "lines"
    long_number = np.zeros(1, np.bool_)
    most = most_records()
    *found, _, line, wrong = scan_records_of_json(data, 1 if is_array else 0, DEEPEST, long_number, most)
    if wrong == 4:  # arrays one after another
        shape = "lines"
        *found, _, line, wrong = scan_records_of_json(data, 0, DEEPEST, long_number, most)
    broken: frozenset[int] = frozenset()
    if shape == "lines" and len(content) <= _SMALL and b"\n" in content:
        found, broken, wrong = _line_by_line(content, found, wrong)
    if wrong == 5:
        raise InputError(
            f"Could not read {name}: it has more than {most:,} records, the limit for a file of this size.",
            "Save the data as Parquet.",
        )
    if wrong:
        raise InputError(f"Could not read {name}: {_WRONG[wrong]}", _REMEDY[wrong], line=int(line))
    start, stop, lines = found
    if len(start) == 0:
        raise InputError(f"Could not read {name}: it contains no records.", "Export it again with annotations.")
    if shape == "lines" and len(start) == 1:
        shape = "object"
    largest = int(np.argmax(stop - start))
    if stop[largest] - start[largest] > LARGEST_SINGLE_VALUE:
        raise InputError(
            f"Could not read {name}: one record is {(stop[largest] - start[largest]) >> 20:,} MB; the limit is "
            f"{LARGEST_SINGLE_VALUE >> 20:,} MB.",
            "Export it as JSON Lines, or as an array with one record per case.",
            line=int(lines[largest]),
        )
    looked_at = np.unique(
        np.append(np.arange(min(len(start), _HEAD)), np.linspace(0, len(start) - 1, _HEAD).astype(int))
    )
    spend_as_values(*(content[start[i] : stop[i]] for i in looked_at), content[start[largest] : stop[largest]])
    long_numbers = bool(long_number[0])
    head = tuple(
        _value(name, content[start[i] : stop[i]], int(lines[i]), long_numbers)
        for i in looked_at
        if int(lines[i]) not in broken
    )
    return JsonFile(name, content, start, stop, lines, shape, head, long_numbers, broken)


def most_records() -> int:
    """Return how many records a file may have: each is a row, and its place takes memory before it is read."""
    left = rows_left()
    return MOST_RECORDS if left is None else min(MOST_RECORDS, left)


def _line_by_line(content: bytes, found: list, wrong: int) -> tuple[list, frozenset[int], int]:
    """Return records of JSON Lines of which some are broken; leave these out if nearly all lines are JSON.

    The first result is kept if it is sound, or if lines are not records.
    """
    if not wrong and all(_is_json(content[start:stop]) for start, stop in zip(*found[:2], strict=True)):
        return found, frozenset(), wrong
    start, stop, line, broken = [], [], [], []
    begin = 0
    for number, text in enumerate(content.split(b"\n"), 1):
        if text.strip():
            start.append(begin)
            stop.append(begin + len(text))
            line.append(number)
            if not (text.strip()[:1] in b"{[" and _is_json(text)):
                broken.append(number)
        begin += len(text) + 1
    if not broken or _MOST_BROKEN * len(broken) > len(start):
        return found, frozenset(), wrong
    return [np.array(one, np.int64) for one in (start, stop, line)], frozenset(broken), 0


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        try:
            json.loads(text.decode())
        except (ValueError, RecursionError):
            return False
    return True


_SMALL, _A_TURN = 8 << 20, 256
_MOST_BROKEN = 5  # one line in so many may be broken
# Escaped backslashes and whole letters of two halves come first, so that only halves are left for the group.
_HALF = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_WRONG = {
    1: f"the JSON is nested deeper than {DEEPEST} levels.",
    2: "a closing bracket has no opening bracket.",
    3: "the JSON is incomplete: a bracket or quotation mark is not closed.",
    4: "there is text after the end of the JSON.",
}
_REMEDY = {
    1: "Annotation exports are never this deeply nested. Check how the file was written.",
    2: "The file may be damaged. Export it again.",
    3: "The file may be incomplete. Export it again.",
    4: "The file may be damaged. Export it again.",
}


def _value(name: str, record: bytes, line: int, long_numbers: bool) -> object:
    """Return one record, by orjson if its result equals that of the standard library, which reports errors in others.

    orjson turns integers beyond 64 bits into floats, and refuses NaN, Infinity and halves of letters.
    """
    if not long_numbers:
        with suppress(ValueError):
            return orjson.loads(record)
    try:
        return json.loads(record.decode())
    except (ValueError, RecursionError) as error:
        inside = getattr(error, "lineno", 1) - 1
        reason = getattr(error, "msg", "it contains an invalid number or character")
        raise InputError(
            f"Could not read the JSON in {name}: {reason}.",
            "The file may be damaged. Export it again.",
            line=line + inside,
        ) from None


def value_of_cell(cell: str) -> object:
    """Return the value of JSON in a cell.

    Raises
    ------
    ValueError, RecursionError
        The cell is not valid JSON.
    """
    spend_as_values(cell.encode("utf-8", "replace"))
    return json.loads(cell)


def oddities(file: JsonFile) -> list[str]:
    """Return notes on what a reader of JSON ignores silently: a name twice in one object, and halves of letters.

    Names are checked in all records of a file up to `_SMALL` bytes, and in some of a larger one.
    """
    notes = []
    if file.broken:
        lines = ", ".join(f"{line:,}" for line in sorted(file.broken)[:5]) + (", …" if len(file.broken) > 5 else "")
        n = len(file.broken)
        they_are, named = ("it is", "line") if n == 1 else ("they are", "lines")
        notes.append(
            f"{plural(n, 'line')} {was_or_were(n)} left out, because {they_are} not valid JSON ({named} {lines})."
        )
    whole = range(len(file)) if len(file.content) <= _SMALL else range(min(len(file), _HEAD))
    for place in whole:
        record = file.content[file.start[place] : file.stop[place]]
        if _names_once(record):
            continue
        twice: list[str] = []

        def pairs(found: list[tuple[str, object]], twice: list[str] = twice) -> dict:
            if len(made := dict(found)) < len(found):
                names = [name for name, _ in found]
                twice.append(first_twice(names) or "")
            return made

        try:
            json.loads(record.decode(), object_pairs_hook=pairs)
        except (ValueError, RecursionError):
            continue  # reported when the record is read
        if twice:
            notes.append(
                f"In record {place + 1:,}, the name {shorten(twice[0], 40)!r} appears twice. The last value is used."
            )
            break
    if halves := sum(map(bool, _HALF.findall(file.content))) if b"\\u" in file.content else 0:
        said = plural(halves, "incomplete character")
        notes.append(f"{said} (lone surrogates) {was_or_were(halves)} replaced with question marks.")
    return notes


def _names_once(record: bytes) -> bool:
    """Return whether a record is an object with as many names as colons, so that it is flat and repeats none."""
    try:
        value = orjson.loads(record)
    except ValueError:
        return False
    return isinstance(value, dict) and len(value) == record.count(b":")


def all_records(files: Sequence[JsonFile], progress: Progress | None = None) -> Iterator[tuple[int, int, int, object]]:
    """Yield file, number of the record in its file from 1, line, and value of every record of several files."""
    total, before = sum(len(file) for file in files), 0
    for place, file in enumerate(files):
        for number, (line, value) in enumerate(file.records(_part(progress, before / total, len(file) / total)), 1):
            yield place, number, line, value
        before += len(file)


def _part(progress: Progress | None, start: float, share: float) -> Progress | None:
    return (lambda done: progress(start + done * share)) if progress is not None else None


def most_are(files: Sequence[JsonFile], fits: Callable[[object], bool]) -> bool:
    """Return whether more than half of the examined records fit a format: an odd one is only a bad record."""
    votes = [bool(fits(record)) for record in all_heads(files)]
    return 2 * sum(votes) > len(votes)


def all_heads(files: Sequence[JsonFile]) -> Iterator[object]:
    """Yield the records of every file by which its format is recognised."""
    for file in files:
        yield from file.head
