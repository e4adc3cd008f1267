"""Who signed in, as what, and until when."""

import pytest

from core.people import Person, SignedOutError, listed_groups, person_of, sign_out

NOW = 1_000_000.0
CLAIMS = {"is_logged_in": True, "iss": "i", "sub": "s", "iat": NOW - 60, "exp": NOW + 60, "email": "Ann@Clinic.example"}


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Writes the administrator's list."""
    path = tmp_path / "people.toml"
    monkeypatch.setenv("PLURALITY_PEOPLE", str(path))
    return lambda text: path.write_text(text)


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
        {"email": None},
        {"email": ""},
        {"email": ["a"]},
        {"email": "a\nb"},
        {"email": " ann"},
        {"email_verified": False},
    ],
)
def test_claims_that_say_too_little_let_nobody_in(claims):
    refused(".", **claims)


def test_signing_out_ends_it_in_every_tab_and_process_and_the_next_sign_in_holds():
    sign_out(CLAIMS)
    refused("signed out")
    assert person_of({**CLAIMS, "iat": NOW - 30}, NOW)
    assert person_of({**CLAIMS, "sub": "other"}, NOW)


def test_the_administrators_list_gives_roles_and_ends_people_at_once(people):
    people('[people]\n"ANN@clinic.example" = "administrator"\n')
    assert person_of(CLAIMS, NOW).role == "administrator"
    assert person_of({**CLAIMS, "email": "bob@clinic.example"}, NOW).role == "reviewer"
    people('[people]\n"ann@clinic.example" = "ended"\n')
    refused("does not let you in")
    people('everybody_else = "nobody"\n[people]\n"bob@clinic.example" = "manager"\n')
    refused("does not let you in")
    assert person_of({**CLAIMS, "email": "bob@clinic.example"}, NOW).role == "manager"


@pytest.mark.parametrize(
    "text",
    [
        '[groups]\n"a" = "ann"',
        "groups = 3",
        "not toml",
        "people = 3",
        '[people]\n"a" = "emperor"',
        'everybody_else = "x"',
    ],
)
def test_a_list_that_cannot_be_read_lets_nobody_in(people, text):
    people(text)
    refused("Tell the administrator")


def test_a_list_that_is_not_there_lets_nobody_in(monkeypatch, tmp_path):
    monkeypatch.setenv("PLURALITY_PEOPLE", str(tmp_path / "none.toml"))
    refused("Tell the administrator")


def test_a_claim_gives_the_role_where_the_list_does_not(people, monkeypatch):
    monkeypatch.setenv("PLURALITY_ROLE_CLAIM", "groups")
    people("[people]\n")
    assert person_of({**CLAIMS, "groups": ["x", "plurality-manager"]}, NOW).role == "manager"
    assert person_of({**CLAIMS, "groups": "administrator"}, NOW).role == "administrator"
    assert person_of({**CLAIMS, "groups": ["administrators"]}, NOW).role == "reviewer"
    people('[people]\n"ann@clinic.example" = "reviewer"\n')
    assert person_of({**CLAIMS, "groups": ["administrator"]}, NOW).role == "reviewer"


def test_a_role_may_what_those_below_it_may():
    manager = Person("m", "manager", NOW)
    assert [manager.may_act_as(role) for role in ("reviewer", "manager", "administrator")] == [True, True, False]


def test_groups_are_those_of_the_list_and_of_the_claim(people, monkeypatch):
    people('[groups]\n"Night  Shift" = ["ANN@clinic.example", "bob@clinic.example"]\n"empty" = []\n')
    assert person_of({**CLAIMS, "teams": ["Day"]}, NOW).groups == {"night shift"}
    monkeypatch.setenv("PLURALITY_GROUP_CLAIM", "teams")
    assert person_of({**CLAIMS, "teams": ["Day", 3, " "]}, NOW).groups == {"night shift", "day"}
    assert person_of({**CLAIMS, "teams": "Day", "email": "cem@clinic.example"}, NOW).groups == {"day"}
    assert listed_groups() == {"night shift": ("ann@clinic.example", "bob@clinic.example"), "empty": ()}
