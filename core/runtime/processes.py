"""Work in child processes: what would take the dashboard down with it runs in a process of its own.

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
    """A child process ended without a result; the message says what happened and what to do."""


class CancelFlag(Protocol):
    """What tells that the user asked to stop; `core.runtime.chunks.CancelToken` is one."""

    @property
    def cancelled(self) -> bool:
        """True once somebody asked to stop."""
        ...


def stand_back(*, far: bool = False) -> None:
    """Let this process, a child that was started as a session of its own, come after all else on the computer.

    Linux shares processors among sessions first; niceness alone counts only within one, and the browser is another.
    Windows has none: there the parent says so when it starts the child.

    Parameters
    ----------
    far : bool
        After other children that stand back, too: nobody waits for this one.
    """
    if hasattr(os, "nice"):
        os.nice(_NICE)
        if os.getsid(0) == os.getpid():
            _come_after(_FAR if far else _SESSION_NICE)


def limit_memory(most: int) -> None:
    """Let this process take ``most`` bytes more than it has, on Linux: beyond, what asks for more is refused it.

    Reserved memory counts, even if nobody ever writes to it, as that of Arrow's heaps: there is some room for it.
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
    """What one child has to do.

    Attributes
    ----------
    settings : dict
        All that JSON can hold.
    arrays : dict of str to ndarray
    total : int
        The count of steps at which the child's progress is whole.
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
    """Results of all works, each done by a child of its own at the same time.

    Parameters
    ----------
    works : sequence of Work
    token : CancelFlag, optional
        Looked at 20 times a second; children are gone within a second of its being raised.
    progress : callable, optional
        Told the steps done and the steps in all, in the caller's thread.

    Raises
    ------
    WorkerError
        A child was killed, crashed, could not write its result, said nothing for two minutes, or failed.
    Cancelled
        The token was raised.
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
    """Where nobody looks at the work, let its children sleep until somebody does."""
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
    """One child process, its folder, and the thread that reads what it says."""

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
                f"No process could be started for the work: {error}. Close other programs and start again."
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
        """Whether the child has ended well; raises where it ended otherwise or must be given up."""
        code = self._process.poll()
        if code is not None:
            self._reader.join(1.0)
        if self._rubbish is not None:
            raise WorkerError(
                f"The process that does the work answered “{self._rubbish}”, which is no message of it. Start again; "
                "if it happens twice, look for a program that writes into its output."
            )
        if code is None:
            if time.monotonic() - self._heard > SILENCE:
                raise WorkerError(
                    f"The process that does the work has said nothing for {number(SILENCE, 0)} seconds and was ended. "
                    "Start "
                    "again when the computer is less busy."
                )
            return False
        if code != 0 or "finished" not in self._said:
            raise WorkerError(self._said.get("error") or what_happened(code, self._last_words()))
        return True

    def signal(self, name: str) -> None:
        """Stop it or let it go on, on systems that can."""
        self._heard = time.monotonic()
        if hasattr(signal, name) and self._process.poll() is None:
            self._process.send_signal(getattr(signal, name))

    def result(self) -> dict[str, np.ndarray]:
        """The arrays that the child wrote."""
        try:
            return load_arrays(self._folder / "result.npz")
        except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile) as error:
            raise WorkerError(f"The result of the work cannot be read: {error}. Start again.") from error

    def ask_to_stop(self) -> None:
        """The end of its input tells the child to stop."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def close(self, deadline: float) -> None:
        """Wait for the child until ``deadline``, end it by force after that, and clear its folder away."""
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
        raise WorkerError(full_disk_words("The job", error)) from error
    return folder


def full_disk_words(what: str, error: OSError, folder: Path | None = None) -> str:
    """What to tell when ``what`` could not be written to a folder.

    Parameters
    ----------
    what : str
        As a sentence begins with it.
    error : OSError
    folder : Path, optional
        The temporary one where not given.
    """
    full = error.errno in (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
    remedy = "Free some space there" if full else "Look whether it can be written to"
    where, why = folder or tempfile.gettempdir(), error.strerror or error
    return f"{what} could not be written to {where}: {why}. {remedy} and start again."


def environment(*, one_thread: bool = True) -> dict[str, str]:
    """The environment of a child: this package first, and ``one_thread`` in each of its libraries."""
    environment = dict(os.environ)
    paths = [str(_ROOT), *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    for library in ("OMP", "MKL", "OPENBLAS") if one_thread else ():
        environment[f"{library}_NUM_THREADS"] = "1"
    environment["PYTHONIOENCODING"] = "utf-8"  # as what they say is read
    environment["MPLBACKEND"] = "Agg"  # a library of the sampler imports matplotlib
    return environment


def what_happened(code: int, last_words: str) -> str:
    """What to tell of a child that ended with ``code`` where it should not have."""
    if code == -9:
        return (
            "The process that does the work was killed before it had finished, most often because memory ran out. "
            "Close other programs, or ask for fewer draws, raters or cases, and start again."
        )
    if code < 0:
        return f"The process that does the work crashed (signal {-code}). Start again. {last_words}".strip()
    if code == 0:
        return "The process that does the work ended without a result. Start again."
    return f"The process that does the work ended with code {code}. Start again. {last_words}".strip()
