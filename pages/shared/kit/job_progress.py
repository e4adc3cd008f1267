"""Long work on screen: stage, progress, time left and Cancel, while other pages stay usable.

A run of a page notes the jobs that it waits for. At its end, exactly one part of the page checks their progress
repeatedly, and redraws the page when any of them has ended.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitInvalidLayoutContextError

from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_names_in
from core.errors import InputError, NotApplicableError, PluralityError
from core.runtime.jobs import Job
from core.text import duration, markdown, plural
from pages.shared.cache import datasets as cached
from pages.shared.cache import streamlit_private, visit
from pages.shared.kit.redraw import LOOK_SECONDS, await_news, draw_anew, part, place_of_part

# What has been at work for long is looked at less often; what a page has just asked for is looked at soon for once.
_LONG, _SLOWER = 12.0, 1.0
_YOUNG, _SOON = 4.0, 0.2
_AT_ONCE_SECONDS = 0.3  # that a run waits, all in all
_LEAST_SECONDS = 0.05  # and for each job
_EVERY = 2.0  # seconds between looks at all computations


@dataclass(slots=True)
class _Run:
    """Jobs that one run of a page waits for.

    Attributes
    ----------
    left : float
        Seconds that it may still wait for jobs that end within a moment.
    shown : dict of str to (Job, place or None, partial result)
        Jobs by id; a job without a place shows nothing. A new partial result redraws the page.
    together : list of Job, or None
        Jobs that share one Cancel; None if each has its own.
    """

    left: float = _AT_ONCE_SECONDS
    shown: dict[str, tuple[Job, DeltaGenerator | None, object]] = field(default_factory=dict)
    together: list[Job] | None = None


def begin() -> None:
    """Begin a run of a page, which waits for nothing yet."""
    visit.waits_of_run = _Run()
    cached.drawing(True)


def poll(name: str) -> None:
    """At the end of a run of a page: the one part of it that looks at its jobs."""
    cached.drawing(False)
    if shown := _run().shown:
        _look(list(shown.values()))
    else:
        cached.page_is_complete(name)


def redraw_after(job: Job) -> None:
    """Redraw the page when a job has ended, without showing its progress."""
    _run().shown.setdefault(job.id, (job, None, job.partial))


@contextmanager
def one_cancel(key: str) -> Iterator[None]:
    """Show the progress of all jobs requested within, with one shared Cancel after them."""
    run = _run()
    run.together = []
    try:
        yield
    finally:
        together, run.together = run.together, None
    if together:
        words = f"Cancel {'computations' if len(together) > 1 else 'computation'}"
        st.button(words, on_click=cancel, args=(together,), key=f"cancel-{key}", type="tertiary")


def cancel_too(jobs: Iterable[Job]) -> None:
    """Add jobs that show no progress of their own to the shared Cancel."""
    if (together := _run().together) is not None:
        together.extend(jobs)


def cancel(jobs: list[Job]) -> None:
    """Cancel jobs on behalf of this session (callback)."""
    for job in jobs:
        cached.cancel(job)


def _run() -> _Run:
    visit.waits_of_run = run = visit.waits_of_run or _Run()
    return run


def result_of(key: tuple, title: str, work: Callable[[Job], object], lane: str = "pages", of: Dataset | None = None):
    """Return the result of a job; None while it runs, or after it was cancelled or failed, as the screen shows.

    Where it is ``of`` a dataset, key and work must be of its content (``content_digest``, ``coded``); the names are put
    into what is given back.

    What takes less than a moment is waited for, so that it never flickers. A session has one job under each title: an
    earlier one that nobody else looks at is cancelled, so that moving a slider does not fill the queue.
    """
    _one_at_a_time(key, title)
    job = cached.job(key, title, work, lane, of)
    _wait_a_moment(job)
    if job.state == "done":
        return cached.result(job, of)
    if not job.finished:
        _watch(job)
    else:
        say_ended(job, of)
    return None


def say_ended(job: Job, of: Dataset | None) -> None:
    """Show why a job has no result: it was cancelled or failed; with a button to try again where that may help.

    Parameters
    ----------
    job : Job
    of : Dataset or None
        Dataset whose names the error gets.
    """
    title = job.title
    error = job.error if of is None else with_names_in(job.error, of)
    if job.state == "cancelled":
        st.info(f"{markdown(title)}: cancelled.", icon=":material/cancel:")
    elif isinstance(error, NotApplicableError):  # what these data do not tell is no failure
        st.info(markdown(error), icon=":material/info:")
        return
    elif isinstance(error, PluralityError):
        st.error(markdown(error), icon=":material/error:")
        if isinstance(error, InputError):  # the same again would fail the same
            return
    else:
        st.error(
            f"{markdown(title)} failed with {type(error).__name__}: {markdown(error)}. This is a bug in Plurality. "
            "Please report it, and include the details from the Settings page.",
            icon=":material/bug_report:",
        )
    st.button("Try again", on_click=cached.restart, args=(job.key,), key=f"again-{job.id}")


def every_computation() -> None:
    """Show all computations of this session with their progress or place in the queue, and a Cancel for each."""
    if cached.unfinished()[0]:
        _computations()
    else:
        st.caption("No computation is running.")


@part(_EVERY)
def _computations() -> None:
    mine, n_others = cached.unfinished()
    if not mine:
        draw_anew()
    for job in mine:
        with st.container(horizontal=True, vertical_alignment="center"):
            _say(job, st.container())
            st.button("Cancel", on_click=cancel, args=([job],), key=f"cancel-{job.id}", type="tertiary")
    if n_others:
        st.caption(f"{plural(n_others, 'computation')} of other sessions.")


def so_far(key: tuple):
    """Return the partial result of a job under way, if it is shown; otherwise None."""
    job = cached.known(key)
    return job.partial if job is not None and job.state == "running" else None


def leave_others(prefix: str, titles: set[str]) -> None:
    """Cancel this session's jobs with this prefix and other titles, if no other session needs them."""
    for title in [title for title in visit.jobs if title.startswith(prefix) and title not in titles]:
        cached.leave(visit.jobs.pop(title))


def _one_at_a_time(key: tuple, title: str) -> None:
    mine = visit.jobs
    if title in mine and mine[title] != key:
        cached.leave(mine[title])
    mine[title] = key
    cached.watch(key)


def _wait_a_moment(job: Job) -> None:
    """Wait a moment for a job, unless it has been running for longer: its news redraw the page anyway."""
    run, now = _run(), time.monotonic()
    if job.started is None or now - job.started < _AT_ONCE_SECONDS:
        job.wait(max(run.left, _LEAST_SECONDS))
    run.left -= time.monotonic() - now


def _watch(job: Job) -> None:
    run, place = _run(), place_of_part()
    run.shown[job.id] = job, place, job.partial
    _say(job, place)
    if run.together is None:
        st.button("Cancel", on_click=cancel, args=([job],), key=f"cancel-{job.id}")
    else:
        run.together.append(job)


@part(LOOK_SECONDS)
def _look(shown: list[tuple[Job, DeltaGenerator | None, object]]) -> None:
    age, by_clock = _age([job for job, *_ in shown]), streamlit_private.is_run_of_fragment()
    if by_clock and age < _LONG:
        await_news(lambda: _has_news(shown))
    if _has_news(shown):
        visit.drawn_anew = True
        draw_anew()
    for job, place, _ in shown:
        if place is not None:
            with suppress(StreamlitInvalidLayoutContextError):  # of a run that was broken off: the next one draws it
                _say(job, place)
    soon = not by_clock and age < _YOUNG
    streamlit_private.rerun_fragment_after(_SOON if soon else _SLOWER if age >= _LONG else LOOK_SECONDS)


def _age(jobs: list[Job]) -> float:
    """Seconds for which the job that has begun last has been at work."""
    begun = [job.started for job in jobs if job.started is not None and not job.finished]
    return time.monotonic() - max(begun) if begun else 0.0


def _has_news(shown: list[tuple[Job, DeltaGenerator | None, object]]) -> bool:
    """Return True if any of the jobs has ended, or has more of its result than was drawn."""
    return any(job.finished or job.partial is not drawn for job, _, drawn in shown)


def _say(job: Job, place: DeltaGenerator) -> None:
    ahead = cached.jobs().position(job)
    words = job.title
    if job.state == "waiting" and ahead:
        words += f" · waiting for {plural(ahead, 'other computation')}"
    left = job.seconds_left()
    if left is not None:
        words += f" · about {duration(left)} left"
    place.progress(job.progress, text=words + (f" · {job.message}" if job.message else ""))
