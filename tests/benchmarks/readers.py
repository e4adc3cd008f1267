"""Speed and memory of opening large files. Run: python tests/benchmarks/readers.py.

Each file is read in a process of its own, once to compile on a small file of the same kind and then as a whole; the
peak is that of the process with all it has loaded. Targets: 10,000,000 rows of Parquet 6 s and 1.2 GB; Label Studio,
100,000 tasks of 3 annotations (about 130 MB), 6 s and 1 GB; in both the first progress within 1 s of work.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
import pyarrow as pa
from pyarrow import parquet

N_ROWS, N_CASES, N_RATERS = 10_000_000, 2_000_000, 1_000
N_TASKS, PER_TASK = 100_000, 3
CLASSES = ("a", "b", "c", "d", "e")


def write_parquet(path: Path, n_rows: int) -> None:
    """A long table with whole numbers as cases and text as raters and classes."""
    rng = np.random.default_rng(0)
    raters = pa.array([f"rater {code}" for code in range(N_RATERS)])
    columns = {
        "case": rng.integers(0, N_CASES, n_rows, dtype=np.int32),
        "rater": raters.take(pa.array(rng.integers(0, N_RATERS, n_rows, dtype=np.int32))),
        "class": pa.array(CLASSES).take(pa.array(rng.integers(0, len(CLASSES), n_rows, dtype=np.int32))),
    }
    parquet.write_table(pa.table(columns), path)


def write_label_studio(path: Path, n_tasks: int) -> None:
    """Tasks as Label Studio exports them, with all that stands beside the annotations."""
    rng = np.random.default_rng(0)
    answers = rng.integers(0, len(CLASSES), (n_tasks, PER_TASK))
    who = rng.integers(1, 50, (n_tasks, PER_TASK))
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for task in range(n_tasks):
            annotations = [
                {
                    "id": task * PER_TASK + place,
                    "completed_by": {"id": int(who[task, place]), "email": f"rater{who[task, place]}@example.org"},
                    "was_cancelled": False,
                    "ground_truth": False,
                    "created_at": "2024-01-02T03:04:05.678901Z",
                    "lead_time": 12.345,
                    "unique_id": f"00000000-0000-0000-0000-{task * PER_TASK + place:012d}",
                    "result": [
                        {
                            "id": "x7Yz",
                            "from_name": "mood",
                            "to_name": "text",
                            "type": "choices",
                            "value": {"choices": [CLASSES[answers[task, place]]]},
                            "origin": "manual",
                        }
                    ],
                }
                for place in range(PER_TASK)
            ]
            data = {"text": f"Text number {task} that raters were shown. " * 3}
            value = {"id": task, "data": data, "annotations": annotations, "predictions": [], "meta": {}}
            file.write(("," if task else "") + json.dumps(value))
        file.write("]")


def measure(small: str, whole: str) -> None:
    """Read both; print what reading the whole one took."""
    from core.ingest.read_files import read

    read(small)
    told: list[float] = []
    started, cpu = time.perf_counter(), time.process_time()
    dataset = read(whole, progress=lambda share: told.append(time.perf_counter() - started)).dataset
    print(
        f"{Path(whole).name}: {Path(whole).stat().st_size / 1e6:.0f} MB, {dataset.n_annotations:,} annotations of "
        f"{dataset.n_cases:,} cases: {time.process_time() - cpu:.2f} CPU s, {time.perf_counter() - started:.2f} s, "
        f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9:.2f} GB; progress told "
        f"{len(told)} times, first after {told[0]:.2f} s"
    )


def main() -> None:
    """Write the files, and read each in a child process."""
    with tempfile.TemporaryDirectory() as folder:
        for name, write, few, many in (
            ("rows.parquet", write_parquet, 1_000, N_ROWS),
            ("label_studio.json", write_label_studio, 100, N_TASKS),
        ):
            small, whole = Path(folder) / f"small_{name}", Path(folder) / name
            write(small, few)
            write(whole, many)
            subprocess.run([sys.executable, __file__, str(small), str(whole)], check=True)


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) == 3 else main()
