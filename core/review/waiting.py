"""Cases that wait for one person in all data, and overdue cases that this person assigned to others."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date
from typing import Literal

from .assignments import Assignment, Overdue, is_overdue, overdue_among
from .events import ANYBODY, Event
from .sessions import Queued
from .states import review_of
from .store import ReviewStore

SECOND_OPINIONS = "Second opinions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Cases of one dataset that were given to a person and are not done.

    Attributes
    ----------
    dataset : str
        Digest of the dataset.
    kind : {"assignment", "second_opinion"}
    title : str
        Title of the session in which they are reviewed. Not escaped.
    by : str
        Person who asks; several names joined by commas. Not escaped.
    due : date or None
    left : tuple of Queued
        Cases that are not done, in their order.
    total : int
        Number of cases, including those that are done.
    at : int
        Time of the request, microseconds since 1970-01-01 UTC.
    """

    dataset: str
    kind: Literal["assignment", "second_opinion"]
    title: str
    by: str
    due: date | None
    left: tuple[Queued, ...]
    total: int
    at: int


def waiting_in(store: ReviewStore, dataset: str, person: str, groups: Collection[str] = ()) -> list[Waiting]:
    """List what waits for a person in one dataset: by due date, then by the time of the request.

    Parameters
    ----------
    store : ReviewStore
    dataset : str
        Digest of the dataset.
    person : str
    groups : collection of str
        Groups of the person.
    """
    mine = [one for one in store.assignments(dataset) if not one.withdrawn and one.is_for(person, groups)]
    trail = store.trail(dataset)
    found = [_of(one, person, trail) for one in mine]
    by_case: dict[str, list[Event]] = {}
    for event in trail:
        by_case.setdefault(event.case_id, []).append(event)
    queued: list[Queued] = []
    asking: dict[str, None] = {}
    first = 0
    for case_id, events in by_case.items():
        how = review_of(case_id, events).asked_of(person)
        if how is not None:
            queued.append(Queued(case_id, f"{how} second opinion"))
            asked = [event for event in events if event.kind == "second_opinion" and event.whom in (person, ANYBODY)][
                -1
            ]
            asking[asked.reviewer] = None
            first = min(first or asked.at, asked.at)
    if queued:
        found.append(
            Waiting(
                dataset=dataset, kind="second_opinion", title=SECOND_OPINIONS, by=", ".join(asking), due=None,
                left=tuple(queued), total=len(queued), at=first,
            )
        )  # fmt: skip
    return sorted((one for one in found if one.left), key=_order)


def waiting_for(store: ReviewStore, person: str, groups: Collection[str] = ()) -> list[Waiting]:
    """List what waits for a person in all data; see `waiting_in`.

    Parameters
    ----------
    store : ReviewStore
    person : str
    groups : collection of str
        Groups of the person.
    """
    datasets = store.datasets_that_wait(person, groups)
    return sorted((one for dataset in datasets for one in waiting_in(store, dataset, person, groups)), key=_order)


def overdue_of(
    store: ReviewStore, person: str, members: Callable[[str], Callable[[str], Collection[str] | None]]
) -> list[Overdue]:
    """List overdue assignments of a person to others in all data, by due date.

    Parameters
    ----------
    store : ReviewStore
    person : str
        Person who assigned the cases.
    members : callable
        Returns for a dataset a function from a group to its members, None if they are unknown.
    """
    found: list[Overdue] = []
    for dataset in store.datasets_assigned_by(person):
        mine = [one for one in store.assignments(dataset) if one.by == person and is_overdue(one.due)]
        if mine:
            found += overdue_among(mine, store.trail(dataset), members(dataset))
    return sorted(found, key=lambda one: (one.assignment.due or date.max, one.assignment.at))


def _of(one: Assignment, person: str, trail: list[Event]) -> Waiting:
    _, left = one.progress(person, trail)
    return Waiting(
        dataset=one.dataset, kind="assignment", title=one.title, by=one.by, due=one.due, left=left,
        total=len(one.cases), at=one.at,
    )  # fmt: skip


def _order(one: Waiting) -> tuple[date, int]:
    return one.due or date.max, one.at
