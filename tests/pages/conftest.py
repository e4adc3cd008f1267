"""Pages as they are once their kernels are compiled; that they wait for them is tested where it is said."""

import pytest


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Whatever is not compiled yet is compiled where a test calls it."""
    monkeypatch.setattr("core.first_start.compiled", lambda: True)
