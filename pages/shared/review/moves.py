"""Steps of a review: each is recorded once, errors appear at their place, and the next case follows."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.people_list import normal_name
from core.review.decisions import decisions_on
from core.review.events import ANYBODY
from core.review.review_errors import ConflictError
from core.review.reviewer_session import Desk, new_token
from core.review.sessions import Session, SessionLine
from core.review.states import STATES, CaseReview, ReviewerOpinion
from core.text import number
from pages.shared.cache import sign_in, visit
from pages.shared.review import drafts
from pages.shared.review import opinion as review_opinion

_OVER = ("done", "elsewhere")


@dataclass(frozen=True, slots=True)
class CaseOnScreen:
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
    def own(self) -> ReviewerOpinion | None:
        """The reviewer's opinion in this round."""
        return self.review.read_by(self.desk.reviewer)

    @property
    def revealed(self) -> bool:
        """Return True if the panel's opinions were shown to the reviewer in this round."""
        return self.desk.reviewer in self.review.revealed

    def key(self, what: str) -> str:
        """Key of a form or a button of this case in this session."""
        return f"{what}-{self.place}"

    @property
    def place(self) -> str:
        """The case in its session, as presses of its buttons name it."""
        return _place(self.session.id, self.case_id)

    def told(self, kind: str, **said) -> str:
        """Return the consequence of this step, or why it is not possible, in words."""
        try:
            return self.desk.follows(self.desk.draft(self.case_id, kind, **said))
        except PluralityError as error:
            return str(error)

    def allows(self, kind: str, **said) -> bool:
        """Return True if a step can be taken now with these fields."""
        try:
            self.desk.follows(self.desk.draft(self.case_id, kind, **said))
        except PluralityError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Action:
    """Action available to the reviewer: its kind, its consequence, and the form that it uses.

    ``opinion`` is True if the form has an opinion in addition to remarks. ``ready`` is False while something is
    missing, and ``key`` leads there, if any does.
    """

    kind: str
    told: str
    form: str | None = None
    opinion: bool = False
    ready: bool = True
    key: str = ""


def _place(session_id: str, case_id: str) -> str:
    return f"{session_id[:12]}-{case_id}"


def start_clock(current: CaseOnScreen) -> None:
    """Time runs while a case is on screen, from its opening or from the last recorded step.

    A case that is left without a step and opened again goes on from the time that it was on screen before.
    """
    at = (current.session.id, current.case_id)
    if visit.review_began[0] != at:
        _stop_clock()
        visit.review_began = (at, time.monotonic() - visit.review_spent.pop(at, 0.0))


def _stop_clock() -> None:
    """Keep the time on the case that is left, for when it is opened again."""
    at, began = visit.review_began
    visit.review_spent[at] = time.monotonic() - began
    del visit.review_began


def trouble(current: CaseOnScreen) -> str | None:
    """Return the error of the last step, if it was on this case and nothing has been chosen or typed since."""
    at, words, entries = visit.review_trouble
    return words if at == current.key("") and entries == drafts.entries(current.place) else None


def attempt(current: CaseOnScreen, work: Callable[[], object]) -> bool:
    """Do something; whether it worked. What went wrong is kept for `trouble`, and nothing on screen is lost."""
    del visit.review_trouble
    try:
        work()
    except PluralityError as error:
        visit.review_trouble = (current.key(""), str(error), drafts.entries(current.place))
        return False
    return True


def send(current: CaseOnScreen, step: Action) -> None:
    """Record a step with what its form holds now, and go on."""
    if attempt(current, lambda: _record(current, step.kind, _said(current, step))):
        kind = step.kind
        if kind == "second_opinion":
            visit.review_asked_last = visit.text[current.key("whom")]
        if step.form:
            review_opinion.clear(step.form)
        del visit.choice[current.key("doing")]
        if kind == "undo":
            _restore(current)
        drafts.keep(current.place)
        visit.review_began = ((current.session.id, current.case_id), time.monotonic())
        if kind in ("undo", "reopen") or (kind == "opinion" and not current.revealed):
            del visit.review_last
            go(current.case_id)
        else:
            visit.review_last = (current.session.id, current.case_id, kind)
            _onward(current)


_FORMS = {"opinion": "own", "keep": "alone", "change": "change", "adjudication": "arbitrate", "reopen": "reopen"}


def _restore(current: CaseOnScreen) -> None:
    """Open the form of the reviewer's step that was just undone, with what it recorded."""
    events = current.desk.case(current.case_id).events
    undo = next(event for event in reversed(events) if event.undoes and event.reviewer == current.desk.reviewer)
    undone = next(event for event in events if event.version == undo.undoes)
    if undone.kind in _FORMS:
        review_opinion.restore(current.key(_FORMS[undone.kind]), current.dataset, undone)
        if undone.note or undone.reason:
            visit.choice[current.key("doing")] = undone.kind


_DONE = {
    "opinion": "opinion recorded",
    "keep": "opinion kept",
    "change": "opinion changed",
    "skip": "skipped until the end",
    "second_opinion": "second opinion requested",
    "arbitration": "sent to arbitration",
    "adjudication": "decided",
}


def last(current: CaseOnScreen) -> str | None:
    """Return the last step on the previous case, and the state of that case."""
    session, case_id, kind = visit.review_last
    if session != current.session.id:
        return None
    said, review = kind in ("skip", "second_opinion", "arbitration"), current.desk.case(case_id)
    now = "" if said else f" · the case is {STATES[review.state]}"
    quick = "" if kind == "keep" else quickly(review, current.desk.reviewer)  # what is kept was pointed out before
    return f"{case_id}: {_DONE[kind]}{now}{quick and f'. {quick}'}"


def quickly(review: CaseReview, reviewer: str) -> str:
    """Return a note if a reviewer decided in less time than a case takes to read; otherwise an empty string."""
    mine = [one for one in decisions_on(review) if one.reviewer == reviewer and one.is_quick]
    if not mine:
        return ""
    return f"You gave your opinion after {number(mine[0].seconds, 1)} seconds, too soon to have read the case."


def reveal(current: CaseOnScreen, panel, model: str, settings: dict) -> CaseReview:
    """Record that the panel's opinions are about to be shown; the review as it is then."""
    review, said = current.review, {"session": current.session.id, "model": model, "settings": settings, "panel": panel}
    while current.desk.reviewer not in review.revealed:
        draft = current.desk.draft(current.case_id, "reveal", **said)
        # Somebody else's step in between does not change what is about to be shown.
        with suppress(ConflictError):
            current.desk.send(draft, seen=review.version, token=new_token())
        review = current.desk.case(current.case_id)
    return review


def undoable(current: CaseOnScreen) -> CaseOnScreen | None:
    """Return the case whose last step can be undone: the previous one, otherwise this one."""
    session, case_id, _ = visit.review_last
    for one in (case_id if session == current.session.id else None, current.case_id):
        if one is None:
            continue
        there = CaseOnScreen(current.desk, current.session, one, current.desk.case(one))
        if any(event.reviewer == current.desk.reviewer for event in there.review.events) and there.allows("undo"):
            return there
    return None


def neighbour(lines: tuple[SessionLine, ...], case_id: str, by: int) -> str | None:
    """Return the case before or after one in the list of a session; None beyond its ends."""
    ids = [line.case_id for line in lines]
    place = ids.index(case_id) + by
    return ids[place] if 0 <= place < len(ids) else None


def go(case_id: str | None) -> None:
    """Show a case, or the list of the session if it is None."""
    _stop_clock()
    visit.review_case, visit.review_list = case_id, case_id is None
    visit.review_in_hand = _place(visit.review_session, case_id) if case_id is not None else ""


def leave() -> None:
    """Back to the start; the session can be gone on with."""
    _stop_clock()
    del visit.review_case, visit.review_list, visit.review_session, visit.review_last, visit.review_trouble
    visit.review_in_hand = ""


def _said(current: CaseOnScreen, step: Action) -> dict[str, object]:
    said = dict(review_opinion.said(step.form)) if step.form else {}
    if step.opinion:
        said["opinion"] = review_opinion.standing(step.form)
    if step.kind == "second_opinion":
        whom = " ".join(visit.text[current.key("whom")].split()) or ANYBODY
        whom = normal_name(whom) if sign_in.is_on() else whom  # as people are called who sign in
        said |= {"whom": whom, "whom_visible": visit.choice[current.key("how")]}
    return said


def _record(current: CaseOnScreen, kind: str, said: dict) -> None:
    """Send a draft, and record it once.

    A blind reader sees nothing that another person's step could change, so their draft is sent again on the new
    version. All others get a message and decide again.
    """
    seen = current.review.version
    token = visit.review_sent.setdefault((current.session.id, current.case_id, kind, seen), [new_token(), False])
    if token[1]:  # the second half of a double click
        return
    at, began = visit.review_began
    here = (current.session.id, current.case_id)
    said |= {"session": current.session.id, "seconds": time.monotonic() - began if at == here else None}
    if kind == "opinion" and (current.dataset.digest, current.case_id) in visit.review_seen:
        said["visible"] = "open"
    draft = current.desk.draft(current.case_id, kind, **said)
    while not token[1]:
        try:
            current.desk.send(draft, seen=seen, token=token[0])
            token[1] = True
        except ConflictError as error:
            now = current.desk.case(current.case_id)
            if current.revealed or kind not in ("opinion", "skip") or now.read_by(current.desk.reviewer) != current.own:
                raise
            seen = error.version


def _onward(current: CaseOnScreen) -> None:
    """Open the next unfinished case after this one, skipped ones last; the list if none is left."""
    number = {queued.case_id: at for at, queued in enumerate(current.session.cases)}
    lines = [line for line in current.desk.lines(current.session) if line.standing not in _OVER]
    fresh = [line.case_id for line in lines if line.standing != "skipped"]
    after = [case_id for case_id in fresh if number[case_id] > number[current.case_id]]
    skipped = [line.case_id for line in lines if line.standing == "skipped"]
    go(next(iter([*after, *fresh, *skipped]), None))
