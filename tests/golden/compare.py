"""Two answers compared number by number, each by the tolerance of its kind; what differs is named by its place.

A recorded answer is compact: a list of more than `MOST` numbers is its shape, its sums and its first entries. The sums
are the plain one, the one of squares, and one with the weights cos 1, cos 2, ..., which moves when two entries change
places. The tolerance of a sum is that of an entry as large as the root of the sum of squares.

Tolerances, of numbers that are not counts, the same on every processor:

=============  ===================================================================================================
closed form    1e-8 of the number
iterative fit  1e-5 of the number, for the last step may be another
chain          `MOST_SE` Monte Carlo standard errors from the mean over a dozen other seeds, or as above from the number
               that was recorded. Only where a chain of many steps takes another path after one rounding: which numbers
               are drawn, and their standard errors, is measured, they are those that move with the seed.
=============  ===================================================================================================

Random draws that are no chain are the same for the same seed on every processor, up to rounding.
Counts, text and what is true or false must be the same. A key that is new may stand beside the others; one that is gone
is a difference, and so is a list of another length.
"""

import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST = 40
N_FIRST = 20
MOST_SE = 10.0  # with a standard deviation of 12 seeds: one number in a million is further off by chance
RELATIVE = {"closed": 1e-8, "iterative": 1e-5}
ABSOLUTE = {"closed": 1e-12, "iterative": 1e-9}
_ARRAY, _LIST = {"shape", "sum", "squares", "wave", "first", "n_null"}, {"n", "sha256", "first"}
_DIGITS = 10
_NUMBER = re.compile(r"\d*\.?\d+")


@dataclass(frozen=True, slots=True)
class Rule:
    """How near a number must be.

    Attributes
    ----------
    kind : {"closed", "iterative"}
    spread : dict from str to (float, float) or None
        Of places that move with the seed of a chain: mean and standard deviation over seeds; None where there is no
        number, or not at every seed.
    n_seeds : int
        Seeds that ``spread`` is over.
    """

    kind: str
    spread: dict[str, tuple[float, float] | None] | None = None
    n_seeds: int = 1


def compact(value: Any, n_first: int = N_FIRST) -> Any:
    """The same with long lists summed up and numbers rounded to ten digits, as it is written to a file.

    Raises
    ------
    ValueError
        A number is not finite: JSON has none such.
    """
    if isinstance(value, dict):
        return {key: compact(entry, n_first) for key, entry in value.items()}
    if isinstance(value, list):
        leaves, shape = _leaves(value)
        if shape is not None and len(leaves) > MOST:
            return _array(leaves, shape, n_first)
        if len(value) > MOST and not any(isinstance(entry, dict | list) for entry in value):
            content = json.dumps(value, ensure_ascii=False).encode()
            return {"n": len(value), "sha256": hashlib.sha256(content).hexdigest(), "first": value[:n_first]}
        return [compact(entry, n_first) for entry in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a number of JSON")
        return float(f"{value:.{_DIGITS}g}")
    return value


def differences(expected: Any, found: Any, rule: Rule, *, new_keys: bool = True) -> list[str]:
    """What differs, a line each: the place, what was recorded and what was found.

    Parameters
    ----------
    expected, found : dict
        As `compact` gives them.
    rule : Rule
    new_keys : bool
        Whether keys that were not recorded may stand beside the others.
    """
    lines: list[str] = []
    _compare(expected, found, "", rule, new_keys, lines)
    return lines


def spread_of(recorded: Any, others: list[Any]) -> dict[str, tuple[float, float] | None]:
    """The numbers that move with the seed: mean and standard deviation over ``others``, by place.

    Parameters
    ----------
    recorded : dict
        The compact answer that is kept.
    others : list of dict
        The compact answers at other seeds.
    """
    places = [dict(_places(one)) for one in others]
    found: dict[str, tuple[float, float] | None] = {}
    for place, value in _places(recorded):
        if place.endswith("seed"):
            continue
        values = [one.get(place) for one in places]
        if all(value == other for other in values):
            continue
        if all(_is_number(entry) for entry in (value, *values)):
            found[place] = (float(np.mean(values)), float(np.std(values, ddof=1)))
        else:
            found[place] = None
    return found


def _leaves(value: list) -> tuple[list, tuple[int, ...] | None]:
    """Numbers and nulls of a nested list in order, and its shape; no shape where it is ragged or holds other things."""
    if all(entry is None or _is_number(entry) for entry in value):
        return value, (len(value),)
    if not all(isinstance(entry, list) for entry in value):
        return [], None
    parts = [_leaves(entry) for entry in value]
    if len({shape for _, shape in parts}) != 1 or parts[0][1] is None:
        return [], None
    return [leaf for leaves, _ in parts for leaf in leaves], (len(value), *parts[0][1])


def _array(leaves: list, shape: tuple[int, ...], n_first: int) -> dict:
    numbers = np.array([0 if leaf is None else leaf for leaf in leaves], float)
    weights = np.cos(np.arange(1, len(leaves) + 1))
    return {
        "shape": list(shape),
        **compact(
            {
                "sum": math.fsum(numbers),
                "squares": math.fsum(numbers**2),
                "wave": math.fsum(numbers * weights),
                "first": leaves[:n_first],
            }
        ),
        "n_null": sum(leaf is None for leaf in leaves),
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _places(value: Any, place: str = "") -> list[tuple[str, Any]]:
    """Every leaf with its place."""
    if isinstance(value, dict):
        return [one for key, entry in value.items() for one in _places(entry, f"{place}.{key}" if place else key)]
    if isinstance(value, list):
        return [one for number, entry in enumerate(value) for one in _places(entry, f"{place}[{number}]")]
    return [(place, value)]


def _compare(expected, found, place: str, rule: Rule, new_keys: bool, lines: list[str]) -> None:
    if isinstance(expected, dict) and isinstance(found, dict):
        scale = _norm(expected)
        for key, entry in expected.items():
            inner = f"{place}.{key}" if place else key
            if key not in found:
                lines.append(f"{inner}: {_shown(entry)} is recorded, the key is gone")
            elif scale is not None and key in ("sum", "wave"):
                _compare_leaf(entry, found[key], inner, rule, lines, scale)
            else:
                _compare(entry, found[key], inner, rule, new_keys, lines)
        if not new_keys:
            lines.extend(f"{place or 'answer'}: the key {key!r} is new" for key in found if key not in expected)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            lines.append(f"{place}: {len(expected)} entries are recorded, {len(found)} found")
        for number, (entry, other) in enumerate(zip(expected, found, strict=False)):
            _compare(entry, other, f"{place}[{number}]", rule, new_keys, lines)
    else:
        _compare_leaf(expected, found, place, rule, lines)


def _norm(value: dict) -> float | None:
    """Root of the sum of squares, where this is the summary of an array."""
    return math.sqrt(value["squares"]) if set(value) == _ARRAY else None


def _compare_leaf(expected, found, place: str, rule: Rule, lines: list[str], scale: float = 0.0) -> None:
    drawn = bool(rule.spread) and place in rule.spread
    if drawn and rule.spread[place] is None:
        expected, found = _without_numbers(expected), _without_numbers(found)
    # A count that was a share, or text that was a number, is another thing; only a chain turns a number into nothing.
    if type(expected) is not type(found) or not _is_number(expected):
        if type(expected) is not type(found) or expected != found:
            lines.append(f"{place}: {_shown(expected)} is recorded, {_shown(found)} found")
        return
    count = isinstance(expected, int)
    scale = max(abs(expected), abs(found), scale)
    allowed = 0.0 if count else RELATIVE[rule.kind] * scale + ABSOLUTE[rule.kind]
    if count and rule.kind == "iterative" and place.endswith("n_iterations"):
        allowed = max(2.0, 0.1 * expected)  # the last step may fall on the other side of the stopping rule
    middle = expected
    if drawn and abs(found - expected) > allowed:
        middle, sd = rule.spread[place]
        allowed += MOST_SE * sd * math.sqrt(1 + 1 / rule.n_seeds)
    if not abs(found - middle) <= allowed:
        lines.append(
            f"{place}: {_shown(expected)} is recorded, {_shown(found)} found: "
            f"{abs(found - middle):.3g} apart, {allowed:.3g} allowed"
        )


def _without_numbers(value: Any) -> Any:
    """The words of a text whose numbers are those of a chain; of a number that not every seed gives, nothing."""
    return _NUMBER.sub("#", value) if isinstance(value, str) else None


def _shown(value: Any) -> str:
    words = repr(value)
    return words if len(words) <= 80 else words[:77] + "..."
