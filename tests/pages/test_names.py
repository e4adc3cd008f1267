"""Hiding, presenting and renaming cost nothing: results are of the content, and names are put in where shown."""

import io
import re
import zipfile

import pytest
from streamlit.testing.v1 import AppTest

from core import library, read
from core.runtime.encoding import NotStorableError, to_bytes
from core.runtime.jobs import JobBoard
from core.runtime.result_cache import Results
from pages.shared.cache import datasets as cached
from pages.shared.cache.remembered import results
from tests.pages.opened import at, kept, opened, settle, words

PRIVATE = re.compile("[\U000f0000-\U0010ffff]|\\\\U000[f1]", re.IGNORECASE)
NAMES = ("Quendolin", "Ramirez", "Szymborska")


def table() -> str:
    rows = [
        f"c{case},{name},{'xyz'[(case * case + (case * place) % 7) % 3]},2024-0{1 + case % 9}-11"
        for case in range(40)
        for place, name in enumerate(NAMES)
    ]
    return "\n".join(["case,rater,class,time", *rows])


@pytest.fixture
def computed(monkeypatch):
    """What is computed: titles of jobs and keys of results."""
    done: list = []
    start, put = JobBoard._start, Results._put

    def started(self, job):
        done.append(job.title)
        return start(self, job)

    def held(self, dataset, asked, *result, **how):
        done.append((dataset.content_digest, asked))
        return put(self, dataset, asked, *result, **how)

    monkeypatch.setattr(JobBoard, "_start", started)
    monkeypatch.setattr(Results, "_put", held)
    return done


@pytest.mark.parametrize("page", ["agreement", "raters", "cases", "models"])
def test_presenting_and_renaming_compute_nothing_again(page, computed):
    address = kept(table(), "before")
    app = opened(page, address)
    assert computed, "the page computes something"
    named = words(app)
    computed.clear()
    app.session_state["presenting"] = 1
    app = settle(app.run())
    assert computed == []
    veiled = words(app)
    assert "How to read this" not in veiled  # an audience cannot open it
    assert not any(name in veiled for name in NAMES)
    if page == "raters":
        assert "Select rows to message" in named and "Select rows to message" not in veiled
    assert not PRIVATE.search(named + veiled)
    app.session_state["presenting"] = None
    library.rename(address, "afterwards")
    cached.registry().remove(address)
    settle(app.run())
    assert computed == []


def texts_of(result) -> str:
    """Every text in a result."""
    other = read(b"case,rater,class\n1,a,x\n", name="other").dataset
    try:
        content = to_bytes(result, other)
    except NotStorableError:  # of a class of the pages
        return repr(result)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read("result.json").decode()


def test_nothing_that_is_kept_for_others_holds_a_name():
    opened("raters", kept(table()))
    held = [texts_of(one.result) for one in results()._found.values()]
    held += [texts_of(job.result) for job in cached.jobs()._jobs.values()]
    assert held and not [found for found in held for name in NAMES if name in found]


def test_raters_on_the_page_have_their_names():
    app: AppTest = opened("raters", kept(table()))
    shown = "\n".join(str(frame.value) for frame in app.dataframe) + words(app)
    assert all(name in shown for name in NAMES)
    assert not PRIVATE.search(shown)


def test_a_presentation_shows_the_storys_last_step_without_the_names_of_machines_and_families():
    """The page of machines is a step of the story; its machines are not called raters, nor by what they are of."""
    app = at("ai_rater", "replies", story="7", presenting="1")
    app = settle(app.run())
    app.session_state["ai_tabs"] = "Versions"
    said = words(settle(app.run()))
    assert "not shown in a presentation" not in said
    assert re.search(r"“AI rater 3” and “AI rater \d” can replace a rater", said) and "Family 1: agreement" in said
    shown = said + "".join(table.value.to_string() for table in app.dataframe)
    assert "AI rater 1" in shown and not re.search("lyra|steady|brash", shown.casefold())
