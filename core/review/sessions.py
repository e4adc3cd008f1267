"""Session: a finite batch of cases with an order, progress, and a list at the end for corrections."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import InputError
from ..text import first_twice
from .events import Event
from .states import SETTLED, CaseReview, effective, review_of

Standing = Literal["left", "begun", "skipped", "done", "elsewhere"]
STANDINGS: dict[Standing, str] = {
    "left": "not seen yet",
    "begun": "begun",
    "skipped": "skipped",
    "done": "done",
    "elsewhere": "settled by others",
}
ARBITRATION = "Arbitration"
BLIND_FIRST = "Arbitration, with each case first reviewed blind"
_FINISHES = ("keep", "change", "second_opinion", "arbitration", "adjudication", "reopen")


@dataclass(frozen=True, slots=True)
class Queued:
    """Case of a session, with the reason why it is there, in words. Not escaped."""

    case_id: str
    why: str = ""


def check_queue(cases: Sequence[Queued], what: str) -> None:
    """Raise `InputError` if cases for a session are missing or repeated; the message says what was not done."""
    if not cases:
        raise InputError(
            f"Could not {what}: the queue has no cases.", "Choose a different queue, or use fewer filters."
        )
    if (twice := first_twice([case.case_id for case in cases])) is not None:
        raise InputError(f"Could not {what}: case {twice!r} appears twice in the queue.", "Use each case once.")


@dataclass(frozen=True, slots=True)
class Session:
    """Batch of cases for one reviewer.

    Attributes
    ----------
    id, dataset, reviewer, title : str
    at : int
        Start time, in microseconds since 1970-01-01 UTC.
    cases : tuple of Queued
    """

    id: str
    dataset: str
    reviewer: str
    title: str
    at: int
    cases: tuple[Queued, ...]

    @property
    def arbitrates(self) -> bool:
        """True if its cases are to be decided: a case is done when its arbitration has ended."""
        return self.title in (ARBITRATION, BLIND_FIRST)

    @property
    def opens_on_opinions(self) -> bool:
        """True if the arbitrator starts with the opinions of the others."""
        return self.title == ARBITRATION


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One case in the list of a session.

    Attributes
    ----------
    case_id, why : str
    standing : str
        State, one of `STANDINGS`: "elsewhere" if others settled it before the reviewer started.
    review : CaseReview
        Review as far as the reviewer may know it.
    """

    case_id: str
    why: str
    standing: Standing
    review: CaseReview


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """Progress of a session. ``done`` includes cases settled by others; ``current`` is None at the end."""

    done: int
    skipped: int
    total: int
    current: str | None

    @property
    def share(self) -> float:
        """Share done, 0 to 1."""
        return self.done / self.total


def lines_of(session: Session, trail: Iterable[Event]) -> tuple[SessionLine, ...]:
    """List cases in the order in which they come: first in their given order, then skipped ones as they were skipped.

    Parameters
    ----------
    session : Session
    trail : iterable of Event
        All events of its cases, from any session, in their order.
    """
    trails: dict[str, list[tuple[int, Event]]] = {}
    for place, event in enumerate(trail):
        trails.setdefault(event.case_id, []).append((place, event))
    found = []
    for number, queued in enumerate(session.cases):
        numbered = trails.get(queued.case_id, [])
        events = [event for _, event in numbered]
        review = review_of(queued.case_id, events)
        own = [event for event in effective(events) if event.session == session.id]
        standing = _standing(session, review, own)
        skipped_at = max((place for place, event in numbered if own and event is own[-1]), default=-1)
        order = (1, skipped_at) if standing == "skipped" else (0, number)
        line = SessionLine(queued.case_id, queued.why, standing, review.seen_by(session.reviewer))
        found.append((order, line))
    return tuple(line for _, line in sorted(found, key=lambda entry: entry[0]))


def progress_of(lines: tuple[SessionLine, ...]) -> SessionProgress:
    """Return the progress from the lines of a session."""
    over = [line for line in lines if line.standing in ("done", "elsewhere")]
    skipped = sum(line.standing == "skipped" for line in lines)
    current = next((line.case_id for line in lines if line not in over), None)
    return SessionProgress(len(over), skipped, len(lines), current)


def still_to_read(sessions: Iterable[Session], reviews: Mapping[str, CaseReview]) -> list[str]:
    """List cases of these sessions that their reviewers have not reviewed, starting from the end of each session.

    A reviewer who starts the same queue takes these after all others and in this order, so that two reviewers meet in
    the middle and review the same case only if it is the last.
    """
    found: dict[str, None] = {}
    for session in sessions:
        for queued in reversed(session.cases):
            review = reviews.get(queued.case_id)
            if review is None or review.read_by(session.reviewer) is None:
                found[queued.case_id] = None
    return list(found)


def _standing(session: Session, review: CaseReview, own: list[Event]) -> Standing:
    if own and own[-1].kind == "skip":
        return "skipped"
    read = review.read_by(session.reviewer)
    if session.arbitrates and review.state not in SETTLED and not any(event.kind == "reopen" for event in own):
        return "begun" if own else "left"
    kinds = [event.kind for event in own]
    if "reopen" in kinds and not session.arbitrates:  # A new round has started, and only what follows counts.
        kinds = kinds[len(kinds) - kinds[::-1].index("reopen") :]
        if not kinds and review.state not in SETTLED:
            return "begun"
    finished = any(kind in _FINISHES for kind in kinds)
    if finished or (read is not None and read.settled):
        return "done"
    if kinds or read is not None:
        return "begun"
    return "elsewhere" if review.state in SETTLED else "left"
