"""Account of the identity provider for each name: the first that signs in under it, until it is freed.

An e-mail address can be given to another person, and a second provider may issue the same one; the pair of issuer and
subject is always unique to an account. One small file per name, under the home folder.
"""

import hashlib
import json
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import InputError
from .runtime.files import discard, write_whole
from .runtime.locks import alone
from .settings import current_settings

_FOLDER = "accounts"
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Account:
    """Name and the account that it belongs to.

    Attributes
    ----------
    name : str
    issuer, subject : str
        Issuer and subject of the provider's token (``iss``, ``sub``); both empty for a name that was freed.
    at : float
        Time when it was bound or freed, seconds since 1970-01-01 UTC.
    """

    name: str
    issuer: str
    subject: str
    at: float

    @property
    def is_free(self) -> bool:
        """True if the next sign-in under the name takes it."""
        return not self.subject


def bind(name: str, issuer: str, subject: str, begun: float) -> bool:
    """Bind a free name to an account; return True if the account has the name now.

    Parameters
    ----------
    name : str
    issuer, subject : str
    begun : float
        Start of the sign-in, seconds since 1970-01-01 UTC. A sign-in from before the name was freed does not take it.

    Raises
    ------
    OSError
        The home folder cannot be read or written.
    ValueError
        The file of the name is damaged.
    """
    known = _read(_path(name))
    if known is None or known.is_free:
        with _lock, alone(_FOLDER):
            known = _read(_path(name))  # another session may have been first
            if known is None or (known.is_free and begun > known.at):
                known = Account(name, issuer, subject, time.time())
                _write(known)
    return (known.issuer, known.subject) == (issuer, subject)


def bound_accounts() -> list[Account]:
    """Return all names that were ever bound, in their order; leave out damaged files."""
    found = []
    for path in (current_settings().home / _FOLDER).glob("*.json"):
        with suppress(OSError, ValueError):
            account = _read(path)
            found += [] if account is None else [account]
    return sorted(found, key=lambda account: account.name)


def free(name: str) -> None:
    """Let the next sign-in under a name take it, for example after a move to another provider.

    Parameters
    ----------
    name : str

    Raises
    ------
    InputError
        No account has the name, or the home folder cannot be written.
    """
    if not _path(name).exists():
        raise InputError(
            f"Could not unlink the name {name!r}: no account uses it.", "List the names with: plurality people"
        )
    try:
        with _lock, alone(_FOLDER):
            _write(Account(name, "", "", time.time()))
    except OSError as error:
        raise InputError(
            f"Could not write {_path(name)}: {error.strerror or error}.",
            "Give the user that runs Plurality write access to this file.",
        ) from None


def forget_account(name: str) -> bool:
    """Erase which account a person had; return whether there was one.

    Parameters
    ----------
    name : str
    """
    path = _path(name)
    return path.exists() and discard(path)


def _path(name: str) -> Path:
    return current_settings().home / _FOLDER / f"{hashlib.blake2b(name.encode(), digest_size=16).hexdigest()}.json"


def _read(path: Path) -> Account | None:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if not isinstance(told, dict) or told.keys() != set(Account.__dataclass_fields__):
        raise ValueError("not an account")
    return Account(**told)


def _write(account: Account) -> None:
    path = _path(account.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(asdict(account), ensure_ascii=False).encode())
