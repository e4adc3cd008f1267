"""A sign-in lasts a working day, ends when nobody uses it, and can be seen and ended by administrators."""

import os
import time

import pytest

from core import sign_ins
from core.access_record import recorded_access
from core.people import SignedOutError, note_use, person_of
from core.settings import current_settings
from tests.pages.test_sign_in import claims

NOW = time.time()


@pytest.fixture(autouse=True)
def working_day(monkeypatch):
    monkeypatch.setenv("PLURALITY_SESSION_HOURS", "10")
    monkeypatch.setenv("PLURALITY_IDLE_MINUTES", "60")


def used(user, minutes_ago):
    note_use(user, person_of(user))
    when = time.time() - 60 * minutes_ago
    os.utime(current_settings().home / "signed_in" / sign_ins.which_of(user), (when, when))


def test_it_lasts_ten_hours_although_the_providers_token_ends_after_minutes():
    user = claims(iat=NOW - 9.9 * 3600, exp=NOW - 9 * 3600)
    os.environ.pop("PLURALITY_IDLE_MINUTES")
    assert person_of(user, NOW).until == pytest.approx(NOW + 360)
    with pytest.raises(SignedOutError, match="has ended"):
        person_of(user, NOW + 361)


def test_it_ends_when_nobody_used_it_for_the_limit_and_use_prolongs_it():
    user = claims(iat=NOW - 3 * 3600)
    used_at_once = claims(iat=time.time() - 30 * 60)
    assert person_of(used_at_once)
    with pytest.raises(SignedOutError, match="you were inactive"):
        person_of(user)
    user = claims(iat=NOW - 60)
    used(user, 59)
    assert person_of(user)
    used(user, 61)
    with pytest.raises(SignedOutError, match="you were inactive"):
        person_of(user)


def test_the_first_use_is_in_the_record_of_access_once():
    user = claims()
    for _ in range(3):
        note_use(user, person_of(user))
    (line,) = recorded_access()
    assert (line.who, line.what, line.details) == ("ann@clinic.example", "sign in", ("reviewer",))


def test_open_sign_ins_are_listed_and_one_that_is_ended_lets_nobody_in():
    ann, bo = claims(), claims("bo@clinic.example")
    used(ann, 5)
    used(bo, 1)
    assert [one.name for one in sign_ins.open_sign_ins()] == ["bo@clinic.example", "ann@clinic.example"]
    sign_ins.end(sign_ins.open_sign_ins()[0].which)
    assert [one.name for one in sign_ins.open_sign_ins()] == ["ann@clinic.example"]
    with pytest.raises(SignedOutError):
        person_of(bo)
    assert person_of(ann)
    used(ann, 61)
    assert sign_ins.open_sign_ins() == []


def test_a_person_who_is_erased_is_signed_out():
    user = claims()
    note_use(user, person_of(user))
    sign_ins.forget_person("ann@clinic.example")
    with pytest.raises(SignedOutError):
        person_of(user)
    used(claims(nonce="over"), 10_000)
    sign_ins.forget_person("ann@clinic.example")
    home = current_settings().home
    assert "ann@clinic.example" not in "".join(path.read_text() for path in (home / "signed_in").glob("*"))
