"""What is kept of a person can be erased: no file holds it any more, the chain stays whole, others' work stands."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from core import belongings, library
from core.annotations.dataset import Dataset
from core.command_line import main
from core.erasure import erase_person, unused
from core.errors import InputError
from core.review.assignments import Assignment
from core.review.chain import event_hash, personal_half
from core.review.database import transaction
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.schema import events
from core.review.sessions import Queued
from core.review.store import close_stores, open_store
from core.settings import current_settings
from tests.core.review import conftest

server = conftest.server
ANN, SECRET = "ann-7f3", "note-7f3"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, monkeypatch):
    if request.param == "postgres":
        monkeypatch.setenv("PLURALITY_DATABASE_URL", request.getfixturevalue("server").new_database())
    yield request.param
    close_stores()


@pytest.fixture
def kept():
    """Data that Ann owns and shares with Bob."""
    dataset = Dataset.from_classes("small", ["1", "2"], ["x1", "x2"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])
    library.keep(dataset)
    belongings.set_people(dataset.digest, owners=(ANN, "mia"), shared=("bob", ANN))
    return dataset


def worked(dataset):
    """Ann reviews, asks Bob, is asked by Mia and was given cases."""
    store, said = open_store(), {"dataset": dataset.digest, "reviewer": ANN}
    session = store.start_session(dataset.digest, ANN, "queue", [Queued("1")])
    first = Draft(case_id="1", kind="opinion", opinion=Opinion.of_class("x"), note=SECRET, seconds=9.5, **said)
    store.record(first, seen=0, token="token-7f3")
    ask = {"kind": "second_opinion", "whom_visible": "open"}
    store.record(Draft(case_id="1", whom="bob", session=session.id, **ask, **said), seen=1, token="2")
    mia = {"dataset": dataset.digest, "reviewer": "mia", "case_id": "2"}
    store.record(Draft(kind="opinion", opinion=Opinion.of_class("y"), note="of Mia", **mia), seen=0, token="3")
    store.record(Draft(whom=ANN, **ask, **mia), seen=1, token="4")
    store.assign(Assignment(dataset=dataset.digest, by="mia", whom=ANN, title="t", cases=(Queued("2"),)), token="5")
    return store


def everything(store):
    with transaction(store.engine) as connection:
        names = ("review_event", "review_session", "review_session_case", "review_erasure")
        return repr([connection.exec_driver_sql(f"SELECT * FROM {name}").all() for name in names])


def test_nothing_is_left_of_a_person_and_the_chain_is_whole(database, kept):
    store = worked(kept)
    before = store.head(kept.digest)
    done = erase_person(ANN, by="ada")
    assert (done.n_events, done.n_datasets) == ({kept.digest: 5}, 1)
    left = everything(store)
    assert [secret for secret in (ANN, SECRET, "token-7f3", "9.5") if secret in left] == []
    if database == "sqlite":
        close_stores()
        on_disk = b"".join(path.read_bytes() for path in current_settings().home.rglob("*") if path.is_file())
        assert ANN.encode() not in on_disk and SECRET.encode() not in on_disk
        store = open_store()
    found = store.check([before.hash])
    assert (found.faults, found.without_person, found.n_events) == ((), {kept.digest: 5}, 7)
    trail = store.trail(kept.digest)
    who = trail[0].reviewer
    assert who.startswith("erased person ") and trail[3].whom == who
    assert store.cases(kept.digest)["1"].state == "second_opinion", "what others were asked stands"
    assert (trail[0].opinion, trail[2].note) == (Opinion.of_class("x"), "of Mia")
    assert store.sessions(kept.digest, who)[0].cases == (Queued("1"),)
    assert (belongings.owners_of(kept.digest), belongings.shared_with(kept.digest)) == (("mia",), ("bob",))
    bob = Draft(dataset=kept.digest, reviewer="bob", case_id="1", kind="opinion", opinion=Opinion.of_class("y"))
    assert store.record(bob, seen=2, token="6").number == 8
    assert erase_person("bob").n_events == {kept.digest: 2}, "an event of two people is erased twice"
    assert store.check([before.hash]).ok
    with pytest.raises(InputError, match="Could not find a person"):
        erase_person(ANN)


def test_the_hash_that_stays_cannot_be_tried_out_with_names(database, kept):
    """The token was the only part of it that nobody can guess."""
    store = worked(kept)
    erase_person(ANN)
    with transaction(store.engine) as connection:
        row = dict(connection.execute(sa.select(events).where(events.c.number == 2)).mappings().one())
    guess = row | {"reviewer": ANN, "note": SECRET, "seconds": 9.5}
    assert personal_half(guess) != row["personal"] == personal_half(guess | {"token": "token-7f3"})
    assert event_hash(row) == row["hash"], "the content is checked for ever"


CHANGES = (
    "UPDATE review_event SET opinion = NULL WHERE number = 2",
    "UPDATE review_event SET note = 'put in' WHERE number = 2",
    "UPDATE review_event SET reviewer = 'bob' WHERE number = 2",
    "UPDATE review_event SET token = '4' WHERE number = 2",
    "UPDATE review_event SET hash = 'f' WHERE number = 2",
    "UPDATE review_event SET note = '', seconds = NULL, token = 'erased 3' WHERE number = 4",
    "DELETE FROM review_event WHERE number = 2",
)


def test_an_erasure_opens_no_way_to_change_anything_else(database, kept):
    store = worked(kept)
    erase_person(ANN)
    before = everything(store)
    verbs = [*CHANGES]
    if database == "sqlite":
        other = "(SELECT token FROM review_event WHERE number = 3)"
        verbs.append(f"UPDATE OR REPLACE review_event SET token = {other} WHERE number = 2")
    for statement in verbs:
        with pytest.raises(Exception, match="overwritten"), transaction(store.engine, writes=True) as connection:
            connection.exec_driver_sql(statement)
        assert everything(store) == before, statement
    with transaction(store.engine, writes=True) as connection:  # what the guard lets through, the chain finds
        connection.exec_driver_sql("UPDATE review_event SET reviewer = 'erased person 0' WHERE number = 2")
    (fault,) = store.check().faults
    assert "event 2 " in fault.what and "was changed" in fault.what


def test_the_command_erases_only_with_yes_and_says_how_much(kept, capsys):
    worked(kept)
    assert main(["erase", "--person", ANN]) != 0 and main(["erase"]) != 0
    capsys.readouterr()
    assert main(["erase", "--person", ANN, "--yes", "--by", "ada"]) == 0
    assert json.loads(capsys.readouterr().out)["n_events"] == {kept.digest: 5}
    assert main(["verify"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["without_person"] == {kept.digest: 5}
    (erasure,) = told["erasures"]
    assert (erasure["what"], erasure["by"], erasure["n_events"]) == ("person", "ada", 5)
    assert erasure["at"].endswith("Z") and erasure["dataset"] == kept.digest
    close_stores()


def test_data_that_nobody_used_for_so_long_are_listed_and_erased_with_their_reviews(kept, capsys):
    store = worked(kept)
    assert unused(30) == []
    later = datetime.now(UTC) + timedelta(days=31)
    assert [one.digest for one in unused(30, later)] == [kept.digest]
    old = (datetime.now(UTC) - timedelta(days=40)).timestamp()
    for path in (*current_settings().home.rglob("*"),):
        os.utime(path, (old, old))
    assert unused(30) == [], "it was reviewed since"
    store.forget(kept.digest)
    assert main(["erase", "--unused", "30"]) == 0
    assert json.loads(capsys.readouterr().out)["datasets"][0]["name"] == "small"
    assert library.is_kept(kept.digest)
    assert main(["erase", "--unused", "30", "--yes"]) == 0
    assert not library.is_kept(kept.digest) and not [*Path(current_settings().home, "belongings").glob("*")]
    close_stores()
