"""Columns to and from numpy and text are those that pyarrow makes, without pandas."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from core.annotations.columns import as_numpy, as_texts, of_numpy, of_texts, text

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
