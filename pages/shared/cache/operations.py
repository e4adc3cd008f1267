"""What the administrator of a server sees of it: lines of the log, and numbers for Prometheus. No content, no names."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from streamlit.runtime.scriptrunner import RerunException, StopException

from core import logs
from core.settings import current_settings
from core.version import __version__
from pages.shared.cache import streamlit_private

_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0)


class _Numbers:
    """The numbers of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own = {"registry": self.registry, "namespace": "plurality"}
        self.seconds = Histogram("page_seconds", "Time to run a page.", ["page"], buckets=_BUCKETS, **own)
        self.runs = Counter("page_runs", "Number of page runs by outcome.", ["page", "ended"], **own)
        self.recorded = Counter("review_events", "Number of recorded review steps.", ["kind"], **own)
        self.refused = Counter("refused", "Number of refused requests.", ["kind"], **own)
        self.sessions = Gauge("sessions", "Number of connected browsers.", **own)
        self.jobs = Gauge("jobs", "Number of unfinished computations.", ["state"], **own)
        self.memory = Gauge("results_memory_bytes", "Memory used by results, in bytes.", **own)
        Gauge("info", "Version of Plurality.", ["version"], **own).labels(__version__).set(1)


numbers = _Numbers()


def begin() -> None:
    """Log as the settings say."""
    if current_settings().log == "json":
        streamlit_private.write_logs_with(logs.begin())


def started() -> None:
    """Record the start of the server."""
    logs.log("server_started", version=__version__)


@contextmanager
def page(name: str) -> Iterator[None]:
    """Around a run of a page: how long it took and how it ended.

    Parameters
    ----------
    name : str
        Name of its file in ``pages/``.
    """
    began, ended = time.perf_counter(), "done"
    try:
        yield
    except (RerunException, StopException):
        ended = "stopped"
        raise
    except Exception as error:
        ended = "failed"
        logs.log_error("page_failed", error)
        raise
    finally:
        seconds = time.perf_counter() - began
        numbers.seconds.labels(name).observe(seconds)
        numbers.runs.labels(name, ended).inc()
        logs.log("page", page=name, ended=ended, ms=round(1000 * seconds))


def recorded(kind: str) -> None:
    """Count a recorded step of a review."""
    numbers.recorded.labels(kind).inc()
    logs.log("review_event", kind=kind)


def refused(kind: str) -> None:
    """Count a request that was refused before it reached a page."""
    numbers.refused.labels(kind).inc()
    logs.log("refused", kind=kind)


def metrics(states: Sequence[str], memory: int) -> bytes:
    """All numbers as Prometheus reads them, with those of the process itself.

    Parameters
    ----------
    states : sequence of str
        States of the jobs that have not ended.
    memory : int
        Bytes of results that are held.
    """
    numbers.sessions.set(streamlit_private.count_connected())
    for label, state in (("waiting", "waiting"), ("running", "running"), ("held", "paused")):  # dashboards know "held"
        numbers.jobs.labels(label).set(states.count(state))
    numbers.memory.set(memory)
    return generate_latest(numbers.registry) + generate_latest(REGISTRY)
