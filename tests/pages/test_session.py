"""Values of the session: their defaults, and what setting, removing and reading them does under Streamlit's keys."""

import pytest
import streamlit as st

from core.errors import InputError
from pages.shared.cache import visit


@pytest.fixture(autouse=True)
def session(monkeypatch):
    """Return the session's values by key, none at first."""
    monkeypatch.setattr(st, "session_state", {})
    return st.session_state


def test_a_value_is_its_default_until_it_is_set_and_again_once_it_is_removed(session):
    assert visit.data == "" and visit.case is None and not session
    visit.data, visit.machines_count = "d", True
    visit.set(case="c", reliability=2.0)
    assert session == {"data": "d", "machines_count": True, "case": "c", "reliability": 2.0}
    del visit.data, visit.select
    visit.drop("case", "machines_count", "rater")
    assert session == {"reliability": 2.0}
    visit.clear()
    assert session == {}


def test_a_value_may_have_another_key_than_its_name(session):
    visit.story_left = 3
    assert session == {"_story_left": 3}


def test_a_message_is_read_once(session):
    visit.data_error = "wrong"
    assert (visit.data_error, visit.data_error) == ("wrong", None) and session == {}


def test_a_default_that_is_changed_in_place_belongs_to_one_session(monkeypatch, session):
    visit.jobs["Fit"] = ("key",)
    assert session == {"_jobs": {"Fit": ("key",)}}
    monkeypatch.setattr(st, "session_state", {})
    assert visit.jobs == {}


def test_values_of_widgets_are_read_by_key_and_type(session):
    assert (visit.choice["a"], visit.choices["a"], visit.flag["a"], visit.text["a"]) == (None, (), False, "")
    assert "a" not in visit.text and visit.number.get("a", 3.0) == 3.0
    assert visit.text.begin("a", "first") == "first" and visit.text.begin("a", "second") == "first"
    visit.number["score-own-s-c1"] = 4.0
    assert visit.ending("-c1") == {"score-own-s-c1": 4.0} and "a" in visit.text
    del visit.text["a"], visit.text["a"]
    assert session == {"score-own-s-c1": 4.0}


def test_an_error_of_a_callback_is_saved_for_its_place_and_any_other_is_raised():
    @visit.error_in("review_error")
    def record(error: Exception | None) -> str:
        if error is not None:
            raise error
        return "recorded"

    assert record(InputError("One is missing.", "Add it.")) is None
    assert visit.review_error == "One is missing. Add it."
    assert record(None) == "recorded" and visit.review_error is None
    with pytest.raises(ZeroDivisionError):
        record(ZeroDivisionError())


def test_a_name_that_is_not_declared_cannot_be_read_set_or_removed():
    for wrong in (lambda: visit.cases, lambda: visit.set(cases=1), lambda: visit.drop("cases")):
        with pytest.raises(AttributeError):
            wrong()
