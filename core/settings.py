"""Folders and limits of this installation, read from the environment, never from a file of the user's."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import platformdirs

from .errors import InputError

MEGABYTE = 1024 * 1024
_SHORTEST_SECRET = 32
# Variables that the settings depend on, including folders of users and systems.
_OWN = (
    "HOME", "MAX_UPLOAD_MB", "REVIEWER_UPLOAD_MB", "UPLOADS_PER_DAY", "READING_MB", "RESULTS_MB", "MEMORY_MB",
    "WORKERS", "CLUSTER", "UNASKED_CASES", "MAX_MODEL_CELLS", "DATABASE_URL", "DATABASE_OWNER_URL",
    "SEVERAL_PROCESSES", "IMAGES", "REMOTE_IMAGES", "SIGN_IN", "PEOPLE", "HEAD_KEY", "EMAIL_TRUSTED", "NAME_CLAIM",
    "ROLE_CLAIM", "GROUP_CLAIM", "LOG", "METRICS_TOKEN", "SESSION_HOURS", "IDLE_MINUTES", "ACCESS_DAYS",
    "OLD_COOKIE_SECRET", "ANYBODY_WHO_REACHES_THIS_COMPUTER_MAY_READ_AND_ERASE",
)  # fmt: skip
_OF_SYSTEMS = (
    "HOME", "XDG_DATA_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "WIN_PD_OVERRIDE_LOCAL_APPDATA",
)  # fmt: skip
_VARIABLES = (*(f"PLURALITY_{name}" for name in _OWN), *_OF_SYSTEMS)
_KEYS = tuple(map(os.environ.encodekey, _VARIABLES))
_Told = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Settings:
    """Folders and limits of this installation.

    Attributes
    ----------
    home : Path
        Folder of saved datasets (``PLURALITY_HOME``).
    max_upload_mb : int
        Largest file that is read, in MiB (``PLURALITY_MAX_UPLOAD_MB``).
    reviewer_upload_mb : int
        Largest file that a reviewer may upload to a server with sign-in, in MiB (``PLURALITY_REVIEWER_UPLOAD_MB``).
    uploads_per_day : int
        Uploads of a person in 24 hours, as a multiple of the largest file that they may upload
        (``PLURALITY_UPLOADS_PER_DAY``); with sign-in.
    reading_mb : int
        Memory that reading a small file may take, in MiB (``PLURALITY_READING_MB``); larger files may take more in
        proportion to their size.
    memory_mb : int
        Largest size of the results that a server holds in memory, in MiB (``PLURALITY_MEMORY_MB``).
    results_mb : int
        Largest size of the results on disk, in MiB (``PLURALITY_RESULTS_MB``); those used longest ago go first.
    workers : int
        Processes in which a server does heavy work (``PLURALITY_WORKERS``); 0 for threads of its own.
    cluster : str
        Cluster for heavy work (``PLURALITY_CLUSTER``): ``local:N``, or the address of a Dask scheduler; empty for none.
        See `core.runtime.cluster`.
    unasked_cases : int
        Largest number of cases whose curve of held-out raters, minutes of one core, is computed automatically
        (``PLURALITY_UNASKED_CASES``).
    max_model_cells : int
        Largest number of parameters or class probabilities of a rater model (``PLURALITY_MAX_MODEL_CELLS``).
    database_url : str
        Database of the reviews (``PLURALITY_DATABASE_URL``); empty for a file in the home folder. It may contain a
        password, so do not show it.
    database_owner_url : str
        The same database with the role that owns its tables (``PLURALITY_DATABASE_OWNER_URL``), for upgrade, backup and
        restore; empty if one role does everything.
    several_processes : bool
        True if several processes of one server share the home folder (``PLURALITY_SEVERAL_PROCESSES``, off by default):
        data that are not saved are then where all of them find them.
    images : Path or None
        Folder of the images of cases (``PLURALITY_IMAGES``); nothing outside it is ever opened.
    remote_images : bool
        True if the browser may load images from other computers (``PLURALITY_REMOTE_IMAGES``, off by default).
    open_to_anybody : bool
        True if a server without sign-in may accept connections from other computers
        (``PLURALITY_ANYBODY_WHO_REACHES_THIS_COMPUTER_MAY_READ_AND_ERASE``, off by default).
    sign_in : bool
        True if people must sign in (``PLURALITY_SIGN_IN``); a server without working sign-in then does not start.
    people : Path or None
        Administrator's list of people and their roles (``PLURALITY_PEOPLE``); see `core.people_list`.
    head_key : Path or None
        Public key of the signatures of ends of the record (``PLURALITY_HEAD_KEY``); see `core.review.signed_heads`.
    email_trusted : bool
        True if the provider verifies every e-mail address but sends no claim ``email_verified``
        (``PLURALITY_EMAIL_TRUSTED``, off by default); a sign-in without that claim is refused otherwise.
    name_claim, role_claim, group_claim : str
        Claims with a person's name (``PLURALITY_NAME_CLAIM``), roles (``PLURALITY_ROLE_CLAIM``) and groups
        (``PLURALITY_GROUP_CLAIM``).
    log : {"", "json"}
        Format of the server's log (``PLURALITY_LOG``): that of Streamlit, or lines of JSON without content and names.
    metrics_token : str
        Secret with which a program may read the server's numbers (``PLURALITY_METRICS_TOKEN``); none may if empty.
    session_hours : int or None
        Length of a sign-in (``PLURALITY_SESSION_HOURS``); that of the provider's token if omitted.
    idle_minutes : int or None
        Time without use after which a sign-in ends (``PLURALITY_IDLE_MINUTES``); never if omitted.
    access_days : int
        Time for which lines of the record of access are kept (``PLURALITY_ACCESS_DAYS``).
    old_cookie_secret : str
        Secret of cookies that are still read after a new secret was set (``PLURALITY_OLD_COOKIE_SECRET``).
    """

    home: Path
    max_upload_mb: int = 1024
    reviewer_upload_mb: int = 20
    uploads_per_day: int = 10
    reading_mb: int = 300
    memory_mb: int = 512
    results_mb: int = 2048
    workers: int = max(1, min(2, (os.cpu_count() or 1) - 1))
    cluster: str = ""
    unasked_cases: int = 3_000
    max_model_cells: int = 50_000_000
    database_url: str = field(default="", repr=False)
    database_owner_url: str = field(default="", repr=False)
    several_processes: bool = False
    images: Path | None = None
    remote_images: bool = False
    open_to_anybody: bool = False
    sign_in: bool = False
    people: Path | None = None
    head_key: Path | None = None
    email_trusted: bool = False
    name_claim: str = "email"
    role_claim: str = ""
    group_claim: str = ""
    session_hours: int | None = None
    idle_minutes: int | None = None
    access_days: int = 365
    old_cookie_secret: str = field(default="", repr=False)
    log: str = ""
    metrics_token: str = field(default="", repr=False)

    @property
    def datasets(self) -> Path:
        """Folder with one subfolder for each saved dataset, named by its digest."""
        return self.home / "datasets"

    @property
    def results(self) -> Path:
        """Folder of results of saved datasets."""
        return self.home / "results"


def current_settings() -> Settings:
    """Return the present settings.

    Raises
    ------
    InputError
        A limit in the environment is not a positive integer, or a switch is neither on nor off.
    """
    # As the system has them: a page asks hundreds of times, and to decode a whole environment takes long.
    return _settings(tuple(map(os.environ._data.get, _KEYS)))  # type: ignore[attr-defined]


@lru_cache(maxsize=64)
def _settings(said: tuple[Any, ...]) -> Settings:
    """Return the settings of an environment; cached, because a page asks many times and they hardly ever change."""
    values = (None if value is None else os.environ.decodevalue(value) for value in said)
    told = dict(zip(_VARIABLES, values, strict=True))
    images, people, head_key = (told[f"PLURALITY_{name}"] for name in ("IMAGES", "PEOPLE", "HEAD_KEY"))
    hours, idle = told["PLURALITY_SESSION_HOURS"], told["PLURALITY_IDLE_MINUTES"]
    home = told["PLURALITY_HOME"] or platformdirs.user_data_dir("plurality", appauthor=False)
    return Settings(
        home=Path(home).expanduser(),
        max_upload_mb=_positive(
            told, "PLURALITY_MAX_UPLOAD_MB", Settings.__dataclass_fields__["max_upload_mb"].default
        ),
        reviewer_upload_mb=_positive(
            told, "PLURALITY_REVIEWER_UPLOAD_MB", Settings.__dataclass_fields__["reviewer_upload_mb"].default
        ),
        uploads_per_day=_positive(
            told, "PLURALITY_UPLOADS_PER_DAY", Settings.__dataclass_fields__["uploads_per_day"].default
        ),
        reading_mb=_positive(told, "PLURALITY_READING_MB", Settings.__dataclass_fields__["reading_mb"].default),
        results_mb=_positive(told, "PLURALITY_RESULTS_MB", Settings.__dataclass_fields__["results_mb"].default),
        memory_mb=_positive(told, "PLURALITY_MEMORY_MB", Settings.__dataclass_fields__["memory_mb"].default),
        workers=_positive(told, "PLURALITY_WORKERS", Settings.__dataclass_fields__["workers"].default, least=0),
        cluster=told["PLURALITY_CLUSTER"] or "",
        unasked_cases=_positive(
            told, "PLURALITY_UNASKED_CASES", Settings.__dataclass_fields__["unasked_cases"].default
        ),
        max_model_cells=_positive(
            told, "PLURALITY_MAX_MODEL_CELLS", Settings.__dataclass_fields__["max_model_cells"].default
        ),
        database_url=told["PLURALITY_DATABASE_URL"] or "",
        database_owner_url=told["PLURALITY_DATABASE_OWNER_URL"] or "",
        several_processes=_yes(told, "PLURALITY_SEVERAL_PROCESSES"),
        images=Path(images).expanduser() if images else None,
        remote_images=_yes(told, "PLURALITY_REMOTE_IMAGES"),
        sign_in=_yes(told, "PLURALITY_SIGN_IN"),
        people=Path(people).expanduser() if people else None,
        head_key=Path(head_key).expanduser() if head_key else None,
        email_trusted=_yes(told, "PLURALITY_EMAIL_TRUSTED"),
        name_claim=told["PLURALITY_NAME_CLAIM"] or "email",
        role_claim=told["PLURALITY_ROLE_CLAIM"] or "",
        group_claim=told["PLURALITY_GROUP_CLAIM"] or "",
        log=_choice(told, "PLURALITY_LOG", ("", "json")),
        metrics_token=_secret(told, "PLURALITY_METRICS_TOKEN"),
        session_hours=_positive(told, "PLURALITY_SESSION_HOURS", 1) if hours else None,
        idle_minutes=_positive(told, "PLURALITY_IDLE_MINUTES", 1) if idle else None,
        access_days=_positive(told, "PLURALITY_ACCESS_DAYS", Settings.__dataclass_fields__["access_days"].default),
        old_cookie_secret=_secret(told, "PLURALITY_OLD_COOKIE_SECRET"),
        open_to_anybody=_yes(told, "PLURALITY_ANYBODY_WHO_REACHES_THIS_COMPUTER_MAY_READ_AND_ERASE"),
    )


def _positive(told: _Told, variable: str, default: Any, least: int = 1) -> int:
    text = told[variable]
    if not text:
        return default
    if not text.isdecimal() or int(text) < least:
        raise InputError(f"{variable} is {text!r}.", f"Set it to an integer of at least {least}, or leave it unset.")
    return int(text)


def _choice(told: _Told, variable: str, choices: tuple[str, ...]) -> str:
    text = (told[variable] or "").strip()
    if text not in choices:
        named = ", ".join(filter(None, choices))
        raise InputError(f"{variable} is {text!r}.", f"Set it to {named}, or leave it unset.")
    return text


def _secret(told: _Told, variable: str) -> str:
    text = told[variable] or ""
    if text and len(text) < _SHORTEST_SECRET:
        raise InputError(
            f"Could not use {variable}: it is too short.",
            f"Use at least {_SHORTEST_SECRET} characters, for example from openssl rand -hex 32.",
        )
    return text


def _yes(told: _Told, variable: str) -> bool:
    text = (told[variable] or "").strip().casefold()
    if text not in ("", "0", "no", "off", "false", "1", "yes", "on", "true"):
        raise InputError(f"{variable} is {text!r}.", "Set it to 1 or 0, or leave it unset.")
    return text in ("1", "yes", "on", "true")


@contextmanager
def private_files() -> Iterator[None]:
    """Let only the user of this process read or write files that it and its children make meanwhile."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def close_home() -> tuple[int, int]:
    """Close the home folder to other users of the computer, who could read files of earlier versions.

    Returns
    -------
    n_closed, n_open : int
        Numbers of files and folders that were closed, and of those that could not be, because they belong to others.
    """
    n_closed = n_open = 0
    home = current_settings().home
    for path in (home, *home.rglob("*")) if os.name == "posix" else ():
        try:
            if not path.is_symlink() and (mode := path.stat().st_mode) & 0o077:
                path.chmod(mode & 0o700)
                n_closed += 1
        except FileNotFoundError:  # nothing is there yet, or another process has just removed it
            continue
        except OSError:
            n_open += 1
    return n_closed, n_open


def one_thread_a_library() -> None:
    """Let numpy and scipy do linear algebra in the calling thread, unless the environment sets another number.

    For a server and its children, before any of them imports numpy: chunks of cases and sessions already share the
    cores, and threads that wait for small matrices took a tenth of the processor.
    """
    for library in ("OMP", "MKL", "OPENBLAS"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def prepare_numba_cache() -> None:
    """Point numba at one writable folder, so that app, tests, worker and command line compile each kernel once.

    Called by ``core/__init__.py`` before anything imports numba: with a read-only home numba fails at import.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    folder = Path(platformdirs.user_cache_dir("plurality", appauthor=False)) / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"plurality-kernels-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
        folder.mkdir(parents=True, exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
