"""Run work in child processes, so that work that crashes does not end the dashboard.

A child is ``python -m core.runtime._worker FOLDER``. The folder holds the job (``job.json``, ``arrays.npz``) and takes
the result (``result.npz``). The child writes JSON lines to its standard output and stops when its standard input ends,
which also happens when this process dies.
"""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import Cancelled, PluralityError
from ..text import number
from .files import load_arrays

# -P: the folder from which the app was started must not shadow modules of the child.
COMMAND = (sys.executable, "-P", "-m", f"{__package__}._worker")
FOLDER_PREFIX = "plurality-"
NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows would open a console for each child
SILENCE = 120.0
GRACE = 0.4
_POLL = 0.05
_LONGEST_LINE = 65_536
_NICE = 10
_SESSION_NICE, _FAR = 2, 10
_TRIES = 5
_RESERVED = 1 << 28
_ROOT = Path(__file__).resolve().parents[2]


class WorkerError(PluralityError):
    """A child process ended without a result; the message states what happened and what to do."""


class CancelFlag(Protocol):
    """Flag that shows that the user asked to stop; `core.runtime.chunks.CancelToken` is one."""

    @property
    def cancelled(self) -> bool:
        """True once somebody asked to stop."""
        ...


def stand_back(*, far: bool = False) -> None:
    """Give this child process, started as a session of its own, the lowest priority on the computer.

    Linux shares processors among sessions first; niceness counts only within one session, and the browser is in
    another. Windows has no such call: there the parent sets the priority when it starts the child.

    Parameters
    ----------
    far : bool
        Also yield to other children of low priority: nobody waits for this one.
    """
    if hasattr(os, "nice"):
        os.nice(_NICE)
        if os.getsid(0) == os.getpid():
            _come_after(_FAR if far else _SESSION_NICE)


def limit_memory(most: int) -> None:
    """Limit this process to ``most`` bytes more than it has, on Linux; further requests for memory fail.

    Reserved memory counts even if it is never written, as in Arrow's heaps, so the limit leaves some room for it.
    """
    import psutil

    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return
    if sys.platform == "linux":
        limit = psutil.Process().memory_info().data + most + _RESERVED
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _come_after(niceness: int) -> None:
    for _ in range(_TRIES):
        try:
            Path("/proc/self/autogroup").write_bytes(b"%d" % niceness)
        except BlockingIOError:  # of all processes one in 0.1 s may write to such a file
            time.sleep(random.uniform(0.1, 0.2))
        except OSError:  # there is none elsewhere, or it may not be written
            return
        else:
            return


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Work of one child process.

    Attributes
    ----------
    settings : dict
        Settings, of types that JSON can hold.
    arrays : dict of str to ndarray
    total : int
        Number of steps of the whole work.
    """

    settings: dict
    arrays: dict[str, np.ndarray]
    total: int


def run_workers(
    works: Sequence[Work],
    *,
    token: CancelFlag | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, np.ndarray]]:
    """Run all works at the same time, each in a child process, and return their results.

    Parameters
    ----------
    works : sequence of Work
    token : CancelFlag, optional
        Checked 20 times a second; children end within a second after it is set.
    progress : callable, optional
        Called with the steps done and the total number of steps, in the caller's thread.

    Raises
    ------
    WorkerError
        A child was killed, crashed, could not write its result, was silent for two minutes, or failed.
    Cancelled
        The token was set.
    """
    children: list[_Child] = []
    total = sum(work.total for work in works)
    try:
        for work in works:
            children.append(_Child(work))  # noqa: PERF401 - where one cannot start, those before it must be closed
        while True:
            if token is not None and token.cancelled:
                raise Cancelled("Cancelled. Nothing was changed.")
            _held(children, token)
            ended = [child.has_ended() for child in children]
            if progress is not None:
                progress(min(sum(child.done for child in children), total), total)
            if all(ended):
                return [child.result() for child in children]
            time.sleep(_POLL)
    finally:
        for child in children:
            child.ask_to_stop()
        deadline = time.monotonic() + GRACE
        for child in children:
            child.close(deadline)


def _held(children: list["_Child"], token: Any) -> None:
    """Suspend the children while nobody watches the work."""
    if not getattr(token, "paused", False):
        return
    for child in children:
        child.signal("SIGSTOP")
    try:
        token.check()  # returns when it goes on, and raises where it ends
    finally:
        for child in children:
            child.signal("SIGCONT")


class _Child:
    """Child process, its folder, and the thread that reads its messages."""

    def __init__(self, work: Work):
        self.done = 0
        self._said: dict = {}
        self._rubbish: str | None = None
        self._heard = time.monotonic()
        self._folder = _folder_with(work)
        try:
            with open(self._folder / "errors.txt", "wb") as errors:
                self._process = subprocess.Popen(
                    [*COMMAND, str(self._folder)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=environment(),
                    creationflags=NO_WINDOW,
                )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise WorkerError(
                f"Could not start a worker process: {error}. Close other programs and try again."
            ) from error
        self._reader = threading.Thread(target=self._listen, name="worker-lines", daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None  # it was opened as a pipe
        for line in iter(lambda: stdout.readline(_LONGEST_LINE), b""):
            self._heard = time.monotonic()
            try:
                message = json.loads(line)
                done = int(message.pop("done", self.done))
            except (ValueError, AttributeError, TypeError):
                self._rubbish = line[:80].decode("utf-8", "replace").strip()
                return
            self.done = done
            self._said.update(message)

    def has_ended(self) -> bool:
        """Return whether the child has ended without error; raise if it failed or was silent for too long."""
        code = self._process.poll()
        if code is not None:
            self._reader.join(1.0)
        if self._rubbish is not None:
            raise WorkerError(
                f"The worker process wrote an unexpected line: “{self._rubbish}”. Try again. If this happens again, "
                "check whether another program writes to its output."
            )
        if code is None:
            if time.monotonic() - self._heard > SILENCE:
                raise WorkerError(
                    f"The worker process did not respond for {number(SILENCE, 0)} seconds and was stopped. Try again "
                    "when the computer is less busy."
                )
            return False
        if code != 0 or "finished" not in self._said:
            raise WorkerError(self._said.get("error") or what_happened(code, self._last_words()))
        return True

    def signal(self, name: str) -> None:
        """Stop the child or let it continue, on systems that can."""
        self._heard = time.monotonic()
        if hasattr(signal, name) and self._process.poll() is None:
            self._process.send_signal(getattr(signal, name))

    def result(self) -> dict[str, np.ndarray]:
        """Return the arrays that the child wrote."""
        try:
            return load_arrays(self._folder / "result.npz")
        except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile) as error:
            raise WorkerError(f"Could not read the result: {error}. Try again.") from error

    def ask_to_stop(self) -> None:
        """Ask the child to stop, by closing its input."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def close(self, deadline: float) -> None:
        """Wait for the child until ``deadline``, then end it by force, and remove its folder."""
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(1.0)
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _last_words(self) -> str:
        try:
            lines = (self._folder / "errors.txt").read_text("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1][:300] if lines else ""


def _folder_with(work: Work) -> Path:
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        (folder / "job.json").write_text(json.dumps(work.settings), encoding="utf-8")
        np.savez(folder / "arrays.npz", allow_pickle=False, **work.arrays)
    except OSError as error:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise WorkerError(full_disk_words("the job", error)) from error
    return folder


def full_disk_words(what: str, error: OSError, folder: Path | None = None) -> str:
    """Return the message for an error that occurred when ``what`` was written to a folder.

    Parameters
    ----------
    what : str
        What could not be written, such as "the result".
    error : OSError
    folder : Path, optional
        Folder that was written to; the temporary folder if omitted.
    """
    full = error.errno in (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
    remedy = "Free up disk space there" if full else "Check that the folder is writable"
    where, why = folder or tempfile.gettempdir(), error.strerror or error
    return f"Could not write {what} to {where}: {why}. {remedy} and try again."


def environment(*, one_thread: bool = True) -> dict[str, str]:
    """Return the environment of a child: this package first, and ``one_thread`` for each of its libraries."""
    environment = dict(os.environ)
    paths = [str(_ROOT), *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    for library in ("OMP", "MKL", "OPENBLAS") if one_thread else ():
        environment[f"{library}_NUM_THREADS"] = "1"
    environment["PYTHONIOENCODING"] = "utf-8"  # because their output is read as UTF-8
    environment["MPLBACKEND"] = "Agg"  # a library of the sampler imports matplotlib
    return environment


def what_happened(code: int, last_words: str) -> str:
    """Return the message for a child that ended unexpectedly with ``code``."""
    if code == -9:
        return (
            "The worker process was stopped before it finished, usually because memory ran out. Close other "
            "programs, or use fewer draws, raters or cases, and try again."
        )
    why = f": {last_words.removesuffix('.')}" if last_words else ""
    if code < 0:
        return f"The worker process crashed (signal {-code}){why}. Try again."
    if code == 0:
        return "The worker process ended without a result. Try again."
    return f"The worker process ended with code {code}{why}. Try again."
