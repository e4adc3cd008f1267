"""JSON and JSON Lines, record by record: the whole file is never held as objects at once."""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...errors import InputError
from ...text import plural, shorten
from .._json_kernels import scan_records_of_json
from .encoding import to_utf8

DEEPEST = 64
LARGEST_SINGLE_VALUE = 128 << 20
MOST_RECORDS = 20_000_000
_HEAD = 25
_TOLD_EVERY = 0.2  # seconds
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A file of JSON whose records are known by their place.

    Attributes
    ----------
    name : str
    content : bytes
        In UTF-8.
    start, stop, line : ndarray of int64, shape (n_records,)
        Bytes and physical line of each record.
    shape : {"array", "lines", "object"}
        One array of records, records one after another, or a single object.
    head : tuple
        The first records, parsed, and some from all of the rest: what is said of the format rests on them.
    """

    name: str
    content: bytes
    start: np.ndarray
    stop: np.ndarray
    line: np.ndarray
    shape: Literal["array", "lines", "object"]
    head: tuple

    def __len__(self) -> int:
        return len(self.start)

    def records(self, progress: Progress | None = None) -> Iterator[tuple[int, object]]:
        """Line and value of every record, one at a time."""
        told = time.monotonic()
        for place in range(len(self.start)):
            if progress is not None and place % 256 == 0 and time.monotonic() - told > _TOLD_EVERY:
                progress(place / len(self.start))
                told = time.monotonic()
            yield (
                int(self.line[place]),
                _value(self.name, self.content, self.start[place], self.stop[place], self.line[place]),
            )


def looks_like_json(content: bytes) -> bool:
    """Whether the text begins as JSON does, or most of its first lines are objects of JSON Lines."""
    if content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        return True
    lines = [line.strip() for line in content[: 1 << 16].splitlines()[:50]]
    objects = [line for line in lines if line.startswith(b'{"') and line.endswith(b"}")]
    return 2 * len(objects) > sum(map(bool, lines))


def open_json(name: str, content: bytes) -> JsonFile:
    """The records of a file of JSON or JSON Lines.

    Raises
    ------
    InputError
        Broken, cut off, nested too deep, or without records; the message names the line.
    """
    content, _ = to_utf8(content)
    data = np.frombuffer(content, np.uint8)
    is_array = content[:4096].lstrip()[:1] == b"["
    shape: Literal["array", "lines", "object"] = "array" if is_array else "lines"
    *found, _, line, wrong = scan_records_of_json(data, 1 if is_array else 0, DEEPEST)
    if wrong == 4:  # arrays one after another
        shape = "lines"
        *found, _, line, wrong = scan_records_of_json(data, 0, DEEPEST)
    if wrong:
        raise InputError(f"{name}: {_WRONG[wrong]}", _REMEDY[wrong], line=int(line))
    start, stop, lines = found
    if len(start) == 0:
        raise InputError(f"{name} holds JSON without any record.", "Export again with the annotations in it.")
    if len(start) > MOST_RECORDS:
        raise InputError(f"{name} holds {len(start):,} records, the limit is {MOST_RECORDS:,}.", "Use Parquet.")
    if shape == "lines" and len(start) == 1:
        shape = "object"
    largest = int(np.argmax(stop - start))
    if stop[largest] - start[largest] > LARGEST_SINGLE_VALUE:
        raise InputError(
            f"{name}: one record has {(stop[largest] - start[largest]) >> 20:,} MB.",
            "Export as JSON Lines, or as an array with one record per case.",
            line=int(lines[largest]),
        )
    looked_at = np.unique(
        np.append(np.arange(min(len(start), _HEAD)), np.linspace(0, len(start) - 1, _HEAD).astype(int))
    )
    head = tuple(_value(name, content, start[i], stop[i], lines[i]) for i in looked_at)
    return JsonFile(name, content, start, stop, lines, shape, head)


_SMALL = 8 << 20
# Escaped backslashes and whole letters of two halves come first, so that only halves are left for the group.
_HALF = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_WRONG = {
    1: f"the JSON is nested deeper than {DEEPEST} levels.",
    2: "a closing bracket has no opening one.",
    3: "the JSON breaks off: a bracket or a quotation mark does not close.",
    4: "text follows after the JSON.",
}
_REMEDY = {
    1: "No export of annotations is; look at how the file was written.",
    2: "The file may be damaged; export it again.",
    3: "The file may be cut off; export it again.",
    4: "The file may be damaged; export it again.",
}


def _value(name: str, content: bytes, start: int, stop: int, line: int) -> object:
    try:
        return json.loads(content[start:stop].decode())
    except (ValueError, RecursionError) as error:
        inside = getattr(error, "lineno", 1) - 1
        reason = getattr(error, "msg", "a number or letter that cannot be read")
        raise InputError(
            f"{name}: the JSON cannot be read ({reason}).",
            "The file may be damaged; export it again.",
            line=int(line) + inside,
        ) from None


def oddities(file: JsonFile) -> list[str]:
    """What a reader of JSON passes over in silence: a name twice in one object, and halves of letters.

    Names are looked at in all records of a file up to `_SMALL` bytes, and in some of a larger one.
    """
    notes = []
    whole = range(len(file)) if len(file.content) <= _SMALL else range(min(len(file), _HEAD))
    for place in whole:
        twice: list[str] = []

        def pairs(found: list[tuple[str, object]], twice: list[str] = twice) -> dict:
            if len(made := dict(found)) < len(found):
                names = [name for name, _ in found]
                twice.append(next(name for name in names if names.count(name) > 1))
            return made

        try:
            json.loads(file.content[file.start[place] : file.stop[place]].decode(), object_pairs_hook=pairs)
        except (ValueError, RecursionError):
            continue  # said where the record is read
        if twice:
            notes.append(f"Record {place + 1:,} has the name {shorten(twice[0], 40)!r} twice: the last one counts.")
            break
    if halves := sum(map(bool, _HALF.findall(file.content))) if b"\\u" in file.content else 0:
        said = plural(halves, "half of a letter", "halves of letters")
        notes.append(f"{said} (lone surrogates) cannot be shown: a question mark stands there.")
    return notes


def all_records(files: Sequence[JsonFile], progress: Progress | None = None) -> Iterator[tuple[int, int, int, object]]:
    """File, number of the record in its file from 1, line, and value of every record of several files."""
    total, before = sum(len(file) for file in files), 0
    for place, file in enumerate(files):
        for number, (line, value) in enumerate(file.records(_part(progress, before / total, len(file) / total)), 1):
            yield place, number, line, value
        before += len(file)


def _part(progress: Progress | None, start: float, share: float) -> Progress | None:
    return (lambda done: progress(start + done * share)) if progress is not None else None


def most_are(files: Sequence[JsonFile], fits: Callable[[object], bool]) -> bool:
    """Whether more than half of the records looked at fit a format: an odd one is a bad record, not another format."""
    votes = [bool(fits(record)) for record in all_heads(files)]
    return 2 * sum(votes) > len(votes)


def all_heads(files: Sequence[JsonFile]) -> Iterator[object]:
    """The records of every file that tell what it is."""
    for file in files:
        yield from file.head
