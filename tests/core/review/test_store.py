"""What was acknowledged is there, once, and as it was sent; the same on SQLite and on Postgres."""

import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.errors import InputError, NotFoundError
from core.review.database import transaction
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.review_errors import ConflictError, NotAllowedError
from core.review.rules import admit
from core.review.schema import events
from core.review.sessions import Queued
from core.review.states import CaseReview
from core.review.store import forget_reviews, n_reviews, open_store

DATASET, OTHER = "a" * 32, "b" * 32
X, Y = Opinion.of_class("x"), Opinion.of_class("y")


def draft(kind="opinion", case_id="case", reviewer="Ann", dataset=DATASET, **said):
    if kind == "opinion":
        said = {"opinion": X} | said
    return Draft(dataset=dataset, case_id=case_id, kind=kind, reviewer=reviewer, **said)


def test_an_event_comes_back_with_everything_that_was_said(open_at, url):
    store = open_at(url, clock=lambda: 1_700_000_000_123_456)
    session = store.start_session(DATASET, "Zoë Ω", "queue", [Queued("case", "why: ½")])
    ranking = Opinion.of_ranking([["b", "a"], ["c"]])
    first = store.record(
        draft(
            reviewer="Zoë Ω",
            opinion=ranking,
            confidence=0.75,
            note="line one\nline 'two' \u2028 %s {x}",
            reason="guideline_gap",
            seconds=12.5,
            session=session.id,
        ),
        seen=0,
        token="t1",
    )
    store.record(
        draft("reveal", reviewer="Zoë Ω", model="plackett-luce", settings={"γ": 3.0, "seed": 1}, panel=X),
        seen=1,
        token="t2",
    )
    second = store.record(
        draft("change", reviewer="Zoë Ω", opinion=Y, reason="rater_error", note="n"), seen=2, token="t3"
    )
    assert (first.version, first.at, first.old, first.opinion) == (1, 1_700_000_000_123_456, None, ranking)
    assert (second.version, second.old, second.opinion, second.visible) == (3, ranking, Y, "open")
    trail = store.trail(DATASET, "case")
    assert trail[0] == first
    assert trail[2] == second
    assert trail[1].settings == {"γ": 3.0, "seed": 1}
    assert trail == open_at(url).trail(DATASET)


def test_the_same_submission_twice_is_recorded_once(store):
    first = store.record(draft(), seen=0, token="t")
    again = store.record(draft(), seen=0, token="t")
    later = store.record(draft(), seen=7, token="t")
    assert first == again == later
    assert store.count(DATASET) == 1


@pytest.mark.parametrize("other", [{"case_id": "other"}, {"reviewer": "Bob"}, {"opinion": Y}, {"dataset": OTHER}])
def test_a_token_cannot_be_used_for_something_else(store, other):
    store.record(draft(), seen=0, token="t")
    with pytest.raises(InputError, match="already submitted something else"):
        store.record(draft(**other), seen=0, token="t")
    assert store.count(DATASET) == 1


def test_a_reviewer_who_saw_an_older_version_is_told_and_not_what_was_said(store):
    store.record(draft(opinion=Opinion.of_class("secret")), seen=0, token="t1")
    with pytest.raises(ConflictError) as caught:
        store.record(draft(reviewer="Bob"), seen=0, token="t2")
    assert caught.value.version == 1
    assert "secret" not in str(caught.value)
    assert "Ann" not in str(caught.value) and str(caught.value).startswith("Someone else")
    with pytest.raises(ConflictError, match=r"^You have changed case .* in another window since") as own:
        store.record(draft(), seen=0, token="t3")
    assert own.value.own and not caught.value.own
    assert store.record(draft(reviewer="Bob"), seen=1, token="t2").version == 2


def test_what_the_rules_refuse_leaves_nothing(store):
    with pytest.raises(NotAllowedError):
        store.record(draft("keep"), seen=0, token="t")
    assert store.trail(DATASET) == []
    assert store.record(draft(), seen=0, token="t").version == 1


def test_two_writers_lose_nothing_and_double_nothing(url, open_at):
    """Each of four threads, two to a store, has its opinion on each of 25 cases, and sends everything twice."""
    stores = [open_at(url), open_at(url)]
    conflicts, failures = [], []

    def work(store, reviewer):
        try:
            for number in range(25):
                one = draft(case_id=f"case {number}", reviewer=reviewer)
                while True:
                    version = store.case(DATASET, one.case_id).version
                    try:
                        event = store.record(one, seen=version, token=f"{reviewer} {number}")
                        break
                    except ConflictError:
                        conflicts.append(one)
                assert store.record(one, seen=version, token=f"{reviewer} {number}") == event
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(stores[n % 2], f"R{n}")) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for number in range(25):
        trail = stores[0].trail(DATASET, f"case {number}")
        assert [event.version for event in trail] == [1, 2, 3, 4]
        assert {event.reviewer for event in trail} == {"R0", "R1", "R2", "R3"}


@pytest.mark.parametrize("same_token", [True, False])
def test_a_race_lost_at_the_last_moment_is_a_conflict_or_the_same_event(store, monkeypatch, same_token):
    """Another writer gets in between the look at the case and the write."""
    monkeypatch.setattr("core.review.store._of_token", _first_time_none())
    monkeypatch.setattr("core.review.store._trail", _first_time_empty())
    first = store.record(draft(), seen=0, token="t1")
    monkeypatch.setattr("core.review.store._of_token", _first_time_none())
    monkeypatch.setattr("core.review.store._trail", _first_time_empty())
    if same_token:
        assert store.record(draft(), seen=0, token="t1") == first
    else:
        with pytest.raises(ConflictError):
            store.record(draft(reviewer="Bob"), seen=0, token="t2")
    assert store.count(DATASET) == 1


def _first_time_none():
    from core.review import store as module

    real, calls = module._of_token, []
    return lambda *given: calls.append(1) if not calls else real(*given)


def _first_time_empty():
    from core.review import store as module

    real, calls = module._trail, []

    def trail(*given):
        calls.append(1)
        return [] if len(calls) == 1 else real(*given)

    return trail


def test_the_database_itself_refuses_to_overwrite_an_event(store):
    store.record(draft(), seen=0, token="t")
    with pytest.raises(Exception, match="never overwritten"), transaction(store.engine, writes=True) as connection:
        connection.execute(events.update().values(note="something else"))
    assert store.trail(DATASET)[0].note == ""


def test_forgetting_erases_the_events_and_sessions_of_that_dataset_only(store, url):
    for dataset in (DATASET, OTHER):
        session = store.start_session(dataset, "Ann", "queue", [Queued("case")])
        store.record(draft(dataset=dataset, session=session.id, note="unforgettable"), seen=0, token=dataset)
    assert store.forget(DATASET) == 1
    assert (store.count(DATASET), store.count(OTHER)) == (0, 1)
    assert store.sessions(DATASET, "Ann") == []
    assert len(store.sessions(OTHER, "Ann")) == 1
    store.forget(OTHER)
    if url.startswith("sqlite"):
        for path in Path(store.engine.url.database).parent.iterdir():
            assert b"unforgettable" not in path.read_bytes()


def test_a_session_that_was_forgotten_takes_no_more_events(store):
    session = store.start_session(DATASET, "Ann", "queue", [Queued("case")])
    store.forget(DATASET)
    with pytest.raises(NotFoundError, match="deleted"):
        store.record(draft(session=session.id), seen=0, token="t")
    with pytest.raises(NotFoundError):
        store.session(session.id)
    assert store.count(DATASET) == 0


def test_a_session_comes_back_in_its_order(store):
    cases = [Queued("c", "third"), Queued("a", "first"), Queued("b")]
    session = store.start_session(DATASET, "Ann", "lowest certainty", cases)
    assert store.session(session.id) == session
    assert session.cases == tuple(cases)
    store.start_session(DATASET, "Bob", "other", cases[:1])
    assert store.sessions(DATASET, "Ann") == [session]
    with pytest.raises(InputError, match="Could not start a session: the queue has no cases"):
        store.start_session(DATASET, "Ann", "none", [])
    with pytest.raises(InputError, match="Could not start a session: case 'c' appears twice in the queue"):
        store.start_session(DATASET, "Ann", "twice", [cases[0], cases[0]])


def test_the_reviews_of_all_cases_are_those_of_each(store):
    for number, case_id in enumerate(["a", "b", "a"]):
        store.record(draft("skip", case_id=case_id), seen=number // 2, token=str(number))
    reviews = store.cases(DATASET)
    assert reviews == {case_id: store.case(DATASET, case_id) for case_id in ("a", "b")}
    assert store.case(DATASET, "c") == CaseReview("c")


@pytest.mark.parametrize("text", ["\x00", "a\ud800"])
def test_what_a_database_cannot_keep_is_refused_before(store, text):
    for bad in (draft(note=text), draft(case_id=text), draft(reviewer=text)):
        with pytest.raises(InputError):
            store.record(bad, seen=0, token="t")
    with pytest.raises(InputError):
        store.record(draft(), seen=0, token=text)
    with pytest.raises(InputError):
        store.record(draft(), seen=0, token="t" * 65)
    assert store.count(DATASET) == 0


def test_the_store_records_what_the_rules_make_of_a_draft(store):
    event = store.record(draft(), seen=0, token="t")
    assert event == admit(CaseReview("case"), draft(), event.at)


def test_the_store_of_the_installation_is_in_the_home_folder_and_is_made_only_when_needed(home, open_at):
    assert n_reviews(DATASET) == forget_reviews(DATASET) == 0
    assert not home.exists()
    open_store().record(draft(), seen=0, token="t")
    assert open_store() is open_store()
    assert (home / "reviews.sqlite3").exists()
    assert n_reviews(DATASET) == 1
    assert forget_reviews(DATASET) == 1
    assert n_reviews(DATASET) == 0


def test_sqlite_syncs_each_commit_and_checks_foreign_keys(open_at, sqlite_url):
    store = open_at(sqlite_url)
    with store.engine.connect() as connection:
        asked = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in _PRAGMAS}
    assert asked == _PRAGMAS
    with pytest.raises(sa.exc.IntegrityError), transaction(store.engine, writes=True) as connection:
        connection.execute(sa.text("INSERT INTO review_session_case VALUES ('no session', 0, 'case', '')"))


_PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
