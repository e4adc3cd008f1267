"""The dataset: rows by case, selections, single classes, immutability, and the digest."""

import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import load_sample, read
from core.annotations.columns import as_numpy, as_texts, of_numpy, of_texts, text
from core.annotations.counts import class_counts, classes_per_case, n_groups, rater_case_pairs, raters_per_case
from core.annotations.dataset import MISSING_TIME, Dataset
from core.errors import InputError, NotApplicableError, NotFoundError


def classes() -> Dataset:
    """Case b was annotated by r1 twice, a by r0 and r1, c by r2."""
    return Dataset.from_classes(
        "by hand",
        ["a", "b", "c"],
        ["r0", "r1", "r2"],
        ["x", "y", "z"],
        np.array([1, 0, 2, 1, 0]),
        np.array([1, 0, 2, 1, 1]),
        np.array([2, 0, 1, 0, 1]),
        np.array([50, 10, 30, 20, MISSING_TIME]),
        case_group=("north", "south", "north"),
        gold=np.array([0, -1, 1], np.int32),
    )


def rankings() -> Dataset:
    return Dataset.from_rankings(
        "by hand",
        ["a", "b"],
        ["r0", "r1"],
        ["x", "y", "z"],
        np.array([1, 0, 0]),
        np.array([0, 0, 1]),
        np.array([0, 2, 5, 6]),
        np.array([1, 0, 2, 0, 1, 2]),
        np.array([1.0, 1.0, 9.0, 2.0, 9.0, 4.0]),
    )


def scores() -> Dataset:
    return Dataset.from_scores(
        "by hand", ["a", "b"], ["r0", "r1"], np.array([1, 0, 1]), np.array([0, 0, 1]), np.array([3.5, -0.0, 1.0])
    )


def test_annotations_stand_by_case_and_time():
    dataset = classes()
    assert dataset.case_ptr.tolist() == [0, 2, 4, 5]
    assert dataset.rater.tolist() == [1, 0, 1, 1, 2]
    assert dataset.answer.tolist() == [1, 0, 0, 2, 1]
    assert dataset.time.tolist() == [MISSING_TIME, 10, 20, 50, 30]
    assert dataset.case_of_annotation.tolist() == [0, 0, 1, 1, 2]
    assert list(dataset.annotations_of(1)) == [2, 3]


def test_without_times_the_order_of_the_rows_stays():
    dataset = Dataset.from_classes(
        "d", ["a", "b"], ["r"], ["x", "y"], np.array([1, 0, 1, 0]), np.zeros(4, np.int8), np.array([0, 1, 1, 0])
    )
    assert dataset.answer.tolist() == [1, 0, 0, 1]


def test_rankings_become_blocks_of_tied_classes():
    dataset = rankings()
    assert dataset.case_ptr.tolist() == [0, 2, 3]
    assert dataset.entry_ptr.tolist() == [0, 3, 4, 6]
    assert dataset.entry_class.tolist() == [0, 1, 2, 2, 0, 1]
    assert dataset.entry_block.tolist() == [0, 1, 1, 0, 0, 0]
    assert [dataset.blocks_of(annotation) for annotation in range(3)] == [[[0], [1, 2]], [[2]], [[0, 1]]]


def test_blocks_of_other_kinds_are_one_class_or_none():
    assert classes().blocks_of(3) == [[2]]
    assert scores().blocks_of(0) == []


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3), st.integers(-3, 3)), min_size=1),
    timed=st.booleans(),
)
def test_grouping_by_case_is_a_stable_sort(rows, timed):
    case, rater, answer, time = map(np.array, zip(*rows, strict=True))
    dataset = Dataset.from_classes(
        "d", list("abcdef"), list("rstu"), list("wxyz"), case, rater, answer, time if timed else None
    )
    expected = sorted(rows, key=lambda row: (row[0], row[3] if timed else 0))
    assert list(zip(dataset.case_of_annotation, dataset.rater, dataset.answer, strict=True)) == [
        row[:3] for row in expected
    ]
    counted = class_counts(dataset)
    table = np.zeros((6, 4), np.int64)
    np.add.at(table, (case, answer), 1)
    dense = np.zeros((6, 4), np.int64)
    dense[np.repeat(np.arange(6), np.diff(counted.ptr)), counted.class_code] = counted.count
    np.testing.assert_array_equal(dense, table)
    np.testing.assert_array_equal(counted.per_case(), table.sum(1))


def test_counts_need_single_classes():
    with pytest.raises(NotApplicableError, match="rankings"):
        class_counts(rankings())


@pytest.mark.parametrize("make", [classes, rankings, scores])
def test_every_array_is_read_only(make):
    arrays = [getattr(make(), field.name) for field in fields(Dataset)]
    arrays = [array for array in arrays if isinstance(array, np.ndarray)]
    assert len(arrays) >= 7
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_fields_cannot_be_put_in_another_place():
    with pytest.raises(AttributeError):
        classes().name = "other"


def test_selecting_raters_leaves_out_cases_and_raters_without_any():
    part = classes().select(raters=["r1"])
    assert part.raters == ("r1",)
    assert part.cases == ("a", "b")
    assert part.classes == ("x", "y", "z")
    assert part.answer.tolist() == [1, 0, 2]
    assert part.case_group == ("north", "south")
    assert part.gold.tolist() == [0, -1]
    assert part.time.tolist() == [MISSING_TIME, 20, 50]


def test_selecting_cases_and_groups():
    assert classes().select(cases=["c", "a"]).cases == ("a", "c")
    assert classes().select(groups=["north"]).cases == ("a", "c")
    assert classes().select(groups=["north"], raters=["r2"]).cases == ("c",)


def test_selecting_dates_includes_the_first_and_excludes_the_last():
    assert classes().select(since=20, until=50).time.tolist() == [20, 30]
    assert classes().select(since=20).time.tolist() == [20, 50, 30]
    assert classes().select(until=20).time.tolist() == [10]


def test_selecting_rankings_keeps_their_blocks():
    part = rankings().select(cases=["b"])
    assert part.blocks_of(0) == [[0, 1]]
    assert part.entry_ptr.tolist() == [0, 2]
    part = rankings().select(raters=["r1"])
    assert part.blocks_of(0) == [[2]]


def test_selecting_scores_keeps_their_order():
    assert scores().select(raters=["r1"]).score.tolist() == [1.0]


def test_selecting_everything_changes_nothing():
    for make in (classes, rankings, scores):
        dataset = make()
        assert dataset.select(raters=dataset.raters, cases=dataset.cases).digest == dataset.digest


@pytest.mark.parametrize(
    ("make", "selection", "error", "words"),
    [
        (classes, {"raters": ["nobody"]}, NotFoundError, "Could not find rater 'nobody'"),
        (classes, {"cases": ["d"]}, NotFoundError, "Could not find case 'd'"),
        (classes, {"cases": []}, InputError, "none match"),
        (classes, {"groups": ["west"]}, InputError, "none match"),
        (classes, {"since": 99}, InputError, "none match"),
        (rankings, {"groups": ["west"]}, InputError, "no groups"),
        (rankings, {"until": 1}, InputError, "no dates"),
    ],
)
def test_a_selection_that_cannot_be_made_is_refused(make, selection, error, words):
    with pytest.raises(error, match=words):
        make().select(**selection)


def test_a_ranking_counts_as_its_first_block_and_ties_there_are_left_out():
    single, left_out = rankings().as_classes()
    assert left_out == 1
    assert single.kind == "class"
    assert single.cases == ("a", "b")
    assert single.case_ptr.tolist() == [0, 2, 2]
    assert single.answer.tolist() == [0, 2]
    assert single.rater.tolist() == [0, 1]


def test_a_last_ranking_of_one_class_is_not_taken_for_tied():
    dataset = Dataset.from_rankings(
        "d", ["a"], ["r"], ["x"], np.array([0]), np.array([0]), np.array([0, 1]), np.array([0]), np.array([1.0])
    )
    assert dataset.as_classes()[1] == 0


def test_scores_become_two_classes_at_most_and_above_the_threshold():
    split, left_out = scores().as_classes(1.0)
    assert left_out == 0
    assert split.classes == ("≤ 1", "> 1")
    assert split.answer.tolist() == [0, 1, 0]
    assert split.ordinal
    for threshold in (None, float("nan"), float("inf")):
        with pytest.raises(InputError, match=r"[Tt]hreshold"):
            scores().as_classes(threshold)


def test_single_classes_stay_themselves():
    dataset = classes()
    assert dataset.as_classes() == (dataset, 0)


def test_a_case_is_found_by_its_id_or_not_at_all():
    assert classes().case_index("c") == 2
    with pytest.raises(NotFoundError, match="Could not find case 'nowhere' in by hand"):
        classes().case_index("nowhere")


@pytest.mark.parametrize("make", [classes, rankings, scores])
def test_renaming_keeps_the_digest(make):
    other = make().renamed("something else")
    assert other.name == "something else"
    assert other.digest == make().digest
    assert len(other.digest) == 32


def test_minus_zero_is_zero_for_the_digest():
    assert np.signbit(scores().score).sum() == 0


PARTS = ["case", "rater", "answer", "time", "cases", "raters", "classes", "case_group", "gold", "ordinal", "identified"]


def build(parts: dict) -> Dataset:
    return Dataset.from_classes(
        "d",
        parts["cases"],
        parts["raters"],
        parts["classes"],
        np.array(parts["case"]),
        np.array(parts["rater"]),
        np.array(parts["answer"]),
        np.array(parts["time"]),
        case_group=tuple(parts["case_group"]),
        gold=np.array(parts["gold"], np.int32),
        ordinal=parts["ordinal"],
        raters_identified=parts["identified"],
    )


@settings(max_examples=50, deadline=None)
@given(data=st.data(), part=st.sampled_from(PARTS))
def test_the_digest_changes_with_any_part_and_with_nothing_else(data, part):
    names = st.lists(st.text(min_size=1, max_size=3), min_size=3, max_size=3, unique=True)
    codes = st.lists(st.integers(0, 2), min_size=6, max_size=6)
    flag = st.booleans()
    draw = {
        **dict.fromkeys(("case", "rater", "answer"), codes),
        "time": st.lists(st.integers(-5, 5), min_size=6, max_size=6),
        **dict.fromkeys(("cases", "raters", "classes"), names),
        "case_group": names,
        "gold": st.lists(st.integers(-1, 2), min_size=3, max_size=3),
        "ordinal": flag,
        "identified": flag,
    }
    parts = {name: data.draw(strategy) for name, strategy in draw.items()}
    dataset = build(parts)
    assert build(parts).digest == dataset.digest
    other = build({**parts, part: data.draw(draw[part])})
    same = all(
        np.array_equal(getattr(dataset, field.name), getattr(other, field.name))
        for field in fields(Dataset)
        if field.name != "name"
    )
    assert (other.digest == dataset.digest) == same


def test_names_that_run_together_alike_have_different_digests():
    first, second = ["ab", "c", "d"], ["a", "bc", "d"]
    parts = {"cases": first, "raters": ["r", "s", "t"], "classes": ["x", "y", "z"], "case": [0], "rater": [0]}
    parts |= {"answer": [0], "time": [0], "case_group": ["", "", ""], "gold": [0, 0, 0], "ordinal": False}
    parts["identified"] = True
    assert build(parts).digest != build({**parts, "cases": second}).digest


def test_risk_and_score_and_blocks_are_part_of_the_digest():
    dataset = classes()
    risky = replace(dataset, class_risk=np.array([0, 1, 2], np.int8))
    assert len({dataset.digest, risky.digest, replace(risky, class_risk=np.array([0, 1, 1], np.int8)).digest}) == 3
    assert replace(scores(), score=np.array([0.0, 3.5, 1.5])).digest != scores().digest
    assert replace(rankings(), entry_block=np.array([0, 0, 1, 0, 0, 0], np.int32)).digest != rankings().digest


# Connectivity: Groups of raters and cases, and classes per case, by hand.


APART = read(b"case,rater,class\n1,a,x\n1,b,y\n2,a,x\n3,c,z\n3,d,z\n").dataset


def test_raters_without_a_case_in_common_are_groups_of_their_own():
    assert n_groups(APART) == 2
    assert n_groups(APART.select(raters=["a", "b"])) == 1
    assert n_groups(load_sample("caries")) == 1


def test_classes_of_a_case_are_counted_once():
    assert classes_per_case(APART).tolist() == [2, 1, 1]
    skin = load_sample("skin")
    named = [len({c for a in skin.annotations_of(case) for b in skin.blocks_of(a) for c in b}) for case in range(20)]
    assert classes_per_case(skin)[:20].tolist() == named
    assert classes_per_case(read(b"case,rater,score\n1,a,1.5\n1,b,2.5\n").dataset).tolist() == [0]


# Counts: Counts of annotations: who annotated which case, however often.


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=30))
def test_who_annotated_what_counts_once(annotations):
    annotations.sort(key=lambda pair: pair[0])
    case, rater = (np.array([pair[place] for pair in annotations], np.int64) for place in (0, 1))
    names = [[f"{kind}{n}" for n in range(size)] for kind, size in (("case", 5), ("rater", 4), ("class", 2))]
    dataset = Dataset.from_classes("made", *names, case, rater, np.zeros(case.size, np.int64))
    found = list(zip(*(codes.tolist() for codes in rater_case_pairs(dataset)), strict=True))
    assert found == sorted(set(annotations))
    assert raters_per_case(dataset).tolist() == [len({b for a, b in annotations if a == one}) for one in range(5)]
    assert raters_per_case(dataset) is raters_per_case(dataset) and not raters_per_case(dataset).flags.writeable


# Columns: Columns to and from numpy and text are those that pyarrow makes, without pandas.


ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "values",
    [np.arange(20, dtype=np.int32), np.arange(20)[::2] - 7, np.linspace(0, 1, 11), np.arange(19) % 3 == 0, np.empty(0)],
)
def test_numbers_and_truth_values_go_and_come_back(values):
    column = of_numpy(values)
    assert column.equals(pa.array(values))
    for part in (column, column[3:17], column[9:9], pa.chunked_array([column[5:], column[:8]])):
        found = as_numpy(part)
        np.testing.assert_array_equal(found, part.to_numpy(zero_copy_only=False) if len(part) else [])
        assert found.dtype == values.dtype
    assert as_numpy(pa.chunked_array([], column.type)).dtype == values.dtype


def test_texts_are_those_of_pyarrow_and_what_is_null_is_as_pyarrow_gives_it():
    values = ["", "é", "R10", "\U0001f600 x"]
    assert of_texts(values).equals(pa.array(values)) and of_texts([]).equals(pa.array([], pa.string()))
    assert text("é").as_py() == "é" and text("").as_py() == ""
    np.testing.assert_array_equal(as_numpy(pa.array([1, None, 3])), [1, np.nan, 3])


@pytest.mark.parametrize("values", [[], [""], ["a", "b"], ["", ""], ["a\nb", "c"], ["\n", ""], ["é", "x\r", " "]])
def test_a_list_of_texts_is_what_stands_in_the_column_line_ends_too(values):
    assert as_texts(of_texts(values)) == values
    assert as_texts(of_texts(["first", *values, "last"])[1:-1]) == values


def test_a_small_file_is_described_without_what_takes_long_to_load(tmp_path):
    file = tmp_path / "small.csv"
    rows = [f"{case},{rater},{'xy'[case % 2]}" for case in range(9) for rater in "ab"]
    file.write_text("\n".join(["case,rater,class", *rows]))
    asked = (
        "import sys; from core.command_line import main; assert main(['describe', sys.argv[1]]) == 0; "
        "print(*[name for name in ('pandas', 'numba', 'scipy') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", asked, file], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    assert '"n_annotations": 18' in done.stdout
