"""Events of a review. Events are only added; the state of a case is computed from them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from ..errors import InputError
from .opinions import REASONS, Opinion

Kind = Literal[
    "opinion",
    "reveal",
    "keep",
    "change",
    "skip",
    "second_opinion",
    "arbitration",
    "adjudication",
    "undo",
    "reopen",
]
Visible = Literal["blind", "open"]
# Kinds of events without a case.
ASSIGNED, WITHDRAWN, ERASED, BROUGHT, CONTINUED, QUEUED, MIGRATED = OF_DATASETS = (
    *("assignment", "withdrawal", "erasure"),
    *("brought_over", "continued"),  # for data read again: the end of the copies, and of the chain they are from
    *("queue", "migration"),  # a session was started; events up to here have hashes of a former form
)
NO_STEPS = (QUEUED, MIGRATED)  # events that are not an opinion on a case
GIVES_OPINION = ("opinion", "change", "adjudication")  # kinds of events with an opinion of their own
TWO_PEOPLE = ("second_opinion", ASSIGNED)  # kinds of events that name a second person
LONGEST_NAME, LONGEST_NOTE = 200, 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Submission of a reviewer.

    Attributes
    ----------
    dataset, case_id : str
        Digest of the dataset, and id of the case.
    kind : str
        Kind of event. "opinion": the reviewer's own opinion. "reveal": the panel's opinions are shown. "keep",
        "change": the opinion after that. "skip". "second_opinion": another reviewer is asked. "arbitration": the case
        is sent to arbitration. "adjudication": the end of arbitration. "undo": withdraws the reviewer's last event.
        "reopen": the case starts again.
    reviewer : str
    opinion : Opinion or None
        Opinion for "opinion", "change" and "adjudication".
    confidence : float or None
        Confidence of the reviewer, 0 to 1.
    note : str
    reason : str
        Empty, or one of `core.review.opinions.REASONS`.
    visible : {"blind", "open"}
        What the reviewer had seen: "open" if the panel's opinions were shown before. A reviewer to whom they were ever
        revealed cannot be blind: the store then writes "open" whatever was sent.
    model : str
    settings : mapping
        Model of the plausibilities that were shown, and its settings (reliability, seed, ...).
    panel : Opinion or None
        For "reveal": the class shown as the panel's; agreement with it closes the case.
    whom : str
    whom_visible : {"blind", "open", ""}
        For "second_opinion": who is asked, or `ANYBODY`, and whether they review blind.
    seconds : float or None
        Time on the case until this was sent.
    session : str or None
        Session that it belongs to.
    """

    dataset: str
    case_id: str
    kind: Kind
    reviewer: str
    opinion: Opinion | None = None
    confidence: float | None = None
    note: str = ""
    reason: str = ""
    visible: Visible = "blind"
    model: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    panel: Opinion | None = None
    whom: str = ""
    whom_visible: str = ""
    seconds: float | None = None
    session: str | None = None

    def check(self) -> None:
        """Raise `InputError` if a value is out of its range, whatever the state of the case."""
        if self.kind not in get_args(Kind):
            raise InputError(f"Unknown event kind {self.kind!r}.", f"Use one of {', '.join(get_args(Kind))}.")
        if self.visible not in get_args(Visible):
            raise InputError(f"Unknown visibility {self.visible!r}.", "Use blind or open.")
        check_name(self.reviewer, "reviewer")
        if self.reviewer.casefold() == ANYBODY:
            raise InputError(f"Could not use {self.reviewer!r} as the name of a reviewer.", "Use another name.")
        if self.kind == "second_opinion":
            check_name(self.whom, "reviewer who is asked")
            if self.whom_visible not in get_args(Visible):
                raise InputError(
                    "Could not ask for a second opinion: neither “blind” nor “open” was chosen.",
                    "Choose blind or open.",
                )
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise InputError(
                f"The confidence must be between 0 and 1; got {self.confidence}.", "Choose a different value."
            )
        if self.reason and self.reason not in REASONS:
            raise InputError(f"Unknown reason: {self.reason!r}.", f"Use one of {', '.join(REASONS)}.")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds >= 0):
            raise InputError(
                f"The time spent on the case must be 0 seconds or more; got {self.seconds}.", "Send it again."
            )
        if len(self.note) > LONGEST_NOTE:
            raise InputError(
                f"Could not save the note: it has {len(self.note):,} characters.",
                f"Use at most {LONGEST_NOTE:,} characters.",
            )
        for text in (self.case_id, self.note):
            check_text(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Draft):
    """Recorded event: the draft, and the fields that the store adds.

    Attributes
    ----------
    version : int
        Number among the events of the case, from 1.
    at : int
        Time in microseconds since 1970-01-01 UTC.
    old : Opinion or None
        Opinion of the reviewer before the event; ``opinion`` is the one after it.
    undoes : int or None
        For "undo": the version of the event that is withdrawn.
    number : int
        Number among all events of the dataset, from 1; 0 until it is recorded.
    hash : str
        Hash in the chain of the dataset (`core.review.chain`); empty until it is recorded.
    """

    version: int
    at: int
    old: Opinion | None = None
    undoes: int | None = None
    number: int = field(default=0, compare=False)
    hash: str = field(default="", compare=False)


ANYBODY = "anybody"  # whom a second opinion is asked of, if any other reviewer may give it


def who_is_asked(whom: str) -> str:
    """Return the name of who is asked for a second opinion, as a sentence begins with it."""
    return "Any other reviewer" if whom == ANYBODY else whom


def check_name(name: str, what: str) -> None:
    """Raise `InputError` unless it is a name in one line, without blanks at its ends."""
    if not name or name != " ".join(name.split()) or len(name) > LONGEST_NAME:
        raise InputError(
            f"Could not use {name[:40]!r} as the name of the {what}.",
            f"Use 1 to {LONGEST_NAME} characters on one line, without extra spaces.",
        )
    check_text(name)


def check_text(text: str) -> None:
    """Raise `InputError` if a database could not store the text exactly."""
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError("Could not save the text: it contains an invalid character.", "Type it again.")
