"""Dates of annotations: ISO, seconds since 1970, or local forms where the day may come first."""

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ..annotations.dataset import MISSING_TIME
from ..annotations.vocabulary import encode, to_numbers

if TYPE_CHECKING:
    import pandas as pd


def to_seconds(column: pa.ChunkedArray) -> np.ndarray:
    """Seconds since 1970-01-01 UTC of every entry, int64; `MISSING_TIME` where a date cannot be understood."""
    coded = encode(column)
    seconds = np.full(len(coded.values) + 1, MISSING_TIME)
    numbers = to_numbers(coded.values)
    if len(numbers) and ((numbers >= 1e8) & (numbers < 1e14)).all():  # seconds or milliseconds since 1970
        seconds[:-1] = numbers // np.where(numbers < 1e11, 1, 1000)
        return seconds[coded.code]
    import pandas as pd

    text = pd.Series(coded.values, dtype="str")
    stamps = pd.to_datetime(text, errors="coerce", utc=True, format="ISO8601")
    if len(stamps) and stamps.isna().all():
        stamps = _by_locale(text)
    known = stamps.notna().to_numpy()
    seconds[:-1][known] = stamps[known].astype("datetime64[s, UTC]").astype("int64")
    return seconds[coded.code]


def _by_locale(text: "pd.Series") -> "pd.Series":
    """Dates like 31/12/2021: the day comes first where points are used or where some first number is above 12."""
    import pandas as pd

    numbers = text.str.extract(r"^(\d{1,2})([./-])(\d{1,2})[./-]\d{2,4}")
    day_first = (numbers[1] == ".").any() or (pd.to_numeric(numbers[0]) > 12).any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # single dates that only fit the other order
        return pd.to_datetime(text, errors="coerce", utc=True, format="mixed", dayfirst=bool(day_first))
