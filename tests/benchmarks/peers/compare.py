"""This project beside what one would use instead: one table of CPU seconds, memory, ratios and growth.

    python3 -m venv "$PEERS" && "$PEERS/bin/pip" install -r tests/benchmarks/peers/requirements.txt
    python tests/benchmarks/peers/compare.py "$PEERS/bin/python"

Pairs in alternating processes, so that what else the machine does hits both alike; medians of five; the ratio (theirs
by ours) is the median of the ratios of pairs. Growth is the exponent between the two largest sizes, of our CPU seconds:
1 is linear. The results of both are compared before anything is printed. A peer that takes longer than ``--longest``
seconds at one size, or fails at it, is left out of the larger ones. ``--large`` adds 10,000,000 annotations.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import crowds
import numpy as np

HERE = Path(__file__).resolve().parent
SIZES, LARGE, PAIRS = (10_000, 100_000, 1_000_000), 10_000_000, 5


@dataclass(frozen=True)
class Task:
    """What is compared: with whom, how close the results are, and the tables to be read."""

    peer: str
    rule: str = "equal"
    tolerance: float = 1e-9
    file: str = ""


TASKS = {
    "majority": Task("crowd-kit"),
    "dawid-skene": Task("crowd-kit", "classes", 0.99),
    "one-coin": Task("crowd-kit", "classes", 0.99),
    "mace": Task("crowd-kit", "classes", 0.97),
    "alpha": Task("krippendorff", "first"),
    "fleiss": Task("statsmodels", "first"),
    "ac1": Task("irrCAC", "equal", 2e-4),
    "bp": Task("irrCAC", "equal", 2e-4),
    "icc": Task("pingouin", "equal", 1e-3),
    "plackett-luce": Task("choix", "equal", 1e-3),
    "parquet/pyarrow": Task("pyarrow", file="parquet"),
    "parquet/pandas": Task("pandas", file="parquet"),
    "parquet/polars": Task("polars", file="parquet"),
    # As real files are: with repeated rows, empty annotations, ids of text, rows in no order, and all of that.
    **{f"{kind}.parquet/pyarrow": Task("pyarrow", file=f"{kind}.parquet") for kind in crowds.ROUGH},
    "csv/pyarrow": Task("pyarrow", file="csv"),
    "csv/pandas": Task("pandas", file="csv"),
    "csv/polars": Task("polars", file="csv"),
    "jsonl/orjson": Task("orjson", file="jsonl"),
}


class FailedError(SystemExit):
    """A process that ended with an error; what it said."""


@dataclass
class Row:
    """One task at one size; the peer's numbers are empty where it was left out."""

    task: str
    n: int
    ours: list[dict] = field(default_factory=list)
    theirs: list[dict] = field(default_factory=list)

    def median(self, side: str, what: str) -> float:
        """Median of the runs of one side, NaN without any."""
        runs = getattr(self, side)
        return statistics.median(run[what] for run in runs) if runs else math.nan

    @property
    def ratio(self) -> float:
        """Median over pairs of their CPU seconds by ours."""
        pairs = zip(self.ours, self.theirs, strict=False)
        ratios = [theirs["cpu"] / max(ours["cpu"], 1e-3) for ours, theirs in pairs]
        return statistics.median(ratios) if ratios else math.nan


def differs(task: Task, ours: np.ndarray, theirs: np.ndarray) -> str:
    """What is wrong with two results, empty where they agree."""
    if task.rule == "first":
        ours, theirs = ours[:1], theirs[:1]
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    if task.rule == "classes":
        same = float((ours.argmax(axis=1) == theirs.argmax(axis=1)).mean())
        return "" if same >= task.tolerance else f"the same class on {same:.4f} of the cases, below {task.tolerance}"
    apart = float(np.abs(ours - theirs).max())
    return "" if apart <= task.tolerance else f"{apart:.3g} apart, {task.tolerance:g} allowed"


def growth(small: Row, large: Row) -> float:
    """Exponent of our CPU seconds between two sizes."""
    return math.log(large.median("ours", "cpu") / small.median("ours", "cpu")) / math.log(large.n / small.n)


def write_file(ending: str, n: int, folder: Path) -> None:
    """The crowd as a long table with names: Parquet in groups of 100,000 rows, CSV, or JSON Lines.

    What precedes the ending, such as ``repeats.parquet``, is how rough it is; see `crowds.rough`.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    path = folder / f"{n}.{ending}"
    if path.exists():
        return
    made, kind, ending = crowds.crowd(n), ending.rpartition(".")[0], ending.rpartition(".")[2]
    made = crowds.rough(made, kind)
    columns = {}
    for key, name in (("case", "case"), ("rater", "rater"), ("answer", "class")):
        naming = crowds.text_ids if key == "case" and kind in ("text", "all") else crowds.names
        values = pa.array(naming(np.arange(made[key].max() + 1), name))
        columns[name] = values.take(pa.array(made[key], mask=made[key] < 0))
    table = pa.table(columns)
    if ending == "parquet":
        parquet.write_table(table, path, row_group_size=100_000)
    elif ending == "csv":
        csv.write_csv(table, path)
    else:
        with path.open("w", encoding="utf-8") as file:
            for batch in table.to_batches(max_chunksize=10_000):
                file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())


def run(
    python: str, side: str, task: str, n: int, folder: Path, least: float = 0.0, most: float | None = None
) -> tuple[dict, np.ndarray]:
    """One process: its seconds and memory, and its result; the task is done again until ``least`` were spent.

    It is ended after ``most`` seconds of the clock (`subprocess.TimeoutExpired`).
    """
    out = folder / f"{side}.npy"
    command = [python, str(HERE / "measure.py"), side, task, str(n), str(folder), str(out), str(least)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=most)
    if done.returncode:
        raise FailedError(f"{task} by {side} at {n:,}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]), np.load(out)


def measured(task: str, n: int, pairs: int, python: str | None, folder: Path) -> Row:
    """Pairs of one task at one size; the side that begins changes from pair to pair."""
    row, wanted = Row(task, n), TASKS[task]
    for size in {n, 10_000} if wanted.file else ():
        write_file(wanted.file, size, folder)
    for pair in range(pairs):
        sides = [("ours", sys.executable)] + ([("theirs", python)] if python else [])
        results = {}
        for side, who in sides if pair % 2 == 0 else sides[::-1]:
            try:
                numbers, results[side] = run(who, side, task, n, folder)
            except FailedError as failed:
                if side == "ours":
                    raise
                print(failed, file=sys.stderr)
                python, row.theirs = None, []
            else:
                getattr(row, side).append(numbers)
        if python and (wrong := differs(wanted, results["ours"], results["theirs"])):
            raise SystemExit(f"{task} at {n:,} differs from {wanted.peer}: {wrong}.")
    return row


def line(row: Row, before: Row | None) -> str:
    """A row of the table in Markdown."""

    def shown(value: float, form: str) -> str:
        return "" if math.isnan(value) else format(value, form)

    cells = [
        row.task,
        TASKS[row.task].peer,
        f"{row.n:,}",
        shown(row.median("ours", "cpu"), "0.3f"),
        shown(row.median("theirs", "cpu"), "0.3f"),
        shown(row.ratio, "0.1f"),
        shown(row.median("ours", "mb"), ",.0f"),
        shown(row.median("theirs", "mb"), ",.0f"),
        shown(growth(before, row), "0.2f") if before else "",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Every task at every size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="of the environment with the peers")
    parser.add_argument("--only", default="", help="tasks, separated by commas")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="annotations, separated by commas")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} annotations too")
    parser.add_argument("--longest", type=float, default=60.0, help="CPU seconds of a peer at the size before")
    asked = parser.parse_args()
    tasks = asked.only.split(",") if asked.only else list(TASKS)
    sizes = [int(float(size)) for size in asked.sizes.split(",")] + ([LARGE] if asked.large else [])
    print("| task | peer | annotations | CPU s | peer's | ratio | MB | peer's | growth |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks:
            before, python = None, asked.python
            for n in sizes:
                row = measured(task, n, asked.pairs, python, Path(folder))
                print(line(row, before), flush=True)
                if not row.theirs or row.median("theirs", "cpu") > asked.longest:
                    python = None
                before = row
    print(f"\nLoad at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
