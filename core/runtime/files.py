"""Write files whole or not at all, sweep drafts whose process is gone, and read arrays of NumPy.

The header of a file of NumPy is a Python literal, and CPython before 3.13 may fail to parse two at once with
``SystemError: AST constructor recursion depth mismatch``: if finalisers run on the way, the thread changes within the
parser, which counts its depth for all threads together. So headers are read one at a time, and the rest is not.
"""

import math
import os
import re
import secrets
import shutil
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from ..settings import current_settings

_DRAFT = re.compile(r"\.(?:writing|keeping|erasing|running)-(?P<host>.+)-(?P<process>\d+)-(?P<run>[^-]+)-[^-]+")
_RUN = secrets.token_hex(4)  # distinguishes this process from an earlier one with the same number
TRIES, PAUSE = 25, 0.02  # seconds
LOCK, _UNKEPT = ".lock", ".unkept"
# Seconds after which a draft from another computer with the same folder, or of unknown origin, is removed.
_OLD = {"writing": 3_600.0, "keeping": 3_600.0, "erasing": 3_600.0, "running": 604_800.0}
_ONE_AT_A_TIME = threading.Lock()
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def write_whole(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Write a file so that it is there whole or not at all, even if the process ends meanwhile.

    Parameters
    ----------
    path : Path
    content : bytes
    lasting : bool
        Also survive a stop of the machine, which waits for the disk. Not needed for files that show that they are
        damaged and can be made again.
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
    """Open a file that only its owner may read or write; for use as the ``opener`` of `open`.

    Parameters
    ----------
    path : str
    flags : int
    """
    return os.open(path, flags, 0o600)


def put_in_place(draft: Path, place: Path) -> None:
    """Move a draft, a file or a folder, to its place; replace a file that is there.

    Windows refuses while another program has the file open, as a virus scanner does for a moment, so it is tried again
    there.

    Raises
    ------
    OSError
    """
    for _ in range(TRIES if os.name == "nt" else 0):
        try:
            os.replace(draft, place)
            return
        except PermissionError:
            time.sleep(PAUSE)
    os.replace(draft, place)


def erase_whole(folder: Path) -> None:
    """Remove a folder, whole or not at all: it is moved from its place before its first file is removed.

    Raises
    ------
    OSError
    """
    draft = folder.parent / draft_name("erasing")
    put_in_place(folder, draft)
    shutil.rmtree(draft)


def discard(path: Path) -> bool:
    """Remove a file; return False if that is not possible, as on Windows while it is open elsewhere."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def draft_name(what: str) -> str:
    """Return a name for a file that is being written or removed, with its state and this process in it."""
    return f".{what}-{socket.gethostname()}-{os.getpid()}-{_RUN}-{secrets.token_hex(6)}"


def sweep_drafts(folder: Path, *, named_whole: bool = False) -> None:
    """Remove drafts in a folder whose process is gone.

    Parameters
    ----------
    folder : Path
        Folder to sweep, which need not exist.
    named_whole : bool
        Remove only files whose whole name is that of a draft, see `draft_name`.
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
    """Return whether a path is a draft of some process, or needed only while a process runs."""
    return path.name == _UNKEPT or path.suffix == LOCK or _DRAFT.fullmatch(path.name) is not None


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
    """Return whether a process of that number runs on this computer."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_RUNNING = draft_name("running")


def running_folder() -> Path:
    """Return the folder of files that this process needs only while it runs."""
    return current_settings().home / _RUNNING


def unkept_folder() -> Path:
    """Return the folder of data that are not saved, and of their results: of this process or of all of a server."""
    settings = current_settings()
    return settings.home / _UNKEPT if settings.several_processes else running_folder()


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system opens folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_array(file: IO[bytes]) -> np.ndarray:
    """Return the array of an open .npy file that is read to its end; read-only.

    Raises
    ------
    ValueError
        The file is not a .npy file, is incomplete, or contains objects.
    """
    shape, by_columns, dtype = _header(file)
    return _array(shape, dtype, file.read(), by_columns)


def load_array(path: Path) -> np.ndarray:
    """Return the array of a .npy file on disk; writable. See `read_array`."""
    with path.open("rb") as file:
        shape, by_columns, dtype = _header(file)
        return _array(shape, dtype, np.fromfile(file, np.uint8), by_columns)


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a .npz file, by name."""
    with _ONE_AT_A_TIME, np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def load_any(file: IO[bytes]) -> np.ndarray:
    """Return what `numpy.load` reads from a file that a user provided, without pickles."""
    with _ONE_AT_A_TIME:
        return np.load(file, allow_pickle=False)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"Could not read the array: version {version} of .npy files is not supported")
    with _ONE_AT_A_TIME:
        shape, by_columns, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("Could not read the array: it contains objects")
    return shape, by_columns, dtype


def _array(shape: tuple[int, ...], dtype: np.dtype, content: bytes | np.ndarray, by_columns: bool) -> np.ndarray:
    if len(content) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"An array of shape {shape} and type {dtype} does not have {len(content)} bytes")
    return np.ndarray(shape, dtype, content, order="F" if by_columns else "C")
