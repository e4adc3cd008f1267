"""How processor time grows with the data, one table: python tests/benchmarks/growth.py [--large] [--only TASK,TASK].

Ten classes, five annotations a case, 1,000 raters, as in `peers/crowds.py`; ten steps of each model by EM, 100 draws of
each case for certainty by counts. Every task and size in processes of their own, sizes in turn so that what else the
machine does hits all alike; medians of three. Growth is the slope of ln CPU seconds over ln annotations by least
squares, from 100,000 up (target: at most 1.10), beside it that of the last two sizes. CPU by wall says how many cores
worked at the largest size (target from 100,000: 1.7 of two), and means something only on a machine without other work.
A task ends after ``--longest`` seconds of the clock: what would take longer, by the runs before, is not begun, what
does take longer is ended, and sizes that were never measured are a dash.
"""

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

import compare
import numpy as np

SIZES, LARGE, PROCESSES, LEAST, LONGEST = (100_000, 300_000, 1_000_000), 10_000_000, 3, 0.2, 90.0
TASKS = {
    "dawid-skene": "Dawid-Skene",
    "one-coin": "one coin",
    "mace": "t-a-p with an accuracy a rater (MACE)",
    "glad": "GLAD",
    "majority": "majority vote",
    "alpha": "Krippendorff α with its interval",
    "certainty": "certainty by counts",
    "describe": "`describe` of CSV",
    "read csv": "CSV to a dataset",
    "read parquet": "Parquet to a dataset",
    "read jsonl": "JSON Lines to a dataset",
}
FILES = {"describe": "csv"} | {task: task.removeprefix("read ") for task in TASKS if task.startswith("read ")}


def measured(task: str, sizes: list[int], processes: int, folder: Path, longest: float) -> dict[int, list[dict]]:
    """What each process took, by size; of a size that does not fit into the time, fewer processes or none."""
    for size in {10_000, *sizes} if task in FILES else ():
        compare.write_file(FILES[task], size, folder)
    found: dict[int, list[dict]] = {size: [] for size in sizes}
    until, took = time.monotonic() + longest, dict[int, float]()
    for _ in range(processes):
        for size in sizes:
            started = time.monotonic()
            if started + expected(size, took) > until:
                continue
            left = max(1.0, until - started)
            with suppress(subprocess.TimeoutExpired):
                found[size].append(compare.run(sys.executable, "ours", task, size, folder, LEAST, left)[0])
            took[size] = time.monotonic() - started
    return found


def expected(size: int, took: dict[int, float]) -> float:
    """Seconds that a process will take, from those of its size, else in proportion from the largest one below it."""
    below = [known for known in took if known <= size]
    return took[max(below)] * size / max(below) if below else 0.0


def slope(sizes: list[int], seconds: list[float]) -> float:
    """The exponent of growth by least squares; NaN of a single size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]) if len(sizes) > 1 else math.nan


def line(task: str, found: dict[int, list[dict]]) -> str:
    """A row of the table."""
    sizes = [size for size in sorted(found) if found[size]]
    if not sizes:
        return f"| {TASKS[task]} |{' – |' * (len(found) + 4)}"
    by_size = {size: statistics.median(run["cpu"] for run in found[size]) for size in sizes}
    seconds = list(by_size.values())
    cores = statistics.median(run["cpu"] / run["wall"] for run in found[sizes[-1]])
    memory = statistics.median(run["mb"] for run in found[sizes[-1]])
    times = " | ".join(f"{by_size[size]:.3f}" if size in by_size else "–" for size in sorted(found))
    growth = f"{slope(sizes, seconds):.2f} | {slope(sizes[-2:], seconds[-2:]):.2f}"
    return f"| {TASKS[task]} | {times} | {growth} | {cores:.2f} | {memory:,.0f} |"


def main() -> None:
    """Every task at every size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(TASKS), help="tasks, separated by commas")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="annotations, separated by commas")
    parser.add_argument("--processes", type=int, default=PROCESSES, help="of each task and size")
    parser.add_argument("--longest", type=float, default=LONGEST, help="seconds of the clock for each task")
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} annotations too")
    asked = parser.parse_args()
    sizes = [int(float(size)) for size in asked.sizes.split(",")] + ([LARGE] if asked.large else [])
    print(
        f"| task, CPU s at annotations: | {' | '.join(f'{size:,}' for size in sizes)} | growth | last | CPU/wall | MB |"
    )
    print("|---|" + "---|" * (len(sizes) + 4))
    with tempfile.TemporaryDirectory() as folder:
        for task in asked.only.split(","):
            print(line(task, measured(task, sizes, asked.processes, Path(folder), asked.longest)), flush=True)
    print(f"\nLoad at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
