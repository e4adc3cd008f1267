"""The format is found by content, and what is no table is refused by its name."""

import io
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from core.errors import InputError
from core.ingest.read_files import read

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x06\x00\x00\x00"


def parquet_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


def refusal(content: bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        read(content)
    return caught.value


@pytest.mark.parametrize(
    "content",
    [random.Random(0).randbytes(4000), b"case,rater,class\n1,a,\x00x\n"],
    ids=["random", "NUL"],
)
def test_a_binary_file_is_refused(content):
    assert refusal(content).message == "Could not read the file: it is binary, not a text table."


def test_a_nul_byte_far_down_names_its_line():
    error = refusal(b"case,rater,class\n" + b"1,ann,x\n" * 20_000 + b"2,ann,\x00\n")
    assert error.line == 20_002
    assert "NUL" in error.message


def test_a_field_of_millions_of_letters_is_read_or_refused():
    """Up to the size that the reader takes in one piece; more is no table."""
    row = "1,ann,{}\n1,bob,y\n"
    reading = read(("case,rater,class\n" + row.format("x" * 1_000_000)).encode())
    assert reading.dataset.classes == ("x" * 1_000_000, "y")
    assert (
        "Could not split the rows into fields"
        in refusal(("case,rater,class\n" + row.format("x" * 20_000_000)).encode()).message
    )


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "old Excel workbook"),
        (b"\x1f\x8b\x08\x00rest", "gzip"),
        (b"%PDF-1.7\n%rest", "PDF"),
        (PNG, "PNG image"),
    ],
)
def test_other_kinds_of_file_are_called_by_their_name(content, what):
    error = refusal(content)
    assert what in error.message
    assert error.remedy


def test_a_file_over_the_limit_is_refused_with_both_sizes(monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_UPLOAD_MB", "1")
    rows = b"case,rater,class\n" + b"1,ann,x\n" * 200_000
    error = refusal(rows)
    assert "1.5 MB" in error.message
    assert "limit is 1 MB" in error.message
    assert "PLURALITY_MAX_UPLOAD_MB" in error.remedy
    assert read(rows[: 1024 * 1024]).report.n_kept > 100_000


def test_a_path_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(InputError, match="Could not open"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="the folder has no Parquet files"):
        read(tmp_path)


def test_a_file_is_named_by_its_path(tmp_path):
    path = tmp_path / "my readings.csv"
    path.write_bytes(b"case,rater,class\n1,ann,x\n1,bob,y\n")
    assert read(path).dataset.name == "my readings"


@pytest.mark.parametrize("damage", ["cut", "garbled", "magic only"])
def test_a_broken_parquet_file_is_refused(damage):
    content = parquet_of(pa.table({"case": [1, 2], "rater": ["a", "b"], "class": ["x", "y"]}))
    broken = {"cut": content[:-20], "garbled": content[:4] + b"\xff" * 60 + content[-8:], "magic only": b"PAR1"}[damage]
    assert "Could not read this Parquet file" in refusal(broken).message


def test_parquet_without_rows_or_columns_is_refused():
    empty = pa.table({"case": pa.array([], pa.float64()), "class": pa.array([], pa.string())})
    assert "no rows" in refusal(parquet_of(empty)).message
    assert "fewer than two columns" in refusal(parquet_of(pa.table({"case": [1, 2]}))).message
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["case", "case"])
    assert "two columns are called 'case'" in refusal(parquet_of(twice)).message


def test_whole_numbers_in_parquet_have_no_decimal_point():
    table = pa.table({"case": [1.0, 10.0, 2.0, float("nan")], "rater": [7, 8, 7, 8], "class": [1, 2, 1, 2]})
    reading = read(parquet_of(table))
    assert reading.dataset.cases == ("1", "2", "10")
    assert reading.dataset.raters == ("7", "8")
    assert reading.report.dropped == ((4, "no case"),)


def test_parquet_columns_of_every_plain_type_become_text():
    table = pa.table(
        {
            "case": pd.Categorical(["a", "b"]),
            "rater": ["ann", "bob"],
            "class": [True, False],
            "date": pa.array([0, 86_400], pa.timestamp("s")),
            "half": np.array([0.5, 1.5], np.float16),
            "nothing": pa.nulls(2),
        }
    )
    dataset = read(parquet_of(table)).dataset
    assert dataset.classes == ("false", "true")
    assert dataset.time.tolist() == [0, 86_400]


def test_parquet_columns_that_are_no_text_are_passed_over_and_told():
    table = pa.table({"case": [1, 2], "rater": ["a", "b"], "class": ["x", "y"], "boxes": [[1], [2]], "png": [PNG, PNG]})
    reading = read(parquet_of(table))
    assert reading.report.n_kept == 2
    assert [note.split("'")[1] for note in reading.report.notes] == ["boxes", "png"]
