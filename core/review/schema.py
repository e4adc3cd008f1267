"""Tables of the reviews, as they are after all migrations."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()
_HASH = String(80).with_variant(
    String(64), "sqlite"
)  # SQLite has no length of texts, so these are its columns as they were made

sessions = Table(
    "review_session",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("dataset", String(32), nullable=False, index=True),
    Column("reviewer", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

session_cases = Table(
    "review_session_case",
    metadata,
    Column("session", String(32), ForeignKey("review_session.id", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("case_id", Text, nullable=False),
    Column("why", Text, nullable=False),
)

events = Table(
    "review_event",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("dataset", String(32), nullable=False),
    Column("case_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("token", String(64), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("session", String(32), ForeignKey("review_session.id")),
    Column("visible", String(5), nullable=False),
    Column("model", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("panel", Text),
    Column("old", Text),
    Column("opinion", Text),
    Column("confidence", Float),
    Column("note", Text, nullable=False),
    Column("reason", String(30), nullable=False),
    Column("whom", Text, nullable=False),
    Column("whom_visible", String(5), nullable=False),
    Column("undoes", Integer),
    Column("seconds", Float),
    Column("number", Integer, nullable=False, server_default="0"),
    Column("previous", _HASH, nullable=False, server_default="0"),
    Column("hash", _HASH, nullable=False, server_default="0"),
    Column("personal", String(64), nullable=False, server_default="0"),
    UniqueConstraint("dataset", "case_id", "version", name="one_event_per_version"),
    UniqueConstraint("token", name="one_event_per_token"),
    CheckConstraint("version >= 1", name="versions_from_one"),
)
Index("events_of_session", events.c.session)
Index("one_event_per_number", events.c.dataset, events.c.number, unique=True)

erasures = Table(
    "review_erasure",
    metadata,
    Column("dataset", String(32), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("hash", _HASH, nullable=False),
    Column("at", BigInteger, nullable=False),
)
