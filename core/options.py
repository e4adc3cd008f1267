"""Checks of the options of methods: numbers, integers, names from a list, switches."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from .errors import InputError, OptionError
from .text import exact


def check_number(value: object, what: str, lowest: float = -math.inf, highest: float = math.inf) -> None:
    """Refuse values that are not finite numbers from ``lowest`` to ``highest`` (both allowed).

    Parameters
    ----------
    value : object
    what : str
        Name at the start of a sentence: "The prior α".
    lowest, highest : float
        Limits; any finite number by default.

    Raises
    ------
    InputError
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise InputError(f"{what} is {shown(value)}.", "It must be a finite number.")
    if not lowest <= float(value) <= highest:
        bounds = f"at least {exact(lowest)}" if highest == math.inf else f"from {exact(lowest)} to {exact(highest)}"
        raise InputError(f"{what} is {shown(value)}.", f"It must be {bounds}.")


def check_whole(value: object, what: str, least: int | None = None) -> None:
    """Refuse values that are not integers, or below ``least``.

    Parameters
    ----------
    value : object
    what : str
        Name at the start of a sentence: "The seed".
    least : int, optional
        Smallest allowed value.

    Raises
    ------
    InputError
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputError(f"{what} is {shown(value)}.", "It must be an integer.")
    if least is not None and int(value) < least:
        raise InputError(f"{what} is {value:,}.", f"It must be at least {least:,}.")


def check_level(value: Any, what: str = "The confidence level of the intervals") -> None:
    """Refuse values that are not a probability above 0 and below 1."""
    check_number(value, what)
    if not 0 < value < 1:
        raise InputError(f"{what} is {shown(value)}.", "It must be above 0 and below 1.")


def check_choice(value: object, what: str, choices: Iterable[str]) -> None:
    """Refuse values that are not in a list of names.

    Parameters
    ----------
    value : object
    what : str
        Name at the start of a sentence: "The metric".
    choices : iterable of str

    Raises
    ------
    OptionError
    """
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise OptionError(f"{what} is {shown(value)}.", f"It must be one of {', '.join(choices)}.")


def check_flag(value: object, what: str) -> None:
    """Refuse values that are neither True nor False."""
    if not isinstance(value, bool):
        raise InputError(f"{what} is {shown(value)}.", "Use True or False.")


def check_text(value: object, what: str) -> None:
    """Refuse values that are not text."""
    if not isinstance(value, str):
        raise InputError(f"{what} is {shown(value)}.", "It must be text.")


def shown(value: object) -> str:
    """Return a value in a short form for an error."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
