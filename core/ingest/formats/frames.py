"""Tables in memory, of pandas, polars, pyarrow and other libraries that narwhals supports, as text."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ...errors import InputError
from ...text import first_twice, shorten
from .parquet import as_text
from .raw_table import RawTable

_UNNAMED_INDEX = "__index_level_"


def is_frame(source: object) -> bool:
    """Return whether a source is a table in memory, not a file."""
    from narwhals import dependencies

    return dependencies.is_into_dataframe(source) or _is_lazy(source)


def read_frame(frame: Any, progress: Callable[[float], None] | None = None) -> RawTable:
    """Return a table in memory as one of text, as if it had been written to a file and read again.

    A named index of pandas is a column; an index without a name is not. Integers stay without a decimal point, even if
    missing entries made them floats. Lines are numbers of rows, from 1.

    Raises
    ------
    InputError
        It is not such a table, columns have the same name, or there are fewer than two columns or no rows.
    """
    return as_text(_as_arrow(frame), progress)


def _as_arrow(frame: Any) -> pa.Table:
    import narwhals as nw

    if _is_lazy(frame):
        raise InputError(
            "Could not read the DataFrame: it is lazy, so its rows have not been computed yet.",
            "Collect it first (.collect()).",
        )
    names = [str(name) for name in getattr(frame, "columns", ())] if not isinstance(frame, pa.Table) else []
    if (twice := first_twice(names)) is not None:
        raise InputError(
            f"Could not read the table: two columns are called {shorten(twice)!r}.",
            "Use a different name for each column.",
        )
    try:
        table = _plain(nw.from_native(frame, eager_only=True))
    except (TypeError, ValueError, OverflowError, pa.ArrowException, nw.exceptions.NarwhalsError) as error:
        raise InputError(
            f"Could not read this {type(frame).__name__}: {error}.",
            "Write it to a CSV or Parquet file, and open that file.",
        ) from None
    index = [name for name in table.column_names if name.startswith(_UNNAMED_INDEX)]
    return _strings(table.drop_columns(index).replace_schema_metadata(None))


def _plain(frame: Any) -> pa.Table:
    """Return the table in Arrow; write columns of objects as text if Arrow has no type for them."""
    import narwhals as nw

    if frame.implementation.is_pandas_like():
        native = frame.to_native()
        named = [name for name in native.index.names if name is not None]
        if named:
            native = native.reset_index(level=named)
        native = native.reset_index(drop=True).set_axis([str(name) for name in native.columns], axis="columns")
        frame = nw.from_native(native, eager_only=True)
    try:
        return frame.to_arrow()
    except (TypeError, pa.ArrowException):
        objects = [name for name, dtype in frame.schema.items() if dtype == nw.Object]
        if not objects:
            raise
        columns = {name: frame[name] for name in frame.columns}
        texts = {name: [None if _missing(value) else str(value) for value in columns[name]] for name in objects}
        arrays = {
            name: pa.array(texts[name], pa.string()) if name in texts else column.to_arrow()
            for name, column in columns.items()
        }
        return pa.table(arrays)


def _missing(value: object) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")  # NaN differs from itself


def _strings(table: pa.Table) -> pa.Table:
    """Return texts of any width, and categories of them, as the types that readers know."""
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kind = column.type
        if pa.types.is_dictionary(kind) and kind.value_type != pa.string():
            column = column.cast(kind.value_type)
        if pa.types.is_string_view(column.type) or pa.types.is_large_string(column.type):
            column = column.cast(pa.string())
        table = table.set_column(place, name, column)
    return table


def _is_lazy(source: object) -> bool:
    from narwhals import dependencies

    return dependencies.is_polars_lazyframe(source)
