"""Assignments: cases that a manager gives to a person or a group, with a due date.

Assignments are steps of the record: each is an event of its dataset, without a case, in the same chain of hashes as the
reviews. They are never changed; a withdrawal is an event that follows.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd

from ..errors import InputError
from ..text import day_words, utc
from .events import ASSIGNED, WITHDRAWN, Event, check_name, check_text
from .sessions import Queued, Session, SessionLine, SessionProgress, check_queue, lines_of, progress_of

LONGEST_TITLE, MOST_CASES = 200, 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Cases for a person or a group to review.

    Attributes
    ----------
    dataset : str
        Digest of the dataset.
    by : str
        Person who assigns them.
    whom : str
        Person, or group whose members each review all of them.
    group : bool
        True if ``whom`` is a group.
    title : str
        Title of the sessions in which they are reviewed: "Arbitration" (`core.review.sessions`) if they are to be
        decided.
    cases : tuple of Queued
        Cases in their order, each with the reason why it is there.
    due : date or None
        Last day (UTC) on which they are in time.
    at : int
        Time, in microseconds since 1970-01-01 UTC; 0 until it is recorded.
    number : int
        Number of its event in the chain of the dataset; 0 until it is recorded.
    withdrawn : bool
        True if it was withdrawn.
    """

    dataset: str
    by: str
    whom: str
    group: bool = False
    title: str
    cases: tuple[Queued, ...]
    due: date | None = None
    at: int = 0
    number: int = 0
    withdrawn: bool = False

    def check(self) -> None:
        """Raise `InputError` if a value is missing or out of its range."""
        check_name(self.by, "person who assigns")
        check_name(self.whom, "group" if self.group else "person to whom cases are assigned")
        if not self.title.strip() or len(self.title) > LONGEST_TITLE:
            raise InputError(
                "Could not assign cases: the title is missing or too long.", f"Use 1 to {LONGEST_TITLE} characters."
            )
        check_queue(self.cases, "assign cases")
        if len(self.cases) > MOST_CASES:
            raise InputError(
                f"An assignment can have at most {MOST_CASES:,} cases; got {len(self.cases):,}.", "Assign fewer."
            )
        for text in (self.title, *(case.case_id for case in self.cases), *(case.why for case in self.cases)):
            check_text(text)

    def is_for(self, person: str, groups: Collection[str] = ()) -> bool:
        """Return whether a person with these groups is asked to review the cases."""
        return self.whom in groups if self.group else self.whom == person

    def progress(self, person: str, trail: Iterable[Event]) -> tuple[SessionProgress, tuple[Queued, ...]]:
        """Return a person's progress and the cases left to them; cases settled by others count as done.

        Parameters
        ----------
        person : str
        trail : iterable of Event
            Events of the dataset (`ReviewStore.trail`).
        """
        lines = self.lines(person, trail)
        left = set(_left(lines))
        return progress_of(lines), tuple(case for case in self.cases if case.case_id in left)

    def lines(self, person: str, trail: Iterable[Event]) -> tuple[SessionLine, ...]:
        """Return each case with its state for a person.

        Parameters
        ----------
        person, trail
            See `progress`.
        """
        named = {case.case_id for case in self.cases}
        session = Session("", self.dataset, person, self.title, self.at, self.cases)
        return lines_of(session, [event for event in trail if event.case_id in named])

    def to_settings(self) -> dict[str, Any]:
        """Return the settings of the event: everything but who assigns it to whom."""
        return {
            "title": self.title,
            "group": self.group,
            "due": None if self.due is None else self.due.isoformat(),
            "cases": [[case.case_id, case.why] for case in self.cases],
        }


def assignments_of(events: Iterable[Event]) -> list[Assignment]:
    """Return assignments from the events of a dataset without a case, the latest first; withdrawn ones are marked."""
    found: dict[int, Assignment] = {}
    withdrawn = set()
    for event in events:
        told = dict(event.settings)
        if event.kind == WITHDRAWN:
            withdrawn.add(told["of"])
        elif event.kind == ASSIGNED:
            found[event.number] = Assignment(
                dataset=event.dataset,
                by=event.reviewer,
                whom=event.whom,
                group=bool(told["group"]),
                title=str(told["title"]),
                cases=tuple(Queued(case_id, why) for case_id, why in told["cases"]),  # type: ignore[attr-defined]
                due=None if told["due"] is None else date.fromisoformat(str(told["due"])),
                at=event.at,
                number=event.number,
            )
    return [replace(found[number], withdrawn=number in withdrawn) for number in sorted(found, reverse=True)]


def divided(cases: Sequence[Queued], n_parts: int) -> list[tuple[Queued, ...]]:
    """Deal cases out in turn, so that each part has as many of the first as of the last; parts may be empty."""
    return [tuple(cases[part::n_parts]) for part in range(n_parts)]


def due_words(due: date | None, today: date | None = None) -> str:
    """Return when it is due, in words: "due today", "overdue since 3 Dec 2026"; empty without a day.

    Parameters
    ----------
    due : date or None
    today : date, optional
        Today in UTC.
    """
    if due is None:
        return ""
    today = datetime.now(UTC).date() if today is None else today
    days, day = (due - today).days, day_words(due)
    if days < 0:
        return f"overdue since {day}"
    return "due today" if days == 0 else "due tomorrow" if days == 1 else f"due {day}"


def is_overdue(due: date | None, today: date | None = None) -> bool:
    """Return whether the due day is over (UTC)."""
    return due is not None and due < (datetime.now(UTC).date() if today is None else today)


ASSIGNMENT_COLUMNS = [
    "at",
    "by",
    "whom",
    "group",
    "title",
    "n_cases",
    "n_done",
    "done_by",
    "due",
    "overdue",
    "days_overdue",
    "withdrawn",
    "number",
]


def assignment_table(
    assignments: Iterable[Assignment],
    trail: Sequence[Event],
    members: Callable[[str], Collection[str] | None] = lambda group: None,
) -> pd.DataFrame:
    """Return one row per assignment: who assigned how many cases to whom, due when, how many are done, and by whom.

    ``n_done`` counts cases that everybody who was asked has done, or that others settled: in a group, each member
    reviews all cases. If the members of a group are unknown, ``n_done`` is missing. ``done_by`` names how many each
    member has done, without those that others settled; for a group with unknown members, each who has started.

    Parameters
    ----------
    assignments : iterable of Assignment
    trail : sequence of Event
        Events of the dataset.
    members : callable, optional
        Returns the members of a group, or None if they are unknown.
    """
    rows = []
    for one in assignments:
        known, lines = _asked(one, trail, members)
        done = len(one.cases) - len({case_id for each in lines.values() for case_id in _left(each)})
        late = is_overdue(one.due) and not one.withdrawn and (not known or done != len(one.cases))
        rows.append(
            (
                utc(one.at // 1_000_000).strftime("%Y-%m-%dT%H:%M:%SZ"), one.by, one.whom, one.group, one.title,
                len(one.cases), done if known else None, _done_by(lines),
                "" if one.due is None else one.due.isoformat(), late,
                (datetime.now(UTC).date() - one.due).days if late and one.due is not None else None,
                one.withdrawn, one.number,
            )
        )  # fmt: skip
    return pd.DataFrame(rows, columns=ASSIGNMENT_COLUMNS).astype({"n_done": "Int64", "days_overdue": "Int64"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue:
    """Assignment that is not done although its day is over.

    Attributes
    ----------
    assignment : Assignment
    left : dict of str to int
        Cases left to each person who was asked and has some, the person with most first.
    members_known : bool
        False for a group with unknown members: ``left`` has those who have started.
    """

    assignment: Assignment
    left: dict[str, int]
    members_known: bool


def overdue_among(
    assignments: Iterable[Assignment],
    trail: Sequence[Event],
    members: Callable[[str], Collection[str] | None] = lambda group: None,
) -> list[Overdue]:
    """List overdue assignments with the cases left to each person; as ``overdue`` of `assignment_table`.

    Parameters
    ----------
    assignments, trail, members
        See `assignment_table`.
    """
    found = []
    for one in assignments:
        if one.withdrawn or not is_overdue(one.due):
            continue
        known, lines = _asked(one, trail, members)
        left = {person: n for person, each in lines.items() if (n := len(_left(each)))}
        if left or not known:
            ordered = dict(sorted(left.items(), key=lambda entry: -entry[1]))
            found.append(Overdue(assignment=one, left=ordered, members_known=bool(known)))
    return found


def _asked(
    one: Assignment, trail: Sequence[Event], members: Callable[[str], Collection[str] | None]
) -> tuple[Collection[str] | None, dict[str, tuple[SessionLine, ...]]]:
    """Return who was asked, if known, and the state of each case for each of them, else for those who have started."""
    known = members(one.whom) if one.group else (one.whom,)
    return known, {person: one.lines(person, trail) for person in (_begun(one, trail) if known is None else known)}


def _left(lines: Iterable[SessionLine]) -> list[str]:
    return [line.case_id for line in lines if line.standing not in ("done", "elsewhere")]


def _begun(one: Assignment, trail: Iterable[Event]) -> list[str]:
    """List those who have started with the cases since they were assigned."""
    named = {case.case_id for case in one.cases}
    return list(dict.fromkeys(event.reviewer for event in trail if event.case_id in named and event.at >= one.at))


def _done_by(lines: Mapping[str, Sequence[SessionLine]]) -> str:
    """Return how many cases each has done themselves, those with most first."""
    done = {person: sum(line.standing == "done" for line in each) for person, each in lines.items()}
    return ", ".join(f"{person} {n:,}" for person, n in sorted(done.items(), key=lambda entry: -entry[1]))
