"""Bytes that threads of pyarrow's may be the last to let go of."""

import sys

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from core.ingest.formats import arrow_bytes as module
from core.ingest.formats import delimited
from core.ingest.formats import parquet as parquet_reader
from core.ingest.formats.arrow_bytes import arrow_bytes

CONTENT = bytes(range(256)) * 40


@pytest.mark.parametrize(("start", "stop"), [(0, None), (3, 700), (5, 5), (0, 0), (10_239, None), (10_240, None)])
@pytest.mark.parametrize("most", [1 << 20, 0], ids=["copied", "as it is"])
def test_a_part_of_a_file_has_its_bytes(most, start, stop, monkeypatch):
    monkeypatch.setattr(module, "_COPIED", most)
    assert arrow_bytes(CONTENT, start, stop).to_pybytes() == CONTENT[start:stop]


def test_what_costs_little_holds_no_bytes_of_python_and_what_is_large_is_not_copied(monkeypatch):
    before = sys.getrefcount(CONTENT)
    held = arrow_bytes(CONTENT, 1)
    assert sys.getrefcount(CONTENT) == before and held.size == len(CONTENT) - 1
    monkeypatch.setattr(module, "_COPIED", 100)
    held = arrow_bytes(CONTENT, 1)
    assert sys.getrefcount(CONTENT) == before + 1
    del held


def _rows(n_fields):
    return b"case,rater,annotation\n" + b"1,ann,benign\n2,bob,malignant\n" * 50 + b",".join([b"3"] * n_fields) + b"\n"


def _parquet():
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"case": ["1", "2"], "annotation": ["benign", "malignant"]}), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("reader", "read", "content", "library", "reads"),
    [
        (delimited, delimited.read_delimited, _rows(3), csv, "read_csv"),
        (delimited, delimited.read_delimited, _rows(2), csv, "read_csv"),
        (parquet_reader, parquet_reader.open_parquet, _parquet(), parquet, "ParquetFile"),
    ],
    ids=["one run of lines", "lines left out", "parquet"],
)
def test_a_reader_gives_pyarrow_nothing_else(reader, read, content, library, reads, monkeypatch):
    held, given, real = [], [], getattr(library, reads)

    def holds(*part):
        held.append(arrow_bytes(*part))
        return held[-1]

    def looks(source, **options):
        given.append(source.read_buffer().address)
        source.seek(0)
        return real(source, **options)

    monkeypatch.setattr(reader, "arrow_bytes", holds)
    monkeypatch.setattr(library, reads, looks)
    read(content)
    assert given and set(given) <= {one.address for one in held}
