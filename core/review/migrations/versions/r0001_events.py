"""First schema: sessions, their cases, and events."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "review_session",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("dataset", sa.String(32), nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_review_session_dataset", "review_session", ["dataset"])
    op.create_table(
        "review_session_case",
        sa.Column("session", sa.String(32), sa.ForeignKey("review_session.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
    )
    op.create_table(
        "review_event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("dataset", sa.String(32), nullable=False),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("session", sa.String(32), sa.ForeignKey("review_session.id")),
        sa.Column("visible", sa.String(5), nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("panel", sa.Text),
        sa.Column("old", sa.Text),
        sa.Column("opinion", sa.Text),
        sa.Column("confidence", sa.Float),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("reason", sa.String(30), nullable=False),
        sa.Column("whom", sa.Text, nullable=False),
        sa.Column("whom_visible", sa.String(5), nullable=False),
        sa.Column("undoes", sa.Integer),
        sa.UniqueConstraint("dataset", "case_id", "version", name="one_event_per_version"),
        sa.UniqueConstraint("token", name="one_event_per_token"),
        sa.CheckConstraint("version >= 1", name="versions_from_one"),
    )
