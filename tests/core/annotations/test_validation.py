"""The door: what does not fit is refused with its place, what fits in one way is converted, and nothing else passes."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.annotations.csr import group_by_case, order_blocks
from core.annotations.dataset import Dataset
from core.annotations.validation import LARGEST_SCORE, MISSING_TIME
from core.errors import InputError

BIG = np.iinfo(np.int64).max


def of_classes(**changed) -> Dataset:
    given = {
        "name": "d",
        "cases": ["a", "b"],
        "raters": ["r", "s", "t"],
        "classes": ["x", "y"],
        "case_code": [0, 1, 1],
        "rater_code": [0, 1, 2],
        "answer": [0, 1, 1],
    }
    return Dataset.from_classes(**{**given, **changed})


def of_scores(**changed) -> Dataset:
    given = {"name": "d", "cases": ["a", "b"], "raters": ["r", "s"], "case_code": [0, 1, 1], "rater_code": [0, 1, 0]}
    return Dataset.from_scores(**{**given, "score": [0.5, 1, -0.0], **changed})


def of_rankings(**changed) -> Dataset:
    given = {
        "name": "d",
        "cases": ["a", "b"],
        "raters": ["r", "s"],
        "classes": ["x", "y", "z"],
        "case_code": [1, 0],
        "rater_code": [0, 1],
        "entry_ptr": [0, 2, 5],
        "entry_class": [1, 0, 2, 1, 0],
        "entry_rank": [1, 1, 3, 2, 3],
    }
    return Dataset.from_rankings(**{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"answer": [0, 2, 1]}, r"answer\[1\] is 2, which is not a code for one of the 2 classes. Use 0 to 1"),
        ({"answer": [0, 1, -1]}, r"answer\[2\] is -1"),
        ({"answer": [0, 1, BIG]}, r"answer\[2\] is 9223372036854775807"),
        ({"answer": np.array([0, 1, 2**32], np.uint64)}, r"answer\[2\] is 4294967296"),
        ({"answer": [0.0, 1.0, 1.0]}, "answer has type float64, but answer must contain only integers. .*astype.int32"),
        ({"answer": [0.0, 1.5, 1.0]}, r"answer\[1\] is 1.5, but answer must contain only integers"),
        ({"answer": [0.0, np.nan, 1.0]}, r"answer\[1\] is nan, but answer must contain only integers"),
        ({"answer": [True, False, True]}, "answer has type bool"),
        ({"answer": ["x", "y", "y"]}, "answer has type <U1"),
        ({"answer": [0, None, 1]}, "answer has type object"),
        ({"answer": [0, 1]}, "it has 2 entries for 3 annotations. Provide one entry for each"),
        ({"answer": [[0, 1, 1]]}, "it is an array with 2 axes, not a list"),
        ({"answer": [[0], [1, 1]]}, "answer: it is .*, not a list"),
        ({"answer": 1}, "answer: it is 1, not a list"),
        ({"answer": np.ma.array([0, 1, 1], mask=[0, 1, 0])}, "answer: it has masked entries"),
        ({"case_code": [0, 1, 2]}, r"case_code\[2\] is 2, which is not a code for one of the 2 cases"),
        ({"case_code": [0, -1, 1]}, r"case_code\[1\] is -1"),
        ({"rater_code": [0, 1, 3]}, r"rater\[2\] is 3, which is not a code for one of the 3 raters"),
        ({"rater_code": [0, 1]}, "rater_code: it has 2 entries for 3 annotations"),
        ({"cases": ["a", "a"]}, "cases: 'a' occurs twice, at positions 0 and 1"),
        ({"raters": ["r", "s", "r"]}, "raters: 'r' occurs twice, at positions 0 and 2"),
        ({"classes": ["x", "x"]}, "classes: 'x' occurs twice"),
        ({"cases": ["a", ""]}, "Entry 1 of the cases is empty"),
        ({"cases": [1, 2]}, r"Entry 0 of the cases is 1 \(int\), not a string"),
        ({"cases": "ab"}, "The cases must be a list of strings; got one string"),
        ({"cases": None}, "The cases must be a list of strings; got NoneType"),
        ({"cases": ["a", "\ud800"]}, "entry 1 in the list of cases .* contains an incomplete character"),
        ({"cases": [], "case_code": [], "rater_code": [], "answer": []}, "it has no cases"),
        ({"classes": []}, "Provide the names that these codes refer to"),
        ({"time": [1, 2, 2**60]}, r"time\[2\] is 1152921504606846976, which is not a date"),
        ({"time": [1.0, np.nan, 2.0]}, r"time\[1\] is nan"),
        ({"time": [1, 2]}, "time: it has 2 entries for 3 annotations"),
        ({"gold": [0, 2]}, r"gold\[1\] is 2, which is not a code for one of the 2 classes. Use -1 to 1"),
        ({"gold": [0]}, "gold: it has 1 entries for 2 cases"),
        ({"class_risk": [0, 3]}, r"class_risk\[1\] is 3, which is not a risk level. Use -1 to 2"),
        ({"class_risk": [0]}, "class_risk: it has 1 entries for 2 classes"),
        ({"class_risk": [0, 300]}, r"class_risk\[1\] is 300"),
        ({"case_group": ["north"]}, "case_group: it has 1 entries for 2 cases"),
        ({"case_group": ["north", None]}, "Entry 1 of the groups of cases is None"),
        ({"ordinal": 2}, "ordinal is 2. Use True or False"),
        ({"raters_identified": "no"}, "raters_identified is 'no'"),
        ({"name": 3}, "name of the dataset"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(changed, found):
    with pytest.raises(InputError, match=found):
        of_classes(**changed)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2 * LARGEST_SCORE])
def test_a_score_that_cannot_be_computed_with_is_refused(value):
    with pytest.raises(InputError, match=r"score\[1\] is .*(finite number|within)"):
        of_scores(score=[1, value, 2])


def test_scores_have_no_classes_and_no_gold():
    for side in ({"gold": [-1, -1]}, {"class_risk": []}):
        with pytest.raises(InputError, match="scores cannot have gold classes"):
            of_scores(**side)
    with pytest.raises(InputError, match="kind 'score'"):
        replace(of_scores(), classes=("x",))
    with pytest.raises(InputError, match="kind 'class'"):
        Dataset("d", "class", ("a",), ("r",), (), [0, 0], [])


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"entry_ptr": [0, 2, 4]}, "entry_ptr runs from 0 to 4. It must run from 0 to 5"),
        ({"entry_ptr": [1, 2, 5]}, "entry_ptr runs from 1 to 5"),
        ({"entry_ptr": [0, 7, 5]}, r"entry_ptr\[2\] is 5, less than the previous entry"),
        ({"entry_ptr": [0, -3, 5]}, r"entry_ptr\[1\] is -3, less than the previous entry"),
        ({"entry_ptr": [0, 5]}, "entry_ptr has 2 entries for 2 annotations. Provide 3"),
        ({"entry_ptr": [0, 5, 5]}, "ranks no class"),
        ({"entry_class": [1, 0, 2, 2, 0]}, "ranks a class twice"),
        ({"entry_class": [1, 0, 2, 1, 3]}, r"entry_class\[4\] is 3"),
        ({"entry_rank": [1, 1, np.nan, 2, 3]}, r"entry_rank\[2\] is nan, which is not a finite number"),
        ({"entry_rank": [1, 1, 3, 2]}, "entry_rank: it has 4 entries for 5"),
    ],
)
def test_rankings_that_are_none_are_refused(changed, found):
    with pytest.raises(InputError, match=found):
        of_rankings(**changed)


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"entry_block": [1, 2, 2, 0, 0]}, r"Annotation 0 \(counted from 0\) does not start with block 0"),
        (
            {"entry_block": [0, 2, 2, 0, 0]},
            r"Annotation 0 \(counted from 0\) has block numbers that do not increase in steps of one",
        ),
        (
            {"entry_block": [0, 1, 0, 0, 0]},
            r"Annotation 0 \(counted from 0\) has block numbers that do not increase in steps of one",
        ),
        (
            {"entry_class": [1, 2, 0, 0, 1]},
            r"Annotation 0 \(counted from 0\) has tied classes that are not sorted by code",
        ),
        ({"entry_class": [1, 0, 1, 0, 1]}, r"Annotation 0 \(counted from 0\) ranks a class twice"),
        ({"entry_class": [1, 0, 2, 1, 1]}, r"Annotation 1 \(counted from 0\) ranks a class twice"),
        ({"entry_ptr": [0, 0, 5]}, r"Annotation 0 \(counted from 0\) ranks no class"),
        ({"case_ptr": [0, 3, 2]}, r"case_ptr\[2\] is 2, less than the previous|case_ptr runs"),
        ({"answer": [0, 1]}, "answer: it has 2 entries for 0 annotations of one class"),
        ({"score": [0.0, 1.0]}, "score: it has 2 entries for 0"),
        ({"kind": "vote"}, "Unknown kind of annotation 'vote'"),
        ({"rater": [0, 2]}, r"rater\[1\] is 2"),
    ],
)
def test_a_changed_field_goes_through_the_same_door(changed, found):
    good = of_rankings()
    assert good.entry_class.tolist() == [1, 0, 2, 0, 1]
    assert good.entry_block.tolist() == [0, 1, 1, 0, 0]
    with pytest.raises(InputError, match=found):
        replace(good, **changed)


def test_times_stand_in_order_within_a_case_and_in_any_order_across_cases():
    dataset = of_classes(time=[9, 5, 3])
    assert dataset.time.tolist() == [9, 3, 5]
    assert dataset.rater.tolist() == [0, 2, 1]
    with pytest.raises(InputError, match=r"time\[2\]: it is earlier"):
        replace(dataset, time=np.array([9, 5, 3]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, ">i4"])
def test_whole_numbers_of_any_width_mean_the_same(dtype):
    given = {name: np.array(codes, dtype) for name, codes in (("answer", [0, 1, 1]), ("case_code", [0, 1, 1]))}
    dataset = of_classes(**given, rater_code=np.array([0, 1, 2], dtype))
    assert dataset.digest == of_classes().digest
    assert dataset.answer.dtype == dataset.rater.dtype == np.dtype(np.int32)


def test_dates_of_numpy_become_seconds():
    stamps = np.array(["1970-01-01T00:00:07.5", "NaT", "1970-01-02"], "datetime64[ms]")
    dataset = of_classes(time=stamps)
    assert dataset.time.tolist() == [7, MISSING_TIME, 86_400]


def test_names_of_numpy_and_pandas_become_plain_text():
    dataset = of_classes(cases=np.array(["a", "b"]))
    assert dataset.digest == of_classes().digest
    assert repr(dataset.cases) == "('a', 'b')"
    assert dataset.cases == ("a", "b") and hash(dataset.cases) == hash(("a", "b"))


def test_a_dataset_survives_pickling_as_it_is():
    for dataset in (of_classes(), of_scores(), of_rankings()):
        again = pickle.loads(pickle.dumps(dataset))
        assert again.digest == dataset.digest
        assert replace(again, name="other").digest == dataset.digest


def test_nobody_can_change_a_dataset_through_a_view_of_its_arrays():
    whole = np.array([0, 1, 1, 1], np.int32)
    dataset = replace(of_classes(), answer=whole[:3])
    whole[:] = 99
    assert dataset.answer.tolist() == [0, 1, 1]
    hidden = np.array([0, 1, 1], np.int32)
    view = hidden.view()
    view.flags.writeable = False
    dataset = replace(of_classes(), answer=view)
    hidden[:] = 99
    assert dataset.answer.tolist() == [0, 1, 1]


def test_an_array_that_needs_no_change_is_not_copied():
    dataset = of_classes()
    assert replace(dataset, name="other").answer is dataset.answer
    assert replace(dataset, name="other").cases is dataset.cases


def test_cases_and_raters_may_be_without_annotations():
    dataset = of_classes(cases=["a", "b", "c"], raters=["r", "s", "t", "u"])
    assert np.diff(dataset.case_ptr).tolist() == [1, 2, 0]
    assert dataset.n_raters == 4
    tied = of_rankings(entry_rank=[1, 1, 1, 1, 1]).as_classes()[0]
    assert tied.n_annotations == 0 and tied.n_cases == 2


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    codes=st.lists(st.integers(-3, 6), max_size=8),
    n_cases=st.integers(0, 4),
    time=st.none() | st.lists(st.integers(-3, 3), max_size=8),
)
def test_sorting_by_case_refuses_what_would_leave_its_tables(codes, n_cases, time):
    fits = all(0 <= code < n_cases for code in codes) and (time is None or len(time) == len(codes))
    if not fits:
        with pytest.raises(InputError):
            group_by_case(np.array(codes, np.int64), n_cases, time)
        return
    case_ptr, order = group_by_case(np.array(codes, np.int64), n_cases, time)
    keys = list(zip(codes, time or [0] * len(codes), range(len(codes)), strict=True))
    assert [key[2] for key in sorted(keys)] == order.tolist()
    assert np.diff(case_ptr).tolist() == [codes.count(case) for case in range(n_cases)]


@pytest.mark.parametrize("order", [[0, 2], [-1, 0], [0.0, 1.0]])
def test_ordering_of_blocks_refuses_annotations_that_are_not_there(order):
    with pytest.raises(InputError, match="order"):
        order_blocks([0, 1, 2], [0, 1], [1.0, 1.0], order)
