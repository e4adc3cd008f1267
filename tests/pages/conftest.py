"""Pages as they are once their kernels are compiled; that they wait for them is tested where it is said."""

import pytest


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Whatever is not compiled yet is compiled where a test calls it."""
    monkeypatch.setattr("core.first_start.compiled", lambda: True)


@pytest.fixture(autouse=True)
def few_held_out_readers(monkeypatch):
    """The curve of held-out readers of the larger samples takes minutes: here it is computed of small data only."""
    monkeypatch.setenv("PLURALITY_UNASKED_CASES", "100")
