"""What all tests share: kernels from the one cache, and a home folder that is nobody's own."""

import pytest

from core.settings import prepare_numba_cache

prepare_numba_cache()  # before PLURALITY_HOME is changed, so that tests and the app compile each kernel once


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home folder of its own for every test."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PLURALITY_HOME", str(folder))
    return folder
