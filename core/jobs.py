"""Long work that a page starts, watches, and may cancel. Jobs touch nothing of the screen; pages poll them.

One queue: jobs run one after the other in a single background thread (each uses all cores through `core.chunks`),
so two sessions never compete for memory, and every job can say how many stand before it.
"""

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .chunks import CancelToken
from .errors import Cancelled

KEPT_JOBS = 32


class Job:
    """One piece of long work: its state, its progress, and in the end its result or its error.

    Attributes
    ----------
    state : {"waiting", "running", "done", "failed", "cancelled"}
    progress : float
        Share done, 0 to 1.
    message : str
        What is being done now, in words.
    result : object
        What the work returned; None until the state is "done".
    error : BaseException or None
        What the work raised.
    """

    def __init__(self, title: str):
        self.id = uuid.uuid4().hex
        self.title = title
        self.token = CancelToken()
        self.state = "waiting"
        self.progress = 0.0
        self.message = ""
        self.result: Any = None
        self.error: BaseException | None = None
        self.started: float | None = None
        self.seconds = 0.0
        self.remembered: Any = None  # the result as it reads under the names that were asked for
        self._ended = threading.Event()

    def report(self, share: float, message: str = "") -> None:
        """Called by the work: how far it is."""
        self.progress = min(max(float(share), 0.0), 1.0)
        if message:
            self.message = message

    def cancel(self) -> None:
        """Ask the job to stop; a waiting job never starts."""
        self.token.cancel()

    @property
    def finished(self) -> bool:
        """True once the job has ended in any way."""
        return self._ended.is_set()

    def seconds_left(self) -> float | None:
        """Estimate from the share done so far; None while there is nothing to estimate from."""
        if self.state != "running" or self.started is None or self.progress < 0.02:
            return None
        elapsed = time.monotonic() - self.started
        return elapsed * (1 - self.progress) / self.progress

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the job has ended; False if ``timeout`` seconds passed first."""
        return self._ended.wait(timeout)

    def _run(self, work: Callable[["Job"], Any]) -> None:
        self.started = time.monotonic()
        self.state = "running"
        try:
            self.token.check()
            result = work(self)
            self.token.check()
            self.result, self.progress, self.state = result, 1.0, "done"
        except Cancelled as error:
            self.error, self.state = error, "cancelled"
        except BaseException as error:
            self.error, self.state = error, "failed"
        finally:
            self.seconds = time.monotonic() - self.started
            self._ended.set()


class JobRunner:
    """Runs jobs one after the other in a background thread and remembers the last ones.

    Parameters
    ----------
    kept : int
        Finished jobs whose results are kept; of more, those that nobody looked at for longest are forgotten.
    """

    def __init__(self, kept: int = KEPT_JOBS):
        self._kept = kept
        self._jobs: OrderedDict[str, Job] = OrderedDict()  # in the order in which they were last looked at
        self._queue: list[tuple[Job, Callable[[Job], Any]]] = []
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, title: str, work: Callable[[Job], Any]) -> Job:
        """Queue ``work``; it is called with its `Job` to report progress and to look at the cancel token."""
        job = Job(title)
        with self._wake:
            self._jobs[job.id] = job
            self._queue.append((job, work))
            self._forget_old()
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="jobs", daemon=True)
                self._thread.start()
            self._wake.notify()
        return job

    def ended(self, title: str, remembered: Any) -> Job:
        """A job that is done already, with a result that was remembered."""
        job = Job(title)
        job.remembered, job.result, job.progress, job.state = remembered, remembered.result, 1.0, "done"
        job._ended.set()
        with self._wake:
            self._jobs[job.id] = job
            self._forget_old()
        return job

    def remove(self, job_id: str) -> None:
        """Cancel a job and let go of its result."""
        with self._wake:
            job = self._jobs.pop(job_id, None)
        if job is not None:
            job.cancel()

    def get(self, job_id: str) -> Job | None:
        """The job of that id, or None where it was forgotten; looking at it keeps it."""
        with self._wake:
            if job_id in self._jobs:
                self._jobs.move_to_end(job_id)
            return self._jobs.get(job_id)

    def unfinished(self) -> list[Job]:
        """The job at work and those that wait."""
        with self._wake:
            return [job for job in self._jobs.values() if not job.finished]

    def position(self, job: Job) -> int:
        """How many jobs wait before this one; 0 when it is next, running, or ended."""
        with self._wake:
            waiting = [queued.id for queued, _ in self._queue]
        return waiting.index(job.id) if job.id in waiting else 0

    def _forget_old(self) -> None:
        finished = [job_id for job_id, job in self._jobs.items() if job.finished]
        for job_id in finished[: max(0, len(finished) - self._kept)]:
            del self._jobs[job_id]

    def _loop(self) -> None:
        while True:
            with self._wake:
                while not self._queue:
                    self._wake.wait()
                job, work = self._queue.pop(0)
            job._run(work)
            del job, work  # what the work holds, for example a dataset, must not wait here for the next job
