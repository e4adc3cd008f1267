"""Codes that may mean a missing annotation, and the evidence by which they differ from classes."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow.compute as pc

from ..annotations.columns import of_texts
from ..annotations.ordering import are_of_one_scale
from ..annotations.vocabulary import values_of

# Each may be a class as well: these are asked about.
_LISTED = """
missing|missing value|not rated|unrated|no rating|not scored|not annotated|unannotated|not labelled|not labeled|
unlabelled|unlabeled|no label|no annotation|not assessed|no data|not available|not done|not read|no response|
unanswered|not answered|not recorded|undefined|abstain|n.a.|n. a.|n.a|n.d.|nil|k.a.|k. a.|keine angabe|-nan(ind)|
#null!|#value!|#ref!|#div/0!|#name?|#num!|(null)|<null>|[null]|<none>|[none]|[nan]|[]|{}|()|''|""|[object object]
"""
_WORDS = frozenset(word.strip() for word in _LISTED.split("|"))
_PYTHON_NONE = "None"
_ABOVE = frozenset({9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999})
_BELOW = frozenset({-1, -7, -8, *(-code for code in _ABOVE)})
_SPELLED = re.compile(f"none|(?:[-\u2212]?(?:{'|'.join(map(str, _ABOVE))})|[-\u2212][178])(?:[.,]0+)?")
_FAR = 2  # times the largest gap between the other numbers
_TWO_DIGITS = 10


def codes_of(names: Sequence[str], counts: np.ndarray, *, of_sets: bool = False) -> dict[str, int]:
    """Return annotations that may mean a missing one, and how often each occurs.

    Words for a missing annotation differ from any class. ``None`` differs from numbers, and in Python's spelling from
    words that make no scale with it. A number differs from words, and from numbers by its distance: above or below all
    others, more than twice as far away as these are from each other and, with two digits or more, at least twice as
    large; or below 0 if no other is.

    Parameters
    ----------
    names : sequence of str
        Distinct annotations as in the file.
    counts : ndarray of int, shape (len(names),)
        Number of times that each occurs.
    of_sets : bool
        True if names are labels of sets, where numbers and ``None`` are labels.
    """
    lower = pc.utf8_lower(of_texts(list(names)))
    spelled = pc.match_substring_regex(lower, f"^(?:{_SPELLED.pattern})$")
    if not pc.any(pc.or_(spelled, pc.is_in(lower, of_texts(sorted(_WORDS))))).as_py():
        return {}
    given = {name: int(count) for name, count in zip(names, counts, strict=True) if count}
    folded = {name: " ".join(name.casefold().split()) for name in given}
    found = {name for name, word in folded.items() if word in _WORDS}
    others = [name for name in given if name not in found]
    if of_sets or not any(_SPELLED.fullmatch(folded[name]) for name in others):
        return {name: given[name] for name in given if name in found and others}
    none = {name for name in others if folded[name] == "none"}
    left = [name for name in others if name not in none]
    numbers = {name: keys[0][0] for name in left if (keys := values_of([name])) is not None}
    of_python = none == {_PYTHON_NONE} and not are_of_one_scale(others)
    if left and (of_python or len(numbers) == len(left)):
        found |= none
    found |= _numbers_that_stand_out(numbers, len(left) - len(numbers))
    return {name: given[name] for name in given if name in found and left}


def _numbers_that_stand_out(numbers: dict[str, float], n_words: int) -> set[str]:
    if n_words:
        return set(numbers) if set(numbers.values()) <= _BELOW | _ABOVE else set()
    values = sorted(set(numbers.values()))
    below = _far_end([-value for value in reversed(values)], frozenset(-code for code in _BELOW))
    values = [value for value in values if -value not in below]
    above = _far_end(values, _ABOVE)
    return {name for name, value in numbers.items() if -value in below or value in above}


def _far_end(values: list[float], codes: frozenset[int]) -> set[float]:
    """Return the codes at the upper end of ascending values that are far from all others.

    Values below 0 need no distance if only codes are above 0: no other value has their sign.
    """
    first = len(values)
    while first and values[first - 1] in codes:
        first -= 1
    for place in range(max(first, 2), len(values)):
        rest = values[:place]
        gap = max(high - low for low, high in pairwise(rest))
        far = values[place] - rest[-1] > _FAR * gap and (values[place] < _TWO_DIGITS or values[place] >= 2 * rest[-1])
        if far or (rest[-1] <= 0 and values[place] > 0):
            return set(values[place:])
    return set()


def looks_like_code(name: str) -> bool:
    """Return whether a name is spelled like a code for a missing annotation, whatever the other names are."""
    word = " ".join(name.casefold().split())
    return word in _WORDS or _SPELLED.fullmatch(word) is not None
