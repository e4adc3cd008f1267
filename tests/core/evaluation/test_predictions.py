"""Predictions against the rows they were read from, and every way in which they may not fit the data."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import pandas as pd
import pytest

import core
from core.errors import InputError
from core.evaluation.predictions import match_predictions, open_predictions, read_predictions
from core.ingest.formats.tables import open_table
from core.ingest.samples import SAMPLE_FOLDER


@pytest.fixture
def dataset(build):
    """Cases 0 to 3 and classes 0 to 4, all used."""
    return build([(case, rater, (case + rater) % 5) for case in range(4) for rater in range(3)], 5)


def matched(dataset, rows, **more):
    """Predictions from rows of (case, class, score) by number."""
    cases, classes, scores = zip(*rows, strict=True)
    return match_predictions(
        dataset, [f"case {i}" for i in cases], [f"class {k}" for k in classes], np.array(scores), "A", **more
    )


def blocks_of(predictions, case):
    """Blocks of tied classes, best first."""
    own = slice(predictions.ptr[case], predictions.ptr[case + 1])
    pairs = zip(predictions.group[own].tolist(), predictions.class_code[own].tolist(), strict=True)
    return [[k for _, k in block] for _, block in groupby(pairs, key=lambda pair: pair[0])]


def read(dataset, text, name="file"):
    return read_predictions(open_table(text.encode()), dataset, name)


def same(one, other):
    return all((getattr(one, part) == getattr(other, part)).all() for part in ("ptr", "class_code", "group"))


ROWS = [(0, 3, 0.5), (0, 1, 0.2), (0, 4, 0.2), (2, 0, -1.0), (3, 2, 0.1), (3, 4, 0.1), (3, 0, 0.7), (3, 1, 0.0)]


def test_classes_stand_by_falling_score_and_equal_scores_are_one_block(dataset):
    found = matched(dataset, ROWS)
    assert [blocks_of(found, case) for case in range(4)] == [[[3], [1, 4]], [], [[0]], [[0], [2, 4], [1]]]
    assert found.predicted.tolist() == [True, False, True, True]
    assert found.group.tolist() == [0, 1, 1, 0, 0, 1, 1, 2]


@pytest.mark.parametrize("seed", range(10))
def test_rows_in_any_order_give_the_same(dataset, seed):
    order = np.random.default_rng(seed).permutation(len(ROWS))
    assert same(matched(dataset, [ROWS[row] for row in order]), matched(dataset, ROWS))


@pytest.mark.parametrize("seed", range(20))
def test_blocks_are_those_of_sorting_each_case_by_hand(dataset, seed):
    rng = np.random.default_rng(seed)
    rows = [(case, k, float(rng.integers(4))) for case in range(4) for k in range(5) if rng.random() < 0.7]
    found = matched(dataset, [rows[row] for row in rng.permutation(len(rows))])
    for case in range(4):
        own = [(score, k) for i, k, score in rows if i == case]
        scores = sorted({score for score, _ in own}, reverse=True)
        assert blocks_of(found, case) == [[k for score, k in own if score == level] for level in scores]
    for top in (1, 2, 3):
        tied = short = 0
        for case in range(4):
            ordered = sorted((score for i, _, score in rows if i == case), reverse=True)
            tied += len(ordered) > top and ordered[top - 1] == ordered[top]
            short += 0 < len(ordered) < top
        assert (found.n_tied(top), found.n_short(top)) == (tied, short)


def test_a_single_prediction_in_all_is_short_and_not_tied(dataset):
    found = matched(dataset, [(2, 1, 0.4)])
    assert [(found.n_tied(top), found.n_short(top)) for top in (1, 2, 3)] == [(0, 0), (0, 1), (0, 1)]


def test_scores_of_any_size_are_told_apart(dataset):
    found = matched(dataset, [(0, 0, -1e308), (0, 1, 1e308), (0, 2, 0.0), (0, 3, -0.0), (0, 4, 5e-324)])
    assert blocks_of(found, 0) == [[1], [4], [2, 3], [0]]


def test_cases_without_a_prediction_are_counted_and_the_first_are_named(dataset):
    assert matched(dataset, ROWS).notes == ("A: no prediction for 1 case (case 1).",)
    assert matched(dataset, ROWS[3:4]).notes == ("A: no prediction for 3 cases (case 0, case 1, case 3).",)
    assert matched(dataset, [(case, 0, 1.0) for case in range(4)]).notes == ()


def test_the_list_of_cases_without_a_prediction_ends_after_three(build):
    many = build([(case, 0, 0) for case in range(9)], 2)
    assert matched(many, [(0, 1, 1.0)]).notes == ("A: no prediction for 8 cases (case 1, case 2, case 3, ...).",)


def test_predictions_of_other_cases_are_passed_over_whatever_they_say(dataset):
    """An unknown class and a score that is no number on cases that are not in the data harm nobody."""
    found = matched(dataset, [(17, 88, 0.1), (17, 0, np.nan), (18, 0, 1.0), *ROWS])
    assert same(found, matched(dataset, ROWS))
    assert found.notes[0] == "A: predictions for 2 cases not in the data were left out."


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, 1, 0.5), (2, 7, 0.5)], "A: unknown class 'class 7' for case 'case 2'"),
        ([(0, 1, 0.5), (3, 2, np.nan)], "A: class 'class 2' has no finite score for case 'case 3'"),
        ([(0, 1, np.inf)], "A: class 'class 1' has no finite score for case 'case 0'"),
        ([(0, 1, 0.5), (1, 3, 0.2), (1, 3, 0.1)], "A: class 'class 3' is predicted twice for case 'case 1'"),
        ([(9, 1, 0.5), (8, 1, np.nan)], "A: none of the predicted cases is in these data"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_class_and_case(dataset, rows, message):
    with pytest.raises(InputError, match=message):
        matched(dataset, rows)


FULL = [(0, k, 0.2) for k in range(5)]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (FULL, False),
        ([(0, 0, 0.3), (0, 1, 0.2)], False),  # the head of a list
        ([(0, 0, 0.9), (0, 1, 0.2)], True),
        ([(0, k, 0.1) for k in range(5)], True),  # all classes, half of it missing
        ([(0, k, 0.2001) for k in range(5)], False),  # rounded
        ([(0, k, 0.201 if k < 2 else 0.2) for k in range(5)], False),  # rounded to three decimals
        ([(0, 0, 0.5), (0, 1, 0.502)], True),
    ],
)
def test_scores_that_do_not_sum_to_one_are_told_and_still_used(dataset, rows, told):
    rows = [*rows, (1, 0, 1.0), (2, 0, 1.0), (3, 0, 1.0)]
    found = matched(dataset, rows, probabilities=True)
    words = "do not add up to one. Metrics use only the order of the scores. Prediction sets use the scores unchanged."
    expected = (f"A: the scores for 1 case {words}",) if told else ()
    assert found.notes == expected
    assert same(found, matched(dataset, rows))


LONG = """model,case,class,score
A,case 0,class 3,0.5
B,case 0,class 1,0.9
A,case 0,class 1,0.2
A,case 0,class 4,0.2
A,case 2,class 0,1
"""


def test_a_long_table_gives_one_set_of_predictions_for_each_classifier(dataset):
    first, second = read(dataset, LONG)
    assert (first.name, second.name) == ("A", "B")
    assert [blocks_of(first, case) for case in range(4)] == [[[3], [1, 4]], [], [[0]], []]
    assert [blocks_of(second, case) for case in range(4)] == [[[1]], [], [], []]


def test_a_long_table_without_a_classifier_takes_the_name_of_the_file(dataset):
    (found,) = read(dataset, "case_id,Predicted Class,Confidence\ncase 1,class 2,0.5\n", "net v2")
    assert found.name == "net v2"
    assert blocks_of(found, 1) == [[2]]


def test_of_ranks_the_lowest_is_the_best(dataset):
    text = "case,class,rank\ncase 0,class 3,2\ncase 0,class 1,1\ncase 0,class 4,2\ncase 0,class 0,10\n"
    (found,) = read(dataset, text)
    assert blocks_of(found, 0) == [[1], [3, 4], [0]]
    assert not any("sum" in note for note in found.notes)


def test_where_there_are_scores_and_ranks_the_scores_count(dataset):
    (found,) = read(dataset, "case,class,rank,score\ncase 0,class 3,1,0.2\ncase 0,class 1,2,0.7\n")
    assert blocks_of(found, 0) == [[1], [3]]


def test_wide_and_long_tables_of_the_same_scores_give_the_same(dataset):
    scores = np.random.default_rng(0).dirichlet(np.ones(5), 4).round(2)
    wide = "case," + ",".join(f"class {k}" for k in range(5)) + "\n"
    wide += "".join(f"case {i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(scores))
    long = "case,class,score\n" + "".join(f"case {i},class {k},{s}\n" for (i, k), s in np.ndenumerate(scores))
    assert same(read(dataset, wide)[0], read(dataset, long)[0])


def test_an_empty_cell_of_a_wide_table_is_no_prediction_and_is_told(dataset):
    (found,) = read(dataset, "case,class 2,class 0,class 4\ncase 1,0.5,,0.1\ncase 3,,,1\n")
    assert [blocks_of(found, case) for case in (1, 3)] == [[[2], [4]], [[4]]]
    assert "file: 3 empty cells were read as “not predicted”." in found.notes


def test_a_cell_of_a_wide_table_that_says_nan_is_refused(dataset):
    with pytest.raises(InputError, match="class 'class 0' has no finite score for case 'case 3'"):
        read(dataset, "case,class 2,class 0\ncase 1,0.5,0.5\ncase 3,0.5, NaN\n")


def test_a_column_of_a_wide_table_that_is_no_class_is_told(dataset):
    (found,) = read(dataset, "case,site,class 2,clas 0\ncase 1,north,0.5,0.4\n")
    assert blocks_of(found, 1) == [[2]]
    assert "file: 2 columns not named after a class were left out (site, clas 0)." in found.notes


def test_a_wide_table_may_hold_several_classifiers(dataset):
    first, second = read(dataset, "model,case,class 2,class 0\nA,case 1,0.6,0.4\nB,case 1,0.3,0.7\n")
    assert (first.name, blocks_of(first, 1)) == ("A", [[2], [0]])
    assert (second.name, blocks_of(second, 1)) == ("B", [[0], [2]])


@pytest.mark.parametrize("header", ["group,case,class,score", "group,Image ID,class,score", "time,slide,label,prob"])
def test_the_column_of_cases_is_found_beside_others(dataset, header):
    (found,) = read(dataset, f"{header}\n2020,case 1,class 2,0.5\n2021,case 2,class 0,0.5\n")
    assert blocks_of(found, 1) == [[2]]


def test_a_label_beside_scores_by_class_does_not_make_a_wide_table_long(dataset):
    (found,) = read(dataset, "case,label,class 2,class 0\ncase 1,class 0,0.6,0.4\n")
    assert blocks_of(found, 1) == [[2], [0]]


def test_decimal_commas_of_a_table_with_semicolons_are_numbers(dataset):
    (found,) = read(dataset, "case;class;score\ncase 1;class 2;0,25\ncase 1;class 0;0,5\n")
    assert blocks_of(found, 1) == [[0], [2]]


def test_rows_without_a_case_or_a_class_are_passed_over_and_told(dataset):
    (found,) = read(dataset, "case,class,score\ncase 1,class 2,0.5\n,class 1,0.5\ncase 2,NA,0.5\n")
    assert found.predicted.tolist() == [False, True, False, False]
    assert found.notes[0] == "file: 2 rows without a case, a class or a classifier were left out."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,class\ncase 1,class 2\ncase 1,class 1\n", "a case has several classes, but no scores or ranks"),
        ("case,first,second\ncase 1,0.5,0.5\n", "no class column and no columns named after classes"),
        ("case,class,score\ncase 1,class 2,\n", "class 'class 2' has no finite score for case 'case 1'"),
        ("case,class,score\ncase 1,class 2,NaN\n", "class 'class 2' has no finite score for case 'case 1'"),
        (
            "case,class,score\ncase 1,class 2,high\n",
            "class 'class 2' has no finite score for case 'case 1'",
        ),
        ("case,class,rank\ncase 1,class 9,1\n", "unknown class 'class 9' for case 'case 1'"),
        ("case,class,score\nelse,class 2,1\n", "none of the predicted cases is in these data"),
        ("case,class,score\n,class 2,1\n", "it contains no predictions"),
        ("case,class 1\n,1\n", "it contains no predictions"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(dataset, text, message):
    with pytest.raises(InputError, match=message):
        read(dataset, text)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("B,elsewhere,class 1,1", "Could not use B: none of the predicted cases is in these data"),
        (
            "B,case 1,class 1,NaN",
            "Could not use B: class 'class 1' has no finite score for case 'case 1'",
        ),
        ("B,case 1,class 9,1", "Could not use B: unknown class 'class 9' for case 'case 1'"),
    ],
)
def test_a_classifier_that_cannot_be_used_is_told_and_the_others_go_on(dataset, row, message):
    (found,) = read(dataset, f"model,case,class,score\n{row}\nA,case 1,class 2,0.5\n")
    assert (found.name, blocks_of(found, 1)) == ("A", [[2]])
    assert found.notes[0].startswith(message)
    assert found.notes[0].endswith("This classifier was left out.")


def sample_predictions(name, dataset):
    return read_predictions(open_table((SAMPLE_FOLDER / name / "predictions.csv").read_bytes()), dataset, name)


def test_the_printed_sets_of_the_dermatology_sample_are_one_tie_each():
    """One classifier names a class that no rater named: it has to be declared."""
    folder = SAMPLE_FOLDER / "dermatology"
    classes = {row[3] for file in ("annotations", "predictions") for row in pd.read_csv(folder / f"{file}.csv").values}
    dataset = core.read(folder / "annotations.csv", classes=sorted(classes)).dataset
    found = sample_predictions("dermatology", dataset)
    assert [one.name for one in found] == ["A", "B", "D"]
    assert [dict(zip(dataset.cases, one.predicted.tolist(), strict=True)) for one in found] == [
        {"case one": True, "case two": True, "case three": True},
        {"case one": True, "case two": False, "case three": True},
        {"case one": False, "case two": True, "case three": False},
    ]
    for one in found:
        assert (one.group == 0).all()
        assert set(np.diff(one.ptr).tolist()) <= {0, 3}
        n = int(one.predicted.sum())
        assert [(one.n_tied(top), one.n_short(top)) for top in (1, 2, 3, 4)] == [(n, 0), (n, 0), (0, 0), (0, n)]
    assert found[1].notes == ("B: no prediction for 1 case (case two).",)


def test_the_predictions_of_the_skin_sample_are_those_of_its_file():
    dataset = core.load_sample("skin")
    found = sample_predictions("skin", dataset)
    frame = pd.read_csv(SAMPLE_FOLDER / "skin" / "predictions.csv")
    assert [one.name for one in found] == ["A", "B", "C", "D"]
    for one in found:
        own = frame[frame.classifier == one.name]
        assert one.predicted.all() and one.notes == ()
        by_case = dict(list(own.groupby("case")))
        for case, case_id in enumerate(dataset.cases):
            codes = one.class_code[one.ptr[case] : one.ptr[case + 1]]
            scores = by_case[case_id].set_index("class").score
            ordered = scores[[dataset.classes[k] for k in codes]].to_numpy()
            assert len(ordered) == len(scores) and (np.diff(ordered) <= 0).all()
            steps = np.diff(one.group[one.ptr[case] : one.ptr[case + 1]])
            assert ((steps == 1) == (np.diff(ordered) < 0)).all()


def test_probabilities_of_every_class_are_those_listed_with_the_rest_spread_evenly(dataset):
    def of(cases, classes, scores):
        return match_predictions(dataset, cases, classes, np.array(scores), "net").probabilities(dataset.n_classes)

    first, second, *_ = dataset.cases
    a, b, *others = dataset.classes
    found = of([first, first], [a, b], [0.5, 0.2])
    assert found[0].tolist() == pytest.approx([0.5, 0.2] + [0.3 / len(others)] * len(others))
    assert np.isnan(found[1:]).all() and found[0].sum() == pytest.approx(1)
    assert of([first, second], [a, b], [0.5, 1.2]) is None
    assert of([first], [a], [-0.5]) is None
    n = dataset.n_classes
    assert of([first] * n, dataset.classes, [0.5 / n] * n) is None
    known = match_predictions(dataset, [first], [a], np.array([1.0]), "net")
    assert replace(known, score=None).probabilities(n) is None


ANSWERED = "case,label\ncase 1,class 2\ncase 2,class 1\n"


@pytest.mark.parametrize(
    ("content", "who"),
    [
        (ANSWERED, ["file"]),
        ("case,label,model\ncase 1,class 2,m\ncase 2,class 1,m\ncase 1,class 1,n\n", ["m", "n"]),
        ('{"m": {"case 1": "class 2", "case 2": "class 1"}, "n": {"case 1": "class 1"}}', ["m", "n"]),
        (
            '{"eval": {"model": "m"}, "samples": [{"id": "case 1", "scores": {"s": {"value": 1, "answer": "class 2"}}},'
            '{"id": "case 2", "scores": {"s": {"value": 0, "answer": "class 1"}}}]}',
            ["m"],
        ),
        ('[{"case": "case 1", "label": "class 2"}, {"case": "case 2", "label": "class 1"}]', ["file"]),
    ],
)
def test_answers_without_scores_are_the_first_class_and_nothing_is_known_of_the_others(dataset, content, who):
    found = open_predictions("file", content.encode(), dataset)
    assert [one.name for one in found] == who
    first = found[0]
    assert [dataset.classes[code] for code in first.class_code] == ["class 2", "class 1"]
    assert first.predicted.tolist() == [name in ("case 1", "case 2") for name in dataset.cases]
    assert first.probabilities(dataset.n_classes) is None


@pytest.mark.parametrize(
    "line",
    [
        '{"case": "case 1", "class 1": 0.2, "class 2": 0.8}',
        '{"case": "case 1", "probs": {"class 1": 0.2, "class 2": 0.8}}',
    ],
)
def test_open_predictions_reads_json_lines_with_a_score_per_class(dataset, line):
    (found,) = open_predictions("file", f"{line}\n{line.replace('case 1', 'case 2')}\n".encode(), dataset)
    assert [dataset.classes[code] for code in found.class_code[:2]] == ["class 2", "class 1"]
    assert found.score[:4].tolist() == [0.8, 0.2, 0.8, 0.2]
    assert found.predicted.tolist() == [name in ("case 1", "case 2") for name in dataset.cases]


def test_answers_that_are_no_classes_of_the_data_are_refused_with_the_case(dataset):
    with pytest.raises(InputError, match="unknown class 'refused' for case 'case 1'"):
        open_predictions("m", ANSWERED.replace("class 2", "refused").encode(), dataset)
    with pytest.raises(InputError, match="its predictions are not classes"):
        open_predictions("m", b'{"m": {"case 1": 0.5, "case 2": 0.7}}', dataset)
