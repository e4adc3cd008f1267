"""Columns of text as codes into a vocabulary in natural order (R2 before R10), with missing tokens separated."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import as_numpy, as_texts, of_numpy, of_texts, text
from .validation import Names

_FIRST_TOKENS = frozenset({"", "na", "n/a", ".", "nan", "null"})
# Tokens that programs write for missing values, in upper or lower case: Excel, pandas, MySQL, C.
_LATER_TOKENS = frozenset({"#n/a", "#na", "#n/a n/a", "<na>", "\\n", "-nan", "1.#ind", "-1.#ind", "1.#qnan"})
MISSING_TOKENS = _FIRST_TOKENS | _LATER_TOKENS
_NOT_A_TIME = "NaT"  # as pandas spells it: Nat is the name of a person
BLANKS = " \t\r\n\u00a0\ufeff"
# Python's float() also takes 1_2, which is a label here.
_DIGITS = "0123456789"
_MANY = 1_000  # values
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")
_MINUS = "\u2212\u2013-"  # the hyphen is last, as needed in character classes
# A number with its sign, relation or note: <5, >=90, \u22121.5, 1e-3, 90+, -2 (very negative).
_VALUE = re.compile(
    rf"(?P<relation><=|>=|[<>\u2264\u2265])?\s*(?P<sign>[+{_MINUS}])?(?P<number>[0-9]+(?:[.,][0-9]+)*|[.,][0-9]+)"
    rf"(?P<exponent>[eE][+{_MINUS}]?[0-9]{{1,3}})?(?P<rest>\s*[+%]?|[\s:=(].*)",
    re.DOTALL,
)
_WRITTEN = re.compile(rf"(?:[<>]=?|[\u2264\u2265])?\s*[+{_MINUS}]?[0-9]+(?:[.,][0-9]+)*\s*%?")
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_POINTS_OF_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]+)?")
_MORE_THAN_DIGITS = f"^\\s*[.<>\u2264\u2265+{_MINUS}]|^[0-9.,]+[eE]|^[0-9]*,"
_SIGNED = r"^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?$"
_MINUSES = tuple(_MINUS)
_TO_MINUS = dict.fromkeys(map(ord, _MINUS), "-")
_RELATIONS = {"<": -2, "<=": -1, "\u2264": -1, ">=": 1, "\u2265": 1, ">": 2}


@dataclass(slots=True)
class Rule:
    """Rule by which text is read, and whether the earlier rule would have read it differently.

    Attributes
    ----------
    earlier : bool
        True for reading as before numbers were ordered by value, with fewer tokens for missing values.
    matters : bool
        True if a text was read since that the earlier rule reads differently.
    """

    earlier: bool = False
    matters: bool = False


_rule: ContextVar[Rule | None] = ContextVar("rule", default=None)


@contextmanager
def reading_by(rule: Rule) -> Iterator[Rule]:
    """Read by a rule for the duration of a block."""
    before = _rule.set(rule)
    try:
        yield rule
    finally:
        _rule.reset(before)


def _reads_earlier() -> bool:
    rule = _rule.get()
    return rule is not None and rule.earlier


def _note_difference() -> None:
    if (rule := _rule.get()) is not None:
        rule.matters = True


def is_missing(text: str) -> bool:
    """Return whether a trimmed cell is empty, or a token for a missing value."""
    return text.lower() in _FIRST_TOKENS or is_missing_now(text)


def is_missing_now(text: str) -> bool:
    """Return whether a trimmed cell counts as missing, and did not by the earlier rule."""
    return text.lower() in _LATER_TOKENS or text == _NOT_A_TIME


@dataclass(frozen=True, slots=True)
class Coded:
    """Column of text as codes.

    Attributes
    ----------
    code : ndarray of int32
        Index into ``values``; -1 missing.
    values : tuple of str
        Distinct values, trimmed, in natural order.
    missing : dict
        Number of occurrences of each missing token, as written in the file ("" for empty or blank).
    """

    code: np.ndarray
    values: tuple[str, ...]
    missing: dict[str, int]


def encode(column: pa.ChunkedArray) -> Coded:
    """Return the codes of a column of strings; only distinct values are processed one by one."""
    encoded = one_dictionary(column)
    if len(encoded.dictionary) > len(encoded.indices):  # a part of a column has the dictionary of the whole column
        encoded = encoded.dictionary_decode().dictionary_encode()
    raw_code = as_numpy(encoded.indices).astype(np.int32, copy=False)
    trimmed = pc.utf8_trim(encoded.dictionary, characters=BLANKS)
    is_token = _missing_of(trimmed)

    distinct = trimmed.filter(of_numpy(~is_token)).unique()
    order = natural_order(distinct)
    values = distinct.take(order)
    if len(distinct) == len(trimmed):
        recode = np.empty(len(distinct), np.int32)
        recode[as_numpy(order)] = np.arange(len(distinct), dtype=np.int32)
    else:
        recode = as_numpy(pc.fill_null(pc.index_in(trimmed, values), of_numpy(np.array([-1], np.int32))[0])).copy()
        recode[is_token] = -1
    code = recode.take(raw_code, mode="clip") if raw_code.size else raw_code
    missing: dict[str, int] = {}
    if is_token.any():
        counts = np.bincount(raw_code, minlength=len(trimmed))
        for place in np.flatnonzero(is_token):
            token = trimmed[int(place)].as_py()
            missing[token] = missing.get(token, 0) + int(counts[place])
    return Coded(code, Names(as_texts(values)), missing)  # valid names: distinct, in UTF-8, and "" counts as missing


def _missing_of(trimmed: pa.Array) -> np.ndarray:
    """Return which texts are tokens for missing values."""
    lower = pc.utf8_lower(trimmed)
    found = as_numpy(pc.is_in(lower, of_texts(sorted(_FIRST_TOKENS)))).copy()
    later = as_numpy(pc.is_in(lower, of_texts(sorted(_LATER_TOKENS)))) | as_numpy(pc.equal(trimmed, text(_NOT_A_TIME)))
    if later.any():
        _note_difference()
        if not _reads_earlier():
            found |= later
    return found


def one_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column of strings or of dictionaries as one array of codes into one dictionary."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if not column.num_chunks:
        return pa.array([], column.type.value_type).dictionary_encode()
    if column.num_chunks == 1:
        return column.chunk(0)
    if not _share_dictionary(column):
        column = column.unify_dictionaries()
    codes = pa.concat_arrays([chunk.indices for chunk in column.chunks])
    return pa.DictionaryArray.from_arrays(codes, column.chunk(0).dictionary)


def _share_dictionary(column: pa.ChunkedArray) -> bool:
    """Return whether the chunks share one dictionary in memory, because unifying copies would take their total size."""
    places = set()
    for chunk in column.chunks:
        values = chunk.dictionary
        buffers = tuple(buffer.address if buffer is not None else 0 for buffer in values.buffers())
        places.add((len(values), values.offset, buffers))
    return len(places) == 1


def compact(code: np.ndarray, values: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return codes with only the values that still occur; their order does not change."""
    used = np.zeros(len(values), bool)
    used[code] = True
    if used.all():
        return code, values
    kept = type(values)(value for value, is_used in zip(values, used, strict=True) if is_used)
    return (np.cumsum(used, dtype=np.int32) - 1)[code], kept


def natural_order(values: pa.Array) -> pa.Array:
    """Return the order of distinct strings: numbers by value, other names by their text, then by the number in it.

    Names are numbers if each begins with a separate number, with any sign, decimal comma, exponent or relation (``<5``,
    ``>=90``).
    """
    if len(values) and (numbers := _numbered_alike(values)) is not None:
        order = np.argsort(numbers, kind="stable")
        if (np.diff(numbers[order]) > 0).all():  # not both 1 and 01
            return of_numpy(order)
    by_text = _order_of_text(values)
    keys = _keys_by_value(values)
    if keys is None:
        return by_text
    text_order = as_numpy(by_text)
    value, relation = keys
    order = text_order[np.lexsort((relation[text_order], value[text_order]))]
    if (order == text_order).all():
        return by_text
    _note_difference()
    return by_text if _reads_earlier() else of_numpy(order)


def _keys_by_value(values: pa.Array) -> tuple[np.ndarray, np.ndarray] | None:
    """Return value and relation of each name; None if they are not numbers, or if sorting them as text is enough."""
    if not pc.any(pc.match_substring_regex(values, _MORE_THAN_DIGITS)).as_py():
        return None
    if pc.all(pc.match_substring_regex(values, _SIGNED)).as_py():  # fast path for many scores
        return as_numpy(values.cast(pa.float64())), np.zeros(len(values), np.int8)
    keys = values_of(as_texts(values)) if _VALUE.fullmatch(values[0].as_py()) else None
    if keys is None:
        return None
    return np.array([value for value, _ in keys]), np.array([relation for _, relation in keys], np.int8)


def values_of(names: Sequence[str]) -> list[tuple[float, int]] | None:
    """Return the value of each name with the sign of its relation (below 0 for ``<``); None if one is not a number.

    Commas are decimal commas, unless three digits follow each of them and none follows a zero.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    list of (float, int) or None
    """
    found = []
    for name in names:
        if (match := _VALUE.fullmatch(name)) is None:
            return None
        found.append(match)
    with_comma = [match["number"] for match in found if "," in match["number"]]
    thousands = all(_THOUSANDS.fullmatch(number) for number in with_comma)
    keys = []
    for match in found:
        number = match["number"]
        if _POINTS_OF_THOUSANDS.fullmatch(number) and "," in number:
            number = number.replace(".", "").replace(",", ".")
        else:
            number = number.replace(",", "" if thousands else ".")
        if number.count(".") > 1:  # 1.2.3
            return None
        value = float(number + (match["exponent"] or "").translate(_TO_MINUS))
        plus = 1 if match["rest"].strip() == "+" else 0
        keys.append((-value if match["sign"] in _MINUSES else value, _RELATIONS.get(match["relation"], plus)))
    return keys


def _order_of_text(values: pa.Array) -> pa.Array:
    parts = pc.extract_regex(values, r"^(?s)(?P<prefix>\D*)(?P<number>\d{0,18})(?P<rest>.*)$")
    prefix, rest = pc.struct_field(parts, "prefix"), pc.struct_field(parts, "rest")
    number = pc.struct_field(parts, "number")
    number = pc.if_else(pc.equal(number, text("")), text("-1"), number).cast(pa.int64())
    keys = pa.table(
        {
            "prefix": prefix,
            "number": number,
            "rest": rest,
            "whole": values,  # 1 and 01 are equal up to here, and their order must not depend on the file
        }
    )
    return pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])


def _numbered_alike(values: pa.Array) -> np.ndarray | None:
    """Return the numbers of names that are one common text and a number each, as most are; None for others."""
    stems = pc.ascii_rtrim(values, characters=_DIGITS)
    stem = stems[0].as_py()
    if any(sign in stem for sign in _DIGITS) or not pc.all(pc.equal(stems, text(stem))).as_py():
        return None
    if stem.endswith((".", ",", *_MINUSES)) and _VALUE.fullmatch(
        f"{stem}1"
    ):  # negative, or digits after a decimal point
        return None
    digits = pc.utf8_slice_codeunits(values, len(stem))
    length = pc.min_max(pc.binary_length(digits)).as_py()
    return as_numpy(digits.cast(pa.int64())) if length["min"] > 0 and length["max"] <= 18 else None


def written_numbers(values: tuple[str, ...], *, decimal_comma: bool = False) -> np.ndarray:
    """Return the values as float64, also with thousands separators, a percent sign, or a limit such as ``<0.1``.

    NaN if a value is not a number. A limit counts as its number, and a percentage as the number before the sign.
    """
    numbers = to_numbers(values, decimal_comma=decimal_comma)
    unread = np.flatnonzero(np.isnan(numbers))
    if not unread.size or not all(_WRITTEN.fullmatch(values[place]) for place in unread):
        return numbers
    keys = values_of(values) if all(_VALUE.fullmatch(value) for value in values) else None
    if keys is None:
        return numbers
    _note_difference()
    return numbers if _reads_earlier() else np.array([value for value, _ in keys])


def to_numbers(values: tuple[str, ...], *, decimal_comma: bool = False) -> np.ndarray:
    """Return the values as float64, NaN if one is not a number; with ``decimal_comma``, 1,5 is one and a half."""
    if len(values) > _MANY:
        with suppress(pa.ArrowInvalid):  # all are numbers, so they are read at once
            return as_numpy(of_texts(values).cast(pa.float64()))
    numbers = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        if _NUMBER.fullmatch(value):
            numbers[place] = float(value)
        elif decimal_comma and _COMMA_NUMBER.fullmatch(value):
            numbers[place] = float(value.replace(",", "."))
    return numbers
