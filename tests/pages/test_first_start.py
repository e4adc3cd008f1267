"""On the first start a page says what it waits for, under its heading, and opens automatically."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.runtime.first_start import PARTS
from pages.shared.cache import datasets as cached
from pages.shared.shell import first_start
from tests.pages.opened import settle, words

ROOT = Path(__file__).resolve().parents[2]
APP = str(ROOT / "app.py")


class Compiling:
    """A preparation in which these parts are not ready."""

    def __init__(self, *missing):
        self._missing = missing

    def missing(self, parts=PARTS):
        return [part for part in parts if part in self._missing]

    def wait(self, parts=PARTS, timeout=None):
        return True


@pytest.mark.parametrize("missing", ["draws", "agreement"])
def test_a_page_waits_for_its_own_parts_and_opens_when_they_are_there(missing, monkeypatch):
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = "caries"
    monkeypatch.setattr(cached, "preparation", lambda: Compiling(missing))
    app.run()
    assert [title.value for title in app.title] == ["Home"]
    assert "Setting up Plurality" in words(app) and "opens automatically" in words(app)
    assert not app.exception and not app.get("plotly_chart")
    assert any("**Caries**" in entry.value for entry in app.markdown), "the data are there by then"
    monkeypatch.setattr(cached, "preparation", lambda: Compiling("models"))  # which this page does not need
    app = settle(app.run())
    assert "being compiled" not in words(app) and "Caries" in app.title[0].value


def test_every_page_that_computes_says_what_it_needs_of_what_is_compiled():
    needs = first_start._NEEDS
    assert set(needs) == {path.stem for path in (Path(APP).parent / "pages").glob("*.py")} - {
        "documentation",
        "settings",
    }
    assert all(set() < set(parts) <= set(PARTS) for parts in needs.values())


def test_home_without_data_does_not_wait(monkeypatch):
    monkeypatch.setattr(cached, "preparation", lambda: Compiling(*PARTS))
    app = AppTest.from_file(APP, default_timeout=300).run()
    assert "raters agree, and where" in app.title[0].value and "Setting up" not in words(app)
    assert "**A live case from sample data** appears here when setup is finished (about a minute)" in words(
        app
    ) and not app.get("plotly_chart")
    assert not app.exception


def test_what_is_loaded_by_then_is_not_searched_for_garbage_after_each_run(monkeypatch):
    """Streamlit's search after each run took ten times as long as a page."""
    gc.unfreeze()
    monkeypatch.setattr("core.warmup.warm_up", lambda parts: None)
    monkeypatch.setattr(cached, "_WARM_UP_DELAY", 0.0)
    cached.preparation.clear()
    try:
        cached.preparation()
        deadline = time.monotonic() + 60
        while not gc.get_freeze_count() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
        cached.preparation.clear()


NOT_LOADED = """
import os, sys
import streamlit.web.cli

def told():
    print("numpy" in sys.modules, os.environ.get("OPENBLAS_NUM_THREADS"))
    raise SystemExit

"""
BY_ITSELF = """
import types
import core.runtime
core.runtime.first_start = sys.modules["core.runtime.first_start"] = types.SimpleNamespace(begin=told)
import app
"""
BY_A_TEAM = """
import types
from pages.shared.shell import server
sys.modules["core.runtime.chunks"] = types.ModuleType("core.runtime.chunks")
sys.modules["core.runtime.chunks"].__getattr__ = lambda name: told()
server.main([])
"""


@pytest.mark.parametrize("server", [BY_ITSELF, BY_A_TEAM])
@pytest.mark.parametrize(("asked", "used"), [(None, "1"), ("4", "4")])
def test_a_server_has_its_linear_algebra_in_one_thread_before_any_of_it_is_loaded(server, asked, used):
    told = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    told |= {"OPENBLAS_NUM_THREADS": asked} if asked else {}
    script = NOT_LOADED + server
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=told, capture_output=True, text=True)
    assert done.stdout.split() == ["False", used], done.stderr
