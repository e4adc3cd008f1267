"""Presses of buttons that come together, as quick keys do while a page is being drawn.

Streamlit hands over what was pressed since the last run all at once, in an order that says nothing of the order in
which it was pressed. So a button of a review only notes its press, and the next run makes up for all of them before it
draws anything: one choice and one step, such as a class and "Record", are done as choice and step. Of more than that
the order would be a guess. Then the choices are made and seen, and no step is taken until it is pressed again.
"""

from collections.abc import Callable

import streamlit as st

_WAITING, _GUESSED, _WORDS = "review_presses", "review_guessed", "review_pressed_twice"
_TOLD = "Several keys came at once, so that their order cannot be told. Look at what is chosen, and press again."


def noted(work: Callable[..., None], *args, choice: bool = False) -> dict:
    """Options of a button of a review, whose press is to be done by `catch_up`.

    ``choice`` says that the press only chooses something that is seen before it counts.
    """
    return {"on_click": _note, "args": (choice, work, *args)}


def _note(choice: bool, work: Callable[..., None], *args) -> None:
    st.session_state.setdefault(_WAITING, []).append((choice, work, args))


def catch_up() -> None:
    """Do what was pressed. A press is discarded once it is done, so that a run cut short does it again."""
    waiting = st.session_state.get(_WAITING, [])
    if not waiting:
        return
    waiting.sort(key=lambda press: not press[0])
    n_choices = sum(choice for choice, *_ in waiting)
    if n_choices > 1:
        st.session_state[_GUESSED] = True
    steps = waiting[n_choices:]
    if all(_same(step, steps[0]) for step in steps):  # a double click is one step
        del waiting[n_choices + 1 :]
        steps = steps[:1]
    if len(steps) > 1 or (steps and st.session_state.get(_GUESSED)):
        st.session_state[_WORDS] = _TOLD
        del waiting[n_choices:]
    else:
        st.session_state.pop(_WORDS, None)
    while waiting:
        _, work, args = waiting[0]
        try:
            work(*args)
        except Exception:  # a mistake, which must not come again in every run; a run cut short raises nothing of this
            waiting.clear()
            raise
        waiting.pop(0)


def _same(one: tuple, other: tuple) -> bool:
    """Whether two presses are of one button as it was drawn once: of the same work on the very same things."""
    (_, work, args), (_, others_work, others_args) = one, other
    pairs = zip(args, others_args, strict=False)
    alike = len(args) == len(others_args) and all(a is b or (isinstance(a, str) and a == b) for a, b in pairs)
    return alike and work == others_work


def drawn() -> None:
    """The page stands as it was drawn: what is chosen has been shown, in whatever order it was pressed."""
    st.session_state.pop(_GUESSED, None)


def refused() -> str | None:
    """Why the last step was not taken, if so."""
    return st.session_state.get(_WORDS)
