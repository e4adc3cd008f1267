"""The benchmark beside other packages, without them: our half of each task runs, and a wrong result is told."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from core.models.difficulty import nominal

FOLDER = Path(__file__).parents[1] / "benchmarks" / "peers"
N = 600


@pytest.fixture
def modules(monkeypatch):
    """Its modules, and `growth`, which measures ours alone."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    monkeypatch.setattr(nominal, "_STOP", nominal._STOP)  # which the benchmark sets
    return {name: importlib.import_module(name) for name in ("compare", "ours", "theirs", "crowds", "growth")}


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


def test_all_that_claims_to_be_linear_is_measured_and_its_slope_is_that_of_the_medians(modules, tmp_path):
    growth, ours, compare = modules["growth"], modules["ours"], modules["compare"]
    for task in growth.TASKS:
        if task in growth.FILES:
            compare.write_file(growth.FILES[task], N, tmp_path)
        assert np.isfinite((ours.TASKS | ours.ALONE)[task](N, tmp_path)()).all()
    runs = {100: [1.0, 2.0, 9.0], 1_000: [20.0, 1.0, 30.0], 10_000: [200.0, 400.0, 800.0]}
    found = {n: [{"cpu": cpu, "wall": cpu / 2, "mb": 3.0} for cpu in cpus] for n, cpus in runs.items()}
    assert growth.slope([100, 1_000, 10_000], [2.0, 20.0, 400.0]) == pytest.approx(1.15, abs=0.001)
    assert growth.line("glad", found) == "| GLAD | 2.000 | 20.000 | 400.000 | 1.15 | 1.30 | 2.00 | 3 |"
