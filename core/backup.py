"""Backup file with everything that this installation stores: reviews, datasets, their settings, and results.

The reviews are copied by the database's own tools, because a copy of the file of a running SQLite database lacks what
is still in its log: its backup on SQLite, pg_dump on Postgres. Images in the folder PLURALITY_IMAGES are not included.
"""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO

import sqlalchemy as sa

from .errors import InputError
from .review.chain import RecordCheck
from .review.database import grant, has_record, open_database, owner_url, store_url
from .review.store import ReviewStore, close_stores, open_store, there_is_a_store
from .runtime.files import discard, draft_name, is_draft, put_in_place
from .runtime.locks import unheld_home
from .settings import current_settings
from .version import __version__

FORMAT = "plurality backup 1"
_LIST = "backup.json"
_RECORD = {"sqlite": "reviews.sqlite3", "postgresql": "reviews.pgdump"}
_HOME = "home/"
BESIDE = "from_backup"  # folder of the home folder for restored files from other places
_CHUNK = 1 << 20
ENCRYPTED = ".age"  # end of the name of an encrypted backup
_AGE_HEADER = b"age-encryption.org/v1"
_BROKEN = (KeyError, ValueError, TypeError, RuntimeError, EOFError, struct.error, zlib.error, zipfile.BadZipFile)


@dataclass(frozen=True, slots=True)
class Backup:
    """Content of a backup.

    Attributes
    ----------
    n_files, n_bytes : int
        Numbers of files and bytes of the home folder; the reviews are one more file.
    datasets : tuple of str
        Digests of saved datasets.
    record : RecordCheck or None
        Result of the check of the reviews when the backup was made or restored; None without reviews.
    """

    n_files: int
    n_bytes: int
    datasets: tuple[str, ...]
    record: RecordCheck | None


def back_up(out: Path, recipient: str = "") -> Backup:
    """Write a backup while the server runs.

    Parameters
    ----------
    out : Path
        File, which must not exist; it appears whole or not at all, and only its owner may read it.
    recipient : str
        Public key of age, ``age1…``: only its private key can decrypt the backup, and nothing of it is on the disk
        unencrypted. Not encrypted if empty.

    Raises
    ------
    InputError
        The file exists, or cannot be written, or age or a tool of Postgres is missing, or the key is not valid.
    StoreError
        The reviews cannot be read.
    """
    if out.exists():
        raise InputError(f"Could not write the backup: {out} already exists.", "Choose another file name.")
    store = open_store() if there_is_a_store() else None
    check = None if store is None else store.check()
    draft = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            with (
                _encrypted(file, recipient) if recipient else nullcontext(file) as target,
                zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            ):
                told = _write(archive, store, check)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(draft, out)
    except OSError as error:
        raise InputError(f"Could not write {out}: {error.strerror or error}.", "Choose another place.") from None
    finally:
        draft.unlink(missing_ok=True)
    files = told["files"]
    return Backup(len(files), sum(size for _, size in files.values()), _datasets(files), check)


def expire_backups(folder: Path, keep: int, days: int) -> list[Path]:
    """Remove backups that are neither among the newest nor recent; return their paths.

    Parameters
    ----------
    folder : Path
    keep : int
        Number of newest backups to keep, however old they are.
    days : int
        Age in days below which backups are kept, however many there are.

    Raises
    ------
    InputError
        A number is below one, or a file cannot be removed.
    """
    if min(keep, days) < 1:
        raise InputError(
            f"The number of backups and the number of days to keep them must be at least 1; got {keep} and {days}.",
            "Use 1 or more.",
        )
    known = sorted(
        [*folder.glob("*.backup"), *folder.glob(f"*.backup{ENCRYPTED}")],
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    )
    since = datetime.now(UTC).timestamp() - 86_400 * days
    old = [path for path in known[keep:] if path.stat().st_mtime < since]
    for path in old:
        if not discard(path):
            raise InputError(
                f"Could not remove {path}.",
                "Give the user that runs this command write access to the folder of the backup.",
            )
    return old


def restore(file: Path, identity: Path | None = None) -> Backup:
    """Restore a backup into an empty home folder and a database without reviews.

    Parameters
    ----------
    file : Path
    identity : Path, optional
        File with the private key of age, for an encrypted backup.

    Raises
    ------
    InputError
        The file is not a backup, or is damaged or encrypted for another key, a server uses the home folder, or there
        are data that it would replace; nothing was written then.
    StoreError
        The database cannot be written.
    """
    home, url = current_settings().home, store_url()
    if any(not is_draft(path) for path in _entries(home)):
        raise InputError(
            f"Could not restore the backup: the folder {home} is not empty.",
            "Move the folder, or set PLURALITY_HOME to a different one.",
        )
    if has_record(owner_url()):
        raise InputError(
            "Could not restore the backup: the database already contains reviews.", "Use an empty database."
        )
    was_there, place = home.exists(), home / draft_name("keeping")  # this user may not write the parent folder
    try:
        place.mkdir(parents=True)
        with unheld_home():
            told = _unpacked(_decrypted(file, identity, place), place)
            kind = told["record"]
            if kind is not None and kind != url.get_backend_name():
                raise InputError(
                    f"Could not restore the backup: it contains reviews from a {kind} database, but this database is "
                    "of a different kind.",
                    f"Set PLURALITY_DATABASE_URL to a {kind} database.",
                )
            (place / "home").mkdir(exist_ok=True)
            for path in sorted((place / "home").iterdir()):
                shutil.move(path, home / path.name)
            check = None if kind is None else _put_back(place / _RECORD[kind], url, told["heads"])
    except OSError as error:
        raise InputError(
            f"Could not write {home}: {error.strerror or error}.",
            "Free up disk space, or check the permissions of the folder.",
        ) from None
    finally:
        shutil.rmtree(place, ignore_errors=True)
        if not was_there:
            with suppress(OSError):  # nothing was restored, and nothing is left
                home.rmdir()
    files = told["files"]
    return Backup(len(files), sum(size for _, size in files.values()), _datasets(files), check)


def _write(archive: zipfile.ZipFile, store: ReviewStore | None, check: RecordCheck | None) -> dict:
    home = current_settings().home
    kind = None
    if store is not None:
        kind = store.engine.dialect.name
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / _RECORD[kind]
            (_copy_sqlite if kind == "sqlite" else _dump_postgres)(store_url(), copy)
            of_record = _add(archive, copy, _RECORD[kind])
    files: dict[str, tuple[str, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in _beside(Path(folder)):
            files[f"{BESIDE}/{path.name}"] = _add(archive, path, f"{_HOME}{BESIDE}/{path.name}")
    for path in _kept_files(home):
        name = path.relative_to(home).as_posix()
        if name in files:  # restored from an earlier backup
            continue
        try:
            files[name] = _add(archive, path, _HOME + name)
        except FileNotFoundError:  # it was deleted meanwhile
            continue
    gone = {name.split("/")[1] for name in files if name.startswith("datasets/")}
    gone -= {path.name for path in _entries(home / "datasets")}
    files = {
        name: told for name, told in files.items() if not (name.startswith("datasets/") and name.split("/")[1] in gone)
    }
    told = {
        "format": FORMAT,
        "version": __version__,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "record": kind,
        "record_hash": None if kind is None else of_record[0],
        "heads": {} if check is None else dict(check.heads),
        "files": files,
    }
    archive.writestr(_LIST, json.dumps(told, ensure_ascii=False))
    return told


def _beside(folder: Path) -> list[Path]:
    """Return the list of people, and the settings without secrets, which are outside the home folder."""
    settings = folder / "settings.json"
    told = {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith("PLURALITY_") and not re.search("SECRET|TOKEN|URL|KEY", name)
    }
    settings.write_bytes(json.dumps(told, ensure_ascii=False, indent=1).encode())
    people = current_settings().people
    return [settings, people] if people is not None and people.is_file() else [settings]


def _kept_files(home: Path) -> Iterator[Path]:
    url = store_url()
    of_store = []
    if url.get_backend_name() == "sqlite":
        of_store = [Path(f"{url.database}{end}").absolute() for end in ("", "-wal", "-shm", "-journal")]
    for path in sorted(home.rglob("*")):
        drafts = any(is_draft(home / part) for part in path.relative_to(home).parts)
        if path.is_file() and not drafts and path.absolute() not in of_store:
            yield path


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _datasets(files: dict) -> tuple[str, ...]:
    return tuple(sorted({name.split("/")[1] for name in files if re.match(r"datasets/[0-9a-f]{32}/", name)}))


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> tuple[str, int]:
    """Add a file to the archive; return its hash and its size."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as target:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            target.write(chunk)
    return digest.hexdigest(), size


@contextmanager
def _encrypted(file: IO[bytes], recipient: str) -> Iterator[IO[bytes]]:
    """Yield a stream that encrypts everything written to it into a file."""
    command = [_age(), "-r", recipient]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stderr is not None
    try:
        with suppress(BrokenPipeError):  # the program reports below why it ended
            yield process.stdin
    except BaseException:
        process.kill()
        raise
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        why = process.stderr.read().decode(errors="replace")
        process.stderr.close()
        failed = process.wait()
    if failed:
        raise InputError(f"Could not encrypt the backup: {_first_line(why)}.", "Check the public key (age1…).")


def _decrypted(file: Path, identity: Path | None, place: Path) -> Path:
    """Return a readable backup: the file, or a decrypted copy below ``place``."""
    try:
        with file.open("rb") as source:
            if source.read(len(_AGE_HEADER)) != _AGE_HEADER:
                return file
    except OSError:  # reported when the file is read
        return file
    if identity is None:
        raise InputError(f"Could not read {file}: it is encrypted.", "Provide its private key: --identity FILE.")
    plain = place / "decrypted"
    done = subprocess.run(
        [_age(), "-d", "-i", str(identity), "-o", str(plain), str(file)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        raise InputError(
            f"Could not decrypt {file}: {_first_line(done.stderr)}.", "Check the private key and the file."
        )
    return plain


def _age() -> str:
    program = shutil.which("age")
    if program is None:
        raise InputError(
            "Could not encrypt or decrypt the backup: the encryption tool “age” is not installed.",
            "Install it (apt-get install age), or make backups without encryption.",
        )
    return program


def _first_line(said: str) -> str:
    return next(iter(said.strip().splitlines()), "no reason given").removeprefix("age: error: ").rstrip(".")


def _unpacked(file: Path, place: Path) -> dict:
    """Write the content of a backup below ``place``; refuse files that differ from their hash or are not listed."""
    try:
        with zipfile.ZipFile(file) as archive:
            told = json.loads(archive.read(_LIST))
            if told["format"] != FORMAT:
                raise InputError(f"Could not restore {file}: its backup format is not supported.", "Update Plurality.")
            wanted = {_HOME + name: digest for name, (digest, _) in told["files"].items()}
            if told["record"] is not None:
                wanted[_RECORD[told["record"]]] = told["record_hash"]
            for name, digest in wanted.items():
                parts = PurePosixPath(name).parts
                if ".." in parts or name.startswith("/") or "\\" in name or ":" in name:
                    raise InputError(
                        f"Could not restore {file}: it contains a path outside its folder.",
                        "Use a backup made by Plurality.",
                    )
                target = place.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                found = hashlib.sha256()
                with archive.open(name) as source, target.open("wb") as written:
                    while chunk := source.read(_CHUNK):
                        found.update(chunk)
                        written.write(chunk)
                if found.hexdigest() != digest:
                    raise InputError(f"Could not restore {file}: {name} is damaged.", "Use another backup.")
            return told
    except FileNotFoundError:
        raise InputError(f"Could not find {file}.", "Check the path.") from None
    except _BROKEN as error:
        raise InputError(
            f"Could not restore {file}: it is not a backup, or it is damaged ({type(error).__name__}).",
            "Use another one.",
        ) from None


def _put_back(copy: Path, url: sa.URL, heads: dict[str, str]) -> RecordCheck:
    """Restore the reviews; return the result of their check."""
    if url.get_backend_name() == "sqlite":
        target = Path(str(url.database))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(copy, target)
    else:
        _run("pg_restore", owner_url(), "--exit-on-error", "--single-transaction", "--no-owner", str(copy))
        if owner_url() != url:
            engine = open_database(owner_url())
            grant(engine, str(url.username))
            engine.dispose()
    close_stores()
    return open_store().check(heads.values())


def _copy_sqlite(url: sa.URL, copy: Path) -> None:
    source, target = sqlite3.connect(str(url.database)), sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        source.close()
        target.close()


def _dump_postgres(url: sa.URL, copy: Path) -> None:
    _run("pg_dump", owner_url(), "--format=custom", "--no-owner", "--no-privileges", f"--file={copy}")


def _run(tool: str, url: sa.URL, *arguments: str) -> None:
    """Run a tool of Postgres, with the password in its environment, where other users cannot see it."""
    known = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{tool}"), key=lambda path: int(path.parts[-3]))
    program = str(known[-1]) if known else shutil.which(tool)
    if program is None:
        raise InputError(
            f"Could not copy the reviews: the Postgres tool {tool} is not installed.",
            "Install it (on Debian: apt-get install postgresql-client).",
        )
    address = url.set(drivername="postgresql", password=None).render_as_string()
    environment = {**os.environ, **({"PGPASSWORD": url.password} if url.password else {})}
    done = subprocess.run([program, f"--dbname={address}", *arguments], env=environment, capture_output=True)
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
        raise InputError(
            f"{tool} failed: {said}", "Check that the database exists and that the role has permission to use it."
        )
