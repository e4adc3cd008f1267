"""Open sign-ins with their person, start and last use; an administrator can end each.

One small file per sign-in, under the home folder, named by a digest of the provider's token. The time of the file is
that of its last use, from which the idle limit counts.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .runtime.files import discard, write_whole
from .settings import current_settings

FORGOTTEN = 31 * 24 * 3600.0  # seconds, beyond the life of any cookie
_OPEN, _ENDED = "signed_in", "signed_out"
_NOTED = 15.0  # seconds within which a second use is not written


@dataclass(frozen=True, slots=True)
class SignIn:
    """Sign-in that was not ended.

    Attributes
    ----------
    which : str
        Key for `end`.
    name, role : str
    begun, used, until : float
        Start, last use and latest end, seconds since 1970-01-01 UTC.
    """

    which: str
    name: str
    role: str
    begun: float
    used: float
    until: float


def which_of(claims: Mapping[str, Any]) -> str:
    """Return the digest of a sign-in, from the claims of the provider's token."""
    told = json.dumps([claims.get(name) for name in ("iss", "sub", "iat", "nonce")], default=repr)
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def is_ended(which: str) -> bool:
    """Return whether a sign-in was ended, by its person or an administrator."""
    return (_folder(_ENDED) / which).exists()


def end(which: str) -> None:
    """End a sign-in on all tabs and in all processes."""
    mark = _folder(_ENDED) / which
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    discard(_folder(_OPEN) / which)
    _forget_old(mark.parent)


def last_used(which: str) -> float | None:
    """Return when a sign-in was last used, seconds since 1970-01-01 UTC; None if it never was."""
    try:
        return (_folder(_OPEN) / which).stat().st_mtime
    except OSError:
        return None


def note_use(which: str, name: str, role: str, begun: float, until: float) -> bool:
    """Record that a sign-in is used now; return whether it is the first time.

    Parameters
    ----------
    which : str
    name, role, begun, until
        See `SignIn`.

    Raises
    ------
    OSError
        The home folder cannot be written.
    """
    path, used = _folder(_OPEN) / which, last_used(which)
    if used is not None:
        if time.time() - used > _NOTED:
            os.utime(path)
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"name": name, "role": role, "begun": begun, "until": until}).encode(), lasting=False)
    _forget_old(path.parent)
    return True


def open_sign_ins(now: float | None = None) -> list[SignIn]:
    """Return valid sign-ins, the last used one first.

    Parameters
    ----------
    now : float, optional
        Time in seconds since 1970-01-01 UTC.
    """
    now, idle = time.time() if now is None else now, current_settings().idle_minutes
    found = []
    for path in _folder(_OPEN).glob("*"):
        with suppress(OSError, ValueError, TypeError):
            told, used = json.loads(path.read_text(encoding="utf-8")), path.stat().st_mtime
            one = SignIn(path.name, told["name"], told["role"], told["begun"], used, told["until"])
            if now < one.until and not is_ended(one.which) and (idle is None or now - used < 60 * idle):
                found.append(one)
    return sorted(found, key=lambda one: -one.used)


def forget_person(name: str) -> None:
    """Erase and end the sign-ins of a person, also those whose time is over."""
    for path in _folder(_OPEN).glob("*"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            if json.loads(path.read_text(encoding="utf-8"))["name"] == name:
                end(path.name)


def _folder(name: str) -> Path:
    return current_settings().home / name


def _forget_old(folder: Path) -> None:
    for old in folder.iterdir():
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > FORGOTTEN:
                old.unlink()
