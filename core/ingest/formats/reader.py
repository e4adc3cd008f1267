"""Declaration of a reader of one format."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal

from ...annotations.dataset import Kind
from ...methods import EVERY, Method
from .raw_table import RawTable
from .source import Source


@dataclass(frozen=True, slots=True)
class Reader(Method):
    """Declaration of a reader of the files of one program; its source is the documentation of that program.

    If several readers recognise a file, the first in place is used.

    Attributes
    ----------
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

    family: ClassVar[str] = "reader"
    folder: ClassVar[str] = "ingest.formats"

    shape: Literal["json", "table"]
    recognise: Callable[[Sequence[Any]], str | None]
    read: Callable[..., Source]
    _: KW_ONLY
    takes: Mapping[Kind, str] = field(default_factory=EVERY.copy)
    claims: Callable[[str, bytes], bool] | None = None
    of_parquet: Callable[[str, bytes], Source | None] | None = None
    holds: Callable[[RawTable], bool] | None = None
