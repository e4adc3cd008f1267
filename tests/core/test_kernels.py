"""Small files are read without machine code: the same numbers, and nothing loaded that they do not need."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from core.annotations._kernels import counting_sort, scan_records
from core.ingest._repeat_kernels import repeated_pairs
from core.kernels import SMALL, for_size, late_njit

ROOT = Path(__file__).resolve().parents[2]
SMALL_FILE = "case,rater,class\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n2,a,y\n"
# What takes longer to load than the file to read.
NOT_NEEDED = (
    "numba",
    "scipy.linalg",
    "scipy.stats",
    "scipy.optimize",
    "plotly",
    "sqlalchemy",
    "openpyxl",
    "streamlit",
    "core.agreement.coefficients",
    "core.models.em",
)


class Kernel:
    """Stands in for a kernel: what it was called as, and whether its machine code is loaded."""

    py_func = staticmethod(lambda: "as Python")

    def __init__(self, signatures):
        self.signatures = signatures

    def __call__(self):
        return "as machine code"


def test_a_kernel_runs_as_python_where_data_are_small_and_its_code_is_not_loaded():
    assert for_size(Kernel([]), SMALL)() == "as Python"
    assert for_size(Kernel([]), SMALL + 1)() == "as machine code"
    assert for_size(Kernel(["(int32,)"]), 1)() == "as machine code"
    assert for_size(len, 1) is len


def test_a_late_kernel_is_machine_code_from_its_first_call_and_so_are_those_that_it_calls():
    """In a module of its own: kernels that are called are found by their names there."""
    made = ModuleType("made")
    made.late_njit = late_njit
    exec(  # as a file would be
        "@late_njit(nogil=True)\ndef twice(x):\n    return 2 * x\n"
        "@late_njit(nogil=True)\ndef fourfold(x):\n    return twice(twice(x))\n",
        made.__dict__,
    )
    fourfold, twice = made.fourfold, made.twice
    assert (list(fourfold.signatures), fourfold.py_func.__name__) == ([], "fourfold")
    assert fourfold(3) == 12 and len(fourfold.signatures) == 1
    assert isinstance(made.twice, CPUDispatcher) and twice.dispatcher() is made.twice and twice(4) == 8


@pytest.mark.parametrize("seed", range(5))
def test_sorting_and_repeats_are_the_same_as_python_and_as_machine_code(seed):
    rng = np.random.default_rng(seed)
    case, rater = (rng.integers(0, 6, 40).astype(np.int32) for _ in range(2))
    ptr, order = counting_sort(case, 6)
    found = [(*counting_sort.py_func(case, 6), repeated_pairs.py_func(ptr, order, rater, 6))]
    found.append((ptr, order, repeated_pairs(ptr, order, rater, 6)))
    for python, machine in zip(*found, strict=True):
        np.testing.assert_array_equal(python, machine)
        assert python.dtype == machine.dtype


@pytest.mark.parametrize(
    "text", [SMALL_FILE, 'a,b\n"x,y",2\n"open', "# it's a note\na;b\n\n1;2\r\n", 'a,b\n"x""y" z,1\n', "\n\n", "a"]
)
def test_records_are_the_same_as_python_and_as_machine_code(text):
    data = np.frombuffer(text.encode(), np.uint8)
    for delimiter in ",;":
        python = scan_records.py_func(data, ord(delimiter), ord('"'), 0, -1)
        machine = scan_records(data, ord(delimiter), ord('"'), 0, -1)
        for one, other in zip(python, machine, strict=True):
            np.testing.assert_array_equal(one, other)
            assert np.asarray(one).dtype == np.asarray(other).dtype


def test_a_small_file_is_described_without_what_it_does_not_need(tmp_path):
    file = tmp_path / "small.csv"
    file.write_text(SMALL_FILE)
    script = (
        "import sys; from core.command_line import main; code = main(['describe', sys.argv[1]]);"
        "print(*sorted(set(sys.argv[2:]) & sys.modules.keys()), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file), *NOT_NEEDED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert '"n_annotations": 5' in done.stdout and done.stderr.strip() == ""
