"""Workers: a few lasting processes for heavy work outside the interpreter that draws pages, started when needed.

A worker is ``python -m core.runtime._lasting_worker``. It receives functions of this package with their arguments, and
data by files that are written as results are (`core.runtime.encoding`), without pickles; its results are the same to
the bit. It takes several calls at once, those of lighter work first, and has a lower priority than other programs.
"""

import json
import subprocess
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from .. import errors
from ..annotations.dataset import Dataset
from ..errors import Cancelled, InputError, PluralityError
from ..settings import MEGABYTE, current_settings
from ..text import number
from .chunks import CancelToken
from .encoding import DAMAGED, from_bytes, name_of, to_bytes
from .files import discard
from .first_start import compiled
from .processes import COMMAND, NO_WINDOW, SILENCE, WorkerError, environment, full_disk_words, what_happened

IDLE = 300.0  # seconds after which a worker without work ends
KEPT_DATA = 8
LOADED = ("draws", "summaries", "others")  # parts of `core.warmup` that a worker loads before anything is asked of it
_BACKGROUND = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)  # of Windows; elsewhere the child is nice by itself
_POLL = 0.05
_GRACE = 0.5  # seconds that cancelled work has to say so
# What reading an upload may take beside `Settings.reading_mb`: bytes for each byte, up to a half of the computer's
# memory, and seconds of the processor.
_BYTES_PER_BYTE, _PART_OF_MEMORY, _SECONDS, _SECONDS_PER_MB = 40, 2, 30.0, 2.0
_SMALLER = (
    "Open only part of the file, or save it as CSV or Parquet. An administrator can increase PLURALITY_READING_MB."
)


class WorkerPool:
    """Pool of workers and their calls.

    Parameters
    ----------
    most : int
        Number of workers at once.
    folder : callable
        Returns the folder for the files that are passed to workers; it need not exist.
    idle : float
        Seconds after which a worker without work ends.
    wanted : callable, optional
        Function that returns whether somebody may ask for work at any time: then one worker stays, or a new one
        replaces a worker whose work was given up.
    preparing : callable, optional
        Function of this package that a worker calls as it starts, instead of loading kernels.
    """

    def __init__(
        self,
        most: int,
        folder: Callable[[], Path],
        idle: float = IDLE,
        wanted: Callable[[], bool] = lambda: False,
        preparing: Callable[[], object] | None = None,
    ):
        self._most, self._folder, self._idle, self._wanted, self._preparing = most, folder, idle, wanted, preparing
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self._apart: set[_Worker] = set()  # those that read an upload
        self._data: OrderedDict[str, Path] = OrderedDict()
        self._ending: threading.Thread | None = None
        self._closed = False

    def call(
        self,
        function: Callable[..., Any],
        dataset: Dataset,
        *arguments: Any,
        token: CancelToken | None = None,
        progress: Callable[..., None] | None = None,
        **options: Any,
    ) -> Any:
        """Call a function of this package in a worker, and return its result.

        Parameters
        ----------
        function : callable
            Function to call, found by its name; called with ``arguments``, ``options``, and a token and a progress of
            its own.
        dataset : Dataset
            Dataset of coded raters. If it is among the arguments, it is not written again.
        *arguments, **options
            Values of kinds that results can be stored of.
        token : CancelToken, optional
            If it is set, the call ends within a second. While it is paused, the work is given up.
        progress : callable, optional
            Called with the progress that the function reports.

        Raises
        ------
        NotStorableError
            An argument, or the result, is of a kind that cannot be written.
        WorkerError
            The worker died, or was silent for two minutes.
        """
        token = token or CancelToken()
        asked = to_bytes((name_of(function), arguments, options), dataset, compress=False)
        while True:
            token.check()
            call = self._begun(dataset, asked, token)
            try:
                if _followed(call, token, progress):
                    return call.result(dataset)
            finally:
                self._release(call, keep=call.answered.is_set() and not getattr(token, "paused", False))

    def read(
        self,
        function: Callable[..., Any],
        files: Sequence[tuple[str, bytes]],
        *arguments: Any,
        token: CancelToken | None = None,
        progress: Callable[..., None] | None = None,
        **options: Any,
    ) -> Any:
        """Call a function of this package on uploaded files, in a process for this call only.

        The process is watched for its memory and time, which may grow with the size of the files, and ends with the
        call.

        Parameters
        ----------
        function : callable
            Function to call, found by its name; called with the paths and the names of the files, ``arguments``,
            ``options``, and a token and a progress of its own.
        files : sequence of (str, bytes)
            Name and content of each.
        *arguments, **options
            Values of kinds that results can be stored of.
        token, progress
            See `call`.

        Raises
        ------
        InputError
            The process exceeded a limit, or died; the message states the limit and what to do.
        """
        token = token or CancelToken()
        paths = [self._folder() / f"{uuid.uuid4().hex}.upload" for _ in files]
        try:
            for path, (_, content) in zip(paths, files, strict=True):
                _write(path, content)
            names = [name for name, _ in files]
            given = ([str(path) for path in paths], names, *arguments)
            asked = to_bytes((name_of(function), given, options), NO_DATA, compress=False)
            n_bytes, ended = sum(len(content) for _, content in files), False
            while not ended:
                token.check()
                ended, found = self._read_once(asked, token, progress, n_bytes)
            return found
        finally:
            for path in paths:
                discard(path)

    def _read_once(
        self, asked: bytes, token: CancelToken, progress: Callable[..., None] | None, n_bytes: int
    ) -> tuple[bool, Any]:
        """Return whether a process finished the work, and its result; the process is ended in either case."""
        with self._lock:
            if self._closed:
                raise Cancelled("Cancelled. Nothing was changed.")
            worker = next((each for each in self._workers if each.alive()), None) or self._started()
            self._workers = [each for each in self._workers if each is not worker and each.alive()]
            self._apart.add(worker)
        try:
            limits = _Limits(worker, n_bytes, token)
            call = worker.begin(None, asked, token.priority, limits.most_bytes)
            ended = _followed(call, token, progress, limits.check)
            return ended, call.result(NO_DATA) if ended else None
        except WorkerError as error:
            raise InputError(f"Could not read the file. {error}", _SMALLER) from error
        finally:
            for call in tuple(worker.calls.values()):
                worker.drop(call)
            worker.end()
            with self._lock:
                self._apart.discard(worker)
            if self._wanted():
                self.prepare()

    def _started(self) -> "_Worker":
        worker = _Worker(self._folder(), near=self._preparing is not None)
        if self._preparing is not None:
            worker.say(prepare=name_of(self._preparing))
        return worker

    def prepare(self) -> None:
        """Make sure that a worker with its kernels runs or starts, so that the next call does not have to wait."""
        with self._lock:
            if self._closed or any(worker.alive() for worker in self._workers):
                return
            with suppress(WorkerError):  # reported when there is work for it
                self._workers = [self._started()]
                if compiled() and self._preparing is None:
                    self._workers[0].say(load=LOADED)
                self._let_idle_end()

    def workers(self) -> list[int]:
        """List the process ids of the workers."""
        with self._lock:
            return [worker.process.pid for worker in self._workers]

    def forget(self, contents: Iterable[str]) -> None:
        """Erase data that were passed to workers, by their digests; computations on them fail."""
        with self._lock:
            gone = [path for content in contents if (path := self._data.pop(content, None)) is not None]
            ending = [worker for worker in self._workers if worker.data & {path.name for path in gone}]
            self._workers = [worker for worker in self._workers if worker not in ending]
        for path in gone:
            discard(path)
        for worker in ending:
            worker.end()

    def close(self) -> None:
        """End all workers; later calls count as cancelled."""
        with self._lock:
            self._closed = True
            workers, self._workers = [*self._workers, *self._apart], []
        for worker in workers:
            worker.end()

    def _begun(self, dataset: Dataset, asked: bytes, token: CancelToken) -> "_Call":
        with self._lock:
            if self._closed:
                raise Cancelled("Cancelled. Nothing was changed.")
            data = self._handed(dataset)
            self._workers = [worker for worker in self._workers if worker.alive()]
            worker = min(self._workers, key=lambda worker: len(worker.calls), default=None)
            if worker is None or (worker.calls and len(self._workers) < self._most):
                worker = self._started()
                self._workers.append(worker)
            return worker.begin(data, asked, token.priority)

    def _handed(self, dataset: Dataset) -> Path:
        """Return the file of the data; files used longest ago are removed."""
        content = dataset.digest
        path = self._data.get(content, self._folder() / f"{content}.data")
        if not path.exists():
            _write(path, to_bytes(_fields(dataset), NO_DATA, compress=False))
        self._data[content] = path
        self._data.move_to_end(content)
        while len(self._data) > KEPT_DATA:
            discard(self._data.popitem(last=False)[1])
        return path

    def _release(self, call: "_Call", *, keep: bool) -> None:
        """End a call; keep its worker for the next one, for a while."""
        worker = call.worker
        with self._lock:
            worker.drop(call)
            if not worker.calls and not (keep and worker.alive()) and worker in self._workers:
                self._workers.remove(worker)
            gone = worker not in self._workers and not worker.calls
            self._let_idle_end()
        if gone:
            worker.end()
            if self._wanted():
                self.prepare()

    def _let_idle_end(self) -> None:
        if self._workers and self._ending is None:
            self._ending = threading.Thread(target=self._end_idle, name="workers", daemon=True)
            self._ending.start()

    def _end_idle(self) -> None:
        """End workers that have been idle for a while, until none is left; keep the last one while it is wanted."""
        left = True
        while left:
            time.sleep(min(1.0, self._idle))
            now, wanted = time.monotonic(), self._wanted()
            with self._lock:
                stays = next((each for each in self._workers if each.alive()), None) if wanted else None
                if stays is not None:
                    stays.since = now  # somebody who loses the connection for a moment still finds it
                idle = [each for each in self._workers if not each.calls and now - each.since >= self._idle]
                self._workers = [each for each in self._workers if each not in idle]
                left = bool(self._workers)
                self._ending = self._ending if left else None
            for worker in idle:
                worker.end()


class _Call:
    """Call of one function by a worker: its progress and its answer."""

    def __init__(self, worker: "_Worker", folder: Path):
        self.id = uuid.uuid4().hex
        self.worker = worker
        self.asked, self.given = folder / f"{self.id}.call", folder / f"{self.id}.result"
        self.answered = threading.Event()
        self.told: list = []  # what the function tells of its progress
        self.answer: dict = {}

    def result(self, dataset: Dataset) -> Any:
        """Return the result, or raise the error that the function raised."""
        if "error" in self.answer:
            raise error_of(self.answer["error"])
        try:
            return from_bytes(self.given.read_bytes(), dataset)
        except DAMAGED as error:
            raise WorkerError(f"Could not read the result: {error}. Try again.") from error


class _Limits:
    """Limits of a process that reads an upload, by the size of the upload: additional memory, and time.

    Making them waits until the process is prepared.
    """

    def __init__(self, worker: "_Worker", n_bytes: int, token: CancelToken):
        while not worker.prepared.wait(_POLL):
            token.check()
            worker.check()
        self._n_bytes = n_bytes
        least = current_settings().reading_mb * MEGABYTE
        of_computer = psutil.virtual_memory().total // _PART_OF_MEMORY
        self.most_bytes = max(least, min(least + _BYTES_PER_BYTE * n_bytes, of_computer))
        self._most_seconds = _SECONDS + _SECONDS_PER_MB * n_bytes / MEGABYTE
        self._worker = worker
        try:
            self._process = psutil.Process(worker.process.pid)
            self._idle, self._spent = self._process.memory_info().rss, self._seconds()
        except psutil.Error as error:  # it ended just now
            raise WorkerError(what_happened(worker.process.wait(), "")) from error

    def check(self) -> None:
        """End the process and raise an error if it exceeds a limit; raise an error if it is gone."""
        self._worker.check()
        with suppress(psutil.Error):  # it ended just now, which the next check finds
            if self._process.memory_info().rss - self._idle > self.most_bytes:
                self._end(f"{self.most_bytes // MEGABYTE:,} MB of memory")
            if self._seconds() - self._spent > self._most_seconds:
                self._end(f"{number(self._most_seconds, 0)} seconds of processor time")

    def _seconds(self) -> float:
        times = self._process.cpu_times()
        return times.user + times.system

    def _end(self, limit: str) -> None:
        self._worker.process.kill()
        size = number(self._n_bytes / MEGABYTE, 1)
        raise InputError(
            f"Could not read the file: it needed more than {limit}, the limit for a file of {size} MB.", _SMALLER
        )


def _followed(
    call: _Call, token: Any, progress: Callable[..., None] | None, check: Callable[[], None] | None = None
) -> bool:
    """Wait for the answer; return False if the work was given up because nobody watches it.

    Raises
    ------
    Cancelled
        The token was set.
    WorkerError
        The worker is gone or silent.
    """
    told = call.told
    while True:
        answered = call.answered.wait(_POLL)
        if progress is not None and call.told is not told:
            told = call.told
            progress(*told)
        if answered:
            return True
        if token.cancelled or getattr(token, "paused", False):
            call.worker.say(cancel=call.id)
            call.answered.wait(_GRACE)
            if token.cancelled:
                raise Cancelled("Cancelled. Nothing was changed.")
            return False
        (check or call.worker.check)()


class _Worker:
    """Worker process, the thread that reads its messages, and its calls."""

    def __init__(self, folder: Path, *, near: bool = False):
        self.calls: dict[str, _Call] = {}
        self.data: set[str] = set()
        self.since = time.monotonic()
        self.prepared = threading.Event()
        self._heard = time.monotonic()
        self._folder = folder
        self._writing = threading.Lock()
        self._errors = folder / f"{uuid.uuid4().hex}.errors"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with open(self._errors, "wb") as said:
                self.process = subprocess.Popen(
                    [*COMMAND[:-1], f"{__package__}._lasting_worker", *["near"] * near],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    env=environment(one_thread=False),
                    creationflags=NO_WINDOW | (0 if near else _BACKGROUND),
                    start_new_session=True,  # see `stand_back`
                )
        except OSError as error:
            raise WorkerError(
                f"Could not start a worker process: {error}. Close other programs and try again."
            ) from error
        threading.Thread(target=self._listen, name="worker-lines", daemon=True).start()

    def alive(self) -> bool:
        """Return whether the worker can take calls."""
        return self.process.poll() is None

    def begin(self, data: Path | None, asked: bytes, priority: float, most: int | None = None) -> _Call:
        """Send a call to the worker; with ``most`` it may take that many bytes more than it has."""
        call = _Call(self, self._folder)
        _write(call.asked, asked)
        if not self.calls:
            self._heard = time.monotonic()
        self.calls[call.id] = call
        if data is not None:
            self.data.add(data.name)
        told = {"data": str(data or ""), "asked": str(call.asked), "given": str(call.given), "most": most}
        self.say(call=call.id, priority=priority, **told)
        return call

    def drop(self, call: _Call) -> None:
        """Forget a call, and remove its files."""
        self.calls.pop(call.id, None)
        self.since = time.monotonic()
        for path in (call.asked, call.given):
            discard(path)

    def say(self, **message: Any) -> None:
        """Send a message to the worker; ignore a worker that is gone, which `check` reports."""
        with suppress(OSError, ValueError), self._writing:
            pipe = self.process.stdin
            assert pipe is not None  # it was opened as a pipe
            pipe.write(f"{json.dumps(message)}\n".encode())
            pipe.flush()

    def check(self) -> None:
        """Raise an error if the worker is gone or silent."""
        code = self.process.poll()
        if code is not None:
            lines = self._errors.read_text("utf-8", "replace").strip().splitlines() if self._errors.exists() else []
            raise WorkerError(what_happened(code, lines[-1][:300] if lines else ""))
        if time.monotonic() - self._heard > SILENCE:
            self.process.kill()
            raise WorkerError(
                f"The worker process did not respond for {number(SILENCE, 0)} seconds and was stopped. Try again when "
                "the computer is less busy."
            )

    def end(self) -> None:
        """End the process; its calls are lost."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        discard(self._errors)

    def _listen(self) -> None:
        pipe = self.process.stdout
        assert pipe is not None  # it was opened as a pipe
        with suppress(OSError, ValueError):  # it was ended
            for line in pipe:
                self._heard = time.monotonic()
                message = json.loads(line)
                if "prepared" in message:
                    self.prepared.set()
                call = self.calls.get(message.get("call", ""))
                if call is None:
                    continue
                if "told" in message:
                    call.told = message["told"]
                else:
                    call.answer = message
                    call.answered.set()


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise WorkerError(full_disk_words("the data for the computation", error, path.parent)) from error


NO_DATA: Any = type("NoData", (), {})()


def _fields(dataset: Dataset) -> dict[str, Any]:
    return {name: getattr(dataset, name) for name in dataset.__dataclass_fields__}


def read_dataset(content: bytes) -> Dataset:
    """Return the data that were passed to this worker."""
    return Dataset(**from_bytes(content, NO_DATA))


def error_as(error: PluralityError) -> dict[str, Any]:
    """Return an error as JSON for `error_of`, as the nearest class in `core.errors`."""
    kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    return {"kind": kind, "words": [str(word) for word in error.args], "more": vars(error)}


def error_of(told: dict[str, Any]) -> PluralityError:
    """Return the error that `error_as` wrote."""
    kind = getattr(errors, told["kind"])
    found = kind.__new__(kind)
    found.args = tuple(told["words"])
    vars(found).update(told["more"])
    return found
