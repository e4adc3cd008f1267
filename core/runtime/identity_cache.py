"""Cache of values that are computed once for objects that never change, and discarded with them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple, cast
from weakref import WeakKeyDictionary

Objects = TypeVarTuple("Objects")
Found = TypeVar("Found")


def cache_by_identity(work: Callable[[*Objects], Found]) -> Callable[[*Objects], Found]:
    """Compute once for each object, or combination of objects, because every run of a page asks again.

    Objects are compared by identity, not by content: frozen dataclasses with ``eq=False`` that allow weak references.
    The result is shared, so its arrays should be read-only, and it must not refer to the first object; if it refers to
    one of the others, that one lives as long as the first.

    Parameters
    ----------
    work : callable
        Function of one or more positional arguments.

    Returns
    -------
    callable
        Cached function; two threads that call it at the same time may both compute.
    """
    known: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @wraps(work)
    def found(*objects: *Objects) -> Found:
        given: tuple[Any, ...] = objects
        place = known
        for each in given[:-1]:
            place = place.setdefault(each, WeakKeyDictionary())
        if given[-1] not in place:
            place[given[-1]] = work(*objects)
        return cast(Found, place[given[-1]])

    return found
