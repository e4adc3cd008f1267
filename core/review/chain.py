"""The record of reviews as a chain: each event of a dataset holds the hash of the one before it.

The hash is SHA-256 of the JSON list of `HASHED`, the columns of the event in that order. So nothing in the record can
be changed, removed or put in another place without every later hash being another. What the chain alone cannot show is
an end that was cut off, or a chain that was made anew as a whole: for these, keep the last hash elsewhere. Exports and
reports hold it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .events import BROUGHT, ERASED

BEGINNING = "0" * 64
HASHED = (
    *("dataset", "number", "previous", "case_id", "version", "token", "kind", "reviewer", "at", "session", "visible"),
    *("model", "settings", "panel", "old", "opinion", "confidence", "note", "reason", "whom", "whom_visible", "undoes"),
    "seconds",
)
_FLOATS = (HASHED.index("confidence"), HASHED.index("seconds"))


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain of a dataset.

    Attributes
    ----------
    number : int
        Of its last event, erased ones counted; 0 where there was none.
    hash : str
    """

    number: int = 0
    hash: str = BEGINNING


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the record.

    Attributes
    ----------
    dataset : str
        Digest; empty where it is no dataset's.
    number : int or None
        Of the event in the chain of its dataset.
    what : str
        In words. Not escaped.
    """

    dataset: str
    number: int | None
    what: str


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """What a check of the whole record found.

    Attributes
    ----------
    n_events : int
    heads : mapping of str to str
        Last hash by digest of the dataset.
    faults : tuple of Fault
    backwards : tuple of Fault
        Events that say that they were recorded before the one in front of them. No fault of the chain: a clock was set.
    erased : mapping of str to int
        How many events of a dataset were erased on request, with all others of it.
    without_person : mapping of str to int
        Of how many events of a dataset the name, the note or the times of a person were erased on request.
    owns_tables : bool
        Whether who checks owns the tables and so could take the guards away; always on SQLite.
    """

    n_events: int
    heads: Mapping[str, str]
    faults: tuple[Fault, ...]
    backwards: tuple[Fault, ...] = ()
    erased: Mapping[str, int] = field(default_factory=dict)
    owns_tables: bool = True
    without_person: Mapping[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def not_held(head: str) -> Fault:
    """That the record does not hold a hash that was kept elsewhere."""
    return Fault("", None, f"the record does not hold {head}: its end was cut off, it was made anew, or it was erased")


def event_hash(row: Mapping[str, object]) -> str:
    """The hash of an event from the columns of its row; 64 hexadecimal digits."""
    values = [row[name] for name in HASHED]
    for place in _FLOATS:  # as a database gives them back, that writes 1 for 1.0 or 0 for -0.0
        if isinstance(value := values[place], int | float):
            values[place] = float(value) + 0.0
    return hashlib.sha256(json.dumps(values, separators=(",", ":"), default=repr).encode()).hexdigest()


def erased_of_people(rows: Iterable[Mapping[str, object]]) -> dict[int, str]:
    """Hashes that events of a dataset have since something of a person was erased from them, by number.

    An erasure is an event of the chain itself and says what each event is afterwards, so nothing else of it can be
    changed unseen.
    """
    found: dict[int, str] = {}
    for row in rows:
        if row["kind"] == ERASED:
            told = json.loads(str(row["settings"]))["events"]
            found |= {int(one["number"]): str(one["is"]) for one in told if one["number"] < row["number"]}
    return found


def _copied(rows: Iterable[Mapping[str, object]]) -> frozenset[int]:
    """Numbers of events that were brought over from another chain, and bear the times that they have there."""
    found: set[int] = set()
    for row in rows:
        if row["kind"] == BROUGHT:
            first, last = json.loads(str(row["settings"]))["copies"]
            found.update(range(int(first), int(last) + 1))
    return frozenset(found)


def check_chain(
    dataset: str, rows: Sequence[Mapping[str, object]], erased: Sequence[Head]
) -> tuple[Head, list[Fault], list[Fault]]:
    """Go along the chain of one dataset.

    Parameters
    ----------
    dataset : str
        Digest.
    rows : sequence of mappings
        Columns of its events, by number.
    erased : sequence of Head
        Where the chain stood when the events until then were erased, by number.

    Returns
    -------
    tuple of Head, list of Fault, list of Fault
        Its end, what is wrong, and events whose time is before that of the one in front of them.
    """
    head = erased[-1] if erased else Head()
    faults, backwards, latest = [], [], None
    try:
        now, copied = erased_of_people(rows), _copied(rows)
    except (ValueError, TypeError, LookupError):  # the event that says so was changed, and is named below
        now, copied = {}, frozenset[int]()
    for row in rows:
        number, said, at = int(str(row["number"])), str(row["hash"]), int(str(row["at"]))
        of = f"case {row['case_id']!r}, step {row['version']}" if row["case_id"] else row["kind"]
        where = f"event {number} ({of}, {row['reviewer']})"
        if number <= head.number:
            faults.append(Fault(dataset, number, f"{where} was to be erased and is there, or stands there twice"))
            continue
        if number > head.number + 1:
            gone = (
                f"event {head.number + 1}" if number == head.number + 2 else f"events {head.number + 1} to {number - 1}"
            )
            faults.append(Fault(dataset, head.number + 1, f"{gone} missing before {where}"))
        elif row["previous"] != head.hash:
            faults.append(Fault(dataset, number, f"{where} does not follow the event before it: put in another order"))
        if event_hash(row) != now.get(number, said):
            faults.append(Fault(dataset, number, f"{where} was changed"))
        if latest is not None and at < latest and number not in copied:
            backwards.append(Fault(dataset, number, f"{where} bears an earlier time than the event before it"))
        head, latest = Head(number, said), at
    return head, faults, backwards
