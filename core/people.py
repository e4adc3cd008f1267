"""Signed-in people with their role and the end of their session, from an identity provider and the list of people.

The list is that of `core.people_list`. Without a list, a claim (``PLURALITY_ROLE_CLAIM``) sets the role, and a person
without one is a reviewer. Groups are those of the list and those of a claim (``PLURALITY_GROUP_CLAIM``).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from . import sign_ins
from .access_record import SIGNED_IN, record_access
from .accounts import bind
from .errors import InputError, PluralityError
from .people_list import (
    CLAIM,
    ENDED,
    NOBODY,
    ROLES,
    PeopleList,
    Role,
    name_fault,
    normal_group,
    normal_name,
    read_people,
)
from .settings import Settings, current_settings

TRUSTED = "PLURALITY_EMAIL_TRUSTED"
_AHEAD = 300.0  # seconds by which the provider's clock may differ


class SignedOutError(PluralityError):
    """Nobody is signed in, or not any more; the message states why."""


class SessionOverError(SignedOutError):
    """A sign-in is no longer valid: its time is over, nobody used it, or it was ended."""


class NotYoursError(PluralityError):
    """The requested data belong to another person or need another role; the message reveals nothing about them."""


@dataclass(frozen=True, slots=True)
class Person:
    """Signed-in person.

    Attributes
    ----------
    name : str
        Name from the claim `PLURALITY_NAME_CLAIM` (the verified e-mail address by default), as `normal_name` writes it:
        it is recorded with their opinions, and data belong to it.
    role : {"reviewer", "manager", "administrator"}
    until : float
        End of the session, seconds since 1970-01-01 UTC.
    groups : frozenset of str
        Groups in lower case; data and cases can be given to them.
    """

    name: str
    role: Role
    until: float
    groups: frozenset[str] = frozenset()

    def may_act_as(self, role: Role) -> bool:
        """Return whether the role is this person's or below it."""
        return ROLES.index(self.role) >= ROLES.index(role)


def person_of(claims: Mapping[str, Any], now: float | None = None) -> Person:
    """Return the signed-in person, from the claims of the provider's signed token.

    Parameters
    ----------
    claims : mapping
        Claims ``iss``, ``sub``, ``exp``, ``iat``, the claim of the name, and that of the role if one is set.
    now : float, optional
        Time in seconds since 1970-01-01 UTC.

    Raises
    ------
    SignedOutError
        Nobody is signed in, the administrator has ended their access, or the name belongs to another account; as
        `SessionOverError`, the time is over, nobody used the session, or it was ended.
    """
    if not claims.get("is_logged_in"):
        raise SignedOutError("Nobody is signed in.")
    settings, now = current_settings(), time.time() if now is None else now
    begun, ends = _time(claims.get("iat")), _time(claims.get("exp"))
    if begun is None or ends is None:
        raise SignedOutError(
            "Could not sign in: the provider did not send the start and end of the session (claims 'iat' and 'exp'). "
            "Contact the administrator."
        )
    if begun > now + _AHEAD:  # the session would last longer than a working day
        raise SignedOutError("Could not sign in: the provider's clock is ahead. Contact the administrator.")
    until = ends if settings.session_hours is None else begun + 3600.0 * settings.session_hours
    if now >= until:
        raise SessionOverError("Your session has ended. Sign in again.")
    which = sign_ins.which_of(claims)
    if sign_ins.is_ended(which):
        raise SessionOverError("You signed out.")
    if settings.idle_minutes is not None:
        used = sign_ins.last_used(which)  # none before the first page
        if now - (begun if used is None else used) >= 60 * settings.idle_minutes:
            raise SessionOverError("Your session ended because you were inactive. Sign in again.")
    listed = _listed()
    name = _name(claims, listed, settings)
    role, groups = _role(name, claims, listed, settings), _groups(name, claims, listed, settings)
    _hold_to_account(name, claims, begun)
    return Person(name, role, until, groups)


def _name(claims: Mapping[str, Any], listed: PeopleList, settings: Settings) -> str:
    """Return the name that the provider has verified."""
    name = claims.get(settings.name_claim)
    if not isinstance(name, str) or name_fault(name):
        raise SignedOutError(
            f"Could not sign in: the provider sent no valid name (claim {settings.name_claim!r}). Contact the "
            "administrator."
        )
    if settings.name_claim == "email":
        _check_verified(claims, settings)
    name = normal_name(name)
    if listed.is_look_alike(name):
        raise SignedOutError(
            "Could not sign in: your name looks like another name in the list of people. Contact the administrator."
        )
    return name


def _check_verified(claims: Mapping[str, Any], settings: Settings) -> None:
    """Refuse an address that the provider has not verified, because somebody else could register it there."""
    verified = claims.get("email_verified", settings.email_trusted)
    if verified is True or verified == "true":
        return
    if "email_verified" in claims:
        raise SignedOutError("Could not sign in: the provider has not verified your e-mail address.")
    raise SignedOutError(
        "Could not sign in: the provider did not confirm your e-mail address (claim 'email_verified'). Contact the "
        f"administrator, who can set {TRUSTED}=1 if the provider verifies every address."
    )


def _hold_to_account(name: str, claims: Mapping[str, Any], begun: float) -> None:
    """Refuse an account that is not the one to which the name belongs."""
    issuer, subject = claims.get("iss"), claims.get("sub")
    if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject):
        raise SignedOutError(
            "Could not sign in: the provider did not identify your account (claim 'iss' or 'sub' is missing "
            "or invalid). Contact the administrator."
        )
    try:
        theirs = bind(name, issuer, subject, begun)
    except (OSError, ValueError):
        raise SignedOutError("Could not check which account uses your name. Contact the administrator.") from None
    if not theirs:
        raise SignedOutError(
            "Could not sign in: your name belongs to another account of the provider. Contact the administrator, who "
            "can free it with 'plurality people rebind NAME'."
        )


def listed_groups() -> dict[str, tuple[str, ...]]:
    """Return groups of the administrator's list with their members.

    Raises
    ------
    SignedOutError
        The list cannot be read.
    """
    return _listed().groups


def note_use(claims: Mapping[str, Any], person: Person) -> None:
    """Record that a sign-in is used now, and add its first use to the record of access.

    Parameters
    ----------
    claims : mapping
        Claims of `person_of`, which returned the person.
    person : Person
    """
    which, begun = sign_ins.which_of(claims), _time(claims.get("iat")) or 0.0
    try:
        if sign_ins.note_use(which, person.name, person.role, begun, person.until):
            record_access(person.name, SIGNED_IN, details=[person.role])
    except (OSError, InputError):
        raise SignedOutError("Could not record the sign-in. Contact the administrator.") from None


def sign_out(claims: Mapping[str, Any]) -> None:
    """End this sign-in on all tabs and in all processes, not only in the present browser."""
    sign_ins.end(sign_ins.which_of(claims))


def _time(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else None


def _listed() -> PeopleList:
    try:
        return read_people()
    except InputError as error:
        where = f" (line {error.line})" if error.line else ""
        raise SignedOutError(
            f"Could not read the list of people{where}, so nobody can sign in. Contact the administrator, who can see "
            "the cause with 'plurality people'."
        ) from None


def _role(name: str, claims: Mapping[str, Any], listed: PeopleList, settings: Settings) -> Role:
    claim = settings.role_claim
    said = listed.roles.get(name, listed.others)
    if said in (None, CLAIM) and claim:
        told = claims.get(claim)
        values = told if isinstance(told, list | tuple) else [told]
        found = [role for role in ROLES if role in values or f"plurality-{role}" in values]
        said = found[-1] if found else None
    if said in (ENDED, NOBODY):
        raise SignedOutError("Could not sign in: the administrator has not given you access.")
    for role in ROLES:
        if role == said:
            return role
    return "reviewer"


def _groups(name: str, claims: Mapping[str, Any], listed: PeopleList, settings: Settings) -> frozenset[str]:
    told = claims.get(settings.group_claim)
    said = [told] if isinstance(told, str) else told if isinstance(told, list | tuple) else []
    of_list = {group for group, members in listed.groups.items() if name in members}
    return frozenset(of_list | {normal for group in said if isinstance(group, str) and (normal := normal_group(group))})
