"""Answers of machines in a file of their own: a table, JSON by rater, or the log of an evaluation."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import InputError
from .formats.evaluation_records import ANSWER
from .read_files import Reading, read

# With raters, of a log what was answered; of one machine without a name, or in the one column beside the cases.
_WAYS: tuple[dict[str, Any], ...] = ({}, {"question": ANSWER}, {"rater": "none"}, {"layout": "wide"})


def read_answers(source: Path | bytes, name: str | None = None) -> Reading:
    """Annotations of one or several machines, which are its raters; anonymous where nothing names the one machine.

    Parameters
    ----------
    source : Path or bytes
    name : str, optional
        Of the machine whose cases and annotations stand in JSON without a name; that of the file where not given.

    Raises
    ------
    InputError
        Nothing can be read; what is said is of the file as it stands.
    """
    for how in _WAYS:
        with suppress(InputError):
            return read(source, name=name, **how)
    return read(source, name=name)
