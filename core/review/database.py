"""Database of the reviews: a SQLite file or Postgres, upgraded to the newest schema at first use.

SQLite: write-ahead log, foreign keys on, every commit synced to the disk before it is acknowledged. A write takes its
lock at the start, so that two writers wait for each other and neither fails halfway.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError

from ..errors import InputError
from ..runtime.files import private
from ..settings import current_settings
from .review_errors import StoreError, Trouble
from .schema import metadata

PATIENCE = 5.0  # seconds that a write waits for another
_MIGRATIONS = Path(__file__).parent / "migrations"
_GUARDS = ("0003", "0004", "0005")  # the revisions that define the triggers; later ones replace earlier ones
_RIGHTS = (
    "SELECT ON review_event, review_erasure, review_session, review_session_case, alembic_version",
    "INSERT ON review_event, review_erasure, review_session, review_session_case",
    "DELETE ON review_event, review_session, review_session_case",  # the triggers allow deletion of erased events only
    "SELECT, USAGE ON SEQUENCE review_event_id_seq",
)
_LOCK = 0x506C7572  # advisory lock of the migration, in Postgres
_MOST_FAULTS = 20  # number of faults of the file that are listed
_opened: WeakKeyDictionary[sa.Engine, tuple] = WeakKeyDictionary()  # the file or database of each engine
_sizes: WeakKeyDictionary[sa.Engine, int] = WeakKeyDictionary()  # bytes of the file at its opening; it never shrinks


def store_url() -> sa.URL:
    """Return the address of the reviews: ``PLURALITY_DATABASE_URL``, else a file in the home folder.

    Raises
    ------
    InputError
        The variable is not the address of a SQLite file or of Postgres.
    """
    settings = current_settings()
    if not settings.database_url:
        return sa.URL.create("sqlite", database=str(settings.home / "reviews.sqlite3"))
    return parse_url(settings.database_url)


def owner_url() -> sa.URL:
    """Return the address of the tables' owner: ``PLURALITY_DATABASE_OWNER_URL``, else that of `store_url`."""
    settings = current_settings()
    return parse_url(settings.database_owner_url) if settings.database_owner_url else store_url()


def parse_url(text: str) -> sa.URL:
    """Return a text as the address of a SQLite file or of Postgres; see `store_url`."""
    remedy = "Set PLURALITY_DATABASE_URL to postgresql://user:password@host/name or to sqlite:///file."
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("Could not read the address of the review database.", remedy) from None
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:"):
        return url.set(drivername="sqlite")
    raise InputError(f"Could not use {url.get_backend_name()} as the review database.", remedy)


def open_database(url: sa.URL, patience: float = PATIENCE) -> sa.Engine:
    """Return an engine on the newest schema; make the folder, the file and the tables if missing.

    Raises
    ------
    StoreError
        The database cannot be reached, written or upgraded to the newest schema.
    """
    engine = connect(url, patience)
    try:
        upgrade(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def has_record(url: sa.URL, patience: float = PATIENCE) -> bool:
    """Return whether there is a database of reviews at that address; make none.

    Raises
    ------
    StoreError
        The database cannot be reached or read.
    """
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        return False
    engine = connect(url, patience)
    try:
        with transaction(engine) as connection:
            return MigrationContext.configure(connection).get_current_revision() is not None
    finally:
        engine.dispose()


def upgrade(engine: sa.Engine, to: str = "head") -> None:
    """Upgrade the schema to a revision, the newest by default, in one transaction; records do not change."""
    script = ScriptDirectory(str(_MIGRATIONS))
    with transaction(engine) as connection:
        if MigrationContext.configure(connection).get_current_revision() == script.get_current_head():
            return
    try:
        _upgrade(engine, script, to)
    except StoreError as error:
        if error.trouble != "read-only" or engine.dialect.name == "sqlite":
            raise
        raise StoreError(
            "older",
            "Could not use the review database: it lacks tables that this version needs, and the database role is not "
            "allowed to create them. Set PLURALITY_DATABASE_OWNER_URL to an address with the role that owns the "
            "tables, then run the upgrade command.",
        ) from None


def _upgrade(engine: sa.Engine, script: ScriptDirectory, to: str) -> None:
    with transaction(engine, writes=True) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        context = MigrationContext.configure(connection)
        now = context.get_current_revision()
        try:
            steps = list(script.walk_revisions(now or "base", to))[::-1]
        except (CommandError, ResolutionError):
            raise StoreError(
                "newer", "Could not use the review database: it is from a later version of Plurality. Update Plurality."
            ) from None
        with Operations.context(context):
            for step in steps:
                if step.revision != now:
                    step.module.upgrade()
                    context.stamp(script, step.revision)


def grant(engine: sa.Engine, role: str) -> None:
    """Let a role of Postgres that does not own the tables record, read and erase, but nothing else."""
    with transaction(engine, writes=True) as connection:
        quoted = engine.dialect.identifier_preparer.quote_identifier(role)
        for rights in _RIGHTS:
            connection.exec_driver_sql(f"GRANT {rights} TO {quoted}")


def owns_tables(connection: sa.Connection) -> bool:
    """Return whether the connected role owns the tables, and so could change their guards; always true on SQLite."""
    if connection.dialect.name == "sqlite":
        return True
    query = """SELECT pg_has_role(current_user, relowner, 'MEMBER') FROM pg_class
    WHERE oid = 'review_event'::regclass"""
    return bool(connection.exec_driver_sql(query).scalar())


def guards(connection: sa.Connection) -> dict[str, str]:
    """Return each guard of the record as it should be, by name: the trigger on SQLite, its function on Postgres."""
    script = ScriptDirectory(str(_MIGRATIONS))
    found: dict[str, str] = {}
    for revision in _GUARDS:
        found |= script.get_revision(revision).module.guards(connection)
    return found


def broken_guards(connection: sa.Connection) -> list[str]:
    """List missing or changed triggers by which the database refuses to change the record, in words."""
    wanted = guards(connection)
    if connection.dialect.name == "sqlite":
        query = "SELECT name, sql, 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name LIKE 'review^_%' ESCAPE '^'"
    else:
        query = """SELECT tgname, prosrc, CASE WHEN tgenabled IN ('O', 'A') THEN 1 ELSE 0 END FROM pg_trigger
        JOIN pg_proc ON pg_proc.oid = tgfoid
        WHERE tgrelid IN ('review_event'::regclass, 'review_erasure'::regclass) AND NOT tgisinternal"""
    there = {name: (text.strip(), on) for name, text, on in connection.exec_driver_sql(query)}
    return [
        f"the protective trigger {name} is missing, disabled or changed, so protected data may have been changed"
        for name, text in wanted.items()
        if there.get(name) != (text.strip(), 1)
    ] + [
        f"the trigger {name} in the database was not created by Plurality and may change what is recorded"
        for name in there
        if name not in wanted
    ]


@contextmanager
def transaction(engine: sa.Engine, *, writes: bool = False) -> Iterator[sa.Connection]:
    """Run one transaction, committed at the end of the block; the caller has to explain violated rules of the tables.

    Raises
    ------
    StoreError
        The database failed, and nothing of the block is saved; or its file was moved or replaced since it was opened.
    """
    try:
        with engine.connect().execution_options(writes=writes) as connection, connection.begin():
            _check_same_file(engine, connection, writes)
            yield connection
            if writes:  # a write to a file that was moved meanwhile is not acknowledged
                _check_same_file(engine, connection, writes)
        if writes:
            _check_same_file(engine)
    except sa.exc.IntegrityError:
        raise
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        raise store_error(error, engine.url) from error


def _check_same_file(engine: sa.Engine, connection: sa.Connection | None = None, writes: bool = False) -> None:
    """Refuse to continue if the address leads to another file than at the opening; SQLite keeps writing to the old.

    Also if the file is shorter than at the opening: an empty or older one was written over it.

    The same for its log and its index, which a connection has open since its first write: what is committed is in the
    log alone at first, and is lost with it.
    """
    if engine.dialect.name != "sqlite":
        return
    if connection is not None:
        log = tuple(_file_identity(engine.url, end) for end in ("-wal", "-shm"))
        at_first = connection.info.setdefault("log", log) if writes and None not in log else connection.info.get("log")
        if at_first not in (None, log):
            _opened[engine] = ()  # for every connection: none may begin another log next to the one in use
    if _file_identity(engine.url, least=_sizes.get(engine, 0)) != _opened.get(engine):
        raise _moved(engine.url)


def _file_identity(url: sa.URL, end: str = "", least: int = 0) -> tuple[int, int] | None:
    """Return device and inode of a file; None if there is none, or it has fewer bytes than expected."""
    try:
        found = os.stat(f"{url.database}{end}")
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_size >= least else None


def _check_same_server(engine: sa.Engine, connection) -> None:
    """Refuse a new connection to another Postgres, or to another database of it, than the first connection."""
    try:
        query = "SELECT system_identifier FROM pg_control_system()"
        found: tuple = (connection.execute(query).fetchone()[0],)
    except Exception:  # some providers do not allow this query
        found = ()
    finally:
        connection.rollback()
    found += (connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()[0],)
    connection.rollback()
    if _opened.setdefault(engine, found) != found:
        raise _moved(engine.url)


def _moved(url: sa.URL) -> StoreError:
    return StoreError("moved", f"{_WORDS['moved'].format(where=_shown(url))} {_NOTHING_LOST}")


def database_faults(connection: sa.Connection) -> tuple[list[str], str]:
    """Check the database itself, below the record.

    Returns
    -------
    list of str
        Faults, in words.
    str
        Means of the check; empty if Postgres has none.
    """
    if connection.dialect.name == "sqlite":
        found = connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST_FAULTS})").scalars().all()
        faults = [f"the database file is damaged: {' '.join(words.split())}" for words in found if words != "ok"]
        rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        faults += [f"row {row[1]} of the table {row[0]} refers to a missing row of {row[2]}" for row in rows]
        return faults, "integrity_check, foreign_key_check"
    query = "SELECT quote_ident(extnamespace::regnamespace::text) FROM pg_extension WHERE extname = 'amcheck'"
    schema = connection.exec_driver_sql(query).scalar()
    return ([], "") if schema is None else _amcheck(connection, schema)


def _amcheck(connection: sa.Connection, schema: str) -> tuple[list[str], str]:
    faults = []
    tables = [f"'{name}'::regclass" for name in metadata.tables]
    indexes = f"""SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    JOIN pg_am ON pg_am.oid = relam WHERE amname = 'btree' AND indrelid IN ({", ".join(tables)})"""
    names = connection.exec_driver_sql(indexes).scalars().all()
    asked = [(name, f"SELECT {schema}.bt_index_check('{name}', true)") for name in names]
    asked += [(name, f"SELECT msg FROM {schema}.verify_heapam('{name}')") for name in metadata.tables]
    for name, statement in asked:
        try:
            with connection.begin_nested():
                found = [words for words in connection.exec_driver_sql(statement).scalars() if words]
        except sa.exc.DBAPIError as error:
            if getattr(error.orig, "sqlstate", "") == "42501":
                return [], ""  # this role may not check
            found = [str(error.orig)]
        faults += [f"{name} is damaged: {' '.join(words.split())}" for words in found]
    return faults[:_MOST_FAULTS], "amcheck"


def _shown(url: sa.URL) -> str:
    return str(url.database) if url.get_backend_name() == "sqlite" else f"{url.host or 'this computer'}/{url.database}"


def store_error(error: Exception, url: sa.URL) -> StoreError:
    """Return a database error in words, without the password."""
    cause = getattr(error, "orig", None) or error
    sqlite_code = getattr(cause, "sqlite_errorcode", None)
    state = getattr(cause, "sqlstate", None)
    trouble: Trouble
    if isinstance(error, sa.exc.TimeoutError) or state in ("55P03", "57014", "40P01", "40001"):
        trouble = "locked"
    elif isinstance(cause, sqlite3.Error):
        trouble = _SQLITE_TROUBLE.get((sqlite_code or 0) & 0xFF, "other")
    elif state is None:
        trouble = "unreachable" if isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError) else "other"
    else:
        trouble = _POSTGRES_TROUBLE.get(state) or _POSTGRES_TROUBLE.get(state[:2], "other")
    said = _WORDS[trouble].format(where=_shown(url))
    if trouble == "other":
        said += f" ({type(cause).__name__}: {' '.join(str(cause).split())[:200]})."
    return StoreError(trouble, f"{said} {_NOTHING_LOST}")


_SQLITE_TROUBLE: dict[int, Trouble] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_IOERR: "full",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_PERM: "read-only",
    sqlite3.SQLITE_CANTOPEN: "unreachable",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
}
_POSTGRES_TROUBLE: dict[str, Trouble] = {
    "53100": "full",
    "53": "unreachable",
    "25006": "read-only",
    "42501": "read-only",
    "08": "unreachable",
    "57": "unreachable",
    "28": "unreachable",
    "3D": "unreachable",
    "58": "full",
    "XX": "damaged",
}
_NOTHING_LOST = "Your last action was not saved. You can safely repeat it."
_WORDS = {
    "locked": "The review database ({where}) is locked by another program.",
    "full": "Could not write to the review database ({where}): the disk is full or failing. Free up disk space.",
    "read-only": "Could not write to the review database ({where}): it is read-only. Make it writable for the user who "
    "runs Plurality.",
    "unreachable": "Could not reach the review database ({where}). Check that it exists and is running.",
    "damaged": "Could not read the review database ({where}): it is damaged or not a database. Restore a backup.",
    "moved": "Could not use the review database ({where}): it was moved or replaced while in use. Move it back, "
    "or restart Plurality.",
    "other": "The review database ({where}) failed",
}


def empty_log(engine: sa.Engine) -> None:
    """Write the pages of SQLite's log to the file and truncate the log, so that erased data are gone from the disk."""
    if engine.dialect.name == "sqlite":
        with (
            engine.connect() as connection,
            suppress(sqlite3.Error),
        ):  # a connection still reads the log, so it is emptied next time
            driver = connection.connection.driver_connection
            if driver is not None:
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def connect(url: sa.URL, patience: float = PATIENCE) -> sa.Engine:
    """Return an engine for this store, on the schema that is there."""
    if url.get_backend_name() == "sqlite" and url.database is not None:
        try:
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
            if not Path(url.database).exists():
                open(url.database, "ab", opener=private).close()  # its log and its index get the mode of the file
            size = Path(url.database).stat().st_size
        except OSError as error:
            raise StoreError(
                "unreachable",
                f"Could not create the folder {Path(url.database).parent}: {error.strerror}. Set PLURALITY_HOME to "
                "a writable folder.",
            ) from None
        # Without an isolation level, `_begin_sqlite` starts transactions instead of the driver.
        engine = sa.create_engine(
            url, connect_args={"timeout": patience, "isolation_level": None}, pool_timeout=patience
        )
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        _opened[engine] = _file_identity(url) or ()
        _sizes[engine] = size
        return engine
    options = f"-c synchronous_commit=on -c lock_timeout={int(1000 * patience)}"
    try:
        engine = sa.create_engine(
            url,
            connect_args={"connect_timeout": max(2, round(patience)), "options": options},
            pool_pre_ping=True,
            pool_timeout=patience,
        )
        sa.event.listen(engine, "connect", lambda connection, record: _check_same_server(engine, connection))
        return engine
    except ModuleNotFoundError:
        raise StoreError(
            "unreachable",
            "Could not use Postgres: the package psycopg is not installed. Run pip install 'psycopg[binary]', then "
            "restart Plurality.",
        ) from None


def _prepare_sqlite(connection, record) -> None:
    for pragma in ("foreign_keys=ON", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            # Another process is just switching, or the switch is not possible: without it, commits are safe but slower.
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY):
                raise


def _begin_sqlite(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")
