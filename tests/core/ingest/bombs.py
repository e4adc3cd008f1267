"""Small files that become large, one or more for each reader, made anew; and what reading each takes.

    python tests/core/ingest/bombs.py [NAME ...]
    python tests/core/ingest/bombs.py 0-500

The second line takes generated ones, by seed. Each is made in a process of its own and read in a fork of one warm
process. Prints a line of JSON for each: outcome, memory above the idle process in MB (Linux), and processor seconds.
"""

import copy
import io
import json
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from tests.core.ingest.shapes import RECORDS, TABLES, delimited
from tests.core.ingest.test_evaluation_logs import BIG, inspect_log, logged, promptfoo, result

_METRICS = [{"name": "Faith", "success": True}, {"name": "Bias", "success": False}]
_PROMPTS = [result(n, "p:a", "yes", equals=True, human=False) for n in range(2)]
LOGS = {
    "inspect": [json.loads(inspect_log("lab/big", BIG))],
    "promptfoo": [json.loads(promptfoo(_PROMPTS))],
    "deepeval": [{"testCases": [{"name": f"t{n}", "input": "?", "metricsData": _METRICS} for n in range(2)]}],
    "lm_eval": [json.loads(line) for line in logged((0, "1", ["1"]), (1, "1", ["2"])).splitlines()],
}

N_SHAPES = len(TABLES) + len(RECORDS) + len(LOGS)
MOST_BYTES = 1_000_000  # of a generated file, as it is sent
_MOST_UNPACKED = 120_000_000
_XML = '<?xml version="1.0"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_BOOK = {
    "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sharedStrings+xml"/></Types>',
    "_rels/.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    f'<Relationship Id="r3" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
}
_SHEET = "xl/worksheets/sheet1.xml"
_HEAD = b"case,rater,class\n"


def workbook(rows: str, strings: str = "", after: str = "", **parts: str) -> bytes:
    """A workbook of one sheet from the XML of its rows and of its shared strings; ``after`` follows the rows."""
    files = _BOOK | {
        _SHEET: f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData>{after}</worksheet>',
        "xl/sharedStrings.xml": f'{_XML}<sst xmlns="{_MAIN}">{strings}</sst>',
        "xl/styles.xml": parts.get("styles", _style()),
    }
    return zipped(*((name, text.encode()) for name, text in files.items()))


@cache
def _style() -> str:
    """The styles of an empty workbook."""
    import openpyxl

    sink = io.BytesIO()
    openpyxl.Workbook().save(sink)
    with zipfile.ZipFile(sink) as archive:
        return archive.read("xl/styles.xml").decode()


def zipped(*files: tuple[str, bytes]) -> bytes:
    """A zip archive of these files."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return sink.getvalue()


def _row(number: int, *cells: str) -> str:
    return f'<row r="{number}">' + "".join(cells) + "</row>"


def _text(reference: str, place: int = 0) -> str:
    return f'<c r="{reference}" t="s"><v>{place}</v></c>'


def _number(reference: str, value: int = 1) -> str:
    return f'<c r="{reference}"><v>{value}</v></c>'


def _columns(n: int) -> Iterator[str]:
    from openpyxl.utils import get_column_letter

    return map(get_column_letter, range(1, n + 1))


def _long_shared_string() -> bytes:
    rows = "".join(_row(number, _text(f"A{number}"), _text(f"B{number}")) for number in range(1, 3_000))
    return workbook(rows, f"<si><t>{'x' * 500_000}</t></si>")


def _many_shared_strings() -> bytes:
    return workbook(_row(1, _text("A1"), _text("B1")), "<si><t/></si>" * 1_400_000)


def _merged_ranges() -> bytes:
    rows = "".join(_row(number, _number(f"A{number}"), _number(f"B{number}")) for number in range(1, 30_000))
    merged = "".join(f'<mergeCell ref="{"AB"[n % 2]}{1 + n % 999}:C{20_000 + n % 9_999}"/>' for n in range(30_000))
    return workbook(rows, after=f"<mergeCells>{merged}</mergeCells>")


def _merged_across() -> bytes:
    rows = "".join(_row(number, _number(f"A{number}")) for number in range(1, 60_000))
    last = _row(1, *(_number(f"{letters}1") for letters in _columns(9_000)))
    merged = "".join(f'<mergeCell ref="{letters}1:{letters}59000"/>' for letters in _columns(9_000))
    return workbook(last + rows, after=f"<mergeCells>{merged}</mergeCells>")


def _unclosed_merged() -> bytes:
    return workbook(_row(1, _number("A1"), _number("B1")), after="<!--" + "<mergeCell " * 900_000 + "-->")


def _wide_padding() -> bytes:
    rows = _row(1, _number("JJJ1")) + "".join(_row(number, _number(f"A{number}")) for number in range(2, 100_000))
    return workbook(rows)


def _styles() -> bytes:
    fonts = "<font><b/><sz val='9'/></font>" * 400_000
    styles = _style().replace("</fonts>", f"{fonts}</fonts>")
    return workbook(_row(1, _number("A1"), _number("B1")), styles=styles)


def _entities() -> bytes:
    lines = ['<!ENTITY a0 "lol">', *(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))]
    strings = f"<!DOCTYPE sst [{''.join(lines)}]>"
    files = dict(_BOOK) | {
        _SHEET: f'<worksheet xmlns="{_MAIN}"><sheetData>{_row(1, _text("A1"))}</sheetData></worksheet>',
        "xl/sharedStrings.xml": f'{strings}<sst xmlns="{_MAIN}"><si><t>&a9;</t></si></sst>',
        "xl/styles.xml": _style(),
    }
    return zipped(*((name, text.encode()) for name, text in files.items()))


def _parquet(table: pa.Table, **options) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd", **options)
    return sink.getvalue()


def _repeated(value: str, n: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([value]))


def _parquet_dictionary() -> bytes:
    rows = 300_000
    columns = {name: _repeated(name * 10_000, rows) for name in ("case", "rater", "class")}
    return _parquet(pa.table(columns), store_schema=False)


def _parquet_stored_dictionary() -> bytes:
    columns = {name: _repeated(name * 2_000_000, 3_000) for name in ("case", "rater", "class")}
    return _parquet(pa.table(columns), store_schema=True)


def _parquet_rows() -> bytes:
    return _parquet(pa.table({name: pa.array(np.zeros(30_000_000, np.int8)) for name in ("case", "rater", "class")}))


def _parquet_lists() -> bytes:
    lists = pa.ListArray.from_arrays(np.array([0, 3_000_000], np.int32), pa.array(["a"] * 3_000_000))
    return _parquet(pa.table({"text": ["x" * 3_000_000], "annotator": lists, "label": lists}))


def _parquet_nested() -> bytes:
    """Texts in lists, which are not read as dictionaries."""
    lists = pa.ListArray.from_arrays(np.arange(0, 100_001, dtype=np.int32), _repeated("x" * 20_000, 100_000))
    raters = pa.ListArray.from_arrays(np.arange(0, 100_001, dtype=np.int32), pa.array(["r"] * 100_000))
    return _parquet(pa.table({"case": range(100_000), "annotator": raters, "label": lists}), store_schema=False)


def _parquet_columns() -> bytes:
    return _parquet(pa.table({f"c{n}": pa.array([1], pa.int8()) for n in range(30_000)}))


def _parquet_fixed() -> bytes:
    wide = pa.array([b"x" * 100_000], pa.binary(100_000)).take(pa.array(np.zeros(3_000, np.int64)))
    return _parquet(pa.table({"case": range(3_000), "rater": ["r"] * 3_000, "class": wide}))


def _parquet_structs() -> bytes:
    parts = pa.array([{"annotator": "a", "label": "x"} | {f"k{n}": "a" for n in range(4_000)}])
    return _parquet(pa.table({"case": ["1"], "said": pa.ListArray.from_arrays([0, 1], parts)}))


BOMBS: dict[str, Callable[[], tuple[str, bytes]]] = {
    "workbook, a long shared string": lambda: ("a.xlsx", _long_shared_string()),
    "workbook, many shared strings": lambda: ("a.xlsx", _many_shared_strings()),
    "workbook, overlapping merged ranges": lambda: ("a.xlsx", _merged_ranges()),
    "workbook, merged ranges in every column": lambda: ("a.xlsx", _merged_across()),
    "workbook, merged ranges that do not end": lambda: ("a.xlsx", _unclosed_merged()),
    "workbook, one far cell": lambda: ("a.xlsx", _wide_padding()),
    "workbook, a row number": lambda: ("a.xlsx", workbook(_row(10**12, _number("A1"), _number("B1")))),
    "workbook, many columns": lambda: (
        "a.xlsx",
        workbook("".join(_row(n, *(_number(f"{c}{n}") for c in _columns(16_384))) for n in range(1, 20))),
    ),
    "workbook, styles": lambda: ("a.xlsx", _styles()),
    "workbook, entities": lambda: ("a.xlsx", _entities()),
    "csv, many columns": lambda: ("a.csv", b",".join(b"c%d" % n for n in range(1_000_000)) + b"\n" + b"1," * 999_999),
    "csv, many empty rows": lambda: ("a.csv", _HEAD + b",,\n" * 300_000),
    "csv, rows that do not fit": lambda: ("a.csv", _HEAD + b"1,2,3\n" * 300_000 + b"1\n" * 290_000),
    "csv, an open quote": lambda: ("a.csv", _HEAD + b'1,2,"\n' * 200_001),
    "csv, one long field": lambda: ("a.csv", _HEAD + b"1,2," + b"x" * 3_000_000),
    "tsv in a zip": lambda: ("a.zip", zipped(("a.tsv", _HEAD.replace(b",", b"\t") + b"1\t2\t3\n" * 9_000_000))),
    "csv of blanks in a zip": lambda: ("a.zip", zipped(("a.csv", _HEAD + b"\n" * 19_000_000))),
    "zip, many files": lambda: ("a.zip", zipped(*((f"{n}.csv", _HEAD + b"1,2,3\n" * 2_000) for n in range(3_000)))),
    "zip, a zip": lambda: ("a.zip", zipped(("a.zip", zipped(("a.csv", bytes(10_000_000)))))),
    "zip, much text": lambda: ("a.zip", zipped(("a.csv", b"a,b\n" + b"x" * 400_000_000))),
    "json, names": lambda: ("a.json", json.dumps([{f"k{n}": 1} for n in range(60_000)]).encode()),
    "json, other names in turn": lambda: (
        "a.jsonl",
        b"".join(b'{"case": 1, "rater": 2, "k%d": 3}\n' % (n % 5_000) for n in range(60_000)),
    ),
    "json, a name twice": lambda: (
        "a.json",
        b'[{"case": 1, "rater": 2, ' + b"".join(b'"n%d": 1, ' % n for n in range(200_000)) + b'"n199999": 2}]',
    ),
    "json, many records": lambda: ("a.zip", zipped(("a.json", b"[" + b"1," * 9_000_000 + b"1]"))),
    "json, deep": lambda: ("a.json", b"[" * 1_000_000),
    "json, lists beside a long text": lambda: (
        "a.json",
        json.dumps([{"text": "x" * 300_000, "annotator": ["a"] * 200_000, "label": ["b"] * 200_000}] * 2).encode(),
    ),
    "json, empty lists": lambda: ("a.json", b"[" + b"[]," * 900_000 + b"[]]"),
    "json, long numbers": lambda: ("a.json", b'[{"case": ' + b"9" * 1_000_000 + b', "rater": 1, "class": 1}]'),
    "parquet, a dictionary": lambda: ("a.parquet", _parquet_dictionary()),
    "parquet, a stored dictionary": lambda: ("a.parquet", _parquet_stored_dictionary()),
    "parquet, many rows": lambda: ("a.parquet", _parquet_rows()),
    "parquet, lists beside a long text": lambda: ("a.parquet", _parquet_lists()),
    "parquet, texts in lists": lambda: ("a.parquet", _parquet_nested()),
    "parquet, many columns": lambda: ("a.parquet", _parquet_columns()),
    "parquet, wide values": lambda: ("a.parquet", _parquet_fixed()),
    "json, empty parts in a zip": lambda: (
        "a.zip",
        zipped(("a.json", b'[{"case": 1, "rater": 2, "class": [' + b"{}," * 4_000_000 + b"{}]}]")),
    ),
    "json, names of names in a zip": lambda: (
        "a.zip",
        zipped(("a.json", json.dumps({f"k{n}": {"value": "a", "user_id": "u"} for n in range(400_000)}).encode())),
    ),
    "json in a cell in a zip": lambda: (
        "a.zip",
        zipped(("a.csv", b'HITId,WorkerId,Answer.taskAnswers\nh,w,"[' + b"[]," * 5_000_000 + b'[]]"\n')),
    ),
    "parquet, rows that are left out": lambda: (
        "a.parquet",
        _parquet(
            pa.table({name: pa.array(np.ones(1_900_000, np.int8)) for name in ("case", "rater", "rank", "class")})
        ),
    ),
    "parquet, structs of many fields": lambda: ("a.parquet", _parquet_structs()),
    "matrix, a zip of numbers": lambda: ("a.zip", zipped(("a.json", b"[" + b"[0.5,1]," * 2_000_000 + b"[0.5,1]]"))),
    "counts": lambda: ("a.csv", b"case,yes,no\n" + b"1,99999,99999\n2,99999,99999\n" * 40),
    "labels": lambda: ("a.csv", _HEAD + (b"1,2," + b"a;b;" * 20_000 + b"\n") * 8),
}


def generated(seed: int) -> tuple[str, bytes]:
    """Name and content of a file of a known shape of which one part is repeated very often."""
    rng = random.Random(seed)
    shape = [*TABLES.values(), *RECORDS.values(), *LOGS.values()][seed % N_SHAPES]
    make, amount = _grown_table if seed % N_SHAPES < len(TABLES) else _grown_records, 10 ** rng.uniform(3, 7)
    while True:
        file, content = make(random.Random(seed), shape, int(amount))
        if len(content) <= MOST_BYTES:
            return file, content
        amount *= 0.8 * MOST_BYTES / len(content)


def _grown_table(rng: random.Random, rows: list[list], amount: int) -> tuple[str, bytes]:
    """A table with a part that is repeated: rows, columns, or the text of a cell; ``amount`` is a number of cells."""
    rows = [row + [""] * (len(rows[0]) - len(row)) for row in rows]
    parts = ["rows", "columns", "cell", "cells"] + ["json"] * any(
        cell[:1] in ("[", "{") for row in rows for cell in row
    )
    part, container = rng.choice(parts), rng.choice(["csv", "zip", "xlsx", "parquet"])
    again = max(1, amount // (len(rows[0]) * max(1, len(rows) - 1)))
    if part == "columns":
        wide = max(1, min(amount // len(rows), 60_000))
        rows = [rows[0] + [f"k{n}" for n in range(wide)], *(row + [row[-1]] * wide for row in rows[1:])]
        again = 1
    elif part == "json":
        row, column = rng.choice([(row, n) for row in rows[1:] for n, cell in enumerate(row) if cell[:1] in ("[", "{")])
        row[column] = json.dumps(_grown_values(rng, [json.loads(row[column])], amount)[0])
        again = 1
    elif part == "cell":
        place = rng.randrange(1, len(rows)), rng.randrange(len(rows[0]))
        rows[place[0]][place[1]] = str(rows[place[0]][place[1]] or "x") * min(amount, 500_000)
        again = rng.choice([1, 1, 3, 100])
    elif part == "cells":
        rows = [rows[0], *([cell * 1_000 for cell in row] for row in rows[1:])]
        again = max(1, again // 100)
    if container == "xlsx":
        return "a.xlsx", _sheet_of(rows, min(again, 300_000 // len(rows[0]) + 1))
    if container == "parquet":
        return "a.parquet", _parquet_of(rows, again, stored=rng.random() < 0.5)
    head, body = delimited(rows[:1]), delimited(rows[1:])
    room = _MOST_UNPACKED if container == "zip" else MOST_BYTES
    again = max(1, min(again, room // len(body)))
    content = head + body * again
    return ("a.zip", zipped(("a.csv", content))) if container == "zip" else ("a.csv", content)


def _sheet_of(rows: list[list[str]], again: int) -> bytes:
    """The rows as a sheet of shared strings, those below the first again and again."""
    from xml.sax.saxutils import escape

    texts = list(dict.fromkeys(cell[:32_000] for row in rows for cell in row))
    place = {text: number for number, text in enumerate(texts)}
    lines, number = [], 1
    for row in [rows[0], *rows[1:] * again]:
        cells = (f'<c t="s"><v>{place[cell[:32_000]]}</v></c>' for cell in row)
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
        number += 1
    return workbook("".join(lines), "".join(f"<si><t>{escape(text)}</t></si>" for text in texts))


def _parquet_of(rows: list[list[str]], again: int, *, stored: bool) -> bytes:
    """The rows as Parquet, those below the first again and again, as numbers where they are."""
    columns = {}
    for place, name in enumerate(rows[0]):
        cells = [row[place] for row in rows[1:]]
        values = pa.array([int(cell) for cell in cells] if all(c.isdigit() and len(c) < 9 for c in cells) else cells)
        codes = pa.array(np.tile(np.arange(len(cells), dtype=np.int32), again))
        columns[name or "empty"] = (
            pa.DictionaryArray.from_arrays(codes, values) if pa.types.is_string(values.type) else values.take(codes)
        )
    return _parquet(pa.table(columns), store_schema=stored)


def _grown_records(rng: random.Random, records: list, amount: int) -> tuple[str, bytes]:
    """JSON with a part that is repeated, of about ``amount`` values."""
    container = rng.choice(["json", "jsonl", "zip", "parquet"])
    records, dump = _grown_values(rng, copy.deepcopy(records), amount), json.JSONEncoder(separators=(",", ":")).encode
    if container == "parquet":
        try:
            return "a.parquet", _parquet(pa.Table.from_pylist(records[: amount // 10 + 1]))
        except (pa.ArrowException, OverflowError, AttributeError, TypeError, ValueError):
            container = "json"  # values of one place differ in type
    whole = records[0] if len(records) == 1 and isinstance(records[0], dict) else records
    content = ("\n".join(map(dump, records)) if container == "jsonl" else dump(whole)).encode()
    return ("a.zip", zipped(("a.json", content[:_MOST_UNPACKED]))) if container == "zip" else ("a.json", content)


def _grown_values(rng: random.Random, records: list, amount: int) -> list:
    """The records with one part repeated: a record, a list, a text, names, or empty parts."""
    part = rng.choice(["records", "list", "text", "names", "empty", "short texts"])
    holders = list(_holders(records))
    if part == "records":
        records = records * max(1, amount // max(1, len(holders)))
    else:
        holder, key = rng.choice(holders)
        kinds = {
            "list": lambda: [holder[key]] * max(1, amount // 4),
            "text": lambda: "x" * (amount * 10),
            "names": lambda: {f"k{n}": holder[key] for n in range(min(amount // 4, 1_000_000))},
            "empty": lambda: rng.choice([[{}], [[]], [None], [""], [0]]) * amount,
            "short texts": lambda: [str(n) for n in range(min(amount, 3_000_000))],
        }
        holder[key] = kinds[part]()
    return records


def _holders(value: object) -> Iterator[tuple]:
    """Every dictionary and list within a value, with each place in it."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _holders(value[key])


def warm() -> None:
    """Load and compile what reading takes."""
    from core.ingest.read_files import read

    rows = _HEAD + b"".join(b"c%d,r%d,x%d\n" % (n, n % 7, n % 3) for n in range(60_000))
    table = pa.table({name: [f"{name} {n % 9}" for n in range(60_000)] for name in ("case", "rater", "class")})
    records = json.dumps([{"case": n, "rater": n % 3, "class": "a"} for n in range(50)]).encode()
    lists = json.dumps([{"case": n, "annotator": ["a", "b"], "label": ["x", "y"]} for n in range(50)]).encode()
    cells = "".join(_row(n, *(_number(f"{column}{n}", n) for column in "ABC")) for n in range(1, 50))
    for content in (rows, _parquet(table), records, lists, workbook(cells), zipped(("a.csv", rows))):
        read(content)


def measured(name: str, file: str, content: bytes) -> dict:
    """What reading a file takes, in this process."""
    from core.errors import PluralityError
    from core.ingest.read_files import read

    idle, began = _start_peak(), time.process_time()
    try:
        dataset = read(content, name=file).dataset
        outcome = f"read: {dataset.n_annotations:,} annotations"
    except PluralityError as error:
        outcome = f"refused: {error}"
    except BaseException as error:  # what the test is to find
        outcome = f"FOREIGN {type(error).__name__}: {error}"[:300]
    return {
        "name": name,
        "file": file,
        "size": len(content),
        "outcome": outcome,
        "seconds": time.process_time() - began,
        "mb": _peak() - idle,
    }


def _start_peak() -> float:
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def _in_a_fork(work: Callable[[], None]) -> int:
    """Status of a fork that does this; one that takes more than 8 GB or a minute is ended."""
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        try:
            work()
            sys.stdout.flush()
            os._exit(0)
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def _make(name: str, folder: Path) -> None:
    file, content = generated(int(name)) if name.isdigit() else BOMBS[name]()
    (folder / "content").write_bytes(content)
    (folder / "file").write_text(file)


def _measure(name: str, folder: Path) -> None:
    print(json.dumps(measured(name, (folder / "file").read_text(), (folder / "content").read_bytes())))


def main(names: list[str]) -> None:
    """Each in a fork of its own, made by another one."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    if len(names) == 1 and "-" in names[0]:
        first, last = map(int, names[0].split("-"))
        names = [str(seed) for seed in range(first, last)]
    warm()
    with tempfile.TemporaryDirectory() as folder:
        for name in names or list(BOMBS):
            if _in_a_fork(lambda name=name: _make(name, Path(folder))):
                raise SystemExit(f"{name} could not be made.")
            if status := _in_a_fork(lambda name=name: _measure(name, Path(folder))):
                print(json.dumps({"name": name, "outcome": f"ENDED {status}", "seconds": 60, "mb": 8_000}))


if __name__ == "__main__":
    main(sys.argv[1:])
