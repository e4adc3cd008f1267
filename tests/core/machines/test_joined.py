"""Machines beside people: cases, classes and names are matched, and what does not match is told."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError
from core.evaluation.predictions import match_predictions
from core.machines.joined import as_scores, called, joined, of_predictions


def classes(name, rows, order=None):
    """A dataset of (case, rater, class)."""
    cases, raters = ([*dict.fromkeys(row[place] for row in rows)] for place in (0, 1))
    known = order or sorted({row[2] for row in rows})
    codes = [(cases.index(c), raters.index(r), known.index(k)) for c, r, k in rows]
    return Dataset.from_classes(name, cases, raters, known, *np.array(codes).T)


def rows_of(dataset):
    """(case, rater, what was said) of every annotation."""
    frame = dataset.to_frame("annotations")
    return sorted(map(tuple, frame[["case", "rater", frame.columns[-1]]].to_numpy().tolist()))


PEOPLE = classes("p", [("1", "ann", "x"), ("1", "bob", "y"), ("2", "ann", "y")])


def test_cases_are_matched_and_classes_and_names_that_clash_are_told():
    machine = classes("m", [("2", "ann", "z"), ("1", "gpt", "y"), ("9", "gpt", "x")])
    found, names, notes = joined(PEOPLE, machine)
    assert found.cases == PEOPLE.cases and found.classes == ("x", "y", "z")
    assert names == ("ann (machine)", "gpt")
    assert rows_of(found) == sorted(
        [("1", "ann", "x"), ("1", "bob", "y"), ("2", "ann", "y"), ("2", "ann (machine)", "z"), ("1", "gpt", "y")]
    )
    assert notes == ("1 case annotated only by AI raters was left out.", "1 class was chosen only by an AI rater: z.")


def test_kinds_are_made_alike_where_they_can_be():
    people = classes("p", [("1", "ann", "1"), ("2", "ann", "3")])
    scores = Dataset.from_scores("m", ["1", "2"], ["gpt"], [0, 1], [0, 0], [1.5, 3])
    assert rows_of(joined(people, scores)[0]) == [("1", "ann", 1), ("1", "gpt", 1.5), ("2", "ann", 3), ("2", "gpt", 3)]
    ranked = Dataset.from_rankings("r", ["1"], ["ann"], ["x", "y"], [0], [0], [0, 2], [1, 0], [1, 2])
    found = joined(ranked, classes("m", [("1", "gpt", "y")]))[0]
    assert [found.blocks_of(a) for a in range(2)] == [[[1], [0]], [[1]]]
    with pytest.raises(InputError, match="are not numbers"):
        joined(PEOPLE, scores)
    with pytest.raises(InputError, match="people gave rankings, but the AI rater gave scores"):
        joined(ranked, scores)
    with pytest.raises(InputError, match="the AI rater annotated '9', but people annotated '1', '2'"):
        joined(PEOPLE, classes("m", [("9", "gpt", "x")]))


def test_rankings_keep_their_blocks():
    one = Dataset.from_rankings(
        "r", ["1", "2"], ["ann"], ["x", "y", "z"], [0, 1], [0, 0], [0, 2, 3], [1, 0, 2], [1, 2, 1]
    )
    two = Dataset.from_rankings("m", ["2", "1"], ["gpt"], ["z", "x"], [0, 1], [0, 0], [0, 2, 3], [0, 1, 1], [1, 1, 1])
    found = joined(one, two)[0]
    assert [found.blocks_of(a) for a in range(4)] == [[[1], [0]], [[0]], [[2]], [[0, 2]]]


def test_annotations_that_are_no_numbers_are_left_out_and_counted():
    data = classes("p", [("1", "ann", "1"), ("2", "ann", "2"), ("1", "gpt", "refused"), ("2", "gpt", "2")])
    found, n = as_scores(data)
    assert (n, rows_of(found)) == (1, [("1", "ann", 1), ("2", "ann", 2), ("2", "gpt", 2)])


def test_predictions_are_a_first_class_or_a_list():
    cases, names = ["1", "1", "2", "2"], ["x", "y", "x", "y"]
    found = match_predictions(PEOPLE, cases, names, np.array([0.2, 0.8, 0.5, 0.5]), "net")
    assert rows_of(of_predictions(PEOPLE, found)) == [("1", "net", "y")]
    ranked = Dataset.from_rankings("r", ["1", "2"], ["ann"], ["x", "y"], [0, 1], [0, 0], [0, 1, 2], [1, 0], [1, 1])
    lists = of_predictions(ranked, match_predictions(ranked, cases, names, np.array([0.2, 0.8, 0.5, 0.5]), "net"))
    assert [lists.blocks_of(a) for a in range(2)] == [[[1], [0]], [[0, 1]]]


def test_a_file_of_one_machine_takes_its_name():
    machine = classes("m", [("1", "a", "y"), ("2", "a", "x")])
    assert called(machine, "gpt").raters == ("gpt",)
    with pytest.raises(InputError, match="more than one rater"):
        called(PEOPLE, "gpt")


def test_sets_of_a_machine_are_split_by_the_label_of_the_peoples():
    def sets(raters, codes):
        ptr = np.concatenate([[0], np.cumsum([len(part) for *_, part in codes])])
        case, rater = (np.array([row[place] for row in codes]) for place in (0, 1))
        code = np.concatenate([part for *_, part in codes]).astype(np.int64)
        return Dataset.from_sets("s", ["1", "2"], raters, ["x", "y", "z"], case, rater, ptr, code)

    people, machine = [(0, 0, [0, 2]), (1, 0, [1]), (0, 1, [1]), (1, 1, [0, 1])], [(0, 0, [1]), (1, 0, [0, 1])]
    whole = sets(["ann", "bob", "gpt"], people + [(case, 2, labels) for case, _, labels in machine])
    for label in "xyz":
        found, names, notes = joined(sets(["ann", "bob"], people).as_classes(label)[0], sets(["gpt"], machine))
        assert rows_of(found) == rows_of(whole.as_classes(label)[0]) and (names, notes) == (("gpt",), ())
    other = classes("m", [("1", "gpt", "x"), ("2", "gpt", "y")]).as_sets()  # a label that no set of the machine names
    found = joined(sets(["ann", "bob"], people).as_classes("z")[0], other)[0]
    assert [row for row in rows_of(found) if row[1] == "gpt"] == [("1", "gpt", "not z"), ("2", "gpt", "not z")]
    with pytest.raises(InputError, match="the AI rater gave sets of labels"):
        joined(PEOPLE, other)
