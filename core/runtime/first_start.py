"""First start on a computer: kernels are compiled in child processes, part by part, while the server answers."""

import hashlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from .numba_setup import SMALL, SMALL_UNCOMPILED, InterpretedWork
from .processes import COMMAND, NO_WINDOW, environment

# Two processes, each with its parts in the order of need; `core.warmup` does them. Report alone waits for
# kinds and openings, in which numbers and models of other kinds of data are compiled.
CHILDREN = (
    ("draws", "anchors", "raters", "models"),
    ("sampler", "summaries", "points", "others", "reading", "agreement", "kinds", "openings"),
)
# The pages of single cases, to which the first visit leads: what opens them, and what stands below.
AT_FIRST = ("draws", "summaries", "points", "others")
PARTS = tuple(dict.fromkeys((*AT_FIRST, *CHILDREN[0], *CHILDREN[1])))
# Parts that a server loads at its start; the others are loaded with the first data of their kinds.
EARLY = tuple(part for part in PARTS if part not in ("kinds", "openings"))


def compiled() -> bool:
    """Return whether all kernels of this version are in the folder of kernels."""
    return mark().exists()


def mark() -> Path:
    """Return the path of a file whose name is a digest of the kernels, this Python and this processor."""
    root = Path(__file__).parents[1]
    files = sorted(root.rglob("_*kernels.py"))
    stamps = [(str(file.relative_to(root)), file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    known = (str(root), stamps, importlib.metadata.version("numba"), sys.version, platform.machine())
    name = hashlib.blake2b(repr(known).encode(), digest_size=16).hexdigest()
    return Path(os.environ["NUMBA_CACHE_DIR"]) / f"compiled-{name}"


class Preparation:
    """Compilation of kernels at a first start, in child processes; does nothing if all kernels are compiled.

    If a child fails, its parts are compiled by the first call that needs them, as without a preparation.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ready = set(PARTS)
        self._codes: list[int | None] = []
        if compiled():
            return
        self._ready = set()
        InterpretedWork.most = (
            SMALL_UNCOMPILED  # else this process would compile as well as its children, to read the first file
        )
        for parts in CHILDREN:
            threading.Thread(target=self._run, args=(parts,), name="compiling", daemon=True).start()

    def missing(self, parts: Sequence[str] = PARTS) -> list[str]:
        """List those of these parts that are still being compiled."""
        return [part for part in parts if part not in self._ready]

    def wait(self, parts: Sequence[str] = PARTS, timeout: float | None = None) -> bool:
        """Block until these parts are ready; return False if ``timeout`` seconds passed first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.missing(parts), timeout)

    def _run(self, parts: tuple[str, ...]) -> None:
        code = None
        with suppress(OSError):
            command = (*COMMAND[:-1], f"{__package__.rpartition('.')[0]}.warmup", *parts)
            pipe = subprocess.PIPE  # the end of its input ends the child
            with subprocess.Popen(
                command,
                env=environment(),
                stdin=pipe,
                stdout=pipe,
                creationflags=NO_WINDOW,
                start_new_session=True,  # see `core.runtime.processes.stand_back`
            ) as child:
                for line in child.stdout or ():
                    self._report([line.decode().strip()])
                code = child.wait()
        self._codes.append(code)
        if self._codes == [0] * len(CHILDREN):
            mark().touch()
        self._report(parts)

    def _report(self, parts: Sequence[str]) -> None:
        with self._changed:
            self._ready.update(parts)
            if "reading" in self._ready:
                InterpretedWork.most = SMALL
            self._changed.notify_all()


@cache
def begin() -> Preparation:
    """Return the preparation of this process, started if needed; a server calls this before it loads what it serves."""
    return Preparation()
