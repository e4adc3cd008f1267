"""Record of changes: who changed which data, when and how. One line of JSON per change; lines are only added.

It is in the home folder as ``changes.jsonl``, so that it remains after the changed data are deleted. A line has no
content of annotations. Only erasure changes existing lines: it removes the name of a person, or the details of deleted
data.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .access_record import record_access
from .errors import InputError
from .runtime.files import write_whole
from .runtime.locks import alone
from .settings import current_settings

PSEUDONYM = "erased person"
_ACCESS = ("share", "delete the data", "delete the reviews", "bring data")  # these are in the record of access, too
_FILE, _LOCK = "changes.jsonl", "changes"
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the record.

    Attributes
    ----------
    at : float
        Time in seconds since 1970-01-01 UTC.
    who : str
        Name of the person; empty if nobody signs in.
    dataset : str
        Address of the data: a digest, or the name of a sample.
    what : str
        Action, such as "share".
    details : tuple of str
        Further names, such as those of the people with whom data are shared.
    """

    at: float
    who: str
    dataset: str
    what: str
    details: tuple[str, ...] = ()


def record_change(who: str, dataset: str, what: str, details: Iterable[str] = ()) -> None:
    """Add a line; when this returns, it is on the disk.

    Parameters
    ----------
    who, dataset, what, details
        See `Change`.

    Raises
    ------
    InputError
        The home folder cannot be written: nothing may be changed then.
    """
    said = tuple(details)
    if what in _ACCESS and who:
        record_access(who, what, dataset, said)
    line = _line(Change(time.time(), who, dataset, what, said))
    with _writing() as path:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if os.fstat(handle).st_size:
                os.lseek(handle, -1, os.SEEK_END)
                if os.read(handle, 1) != b"\n":  # a disk that was full cut the last line off
                    line = b"\n" + line
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)


def recorded_changes(dataset: str | None = None) -> list[Change]:
    """Return the record, or the lines of one dataset, the oldest first; leave out a line that was cut off.

    Parameters
    ----------
    dataset : str, optional
    """
    found = [change for change, _ in _lines(current_settings().home / _FILE) if change is not None]
    return [change for change in found if dataset in (None, change.dataset)]


def erase_details(dataset: str) -> None:
    """Erase the details of changes of deleted data, except who made them, when, and their kind.

    Parameters
    ----------
    dataset : str
    """
    _rewrite(lambda one: replace(one, details=()) if one.dataset == dataset else one)


def erase_person(name: str) -> int:
    """Replace a person's name by a pseudonym; return in how many lines it was.

    Parameters
    ----------
    name : str
    """

    def without(one: Change) -> Change:
        details = tuple(PSEUDONYM if text == name else text for text in one.details)
        return replace(one, who=PSEUDONYM if one.who == name else one.who, details=details)

    return _rewrite(without)


def _rewrite(change: Callable[[Change], Change]) -> int:
    if not (current_settings().home / _FILE).exists():
        return 0
    with _writing() as path:
        lines = [(one, one if one is None else change(one), text) for one, text in _lines(path)]
        n_changed = sum(before != after for before, after, _ in lines)
        if n_changed:
            write_whole(path, b"".join(text if one == new or new is None else _line(new) for one, new, text in lines))
    return n_changed


@contextmanager
def _writing() -> Iterator[Path]:
    path = current_settings().home / _FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock, alone(_LOCK):
            yield path
    except OSError as error:
        raise InputError(
            f"Could not write the record of changes {path}: {error.strerror or error}. Nothing was changed.",
            "Free up disk space, or allow the user account that runs Plurality to write to the file.",
        ) from None


def _lines(path: Path) -> Iterator[tuple[Change | None, bytes]]:
    """Yield each line as it is read, and its bytes."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    for text in content.splitlines(keepends=True):
        try:
            told = json.loads(text)
            yield Change(**{**told, "details": tuple(told["details"])}), text
        except (ValueError, TypeError, KeyError):
            yield None, text


def _line(change: Change) -> bytes:
    return json.dumps(asdict(change), ensure_ascii=True).encode() + b"\n"
