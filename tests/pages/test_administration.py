"""Administrators see who is signed in and what was opened, and can end a session; nobody else sees either."""

import time

import pytest

from core import library
from core.access_record import record_upload, recorded_access
from core.annotations.dataset import Dataset
from core.people import NotYoursError, Person
from core.sign_ins import open_sign_ins
from pages.shared.cache import access, sign_in
from tests.pages.test_sign_in import claims, page  # noqa: F401

ADA, ANN = "ada@clinic.example", "ann@clinic.example"


@pytest.fixture(autouse=True)
def people(tmp_path, monkeypatch):
    listed = tmp_path / "people.toml"
    listed.write_text(
        f'everybody_else = "nobody"\n[people]\n"{ADA}" = "administrator"\n"{ANN}" = "manager"\n', encoding="utf-8"
    )
    monkeypatch.setenv("PLURALITY_PEOPLE", str(listed))
    return listed


def said(app):
    return " ".join(str(one.value) for one in (*app.subheader, *app.text, *app.caption))


def test_an_administrator_ends_a_session_and_it_is_in_the_record(page):  # noqa: F811
    ann = claims(ANN)
    page(ann)
    app = page(claims(ADA), "settings")
    assert "Open sessions" in said(app) and f"{ANN}, manager" in said(app)
    lines = app.dataframe[0].value
    assert list(lines["what"]) == ["sign in", "sign in"] and set(lines["who"]) == {ADA, ANN}
    (of_ann,) = [one for one in open_sign_ins() if one.name == ANN]
    app.button(key=f"end-{of_ann.which}").click().run()
    assert [one.name for one in open_sign_ins()] == [ADA]
    assert (recorded_access()[-1].who, recorded_access()[-1].what) == (ADA, "session ended")
    assert [title.value for title in page(ann).title] == ["Plurality"]


def test_nobody_else_sees_the_record_or_the_sessions(page, as_):  # noqa: F811
    app = page(claims(ANN), "settings")
    assert "Access record" not in said(app) and "Open sessions" not in said(app)
    for role in ("reviewer", "manager"):
        as_(Person(ANN, role, 2e9))
        for ask in (access.access_record, access.open_sign_ins, lambda: access.end_sign_in("x", ANN)):
            with pytest.raises(NotYoursError):
                ask()


def test_opening_data_is_recorded_once_in_a_session(page):  # noqa: F811
    from core import belongings

    dataset = Dataset.from_classes("small", ["1", "2"], ["a", "b"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])
    library.keep(dataset)
    belongings.set_people(dataset.digest, owners=(ANN,), shared=())
    app = page(claims(ANN), data=dataset.digest)
    app.run()
    assert [(line.who, line.dataset) for line in recorded_access() if line.what == "open"] == [(ANN, dataset.digest)]


def test_who_is_not_let_in_and_whose_role_changes_is_recorded(page, people):  # noqa: F811
    app = page(claims(ANN))
    people.write_text(f'everybody_else = "nobody"\n[people]\n"{ANN}" = "reviewer"\n', encoding="utf-8")
    app.run()
    assert (recorded_access()[-1].what, recorded_access()[-1].details) == ("role", ("reviewer",))
    people.write_text(f'everybody_else = "nobody"\n[people]\n"{ANN}" = "ended"\n', encoding="utf-8")
    app.run().run()
    refused = [line for line in recorded_access() if line.what == "sign-in refused"]
    assert [(line.who, line.details) for line in refused] == [
        (ANN, ("Could not sign in: the administrator has not given you access.",))
    ]
    page(claims(ANN, exp=time.time() - 1))
    assert (recorded_access()[-1].who, recorded_access()[-1].what) == (ANN, "session ended")


def test_review_warns_two_minutes_before_the_session_ends_and_not_where_nobody_signs_in(page, monkeypatch):  # noqa: F811
    monkeypatch.setenv("PLURALITY_SESSION_HOURS", "10")
    monkeypatch.setenv("PLURALITY_IDLE_MINUTES", "30")
    app = page(claims(ANN), "review", data="caries")
    (warning,) = [one.proto.body for one in app.get("html") if "session-ends" in one.proto.body]
    delay = int(warning.partition("session-ends 0s ")[2].partition("s")[0])
    assert 1500 <= delay <= 30 * 60 - 120
    monkeypatch.delenv("PLURALITY_IDLE_MINUTES")
    app = page(claims(ANN, iat=time.time() - 10 * 3600 + 60), "review", data="caries")
    (warning,) = [one.proto.body for one in app.get("html") if "session-ends" in one.proto.body]
    assert "session-ends 0s 0s" in warning
    monkeypatch.delenv("PLURALITY_SIGN_IN")
    assert sign_in.seconds_left() is None


def test_the_upload_page_says_what_a_person_may_upload_and_what_is_left(page):  # noqa: F811
    assert "You can upload up to 1,024 MB per file and 10,240 MB per 24 hours." in said(page(claims(ANN), "upload"))
    record_upload(ANN, 10_000 * 2**20, 10_240 * 2**20)
    assert "You have 240 MB left." in said(page(claims(ANN), "upload"))
    assert "You have 10,240 MB left." in said(page(claims(ADA), "upload"))
    record_upload(ANN, 240 * 2**20, 10_240 * 2**20)
    assert "You have reached your upload limit of 10,240 MB per 24 hours." in said(page(claims(ANN), "upload"))
