"""Locks of the processes of one server: the right to compute a result, and the sign that a process is running.

No process in the middle could fail: progress is in files, and the locks are locks of the system, which end with their
process.
"""

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import InputError
from ..settings import current_settings
from .files import LOCK, discard, running_folder, unkept_folder

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where one process serves
    fcntl = None  # type: ignore[assignment]

_TOLD_BYTES, _LONGEST_MESSAGE = 4_096, 300  # a letter has up to twelve bytes in JSON
_held: list[int] = []  # the open file by which this process shows that it serves, among others
_serves: list[int] = []  # open files by which it says which home folders it uses


def begin_running() -> None:
    """Mark this process as serving if several do; the first of them erases files that earlier servers left.

    Raises
    ------
    InputError
        The system has no file locks (Windows), or the home folder cannot be written.
    """
    if not current_settings().several_processes or _held:
        return
    if fcntl is None:
        raise InputError(
            "Could not start more than one process: this system has no file locks.",
            "Unset PLURALITY_SEVERAL_PROCESSES.",
        )
    place = unkept_folder().with_suffix(LOCK)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(
            f"Could not write {place}: {error.strerror}.",
            "Give the user who runs Plurality write access to the folder.",
        ) from None
    _erase_alone(handle)
    fcntl.flock(handle, fcntl.LOCK_SH)
    _held.append(handle)


def end_running() -> None:
    """Remove the files of this process; the last of several also removes what they shared."""
    shutil.rmtree(running_folder(), ignore_errors=True)
    while _held:
        handle = _held.pop()
        _erase_alone(handle)
        os.close(handle)


def _erase_alone(handle: int) -> None:
    """Erase what the processes of a server share if none is running; their locks show that, also after a kill."""
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(unkept_folder(), ignore_errors=True)


def hold_home() -> None:
    """Mark the home folder as in use by this process, also if another folder has taken its place; see `unheld_home`.

    Raises
    ------
    OSError
        The home folder cannot be written.
    """
    if fcntl is None:
        return
    path = _serving()
    for handle in _serves:
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # a backup is being put back there
        os.close(handle)
        return
    _serves.append(handle)


@contextmanager
def unheld_home() -> Iterator[None]:
    """Keep servers out of an existing home folder for the duration of a block.

    Raises
    ------
    InputError
        A process is serving from it.
    OSError
        The home folder cannot be written.
    """
    if fcntl is None:
        yield
        return
    path = _serving()
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            remedy = "Stop the server first: systemctl stop plurality.target."
            raise InputError(f"A running server is using the folder {path.parent}.", remedy) from None
        try:
            yield
        finally:
            discard(path)
    finally:
        os.close(handle)


def _serving() -> Path:
    return current_settings().home / f".serving{LOCK}"


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Keep other processes of the server out of a block; the caller has to keep out threads of this one.

    Parameters
    ----------
    name : str
        Name of what is changed, used as the file name of the lock.

    Raises
    ------
    OSError
        The home folder cannot be written.
    """
    settings = current_settings()
    if fcntl is None or not settings.several_processes:
        yield
        return
    settings.home.mkdir(parents=True, exist_ok=True)
    handle = os.open(settings.home / f".{name}{LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class ComputeLock:
    """Right of one process of this server to compute one result; always granted if there is only one process.

    The lock is a system lock on a file named after the result. The system releases it when its process ends, however it
    ends, so a lock is never stale. The process that has it publishes its progress; a process that waits shows this by a
    lock as well.

    Parameters
    ----------
    content : str
        Digest of the content of the data.
    asked : tuple
        Identity of the result: method, options, seed, version.
    """

    def __init__(self, content: str, asked: tuple):
        self._name = hashlib.blake2b(repr((content, asked)).encode(), digest_size=16).hexdigest()
        self._handle: int | None = None
        self._waiting: int | None = None
        self._telling = threading.Lock()  # or words would go to a file that has taken the number of a closed one

    def acquire(self) -> bool:
        """Take the lock if no other process has it; return whether this process has it now."""
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
        """Release the lock."""
        with self._telling:
            if self._handle is not None:
                discard(self._path())
                os.close(self._handle)
                self._handle = None

    def publish_progress(self, share: float, message: str, since: float) -> None:
        """Publish the progress of the work, for processes that wait for it.

        Parameters
        ----------
        share : float
            Share done, 0 to 1.
        message : str
            Current step.
        since : float
            Start of the work, in seconds since 1970-01-01 UTC.
        """
        told = json.dumps([round(share, 4), message[:_LONGEST_MESSAGE], since]).encode()
        with self._telling, suppress(OSError):  # a single write, so that a reader gets the old or the new text
            if self._handle is not None:
                os.lseek(self._handle, 0, os.SEEK_SET)
                os.write(self._handle, told.ljust(_TOLD_BYTES))

    def read_progress(self) -> tuple[float, str, float] | None:
        """Return what the process with the lock published last by `publish_progress`; None if nothing."""
        with suppress(OSError, ValueError):
            share, message, since = json.loads(self._path().read_bytes())
            return float(share), str(message), float(since)
        return None

    def is_elsewhere(self) -> bool:
        """Return whether another process has the lock now."""
        if not _leases() or self._handle is not None:
            return False
        return _is_locked(self._path(), fcntl.LOCK_SH)

    def wait(self) -> None:
        """Mark this process as waiting for the result, until `wait_no_more`."""
        while _leases() and self._waiting is None:
            try:
                self._waiting = _locked(self._waits(), fcntl.LOCK_SH)
            except OSError:
                return

    def wait_no_more(self) -> None:
        """Remove the mark that this process waits."""
        if self._waiting is not None:
            with suppress(OSError):  # others wait
                fcntl.flock(self._waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
                discard(self._waits())
            os.close(self._waiting)
            self._waiting = None

    def is_awaited(self) -> bool:
        """Return whether another process waits for the result."""
        return _leases() and _is_locked(self._waits(), fcntl.LOCK_EX)

    def _path(self) -> Path:
        return unkept_folder() / "leases" / self._name

    def _waits(self) -> Path:
        return self._path().with_suffix(".waits")


def _leases() -> bool:
    """Return whether several processes serve, so that locks are needed."""
    return fcntl is not None and current_settings().several_processes


def _locked(path: Path, how: int) -> int | None:
    """Open a file with a lock on it, made if missing; return None if it is locked or was removed just now.

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
    except OSError:  # another process has the lock, or the file is gone
        pass
    os.close(handle)
    return None


def _is_locked(path: Path, how: int) -> bool:
    """Return whether a process has a lock on a file that conflicts with this kind of lock."""
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
