"""The benchmark beside other packages, without them: our half of each task runs, and a wrong result is told."""

import importlib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks" / "peers"
N = 600


@pytest.fixture
def modules(monkeypatch):
    """Its modules: `compare`, `ours`, `theirs`, `crowds`."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return {name: importlib.import_module(name) for name in ("compare", "ours", "theirs", "crowds")}


def test_every_task_has_both_sides(modules):
    assert list(modules["compare"].TASKS) == list(modules["ours"].TASKS) == list(modules["theirs"].TASKS)


def test_our_half_gives_numbers_that_agree_with_themselves_and_with_nothing_else(modules, tmp_path):
    compare, ours = modules["compare"], modules["ours"]
    for name, task in compare.TASKS.items():
        if task.file:
            compare.write_file(task.file, N, tmp_path)
        found = ours.TASKS[name](N, tmp_path)()
        assert found.size, name
        assert np.isfinite(found).all(), name
        assert not compare.differs(task, found, found.copy()), name
        wrong = np.roll(found, 1, axis=1) if task.rule == "classes" else found + 0.01
        assert compare.differs(task, found, wrong), name
        assert compare.differs(task, found, found[:, :1] if found.ndim > 1 else found[:0]), name


def test_what_is_read_is_the_crowd_that_was_written(modules, tmp_path):
    made = modules["crowds"].crowd(N)
    for ending in ("parquet", "csv", "jsonl"):
        modules["compare"].write_file(ending, N, tmp_path)
        name = next(name for name, task in modules["compare"].TASKS.items() if task.file == ending)
        found = modules["ours"].TASKS[name](N, tmp_path)()
        sizes = [np.unique(made[key]).size for key in ("case", "rater")]
        assert found.tolist() == [*sizes, N, *np.bincount(made["answer"])]


def test_ratios_are_of_pairs_and_growth_is_an_exponent(modules):
    compare = modules["compare"]
    small = compare.Row("alpha", 1_000, [{"cpu": 1.0, "mb": 1.0}] * 3)
    large = compare.Row("alpha", 10_000, [{"cpu": cpu, "mb": 5.0} for cpu in (10.0, 20.0, 40.0)])
    large.theirs = [{"cpu": cpu, "mb": 7.0} for cpu in (30.0, 20.0, 80.0)]
    assert compare.growth(small, large) == pytest.approx(np.log10(20))
    assert large.ratio == 2.0  # of 3, 1 and 2; the medians alone would give 1.5
    assert compare.line(large, small) == "| alpha | krippendorff | 10,000 | 20.000 | 30.000 | 2.0 | 5 | 7 | 1.30 |"
    assert compare.line(small, None) == "| alpha | krippendorff | 1,000 | 1.000 |  |  | 1 |  |  |"
