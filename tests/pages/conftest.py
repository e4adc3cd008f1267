"""Pages as they are once their kernels are compiled; that they wait for them is tested where it is said."""

import pytest

from tests.pages.opened import note_runs


@pytest.fixture(scope="session", autouse=True)
def noted_runs():
    """What is looked at is known to be from after the last job or from before it."""
    with pytest.MonkeyPatch.context() as patch:
        note_runs(patch)
        yield


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Whatever is not compiled yet is compiled where a test calls it."""
    monkeypatch.setattr("core.first_start.compiled", lambda: True)


@pytest.fixture(autouse=True)
def few_held_out_readers(monkeypatch):
    """The curve of held-out readers of the larger samples takes minutes: here it is computed of small data only."""
    monkeypatch.setenv("PLURALITY_UNASKED_CASES", "100")
