"""What files have in reality costs about what tidy files cost: repeats, dates, scores, ids, missing annotations."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from core.annotations.dataset import MISSING_TIME
from core.ingest.read_files import read
from core.ingest.times import to_seconds

N_CASES, PER_CASE = 40_000, 5


def _table(kind: str = "", n_cases: int = N_CASES) -> pa.Table:
    rng = np.random.default_rng(0)
    case = np.repeat(np.arange(n_cases), PER_CASE)
    rater = (rng.integers(0, 1_000, n_cases)[:, None] + np.arange(PER_CASE)).ravel() % 1_000
    if kind == "repeats":
        again = rng.choice(case.size, case.size // 100, replace=False)
        again = again[again % PER_CASE > 0]
        rater[again] = rater[again - 1]
    answers = [None if kind == "missing" and code > 4 else f"class {code % 5}" for code in range(6)]
    columns = {
        "case": pa.array([f"case {code}" for code in range(n_cases)]).take(pa.array(case)),
        "rater": pa.array([f"rater {code}" for code in range(1_000)]).take(pa.array(rater)),
        "class": pa.array(answers).take(pa.array(rng.integers(0, 6, case.size))),
    }
    if kind == "times":
        columns["time"] = pa.array([f"2024-03-{1 + i % 28:02} 10:{i % 60:02}:{i % 59:02}.{i:06}" for i in case * 7])
    if kind == "comments":
        columns["comment"] = pa.array([f"comment number {i}" for i in range(case.size)])
    return pa.table(columns)


def _seconds(path) -> float:
    spent = []
    for _ in range(3):
        began = time.process_time()
        read(path)
        spent.append(time.process_time() - began)
    return min(spent)


@pytest.mark.parametrize(("kind", "most"), [("repeats", 2.0), ("missing", 3.5), ("times", 5.0), ("comments", 4.0)])
def test_reading_takes_about_as_long_as_a_tidy_file_of_as_many_rows_does(tmp_path, kind, most):
    parquet.write_table(_table(), tmp_path / "tidy.parquet")
    parquet.write_table(_table(kind), tmp_path / "rough.parquet")
    read(tmp_path / "tidy.parquet")  # loads and compiles
    read(tmp_path / "rough.parquet")
    assert _seconds(tmp_path / "rough.parquet") < most * _seconds(tmp_path / "tidy.parquet")


def test_read_counts_repeats_of_the_same_class_as_a_plain_count_does(tmp_path):
    rng = np.random.default_rng(1)
    case, rater, answer = (rng.integers(0, most, 3_000).tolist() for most in (60, 30, 3))
    parquet.write_table(
        pa.table({"case": case, "rater": [f"r{code}" for code in rater], "class": [f"c{code}" for code in answer]}),
        tmp_path / "rows.parquet",
    )
    report = read(tmp_path / "rows.parquet").report
    pairs, triples = Counter(zip(case, rater, strict=True)), Counter(zip(case, rater, answer, strict=True))
    assert report.n_repeats == sum(n - 1 for n in pairs.values()) > 0
    assert report.n_same == sum(n - 1 for n in triples.values()) > 0


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["2024-03-01", "2024-03-01T00:00:01"], [1_709_251_200, 1_709_251_201]),
        (["2024-03-01T02:00:00+02:00", "2024-03-01T00:00:01Z"], [1_709_251_200, 1_709_251_201]),
        (["2024-03-01T00:00:00Z", "2024-03-01"], [1_709_251_200, 1_709_251_200]),
        (["1709251200", " 1709251201 ", "NA", ""], [1_709_251_200, 1_709_251_201, MISSING_TIME, MISSING_TIME]),
        (["1709251200123", "+1709251201"], [1_709_251_200, 1_709_251_201]),
        (["2024-03-01", "soon"], [1_709_251_200, MISSING_TIME]),
        (["31/12/2021", "01/12/2021"], [1_640_908_800, 1_638_316_800]),
        ([""], [MISSING_TIME]),
    ],
)
def test_to_seconds_gives_the_same_for_dates_that_arrow_reads_and_that_pandas_reads(texts, seconds):
    assert to_seconds(pa.chunked_array([pa.array(texts)])).tolist() == seconds


def test_characters_are_counted_and_iso_dates_are_clear_without_loading_pandas():
    code = (
        "import sys, pyarrow as pa; from core.ingest.formats.budget import _n_characters; "
        "from core.ingest.times import unclear_date; "
        "from core.annotations.columns import of_texts; texts = of_texts(['ab', 'a', 'ab']).dictionary_encode(); "
        "dates = pa.chunked_array([of_texts(['2024-01-02', '2024-03-04'])]); "
        "print(_n_characters(pa.chunked_array([texts])), unclear_date(dates), 'pandas' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert told.stdout.split() == ["5", "None", "False"]
