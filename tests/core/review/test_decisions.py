"""Decisions are found again by person, state and date, as they stand now."""

import pytest

from core.review.decisions import decision_table, decisions
from core.review.opinions import Opinion

X, Y = Opinion.of_class("x"), Opinion.of_class("y")


@pytest.fixture
def reviews(dataset, reviews_of):
    """Ann closes a case and changes her mind on another, which Bob disputes and Cem decides; a third is undone."""
    made = reviews_of(dataset)
    made.read("case 0", "Ann", X, panel=X)
    made.read("case 1", "Ann", Y, panel=Y, end=X, reason="guideline_gap", at=5)
    made.do("case 1", "Cem", "reveal", panel=Y)
    made.do("case 1", "Cem", "adjudication", opinion=Y, note="seen again", at=9)
    made.do("case 2", "Bob", "opinion", opinion=Y)
    made.do("case 2", "Bob", "undo")
    return made.found


def listed(found):
    return [(one.case_id, one.reviewer, one.opinion.words()) for one in found]


def test_decisions_stand_as_they_are_now_the_latest_first(reviews):
    found = decisions(reviews)
    assert listed(found) == [("case 1", "Cem", "y"), ("case 1", "Ann", "x"), ("case 0", "Ann", "x")]
    assert [one.at for one in found] == [9, 5, 0]


def test_they_are_found_by_person_state_and_date(reviews):
    assert listed(decisions(reviews, reviewer="Cem")) == [("case 1", "Cem", "y")]
    assert listed(decisions(reviews, states=["closed"])) == [("case 0", "Ann", "x")]
    assert [one.at for one in decisions(reviews, since=5)] == [9, 5]
    assert [one.at for one in decisions(reviews, since=5, until=9)] == [5]


def test_the_table_says_who_ended_an_arbitration_and_why(dataset, reviews):
    table = decision_table(dataset, decisions(reviews, reviewer="Cem"))
    (row,) = table.to_dict("records")
    assert (row["given"], row["state"], row["note"]) == ("ended the arbitration", "adjudicated", "seen again")
    assert decision_table(dataset, decisions(reviews, reviewer="Ann"))["reason"].tolist() == ["guideline gap", ""]


def test_what_was_reopened_stands_no_more(dataset, reviews_of):
    made = reviews_of(dataset)
    made.read("case 0", "Ann", X, panel=X)
    made.do("case 0", "Ann", "reopen", note="a new image")
    assert decisions(made.found) == []


def test_the_table_has_the_hour_of_the_day_in_utc(dataset, reviews_of):
    made = reviews_of(dataset)
    made.do("case 0", "Ann", "opinion", opinion=X, at=1_700_000_000_900_000)
    assert decision_table(dataset, decisions(made.found))["at (UTC)"].tolist() == ["2023-11-14 22:13:20"]
