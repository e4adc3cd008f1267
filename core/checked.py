"""Doors of the library: arguments are compared with their declared types before any work begins."""

import re
from collections.abc import Callable, Sequence
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import InputError
from .options import check_level

_LARGEST = 2**63  # numpy takes larger whole numbers for objects
_SHORT = 100  # items of a list that are all looked at
_Door = TypeVar("_Door", bound=Callable[..., Any])


def checked(door: _Door) -> _Door:
    """Refuse arguments of a public function or class that are not of the declared types, by `InputError`.

    Whole numbers count as real ones, and numpy's numbers as Python's. Arguments that are not given are not looked at.

    Parameters
    ----------
    door : callable
        Function, or a dataclass, whose constructor is checked then.
    """
    if isinstance(door, type):
        door.__init__ = checked(door.__init__)  # type: ignore[misc]
        return door

    @wraps(door)
    def call(*args: Any, **kwargs: Any) -> Any:
        declared, hints = _declared(door)
        for name, value in declared.bind(*args, **kwargs).arguments.items():
            if name in hints and not _fits(value, hints[name]):
                raise InputError(f"{name} must be {_said(hints[name])}; got {_shown(value)}.")
            if name == "level":
                check_level(value)
        return door(*args, **kwargs)

    return call  # type: ignore[return-value]


def check_shapes(**arrays: tuple[Any, tuple[int, ...]]) -> None:
    """Refuse arrays of another shape.

    Parameters
    ----------
    **arrays : tuple
        By the name of the argument: the array, or None if it was not given, and the shape that it must have.

    Raises
    ------
    InputError
    """
    for name, (array, shape) in arrays.items():
        if array is not None and array.shape != shape:
            raise InputError(f"{name} must be an array of shape {shape}; got {array.shape}.")


@cache
def _declared(door: Callable[..., Any]) -> tuple[Signature, dict[str, Any]]:
    declared, hints = signature(door), get_type_hints(door)
    named = {one.name for one in declared.parameters.values() if one.kind is not Parameter.VAR_KEYWORD}
    return declared, {name: hint for name, hint in hints.items() if name in named and hint is not Any}


def _fits(value: Any, hint: Any) -> bool:
    """Decide the common types here: the library that knows all of them takes a while to load."""
    alternatives = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if isinstance(value, bool | str | bytes):  # nor is a text a list of letters, or True a number
        return type(value) in alternatives or any(
            value in get_args(one) for one in alternatives if get_origin(one) is Literal
        )
    if isinstance(value, int) and abs(value) >= _LARGEST:
        return False
    if any(_fits_plainly(value, one) for one in alternatives):
        return True
    from beartype.door import is_bearable

    return is_bearable(value, hint, conf=_conventions())


def _fits_plainly(value: Any, hint: Any) -> bool:
    """Return whether a value is an instance of a class, a function, or a short list or tuple of what fits."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Callable:
        return callable(value)
    of_one_type = origin is Sequence or (origin is tuple and inner[1:] == (...,))
    if of_one_type and isinstance(value, list | tuple) and len(value) <= _SHORT:
        return isinstance(value, origin) and all(_fits(one, inner[0]) for one in value)
    is_open = getattr(hint, "_is_protocol", False) and not getattr(hint, "_is_runtime_protocol", False)
    return isinstance(hint, type) and origin is None and not is_open and isinstance(value, hint)


@cache
def _conventions() -> Any:
    import numpy as np
    from beartype import BeartypeConf, FrozenDict

    whole, real = int | np.integer, float | int | np.floating | np.integer
    return BeartypeConf(hint_overrides=FrozenDict({int: whole, float: real}))


def _said(hint: Any) -> str:
    """Write a type as in the signature, without modules; the values of a choice."""
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_said(one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if hint is NoneType:
        return "None"
    return hint.__name__ if isinstance(hint, type) and get_origin(hint) is None else re.sub(r"\b\w+\.", "", str(hint))


def _shown(value: Any) -> str:
    return (
        repr(value) if isinstance(value, str | int | float | None) and len(repr(value)) < 60 else type(value).__name__
    )
