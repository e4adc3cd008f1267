"""One task by one side in this process: `measure.py {ours,theirs} TASK N FOLDER OUT`. Prints CPU seconds and MB.

The task is done once on small data first, which loads and compiles what it needs. CPU seconds are user and system, of
this process and its children; memory is the peak over what was held before (Linux).
"""

import gc
import importlib
import json
import resource
import sys
from pathlib import Path

import numpy as np

SMALL = 10_000


def main(side: str, task: str, n: str, folder: str, out: str) -> None:
    """Measure, and write the result to ``out``."""
    prepare = importlib.import_module(side).TASKS[task]
    prepare(SMALL, Path(folder))()
    work = prepare(int(n), Path(folder))
    gc.collect()
    before = start_peak()
    seconds = cpu()
    found = work()
    seconds = cpu() - seconds
    print(json.dumps({"cpu": seconds, "mb": peak() - before}))
    np.save(out, found)


def cpu() -> float:
    """CPU seconds so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def start_peak() -> float:
    """Forget the peak of memory so far; what is held now, in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    """Highest resident memory since `start_peak`, in MB."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
