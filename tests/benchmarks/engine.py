"""Speed and memory of the engine on a million annotations. Run: python tests/benchmarks/engine.py.

Each part runs in a process of its own; peaks of memory are over what the process held before (Linux). Targets:
Dawid-Skene, 50 iterations, 1.2 CPU seconds on one core and 150 MB over the data; t-a-p 2.5 CPU seconds; alpha, Fleiss
and SPA 0.1 s each; a million CSV rows to a Dataset 2 s and 400 MB.
"""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core import Dataset, fleiss_kappa, krippendorff_alpha, percent_agreement, read, spa
from core.annotations.counts import class_counts
from core.models.dawid_skene import DawidSkene
from core.models.one_coin import ClassConditional, OneCoin
from core.models.stopping import StoppingRule
from core.models.tap import TAP

N_CASES, PER_CASE, N_RATERS, N_CLASSES = 200_000, 5, 1_000, 5
REPEATS = 5


def simulated() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Case, rater and annotation of a million annotations by raters of 40 to 95% accuracy."""
    rng = np.random.default_rng(0)
    case = np.repeat(np.arange(N_CASES, dtype=np.int32), PER_CASE)
    rater = rng.integers(0, N_RATERS, case.size, dtype=np.int32)
    truth = rng.integers(0, N_CLASSES, N_CASES, dtype=np.int32)
    accuracy = rng.uniform(0.4, 0.95, N_RATERS)
    right = rng.uniform(size=case.size) < accuracy[rater]
    return case, rater, np.where(right, truth[case], rng.integers(0, N_CLASSES, case.size, dtype=np.int32))


def dataset() -> Dataset:
    """The simulated annotations as a dataset."""
    case, rater, answer = simulated()
    cases, raters = ([f"{name}{code}" for code in range(count)] for name, count in (("c", N_CASES), ("r", N_RATERS)))
    return Dataset.from_classes("bench", cases, raters, [str(k) for k in range(N_CLASSES)], case, rater, answer)


def rater_models() -> None:
    """50 iterations of each on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {0})
    data = dataset()
    small = data.select(cases=data.cases[:100])
    stopping = StoppingRule(50, tolerance=-1)
    for title, model in (
        ("Dawid-Skene", DawidSkene("none", stopping)),
        ("t-a-p, own", TAP("none", stopping)),
        ("t-a-p, common", TAP("none", stopping, raters="common")),
        ("one-coin", OneCoin("none", stopping)),
        ("class-conditional", ClassConditional("none", stopping)),
    ):
        model.fit(small)  # compiles
        before = start_peak()
        seconds = [timed(lambda m=model: m.fit(data), time.process_time) for _ in range(REPEATS)]
        fit = model.fit(data)
        report(f"{title}, 50 iterations", seconds, "CPU s on one core")
        print(f"  {len(fit.objective)} iterations, peak {peak() - before:.0f} MB over the data")


def agreement() -> None:
    """Coefficients with intervals; counting the classes of cases is timed by itself."""
    data = dataset()
    small = class_counts(data.select(cases=data.cases[:100]))
    for coefficient in (percent_agreement, fleiss_kappa, krippendorff_alpha, spa):
        coefficient(small)
    report("counts of classes", [timed(lambda: class_counts(data)) for _ in range(REPEATS)])
    counts = class_counts(data)
    for coefficient in (percent_agreement, fleiss_kappa, krippendorff_alpha, spa):
        report(coefficient.__name__, [timed(lambda c=coefficient: c(counts)) for _ in range(REPEATS)])


def reading() -> None:
    """A million CSV rows to a dataset."""
    case, rater, answer = simulated()
    rows = "\n".join(f"case{c},worker{r},class{k}" for c, r, k in zip(case, rater, answer, strict=True))
    content = f"case,rater,class\n{rows}\n".encode()
    del rows, case, rater, answer
    read(b"case,rater,class\n1,a,x\n1,b,y\n")  # compiles
    before = start_peak()
    seconds = [timed(lambda: read(content)) for _ in range(REPEATS)]
    report("a million CSV rows to a Dataset", seconds)
    print(f"  {len(content) / 1e6:.0f} MB of CSV, peak {peak() - before:.0f} MB over it")


def start_peak() -> float:
    """Forget the peak of memory so far; the resident memory now, in MB."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    """Highest resident memory since `start_peak`, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def timed(work, clock=time.perf_counter) -> float:
    """Seconds that ``work`` takes."""
    started = clock()
    work()
    return clock() - started


def report(title: str, seconds: list[float], unit: str = "s") -> None:
    """One line: median and extremes."""
    ordered = sorted(seconds)
    median = ordered[len(ordered) // 2]
    print(f"{title}: median {median:.3f} {unit} ({ordered[0]:.3f} to {ordered[-1]:.3f}, n {len(ordered)})")


PARTS = {"rater_models": rater_models, "agreement": agreement, "reading": reading}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        PARTS[sys.argv[1]]()
    else:
        for part in PARTS:
            subprocess.run([sys.executable, __file__, part], check=True)
