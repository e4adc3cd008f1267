"""What a reader of one format is, and how it says itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...methods import EVERY, Method
from .raw_table import RawTable
from .source import Source


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of the files of one program.

    Attributes
    ----------
    name, title : str
        Its key as a format, and on screen.
    shape : {"json", "table"}
        Whether it reads parsed JSON files, or one table with named columns.
    recognise : callable
        From JSON files, or from names of columns: what gives the format away, or None where it is another one.
    read : callable
        From JSON files and a progress callable, or from a table: the `Source`.
    claims : callable or None
        JSON: whether another file (name, content) belongs to it; ``read`` then takes those as a third argument.
    of_parquet : callable or None
        From name and content of a Parquet file: the `Source`, or None where it is no such file.
    holds : callable or None
        Of readers of tables whose columns alone do not tell: whether the table is one.
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
    """What a reader says of itself.

    Parameters
    ----------
    reader : Reader
    place : int
        Its order among the readers: where several recognise a file, the first.
    plainly, exactly : str
        What the format is, for everybody and for those who write such files.
    source : str
        The documentation of the program that writes them.
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
