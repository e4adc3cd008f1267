"""Steps of a dataset that was read again, copied to the record of the new dataset. This module has no database.

Nothing is removed from the record: the steps stay where they were recorded, which ends with an event that states where
they continue. Their copies have the names, times and opinions of the originals, and hashes of the new chain, in which
an event of the kind `BROUGHT` states the origin of the copies.
"""

import json
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .chain import Head, event_hash, personal_half
from .events import ASSIGNED, BROUGHT, CONTINUED, ERASED, NO_STEPS, WITHDRAWN
from .opinions import Opinion

_STAY = (ERASED, BROUGHT, CONTINUED, *NO_STEPS)  # copied queues get new events in the chain


@dataclass(frozen=True, slots=True)
class Copies:
    """Copied steps, as they are in the other chain.

    Attributes
    ----------
    rows : list of dict
        Columns of the events.
    head : Head
        End of the chain with them.
    n_left : int
        Number of steps that are not copied: those of other cases.
    """

    rows: list[dict[str, Any]]
    head: Head
    n_left: int


def copies(
    rows: Iterable[Mapping[str, Any]],
    dataset: str,
    head: Head,
    n_of_dataset: int,
    cases: Collection[str],
    sessions: Mapping[str, str],
) -> Copies:
    """Return steps of one dataset as steps of another.

    Parameters
    ----------
    rows : iterable of mappings
        Columns of the events, by number.
    dataset : str
        Digest of the other dataset.
    head : Head
        End of its chain.
    n_of_dataset : int
        Version of its last event without a case.
    cases : collection of str
        Cases of it that accept steps.
    sessions : mapping of str to str
        Ids of its sessions by the ids of the sessions that they were copied from.
    """
    made: list[dict[str, Any]] = []
    number_of: dict[int, int] = {}
    n_left = 0
    for row in rows:
        if row["kind"] in _STAY:
            continue
        change: dict[str, Any] = {}
        if row["case_id"]:
            if row["case_id"] not in cases:
                n_left += 1
                continue
        else:
            settings = _settings(row, number_of, cases)
            if settings is None:
                n_left += 1
                continue
            n_of_dataset += 1
            change = {"version": n_of_dataset, "settings": json.dumps(settings, ensure_ascii=False, sort_keys=True)}
        told = {name: value for name, value in row.items() if name not in ("id", "hash")} | change
        told["session"] = sessions.get(row["session"])
        told |= {"dataset": dataset, "number": head.number + 1, "previous": head.hash, "token": uuid.uuid4().hex}
        told["personal"] = personal_half(told)
        told["hash"] = event_hash(told)
        head = Head(told["number"], told["hash"])
        number_of[row["number"]] = head.number
        made.append(told)
    return Copies(made, head, n_left)


def named_otherwise(rows: Iterable[Mapping[str, Any]], classes: Collection[str]) -> set[str]:
    """Return the cases with an opinion that names an unknown class.

    Parameters
    ----------
    rows : iterable of mappings
        Columns of events.
    classes : collection of str
    """
    known, found = set(classes), set[str]()
    for row in rows:
        if row["opinion"] is not None:
            opinion = Opinion.from_json(row["opinion"])
            if not known.issuperset((*opinion.classes, *(opinion.plausible or ()))):
                found.add(row["case_id"])
    return found


def _settings(row: Mapping[str, Any], number_of: Mapping[int, int], cases: Collection[str]) -> dict[str, Any] | None:
    """Return settings of an event without a case for the other chain; None if nothing of it is left there."""
    settings = dict(json.loads(row["settings"]))
    if row["kind"] == WITHDRAWN:
        return settings | {"of": number_of[settings["of"]]} if settings["of"] in number_of else None
    if row["kind"] == ASSIGNED:
        settings["cases"] = [one for one in settings["cases"] if one[0] in cases]
        return settings if settings["cases"] else None
    return settings
