"""Rules of which steps a case allows in its present state, and their effects. This module has no database."""

from dataclasses import fields, replace

from ..errors import InputError
from .events import GIVES_OPINION, Draft, Event, who_is_asked
from .opinions import Opinion
from .review_errors import NotAllowedError
from .states import SETTLED, CaseReview, ReviewerOpinion, effective, review_of


def admit(review: CaseReview, draft: Draft, at: int) -> Event:
    """Return the event of a draft, if the rules allow it now.

    Parameters
    ----------
    review : CaseReview
        Present state of the case.
    draft : Draft
    at : int
        Time in microseconds since 1970-01-01 UTC.

    Raises
    ------
    InputError
        A value is missing or out of its range.
    NotAllowedError
        The state of the case does not allow it.
    """
    draft.check()
    who, own = draft.reviewer, review.read_by(draft.reviewer)
    old = own.opinion if own else None
    undoes = _RULES[draft.kind](review, draft, own)
    given = {entry.name: getattr(draft, entry.name) for entry in fields(Draft)}
    if draft.kind not in GIVES_OPINION:
        given["opinion"] = None if draft.kind == "reopen" else old
    if who in review.unblinded or draft.kind == "reveal":
        given["visible"] = "open"
    event = Event(**given, version=review.version + 1, at=at, old=old, undoes=undoes)
    if draft.kind in _SETTLES_ALONE:
        _needs_support(review_of(review.case_id, [*review.events, event]), draft)
    if draft.kind == "undo":
        own = review_of(review.case_id, [*review.events, event]).read_by(who)
        event = replace(event, opinion=own.opinion if own else None)
    return event


def what_follows(review: CaseReview, draft: Draft) -> str:
    """Return the effect of sending a draft, in words, to show before it is sent.

    The words for a blind reviewer do not depend on anybody else's opinion.

    Raises
    ------
    InputError, NotAllowedError
        See `admit`.
    """
    event = admit(review, draft, at=0)
    after = review_of(review.case_id, [*review.events, event])
    if draft.kind == "opinion" and draft.reviewer not in review.revealed:
        return "Record your opinion to see the panel's annotations."
    if draft.kind == "skip":
        return "The case comes back at the end of the session."
    if draft.kind == "second_opinion":
        return f"{who_is_asked(draft.whom)} will be asked for a second opinion and {_HOW[draft.whom_visible]}."
    if draft.kind == "reveal":
        return "The panel's annotations are shown. Your later opinions on this case are not blind."
    read = after.read_by(draft.reviewer)
    if after.closed_unsupported:
        return "Your opinion decides and closes the case, although it is outside the panel's plausible set."
    if after.state == "closed" and read is not None and read.panel is not None and not read.panel.decided:
        return "The panel has no leading class, so your opinion decides and closes the case."
    ends = _STAYS if after.state == review.state and after.state in _STAYS else _ENDS
    return ends[after.state]


_SETTLES_ALONE = ("opinion", "keep", "change")
_HOW = {"blind": "will not see the other opinions", "open": "will see all opinions"}
_ENDS = {
    "open": "The case is open again.",
    "skipped": "The case is open again.",
    "read": "The case is waiting for a reviewer to compare their opinion with the panel's.",
    "second_opinion": "The case is waiting for the second opinion.",
    "arbitration": "The case goes to arbitration.",
    "closed": "You agree with the panel: the case is closed.",
    "adjudicated": "Arbitration ends, and the case is adjudicated.",
}
_STAYS = {
    "arbitration": "The case stays in arbitration.",
    "closed": "You agree with the panel: the case stays closed.",
}


def _opinion(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    _needs_class_or_ranking(draft)
    _not_adjudicated(review)
    if own:
        raise NotAllowedError(
            "Your opinion on this case is already recorded. Undo it, or change it after you see the panel."
        )


def _reveal(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    if draft.panel is None:
        raise InputError(
            "Could not record this step: the panel's class is missing.", "Provide the class that will be shown."
        )
    asked_open = review.asked_of(draft.reviewer) == "open"
    if not (own or asked_open or review.disputed or review.state in SETTLED):
        raise NotAllowedError("Submit your own opinion first. The others are then shown.")


def _keep(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    if _revealed(review, draft, own).settled:
        raise NotAllowedError("You have already kept or changed your opinion.")


def _change(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    _needs_opinion(draft)
    before = _revealed(review, draft, own)
    _needs_class_or_ranking(draft)
    if draft.opinion == before.opinion:
        raise NotAllowedError("This is already your opinion. Keep it, or choose a different one.")
    _needs_reason(draft, "the change")


def _skip(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    if own and own.settled:
        raise NotAllowedError("You have finished this case.")


def _second_opinion(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    _not_adjudicated(review)
    if not own:
        raise NotAllowedError("Submit your own opinion before you ask for another opinion.")
    if draft.whom == draft.reviewer or review.read_by(draft.whom):
        raise NotAllowedError(f"{draft.whom} has already given an opinion on this case. Ask someone else.")
    if draft.whom in dict(review.asked):
        raise NotAllowedError(
            f"{who_is_asked(draft.whom)} has already been asked for an opinion on this case. Ask someone else."
        )
    if draft.whom_visible == "blind" and draft.whom in review.unblinded:
        raise NotAllowedError(f"{draft.whom} has seen the opinions on this case. Ask for an open second opinion.")


def _arbitration(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    _not_adjudicated(review)
    if not own:
        raise NotAllowedError("Submit your own opinion before you send the case to arbitration.")
    if review.disputed:
        raise NotAllowedError("The case is already in arbitration.")


def _adjudication(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    _needs_opinion(draft)
    _not_adjudicated(review)
    if not review.disputed:
        raise NotAllowedError("The case is not in arbitration.")
    if draft.reviewer not in review.revealed:
        raise NotAllowedError("Show the other opinions before you end the arbitration.")


def _undo(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> int:
    standing = [e for e in effective(review.events) if e.kind != "skip" or e.reviewer == draft.reviewer]
    if not standing:
        raise NotAllowedError("There is nothing to undo.")
    last = standing[-1]
    if last.reviewer != draft.reviewer:
        raise NotAllowedError(
            "Could not undo: someone else has since worked on the case. Change your opinion, or ask for the case to be "
            "reopened."
        )
    if last.kind == "reveal":
        raise NotAllowedError(
            "You have seen the other opinions, so this cannot be undone. Keep your opinion, or change it with a reason."
        )
    return last.version


def _reopen(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> None:
    if review.state not in ("closed", "adjudicated", "arbitration", "second_opinion"):
        raise NotAllowedError("The case is open.")
    _needs_reason(draft, "reopening")


_RULES = {
    "opinion": _opinion,
    "reveal": _reveal,
    "keep": _keep,
    "change": _change,
    "skip": _skip,
    "second_opinion": _second_opinion,
    "arbitration": _arbitration,
    "adjudication": _adjudication,
    "undo": _undo,
    "reopen": _reopen,
}


def _needs_opinion(draft: Draft) -> Opinion:
    if draft.opinion is None:
        raise InputError(
            "Could not record the opinion: none was given.", "Choose an opinion, or “cannot be determined”."
        )
    return draft.opinion


def _needs_class_or_ranking(draft: Draft) -> None:
    if _needs_opinion(draft).kind == "distribution":
        raise InputError(
            "An opinion must be a class or a ranking.", "Only an arbitration can record a probability distribution."
        )


def _needs_reason(draft: Draft, what: str) -> None:
    if not draft.reason and not draft.note.strip():
        raise InputError(
            f"Could not record this step: the reason for {what} is missing.", "Choose a reason, or write a note."
        )


def _needs_support(after: CaseReview, draft: Draft) -> None:
    """Require a note if an opinion would be the only one, and outside the panel's plausible set."""
    read = after.read_by(draft.reviewer)
    if read is not None and read.settled and after.is_unsupported(read) and not draft.note.strip():
        raise InputError(
            "Your opinion is not in the panel's plausible set, and no other reviewer shares it.",
            "Ask for a second opinion, or write a note that explains your decision.",
        )


def _not_adjudicated(review: CaseReview) -> None:
    if review.state == "adjudicated":
        raise NotAllowedError("The case is adjudicated. Reopen it first.")


def _revealed(review: CaseReview, draft: Draft, own: ReviewerOpinion | None) -> ReviewerOpinion:
    _not_adjudicated(review)
    if not own:
        raise NotAllowedError("You have not given an opinion on this case yet.")
    if draft.reviewer not in review.revealed:
        raise NotAllowedError("You have not seen the other opinions yet.")
    return own
