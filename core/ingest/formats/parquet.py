"""Parquet tables, every column as text; lists of equal length in a row become several rows."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from ...annotations.vocabulary import one_dictionary
from ...errors import InputError
from ...text import first_twice, listed, number, shorten
from ..column_mapping import guess_mapping
from .arrow_bytes import arrow_bytes
from .budget import check_columns, reading, spend, spend_table
from .raw_table import Dropped, RawTable, RowLocations

MAGIC = b"PAR1"
_MOST_BYTES, _MOST_CELLS = 4 << 30, 1_000_000_000
# Measured at 10,000,000 rows of three columns, five to a case: names of cases are a half of it.
_BYTES_A_ROW, _MANY_ROWS = 100, 5_000_000


def open_parquet(content: bytes) -> pa.Table:
    """Open the file as it is, with text columns as dictionaries.

    Raises
    ------
    InputError
        The file is broken, or its unpacked size is too large.
    """
    try:
        held = pa.BufferReader(arrow_bytes(content))
        file = parquet.ParquetFile(held)
        _check_unpacked([file])
        texts = _texts(file.schema_arrow) + _nested_texts(file.schema)
        return parquet.ParquetFile(held, read_dictionary=texts).read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"Could not read this Parquet file: {error}.", "Save it again and open the new file."
        ) from None


def open_parquet_folder(folder: Path) -> pa.Table:
    """Open the parts of one table, in the order of their paths; folders named ``column=value`` are a column.

    Files and folders whose names start with a dot or an underscore are not parts of it, as in Spark, Dask and Arrow.

    Parameters
    ----------
    folder : Path
        Folder; its Parquet files, also in folders below it, have the same columns.

    Raises
    ------
    InputError
        There is no Parquet file, a part is broken or has other columns, or the unpacked parts are too large.
    """
    from pyarrow import dataset

    try:
        parts, found = parquet_parts(folder)
        _check_unpacked(found)
        as_dictionaries = dataset.ParquetReadOptions(dictionary_columns=_texts(found[0].schema_arrow))
        return dataset.dataset(
            [path.as_posix() for path in parts],
            format=dataset.ParquetFileFormat(read_options=as_dictionaries),
            partitioning=dataset.partitioning(flavor="hive"),
            partition_base_dir=folder.as_posix(),
        ).to_table()
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise InputError(f"Could not read this folder of Parquet files: {error}.", "Write it again.") from None


def parquet_parts(folder: Path) -> tuple[list[Path], list[parquet.ParquetFile]]:
    """Return the parts of the table in a folder, see `open_parquet_folder`: their paths in order, and the files.

    Raises
    ------
    InputError
        There is no Parquet file, or a part has other columns.
    pyarrow.ArrowException, OSError
        A part cannot be read.
    """
    parts = sorted(
        path
        for path in folder.rglob("*.parquet")
        if path.is_file() and not any(name[0] in "._" for name in path.relative_to(folder).parts)
    )
    if not parts:
        raise InputError(
            f"Could not read {folder}: the folder has no Parquet files.",
            "Use a Parquet file, or a folder that contains Parquet files.",
        )
    found = [parquet.ParquetFile(path) for path in parts]
    for path, file in zip(parts, found, strict=True):
        if file.schema_arrow.names != found[0].schema_arrow.names:
            raise InputError(
                f"Could not read {path.relative_to(folder)}: its columns differ from those of "
                f"{parts[0].relative_to(folder)}.",
                "Parts of a table must have the same columns. Open the files of other tables separately.",
            )
    return parts, found


def memory_needed(n_rows: int) -> int:
    """Return about how many bytes the rows of a table of three columns take while they are read."""
    return n_rows * _BYTES_A_ROW


def _texts(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]


def _nested_texts(schema: parquet.ParquetSchema) -> list[str]:
    """Return paths of the texts in lists and structs, whose repeated texts would otherwise be copied for each entry."""
    leaves = map(schema.column, range(len(schema)))
    return [leaf.path for leaf in leaves if leaf.logical_type.type == "STRING" and leaf.path != leaf.name]


def _check_unpacked(files: Sequence[parquet.ParquetFile]) -> None:
    """Raise if the unpacked parts of a table exceed the memory, or the budget of the reading."""
    parts = [file.metadata for file in files]
    n_rows, n_columns = sum(part.num_rows for part in parts), parts[0].num_columns
    spend_table(n_rows, n_columns)
    groups = (part.row_group(group) for part in parts for group in range(part.num_row_groups))
    unpacked = sum(max(0, group.total_byte_size) for group in groups)
    # Repeats take hardly any room in the file, and all of it in memory. How many entries lists have is not asked: of a
    # damaged file pyarrow ends the process there.
    widths = [field.type.byte_width for field in files[0].schema_arrow if pa.types.is_fixed_size_binary(field.type)]
    spend(characters=unpacked + n_rows * sum(widths))
    if n_rows * n_columns > _MOST_CELLS or unpacked > _MOST_BYTES:
        raise InputError(
            f"Could not read this Parquet file: it is too large ({n_rows:,} rows and {n_columns:,} columns).",
            "Remove columns that you do not need, or split the file.",
        )
    needed, free = memory_needed(n_rows), free_memory()
    if free is not None and n_rows > _MANY_ROWS and needed > free:
        raise InputError(
            f"Could not read the table: its {n_rows:,} rows need about {number(needed / 2**30, 1)} GB of memory, but "
            f"only {number(free / 2**30, 1)} GB is free.",
            "Close other programs, use a computer with more memory, or open part of the file.",
        )


def free_memory() -> int | None:
    """Return how many bytes programs can still use; None if the system does not report it (it does on Linux)."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def read_parquet(content: bytes, progress: Callable[[float], None] | None = None) -> RawTable:
    """Return a table of text from a Parquet file; integers stay without a decimal point.

    Raises
    ------
    InputError
        The file is broken, has fewer than two columns of plain values, or no rows.
    """
    with reading(len(content)):
        return as_text(open_parquet(content), progress)


def as_text(table: pa.Table, progress: Callable[[float], None] | None = None) -> RawTable:
    """Return a table of any types as text; split lists that contain annotations. See `read_parquet`."""
    check_columns(table.num_columns)
    if (twice := first_twice(table.column_names)) is not None:
        raise InputError(
            f"Could not read the table: two columns are called {shorten(twice)!r}.",
            "Use a different name for each column.",
        )
    if table.num_rows == 0:
        raise InputError(
            "Could not read the table: it has columns but no rows.", "Choose a file with at least one row of data."
        )
    line = np.arange(1, table.num_rows + 1, dtype=np.int64)
    table = _without_structs(table)
    table, line, places, dropped, notes = _without_lists(table, line)
    names, columns = [], []
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True), 1):
        if progress is not None:
            progress(place / (table.num_columns + 1))
        if pa.types.is_nested(column.type):
            notes.append(f"Column {name!r} contains nested values and was left out.")
            continue
        try:
            text = _as_text(column)
        except (pa.ArrowException, ValueError):  # pixels and the like
            notes.append(f"Column {name!r} contains neither text nor numbers and was left out.")
            continue
        names.append(name)
        columns.append(text)
    del table, column
    pa.default_memory_pool().release_unused()  # frees the memory of decoding for the next steps
    if len(names) < 2:
        raise InputError(
            "Could not read the table: it has fewer than two columns of plain values.",
            "Use a table with at least a case column and an annotation column.",
        )
    return RawTable(pa.table(columns, names=names), line, tuple(dropped), tuple(notes), places=places)


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_float16(column.type):  # which Arrow does not write as text
        column = column.cast(pa.float32())
    encoded = one_dictionary(column)
    codes, values = encoded.indices, _values_as_text(encoded.dictionary)
    if codes.null_count:  # nothing is an empty cell
        empty = pc.index(values, "").as_py()
        if empty < 0:
            empty, values = len(values), pa.concat_arrays([values, pa.array([""])])
        codes = pc.fill_null(codes, empty)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes.cast(pa.int32()), values)])


def _values_as_text(values: pa.Array) -> pa.Array:
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
        whole = pc.all(pc.equal(values, pc.round(values)), skip_nulls=True).as_py()
        if whole and (pc.max(pc.abs(values)).as_py() or 0) < 2**53:
            values = values.cast(pa.int64())
    return pc.fill_null(values.cast(pa.string()), "")


def _coded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column with texts as a dictionary, so that none is copied for each row that repeats it."""
    return column.dictionary_encode() if pa.types.is_string(column.type) else column


def _is_list(type_: pa.DataType) -> bool:
    return _is_any_list(type_) and not pa.types.is_nested(type_.value_type)


def _is_any_list(type_: pa.DataType) -> bool:
    return pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_)


def _without_structs(table: pa.Table) -> pa.Table:
    """Return fields of structs, and of structs in lists, as columns: by their own name unless another column has it.

    Datasets of the Hugging Face hub have annotations as ``annotations: list<struct<annotator, label>>``, or, written as
    a sequence of features, as ``annotations: struct<annotator: list, label: list>``.
    """
    columns: dict[str, pa.ChunkedArray] = {}
    fields: list[tuple[str, str, pa.ChunkedArray]] = []
    for name in table.column_names:
        column = table[name]
        if pa.types.is_struct(column.type):
            fields += [(name, part.name, values) for part, values in zip(column.type, column.flatten(), strict=True)]
        elif _is_any_list(column.type) and pa.types.is_struct(column.type.value_type):
            parts = column.type.value_type
            fields += [(name, part.name, lists) for part, lists in zip(parts, _in_lists(column), strict=True)]
        else:
            columns[name] = column
    times = Counter(part for _, part, _ in fields)
    for name, part, column in fields:
        alone = times[part] == 1 and part not in columns
        columns[part if alone else f"{name}.{part}"] = column
    return pa.table(columns) if fields else table


def _in_lists(column: pa.ChunkedArray) -> list[pa.ChunkedArray]:
    """Return each field of the structs in the lists of a column, as lists of the same lengths."""
    parts = column.type.value_type
    chunks: list[list[pa.Array]] = [[] for _ in parts]
    for chunk in column.chunks:
        chunk = chunk.cast(pa.large_list(parts))
        ends = np.concatenate([[0], np.cumsum(pc.fill_null(pc.list_value_length(chunk), 0).to_numpy())])
        for found, values in zip(chunks, chunk.flatten().flatten(), strict=True):
            found.append(pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), values))
    return [pa.chunked_array(found, pa.large_list(part.type)) for part, found in zip(parts, chunks, strict=True)]


def _without_lists(
    table: pa.Table, line: np.ndarray
) -> tuple[pa.Table, np.ndarray, RowLocations | None, list[Dropped], list[str]]:
    """Return one row per entry of the lists, if raters or annotations are in lists; else the table unchanged."""
    lists = [field.name for field in table.schema if _is_list(field.type)]
    plain = [field.name for field in table.schema if not pa.types.is_nested(field.type)]
    guess = guess_mapping(plain + lists)
    roles = {guess.answer, guess.rater} if guess.layout == "long" else set()
    without = guess_mapping(plain)
    complete = without.layout == "wide" or (without.rater and without.answer)
    if complete or not roles & set(lists):
        return table, line, None, [], []
    # Lists that do not go along with the annotations, such as words of a sentence, are skipped.
    lead = guess.answer if guess.answer in lists else guess.rater
    lengths = pc.fill_null(pc.list_value_length(table[lead]), 0).to_numpy()
    others = {name: pc.fill_null(pc.list_value_length(table[name]), 0).to_numpy() for name in lists}
    needed = [name for name in lists if name in roles or name in (guess.rank, guess.time)]
    together = [name for name in lists if name in needed or (others[name] == lengths).all()]
    sound = np.all([others[name] == lengths for name in together], axis=0) & (lengths > 0)
    dropped = [
        Dropped(int(line[row]), "no annotation" if lengths[row] == 0 else "its lists differ in length")
        for row in np.flatnonzero(~sound)
    ]
    if not sound.any():
        raise InputError(
            "Could not read the table: its lists of raters and annotations differ in length in every row.",
            "Check how the lists were written.",
        )
    table, line, lengths = table.filter(pa.array(sound)), line[sound], lengths[sound]
    row = np.repeat(np.arange(len(lengths)), lengths)
    spend_table(row.size, len(plain) + len(together))
    columns = {name: _coded(table[name]).take(pa.array(row)) for name in plain}
    columns |= {name: pc.list_flatten(table[name]) for name in together}
    number = np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
    places = RowLocations(("row", "entry"), (line[row], number))
    notes = [f"The lists in {listed(list(map(repr, together)))} were split into one row per entry."]
    passed = [name for name in table.column_names if name not in columns]
    notes += [f"Column {name!r} contains nested values and was left out." for name in passed]
    return pa.table(columns), line[row], places, dropped, notes
