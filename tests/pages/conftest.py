"""Pages as they are once their kernels are compiled; that they wait for them is tested where it is said."""

import os
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner.script_cache import ScriptCache

from pages.shared.cache import datasets, sign_in
from pages.shared.kit import columns, widgets
from tests.golden import screens
from tests.pages.opened import note_runs

# Columns of value and ends by the head of their picture; under the usual head, the value by the key of the table.
_PICTURED = {
    "of the pool, 95%": ("share of the pool", "pool from", "pool to"),
    "people, 95%": ("among people", "people from", "people to"),
    "AI rater, 95%": ("with people", "machine from", "machine to"),
    "labels only, 95%": ("people at", "people from", "people to"),
    "corrected, 95%": ("corrected at", "corrected from", "corrected to"),
    "interval": ("difference", "from", "to"),
    **{
        f"{name.replace('_', ' the ')}, 95%": (name, f"{name}_low", f"{name}_high")
        for name in ("severity", "spread", "with_others")
    },
}
_VALUES = {
    "rater_answers": "share",
    "coefficients": "value",
    "selections_table": "difference",
    "by_rater_table": "with_the_others",
    "gold_accuracy": "right_by_gold",
    "gold_table": "accuracy",
    "pair_agreement": "difference",
    "machine_differences": "difference of ρ",
    "rater_table": "right by matrix",
    "by_part_rows": "advantage of raters",
}
_ENDS = ("95% from", "to")
_WORDS = ("title", "subheader", "markdown", "caption", "info", "warning", "write")


@pytest.fixture(scope="session", autouse=True)
def noted_runs():
    """What is looked at is known to be from after the last job or from before it."""
    with pytest.MonkeyPatch.context() as patch:
        note_runs(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def packages_looked_through_once():
    """Each new app looks through all installed packages for components, which takes longer than most pages do."""
    found = cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session", autouse=True)
def scripts_compiled_once():
    """As in a server: each new app would compile the script of each page anew. One that has changed is another."""
    anew = ScriptCache.get_bytecode
    compiled_of = cache(lambda path, changed: anew(ScriptCache(), path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptCache, "get_bytecode", lambda _, path: compiled_of(path, os.stat(path).st_mtime_ns))
        yield


@pytest.fixture(scope="session", autouse=True)
def kernels_loaded_as_needed():
    """A server loads all of them before they are asked for: a worker of the tests asks for some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "_load_kernels", datasets._keep_for_good)
        yield


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Whatever is not compiled yet is compiled where a test calls it."""
    monkeypatch.setattr("core.runtime.first_start.compiled", lambda: True)


@pytest.fixture
def known(home, known_results):
    """What other tests have computed of the same data is found; for tests of what is shown, not of what is stored."""
    known_results(home)


@pytest.fixture(autouse=True)
def few_held_out_readers(monkeypatch):
    """The curve of held-out readers of the larger samples takes minutes: here it is computed of small data only."""
    monkeypatch.setenv("PLURALITY_UNASKED_CASES", "100")


@pytest.fixture
def as_recorded(request):
    """Compares the lines of a page with those of its file; with ``--record-screens`` writes them there."""

    def compare(path, lines):
        if request.config.getoption("record_screens"):
            screens.record(path, lines)
        told = screens.differences(path.read_text(encoding="utf-8").splitlines(), lines)
        shown = "\n".join(told[:20])
        assert not told, f"{path.name}: {len(told)} lines differ:\n{shown}\nWhere that is right: --record-screens"

    return compare


@pytest.fixture
def said(monkeypatch):
    """What is said, in its order; a metric as its label and its number."""
    found = []

    def words(*arguments, **_):
        found.append(str(arguments[-1]).replace("\\", ""))

    for owner, first in ((st, 0), (DeltaGenerator, 1)):
        for name in _WORDS:
            monkeypatch.setattr(owner, name, words)
        monkeypatch.setattr(owner, "metric", lambda *a, first=first, **_: found.append(": ".join(a[first : first + 2])))
    return found


@pytest.fixture
def labels(monkeypatch):
    """What stands on the parts that can be opened."""
    found = []
    monkeypatch.setattr(st, "expander", lambda label, **_: found.append(label) or st.container())
    return found


@pytest.fixture
def shown(monkeypatch):
    """Tables on the page by their keys, without the pictures of their intervals; no row is chosen.

    Each picture is of the numbers of its own row and of the columns that its head names.
    """
    found = {}
    monkeypatch.setattr(columns.cells, "intervals", _pictures)

    def dataframe(frame, key=None, **_):
        pictures = [name for name in frame if frame[name].astype(str).str.startswith("data:image").any()]
        for head in pictures:
            ends = _PICTURED.get(head) or (_VALUES[key], *(("ci_low", "ci_high") if "ci_low" in frame else _ENDS))
            numbers = (pd.to_numeric(frame[name]).to_numpy(float) for name in ends)
            mark = 0.0 if ends[0].startswith(("difference", "advantage of raters", "severity", "spread")) else None
            assert _in_percent(frame[head]) == _in_percent(_pictures(*numbers, None, mark=mark)), f"{head} of {key}"
        found[key] = frame.drop(columns=pictures)
        return SimpleNamespace(selection=SimpleNamespace(rows=[], cells=[]))

    monkeypatch.setattr(st, "dataframe", dataframe)
    return found


def _pictures(value, low, high, theme, *, mark=None, **_):
    rows = zip(value, low, high, strict=True)
    return [f"data:image of {v} from {a} to {b}, {mark}" if np.isfinite(v) else None for v, a, b in rows]


def _in_percent(pictures):
    """Without what a table in whole per cents does not show; differences have three digits."""
    number = re.compile(r"-?\d\.\d+(e-\d+)?")
    return [one and number.sub(lambda found: f"{float(found[0]) + 1e-12:z.2f}", one) for one in pictures]


@pytest.fixture
def drawn(monkeypatch):
    """Figures by their keys."""
    found = {}
    monkeypatch.setattr(widgets, "plot", lambda figure, key, alt, **_: found.update({key: figure}))
    return found


@pytest.fixture
def left(monkeypatch):
    """Tables for download by their keys, or what makes them."""
    found = {}
    monkeypatch.setattr(widgets, "download", lambda frame, label, name, key, *_, **__: found.update({key: frame}))
    return found


@pytest.fixture
def as_(monkeypatch):
    """Makes who is signed in somebody else."""
    monkeypatch.setenv("PLURALITY_SIGN_IN", "1")

    def become(person):
        monkeypatch.setattr(sign_in, "person", lambda: person)

    return become
