"""Scattering of the rows of Parquet to partitions by case, in bounded memory, with polars.

``requirements/cluster.txt`` says why not DuckDB or pyarrow; ``tests/benchmarks/past_memory.py engines`` measures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from ..annotations.vocabulary import BLANKS
from ..errors import InputError, MissingExtraError, NotApplicableError
from ..ingest.formats.parquet import MAGIC, parquet_parts

if TYPE_CHECKING:
    import polars as pl

ROW = "__row"
_PARTITION = "__partition"
_LOOKED_AT = 10_000


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """Rows of a Parquet file, or of the parts of a table.

    Attributes
    ----------
    name : str
    parts : tuple of Path
        Files in the order of the rows.
    n_rows : int
    """

    name: str
    parts: tuple[Path, ...]
    n_rows: int

    def head(self) -> pa.Table:
        """Read the first rows, from which columns are guessed."""
        return self._scan().head(_LOOKED_AT).collect(engine="streaming").to_arrow()

    def distinct(self, column: str) -> pa.Array:
        """Return distinct values of a column as in the file, without missing ones, in no order."""
        pl = _import_polars()
        found = self._scan().select(pl.col(column).unique()).collect(engine="streaming").to_arrow()
        return found.column(0).combine_chunks().drop_null()

    def scatter(self, columns: Sequence[str], case: str, n_partitions: int, folder: Path) -> None:
        """Write each row with its number to a partition of its case; `gathered` reads them.

        Parameters
        ----------
        columns : sequence of str
            Columns that are needed.
        case : str
            Column of cases, one of ``columns``; IDs that differ only in surrounding blanks are one case.
        n_partitions : int
        folder : Path
            Empty folder.
        """
        pl = _import_polars()
        key = pl.col(case).cast(pl.String).str.strip_chars(BLANKS).fill_null("").hash(0)
        rows = self._scan().with_row_index(ROW).select(ROW, *columns, (key % n_partitions).alias(_PARTITION))
        by_case = pl.PartitionBy(folder.as_posix(), key=_PARTITION, include_key=False)
        rows.sink_parquet(by_case, compression="lz4", mkdir=True)

    def _scan(self) -> "pl.LazyFrame":
        in_folders = any("=" in part.parent.name for part in self.parts)
        return _import_polars().scan_parquet([part.as_posix() for part in self.parts], hive_partitioning=in_folders)


def _import_polars() -> Any:
    try:
        import polars
    except ImportError:
        raise MissingExtraError("Reading Parquet in partitions", "cluster") from None
    return polars


def gathered(folder: Path, partition: int) -> pa.Table | None:
    """Read the rows of a partition in their order, with their numbers from 0 in `ROW`; None if it has none."""
    files = sorted((folder / f"{_PARTITION}={partition}").glob("*.parquet"))
    if not files:
        return None
    found = pa.concat_tables([parquet.ParquetFile(path).read() for path in files])
    return found.take(pc.sort_indices(found[ROW]))


def rows_of(path: Path) -> ParquetRows:
    """Open a Parquet file, or a folder of the parts of one table.

    Raises
    ------
    NotApplicableError
        The path is neither.
    InputError
        The file cannot be read, or parts differ in their columns.
    """
    try:
        if path.is_dir():
            parts, found = parquet_parts(path.resolve())
            return ParquetRows(path.resolve().name, tuple(parts), sum(file.metadata.num_rows for file in found))
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise NotApplicableError(
                    f"Could not open {path.name}: it is not a Parquet file. Save the data as Parquet."
                )
        return ParquetRows(path.stem, (path,), parquet.ParquetFile(path).metadata.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"Could not read {path} as Parquet: {error}.", "Save the file again as Parquet.") from None
