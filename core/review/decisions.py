"""What people have decided, to be found again: by person, by state of the case, by date."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from ..annotations.dataset import Dataset
from ..text import utc
from .events import Event
from .opinions import REASONS, Opinion
from .states import STATES, CaseReview, State, effective

_GIVEN = ("opinion", "change", "adjudication")


@dataclass(frozen=True, slots=True)
class Decision:
    """What stands of one reviewer on one case in its present round.

    Attributes
    ----------
    case_id, reviewer : str
    opinion : Opinion
        As it stands now; the end of the arbitration where this reviewer ended it.
    ended : bool
        Whether it is the end of an arbitration.
    visible : {"blind", "open"}
        What the reviewer could see when giving it.
    state : str
        Of the case, one of `core.review.states.STATES`.
    at : int
        When it was given or changed last, microseconds since 1970-01-01 UTC.
    reason, note : str
        As given with it.
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


def decisions(
    reviews: Mapping[str, CaseReview],
    *,
    reviewer: str | None = None,
    states: Collection[str] = (),
    since: int | None = None,
    until: int | None = None,
) -> list[Decision]:
    """Decisions that stand, the latest first.

    Parameters
    ----------
    reviews : mapping
        The review of each case that has one (`ReviewStore.cases`).
    reviewer : str, optional
        Only of this person.
    states : collection of str
        Only of cases in these states; all where empty.
    since, until : int, optional
        Given from ``since`` (inclusive) to ``until`` (exclusive), microseconds since 1970-01-01 UTC.
    """
    found = []
    for review in reviews.values():
        if states and review.state not in states:
            continue
        for event in _last_of_each(review):
            if reviewer is not None and event.reviewer != reviewer:
                continue
            if (since is not None and event.at < since) or (until is not None and event.at >= until):
                continue
            if event.opinion is not None:
                found.append(_decision(review, event))
    return sorted(found, key=lambda one: -one.at)


def decision_table(dataset: Dataset, found: Collection[Decision]) -> pd.DataFrame:
    """One row for each decision, with words for codes and times in UTC."""
    return pd.DataFrame(
        {
            "case": [one.case_id for one in found],
            "decision": [one.opinion.words() for one in found],
            "by": [one.reviewer for one in found],
            "given": ["ended the arbitration" if one.ended else one.visible for one in found],
            "state": [STATES[one.state] for one in found],
            "at (UTC)": [utc(one.at // 1_000_000).strftime("%Y-%m-%d %H:%M:%S") for one in found],
            "reason": [REASONS.get(one.reason, "") for one in found],
            "note": [one.note for one in found],
            "data": [dataset.name] * len(found),
        }
    )


def _last_of_each(review: CaseReview) -> list[Event]:
    """The last opinion of each reviewer that stands in the present round."""
    standing = effective(review.events)
    since = max((place for place, event in enumerate(standing) if event.kind == "reopen"), default=-1)
    last = {event.reviewer: event for event in standing[since + 1 :] if event.kind in _GIVEN}
    return list(last.values())


def _decision(review: CaseReview, event: Event) -> Decision:
    return Decision(
        review.case_id, event.reviewer, event.opinion or Opinion(), event.kind == "adjudication", event.visible,
        review.state, event.at, event.reason, event.note,
    )  # fmt: skip
