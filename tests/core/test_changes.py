"""The record of changes is only ever added to, save for erasure."""

from core import accounts, changes, erasure
from core.changes import PSEUDONYM, erase_details, record_change, recorded_changes
from core.people import person_of


def lines(home):
    return (home / "changes.jsonl").read_bytes().splitlines()


def test_each_change_is_one_more_line_and_those_before_stay(home):
    record_change("ann", "d1", "share", ["bob", "cem\nx"])
    first = lines(home)
    record_change("bob", "d2", "keep")
    assert lines(home)[:1] == first and len(lines(home)) == 2
    assert [(one.who, one.dataset, one.what, one.details) for one in recorded_changes()] == [
        ("ann", "d1", "share", ("bob", "cem\nx")), ("bob", "d2", "keep", ())
    ]  # fmt: skip
    assert [one.who for one in recorded_changes("d2")] == ["bob"]
    assert recorded_changes()[0].at <= recorded_changes()[1].at


def test_a_line_that_was_cut_off_hides_no_other(home):
    record_change("ann", "d1", "keep")
    with (home / "changes.jsonl").open("ab") as file:
        file.write(b'{"at": 1')
    record_change("bob", "d1", "rename", ["x"])
    assert [one.who for one in recorded_changes()] == ["ann", "bob"] and len(lines(home)) == 3


def test_a_person_is_erased_from_the_record_and_their_account_with_them(home):
    record_change("ann@x.example", "d1", "share", ["bob@x.example", "annex"])
    record_change("bob@x.example", "d1", "rename", ["of ann@x.example"])
    accounts.bind("ann@x.example", "i", "s", 1.0)
    assert erasure.erase_person("ann@x.example")
    assert [(one.who, one.details) for one in recorded_changes()] == [
        (PSEUDONYM, ("bob@x.example", "annex")), ("bob@x.example", ("of ann@x.example",))
    ]  # fmt: skip
    assert accounts.bound_accounts() == []
    assert changes.erase_person("nobody") == 0


def test_of_data_that_are_deleted_the_details_go_and_of_others_they_stay(home):
    record_change("ann", "d1", "share", ["bob"])
    record_change("ann", "d2", "share", ["bob"])
    erase_details("d1")
    assert [one.details for one in recorded_changes()] == [(), ("bob",)]


def test_an_erased_person_who_signs_in_again_begins_anew(home):
    claims = {
        "is_logged_in": True,
        "iss": "i",
        "sub": "1",
        "iat": 10,
        "exp": 99,
        "email": "a@x",
        "email_verified": True,
    }
    person_of(claims, 20)
    erasure.erase_person("a@x")
    assert person_of({**claims, "sub": "2"}, 20).name == "a@x"
