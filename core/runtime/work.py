"""Access to the work of a server and its results: equal work is joined, also across processes, and kept."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..annotations.dataset import Dataset
from ..settings import current_settings
from ..version import code_digest
from .jobs import Job, JobBoard
from .locks import ComputeLock
from .result_cache import Remembered, Results

_LOOK = 0.1  # seconds between checks whether another process has finished the same work


def job_name(key: tuple) -> tuple[str, str]:
    """Return the key of a job on the board: digest of the content, then method, parameters, seed and version."""
    return str(key[0]), repr((*key[1:], code_digest()))


class PartProgress:
    """Progress of a part of a job, with the same attributes as the progress of a job.

    Parameters
    ----------
    progress : callable
        Called with the share done, 0 to 1.
    """

    def __init__(self, progress: Callable[[float], None]):
        self._progress = progress
        self.progress, self.message, self.started = 0.0, "", time.monotonic()

    def report(self, share: float, message: str = "") -> None:
        """Report the share done; the work calls this."""
        self.progress = share
        self._progress(share)


class WorkService:
    """Jobs of a server, and their results for the contents of datasets.

    Parameters
    ----------
    jobs : JobBoard
    results : Results
    owner : str
        Address of the dataset for which results are computed; see `Results`.
    """

    def __init__(self, jobs: JobBoard, results: Results, owner: str):
        self._jobs, self._results, self._owner = jobs, results, owner

    def submit(self, key: tuple, title: str, work: Callable[[Job], Any], of: Dataset, **who: Any) -> Job:
        """Return the job of that key: under way, ended, read from disk, or started.

        Parameters
        ----------
        key : tuple
            Digest of the content, method, parameters and seed; the version is added here.
        title : str
        work : callable
            Called with its job.
        of : Dataset
            Dataset of the result, identified by its content.
        **who
            ``session``, ``cost`` and ``background`` of `JobBoard.join`.
        """
        name, asked = job_name(key), (*key[1:], code_digest())
        if self._jobs.get(name) is None and (found := self.find(key, title, of)) is not None:
            return found

        def stored(job: Job) -> Any:
            job.remembered = self.compute(job, of, asked, lambda: work(job), job)
            return job.remembered.result

        elsewhere = ComputeLock(of.content_digest, asked).is_elsewhere
        return self._jobs.join(name, title, stored, elsewhere=elsewhere, **who)

    def find(self, key: tuple, title: str, of: Dataset) -> Job | None:
        """Return the job of that key, or a finished one with the known result; start nothing and return None otherwise.

        Parameters
        ----------
        key, title, of
            See `submit`.
        """
        name = job_name(key)
        if (job := self._jobs.get(name)) is not None:
            return job
        known = self._results.look(of, (*key[1:], code_digest()), self._owner)
        return None if known is None else self._jobs.ended(name, title, known)

    def part(
        self,
        job: Job,
        of: Dataset,
        asked: tuple,
        work: Callable[[Callable[..., None]], Any],
        progress: Callable[[float], None],
    ) -> Any:
        """Return a part of a job's result that is stored separately, computed if it is not known.

        Parameters
        ----------
        job : Job
        of : Dataset
        asked : tuple
            Identity of the part; the version is added here.
        work : callable
            Called with a function that takes its progress.
        progress : callable
            Called with the share done of the part.
        """
        asked = (*asked, code_digest())
        if (known := self._results.look(of, asked, self._owner)) is not None:
            return known.result
        far = PartProgress(progress)
        return self.compute(job, of, asked, lambda: work(far.report), far).result

    def compute(
        self, job: Job, of: Dataset, asked: tuple, work: Callable[[], Any], far: Job | PartProgress
    ) -> Remembered:
        """Return the result of the work, computed by only one process of the server, which stores it for all.

        Parameters
        ----------
        job : Job
            Job that waits for it.
        of : Dataset
        asked : tuple
            Identity of the result, with the version.
        work : callable
        far : Job or PartProgress
            Object with the progress that other processes read, and that shows theirs while they compute.
        """
        with self._alone(job, of, asked, far) as known:
            if known is not None:
                return known
            started = time.monotonic()
            return self._results.put(of, asked, work(), self._owner, time.monotonic() - started)

    @contextmanager
    def _alone(self, job: Job, of: Dataset, asked: tuple, far: Job | PartProgress) -> Iterator[Remembered | None]:
        """Yield the result if another process has computed it meanwhile, else None; no other process computes it then.

        A paused job releases the lock, so that nobody waits for it elsewhere.
        """
        lock, several = ComputeLock(of.content_digest, asked), current_settings().several_processes
        while not lock.acquire():
            _follow_elsewhere(job, lock, far)
            if (found := self._results.look(of, asked, self._owner)) is not None:
                yield found
                return
            far.report(0.0)
            far.message, far.started = "", time.monotonic()
            job.step_back()
            job.token.check()

        def release() -> None:
            lock.release()
            wait()
            lock.acquire()  # if another process has it by now, both compute

        def publish() -> None:
            began = far.started or time.monotonic()
            lock.publish_progress(far.progress, far.message, time.time() - (time.monotonic() - began))

        wait = job.token.wait_while_paused
        job.token.wait_while_paused = release
        job.tells.append(publish)
        job.awaited.append(lock.is_awaited)
        try:
            found = self._results.look(of, asked, self._owner) if several else None
            if found is None:
                job.step_back()
            yield found
        finally:
            job.tells.remove(publish)
            job.awaited.remove(lock.is_awaited)
            job.token.wait_while_paused = wait
            lock.release()


def _follow_elsewhere(job: Job, lock: ComputeLock, far: Job | PartProgress) -> None:
    """Show the progress of another process that does the work; free the place here, and keep the work running there."""

    def let_go() -> None:
        lock.wait_no_more()
        wait()
        job.step_aside()
        lock.wait()

    wait = job.token.wait_while_paused
    job.token.wait_while_paused = let_go
    job.step_aside()
    lock.wait()
    try:
        while lock.is_elsewhere():
            job.token.check()
            if (told := lock.read_progress()) is not None:
                share, message, since = told
                far.report(share, message)
                far.started = time.monotonic() - (time.time() - since)
            time.sleep(_LOOK)
    finally:
        lock.wait_no_more()
        job.token.wait_while_paused = wait
