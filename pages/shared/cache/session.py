"""What Streamlit saves for one open browser tab: each value with its type and default. Only here is it read and set.

`visit` has an attribute for each value of the program (``visit.case = "c7"``, ``del visit.case``). Values of widgets,
and of one case or dataset, are in families by type, under the widget's key (``visit.number["study_power"]``). A value
that is not set is its default.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast

import streamlit as st

from core.errors import PluralityError

T = TypeVar("T")


class Value(Generic[T]):
    """A value of the session: an attribute of `Visit`, whose name is its key unless another one is given."""

    def __init__(self, default: T, key: str = "") -> None:
        self._default, self._key = default, key

    def __set_name__(self, owner: type, name: str) -> None:
        self._key = self._key or name

    def __get__(self, visit: object, owner: type) -> T:
        if isinstance(self._default, dict):  # which is changed in place
            return cast(T, st.session_state.setdefault(self._key, self._default.copy()))
        return cast(T, st.session_state.get(self._key, self._default))

    def __set__(self, visit: object, value: T) -> None:
        st.session_state[self._key] = value

    def __delete__(self, visit: object) -> None:
        st.session_state.pop(self._key, None)


class Once(Value[T]):
    """A value that is removed when it is read."""

    def __get__(self, visit: object, owner: type) -> T:
        return cast(T, st.session_state.pop(self._key, self._default))


class Values(Generic[T]):
    """Values of one type by their keys in the session."""

    def __init__(self, default: T) -> None:
        self._default = default

    def __getitem__(self, key: str) -> T:
        return self.get(key, self._default)

    def __setitem__(self, key: str, value: T) -> None:
        st.session_state[key] = value

    def __delitem__(self, key: str) -> None:
        st.session_state.pop(key, None)

    def __contains__(self, key: str) -> bool:
        return key in st.session_state

    def get(self, key: str, default: T) -> T:
        """Return a value, or another default."""
        return cast(T, st.session_state.get(key, default))

    def begin(self, key: str, value: T) -> T:
        """Set a value unless it is set already, and return it."""
        return cast(T, st.session_state.setdefault(key, value))


class Visit:
    """The values of the current session. A name that is not declared here cannot be set."""

    __slots__ = ()

    # Values of widgets, and of one case or dataset, by key
    choice = Values[str | None](None)  # one of several, or the open tab
    choices = Values[Sequence[Any]](())  # several of them
    flag = Values[bool](False)  # a switch, or that something was asked for
    number = Values[float | None](None)
    text = Values[str]("")
    other = Values[Any](None)  # tables, editors and drop zones
    facts = Values[tuple[tuple[str, ...], Any] | None](None)  # names and facts, of raters and of cases
    files = Values[Sequence[Any]](())  # brought and not used, for each drop zone
    opinion = Values[dict[str, Any] | None](None)  # as far as it is given, for each form

    # The address (`pages/shared/kit/state.py`)
    data = Value[str]("")  # digest or name of a sample of the dataset in use
    select = Value[str | None](None)  # the selection, as text
    case = Value[str | None](None)  # the case that is looked at
    model = Value[str | None](None)  # the plausibility model
    prior = Value[str | None](None)  # "learned", or α as text
    reliability = Value[float | None](None)  # γ
    story = Value[str | int | None](None)  # step of the guided story
    presenting = Value[str | int | None](None)  # set in a presentation
    compare = Value[str | None](None)  # two selections side by side, as JSON
    rater = Value[str | None](None)  # the rater that is looked at
    address_written = Value[dict[str, str] | None](None, "_address_written")  # as this session wrote it last
    addresses_left = Value[Sequence[dict[str, str]]]((), "_addresses_left")  # those before, until the browser has it

    # The frame, messages and moves between pages
    data_error = Once[str | None](None)  # shown by the next run
    error_shown = Value[str | None](None, "_error_shown")  # by the last run
    drawn_anew = Once[bool](False)  # because a job ended
    entered_by_app = Value[bool](False, "_entered_by_app")  # app.py has drawn the frame
    figures_loaded = Value[bool](False, "_figures_loaded")  # by the browser
    store_away = Value[bool](False, "_store_away")  # this run has said that the database of reviews is away
    go_to = Once[str | None](None)  # page that the next run turns to
    opened_data = Value[frozenset[str]](frozenset())  # datasets whose opening is recorded
    reviewer = Value[str | None](None)  # the name under which opinions are recorded
    signed_in_role = Value[str | None](None)  # as recorded last
    jobs = Value[dict[str, tuple[Any, ...]]]({}, "_jobs")  # keys of this session's jobs by title
    waits_of_run = Value[Any](None, "_waits_of_run")  # jobs that this run of a page waits for
    documentation_asked = Value[str | None](None, "_documentation_asked")  # page in the address

    # Settings of all pages, and whether somebody chose them
    label = Value[str | None](None)  # that splits annotations of sets
    threshold = Value[float | None](None)  # that splits scores
    threshold_opened = Value[float | None](None, "_threshold_opened")  # the one that nobody has set
    machines_count = Value[bool](False)  # AI raters count, too
    model_opened = Value[tuple[str, str] | None](None, "_model_opened")  # content, and the one that opened for it
    prior_from_before = Value[bool](False, "_prior_from_before")  # γ was chosen before counts learned their prior
    reliability_opened = Value[float | None](None, "_reliability_opened")  # γ that nobody has chosen
    rater_model = Value[tuple[str, str] | None](None, "_rater_model")  # content, and the one chosen on Models for it
    settings_said = Value[bool](False, "_settings_said")  # the toast that these count on all pages
    settings_of_pages = Value[dict[str, dict[str, Any]]]({}, "_settings_of_pages")
    model_evidence_counts = Value[bool](False)  # a classifier counts as evidence

    # Parts of one page
    case_link_error = Value[str | None](None)
    compared_last = Value[str | None](None, "_compared_last")  # two selections, as in `compare`
    models_asked = Value[tuple[Any, ...]]((), "_models_asked")  # jobs of the models on Models
    models_chosen = Value[list[str] | None](None)  # for comparison
    models_opened = Value[list[str] | None](None, "_models_opened")  # those that nobody has chosen
    n_drops = Value[int](0)  # uses of the drop zone of Home, whose key has the number
    n_uploads = Value[int](0)  # the same of the zones of Upload
    pair_clicked = Value[Any](None)  # cell of the figure that set the two raters
    story_before = Once[str | None](None, "_story_before")  # dataset in use before the story
    story_left = Value[int | None](None, "_story_left")  # step at which the story was left
    story_ready = Value[int | None](None, "_story_ready")  # step whose case is chosen
    story_set = Value[int | None](None, "_story_set")  # step whose settings are set
    study_classes = Value[Sequence[str]]((), "_study_classes")  # among which the one with the condition was chosen
    upload_done = Value[str | None](None)  # digest of the dataset opened last
    upload_not_remembered = Once[bool](False)  # choices for the next file could not be saved
    worklist_anchor = Value[str | None](None, "_worklist_anchor")  # case of the worklist's key
    worklist_clicked = Value[str | None](None, "_worklist_clicked")  # case

    # Reviews
    kept_for_review = Value[str | None](None)  # digest of a dataset that was saved because its review began
    review_asked_last = Value[str]("")  # for a second opinion, offered on the next case
    review_began = Value[tuple[Any, float]]((None, 0.0))  # session and case, and when it came on screen
    review_case = Value[str | None](None)  # in the session
    review_drafts = Value[dict[str, str]]({})  # as saved, for each case
    review_drawn_at = Value[tuple[str, float]](("", 0.0))  # case, and when it was drawn
    review_error = Once[str | None](None)  # shown by the next run
    review_guessed = Value[bool](False)  # the order of presses is unknown
    review_in_hand = Value[str]("")  # the case on screen
    review_last = Value[tuple[Any, Any, Any]]((None, None, None))  # session, case and kind of the last step
    review_last_step = Value[tuple[str, str] | None](None)  # and its case, for presses that come twice
    review_list = Value[bool](False)  # the list of the session is shown instead of a case
    review_pressed_twice = Value[str | None](None)  # why the last step was not taken, not escaped
    review_presses = Value[Any](None)  # of buttons, not done yet
    review_proposed = Value[tuple[str | None, str, Sequence[str]]]((None, "", ()))  # dataset, title and cases
    review_runs = Value[int](0)  # of the page
    review_seen = Value[frozenset[tuple[str, str]]](frozenset())  # digests and cases seen outside, so not blind
    review_sent = Value[dict[Any, list[Any]]]({})  # tokens of steps, and whether they are recorded
    review_session = Value[str | None](None)
    review_spent = Value[dict[Any, float]]({})  # seconds on cases that were left
    review_trouble = Value[tuple[Any, Any, Any]]((None, None, None))  # form, error and entries of the last step
    decisions_undone = Value[tuple[str, str]](("", ""))  # dataset and case

    def drop(self, *names: str) -> None:
        """Return values to their defaults."""
        for name in names:
            delattr(self, name)

    def set(self, **values: object) -> None:
        """Set values by name, also as the callback of a button."""
        for name, value in values.items():
            setattr(self, name, value)

    def ending(self, end: str) -> dict[str, Any]:
        """Return all values with an end of their keys in common: those of one case."""
        return {key: st.session_state[key] for key in map(str, st.session_state) if key.endswith(end)}

    @contextmanager
    def error_in(self, name: str) -> Iterator[None]:
        """Save an error as the value that a later run shows."""
        try:
            yield
        except PluralityError as error:
            setattr(self, name, str(error))

    def clear(self) -> None:
        """Forget everything, as somebody else may be next."""
        for key in list(st.session_state):
            del st.session_state[key]


visit = Visit()
