"""Functions for a page while somebody reviews: reviews of one dataset by one reviewer."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from .events import Draft, Event, Kind, check_name
from .rules import what_follows
from .sessions import Queued, Session, SessionLine, SessionProgress, progress_of, still_to_read
from .states import CaseReview
from .store import ReviewStore
from .summary import times_of

FEWEST_FOR_PACE = 3  # Finished cases below which one slow or quick case would move the time per case too far.


def new_token() -> str:
    """Return a token for one submission; the page keeps it until the submission is acknowledged."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Desk:
    """Reviews of one dataset by one reviewer.

    Parameters
    ----------
    store : ReviewStore
    dataset : Dataset
        Whole dataset, not a selection, because reviews belong to its digest.
    reviewer : str
        Name in one line.
    """

    store: ReviewStore
    dataset: Dataset
    reviewer: str

    def __post_init__(self) -> None:
        check_name(self.reviewer, "reviewer")

    def start(self, title: str, cases: Sequence[Queued]) -> Session:
        """Start a session with cases of the dataset, as from `core.review.worklist`."""
        for case in cases:
            self.dataset.case_index(case.case_id)
        return self.store.start_session(self.dataset.digest, self.reviewer, title, cases)

    def sessions(self) -> list[Session]:
        """List the reviewer's own sessions on this dataset, the latest first."""
        return self.store.sessions(self.dataset.digest, self.reviewer)

    def lines(self, session: Session) -> tuple[SessionLine, ...]:
        """List the cases of a session, in the order in which they come."""
        return self.store.lines(session)

    def progress(self, session: Session) -> SessionProgress:
        """Return the progress of a session, and its current case."""
        return progress_of(self.lines(session))

    def seconds_per_case(self, session: Session, lines: Sequence[SessionLine]) -> float | None:
        """Return the median time of this reviewer on finished cases of a session; None if they are too few."""
        done = [event for line in lines if line.standing == "done" for event in line.review.events]
        times = times_of(event for event in done if (event.reviewer, event.session) == (self.reviewer, session.id))
        return float(np.median(times)) if len(times) >= FEWEST_FOR_PACE else None

    def case(self, case_id: str) -> CaseReview:
        """Return what this reviewer may know of a case; its ``version`` is ``seen`` in the next submission."""
        self.dataset.case_index(case_id)
        return self.store.case(self.dataset.digest, case_id).seen_by(self.reviewer)

    def asked(self) -> dict[str, str]:
        """Return the cases on which this reviewer is asked for a second opinion, and whether blind or open."""
        reviews = self.store.cases(self.dataset.digest).items()
        asked = ((case_id, review.asked_of(self.reviewer)) for case_id, review in reviews)
        return {case_id: how for case_id, how in asked if how is not None}

    def disputed(self, case_id: str) -> bool:
        """Return whether a case is in arbitration; do not show this to somebody who reviews it blind."""
        return self.store.case(self.dataset.digest, case_id).disputed

    def in_hand_elsewhere(self, reviews: Mapping[str, CaseReview], since: int = 0) -> list[str]:
        """List cases of other reviewers' sessions that they have not reviewed yet; see `sessions.still_to_read`.

        Parameters
        ----------
        reviews : mapping
            Review of each case that has one (`ReviewStore.cases`).
        since : int
            Start time before which sessions are left out, microseconds since 1970-01-01 UTC.
        """
        others = self.store.sessions_of_others(self.dataset.digest, self.reviewer, since)
        return still_to_read(others, reviews)

    def draft(self, case_id: str, kind: Kind, **said) -> Draft:
        """Return a submission that is not sent yet.

        Parameters
        ----------
        case_id : str
        kind : str
            Kind of event, one of `core.review.events.Kind`.
        **said
            Further fields of `Draft`.
        """
        return Draft(dataset=self.dataset.digest, case_id=case_id, kind=kind, reviewer=self.reviewer, **said)

    def follows(self, draft: Draft) -> str:
        """Return the effect of sending a draft, in words; raise if it is not allowed."""
        self._check(draft)
        return what_follows(self.store.case(draft.dataset, draft.case_id), draft)

    def send(self, draft: Draft, *, seen: int, token: str) -> Event:
        """Record a draft and return the event, which is then on the disk; raise the errors of `ReviewStore.record`.

        Parameters
        ----------
        draft : Draft
        seen : int
            Version of the case that the reviewer saw.
        token : str
            Token made once for one submission.
        """
        self._check(draft)
        return self.store.record(draft, seen=seen, token=token)

    def _check(self, draft: Draft) -> None:
        self.dataset.case_index(draft.case_id)
        for opinion in (draft.opinion, draft.panel):
            if opinion is not None:
                opinion.check_classes(self.dataset.classes, self.dataset.kind)
