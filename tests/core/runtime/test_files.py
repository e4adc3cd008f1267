"""Arrays from files in many threads: a header is parsed alone, and what is read is what was written."""

import ast
import io
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import core
from core.runtime import files


def written(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@given(
    arrays.arrays(
        st.sampled_from(["i4", "i8", "f8", "f4", "?", "u1", "U3", "S2", "M8[D]"]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    ),
    st.booleans(),
)
@settings(max_examples=60)
def test_an_array_comes_back_as_it_was(array, by_columns):
    array = np.asfortranarray(array) if by_columns and array.ndim else array
    found = files.read_array(io.BytesIO(written(array)))
    assert (
        found.dtype == array.dtype
        and found.shape == array.shape
        and found.flags.f_contiguous == array.flags.f_contiguous
    )
    assert found.tobytes() == array.tobytes() and not found.flags.writeable


def test_an_array_on_disk_may_be_written_to_as_one_by_numpy(tmp_path):
    np.save(tmp_path / "one.npy", np.arange(5, dtype=np.int32))
    found, other = files.load_array(tmp_path / "one.npy"), np.load(tmp_path / "one.npy")
    assert found.tolist() == [0, 1, 2, 3, 4] and found.flags.writeable and found.flags.aligned
    assert (found.dtype, found.flags.c_contiguous) == (other.dtype, other.flags.c_contiguous)


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", written(np.arange(9))[:-1], written(np.arange(9)) + b"1", written(np.arange(9))[:40]],
    ids=["nothing", "another kind", "cut", "longer", "no header"],
)
def test_a_file_that_is_not_whole_is_refused(content, tmp_path):
    (tmp_path / "bad.npy").write_bytes(content)
    for read in (
        lambda: files.read_array(io.BytesIO(content)),
        lambda: files.load_array(tmp_path / "bad.npy"),
    ):
        with pytest.raises(ValueError):
            read()


def test_objects_are_not_read():
    file = io.BytesIO()
    np.save(file, np.array([{}], object), allow_pickle=True)
    with pytest.raises(ValueError, match="contains objects"):
        files.read_array(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("how", ["read_array", "load_array", "load_arrays", "load_any"])
def test_no_two_threads_parse_a_header_at_once(how, tmp_path, monkeypatch):
    """The parser of CPython before 3.13 counts its depth for all threads together."""
    np.save(tmp_path / "one.npy", np.arange(3))
    np.savez(tmp_path / "many.npz", a=np.arange(3), b=np.ones(2))
    content = (tmp_path / "one.npy").read_bytes()
    read = {
        "read_array": lambda: files.read_array(io.BytesIO(content)),
        "load_array": lambda: files.load_array(tmp_path / "one.npy"),
        "load_arrays": lambda: files.load_arrays(tmp_path / "many.npz"),
        "load_any": lambda: files.load_any(io.BytesIO(content)),
    }[how]
    inside, most, lock, literal_eval = 0, 0, threading.Lock(), ast.literal_eval

    def slowly(text):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.005)
        found = literal_eval(text)
        with lock:
            inside -= 1
        return found

    monkeypatch.setattr("ast.literal_eval", slowly)
    with ThreadPoolExecutor(4) as pool:
        for one in [pool.submit(read) for _ in range(8)]:
            one.result()
    assert most == 1


def test_nobody_reads_files_of_arrays_in_another_way():
    root = Path(core.__file__).parent.parent
    by_hand = re.compile(r"np\.load\(|format\.read_array|fromregex|open_memmap")
    found = [
        path.relative_to(root).as_posix()
        for folder in ("core", "pages")
        for path in (root / folder).rglob("*.py")
        if by_hand.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["core/runtime/files.py"]
