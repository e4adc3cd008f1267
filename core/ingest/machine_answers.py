"""Annotations of AI raters in a file of their own: a table, JSON by rater, or the log of an evaluation."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import InputError
from .column_mapping import IDS, guess_mapping
from .formats.evaluation_records import ANSWER
from .formats.json_text import looks_like_json
from .formats.tables import open_table
from .read_files import Reading, read

MACHINES = frozenset({"classifier", "predictor", "model", "system", "algorithm", "machine", "llm"})  # names of columns

# Ways to read: with raters, or the answers of a log; one AI rater without a name, or in the only other column.
_WAYS: tuple[dict[str, Any], ...] = ({}, {"question": ANSWER}, {"rater": "none"}, {"layout": "wide"})


def read_answers(source: Path | bytes, name: str | None = None, labels: Collection[str] = ()) -> Reading:
    """Read annotations of one or several AI raters, which are its raters; anonymous if nothing names the only one.

    Parameters
    ----------
    source : Path or bytes
    name : str, optional
        Name of the AI rater whose cases and annotations are in JSON without a name; that of the file if omitted.
    labels : collection of str
        Labels of the people's sets: columns with these names have 0 and 1.

    Raises
    ------
    InputError
        Nothing can be read; the message is about the file as it is.
    """
    for how in (*_by_columns(source, labels), *_WAYS):
        with suppress(InputError):
            return read(source, name=name, **how)
    return read(source, name=name)


def _by_columns(source: Path | bytes, labels: Collection[str]) -> list[dict[str, Any]]:
    """Return the roles of the columns of a table if they are named like the people's labels, or like an AI rater."""
    content = source if isinstance(source, bytes) else source.read_bytes()
    if looks_like_json(content):
        return []
    with suppress(InputError):
        columns = open_table(content).columns
        guess = guess_mapping(columns)
        machines = [c for c in columns if c.strip().casefold() in MACHINES] if guess.rater is None else []
        ids = [column for column in columns if column.strip().casefold() in IDS]
        how = {"case": guess.case or next(iter(ids), None)}
        if len(set(labels) & set(columns)) > 1:
            return [how | {"layout": "labels", "rater": next(iter(machines), "none")}]
        return [how | {"rater": column} for column in machines]
    return []
