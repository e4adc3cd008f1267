"""Small files that become large are refused in words, within the memory and time that their size allows."""

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from core.errors import InputError
from core.ingest.column_mapping import LAYOUTS
from core.ingest.formats.detect import formats, open_source
from tests.core.ingest.bombs import BOMBS, LOGS, MOST_BYTES, N_SHAPES, generated
from tests.core.ingest.shapes import RECORDS, TABLES, delimited
from tests.speed import scaled

MOST_MB, MOST_SECONDS = 300, 5
SEEDS = [str(seed) for seed in range(N_SHAPES)]  # one of each shape

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory of a fork is read from /proc")


@pytest.fixture(scope="module")
def measured():
    """What reading each took: all in one run, which loads what reading needs once."""
    script = Path(__file__).with_name("bombs.py")
    done = subprocess.run([sys.executable, script, *BOMBS, *SEEDS], capture_output=True, text=True, check=True)
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", [*BOMBS, *SEEDS])
def test_read_stays_within_memory_and_time_and_raises_only_own_errors(measured, name):
    one = measured[name]
    assert one["outcome"].startswith(("read:", "refused:")), one["outcome"]
    assert one["mb"] < MOST_MB, one
    assert one["seconds"] < scaled(MOST_SECONDS, time.process_time), one


def test_the_generated_bombs_are_small_and_of_every_reader():
    """Each reader has a shape of its own, which the generated files repeat a part of."""
    whole = [("\n".join(map(json.dumps, records)), "a.json") for records in (*RECORDS.values(), *LOGS.values())]
    whole += [(delimited(rows).decode(), "a.csv") for rows in TABLES.values()]
    found = set()
    for text, name in whole:
        with suppress(InputError):
            found.add(open_source([(name, text.encode())]).format)
    assert set(formats()) - set(LAYOUTS) <= found
    assert all(len(generated(seed)[1]) <= MOST_BYTES for seed in (0, 1))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("workbook, a long shared string", "characters, the limit for a file of"),
        ("workbook, one far cell", "cells, the limit for a file of"),
        ("workbook, entities", "declares XML entities"),
        ("csv, many columns", "has 1,000,000 columns; the limit is 10,000"),
        ("parquet, a dictionary", "characters, the limit for a file of"),
        ("parquet, texts in lists", "characters, the limit for a file of"),
        ("parquet, many rows", "PLURALITY_READING_MB"),
    ],
)
def test_read_names_the_limit_that_a_bomb_met(measured, name, words):
    assert words in measured[name]["outcome"]
