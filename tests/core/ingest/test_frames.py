"""Frames of every library are understood as the file that they would be written to."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import core
from core import Dataset, load_sample, read
from core.annotations.write import long_table
from core.errors import InputError

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
LONG = {
    "case": ["a", "a", "b", "b", "c"],
    "rater": ["r", "s", "r", "s", None],
    "class": ["x", "y", "NA", "y", "x"],
    "time": ["2024-01-02", "2024-01-01", "2024-01-01", "", "2024-01-03"],
}
WIDE = {"id": [1, 2, 3], "R1": ["x", "y", "x"], "R2": ["x", None, "y"], "R3": ["y", "y", "y"]}
RANKED = {
    "case": ["a", "a", "a", "b"],
    "rater": ["r", "r", "s", "r"],
    "rank": [1, 2, 1, 1],
    "class": ["x", "y", "y", "x"],
}
SCORED = {"case": [1, 1, 2, 2], "rater": ["r", "s", "r", "s"], "score": [0.5, 1.25, -3.0, 2.0]}


def as_csv(columns):
    """The CSV of it, whoever writes it."""
    return pl.DataFrame(columns).write_csv().encode()


def outcome(reading):
    report = reading.report
    return (
        reading.dataset.digest,
        report.n_kept,
        [row.reason for row in report.dropped],
        report.missing,
        report.n_repeats,
        report.mapping,
        report.warnings,
    )


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("columns", [LONG, WIDE, RANKED, SCORED], ids=["long", "wide", "ranked", "scored"])
def test_a_frame_reads_as_its_csv(make, columns):
    assert outcome(read(make(columns))) == outcome(read(as_csv(columns)))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("sample", ["caries", "anaesthesia", "skin"])
def test_a_sample_comes_back_from_its_long_table(make, sample):
    dataset = load_sample(sample)
    table = long_table(dataset)
    columns = {name: table[name].tolist() for name in table}
    again = Dataset.from_frame(make(columns), case="case", rater="rater", answer="class", classes=dataset.classes)
    assert again.n_annotations == dataset.n_annotations and again.kind == dataset.kind
    assert again.digest == read(as_csv(columns), classes=list(dataset.classes)).dataset.digest


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("rst"), st.sampled_from(["x", "y", "", None])), min_size=1
    )
)
def test_any_rows_read_alike_from_every_library(rows):
    columns = dict(zip(("case", "rater", "class"), map(list, zip(*rows, strict=True)), strict=True))
    found = []
    for source in (as_csv(columns), *(make(columns) for make in MAKERS.values())):
        try:
            found.append(outcome(read(source)))
        except InputError as error:
            found.append(error.message)
    assert all(one == found[0] for one in found)


def test_columns_that_are_named_are_taken_and_others_are_guessed():
    odd = {"q": LONG["case"], "w": LONG["rater"], "e": LONG["class"]}
    dataset = Dataset.from_frame(pd.DataFrame(odd), name="odd", case="q", rater="w", answer="e", ordinal=True)
    assert (dataset.name, dataset.classes, dataset.ordinal) == ("odd", ("x", "y"), True)
    assert dataset.n_annotations == 3
    ranked = Dataset.from_frame(pl.DataFrame(RANKED), rank="rank")
    assert ranked.kind == "ranking" and ranked.blocks_of(0) == [[0], [1]]
    assert Dataset.from_frame(pa.table(SCORED), kind="class").kind == "class"


def test_an_index_of_pandas_is_a_column_only_where_it_has_a_name():
    frame = pd.DataFrame(LONG)
    expected = outcome(read(frame))
    assert outcome(read(frame.set_index("case"))) == expected
    assert outcome(read(frame.set_index(["case", "rater"]))) == expected
    shuffled = frame.set_axis([5, 3, 9, 1, 1])
    assert outcome(read(shuffled)) == expected
    assert list(shuffled.index) == [5, 3, 9, 1, 1] and list(shuffled.columns) == list(LONG)


def test_types_that_libraries_have_of_their_own_are_text():
    frame = pd.DataFrame(LONG)
    for kind in ("category", "string", "object"):
        assert outcome(read(frame.astype({"class": kind}))) == outcome(read(frame))
    assert outcome(read(pl.DataFrame(LONG).with_columns(pl.col("class").cast(pl.Categorical)))) == outcome(read(frame))
    codes = {"case": [1, 1, 2], "rater": ["r", "s", "r"], "class": [1.0, 2.0, np.nan]}
    assert read(pd.DataFrame(codes)).dataset.classes == ("1", "2")
    mixed = {"case": ["a", 1, None], "rater": ["r", "s", "r"], "class": ["x", 2, "x"]}
    dataset = read(pd.DataFrame(mixed)).dataset
    assert dataset.cases == ("1", "a") and dataset.classes == ("2", "x")
    assert read(pd.DataFrame({0: [1, 2], 1: ["r", "s"], 2: ["x", "y"]}), case="0", rater="1", answer="2").dataset


def test_dates_of_every_library_are_the_same_seconds():
    stamps = pd.to_datetime(
        ["2024-01-02 03:04:05", None, "2024-01-01", "2023-12-31 23:59:59", None], utc=True, format="ISO8601"
    )
    rows = {name: LONG[name] for name in ("case", "rater", "class")} | {"rater": list("rsrst")}
    frame = pd.DataFrame({**rows, "time": stamps})
    expected = read(frame.to_csv(index=False).encode()).dataset
    assert expected.time.max() == 1_704_164_645
    for source in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert read(source).dataset.digest == expected.digest


def test_a_frame_reads_as_its_parquet_with_lists():
    columns = {"text": ["t1", "t2"], "worker": [["a", "b"], ["a", "c"]], "label": [["x", "y"], ["x", "x"]]}
    content = io.BytesIO()
    parquet.write_table(pa.table(columns), content)
    expected = outcome(read(content.getvalue()))
    for make in (pl.DataFrame, pa.table, pd.DataFrame):
        assert outcome(read(make(columns))) == expected


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (pd.DataFrame(), "columns but no rows|fewer than two"),
        (pl.DataFrame({"case": [], "rater": [], "class": []}), "no rows"),
        (pd.DataFrame({"case": ["a"]}), "fewer than two columns"),
        (pd.DataFrame([["a", "r", "x"]], columns=["case", "class", "class"]), "two columns are called 'class'"),
        (pl.DataFrame(LONG).lazy(), r"Collect it first"),
        (pd.Series(["a"]), "Series is not a file|Could not open|not a table"),
        (3, "object of type int: it is not a file or a table"),
        (None, "NoneType: it is not a file or a table"),
    ],
)
def test_what_is_no_table_of_annotations_is_refused(source, found):
    with pytest.raises(InputError, match=found):
        read(source)


def test_errors_name_the_column_and_the_row():
    with pytest.raises(InputError, match="Could not find the column 'doctor'"):
        Dataset.from_frame(pd.DataFrame(LONG), rater="doctor")
    with pytest.raises(InputError, match="Line 3: Could not read annotations: rater 'r' annotated case 'a' more"):
        read(pl.DataFrame({"case": list("aba"), "rater": list("rrr"), "class": list("xyx")}), repeats="refuse")
    with pytest.raises(InputError, match="bytes: it is not a DataFrame"):
        Dataset.from_frame(as_csv(LONG))
    with pytest.raises(InputError, match="Unknown format 'sheet'"):
        read(pd.DataFrame(LONG), format="sheet")
    dropped = read(pl.DataFrame(LONG)).report.dropped
    assert [(row.line, row.reason) for row in dropped] == [(3, "no annotation ('NA')"), (5, "no rater")]


def test_a_frame_leaves_as_it_was():
    frame = pd.DataFrame(WIDE).rename(columns={"id": 7})
    before = frame.copy(deep=True)
    core.read(frame, layout="wide")
    pd.testing.assert_frame_equal(frame, before)
