"""Who signed in, as what, and until when: from the claims of an identity provider and the administrator's list.

The list is a TOML file (``PLURALITY_PEOPLE``), read again as soon as it changes::

    everybody_else = "reviewer"        # or "nobody": who is not listed may not come in

    [people]
    "ann@clinic.example" = "administrator"
    "bob@clinic.example" = "ended"     # at once, whatever the provider says

    [groups]
    "radiology" = ["ann@clinic.example", "eve@clinic.example"]

Without a list, a claim (``PLURALITY_ROLE_CLAIM``) gives the role, and who has none is a reviewer. Groups are those of
the list and those of a claim (``PLURALITY_GROUP_CLAIM``).
"""

import hashlib
import json
import time
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .errors import PluralityError
from .settings import current_settings

Role = Literal["reviewer", "manager", "administrator"]
ROLES: tuple[Role, ...] = ("reviewer", "manager", "administrator")
_ENDED, _NOBODY = "ended", "nobody"
_LONGEST_NAME = 200
_FORGOTTEN = 31 * 24 * 3600.0  # seconds, beyond the life of any cookie


class SignedOutError(PluralityError):
    """Nobody is signed in, or not any more; the message says why."""


class NotYoursError(PluralityError):
    """What was asked for is not this person's, or not for this role; the message tells nothing of it."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who is signed in.

    Attributes
    ----------
    name : str
        From the claim `PLURALITY_NAME_CLAIM` (the verified e-mail address by default), in lower case: what stands
        beside their opinions, and what data belong to.
    role : {"reviewer", "manager", "administrator"}
    until : float
        When the session ends, seconds since 1970-01-01 UTC.
    groups : frozenset of str
        In lower case; data and cases can be given to them.
    """

    name: str
    role: Role
    until: float
    groups: frozenset[str] = frozenset()

    def may_act_as(self, role: Role) -> bool:
        """Whether the role is this person's or below it."""
        return ROLES.index(self.role) >= ROLES.index(role)


def person_of(claims: Mapping[str, Any], now: float | None = None) -> Person:
    """Who signed in, from the claims of the provider's signed token.

    Parameters
    ----------
    claims : mapping
        ``iss``, ``sub``, ``exp``, ``iat``, the claim of the name, and that of the role where one is set.
    now : float, optional
        Seconds since 1970-01-01 UTC.

    Raises
    ------
    SignedOutError
        Nobody is signed in, the time is over, somebody signed out, or the administrator ended it.
    """
    if not claims.get("is_logged_in"):
        raise SignedOutError("Nobody is signed in.")
    settings, now = current_settings(), time.time() if now is None else now
    begun, ends = _time(claims.get("iat")), _time(claims.get("exp"))
    if begun is None or ends is None:
        raise SignedOutError("The provider does not say how long the sign-in holds.")
    until = ends if settings.session_hours is None else begun + 3600.0 * settings.session_hours
    if now >= until:
        raise SignedOutError("The session has ended. Sign in again.")
    if _signed_out(claims).exists():
        raise SignedOutError("You signed out.")
    name = claims.get(settings.name_claim)
    if settings.name_claim == "email" and claims.get("email_verified") is False:
        raise SignedOutError("The provider has not verified your e-mail address.")
    if not isinstance(name, str) or not name.isprintable() or name != " ".join(name.split()) or not name:
        raise SignedOutError(f"The provider does not say who you are (claim {settings.name_claim!r}).")
    name = name.casefold()[:_LONGEST_NAME]
    return Person(name, _role(name, claims), until, _groups(name, claims))


def listed_groups() -> dict[str, tuple[str, ...]]:
    """Groups of the administrator's list with their members.

    Raises
    ------
    SignedOutError
        The list cannot be read.
    """
    return _people().groups


def sign_out(claims: Mapping[str, Any]) -> None:
    """End this sign-in on all tabs and in all processes, not only in the browser that asks."""
    mark = _signed_out(claims)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    for old in mark.parent.iterdir():
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > _FORGOTTEN:
                old.unlink()


def _signed_out(claims: Mapping[str, Any]) -> Path:
    which = json.dumps([claims.get(name) for name in ("iss", "sub", "iat", "nonce")], default=repr)
    return current_settings().home / "signed_out" / hashlib.sha256(which.encode()).hexdigest()[:32]


def _time(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _role(name: str, claims: Mapping[str, Any]) -> Role:
    settings = current_settings()
    told_here = _people()
    said = told_here.roles.get(name, told_here.others)
    if said is None and settings.role_claim:
        told = claims.get(settings.role_claim)
        values = told if isinstance(told, list | tuple) else [told]
        found = [role for role in ROLES if role in values or f"plurality-{role}" in values]
        said = found[-1] if found else None
    if said in (_ENDED, _NOBODY):
        raise SignedOutError("The administrator does not let you in.")
    for role in ROLES:
        if role == said:
            return role
    return "reviewer"


def _groups(name: str, claims: Mapping[str, Any]) -> frozenset[str]:
    told = claims.get(current_settings().group_claim)
    said = [told] if isinstance(told, str) else told if isinstance(told, list | tuple) else []
    of_list = {group for group, members in _people().groups.items() if name in members}
    return frozenset(of_list | {cleaned for group in said if isinstance(group, str) and (cleaned := _cleaned(group))})


@dataclass(frozen=True, slots=True)
class _List:
    """The administrator's list: what each is, what everybody else is where that is said, and who is in which group."""

    roles: dict[str, str]
    others: str | None
    groups: dict[str, tuple[str, ...]]


def _people() -> _List:
    path = current_settings().people
    if path is None:
        return _List({}, None, {})
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        listed = {str(name).casefold(): role for name, role in told.get("people", {}).items()}
        others = told.get("everybody_else")
        unknown = {*listed.values(), *([] if others is None else [others])} - {*ROLES, _ENDED, _NOBODY}
        groups = {_cleaned(group): _members(members) for group, members in told.get("groups", {}).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        raise SignedOutError(
            "The list of people cannot be read, so nobody is let in. Tell the administrator."
        ) from None
    if unknown:
        raise SignedOutError("The list of people names a role that there is not. Tell the administrator.")
    return _List(listed, others, groups)


def _members(told: object) -> tuple[str, ...]:
    if not isinstance(told, list):
        raise TypeError("members of a group are a list")
    return tuple(map(_cleaned, told))


def _cleaned(name: str) -> str:
    return " ".join(name.split()).casefold()
