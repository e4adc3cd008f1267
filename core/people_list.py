"""Administrator's list of people and their roles, with the faults that prevent reading it.

The list is a TOML file (``PLURALITY_PEOPLE``), read again at every use::

    everybody_else = "reviewer"  # or "nobody", or "claim": as the provider's claim PLURALITY_ROLE_CLAIM says

    [people]
    "ann@clinic.example" = "administrator"
    "bob@clinic.example" = "ended"     # at once, whatever the provider says

    [groups]
    "radiology" = ["ann@clinic.example", "eve@clinic.example"]

A list with anything else in it is refused, so that a typing error cannot give access to anybody.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from .errors import InputError
from .settings import current_settings
from .text import listed

Role = Literal["reviewer", "manager", "administrator"]
ROLES: tuple[Role, ...] = ("reviewer", "manager", "administrator")
ENDED, NOBODY, CLAIM = "ended", "nobody", "claim"
OTHERS = "everybody_else"
LONGEST_NAME = 200
_ALPHABETS = {"LATIN", "GREEK", "CYRILLIC"}  # with letters that look the same
_REMEDY = "Correct the file, then check it with: plurality people"


@dataclass(frozen=True, slots=True)
class PeopleList:
    """Content of the list.

    Attributes
    ----------
    roles : dict of str to str
        Role by name, "ended" among them.
    others : str or None
        Role of everybody else: a role, "nobody" or "claim"; None without a list.
    groups : dict of str to tuple of str
        Members by group.
    names : frozenset of str
        Everybody in the list, with a role or in a group.
    looks : frozenset of str
        Folded forms of these names, see `looks_like`.
    """

    roles: dict[str, str]
    others: str | None
    groups: dict[str, tuple[str, ...]]
    names: frozenset[str] = field(init=False)
    looks: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        names = frozenset(self.roles).union(*self.groups.values())
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "looks", frozenset(map(looks_like, names)))

    def is_look_alike(self, name: str) -> bool:
        """Return whether a name reads like a name of the list but differs from it."""
        return name not in self.names and looks_like(name) in self.looks


def normal_name(name: str) -> str:
    """Return a name as it is compared: in Unicode's form NFC and in lower case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())


def normal_group(name: str) -> str:
    """Return the name of a group as it is compared: like a name, with single blanks."""
    return normal_name(" ".join(name.split()))


def looks_like(name: str) -> str:
    """Return the folded form of a name: two names with the same one may read alike but be two people."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def name_fault(name: str) -> str:
    """Return why a text is not a valid name, such as ``has a space``; empty if it is valid.

    Parameters
    ----------
    name : str
        Name as the list or the provider writes it.
    """
    if not name:
        return "is empty"
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if not name.isprintable() or name != " ".join(name.split()):
        return "has a space at the start or end, two spaces in a row or an unprintable character"
    if " " in name and current_settings().name_claim == "email":
        return "has a space, which is not allowed in an e-mail address"
    if any(unicodedata.normalize("NFC", letter) != letter for letter in name):
        return "has a letter that looks like another letter"
    words = re.findall(r"[^\W\d_]+", name)
    if any(len(_ALPHABETS & {unicodedata.name(letter, "").split(" ")[0] for letter in word}) > 1 for word in words):
        return "has letters from two alphabets in one word"
    return ""


def read_people() -> PeopleList:
    """Read the present list; without one, nobody has a role from the list.

    Raises
    ------
    InputError
        It cannot be read completely; the message names the line of a fault.
    """
    settings = current_settings()
    path = settings.people
    if path is None:
        return PeopleList({}, None, {})
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"Could not read {path}: {error.strerror or error}.", _REMEDY) from None
    except UnicodeDecodeError:
        raise InputError(f"Could not read {path}: it is not UTF-8 text.", _REMEDY) from None
    return _read(path, text, settings.name_claim, bool(settings.role_claim))


@lru_cache(maxsize=8)
def _read(path: Path, text: str, name_claim: str, has_role_claim: bool) -> PeopleList:
    """Read a text once, because a page asks many times; the result depends on the settings as well."""
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        words, _, _ = str(error).rpartition(" (")
        words = "a name or a table appears more than once" if "Cannot" in words else words
        raise InputError(f"Could not read {path}: {words}.", _REMEDY, _line_in(str(error), text)) from None
    try:
        return _checked(told, has_role_claim)
    except _FaultError as fault:
        raise InputError(f"Could not read {path}: {fault}.", _REMEDY, _line_of(text, fault.path)) from None


class _FaultError(Exception):
    """Fault of the list, and the keys that lead to it."""

    def __init__(self, words: str, *path: str):
        super().__init__(words)
        self.path = path


def _checked(told: dict[str, Any], has_role_claim: bool) -> PeopleList:
    _check_tables(told)
    _check_others(told.get(OTHERS), has_role_claim)
    people, groups = told.get("people", {}), told.get("groups", {})
    for name, role in people.items():
        if role not in (*ROLES, ENDED):
            raise _FaultError(f"the role of {name!r} must be {_or((*ROLES, ENDED))}, not {role!r}", "people", name)
    names = _names(people, "people")
    members = {group: _members(group, written) for group, written in groups.items()}
    called: dict[str, str] = {}
    for group in groups:
        if not normal_group(group):
            raise _FaultError("a group has no name", "groups", group)
        if (known := called.setdefault(normal_group(group), group)) != group:
            raise _FaultError(
                f"the group names {known!r} and {group!r} differ only in case or spacing", "groups", group
            )
    _refuse_look_alikes(people, groups)
    return PeopleList(
        {names[name]: role for name, role in people.items()},
        told[OTHERS],
        {normal_group(group): of_group for group, of_group in members.items()},
    )


def _check_tables(told: dict[str, Any]) -> None:
    for key in told:
        if key not in (OTHERS, "people", "groups"):
            raise _FaultError(f"{key!r} is unknown; use {OTHERS}, [people] or [groups]", key)
    for table in ("people", "groups"):
        if not isinstance(told.get(table, {}), dict):
            raise _FaultError(f"{table} is not a table; write [{table}] on its own line", table)
        if OTHERS in told.get(table, {}):
            raise _FaultError(f"{OTHERS} is in [{table}]; put it above the first table", table, OTHERS)


def _check_others(others: object, has_role_claim: bool) -> None:
    if others is None:
        raise _FaultError(f'{OTHERS} is missing; put {OTHERS} = "{NOBODY}" above the first table')
    if others not in (*ROLES, NOBODY, CLAIM):
        raise _FaultError(f"{OTHERS} must be {_or((*ROLES, NOBODY, CLAIM))}, not {others!r}", OTHERS)
    if others == CLAIM and not has_role_claim:
        raise _FaultError(f"{OTHERS} is {CLAIM!r}, but PLURALITY_ROLE_CLAIM is not set", OTHERS)


def _names(written: Iterable[str], *path: str) -> dict[str, str]:
    """Return each name as it is compared, by how it is written; names are keys of a table, or texts of a list."""
    found: dict[str, str] = {}
    for name in written:
        if fault := name_fault(name):
            raise _FaultError(f"the name {name!r} {fault}", *path, name)
        if normal_name(name) in found.values():
            raise _FaultError(f"the name {name!r} is repeated", *path, name)
        found[name] = normal_name(name)
    return found


def _members(group: str, written: object) -> tuple[str, ...]:
    if not isinstance(written, list) or not all(isinstance(name, str) for name in written):
        raise _FaultError(f"the members of {group!r} are not a list of names", "groups", group)
    if len(set(written)) < len(written):
        (twice, *_) = [name for place, name in enumerate(written) if name in written[:place]]
        raise _FaultError(f"the name {twice!r} is repeated", "groups", group, twice)
    return tuple(_names(written, "groups", group).values())


def _refuse_look_alikes(people: dict[str, Any], groups: dict[str, Any]) -> None:
    """Refuse two people whose names look alike, because sharing with one could not be distinguished from the other."""
    where: list[tuple[str, tuple[str, ...]]] = [(name, ("people", name)) for name in people]
    where += [(name, ("groups", group, name)) for group, names in groups.items() for name in names]
    seen: dict[str, str] = {}
    for name, path in where:
        known = seen.setdefault(looks_like(name), normal_name(name))
        if known != normal_name(name):
            raise _FaultError(f"the names {known!r} and {name!r} look alike", *path)


def _or(words: tuple[str, ...]) -> str:
    return listed(words).replace(" and ", " or ")


def _line_in(words: str, text: str) -> int | None:
    """Return the line that the parser names in its message."""
    _, _, after = words.rpartition("at line ")
    number = after.partition(",")[0]
    if number.isdecimal():
        return int(number)
    return text.count("\n") + 1 if "at end of document" in words else None


def _line_of(text: str, path: tuple[str, ...]) -> int | None:
    """Return the line of a key, or for a member of a group the first line after the group's key that names it."""
    lines, found = text.splitlines(), None
    for number, keys in _keys_by_line(lines) if path else ():
        if any(key[: len(path)] == path for key in keys):
            return number
        if path[:-1] in keys and path[0] == "groups":
            found = number
        if found is not None and path[-1] in lines[number - 1]:
            return number
    return found


def _keys_by_line(lines: list[str]) -> Iterator[tuple[int, set[tuple[str, ...]]]]:
    """Return for each line the keys that it sets, from the top of the file."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        told: dict[str, Any] = {}
        for attempt in (line, f"{line.partition('=')[0]}= 0"):  # the latter where a list goes on over lines
            try:
                told = tomllib.loads(attempt)
                break
            except tomllib.TOMLDecodeError:  # a line within a list sets no key
                continue
        keys = set(_paths(told))
        if line.lstrip().startswith("[") and keys:
            table = max(keys, key=len)
            yield number, keys
        else:
            yield number, {(*table, *key) for key in keys}


def _paths(told: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for key, value in told.items():
        yield (key,)
        if isinstance(value, dict):
            yield from ((key, *rest) for rest in _paths(value))
