"""State of a case, computed from its events. This module has no database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .events import ANYBODY, Event
from .opinions import Opinion

State = Literal["open", "skipped", "read", "second_opinion", "arbitration", "closed", "adjudicated"]
STATES: dict[State, str] = {
    "open": "open",
    "skipped": "skipped",
    "read": "opinion recorded",
    "second_opinion": "second opinion requested",
    "arbitration": "in arbitration",
    "closed": "closed",
    "adjudicated": "adjudicated",
}
SETTLED: frozenset[State] = frozenset({"closed", "adjudicated"})
PENDING: frozenset[State] = frozenset({"second_opinion", "arbitration"})  # others must decide


@dataclass(frozen=True, slots=True)
class ReviewerOpinion:
    """Opinion of one reviewer in the present round of a case.

    Attributes
    ----------
    reviewer : str
    first : Opinion
        Opinion as first given; nothing was revealed before, unless ``visible`` is "open".
    opinion : Opinion
        Opinion as it is now.
    visible : {"blind", "open"}
        What the reviewer could see when giving ``first``.
    panel : Opinion or None
        Panel's answer that was revealed to the reviewer, or, if they never opened it, to the next who did.
    settled : bool
        True if the reviewer has finished the case.
    looked : bool
        True if the opinions were revealed to the reviewer in this round.
    """

    reviewer: str
    first: Opinion
    opinion: Opinion
    visible: str
    panel: Opinion | None = None
    settled: bool = False
    looked: bool = False

    @property
    def disagrees(self) -> bool:
        """True if it is settled and disagrees with a decided panel."""
        if not self.settled or self.panel is None or not self.panel.decided:
            return False
        return not self.opinion.agrees_with(self.panel)

    @property
    def outside(self) -> bool:
        """True if it is outside the plausible set of an undecided panel."""
        return self.panel is not None and self.opinion.is_outside(self.panel)


@dataclass(frozen=True, slots=True)
class CaseReview:
    """Everything about one case; build it with `review_of`.

    Attributes
    ----------
    case_id : str
    version : int
        Number of events, undone ones included; a new event must state it.
    state : str
        State, one of `STATES`.
    reads : tuple of ReviewerOpinion
        Opinions of the present round (since the case was last reopened), in order.
    asked : tuple of (str, str)
        Reviewers who are asked for a second opinion, or `ANYBODY`, and have not given it, and whether blind or open.
    disputed : bool
        True if the case is for arbitration, even while a second opinion is awaited: it was referred, somebody disagrees
        with a decided panel, or, if the panel is undecided, reviewers disagree with each other.
    adjudication : Event or None
    revealed : tuple of str
        Reviewers to whom the opinions were revealed in this round.
    unblinded : frozenset of str
        Reviewers to whom they were ever revealed; undoing or reopening does not change this.
    events : tuple of Event
        Trail of events, with undone ones.
    """

    case_id: str
    version: int = 0
    state: State = "open"
    reads: tuple[ReviewerOpinion, ...] = ()
    asked: tuple[tuple[str, str], ...] = ()
    disputed: bool = False
    adjudication: Event | None = None
    revealed: tuple[str, ...] = ()
    unblinded: frozenset[str] = frozenset()
    events: tuple[Event, ...] = ()

    def read_by(self, reviewer: str) -> ReviewerOpinion | None:
        """Return the reviewer's opinion in this round."""
        return next((read for read in self.reads if read.reviewer == reviewer), None)

    def asked_of(self, reviewer: str) -> str | None:
        """Return how a reviewer is asked for a second opinion, "blind" or "open", by name or as anybody; else None."""
        asked = dict(self.asked)
        how = asked.get(ANYBODY)
        may = self.read_by(reviewer) is None and (how == "open" or reviewer not in self.unblinded)
        return asked.get(reviewer, how if may else None)

    def is_unsupported(self, read: ReviewerOpinion) -> bool:
        """Return whether an opinion is outside the panel's plausible set and no other settled opinion agrees."""
        others = (other for other in self.reads if other.settled and other.reviewer != read.reviewer)
        return read.outside and not any(other.opinion.agrees_with(read.opinion) for other in others)

    @property
    def closed_unsupported(self) -> bool:
        """True if it was closed by only one reviewer, outside the panel's plausible set."""
        return self.state == "closed" and any(self.is_unsupported(read) for read in self.reads)

    def seen_by(self, reviewer: str) -> "CaseReview":
        """Return what the reviewer may know: everything once revealed, before that only their own steps.

        A page that shows only this cannot reveal anything to a blind reviewer, not even that somebody disagrees.
        """
        if reviewer in self.revealed:
            return self
        own = self.read_by(reviewer)
        mine = tuple(event for event in self.events if event.reviewer == reviewer)
        skipped = any(event.kind == "skip" for event in effective(mine))
        return CaseReview(
            self.case_id,
            self.version,
            "read" if own else "skipped" if skipped else "open",
            reads=(replace(own, panel=None),) if own else (),
            asked=tuple(entry for entry in self.asked if entry[0] in (reviewer, ANYBODY)),
            unblinded=self.unblinded & {reviewer},
            events=mine,
        )


def open_to(reviews: Mapping[str, CaseReview], reviewer: str) -> tuple[dict[str, CaseReview], int]:
    """Return what a reviewer may see of the reviews of a dataset, and the number of cases with parts withheld.

    A case whose opinions the reviewer has never seen can still be reviewed blind, so only their own steps are included.

    Parameters
    ----------
    reviews : mapping of str to CaseReview
    reviewer : str
    """
    known, kept_back = {}, 0
    for case_id, review in reviews.items():
        if reviewer in review.unblinded:
            known[case_id] = review
            continue
        own = review.seen_by(reviewer)
        kept_back += len(own.events) < len(review.events)
        if own.events:
            known[case_id] = own
    return known, kept_back


def effective(events: Iterable[Event]) -> list[Event]:
    """List events without those that were undone, and without the undo events."""
    events = list(events)
    undone = {event.undoes for event in events if event.kind == "undo"}
    return [event for event in events if event.kind != "undo" and event.version not in undone]


def review_of(case_id: str, events: Sequence[Event]) -> CaseReview:
    """Return the review of a case from its events, in their order."""
    standing = effective(events)
    since = max((place for place, event in enumerate(standing) if event.kind == "reopen"), default=-1)
    reads: dict[str, ReviewerOpinion] = {}
    panels: dict[str, Opinion] = {}
    asked: dict[str, str] = {}
    referred, adjudication, skipped = False, None, False
    for event in standing[since + 1 :]:
        who = event.reviewer
        if event.kind == "opinion" and event.opinion is not None:
            seen = who in panels
            reads[who] = ReviewerOpinion(who, event.opinion, event.opinion, event.visible, panels.get(who), seen, seen)
            asked.pop(who if who in asked else ANYBODY, None)
        elif event.kind == "reveal" and event.panel is not None:
            panels[who] = event.panel
            for other, read in reads.items():
                mine = other == who
                if (mine and not read.settled) or (read.settled and read.panel is None):
                    read = replace(read, panel=event.panel)
                reads[other] = replace(read, looked=read.looked or mine)
        elif event.kind in ("keep", "change"):
            reads[who] = replace(reads[who], opinion=event.opinion or reads[who].opinion, settled=True)
        elif event.kind == "second_opinion":
            reads[who] = replace(reads[who], settled=True)
            asked[event.whom] = event.whom_visible
        elif event.kind == "arbitration":
            reads[who] = replace(reads[who], settled=True)
            referred = True
        elif event.kind == "adjudication":
            adjudication = event
        skipped = skipped or event.kind == "skip"
    disputed = referred or any(read.disagrees for read in reads.values()) or _differ(reads.values())
    return CaseReview(
        case_id,
        max((event.version for event in events), default=0),
        _state(adjudication, asked, disputed, reads, skipped),
        tuple(reads.values()),
        tuple(asked.items()),
        disputed,
        adjudication,
        tuple(panels),
        frozenset(event.reviewer for event in events if event.kind == "reveal"),
        tuple(events),
    )


def _differ(reads: Iterable[ReviewerOpinion]) -> bool:
    """Return whether finished reviewers differ on their first choice after they were shown an undecided panel."""
    through = [read for read in reads if read.settled]
    shown = any(read.panel is not None and not read.panel.decided for read in through)
    return shown and any(not read.opinion.agrees_with(through[0].opinion) for read in through[1:])


def _state(adjudication, asked, disputed: bool, reads: dict[str, ReviewerOpinion], skipped: bool) -> State:
    if adjudication is not None:
        return "adjudicated"
    if asked:
        return "second_opinion"
    if disputed:
        return "arbitration"
    if any(not read.settled or read.panel is None for read in reads.values()):
        return "read"
    if reads:
        return "closed"
    return "skipped" if skipped else "open"
