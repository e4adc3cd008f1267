"""The store of reviews: events are added, never changed, and an event that is returned is on the disk."""

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path

import sqlalchemy as sa

from ..errors import InputError, NotFoundError
from .database import PATIENCE, empty_log, open_database, parse_url, store_url, transaction
from .events import Draft, Event, check_name, check_text
from .opinions import Opinion
from .review_errors import ConflictError
from .rules import admit
from .schema import events, session_cases, sessions
from .sessions import Queued, Session, SessionLine, lines_of
from .states import CaseReview, review_of

LONGEST_TOKEN = 64
_OPINIONS = ("panel", "old", "opinion")
_NAMES = tuple(entry.name for entry in fields(Event))


class ReviewStore:
    """Reviews in one database. May be used by many threads at once.

    Parameters
    ----------
    url : str or sqlalchemy.URL, optional
        Where not given: ``PLURALITY_DATABASE_URL``, else a SQLite file in the home folder.
    patience : float
        Seconds to wait for another writer.
    clock : callable
        Microseconds since 1970-01-01 UTC.
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
            Made once by the page for one submission, kept until it is acknowledged. Sending the same token again
            gives the same event and records nothing, so a double click or a retry after an error is safe.

        Raises
        ------
        ConflictError
            The case has another version by now.
        NotAllowedError, InputError
            The rules do not allow it, or the token was used for something else.
        NotFoundError
            The session is not there any more: the dataset was forgotten.
        StoreError
            The database failed. Nothing was acknowledged.
        """
        if not 0 < len(token) <= LONGEST_TOKEN:
            raise InputError("The token of the submission is empty or too long.", "Make a new one.")
        check_text(token)
        draft.check()
        try:
            with transaction(self.engine, writes=True) as connection:
                if known := _of_token(connection, token):
                    return _same(known, draft)
                _check_session(connection, draft)
                trail = _trail(connection, draft.dataset, draft.case_id)
                review = review_of(draft.case_id, trail)
                if review.version != seen:
                    raise ConflictError(draft.case_id, review.version)
                event = admit(review, draft, self._clock())
                connection.execute(events.insert().values(_to_row(event, token)))
            return event
        except sa.exc.IntegrityError:
            return self._lost_race(draft, token)

    def _lost_race(self, draft: Draft, token: str) -> Event:
        """What another writer has done between our look and our write; its transaction is finished now."""
        with transaction(self.engine) as connection:
            if known := _of_token(connection, token):
                return _same(known, draft)
            _check_session(connection, draft)
            raise ConflictError(draft.case_id, len(_trail(connection, draft.dataset, draft.case_id)))

    def trail(self, dataset: str, case_id: str | None = None) -> list[Event]:
        """Events of a dataset, or of one case, in the order in which they were recorded."""
        with transaction(self.engine) as connection:
            return _trail(connection, dataset, case_id)

    def case(self, dataset: str, case_id: str) -> CaseReview:
        """The review of one case; of version 0 where nobody has begun."""
        return review_of(case_id, self.trail(dataset, case_id))

    def cases(self, dataset: str) -> dict[str, CaseReview]:
        """The reviews of all cases that have an event."""
        trails: dict[str, list[Event]] = {}
        for event in self.trail(dataset):
            trails.setdefault(event.case_id, []).append(event)
        return {case_id: review_of(case_id, trail) for case_id, trail in trails.items()}

    def count(self, dataset: str) -> int:
        """Number of events of a dataset: what forgetting it would erase."""
        with transaction(self.engine) as connection:
            return _count(connection, dataset)

    def forget(self, dataset: str) -> int:
        """Erase all events and sessions of a dataset; how many events there were."""
        with transaction(self.engine, writes=True) as connection:
            if self.engine.dialect.name == "postgresql":  # no event may be added between the two deletions
                connection.exec_driver_sql("LOCK TABLE review_event IN SHARE ROW EXCLUSIVE MODE")
            n_events = _count(connection, dataset)
            connection.execute(events.delete().where(events.c.dataset == dataset))
            connection.execute(sessions.delete().where(sessions.c.dataset == dataset))
        empty_log(self.engine)
        return n_events

    def start_session(self, dataset: str, reviewer: str, title: str, cases: Sequence[Queued]) -> Session:
        """A finite batch of cases for one reviewer, in their order.

        Parameters
        ----------
        dataset : str
            Digest.
        reviewer, title : str
        cases : sequence of Queued
            Each once, with why it stands there.

        Raises
        ------
        InputError
            There is no case, or one stands there twice.
        StoreError
            The database failed; there is no session.
        """
        check_name(reviewer, "reviewer")
        if not cases or len({case.case_id for case in cases}) < len(cases):
            raise InputError("A session needs cases, each once.", "Choose another queue or fewer filters.")
        for text in (title, *(case.case_id for case in cases), *(case.why for case in cases)):
            check_text(text)
        session = Session(uuid.uuid4().hex, dataset, reviewer, title, self._clock(), tuple(cases))
        values = {name: getattr(session, name) for name in ("id", "dataset", "reviewer", "title", "at")}
        rows = [
            {"session": session.id, "place": place, "case_id": case.case_id, "why": case.why}
            for place, case in enumerate(cases)
        ]
        with transaction(self.engine, writes=True) as connection:
            connection.execute(sessions.insert().values(values))
            connection.execute(session_cases.insert(), rows)
        return session

    def session(self, session_id: str) -> Session:
        """A session by its id. Raises `NotFoundError` where there is none."""
        found = self._sessions(sessions.c.id == session_id)
        if not found:
            raise NotFoundError("There is no such session. Its dataset may have been forgotten.")
        return found[0]

    def sessions(self, dataset: str, reviewer: str) -> list[Session]:
        """The sessions of a reviewer on a dataset, the latest first."""
        return self._sessions((sessions.c.dataset == dataset) & (sessions.c.reviewer == reviewer))

    def sessions_of_others(self, dataset: str, reviewer: str, since: int = 0) -> list[Session]:
        """Sessions of everybody else on a dataset begun since a moment (microseconds), the latest first."""
        others = (sessions.c.dataset == dataset) & (sessions.c.reviewer != reviewer)
        return self._sessions(others & (sessions.c.at >= since))

    def _sessions(self, condition) -> list[Session]:
        with transaction(self.engine) as connection:
            found = connection.execute(sa.select(sessions).where(condition).order_by(sessions.c.at.desc())).all()
            cases = connection.execute(
                sa.select(session_cases)
                .join(sessions)
                .where(condition)
                .order_by(session_cases.c.session, session_cases.c.place)
            ).all()
        queued: dict[str, list[Queued]] = {}
        for row in cases:
            queued.setdefault(row.session, []).append(Queued(row.case_id, row.why))
        return [Session(row.id, row.dataset, row.reviewer, row.title, row.at, tuple(queued[row.id])) for row in found]

    def lines(self, session: Session) -> tuple[SessionLine, ...]:
        """How each case of a session stands, in the order in which they come."""
        with transaction(self.engine) as connection:
            chosen = sa.select(session_cases.c.case_id).where(session_cases.c.session == session.id)
            trail = _trail(connection, session.dataset, chosen)
        return lines_of(session, trail)


_open: dict[tuple[str, int], ReviewStore] = {}
_opening = threading.Lock()


def open_store() -> ReviewStore:
    """The store of this installation; one for each address in a process."""
    url = store_url()
    key = (url.render_as_string(hide_password=False), os.getpid())
    with _opening:
        if key not in _open:
            _open[key] = ReviewStore(url)
        return _open[key]


def close_stores() -> None:
    """Close the stores that `open_store` has opened."""
    with _opening:
        while _open:
            _open.popitem()[1].close()


def n_reviews(dataset: str) -> int:
    """Events that forgetting a dataset would erase; makes no database where there is none."""
    return open_store().count(dataset) if _exists() else 0


def forget_reviews(dataset: str) -> int:
    """Erase the reviews of a dataset; how many events there were. Makes no database where there is none."""
    return open_store().forget(dataset) if _exists() else 0


def _exists() -> bool:
    url = store_url()
    return url.get_backend_name() != "sqlite" or url.database is None or Path(url.database).exists()


def _trail(
    connection: sa.Connection, dataset: str, case_id: str | Iterable[str] | sa.Select | None = None
) -> list[Event]:
    query = sa.select(events).where(events.c.dataset == dataset).order_by(events.c.id)
    if isinstance(case_id, str):
        query = query.where(events.c.case_id == case_id)
    elif case_id is not None:
        query = query.where(events.c.case_id.in_(case_id))
    return [_from_row(row) for row in connection.execute(query)]


def _of_token(connection: sa.Connection, token: str) -> Event | None:
    row = connection.execute(sa.select(events).where(events.c.token == token)).one_or_none()
    return None if row is None else _from_row(row)


def _check_session(connection: sa.Connection, draft: Draft) -> None:
    if draft.session is None:
        return
    dataset = connection.scalar(sa.select(sessions.c.dataset).where(sessions.c.id == draft.session))
    if dataset != draft.dataset:
        raise NotFoundError("The session is not there any more: its dataset was forgotten. Nothing was recorded.")


def _same(known: Event, draft: Draft) -> Event:
    same = all(getattr(known, name) == getattr(draft, name) for name in ("dataset", "case_id", "kind", "reviewer"))
    if not same or (draft.kind in ("opinion", "change", "adjudication") and known.opinion != draft.opinion):
        raise InputError("This submission was used for something else.", "Open the page again.")
    return known


def _count(connection: sa.Connection, dataset: str) -> int:
    query = sa.select(sa.func.count()).select_from(events).where(events.c.dataset == dataset)
    return connection.scalar(query) or 0


def _to_row(event: Event, token: str) -> dict[str, object]:
    """Values of the columns."""
    row = {name: getattr(event, name) for name in _NAMES}
    row |= {name: None if row[name] is None else row[name].to_json() for name in _OPINIONS}
    return row | {"settings": json.dumps(dict(event.settings), ensure_ascii=False, sort_keys=True), "token": token}


def _from_row(row) -> Event:
    """The event of a row."""
    values = {name: getattr(row, name) for name in _NAMES}
    values |= {name: None if values[name] is None else Opinion.from_json(values[name]) for name in _OPINIONS}
    return Event(**values | {"settings": json.loads(row.settings)})
