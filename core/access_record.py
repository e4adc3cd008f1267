"""Record of access: who signed in, was refused, opened, uploaded, exported, shared or erased what; only ever added to.

It is in the home folder as ``access.jsonl``, one line of JSON per entry. A line contains the number and the hash of the
previous one, so a line that is changed, removed or inserted is found. As in the record of reviews, the hash is
H(H(content) || H(personal || token)): an erasure replaces names and the rest can still be checked. After
``PLURALITY_ACCESS_DAYS`` the oldest lines are removed; a line states how many and their last hash.
"""

import hashlib
import json
import os
import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .errors import InputError
from .runtime.files import write_whole
from .runtime.locks import alone
from .settings import current_settings
from .text import utc

BEGINNING = "0" * 64
PSEUDONYM = "erased person"
EXPIRED = "old lines removed"
SIGNED_IN, REFUSED, ENDED = "sign in", "sign-in refused", "session ended"
OPENED, EXPORTED, ROLE, UPLOADED = "open", "export", "role", "upload"
_FILE, _LOCK, _DAY = "access.jsonl", "access", 24 * 3600.0
_LONGEST = 300  # letters of a detail
LEAST_UPLOAD = 100_000  # bytes that a smaller file counts for, because each file adds a line
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Access:
    """One line of the record.

    Attributes
    ----------
    number : int
        Number of the line, from 1.
    at : float
        Time in seconds since 1970-01-01 UTC.
    who : str
        Name of the person.
    what : str
        Action, such as "sign in", "open", "export", "share".
    dataset : str
        Address of the data; empty if there are none.
    details : tuple of str
    previous, hash, personal : str
        Hashes of the previous line, of this one, and of its half with names.
    token : str
        Random part of ``personal`` that cannot be guessed; empty once the names were erased.
    """

    number: int
    at: float
    who: str
    what: str
    dataset: str
    details: tuple[str, ...]
    previous: str
    personal: str
    token: str
    hash: str = ""

    @property
    def time(self) -> str:
        """Time as ISO 8601 in UTC."""
        return utc(self.at).strftime("%Y-%m-%dT%H:%M:%SZ")


def record_access(who: str, what: str, dataset: str = "", details: Iterable[str] = ()) -> None:
    """Add a line; when this returns, it is on the disk.

    Parameters
    ----------
    who, what, dataset, details
        See `Access`.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    with _recording() as path:
        _add(path, who, what, dataset, details)


def record_upload(who: str, n_bytes: int, most_bytes: int) -> bool:
    """Add a line for a file that a person uploads, unless their uploads of 24 hours would exceed a limit.

    Parameters
    ----------
    who : str
        Name of the person.
    n_bytes : int
        Size of the file.
    most_bytes : int
        Limit for all files of 24 hours.

    Returns
    -------
    bool
        True if the upload is within the limit and recorded.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    counted = max(n_bytes, LEAST_UPLOAD)
    with _recording() as path:
        if uploaded_bytes(who) + counted > most_bytes:
            return False
        _add(path, who, UPLOADED, "", [f"{counted} bytes"])
    return True


def uploaded_bytes(who: str) -> int:
    """Return the size of all files that a person uploaded in the last 24 hours.

    Parameters
    ----------
    who : str
        Name of the person.
    """
    path, since, total = current_settings().home / _FILE, time.time() - _DAY, 0
    for line in filter(None, map(_parsed, _newest_first(path))) if path.exists() else ():
        if line.at < since:
            break
        if line.what == UPLOADED and line.who == who and line.token:
            total += int(line.details[0].split()[0])
    return total


def recorded_access() -> list[Access]:
    """Return the record, the oldest line first.

    Raises
    ------
    InputError
        A line cannot be read; `check_access` names it.
    """
    lines, faults = _read(current_settings().home / _FILE)
    if faults:
        raise InputError(
            f"The access record is damaged: {faults[0]}.",
            "Restore it from a backup. For details, run: plurality access",
        )
    return lines


def check_access() -> tuple[list[Access], list[str]]:
    """Return the lines that can be read, and the faults of the record, in words."""
    lines, faults = _read(current_settings().home / _FILE)
    expired = next((line for line in reversed(lines) if line.what == EXPIRED), None)
    number, before = (0, BEGINNING) if expired is None else (int(expired.details[0]), expired.details[1])
    for line in lines:
        if line.number != number + 1 or line.previous != before:
            faults.append(f"lines before line {line.number} are missing or have been moved")
        if line.hash != _hash(line):
            faults.append(f"line {line.number} was changed")
        elif line.personal != _personal(line) if line.token else line.who != PSEUDONYM:
            faults.append(f"the names in line {line.number} were changed")
        number, before = line.number, line.hash
    return lines, faults


def erase_person(name: str) -> int:
    """Replace a person's name by a pseudonym; return in how many lines it was.

    Parameters
    ----------
    name : str
    """
    path = current_settings().home / _FILE
    if not path.exists():
        return 0
    with _lock, alone(_LOCK):
        lines, faults = _read(path)
        theirs = [line for line in lines if name in (line.who, *line.details)]
        if faults or not theirs:
            return 0
        gone = {line.number: replace(line, who=PSEUDONYM, details=_without(line), token="") for line in theirs}
        write_whole(path, b"".join(_line(gone.get(line.number, line)) for line in lines))
    return len(theirs)


def _without(line: Access) -> tuple[str, ...]:
    return line.details if line.what == EXPIRED else tuple(PSEUDONYM for _ in line.details)


@contextmanager
def _recording() -> Iterator[Path]:
    """Keep other writers out of the record, and say in words why it cannot be written."""
    path = current_settings().home / _FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock, alone(_LOCK):
            yield path
    except OSError as error:
        raise InputError(
            f"Could not write the access record {path}: {error.strerror or error}.",
            "Free up disk space, or allow the user account that runs Plurality to write to the file.",
        ) from None


def _add(path: Path, who: str, what: str, dataset: str, details: Iterable[str]) -> None:
    now, days = time.time(), current_settings().access_days
    first, last = _ends(path)
    if first is not None and first.at < now - (days + 1) * _DAY:  # once a day, not with every line
        last = _expire(path, now - days * _DAY, now)
    _append(path, [_next(last, now, who, what, dataset, [text[:_LONGEST] for text in details])])


def _next(last: Access | None, at: float, who: str, what: str, dataset: str, details: Sequence[str]) -> Access:
    number, previous = (0, BEGINNING) if last is None else (last.number, last.hash)
    line = Access(number + 1, at, who, what, dataset, tuple(details), previous, "", secrets.token_hex(16))
    line = replace(line, personal=_personal(line))
    return replace(line, hash=_hash(line))


def _hash(line: Access) -> str:
    content = _digest([line.number, line.at, line.what, line.dataset, line.previous])
    return _digest([content, line.personal])


def _personal(line: Access) -> str:
    return _digest([line.who, *line.details, line.token])


def _digest(values: object) -> str:
    return hashlib.sha256(json.dumps(values, separators=(",", ":")).encode()).hexdigest()


def _expire(path: Path, before: float, now: float) -> Access | None:
    """Remove lines from before a time, and state this in a new one; return the last line."""
    lines, faults = _read(path)
    gone = [line for line in lines if line.at < before]
    if faults or not gone:  # a damaged record is not changed
        return lines[-1] if lines else None
    said = _next(lines[-1], now, "", EXPIRED, "", [str(gone[-1].number), gone[-1].hash])
    write_whole(path, b"".join(map(_line, [*lines[len(gone) :], said])))
    return said


def _append(path: Path, lines: Iterable[Access]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(handle, b"".join(map(_line, lines)))
        os.fsync(handle)
    finally:
        os.close(handle)


def _ends(path: Path) -> tuple[Access | None, Access | None]:
    """Return the first and last line, without reading those between; remove a partial line that a full disk left."""
    if not path.exists() or not path.stat().st_size:
        return None, None
    with path.open("r+b") as file:
        first = _parsed(file.readline())
        size = file.seek(0, os.SEEK_END)
        step = 4096
        while True:
            file.seek(max(0, size - step))
            tail = file.read()
            whole = tail.rpartition(b"\n")[0]
            if b"\n" in whole or step >= size:
                break
            step *= 4
        if not tail.endswith(b"\n"):
            file.truncate(size - len(tail) + len(whole) + (1 if whole else 0))
        return first, _parsed(whole.rpartition(b"\n")[2])


def _newest_first(path: Path, step: int = 65_536) -> Iterator[bytes]:
    """Yield the lines of a file from its end, so that what is old is not read."""
    rest = b""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            begin = max(0, end - step)
            file.seek(begin)
            rest, *lines = (file.read(end - begin) + rest).split(b"\n")
            yield from reversed(lines)
            end = begin
    yield rest


def _read(path: Path) -> tuple[list[Access], list[str]]:
    found, faults = [], []
    content = path.read_bytes() if path.exists() else b""
    for place, text in enumerate(content.splitlines(), 1):
        if (line := _parsed(text)) is None:
            faults.append(f"line {place} of the file cannot be read")
        else:
            found.append(line)
    return found, faults


def _parsed(text: bytes) -> Access | None:
    try:
        told = json.loads(text)
        return Access(**{**told, "details": tuple(map(str, told["details"]))})
    except (ValueError, TypeError, KeyError):
        return None


def _line(line: Access) -> bytes:
    return json.dumps(asdict(line), ensure_ascii=True).encode() + b"\n"
