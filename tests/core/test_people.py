"""Who signed in, as what, and until when."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, local

import pytest

from core import accounts
from core.accounts import bound_accounts, free
from core.command_line import main
from core.errors import InputError
from core.people import Person, SignedOutError, listed_groups, person_of, sign_out
from core.people_list import read_people

NOW = 1_000_000.0
EMAIL = {"email": "Ann@Clinic.example", "email_verified": True}
CLAIMS = {"is_logged_in": True, "iss": "i", "sub": "s", "iat": NOW - 60, "exp": NOW + 60, **EMAIL}
BOB = {**CLAIMS, "email": "bob@clinic.example", "sub": "b"}


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Writes the administrator's list."""
    path = tmp_path / "people.toml"
    monkeypatch.setenv("PLURALITY_PEOPLE", str(path))
    return lambda text: path.write_text(text, encoding="utf-8")


def refused(words, now=NOW, **claims):
    with pytest.raises(SignedOutError, match=words):
        person_of({**CLAIMS, **claims}, now)


def test_a_person_has_the_name_of_the_claim_and_is_a_reviewer_where_nothing_is_said():
    assert person_of(CLAIMS, NOW) == Person("ann@clinic.example", "reviewer", NOW + 60)


def test_a_session_ends_with_the_token_or_after_the_set_length(monkeypatch):
    refused("has ended", NOW + 60)
    refused("has ended", NOW + 1e9)
    monkeypatch.setenv("PLURALITY_SESSION_HOURS", "2")
    assert person_of(CLAIMS, NOW + 7139).until == NOW - 60 + 7200
    refused("has ended", NOW + 7140)


@pytest.mark.parametrize(
    "claims",
    [
        {"is_logged_in": False},
        {"exp": None},
        {"iat": "1"},
        {"exp": True},
        {"exp": float("inf")},
        {"iat": float("nan")},
        {"iat": NOW + 301},
        {"email": None},
        {"email": ""},
        {"email": ["a"]},
        {"email": "a\nb"},
        {"email": " ann"},
        {"email": "a" * 201},
        {"email": "ann smith@clinic.example"},
        {"iss": None},
        {"sub": ""},
        {"sub": 7},
    ],
)
def test_claims_that_say_too_little_let_nobody_in(claims):
    refused(".", **claims)


def test_signing_out_ends_it_in_every_tab_and_process_and_the_next_sign_in_holds():
    sign_out(CLAIMS)
    refused("signed out")
    assert person_of({**CLAIMS, "iat": NOW - 30}, NOW)
    assert person_of(BOB, NOW)


@pytest.mark.parametrize("verified", [True, "true"])
def test_person_of_takes_an_address_that_the_provider_has_verified(verified):
    assert person_of({**CLAIMS, "email_verified": verified}, NOW).name == "ann@clinic.example"


@pytest.mark.parametrize("verified", [False, "false", "False", "TRUE", "yes", "", None, 0, 1, [True], {}])
@pytest.mark.parametrize("trusted", ["0", "1"])
def test_person_of_refuses_an_address_whose_claim_is_not_true_whatever_is_trusted(verified, trusted, monkeypatch):
    monkeypatch.setenv("PLURALITY_EMAIL_TRUSTED", trusted)
    refused("has not verified", email_verified=verified)


def test_person_of_refuses_an_address_without_the_claim_and_names_the_setting_that_lets_it_in(monkeypatch):
    silent = {name: value for name, value in CLAIMS.items() if name != "email_verified"}
    with pytest.raises(SignedOutError, match="set PLURALITY_EMAIL_TRUSTED=1"):
        person_of(silent, NOW)
    monkeypatch.setenv("PLURALITY_EMAIL_TRUSTED", "1")
    assert person_of(silent, NOW).name == "ann@clinic.example"


def test_a_name_of_another_claim_needs_no_verified_address(monkeypatch):
    monkeypatch.setenv("PLURALITY_NAME_CLAIM", "name")
    assert person_of({**CLAIMS, "email_verified": False, "name": "Ann Smith"}, NOW).name == "ann smith"


def test_a_name_belongs_to_the_first_account_that_signs_in_under_it():
    assert person_of(CLAIMS, NOW) and person_of({**CLAIMS, "email": "ANN@clinic.example"}, NOW)
    refused("belongs to another account", sub="another")
    refused("belongs to another account", iss="https://another.example")
    assert [(one.name, one.issuer, one.subject) for one in bound_accounts()] == [("ann@clinic.example", "i", "s")]


def test_a_name_that_is_not_let_in_is_not_bound(people):
    people('everybody_else = "nobody"\n')
    refused("has not given you access")
    refused("has ended", NOW + 60)
    assert bound_accounts() == []


def test_a_name_that_was_freed_belongs_to_the_next_sign_in_and_not_to_a_session_from_before(monkeypatch):
    person_of(CLAIMS, NOW)
    monkeypatch.setattr("core.accounts.time.time", lambda: NOW)
    free("ann@clinic.example")
    assert [one.is_free for one in bound_accounts()] == [True]
    refused("belongs to another account")
    moved = {"iss": "https://new.example", "sub": "1", "iat": NOW + 1}
    refused("belongs to another account", iss="https://new.example")
    assert person_of({**CLAIMS, **moved}, NOW + 2).name == "ann@clinic.example"
    refused("belongs to another account", iat=NOW + 3)


def test_two_first_sign_ins_at_once_give_the_name_to_one(monkeypatch):
    """Both find nobody there; the second one looks again once it is alone."""
    real, waiting = accounts._read, Barrier(2)
    first = local()

    def slow(path):
        found = real(path)
        if not getattr(first, "done", False):
            first.done = True
            waiting.wait(10)
        return found

    monkeypatch.setattr(accounts, "_read", slow)
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda sub: accounts.bind("x@y.example", "i", sub, NOW), "ab"))
    assert sorted(found) == [False, True]


def test_an_account_that_cannot_be_looked_up_lets_nobody_in(home):
    person_of(CLAIMS, NOW)
    (path,) = (home / "accounts").iterdir()
    path.write_text("{}")
    refused("Could not check which account uses your name. Contact the administrator")


def test_the_command_frees_a_name_and_says_who_may_do_what(people, capsys):
    people(
        'everybody_else = "nobody"\n[people]\n"Ann@clinic.example" = "manager"\n"old@clinic.example" = "ended"\n'
        '[groups]\n"night" = ["ann@clinic.example", "eve@clinic.example"]\n'
    )
    person_of(CLAIMS, NOW)
    assert main(["people"]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in told["people"]}
    assert {name: (row["role"], row["groups"], row["subject"]) for name, row in rows.items()} == {
        "ann@clinic.example": ("manager", ["night"], "s"),
        "eve@clinic.example": ("nobody", ["night"], None),
        "old@clinic.example": ("ended", [], None),
    }
    assert "share" in rows["ann@clinic.example"]["may"] and rows["old@clinic.example"]["may"] == "nothing"
    assert told["everybody_else"]["role"] == "nobody" and "PLURALITY_EMAIL_TRUSTED=1" in told["email_verified"]
    assert main(["people", "rebind", "ANN@clinic.example"]) == 0
    assert [one.is_free for one in bound_accounts()] == [True]
    capsys.readouterr()
    assert main(["people", "rebind", "nobody@clinic.example"]) == 2
    assert main(["people", "rebind"]) == 2
    people('everybody = "nobody"\n')
    assert main(["people"]) == 2
    assert "Line 1" in capsys.readouterr().err


def test_the_administrators_list_gives_roles_and_ends_people_at_once(people):
    people('everybody_else = "reviewer"\n[people]\n"ANN@clinic.example" = "administrator"\n')
    assert person_of(CLAIMS, NOW).role == "administrator"
    assert person_of(BOB, NOW).role == "reviewer"
    people('everybody_else = "reviewer"\n[people]\n"ann@clinic.example" = "ended"\n')
    refused("has not given you access")
    people('everybody_else = "nobody"\n[people]\n"bob@clinic.example" = "manager"\n')
    refused("has not given you access")
    assert person_of(BOB, NOW).role == "manager"


GOOD = 'everybody_else = "nobody"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('everbody_else = "nobody"\n', 1, "'everbody_else' is unknown"),
        (f'{GOOD}[peeple]\n"a" = "reviewer"', 2, "'peeple' is unknown"),
        ('# of ours\n[people]\n"a" = "reviewer"\neverybody_else = "nobody"', 4, "put it above the first table"),
        ('[groups]\n"a" = []\neverybody_else = "nobody"', 3, "put it above the first table"),
        ("[people]\n", None, "everybody_else is missing"),
        ("", None, "everybody_else is missing"),
        ('everybody_else = "x"', 1, "everybody_else must be .*, not 'x'"),
        ('everybody_else = ["nobody"]', 1, "everybody_else must be"),
        ('everybody_else = "ended"', 1, "everybody_else must be .*, not 'ended'"),
        ('everybody_else = "claim"', 1, "PLURALITY_ROLE_CLAIM is not set"),
        (f'{GOOD}[people]\n"a" = "emperor"', 3, "the role of 'a' must be .*, not 'emperor'"),
        (f'{GOOD}[people.a]\nb = "manager"', 2, "the role"),
        (f'{GOOD}[people]\n"a" = "manager"\n" b" = "manager"', 4, "the name ' b' has a space"),
        (f'{GOOD}[people]\n"b c@d" = "manager"', 3, "the name 'b c@d' has a space"),
        (f'{GOOD}[people]\n"" = "manager"', 3, "is empty"),
        (f'{GOOD}[people]\n"{"a" * 201}" = "manager"', 3, "is longer than"),
        (f'{GOOD}[people]\n"\u212aim@x" = "manager"', 3, "looks like another letter"),
        (f'{GOOD}[people]\n"a" = "manager"\n"b" = "ended"\n"A" = "ended"', 5, "'A' is repeated"),
        (f'{GOOD}[people]\n"a" = "manager"\n"a" = "ended"', 4, "a name or a table appears more than once"),
        (f'{GOOD}[people]\n"a" = "manager"\n[people]\n', 4, "a name or a table appears more than once"),
        (f'{GOOD}[people]\n"boss@x" = "manager"\n"bo\u017fs@x" = "ended"', 4, "look alike"),
        (f'{GOOD}[people]\n"boss@x" = "manager"\n[groups]\n"g" = ["bo\u017fs@x"]', 5, "look alike"),
        (f'{GOOD}[groups]\n"a" = "ann"', 3, "not a list of names"),
        (f'{GOOD}[groups]\n"a" = ["x", 3]', 3, "not a list of names"),
        (f'{GOOD}[groups]\n"a" = [\n  "x",\n  "y z",\n]', 5, "the name 'y z' has a space"),
        (f'{GOOD}[groups]\n"a" = ["x", "x"]', 3, "'x' is repeated"),
        (f'{GOOD}[groups]\n"a" = ["x", "X"]', 3, "'X' is repeated"),
        (f'{GOOD}[groups]\n"a" = []\n"A" = []', 4, "differ only in case or spacing"),
        (f'{GOOD}[groups]\n" " = []', 3, "no name"),
        (f"{GOOD}groups = 3", 2, "groups is not a table"),
        (f'{GOOD}people = ["a"]', 2, "people is not a table"),
        ("not toml", 1, "Expected"),
        (f"{GOOD}[people", 2, "Expected"),
    ],
)
def test_a_list_that_cannot_be_read_lets_nobody_in_and_names_the_line(people, text, line, words):
    """To who signs in the line alone, which holds no name; the command says what is wrong on it."""
    people(text)
    refused(r"Could not read the list of people" + (rf" \(line {line}\)" if line else ", so"))
    with pytest.raises(InputError, match=words) as caught:
        read_people()
    assert caught.value.line == line


def test_a_list_that_is_not_there_or_no_text_lets_nobody_in(monkeypatch, tmp_path):
    monkeypatch.setenv("PLURALITY_PEOPLE", str(tmp_path / "none.toml"))
    refused("Contact the administrator")
    (tmp_path / "none.toml").write_bytes(b"\xff")
    refused("Contact the administrator")


def test_a_name_that_looks_like_one_of_the_list_is_refused_and_never_becomes_it(people):
    people('everybody_else = "administrator"\n[people]\n"boss@clinic.example" = "administrator"\n')
    assert person_of({**BOB, "email": "Boss@Clinic.example"}, NOW).name == "boss@clinic.example"
    for email in ("bo\u017fs@clinic.example", "bos\uff53@clinic.example"):
        refused("looks like another", email=email)
    people('everybody_else = "reviewer"\n[groups]\n"g" = ["stra\u00dfe@clinic.example"]\n')
    refused("looks like another", email="strasse@clinic.example")
    assert person_of({**CLAIMS, "email": "Stra\u00dfe@clinic.example"}, NOW).groups == {"g"}


def test_names_are_folded_no_further_than_their_case_and_form_and_are_never_cut():
    """Without a list, too: two addresses that differ are two people."""
    names = ["boss@x.example", "bo\u017fs@x.example", "stra\u00dfe@x.example", "strasse@x.example"]
    names += ["a" * 199 + "b", "a" * 199 + "c"]
    assert [person_of({**CLAIMS, "email": name, "sub": name}, NOW).name for name in names] == names
    decomposed, composed = "Zoe\u0308@x.example", "zo\u00eb@x.example"
    assert person_of({**CLAIMS, "email": decomposed}, NOW).name == composed
    refused("the provider sent no valid name", email="a" * 200 + "bc")
    refused("the provider sent no valid name", email="\u212aim@x.example")
    refused("the provider sent no valid name", email="\u0430nn@x.example")  # a Cyrillic letter among Latin ones
    assert person_of({**CLAIMS, "email": "\u0438\u0432\u0430\u043d@x.example", "sub": "ivan"}, NOW)


def test_a_claim_gives_the_role_where_the_list_leaves_it_to_the_claim(people, monkeypatch):
    monkeypatch.setenv("PLURALITY_ROLE_CLAIM", "groups")
    people('everybody_else = "claim"\n[people]\n')
    assert person_of({**CLAIMS, "groups": ["x", "plurality-manager"]}, NOW).role == "manager"
    assert person_of({**CLAIMS, "groups": "administrator"}, NOW).role == "administrator"
    assert person_of({**CLAIMS, "groups": ["administrators"]}, NOW).role == "reviewer"
    people('everybody_else = "claim"\n[people]\n"ann@clinic.example" = "reviewer"\n')
    assert person_of({**CLAIMS, "groups": ["administrator"]}, NOW).role == "reviewer"
    people('everybody_else = "nobody"\n')
    refused("has not given you access", groups=["administrator"])


def test_a_role_may_what_those_below_it_may():
    manager = Person("m", "manager", NOW)
    assert [manager.may_act_as(role) for role in ("reviewer", "manager", "administrator")] == [True, True, False]


def test_groups_are_those_of_the_list_and_of_the_claim(people, monkeypatch):
    people(
        'everybody_else = "reviewer"\n[groups]\n'
        '"Night  Shift" = ["ANN@clinic.example", "bob@clinic.example"]\n"empty" = []\n'
    )
    assert person_of({**CLAIMS, "teams": ["Day"]}, NOW).groups == {"night shift"}
    monkeypatch.setenv("PLURALITY_GROUP_CLAIM", "teams")
    assert person_of({**CLAIMS, "teams": ["Day", 3, " "]}, NOW).groups == {"night shift", "day"}
    assert person_of({**BOB, "teams": "Day", "email": "cem@clinic.example"}, NOW).groups == {"day"}
    assert listed_groups() == {"night shift": ("ann@clinic.example", "bob@clinic.example"), "empty": ()}
