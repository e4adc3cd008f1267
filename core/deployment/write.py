"""Files of a server for a team, written for a name, a number of processes and a folder, all from one place.

Two ways to run it come from the same parts: services of systemd on one Debian machine, and containers. In both HAProxy
ends TLS and hands everything of a browser to one process, by a cookie; sessions of a process that died begin anew at
another one, from their address and the store.
"""

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import jinja2

from ..errors import InputError
from ..runtime.files import put_in_place
from ..version import __version__

MOST_PROCESSES = 64
FIRST_PORT = 8501
# What may be loaded and from where. Streamlit's page and the report shown inside one hold scripts and styles; nothing
# comes from another host, and nothing is sent to one.
POLICY = (
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "frame-src 'self' blob: data:",
    "frame-ancestors 'self'",
    "form-action 'self'",
    "base-uri 'self'",
    "object-src 'none'",
)
# What people read where no process answers, in the place of a page and on one that is open.
AWAY = (
    "Plurality is not responding: it is restarting or under maintenance. Confirmed reviews are saved. This page "
    "tries again automatically."
)
BUSY = "Too many requests from this address. Wait ten seconds and reload the page."
_AWAY_PAGE = (
    '<!doctype html><html lang="en" style="color-scheme: light dark"><head>'
    '<meta charset="utf-8"><meta http-equiv="refresh" content="3">'
    '<meta name="viewport" content="width=device-width"><title>Plurality</title></head>'
    '<body style="font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; '
    f'margin: 15vh auto; padding: 0 1rem"><h1>Plurality</h1><p>{AWAY}</p></body></html>'
)
_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
_FOLDER = re.compile(r"/[\w./-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a deployment.

    Attributes
    ----------
    file : str
        Within the folder that is written.
    place : str
        Place on the server; "image" for what stays next to the Dockerfile.
    what : str
        Purpose, in a sentence.
    secret : bool
        True if it contains secrets, so that only its owner may read it.
    """

    file: str
    place: str
    what: str
    secret: bool = False


PARTS = (
    Part("install.sh", "run it", "Installation on a bare Debian machine, step by step, with explanations."),
    Part(
        "plurality.env",
        "/etc/plurality/plurality.env",
        "Settings for all processes, including the cookie secret.",
        True,
    ),
    Part("secrets.toml", "/etc/plurality/secrets.toml", "Identity provider settings, for you to fill in.", True),
    Part("people.toml", "/etc/plurality/people.toml", "Roles of people; reloaded when the file changes."),
    Part("plurality@.service", "/etc/systemd/system", "One dashboard process; the name after @ is the port."),
    Part("plurality.target", "/etc/systemd/system", "Starts and stops all processes together."),
    Part(
        "plurality-kernels.service",
        "/etc/systemd/system",
        "Compiles the kernels once, before the first page is opened.",
    ),
    Part(
        "plurality-backup.service",
        "/etc/systemd/system",
        "Backs up reviews, data and results, and verifies the backup.",
    ),
    Part("plurality-sign.service", "/etc/systemd/system", "Signs the head of the review record, if there is a key."),
    Part("plurality-failed@.service", "/etc/systemd/system", "Sends an alert if a backup or check fails."),
    Part("plurality-backup.timer", "/etc/systemd/system", "Backup schedule: every night."),
    Part("plurality", "/usr/local/bin", "Runs commands as the server's user, with the server's settings."),
    Part("plurality-undo", "/usr/local/bin", "Returns to the version before the last installation."),
    Part("haproxy.cfg", "/etc/haproxy/haproxy.cfg", "HAProxy settings: TLS, sticky sessions, headers and limits."),
    Part("Dockerfile", "image", "Container image with the packages, the kernels and an unprivileged user."),
    Part("compose.yaml", "image", "Containers: processes, Postgres, proxy, nightly backup.", True),
    Part("haproxy-containers.cfg", "image", "Proxy in front of the containers."),
)


@dataclass(frozen=True, slots=True)
class Deployment:
    """Settings of a server: names, folders, ports and processes.

    Attributes
    ----------
    name : str
        Host name by which people open the server, such as ``plurality.clinic.example``.
    processes : int
        Number of processes of the dashboard; about one per core.
    home : str
        Folder for stored data, on the server.
    program : str
        Folder of this program there.
    database : str
        Address of Postgres; empty for an SQLite file, which several processes of one machine share.
    port, plain_port : int
        Ports of the proxy, with TLS and without; the latter only redirects to the former.
    first_port : int
        Port of the first process; the others follow.
    certificate : str
        File with certificate chain and key, on the server.
    """

    name: str
    processes: int = 2
    home: str = "/var/lib/plurality"
    program: str = "/opt/plurality"
    database: str = ""
    port: int = 443
    plain_port: int = 80
    first_port: int = FIRST_PORT
    certificate: str = "/etc/haproxy/plurality.pem"

    @property
    def ports(self) -> list[int]:
        """Ports of the processes."""
        return list(range(self.first_port, self.first_port + self.processes))

    @property
    def origin(self) -> str:
        """Address that people open."""
        return f"https://{self.name}" + ("" if self.port == 443 else f":{self.port}")

    def check(self) -> None:
        """Raise `InputError` for a value that would change the meaning of a file."""
        if not _NAME.fullmatch(self.name):
            raise InputError(
                f"Could not use {self.name!r}: it is not a host name.", "Use a name such as plurality.clinic.example."
            )
        if not 1 <= self.processes <= MOST_PROCESSES:
            raise InputError(
                f"The number of processes must be between 1 and {MOST_PROCESSES}; got {self.processes}.",
                "Use about one process per core.",
            )
        for folder in (self.home, self.program, self.certificate):
            if not _FOLDER.fullmatch(folder) or ".." in PurePosixPath(folder).parts:
                raise InputError(
                    f"Could not use {folder!r}: it would not be a valid path in every generated file.",
                    "Use an absolute path without spaces or special characters, such as /srv/plurality.",
                )
        if self.database and not re.fullmatch(r"postgresql(?:\+psycopg)?://[^\s\"'\\$#{}]+", self.database):
            raise InputError(
                "Could not use the database address: it is not a PostgreSQL address.",
                "Use postgresql://role:password@host/name, with special characters escaped, such as %40 for @.",
            )
        for port in (self.port, self.plain_port, *self.ports):
            if not 0 < port < 65_536:
                raise InputError(f"Ports must be between 1 and 65535; got {port}.", "Choose another port.")
        if len({self.port, self.plain_port, *self.ports}) < 2 + self.processes:
            raise InputError(
                "Could not use these ports: two parts of the server would use the same port.", "Choose different ports."
            )


def write_deployment(asked: Deployment, folder: Path) -> tuple[Part, ...]:
    """Write all files into a folder that is not there or empty, with new secrets.

    Parameters
    ----------
    asked : Deployment
    folder : Path

    Raises
    ------
    InputError
        A setting is not valid, or the folder is not empty or cannot be written.
    """
    asked.check()
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # no markup; what is put in was checked
    )
    known = {
        "asked": asked,
        "version": __version__,
        "policy": "; ".join(POLICY),
        "cookie_secret": secrets.token_hex(32),
        "metrics_token": secrets.token_hex(32),
        "database_password": secrets.token_hex(16),
        "steps": _STEPS,
        "away": AWAY,
        "away_page": _AWAY_PAGE,
        "busy": BUSY,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(
                f"Could not write to {folder}: the folder is not empty.",
                "Use a new folder, so that no file is overwritten.",
            )
        for part in PARTS:
            text = templates.get_template(_template(part)).render(known, part=part)
            _write(folder / part.file, text, 0o600 if part.secret else 0o755 if part.file.endswith(".sh") else 0o644)
    except OSError as error:
        raise InputError(f"Could not write to {folder}: {error.strerror}.", "Choose another folder.") from None
    return PARTS


# What both a machine and an image need; the same steps stand in install.sh and in the Dockerfile.
_STEPS = {
    "parts": "app.py core pages docs sample_data requirements.lock .streamlit",
    "packages": "python3 python3-venv haproxy openssl age",
    "environment": "python3 -m venv .venv",
    "install": ".venv/bin/python -m pip install --no-cache-dir --require-hashes -r requirements.lock",
    "postgres": ".venv/bin/python -m pip install --no-cache-dir 'psycopg[binary]==3.3.9'",
    "kernels": ".venv/bin/python -m core.warmup",
    "serve": ".venv/bin/python -m pages.shared.shell.server --server.port",
}


def _template(part: Part) -> str:
    return "haproxy.cfg" if part.file.startswith("haproxy") else part.file


def _write(path: Path, text: str, mode: int) -> None:
    draft = path.with_name(f".{path.name}.part")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(text.encode())
    put_in_place(draft, path)
