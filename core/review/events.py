"""The events of a review. They are only ever added; what is true of a case now is worked out from them."""

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
# Kinds of events of no case.
ASSIGNED, WITHDRAWN, ERASED, BROUGHT, CONTINUED, QUEUED, MIGRATED = OF_DATASETS = (
    *("assignment", "withdrawal", "erasure"),
    *("brought_over", "continued"),  # of data that were read anew: at the end of what was copied, and of where it was
    *("queue", "migration"),  # a session was begun; events until here have hashes of a former form
)
NO_STEPS = (QUEUED, MIGRATED)  # nobody said anything on a case by them
TWO_PEOPLE = ("second_opinion", ASSIGNED)  # kinds of events that name somebody beside who made them
LONGEST_NAME, LONGEST_NOTE = 200, 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a reviewer sends.

    Attributes
    ----------
    dataset, case_id : str
        Digest of the dataset, and the case.
    kind : str
        "opinion": one's own opinion. "reveal": the panel's opinions are shown. "keep", "change": one's opinion after
        that. "skip". "second_opinion": somebody else is asked. "arbitration": the case is put before arbitration.
        "adjudication": the end of arbitration. "undo": takes back one's last event. "reopen": the case starts afresh.
    reviewer : str
    opinion : Opinion or None
        For "opinion", "change" and "adjudication".
    confidence : float or None
        Of the reviewer, 0 to 1.
    note : str
    reason : str
        "" or one of `core.review.opinions.REASONS`.
    visible : {"blind", "open"}
        Whether the panel's opinions were shown before. A reviewer to whom they were ever revealed cannot be blind: the
        store then says "open" whatever was sent.
    model : str
    settings : mapping
        Which model's plausibilities were shown, and with which settings (reliability, seed, ...).
    panel : Opinion or None
        For "reveal": what was shown as the panel's class; agreeing with it closes the case.
    whom : str
    whom_visible : {"blind", "open", ""}
        For "second_opinion": who is asked, and whether to read blind.
    seconds : float or None
        Time on the case until this was sent.
    session : str or None
        The session that it belongs to.
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
        """Raise `InputError` where a value is out of its range, whatever the state of the case."""
        if self.kind not in get_args(Kind):
            raise InputError(f"{self.kind!r} is no kind of event.", f"It is one of {', '.join(get_args(Kind))}.")
        if self.visible not in get_args(Visible):
            raise InputError(f"What was visible is {self.visible!r}.", "It is blind or open.")
        check_name(self.reviewer, "reviewer")
        if self.kind == "second_opinion":
            check_name(self.whom, "reviewer who is asked")
            if self.whom_visible not in get_args(Visible):
                raise InputError("It is not said how the second opinion is to be given.", "Choose blind or open.")
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise InputError(f"The confidence is {self.confidence}.", "It must be from 0 to 1.")
        if self.reason and self.reason not in REASONS:
            raise InputError(f"{self.reason!r} is no reason.", f"It is one of {', '.join(REASONS)}.")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds >= 0):
            raise InputError(f"The time on the case is {self.seconds} seconds.", "It must be 0 or more.")
        if len(self.note) > LONGEST_NOTE:
            raise InputError(f"The note has {len(self.note):,} characters.", f"It may have {LONGEST_NOTE:,}.")
        for text in (self.case_id, self.note):
            check_text(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Draft):
    """A recorded event: the draft, and what the store adds.

    Attributes
    ----------
    version : int
        Place among the events of the case, from 1.
    at : int
        Microseconds since 1970-01-01 UTC.
    old : Opinion or None
        The reviewer's opinion before the event; ``opinion`` is the one after it.
    undoes : int or None
        For "undo": the version of the event that is taken back.
    number : int
        Place among all events of the dataset, from 1; 0 until it is recorded.
    hash : str
        Its hash in the chain of the dataset (`core.review.chain`); empty until it is recorded.
    """

    version: int
    at: int
    old: Opinion | None = None
    undoes: int | None = None
    number: int = field(default=0, compare=False)
    hash: str = field(default="", compare=False)


def check_name(name: str, what: str) -> None:
    """Raise `InputError` unless it is a name in one line, without blanks at its ends."""
    if not name or name != " ".join(name.split()) or len(name) > LONGEST_NAME:
        raise InputError(f"The name of the {what} is {name[:40]!r}.", "Give a name in one line, without outer blanks.")
    check_text(name)


def check_text(text: str) -> None:
    """Raise `InputError` where a database could not keep the text letter for letter."""
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError("A text holds a character that cannot be kept.", "Type it again.")
