"""What is computed once for objects that never change, and discarded with them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple, cast
from weakref import WeakKeyDictionary

Objects = TypeVarTuple("Objects")
Found = TypeVar("Found")


def cache_by_identity(work: Callable[[*Objects], Found]) -> Callable[[*Objects], Found]:
    """Compute once for each object, or each combination of objects, as every run of a page asks again.

    They are told apart as themselves, not by what they hold: frozen dataclasses with ``eq=False`` that can be referred
    to weakly. What the function gives is shared, so its arrays should be read-only, and must not hold the first object;
    one that it holds of the others lives as long as the first.

    Parameters
    ----------
    work : callable
        Of one or more positional arguments.

    Returns
    -------
    callable
        The same; two threads that ask at once may both work.
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
