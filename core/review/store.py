"""Store of reviews: events are added and never changed, and an event that is returned is on the disk."""

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ..errors import InputError, NotFoundError
from ..runtime.files import write_whole
from ..settings import current_settings
from .assignments import Assignment, assignments_of
from .brought_over import copies, named_otherwise
from .chain import (
    ERASED_TOKEN,
    PSEUDONYM,
    Erasure,
    Fault,
    Head,
    RecordCheck,
    check_chain,
    erased_of_people,
    erasures_of,
    event_hash,
    not_held,
    personal_half,
    queue_digest,
)
from .database import (
    PATIENCE,
    broken_guards,
    database_faults,
    empty_log,
    has_record,
    open_database,
    owns_tables,
    parse_url,
    store_url,
    transaction,
)
from .events import (
    ANYBODY,
    ASSIGNED,
    BROUGHT,
    CONTINUED,
    ERASED,
    MIGRATED,
    NO_STEPS,
    OF_DATASETS,
    QUEUED,
    WITHDRAWN,
    Draft,
    Event,
    check_name,
    check_text,
)
from .opinions import Opinion
from .review_errors import ConflictError, NotAllowedError, StoreError
from .rules import admit
from .schema import erasures, events, session_cases, sessions
from .sessions import Queued, Session, SessionLine, check_queue, lines_of
from .signed_heads import SignedHeads, missing_heads
from .states import CaseReview, review_of

LONGEST_TOKEN = 64
_OPINIONS = ("panel", "old", "opinion")
_UNDECODABLE = "Could not decode to UTF-8"  # message of SQLite's driver
_NAMES = tuple(entry.name for entry in fields(Event))


class ReviewStore:
    """Reviews in one database; many threads can use it at once.

    Parameters
    ----------
    url : str or sqlalchemy.URL, optional
        Address; if omitted, ``PLURALITY_DATABASE_URL``, else a SQLite file in the home folder.
    patience : float
        Seconds to wait for another writer.
    clock : callable
        Clock that returns microseconds since 1970-01-01 UTC.
    """

    def __init__(
        self,
        url: str | sa.URL | None = None,
        *,
        patience: float = PATIENCE,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ):
        url = store_url() if url is None else parse_url(str(url)) if isinstance(url, str) else url
        self.engine = open_database(url, patience)
        self._clock = clock

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def record(self, draft: Draft, *, seen: int, token: str) -> Event:
        """Add an event; when this returns, it is on the disk.

        Parameters
        ----------
        draft : Draft
        seen : int
            Version of the case that the reviewer saw (`CaseReview.version`).
        token : str
            Token made once by the page for one submission, and kept until it is acknowledged. Sending the same token
            again returns the same event and records nothing, so a double click or a retry after an error is safe.

        Raises
        ------
        ConflictError
            The case has a newer version.
        NotAllowedError, InputError
            The rules do not allow it, or the token was used for something else.
        NotFoundError
            The session does not exist any more: the dataset was deleted.
        StoreError
            The database failed. Nothing was acknowledged.
        """
        if not 0 < len(token) <= LONGEST_TOKEN:
            raise InputError("Could not submit: the token is empty or too long.", "Create a new token.")
        check_text(token)
        draft.check()
        try:
            with transaction(self.engine, writes=True) as connection:
                _in_turn(connection, draft.dataset)
                if known := _of_token(connection, token):
                    return _same(known, draft)
                _check_not_continued(connection, draft.dataset)
                _check_session(connection, draft)
                trail = _trail(connection, draft.dataset, draft.case_id)
                review = review_of(draft.case_id, trail)
                if review.version != seen:
                    raise _conflict(draft, seen, trail)
                head = _head(connection, draft.dataset)
                event = replace(admit(review, draft, self._clock()), number=head.number + 1)
                return _insert(connection, event, token, head)
        except sa.exc.IntegrityError:
            return self._lost_race(draft, seen, token)

    def _lost_race(self, draft: Draft, seen: int, token: str) -> Event:
        """Return what another writer did between our check and our write; its transaction is finished now."""
        with transaction(self.engine) as connection:
            if known := _of_token(connection, token):
                return _same(known, draft)
            _check_session(connection, draft)
            raise _conflict(draft, seen, _trail(connection, draft.dataset, draft.case_id))

    def assign(self, assignment: Assignment, *, token: str) -> Assignment:
        """Assign cases to a person or a group; when this returns, the assignment is in the record.

        Parameters
        ----------
        assignment : Assignment
        token : str
            See `record`.

        Raises
        ------
        InputError
            A value is missing or out of its range, or the token was used for something else.
        StoreError
            The database failed; nothing was assigned.
        """
        assignment.check()
        said = {"kind": ASSIGNED, "reviewer": assignment.by, "whom": assignment.whom}
        event = self._add_to_dataset(assignment.dataset, token, said, assignment.to_settings())
        return assignments_of([event])[0]

    def withdraw(self, dataset: str, number: int, by: str, *, token: str) -> None:
        """Withdraw an assignment; opinions on its cases are not affected.

        Parameters
        ----------
        dataset : str
            Digest of the dataset.
        number : int
            Number of the assignment.
        by : str
            Person who withdraws it.
        token : str
            See `record`.

        Raises
        ------
        NotFoundError
            The assignment does not exist, or was already withdrawn.
        StoreError
            The database failed.
        """
        check_name(by, "person who removes it")
        if number not in [one.number for one in self.assignments(dataset) if not one.withdrawn]:
            raise NotFoundError("Could not remove this assignment: it no longer exists.")
        self._add_to_dataset(dataset, token, {"kind": WITHDRAWN, "reviewer": by, "whom": ""}, {"of": number})

    def assignments(self, dataset: str) -> list[Assignment]:
        """List the assignments of a dataset, the latest first; withdrawn ones are marked."""
        with transaction(self.engine) as connection:
            query = sa.select(events).where(events.c.dataset == dataset, events.c.kind.in_((ASSIGNED, WITHDRAWN)))
            return assignments_of(_events(connection, dataset, query.order_by(events.c.number)))

    def datasets_that_wait(self, person: str, groups: Collection[str] = ()) -> list[str]:
        """List digests of data in which a person, or one of their groups, was ever asked for something; sorted."""
        mine = events.c.whom.in_((person, ANYBODY)) | (events.c.kind == ASSIGNED) & events.c.whom.in_(sorted(groups))
        with transaction(self.engine) as connection:
            return _in_force(connection, mine)

    def datasets_assigned_by(self, person: str) -> list[str]:
        """List digests of data in which a person ever assigned cases to others; sorted."""
        theirs = (events.c.kind == ASSIGNED) & (events.c.reviewer == person)
        with transaction(self.engine) as connection:
            return _in_force(connection, theirs)

    def _add_to_dataset(self, dataset: str, token: str, said: dict[str, str], settings: Mapping[str, Any]) -> Event:
        """Add an event without a case."""
        check_text(token)
        with transaction(self.engine, writes=True) as connection:
            _in_turn(connection, dataset)
            if known := _of_token(connection, token):
                if (known.dataset, known.kind, known.reviewer) != (dataset, said["kind"], said["reviewer"]):
                    raise InputError(
                        "Could not submit: this page has already submitted something else.",
                        "Open the page again.",
                    )
                return known
            _check_not_continued(connection, dataset)
            return self._append(connection, dataset, token, said, settings)

    def _append(
        self, connection: sa.Connection, dataset: str, token: str, said: dict[str, Any], settings: Mapping[str, Any]
    ) -> Event:
        head = _head(connection, dataset)
        draft: dict[str, Any] = {"at": self._clock(), "dataset": dataset, "case_id": "", "settings": settings, **said}
        event = Event(**draft, version=_last_of_no_case(connection, dataset) + 1, number=head.number + 1)
        return _insert(connection, event, token, head)

    def trail(self, dataset: str, case_id: str | None = None) -> list[Event]:
        """List the events of a dataset, or of one case, in the order in which they were recorded."""
        with transaction(self.engine) as connection:
            return _trail(connection, dataset, case_id)

    def case(self, dataset: str, case_id: str) -> CaseReview:
        """Return the review of one case; with version 0 if nobody has started."""
        return review_of(case_id, self.trail(dataset, case_id))

    def cases(self, dataset: str) -> dict[str, CaseReview]:
        """Return the reviews of all cases that have an event."""
        trails: dict[str, list[Event]] = {}
        for event in self.trail(dataset):
            trails.setdefault(event.case_id, []).append(event)
        return {case_id: review_of(case_id, trail) for case_id, trail in trails.items()}

    def count(self, dataset: str) -> int:
        """Return the number of steps of a dataset that deleting it would erase, not counting queues."""
        with transaction(self.engine) as connection:
            return _count(connection, dataset)

    def head(self, dataset: str) -> Head:
        """Return the end of the chain of a dataset, to store elsewhere and to verify later by `check`."""
        with transaction(self.engine) as connection:
            return _head(connection, dataset)

    def check(self, heads: Iterable[str] = (), signed: Iterable[SignedHeads] = ()) -> RecordCheck:
        """Check the database itself, then the chain of every dataset.

        Parameters
        ----------
        heads : iterable of str
            Hashes that were stored elsewhere, of any dataset: the record must still contain each.
        signed : iterable of SignedHeads
            Ends that were signed: the record must still contain each, except of data that were erased.

        Raises
        ------
        StoreError
            The database failed.
        """
        with transaction(self.engine) as connection:
            words, looked_by = database_faults(connection)
        damaged = [Fault("", None, one) for one in words]
        try:
            with transaction(self.engine) as connection:
                found = self._check(connection, heads, signed)
        except (StoreError, ValueError, TypeError) as error:
            if not damaged:
                raise
            return RecordCheck(0, {}, (*damaged, Fault("", None, str(error))), looked_by=looked_by)
        return replace(found, faults=(*damaged, *found.faults), looked_by=looked_by)

    def _check(self, connection: sa.Connection, heads: Iterable[str], signed: Iterable[SignedHeads]) -> RecordCheck:
        faults = [Fault("", None, words) for words in broken_guards(connection)]
        gone: dict[str, list[Head]] = {}
        told: list[Erasure] = []
        for row in connection.execute(sa.select(erasures).order_by(erasures.c.number)):
            before = gone.setdefault(row.dataset, [])
            n_erased = row.number - (before[-1].number if before else 0)
            told.append(Erasure(row.dataset, "dataset", "", row.at, n_erased))
            before.append(Head(row.number, row.hash))
        backwards: list[Fault] = []
        ends: dict[str, Head] = {}
        seen = {head.hash for found in gone.values() for head in found}
        n_events, without = 0, {}
        for dataset in dict.fromkeys((*_datasets(connection), *gone)):
            rows, unreadable = _readable(connection, dataset)
            n_events += len(rows) + len(unreadable)
            end, wrong, early = check_chain(dataset, rows, gone.get(dataset, ()), _queues(connection, dataset))
            faults += unreadable + wrong
            backwards += early
            ends[dataset] = end
            of_people, erased = _erased_of(rows)
            told += erased
            if of_people:
                without[dataset] = len(of_people)
            seen |= {row["hash"] for row in rows}
        counts = {dataset: found[-1].number for dataset, found in gone.items()}
        faults += [not_held(head) for head in heads if head not in seen]
        faults += missing_heads(signed, seen, counts)
        return RecordCheck(
            n_events,
            {dataset: end.hash for dataset, end in ends.items()},
            tuple(faults),
            tuple(backwards),
            counts,
            owns_tables(connection),
            without,
            tuple(told),
        )

    def heads(self) -> dict[str, Head]:
        """Return the end of the chain of each dataset, by digest."""
        with transaction(self.engine) as connection:
            known = {*_datasets(connection), *connection.scalars(sa.select(erasures.c.dataset))}
            return {dataset: _head(connection, dataset) for dataset in sorted(known)}

    def look(self) -> None:
        """Raise `StoreError` if the database cannot be read, or is not the one that was opened."""
        with transaction(self.engine) as connection:
            connection.execute(sa.select(events.c.id).limit(1))

    def last_events(self) -> dict[str, int]:
        """Return the time of the last event of each dataset, microseconds since 1970-01-01 UTC, by digest."""
        with transaction(self.engine) as connection:
            query = sa.select(events.c.dataset, sa.func.max(events.c.at).label("last"))
            query = query.where(events.c.kind != MIGRATED).group_by(events.c.dataset)
            return {row.dataset: row.last for row in connection.execute(query)}

    def erase_person(self, name: str, by: str) -> dict[str, int]:
        """Erase a person's name, notes, times and tokens from every event; return how many events of each dataset.

        The opinions stay under a pseudonym. The token is erased because it is the part of the remaining hash that
        nobody can guess: without it nobody can test names against the hash. Events and sessions keep their number, hash
        and place in the chain, in which the erasure itself is an event that contains the new hash of the personal half
        of each of them.

        Parameters
        ----------
        name : str
        by : str
            Person who erases.

        Raises
        ------
        StoreError
            The database failed, or its role may not do this; nothing of that dataset was erased then.
        """
        theirs = (events.c.reviewer == name) | (events.c.whom == name)
        with transaction(self.engine) as connection:
            queues = sa.select(sessions.c.dataset).where(sessions.c.reviewer == name)
            datasets = sorted(connection.scalars(sa.union(sa.select(events.c.dataset).where(theirs), queues)))
        found = {dataset: self._erase_person_in(dataset, name, by) for dataset in datasets}
        empty_log(self.engine)
        return found

    def _erase_person_in(self, dataset: str, name: str, by: str) -> int:
        pseudonym = f"{PSEUDONYM} {uuid.uuid4().hex[:8]}"
        with transaction(self.engine, writes=True) as connection:
            _in_turn(connection, dataset)
            theirs = (events.c.dataset == dataset) & ((events.c.reviewer == name) | (events.c.whom == name))
            rows = connection.execute(sa.select(events).where(theirs).order_by(events.c.number)).mappings().all()
            changes = {}
            for row in rows:
                gone = {"note": "", "seconds": None, "token": f"{ERASED_TOKEN} {uuid.uuid4().hex}"}
                names = {column: pseudonym for column in ("reviewer", "whom") if row[column] == name}
                changes[row["number"]] = {**gone, **names}
            if rows:
                told = [
                    {"number": row["number"], "is": personal_half({**row, **changes[row["number"]]})} for row in rows
                ]
                said = {"kind": ERASED, "reviewer": by, "whom": ""}
                self._append(connection, dataset, uuid.uuid4().hex, said, {"events": told})
            for number, change in changes.items():
                here = (events.c.dataset == dataset) & (events.c.number == number)
                connection.execute(events.update().where(here).values(change))
            mine = (sessions.c.dataset == dataset) & (sessions.c.reviewer == name)
            connection.execute(sessions.update().where(mine).values(reviewer=pseudonym))
        return len(rows)

    def bring_over(
        self, before: str, after: str, by: str, cases: Collection[str], classes: Collection[str]
    ) -> tuple[int, int]:
        """Copy the steps of a dataset that was read again to the new one; return how many were copied and how many not.

        A second call copies nothing. The steps also stay in the chain in which they were recorded. Both chains contain
        what was done, when and by whom.

        Parameters
        ----------
        before, after : str
            Digests of the dataset as it was read before, and as it is now.
        by : str
            Person who copies them.
        cases, classes : collection of str
            Cases and classes of the dataset as it is now. Steps of other cases are not copied, nor are those of cases
            on which another class was named, or that already have steps of their own.

        Raises
        ------
        StoreError
            The database failed; nothing was copied.
        """
        check_name(by, "person who copies reviews")
        with transaction(self.engine, writes=True) as connection:
            for dataset in sorted((before, after)):
                _in_turn(connection, dataset)
            query = sa.select(events).where(events.c.dataset == before).order_by(events.c.number)
            rows = [dict(row) for row in connection.execute(query).mappings()]
            if not _count(connection, before) or _is_continued(connection, before):
                return 0, 0
            stay = named_otherwise(rows, classes)
            stay |= set(connection.scalars(sa.select(events.c.case_id).where(events.c.dataset == after)))
            head, n_of_dataset = _head(connection, after), _last_of_no_case(connection, after)
            copied = self._copy_sessions(connection, before, after, set(cases))
            found = copies(rows, after, head, n_of_dataset, set(cases) - stay, copied)
            for row in found.rows:  # one by one, because the guard of the chain checks the row before
                connection.execute(events.insert().values(row))
            for session in _sessions(connection, sessions.c.id.in_(copied.values())):
                self._append_queue(connection, session)
            said, last = {"reviewer": by, "whom": ""}, rows[-1]
            told = {"of": before, "number": last["number"], "head": last["hash"], "left": found.n_left}
            told |= {"copies": [head.number + 1, found.head.number]}
            self._append(connection, after, uuid.uuid4().hex, {"kind": BROUGHT, **said}, told)
            self._append(connection, before, uuid.uuid4().hex, {"kind": CONTINUED, **said}, {"as": after})
        return len(found.rows), found.n_left

    def n_to_bring_over(self, dataset: str) -> int:
        """Return the number of events of a dataset that was read again; 0 if they were copied."""
        with transaction(self.engine) as connection:
            return 0 if _is_continued(connection, dataset) else _count(connection, dataset)

    def _copy_sessions(
        self, connection: sa.Connection, before: str, after: str, cases: Collection[str]
    ) -> dict[str, str]:
        """Copy sessions to the new dataset, without cases that it does not have; return new ids by old ones.

        The old sessions are kept: the role of a server may not change them, and earlier events name them.
        """
        found: dict[str, str] = {}
        theirs = sa.select(sessions).where(sessions.c.dataset == before).order_by(sessions.c.id)
        for session in connection.execute(theirs).mappings().all():
            query = sa.select(session_cases.c.case_id, session_cases.c.why).where(
                session_cases.c.session == session["id"]
            )
            queued = connection.execute(query.order_by(session_cases.c.place)).all()
            left = [(case_id, why) for case_id, why in queued if case_id in cases]
            if not left:
                continue
            new = found[session["id"]] = uuid.uuid4().hex
            connection.execute(sessions.insert().values(**{**session, "id": new, "dataset": after}))
            rows = [
                {"session": new, "place": place, "case_id": case_id, "why": why}
                for place, (case_id, why) in enumerate(left)
            ]
            connection.execute(session_cases.insert(), rows)
        return found

    def forget(self, dataset: str) -> int:
        """Erase all events and sessions of a dataset, also of its earlier readings; return how many events it had.

        The number of events and the last hash stay.
        """
        with transaction(self.engine, writes=True) as connection:
            all_of_it = [dataset]
            for one in all_of_it:  # the list grows by datasets whose steps were copied to it
                query = sa.select(events.c.settings).where(events.c.dataset == one, events.c.kind == BROUGHT)
                all_of_it += [str(json.loads(settings)["of"]) for settings in connection.scalars(query)]
            n_events = {one: _count(connection, one) for one in all_of_it}
            for one in sorted(all_of_it):
                _in_turn(connection, one)
                head = _head(connection, one)
                if connection.scalar(sa.select(events.c.id).where(events.c.dataset == one).limit(1)) is not None:
                    values = {"dataset": one, "number": head.number, "hash": head.hash, "at": self._clock()}
                    connection.execute(erasures.insert().values(values))
                connection.execute(events.delete().where(events.c.dataset == one))
            connection.execute(sessions.delete().where(sessions.c.dataset.in_(all_of_it)))
        empty_log(self.engine)
        return n_events[dataset]

    def start_session(self, dataset: str, reviewer: str, title: str, cases: Sequence[Queued]) -> Session:
        """Start a finite batch of cases for one reviewer, in their order.

        Parameters
        ----------
        dataset : str
            Digest of the dataset.
        reviewer, title : str
        cases : sequence of Queued
            Cases, each once, with the reason why it is there.

        Raises
        ------
        InputError
            There is no case, or one is repeated.
        StoreError
            The database failed; no session was made.
        """
        check_name(reviewer, "reviewer")
        check_queue(cases, "start a session")
        for text in (title, *(case.case_id for case in cases), *(case.why for case in cases)):
            check_text(text)
        session = Session(uuid.uuid4().hex, dataset, reviewer, title, self._clock(), tuple(cases))
        values = {name: getattr(session, name) for name in ("id", "dataset", "reviewer", "title", "at")}
        rows = [
            {"session": session.id, "place": place, "case_id": case.case_id, "why": case.why}
            for place, case in enumerate(cases)
        ]
        with transaction(self.engine, writes=True) as connection:
            _in_turn(connection, dataset)
            _check_not_continued(connection, dataset)
            connection.execute(sessions.insert().values(values))
            connection.execute(session_cases.insert(), rows)
            self._append_queue(connection, session)
        return session

    def _append_queue(self, connection: sa.Connection, session: Session) -> None:
        """Add a queue to the chain of its dataset, by the digest of its content."""
        digest = queue_digest(session.dataset, session.title, session.at, _pairs(session.cases))
        said = {"kind": QUEUED, "reviewer": session.reviewer, "whom": "", "session": session.id}
        settings = {"n_cases": len(session.cases), "queue": digest}
        self._append(connection, session.dataset, uuid.uuid4().hex, said, settings)

    def session(self, session_id: str) -> Session:
        """Return a session by its id; raise `NotFoundError` if there is none."""
        found = self._sessions(sessions.c.id == session_id)
        if not found:
            raise NotFoundError("Could not find the session. Its dataset may have been deleted.")
        return found[0]

    def sessions(self, dataset: str, reviewer: str) -> list[Session]:
        """List the sessions of a reviewer on a dataset, the latest first."""
        return self._sessions((sessions.c.dataset == dataset) & (sessions.c.reviewer == reviewer))

    def sessions_of_others(self, dataset: str, reviewer: str, since: int = 0) -> list[Session]:
        """List sessions of all other reviewers on a dataset, the latest first.

        Parameters
        ----------
        dataset : str
            Digest of the dataset.
        reviewer : str
            Reviewer whose own sessions are left out.
        since : int
            Earliest start time, in microseconds since 1970-01-01 UTC.
        """
        others = (sessions.c.dataset == dataset) & (sessions.c.reviewer != reviewer)
        return self._sessions(others & (sessions.c.at >= since))

    def _sessions(self, condition) -> list[Session]:
        with transaction(self.engine) as connection:
            return _sessions(connection, condition)

    def lines(self, session: Session) -> tuple[SessionLine, ...]:
        """List the cases of a session with their state, in the order in which they come."""
        with transaction(self.engine) as connection:
            chosen = sa.select(session_cases.c.case_id).where(session_cases.c.session == session.id)
            trail = _trail(connection, session.dataset, chosen)
        return lines_of(session, trail)


_open: dict[tuple[str, int], ReviewStore] = {}
_opening = threading.Lock()


def open_store() -> ReviewStore:
    """Return the store of this installation; one per address in a process.

    Raises
    ------
    StoreError
        The store was made before and does not exist any more, or the database failed.
    """
    url = store_url()
    key = (url.render_as_string(hide_password=False), os.getpid())
    with _opening:
        if key not in _open:
            if _was_made(url) and not has_record(url):
                raise StoreError(
                    "lost",
                    f"Could not find the saved reviews in {_shown(url)}. Restore a backup. To start without them, "
                    f"remove the file {_made()}.",
                )
            _open[key] = ReviewStore(url)
            _remember(url)
        return _open[key]


def close_stores() -> None:
    """Close the stores that `open_store` has opened."""
    with _opening:
        while _open:
            _open.popitem()[1].close()


def n_reviews(dataset: str) -> int:
    """Return how many events deleting a dataset would erase; make no database if there is none."""
    return open_store().count(dataset) if there_is_a_store() else 0


def reviews_of(dataset: str) -> dict[str, CaseReview]:
    """Return the reviews of all cases of a dataset that have one; make no database if there is none."""
    return open_store().cases(dataset) if there_is_a_store() else {}


def forget_reviews(dataset: str) -> int:
    """Erase the reviews of a dataset; return how many events there were. Make no database if there is none."""
    return open_store().forget(dataset) if there_is_a_store() else 0


def head_of_reviews(dataset: str) -> Head | None:
    """Return the end of the chain of a dataset; None if nothing was recorded. Make no database if there is none."""
    head = open_store().head(dataset) if there_is_a_store() else Head()
    return head if head.number else None


def there_is_a_store() -> bool:
    """Return whether the installation has a database of reviews, or had one, even if its whole folder was moved."""
    url = store_url()
    if url.get_backend_name() != "sqlite" or (url.render_as_string(hide_password=False), os.getpid()) in _open:
        return True
    return Path(url.database or "").exists() or _was_made(url)


def _made() -> Path:
    """Return the file that lists databases that were made, so that a lost one is recognised as lost."""
    return current_settings().home / "reviews_kept_in.json"


def _shown(url: sa.URL) -> str:
    return (
        str(url.database)
        if url.get_backend_name() == "sqlite"
        else url.set(username=None, password=None).render_as_string()
    )


def _was_made(url: sa.URL) -> bool:
    try:
        return _shown(url) in json.loads(_made().read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def _remember(url: sa.URL) -> None:
    if _was_made(url):
        return
    try:
        known = json.loads(_made().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = []
    with suppress(OSError):  # the reviews may be outside this folder, which may then not be writable
        _made().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_made(), json.dumps([*known, _shown(url)]).encode())


def _sessions(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[Session]:
    found = connection.execute(sa.select(sessions).where(condition).order_by(sessions.c.at.desc())).all()
    query = sa.select(session_cases).join(sessions).where(condition)
    queued: dict[str, list[Queued]] = {}
    for row in connection.execute(query.order_by(session_cases.c.session, session_cases.c.place)):
        queued.setdefault(row.session, []).append(Queued(row.case_id, row.why))
    return [
        Session(row.id, row.dataset, row.reviewer, row.title, row.at, tuple(queued.get(row.id, ()))) for row in found
    ]


def _pairs(cases: Iterable[Queued]) -> list[tuple[str, str]]:
    return [(case.case_id, case.why) for case in cases]


def _trail(
    connection: sa.Connection, dataset: str, case_id: str | Iterable[str] | sa.Select | None = None
) -> list[Event]:
    query = sa.select(events).where(events.c.dataset == dataset).order_by(events.c.number)
    query = query.where(events.c.kind.not_in(OF_DATASETS))
    if isinstance(case_id, str):
        query = query.where(events.c.case_id == case_id)
    elif case_id is not None:
        query = query.where(events.c.case_id.in_(case_id))
    return _events(connection, dataset, query)


def _last_of_no_case(connection: sa.Connection, dataset: str) -> int:
    """Return the version of the last event of a dataset without a case; 0 if there is none."""
    query = sa.select(sa.func.max(events.c.version)).where(events.c.dataset == dataset, events.c.case_id == "")
    return connection.scalar(query) or 0


def _insert(connection: sa.Connection, event: Event, token: str, head: Head) -> Event:
    """Add an event to the end of its chain; return it with its hash."""
    row = _hashed(_to_row(event, token) | {"previous": head.hash})
    connection.execute(events.insert().values(row))
    return replace(event, hash=row["hash"])


def _hashed(row: dict[str, Any]) -> dict[str, Any]:
    row = row | {"personal": personal_half(row)}
    return row | {"hash": event_hash(row)}


def _events(connection: sa.Connection, dataset: str, query: sa.Select) -> list[Event]:
    try:
        return [_from_row(row) for row in connection.execute(query)]
    except sa.exc.OperationalError as error:
        if _UNDECODABLE not in str(error):
            raise
        unreadable = _readable(connection, dataset)[1]
        raise _unreadable(dataset, f"event {unreadable[0].number}") from None


def _readable(connection: sa.Connection, dataset: str) -> tuple[list[Mapping[str, Any]], list[Fault]]:
    """Return the rows of a dataset, and faults for rows with invalid text, for which SQLite needs single queries."""
    query = sa.select(events).where(events.c.dataset == dataset).order_by(events.c.number)
    try:
        return [dict(row) for row in connection.execute(query).mappings()], []
    except sa.exc.OperationalError as error:
        if _UNDECODABLE not in str(error):
            raise
    rows: list[Mapping[str, Any]] = []
    unreadable = []
    for number in connection.scalars(sa.select(events.c.number).where(events.c.dataset == dataset)).all():
        try:
            rows += map(dict, connection.execute(query.where(events.c.number == number)).mappings())
        except sa.exc.OperationalError:
            unreadable.append(Fault(dataset, number, f"could not read event {number}"))
    return rows, unreadable


def _datasets(connection: sa.Connection) -> list[str]:
    """List the digests of all data with an event or a queue; sorted."""
    both = sa.union(sa.select(events.c.dataset), sa.select(sessions.c.dataset))
    return sorted(connection.scalars(both))


def _queues(connection: sa.Connection, dataset: str) -> dict[str, tuple[str, str]]:
    """Return the reviewer and the digest of each queue of a dataset, by id."""
    found = _sessions(connection, sessions.c.dataset == dataset)
    return {one.id: (one.reviewer, queue_digest(dataset, one.title, one.at, _pairs(one.cases))) for one in found}


def _erased_of(rows: Sequence[Mapping[str, Any]]) -> tuple[Mapping[int, str], list[Erasure]]:
    try:
        return erased_of_people(rows), erasures_of(rows)
    except (ValueError, TypeError, LookupError):
        return {}, []


def _in_turn(connection: sa.Connection, dataset: str) -> None:
    """Wait for other writers to the chain of a dataset; SQLite allows only one write at a time."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:dataset, 0))"), {"dataset": dataset})


def _head(connection: sa.Connection, dataset: str) -> Head:
    found = Head()
    for table in (erasures, events):
        query = sa.select(table.c.number, table.c.hash).where(table.c.dataset == dataset)
        row = connection.execute(query.order_by(table.c.number.desc()).limit(1)).one_or_none()
        if row is not None and row.number > found.number:
            found = Head(row.number, row.hash)
    return found


def _of_token(connection: sa.Connection, token: str) -> Event | None:
    row = connection.execute(sa.select(events).where(events.c.token == token)).one_or_none()
    return None if row is None else _from_row(row)


def _check_session(connection: sa.Connection, draft: Draft) -> None:
    if draft.session is None:
        return
    dataset = connection.scalar(sa.select(sessions.c.dataset).where(sessions.c.id == draft.session))
    if dataset != draft.dataset:
        raise NotFoundError("Could not find the session: its dataset was deleted. Nothing was recorded.")


def _conflict(draft: Draft, seen: int, trail: Sequence[Event]) -> ConflictError:
    """Return the error for a reviewer who has not seen the end of a case's trail; it names no other reviewer."""
    since = trail[seen:]
    return ConflictError(draft.case_id, len(trail), own=all(event.reviewer == draft.reviewer for event in since))


def _same(known: Event, draft: Draft) -> Event:
    same = all(getattr(known, name) == getattr(draft, name) for name in ("dataset", "case_id", "kind", "reviewer"))
    if not same or (draft.kind in ("opinion", "change", "adjudication") and known.opinion != draft.opinion):
        raise InputError("Could not submit: this page has already submitted something else.", "Open the page again.")
    return known


def _is_continued(connection: sa.Connection, dataset: str) -> bool:
    """Return whether the reviews of a dataset continue in another one since it was read again."""
    query = sa.select(events.c.number).where(events.c.dataset == dataset, events.c.kind == CONTINUED)
    return connection.execute(query.limit(1)).first() is not None


def _check_not_continued(connection: sa.Connection, dataset: str) -> None:
    if _is_continued(connection, dataset):
        raise NotAllowedError(
            "These data were read again, and their reviews continue in the new version. Open the data again."
        )


def _in_force(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[str]:
    """List the digests of data with such events, except those whose reviews continue elsewhere."""
    gone = sa.select(events.c.dataset).where(events.c.kind == CONTINUED)
    query = sa.select(events.c.dataset).distinct().where(condition, events.c.dataset.not_in(gone))
    return list(connection.scalars(query.order_by("dataset")))


def _count(connection: sa.Connection, dataset: str) -> int:
    query = sa.select(sa.func.count()).select_from(events)
    return connection.scalar(query.where(events.c.dataset == dataset, events.c.kind.not_in(NO_STEPS))) or 0


def _to_row(event: Event, token: str) -> dict[str, object]:
    """Return the values of the columns."""
    row = {name: getattr(event, name) for name in _NAMES}
    row |= {name: None if row[name] is None else row[name].to_json() for name in _OPINIONS}
    return row | {"settings": json.dumps(dict(event.settings), ensure_ascii=False, sort_keys=True), "token": token}


def _from_row(row) -> Event:
    """Return the event of a row.

    Raises
    ------
    StoreError
        The row cannot be read.
    """
    values = {name: getattr(row, name) for name in _NAMES}
    try:
        values |= {name: None if values[name] is None else Opinion.from_json(values[name]) for name in _OPINIONS}
        return Event(**values | {"settings": dict(json.loads(row.settings))})
    except (ValueError, TypeError, LookupError, AttributeError, InputError) as error:
        where = f"case {row.case_id!r}, step {row.version}, {row.reviewer}"
        raise _unreadable(row.dataset, f"event {row.number} ({where}; {type(error).__name__})") from None


def _unreadable(dataset: str, which: str) -> StoreError:
    return StoreError(
        "damaged",
        f"Could not read {which} in the reviews of dataset {dataset[:8]}. Nothing was changed. "
        "Check the whole record with the verify command, and restore a backup.",
    )
