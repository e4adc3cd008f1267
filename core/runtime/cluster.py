"""Run the same work on many processes or computers with `dask.distributed`; see `core.runtime.executors`.

What a task receives and returns crosses sockets as pickles, and whoever can send a pickle can run code, so addresses
are those of this computer, or TLS with the certificates of Dask's own settings (``DASK_DISTRIBUTED__COMM__TLS__…``).
Tasks read partitions from disk, so their folder (TMPDIR) must be visible to every worker. Nothing is changed in place,
and sums are added in the order of `reduction_steps`, so the result does not depend on which worker does what, or on
workers that die meanwhile.
"""

import asyncio
import logging
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..errors import InputError, LimitError, MissingExtraError, PluralityError
from ..version import code_digest
from .chunks import CancelToken, in_line
from .executors import Executor, LocalExecutor, branches_of, reduction_steps
from .processes import FOLDER_PREFIX, NO_WINDOW, WorkerError, environment

LOCAL = "local:"
_MOST_LOCAL = 256
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_POLL = 0.1
_A_THREAD = 2  # tasks under way: one that is done, and the next
_START = 60.0  # seconds that workers have to appear
_QUIET = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.daemon": False,
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.large-graph-warning-threshold": "1TB",
}
# On one computer a process that does not answer is dead; by default Dask would wait half a minute for it.
_NEAR = {"distributed.comm.timeouts.connect": "5s"}


def _joined(make: Any, address: str) -> Any:
    """Return a client of a scheduler; close at once a client that finds none.

    If it were left to the garbage collector, it would be closed in the middle of whatever runs then. During the start
    of another client, that is a wait for a lock that its own thread has.
    """
    client = make.__new__(make)
    try:
        client.__init__(address, timeout=_START / 4, set_as_default=False, name="plurality")
    except BaseException:
        client.__del__()
        raise
    return client


class Cluster(Executor):
    """Scheduler and its workers, as a runner.

    Parameters
    ----------
    address : str
        ``local:N`` for N processes of this computer, which end with the cluster; else the address of a scheduler:
        ``tcp://127.0.0.1:8786`` or ``tls://host:8786``.
    memory : str
        Limit for each process of ``local:N``, as Dask writes it: "2GB"; "0" for no limit.

    Raises
    ------
    InputError
        The address is not valid, or nobody answers.
    MissingExtraError
        Dask is not installed.
    """

    def __init__(self, address: str, memory: str = "0") -> None:
        n_local = _checked(address)
        try:
            import dask
            from distributed import Client
        except ImportError:
            raise MissingExtraError("A cluster", "cluster") from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what went wrong is raised
        dask.config.set(_QUIET | (_NEAR if n_local else {}))
        self._client: Any = None
        self._own = _Processes(n_local, memory) if n_local else None
        try:
            self._client = _joined(Client, self._own.address if self._own else address)
            self._wait_for_workers(n_local or 1)
        except (OSError, TypeError, ValueError, RuntimeError) as error:  # a missing certificate is a TypeError
            self.close()
            words = f"No cluster is responding at {address} ({type(error).__name__}: {error})."
            raise InputError(
                words, "Check that the scheduler is running and that Dask's TLS settings point to the right files."
            ) from None
        except PluralityError:
            self.close()
            raise

    @property
    def n_threads(self) -> int:
        """Number of tasks that can run at once."""
        return sum(self._client.nthreads().values())

    @property
    def alive(self) -> bool:
        """True while the scheduler answers."""
        return self._client is not None and self._client.status == "running"

    def processes(self) -> list[int]:
        """Return the process ids of the workers of ``local:N``."""
        return [] if self._own is None else [process.pid for process in self._own.processes]

    def close(self) -> None:
        """Leave the cluster; processes that it started end. Calling it again has no effect."""
        client, self._client = self._client, None
        own, self._own = self._own, None
        if client is not None:
            client.close()
        if own is not None:
            own.end()

    def _each(self, work, items, shared, token, progress) -> Iterator[Any]:
        """Yield results in order, with twice as many items under way as there are threads."""
        hand = _Hand(self._client, work, shared)
        waiting, running = iter(items), deque[Any]()
        try:
            for item in waiting:
                running.append(hand.submit(item))
                if len(running) >= _A_THREAD * max(1, self.n_threads):
                    break
            for done in range(1, len(items) + 1):
                result = self._result(running.popleft(), token)
                running.extend(hand.submit(item) for _, item in zip(range(1), waiting, strict=False))
                yield result
                if progress is not None:
                    progress(done / len(items))
        finally:
            hand.drop()

    def total(
        self,
        work: Callable[..., tuple],
        items: Sequence[Any],
        shared: tuple[Any, ...] = (),
        token: CancelToken | None = None,
    ) -> tuple:
        """Add the results as `Executor.total` does; workers add their own results, so only their sums come here.

        Parameters
        ----------
        work, items, shared, token
            See `Executor.total`.
        """
        hand = _Hand(self._client, partial(_added_up, work), shared)
        try:
            parts = [hand.submit(items[part]) for part in branches_of(len(items), _A_THREAD * max(1, self.n_threads))]
            for left, right in reduction_steps(len(parts)):
                parts[left] = hand.add(parts[left], parts[right])
                parts[right] = None
            return self._result(parts[0], token or CancelToken())
        finally:
            hand.drop()

    def _result(self, future: Any, token: CancelToken) -> Any:
        """Return the result of a task; check the token meanwhile and restart dead processes of our own."""
        from concurrent.futures import CancelledError

        from distributed.scheduler import KilledWorker

        # Requested once, because requesting it after each check would restart the transfer of a large result.
        coming = asyncio.run_coroutine_threadsafe(
            self._client.gather(future, asynchronous=True), self._client.loop.asyncio_loop
        )
        try:
            while True:
                token.check()
                if self._own is not None:
                    self._own.revive()
                try:
                    return coming.result(timeout=_POLL)
                except TimeoutError:
                    if coming.done():  # it is the work's own, or came this moment
                        return coming.result()
        except CancelledError:
            raise WorkerError("The cluster's scheduler has stopped. Check its log, then try again.") from None
        except KilledWorker as error:
            raise WorkerError(
                f"{error.allowed_failures + 1} cluster workers stopped one after the other in the same part of the "
                "computation, usually because memory ran out. Give them more memory, or use more partitions."
            ) from None
        except ModuleNotFoundError as error:
            raise InputError(
                f"Could not import {error.name} on a cluster worker.",
                "Install this version of Plurality on every worker.",
            ) from None
        except FileNotFoundError as error:
            raise InputError(
                f"Could not find {error.filename} on a cluster worker.",
                "Set TMPDIR to a folder that has the same path on all cluster computers.",
            ) from None
        except MemoryError:
            raise LimitError("A cluster worker has too little memory. Use more partitions.") from None
        finally:
            coming.cancel()

    def _wait_for_workers(self, wanted: int) -> None:
        until = time.monotonic() + _START
        while len(self._client.scheduler_info(n_workers=-1)["workers"]) < wanted:
            if time.monotonic() > until:
                raise InputError(
                    "Could not compute: the cluster has had no workers for a minute.", "Start workers and try again."
                )
            if self._own is not None:
                self._own.check()
            with suppress(TimeoutError):
                self._client.wait_for_workers(wanted, timeout=_POLL)


class _Hand:
    """Work that was handed out, and the inputs that it shares; kept here as long as they are needed.

    The shared inputs are the result of a task, so they are restored if the worker that had them dies. Data that are put
    on workers without a task (``scatter``) are not restored, and Dask waits half a minute for a worker that has just
    died.
    """

    def __init__(self, client: Any, work: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        self._client, self._work, self._out = client, work, list[Any]()
        self._shared = client.submit(_itself, shared, pure=False)
        self._out.append(self._shared)

    def submit(self, item: Any) -> Any:
        """Have one item computed."""
        return self._given(_done, self._work, item, self._shared, code_digest())

    def add(self, one: Any, other: Any) -> Any:
        """Have two results added."""
        return self._given(_sum, one, other)

    def drop(self) -> None:
        """Release all of it; work that has not started never does."""
        with suppress(Exception):  # the cluster is gone
            self._client.cancel([one for one in self._out if not one.done()], force=True)
        self._out.clear()

    def _given(self, *asked: Any) -> Any:
        self._out = [one for one in self._out if one is self._shared or not one.done()]
        self._out.append(self._client.submit(*asked, pure=False))
        return self._out[-1]


def _itself(shared: tuple[Any, ...]) -> tuple[Any, ...]:
    return shared


def _done(work: Callable[..., Any], item: Any, shared: tuple[Any, ...], code: str) -> Any:
    """Compute one item on a worker, in one thread, because each thread of the worker has a task of its own."""
    if code != code_digest():
        raise InputError(
            "Could not compute: a cluster worker has a different version of Plurality, so results could differ.",
            "Install the same version on every worker and restart the workers.",
        )
    with in_line():
        return work(item, *shared)


def _added_up(work: Callable[..., tuple], items: Sequence[Any], *shared: Any) -> tuple:
    """Compute several neighbouring items of the tree, and add their results."""
    return LocalExecutor().total(work, items, shared)


def _sum(one: tuple, other: tuple) -> tuple:
    """Add two results as `add_results` does but overwrite nothing: if a worker dies, its input is used again."""
    return tuple(left + right for left, right in zip(one, other, strict=True))


class _Processes:
    """Scheduler in this process, on loopback, and workers of one thread each, which are restarted if they die."""

    def __init__(self, n: int, memory: str) -> None:
        from distributed import LocalCluster

        self._memory = memory
        self._folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        self._scheduler = LocalCluster(
            n_workers=0,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        )
        self.address = self._scheduler.scheduler_address
        self.processes = [self._started(number) for number in range(n)]

    def _started(self, number: int) -> subprocess.Popen:
        """Start a worker, which ends when the scheduler ends."""
        command = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", self.address, "--no-nanny"]
        command += ["--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1", "--death-timeout", "30"]
        command += ["--memory-limit", self._memory, "--local-directory", str(self._folder)]
        told = {f"DASK_{name.upper().replace('.', '__')}": repr(value) for name, value in (_QUIET | _NEAR).items()}
        with open(self._folder / f"{number}.errors", "ab") as said:
            try:
                return subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    env=environment() | told | {"PYTHONWARNINGS": "ignore"},
                    creationflags=NO_WINDOW,
                )
            except OSError as error:
                raise WorkerError(
                    f"Could not start a worker process: {error}. Close other programs and try again."
                ) from None

    def check(self) -> None:
        """Raise an error if a worker ended while it was started."""
        for number, process in enumerate(self.processes):
            if process.poll() is not None:
                lines = (self._folder / f"{number}.errors").read_text("utf-8", "replace").strip().splitlines()
                why = f": {lines[-1][:300]}" if lines else "."
                raise WorkerError(f"A worker process stopped with code {process.poll()}{why}")

    def revive(self) -> None:
        """Restart the workers that died."""
        for number, process in enumerate(self.processes):
            if process.poll() is not None:
                self.processes[number] = self._started(number)

    def end(self) -> None:
        """End the scheduler and its workers."""
        for process in self.processes:
            process.kill()
            process.wait()
        self._scheduler.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def elsewhere(address: str) -> bool:
    """Return whether the workers of an address may be on other computers, which is so if they use TLS."""
    return address.startswith("tls://")


def _checked(address: str) -> int:
    """Return how many processes ``local:N`` has; 0 for the address of a scheduler."""
    if address.startswith(LOCAL):
        number = address.removeprefix(LOCAL)
        if not number.isdecimal() or not 1 <= int(number) <= _MOST_LOCAL:
            raise InputError(
                f"Could not use the cluster {address!r}: the number of processes is out of range.",
                f"Use 1 to {_MOST_LOCAL} processes, such as local:2.",
            )
        return int(number)
    parts = urlsplit(address)
    if parts.scheme not in ("tcp", "tls") or not parts.hostname:
        raise InputError(
            f"Could not use the cluster {address!r}: it is not a valid address.",
            "Use local:2, or a scheduler's address such as tls://host:8786.",
        )
    if parts.scheme == "tcp" and parts.hostname not in _LOOPBACK:
        raise InputError(
            f"Could not use {address}: it is on a different computer and does not use TLS, so an attacker on the "
            "network could run code there.",
            "Start the scheduler with TLS, and use its tls:// address.",
        )
    return 0


@contextmanager
def opened_cluster(address: str, memory: str = "0") -> Iterator[Cluster]:
    """Open a cluster for the duration of a block.

    Parameters
    ----------
    address, memory : str
        See `Cluster`.
    """
    found = Cluster(address, memory)
    try:
        yield found
    finally:
        found.close()
