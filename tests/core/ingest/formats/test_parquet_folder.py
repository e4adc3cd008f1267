"""Tables in folders of Parquet files, as Spark, Dask and Arrow write them."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from core.errors import InputError
from core.ingest.formats import parquet as module
from core.ingest.read_files import read

TABLE = pa.table(
    {
        "case": [f"c{number // 3}" for number in range(30)],
        "rater": ["ann", "bob", "cat"] * 10,
        "class": ["x", "y", None, "x", "x", "y"] * 5,
    }
)


@pytest.fixture
def folder(tmp_path):
    """The table in three parts, one of them in a folder below, among files that are none of it."""
    (tmp_path / "more").mkdir()
    for name, first, last in (("part-0", 0, 11), ("part-1", 11, 20), ("more/part-2", 20, 30)):
        parquet.write_table(TABLE.slice(first, last - first), tmp_path / f"{name}.parquet", row_group_size=4)
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / "_metadata.parquet").write_bytes(b"not a table")
    (tmp_path / ".part-0.parquet.crc").write_bytes(b"crc")
    for name in ("_delta_log", ".venv"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "of_others.parquet").write_bytes(b"not a table")
    return tmp_path


def test_the_parts_of_a_folder_are_one_table(folder, tmp_path_factory):
    whole = tmp_path_factory.mktemp("whole") / "whole.parquet"
    parquet.write_table(pa.concat_tables([TABLE.slice(20), TABLE.slice(0, 20)]), whole)  # in the order of paths
    parts, file = read(folder), read(whole)
    assert parts.dataset.content_digest == file.dataset.content_digest
    assert parts.report == file.report
    assert len(parts.report.dropped) == 5
    assert parts.dataset.name == folder.name
    assert read(str(folder)).dataset.digest == parts.dataset.digest


def test_names_of_folders_are_a_column(tmp_path):
    for rater in ("ann", "bob"):
        (tmp_path / f"rater={rater}").mkdir()
        mine = TABLE.filter(pa.compute.equal(TABLE["rater"], rater)).drop_columns("rater")
        parquet.write_table(mine, tmp_path / f"rater={rater}" / "part.parquet")
    dataset = read(tmp_path).dataset
    assert dataset.raters == ("ann", "bob")
    assert dataset.n_annotations == 20  # nothing is missing of these two


def test_a_folder_that_is_no_table_is_refused(folder, tmp_path_factory):
    with pytest.raises(InputError, match="the folder has no Parquet files"):
        read(tmp_path_factory.mktemp("empty"))
    parquet.write_table(TABLE.drop_columns("class"), folder / "part-9.parquet")
    with pytest.raises(InputError, match=r"part-9\.parquet: its columns differ from those of .*part-2\.parquet"):
        read(folder)
    (folder / "part-9.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InputError, match="Could not read this folder"):
        read(folder)


def test_what_needs_more_memory_than_is_free_is_refused_before_it_is_read(folder, monkeypatch):
    monkeypatch.setattr(module, "_MANY_ROWS", 10)
    monkeypatch.setattr(module, "free_memory", lambda: 30 * module._BYTES_A_ROW - 1)
    for source in (folder, folder / "part-0.parquet"):
        if source == folder:
            with pytest.raises(InputError, match=r"its 30 rows need about 0\.0 GB of memory, but only 0\.0 GB is free"):
                read(source)
        else:
            assert read(source).dataset.n_cases == 4
    monkeypatch.setattr(module, "free_memory", lambda: None)  # a system that does not say
    assert read(folder).dataset.n_cases == 10


def test_free_memory_is_a_number_of_bytes_or_nothing():
    free = module.free_memory()
    assert free is None or 2**20 < free < 2**50
