"""Stores of reviews: SQLite always, Postgres where a server can be started."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.annotations.dataset import Dataset
from core.review.database import parse_url
from core.review.events import Draft
from core.review.rules import admit
from core.review.states import CaseReview, review_of
from core.review.store import ReviewStore, close_stores

EMPTY = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres' AND pid <> pg_backend_pid()",
    "SET default_transaction_read_only = off",
    "ALTER DATABASE postgres RESET ALL",
    "DROP SCHEMA public CASCADE",
    "CREATE SCHEMA public",
)
BINARIES = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]


class Server:
    """A Postgres server of the tests' own, on a socket in its folder."""

    def __init__(self, binaries: Path, *, fsync: bool = False):
        self.binaries, self.fsync = binaries, "on" if fsync else "off"
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self.rights = {}
        if os.name == "posix" and os.getuid() == 0:  # Postgres refuses to run as root
            shutil.chown(self.folder, "nobody")
            self.rights = {"user": "nobody", "extra_groups": []}
        self.run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        self.start()

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.binaries / program, *arguments],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            **self.rights,
        )
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c max_connections=60 -c fsync={self.fsync}"
        self.run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self, mode: str) -> None:
        """Mode "immediate" leaves the data as a crash would."""
        self.run("pg_ctl", "-D", "data", "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """Kill it at once, with SIGKILL: all that serve a connection end by themselves."""
        process = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(process, signal.SIGKILL)

    def remove(self) -> None:
        """End it, with all that it holds."""
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def new_database(self) -> str:
        """The address of the one database, emptied; a new one for each test would take a second each."""
        url = f"postgresql://postgres@/postgres?host={self.folder}"
        engine = sa.create_engine(parse_url(url), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            for statement in EMPTY:
                connection.exec_driver_sql(statement)
        engine.dispose()
        return url


@pytest.fixture(scope="session")
def server():
    pytest.importorskip("psycopg", reason="Postgres: the driver psycopg is not installed")
    found = shutil.which("initdb")
    binaries = Path(found).resolve().parent if found else next(iter(BINARIES), None)
    if binaries is None:
        missing = "Postgres: neither initdb in PATH nor /usr/lib/postgresql is there"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    server = Server(binaries)
    yield server
    server.remove()


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path / 'reviews.sqlite3'}"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request):
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite_url")
    return request.getfixturevalue("server").new_database()


@pytest.fixture
def open_at():
    """Opens stores and closes them in the end."""
    stores = []

    def make(url, **options):
        stores.append(ReviewStore(url, **options))
        return stores[-1]

    yield make
    for store in stores:
        store.close()
    close_stores()


@pytest.fixture
def store(url, open_at):
    return open_at(url)


@pytest.fixture
def dataset():
    """Six cases of three classes; the raters agree on some."""
    rows = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1), (2, 0, 2), (3, 0, 1), (3, 1, 1), (4, 0, 2), (5, 1, 0)]
    cases, raters, answers = zip(*rows, strict=True)
    names = [f"case {number}" for number in range(6)]
    return Dataset.from_classes("small", names, ["ann", "bob"], ["x", "y", "z"], cases, raters, answers)


@pytest.fixture
def ranked():
    """Three cases of rankings; on the second the raters share one of two tied first choices."""
    return Dataset.from_rankings(
        "ranked",
        ["case 0", "case 1", "case 2"],
        ["ann", "bob"],
        ["x", "y", "z"],
        [0, 0, 1, 1, 2],
        [0, 1, 0, 1, 0],
        [0, 2, 3, 5, 6, 7],
        [0, 2, 1, 0, 1, 1, 2],
        [0.0, 1, 0, 0, 0, 0, 0],
    )


class Reviews:
    """Reviews of a dataset without a database."""

    def __init__(self, dataset):
        self.dataset = dataset
        self.found = {}

    def do(self, case_id, reviewer, kind, opinion=None, *, at=0, **said):
        """One event."""
        draft = Draft(
            dataset=self.dataset.digest, case_id=case_id, kind=kind, reviewer=reviewer, opinion=opinion, **said
        )
        review = self.found.get(case_id, CaseReview(case_id))
        self.found[case_id] = review_of(case_id, [*review.events, admit(review, draft, at)])

    def read(self, case_id, reviewer, opinion, panel, end="keep", **said):
        """A blind read through to its end; ``end`` may be the opinion that it is changed to."""
        self.do(case_id, reviewer, "opinion", opinion, seconds=10.0)
        self.do(case_id, reviewer, "reveal", panel=panel, model="dirichlet", settings={"reliability": 1.0})
        if end == "keep":
            self.do(case_id, reviewer, "keep", seconds=5.0, **said)
        else:
            self.do(case_id, reviewer, "change", end, seconds=20.0, **{"reason": "rater_error"} | said)


@pytest.fixture
def reviews_of():
    return Reviews
