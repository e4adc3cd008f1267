"""Where reviews are kept, how an older database is brought up, and what is said when it fails."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from core import library
from core.errors import InputError, PluralityError
from core.review import database
from core.review.database import connect, parse_url, store_url, transaction, upgrade
from core.review.events import Draft
from core.review.migrations.versions import (
    r0001_events,
    r0002_seconds_and_append_only,
    r0003_chain,
    r0004_erased_people,
    r0005_halves,
)
from core.review.opinions import Opinion
from core.review.review_errors import StoreError
from core.review.schema import metadata
from core.review.sessions import Queued
from core.review.store import close_stores, open_store
from core.settings import current_settings

DATASET = "a" * 32
SKIP = Draft(dataset=DATASET, case_id="case", kind="skip", reviewer="Ann")
FIRST_SCHEMA_EVENT = """INSERT INTO review_event (dataset, case_id, version, token, kind, reviewer, at, session,
visible, model, settings, panel, old, opinion, confidence, note, reason, whom, whom_visible, undoes) VALUES
(:dataset, :case, :version, :token, :kind, 'Zoë', :at, 's', 'blind', '', '{}', NULL, NULL, :opinion, 0.5,
'a note', '', '', '', NULL)"""


def test_the_revisions_are_one_chain_from_the_first_to_the_newest():
    script = ScriptDirectory(str(database._MIGRATIONS))
    chain = [(step.revision, step.down_revision, step.module.upgrade) for step in script.walk_revisions()][::-1]
    modules = (r0001_events, r0002_seconds_and_append_only, r0003_chain, r0004_erased_people, r0005_halves)
    assert [step[:2] for step in chain] == [(module.revision, module.down_revision) for module in modules]
    assert script.get_heads() == [r0005_halves.revision]


def test_an_upgrade_from_the_first_schema_keeps_all(url, open_at):
    engine = connect(parse_url(url))
    upgrade(engine, "0001")
    opinion = Opinion.of_ranking([["x", "y"], ["z"]])
    with transaction(engine, writes=True) as connection:
        columns = {column["name"] for column in sa.inspect(connection).get_columns("review_event")}
        assert "seconds" not in columns
        connection.execute(sa.text("INSERT INTO review_session VALUES ('s', :d, 'Zoë', 'old', 7)"), {"d": DATASET})
        connection.execute(sa.text("INSERT INTO review_session_case VALUES ('s', 0, 'case', 'why')"))
        for version, (kind, value) in enumerate([("skip", None), ("opinion", opinion.to_json())], 1):
            row = {"dataset": DATASET, "case": "case", "version": version, "token": f"t{version}", "kind": kind}
            connection.execute(sa.text(FIRST_SCHEMA_EVENT), row | {"opinion": value, "at": version})
    engine.dispose()
    store = open_at(url)
    skip, read = store.trail(DATASET)
    assert (skip.kind, read.kind, read.reviewer, read.at) == ("skip", "opinion", "Zoë", 2)
    assert (read.opinion, read.confidence, read.note, read.seconds) == (opinion, 0.5, "a note", None)
    assert store.case(DATASET, "case").state == "read"
    assert store.session("s").cases == (Queued("case", "why"),)
    draft = Draft(dataset=DATASET, case_id="case", kind="skip", reviewer="Ann", seconds=3.5, session="s")
    store.record(draft, seen=2, token="t3")
    assert store.trail(DATASET)[2].seconds == 3.5
    found = store.check()  # old events are chained and bound by one event, and the new one follows that
    assert (found.faults, found.n_events, found.heads) == ((), 4, {DATASET: store.head(DATASET).hash})
    assert [event.number for event in store.trail(DATASET)] == [1, 2, 4]
    with pytest.raises(Exception, match="never overwritten"), transaction(store.engine, writes=True) as connection:
        connection.exec_driver_sql("UPDATE review_event SET note = ''")


def test_the_migrations_end_in_the_tables_that_the_store_uses(store):
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_opening_again_changes_nothing(store, url, open_at):
    store.record(SKIP, seen=0, token="t")
    upgrade(store.engine)
    assert open_at(url).trail(DATASET) == store.trail(DATASET)


def test_a_database_of_a_later_version_is_left_alone(store, url, open_at):
    with transaction(store.engine, writes=True) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="later version") as caught:
        open_at(url)
    assert caught.value.trouble == "newer"


def test_a_locked_database_is_said_and_the_same_submission_goes_through_later(url, open_at):
    holder, store = open_at(url), open_at(url, patience=0.3)
    lock = "SELECT 1" if url.startswith("sqlite") else "LOCK TABLE review_event"
    with transaction(holder.engine, writes=True) as connection:
        connection.exec_driver_sql(lock)
        with pytest.raises(StoreError, match="locked by another program") as caught:
            store.record(SKIP, seen=0, token="t")
    assert caught.value.trouble == "locked"
    assert isinstance(caught.value, PluralityError)
    assert store.record(SKIP, seen=0, token="t").version == 1
    assert store.count(DATASET) == 1


def test_a_database_that_may_not_be_written_is_said(url, open_at):
    store = open_at(url)
    store.record(SKIP, seen=0, token="t")
    if url.startswith("sqlite"):
        sa.event.listen(store.engine, "checkout", lambda connection, *_: connection.execute("PRAGMA query_only=ON"))
    else:
        with transaction(store.engine, writes=True) as connection:
            connection.exec_driver_sql(
                f"ALTER DATABASE {store.engine.url.database} SET default_transaction_read_only=on"
            )
        store.engine.dispose()
    with pytest.raises(StoreError, match="is read-only") as caught:
        store.record(SKIP, seen=1, token="t2")
    assert caught.value.trouble == "read-only"
    assert store.count(DATASET) == 1


def test_a_database_that_is_not_there_is_said(tmp_path, open_at):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="Could not create the folder") as caught:
        open_at(f"sqlite:///{tmp_path}/file/folder/reviews.sqlite3")
    assert caught.value.trouble == "unreachable"


def test_a_server_that_is_not_there_is_said_without_the_password(tmp_path, open_at):
    pytest.importorskip("psycopg", reason="Postgres: the driver psycopg is not installed")
    with pytest.raises(StoreError, match="Could not reach") as caught:
        open_at(f"postgresql://me:secret@/reviews?host={tmp_path}")
    assert caught.value.trouble == "unreachable"
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_said_and_left_alone(tmp_path, open_at):
    path = tmp_path / "reviews.sqlite3"
    path.write_bytes(b"something else entirely " * 500)
    with pytest.raises(StoreError, match="not a database") as caught:
        open_at(f"sqlite:///{path}")
    assert caught.value.trouble == "damaged"
    assert path.read_bytes() == b"something else entirely " * 500


def test_the_address_comes_from_the_environment(home, monkeypatch):
    assert store_url() == sa.URL.create("sqlite", database=str(home / "reviews.sqlite3"))
    for scheme in ("postgres", "postgresql", "postgresql+psycopg2"):
        monkeypatch.setenv("PLURALITY_DATABASE_URL", f"{scheme}://me:secret@host/name")
        assert store_url().render_as_string(hide_password=False) == "postgresql+psycopg://me:secret@host/name"
    assert "secret" not in repr(current_settings())


@pytest.mark.parametrize(
    "text", ["mysql://host/name", "sqlite://", "sqlite:///:memory:", "not an address", "http://:x"]
)
def test_an_address_of_something_else_is_refused_without_repeating_it(text):
    with pytest.raises(InputError, match="PLURALITY_DATABASE_URL"):
        parse_url(text)


def test_a_home_folder_with_signs_of_an_address_in_its_name_works(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path / "a?b#c %20" / "home"))
    try:
        open_store().record(SKIP, seen=0, token="t")
        assert os.listdir(tmp_path) == ["a?b#c %20"]
    finally:
        close_stores()


def test_forgetting_a_kept_dataset_erases_its_reviews_first(dataset, monkeypatch):
    draft = Draft(dataset=dataset.digest, case_id="case 0", kind="skip", reviewer="Ann")
    library.keep(dataset)
    try:
        open_store().record(draft, seen=0, token="t")
        with monkeypatch.context() as patched:
            patched.setattr("core.review.store.ReviewStore.forget", _fails)
            with pytest.raises(StoreError):
                library.forget(dataset.digest)
        assert library.reopen(dataset.digest).digest == dataset.digest
        library.forget(dataset.digest)
        assert open_store().count(dataset.digest) == 0
        assert library.kept() == []
    finally:
        close_stores()


def _fails(store, digest):
    raise StoreError("locked", "held")


def test_many_may_open_a_new_database_at_once(url, open_at):
    """Each makes its own connections; one makes the tables and the others wait for it."""
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(open_at, [url] * 8))
    for number, store in enumerate(stores):
        store.record(SKIP, seen=number, token=str(number))
    assert stores[0].count(DATASET) == 8
