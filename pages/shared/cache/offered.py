"""Which files pages offered to whom: an address of a file is given only to who saw it on a page of their own.

Streamlit gives a file at ``/media/…`` to everybody who has its address, which is a digest of its content. Requests
for files come outside of sessions, with the cookie of a sign-in alone; the doors around the server ask who that is.
"""

import math
import threading
import time
from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from core.access_record import EXPORTED, record_access
from core.people import SignedOutError

from . import sign_in, streamlit_private

_SECONDS_TO_FETCH = 60.0


class OfferedFiles(streamlit_private.WatchedFiles):
    """Streamlit's files, and the names of the people on whose pages each of them is; forgotten with the file."""

    def __init__(self, storage: Any):
        super().__init__(storage)
        self._names: dict[str, set[str]] = {}
        self._exports: dict[str, tuple[str, str]] = {}  # data and name of what a press would make
        self._made: dict[str, float] = {}  # when a press made the file
        self._naming = threading.Lock()

    def add(self, *asked: Any, **options: Any) -> str:
        """Keep a file that a page shows to the current user; return its address.

        Parameters
        ----------
        asked, options
            Arguments of Streamlit's `MediaFileManager.add`.
        """
        return self._noted(super().add(*asked, **options), {_name()})

    def add_deferred(self, *asked: Any, **options: Any) -> str:
        """Keep what makes a file for the current user; return its id until then.

        Parameters
        ----------
        asked, options
            Arguments of `MediaFileManager.add_deferred`.
        """
        address = self._noted(super().add_deferred(*asked, **options), {_name()})
        self._exports[address] = str(st.query_params.get("data", "")), str(options.get("file_name") or "")
        return address

    def execute_deferred(self, file_id: str) -> str:
        """Make the file, for whom its button was; returns its address. Called outside of their session.

        Parameters
        ----------
        file_id : str
            Id from `add_deferred`.
        """
        names = self._names.get(file_id, set())
        dataset, file = self._exports.get(file_id, ("", ""))
        for name in sorted(names):
            record_access(name, EXPORTED, dataset, [file])
        address = super().execute_deferred(file_id)
        self._made[PurePosixPath(address).stem] = time.monotonic()
        return self._noted(address, names)

    def is_kept(self, file_id: str) -> bool:
        """Return True for a minute after a press made the file, so that a slow browser still gets it."""
        return time.monotonic() - self._made.get(file_id, -math.inf) < _SECONDS_TO_FETCH

    def is_for(self, name: str, path: str) -> bool:
        """Return True if a file is on a page of this user, or was made for them.

        Parameters
        ----------
        name : str
            Name of the user who requests it.
        path : str
            Path of its address; the last part is the file.
        """
        return name in self._names.get(PurePosixPath(path).stem, ())

    def _noted(self, address: str, names: set[str]) -> str:
        with self._naming:
            self._names.setdefault(PurePosixPath(address).stem, set()).update(names - {""})
        return address

    def forgotten(self, file_id: str) -> None:
        """Forget for whom it was."""
        self._names.pop(file_id, None)
        self._exports.pop(file_id, None)
        self._made.pop(file_id, None)


def begin() -> None:
    """From now on the server's files are offered to people: before the first session."""
    streamlit_private.replace_files(OfferedFiles)


def is_for(name: str, path: str) -> bool:
    """See `OfferedFiles.is_for`; nothing is, of a server that has not begun.

    Parameters
    ----------
    name, path : str
        As there.
    """
    files = streamlit_private.files()
    return isinstance(files, OfferedFiles) and files.is_for(name, path)


def _name() -> str:
    try:
        return sign_in.name()
    except SignedOutError:
        return ""
