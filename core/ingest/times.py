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


def to_seconds(column: pa.ChunkedArray) -> np.ndarray:
    """Return seconds since 1970-01-01 UTC of every entry, int64; `MISSING_TIME` if a date cannot be interpreted."""
    coded = one_dictionary(column)  # not in natural order: most annotations have a time of their own
    texts = pc.utf8_trim(coded.dictionary, characters=BLANKS)
    is_missing = as_numpy(pc.is_in(pc.utf8_lower(texts), of_texts(sorted(MISSING_TOKENS))))
    seconds = np.full(len(texts), MISSING_TIME)
    if not is_missing.all():
        seconds[~is_missing] = _distinct_to_seconds(texts.filter(of_numpy(~is_missing)))
    return seconds[as_numpy(coded.indices)]


def _distinct_to_seconds(texts: pa.StringArray) -> np.ndarray:
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
        stamps[rest] = _by_locale(text[rest], alone=bool(rest.all()))
    known = stamps.notna().to_numpy()
    seconds[known] = stamps[known].astype("datetime64[s, UTC]").astype("int64")
    return seconds


def _by_locale(text: "pd.Series", *, alone: bool) -> "pd.Series":
    """Return dates like 31/12/2021: the day comes first if points are used or some first number is above 12.

    Next to ISO dates, only what looks like a date is read, and only if some date shows the order.
    """
    import pandas as pd

    numbers = text.str.extract(r"^(\d{1,2})([./-])(\d{1,2})[./-]\d{2,4}")
    above_12 = numbers[[0, 2]].apply(pd.to_numeric) > 12
    day_first = bool((numbers[1] == ".").any() or above_12[0].any())
    if not alone:
        text = text.where(numbers[0].notna() & (day_first or above_12[2].any()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # single dates that only fit the other order
        return pd.to_datetime(text, errors="coerce", utc=True, format="mixed", dayfirst=day_first)
