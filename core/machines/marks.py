"""Which raters are machines: marked by hand, or found by their names; with their family and version."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import InputError

# Families by what stands in a name; the first that fits. Whoever marks raters can correct it.
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
    """A rater who is a machine.

    Attributes
    ----------
    name : str
        Of the rater.
    family, version : str
        What it is of, such as one provider's models, and which; empty where not known.
    """

    name: str
    family: str = ""
    version: str = ""

    def to_dict(self) -> dict[str, str]:
        """As it is kept."""
        return {"family": self.family, "version": self.version}

    @classmethod
    def from_dict(cls, name: str, told: Any) -> "Machine":
        """As `to_dict` wrote it; what is no text is left out."""
        told = told if isinstance(told, dict) else {}
        said = {key: told.get(key, "") for key in ("family", "version")}
        return cls(name, **{key: value if isinstance(value, str) else "" for key, value in said.items()})


def machine_like(names: Iterable[str]) -> tuple[Machine, ...]:
    """Those names that look like a machine's, with the family and version that the name says: a proposal to confirm.

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
    """Machines with the family and version that somebody or a file told of them, else with those that their names say.

    Parameters
    ----------
    names : iterable of str
    told : iterable of Machine
    """
    names = tuple(names)
    known = {one.name: one for one in (*machine_like(names), *told)}
    return tuple(known.get(name) or Machine(name) for name in names)


def matching(names: Iterable[str], pattern: str) -> tuple[str, ...]:
    """Names that a pattern fits: ``*`` is anything, ``?`` one letter, capitals do not matter.

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
        raise InputError("The pattern of names is empty.", "Write a name, with * for anything: gpt*.")
    return tuple(name for name in names if fnmatchcase(name.casefold(), pattern.strip().casefold()))
