"""Whose data are whose: a stranger finds nothing on any page, and a reviewer cannot do what an owner can."""

import ast
import inspect
import re
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from core import belongings, library, people, read_anew
from core.annotations.dataset import Dataset
from core.errors import NotFoundError
from core.ingest.read_files import Reading
from core.machines.marks import Machine
from core.people import NotYoursError, Person
from core.review.assignments import Assignment
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.sessions import Queued
from core.review.store import ReviewStore, close_stores
from core.review.waiting import waiting_for
from core.text import markdown
from pages.shared.cache import access, sign_in
from pages.shared.cache import datasets as cached
from tests.core.kinds import as_rankings, as_scores, as_sets
from tests.pages.opened import APP, settle

PERSON = sign_in.person
PAGES = sorted(path.stem for path in (Path(APP).parent / "pages").glob("*.py"))
DUE = datetime.now(UTC).date() + timedelta(days=30)
SECRET = ("Hidden study", "Hidden queue", "case-7f3", "rater-7f3", "class-7f3", "model-7f3")
ANN, BOB, CEM, ADA = (
    Person(f"{name}@clinic.example", role, 2e9)
    for name, role in (("ann", "manager"), ("bob", "manager"), ("cem", "reviewer"), ("ada", "administrator"))
)


@pytest.fixture
def anns(as_):
    """Data that Ann brought and kept, with predictions and a review."""
    as_(ANN)
    names = [f"case-7f3-{number}" for number in range(4)]
    dataset = Dataset.from_classes(
        "Hidden study", names, ["rater-7f3-a", "rater-7f3-b"], ["class-7f3-x", "class-7f3-y"],
        [0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 0, 1], [0, 1, 0, 0, 1, 1],
    )  # fmt: skip
    cached.bring(Reading(dataset, None, None))
    cached.keep(Reading(dataset, None, None))
    access.WriteRight(dataset.digest).add_predictions("model-7f3", b"case,class\n")
    access.store().record(skip(dataset.digest, ANN), seen=0, token="ann")
    yield dataset
    cached.registry().remove(dataset.digest)
    close_stores()


@pytest.fixture
def of_all_kinds(anns):
    """Ann's data as classes, scores, rankings and sets of labels, each kept, with predictions and a review."""
    others = [as_scores(anns), as_rankings(anns), as_sets(anns)]
    assert len({dataset.kind for dataset in (anns, *others)}) == 4
    for dataset in others:
        cached.bring(Reading(dataset, None, None))
        cached.keep(Reading(dataset, None, None))
        access.WriteRight(dataset.digest).add_predictions("model-7f3", b"case,class\n")
        access.store().record(skip(dataset.digest, ANN), seen=0, token=dataset.kind)
    yield [anns.digest, *(dataset.digest for dataset in others)]
    for dataset in others:
        cached.registry().remove(dataset.digest)


def skip(digest, person):
    return Draft(dataset=digest, case_id="case-7f3-0", kind="skip", reviewer=person.name)


def given(digest, whom, group=False, title="Hidden queue"):
    return Assignment(
        dataset=digest, by=ANN.name, whom=whom, group=group, title=title, cases=(Queued("case-7f3-0", "model-7f3"),),
        due=date(2020, 1, 2),
    )  # fmt: skip


def dataset_of(digest):
    return SimpleNamespace(digest=digest)


def doings(digest):
    """Everything that can be asked of somebody's data, by name: what looks, and what changes."""
    store = access._Asking.__new__(access._Asking)
    looks = {
        "open": lambda: cached.open_dataset(digest),
        "belongings": lambda: access.ReadRight(digest),
        "count": lambda: access.n_reviews(digest),
        "head": lambda: access.head_of_reviews(digest),
        "trail": lambda: store.trail(digest),
        "cases": lambda: store.cases(digest),
        "case": lambda: store.case(digest, "case-7f3-0"),
        "sessions": lambda: store.sessions(digest, ANN.name),
        "assignments": lambda: store.assignments(digest),
        "assigned": lambda: access.assigned(digest),
    }
    changes = {
        "belongings": lambda: access.WriteRight(digest),
        "keep": lambda: cached.keep(Reading(dataset_of(digest), None, None)),
        "rename": lambda: cached.rename(digest, "x"),
        "forget": lambda: cached.forget(digest),
        "keep no more": lambda: cached.keep_no_more(digest),
        "bring over": lambda: cached.bring_over(digest, Reading(dataset_of("0" * 32), None, None)),
        "leave apart": lambda: cached.leave_apart(digest, "0" * 32),
        "bring over in the store": lambda: store.bring_over(digest, "0" * 32, ANN.name, (), ()),
        "to bring over": lambda: store.n_to_bring_over(digest),
        "erase reviews": lambda: access.forget_reviews(digest),
        "share": lambda: access.share(digest, ["x"]),
        "shared with": lambda: access.shared_with(digest),
        "forget in the store": lambda: store.forget(digest),
        "recipients": lambda: access.recipients(digest),
        "groups": lambda: access.groups_with(digest),
        "assign": lambda: store.assign(given(digest, CEM.name), token="t"),
        "withdraw": lambda: store.withdraw(digest, 1, ANN.name, token="t"),
    }
    return looks, changes


def test_an_earlier_reading_is_brought_to_nobody_else_s_data(as_):
    case, rater, answer = [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 1, 1, 1, 2, 0]
    before = Dataset.from_classes("before", ["a", "b", "c"], ["r", "s"], ["1", "-1", "-2"], case, rater, answer)
    now = read_anew.as_read_now(before)
    assert now is not None
    for person, dataset in ((ANN, before), (BOB, now)):
        as_(person)
        cached.bring(Reading(dataset, None, None))
        cached.keep(Reading(dataset, None, None))
    access.WriteRight(now.digest).set_link("https://viewer.example/{case}")
    as_(ANN)
    asked = cached.read_now(cached.open_dataset(before.digest))
    assert asked is not None
    for change in (
        lambda: cached.bring_over(before.digest, asked),
        lambda: cached.leave_apart(before.digest, now.digest),
    ):
        with pytest.raises(NotFoundError):
            change()
    as_(BOB)
    with pytest.raises(NotFoundError):
        cached.bring_over(before.digest, asked)
    assert belongings.owners_of(now.digest) == (BOB.name,)
    assert library.is_kept(before.digest)
    as_(ADA)
    cached.bring_over(before.digest, asked)
    assert belongings.owners_of(now.digest) == (BOB.name, ANN.name)


def test_a_stranger_gets_the_same_answer_as_for_data_that_are_not_there(anns, as_):
    as_(BOB)
    for digest in (anns.digest, "0" * 32):
        for doing in [*doings(digest)[0].values(), *doings(digest)[1].values()]:
            with pytest.raises(NotFoundError) as caught:
                doing()
            assert str(caught.value).replace(digest[:12], "…") == str(access.not_here(digest)).replace(digest[:12], "…")
    assert cached.kept() == []
    with pytest.raises(NotFoundError):
        access.store().record(skip(anns.digest, BOB), seen=1, token="bob")
    with pytest.raises(NotYoursError):
        cached.bring(Reading(anns, None, None))
    as_(ANN)
    assert [entry.digest for entry in cached.kept()] == [anns.digest]
    assert access.n_reviews(anns.digest) == 1


def test_a_right_asks_once_who_is_here(anns, monkeypatch):
    """Pages make dozens of them in a run."""
    asked = []
    monkeypatch.setattr(sign_in, "person", lambda: asked.append(ANN) or ANN)
    for right in (access.ReadRight, access.WriteRight):
        assert right(anns.digest).address == anns.digest
    assert len(asked) == 2


def test_who_the_data_are_shared_with_looks_and_reviews_and_changes_nothing(anns, as_):
    access.share(anns.digest, [" Cem@Clinic.example ", ""])
    assert access.shared_with(anns.digest) == (CEM.name,)
    as_(CEM)
    assert cached.open_dataset(anns.digest).dataset.name == "Hidden study"
    assert access.store().record(skip(anns.digest, CEM), seen=1, token="cem").reviewer == CEM.name
    with pytest.raises(
        NotYoursError,
        match="it is in another reviewer's name",
    ):
        access.store().record(skip(anns.digest, ANN), seen=2, token="as ann")
    with pytest.raises(
        NotYoursError,
        match="it is in another reviewer's name",
    ):
        access.store().start_session(anns.digest, ANN.name, "t", [])
    for doing in doings(anns.digest)[1].values():
        with pytest.raises(NotYoursError):
            doing()
    right = access.ReadRight(anns.digest)
    assert (right.link(), right.selections(), right.machines(), right.chosen()) == ("", {}, (), {})
    assert list(right.predictions()) == ["model-7f3"]
    with pytest.raises(NotYoursError, match="the manager role"):
        cached.bring(Reading(anns.renamed("another"), None, None))
    as_(ANN)
    access.share(anns.digest, [])
    as_(CEM)
    with pytest.raises(NotFoundError):
        cached.open_dataset(anns.digest)


def test_cases_reach_whom_they_are_given_to_and_nobody_else(anns, as_):
    """A person, a group by a claim; who is not let in is refused, who is taken out sees nothing any more."""
    with pytest.raises(NotYoursError, match="Share the data first"):
        access.store().assign(given(anns.digest, CEM.name), token="1")
    access.share(anns.digest, [CEM.name, BOB.name], ["Night  Shift"])
    assert access.recipients(anns.digest) == ([ANN.name, CEM.name, BOB.name], ["night shift"])
    access.store().assign(given(anns.digest, CEM.name), token="1")
    access.store().assign(given(anns.digest, "night shift", group=True, title="For the group"), token="2")
    with pytest.raises(NotYoursError, match="Share the data first"):
        access.store().assign(given(anns.digest, "night shift"), token="3")
    with pytest.raises(
        NotYoursError,
        match="it is in another reviewer's name",
    ):
        access.store().assign(replace(given(anns.digest, CEM.name), by=BOB.name), token="4")
    dan = Person("dan@clinic.example", "reviewer", 2e9, frozenset({"night shift"}))
    as_(dan)
    assert [one.title for one in waiting_for(access.store(), dan.name, access.my_groups())] == ["For the group"]
    assert list(access.assigned(anns.digest)["title"]) == ["For the group"]
    with pytest.raises(NotYoursError):
        waiting_for(access.store(), CEM.name)
    as_(CEM)
    assert [one.title for one in waiting_for(access.store(), CEM.name)] == ["Hidden queue"]
    as_(BOB)
    with pytest.raises(NotYoursError):
        access.store().assign(replace(given(anns.digest, CEM.name), by=BOB.name), token="5")
    as_(ANN)
    access.share(anns.digest, [], [])
    for gone in (CEM, dan):
        as_(gone)
        assert waiting_for(access.store(), gone.name, access.my_groups()) == []


def test_a_second_opinion_is_asked_of_whom_it_reaches(anns, as_, monkeypatch, tmp_path):
    people = tmp_path / "people.toml"
    people.write_text('everybody_else = "reviewer"\n[groups]\n"night" = ["dan@clinic.example"]\n')
    monkeypatch.setenv("PLURALITY_PEOPLE", str(people))
    access.share(anns.digest, [CEM.name], ["night"])
    case = {"dataset": anns.digest, "case_id": "case-7f3-1", "reviewer": ANN.name}
    opinion = Draft(kind="opinion", opinion=Opinion.of_class("class-7f3-x"), **case)
    access.store().record(opinion, seen=0, token="opinion")
    asked = Draft(kind="second_opinion", whom=BOB.name, whom_visible="blind", **case)
    with pytest.raises(NotYoursError, match="Could not ask bob"):
        access.store().record(asked, seen=1, token="1")
    access.store().record(replace(asked, whom=CEM.name), seen=1, token="2")
    access.store().record(replace(asked, whom="dan@clinic.example"), seen=2, token="3")
    as_(CEM)
    (one,) = waiting_for(access.store(), CEM.name)
    assert (one.kind, one.by) == ("second_opinion", ANN.name)
    as_(ANN)
    access.share(anns.digest, [], ["of the provider"])  # whose members nobody knows here
    access.store().record(replace(asked, whom="eve@clinic.example"), seen=3, token="4")


def test_an_administrator_opens_all_and_data_of_before_the_sign_in_are_only_theirs(anns, as_):
    as_(ADA)
    assert cached.open_dataset(anns.digest).dataset.n_cases == 4
    old = anns.renamed("old").select(cases=["case-7f3-1"])
    library.keep(old)
    assert {entry.digest for entry in cached.kept()} == {anns.digest, old.digest}
    as_(ANN)
    assert {entry.digest for entry in cached.kept()} == {anns.digest}


def test_what_somebody_adds_to_a_sample_is_theirs(as_):
    as_(ANN)
    access.WriteRight("caries").add_predictions("mine", b"x")
    for other in (BOB, CEM):
        as_(other)
        assert access.ReadRight("caries").predictions() == {}
        access.WriteRight("caries").mark_machines([Machine("R01")])
    as_(ANN)
    assert list(access.ReadRight("caries").predictions()) == ["mine"] and access.ReadRight("caries").machines() == ()


def test_when_the_session_ends_nothing_can_be_asked_any_more(anns, as_, monkeypatch):
    def ended():
        raise people.SignedOutError("over")

    monkeypatch.setattr(sign_in, "person", ended)
    looks, changes = doings(anns.digest)
    for doing in [
        *looks.values(),
        *changes.values(),
        lambda: access.store().record(skip(anns.digest, ANN), seen=1, token="t"),
    ]:
        with pytest.raises(people.SignedOutError):
            doing()


def test_forgetting_forgets_whose_they_were(anns, as_):
    cached.forget(anns.digest)
    as_(BOB)
    cached.bring(Reading(anns, None, None))
    assert cached.open_dataset(anns.digest).dataset.n_cases == 4
    belongings.forget_belongings(anns.digest)


def claims(person):
    now = time.time()
    told = {"iss": "i", "sub": person.name, "iat": now, "exp": now + 600, "email": person.name, "email_verified": True}
    return {"is_logged_in": True, **told, "groups": [person.role], "teams": sorted(person.groups)}


def everything_said(app):
    """All that a page sends to the browser, and its address."""
    sent = b"".join(node.proto.SerializeToString() for node in app._tree if getattr(node, "proto", None) is not None)
    return sent.decode("latin-1") + repr(app._tree) + repr(dict(app.query_params)) + repr(app.session_state)


def opened_by(person, page, digest, monkeypatch, **parts):
    """What a page at the address of data, and other parts of it, says to somebody who opens it."""
    return everything_said(drawn_for(person, page, digest, monkeypatch, **parts))


def drawn_for(person, page, digest, monkeypatch, **parts):
    """The page itself."""
    monkeypatch.setattr(sign_in, "person", PERSON)
    monkeypatch.setenv("PLURALITY_ROLE_CLAIM", "groups")
    app = AppTest.from_file(APP, default_timeout=600)
    app.user = claims(person)
    app.query_params["data"] = digest
    for part, value in parts.items():
        app.query_params[part] = value
    app.run()
    if page != "home":
        app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def at(app, digest):
    """What the same page says at the address of other data."""
    app.query_params["data"] = digest
    app.run()
    assert not app.exception
    return everything_said(app)


@pytest.mark.parametrize("page", PAGES)
def test_a_stranger_finds_nothing_on_any_page_of_data_of_any_kind(of_all_kinds, monkeypatch, page):
    first, *others = of_all_kinds
    app = drawn_for(BOB, page, first, monkeypatch)
    for said in [everything_said(app), *(at(app, digest) for digest in others)]:
        assert "bob@clinic.example" in said
        assert [secret for secret in SECRET if secret in said] == []


def test_the_owner_finds_data_of_each_kind(of_all_kinds, monkeypatch):
    """By the same way as the stranger goes."""
    first, *others = of_all_kinds
    app = drawn_for(ANN, "cases", first, monkeypatch)
    for said in [everything_said(app), *(at(app, digest) for digest in others)]:
        assert "Hidden study" in said and "case-7f3-0" in said


@pytest.mark.parametrize("page", ["home", "agreement", "reliability"])
@pytest.mark.parametrize("part", ["story", "presenting", "compare"])
def test_a_stranger_finds_nothing_by_the_other_parts_of_an_address(anns, monkeypatch, page, part):
    """Nor does an address on which the data stood beside a sample's."""
    said = opened_by(BOB, page, anns.digest, monkeypatch, **{part: {"story": "3", "presenting": "1"}.get(part, "{}")})
    assert [secret for secret in SECRET if secret in said] == []


@pytest.fixture
def bobs(anns, as_):
    """Bob's own data: the same annotations of the same cases, by raters and under a name of which Ann knows nothing."""
    as_(BOB)
    dataset = replace(anns.renamed("Private study"), raters=("own-rater-a", "own-rater-b"))
    assert dataset.content_digest == anns.content_digest and dataset.digest != anns.digest
    cached.bring(Reading(dataset, None, None))
    cached.keep(Reading(dataset, None, None))
    yield dataset
    cached.registry().remove(dataset.digest)


@pytest.mark.parametrize("page", ["home", "raters", "review", "settings", "upload", "report"])
def test_two_people_never_see_each_other_s_data_although_what_is_computed_is_the_same(anns, bobs, monkeypatch, page):
    of_ann, of_bob = ("Hidden study", "rater-7f3", "model-7f3", "ann@"), ("Private study", "own-rater", "bob@")
    for person, dataset, theirs, others in ((ANN, anns, of_ann, of_bob), (BOB, bobs, of_bob, of_ann)):
        app = drawn_for(person, page, dataset.digest, monkeypatch)
        said = everything_said(app)
        # Drawn a second time, a page stands without its sidebar here, and so without the name of the data.
        then = everything_said(settle(app))
        seen = any(own in said + then for own in theirs[:2])
        assert dataset.digest in said and (seen or page not in ("home", "raters")), "their own"
        assert [secret for secret in others if secret in said + then] == []


def owned(digest):
    """All that an owner can change of data."""
    people = (belongings.owners_of(digest), belongings.shared_with(digest), belongings.groups_with(digest))
    names = [(entry.digest, entry.name) for entry in library.kept()]
    return people, names, list(belongings.predictions_of(digest)), ReviewStore.head(access.store(), digest).number


@pytest.mark.parametrize("page", ["home", "review", "raters", "reliability"])
def test_who_sends_the_presses_of_the_owner_s_buttons_changes_nothing(anns, as_, monkeypatch, page):
    """By the messages that the owner's browser would send; the page of a reviewer has not these buttons."""
    access.share(anns.digest, [CEM.name])
    access.store().assign(given(anns.digest, CEM.name), token="1")
    monkeypatch.setattr(sign_in, "person", PERSON)
    monkeypatch.setenv("PLURALITY_ROLE_CLAIM", "groups")
    drawn = {}
    for person in (ANN, CEM):
        app = AppTest.from_file(APP, default_timeout=120)
        app.user, app.query_params["data"] = claims(person), anns.digest
        app.run()
        drawn[person.role] = app.run() if page == "home" else app.switch_page(f"pages/{page}.py").run()
    presses = [{button.proto.id for button in drawn[role].button} for role in ("manager", "reviewer")]
    keys = {button.key for button in drawn["manager"].button if button.proto.id in presses[0] - presses[1]}
    assert page not in ("home", "review") or keys & {f"share-{anns.digest}", "withdraw", "assign-queue"}
    as_(ANN)
    before = owned(anns.digest)
    monkeypatch.setattr(sign_in, "person", PERSON)
    app = drawn["reviewer"]
    states = app._tree.get_widget_states()
    for widget in [one for one in drawn["manager"]._tree.get_widget_states().widgets if one.id not in presses[1]]:
        if not widget.HasField("trigger_value"):
            states.widgets.append(widget)
    for press in presses[0] - presses[1]:
        states.widgets.add(id=press, trigger_value=True)
    app._run(states)
    assert not app.exception
    as_(ANN)
    assert owned(anns.digest) == before


@pytest.mark.parametrize("page", ["home", "review"])
def test_who_was_given_cases_finds_them_with_what_is_overdue_and_nobody_elses(anns, monkeypatch, page):
    access.share(anns.digest, [CEM.name, "dan@clinic.example"])
    access.store().assign(given(anns.digest, CEM.name), token="1")
    access.store().assign(given(anns.digest, "dan@clinic.example", title="Of Dan"), token="2")
    said = opened_by(CEM, page, anns.digest, monkeypatch)
    assert "Hidden queue" in said and "overdue since 2 Jan 2020" in said and "0 of 1 case done" in said
    assert "Of Dan" not in said and "dan@" not in said and "model-7f3" not in said
    assert "assign_to" not in said, "a reviewer has no way to assign"


def test_a_manager_is_told_on_home_what_is_overdue_by_whom_and_nobody_else_is(anns, as_, monkeypatch):
    access.share(anns.digest, [CEM.name, BOB.name])
    access.store().assign(given(anns.digest, CEM.name), token="1")
    access.store().assign(replace(given(anns.digest, BOB.name, title="In time"), due=DUE), token="2")
    app = drawn_for(ANN, "home", "", monkeypatch)
    (told,) = [one.value for one in app.markdown if "Hidden queue" in one.value]
    assert "**Assigned by you: 1 overdue**" in [one.value for one in app.markdown]
    assert "Hidden study" in told and "overdue since 2 Jan 2020" in told
    assert f"{markdown(CEM.name)}: 1 of 1 case left" in told
    for person in (BOB, CEM, ADA):
        said = opened_by(person, "home", "", monkeypatch)
        assert "Assigned by you" not in said and (person is CEM) == ("Hidden queue" in said)
    as_(replace(ANN, role="reviewer"))
    assert access.store().datasets_assigned_by(ANN.name) == [], "who is a manager no more"
    (press,) = [one for one in app.button if one.label == "Assignments"]
    monkeypatch.setattr(sign_in, "person", PERSON)
    settle(press.click().run())
    assert not app.exception
    assert any("**1 overdue**" in one.value for one in app.markdown), "the tab of assignments is open"
    as_(ANN)
    (number,) = [one.number for one in access.store().assignments(anns.digest) if one.title == "Hidden queue"]
    access.store().withdraw(anns.digest, number, ANN.name, token="3")
    assert "Assigned by you" not in opened_by(ANN, "home", "", monkeypatch)


def test_a_manager_assigns_a_queue_by_its_form_and_it_is_in_the_record(anns, monkeypatch):
    access.share(anns.digest, [CEM.name, BOB.name])
    monkeypatch.setattr(sign_in, "person", PERSON)
    monkeypatch.setenv("PLURALITY_ROLE_CLAIM", "groups")
    app = AppTest.from_file(APP, default_timeout=120)
    app.user, app.query_params["data"] = claims(ANN), anns.digest
    app.run()
    settle(app.switch_page("pages/review.py").run())
    app.multiselect(key="assign_to-queue").set_value([CEM.name, BOB.name])
    app.toggle(key="assign_divide-queue").set_value(True)
    app.date_input(key="assign_due-queue").set_value(DUE)
    settle(app.button(key="assign-queue").click().run())
    assert not app.exception and not app.error
    monkeypatch.setattr(sign_in, "person", lambda: ANN)
    found = access.store().assignments(anns.digest)
    assert [(one.whom, len(one.cases), one.due) for one in found] == [
        (BOB.name, 2, DUE), (CEM.name, 2, DUE)
    ]  # fmt: skip
    assert access.store().head(anns.digest).number == 3 and ReviewStore.check(access.store()).ok


def test_the_owner_finds_them(anns, monkeypatch):
    said = "".join(opened_by(ANN, page, anns.digest, monkeypatch) for page in ("home", "cases"))
    assert [word for word in ("Hidden study", "Save", "class-7f3-x", "case-7f3-0") if word not in said] == []


def test_every_read_and_write_of_pages_goes_through_the_function_that_asks():
    """A page that opens the store, the library or what belongs to data by itself would not ask."""
    own = {name for name, value in vars(ReviewStore).items() if inspect.isfunction(value) and not name.startswith("_")}
    asking = {name for name in vars(access._Asking) if not name.startswith("_")}
    of_trail, not_of_pages = {"case", "cases"}, {"close", "check", "erase_person", "heads", "last_events", "look"}
    assert own - asking == of_trail | not_of_pages
    bypass = re.compile(
        r"\bopen_store\(|core\.review\.store import (?!ReviewStore$)|library\.(kept|rename|forget|reopen|keep)\w*\(|"
        r"registry\(\)\.add\("
    )
    found = {}
    for path in (Path(APP).parent / "pages").rglob("*.py"):
        relative = path.relative_to(Path(APP).parent).as_posix()
        if relative not in (
            "pages/shared/cache/access.py",
            "pages/shared/cache/datasets.py",
            "pages/shared/shell/doors.py",
        ):
            text = path.read_text(encoding="utf-8")
            found[relative] = [line.strip() for line in text.splitlines() if bypass.search(line)]
            found[relative] += sorted(imported(text) & {"core.belongings", "core.changes"} - PURE)
    assert {path: lines for path, lines in found.items() if lines} == {}


PURE = {"core.belongings.case_link"}  # reads and writes nothing


def imported(text):
    """Modules that a script imports, those of names that are pure left out."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names} - PURE
            found |= names | ({node.module} if names else set())
    return found


def test_a_right_to_read_has_no_way_to_write():
    """Every function of what belongs to data that writes is one of the right to write, and of that one alone."""
    public = {name for name, value in vars(belongings).items() if inspect.isfunction(value) and name[0] != "_"}
    public &= {name for name in public if getattr(belongings, name).__module__ == "core.belongings"}
    of_door = {"owners_of", "shared_with", "groups_with", "set_people", "move_belongings", "forget_belongings"}
    of_door |= {
        "bring_over",
        "forget_person",
        "changed_at",
        "case_link",
        "drafts_of",
        "set_draft",
    }  # asked by functions of the door, or of the command line
    writes = {"add_predictions", "remove_predictions", "add_selection", "mark_machines", "choose", "set_link"}
    writes |= {"add_study", "remove_studies", "set_questions", "remove_selection"}
    reads = {"predictions_of", "studies_of", "selections_of", "machines_of", "has_marks", "chosen_for", "link_of"}
    reads |= {"questions_of"}
    assert public == of_door | writes | reads, "a new function: is it a read or a write?"
    assert {name for name in vars(access.WriteRight) if name[0] != "_"} == writes | {"record"}
    assert not {name for name in vars(access.ReadRight) if name[0] != "_"} & writes


def test_a_report_shows_a_reviewer_only_reviews_of_cases_that_they_have_seen(anns, as_):
    belongings.set_people(anns.digest, owners=(ANN.name,), shared=(CEM.name, BOB.name))
    as_(CEM)
    assert access.reviews_to_show(anns.digest) == ({}, 1)
    as_(BOB)
    assert list(access.reviews_to_show(anns.digest)[0]) == ["case-7f3-0"], "who manages and reviews nothing sees all"
    access.store().record(replace(skip(anns.digest, BOB), case_id="case-7f3-1"), seen=0, token="bob")
    assert list(access.reviews_to_show(anns.digest)[0]) == ["case-7f3-1"], "now Bob reviews, too"


def test_a_reviewer_takes_away_only_what_they_have_seen_and_the_owner_all(anns, as_, monkeypatch):
    """By Export, too, a case stays one that can be read blind; Ann reviews herself and exports everything."""
    access.share(anns.digest, [CEM.name])
    case = {"dataset": anns.digest, "case_id": "case-7f3-1", "reviewer": ANN.name}
    access.store().record(Draft(kind="opinion", opinion=Opinion.of_class("class-7f3-x"), **case), seen=0, token="o")
    assert len(access.reviews_to_take(anns.digest)[0]) == 2
    as_(CEM)
    own = Draft(dataset=anns.digest, case_id="case-7f3-2", kind="skip", reviewer=CEM.name)
    access.store().record(own, seen=0, token="c")
    taken, kept_back = access.reviews_to_take(anns.digest)
    assert (list(taken), kept_back) == (["case-7f3-2"], 2)
    exports = {}
    monkeypatch.setattr("pages.shared.review.after.trail_table", lambda dataset, reviews: exports.update(trail=reviews))
    monkeypatch.setattr("pages.shared.review.after.result_table", lambda dataset, told: exports.update(results=told))
    monkeypatch.setattr("pages.shared.review.after.widgets.download", lambda *asked, **options: None)
    monkeypatch.setattr(sign_in, "person", PERSON)
    monkeypatch.setenv("PLURALITY_ROLE_CLAIM", "groups")
    app = AppTest.from_file(APP, default_timeout=120)
    app.user, app.query_params["data"] = claims(CEM), anns.digest
    app.session_state["review_tabs"] = "Export"
    app.run()
    settle(app.switch_page("pages/review.py").run())
    assert not app.exception and [list(one) for one in exports.values()] == [["case-7f3-2"]] * 2
    assert any("2 cases reviewed by others" in one.value for one in app.caption)
    assert not {"erase", "grow"} & {button.key for button in app.button}, "who may bring no data is not asked to"
    app.user = claims(ANN)
    settle(app.run())
    assert {"erase", "grow"} <= {button.key for button in app.button}


def test_a_queue_is_opened_by_its_reviewer_alone(anns, as_):
    access.share(anns.digest, [CEM.name])
    session = access.store().start_session(anns.digest, ANN.name, "Hers", [Queued("case-7f3-0", "why")])
    assert access.store().session(session.id) == session and access.store().lines(session)
    as_(CEM)
    with pytest.raises(NotFoundError):
        access.store().session(session.id)
    for doing in (lambda: access.store().sessions(anns.digest, ANN.name), lambda: access.store().lines(session)):
        with pytest.raises(NotYoursError):
            doing()


def test_reviews_of_a_sample_are_everybodys_who_signed_in(as_):
    """They are kept under its digest, which nobody owns."""
    as_(CEM)
    cached.sample.cache_clear()
    dataset = cached.open_dataset("anaesthesia").dataset
    draft = Draft(dataset=dataset.digest, case_id=dataset.cases[0], kind="skip", reviewer=CEM.name)
    access.store().record(draft, seen=0, token="cem")
    as_(BOB)
    assert access.n_reviews(dataset.digest) == 1
    with pytest.raises(NotYoursError):
        access.forget_reviews(dataset.digest)
    close_stores()
