"""Results on disk: found again after a restart and by other processes, whole or not at all, up to a size.

A folder for each content (its digest), in it a file for each result and an empty file for each dataset that has this
content: `erase` of one dataset leaves what another one owns as well.
"""

import hashlib
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..settings import MEGABYTE, current_settings
from .encoding import DAMAGED, NotStorableError, from_bytes, to_bytes

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where one process serves
    fcntl = None  # type: ignore[assignment]

_ENDING = ".result"
_OWNER = ".owner"
_DRAFT = re.compile(r"\.(?:writing|keeping|erasing|running)-(?P<host>.+)-(?P<process>\d+)-(?P<run>[^-]+)-[^-]+")
_RUN = secrets.token_hex(4)  # tells this process from an earlier one of the same number
_TRIES, _PAUSE = 25, 0.02  # seconds
# Seconds after which what was begun on another computer that shares the folder, or by who knows whom, is nobody's.
_UNKEPT, _LOCK = ".unkept", ".lock"
_held: list[int] = []  # the open file by which this process says that it serves, beside others
_OLD = {"writing": 3_600.0, "keeping": 3_600.0, "erasing": 3_600.0, "running": 604_800.0}


class ResultStore:
    """Results under a folder.

    Parameters
    ----------
    folder : callable
        Gives the folder; it need not exist.
    most_bytes : callable
        Gives the largest size of all results together; the ones used longest ago go first.
    """

    def __init__(self, folder: Callable[[], Path], most_bytes: Callable[[], int]):
        self._folder, self._most = folder, most_bytes

    def get(self, dataset: Dataset, asked: tuple) -> tuple[Any] | None:
        """The result in a tuple, or None where there is none that can be read; one that is damaged is removed."""
        path = self._path(dataset.content_digest, asked)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        try:
            result = from_bytes(content, dataset.coded)
        except DAMAGED:
            discard(path)
            return None
        with suppress(OSError):
            os.utime(path)
        return (result,)

    def put(self, dataset: Dataset, asked: tuple, result: Any, owner: str) -> bool:
        """Write a result; False where it is of a kind that is not written, or the folder cannot be.

        Parameters
        ----------
        dataset : Dataset
            That it is of.
        asked : tuple
            What was computed, with options, seed and version, written by `repr`.
        result : Any
        owner : str
            The address of the dataset in whose name it was computed; see `erase`.
        """
        path = self._path(dataset.content_digest, asked)
        try:
            content = to_bytes(result, dataset.coded)
            self._write_again(path, content, owner)
        except (OSError, NotStorableError):
            return False
        self.trim()
        return True

    def _write_again(self, path: Path, content: bytes, owner: str) -> None:
        """Write it, a few times where whoever forgets other data of this content takes the folder away meanwhile."""
        for _ in range(_TRIES - 1):
            try:
                return self._write(path, content, owner)
            except FileNotFoundError:
                time.sleep(_PAUSE)
        return self._write(path, content, owner)

    def _write(self, path: Path, content: bytes, owner: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / f"{_name(owner)}{_OWNER}").touch()
        write_whole(path, content, lasting=False)

    def owned(self, owner: str) -> list[str]:
        """Digests of the contents that were computed upon for a dataset."""
        return sorted(path.parent.name for path in self._folder().glob(f"*/{_name(owner)}{_OWNER}"))

    def own(self, content: str, owner: str) -> None:
        """Say that a dataset has that content, where there are results of it."""
        if self.has(content):
            with suppress(OSError):
                (self._folder() / content / f"{_name(owner)}{_OWNER}").touch()

    def has(self, content: str) -> bool:
        """Whether there are results of that content."""
        return (self._folder() / content).is_dir()

    def holds(self, content: str, asked: tuple) -> bool:
        """Whether that result of a content is there now."""
        return self._path(content, asked).exists()

    def erase(self, owner: str) -> list[str]:
        """Remove the results of a dataset save those that another one owns too; the digests of contents removed."""
        erased = []
        for content in self.owned(owner):
            place = self._folder() / content
            discard(place / f"{_name(owner)}{_OWNER}")
            if not any(place.glob(f"*{_OWNER}")):
                shutil.rmtree(place, ignore_errors=True)
                erased.append(content)
        return erased

    def move(self, owner: str, other: "ResultStore") -> None:
        """Take the results of a dataset to another store, as when data are kept that were not before."""
        for content in self.owned(owner):
            place = other._folder() / content
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{_name(owner)}{_OWNER}").touch()
            for path in (self._folder() / content).glob(f"*{_ENDING}"):
                with suppress(OSError):
                    write_whole(place / path.name, path.read_bytes(), lasting=False)
        self.erase(owner)

    def size(self) -> int:
        """Bytes of all results."""
        return sum(size for _, size, _ in self._files())

    def trim(self) -> None:
        """Remove the results used longest ago until the rest is within the size."""
        files = self._files()
        total, most = sum(size for _, size, _ in files), self._most()
        for _, size, path in sorted(files, key=lambda file: file[0]):
            if total <= most:
                return
            if discard(path):
                total -= size

    def sweep(self) -> None:
        """Remove what a process that was killed left half written."""
        for place in [*self._folder().glob("*")]:
            sweep_drafts(place)

    def _files(self) -> list[tuple[float, int, Path]]:
        found = []
        for path in self._folder().glob(f"*/*{_ENDING}"):
            with suppress(OSError):
                state = path.stat()
                found.append((state.st_mtime, state.st_size, path))
        return found

    def _path(self, content: str, asked: tuple) -> Path:
        return (
            self._folder() / content / f"{hashlib.blake2b(repr(asked).encode(), digest_size=16).hexdigest()}{_ENDING}"
        )


def kept_results() -> ResultStore:
    """Results of data that are kept, for all processes and after a restart."""
    return ResultStore(lambda: current_settings().results, _most_bytes)


def fleeting_results() -> ResultStore:
    """Results of data that are not kept, while the server runs."""
    return ResultStore(lambda: unkept_folder() / "results", _most_bytes)


def _most_bytes() -> int:
    return current_settings().results_mb * MEGABYTE


def _name(owner: str) -> str:
    return hashlib.blake2b(owner.encode(), digest_size=16).hexdigest()


def write_whole(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Write a file so that it is there whole or not at all, even if the process ends meanwhile.

    Parameters
    ----------
    path : Path
    content : bytes
    lasting : bool
        Also if the machine stops; that waits for the disk. Not needed of what says itself that it is damaged, and can
        be made again.
    """
    draft = path.parent / draft_name("writing")
    try:
        with open(draft, "xb", opener=private) as file:
            file.write(content)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        put_in_place(draft, path)
        if lasting:
            _sync_folder(path.parent)
    except BaseException:
        discard(draft)
        raise


def private(path: str, flags: int) -> int:
    """Open a file that only its owner may read or write, as the ``opener`` of `open`.

    Parameters
    ----------
    path : str
    flags : int
    """
    return os.open(path, flags, 0o600)


def put_in_place(draft: Path, place: Path) -> None:
    """Move a draft, a file or a folder, to its place; a file that is there is replaced.

    Windows refuses while another program has a file open, as one that looks for viruses does for a moment: it is tried
    again there.

    Raises
    ------
    OSError
    """
    for _ in range(_TRIES if os.name == "nt" else 0):
        try:
            os.replace(draft, place)
            return
        except PermissionError:
            time.sleep(_PAUSE)
    os.replace(draft, place)


def erase_whole(folder: Path) -> None:
    """Remove a folder, whole or not at all: it leaves its place before the first of its files goes.

    Raises
    ------
    OSError
    """
    draft = folder.parent / draft_name("erasing")
    put_in_place(folder, draft)
    shutil.rmtree(draft)


def discard(path: Path) -> bool:
    """Remove a file; False where it cannot be, as on Windows while it is open elsewhere."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def draft_name(what: str) -> str:
    """A name for what is being written or removed, "writing", "keeping" or "erasing", that says by which process."""
    return f".{what}-{socket.gethostname()}-{os.getpid()}-{_RUN}-{secrets.token_hex(6)}"


def sweep_drafts(folder: Path, *, named_whole: bool = False) -> None:
    """Remove drafts in a folder whose process is gone.

    Parameters
    ----------
    folder : Path
        It need not exist.
    named_whole : bool
        Only what has the whole name of a draft, see `draft_name`.
    """
    with suppress(OSError):  # another process may have removed the folder
        paths = [path for what in _OLD for path in folder.glob(f".{what}-*")]
        _sweep([path for path in paths if not named_whole or _DRAFT.fullmatch(path.name)])


def _sweep(drafts: list[Path]) -> None:
    for path in drafts:
        if not _in_use(path):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                discard(path)


def is_draft(path: Path) -> bool:
    """Whether a path is of what some process is just writing, or needs only while it runs."""
    return path.name == _UNKEPT or path.suffix == _LOCK or _DRAFT.fullmatch(path.name) is not None


def _in_use(draft: Path) -> bool:
    told = _DRAFT.fullmatch(draft.name)
    # On Windows os.kill(…, 0) does not ask after a process, it sends Ctrl-C.
    if told is not None and told["host"] == socket.gethostname() and os.name == "posix":
        process = int(told["process"])
        return told["run"] == _RUN if process == os.getpid() else _is_alive(process)
    try:
        return time.time() - draft.stat().st_mtime < _OLD[draft.name[1:].partition("-")[0]]
    except OSError:
        return False


def _is_alive(process: int) -> bool:
    """Whether a process of that number runs on this computer."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_RUNNING = draft_name("running")


def running_folder() -> Path:
    """What this process needs only while it runs."""
    return current_settings().home / _RUNNING


def unkept_folder() -> Path:
    """Data that are not kept, and what was computed from them: of this process, or of all processes of one server."""
    settings = current_settings()
    return settings.home / _UNKEPT if settings.several_processes else running_folder()


def begin_running() -> None:
    """Where several processes serve: say that this one does. The first of them finds nothing of those before.

    Raises
    ------
    InputError
        The system knows no locks of files (Windows), or the home folder cannot be written.
    """
    if not current_settings().several_processes or _held:
        return
    if fcntl is None:
        raise InputError("Several processes need a system with locks of files.", "Unset PLURALITY_SEVERAL_PROCESSES.")
    place = current_settings().home / f"{_UNKEPT}{_LOCK}"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(f"{place} cannot be written ({error.strerror}).", "Give the right to write to it.") from None
    _erase_alone(handle)
    fcntl.flock(handle, fcntl.LOCK_SH)
    _held.append(handle)


def end_running() -> None:
    """Remove what this process needed; the last of several removes what they shared."""
    shutil.rmtree(running_folder(), ignore_errors=True)
    while _held:
        handle = _held.pop()
        _erase_alone(handle)
        os.close(handle)


def _erase_alone(handle: int) -> None:
    """Erase what the processes of a server share where none of them runs; the system tells, also of killed ones."""
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(unkept_folder(), ignore_errors=True)


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Hold other processes of the server out of a block; threads of this one are the caller's to hold out.

    Parameters
    ----------
    name : str
        Of what is changed, as the file of the lock is called.

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
    handle = os.open(settings.home / f".{name}{_LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system opens folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
