"""Checks of all that enters a dataset: names, codes, pointers, scores and dates, checked once on input.

Kernels check no bounds, so every array that reaches one has been checked here. Input with only one possible meaning is
converted (other widths of integers, ``datetime64``); everything else is refused with its place.
"""

from collections.abc import Callable, Iterable
from typing import NoReturn

import numpy as np

from ..errors import InputError
from ..runtime.numba_setup import ENTRY, pick_backend
from ..text import exact
from ._kernels import first_unsound_ranking

MISSING_TIME = np.iinfo(np.int64).min
EARLIEST_TIME, LATEST_TIME = -62_135_596_800, 253_402_300_799  # years 1 and 9999, which calendars can show
LARGEST_SCORE = 1e70  # sums of fourth powers are still finite
_RANKING_FAULTS = (
    "",
    "ranks no class",
    "does not start with block 0",
    "has block numbers that do not increase in steps of one",
    "has tied classes that are not sorted by code",
    "ranks a class twice",
)


class Texts(tuple):
    """Tuple of str that has been checked; equal to any tuple of the same values."""

    __slots__ = ()


class Names(Texts):
    """Texts that are unique and not empty."""

    __slots__ = ()


def checked_texts(values: Iterable[str], what: str) -> Texts:
    """Return values as a tuple of str that can be written as UTF-8.

    Parameters
    ----------
    values : iterable of str
    what : str
        Name of the values in the message: "cases".

    Raises
    ------
    InputError
        The values are not a list, or one of them is not such a text.
    """
    if isinstance(values, Texts):
        return values
    if isinstance(values, str | bytes):
        raise InputError(f"The {what} must be a list of strings; got one string, {values[:40]!r}.", "Use a list.")
    try:
        texts = tuple(values)
    except TypeError:
        raise InputError(f"The {what} must be a list of strings; got {type(values).__name__}.", "Use a list.") from None
    try:
        joined = "".join(texts)
    except TypeError:
        wrong = next(place for place, text in enumerate(texts) if not isinstance(text, str))
        raise InputError(
            f"Entry {wrong:,} of the {what} is {_shown(texts[wrong])} ({type(texts[wrong]).__name__}), not a string.",
            "Convert all entries to strings.",
        ) from None
    if texts and type(texts[0]) is not str:  # numpy's own, which prints as np.str_
        texts = tuple(map(str.__str__, texts))
    if not joined.isascii():
        try:
            joined.encode()
        except UnicodeEncodeError as error:
            wrong = next(place for place, text in enumerate(texts) if joined[error.start] in text)
            raise InputError(
                f"Could not read entry {wrong:,} in the list of {what} ({texts[wrong][:40]!r}): it contains an "
                "incomplete character.",
                "Read the file again with the correct encoding.",
            ) from None
    return Texts(texts)


def checked_names(values: Iterable[str], what: str) -> Names:
    """Return texts that are unique and not empty; see `checked_texts`."""
    if isinstance(values, Names):
        return values
    names = checked_texts(values, what)
    distinct = set(names)
    if len(distinct) < len(names):
        first: dict[str, int] = {}
        for place, name in enumerate(names):
            if name in first:
                raise InputError(
                    f"Could not use the {what}: {name[:80]!r} occurs twice, at positions {first[name]:,} and "
                    f"{place:,}.",
                    "Use a different name for each entry. If both mean the same, list the name once, with one code.",
                )
            first[name] = place
    if "" in distinct:
        raise InputError(f"Entry {names.index(''):,} of the {what} is empty.", "Provide a name.")
    return Names(names)


def checked_integers(values, what: str, dtype: type) -> np.ndarray:
    """Return a list of integers as a contiguous array of a dtype; refuse those that it cannot store.

    Parameters
    ----------
    values : array_like
    what : str
        Its name in messages.
    dtype : type
        An integer type of numpy.

    Raises
    ------
    InputError
        It is not one-dimensional, has a value that is not an integer, or one that is too large.
    """
    array = one_dimensional(values, what)
    if array.dtype == dtype and array.flags.c_contiguous:
        return array
    if array.size == 0:
        return np.empty(0, dtype)
    if array.dtype.kind not in "iu":
        if array.dtype.kind == "f" and (wrong := np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)))).size:
            found, advice = (
                f"{what}[{wrong[0]:,}] is {array[wrong[0]]}",
                "Remove missing values and fractions, then use",
            )
        else:
            found, advice = f"{what} has type {array.dtype}", "Use"
        raise InputError(f"{found}, but {what} must contain only integers.", f"{advice} .astype({_short(dtype)}).")
    info = np.iinfo(dtype)
    check_range(array, what, info.min, info.max, f"a {8 * info.dtype.itemsize}-bit integer")
    return np.ascontiguousarray(array, dtype)


def checked_codes(values, what: str, names: tuple[str, ...], of: str, lowest: int = 0) -> np.ndarray:
    """Return codes into a list of names, int32.

    Parameters
    ----------
    values : array_like of int
    what, of : str
        Names of the array and of the list in messages.
    names : tuple of str
        List of names.
    lowest : int
        Lowest code: -1 if that means unknown.

    Raises
    ------
    InputError
        See `checked_integers`; or a code is below ``lowest`` or not below the length of the list.
    """
    array = one_dimensional(values, what)
    if array.size and array.dtype.kind in "iu":
        check_range(array, what, lowest, len(names) - 1, f"a code for one of the {len(names):,} {of}")
    return checked_integers(array, what, np.int32)


def check_range(array: np.ndarray, what: str, lowest: int, highest: int, meaning: str) -> None:
    """Refuse integers below ``lowest`` or above ``highest``.

    Parameters
    ----------
    array : ndarray of int
    what : str
        Its name in messages.
    lowest, highest : int
        Limits, both allowed.
    meaning : str
        Meaning of the numbers, after "which is not": "a code of the 3 classes".

    Raises
    ------
    InputError
        A number is out of range; the message names the first.
    """
    if array.size == 0 or (int(array.min()) >= lowest and int(array.max()) <= highest):
        return
    wrong = int(np.flatnonzero((array < lowest) | (array > highest))[0])
    allowed = f"Use {lowest:,} to {highest:,}." if highest >= lowest else "Provide the names that these codes refer to."
    raise InputError(f"{what}[{wrong:,}] is {int(array[wrong])}, which is not {meaning}.", allowed)


def checked_pointers(values, what: str, n_groups: int, n_entries: int, groups: str, entries: str) -> np.ndarray:
    """Return row pointers, int64, shape (n_groups + 1,), that start at 0, never descend, and end at ``n_entries``.

    Parameters
    ----------
    values : array_like of int
    what : str
        Its name in messages.
    n_groups, n_entries : int
        Number of groups, and number of entries of all groups together.
    groups, entries : str
        Names of the groups and entries in messages: "cases", "annotations".

    Raises
    ------
    InputError
        A pointer is wrong; the message names the first.
    """
    pointers = checked_integers(values, what, np.int64)
    if pointers.size != n_groups + 1:
        raise InputError(
            f"{what} has {pointers.size:,} entries for {n_groups:,} {groups}.",
            f"Provide {n_groups + 1:,}, starting with 0.",
        )
    if pointers[0] != 0 or pointers[-1] != n_entries:
        raise InputError(
            f"{what} runs from {pointers[0]} to {pointers[-1]}.",
            f"It must run from 0 to {n_entries:,}, the number of {entries}.",
        )
    falls = pointers[1:] < pointers[:-1]
    if falls.any():
        wrong = int(np.flatnonzero(falls)[0]) + 1
        raise InputError(
            f"{what}[{wrong:,}] is {pointers[wrong]}, less than the previous entry ({pointers[wrong - 1]}).",
            f"Each entry must equal the previous entry plus the number of {entries} of the group between them.",
        )
    return pointers


def checked_numbers(values, what: str, largest: float) -> np.ndarray:
    """Return a list of finite numbers as a contiguous array of float64; -0 becomes 0, for the digest.

    Parameters
    ----------
    values : array_like
    what : str
        Its name in messages.
    largest : float
        Largest absolute value that is allowed.

    Raises
    ------
    InputError
        It is not one-dimensional, or a value is not a number, is not finite or is beyond ``largest``.
    """
    array = one_dimensional(values, what)
    if array.size == 0:
        return np.empty(0, np.float64)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{what} has type {array.dtype}; it must contain numbers.", "Use finite numbers.")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    array = np.ascontiguousarray(array, np.float64)
    if not (array.min() >= -largest and array.max() <= largest):  # NaN is neither
        wrong = int(np.flatnonzero(~(np.abs(array) <= largest))[0])
        fault = "too large" if np.isfinite(array[wrong]) else "not a finite number"
        raise InputError(
            f"{what}[{wrong:,}] is {array[wrong]}, which is {fault}.",
            f"Leave out the annotation, or use a number within ±{exact(largest)}.",
        )
    return array + 0.0 if ((array == 0) & np.signbit(array)).any() else array


def checked_times(values, what: str = "time") -> np.ndarray:
    """Return seconds since 1970-01-01 UTC, int64, `MISSING_TIME` if unknown; convert ``datetime64``.

    Raises
    ------
    InputError
        The times are not integers, or one is outside the years 1 to 9999.
    """
    array = one_dimensional(values, what)
    if array.dtype.kind == "M":
        array = array.astype("datetime64[s]").astype(np.int64)  # NaT is MISSING_TIME
    array = checked_integers(array, what, np.int64)
    if array.size and (array.max() > LATEST_TIME or array.min() < EARLIEST_TIME):
        wrong = np.flatnonzero((array > LATEST_TIME) | ((array < EARLIEST_TIME) & (array != MISSING_TIME)))
        if wrong.size:
            raise InputError(
                f"{what}[{wrong[0]:,}] is {array[wrong[0]]}, which is not a date in the years 1 to 9999.",
                "Use whole seconds since 1970-01-01 UTC.",
            )
    return array


def check_time_order(time: np.ndarray, case_ptr: np.ndarray) -> None:
    """Refuse annotations that are not in the order of their times within their case."""
    falls = np.flatnonzero(time[1:] < time[:-1]) + 1
    if falls.size:
        inside = falls[~np.isin(falls, case_ptr, assume_unique=False)]
        if inside.size:
            raise InputError(
                f"Could not use time[{inside[0]:,}]: it is earlier than the time of the previous annotation of the "
                "same case.",
                "Build the dataset with from_classes, from_rankings or from_scores, which put annotations in order.",
            )


def check_rankings(entry_ptr: np.ndarray, entry_class: np.ndarray, entry_block: np.ndarray, n_classes: int) -> None:
    """Refuse rankings that are empty, not in order of block and class, with gaps, or with a class twice.

    `checked_pointers` and `checked_codes` must have checked the arrays.

    Parameters
    ----------
    entry_ptr : ndarray of int64, shape (n_annotations + 1,)
        Start and end of the entries of each ranking.
    entry_class, entry_block : ndarray of int32, shape (n_entries,)
        Class, and rank of its block of ties, counted from 0.
    n_classes : int

    Raises
    ------
    InputError
        An annotation is wrong; the message names the first.
    """
    annotation, fault = _first_unsound(entry_ptr, entry_class, entry_block, n_classes)
    if fault:
        raise InputError(
            f"Annotation {annotation:,} (counted from 0) {_RANKING_FAULTS[fault]}.",
            "Build the dataset with from_rankings, which sorts entries by rank and class. Rank each class only once.",
        )


def check_sets(
    entry_ptr: np.ndarray, entry_class: np.ndarray, classes: tuple[str, ...], whose: Callable[[int], str]
) -> None:
    """Refuse annotations that name no label, or one twice; the order of their labels does not matter.

    `checked_pointers` and `checked_codes` must have checked the arrays.

    Parameters
    ----------
    entry_ptr : ndarray of int64, shape (n_annotations + 1,)
        Start and end of the labels of each annotation.
    entry_class : ndarray of int32, shape (n_entries,)
    classes : tuple of str
    whose : callable
        Function that returns the rater and case of an annotation, for the message, from its place.

    Raises
    ------
    InputError
        An annotation is wrong; the message names the first.
    """
    size = np.diff(entry_ptr)
    if size.size and not size.all():
        place = int(np.flatnonzero(size == 0)[0])
        raise InputError(
            f"Annotation {place:,} ({whose(place)}) has no label.",
            "Leave out missing annotations. If no label applies, add a label for this, such as none.",
        )
    annotation = np.repeat(np.arange(size.size), size)
    by = np.lexsort((entry_class, annotation))
    twice = (annotation[by][1:] == annotation[by][:-1]) & (entry_class[by][1:] == entry_class[by][:-1])
    if twice.any():
        entry = by[1 + int(np.flatnonzero(twice)[0])]
        place = int(annotation[entry])
        raise InputError(
            f"Annotation {place:,} ({whose(place)}) contains {classes[entry_class[entry]]!r} twice.",
            "Use each label once.",
        )


def check_one_block(entry_ptr: np.ndarray, entry_class: np.ndarray, entry_block: np.ndarray) -> None:
    """Refuse sets whose labels have an order, or do not ascend by code; `check_sets` must have checked them.

    Parameters
    ----------
    entry_ptr : ndarray of int64, shape (n_annotations + 1,)
    entry_class, entry_block : ndarray of int32, shape (n_entries,)

    Raises
    ------
    InputError
        An entry is wrong; the message names the first.
    """
    starts = np.zeros(len(entry_class), bool)
    starts[entry_ptr[:-1]] = True
    falls = np.flatnonzero((entry_class[1:] < entry_class[:-1]) & ~starts[1:]) + 1
    wrong = np.flatnonzero(entry_block)
    if wrong.size or falls.size:
        found = f"entry_block[{wrong[0]:,}] is {entry_block[wrong[0]]}" if wrong.size else f"entry {falls[0]:,} falls"
        raise InputError(
            f"{found}; the labels of a set must form one block, in ascending order of class.",
            "Build the dataset with from_sets, which orders them.",
        )


def check_predictions(ptr: np.ndarray, class_code: np.ndarray, group: np.ndarray) -> None:
    """Refuse predictions as `check_rankings` does, with at most one ranking per case and without a list of classes.

    Parameters
    ----------
    ptr : ndarray of int64, shape (n_cases + 1,)
        Start and end of the entries of each case; a case without a prediction has none.
    class_code, group : ndarray of int, shape (n_entries,)
        Class, and rank of its group of ties, counted from 0.

    Raises
    ------
    InputError
        A prediction is wrong; the message names the first case.
    """
    filled = np.append(ptr[:-1][ptr[:-1] < ptr[1:]], ptr[-1])
    distinct, code = np.unique(class_code, return_inverse=True)
    place, fault = _first_unsound(filled, code, group, len(distinct))
    if fault:
        case = np.flatnonzero(np.diff(ptr))[place]
        raise InputError(
            f"The prediction for case {case:,} (counted from 0) {_RANKING_FAULTS[fault]}.",
            "Build predictions with match_predictions, which orders them; use each class once.",
        )


def check_length(array: np.ndarray | tuple, n: int, what: str, of: str) -> None:
    """Refuse an array of another length than ``n``.

    Parameters
    ----------
    array : ndarray or tuple
    n : int
    what : str
        Its name in messages.
    of : str
        Items that have one entry each, in messages: "cases".

    Raises
    ------
    InputError
    """
    if len(array) != n:
        raise InputError(
            f"Could not use {what}: it has {len(array):,} entries for {n:,} {of}.", "Provide one entry for each."
        )


def checked_flag(value: object, what: str) -> bool:
    """Return a truth value; refuse other types."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} is {_shown(value)}.", "Use True or False.")
    return bool(value)


def _first_unsound(ptr: np.ndarray, code: np.ndarray, block: np.ndarray, n_classes: int) -> tuple[int, int]:
    """Call the kernel with the one combination of types that it is compiled for."""
    views: list[np.ndarray] = []
    for array, dtype in ((ptr, np.int64), (code, np.int32), (block, np.int32)):
        view = np.ascontiguousarray(array, dtype).view()
        view.flags.writeable = False
        views.append(view)
    return pick_backend(first_unsound_ranking, ENTRY * len(code))(*views, n_classes)


def frozen(array: np.ndarray) -> np.ndarray:
    """Return the array, read-only; a view of something that can still be written is copied first."""
    base = array.base
    while base is not None and isinstance(base, np.ndarray) and not base.flags.writeable:
        base = base.base
    if isinstance(base, np.ndarray) or (base is not None and array.flags.writeable):
        array = array.copy()
    array.flags.writeable = False
    return array


def one_dimensional(values, what: str) -> np.ndarray:
    """Return values as an ndarray with one axis.

    Raises
    ------
    InputError
        The values are not a list: a single value, a table, a ragged list, or a masked array that hides values.
    """
    if type(values) is np.ndarray and values.ndim == 1:
        return values
    if np.ma.is_masked(values):
        raise InputError(f"Could not use {what}: it has masked entries.", "Leave out these annotations.")
    try:
        array = np.asarray(values)
    except Exception:  # a foreign object may raise any error when its values are read
        _refuse_shape(what, type(values).__name__)
    if array.ndim != 1:
        _refuse_shape(what, f"an array with {array.ndim} axes" if array.ndim else f"{_shown(values)}")
    return np.ascontiguousarray(array)


def _refuse_shape(what: str, found: str) -> NoReturn:
    raise InputError(
        f"Could not use {what}: it is {found}, not a list.", "Provide one entry per annotation, in a list or an array."
    )


def _short(dtype: type) -> str:
    return np.dtype(dtype).name


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
