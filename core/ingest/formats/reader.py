"""Declaration of a reader of one format."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...methods import EVERY, Method
from .raw_table import RawTable
from .source import Source


@dataclass(frozen=True, slots=True)
class Reader:
    """Reader of the files of one program.

    Attributes
    ----------
    name, title : str
        Key as a format, and title on screen.
    shape : {"json", "table"}
        Input: parsed JSON files, or one table with named columns.
    recognise : callable
        Function from JSON files, or from names of columns, to what identifies the format, or None if it is another one.
    read : callable
        Function from JSON files and a progress callable, or from a table, to the `Source`.
    claims : callable or None
        Function for JSON: whether another file (name, content) belongs to it; ``read`` then takes those as a third
        argument.
    of_parquet : callable or None
        Function from name and content of a Parquet file to the `Source`, or None if it is not such a file.
    holds : callable or None
        Function for tables whose columns are not conclusive: whether the table is one.
    """

    name: str
    title: str
    shape: Literal["json", "table"]
    recognise: Callable[[Sequence[Any]], str | None]
    read: Callable[..., Source]
    claims: Callable[[str, bytes], bool] | None = None
    of_parquet: Callable[[str, bytes], Source | None] | None = None
    holds: Callable[[RawTable], bool] | None = None


def reader_method(reader: Reader, place: int, plainly: str, exactly: str, source: str) -> Method:
    """Return the declaration of a reader as a method.

    Parameters
    ----------
    reader : Reader
    place : int
        Order among the readers: if several recognise a file, the first is used.
    plainly, exactly : str
        Description of the format, for everybody and for those who write such files.
    source : str
        Documentation of the program that writes them.
    """
    return Method(
        reader.name,
        "reader",
        reader.title,
        plainly=plainly,
        exactly=exactly,
        sources=(source,),
        takes=EVERY,
        make=lambda: reader,
        place=place,
    )
