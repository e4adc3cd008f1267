"""Annotations past memory: makes a folder of Parquet of any size, and measures commands on it.

    python tests/benchmarks/past_memory.py make FOLDER 1e8
    python tests/benchmarks/past_memory.py run FOLDER [--memory 4] [--only describe,agreement,fit] [--partitions N]
    python tests/benchmarks/past_memory.py engines FOLDER

`make` writes five annotations a case of ten classes, by a rater for every thousand annotations (100,000 at 1e8), in
parts of five million rows whose order is shuffled over the whole: no two rows of a case stand together. `run` does each
command in a process of its own and prints CPU seconds, wall seconds and the peak of its memory. `engines` scatters the
rows by their case with DuckDB and with polars (it needs both), which is what decided between them.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PER_CASE, N_CLASSES, ROWS_A_PART, A_RATER = 5, 10, 5_000_000, 1_000


def mixed(number: np.ndarray) -> np.ndarray:
    """Whole numbers as others that look random: splitmix64."""
    z = number.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def make(folder: Path, n: int) -> None:
    """A folder of Parquet with ``n`` annotations."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet

    folder.mkdir(parents=True)
    n_raters, step = max(PER_CASE, n // A_RATER), 2 * (n // 5) + 1
    while math.gcd(step, n) > 1:
        step += 2
    accuracy = np.random.default_rng(0).uniform(0.4, 0.95, n_raters)

    def named(word: str, codes: np.ndarray) -> pa.Array:
        return pc.binary_join_element_wise(word, pa.array(codes).cast(pa.string()), "")

    for part, first in enumerate(range(0, n, ROWS_A_PART)):
        rng = np.random.default_rng(part)
        row = np.arange(first, min(first + ROWS_A_PART, n), dtype=np.int64)
        case, place = np.divmod(row * step % n, PER_CASE)
        rater = ((mixed(case) >> np.uint64(8)).astype(np.int64) % n_raters + place) % n_raters
        truth = (mixed(case + n) >> np.uint64(8)).astype(np.int64) % N_CLASSES
        right = rng.uniform(size=row.size) < accuracy[rater]
        answer = np.where(right, truth, rng.integers(0, N_CLASSES, row.size))
        columns = {"case": named("case", case), "rater": named("rater", rater), "class": named("class", answer)}
        parquet.write_table(pa.table(columns), folder / f"{part:04}.parquet", row_group_size=1_000_000)


COMMANDS = {
    "describe": ["describe"],
    "agreement": ["agreement"],
    "fit": ["fit", "dawid-skene"],
    "certainty": ["certainty", "dirichlet", "--reliability", "1", "--draws", "10", "--top", "1"],
}


def run(folder: Path, memory: float, only: list[str], partitions: int | None) -> None:
    """Each command in a process of its own, whose data may take ``memory`` GB (RLIMIT_DATA)."""

    def limited() -> None:
        most = int(memory * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    scratch = Path(tempfile.gettempdir())
    print(f"| command | rows | CPU s | wall s | peak MB | said |\n|---|---|---|---|---|---|  (scratch: {scratch})")
    for name in only:
        asked = [*COMMANDS[name], str(folder), *(["--partitions", str(partitions)] if partitions else [])]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [sys.executable, "-c", _CHILD, "core", *asked]
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, cwd=ROOT)
        wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        answer, peak = json.loads(done.stdout), done.stderr.split()[-1]
        said = {key: answer[key] for key in ("n_rows", "n_iterations", "log_likelihood", "n_cases") if key in answer}
        if "coefficients" in answer:
            said |= {one["name"]: one["value"] for one in answer["coefficients"]}
        print(f"| {name} | {folder.name} | {cpu:.1f} | {wall:.1f} | {int(peak) / 1024:,.0f} | {said} |", flush=True)


def engines(folder: Path) -> None:
    """polars and DuckDB in alternating processes, the rows of a folder to partitions of 2,000,000."""
    for engine in ("polars", "duckdb") * 3:
        with tempfile.TemporaryDirectory() as out:
            command = [sys.executable, str(Path(__file__).resolve()), f"by-{engine}", str(folder), out]
            print(
                engine, subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), flush=True
            )


def scattered(engine: str, folder: Path, out: Path) -> None:
    """The rows by one engine; prints CPU seconds and the peak of memory."""
    sys.path.insert(0, str(ROOT))
    from core.partitioned.scatter import rows_of

    rows = rows_of(folder)
    n = 1 << max(0, -(-rows.n_rows // 2_000_000) - 1).bit_length()
    if engine == "polars":
        rows.scatter(["case", "rater", "class"], "case", n, out)
    else:
        import duckdb

        with duckdb.connect(config={"threads": os.cpu_count(), "memory_limit": "1GB"}) as connection:
            connection.execute(f"SET temp_directory = '{out}/spilled'; SET preserve_insertion_order = false")
            connection.execute(
                f"""COPY (SELECT "case", rater, "class", file_row_number, hash(trim("case")) % {n} AS part
                FROM read_parquet({[str(part) for part in rows.parts]}, file_row_number = true))
                TO '{out}/rows' (FORMAT parquet, PARTITION_BY (part), COMPRESSION lz4_raw)"""
            )
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{used.ru_utime + used.ru_stime:.1f} CPU s, {used.ru_maxrss / 1024:,.0f} MB, {n} partitions")


_CHILD = """
import resource, sys
from core.command_line import main
status = main(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


def main() -> None:
    """One of the four."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("make", "run", "engines", "by-polars", "by-duckdb"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("more", nargs="?")
    parser.add_argument("--memory", type=float, default=4.0, help="GB that a command may take")
    parser.add_argument("--only", default=",".join(COMMANDS), help="commands, separated by commas")
    parser.add_argument("--partitions", type=int, help="as many as the size asks for where not given")
    asked = parser.parse_args()
    if asked.what == "make":
        make(asked.folder, int(float(asked.more)))
    elif asked.what == "run":
        run(asked.folder, asked.memory, asked.only.split(","), asked.partitions)
    elif asked.what == "engines":
        engines(asked.folder)
    else:
        scattered(asked.what.removeprefix("by-"), asked.folder, Path(asked.more))


if __name__ == "__main__":
    main()
