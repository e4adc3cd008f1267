"""The database itself is looked at, and nothing is acknowledged once another one has come in its place."""

import os
import random
import shutil
import sqlite3
from contextlib import closing

import pytest

from core.review import database
from core.review.database import transaction
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.review_errors import StoreError
from core.review.sessions import Queued
from core.review.store import close_stores, open_store
from tests.core.review.test_chain import DATASET, OTHER, add, run

N_EVENTS, PAGE = 281, 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A file of so many events and some queues, in one piece."""
    path = tmp_path_factory.mktemp("whole") / "reviews.sqlite3"
    store = database_of(path)
    store.start_session(DATASET, "Ann", "queue", [Queued(f"case {number}", "why" * 9) for number in range(200)])
    for number in range(N_EVENTS):
        add(store, number, note="note " * 9)
    database.empty_log(store.engine)
    store.close()
    return path


def database_of(path):
    from core.review.store import ReviewStore

    return ReviewStore(f"sqlite:///{path}")


def found(path):
    """What is said of a file: faults, or the error that ends it."""
    try:
        store = database_of(path)
        try:
            return [fault.what for fault in store.check().faults]
        finally:
            store.close()
    except StoreError as error:
        return [error.trouble]


def free_pages(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA freelist_count").fetchone()[0]


def test_noise_in_any_page_of_the_file_is_found(whole, tmp_path):
    content = whole.read_bytes()
    assert len(content) % PAGE == 0 and free_pages(whole) == 0 and found(whole) == []
    unseen = []
    for page in range(1, len(content) // PAGE):
        noise = random.Random(page).randbytes(PAGE)
        (tmp_path / "r.sqlite3").write_bytes(content[: page * PAGE] + noise + content[(page + 1) * PAGE :])
        if not found(tmp_path / "r.sqlite3"):
            unseen.append(page)
        for end in ("-wal", "-shm"):
            (tmp_path / f"r.sqlite3{end}").unlink(missing_ok=True)
    assert unseen == []


def test_an_index_that_does_not_fit_its_table_is_found(whole, tmp_path):
    """No event is another: the chain is whole, and only the database's own check shows it."""
    shutil.copy(whole, tmp_path / "r.sqlite3")
    with closing(sqlite3.connect(tmp_path / "r.sqlite3", isolation_level=None)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events_of_session'").fetchone()
        (other,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'ix_review_session_dataset'"
        ).fetchone()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET rootpage = ? WHERE name = 'events_of_session'", (other,))
        connection.execute("UPDATE sqlite_master SET rootpage = ? WHERE name = 'ix_review_session_dataset'", (root,))
    told = found(tmp_path / "r.sqlite3")
    assert any("the database file is damaged" in what for what in told), told


def test_a_row_that_names_a_row_that_is_not_there_is_found(open_at, sqlite_url):
    store = open_at(sqlite_url)
    store.start_session(DATASET, "Ann", "queue", [Queued("1")])
    with closing(sqlite3.connect(store.engine.url.database, isolation_level=None)) as connection:
        connection.execute("DELETE FROM review_session")
    told = [fault.what for fault in store.check().faults]
    assert any("refers to a missing row of review_session" in what for what in told), told
    assert store.check().looked_by == "integrity_check, foreign_key_check"


def test_on_postgres_amcheck_looks_where_it_is_installed(server, open_at):
    store = open_at(server.new_database())
    add(store, 0)
    assert (store.check().ok, store.check().looked_by) == (True, "")
    try:
        run(store, "CREATE EXTENSION IF NOT EXISTS amcheck")
    except StoreError:
        pytest.skip("Postgres: the extension amcheck is not installed")
    try:
        assert (store.check().ok, store.check().looked_by) == (True, "amcheck")
        with transaction(store.engine, writes=True) as connection:  # an index that says of a row what it does not hold
            connection.exec_driver_sql("SET LOCAL allow_system_table_mods = on")
            other = "UPDATE pg_index SET indkey = '2' WHERE indexrelid = 'events_of_session'::regclass"
            connection.exec_driver_sql(other)
        store.engine.dispose()
        told = [fault.what for fault in store.check().faults]
        assert any("events_of_session is damaged" in what for what in told), told
    finally:
        run(store, "DROP EXTENSION amcheck")


MOVES = {
    "moved": lambda path: path.rename(path.with_name("elsewhere")),
    "replaced": lambda path: (shutil.copy(path, path.with_name("copy")), path.with_name("copy").replace(path)),
    "folder": lambda path: path.parent.rename(path.parent.with_name("elsewhere")),
    "removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("move", MOVES)
def test_nothing_is_acknowledged_once_the_file_is_another(open_at, tmp_path, move):
    path = tmp_path / "home" / "reviews.sqlite3"
    store = open_at(f"sqlite:///{path}")
    add(store, 0)
    MOVES[move](path)
    for call in (lambda: add(store, 1), lambda: store.start_session(DATASET, "Ann", "t", [Queued("1")]), store.look,
                 lambda: store.forget(DATASET), lambda: store.erase_person("Ann", "ada")):  # fmt: skip
        with pytest.raises(StoreError, match="was moved or replaced") as caught:
            call()
        assert caught.value.trouble == "moved"
    if move == "moved":
        (tmp_path / "home" / "elsewhere").rename(path)
        assert add(store, 1).number == 2, "moved back, it is the same file"


@pytest.mark.parametrize("n_bytes", [0, PAGE, -PAGE])
def test_nothing_is_acknowledged_once_the_file_is_shorter(open_at, tmp_path, n_bytes):
    """An empty or an older file was written over it, in place: SQLite goes on with what it has in memory."""
    path = tmp_path / "r.sqlite3"
    store = database_of(path)
    add(store, 0)
    database.empty_log(store.engine)
    store.close()
    store = open_at(f"sqlite:///{path}")
    add(store, 1)
    os.truncate(path, n_bytes if n_bytes >= 0 else path.stat().st_size + n_bytes)
    with pytest.raises(StoreError, match="was moved or replaced"):
        add(store, 2)


def test_a_file_that_is_moved_while_it_is_written_acknowledges_nothing(open_at, tmp_path, monkeypatch):
    path = tmp_path / "reviews.sqlite3"
    store = open_at(f"sqlite:///{path}")
    insert = database_of.__globals__["open_store"].__globals__["_insert"]

    def moved(*said):
        path.rename(tmp_path / "elsewhere")
        return insert(*said)

    monkeypatch.setattr("core.review.store._insert", moved)
    with pytest.raises(StoreError, match="was moved or replaced"):
        add(store, 0)


def test_on_postgres_a_connection_to_another_database_is_refused(server, open_at, tmp_path):
    store = open_at(server.new_database())
    add(store, 0)
    run(store, "SELECT 1")
    database._opened[store.engine] = ("another server", 1)
    store.engine.dispose()
    with pytest.raises(StoreError, match="was moved or replaced"):
        add(store, 1)


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_nothing_is_acknowledged_once_the_log_is_another(tmp_path, end):
    """A killed process would lose what is in a log without a name; one that ends by itself writes it to the file."""
    store = database_of(path := tmp_path / "r.sqlite3")
    add(store, 1)
    (tmp_path / f"r.sqlite3{end}").rename(tmp_path / "moved")
    for _ in range(2):
        with pytest.raises(StoreError, match="moved or replaced"):
            add(store, 2)
    with pytest.raises(StoreError, match="moved or replaced"):
        store.look()
    store.close()
    again = database_of(path)
    assert [event.case_id for event in again.trail(DATASET)] == ["case 1"] and again.check().ok
    add(again, 2)
    again.close()


def test_readiness_says_that_the_database_was_moved(home):
    from pages.shared.shell.doors import _faults

    draft = Draft(dataset=OTHER, case_id="c", kind="opinion", reviewer="Ann", opinion=Opinion.of_class("x"))
    open_store().record(draft, seen=0, token="t")
    assert _faults() == []
    (home / "reviews.sqlite3").rename(home / "elsewhere.sqlite3")
    assert _faults() == ["reviews"]
    (home / "elsewhere.sqlite3").rename(home / "reviews.sqlite3")
    home.rename(home.with_name("elsewhere"))  # a new folder has nothing of reviews
    assert _faults() == ["reviews"]
    close_stores()
