"""Who computes a result, among the processes of one server that share a folder: one does, the others see how far it is.

There is no process in the middle that could fail: what is told is in files, and what is held are locks of the system,
which end with their process.
"""

import hashlib
import json
import os
import threading
from contextlib import suppress
from pathlib import Path

from ..settings import current_settings
from .result_files import discard, unkept_folder

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where one process serves
    fcntl = None  # type: ignore[assignment]

_TOLD_BYTES, _LONGEST_MESSAGE = 4_096, 300  # a letter has up to twelve bytes in JSON


class ComputeLock:
    """The right to compute one result, among the processes of this server; always had where there is only one.

    It is a lock of the system on a file that is named by the result. The system lets it go when its process dies,
    however it dies, so a lease is never stale. Who has it tells how far it is; who waits says so, by a lock as well.

    Parameters
    ----------
    content : str
        Digest of the content of the data.
    asked : tuple
        What is computed of it: method, options, seed, version.
    """

    def __init__(self, content: str, asked: tuple):
        self._name = hashlib.blake2b(repr((content, asked)).encode(), digest_size=16).hexdigest()
        self._handle: int | None = None
        self._waiting: int | None = None
        self._telling = threading.Lock()  # or words would go to a file that has taken the number of a closed one

    def acquire(self) -> bool:
        """Take it, if no other process has it; whether it is had now."""
        if not _leases() or self._handle is not None:
            return True
        try:
            self._handle = _locked(self._path(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._handle is not None:
                os.ftruncate(self._handle, 0)  # what a process said that was killed
        except OSError:  # the folder cannot be written: computed twice rather than not at all
            return True
        return self._handle is not None

    def release(self) -> None:
        """Let another process have it."""
        with self._telling:
            if self._handle is not None:
                discard(self._path())
                os.close(self._handle)
                self._handle = None

    def publish_progress(self, share: float, message: str, since: float) -> None:
        """Say how far the work is, for who waits for it elsewhere.

        Parameters
        ----------
        share : float
            Done, 0 to 1.
        message : str
            What is being done now.
        since : float
            When it began, seconds since 1970-01-01 UTC.
        """
        told = json.dumps([round(share, 4), message[:_LONGEST_MESSAGE], since]).encode()
        with self._telling, suppress(OSError):  # one write: who reads finds the old words or the new ones
            if self._handle is not None:
                os.lseek(self._handle, 0, os.SEEK_SET)
                os.write(self._handle, told.ljust(_TOLD_BYTES))

    def read_progress(self) -> tuple[float, str, float] | None:
        """What `publish_progress` was given last by the process that has it; None where it has said nothing."""
        with suppress(OSError, ValueError):
            share, message, since = json.loads(self._path().read_bytes())
            return float(share), str(message), float(since)
        return None

    def is_elsewhere(self) -> bool:
        """Whether another process has it now."""
        if not _leases() or self._handle is not None:
            return False
        return _is_locked(self._path(), fcntl.LOCK_SH)

    def wait(self) -> None:
        """Say that this process waits for the result, until `wait_no_more`."""
        while _leases() and self._waiting is None:
            try:
                self._waiting = _locked(self._waits(), fcntl.LOCK_SH)
            except OSError:
                return

    def wait_no_more(self) -> None:
        """Say that this process does not wait for it any more."""
        if self._waiting is not None:
            with suppress(OSError):  # others wait
                fcntl.flock(self._waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
                discard(self._waits())
            os.close(self._waiting)
            self._waiting = None

    def is_awaited(self) -> bool:
        """Whether another process waits for the result."""
        return _leases() and _is_locked(self._waits(), fcntl.LOCK_EX)

    def _path(self) -> Path:
        return unkept_folder() / "leases" / self._name

    def _waits(self) -> Path:
        return self._path().with_suffix(".waits")


def _leases() -> bool:
    """Whether there are other processes, from which something is leased."""
    return fcntl is not None and current_settings().several_processes


def _locked(path: Path, how: int) -> int | None:
    """An open file with a lock on it, made where it is not there; None where another one has it or removed it just now.

    Raises
    ------
    OSError
        The file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, how)
        if os.stat(path).st_ino == os.fstat(handle).st_ino:  # who had it may have removed the file meanwhile
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _is_locked(path: Path, how: int) -> bool:
    """Whether a process holds a lock on a file that this kind of lock does not go with."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)
