"""Small files are read without machine code: the same numbers, and nothing loaded that they do not need."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.registry import CPUDispatcher

from core.annotations._kernels import (
    blocks_from_ranks,
    counting_sort,
    first_unsound_ranking,
    scan_lines,
    scan_records,
)
from core.ingest._repeat_kernels import repeated_pairs
from core.runtime.numba_setup import (
    SMALL,
    SMALL_UNCOMPILED,
    STATE_WORDS,
    InterpretedWork,
    lazy_njit,
    njit,
    pick_backend,
    thread_generator,
)

ROOT = Path(__file__).resolve().parents[3]
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


def test_a_kernel_runs_as_python_where_data_are_small_and_its_code_is_not_loaded(monkeypatch):
    monkeypatch.setattr(InterpretedWork, "total", 0)
    assert pick_backend(Kernel(["(int32,)"]), 2 * SMALL)() == "as machine code"
    assert pick_backend(Kernel([]), SMALL)() == "as Python"
    monkeypatch.setattr(InterpretedWork, "total", 0)
    assert pick_backend(Kernel([]), SMALL + 1)() == "as machine code"
    assert pick_backend(len, 1) is len


def test_a_file_is_read_as_python_for_longer_while_its_kernels_are_compiled_elsewhere(monkeypatch):
    monkeypatch.setattr(InterpretedWork, "total", 0)
    monkeypatch.setattr(InterpretedWork, "most", SMALL_UNCOMPILED)
    assert pick_backend(Kernel([]), 2 * SMALL)() == "as Python"
    assert pick_backend(Kernel([]), SMALL_UNCOMPILED)() == "as machine code"


def test_many_small_files_are_worth_machine_code(monkeypatch):
    """Each alone is not; together they would cost more than loading it."""
    monkeypatch.setattr(InterpretedWork, "total", 0)
    ran = [pick_backend(Kernel([]), SMALL // 4)() for _ in range(6)]
    assert ran == ["as Python"] * 4 + ["as machine code"] * 2


def test_a_late_kernel_is_machine_code_from_its_first_call_and_so_are_those_that_it_calls():
    """In a module of its own: kernels that are called are found by their names there."""
    made = ModuleType("made")
    made.lazy_njit = lazy_njit
    exec(  # as a file would be
        "@lazy_njit(nogil=True)\ndef twice(x):\n    return 2 * x\n"
        "@lazy_njit(nogil=True)\ndef fourfold(x):\n    return twice(twice(x))\n",
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


@pytest.mark.parametrize("seed", range(5))
def test_rankings_are_the_same_as_python_and_as_machine_code(seed):
    rng = np.random.default_rng(seed)
    ptr = np.append(0, np.cumsum(rng.integers(1, 5, 12))).astype(np.int64)
    code = np.concatenate([rng.permutation(6)[:n] for n in np.diff(ptr)]).astype(np.int32)
    rank = rng.integers(0, 3, code.size) / 2
    order = rng.permutation(12)
    blocks = [run(ptr, code, rank, order) for run in (blocks_from_ranks, blocks_from_ranks.py_func)]
    for machine, python in zip(*blocks, strict=True):
        np.testing.assert_array_equal(python, machine)
        assert python.dtype == machine.dtype
    found = blocks[0]
    for changed in (found, (ptr, code, rank.astype(np.int32)), (found[0], found[1], found[2] + 1)):
        assert first_unsound_ranking(*changed, 6) == first_unsound_ranking.py_func(*changed, 6)


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


def lines_of(text: str, delimiter: str = ",") -> tuple[int, list[np.ndarray]]:
    """What `scan_lines` says of a text, as machine code and, the same, as Python."""
    data = np.frombuffer(text.encode(), np.uint8)
    said = []
    for scan in (scan_lines, scan_lines.py_func):
        columns = [np.zeros(text.count("\n") + 1, dtype) for dtype in (np.int32, np.int32, np.int32, np.uint8)]
        n = scan(data, ord(delimiter), ord('"'), *columns)
        said.append((n, [column[: max(0, n)] for column in columns]))
    assert said[0][0] == said[1][0]
    for one, other in zip(said[0][1], said[1][1], strict=True):
        np.testing.assert_array_equal(one, other)
    return said[0]


pieces = st.sampled_from(["a", " ", ",", '"', "#", "\n", "\r\n", "\r", "\t", '"a"', ',"b,c"', '"x""y"', "é", '\n"a",b'])


@settings(max_examples=100, deadline=None)
@given(st.lists(pieces, max_size=14).map("".join), st.sampled_from(",;\t"))
def test_lines_that_are_taken_for_records_are_those_that_the_slow_way_finds(text, delimiter):
    n, found = lines_of(text, delimiter)
    if n < 0:
        return
    first, last, line, fields, flags, open_line, _ = scan_records(
        np.frombuffer(text.encode(), np.uint8), ord(delimiter), ord('"'), 0, -1
    )
    assert (n, open_line) == (first.size, 0)
    np.testing.assert_array_equal(line, np.arange(1, n + 1))
    for one, other in zip(found, (first, last, fields, flags), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("a,b\n1,2", 2), ('"a","b"\r\n"1","x,""y"""\r\n', 2), ('a,5" nail\n', 1), ("\n# it's, said\n", 2), ("", 0),
        ('a,"x\ny"\n', -1), ("a,b\r1,2\n", -1), ('a,"b" c\n', -1), ('a,"b', -1), ('#,"a\nb"\n', -1), ("a\r", -1),
    ],
)  # fmt: skip
def test_whole_lines_go_the_quick_way_and_quotes_across_lines_the_slow_one(text, n):
    assert lines_of(text)[0] == n


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


def test_the_first_kernel_that_compiles_registers_no_type_any_more():
    """A thread that calls its first kernel at that moment walks the table of types, which may not grow meanwhile."""
    asked = (
        "from core.runtime.numba_setup import njit\nfrom numba.core.typing.typeof import typeof_impl as known\n"
        "kernel = njit()(lambda x: x + 1)\nbefore = set(known.registry)\nkernel(1)\n"
        "print(len(before), set(known.registry) - before)"
    )
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    n, more = told.split(" ", 1)
    assert int(n) > 30 and more.strip() == "set()"


def test_kernels_are_made_by_what_has_registered_all_types():
    kernels = [path for path in (ROOT / "core").rglob("*.py") if path.name != "numba_setup.py"]
    assert [path.name for path in kernels if "from numba import njit" in path.read_text(encoding="utf-8")] == []


def test_thread_generator_is_the_state_that_kernels_of_this_thread_draw_from():
    """It is a private part of numba: look at it anew when this version changes."""
    assert numba.__version__.startswith("0.68.")
    draw = njit()(lambda: np.random.random())  # noqa: NPY002 - the one that numba compiles
    state = thread_generator()
    before = state.copy()
    drawn = [draw() for _ in range(700)]  # more than the generator makes at once
    assert not np.array_equal(state, before)
    state[:] = before
    assert [draw() for _ in range(700)] == drawn
    assert state.size == STATE_WORDS and state[0] <= 624, "the place in its 624 words comes first"
