"""A head that is signed by a key elsewhere finds a record that its owner cut or made anew."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from core.command_line import main
from core.errors import InputError
from core.review.review_errors import StoreError
from core.review.signed_heads import make_key, sign_heads, signed_heads
from core.review.store import close_stores, open_store
from core.settings import current_settings
from tests.core.review.test_chain import DATASET, OTHER, add, without_guards


@pytest.fixture
def key(tmp_path):
    make_key(tmp_path / "head.key")
    return tmp_path / "head.key"


@pytest.fixture
def public(key):
    return key.with_name("head.key.pub")


@pytest.fixture
def recorded():
    for number in range(3):
        add(open_store(), number)
    add(open_store(), 0, OTHER)
    yield open_store()
    close_stores()


def faults(store, public):
    signed, wrong = signed_heads(public)
    return [fault.what for fault in (*wrong, *store.check(signed=signed).faults)]


def test_the_private_key_is_its_owners_alone_and_never_replaced(key):
    assert key.stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="Could not write"):
        make_key(key)


def test_a_record_that_goes_on_holds_what_was_signed(recorded, key, public):
    sign_heads(key, recorded.heads())
    add(recorded, 3)
    recorded.erase_person("Ann", "ada")
    recorded.forget(OTHER)
    sign_heads(key, recorded.heads())
    assert faults(recorded, public) == []
    assert len((current_settings().home / "signed_heads.jsonl").read_text().splitlines()) == 2


def test_a_cut_end_is_found(recorded, key, public):
    sign_heads(key, recorded.heads())
    without_guards(recorded, f"DELETE FROM review_event WHERE number = 3 AND dataset = '{DATASET}'")
    assert recorded.check().ok, "which nothing within the database shows"
    assert faults(recorded, public)[0].startswith("event 3, signed on ")


def test_a_chain_that_was_made_anew_is_found(recorded, key, public):
    sign_heads(key, recorded.heads())
    without_guards(recorded, f"DELETE FROM review_event WHERE dataset = '{DATASET}'")
    for number in range(4):
        add(recorded, number, note="as if")
    assert recorded.check().ok
    assert any("event 3, signed on " in what for what in faults(recorded, public))


@pytest.mark.parametrize("change", ["head", "time", "cut", "other key"])
def test_a_line_that_the_key_has_not_signed_is_named(recorded, key, public, tmp_path, change):
    sign_heads(key, recorded.heads())
    path = current_settings().home / "signed_heads.jsonl"
    told = json.loads(path.read_text())
    if change == "head":
        told["heads"][DATASET][1] = "f" * 64
    if change == "time":
        told["at"] = "2030-01-01T00:00:00Z"
    path.write_text(json.dumps(told)[: -9 if change == "cut" else None] + "\n")
    if change == "other key":
        make_key(tmp_path / "other")
        public = tmp_path / "other.pub"
    assert "line 1 of signed_heads.jsonl was not signed with the key" in faults(recorded, public)[0]


def test_it_is_named_when_no_head_was_signed_for_two_days(recorded, key, public):
    assert "the record has not been signed in the last 48 hours (last signature: none)" in faults(recorded, public)[0]
    now = datetime.now(UTC)
    sign_heads(key, recorded.heads(), now - timedelta(hours=49))
    assert "the record has not been signed in the last 48 hours (last signature: 20" in faults(recorded, public)[0]
    sign_heads(key, recorded.heads(), now - timedelta(hours=47))
    assert faults(recorded, public) == []


def test_the_commands_sign_and_verify(recorded, key, public, tmp_path, monkeypatch, capsys):
    new = tmp_path / "new.key"
    assert main(["sign", "--key", str(new), "--new"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["heads"][DATASET] == {"number": 3, "hash": recorded.head(DATASET).hash}
    monkeypatch.setenv("PLURALITY_HEAD_KEY", f"{new}.pub")
    assert main(["verify"]) == 0
    assert json.loads(capsys.readouterr().out)["signed"] == {"n": 1, "last": told["at"]}
    without_guards(recorded, f"DELETE FROM review_event WHERE number = 3 AND dataset = '{DATASET}'")
    assert main(["verify"]) == 1
    assert "event 3, signed on " in capsys.readouterr().out
    monkeypatch.setenv("PLURALITY_HEAD_KEY", str(key))
    assert main(["verify"]) == 2 and "Could not read" in capsys.readouterr().err
    assert main(["sign", "--key", str(public)]) == 2


def test_a_damaged_database_is_not_signed(tmp_path, key, monkeypatch):
    home = current_settings().home
    home.mkdir(parents=True, exist_ok=True)
    (home / "reviews.sqlite3").write_bytes(b"something else entirely " * 500)
    with pytest.raises(StoreError):
        open_store().heads()
