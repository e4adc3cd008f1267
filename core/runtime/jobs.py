"""Jobs: long work that a page starts, watches, and may cancel. They do not touch the screen; pages poll them.

A server has one board, so requests for the same work join one job. A few jobs run at once (each uses all cores through
`core.runtime.chunks`), sessions take turns, light work goes before heavy work and always finds a place, and every job
shows how many are before it. A job that nobody watches any more gives up its place and keeps what it has done.
"""

import math
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from ..errors import Cancelled
from .chunks import CancelToken

KEPT_JOBS = 32
WORKERS = 3
HEAVY = 3  # the cost from which a job may not take the last place
UNSEEN = 4.0  # seconds without a connection after which a job gives its place away
GIVEN_UP = 600.0  # and after which it ends
PRIORITY_STEP = 2.0  # seconds by which chunks of work wait longer than those of work that is lighter by one
_BEAT = 0.5
_REDRAWN = 1.5  # seconds within which a page is redrawn after the job that it waited for has ended


class JobToken(CancelToken):
    """Cancel token that also pauses a job while nobody watches it: each check waits until somebody does again."""

    def __init__(self, priority: float = 0.0) -> None:
        super().__init__(priority)
        self.paused = False
        self.wait_while_paused: Callable[[], None] = lambda: None
        self.stopped: Callable[[], None] = lambda: None
        self.thread = 0

    def cancel(self) -> None:
        """Ask the work to stop at the next chunk."""
        super().cancel()
        self.stopped()

    def check(self) -> None:
        """Raise `Cancelled` if somebody asked to stop; in the job's own thread, wait while nobody watches it."""
        if self.paused and threading.get_ident() == self.thread:
            self.wait_while_paused()
        super().check()


class Job:
    """Long piece of work: its state, its progress, and finally its result or its error.

    Attributes
    ----------
    cost : int
        Expected cost, as a rank: light jobs go first.
    state : {"waiting", "running", "paused", "done", "failed", "cancelled"}
        "paused": nobody watches the job; it does not run, and continues when somebody asks again.
    progress : float
        Share done, 0 to 1.
    message : str
        Current step, in words.
    partial : object
        Part of the result that the work has so far, if it reports one.
    result : object
        Return value of the work; None until the state is "done".
    error : BaseException or None
        Error that the work raised.
    """

    def __init__(self, title: str, key: Hashable = None, cost: int = 1):
        self.id = uuid.uuid4().hex
        self.title, self.cost = title, cost
        self.key = self.id if key is None else key
        self.token = JobToken(PRIORITY_STEP * max(0, cost - 1))
        self.sessions: set[str] = set()  # that asked for it
        self.watchers: set[str] = set()  # sessions, or parts of them, that look at it now
        self.session = ""  # session in whose turn it runs
        self.background = False  # nobody waits for it
        self.refused: dict[str, Job] = {}  # by session, what it cancelled under this key
        self.unseen_since: float | None = None
        self.state = "waiting"
        self.progress = 0.0
        self.message = ""
        self.partial: Any = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.started: float | None = None
        self.seconds = 0.0
        self.remembered: Any = None  # the result with the names of the dataset that it was requested for
        # If several processes serve: whether another one does this work now; what reports the progress to others, and
        # whether any of them waits for it.
        self.is_elsewhere: Callable[[], bool] = lambda: False
        self.tells: list[Callable[[], None]] = []
        self.awaited: list[Callable[[], bool]] = []
        self.step_aside: Callable[[], None] = lambda: None
        self.step_back: Callable[[], None] = lambda: None
        self._ended = threading.Event()

    def report(self, share: float, message: str = "") -> None:
        """Report how far the work is; the work calls this."""
        self.progress = min(max(float(share), 0.0), 1.0)
        if message:
            self.message = message

    @property
    def soon_again(self) -> bool:
        """True if the result can be read from disk, or computed, in a moment."""
        return self.remembered is not None and self.remembered.soon_again()

    def is_awaited(self) -> bool:
        """Return whether another process of the server waits for the result."""
        return any(waits() for waits in tuple(self.awaited))

    def cancel(self) -> None:
        """Ask the job to stop; a waiting job never starts."""
        self.token.cancel()

    @property
    def finished(self) -> bool:
        """True once the job has ended in any way."""
        return self._ended.is_set()

    def seconds_left(self) -> float | None:
        """Estimate the seconds left from the share done so far; None while no share is known."""
        if self.state != "running" or self.started is None or self.progress < 0.02:
            return None
        elapsed = time.monotonic() - self.started
        return elapsed * (1 - self.progress) / self.progress

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the job has ended; return False if ``timeout`` seconds passed first."""
        return self._ended.wait(timeout)

    def _run(self, work: Callable[["Job"], Any]) -> None:
        self.started = time.monotonic()
        self.token.thread = threading.get_ident()
        try:
            self.token.check()
            result = work(self)
            self.token.check()
            self.result, self.progress, self.state = result, 1.0, "done"
        except Cancelled as error:
            self.error, self.state = error, "cancelled"
        except BaseException as error:
            self.error, self.state = error, "failed"
        self.seconds = time.monotonic() - self.started


def _cancelled(job: Job) -> Job:
    """Return a job as a session sees it that cancelled it while it continues for others."""
    found = Job(job.title, job.key, job.cost)
    found.token.cancel()
    found.error, found.state = Cancelled("Cancelled. Nothing was changed."), "cancelled"
    found._ended.set()
    return found


class JobBoard:
    """Board that runs jobs in background threads and remembers the last ones.

    Parameters
    ----------
    workers : int
        Number of jobs at once; if more than one, the last place is for light jobs.
    kept : int
        Number of finished jobs whose results are kept; beyond it, the ones unwatched for longest are forgotten.
    is_connected : callable
        Function that returns whether a session is still connected.
    unseen, given_up : float
        Seconds without a connected session after which a job is held, and after which it ends.
    """

    def __init__(
        self,
        workers: int = WORKERS,
        kept: int = KEPT_JOBS,
        is_connected: Callable[[str], bool] = lambda session: True,
        unseen: float = UNSEEN,
        given_up: float = GIVEN_UP,
    ):
        self._workers, self._kept, self._is_connected = workers, kept, is_connected
        self._unseen, self._given_up = unseen, given_up
        self._lock = threading.Condition()
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()  # by key, in the order in which they were last looked at
        self._work: dict[str, Callable[[Job], Any]] = {}  # of those that have not begun
        self._queue: list[Job] = []
        self._running: list[Job] = []
        self._served: dict[str, int] = {}
        self._drawing: dict[str, float] = {}  # sessions that are still asking, and until when they count as such
        self._n_served = 0
        self._watching: threading.Thread | None = None

    def join(
        self,
        key: Hashable,
        title: str,
        work: Callable[[Job], Any],
        *,
        session: str = "",
        cost: int = 1,
        background: bool = False,
        elsewhere: Callable[[], bool] | None = None,
    ) -> Job:
        """Return the job of that key in any state; if there is none, queue ``work``.

        A job that a session cancelled stays cancelled for that session until it calls `again`. Others who watch the job
        keep it, and for later requests it is queued again.

        Parameters
        ----------
        key : hashable
            Identity of the request: equal keys are one job.
        title : str
            Title that people read next to its progress.
        work : callable
            Called with its `Job`, to report progress and to check the cancel token.
        session : str
            Session that asks.
        cost : int
            Queue that it waits in; lighter jobs go first.
        background : bool
            True if nobody waits for it: it starts once the session has drawn its page and has the light work of that
            page.
        elsewhere : callable, optional
            Function that returns whether another process does the work now: the job then starts at once, to follow the
            progress there, and takes no place.
        """
        with self._lock:
            job = self._look(key)
            refused = {} if job is None else job.refused
            if job is not None and session in refused and job.state != "done":
                return refused[session]
            if job is None or (job.state == "cancelled" and job.token.cancelled):
                job = Job(title, key, cost)
                job.session, job.refused, job.background = session, refused, background
                job.token.stopped = lambda: self._stopped(job)
                job.token.wait_while_paused = lambda: self._park(job)
                job.step_aside, job.step_back = lambda: self._step_aside(job), lambda: self._step_back(job)
                job.is_elsewhere = elsewhere or job.is_elsewhere
                self._jobs[key] = job
                self._work[job.id] = work
                self._queue.append(job)
                self._forget_old()
            job.background &= background
            self._asked(job, session)
            self._dispatch()
            return job

    def drawing(self, session: str, still: bool) -> None:
        """Note that a session is drawing a page and may ask for more, or that it has asked for everything."""
        with self._lock:
            self._drawing.pop(session, None)
            if still:
                self._drawing[session] = math.inf
            self._dispatch()

    def submit(self, title: str, work: Callable[[Job], Any], *, session: str = "", cost: int = 1) -> Job:
        """Queue work that no other request can join.

        Parameters
        ----------
        title, work, session, cost
            See `join`.
        """
        return self.join(uuid.uuid4().hex, title, work, session=session, cost=cost)

    def ended(self, key: Hashable, title: str, remembered: Any) -> Job:
        """Return a finished job with a result that was remembered.

        Parameters
        ----------
        key, title
            See `join`.
        remembered
            Remembered result.
        """
        with self._lock:
            job = self._look(key)
            if job is None:
                job = Job(title, key)
                job.remembered, job.result, job.progress, job.state = remembered, remembered.result, 1.0, "done"
                job._ended.set()
                self._jobs[key] = job
                self._forget_old()
            return job

    def get(self, key: Hashable) -> Job | None:
        """Return the job of that key, or None if it was forgotten; this counts as a use of the job."""
        with self._lock:
            return self._look(key)

    def watch(self, key: Hashable, session: str) -> None:
        """Record that a session, or a part of it (after a slash), watches a job; a paused job continues."""
        name = session.partition("/")[0]
        with self._lock:
            if (job := self._look(key)) is not None and name not in job.refused:
                job.watchers.add(session)
                self._asked(job, name)
                self._dispatch()

    def leave(self, key: Hashable, session: str) -> None:
        """Record that a session does not need a job any more; cancel a job that nobody needs."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                return
            job.watchers.discard(session)
            if job.watchers or job.finished or job.is_awaited():
                job.sessions -= {session.partition("/")[0]} - {one.partition("/")[0] for one in job.watchers}
                return
            del self._jobs[key]
        job.cancel()

    def cancel(self, key: Hashable, session: str) -> None:
        """Cancel a job on behalf of a session, for which it stays cancelled; see `join`."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.finished:
                return
            others = any(other != session and self._is_connected(other) for other in job.sessions)
            if not others and not job.is_awaited():
                job.refused[session] = job
            else:
                job.refused[session] = _cancelled(job)
                job.sessions.discard(session)
                job.watchers = {one for one in job.watchers if one.partition("/")[0] != session}
                return
        job.cancel()

    def again(self, key: Hashable, session: str) -> None:
        """Let the next `join` of a session restart what it cancelled or what failed; jobs of others continue."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                return
            job.refused.pop(session, None)
            if job.state in ("failed", "cancelled"):
                del self._jobs[key]

    def remove(self, key: Hashable) -> None:
        """Cancel a job and discard its result, so that the next job of its key starts from the beginning."""
        with self._lock:
            job = self._jobs.pop(key, None)
        if job is not None and not job.finished:
            job.cancel()

    def discard(self, also: Callable[[Job], bool] = lambda job: False) -> None:
        """Forget the finished jobs whose results can be read or computed again in a moment.

        Parameters
        ----------
        also : callable, optional
            Function that selects further finished jobs to forget.
        """
        with self._lock:
            ended = [(key, job) for key, job in self._jobs.items() if job.finished]
            for key in [key for key, job in ended if job.soon_again or also(job)]:
                del self._jobs[key]

    def all_keys(self) -> list[Hashable]:
        """List the keys of all jobs that are remembered."""
        with self._lock:
            return list(self._jobs)

    def unfinished(self) -> list[Job]:
        """List the jobs that are running or waiting."""
        with self._lock:
            return [job for job in self._jobs.values() if not job.finished]

    def position(self, job: Job) -> int:
        """Return how many jobs are running or waiting before this one; 0 if it runs or has ended."""
        with self._lock:
            if job not in self._queue:
                return 0
            return len(self._running) + sorted(self._queue, key=self._turn).index(job)

    def beat(self) -> None:
        """Pause jobs that nobody watches, resume those that somebody watches again, and end those left for too long.

        Other processes of the server receive the progress of the work that they wait for here, and count as watching.
        """
        now = time.monotonic()
        given_up = []
        for job in self.unfinished():
            for tell in tuple(job.tells):
                tell()
        with self._lock:
            for job in [job for job in self._jobs.values() if not job.finished]:
                if any(map(self._is_connected, job.sessions)) or job.is_awaited():
                    job.unseen_since = None
                    self._go_on(job)
                    continue
                job.unseen_since = now if job.unseen_since is None else job.unseen_since
                if now - job.unseen_since >= self._given_up:
                    given_up.append(job)
                elif now - job.unseen_since >= self._unseen:
                    job.token.paused = True
                    if job in self._queue:
                        job.state = "paused"
            self._dispatch()
        for job in given_up:
            job.cancel()

    def _look(self, key: Hashable) -> Job | None:
        if key in self._jobs:
            self._jobs.move_to_end(key)
        return self._jobs.get(key)

    def _asked(self, job: Job, session: str) -> None:
        job.sessions.add(session)
        job.unseen_since = None
        self._go_on(job)
        if self._watching is None and not job.finished:
            self._watching = threading.Thread(target=self._beat_to_the_end, name="jobs", daemon=True)
            self._watching.start()

    def _beat_to_the_end(self) -> None:
        """Call `beat` until no job is running or waiting; the next request starts this loop again."""
        while True:
            time.sleep(_BEAT)
            self.beat()
            with self._lock:
                if all(job.finished for job in self._jobs.values()):
                    self._watching = None
                    return

    def _go_on(self, job: Job) -> None:
        job.token.paused = False
        if job.state == "paused":
            job.state = "waiting"

    def _turn(self, job: Job) -> tuple[bool, int, int, int]:
        running = sum(other.session == job.session for other in self._running)
        return job.state == "paused", running, self._served.get(job.session, 0), job.cost

    def _dispatch(self) -> None:
        """Start each job whose turn it is, or that another process does; the caller has the lock."""
        while (job := self._next()) is not None:
            self._running.append(job)
            self._start(job)
        for job in [
            job for job in self._queue if job.id in self._work and job.state != "paused" and job.is_elsewhere()
        ]:
            self._start(job)

    def _next(self) -> Job | None:
        if len(self._running) >= self._workers:
            return None
        heavy = sum(job.cost >= HEAVY for job in self._running)
        full = self._workers > 1 and heavy >= self._workers - 1
        able = [job for job in self._queue if job.state != "paused" and not (full and job.cost >= HEAVY)]
        able = [job for job in able if not (job.background and all(map(self._is_busy, job.sessions)))]
        return min(able, key=self._turn, default=None)

    def _is_busy(self, session: str) -> bool:
        """Return whether a session still waits for work that it asked for."""
        asked = (job for job in (*self._running, *self._queue) if not job.background and job.state != "paused")
        if any(job.cost < HEAVY and session in job.sessions for job in asked):
            return True
        return self._drawing.get(session, 0.0) > time.monotonic()

    def _draw_anew(self, job: Job) -> None:
        """Have the pages that waited for a job redrawn, so that they can ask for more."""
        self._drawing = {session: until for session, until in self._drawing.items() if until > time.monotonic()}
        if not job.background:
            for session in job.sessions:
                self._drawing.setdefault(session, time.monotonic() + _REDRAWN)

    def _start(self, job: Job) -> None:
        self._queue.remove(job)
        self._n_served += 1
        self._served[job.session] = self._n_served
        job.state = "running"
        work = self._work.pop(job.id, None)
        if work is None:  # it had begun, and waits where it was
            self._lock.notify_all()
        else:
            threading.Thread(target=self._run, args=(job, work), name="job", daemon=True).start()

    def _run(self, job: Job, work: Callable[[Job], Any]) -> None:
        job._run(work)
        del work  # what it holds, for example a dataset
        with self._lock:
            if job in self._running:
                self._running.remove(job)
            job._ended.set()
            self._draw_anew(job)
            self._forget_old()
            self._dispatch()

    def _park(self, job: Job) -> None:
        """Give up the place of a job until it is its turn again; called in the job's thread."""
        with self._lock:
            if job.token.paused and not job.token.cancelled:
                self._queue_again(job, "paused")

    def _step_aside(self, job: Job) -> None:
        """Free the place of a job while another process does its work; called in the job's thread."""
        with self._lock:
            if job in self._running:
                self._running.remove(job)
                self._dispatch()

    def _step_back(self, job: Job) -> None:
        """Wait until a job has a place again; called in the job's thread."""
        with self._lock:
            if job not in self._running and not job.token.cancelled:
                self._queue_again(job, "waiting")

    def _queue_again(self, job: Job, state: str) -> None:
        if job in self._running:
            self._running.remove(job)
        self._queue.append(job)
        job.state = state
        self._dispatch()
        while job.state != "running" and not job.token.cancelled:
            self._lock.wait()

    def _stopped(self, job: Job) -> None:
        """End a cancelled job at once if it has not started; wake a paused one, so that it ends."""
        with self._lock:
            if job in self._queue:
                self._queue.remove(job)
                if self._work.pop(job.id, None) is not None:
                    job.error, job.state = Cancelled("Cancelled. Nothing was changed."), "cancelled"
                    job._ended.set()
            self._lock.notify_all()

    def _forget_old(self) -> None:
        finished = [key for key, job in self._jobs.items() if job.finished]
        for key in finished[: max(0, len(finished) - self._kept)]:
            del self._jobs[key]
