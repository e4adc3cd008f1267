"""Dates of annotations: ISO, seconds since 1970, or local forms with the day or the month first."""

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..annotations.columns import as_numpy, of_numpy, of_texts
from ..annotations.dataset import MISSING_TIME
from ..annotations.vocabulary import BLANKS, MISSING_TOKENS, one_dictionary

if TYPE_CHECKING:
    import pandas as pd


_LOCAL = r"^(\d{1,2})([./-])(\d{1,2})[./-]\d{2,4}"


def unclear_date(column: pa.ChunkedArray) -> str | None:
    """Return a date like 02/03/2021 if no date of the column shows whether the day or the month comes first."""
    texts = pc.utf8_trim(one_dictionary(column).dictionary, characters=BLANKS)
    texts = texts.filter(pc.match_substring_regex(texts, _LOCAL))
    if not len(texts):  # nearly all files: pandas is not loaded for them
        return None
    texts = texts.to_pandas().astype("str")
    numbers = texts.str.extract(_LOCAL)
    first, second = numbers[0].astype(int), numbers[2].astype(int)
    unclear = texts[first != second]
    shown = (first > 12).any() or (second > 12).any() or (numbers[1] == ".").any()
    return None if shown or unclear.empty else str(unclear.iloc[0])


def to_seconds(column: pa.ChunkedArray, day_first: bool | None = None) -> np.ndarray:
    """Return seconds since 1970-01-01 UTC of every entry, int64; `MISSING_TIME` if a date cannot be interpreted.

    Parameters
    ----------
    column : ChunkedArray of str
    day_first : bool, optional
        Order in dates like 02/03/2021; if omitted, the order that other dates show, else they are not interpreted.
    """
    coded = one_dictionary(column)  # not in natural order: most annotations have a time of their own
    texts = pc.utf8_trim(coded.dictionary, characters=BLANKS)
    is_missing = as_numpy(pc.is_in(pc.utf8_lower(texts), of_texts(sorted(MISSING_TOKENS))))
    seconds = np.full(len(texts), MISSING_TIME)
    if not is_missing.all():
        seconds[~is_missing] = _distinct_to_seconds(texts.filter(of_numpy(~is_missing)), day_first)
    return seconds[as_numpy(coded.indices)]


def _distinct_to_seconds(texts: pa.StringArray, day_first: bool | None) -> np.ndarray:
    """Return seconds of trimmed texts of which none is missing; see `to_seconds`."""
    with suppress(pa.ArrowInvalid):
        numbers = as_numpy(pc.ascii_ltrim(texts, characters="+").cast(pa.float64()))
        if ((numbers >= 1e8) & (numbers < 1e14)).all():  # seconds or milliseconds since 1970
            return numbers // np.where(numbers < 1e11, 1, 1000)
    for zone in (None, "UTC"):  # all without one, or all with one: ten times as fast as pandas
        with suppress(pa.ArrowInvalid):
            return as_numpy(texts.cast(pa.timestamp("us", zone)).cast(pa.int64())) // 1_000_000
    import pandas as pd

    seconds = np.full(len(texts), MISSING_TIME)
    text = texts.to_pandas().astype("str")
    stamps = pd.to_datetime(text, errors="coerce", utc=True, format="ISO8601")
    if (rest := stamps.isna()).any():
        stamps[rest] = _by_locale(text[rest], day_first, alone=bool(rest.all()))
    known = stamps.notna().to_numpy()
    seconds[known] = stamps[known].astype("datetime64[s, UTC]").astype("int64")
    return seconds


def _by_locale(text: "pd.Series", day_first: bool | None, *, alone: bool) -> "pd.Series":
    """Return dates like 31/12/2021: the day comes first if points are used or some first number is above 12.

    If no date shows the order and it is not given, only dates like 02/02/2021 are read. Next to ISO dates, only what
    looks like a date is read.
    """
    import pandas as pd

    numbers = text.str.extract(_LOCAL)
    above_12 = numbers[[0, 2]].apply(pd.to_numeric) > 12
    if not alone:
        text = text.where(numbers[0].notna())
    if day_first is None:
        day_first = bool((numbers[1] == ".").any() or above_12[0].any())
        if not (day_first or above_12[2].any()):
            text = text.where(numbers[0].isna() | (numbers[0] == numbers[2]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # single dates that only fit the other order
        return pd.to_datetime(text, errors="coerce", utc=True, format="mixed", dayfirst=day_first)
