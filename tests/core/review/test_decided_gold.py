"""Decisions of arbitrations as gold: only where they name one class, and never over gold that is there."""

from dataclasses import replace

import numpy as np

from core.annotations.dataset import Dataset
from core.review.decided_gold import decided_gold
from core.review.opinions import UNDETERMINED, Opinion

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
    assert "1 of 3 gold classes" in found.words and "1 more differs" in found.words


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
