"""What an administrator sees of a server: numbers that are closed to everybody else, a log without names or content."""

import io
import json
import logging
import re
import time

import pytest
from streamlit import logger as streamlit_logger
from streamlit.testing.v1 import AppTest

from core.errors import InputError
from core.people import Person
from core.review.review_errors import StoreError
from core.settings import current_settings
from pages.shared.cache import access, operations
from pages.shared.kit import store_away
from pages.shared.shell import doors
from tests.pages.opened import APP, at, kept, settle

TOKEN = "t" * 40
TABLE = "case,rater,class\ncase-7f3,rater-7f3,class-7f3\ncase-7f3,rater-8,class-8\ncase-9,rater-8,class-8\n"


def scope(**headers):
    told = [(b"host", b"localhost:8501"), *((name.encode(), said.encode()) for name, said in headers.items())]
    return {"type": "http", "path": "/metrics", "server": ("127.0.0.1", 8501), "headers": told}


def test_numbers_are_for_administrators_and_for_the_token(monkeypatch):
    assert doors.may_read_numbers(scope()), "on a computer of one's own"
    monkeypatch.setenv("PLURALITY_ANYBODY_WHO_REACHES_THIS_COMPUTER_MAY_READ_AND_ERASE", "1")
    assert not doors.may_read_numbers(scope())
    assert not doors.may_read_numbers(scope() | {"server": ("10.0.0.1", 8501)})
    monkeypatch.setenv("PLURALITY_SIGN_IN", "1")
    assert not doors.may_read_numbers(scope()), "nobody is signed in"
    assert not doors.may_read_numbers(scope(authorization="Bearer ")), "no token is set"
    for role, may in (("reviewer", False), ("manager", False), ("administrator", True)):
        monkeypatch.setattr(doors, "_person", lambda scope, role=role: Person("p", role, 2e9))
        assert doors.may_read_numbers(scope()) == may
    monkeypatch.setattr(doors, "_person", lambda scope: None)
    monkeypatch.setenv("PLURALITY_METRICS_TOKEN", TOKEN)
    assert doors.may_read_numbers(scope(authorization=f"Bearer {TOKEN}"))
    for said in (TOKEN, "Bearer", f"Bearer {TOKEN}t", "Bearer \xe9"):
        assert not doors.may_read_numbers(scope(authorization=said))


def test_a_token_that_can_be_guessed_and_a_log_that_there_is_not_are_refused(monkeypatch):
    monkeypatch.setenv("PLURALITY_METRICS_TOKEN", "short")
    with pytest.raises(InputError, match="too short") as caught:
        current_settings()
    assert "'short'" not in str(caught.value)
    monkeypatch.setenv("PLURALITY_METRICS_TOKEN", TOKEN)
    assert TOKEN not in repr(current_settings())
    monkeypatch.setenv("PLURALITY_LOG", "xml")
    with pytest.raises(InputError, match="PLURALITY_LOG"):
        current_settings()


@pytest.fixture
def log(monkeypatch):
    """The log of the server as text."""
    root, own = logging.getLogger(), logging.getLogger("plurality")
    before = root.handlers, root.level, own.level, streamlit_logger.setup_formatter
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("PLURALITY_LOG", "json")
    operations.begin()
    operations.started()
    yield stream.getvalue
    streamlit_logger.setup_formatter = before[-1]
    root.handlers, root.level = before[:2]
    own.setLevel(before[2])
    logging.captureWarnings(capture=False)
    streamlit_logger.update_formatter()


def value_of(name):
    found = re.search(rf"^{re.escape(name)} (\S+)$", doors._numbers().decode(), re.M)
    return float(found[1]) if found else 0.0


def test_the_log_of_pages_holds_neither_names_nor_content(log):
    drawn = 'plurality_page_runs_total{ended="done",page="home"}'
    before = value_of(drawn)
    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state["data"], app.session_state["reviewer"] = kept(TABLE, "study-7f3"), "Ann-7f3"
    settle(app.run())
    try:
        raise RuntimeError("case-7f3 of Ann-7f3")
    except RuntimeError:
        streamlit_logger.get_logger("streamlit.anything").exception("Uncaught app execution case-7f3")
    lines = [json.loads(line) for line in log().splitlines()]
    assert {"server_started", "page"} <= {line.get("event") for line in lines}
    assert "home" in {line.get("page") for line in lines}
    assert any(line.get("error") == "RuntimeError" for line in lines)
    assert "7f3" not in log() and app.session_state["data"] not in log()
    assert value_of(drawn) > before


def test_the_numbers_hold_no_names_and_no_content():
    told = doors._numbers().decode()
    for name in ("plurality_sessions", "plurality_results_memory_bytes", "process_cpu_seconds_total"):
        assert re.search(rf"^{name} [0-9.e+]+$", told, re.M), name
    assert "7f3" not in told


def test_a_run_that_fails_is_counted_and_its_message_is_not_logged(log):
    with pytest.raises(ZeroDivisionError), operations.page("cases"):
        raise ZeroDivisionError("case-7f3")
    assert '"page_failed"' in log() and "ZeroDivisionError" in log() and "7f3" not in log()
    assert value_of('plurality_page_runs_total{ended="failed",page="cases"}') >= 1


def test_a_database_that_is_away_is_said_once_a_page_and_the_page_comes_back_by_itself(monkeypatch):
    def away(*_):
        raise StoreError("unreachable", "The database cannot be reached.")

    answers, drawn = [False, True], []
    monkeypatch.setattr(access, "store", away)
    monkeypatch.setattr(access, "n_reviews", away)
    monkeypatch.setattr(access, "there_are_reviews", lambda: True)
    monkeypatch.setattr(access, "store_answers", lambda: answers.pop(0))
    digest = kept(TABLE)
    for page in ("home", "review"):
        app = at(page, digest)
        app.session_state["reviewer"] = "ann"
        app.run()
        assert [entry.value.replace("\\", "") for entry in app.error] == [
            "The database cannot be reached. This page tries again every 5 seconds."
        ]
    monkeypatch.setattr(store_away.st, "rerun", lambda: drawn.append(1))
    for ago, wanted in ((0, []), (10, []), (10, [1])):
        store_away._look.__wrapped__(time.monotonic() - ago)
        assert drawn == wanted
