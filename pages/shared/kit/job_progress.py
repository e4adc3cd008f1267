"""Long work on screen: stage, progress, time left and Cancel, while other pages stay usable."""

from collections.abc import Callable

import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_names_in
from core.errors import InputError, NotApplicableError, PluralityError
from core.jobs import Job
from core.text import markdown
from pages.shared.cache import datasets as cached

_POLL_SECONDS = 0.5
_AT_ONCE_SECONDS = 0.3


def result_of(key: tuple, title: str, work: Callable[[Job], object], lane: str = "pages", of: Dataset | None = None):
    """The result of a job, or None while it runs, was cancelled or has failed; then the screen says so.

    Where it is ``of`` a dataset, key and work must be of its content (``content_digest``, ``coded``); the names are put
    into what is given back.

    What takes less than a moment is waited for, so that it never flickers. A session has one job under each title: an
    earlier one that nobody else looks at is cancelled, so that moving a slider does not fill the queue.
    """
    _one_at_a_time(key, title)
    job = cached.job(key, title, work, lane, of)
    job.wait(_AT_ONCE_SECONDS)
    if job.state == "done":
        return cached.result(job, of)
    if not job.finished:
        _watch(job)
        return None
    error = job.error if of is None else with_names_in(job.error, of)
    if job.state == "cancelled":
        st.info(f"{title}: cancelled.", icon=":material/cancel:")
    elif isinstance(error, NotApplicableError):  # what these data do not tell is no failure
        st.info(markdown(error), icon=":material/info:")
        return None
    elif isinstance(error, PluralityError):
        st.error(markdown(error), icon=":material/error:")
        if isinstance(error, InputError):  # the same again would fail the same
            return None
    else:
        st.error(
            f"{title} failed with {type(error).__name__}: {markdown(error)}. This is a bug in Plurality; "
            "the details under Settings help to mend it.",
            icon=":material/bug_report:",
        )
    st.button("Try again", on_click=cached.restart, args=(key,), key=f"again-{job.id}")
    return None


def leave_others(prefix: str, titles: set[str]) -> None:
    """Cancel this session's jobs whose titles begin so and are not among these, where nobody else looks at them."""
    mine = st.session_state.get("_jobs", {})
    for title in [title for title in mine if title.startswith(prefix) and title not in titles]:
        cached.leave(mine.pop(title))


def _one_at_a_time(key: tuple, title: str) -> None:
    mine = st.session_state.setdefault("_jobs", {})
    if title in mine and mine[title] != key:
        cached.leave(mine[title])
    mine[title] = key
    cached.watch(key)


@st.fragment(run_every=_POLL_SECONDS)
def _watch(job: Job) -> None:
    if job.finished:
        st.session_state["drawn_anew"] = True
        st.rerun()
    ahead = cached.jobs().position(job)
    words = f"{job.title} · waits for {ahead} other" if job.state == "waiting" and ahead else job.title
    left = job.seconds_left()
    if left is not None:
        words += f" · about {left:,.0f} s left"
    st.progress(job.progress, text=words + (f" · {job.message}" if job.message else ""))
    st.button("Cancel", on_click=job.cancel, key=f"cancel-{job.id}")
