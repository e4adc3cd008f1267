"""Lines of the log hold kinds, times and places in the program: neither messages nor names."""

import io
import json
import logging
import warnings

import pytest

from core import logs

SECRET = "case-7f3 of Ann"


@pytest.fixture
def lines():
    """What is logged from here on, parsed."""
    root = logging.getLogger()
    before = root.handlers, root.level
    stream = io.StringIO()
    logs.begin().setStream(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers, root.level = before
    logging.captureWarnings(capture=False)


def test_what_the_project_logs_is_said_field_by_field(lines):
    logs.log("page", page="cases", ms=12)
    (line,) = lines()
    assert line.pop("at").endswith("+00:00")
    assert line == {"level": "info", "from": "plurality", "event": "page", "page": "cases", "ms": 12}


def test_of_an_error_there_is_its_class_and_its_place_and_never_its_message(lines):
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        logs.log_error("page_failed", error)
        logging.getLogger("any.library").exception("Uncaught: %s", error)
    for line in lines():
        assert line["error"] == "ValueError" and "tests/core/test_logs.py:" in line["places"][-1]
        assert SECRET not in json.dumps(line)
    assert [line["from"] for line in lines()] == ["plurality", "any.library"]


def test_of_what_libraries_log_there_is_the_place_alone(lines):
    logging.getLogger("any.library").warning(f"seen {SECRET}")
    logging.getLogger("any.library").info("not for this log")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(SECRET, UserWarning, stacklevel=1)
    assert [(line["level"], line["from"]) for line in lines()] == [
        ("warning", "any.library"),
        ("warning", "py.warnings"),
    ]
    assert SECRET not in json.dumps(lines()) and lines()[0]["where"].startswith("test_logs:")
