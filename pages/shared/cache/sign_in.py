"""Current user of this session, determined at every use; nobody in particular without sign-in."""

import time
from contextlib import suppress

import streamlit as st

from core import sign_ins
from core.access_record import ENDED, LEAST_UPLOAD, REFUSED, ROLE, record_access, record_upload, uploaded_bytes
from core.errors import InputError
from core.people import NotYoursError, Person, Role, SessionOverError, SignedOutError, note_use, person_of, sign_out
from core.review.events import LONGEST_NAME
from core.settings import MEGABYTE, current_settings
from pages.shared.cache import visit
from pages.shared.cache.streamlit_private import get_secrets_auth_section

_LOOK = 1.0  # seconds until it is looked again whether a provider is set up, where there was none
_looked, _seen = float("-inf"), False
_MOST_REFUSED = 10_000
_refused: set[tuple[str, str]] = set()


def is_on() -> bool:
    """Return True if people sign in: because the settings require it, or because a provider is set up."""
    return current_settings().sign_in or _has_provider()


def _has_provider() -> bool:
    """Return True if a provider is set up; remembered, because Streamlit searches for its file at every call.

    A server that has seen one asks for sign-in until it ends: its file may be half written, or gone by mistake.
    """
    global _looked, _seen
    now = time.monotonic()
    if not _seen and now - _looked >= _LOOK:
        if get_secrets_auth_section():
            _seen = True
        else:  # after the look: who asks meanwhile looks, too
            _looked = now
    return _seen


def person() -> Person | None:
    """Return the signed-in user; None without sign-in.

    Raises
    ------
    SignedOutError
        Somebody should be, and nobody is, or not any more.
    """
    return person_of(st.user.to_dict()) if is_on() else None


def name() -> str:
    """Return the name of the signed-in user; empty without sign-in."""
    found = person()
    return "" if found is None else found.name


def name_for_draft() -> str:
    """Return the name of who types, also in the run in which their time turns out to be over; otherwise empty.

    Without sign-in it is the name that the reviewer entered.
    """
    try:
        return name() or visit.reviewer or ""
    except SessionOverError:
        return "" if sign_ins.is_ended(sign_ins.which_of(st.user.to_dict())) else visit.reviewer or ""
    except SignedOutError:
        return ""


def ask_for(role: Role) -> Person | None:
    """Return the signed-in user, if they have this role or a higher one.

    Raises
    ------
    SignedOutError
        Nobody is signed in any more.
    NotYoursError
        The role does not allow it.
    """
    found = person()
    if found is not None and not found.may_act_as(role):
        raise NotYoursError(f"You need the {role} role to do this. Ask the administrator for it.")
    return found


def may(role: Role) -> bool:
    """Return True if the user has this role or a higher one; always True without sign-in."""
    try:
        ask_for(role)
    except (NotYoursError, SignedOutError):
        return False
    return True


def upload_limit_mb(person: Person | None) -> int:
    """Return the largest file that a person may upload, in MiB; a reviewer has a limit of their own."""
    settings = current_settings()
    if person is None or person.may_act_as("manager"):
        return settings.max_upload_mb
    return min(settings.reviewer_upload_mb, settings.max_upload_mb)


def daily_upload_mb(person: Person) -> int:
    """Return the size of all files that a person may upload in 24 hours, in MiB."""
    return current_settings().uploads_per_day * upload_limit_mb(person)


def refused_upload(person: Person, n_bytes: int) -> str:
    """Record a file that a person uploads; return why it is refused, empty if it is not."""
    limit = daily_upload_mb(person)
    try:
        within = record_upload(person.name, n_bytes, limit * MEGABYTE)
    except InputError as error:
        return str(error)
    return "" if within else f"With this file, you would exceed your upload limit of {limit:,} MB per 24 hours."


def upload_limits() -> str:
    """Say what the user may upload and what is left of it; empty without sign-in."""
    found = person()
    if found is None:
        return ""
    limit = daily_upload_mb(found)
    left = limit * MEGABYTE - uploaded_bytes(found.name)
    if left < LEAST_UPLOAD:
        reached = f"You have reached your upload limit of {limit:,} MB per 24 hours."
        return f"{reached} Try again later, or ask an administrator."
    most = f"You can upload up to {upload_limit_mb(found):,} MB per file and {limit:,} MB per 24 hours."
    return f"{most} You have {left // MEGABYTE:,} MB left."


def gate() -> bool:
    """Return True if the page may be drawn; otherwise draw the sign-in, and clear the session."""
    try:
        found = person()
        if found is not None:  # the name that stands in the record comes from here alone
            note_use(st.user.to_dict(), found)
            visit.reviewer = found.name
            before, visit.signed_in_role = visit.signed_in_role, found.role
            if before not in (None, found.role):
                record_access(found.name, ROLE, details=[found.role])
    except SignedOutError as error:
        _record_refusal(error)
        visit.clear()
        st.title("Plurality")
        st.write(str(error))
        offered = providers()
        for name, words in offered.items():
            st.button(words, type="primary", icon=":material/login:", on_click=_sign_in, args=(name,), key=f"in-{name}")
        if not offered:
            st.error(
                "Sign-in is not available: [auth] in .streamlit/secrets.toml contains no identity provider. Only the "
                "administrator can change this.",
                icon=":material/error:",
            )
        return False
    return True


def used() -> None:
    """Note that who is here does something, so that their session does not end as unused."""
    if (found := person()) is not None:
        note_use(st.user.to_dict(), found)


def seconds_left() -> float | None:
    """Return the seconds until the user's session ends unless they do something; None without sign-in."""
    found = person()
    if found is None:
        return None
    idle, used = current_settings().idle_minutes, sign_ins.last_used(sign_ins.which_of(st.user.to_dict()))
    now = time.time()
    ends = found.until if idle is None or used is None else min(found.until, used + 60 * idle)
    return max(0.0, ends - now)


def _record_refusal(error: SignedOutError) -> None:
    """Put into the record of access that the provider knows somebody who is not let in, once in a process."""
    claims, why = st.user.to_dict(), str(error)
    said = (sign_ins.which_of(claims), why)
    if not claims.get("is_logged_in") or said in _refused:
        return
    if len(_refused) >= _MOST_REFUSED:
        _refused.clear()
    _refused.add(said)
    who = claims.get(current_settings().name_claim)
    with suppress(InputError):  # they stay outside all the same
        what = ENDED if isinstance(error, SessionOverError) else REFUSED
        record_access(str(who)[:LONGEST_NAME] if who else "", what, details=[why])


def shown() -> None:
    """Show the signed-in user, the end of their session, and the sign-out button."""
    found = person()
    if found is None:
        return
    ends = time.strftime("%H:%M UTC", time.gmtime(found.until))
    st.caption(f"Signed in as {found.role} until {ends}")
    st.text(found.name)
    st.button("Sign out", icon=":material/logout:", type="tertiary", on_click=_sign_out, key="sign_out")


def providers() -> dict[str, str]:
    """Names of the providers that are set up, with the words of their buttons."""
    section = get_secrets_auth_section()
    named = [name for name, value in section.items() if isinstance(value, dict) or hasattr(value, "to_dict")]
    if "client_id" in section:
        return {"default": "Sign in"}
    return {name: "Sign in" if len(named) == 1 else f"Sign in with {name}" for name in named}


def _sign_in(provider: str) -> None:
    st.login(None if provider == "default" else provider)


def _sign_out() -> None:
    sign_out(st.user.to_dict())
    visit.clear()
    st.logout()
