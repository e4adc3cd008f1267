"""What is written reads back as the same dataset."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from core.annotations.validation import LARGEST_SCORE
from core.annotations.vocabulary import MISSING_TOKENS
from core.annotations.write import long_table, wide_table
from core.ingest.read_files import read
from core.ingest.samples import load_sample
from core.tables import to_csv

# Text that a file of comments, delimiters, quotes and lines could trip over. A lone carriage return is left to the
# test of quoted fields: the writer here does not quote it.
NAME = (
    st.text("ab1#,;|\t\"'\n é=+@<>&世", min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda text: text and text.lower() not in MISSING_TOKENS)
)
# Text that a spreadsheet takes for text.
SAFE_NAME = NAME.map(lambda text: text.lstrip("=+-@ \t\n") or "x").filter(lambda t: t.lower() not in MISSING_TOKENS)
DATES = st.sampled_from(["2024-01-02T03:04:05", "1969-12-31T23:59:59", "2024-02-29", ""])


@st.composite
def tables(draw, last: st.SearchStrategy, *, ranked: bool = False, name: st.SearchStrategy = NAME) -> pd.DataFrame:
    """A long table whose first case and rater are plain, so that its delimiter is never in doubt."""
    names = st.lists(name, min_size=1, max_size=4, unique=True)
    cases, raters = draw(names), draw(names)
    rows = draw(st.lists(st.tuples(st.sampled_from(cases), st.sampled_from(raters), last), min_size=1, max_size=12))
    table = pd.DataFrame(rows, columns=["case", "rater", "class"])
    if ranked:
        table.insert(2, "rank", draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows))))
    if draw(st.booleans()):
        table["time"] = draw(st.lists(DATES, min_size=len(rows), max_size=len(rows)))
    if draw(st.booleans()):
        table["group"] = draw(st.lists(name, min_size=len(rows), max_size=len(rows)))
    return table


def csv_bytes(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False).encode()


def parquet_bytes(table: pd.DataFrame) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), sink)
    return sink.getvalue()


def assert_reads_back(table: pd.DataFrame, kind: str) -> None:
    dataset = read(csv_bytes(table), kind=kind).dataset
    written = long_table(dataset)
    for content in (csv_bytes(written), parquet_bytes(written)):
        again = read(content, kind=kind)
        assert again.report.dropped == ()
        assert again.dataset.digest == dataset.digest


@settings(max_examples=30, deadline=None)
@given(tables(NAME))
def test_classes_read_back_to_the_same_digest(table):
    assert_reads_back(table, "class")


@settings(max_examples=30, deadline=None)
@given(tables(NAME, ranked=True))
def test_rankings_read_back_to_the_same_digest(table):
    assert_reads_back(table, "ranking")


@settings(max_examples=30, deadline=None)
@given(tables(st.floats(-LARGEST_SCORE, LARGEST_SCORE)))
def test_scores_read_back_to_the_same_digest(table):
    assert_reads_back(table, "score")


def test_scores_in_a_column_per_rater_keep_all_their_digits():
    scores = (np.random.default_rng(3).uniform(0, 2000, (20, 3))).tolist()
    rows = [(f"c{case}", "abc"[rater], scores[case][rater]) for case in range(20) for rater in range(3)]
    data = read(csv_bytes(pd.DataFrame(rows, columns=["case", "rater", "score"])), name="made").dataset
    assert data.kind == "score"
    table = wide_table(data).set_index("case")
    assert [[float(table.loc[f"c{case}", rater]) for rater in "abc"] for case in range(20)] == scores


@settings(max_examples=30, deadline=None)
@given(tables(NAME), st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["\n", "\r\n"]))
def test_every_dialect_of_a_table_gives_the_same_digest(table, delimiter, end):
    quoted = table.to_csv(index=False, sep=delimiter, lineterminator=end, quoting=1).encode()
    assert read(quoted, kind="class").dataset.digest == read(csv_bytes(table), kind="class").dataset.digest


@settings(max_examples=30, deadline=None)
@given(tables(SAFE_NAME, name=SAFE_NAME))
def test_a_table_for_spreadsheets_reads_back_where_no_text_looks_like_a_formula(table):
    dataset = read(csv_bytes(table), kind="class").dataset
    assert read(to_csv(long_table(dataset)), kind="class").dataset.digest == dataset.digest


def test_a_carriage_return_inside_quotes_is_a_letter():
    dataset = read(b'case,rater,class\n1,ann,"a\rb"\n1,bob,"a\r\nb"\n').dataset
    assert dataset.classes == ("a\r\nb", "a\rb")
    table = long_table(dataset).to_csv(index=False, quoting=1).encode()
    assert read(table).dataset.digest == dataset.digest


def test_a_run_of_cases_can_be_written():
    dataset = read(b"case,rater,class\n1,ann,x\n1,bob,y\n2,ann,y\n3,bob,x\n").dataset
    assert long_table(dataset, range(1, 3)).to_numpy().tolist() == [["2", "ann", "y"], ["3", "bob", "x"]]


def test_ranks_are_written_from_one_and_ties_share_one():
    dataset = read(b"case,rater,rank,class\n1,ann,5,x\n1,ann,9,y\n1,ann,9,z\n").dataset
    table = long_table(dataset)
    assert table["rank"].tolist() == [1, 2, 2]
    assert table["class"].tolist() == ["x", "y", "z"]


def test_samples_read_back_to_the_same_annotations():
    for name in ("skin", "dermatology", "caries", "anaesthesia"):
        dataset = load_sample(name)
        again = read(csv_bytes(long_table(dataset)), classes=list(dataset.classes)).dataset
        for field in ("case_ptr", "rater", "answer", "entry_ptr", "entry_class", "entry_block"):
            np.testing.assert_array_equal(getattr(again, field), getattr(dataset, field))
        assert again.case_group == dataset.case_group
