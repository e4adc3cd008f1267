"""A hash of two halves: an erasure covers nothing but names, notes and times, and queues are in the chain."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.review import chain
from core.review.assignments import Assignment
from core.review.chain import CONTENT, ERASED_TOKEN, FORM, HASHED, PERSONAL, PSEUDONYM, former_hash, personal_half
from core.review.database import connect, parse_url, transaction, upgrade
from core.review.events import ASSIGNED, ERASED, MIGRATED, QUEUED, Draft
from core.review.migrations.versions import r0005_halves
from core.review.opinions import Opinion
from core.review.schema import events, sessions
from core.review.sessions import Queued
from tests.core.review.test_chain import DATASET, OTHER, add, without_guards

FORMER = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("former/*.json")
}
REVISION = {"8c5a3416": "0004", "5e343c8": "0002"}
WITHOUT = {"note": "", "seconds": None, "token": f"{ERASED_TOKEN} {1:032x}"}


def rows_of(store, dataset=DATASET):
    with transaction(store.engine) as connection:
        query = sa.select(events).where(events.c.dataset == dataset).order_by(events.c.number)
        return [dict(row) for row in connection.execute(query).mappings()]


def as_recorded_by(commit, url):
    """Put the rows that this commit has written into a database of its schema."""
    engine, told = connect(parse_url(url)), FORMER[commit]
    upgrade(engine, REVISION[commit])
    with transaction(engine, writes=True) as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET session_replication_role = replica")
        else:
            for name in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars():
                if name.startswith("review_e") and not name.endswith("append_only"):
                    kept = connection.exec_driver_sql(f"SELECT sql FROM sqlite_master WHERE name = '{name}'").scalar()
                    connection.exec_driver_sql(f"DROP TRIGGER {name}")
                    connection.info.setdefault("guards", []).append(kept)
        for name, rows in told.items():
            if rows and isinstance(rows, list):
                table = sa.table(name, *map(sa.column, rows[0]))
                connection.execute(table.insert(), rows)
        for kept in connection.info.pop("guards", []):
            connection.exec_driver_sql(kept)
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SELECT setval('review_event_id_seq', (SELECT max(id) FROM review_event))")
            connection.exec_driver_sql("SET session_replication_role = origin")
    engine.dispose()
    return told


def forge_erasure(store, number, dataset=DATASET, **changes):
    """What an owner can do who knows every formula: change an event and cover it with an erasure at the end."""
    row = next(row for row in rows_of(store, dataset) if row["number"] == number)
    changed = {"reviewer": f"{PSEUDONYM} {0:08x}"} | WITHOUT | changes
    here = (events.c.dataset == dataset) & (events.c.number == number)
    without_guards(store, (events.update().where(here).values(changed),))
    told = {"events": [{"number": number, "is": personal_half(row | changed)}]}
    with transaction(store.engine, writes=True) as connection:
        store._append(connection, dataset, f"forged {number}", {"kind": ERASED, "reviewer": "ada", "whom": ""}, told)


def faults_of(store, heads=()):
    return [fault.what for fault in store.check(heads).faults]


@pytest.fixture
def recorded(store):
    """Three opinions of Ann and one question to Bob."""
    for number in range(3):
        add(store, number, note=f"note {number}", seconds=0.5)
    ask = Draft(
        dataset=DATASET, case_id="case 0", kind="second_opinion", reviewer="Ann", whom="Bob", whom_visible="open"
    )
    store.record(ask, seen=1, token="ask")
    return store


def test_each_column_is_in_one_half_and_the_migration_hashes_as_the_store_does(recorded):
    assert set(CONTENT).isdisjoint(PERSONAL) and set(CONTENT) | set(PERSONAL) == set(HASHED)
    assert (r0005_halves._CONTENT, r0005_halves._PERSONAL, r0005_halves._FORM) == (CONTENT, PERSONAL, FORM)
    for row in rows_of(recorded):
        assert r0005_halves._half(row, CONTENT) == chain.content_half(row)
        assert r0005_halves._half(row, PERSONAL) == chain.personal_half(row) == row["personal"]
        assert row["hash"] == FORM + chain._digest_of_text(chain.content_half(row) + row["personal"])


def test_an_erasure_that_is_one_leaves_the_record_whole_and_is_printed(recorded):
    head = recorded.head(DATASET).hash
    recorded.erase_person("Ann", "ada")
    found = recorded.check([head])
    (erasure,) = found.erasures
    assert found.ok and (erasure.what, erasure.by, erasure.n_events) == ("person", "ada", 4)
    assert erasure.at == rows_of(recorded)[-1]["at"]


@pytest.mark.parametrize(
    "change",
    [
        {"opinion": Opinion.of_class("z").to_json()},
        {"case_id": "case 9"},
        {"at": 5},
        {"confidence": 0.1},
        {"reviewer": "Bob"},
        {"reviewer": f"{PSEUDONYM} Bob"},
        {"token": f"{ERASED_TOKEN} of Bob"},
        {"note": "put in"},
        {"seconds": 3.0},
        {"whom": "Bob"},
        {"personal": "f" * 64},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nothing_else_is_changed_under_the_cover_of_an_erasure(recorded, change):
    head = recorded.head(DATASET).hash
    forge_erasure(recorded, 2, **change)
    assert "event 2" in faults_of(recorded)[0] and "was changed" in faults_of(recorded)[0]
    assert faults_of(recorded, [head]), "also with a head that was kept before"
    assert recorded.check().erasures[0].by == "ada"


def test_an_erasure_of_the_form_of_before_opens_nothing_in_a_record_of_now(recorded):
    """The whole trail passed off as recorded before the upgrade: erasure and migration as they were written then."""
    rows = rows_of(recorded)
    forged = [
        row | {"opinion": Opinion.of_class("z").to_json(), "reviewer": f"{PSEUDONYM} {0:08x}"} | WITHOUT for row in rows
    ]
    for number, row in enumerate(forged):
        row["token"] = f"{ERASED_TOKEN} {number:032x}"
        row["personal"] = personal_half(row)
    told = {"events": [{"number": row["number"], "was": row["hash"], "is": former_hash(row)} for row in forged]}
    erasure = rows[-1] | {
        "id": 99, "number": 5, "previous": rows[-1]["hash"], "case_id": "", "version": 1, "token": "forged",
        "kind": ERASED, "reviewer": "ada", "whom": "", "opinion": None, "settings": json.dumps(told),
    }  # fmt: skip
    erasure["hash"] = former_hash(erasure)
    erasure["personal"] = personal_half(erasure)
    without_guards(recorded, (events.delete(),), (events.insert(), [*forged, erasure]))
    with transaction(recorded.engine, writes=True) as connection:
        settings = {"former": chain.former_digest([*forged, erasure]), "head": erasure["hash"], "queues": {}}
        said = {"kind": MIGRATED, "reviewer": "", "whom": ""}
        recorded._append(connection, DATASET, "migration", said, settings)
    assert any("event 2" in what and "was changed" in what for what in faults_of(recorded, [rows[-1]["hash"]]))


@pytest.mark.parametrize("commit", FORMER)
def test_a_record_of_an_earlier_version_opens_whole_and_holds_its_heads(url, open_at, commit):
    told = as_recorded_by(commit, url)
    store = open_at(url)
    found = store.check(told.get("heads", {}).values())
    assert found.faults == ()
    assert found.n_events == len(told["review_event"]) + len(found.heads)  # one more each
    rows = rows_of(store)
    assert [row["kind"] for row in rows].count(MIGRATED) == 1 and rows[-1]["kind"] == MIGRATED
    if "heads" in told:
        assert [row["hash"] for row in rows[:-1]] == [
            row["hash"] for row in told["review_event"] if row["dataset"] == DATASET
        ]
    assert [one.reviewer for one in store.trail(DATASET)][-1] in ("Bo", "Cy")
    store.erase_person("Bo", "ada")
    assert store.check(told.get("heads", {}).values()).ok and "Bo" not in repr(rows_of(store))
    add(store, 8)
    assert store.check().ok


@pytest.mark.parametrize("commit", FORMER)
def test_a_former_event_is_bound_by_the_upgrade(url, open_at, commit):
    as_recorded_by(commit, url)
    store = open_at(url)
    (number, *_) = [row["number"] for row in rows_of(store) if row["reviewer"] == "Bo"]
    head = store.head(DATASET).hash
    forge_erasure(store, number, opinion=Opinion.of_class("z").to_json())
    assert any("was changed after the record was upgraded" in what for what in faults_of(store, [head]))


def test_a_former_event_that_is_changed_without_an_erasure_is_named(url, open_at):
    as_recorded_by("8c5a3416", url)
    store = open_at(url)
    without_guards(store, f"UPDATE review_event SET note = 'x' WHERE dataset = '{OTHER}' AND number = 1")
    assert any("event 1 (case '1', step 1, Mia) was changed" in what for what in faults_of(store))


def test_a_queue_that_was_changed_removed_or_put_in_is_named(store):
    queue = store.start_session(DATASET, "Ann", "Lowest certainty first", [Queued("1", "why"), Queued("2", "why")])
    assert [row["kind"] for row in rows_of(store)] == [QUEUED] and store.check().ok
    assert store.count(DATASET) == 0 and store.trail(DATASET) == [], "it is no step of anybody"
    changes = {
        "UPDATE review_session_case SET case_id = '3' WHERE place = 1": "UPDATE review_session_case SET case_id = '2' "
        "WHERE place = 1",
        "UPDATE review_session SET reviewer = 'Bob'": "UPDATE review_session SET reviewer = 'Ann'",
        "UPDATE review_session SET title = 'x'": "UPDATE review_session SET title = 'Lowest certainty first'",
    }
    for change, back in changes.items():
        without_guards(store, change)
        assert faults_of(store) == [f"the queue {queue.id} was changed"], change
        without_guards(store, back)
    put_in = {"id": "f" * 32, "dataset": DATASET, "reviewer": "Bob", "title": "t", "at": 1}
    without_guards(store, (sessions.insert().values(put_in),))
    assert faults_of(store) == [f"the record has no event for the queue {'f' * 32}"]
    unlinked = (
        "UPDATE review_event SET session = NULL",
        "DELETE FROM review_session_case",
        "DELETE FROM review_session",
    )
    without_guards(store, *unlinked)
    assert "was changed" in faults_of(store)[0], "the event of the queue holds its id"


def test_the_queue_of_an_erased_person_is_whole(store):
    store.start_session(DATASET, "Ann", "t", [Queued("1")])
    store.start_session(DATASET, "Bob", "t", [Queued("1")])
    store.erase_person("Ann", "ada")
    assert store.check().ok and "Ann" not in repr(rows_of(store))


def test_an_assignment_is_changed_under_no_cover(store):
    given = Assignment(dataset=DATASET, by="Mia", whom="Ann", title="t", cases=(Queued("1", "why"),))
    number = store.assign(given, token="a").number
    settings = rows_of(store)[0]["settings"].replace('"1"', '"2"')
    forge_erasure(store, number, reviewer="Mia", whom=f"{PSEUDONYM} {0:08x}", settings=settings)
    assert rows_of(store)[0]["kind"] == ASSIGNED and "was changed" in faults_of(store)[0]
