"""Files of known shapes with something broken: values, parts, or bytes."""

import copy
import math
import random
import warnings

from tests.core.ingest.shapes import (
    RECORDS,
    TABLES,
    delimited,
    json_bytes,
    nested_parquet_bytes,
    parquet_bytes,
    workbook_bytes,
    zip_bytes,
)

ODD = [None, True, False, 0, -1, 10**30, -(10**30), 1e308, math.nan, math.inf, -math.inf, 9_999_999, "10000000"]
ODD += [
    " ",
    "NA",
    "x",
    "\x00",
    "\ud800",
    "=1+1",
    "a,b",
    "a;b",
    '"',
    "'",
    "\n",
    "\r",
    "1e999",
    "9" * 21,
    "2024-13-45",
    "٣",
]
ODD += ["x" * 5000, ">", "A > > B"]
CELLS = tuple(ODD)
ODD += [[], {}, [None], [[]], [[[[]]]], {"": ""}, {"choices": None}, {"value": {}}, ["a", 1, None, {}]]
PATHS = [
    "a.csv",
    "b.jsonl",
    "../x",
    "/abs",
    "dir/",
    "C:\\x",
    "all.jsonl",
    "gold.csv",
    "ü.txt",
    ".hidden",
    "x" * 300,
]


def mutant(rng: random.Random) -> list[tuple[str, bytes]]:
    """One to three files, some of their values, parts or bytes broken."""
    files = [
        (rng.choice(["a.csv", "b.json", "ann.jsonl", "gold.csv", "names.txt"]), _file(rng)) for _ in range(_few(rng))
    ]
    if rng.random() < 0.1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # two files of one name
            packed = zip_bytes(
                [(rng.choice(PATHS) if rng.random() < 0.3 else name, content) for name, content in files]
            )
        files = [("z.zip", _bytes_broken(packed, rng) if rng.random() < 0.5 else packed)]
    return files


def _few(rng: random.Random) -> int:
    return 1 if rng.random() < 0.8 else rng.randint(2, 3)


def _file(rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        records = copy.deepcopy(RECORDS[rng.choice(list(RECORDS))])
        for _ in range(rng.randint(0, 4)):
            _break_value(records, rng)
        if rng.random() < 0.05:
            records = _deep(rng.choice([10, 100, 5000]), rng, records)
            content = records
        else:
            content = (nested_parquet_bytes(records) if rng.random() < 0.15 else None) or json_bytes(records, rng)
    else:
        tables = [copy.deepcopy(TABLES[rng.choice(list(TABLES))]) for _ in range(rng.choice([1, 1, 1, 2]))]
        for table in tables:
            for _ in range(rng.randint(0, 4)):
                _break_table(table, rng)
        kind = rng.random()
        if kind < 0.7:
            content = delimited(tables[0], rng.choice([",", ",", "\t", ";", "|"]))
        elif kind < 0.85:
            content = parquet_bytes(tables[0])
        else:
            content = workbook_bytes(*tables)
    return _bytes_broken(content, rng) if rng.random() < 0.35 else content


def _deep(levels: int, rng: random.Random, value: object) -> bytes:
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}")])
    return opening * levels + b"1" + closing * rng.choice([levels, levels - 1, 0])


def _break_value(value: object, rng: random.Random) -> None:
    """Somewhere inside a value: another one, one less, one twice."""
    while True:
        inner = [
            part for part in (value.values() if isinstance(value, dict) else value) if isinstance(part, dict | list)
        ]
        if not inner or rng.random() < 0.3:
            break
        value = rng.choice(inner)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key, action = rng.choice(keys), rng.random()
    if action < 0.5:
        value[key] = copy.deepcopy(rng.choice(ODD))
    elif action < 0.75:
        del value[key]
    elif isinstance(value, list):
        value.extend(copy.deepcopy(value[key]) for _ in range(rng.choice([1, 1, 30])))
    else:
        value[rng.choice(["id", "", "label", "x", key.upper(), key + " "])] = value.pop(key)


def _break_table(table: list[list], rng: random.Random) -> None:
    row = rng.choice(table)
    action = rng.random()
    if action < 0.5 and row:
        row[rng.randrange(len(row))] = rng.choice(CELLS)
    elif action < 0.6 and row:
        del row[rng.randrange(len(row))]
    elif action < 0.7:
        table.extend([list(row)] * rng.choice([1, 1, 50]))
    elif action < 0.8 and len(table) > 1:
        table.remove(row)
    elif action < 0.9:
        row.append(rng.choice(["", "x", "1"]))
    else:
        place = rng.randrange(max(1, len(row)))
        for other in table:
            if place < len(other):
                del other[place]


def _bytes_broken(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    action, at = rng.random(), rng.randrange(len(content))
    if action < 0.35:
        return content[:at]
    if action < 0.5:
        return content[at:]
    if action < 0.8:
        broken = bytearray(content)
        for _ in range(rng.choice([1, 1, 3, 20])):
            broken[rng.randrange(len(broken))] = rng.choice(
                [0, 10, 13, 34, 44, 91, 93, 123, 125, 255, rng.randrange(256)]
            )
        return bytes(broken)
    if action < 0.9:
        return content[:at] + content[at:] * 2
    return content.decode("utf-8", "replace").encode(rng.choice(["utf-16", "utf-16-le", "utf-32", "utf-8-sig"]))
