"""Decisions are found again by person, state and date, as they stand now."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.annotations.dataset import Dataset
from core.review.decided_gold import decided_gold
from core.review.decisions import decision_table, decisions, n_quick, quick_words
from core.review.opinions import UNDETERMINED, Opinion

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


def test_the_time_of_a_decision_is_all_that_was_spent_on_the_case_until_it_was_given(dataset, reviews_of):
    """Also before a skip and what was undone, not in an earlier round, and not what came after it."""
    made = reviews_of(dataset)
    made.do("case 0", "Ann", "skip", seconds=1.2)
    made.do("case 0", "Ann", "opinion", X, seconds=0.4)
    made.do("case 0", "Ann", "undo", seconds=0.25)
    made.do("case 0", "Ann", "opinion", Y, seconds=0.1)
    made.do("case 0", "Bob", "opinion", Y, seconds=0.5)
    made.do("case 0", "Ann", "reveal", panel=Y)
    made.do("case 0", "Ann", "keep", seconds=30.0)
    found = {one.reviewer: one for one in decisions(made.found)}
    assert found["Ann"].seconds == pytest.approx(1.95) and found["Bob"].seconds == 0.5
    assert found["Ann"].is_quick and n_quick(found.values()) == (2, 2)
    made.do("case 0", "Bob", "reveal", panel=Y)
    made.do("case 0", "Bob", "change", X, note="seen", seconds=1.5)
    made.do("case 0", "Ann", "reopen", note="again")
    made.do("case 0", "Ann", "opinion", X, seconds=1.0)
    (again,) = decisions(made.found)
    assert (again.seconds, again.is_quick) == (1.0, True)


def test_two_seconds_are_not_quick_and_what_was_not_timed_counts_on_neither_side(dataset, reviews_of):
    made = reviews_of(dataset)
    for case, seconds in enumerate((1.99, 2.0, None, 0.0)):
        made.do(f"case {case}", "Ann", "opinion", X, seconds=seconds)
    found = decisions(made.found)
    assert n_quick(found) == (2, 3)
    assert quick_words(found) == "2 of 3 timed decisions (67%) took less than 2 seconds."
    assert decision_table(dataset, found)["seconds"].tolist() == [2.0, 2.0, pd.NA, 0.0]
    assert quick_words([one for one in found if one.seconds is None]) == ""
    assert quick_words([one for one in found if one.seconds == 2.0]) == (
        "0 of 1 timed decision took less than 2 seconds."
    )


def test_the_note_of_who_decided_alone_stands_beside_the_decision(dataset, reviews_of):
    made = reviews_of(dataset)
    made.do("case 0", "Ann", "opinion", X, note="blurred")
    made.do("case 0", "Ann", "reveal", panel=UNDETERMINED)
    made.do("case 0", "Ann", "keep", note="seen on the scan")
    assert [one.note for one in decisions(made.found)] == ["blurred · seen on the scan"]


def test_the_table_has_the_hour_of_the_day_in_utc(dataset, reviews_of):
    made = reviews_of(dataset)
    made.do("case 0", "Ann", "opinion", opinion=X, at=1_700_000_000_900_000)
    assert decision_table(dataset, decisions(made.found))["at (UTC)"].tolist() == ["2023-11-14 22:13:20"]


# Decided gold: Decisions of arbitrations as gold: only where they name one class, and never over gold that is there.


X, Y = Opinion.of_class("x"), Opinion.of_class("y")


def decided(reviews_of, dataset, verdicts, closed=()):
    made = reviews_of(dataset)
    for case_id, verdict in verdicts.items():
        made.read(case_id, "Ann", Y, panel=X)
        made.do(case_id, "Cem", "reveal", panel=X)
        made.do(case_id, "Cem", "adjudication", verdict)
    for case_id in closed:
        made.read(case_id, "Ann", X, panel=X)
    return made.found


def test_finished_arbitrations_are_gold_and_agreement_with_the_panel_is_none(dataset, reviews_of):
    verdicts = {"case 1": Y, "case 2": UNDETERMINED, "case 3": Opinion.of_distribution({"x": 0.5, "y": 0.5})}
    verdicts["case 4"] = Opinion.of_ranking([["z"], ["x"]])
    found = decided_gold(dataset, decided(reviews_of, dataset, verdicts, closed=["case 0"]))
    codes = [dataset.classes.index(name) for name in "yz"]
    assert found.dataset.gold[[1, 4]].tolist() == codes and (np.delete(found.dataset.gold, [1, 4]) == -1).all()
    assert (found.n_decided, found.n_differ, found.n_no_class) == (2, 0, 2)
    assert found.dataset.content_digest != dataset.content_digest
    assert found.words == "2 of 2 gold classes come from arbitration by people who saw the annotations."


def test_gold_of_the_file_stays_and_what_differs_is_said(dataset, reviews_of):
    gold = np.full(dataset.n_cases, -1, np.int32)
    gold[:2] = dataset.classes.index("x")
    known = replace(dataset, gold=gold)
    found = decided_gold(known, decided(reviews_of, dataset, {"case 0": X, "case 1": Y, "case 2": Y}))
    assert found.dataset.gold[:3].tolist() == [*gold[:2], dataset.classes.index("y")]
    assert (found.n_decided, found.n_differ) == (1, 1)
    assert "1 of 3 gold classes" in found.words and "1 other decision differs" in found.words


def test_a_selection_takes_the_decisions_on_its_own_cases_and_without_any_nothing_changes(dataset, reviews_of):
    reviews = decided(reviews_of, dataset, {"case 1": Y, "case 2": X})
    part = dataset.select(cases=["case 2", "case 3"])
    found = decided_gold(part, reviews)
    assert found.n_decided == 1 and found.dataset.gold.tolist() == [part.classes.index("x"), -1]
    assert decided_gold(dataset.select(cases=["case 3"]), reviews).n_decided == 0
    assert decided_gold(dataset, {}).dataset is dataset


def test_decided_sets_are_gold_of_sets_and_a_known_set_stays(reviews_of):
    names = ("d", ("a", "b", "c"), ("r", "s"), ("x", "y", "z"))
    sets = Dataset.from_sets(*names, [0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [0, 2, 3, 4, 5, 6], [0, 1, 0, 1, 2, 0])
    one, two = Opinion.of_labels(["z"]), Opinion.of_labels(["x", "y"])

    def of(data):
        made = reviews_of(data)
        for case_id, verdict in {"a": two, "b": one, "c": UNDETERMINED}.items():
            made.read(case_id, "Ann", one, panel=two)
            made.do(case_id, "Cem", "reveal", panel=two)
            made.do(case_id, "Cem", "adjudication", verdict)
        return decided_gold(data, made.found)

    found = of(sets)
    assert found.dataset.gold_sets.tolist() == [[1, 1, 0], [0, 0, 1], [-1, -1, -1]]
    assert (found.n_decided, found.n_differ, found.n_no_class) == (2, 0, 1)
    assert found.words == "2 of 2 gold sets come from arbitration by people who saw the annotations."
    found = of(replace(sets, gold_sets=np.array([[0, 1, 1], [-1, -1, -1], [-1, -1, -1]], np.int8)))
    assert found.dataset.gold_sets.tolist() == [[0, 1, 1], [0, 0, 1], [-1, -1, -1]]
    assert (found.n_decided, found.n_differ) == (1, 1) and "1 of 2 gold sets" in found.words
