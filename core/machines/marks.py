"""AI raters among the raters: marked by hand or found by their names, with their family and version."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import InputError

# Families by a part of the name; the first that fits counts. People can correct it when they mark raters.
_FAMILIES = (
    ("GPT", r"gpt|chatgpt|davinci|\bo[134](-|$)"),
    ("Claude", r"claude|sonnet|opus|haiku"),
    ("Gemini", r"gemini|bard|palm"),
    ("Gemma", r"gemma"),
    ("Llama", r"llama|vicuna|alpaca"),
    ("Mistral", r"mistral|mixtral"),
    ("Qwen", r"qwen"),
    ("DeepSeek", r"deepseek"),
    ("", r"\bllm\b|\bai\b|\bbot\b|machine|\bmodel\b|classifier|(^|[^a-z])(cnn|resnet|bert|vit)([^a-z]|$)"),
)
_VERSION = re.compile(r"(?:^|[^a-z0-9])v?(\d+(?:[.-]\d+)*[a-z]?)(?=$|[^a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Machine:
    """An AI rater.

    Attributes
    ----------
    name : str
        Name of the rater.
    family, version : str
        Family, such as one provider's models, and version; empty if unknown.
    """

    name: str
    family: str = ""
    version: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the form in which it is saved."""
        return {"family": self.family, "version": self.version}

    @classmethod
    def from_dict(cls, name: str, told: Any) -> "Machine":
        """Read what `to_dict` wrote; values that are not text are left out."""
        told = told if isinstance(told, dict) else {}
        said = {key: told.get(key, "") for key in ("family", "version")}
        return cls(name, **{key: value if isinstance(value, str) else "" for key, value in said.items()})


def machine_like(names: Iterable[str]) -> tuple[Machine, ...]:
    """Find names that look like those of AI raters, with the family and version in the name, as a proposal to confirm.

    Parameters
    ----------
    names : iterable of str
    """
    found = []
    for name in names:
        plain = " ".join(re.split(r"[\s_]+", name.casefold()))
        family = next((title for title, pattern in _FAMILIES if re.search(pattern, plain)), None)
        if family is not None:
            version = _VERSION.search(plain)
            found.append(Machine(name, family, version.group(1) if version else ""))
    return tuple(found)


def described(names: Iterable[str], told: Iterable[Machine] = ()) -> tuple[Machine, ...]:
    """Return AI raters with the family and version given by a person or a file, or else read from their names.

    Parameters
    ----------
    names : iterable of str
    told : iterable of Machine
    """
    names = tuple(names)
    known = {one.name: one for one in (*machine_like(names), *told)}
    return tuple(known.get(name) or Machine(name) for name in names)


def matching(names: Iterable[str], pattern: str) -> tuple[str, ...]:
    """Find names that match a pattern: ``*`` is anything, ``?`` one letter, case is ignored.

    Parameters
    ----------
    names : iterable of str
    pattern : str

    Raises
    ------
    InputError
        The pattern is empty.
    """
    from fnmatch import fnmatchcase

    if not pattern.strip():
        raise InputError("The name pattern is empty.", "Enter a name, with * for any text, such as gpt*.")
    return tuple(name for name in names if fnmatchcase(name.casefold(), pattern.strip().casefold()))
