"""Record as a chain: each event contains the hash of the one before it, and the database refuses every other change.

An event can be erased only with all others of its dataset, after their number and last hash were written to
``review_erasure``, from which nothing is removed. Existing events are chained in the order in which they were recorded.
"""

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_BEGINNING = "0" * 64
_HASHED = (
    *("dataset", "number", "previous", "case_id", "version", "token", "kind", "reviewer", "at", "session", "visible"),
    *("model", "settings", "panel", "old", "opinion", "confidence", "note", "reason", "whom", "whom_visible", "undoes"),
    "seconds",
)
_REFUSED = "events of reviews are never overwritten, removed or put in between"

_SQLITE = {
    "review_event_append_only": f"""BEFORE UPDATE ON review_event
BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END""",
    "review_event_kept": f"""BEFORE DELETE ON review_event
WHEN NOT EXISTS (SELECT 1 FROM review_erasure WHERE dataset = OLD.dataset AND number >= OLD.number)
BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END""",
    # Every unique key is checked, because triggers of deletion do not fire for rows that REPLACE removes.
    "review_event_in_turn": f"""BEFORE INSERT ON review_event
WHEN EXISTS (SELECT 1 FROM review_event WHERE id = NEW.id)
OR EXISTS (SELECT 1 FROM review_event WHERE token = NEW.token)
OR EXISTS (SELECT 1 FROM review_event WHERE dataset = NEW.dataset AND case_id = NEW.case_id AND version = NEW.version)
OR NEW.number IS NOT 1 + MAX(
    COALESCE((SELECT MAX(number) FROM review_event WHERE dataset = NEW.dataset), 0),
    COALESCE((SELECT MAX(number) FROM review_erasure WHERE dataset = NEW.dataset), 0))
OR NEW.previous IS NOT COALESCE(
    (SELECT hash FROM review_event WHERE dataset = NEW.dataset AND number = NEW.number - 1),
    (SELECT hash FROM review_erasure WHERE dataset = NEW.dataset AND number = NEW.number - 1),
    '{_BEGINNING}')
BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END""",
    "review_erasure_append_only": f"""BEFORE UPDATE ON review_erasure
BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END""",
    "review_erasure_kept": f"""BEFORE DELETE ON review_erasure
BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END""",
    "review_erasure_whole": f"""BEFORE INSERT ON review_erasure
WHEN EXISTS (SELECT 1 FROM review_erasure WHERE dataset = NEW.dataset AND number = NEW.number)
OR NEW.number IS NOT (SELECT MAX(number) FROM review_event WHERE dataset = NEW.dataset)
OR NEW.hash IS NOT (SELECT hash FROM review_event WHERE dataset = NEW.dataset AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END""",
}
# Tables are named with their schema; otherwise a temporary table of the same name would be used instead.
_POSTGRES = {
    "review_event_refuse": "BEGIN RAISE EXCEPTION '{refused}'; END",
    "review_event_in_turn": """DECLARE erased record; last record;
BEGIN
SELECT number, hash INTO last FROM {schema}.review_event WHERE dataset = NEW.dataset ORDER BY number DESC LIMIT 1;
SELECT number, hash INTO erased FROM {schema}.review_erasure WHERE dataset = NEW.dataset ORDER BY number DESC LIMIT 1;
IF COALESCE(erased.number, 0) > COALESCE(last.number, 0) THEN last := erased; END IF;
IF NEW.number IS DISTINCT FROM 1 + COALESCE(last.number, 0)
OR NEW.previous IS DISTINCT FROM COALESCE(last.hash, '{beginning}')
THEN RAISE unique_violation USING MESSAGE = '{refused}'; END IF;
RETURN NEW;
END""",
    "review_event_kept": """BEGIN
IF NOT EXISTS (SELECT 1 FROM {schema}.review_erasure WHERE dataset = OLD.dataset AND number >= OLD.number)
THEN RAISE EXCEPTION '{refused}'; END IF;
RETURN OLD;
END""",
    "review_erasure_whole": """DECLARE last record;
BEGIN
SELECT number, hash INTO last FROM {schema}.review_event WHERE dataset = NEW.dataset ORDER BY number DESC LIMIT 1;
IF NEW.number IS DISTINCT FROM last.number OR NEW.hash IS DISTINCT FROM last.hash
THEN RAISE EXCEPTION '{refused}'; END IF;
RETURN NEW;
END""",
}
_POSTGRES_TRIGGERS = {
    "review_event_append_only": "BEFORE UPDATE ON {schema}.review_event FOR EACH ROW|review_event_refuse",
    "review_event_kept": "BEFORE DELETE ON {schema}.review_event FOR EACH ROW|review_event_kept",
    "review_event_in_turn": "BEFORE INSERT ON {schema}.review_event FOR EACH ROW|review_event_in_turn",
    "review_event_whole": "BEFORE TRUNCATE ON {schema}.review_event FOR EACH STATEMENT|review_event_refuse",
    "review_erasure_append_only": "BEFORE UPDATE OR DELETE ON {schema}.review_erasure FOR EACH ROW|review_event_refuse",
    "review_erasure_kept": "BEFORE TRUNCATE ON {schema}.review_erasure FOR EACH STATEMENT|review_event_refuse",
    "review_erasure_whole": "BEFORE INSERT ON {schema}.review_erasure FOR EACH ROW|review_erasure_whole",
}


def guards(connection: sa.Connection) -> dict[str, str]:
    """Return each guard of the record as it should be, by name: the trigger on SQLite, its function on Postgres."""
    if connection.dialect.name == "sqlite":
        return {name: f"CREATE TRIGGER {name} {text}" for name, text in _SQLITE.items()}
    schema = _schema(connection)
    return {name: _function(text.partition("|")[2], schema).strip() for name, text in _POSTGRES_TRIGGERS.items()}


def upgrade() -> None:
    """Add to the second schema, and chain the existing records."""
    connection = op.get_bind()
    sqlite = connection.dialect.name == "sqlite"
    op.create_table(
        "review_erasure",
        sa.Column("dataset", sa.String(32), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.execute("DROP TRIGGER review_event_append_only" + ("" if sqlite else " ON review_event"))
    for name, kind in (("number", sa.Integer), ("previous", sa.String(64)), ("hash", sa.String(64))):
        op.add_column("review_event", sa.Column(name, kind, nullable=False, server_default="0"))
    _chain(connection)
    op.create_index("one_event_per_number", "review_event", ["dataset", "number"], unique=True)
    for statement in _statements(connection):
        connection.exec_driver_sql(statement)


def _statements(connection: sa.Connection) -> list[str]:
    if connection.dialect.name == "sqlite":
        return list(guards(connection).values())
    schema = _schema(connection)
    made = [
        f"CREATE OR REPLACE FUNCTION {schema}.{name}() RETURNS trigger LANGUAGE plpgsql "
        f"SET search_path = {schema}, pg_temp AS $$ {_function(name, schema)} $$"
        for name in _POSTGRES
    ]
    for name, text in _POSTGRES_TRIGGERS.items():
        when, _, function = text.partition("|")
        made.append(f"CREATE TRIGGER {name} {when.format(schema=schema)} EXECUTE FUNCTION {schema}.{function}()")
    return made


def _schema(connection: sa.Connection) -> str:
    name = connection.scalar(
        sa.text(
            "SELECT quote_ident(relnamespace::regnamespace::text) FROM pg_class WHERE oid = 'review_event'::regclass"
        )
    )
    return str(name)


def _function(name: str, schema: str) -> str:
    return _POSTGRES[name].format(schema=schema, refused=_REFUSED, beginning=_BEGINNING)


def _chain(connection: sa.Connection) -> None:
    rows = connection.execute(sa.text("SELECT * FROM review_event ORDER BY id")).mappings().all()
    last: dict[str, tuple[int, str]] = {}
    change = sa.text("UPDATE review_event SET number = :number, previous = :previous, hash = :hash WHERE id = :id")
    for row in rows:
        number, previous = last.get(row["dataset"], (0, _BEGINNING))
        told = {**row, "number": number + 1, "previous": previous}
        last[row["dataset"]] = number + 1, _hash(told)
        connection.execute(change, {"number": number + 1, "previous": previous, "hash": _hash(told), "id": row["id"]})


def _hash(row: dict) -> str:
    values = [row[name] + 0.0 if isinstance(row[name], float) else row[name] for name in _HASHED]
    return hashlib.sha256(json.dumps(values, separators=(",", ":"), default=repr).encode()).hexdigest()
