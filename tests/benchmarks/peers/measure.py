"""One task by one side in this process: `measure.py {ours,theirs} TASK N FOLDER OUT [LEAST]`. Prints seconds and MB.

The task is done once on small data first, which loads and compiles what it needs; where ``LEAST`` is given, three times
or more, until so many CPU seconds were spent, and the median counts. CPU seconds are user and system, of this process
and its children; memory is the peak over what was held before (Linux).
"""

import gc
import importlib
import json
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np

SMALL, _TIMES = 10_000, 3


def main(side: str, task: str, n: str, folder: str, out: str, least: str = "0") -> None:
    """Measure, and write the result to ``out``."""
    module = importlib.import_module(side)
    prepare = (module.TASKS | getattr(module, "ALONE", {}))[task]
    prepare(SMALL, Path(folder))()
    work = prepare(int(n), Path(folder))
    gc.collect()
    before = start_peak()
    spent, walls = [], []
    while not spent or sum(spent) < float(least) or (float(least) and len(spent) < _TIMES):
        found = None
        seconds, started = cpu(), time.perf_counter()
        found = work()
        walls.append(time.perf_counter() - started)
        spent.append(cpu() - seconds)
    print(json.dumps({"cpu": statistics.median(spent), "wall": statistics.median(walls), "mb": peak() - before}))
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
