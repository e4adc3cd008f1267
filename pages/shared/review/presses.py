"""Presses of buttons that come together, as quick clicks do while a page is being drawn; keys wait (`keys`).

Streamlit hands over what was pressed since the last run all at once, in an order that says nothing of the order in
which it was pressed. So a button of a review only notes its press, and the next run makes up for all of them before it
draws anything: one choice and one step, such as a class and "Record", are done as choice and step. Of more than that
the order would be a guess. Then the choices are made and seen, and no step is taken until it is pressed again.

A press belongs to the case that its button was drawn for. One that comes when another case is in hand is refused and
said, as is the same step once more in the moment in which the next case appears: nobody has looked at that yet, unless
something was chosen on it.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.text import shorten
from pages.shared.cache import visit

_LOOK = 0.5  # seconds: sooner than this nobody has seen that another case is on screen
_TOLD = "More than one key was pressed at once, so the order is unknown. Check your selection and press again."


@dataclass(frozen=True, slots=True)
class _Press:
    choice: bool
    of: str
    step: str
    work: Callable[..., None]
    args: tuple


@dataclass(slots=True)
class _Presses:
    """Those that wait, and how many there ever were in this session."""

    waiting: list[_Press] = field(default_factory=list)
    n: int = 0


def noted(work: Callable[..., None], *args, choice: bool = False, of: str = "", step: str = "") -> dict:
    """Options of a button of a review, whose press is to be done by `catch_up`.

    Parameters
    ----------
    work : callable
    *args
    choice : bool
        True if the press only changes a choice that is shown before it counts.
    of : str
        The case that the button belongs to, as in `visit.review_in_hand`; empty where it belongs to none.
    step : str
        Which step the press records, if any.
    """
    return {"on_click": _note, "args": (_presses(), _Press(choice, of, step, work, args))}


def n_noted() -> int:
    """How many presses the page has answered, in this session."""
    return _presses().n


def _presses() -> _Presses:
    visit.review_presses = presses = visit.review_presses or _Presses()
    return presses


def _note(presses: _Presses, press: _Press) -> None:
    """Note a press without a look at the session's state.

    There Streamlit ends a callback for whatever came meanwhile, as from a field that is left by the press of a button,
    and the press would be lost without a word.
    """
    presses.waiting.append(press)
    presses.n += 1


def catch_up() -> None:
    """Do what was pressed. A press is discarded once it is done, so that a run cut short does it again."""
    waiting = _presses().waiting
    if not waiting:
        return
    del visit.review_pressed_twice
    _refuse_late(waiting)
    waiting.sort(key=lambda press: not press.choice)
    n_choices = sum(press.choice for press in waiting)
    if n_choices > 1:
        visit.review_guessed = True
    steps = waiting[n_choices:]
    if all(_same(step, steps[0]) for step in steps):  # a double click is one step
        del waiting[n_choices + 1 :]
        steps = steps[:1]
    if len(steps) > 1 or (steps and visit.review_guessed):
        visit.review_pressed_twice = _TOLD
        del waiting[n_choices:]
    while waiting:
        press = waiting[0]
        try:
            press.work(*press.args)
        except Exception:  # a mistake, which must not come again in every run; a run cut short raises nothing of this
            waiting.clear()
            raise
        if press.step:
            visit.review_last_step = (press.step, press.of)
        waiting.pop(0)  # before the state is looked at, where a run may be cut: a choice that is made twice is undone
        if press.choice and press.of:  # whoever chooses has seen that another case is on screen
            visit.review_drawn_at = (press.of, -math.inf)


def _refuse_late(waiting: list[_Press]) -> None:
    """Take out presses that were not meant for what is on screen, and say so."""
    now = visit.review_in_hand
    last = visit.review_last_step
    kept = []
    for press in waiting:
        if press.of and now and press.of != now:
            if (press.step, press.of) != last:  # the second half of a double click has done its work
                visit.review_pressed_twice = (
                    f"A key press for case {shorten(press.of.partition('-')[2], 40)} was ignored, because that case is "
                    "no longer on screen. Check this case and press again."
                )
        elif press.step and last and press.step == last[0] and press.of != last[1] and _just_drawn(press.of):
            visit.review_pressed_twice = (
                "A second press of the same key was ignored, because this case had only just appeared. Check the case "
                "and press again."
            )
        else:
            kept.append(press)
    waiting[:] = kept


def _just_drawn(of: str) -> bool:
    where, at = visit.review_drawn_at
    return where != of or time.monotonic() - at < _LOOK


def _same(one: _Press, other: _Press) -> bool:
    """Return True if two presses are of the same button: for the same work on exactly the same things."""
    pairs = zip(one.args, other.args, strict=False)
    alike = len(one.args) == len(other.args) and all(a is b or (isinstance(a, str) and a == b) for a, b in pairs)
    return alike and one.work == other.work


def drawn() -> None:
    """Mark the page as drawn: the current choice has been shown, whatever the order of presses."""
    del visit.review_guessed
    where = visit.review_in_hand
    if visit.review_drawn_at[0] != where:
        visit.review_drawn_at = (where, time.monotonic())
