"""Every widget that a page draws is pressed by everybody who may open the data: they change by it what is theirs."""

from pathlib import Path

import pytest

from core import belongings, changes, library
from core.annotations.dataset import Dataset
from core.errors import InputError
from core.ingest.case_facts import CaseFacts
from core.ingest.read_files import Reading
from core.machines.marks import Machine
from core.people import Person
from core.review.assignments import Assignment
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.sessions import Queued
from core.review.store import ReviewStore, close_stores
from core.settings import current_settings
from pages.shared.cache import access
from pages.shared.cache import datasets as cached
from tests.pages.opened import settle
from tests.pages.pressing import walk
from tests.pages.test_access import ADA, ANN, BOB, CEM, PAGES, drawn_for

DAN = Person("dan@clinic.example", "reviewer", 2e9, frozenset({"night shift"}))


@pytest.fixture
def hers(as_):
    """Data of Ann's with all that can belong to data, shared with Bob, Cem and a group."""
    as_(ANN)
    raters = ["r1", "r2", "gpt-4"]
    dataset = Dataset.from_classes(
        "Hers",
        [f"c{case}" for case in range(6)],
        raters,
        ["x", "y", "z"],
        [case for case in range(6) for _ in raters],
        [0, 1, 2] * 6,
        [(case * (rater + 2)) % 3 for case in range(6) for rater in range(3)],
    )
    facts = CaseFacts({"c0": "a text"}, {}, {})
    cached.bring(Reading(dataset, None, facts))
    cached.keep(Reading(dataset, None, facts))
    right = access.WriteRight(dataset.digest)
    right.add_predictions("model", b"case,class,score\nc0,y,1\nc1,x,1\n")
    right.add_study("study.csv", STUDY)
    right.mark_machines([Machine("gpt-4", "gpt")])
    right.set_link("https://viewer.example/{case}")
    right.add_selection("two", '{"raters":["r1","r2"]}')
    right.choose({"model": "dirichlet", "reliability": 2.0})
    access.share(dataset.digest, [BOB.name, CEM.name], ["night shift"])
    store = access.store()
    case = {"dataset": dataset.digest, "case_id": "c1", "reviewer": ANN.name}
    store.record(Draft(kind="opinion", opinion=Opinion.of_class("x"), note="hers", **case), seen=0, token="1")
    for whom, group in ((CEM.name, False), ("night shift", True)):
        store.assign(Assignment(dataset=dataset.digest, by=ANN.name, whom=whom, group=group, title="For you",
                                cases=(Queued("c2", "why"), Queued("c3", "why"))), token=whom)  # fmt: skip
    yield dataset
    cached.registry().remove(dataset.digest)
    close_stores()


STUDY = b"reader,case,modality,score,truth\n" + b"".join(
    b"%s,c%d,%s,%d,%d\n" % (reader, case, modality, (case * (1 + len(modality))) % 5, case % 2)
    for reader in (b"a", b"b") for case in range(6) for modality in (b"CT", b"MRI")
)  # fmt: skip


def store_of(digest, reviewer):
    """All that is written of the data, save a reviewer's own opinions, queues and drafts."""
    people = (belongings.owners_of(digest), belongings.shared_with(digest), belongings.groups_with(digest))
    files = {}
    for folder in (belongings._folder(digest), current_settings().datasets / digest):
        found = (path for path in Path(folder).rglob("*") if path.is_file() and "drafts" not in path.parts)
        files |= {path: path.read_bytes() for path in found}
    trail = [event for event in ReviewStore.trail(access.store(), digest) if event.reviewer != reviewer]
    opened = cached.registry().get(digest)
    return people, [entry.name for entry in library.kept()], files, trail, opened.dataset.name, opened.facts


def record_of(digest):
    """How many lines the records hold of the data, and by whom."""
    told = [one.who for one in changes.recorded_changes(digest)]
    return told, ReviewStore.head(access.store(), digest).number


REVIEWER, MANAGER = ("reviewer", CEM), ("manager", BOB)
EVERYWHERE = [(page, *role) for page in PAGES for role in (REVIEWER, MANAGER)]
BY_GROUP = [(page, "reviewer by a group", DAN) for page in ("home", "cases", "review")]


@pytest.mark.parametrize(("page", "role", "person"), EVERYWHERE + BY_GROUP)
def test_whoever_the_data_are_shared_with_changes_nothing_by_any_widget(hers, monkeypatch, page, role, person):
    monkeypatch.setenv("PLURALITY_GROUP_CLAIM", "teams")
    before, record = store_of(hers.digest, person.name), record_of(hers.digest)
    touched = []
    for _, keys in walk(lambda: drawn_for(person, page, hers.digest, monkeypatch), page, hers.digest):
        touched += keys
        assert store_of(hers.digest, person.name) == before, keys
    assert record_of(hers.digest)[0] == record[0] and (touched or page == "settings")
    of_owners = {"machine_pattern", "case_link-*", "no_predictions", "share-*", "rename-*", "forget-*", "keep_in_bar"}
    assert not of_owners & set(touched)


# Pages on which who may change the data does so, and what by: some of it, whatever order the widgets come in.
CHANGED = {
    "home": {"rename", "share"},
    "cases": {"choose the model and γ", "link cases"},
    "ai_rater": {"mark machines", "remove predictions", "add predictions"},
    "reliability": {"remove predictions", "add predictions", "choose the model and γ"},
    "review": {"delete the reviews"},
}
DELETES = {"forget-*"}  # all that the others would be seen by; tested alone


@pytest.mark.parametrize("page", CHANGED)
@pytest.mark.parametrize("person", [ANN, ADA], ids=["owner", "administrator"])
def test_each_change_of_the_data_is_in_the_record_by_whoever_made_it(hers, monkeypatch, page, person):
    """The same widgets change the data of who may change them: so the test above would see it."""
    monkeypatch.setattr("tests.pages.pressing.FOR_EVERYBODY", {"sign_out", *DELETES})
    before, record = store_of(hers.digest, ""), record_of(hers.digest)
    for _, keys in walk(lambda: settle(drawn_for(person, page, hers.digest, monkeypatch)), page, hers.digest):
        after, now = store_of(hers.digest, ""), record_of(hers.digest)
        assert after == before or now != record, keys
        assert set(now[0][len(record[0]) :]) <= {person.name}
        before, record = after, now
    found = {one.what for one in changes.recorded_changes(hers.digest) if one.who == person.name}
    assert found & CHANGED[page], "the test above would see it"


def test_data_that_are_deleted_leave_who_deleted_them_and_no_details(hers, monkeypatch):
    app = drawn_for(ANN, "home", hers.digest, monkeypatch)
    app.button(key=f"forget-{hers.digest}").click().run()
    assert not app.exception and not library.is_kept(hers.digest)
    told = changes.recorded_changes(hers.digest)
    assert (told[-1].who, told[-1].what) == (ANN.name, "delete the data")
    assert {"share", "link cases"} <= {one.what for one in told} and not any(one.details for one in told)


def test_a_file_of_shared_data_changes_nothing_of_what_their_owner_has(hers, as_):
    """The very same annotations with other texts and addresses of the cases: they open as they are."""
    before, record = store_of(hers.digest, ""), record_of(hers.digest)
    as_(BOB)
    told = Reading(hers, None, CaseFacts({"c0": "another text", "c1": "more"}, {"c0": "https://evil.example/x"}, {}))
    assert cached.bring(told) == hers.digest
    assert cached.open_dataset(hers.digest).facts.text == {"c0": "a text"}
    assert store_of(hers.digest, "") == before and record_of(hers.digest) == record
    as_(ANN)
    cached.bring(told)
    assert cached.open_dataset(hers.digest).facts.text == {"c0": "another text", "c1": "more"}
    assert record_of(hers.digest)[0] == [*record[0], ANN.name]


def test_a_change_that_cannot_be_recorded_is_not_made(hers, as_, home):
    as_(ANN)
    before = store_of(hers.digest, "")
    (home / "changes.jsonl").unlink()
    (home / "changes.jsonl").mkdir()
    right = access.WriteRight(hers.digest)
    for change in (
        lambda: right.set_link("https://evil.example/{case}"),
        right.remove_predictions,
        lambda: right.add_study("study", b"x"),
        right.remove_studies,
        lambda: right.mark_machines([]),
        lambda: right.choose({"model": "prirn"}),
        lambda: right.add_selection("three", "{}"),
        lambda: right.remove_selection("two"),
        lambda: right.set_questions({"q1": hers.digest}),
        lambda: access.share(hers.digest, []),
        lambda: cached.rename(hers.digest, "x"),
        lambda: cached.forget(hers.digest),
        lambda: access.forget_reviews(hers.digest),
    ):
        with pytest.raises(InputError, match="Nothing was changed"):
            change()
    assert store_of(hers.digest, "") == before


def test_a_link_that_is_none_is_neither_set_nor_recorded(hers, as_):
    as_(ANN)
    record = record_of(hers.digest)
    with pytest.raises(InputError):
        access.WriteRight(hers.digest).set_link("javascript:alert(1)//{case}")
    assert record_of(hers.digest) == record and access.ReadRight(hers.digest).link() == "https://viewer.example/{case}"
