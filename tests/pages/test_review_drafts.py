"""What is typed in a review survives the end of the sign-in, for the same person and nobody else."""

import stat
import time

import pytest

from core import belongings, library
from core.annotations.dataset import Dataset
from core.erasure import erase_person, forget
from core.people import sign_out
from core.review.store import close_stores, open_store
from core.settings import current_settings
from tests.pages.opened import settle
from tests.pages.test_sign_in import claims, page  # noqa: F401

ANN, BOB = "ann@clinic.example", "bob@clinic.example"
NINE_HOURS_AGO = time.time() - 9 * 3600
NOTE = "margin-7f3 is blurred"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """Data of Ann and Bob, whose session ends after ten hours."""
    listed = tmp_path / "people.toml"
    listed.write_text(f'everybody_else = "nobody"\n[people]\n"{ANN}" = "manager"\n"{BOB}" = "reviewer"\n')
    monkeypatch.setenv("PLURALITY_PEOPLE", str(listed))
    monkeypatch.setenv("PLURALITY_SESSION_HOURS", "10")
    dataset = Dataset.from_classes(
        "small", ["1", "2"], ["a", "b"], ["x", "y"], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]
    )
    library.keep(dataset)
    belongings.set_people(dataset.digest, owners=(ANN,), shared=(BOB,))
    yield dataset
    close_stores()


def begun(page, data, user):  # noqa: F811
    """The page of a case of a new session of reviews."""
    app = settle(page(user, "review", data=data.digest))
    return settle(app.button(key="start_session").click().run())


def resumed(page, data, user):  # noqa: F811
    """The same case after another sign-in."""
    app = settle(page(user, "review", data=data.digest))
    return settle(next(one for one in app.button if one.key and one.key.startswith("resume-")).click().run())


def note(app):
    return next(field for field in app.text_area if field.key.startswith("note-own-"))


@pytest.fixture
def ended(monkeypatch):
    """Let the hours of a session run out, and type then."""
    yield lambda app: _ended(app, monkeypatch)


def _ended(app, monkeypatch):
    monkeypatch.setenv("PLURALITY_SESSION_HOURS", "8")
    note(app).set_value(NOTE).run()
    assert [title.value for title in app.title] == ["Plurality"] and not app.text_area
    monkeypatch.setenv("PLURALITY_SESSION_HOURS", "10")


def drafts():
    return list(current_settings().home.glob("belongings/*/drafts/*"))


def test_a_note_typed_as_the_session_ended_is_there_after_the_next_sign_in_until_it_is_recorded(page, data, ended):  # noqa: F811
    app = begun(page, data, claims(ANN, iat=NINE_HOURS_AGO))
    next(one for one in app.button if one.label == "y").click().run()
    ended(app)
    (file,) = drafts()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and ANN not in str(file) + file.read_text()
    app = resumed(page, data, claims(ANN, nonce="next"))
    assert note(app).value == NOTE
    assert any("Your opinion: **y**" in one.value for one in app.markdown)
    settle(next(one for one in app.button if one.label == "Record my opinion").click().run())
    assert [event.note for event in open_store().trail(data.digest) if event.kind == "opinion"] == [NOTE]
    assert drafts() == []


def test_a_note_is_saved_as_its_field_is_left_and_is_nobody_elses(page, data):  # noqa: F811
    note(begun(page, data, claims(ANN))).set_value(NOTE).run()
    assert len(drafts()) == 1
    assert note(begun(page, data, claims(BOB))).value == ""
    assert note(resumed(page, data, claims(ANN, nonce="next"))).value == NOTE


@pytest.mark.parametrize("erase", [lambda data: erase_person(ANN), lambda data: forget(data.digest)])
def test_a_draft_is_erased_with_its_person_and_with_its_data(page, data, erase):  # noqa: F811
    note(begun(page, data, claims(ANN))).set_value(NOTE).run()
    assert len(drafts()) == 1
    erase(data)
    assert drafts() == []


def test_nothing_is_saved_of_a_session_that_was_signed_out_or_of_a_person_who_was_erased(page, data, ended):  # noqa: F811
    for end in (sign_out, lambda user: erase_person(ANN)):
        app = begun(page, data, user := claims(ANN, iat=NINE_HOURS_AGO, nonce=str(end)))
        end(user)
        ended(app)
        assert drafts() == []


def test_drafts_are_bounded_in_number_and_length(data):
    for case in range(60):
        belongings.set_draft(data.digest, ANN, str(case), {"note": "n"})
    belongings.set_draft(data.digest, ANN, "long", {"note": "n" * 60_000})
    assert list(belongings.drafts_of(data.digest, ANN)) == [str(case) for case in range(10, 60)]
