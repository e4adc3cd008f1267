"""Erasure of a person's name, notes and times from the record on request; the hashes do not change.

An event may be changed only after an event of the kind ``erasure`` that names it was added to the chain of its dataset,
and only so that a name becomes a pseudonym, a note empty, a time unknown and the token another one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_REFUSED = "events of reviews are never overwritten, removed or put in between"
_STAY = (
    *("id", "dataset", "case_id", "version", "kind", "at", "session", "visible", "model", "settings", "panel", "old"),
    *("opinion", "confidence", "reason", "whom_visible", "undoes", "number", "previous", "hash"),
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
    """Return the guards that this revision replaces, by name; see the previous revision."""
    if connection.dialect.name == "sqlite":
        return {_GUARD: f"CREATE TRIGGER {_GUARD} {_SQLITE}"}
    return {_GUARD: _POSTGRES.format(schema=_schema(connection))}


def upgrade() -> None:
    """Replace the guard against changes."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"DROP TRIGGER {_GUARD}")
        connection.exec_driver_sql(guards(connection)[_GUARD])
        return
    schema = _schema(connection)
    connection.exec_driver_sql(f"DROP TRIGGER {_GUARD} ON {schema}.review_event")
    connection.exec_driver_sql(
        f"CREATE OR REPLACE FUNCTION {schema}.review_event_erased() RETURNS trigger LANGUAGE plpgsql "
        f"SET search_path = {schema}, pg_temp AS $$ {guards(connection)[_GUARD]} $$".replace("%", "%%")
    )
    connection.exec_driver_sql(
        f"CREATE TRIGGER {_GUARD} BEFORE UPDATE ON {schema}.review_event FOR EACH ROW "
        f"EXECUTE FUNCTION {schema}.review_event_erased()"
    )


def _schema(connection: sa.Connection) -> str:
    name = connection.scalar(
        sa.text(
            "SELECT quote_ident(relnamespace::regnamespace::text) FROM pg_class WHERE oid = 'review_event'::regclass"
        )
    )
    return str(name)
