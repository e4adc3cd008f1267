"""The studies of machines run, and their tables hold what they say."""

import pytest

from tests.benchmarks import machines


def test_a_world_of_each_study(monkeypatch):
    monkeypatch.setattr(machines, "MANY", 3_000)
    machines.true_rho.cache_clear()
    ((n, *held, asked),) = machines.coverage_of_rho(2, sizes=(80,))
    assert (n, asked) == (80, 4) and all(0 <= one <= 1 for one in held)
    machines.true_worth.cache_clear()
    rows = machines.coverage_of_readers(1, sizes=(100,))
    assert [row[:2] for row in rows] == [(kind, name) for kind in ("agreement", "squared") for name in ("m0", "m1")]
    squared = {row[1]: row[2] for row in rows if row[0] == "squared"}
    # c(0) = −3.25, c(1) = −2, c(2) = −1.5; machines of variance 0.64 and 1.44 score −1.64 and −2.44.
    assert squared["m0"] == pytest.approx(1.72, abs=0.2) and squared["m1"] == pytest.approx(0.648, abs=0.15)
    found = {row[:3]: row[3:] for row in machines.found_copiers(1, sizes=(200,), shares=(0.0, 0.7))}
    assert found["machines", 200, 0.7][0] == 1.0 and found["machines", 200, 0.0] == (0.0, 0.0)
    machines.true_rho.cache_clear()
    machines.true_worth.cache_clear()
