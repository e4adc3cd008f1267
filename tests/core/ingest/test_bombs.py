"""Small files that become large are refused in words, within the memory and time that their size allows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.ingest.bombs import BOMBS

MOST_MB, MOST_SECONDS = 300, 5

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory of a fork is read from /proc")


@pytest.fixture(scope="module")
def measured():
    """What reading each took: all in one run, which loads what reading needs once."""
    script = Path(__file__).with_name("bombs.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", BOMBS)
def test_read_stays_within_memory_and_time_and_raises_only_own_errors(measured, name):
    one = measured[name]
    assert one["outcome"].startswith(("read:", "refused:")), one["outcome"]
    assert one["mb"] < MOST_MB, one
    assert one["seconds"] < MOST_SECONDS, one


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("workbook, a long shared string", "characters, the limit for its size"),
        ("workbook, one far cell", "cells, the limit for its size"),
        ("workbook, entities", "declares XML entities"),
        ("csv, many columns", "has 1,000,000 columns, the limit is 10,000"),
        ("parquet, a dictionary", "characters, the limit for its size"),
        ("parquet, texts in lists", "characters, the limit for its size"),
        ("parquet, many rows", "PLURALITY_READING_MB"),
    ],
)
def test_read_names_the_limit_that_a_bomb_met(measured, name, words):
    assert words in measured[name]["outcome"]
