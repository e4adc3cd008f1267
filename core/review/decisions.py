"""Decisions of reviewers, to search by person, by state of the case and by date."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from ..annotations.dataset import Dataset
from ..text import exact, percent, plural, utc
from .events import Event
from .opinions import REASONS, Opinion
from .states import STATES, CaseReview, State, effective

QUICK = 2.0  # seconds on a case: nobody can review it in less
_GIVEN = ("opinion", "change", "adjudication")


@dataclass(frozen=True, slots=True)
class Decision:
    """Current opinion of one reviewer on one case in its present round.

    Attributes
    ----------
    case_id, reviewer : str
    opinion : Opinion
        Opinion as it is now; the end of the arbitration if this reviewer ended it.
    ended : bool
        True if it is the end of an arbitration.
    visible : {"blind", "open"}
        What the reviewer could see when giving it.
    state : str
        State of the case, one of `core.review.states.STATES`.
    at : int
        Time when it was given or last changed, microseconds since 1970-01-01 UTC.
    reason, note : str
        Reason and note given with it; the note also from when the opinion was kept.
    seconds : float or None
        Time of this reviewer on the case until it was given; None if not measured.
    """

    case_id: str
    reviewer: str
    opinion: Opinion
    ended: bool
    visible: str
    state: State
    at: int
    reason: str
    note: str
    seconds: float | None = None

    @property
    def is_quick(self) -> bool:
        """True if it was given in less than `QUICK` seconds."""
        return self.seconds is not None and self.seconds < QUICK


def decisions(
    reviews: Mapping[str, CaseReview],
    *,
    reviewer: str | None = None,
    states: Collection[str] = (),
    since: int | None = None,
    until: int | None = None,
) -> list[Decision]:
    """List current decisions, the latest first.

    Parameters
    ----------
    reviews : mapping
        Review of each case that has one (`ReviewStore.cases`).
    reviewer : str, optional
        Only decisions of this person.
    states : collection of str
        Only decisions on cases in these states; all if empty.
    since, until : int, optional
        Only decisions from ``since`` (inclusive) to ``until`` (exclusive), microseconds since 1970-01-01 UTC.
    """
    found = []
    for review in reviews.values():
        if states and review.state not in states:
            continue
        for one in decisions_on(review):
            if reviewer is not None and one.reviewer != reviewer:
                continue
            if (since is not None and one.at < since) or (until is not None and one.at >= until):
                continue
            found.append(one)
    return sorted(found, key=lambda one: -one.at)


def decisions_on(review: CaseReview) -> list[Decision]:
    """List the current decisions of all reviewers on one case."""
    standing = effective(review.events)
    since = max((place for place, event in enumerate(standing) if event.kind == "reopen"), default=-1)
    of_round = standing[since + 1 :]
    last = {event.reviewer: event for event in of_round if event.kind in _GIVEN and event.opinion is not None}
    reopened = standing[since].version if since >= 0 else 0
    return [_decision(review, event, of_round, reopened) for event in last.values()]


def n_quick(found: Iterable[Decision]) -> tuple[int, int]:
    """Return how many decisions were given in less than `QUICK` seconds, and how many were timed."""
    timed = [one for one in found if one.seconds is not None]
    return sum(one.is_quick for one in timed), len(timed)


def quick_words(found: Iterable[Decision]) -> str:
    """Return how many decisions were quick, in a sentence; empty if none was timed."""
    quick, timed = n_quick(found)
    if not timed:
        return ""
    share = f" ({percent(quick / timed)})" if quick else ""
    return f"{quick:,} of {plural(timed, 'timed decision')}{share} took less than {exact(QUICK)} seconds."


def decision_table(dataset: Dataset, found: Collection[Decision]) -> pd.DataFrame:
    """Return one row per decision, with words for codes and times in UTC."""
    return pd.DataFrame(
        {
            "case": [one.case_id for one in found],
            "decision": [one.opinion.words() for one in found],
            "by": [one.reviewer for one in found],
            "given": ["ended the arbitration" if one.ended else one.visible for one in found],
            "state": [STATES[one.state] for one in found],
            "at (UTC)": [utc(one.at // 1_000_000).strftime("%Y-%m-%d %H:%M:%S") for one in found],
            "seconds": pd.Series([one.seconds for one in found], dtype="Float64").round(1),
            "reason": [REASONS.get(one.reason, "") for one in found],
            "note": [one.note for one in found],
            "data": [dataset.name] * len(found),
        }
    )


def _decision(review: CaseReview, event: Event, of_round: Collection[Event], reopened: int) -> Decision:
    """Return the decision of an event; the time on the case includes all events of the round, also undone ones."""
    who, upto = event.reviewer, event.version
    kept = [one for one in of_round if one.kind == "keep" and one.reviewer == who and one.version > upto]
    notes = dict.fromkeys(one.note.strip() for one in (event, *kept) if one.note.strip())
    mine = [one for one in review.events if one.reviewer == who and reopened < one.version <= upto]
    spent = [one.seconds for one in mine if one.seconds is not None]
    return Decision(
        review.case_id, who, event.opinion or Opinion(), event.kind == "adjudication", event.visible, review.state,
        event.at, event.reason, " · ".join(notes), sum(spent) if event.seconds is not None else None,
    )  # fmt: skip
