"""A backup taken while the server runs holds all that is kept, and only a whole one is put back, where nothing is."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from core import belongings, library
from core.annotations.dataset import Dataset
from core.backup import back_up, expire_backups, restore
from core.command_line import main
from core.errors import InputError
from core.ingest.samples import load_sample
from core.review.assignments import Assignment
from core.review.database import parse_url, transaction
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.review_errors import StoreError
from core.review.sessions import Queued
from core.review.store import close_stores, head_of_reviews, n_reviews, open_store
from core.runtime.files import running_folder
from tests.core.review import conftest

server = conftest.server


@pytest.fixture
def dataset():
    return Dataset.from_classes("small", ["1", "2"], ["ann", "bob"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])


def add(dataset, number):
    draft = Draft(
        dataset=dataset.digest, case_id=f"{number}", kind="opinion", reviewer="Ann", opinion=Opinion.of_class("x")
    )
    return open_store().record(draft, seen=0, token=str(number))


@pytest.fixture
def kept(dataset):
    """A dataset with predictions and three events, whose database is open and has its last pages in its log."""
    library.keep(dataset)
    belongings.add_predictions(dataset.digest, "model", b"case,class\n1,x\n")
    for number in range(3):
        add(dataset, number)
    yield dataset
    close_stores()


def run(capsys, *arguments):
    status = main(list(arguments))
    out = capsys.readouterr()
    return status, json.loads(out.out) if out.out else out.err


def elsewhere(monkeypatch, tmp_path):
    close_stores()
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path / "elsewhere"))


def test_a_backup_of_a_running_server_is_put_back_whole(kept, home, tmp_path, monkeypatch, capsys):
    head = head_of_reviews(kept.digest)
    running_folder().mkdir(parents=True)
    (running_folder() / "of this run").write_text("x")
    copied = tmp_path / "copied.sqlite3"
    shutil.copy(home / "reviews.sqlite3", copied)
    try:
        n_copied = sqlite3.connect(copied).execute("SELECT count(*) FROM review_event").fetchone()[0]
    except sqlite3.Error:
        n_copied = 0
    assert n_copied < 3, "the log was written back, and this test shows nothing"
    status, told = run(capsys, "backup", str(tmp_path / "all.backup"))
    assert (status, told["n_events"], told["datasets"]) == (0, 3, [kept.digest])
    assert (tmp_path / "all.backup").stat().st_mode & 0o077 == 0
    elsewhere(monkeypatch, tmp_path)
    status, told = run(capsys, "restore", str(tmp_path / "all.backup"))
    assert (status, told["ok"], told["heads"]) == (0, True, {kept.digest: head.hash})
    assert library.reopen(kept.digest).digest == kept.digest
    assert belongings.predictions_of(kept.digest) == {"model": b"case,class\n1,x\n"}
    assert add(kept, 3).number == 4
    assert not list((tmp_path / "elsewhere").rglob("of this run"))
    status, told = run(capsys, "verify", "--head", head.hash)
    assert (status, told["ok"], told["n_events"], told["problems"]) == (0, True, 4, [])


@pytest.fixture
def key(tmp_path):
    """A private key of age, and its public one."""
    if shutil.which("age") is None:
        pytest.skip("age” is not installed")
    made = subprocess.run(["age-keygen", "-o", tmp_path / "key.txt"], capture_output=True, text=True, check=True)
    return tmp_path / "key.txt", made.stderr.split()[-1]


def test_encrypted_backup_is_read_with_its_private_key_alone(kept, tmp_path, monkeypatch, capsys, key):
    private, public = key
    folder = tmp_path / "backups"
    folder.mkdir()
    status, told = run(capsys, "backup", "--folder", str(folder), "--encrypt-to", public)
    (out,) = folder.iterdir()
    assert status == 0 and out.name.endswith(".backup.age") and out.stat().st_mode & 0o077 == 0
    assert not zipfile.is_zipfile(out) and b"backup.json" not in out.read_bytes()
    elsewhere(monkeypatch, tmp_path)
    status, said = run(capsys, "restore", str(out))
    assert status == 2 and "is encrypted. Provide its private key: --identity" in said
    other = tmp_path / "other.txt"
    subprocess.run(["age-keygen", "-o", other], capture_output=True, check=True)
    status, said = run(capsys, "restore", str(out), "--identity", str(other))
    assert status == 2 and "Could not decrypt" in said and not (tmp_path / "elsewhere").exists()
    status, told = run(capsys, "restore", str(out), "--identity", str(private))
    assert (status, told["ok"], told["datasets"]) == (0, True, [kept.digest])
    assert not list((tmp_path / "elsewhere").rglob("decrypted")), "nothing unencrypted is left"
    cut = tmp_path / "cut.age"
    cut.write_bytes(out.read_bytes()[:-100])
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path / "third"))
    assert run(capsys, "restore", str(cut), "--identity", str(private))[0] == 2


def test_old_encrypted_backups_go_as_others(tmp_path, monkeypatch):
    for name, age in (("a.backup.age", 90), ("b.backup", 80), ("c.backup.age", 1)):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (time.time() - 86_400 * age,) * 2)
    assert [path.name for path in expire_backups(tmp_path, 1, 30)] == ["b.backup", "a.backup.age"]


@pytest.mark.parametrize(
    ("path", "key", "why"), [(None, "age1none", "Could not encrypt"), ("", "age1x", "not installed")]
)
def test_nothing_is_written_where_a_backup_cannot_be_encrypted(kept, tmp_path, monkeypatch, path, key, why):
    if path is None and shutil.which("age") is None:
        pytest.skip("age” is not installed")
    if path is not None:
        monkeypatch.setenv("PATH", path)
    with pytest.raises(InputError, match=why):
        back_up(tmp_path / "all.backup", key)
    assert not list(tmp_path.glob("*all.backup*"))


def test_on_postgres_the_database_s_own_backup_is_used(server, kept, tmp_path, monkeypatch):
    close_stores()
    monkeypatch.setenv("PLURALITY_DATABASE_URL", server.new_database())
    for number in range(3):
        add(kept, number)
    head = head_of_reviews(kept.digest)
    assert back_up(tmp_path / "all.backup").record.ok
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(InputError, match="database already contains reviews"):
        restore(tmp_path / "all.backup")
    monkeypatch.setenv("PLURALITY_DATABASE_URL", server.new_database())
    found = restore(tmp_path / "all.backup").record
    assert (found.ok, found.n_events, found.heads) == (True, 3, {kept.digest: head.hash})
    with (
        pytest.raises(StoreError, match="never overwritten"),
        transaction(open_store().engine, writes=True) as connection,
    ):
        connection.execute(sa.text("DELETE FROM review_event"))


def test_a_backup_takes_the_place_of_nothing(kept, tmp_path, capsys):
    out = tmp_path / "all.backup"
    back_up(out)
    with pytest.raises(InputError, match=r"all\.backup already exists"):
        back_up(out)
    before = out.read_bytes()
    with pytest.raises(InputError, match="not empty"):
        restore(out)
    assert out.read_bytes() == before
    assert n_reviews(kept.digest) == 3
    assert run(capsys, "restore", str(tmp_path / "other"))[0] == 2


def test_old_backups_go_only_if_they_are_many_and_old_and_the_new_one_is_whole(kept, tmp_path, capsys):
    folder, day = tmp_path / "backups", 86_400
    folder.mkdir()
    for age in range(6):
        path = folder / f"{age}.backup"
        path.touch()
        os.utime(path, (time.time() - age * 10 * day - 60, time.time() - age * 10 * day - 60))
    status, told = run(capsys, "backup", "--folder", str(folder), "--keep", "3", "--days", "25")
    assert status == 0 and sorted(told["removed"]) == ["3.backup", "4.backup", "5.backup"]
    assert len(list(folder.glob("*.backup"))) == 4
    assert expire_backups(folder, 9, 1) == []
    with sqlite3.connect(open_store().engine.url.database) as connection:
        connection.execute("DROP TRIGGER review_event_kept")
    connection.close()
    time.sleep(1.1)  # its name has the second
    status, told = run(capsys, "backup", "--folder", str(folder), "--keep", "1", "--days", "1")
    assert (status, told["ok"], told["removed"]) == (1, False, [])
    assert run(capsys, "backup")[0] == run(capsys, "backup", "x", "--folder", "y")[0] == 2


def test_people_and_settings_are_in_the_backup_and_no_secret(kept, tmp_path, monkeypatch):
    people, secret = tmp_path / "people.toml", "s3cret" * 8
    people.write_text('everybody_else = "nobody"\n', encoding="utf-8")
    monkeypatch.setenv("PLURALITY_PEOPLE", str(people))
    for name in ("PLURALITY_METRICS_TOKEN", "PLURALITY_OLD_COOKIE_SECRET"):
        monkeypatch.setenv(name, secret)
    back_up(tmp_path / "all.backup")
    elsewhere(monkeypatch, tmp_path)
    restore(tmp_path / "all.backup")
    put_back = tmp_path / "elsewhere" / "from_backup"
    assert (put_back / "people.toml").read_text() == people.read_text()
    assert json.loads((put_back / "settings.json").read_text())["PLURALITY_PEOPLE"] == str(people)
    assert secret not in (put_back / "settings.json").read_text()
    back_up(tmp_path / "again.backup")
    with zipfile.ZipFile(tmp_path / "again.backup") as archive:
        assert len(archive.namelist()) == len(set(archive.namelist()))


_SERVES = """
import sys
from core.runtime.locks import hold_home
for line in sys.stdin:
    hold_home()
    print("held", flush=True)
"""


def test_no_backup_is_put_back_under_a_running_server(kept, tmp_path, monkeypatch, capsys):
    """Also not into a folder that came in the place of the one that the server was started with."""
    out, served = tmp_path / "all.backup", tmp_path / "served"
    back_up(out)
    close_stores()
    monkeypatch.setenv("PLURALITY_HOME", str(served))
    server = subprocess.Popen([sys.executable, "-c", _SERVES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def holds():
        print("again", file=server.stdin, flush=True)
        assert server.stdout.readline() == "held\n"

    try:
        for _ in range(2):
            holds()
            assert main(["restore", str(out)]) == 2
            assert "A running server is using the folder" in capsys.readouterr().err
            assert [path.name for path in served.iterdir()] == [".serving.lock"]
            served.rename(tmp_path / f"before {len(list(tmp_path.iterdir()))}")
            served.mkdir()
    finally:
        server.communicate()
    assert main(["restore", str(out)]) == 0
    assert library.is_kept(kept.digest) and not (served / ".serving.lock").exists()


@pytest.mark.parametrize("fault", ["cut", "changed", "outside", "other", "hole"])
def test_a_damaged_backup_writes_nothing(kept, tmp_path, monkeypatch, fault):
    out, bad = tmp_path / "all.backup", tmp_path / "bad.backup"
    back_up(out)
    if fault == "cut":
        bad.write_bytes(out.read_bytes()[:-200])
    elif fault == "other":
        bad.write_bytes(b"case,class\n")
    elif fault == "hole":
        whole = out.read_bytes()
        assert zipfile.ZipFile(out).infolist()[0].compress_type == zipfile.ZIP_DEFLATED
        bad.write_bytes(whole[:64] + bytes(512) + whole[576:])
    else:
        with zipfile.ZipFile(out) as given, zipfile.ZipFile(bad, "w") as made:
            for name in given.namelist():
                content = given.read(name)
                if fault == "changed" and name.endswith("annotations.parquet"):
                    content = content[:-1] + b"?"
                if fault == "outside" and name == "backup.json":
                    told = json.loads(content)
                    told["files"]["../../escaped"] = ["0", 1]
                    content = json.dumps(told).encode()
                made.writestr(name, content)
            made.writestr("home/../../escaped", b"x")
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(InputError):
        restore(bad)
    assert not (tmp_path / "elsewhere").exists()
    assert not list(tmp_path.rglob("escaped"))


def test_reviews_that_were_lost_are_said_and_never_begun_anew(kept, home, capsys):
    close_stores()
    for path in home.glob("reviews.sqlite3*"):
        path.unlink()
    for call in (open_store, lambda: n_reviews(kept.digest), lambda: library.forget(kept.digest)):
        with pytest.raises(StoreError, match="Could not find the saved reviews") as caught:
            call()
        assert caught.value.trouble == "lost"
    assert run(capsys, "verify")[0] == 2
    assert not (home / "reviews.sqlite3").exists()
    (home / "reviews.sqlite3").touch()  # an empty file in its place is no record either
    with pytest.raises(StoreError, match="Could not find the saved reviews"):
        open_store()
    assert library.is_kept(kept.digest)
    (home / "reviews_kept_in.json").unlink()
    assert open_store().count(kept.digest) == 0


def test_verify_ends_with_1_where_the_record_is_not_whole(kept, capsys):
    assert run(capsys, "verify")[1]["ok"]
    status, told = run(capsys, "verify", "--head", "f" * 64)
    assert (status, told["ok"], told["n_events"]) == (1, False, 3)
    assert "does not contain ffff" in told["problems"][0]["what"]
    assert main(["verify", "--csv", "--head", "f" * 64]) == 1


def test_verify_of_no_record_makes_none(home, capsys):
    told = run(capsys, "verify")[1]
    assert (told["ok"], told["n_events"], told["heads"], told["problems"]) == (True, 0, {}, [])
    assert run(capsys, "verify", "--head", "f" * 64)[0] == 1
    assert not home.exists()


def reviewed(dataset, opinion, panel, other):
    """A case read blind, changed after the reveal and decided in arbitration; one assigned; one asked of another."""
    store, case = open_store(), dataset.cases[0]
    said = {"dataset": dataset.digest, "case_id": case, "reviewer": "Ann"}
    steps = [
        Draft(kind="opinion", opinion=opinion, confidence=0.3, **said),
        Draft(kind="reveal", panel=panel, model="m", settings={"reliability": 0.7}, **said),
        Draft(kind="change", opinion=other, reason="rater_error", note="Ä \u2028", **said),
        Draft(kind="second_opinion", whom="Bob", whom_visible="blind", **said),
        Draft(kind="adjudication", opinion=opinion, **said),
    ]
    for seen, step in enumerate(steps):
        store.record(step, seen=seen, token=f"{dataset.digest[:8]} {seen}")
    given = Assignment(
        dataset=dataset.digest, by="Mia", whom="Bob", title="t", cases=(Queued(dataset.cases[1], "why"),)
    )
    store.assign(given, token=f"{dataset.digest[:8]} given")


SAID = {
    "street": (Opinion.of_labels(["bus", "rain"]), Opinion.of_labels(["bus"]), Opinion.of_labels(["rain"])),
    "essays": (Opinion.of_score(2.5), Opinion.of_score(3.1, (2.75, 3.5)), Opinion.of_score(0.1 + 0.2)),
    "anaesthesia": (Opinion.of_ranking([["1", "2"], ["3"]]), Opinion.of_class("1"), Opinion.of_class("4")),
}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_reviews_of_sets_scores_and_rankings_are_verified_backed_up_and_put_back(kind, request, tmp_path, monkeypatch):
    if kind == "postgres":
        monkeypatch.setenv("PLURALITY_DATABASE_URL", request.getfixturevalue("server").new_database())
    for name, said in SAID.items():
        library.keep(load_sample(name))
        reviewed(load_sample(name), *said)
    digests = [load_sample(name).digest for name in SAID]
    store = open_store()
    before = [(store.cases(digest), store.assignments(digest), store.head(digest)) for digest in digests]
    found = store.check()
    assert (found.faults, found.n_events) == ((), 18)
    assert back_up(tmp_path / "all.backup").record.n_events == 18
    elsewhere(monkeypatch, tmp_path)
    if kind == "postgres":
        monkeypatch.setenv("PLURALITY_DATABASE_URL", request.getfixturevalue("server").new_database())
    back = restore(tmp_path / "all.backup")
    assert (back.record.faults, back.record.n_events, set(back.datasets)) == ((), 18, set(digests))
    store = open_store()
    assert [(store.cases(digest), store.assignments(digest), store.head(digest)) for digest in digests] == before
    for digest, (opinion, panel, _) in zip(digests, SAID.values(), strict=True):
        (review,) = store.cases(digest).values()
        assert (review.adjudication.opinion, review.events[1].panel) == (opinion, panel)
        assert library.reopen(digest).digest == digest
    close_stores()


def test_a_backup_is_put_back_by_a_role_that_may_write_in_the_home_folder_alone(tmp_path, monkeypatch, dataset):
    """As by a service, whose home folder lies in one of the system's."""
    above = tmp_path / "system"
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path / "before"))
    library.keep(dataset)
    back_up(tmp_path / "b.backup")
    (above / "home").mkdir(parents=True)
    monkeypatch.setenv("PLURALITY_HOME", str(above / "home"))
    made, mkdir = [], os.mkdir
    monkeypatch.setattr(os, "mkdir", lambda path, *more, **said: (made.append(Path(path)), mkdir(path, *more, **said)))
    restore(tmp_path / "b.backup")
    assert made and [path for path in made if path.parent == above] == []
    assert library.is_kept(dataset.digest) and not list((above / "home").glob(".keeping*"))


def test_upgrade_makes_the_record_of_one_who_owns_it(home, capsys):
    assert not (home / "reviews.sqlite3").exists()
    status, told = run(capsys, "upgrade")
    assert (status, told["ok"], told["database"], told["role"]) == (0, True, "sqlite", None)
    told = run(capsys, "verify")[1]
    assert (home / "reviews.sqlite3").exists() and (told["ok"], told["n_events"]) == (True, 0)


def test_upgrade_needs_a_role_that_is_not_the_owner_s(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PLURALITY_DATABASE_OWNER_URL", f"sqlite:///{tmp_path / 'of the owner.sqlite3'}")
    monkeypatch.setenv("PLURALITY_DATABASE_URL", "postgresql:///reviews")
    assert main(["upgrade"]) == 2
    assert (
        "Could not use PLURALITY_DATABASE_URL: it does not contain a role. Set it to postgresql://role@host/name."
        in capsys.readouterr().err
    )
    assert (tmp_path / "of the owner.sqlite3").exists()


def test_upgrade_lets_the_role_record_who_does_not_own_the_tables(server, kept, capsys, monkeypatch):
    close_stores()
    owner = server.new_database()
    engine = sa.create_engine(parse_url(owner))
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "DO $$ BEGIN CREATE ROLE plurality_app LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
        connection.exec_driver_sql("GRANT USAGE ON SCHEMA public TO plurality_app")
    engine.dispose()
    monkeypatch.setenv("PLURALITY_DATABASE_OWNER_URL", owner)
    monkeypatch.setenv("PLURALITY_DATABASE_URL", owner.replace("postgres@", "plurality_app@"))
    status, told = run(capsys, "upgrade")
    assert (status, told["ok"], told["database"], told["role"]) == (0, True, "postgresql", "plurality_app")
    assert add(kept, 0).number == 1
    told = run(capsys, "verify")[1]
    assert (told["ok"], told["n_events"], told["role_owns_tables"]) == (True, 1, False)
