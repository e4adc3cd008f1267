"""Cache of results by the content of their data: in memory up to a size, and on disk.

On disk they are found again after a restart and by other processes, whole or not at all: a folder for each content (its
digest), in it a file for each result and an empty file for each dataset that has this content. `ResultStore.erase` of
one dataset leaves what another one owns as well.
"""

import hashlib
import os
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.rater_codes import with_names, with_names_in
from ..errors import PluralityError
from ..settings import MEGABYTE, current_settings
from .encoding import DAMAGED, NotStorableError, from_bytes, to_bytes
from .files import PAUSE, TRIES, discard, sweep_drafts, unkept_folder, write_whole

MOST_NAMINGS = 4
STORED_FROM = 0.25  # seconds; what is quicker is computed again after a restart
_ENDING = ".result"
_OWNER = ".owner"


class ResultStore:
    """Store of results in a folder.

    Parameters
    ----------
    folder : callable
        Returns the folder, which need not exist.
    most_bytes : callable
        Returns the largest total size of results; the ones used longest ago are removed first.
    """

    def __init__(self, folder: Callable[[], Path], most_bytes: Callable[[], int]):
        self._folder, self._most = folder, most_bytes

    def get(self, dataset: Dataset, asked: tuple) -> tuple[Any] | None:
        """Return the result in a tuple, or None if none can be read; a damaged one is removed."""
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
        """Write a result; return False if it is of a kind that cannot be written, or the folder is not writable.

        Parameters
        ----------
        dataset : Dataset
            Dataset of the result.
        asked : tuple
            Identity of the result with options, seed and version, written by `repr`.
        result : Any
        owner : str
            Address of the dataset for which it was computed; see `erase`.
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
        """Write a result; try again a few times if the folder is removed meanwhile with other data of this content."""
        for _ in range(TRIES - 1):
            try:
                return self._write(path, content, owner)
            except FileNotFoundError:
                time.sleep(PAUSE)
        return self._write(path, content, owner)

    def _write(self, path: Path, content: bytes, owner: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / f"{_name(owner)}{_OWNER}").touch()
        write_whole(path, content, lasting=False)

    def owned(self, owner: str) -> list[str]:
        """List the digests of the contents for which a dataset has results."""
        return sorted(path.parent.name for path in self._folder().glob(f"*/{_name(owner)}{_OWNER}"))

    def own(self, content: str, owner: str) -> None:
        """Register a dataset as an owner of that content, if there are results of it."""
        if self.has(content):
            with suppress(OSError):
                (self._folder() / content / f"{_name(owner)}{_OWNER}").touch()

    def has(self, content: str) -> bool:
        """Return whether there are results of that content."""
        return (self._folder() / content).is_dir()

    def holds(self, content: str, asked: tuple) -> bool:
        """Return whether that result of a content is available now."""
        return self._path(content, asked).exists()

    def erase(self, owner: str) -> list[str]:
        """Remove the results that only this dataset owns; return the digests of the contents removed."""
        erased = []
        for content in self.owned(owner):
            place = self._folder() / content
            discard(place / f"{_name(owner)}{_OWNER}")
            if not any(place.glob(f"*{_OWNER}")):
                shutil.rmtree(place, ignore_errors=True)
                erased.append(content)
        return erased

    def move(self, owner: str, other: "ResultStore") -> None:
        """Move the results of a dataset to another store, for example when the dataset is saved."""
        for content in self.owned(owner):
            place = other._folder() / content
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{_name(owner)}{_OWNER}").touch()
            for path in (self._folder() / content).glob(f"*{_ENDING}"):
                with suppress(OSError):
                    write_whole(place / path.name, path.read_bytes(), lasting=False)
        self.erase(owner)

    def size(self) -> int:
        """Return the size of all results in bytes."""
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
        """Remove incomplete files that a killed process left."""
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
    """Return the store of results of saved data, which all processes share and which survives a restart."""
    return ResultStore(lambda: current_settings().results, _most_bytes)


def fleeting_results() -> ResultStore:
    """Return the store of results of data that are not saved, which lasts as long as the server runs."""
    return ResultStore(lambda: unkept_folder() / "results", _most_bytes)


def _most_bytes() -> int:
    return current_settings().results_mb * MEGABYTE


def _name(owner: str) -> str:
    return hashlib.blake2b(owner.encode(), digest_size=16).hexdigest()


class Remembered:
    """Result together with its versions under the names of several datasets.

    Parameters
    ----------
    result : Any
    soon_again : callable, optional
        Function that returns whether it can now be read from disk, or computed, in a moment; False if omitted.
    """

    def __init__(self, result: Any, soon_again: Callable[[], bool] = lambda: False):
        self.result, self.soon_again = result, soon_again
        self.size = size_of(result)
        self._named: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def named(self, dataset: Dataset) -> Any:
        """Return the result with the names of a dataset of that content; the same object each time."""
        with self._lock:
            if dataset.names_digest not in self._named:
                self._named[dataset.names_digest] = with_names(self.result, dataset)
            self._named.move_to_end(dataset.names_digest)
            while len(self._named) > MOST_NAMINGS:
                self._named.popitem(last=False)
            return self._named[dataset.names_digest]


class Results:
    """All results, in memory and on disk.

    Parameters
    ----------
    most_bytes : int
        Largest size of results in memory; beyond it, those used longest ago are removed, and read from disk when they
        are needed again.
    kept : ResultStore
        Store for saved data.
    fleeting : ResultStore
        Store for data that are not saved; it ends with the server.
    is_kept : callable
        Function that returns whether the dataset of an address is saved.
    """

    def __init__(self, most_bytes: int, kept: ResultStore, fleeting: ResultStore, is_kept: Callable[[str], bool]):
        self._most = most_bytes
        self._kept, self._fleeting, self._is_kept = kept, fleeting, is_kept
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}
        self._found: OrderedDict[tuple[str, Hashable], Remembered] = OrderedDict()
        self._owners: dict[str, set[str]] = {}
        self.bytes = 0

    def of(self, dataset: Dataset, asked: tuple, work: Callable[[Dataset], Any], owner: str) -> Any:
        """Return the result of ``work`` on the content of the dataset, with the names of this dataset.

        A result that is requested twice at once is computed once: the second request waits for the first.

        Parameters
        ----------
        dataset : Dataset
        asked : tuple
            Identity of the result: method, options, seed, version.
        work : callable
            Called with ``dataset.coded``, which has no names. Its errors are raised, and it is tried again the next
            time.
        owner : str
            Address of the dataset for which it is computed; used by `forget`.
        """
        key = (dataset.content_digest, asked)
        found = self._get(key, owner)
        while found is None:
            with self._lock:
                making = self._making.setdefault(key, threading.Lock())
            with making:
                try:
                    found = self.look(dataset, asked, owner) or self._made(dataset, asked, work, owner)
                except PluralityError as error:
                    raise with_names_in(error, dataset) from None
                finally:
                    with self._lock:
                        self._making.pop(key, None)
        return found.named(dataset)

    def look(self, dataset: Dataset, asked: tuple, owner: str) -> Remembered | None:
        """Return the result if it is in memory or on disk.

        Parameters
        ----------
        dataset : Dataset
        asked : tuple
            Identity of the result: method, options, seed.
        owner : str
            Address of the dataset for which it is looked up.
        """
        found = self._get((dataset.content_digest, asked), owner)
        if found is None:
            for store in (self._kept, self._fleeting):
                read = store.get(dataset, asked)
                if read is not None:
                    if store is self._fleeting or self._is_kept(owner):
                        store.own(dataset.content_digest, owner)
                    return self._put(dataset, asked, read[0], owner)
        return found

    def put(self, dataset: Dataset, asked: tuple, result: Any, owner: str, seconds: float) -> Remembered:
        """Add a result; write it to disk only if it is worth it.

        Parameters
        ----------
        dataset, asked, owner
            See `look`.
        result
            Computed result.
        seconds : float
            Time that it took.
        """
        quick = seconds < STORED_FROM
        if not quick:
            (self._kept if self._is_kept(owner) else self._fleeting).put(dataset, asked, result, owner)
        return self._put(dataset, asked, result, owner, quick=quick)

    def discard(self) -> None:
        """Keep in memory only results that took long and are not on disk; the others can be restored in a moment."""
        with self._lock:
            for key in [key for key, found in self._found.items() if found.soon_again()]:
                self.bytes -= self._found.pop(key).size

    def keep(self, owner: str) -> None:
        """Move the results of a dataset to the store of saved data."""
        self._fleeting.move(owner, self._kept)
        for content in self.owned(owner):
            self._kept.own(content, owner)

    def forget(self, owner: str) -> set[str]:
        """Erase all results of a dataset except those of contents that another one has; return the contents erased."""
        erased = {*self._kept.erase(owner), *self._fleeting.erase(owner)}
        elsewhere = {content for content in erased if self._kept.has(content) or self._fleeting.has(content)}
        with self._lock:
            for content, owners in list(self._owners.items()):
                owners.discard(owner)
                if not owners:
                    del self._owners[content]
                    erased.add(content)
            gone = {content for content in erased - elsewhere if content not in self._owners}
            for key in [key for key in self._found if key[0] in gone]:
                self.bytes -= self._found.pop(key).size
        return gone

    def owned(self, owner: str) -> set[str]:
        """List the digests of the contents for which a dataset has results."""
        with self._lock:
            return {content for content, owners in self._owners.items() if owner in owners}

    def _made(self, dataset: Dataset, asked: tuple, work: Callable[[Dataset], Any], owner: str) -> Remembered:
        started = time.monotonic()
        result = work(dataset.coded)
        return self.put(dataset, asked, result, owner, time.monotonic() - started)

    def _get(self, key: tuple[str, Hashable], owner: str) -> Remembered | None:
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
                self._owners.setdefault(key[0], set()).add(owner)
            return found

    def _put(self, dataset: Dataset, asked: tuple, result: Any, owner: str, *, quick: bool = False) -> Remembered:
        content = dataset.content_digest
        key = content, asked
        # Checked when it is to be discarded, because its file may have been removed for its size or with other data.
        found = Remembered(
            result, lambda: quick or any(store.holds(content, asked) for store in (self._kept, self._fleeting))
        )
        with self._lock:
            before = self._found.pop(key, None)
            self.bytes += found.size - (0 if before is None else before.size)
            self._found[key] = found
            self._owners.setdefault(key[0], set()).add(owner)
            while self.bytes > self._most and len(self._found) > 1:
                self.bytes -= self._found.popitem(last=False)[1].size
            return found


def size_of(value: Any) -> int:
    """Return about how many bytes an object has: its arrays and texts, each counted once."""
    seen: set[int] = set()

    def walk(one: Any) -> int:
        if id(one) in seen:
            return 0
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            return 100 + one.nbytes
        if isinstance(one, str | bytes):
            return 50 + len(one)
        if isinstance(one, dict):
            return 60 + sum(walk(key) + walk(inner) for key, inner in one.items())
        if isinstance(one, tuple | list | set | frozenset):
            return 50 + 8 * len(one) + sum(map(walk, one))
        if is_dataclass(one) and not isinstance(one, type):
            return 50 + sum(walk(getattr(one, field.name)) for field in fields(one))
        return 32

    return walk(value)
