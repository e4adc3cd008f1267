"""Annotations with raters named by position, and their real names put back into results.

No result depends on the names of raters or of the dataset. So results are computed on the same annotations with raters
named by their position, each by one character of a plane that Unicode leaves to private use. A result then serves for
any names: hidden, renamed, or shown. `with_names` puts names back, also inside sentences.
"""

import copy
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from .validation import Names, Texts

Dataset = Any  # `core.annotations.dataset.Dataset`, which imports this module
_FIRST, _LAST = 0xF0000, 0xFFFFD  # private use, plane 15
_NAME = "\U00100000"  # placeholder for the name of the dataset
_CODED = re.compile("[\U000f0000-\U000ffffd\U00100000]|\\\\U000f[0-9a-f]{4}|\\\\U00100000")
MOST_RATERS = _LAST - _FIRST + 1


def coded(dataset: Dataset) -> Dataset:
    """Return the same annotations with raters named by their position; shares all arrays.

    With more than `MOST_RATERS` raters, or if cases or classes themselves contain these characters, the dataset is
    returned unchanged, with its names.
    """
    if dataset.name == _NAME and dataset.raters == code_names(dataset.n_raters):
        return dataset
    texts = (*dataset.cases, *dataset.classes, *(dataset.case_group or ()))
    if dataset.n_raters > MOST_RATERS or _found("".join(texts)):
        return dataset
    return _copied(dataset, _NAME, code_names(dataset.n_raters))


def code_names(n_raters: int) -> Names:
    """Return the names of raters by their position."""
    return Names(map(chr, range(_FIRST, _FIRST + n_raters)))


def renamed_raters(dataset: Dataset, raters: Iterable[str]) -> Dataset:
    """Return the same annotations with other rater names; results without names are known for both."""
    found = _copied(dataset, dataset.name, Names(raters))
    found.__dict__["coded"] = dataset.coded
    return found


def with_names(value: Any, dataset: Dataset) -> Any:
    """Return a result of ``dataset.coded`` with the names of ``dataset``; the same object if it contains none.

    Names are replaced in tuples, lists, sets, dicts, dataclasses, arrays of text and datasets; other objects do not
    change.
    """
    if dataset.coded is dataset:
        return value

    def named(found: re.Match) -> str:
        character = found.group()
        place = ord(character) if len(character) == 1 else int(character[2:], 16)
        if place == ord(_NAME):
            return dataset.name
        return dataset.raters[place - _FIRST] if place - _FIRST < dataset.n_raters else character

    return _Walk(dataset.coded, dataset, lambda text: _CODED.sub(named, text) if _found(text) else text).of(value)


def with_codes(value: Any, dataset: Dataset) -> Any:
    """Return a result of `with_names` with raters named by position again, to compute further with ``dataset.coded``.

    Names inside sentences are not replaced, so results of further computations must make their own sentences.
    """
    if dataset.coded is dataset:
        return value
    return _Walk(dataset, dataset.coded, str).of(value)


def with_names_in(error: BaseException, dataset: Dataset) -> BaseException:
    """Return an error raised while working on ``dataset.coded``, with the names of ``dataset`` in its message."""
    found = copy.copy(error)  # the error is shared with those who see other names
    found.args = with_names(error.args, dataset)
    for name, value in vars(error).items():
        setattr(found, name, with_names(value, dataset))
    return found


def _found(text: str) -> bool:
    return (not text.isascii() or "\\U" in text) and _CODED.search(text) is not None


def _copied(dataset: Dataset, name: str, raters: Names) -> Dataset:
    found = copy.copy(dataset)
    for known in ("digest", "names_digest", "coded"):
        vars(found).pop(known, None)
    object.__setattr__(found, "name", name)
    object.__setattr__(found, "raters", raters)
    return found


class _Walk:
    """Translation of a result from the raters of one dataset to those of the other; unchanged parts are not copied."""

    def __init__(self, before: Dataset, after: Dataset, put: Callable[[str], str]):
        self.before, self.after, self.put = before, after, put
        self.seen: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """Return the value with every text and every dataset replaced."""
        if isinstance(value, str):
            return self.put(value)
        if value is None or isinstance(value, bool | int | float | bytes | Enum | np.generic):
            return value
        if value is self.before:
            return self.after
        if id(value) not in self.seen:
            self.seen[id(value)] = self._opened(value)
        return self.seen[id(value)]

    def _opened(self, value: Any) -> Any:
        if value is self.before.cases or value is self.before.classes:
            return value
        if isinstance(value, Texts):
            return self._texts(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, tuple | list | set | frozenset):
            return self._sequence(value)
        if type(value) is dict:
            pairs = {self.of(key): self.of(inner) for key, inner in value.items()}
            same = all(a is b and value[a] is pairs[b] for a, b in zip(value, pairs, strict=True))
            return value if same else pairs
        if is_dataclass(value) and not isinstance(value, type):
            return self._instance(value)
        return value

    def _texts(self, value: Texts) -> tuple[str, ...]:
        if value == self.before.raters:
            return self.after.raters
        return type(value)(map(self.put, value)) if _found("".join(value)) else value

    def _array(self, value: np.ndarray) -> np.ndarray:
        if value.dtype.kind not in "OU" or not value.size:
            return value
        before = value.ravel().tolist()
        walked = [self.of(one) for one in before]
        if all(one is other for one, other in zip(before, walked, strict=True)):
            return value
        changed = np.empty(value.shape, dtype=object)
        np.place(changed, np.ones(value.shape, bool), walked)
        return changed if value.dtype.kind == "O" else changed.astype(str)

    def _sequence(self, value: Any) -> Any:
        walked = [self.of(one) for one in value]
        if all(one is other for one, other in zip(value, walked, strict=True)):
            return value
        return type(value)(*walked) if hasattr(value, "_fields") else type(value)(walked)

    def _instance(self, value: Any) -> Any:
        names = [field.name for field in fields(value)]
        changed = {name: now for name in names if (now := self.of(old := getattr(value, name))) is not old}
        if not changed:
            return value
        found = copy.copy(value)
        for name in set(getattr(found, "__dict__", ())) - set(names):  # what was computed from the fields
            del found.__dict__[name]
        for name, now in changed.items():
            object.__setattr__(found, name, now)
        if isinstance(value, type(self.before)) and coded(value) is value:
            found.__dict__["coded"] = value
        return found


def without_names(dataset: Dataset, machines: Collection[str] = ()) -> Dataset:
    """Return the same annotations with raters named ``Rater 1``, ``Rater 2``, ..., and AI raters ``AI rater 1``, ...

    Numbers are assigned in an order that depends on the content only, so that they do not change from one time to the
    next and alphabetical order does not reveal the names.
    """
    rng = np.random.default_rng(int(dataset.content_digest, 16))
    number = (1 + rng.permutation(dataset.n_raters)).tolist()
    of_machines = sorted(number[rater] for rater, name in enumerate(dataset.raters) if name in machines)
    called = [f"AI rater {of_machines.index(one) + 1}" if one in of_machines else f"Rater {one}" for one in number]
    return renamed_raters(dataset, called)
