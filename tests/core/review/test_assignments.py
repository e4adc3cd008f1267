"""Cases that are given to people: in the record, on the list of whom they are for, done when they are read."""

import json
from dataclasses import replace
from datetime import date

import pytest
import sqlalchemy as sa

from core.errors import InputError, NotFoundError
from core.review.assignments import Assignment, assignment_table, divided, due_words, is_overdue
from core.review.database import transaction
from core.review.events import Draft
from core.review.export import time_of, trail_json
from core.review.opinions import Opinion
from core.review.review_errors import StoreError
from core.review.reviewer_session import Desk, new_token
from core.review.schema import events
from core.review.sessions import ARBITRATION, Queued
from core.review.waiting import overdue_of, waiting_for, waiting_in

X, Y = Opinion.of_class("x"), Opinion.of_class("y")


def given(dataset, whom, cases=range(3), **said):
    queued = tuple(Queued(dataset.cases[case], f"why {case}") for case in cases)
    return Assignment(
        **{"dataset": dataset.digest, "by": "mia", "whom": whom, "title": "Doubt", "cases": queued} | said
    )


def read(store, dataset, who, case, opinion=X, panel=X):
    """A case read blind and kept after the reveal."""
    desk = Desk(store, dataset, who)
    for kind, said in (("opinion", {"opinion": opinion}), ("reveal", {"panel": panel}), ("keep", {})):
        seen = store.case(dataset.digest, dataset.cases[case]).version
        desk.send(desk.draft(dataset.cases[case], kind, **said), seen=seen, token=new_token())


def test_an_assignment_is_a_step_of_the_record_and_no_step_of_a_case(store, dataset):
    read(store, dataset, "ann", 0)
    told = store.assign(given(dataset, "bob", due=date(2030, 1, 2)), token="t")
    assert store.assign(given(dataset, "bob", due=date(2030, 1, 2)), token="t") == told, "a retry records nothing twice"
    assert (told.number, store.head(dataset.digest).number) == (4, 4)
    assert store.assignments(dataset.digest) == [told]
    assert {event.kind for event in store.trail(dataset.digest)} == {"opinion", "reveal", "keep"}
    assert store.cases(dataset.digest).keys() == {dataset.cases[0]}
    assert store.check().ok
    with pytest.raises((sa.exc.DBAPIError, StoreError)), transaction(store.engine, writes=True) as connection:
        connection.execute(events.update().values(settings="{}").where(events.c.number == 4))
    store.withdraw(dataset.digest, 4, "mia", token="u")
    assert [one.withdrawn for one in store.assignments(dataset.digest)] == [True]
    assert waiting_for(store, "bob") == []
    with pytest.raises(NotFoundError):
        store.withdraw(dataset.digest, 4, "mia", token="v")
    assert store.check().ok and store.check().n_events == 5


def test_a_page_cannot_send_an_assignment_as_a_step_of_a_case(store, dataset):
    with pytest.raises(InputError, match="Unknown event kind"):
        store.record(Draft(dataset=dataset.digest, case_id="", kind="assignment", reviewer="bob"), seen=0, token="t")
    store.assign(given(dataset, "bob"), token="t")
    with pytest.raises(InputError, match="something else"):
        store.withdraw(dataset.digest, 1, "mia", token="t")


@pytest.mark.parametrize("said", [{"whom": ""}, {"by": "two\nlines"}, {"title": " "}, {"cases": ()},
                                  {"cases": (Queued("a"), Queued("a"))}, {"title": "\x00"}])  # fmt: skip
def test_an_assignment_that_says_too_little_is_refused(dataset, said):
    with pytest.raises(InputError):
        replace(given(dataset, "bob"), **said).check()


def test_each_finds_their_own_list_with_what_is_left_and_the_first_due_first(store, dataset):
    store.assign(given(dataset, "bob", due=date(2031, 1, 1), title="later"), token="1")
    store.assign(given(dataset, "bob", [3], title="whenever"), token="2")
    store.assign(given(dataset, "night", [4, 5], group=True, due=date(2030, 1, 1)), token="3")
    store.assign(given(dataset, "cem", title="not of Bob"), token="4")
    read(store, dataset, "bob", 1)
    read(store, dataset, "ann", 4)  # settled by others
    found = waiting_for(store, "bob", {"night"})
    assert [(one.title, [case.case_id for case in one.left], one.total) for one in found] == [
        ("Doubt", ["case 5"], 2), ("later", ["case 0", "case 2"], 3), ("whenever", ["case 3"], 1)
    ]  # fmt: skip
    assert [one.title for one in waiting_for(store, "bob")] == ["later", "whenever"], "without the group"
    assert waiting_for(store, "night") == [], "a person called as a group is not the group"
    for case in (0, 2, 3):
        read(store, dataset, "bob", case)
    assert waiting_for(store, "bob") == []


def test_second_opinions_reach_who_is_asked_and_arbitrations_to_whom_they_are_given(store, dataset):
    ann = Desk(store, dataset, "ann")
    ann.send(ann.draft("case 0", "opinion", opinion=Y), seen=0, token="1")
    ann.send(ann.draft("case 0", "second_opinion", whom="bob", whom_visible="blind"), seen=1, token="2")
    (asked,) = waiting_for(store, "bob")
    assert (asked.kind, asked.by, asked.left) == ("second_opinion", "ann", (Queued("case 0", "blind second opinion"),))
    read(store, dataset, "bob", 0)
    assert waiting_for(store, "bob") == []
    read(store, dataset, "ann", 1, opinion=Y)  # against the panel
    store.assign(given(dataset, "cem", [1], title=ARBITRATION), token="3")
    (one,) = waiting_in(store, dataset.digest, "cem")
    cem = Desk(store, dataset, "cem")
    session = cem.start(one.title, one.left)
    for place, (kind, more) in enumerate([("reveal", {"panel": X}), ("adjudication", {"opinion": X, "note": "seen"})]):
        cem.send(cem.draft("case 1", kind, session=session.id, **more), seen=3 + place, token=kind)
    assert store.case(dataset.digest, "case 1").state == "adjudicated"
    assert waiting_for(store, "cem") == []


def test_exports_hold_assignments(store, dataset):
    store.assign(given(dataset, "bob", due=date(2020, 1, 1)), token="1")
    store.assign(given(dataset, "night", group=True), token="2")
    read(store, dataset, "bob", 0)
    found = store.assignments(dataset.digest)
    table = assignment_table(found, store.trail(dataset.digest))
    assert table[["whom", "n_cases", "overdue", "due"]].to_numpy().tolist() == [
        ["night", 3, False, ""], ["bob", 3, True, "2020-01-01"]
    ]  # fmt: skip
    assert table["n_done"].isna().tolist() == [True, False] and table["n_done"][1] == 1
    told = json.loads(trail_json(dataset, store.cases(dataset.digest), store.head(dataset.digest), found))
    assert [(one["whom"], one["due"], len(one["cases"])) for one in told["assignments"]] == [
        ("night", None, 3), ("bob", "2020-01-01", 3)
    ]  # fmt: skip
    assert [one["withdrawn"] for one in told["assignments"]] == [False, False]
    assert [(one["at"], one["by"]) for one in told["assignments"]] == [(time_of(one.at), one.by) for one in found]
    store.withdraw(dataset.digest, found[0].number, "mia", token="3")
    whole = store.cases(dataset.digest), store.head(dataset.digest), store.assignments(dataset.digest)
    told = json.loads(trail_json(dataset, *whole))
    assert [(one["whom"], one["withdrawn"]) for one in told["assignments"]] == [("night", True), ("bob", False)]


def test_of_a_group_it_is_said_what_each_member_has_done_and_what_all_have(store, dataset):
    """Of one whose members nobody knows here, who has begun; what others settled is done for everybody."""
    store.assign(given(dataset, "night", group=True, due=date(2020, 1, 1)), token="1")
    store.assign(given(dataset, "claimed", group=True), token="2")
    read(store, dataset, "bob", 0)
    for case, kind in ((1, "opinion"), (2, "skip")):
        draft = Desk(store, dataset, "ann").draft(dataset.cases[case], kind, opinion=X if kind == "opinion" else None)
        store.record(draft, seen=0, token=new_token())

    def told(members):
        table = assignment_table(store.assignments(dataset.digest), store.trail(dataset.digest), members)
        assert table["overdue"].equals(table["days_overdue"].notna())
        return table.set_index("whom")[["n_done", "done_by", "overdue"]].to_dict("index")

    table = told({"night": ("ann", "bob")}.get)
    assert table["night"] == {"n_done": 1, "done_by": "bob 1, ann 0", "overdue": True}, "settled: done for Ann, too"
    assert table["claimed"] == {"n_done": None, "done_by": "bob 1, ann 0", "overdue": False}
    assert told({"night": ()}.get)["night"] == {"n_done": None, "done_by": "", "overdue": True}
    for case in (1, 2):
        read(store, dataset, "bob", case)
    assert told({"night": ("bob",)}.get)["night"] == {"n_done": 3, "done_by": "bob 3", "overdue": False}
    table = told({"night": ("bob", "ann", "cem")}.get)["night"]
    assert table == {"n_done": 2, "done_by": "bob 3, ann 0, cem 0", "overdue": True}, "Ann has begun one"


def test_who_read_before_a_group_of_unknown_members_was_asked_has_not_begun(store, dataset):
    read(store, dataset, "bob", 0)
    store.assign(given(dataset, "claimed", group=True), token="1")
    read(store, dataset, "ann", 1)
    (row,) = assignment_table(store.assignments(dataset.digest), store.trail(dataset.digest)).to_dict("records")
    assert row["done_by"] == "ann 1"


def test_what_is_done_or_taken_back_is_not_overdue_and_what_is_not_begun_is(store, dataset):
    for token, (whom, cases) in enumerate((("bob", [0]), ("bob", [0, 1]), ("cem", [0, 1]), ("cem", [2]))):
        store.assign(given(dataset, whom, cases, due=date(2020, 1, 1 + token)), token=str(token))
    read(store, dataset, "bob", 0)
    *_, first = store.assignments(dataset.digest)
    taken_back = store.assign(given(dataset, "dan", [2], due=date(2020, 1, 9)), token="taken")
    store.withdraw(dataset.digest, taken_back.number, "mia", token="back")
    table = assignment_table(store.assignments(dataset.digest), store.trail(dataset.digest))
    told = table[["whom", "due", "n_cases", "n_done", "overdue", "withdrawn"]].to_numpy().tolist()
    assert told == [
        ["dan", "2020-01-09", 1, 0, False, True],
        ["cem", "2020-01-04", 1, 0, True, False],
        ["cem", "2020-01-03", 2, 1, True, False],  # what Bob settled is done
        ["bob", "2020-01-02", 2, 1, True, False],
        ["bob", "2020-01-01", 1, 1, False, False],
    ]
    assert (table["number"].iloc[-1], table["by"].iloc[-1], table["at"].iloc[-1][:2]) == (first.number, "mia", "20")


def test_who_assigned_is_told_what_is_overdue_by_whom_and_how_many_cases(store, dataset):
    past, passed = date(2020, 1, 5), date(2020, 1, 2)
    for whom, said in {
        "bob": {"due": past},
        "cem": {"due": passed, "cases": [0, 1], "title": "Sooner"},
        "night": {"due": date(2020, 1, 7), "group": True},
        "claimed": {"due": date(2020, 1, 8), "group": True, "cases": [1, 2]},
        "in time": {"due": date.max},
        "never due": {},
        "of another": {"due": passed, "by": "max"},
    }.items():
        store.assign(given(dataset, whom, **said), token=whom)
    back = store.assign(given(dataset, "taken back", due=passed), token="back")
    store.withdraw(dataset.digest, back.number, "mia", token="gone")
    done = store.assign(given(dataset, "dan", [3], due=passed), token="done")
    read(store, dataset, "dan", 3)
    read(store, dataset, "eve", 1)

    def told(person="mia"):
        found = overdue_of(store, person, lambda dataset: {"night": ("ann", "eve")}.get)
        return [(one.assignment.whom, one.left, one.members_known) for one in found]

    expected = [
        ("cem", {"cem": 1}, True),  # what Eve settled is done for him, too
        ("bob", {"bob": 2}, True),
        ("night", {"ann": 2, "eve": 2}, True),
        ("claimed", {"eve": 1}, False),
    ]
    assert told() == expected and done.number
    assert told("max") == [("of another", {"of another": 2}, True)] and told("cem") == []
    read(store, dataset, "cem", 0)
    assert [whom for whom, *_ in told()] == ["bob", "night", "claimed"]


def test_when_it_is_due_in_words():
    today = date(2026, 3, 10)
    days = {1: "due 1 Mar 2026", 10: "due today", 11: "due tomorrow", 20: "due 20 Mar 2026"}
    for day, words in days.items():
        late = day < 10
        assert due_words(date(2026, 3, day), today) == (
            f"overdue since {words.removeprefix('due ')}" if late else words
        )
        assert is_overdue(date(2026, 3, day), today) == late
    assert due_words(None) == "" and not is_overdue(None)


def test_cases_are_divided_in_turn():
    queued = [Queued(str(number)) for number in range(5)]
    assert [[case.case_id for case in part] for part in divided(queued, 3)] == [["0", "3"], ["1", "4"], ["2"]]
