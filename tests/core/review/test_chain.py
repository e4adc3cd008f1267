"""The record is a chain: no verb of SQL changes it unseen, on SQLite and on Postgres, and `check` names what was."""

import itertools
import re
import threading
from dataclasses import replace

import pytest
import sqlalchemy as sa

from core.errors import InputError
from core.review import chain
from core.review.chain import BEGINNING, Head, event_hash, former_hash, personal_half
from core.review.database import connect, grant, guards, parse_url, transaction, upgrade
from core.review.events import Draft
from core.review.migrations.versions import r0003_chain
from core.review.opinions import Opinion
from core.review.review_errors import StoreError
from core.review.schema import erasures, events, sessions
from core.review.sessions import Queued
from core.review.store import _to_row

DATASET, OTHER = "a" * 32, "b" * 32
COLUMNS = ", ".join(column.name for column in events.c if column.name != "id")
FORGED = ", ".join("'forged'" if column.name == "note" else column.name for column in events.c if column.name != "id")


def add(store, number, dataset=DATASET, **said):
    draft = Draft(
        dataset=dataset, case_id=f"case {number}", kind="opinion", reviewer="Ann", opinion=Opinion.of_class("x"), **said
    )
    return store.record(draft, seen=0, token=f"{dataset[0]} {number}")


@pytest.fixture
def recorded(store):
    """Four events of one dataset, two of another, in turns."""
    for number in range(4):
        add(store, number, note=f"note {number}", confidence=1, seconds=0.5)
        if number < 2:
            add(store, number, OTHER)
    return store


def everything(store):
    """All that is recorded, whatever its order."""
    with transaction(store.engine) as connection:
        return {table.name: sorted(map(tuple, connection.execute(sa.select(table)))) for table in (events, erasures)}


def run(store, *statements):
    with transaction(store.engine, writes=True) as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_each_event_holds_the_hash_of_the_one_before_and_each_dataset_has_its_chain(recorded):
    for dataset, n in ((DATASET, 4), (OTHER, 2)):
        with transaction(recorded.engine) as connection:
            query = sa.select(events).where(events.c.dataset == dataset).order_by(events.c.number)
            rows = connection.execute(query).mappings().all()
        assert [row["number"] for row in rows] == list(range(1, n + 1))
        assert [row["previous"] for row in rows] == [BEGINNING, *(row["hash"] for row in rows[:-1])]
        assert [row["hash"] for row in rows] == [event_hash(row) for row in rows]
        assert recorded.head(dataset) == Head(n, rows[-1]["hash"])
    found = recorded.check([recorded.head(DATASET).hash])
    assert (found.ok, found.n_events, set(found.heads)) == (True, 6, {DATASET, OTHER})


def test_the_migration_hashes_as_the_store_does(recorded):
    assert r0003_chain._HASHED == chain.HASHED and r0003_chain._BEGINNING == BEGINNING
    with transaction(recorded.engine) as connection:
        for row in connection.execute(sa.text("SELECT * FROM review_event")).mappings():
            assert r0003_chain._hash(dict(row)) == former_hash(row)


_SAID = '{"ranking": [["z"]]}'
_BEFORE = {
    "dataset": "b6d064d900955a3f8c72f9069579403a", "case_id": "1", "reviewer": "Ada",
    "session": "b87dfc3519334f1e9d31f846978d6234", "model": "", "settings": "{}", "panel": None, "old": _SAID,
    "opinion": _SAID, "confidence": None, "note": "", "reason": "", "whom": "", "whom_visible": "", "undoes": None,
    "visible": "open", "seconds": None,
}  # fmt: skip
_RECORDED = [
    {
        "version": 1, "number": 1, "token": "bc3d265ef19e4e36a10e1989064df05a", "kind": "opinion",
        "at": 1795919475113537, "visible": "blind", "old": None, "seconds": 0.4, "previous": BEGINNING,
        "hash": "7439279caf92b239347abc5adb2264b3e558f6d0734aa9be7b7b56ea3ec9587b",
    },
    {
        "version": 2, "number": 2, "token": "e509a64333b04e7a84a5c2f7938a2e17", "kind": "reveal",
        "at": 1795919475133596, "model": "dirichlet", "settings": '{"reliability": 1.0}',
        "panel": '{"ranking": [["x", "y"]]}',
        "previous": "7439279caf92b239347abc5adb2264b3e558f6d0734aa9be7b7b56ea3ec9587b",
        "hash": "1a71da101bfe0a5a2a2da2591d1e66ac20398d644f52c7662d7106723992f9e0",
    },
    {
        "version": 3, "number": 3, "token": "ee095c3e27a042908bb936dabc97ddfd", "kind": "keep",
        "at": 1795919475154400, "seconds": 0.3,
        "previous": "1a71da101bfe0a5a2a2da2591d1e66ac20398d644f52c7662d7106723992f9e0",
        "hash": "0cf2ed284e615c7f1c5f06e399e1b15bf1a2ff321a2ba9f6cad312b3c8291643",
    },
]  # fmt: skip


def test_a_case_closed_before_there_were_plausible_sets_verifies_and_stays_closed(url, open_at):
    """As it was recorded then, with a class outside of what the panel was undecided between; a new step follows."""
    dataset, session = _BEFORE["dataset"], _BEFORE["session"]
    engine = connect(parse_url(url))
    upgrade(engine, "0004")
    with transaction(engine, writes=True) as connection:
        about = {"id": session, "dataset": dataset, "reviewer": "Ada", "title": "Lowest certainty first", "at": 1}
        connection.execute(sessions.insert().values(about))
        table = sa.table("review_event", *map(sa.column, _BEFORE | _RECORDED[0]))
        connection.execute(table.insert(), [_BEFORE | one for one in _RECORDED])
    engine.dispose()
    store = open_at(url)
    assert store.check([_RECORDED[-1]["hash"]]).ok
    review = store.case(dataset, "1")
    assert (review.state, review.closed_unsupported, review.reads[0].panel.plausible) == ("closed", True, None)
    said = {"dataset": dataset, "case_id": "1", "reviewer": "Ada"}
    store.record(Draft(kind="reopen", note="look again", **said), seen=3, token="reopen")
    for seen, (kind, more) in enumerate([
        ("opinion", {"opinion": Opinion.of_class("z")}),
        ("reveal", {"panel": replace(Opinion.of_ranking(["xy"]), plausible=("x", "y"))}),
    ], 4):  # fmt: skip
        store.record(Draft(kind=kind, **said, **more), seen=seen, token=kind)
    with pytest.raises(InputError, match="write a note"):
        store.record(Draft(kind="keep", **said), seen=6, token="keep")
    assert store.case(dataset, "1").version == 6
    store.record(Draft(kind="keep", note="a fresh scan", **said), seen=6, token="keep")
    again = store.case(dataset, "1")
    assert (again.state, again.reads[0].panel.plausible, store.check().ok) == ("closed", ("x", "y"), True)


def test_the_hash_holds_every_column(recorded):
    row = _to_row(recorded.trail(DATASET)[0], "t") | {"previous": BEGINNING}

    def hashed(row):
        return event_hash(row | {"personal": personal_half(row)})

    of = {hashed({**row, name: other}) for name in chain.HASHED for other in ("another", None) if row[name] != other}
    assert hashed(row) not in of
    assert set(chain.HASHED) == {column.name for column in events.c} - {"id", "hash", "personal"}


BOTH = {
    "update": ["UPDATE review_event SET note = 'forged'"],
    "update one": ["UPDATE review_event SET reviewer = 'Bob' WHERE number = 2"],
    "move": ["UPDATE review_event SET number = number + 10"],
    "delete": ["DELETE FROM review_event"],
    "delete the last": ["DELETE FROM review_event WHERE number = 4"],
    "insert in between": [f"INSERT INTO review_event ({COLUMNS}) SELECT {FORGED} FROM review_event WHERE number = 2"],
    "erase a part": [
        "INSERT INTO review_erasure SELECT dataset, number, hash, 0 FROM review_event WHERE number = 2",
        "DELETE FROM review_event WHERE number <= 2",
    ],
    "erase beyond": [
        f"INSERT INTO review_erasure SELECT '{DATASET}', 99, hash, 0 FROM review_event WHERE number = 4",
        "DELETE FROM review_event",
    ],
}
NEW = {"token": "'new'", "version": "77", "number": "5", "note": "'forged'"}
NEW["previous"] = f"(SELECT hash FROM review_event WHERE number = 4 AND dataset = '{DATASET}')"


def replacing(*kept):
    """A REPLACE that follows the chain and has one unique key of the second event, which it so would remove."""
    values = [column.name if column.name in kept else NEW.get(column.name, column.name) for column in events.c]
    values[0] = "id" if "id" in kept else "99"
    return [
        f"INSERT OR REPLACE INTO review_event (id, {COLUMNS}) SELECT {', '.join(values)} FROM review_event "
        f"WHERE number = 2 AND dataset = '{DATASET}'"
    ]


SQLITE = {
    "replace": [f"REPLACE INTO review_event (id, {COLUMNS}) SELECT id, {FORGED} FROM review_event WHERE number = 2"],
    "replace all": [f"INSERT OR REPLACE INTO review_event ({COLUMNS}) SELECT {FORGED} FROM review_event"],
    "replace by id": replacing("id"),
    "replace by token": replacing("token"),
    "replace by step": replacing("case_id", "version"),
    "replace by number": replacing("number"),
    "replace with no number": [replacing()[0].replace(" 5,", " NULL,")],
    "upsert": [
        f"INSERT INTO review_event ({COLUMNS}) SELECT {FORGED} FROM review_event WHERE true "
        "ON CONFLICT DO UPDATE SET note = 'forged'"
    ],
    "update or replace": ["UPDATE OR REPLACE review_event SET number = 1"],
}
POSTGRES = {
    "truncate": ["TRUNCATE review_event"],
    "truncate all": ["TRUNCATE review_session CASCADE"],
    "upsert": [
        f"INSERT INTO review_event (id, {COLUMNS}) SELECT id, {FORGED} FROM review_event "
        "ON CONFLICT (id) DO UPDATE SET note = 'forged'"
    ],
    "merge": [
        "MERGE INTO review_event AS t USING review_event AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET note = 'forged'"
    ],
    "merge away": ["MERGE INTO review_event AS t USING review_event AS s ON t.id = s.id WHEN MATCHED THEN DELETE"],
    "a table of the same name": [
        "CREATE TEMPORARY TABLE review_erasure AS SELECT dataset, 99 AS number, hash, 0 AS at FROM review_event",
        "DELETE FROM public.review_event",
    ],
}


def test_no_verb_changes_the_record(recorded):
    before, sqlite = everything(recorded), recorded.engine.dialect.name == "sqlite"
    for name, statements in (BOTH | (SQLITE if sqlite else POSTGRES)).items():
        with pytest.raises((StoreError, sa.exc.IntegrityError)) as caught:
            run(recorded, *statements)
        assert "never overwritten" in str(caught.value), name
        assert everything(recorded) == before, name
    run(recorded, "DELETE FROM review_session")  # of no event: nothing that the record holds
    assert recorded.check().ok


def test_what_was_erased_leaves_its_number_and_its_hash_and_the_chain_goes_on(recorded):
    head = recorded.head(DATASET)
    assert recorded.forget(DATASET) == 4
    assert recorded.head(DATASET) == head
    event = add(recorded, 0)
    assert (event.number, event.version) == (5, 1)
    found = recorded.check([head.hash])
    assert (found.faults, found.n_events, found.erased) == ((), 3, {DATASET: 4})
    for statement in (
        "UPDATE review_erasure SET number = 99",
        "DELETE FROM review_erasure",
        "DELETE FROM review_event",
    ):
        with pytest.raises((StoreError, sa.exc.IntegrityError), match="overwritten"):
            run(recorded, statement)
    assert recorded.trail(DATASET) == [event]


def without_guards(store, *statements):
    """What the owner of the tables, or whoever can write the file, can do."""
    sqlite = store.engine.dialect.name == "sqlite"
    with transaction(store.engine, writes=True) as connection:
        texts = guards(connection)
        for name in texts if sqlite else ():
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        if not sqlite:
            connection.exec_driver_sql("ALTER TABLE review_event DISABLE TRIGGER USER")
        for statement in statements:
            connection.execute(*statement if isinstance(statement, tuple) else (sa.text(statement),))
        for text in texts.values() if sqlite else ["ALTER TABLE review_event ENABLE TRIGGER USER"]:
            connection.exec_driver_sql(text)


def put_back(store, rows):
    """The events as they were."""
    names = [column.name for column in events.c]
    without_guards(store, (events.delete(),), (events.insert(), [dict(zip(names, row, strict=True)) for row in rows]))


FOUND = {
    "UPDATE review_event SET note = 'forged' WHERE number = 2 AND dataset = :d": "event 2 .* was changed",
    "UPDATE review_event SET at = 5 WHERE number = 4 AND dataset = :d": "event 4 .* was changed",
    "DELETE FROM review_event WHERE number = 3 AND dataset = :d": "event 3 missing before event 4",
    "DELETE FROM review_event WHERE number IN (1, 2) AND dataset = :d": "events 1 to 2 missing before event 3",
    "UPDATE review_event SET hash = 'f' WHERE number = 4 AND dataset = :d": "event 4 .* was changed",
    "UPDATE review_event SET dataset = 'c' WHERE dataset = :d": "event 1 .* was changed",
}


def test_what_was_changed_behind_the_guards_is_named(recorded):
    before = everything(recorded)["review_event"]
    for statement, words in FOUND.items():
        without_guards(recorded, statement.replace(":d", f"'{DATASET}'"))
        told = [fault.what for fault in recorded.check().faults]
        assert any(re.search(words, what) for what in told), (statement, told)
        put_back(recorded, before)
    assert recorded.check().ok


def test_events_that_changed_places_are_named(recorded):
    swap = "UPDATE review_event SET number = {} WHERE number = {} AND dataset = '" + DATASET + "'"
    without_guards(recorded, *(swap.format(*pair) for pair in ((99, 2), (2, 3), (3, 99))))
    told = " ".join(fault.what for fault in recorded.check().faults)
    assert "event 2 (case 'case 2', step 1, Ann) does not follow the previous event" in told


def test_a_cut_end_and_a_chain_made_anew_are_found_by_a_head_that_was_kept(recorded):
    head = recorded.head(DATASET)
    assert recorded.check([head.hash, recorded.trail(DATASET)[1].hash]).ok  # an older export holds an older head
    without_guards(recorded, f"DELETE FROM review_event WHERE number = 4 AND dataset = '{DATASET}'")
    assert recorded.check().ok
    (fault,) = recorded.check([head.hash]).faults
    assert f"does not contain {head.hash}" in fault.what


def test_a_trigger_that_is_not_ours_is_named(recorded):
    """Such as one that changes the note of what is recorded from now on."""
    sqlite = recorded.engine.dialect.name == "sqlite"
    does = "BEGIN SELECT 1; END" if sqlite else "FOR EACH ROW EXECUTE FUNCTION review_event_erased()"
    run(recorded, f"CREATE TRIGGER more AFTER INSERT ON review_event {does}")
    (fault,) = recorded.check().faults
    assert fault.what.startswith("the trigger more in the database was not created by Plurality")


def test_a_guard_that_is_gone_is_named(recorded):
    if recorded.engine.dialect.name == "sqlite":
        run(recorded, "DROP TRIGGER review_event_in_turn")
    else:
        run(recorded, "ALTER TABLE review_event DISABLE TRIGGER review_event_in_turn")
    (fault,) = recorded.check().faults
    assert "review_event_in_turn" in fault.what


def test_times_that_run_backwards_are_marked_and_are_no_fault(open_at, url):
    times = itertools.chain([30, 20, 40], itertools.repeat(50))
    store = open_at(url, clock=lambda: next(times))
    for number in range(3):
        add(store, number)
    found = store.check()
    assert found.ok
    assert [(early.number, early.dataset) for early in found.backwards] == [(2, DATASET)]


@pytest.mark.parametrize("column", ["opinion", "settings"])
def test_an_event_that_cannot_be_read_is_named(recorded, column):
    without_guards(recorded, f"UPDATE review_event SET {column} = '[1' WHERE number = 3 AND dataset = '{DATASET}'")
    with pytest.raises(StoreError, match=r"event 3 \(case 'case 2', step 1, Ann; ") as caught:
        recorded.trail(DATASET)
    assert caught.value.trouble == "damaged"
    assert "event 3 (case 'case 2', step 1, Ann) was changed" in [fault.what for fault in recorded.check().faults]


def test_an_event_whose_bytes_are_no_text_is_named(open_at, sqlite_url):
    store = open_at(sqlite_url)
    for number in range(3):
        add(store, number)
    without_guards(store, "UPDATE review_event SET note = CAST(x'ff' AS TEXT) WHERE number = 2")
    with pytest.raises(StoreError, match="Could not read event 2"):
        store.trail(DATASET)
    found = store.check()
    assert found.n_events == 3
    assert "could not read event 2" in [fault.what for fault in found.faults]


def test_writers_to_different_cases_append_in_turn(url, open_at):
    """Nobody is told of a conflict, because no two of them work on one case."""
    stores, failures = [open_at(url) for _ in range(3)], []

    def work(store, reviewer):
        try:
            for number in range(8):
                one = Draft(dataset=DATASET, case_id=f"{reviewer} {number}", kind="skip", reviewer=reviewer)
                store.record(one, seen=0, token=f"{reviewer} {number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(store, f"R{n}")) for n, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    found = stores[0].check()
    assert (found.faults, found.n_events) == ((), 24)


def test_a_role_that_does_not_own_the_tables_records_erases_and_cannot_reach_the_guards(server, open_at):
    owner_url = server.new_database()
    role_url = owner_url.replace("postgres@", "plurality_app@")
    owner = open_at(owner_url)
    run(
        owner,
        "DO $$ BEGIN CREATE ROLE plurality_app LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "DROP SCHEMA public CASCADE",
        "CREATE SCHEMA public",
        "GRANT USAGE ON SCHEMA public TO plurality_app",
    )
    with pytest.raises(StoreError, match="the upgrade command") as caught:
        open_at(role_url)
    assert caught.value.trouble == "older"
    owner = open_at(owner_url)
    grant(owner.engine, "plurality_app")
    store = open_at(role_url)
    add(store, 0, OTHER)
    assert store.forget(OTHER) == 1
    for number in range(4):
        add(store, number)
    session = store.start_session(DATASET, "Ann", "queue", [Queued("case")])
    assert store.session(session.id) == session
    assert store.bring_over(DATASET, OTHER, "Ann", {"case", *(f"case {number}" for number in range(3))}, "x") == (3, 1)
    (copied,) = store.sessions(OTHER, "Ann")
    assert (copied.cases, store.sessions(DATASET, "Ann")) == (session.cases, [session])
    assert (store.check().ok, store.check().owns_tables, owner.check().owns_tables) == (True, False, True)
    before = everything(store)
    for statement in (
        *(statement for statements in (BOTH | POSTGRES).values() for statement in statements[-1:]),
        "ALTER TABLE review_event DISABLE TRIGGER ALL",
        "ALTER TABLE review_event DROP COLUMN hash",
        "DROP TRIGGER review_event_kept ON review_event",
        "CREATE OR REPLACE FUNCTION review_event_kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
        "DROP TABLE review_event",
        "CREATE RULE r AS ON INSERT TO review_event DO INSTEAD NOTHING",
        "SET session_replication_role = replica",
        "ALTER SEQUENCE review_event_id_seq RESTART",
        "UPDATE alembic_version SET version_num = '0'",
        "SET ROLE postgres",
        "ALTER ROLE plurality_app SUPERUSER",
    ):
        with pytest.raises((StoreError, sa.exc.IntegrityError)):
            run(store, statement)
        assert everything(store) == before, statement
    assert owner.check().ok
