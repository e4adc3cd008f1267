"""Steps of a review: each is recorded once, what goes wrong is said where it was tried, and the next case comes."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import InputError, PluralityError
from core.review.review_errors import ConflictError
from core.review.reviewer_session import Desk, new_token
from core.review.sessions import Session, SessionLine
from core.review.states import STATES, CaseReview, Read
from pages.shared.kit import seen_cases
from pages.shared.review import opinion as review_opinion

_OVER = ("done", "elsewhere")


@dataclass(frozen=True, slots=True)
class Place:
    """A case of a session before one reviewer, as it was when the page was drawn."""

    desk: Desk
    session: Session
    case_id: str
    review: CaseReview

    @property
    def dataset(self) -> Dataset:
        """The dataset under review."""
        return self.desk.dataset

    @property
    def own(self) -> Read | None:
        """The reviewer's opinion in this round."""
        return self.review.read_by(self.desk.reviewer)

    @property
    def revealed(self) -> bool:
        """Whether the panel's opinions were shown to the reviewer in this round."""
        return self.desk.reviewer in self.review.revealed

    def key(self, what: str) -> str:
        """Key of a form or a button of this case in this session."""
        return f"{what}-{self.session.id[:12]}-{self.case_id}"

    def told(self, kind: str, **said) -> str:
        """What sending this would lead to, or why it cannot be sent, in words."""
        try:
            return self.desk.follows(self.desk.draft(self.case_id, kind, **said))
        except PluralityError as error:
            return str(error)

    def allows(self, kind: str) -> bool:
        """Whether a step that needs no more than its kind can be taken now."""
        try:
            self.desk.follows(self.desk.draft(self.case_id, kind))
        except PluralityError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Step:
    """The step that the reviewer is at: its kind, what follows from it, and the form that it takes.

    ``opinion`` says whether the form holds an opinion beside remarks.
    """

    kind: str
    told: str
    form: str | None = None
    opinion: bool = False


def start_clock(place: Place) -> None:
    """Time runs while a case is on screen, from its opening or from the last recorded step."""
    at = (place.session.id, place.case_id)
    if st.session_state.get("review_began", (None,))[0] != at:
        st.session_state["review_began"] = (at, time.monotonic())


def trouble(place: Place) -> str | None:
    """What went wrong with the last step, where it was on this case."""
    at, words = st.session_state.get("review_trouble") or (None, None)
    return words if at == place.key("") else None


def attempt(place: Place, work: Callable[[], object]) -> bool:
    """Do something; whether it worked. What went wrong is kept for `trouble`, and nothing on screen is lost."""
    st.session_state.pop("review_trouble", None)
    try:
        work()
    except PluralityError as error:
        st.session_state["review_trouble"] = (place.key(""), str(error))
        return False
    return True


def send(place: Place, step: Step) -> None:
    """Record a step with what its form holds now, and go on."""
    if attempt(place, lambda: _record(place, step.kind, _said(place, step))):
        kind = step.kind
        if step.form:
            review_opinion.clear(step.form)
        st.session_state.pop(place.key("doing"), None)
        st.session_state["review_began"] = ((place.session.id, place.case_id), time.monotonic())
        if kind in ("undo", "reopen") or (kind == "opinion" and not place.revealed):
            st.session_state.pop("review_last", None)
            go(place.case_id)
        else:
            st.session_state["review_last"] = (place.session.id, place.case_id, kind)
            _onward(place)


_DONE = {
    "opinion": "opinion recorded",
    "keep": "opinion kept",
    "change": "opinion changed",
    "skip": "skipped, comes back at the end",
    "second_opinion": "second opinion asked",
    "arbitration": "sent to arbitration",
    "adjudication": "decided",
}


def last(place: Place) -> str | None:
    """What was done with the case just left, and how it stands now."""
    session, case_id, kind = st.session_state.get("review_last") or (None, None, None)
    if session != place.session.id:
        return None
    said = kind in ("skip", "second_opinion", "arbitration")
    now = "" if said else f" · the case is {STATES[place.desk.case(case_id).state]}"
    return f"{case_id}: {_DONE[kind]}{now}"


def reveal(place: Place, panel, model: str, settings: dict) -> CaseReview:
    """Record that the panel's opinions are about to be shown; the review as it is then."""
    review, said = place.review, {"session": place.session.id, "model": model, "settings": settings, "panel": panel}
    while place.desk.reviewer not in review.revealed:
        draft = place.desk.draft(place.case_id, "reveal", **said)
        # Somebody else's step in between does not change what is about to be shown.
        with suppress(ConflictError):
            place.desk.send(draft, seen=review.version, token=new_token())
        review = place.desk.case(place.case_id)
    return review


def undoable(place: Place) -> Place | None:
    """The case whose last step can be taken back: the one just left, else this one."""
    session, case_id, _ = st.session_state.get("review_last") or (None, None, None)
    for one in (case_id if session == place.session.id else None, place.case_id):
        if one is None:
            continue
        there = Place(place.desk, place.session, one, place.desk.case(one))
        if any(event.reviewer == place.desk.reviewer for event in there.review.events) and there.allows("undo"):
            return there
    return None


def neighbour(lines: tuple[SessionLine, ...], case_id: str, by: int) -> str | None:
    """The case before or after one in the list of a session; None beyond its ends."""
    ids = [line.case_id for line in lines]
    place = ids.index(case_id) + by
    return ids[place] if 0 <= place < len(ids) else None


def go(case_id: str | None) -> None:
    """Show a case, or the list of the session where it is None."""
    st.session_state["review_case"], st.session_state["review_list"] = case_id, case_id is None


def leave() -> None:
    """Back to the start; the session can be gone on with."""
    for name in ("review_case", "review_list", "review_session", "review_last", "review_trouble"):
        st.session_state.pop(name, None)


def _said(place: Place, step: Step) -> dict[str, object]:
    said = dict(review_opinion.said(step.form)) if step.form else {}
    if step.opinion:
        said["opinion"] = review_opinion.standing(step.form)
    if step.kind == "second_opinion":
        whom = " ".join((st.session_state.get(place.key("whom")) or "").split())
        if not whom:
            raise InputError("It is not said whom to ask.", "Write the name under which they review.")
        said |= {"whom": whom, "whom_visible": st.session_state.get(place.key("how"))}
    return said


def _record(place: Place, kind: str, said: dict) -> None:
    """Send a draft.

    A blind reader sees nothing that another's step could change, so theirs is sent again on the new version. Everybody
    else is told and looks again.
    """
    sent = st.session_state.setdefault("review_sent", {})
    seen = place.review.version
    token = sent.setdefault((place.session.id, place.case_id, kind, seen), [new_token(), False])
    if token[1]:  # the second half of a double click
        return
    at, began = st.session_state.get("review_began", (None, 0.0))
    here = (place.session.id, place.case_id)
    said |= {"session": place.session.id, "seconds": time.monotonic() - began if at == here else None}
    if kind == "opinion" and seen_cases.seen(place.dataset.digest, place.case_id):
        said["visible"] = "open"
    draft = place.desk.draft(place.case_id, kind, **said)
    while not token[1]:
        try:
            place.desk.send(draft, seen=seen, token=token[0])
            token[1] = True
        except ConflictError as error:
            now = place.desk.case(place.case_id)
            if place.revealed or kind not in ("opinion", "skip") or now.read_by(place.desk.reviewer) != place.own:
                raise
            seen = error.version


def _onward(place: Place) -> None:
    """The next case that is not through, after this one; skipped ones come last; the list where none is left."""
    number = {queued.case_id: at for at, queued in enumerate(place.session.cases)}
    lines = [line for line in place.desk.lines(place.session) if line.standing not in _OVER]
    fresh = [line.case_id for line in lines if line.standing != "skipped"]
    after = [case_id for case_id in fresh if number[case_id] > number[place.case_id]]
    skipped = [line.case_id for line in lines if line.standing == "skipped"]
    go(next(iter([*after, *fresh, *skipped]), None))
