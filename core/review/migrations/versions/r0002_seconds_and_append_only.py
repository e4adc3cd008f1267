"""Time on a case, an index for the progress of a session, and database guards against overwriting events."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_SQLITE = """CREATE TRIGGER review_event_append_only BEFORE UPDATE ON review_event
BEGIN SELECT RAISE(ABORT, 'events of reviews are never overwritten'); END"""
_POSTGRES = (
    """CREATE FUNCTION review_event_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'events of reviews are never overwritten'; END $$""",
    """CREATE TRIGGER review_event_append_only BEFORE UPDATE ON review_event
FOR EACH ROW EXECUTE FUNCTION review_event_refuse()""",
)


def upgrade() -> None:
    """Add to the first schema; records do not change."""
    op.add_column("review_event", sa.Column("seconds", sa.Float))
    op.create_index("events_of_session", "review_event", ["session"])
    for statement in (_SQLITE,) if op.get_bind().dialect.name == "sqlite" else _POSTGRES:
        op.execute(statement)
