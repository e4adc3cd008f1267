"""Columns of text as codes into a vocabulary in natural order (R2 before R10), missing tokens apart."""

import re
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import as_numpy, as_texts, of_numpy, of_texts, text
from .validation import Names

MISSING_TOKENS = frozenset({"", "na", "n/a", ".", "nan", "null"})
BLANKS = " \t\r\n\u00a0\ufeff"
# Python's float() also takes 1_2, which is a label.
_DIGITS = "0123456789"
_MANY = 1_000  # values
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as codes.

    Attributes
    ----------
    code : ndarray of int32
        Index into ``values``; -1 missing.
    values : tuple of str
        Distinct values, trimmed, in natural order.
    missing : dict
        How often each missing token occurred, as it stands in the file ("" for empty or blank).
    """

    code: np.ndarray
    values: tuple[str, ...]
    missing: dict[str, int]


def encode(column: pa.ChunkedArray) -> Coded:
    """Codes of a column of strings; only distinct values are looked at one by one."""
    encoded = one_dictionary(column)
    if len(encoded.dictionary) > len(encoded.indices):  # of a part of a column, which has the dictionary of all
        encoded = encoded.dictionary_decode().dictionary_encode()
    raw_code = as_numpy(encoded.indices).astype(np.int32, copy=False)
    trimmed = pc.utf8_trim(encoded.dictionary, characters=BLANKS)
    is_missing = as_numpy(pc.is_in(pc.utf8_lower(trimmed), of_texts(sorted(MISSING_TOKENS))))

    distinct = trimmed.filter(of_numpy(~is_missing)).unique()
    order = natural_order(distinct)
    values = distinct.take(order)
    if len(distinct) == len(trimmed):
        recode = np.empty(len(distinct), np.int32)
        recode[as_numpy(order)] = np.arange(len(distinct), dtype=np.int32)
    else:
        recode = as_numpy(pc.fill_null(pc.index_in(trimmed, values), of_numpy(np.array([-1], np.int32))[0])).copy()
        recode[is_missing] = -1
    code = recode.take(raw_code, mode="clip") if raw_code.size else raw_code
    missing: dict[str, int] = {}
    if is_missing.any():
        counts = np.bincount(raw_code, minlength=len(trimmed))
        for place in np.flatnonzero(is_missing):
            token = trimmed[int(place)].as_py()
            missing[token] = missing.get(token, 0) + int(counts[place])
    return Coded(code, Names(as_texts(values)), missing)  # distinct, of UTF-8, and "" is missing


def one_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column of strings or of dictionaries as one array of codes into one dictionary."""
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
    """Whether the chunks have one dictionary in memory; to unify it with itself takes its size times their number."""
    places = set()
    for chunk in column.chunks:
        values = chunk.dictionary
        buffers = tuple(buffer.address if buffer is not None else 0 for buffer in values.buffers())
        places.add((len(values), values.offset, buffers))
    return len(places) == 1


def compact(code: np.ndarray, values: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Only the values that still occur; their order stays."""
    used = np.zeros(len(values), bool)
    used[code] = True
    if used.all():
        return code, values
    kept = type(values)(value for value, is_used in zip(values, used, strict=True) if is_used)
    return (np.cumsum(used, dtype=np.int32) - 1)[code], kept


def natural_order(values: pa.Array) -> pa.Array:
    """Order of distinct strings by the text before the first number, then that number, then the rest."""
    if len(values) and (numbers := _numbered_alike(values)) is not None:
        order = np.argsort(numbers, kind="stable")
        if (np.diff(numbers[order]) > 0).all():  # no 1 beside 01
            return of_numpy(order)
    parts = pc.extract_regex(values, r"^(?s)(?P<prefix>\D*)(?P<number>\d{0,18})(?P<rest>.*)$")
    prefix, rest = pc.struct_field(parts, "prefix"), pc.struct_field(parts, "rest")
    number = pc.struct_field(parts, "number")
    number = pc.if_else(pc.equal(number, text("")), text("-1"), number).cast(pa.int64())
    keys = pa.table(
        {
            "prefix": prefix,
            "number": number,
            "rest": rest,
            "whole": values,  # 1 and 01 are equal up to here, and the order must not depend on the file's
        }
    )
    return pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])


def _numbered_alike(values: pa.Array) -> np.ndarray | None:
    """The numbers of names that are one text and a number each, as most are; None of others."""
    stems = pc.ascii_rtrim(values, characters=_DIGITS)
    stem = stems[0].as_py()
    if any(sign in stem for sign in _DIGITS) or not pc.all(pc.equal(stems, text(stem))).as_py():
        return None
    digits = pc.utf8_slice_codeunits(values, len(stem))
    length = pc.min_max(pc.binary_length(digits)).as_py()
    return as_numpy(digits.cast(pa.int64())) if length["min"] > 0 and length["max"] <= 18 else None


def to_numbers(values: tuple[str, ...], *, decimal_comma: bool = False) -> np.ndarray:
    """The values as float64, NaN where one is not a number. With ``decimal_comma`` 1,5 is one and a half."""
    if len(values) > _MANY:
        with suppress(pa.ArrowInvalid):  # a number each: read at once
            return as_numpy(of_texts(values).cast(pa.float64()))
    numbers = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        if _NUMBER.fullmatch(value):
            numbers[place] = float(value)
        elif decimal_comma and _COMMA_NUMBER.fullmatch(value):
            numbers[place] = float(value.replace(",", "."))
    return numbers
