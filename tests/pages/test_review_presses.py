"""Presses that come together: nothing is recorded in an order that was guessed."""

from contextlib import suppress

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, RerunException

from pages.shared.cache import visit
from pages.shared.review import presses as review_presses


@pytest.fixture
def done(monkeypatch):
    """What was done, in order; the session's state is a plain dictionary."""
    monkeypatch.setattr(st, "session_state", {})
    return []


def press(done: list[str], *names: str) -> None:
    """Press buttons within one run, choices in small letters and steps in capitals, and let the next run begin."""
    for name in names:
        options = review_presses.noted(done.append, name, choice=name.islower())
        options["on_click"](*options["args"])
    review_presses.catch_up()


@pytest.mark.parametrize("order", ["aR", "Ra"])
def test_one_choice_and_one_step_are_choice_and_step(done, order):
    """Whichever of them the server names first."""
    press(done, *order)
    assert done == ["a", "R"]
    assert visit.review_pressed_twice is None


def test_a_press_is_not_lost_where_another_event_ends_its_callback(done, monkeypatch):
    """Streamlit does that at any look at the session's state, and says nothing of it."""

    class EndsCallbacks(dict):
        def _ended(self, *_):
            raise RerunException(RerunData())

        get = setdefault = __getitem__ = __setitem__ = _ended

    options = review_presses.noted(done.append, "a", choice=True)
    kept = st.session_state
    monkeypatch.setattr(st, "session_state", EndsCallbacks(kept))
    with suppress(RerunException):
        options["on_click"](*options["args"])
    monkeypatch.setattr(st, "session_state", kept)
    review_presses.catch_up()
    assert done == ["a"]


@pytest.mark.parametrize(("presses", "left"), [("abR", ["a", "b"]), ("aRS", ["a"]), ("RS", [])])
def test_of_more_only_the_choices_are_made(done, presses, left):
    """No step is taken, and it is said."""
    press(done, *presses)
    assert done == left
    assert "press again" in visit.review_pressed_twice


def test_a_step_pressed_twice_is_taken_once(done):
    """As by a double click whose two presses come together, with or without a choice before them."""
    press(done, "R", "R")
    assert done == ["R"] and visit.review_pressed_twice is None
    press(done, "S", "a", "S")
    assert done == ["R", "a", "S"] and visit.review_pressed_twice is None


def test_a_step_after_guessed_choices_waits_until_they_were_seen(done):
    """Confirmed before the page was drawn with the choices: refused; after that: taken, and nothing more is said."""
    press(done, "a", "b")
    press(done, "R")
    assert done == ["a", "b"]
    assert visit.review_pressed_twice
    review_presses.drawn()
    press(done, "R")
    assert done == ["a", "b", "R"]
    assert visit.review_pressed_twice is None


def test_a_key_for_a_case_that_is_no_longer_in_hand_is_refused_aloud(done):
    """Neither done for that case nor for the next; the second half of a double click is no new key."""

    def send(of: str, name: str, step: str = "") -> None:
        options = review_presses.noted(done.append, name, of=of, step=step)
        options["on_click"](*options["args"])

    visit.review_in_hand = "session-1"
    review_presses.drawn()
    send("session-1", "keep 1", "K")
    review_presses.catch_up()
    visit.review_in_hand = "session-2"
    send("session-1", "keep 1", "K")
    review_presses.catch_up()
    assert done == ["keep 1"] and visit.review_pressed_twice is None
    send("session-1", "change 1")
    review_presses.catch_up()
    assert done == ["keep 1"]
    assert "that case is no longer on screen" in visit.review_pressed_twice


def test_the_same_key_again_as_the_next_case_appears_is_refused_aloud(done, monkeypatch):
    """Another key counts at once, and the same one as soon as the case could have been seen."""
    now = [0.0]
    monkeypatch.setattr(review_presses.time, "monotonic", lambda: now[0])

    def send(of: str, step: str) -> None:
        visit.review_in_hand = of
        review_presses.drawn()
        options = review_presses.noted(done.append, f"{step} {of}", of=of, step=step)
        options["on_click"](*options["args"])
        review_presses.catch_up()

    send("s-1", "K")
    send("s-2", "S")
    send("s-3", "S")
    assert done == ["K s-1", "S s-2"]
    assert "this case had only just appeared" in visit.review_pressed_twice
    now[0] = 1.0
    send("s-3", "S")
    assert done == ["K s-1", "S s-2", "S s-3"] and visit.review_pressed_twice is None


def test_the_same_key_again_counts_once_something_was_chosen_on_the_next_case(done, monkeypatch):
    """However soon: whoever chose has seen the case, and a quick hand is not stopped there."""
    monkeypatch.setattr(review_presses.time, "monotonic", lambda: 0.0)
    for of in ("s-1", "s-2"):
        visit.review_in_hand = of
        review_presses.drawn()
        for name, step in (("choice", ""), ("sent", "Ctrl+Enter")):
            options = review_presses.noted(done.append, f"{name} {of}", of=of, step=step, choice=not step)
            options["on_click"](*options["args"])
            review_presses.catch_up()
    assert done == ["choice s-1", "sent s-1", "choice s-2", "sent s-2"] and visit.review_pressed_twice is None


def test_a_run_cut_short_is_made_up_for_and_a_mistake_is_not_repeated(done):
    """What cut the run comes again to the same press; an error comes once."""

    class Cut(BaseException):
        pass

    def once(fault):
        if fault not in done:
            done.append(fault)
            raise fault
        done.append("done")

    for fault, after in ((Cut(), ["done"]), (ValueError(), [])):
        done.clear()
        options = review_presses.noted(once, fault)
        options["on_click"](*options["args"])
        with pytest.raises(type(fault)):
            review_presses.catch_up()
        review_presses.catch_up()
        assert done == [fault, *after]
