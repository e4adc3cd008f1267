"""Two answers compared number by number, each by the tolerance of its kind; what differs is named by its place.

A recorded answer is compact: a list of more than `MOST` numbers is its shape, its sums and its first entries. The sums
are the plain one, the one of squares, and one with the weights cos 1, cos 2, ..., which moves when two entries change
places. The tolerance of a sum is that of an entry as large as the root of the sum of squares.

Tolerances, of numbers that are not counts:

=============  ===================================================================================================
closed form    1e-9 of the number; on a machine that did not record it, which may round otherwise, 1e-7
iterative fit  1e-6 of the number; there 1e-5, for the last step may be another
random draws   as above on the machine that recorded them, where the same seed gives the same draws. Elsewhere, where
               libm or numba may round otherwise and a sampler then takes another path, `MOST_SE` Monte Carlo standard
               errors from the mean over a dozen other seeds, or the number that was recorded. Which numbers are drawn,
               and their standard errors, is measured: they are those that move with the seed.
=============  ===================================================================================================

Counts, text and what is true or false must be the same. A key that is new may stand beside the others; one that is gone
is a difference, and so is a list of another length.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST = 40
N_FIRST = 20
MOST_SE = 10.0  # with a standard deviation of 12 seeds: one number in a million is further off by chance
RELATIVE = {"closed": 1e-9, "iterative": 1e-6}
ABSOLUTE = {"closed": 1e-12, "iterative": 1e-9}
ELSEWHERE = {"closed": 1e-7, "iterative": 1e-5}  # of the number, on another machine than that of the recording
# Numbers of cases or draws beyond a limit: no seed may move them, and another machine yet does.
_COUNTS_OF_DRAWS = ("n_below", "n_divergent", "n_high_k", "n_changed_cases")
_ARRAY, _LIST = {"shape", "sum", "squares", "wave", "first", "n_null"}, {"n", "sha256", "first"}
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Rule:
    """How near a number must be.

    Attributes
    ----------
    kind : {"closed", "iterative"}
    same_machine : bool
        Whether draws and rounding are those of the recording.
    spread : dict from str to (float, float) or None
        Of places that move with the seed: mean and standard deviation over seeds; None where there is no number, or
        not at every seed. Empty where nothing is drawn.
    n_seeds : int
        Seeds that ``spread`` is over.
    n_draws : int
        Draws that a share is of; 0 where nothing is drawn.
    """

    kind: str
    same_machine: bool = True
    spread: dict[str, tuple[float, float] | None] | None = None
    n_seeds: int = 1
    n_draws: int = 0


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
    if drawn and not rule.same_machine and rule.spread[place] is None:
        return
    # A count that was a share, or text that was a number, is another thing; only draws turn a number into nothing.
    if type(expected) is not type(found) or not _is_number(expected):
        if type(expected) is not type(found) or expected != found:
            lines.append(f"{place}: {_shown(expected)} is recorded, {_shown(found)} found")
        return
    if expected == found:
        return
    middle, allowed = _allowed(expected, place, rule, drawn, max(abs(expected), abs(found), scale))
    if not abs(found - middle) <= allowed:
        lines.append(
            f"{place}: {_shown(expected)} is recorded, {_shown(found)} found: "
            f"{abs(found - middle):.3g} apart, {allowed:.3g} allowed"
        )


def _allowed(expected: float, place: str, rule: Rule, drawn: bool, scale: float) -> tuple[float, float]:
    """Where the number is looked for, and how far from there it may be."""
    count = isinstance(expected, int)
    relative = RELATIVE if rule.same_machine else ELSEWHERE
    near = 0.0 if count else relative[rule.kind] * scale + ABSOLUTE[rule.kind]
    if rule.same_machine:
        return expected, near
    of_draws = rule.n_draws > 0 and any(name in place for name in _COUNTS_OF_DRAWS)
    near += 1.0 if of_draws and count else 0.0
    if drawn:
        mean, sd = rule.spread[place]
        return mean, near + MOST_SE * sd * math.sqrt(1 + 1 / rule.n_seeds)
    if count and rule.kind == "iterative" and place.endswith("n_iterations"):
        return expected, max(2.0, 0.1 * expected)  # the last step may fall on the other side of the stopping rule
    if not count and rule.n_draws and expected in (0.0, 1.0):
        near += 2 / rule.n_draws  # a share that no seed moved may yet be two draws away
    return expected, near


def _shown(value: Any) -> str:
    words = repr(value)
    return words if len(words) <= 80 else words[:77] + "..."
