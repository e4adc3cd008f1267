"""Hashes of two halves: an erasure replaces the personal half, and the content of every event can always be checked.

Existing events keep their hash. One event of the kind ``migration`` follows them in the chain of each dataset and
contains the digest of both halves of each, and of each queue.
"""

import hashlib
import json
import time
import uuid
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_BEGINNING, _FORM = "0" * 64, "v2-"
_PERSONAL = ("reviewer", "whom", "note", "seconds", "token")
_CONTENT = (
    *("dataset", "number", "previous", "case_id", "version", "kind", "at", "session", "visible", "model", "settings"),
    *("panel", "old", "opinion", "confidence", "reason", "whom_visible", "undoes"),
)
_FLOATS = ("confidence", "seconds")
_REFUSED = "events of reviews are never overwritten, removed or put in between"
_STAY = (
    *("id", "dataset", "case_id", "version", "kind", "at", "session", "visible", "model", "settings", "panel", "old"),
    *("opinion", "confidence", "reason", "whom_visible", "undoes", "number", "previous", "hash", "personal"),
)
_ERASED = """NEW.note = '' AND NEW.seconds IS NULL AND NEW.token LIKE 'erased %'
AND (NEW.reviewer = OLD.reviewer OR NEW.reviewer LIKE 'erased person %')
AND (NEW.whom = OLD.whom OR NEW.whom LIKE 'erased person %')"""
_SQLITE = f"""BEFORE UPDATE ON review_event
WHEN NOT ({_ERASED}
AND {" AND ".join(f"NEW.{name} IS OLD.{name}" for name in _STAY)}
AND NOT EXISTS (SELECT 1 FROM review_event WHERE token = NEW.token AND id IS NOT OLD.id)
AND EXISTS (SELECT 1 FROM review_event AS later, json_each(later.settings, '$.events') AS named
    WHERE later.dataset = OLD.dataset AND later.kind = 'erasure' AND later.number > OLD.number
    AND json_extract(named.value, '$.number') = OLD.number))
BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"""
_POSTGRES = f"""BEGIN
IF {_ERASED}
AND ({", ".join(f"NEW.{name}" for name in _STAY)}) IS NOT DISTINCT FROM ({", ".join(f"OLD.{name}" for name in _STAY)})
AND EXISTS (SELECT 1 FROM {{schema}}.review_event AS later
    WHERE later.dataset = OLD.dataset AND later.kind = 'erasure' AND later.number > OLD.number
    AND later.settings::jsonb -> 'events' @> jsonb_build_array(jsonb_build_object('number', OLD.number)))
THEN RETURN NEW; END IF;
RAISE EXCEPTION '{_REFUSED}';
END"""
_GUARD = "review_event_append_only"


def guards(connection: sa.Connection) -> dict[str, str]:
    """Return the guards that this revision replaces, by name; see the first revision that has guards."""
    if connection.dialect.name == "sqlite":
        return {_GUARD: f"CREATE TRIGGER {_GUARD} {_SQLITE}"}
    return {_GUARD: _POSTGRES.format(schema=_schema(connection))}


def upgrade() -> None:
    """Add the hash of the personal half, replace the guard against changes, and bind the existing records."""
    connection = op.get_bind()
    sqlite = connection.dialect.name == "sqlite"
    op.execute(f"DROP TRIGGER {_GUARD}" + ("" if sqlite else " ON review_event"))
    op.add_column("review_event", sa.Column("personal", sa.String(64), nullable=False, server_default="0"))
    if not sqlite:  # SQLite needs no length of texts
        for table, column in (("review_event", "previous"), ("review_event", "hash"), ("review_erasure", "hash")):
            op.alter_column(table, column, type_=sa.String(80))
    _halve(connection)
    if sqlite:
        connection.exec_driver_sql(guards(connection)[_GUARD])
    else:
        schema = _schema(connection)
        connection.exec_driver_sql(
            f"CREATE OR REPLACE FUNCTION {schema}.review_event_erased() RETURNS trigger LANGUAGE plpgsql "
            f"SET search_path = {schema}, pg_temp AS $$ {guards(connection)[_GUARD]} $$".replace("%", "%%")
        )
        connection.exec_driver_sql(
            f"CREATE TRIGGER {_GUARD} BEFORE UPDATE ON {schema}.review_event FOR EACH ROW "
            f"EXECUTE FUNCTION {schema}.review_event_erased()"
        )
    _bind(connection)


def _halve(connection: sa.Connection) -> None:
    rows = connection.execute(sa.text("SELECT * FROM review_event")).mappings().all()
    changes = [{"id": row["id"], "personal": _half(row, _PERSONAL)} for row in rows]
    if changes:
        connection.execute(sa.text("UPDATE review_event SET personal = :personal WHERE id = :id"), changes)


def _bind(connection: sa.Connection) -> None:
    """Add one event after those of each dataset that has an event or a queue."""
    both = "SELECT dataset FROM review_event UNION SELECT dataset FROM review_session ORDER BY dataset"
    table = sa.table("review_event", *(sa.column(name) for name in (*_PERSONAL, *_CONTENT, "personal", "hash")))
    for dataset in connection.execute(sa.text(both)).scalars().all():
        told = {"dataset": dataset}
        query = sa.text("SELECT * FROM review_event WHERE dataset = :dataset ORDER BY number")
        rows = connection.execute(query, told).mappings().all()
        query = sa.text("SELECT number, hash FROM review_erasure WHERE dataset = :dataset ORDER BY number DESC LIMIT 1")
        gone = connection.execute(query, told).mappings().all()
        before = [(row["number"], row["hash"]) for row in (*gone, *rows)]
        number, last = before[-1] if before else (0, _BEGINNING)
        former = [[row["number"], row["hash"], _half(row, _CONTENT), row["personal"]] for row in rows]
        settings = {"former": _digest(former), "head": last, "queues": _queues(connection, dataset)}
        event: dict[str, Any] = dict.fromkeys((*_PERSONAL, *_CONTENT)) | {
            "dataset": dataset, "case_id": "", "kind": "migration", "reviewer": "", "whom": "", "note": "",
            "model": "", "reason": "", "whom_visible": "", "visible": "blind", "at": time.time_ns() // 1000,
            "version": 1 + max((row["version"] for row in rows if not row["case_id"]), default=0),
            "token": uuid.uuid4().hex, "number": number + 1, "previous": last,
            "settings": json.dumps(settings, sort_keys=True),
        }  # fmt: skip
        event["personal"] = _half(event, _PERSONAL)
        event["hash"] = _FORM + hashlib.sha256((_half(event, _CONTENT) + event["personal"]).encode()).hexdigest()
        connection.execute(table.insert().values(event))


def _queues(connection: sa.Connection, dataset: str) -> dict[str, str]:
    query = sa.text("SELECT id, title, at FROM review_session WHERE dataset = :dataset")
    cases = sa.text("SELECT case_id, why FROM review_session_case WHERE session = :session ORDER BY place")
    found = {}
    for one in connection.execute(query, {"dataset": dataset}).all():
        queued = [list(case) for case in connection.execute(cases, {"session": one.id})]
        found[one.id] = _digest([dataset, one.title, one.at, queued])
    return found


def _half(row, names: tuple[str, ...]) -> str:
    values = [
        float(row[name]) + 0.0 if name in _FLOATS and isinstance(row[name], int | float) else row[name]
        for name in names
    ]
    return _digest(values)


def _digest(values: object) -> str:
    return hashlib.sha256(json.dumps(values, separators=(",", ":"), default=repr).encode()).hexdigest()


def _schema(connection: sa.Connection) -> str:
    name = connection.scalar(
        sa.text(
            "SELECT quote_ident(relnamespace::regnamespace::text) FROM pg_class WHERE oid = 'review_event'::regclass"
        )
    )
    return str(name)
