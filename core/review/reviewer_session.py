"""What a page calls while somebody reviews: a review bound to one dataset and one reviewer."""

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


def new_token() -> str:
    """A token for one submission; the page keeps it until that is acknowledged."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Desk:
    """One reviewer at one dataset.

    Parameters
    ----------
    store : ReviewStore
    dataset : Dataset
        Reviews belong to its digest: take the whole dataset, not a selection.
    reviewer : str
        Name in one line.
    """

    store: ReviewStore
    dataset: Dataset
    reviewer: str

    def __post_init__(self) -> None:
        check_name(self.reviewer, "reviewer")

    def start(self, title: str, cases: Sequence[Queued]) -> Session:
        """Begin a session with cases of the dataset, as from `core.review.worklist`."""
        for case in cases:
            self.dataset.case_index(case.case_id)
        return self.store.start_session(self.dataset.digest, self.reviewer, title, cases)

    def sessions(self) -> list[Session]:
        """Own sessions on this dataset, the latest first."""
        return self.store.sessions(self.dataset.digest, self.reviewer)

    def lines(self, session: Session) -> tuple[SessionLine, ...]:
        """The list of a session, in the order in which its cases come."""
        return self.store.lines(session)

    def progress(self, session: Session) -> SessionProgress:
        """How far a session is, and its current case."""
        return progress_of(self.lines(session))

    def seconds_per_case(self, session: Session, lines: Sequence[SessionLine]) -> float | None:
        """Median time of this reviewer on the cases of a session that are done; None before the first."""
        done = [event for line in lines if line.standing == "done" for event in line.review.events]
        times = times_of(event for event in done if (event.reviewer, event.session) == (self.reviewer, session.id))
        return float(np.median(times)) if times else None

    def case(self, case_id: str) -> CaseReview:
        """What this reviewer may know of a case now; its ``version`` goes into the next submission as ``seen``."""
        self.dataset.case_index(case_id)
        return self.store.case(self.dataset.digest, case_id).seen_by(self.reviewer)

    def asked(self) -> dict[str, str]:
        """Cases on which this reviewer is asked for a second opinion, and whether blind or open."""
        asked = {}
        for case_id, review in self.store.cases(self.dataset.digest).items():
            how = dict(review.asked)
            if self.reviewer in how:
                asked[case_id] = how[self.reviewer]
        return asked

    def disputed(self, case_id: str) -> bool:
        """Whether a case is for arbitration; not to be told to somebody who reads it blind."""
        return self.store.case(self.dataset.digest, case_id).disputed

    def in_hand_elsewhere(self, reviews: Mapping[str, CaseReview], since: int = 0) -> list[str]:
        """Cases of other reviewers' sessions that they have not read yet; see `sessions.still_to_read`.

        Parameters
        ----------
        reviews : mapping
            The review of each case that has one (`ReviewStore.cases`).
        since : int
            Sessions begun before are left out, microseconds since 1970-01-01 UTC.
        """
        others = self.store.sessions_of_others(self.dataset.digest, self.reviewer, since)
        return still_to_read(others, reviews)

    def draft(self, case_id: str, kind: Kind, **said) -> Draft:
        """A submission, not sent.

        Parameters
        ----------
        case_id : str
        kind : str
            One of `core.review.events.Kind`.
        **said
            Further fields of `Draft`.
        """
        return Draft(dataset=self.dataset.digest, case_id=case_id, kind=kind, reviewer=self.reviewer, **said)

    def follows(self, draft: Draft) -> str:
        """What sending a draft would lead to, in words; raises where it is not allowed."""
        self._check(draft)
        return what_follows(self.store.case(draft.dataset, draft.case_id), draft)

    def send(self, draft: Draft, *, seen: int, token: str) -> Event:
        """Record a draft: the event, which then is on the disk. See `ReviewStore.record` for what is raised.

        Parameters
        ----------
        draft : Draft
        seen : int
            Version of the case that the reviewer saw.
        token : str
            Made once for one submission.
        """
        self._check(draft)
        return self.store.record(draft, seen=seen, token=token)

    def _check(self, draft: Draft) -> None:
        self.dataset.case_index(draft.case_id)
        for opinion in (draft.opinion, draft.panel):
            if opinion is not None:
                opinion.check_classes(self.dataset.classes, self.dataset.kind)
