"""Events as rows of the database, and back."""

import json
from dataclasses import fields

from .events import Event
from .opinions import Opinion

_OPINIONS = ("panel", "old", "opinion")
_NAMES = tuple(entry.name for entry in fields(Event))


def to_row(event: Event, token: str) -> dict[str, object]:
    """Values of the columns."""
    row = {name: getattr(event, name) for name in _NAMES}
    row |= {name: None if row[name] is None else row[name].to_json() for name in _OPINIONS}
    return row | {"settings": json.dumps(dict(event.settings), ensure_ascii=False, sort_keys=True), "token": token}


def from_row(row) -> Event:
    """The event of a row."""
    values = {name: getattr(row, name) for name in _NAMES}
    values |= {name: None if values[name] is None else Opinion.from_json(values[name]) for name in _OPINIONS}
    return Event(**values | {"settings": json.loads(row.settings)})
