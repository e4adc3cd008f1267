"""Record of reviews as a chain: each event of a dataset contains the hash of the one before it.

The hash of an event is H(H(content) || H(personal || token)), where H is SHA-256 of JSON and `CONTENT` and `PERSONAL`
name the columns of each half. An erasure on request replaces only the personal half, whose hash stays in the column
``personal``. So the content of every event can always be recomputed, and any change, removal or move in it changes
every later hash. Queues are in the chain by the digest of their content.

Events that were recorded before the hash had two halves keep their hash (`former_hash`). One event of the kind
`MIGRATED` follows them and contains a digest of both of their halves. A hash of the present form starts with `FORM`, so
a present event cannot be presented as a former one.

The chain cannot show that its end was cut off, or that the whole chain was made again: for these, store the last hash
elsewhere. Exports and reports contain it, and `core.review.signed_heads` signs it.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .events import BROUGHT, ERASED, MIGRATED, QUEUED, TWO_PEOPLE

BEGINNING = "0" * 64
FORM = "v2-"
PSEUDONYM, ERASED_TOKEN = "erased person", "erased"
HASHED = (
    *("dataset", "number", "previous", "case_id", "version", "token", "kind", "reviewer", "at", "session", "visible"),
    *("model", "settings", "panel", "old", "opinion", "confidence", "note", "reason", "whom", "whom_visible", "undoes"),
    "seconds",
)
PERSONAL = ("reviewer", "whom", "note", "seconds", "token")
CONTENT = tuple(name for name in HASHED if name not in PERSONAL)
_FLOATS = ("confidence", "seconds")

_Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Head:
    """End of the chain of a dataset.

    Attributes
    ----------
    number : int
        Number of its last event, erased ones counted; 0 if there was none.
    hash : str
    """

    number: int = 0
    hash: str = BEGINNING


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in the record.

    Attributes
    ----------
    dataset : str
        Digest of the dataset; empty if it belongs to none.
    number : int or None
        Number of the event in the chain of its dataset.
    what : str
        Description in words. Not escaped.
    """

    dataset: str
    number: int | None
    what: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure on request.

    Attributes
    ----------
    dataset : str
        Digest of the dataset.
    what : {"person", "dataset"}
        Kind of erasure: the names, notes and times of a person, or all events of the dataset.
    by : str
        Person who erased; empty for a dataset, for which the record of changes has it.
    at : int
        Time in microseconds since 1970-01-01 UTC.
    n_events : int
        Number of events that were erased, or that had something of the person.
    """

    dataset: str
    what: str
    by: str
    at: int
    n_events: int


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """Result of a check of the whole record.

    Attributes
    ----------
    n_events : int
    heads : mapping of str to str
        Last hash by digest of the dataset.
    faults : tuple of Fault
    backwards : tuple of Fault
        Events with an earlier time than the event before them. Not a fault of the chain: a clock was set.
    erased : mapping of str to int
        Number of events erased on request with their whole dataset, by digest.
    without_person : mapping of str to int
        Number of events of each dataset from which the name, the note or the times of a person were erased on request.
    owns_tables : bool
        True if the role that checks owns the tables and so could remove the guards; always on SQLite.
    erasures : tuple of Erasure
        Erasures that the record names, by dataset.
    looked_by : str
        Means by which the database itself was checked; empty if it has none.
    """

    n_events: int
    heads: Mapping[str, str]
    faults: tuple[Fault, ...]
    backwards: tuple[Fault, ...] = ()
    erased: Mapping[str, int] = field(default_factory=dict)
    owns_tables: bool = True
    without_person: Mapping[str, int] = field(default_factory=dict)
    erasures: tuple[Erasure, ...] = ()
    looked_by: str = ""

    @property
    def ok(self) -> bool:
        """True if there is no fault."""
        return not self.faults


def not_held(head: str) -> Fault:
    """Return the fault that the record does not contain a hash that was stored elsewhere."""
    return Fault("", None, f"the record does not contain {head}: it was cut short, replaced or deleted")


def event_hash(row: _Row) -> str:
    """Return the hash of an event from the columns of its row, where ``personal`` is the hash of that half."""
    return FORM + _digest_of_text(content_half(row) + str(row["personal"]))


def content_half(row: _Row) -> str:
    """Return the hash of the half of an event that nothing ever changes; 64 hexadecimal digits."""
    return _digest([_value(row, name) for name in CONTENT])


def personal_half(row: _Row) -> str:
    """Return the hash of the personal half of an event; the random token in it cannot be guessed."""
    return _digest([_value(row, name) for name in PERSONAL])


def former_hash(row: _Row) -> str:
    """Return the hash that an event had before hashes had two halves."""
    return _digest([_value(row, name) for name in HASHED])


def former_digest(rows: Iterable[_Row]) -> str:
    """Return the digest of both halves of events of the former form, in their order."""
    return _digest([[row["number"], row["hash"], content_half(row), row["personal"]] for row in rows])


def queue_digest(dataset: str, title: str, at: int, cases: Iterable[tuple[str, str]]) -> str:
    """Return the digest of a reviewer's queue.

    Parameters
    ----------
    dataset, title : str
    at : int
        Time in microseconds.
    cases : iterable of (str, str)
        Each case with the reason why it is in the queue.
    """
    return _digest([dataset, title, at, [list(case) for case in cases]])


def _value(row: _Row, name: str) -> object:
    value = row[name]  # as a database returns it, which may write 1 for 1.0 or 0 for -0.0
    return float(value) + 0.0 if name in _FLOATS and isinstance(value, int | float) else value


def _digest(values: object) -> str:
    return _digest_of_text(json.dumps(values, separators=(",", ":"), default=repr))


def _digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def erased_of_people(rows: Iterable[_Row]) -> dict[int, str]:
    """Return the hashes of events after something of a person was erased from them, by number.

    An erasure is itself an event of the chain and contains what each event is afterwards: the hash of its personal
    half, or for events before hashes had halves the whole hash. So no other part of it can be changed without notice.
    """
    found: dict[int, str] = {}
    for row in rows:
        if row["kind"] == ERASED:
            told = json.loads(str(row["settings"]))["events"]
            form = FORM if is_of_now(row) else ""
            found |= {int(one["number"]): form + str(one["is"]) for one in told if one["number"] < row["number"]}
    return found


def is_of_now(row: _Row) -> bool:
    """Return whether the hash of an event has two halves."""
    return str(row["hash"]).startswith(FORM)


def erasures_of(rows: Iterable[_Row]) -> list[Erasure]:
    """Return each erasure of a person that a chain names: who erased, when, and from how many events."""
    return [
        Erasure(str(row["dataset"]), "person", str(row["reviewer"]), int(str(row["at"])), len(told))
        for row in rows
        if row["kind"] == ERASED
        for told in [json.loads(str(row["settings"]))["events"]]
    ]


def _copied(rows: Iterable[_Row]) -> frozenset[int]:
    """Return the numbers of events copied from another chain, which have the times that they have there."""
    found: set[int] = set()
    for row in rows:
        if row["kind"] == BROUGHT:
            first, last = json.loads(str(row["settings"]))["copies"]
            found.update(range(int(first), int(last) + 1))
    return frozenset(found)


def check_chain(
    dataset: str, rows: Sequence[_Row], erased: Sequence[Head], queues: Mapping[str, tuple[str, str]] | None = None
) -> tuple[Head, list[Fault], list[Fault]]:
    """Check the chain of one dataset.

    Parameters
    ----------
    dataset : str
        Digest of the dataset.
    rows : sequence of mappings
        Columns of its events, by number.
    erased : sequence of Head
        Ends of the chain when the events up to then were erased, by number.
    queues : mapping of str to tuple of str
        Reviewer and digest of each queue of the dataset, by id; not compared if omitted.

    Returns
    -------
    tuple of Head, list of Fault, list of Fault
        End of the chain, its faults, and events whose time is before that of the event before them.
    """
    head = erased[-1] if erased else Head()
    faults, backwards, latest = [], [], None
    try:
        now, copied = erased_of_people(rows), _copied(rows)
    except (ValueError, TypeError, LookupError):  # the event of the erasure was changed, and is named below
        now, copied = {}, frozenset[int]()
    for row in rows:
        number, said, at = int(str(row["number"])), str(row["hash"]), int(str(row["at"]))
        where = _named(row)
        if number <= head.number:
            faults.append(
                Fault(dataset, number, f"{where} should have been deleted, but is present or appears more than once")
            )
            continue
        if number > head.number + 1:
            gone = (
                f"event {head.number + 1}" if number == head.number + 2 else f"events {head.number + 1} to {number - 1}"
            )
            faults.append(Fault(dataset, head.number + 1, f"{gone} missing before {where}"))
        elif row["previous"] != head.hash:
            faults.append(Fault(dataset, number, f"{where} does not follow the previous event: the order was changed"))
        if not _is_as_recorded(row, now.get(number)):
            faults.append(Fault(dataset, number, f"{where} was changed"))
        if latest is not None and at < latest and number not in copied:
            backwards.append(Fault(dataset, number, f"{where} is dated earlier than the previous event"))
        head, latest = Head(number, said), at
    faults += _faults_of_former(dataset, rows)
    if queues is not None:
        faults += _faults_of_queues(dataset, rows, queues)
    return head, faults, backwards


def _named(row: _Row) -> str:
    of = f"case {row['case_id']!r}, step {row['version']}" if row["case_id"] else row["kind"]
    return f"event {row['number']} ({', '.join(filter(None, (str(of), str(row['reviewer']))))})"


def _is_as_recorded(row: _Row, left: str | None) -> bool:
    """Return whether an event matches its hash, and after an erasure of a person, the hash in the erasure."""
    personal, erased = personal_half(row), left is not None and left.startswith(FORM)
    if erased and not (FORM + personal == left and _is_without_person(row)):
        return False
    if not erased and personal != row["personal"]:
        return False
    if is_of_now(row):
        return (left is None or erased) and row["hash"] == event_hash(row)
    return erased or former_hash(row) == (left or row["hash"])  # for events erased since, `MIGRATED` binds the content


def _is_without_person(row: _Row) -> bool:
    """Return whether an event has the form that an erasure leaves, with no name of the person who was erased."""
    gone = [re.fullmatch(f"{PSEUDONYM} [0-9a-f]{{8}}", str(row[name])) for name in ("reviewer", "whom")]
    names = any(gone) if row["kind"] in TWO_PEOPLE else gone[0] and not row["whom"]
    token = re.fullmatch(f"{ERASED_TOKEN} [0-9a-f]{{32}}", str(row["token"]))
    return bool(names and token) and row["note"] == "" and row["seconds"] is None


def _faults_of_former(dataset: str, rows: Sequence[_Row]) -> list[Fault]:
    """List faults of events of the former form: each must be before the event that binds them, unchanged."""
    former = [row for row in rows if not is_of_now(row)]
    first = next((row for row in rows if is_of_now(row)), None)
    if not former:
        return []
    if first is None or first["kind"] != MIGRATED or former[-1]["number"] > first["number"]:  # type: ignore[operator]
        what = f"{_named(former[-1])} has a hash in the old format, but the record was not upgraded after it"
        return [Fault(dataset, int(str(former[-1]["number"])), what)]
    try:
        same = json.loads(str(first["settings"]))["former"] == former_digest(former)
    except (ValueError, TypeError, LookupError):
        same = False
    what = f"event {former[-1]['number']} or an earlier event was changed after the record was upgraded"
    return [] if same else [Fault(dataset, None, what)]


def _faults_of_queues(dataset: str, rows: Sequence[_Row], queues: Mapping[str, tuple[str, str]]) -> list[Fault]:
    """List faults in the queues of a dataset: changed, removed, or added outside the record."""
    told: dict[str, tuple[str | None, str]] = {}
    try:
        for row in rows:
            settings = json.loads(str(row["settings"])) if row["kind"] in (QUEUED, MIGRATED) else {}
            if row["kind"] == MIGRATED:
                told |= {session: (None, digest) for session, digest in settings["queues"].items()}
            elif row["kind"] == QUEUED and row["session"]:
                told[str(row["session"])] = (str(row["reviewer"]), settings["queue"])
    except (ValueError, TypeError, LookupError, AttributeError):  # that event was changed, and is named
        return []
    faults = []
    for session in sorted(told.keys() | queues.keys()):
        if session not in told:
            faults.append(Fault(dataset, None, f"the record has no event for the queue {session}"))
        elif session not in queues:
            faults.append(Fault(dataset, None, f"the queue {session} is missing"))
        else:
            (whose, digest), (reviewer, there) = told[session], queues[session]
            if digest != there or whose not in (None, reviewer):
                faults.append(Fault(dataset, None, f"the queue {session} was changed"))
    return faults
