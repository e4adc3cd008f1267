"""A cluster beside one process: equal to the bit, how much of it is work, and what scheduling costs.

    python tests/benchmarks/cluster.py [--annotations 1e6] [--iterations 20] [--cases 20000] [--workers 1,2,4] [--kill]

The data of `past_memory.py` (ten classes, five annotations a case) through ``--iterations`` of Dawid-Skene, ``--cases``
of them (none for 0) through the Plackett-Luce sweep at γ 1 and 3 with 200 draws; partitions are made once. Each is done
by one thread of this process and by ``local:N``. Efficiency is the time of one thread by N times that of N workers in
seconds of the clock, and, because that needs N cores without other work, by theirs in seconds of the processor, all
processes together. "MB of a worker" is the most that one of them had at any time. ``--kill`` ends a worker after the
first iteration, whose processor time is then missing. "a task" is the time of a task that does nothing, "a sum" that of
sixteen of them and their sum.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from past_memory import PER_CASE, make  # noqa: E402

from core.models.dawid_skene import DawidSkene  # noqa: E402
from core.models.stopping import StoppingRule  # noqa: E402
from core.partitioned.build import partitioned  # noqa: E402
from core.partitioned.certainty import certainties  # noqa: E402
from core.partitioned.fits import fit_partitioned  # noqa: E402
from core.partitioned.scatter import rows_of  # noqa: E402
from core.plausibility.plackett_luce.gibbs import PlackettLuce  # noqa: E402
from core.runtime.chunks import in_line  # noqa: E402
from core.runtime.cluster import Cluster  # noqa: E402
from core.runtime.executors import Executor, LocalExecutor  # noqa: E402


def peak(pid: int) -> float:
    """The most memory that a process has had, in MB; 0 of one that has just ended."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return max((int(one.split()[1]) / 1024 for one in lines if one.startswith("VmHWM")), default=0.0)


def used(pids: list[int]) -> tuple[float, float]:
    """Processor seconds of this process and its workers, and the largest peak of one of them, in MB."""
    both = [psutil.Process(), *(psutil.Process(pid) for pid in pids if psutil.pid_exists(pid))]
    seconds = sum(sum(process.cpu_times()[:2]) for process in both)
    return seconds, max((peak(process.pid) for process in both[1:]), default=0)


def fitted(iterations: int, data: Any, runner: Executor, progress: Callable | None) -> tuple[list[np.ndarray], str]:
    """What is to be equal, and how many rounds it took."""
    rule = StoppingRule(iterations, tolerance=-1)
    found = fit_partitioned(DawidSkene(stopping=rule), data, runner=runner, progress=progress)
    return [found.objective, found.prevalence, found.confusion], f"{len(found.objective)} iterations"


def swept(data: Any, runner: Executor, progress: Callable | None) -> tuple[list[np.ndarray], str]:
    """The certainties of every partition."""
    how: dict[str, Any] = {"n_draws": 200, "max_top": 3, "seed": 1, "runner": runner, "progress": progress}
    found = [one.certainty for each in certainties(PlackettLuce(), data, [1.0, 3.0], **how) for one in each]
    return found, f"{sum(part.n_cases > 0 for part in data.partitions)} partitions"


def warm(work: Callable, data: Any, runner: Executor) -> None:
    """Load the kernels of a task: one step of the fit, or two draws of the cases of one partition."""
    if work is swept:
        part = replace(data, partitions=data.partitions[:1])
        list(certainties(PlackettLuce(), part, [1.0], n_draws=2, runner=runner))
    else:
        fit_partitioned(DawidSkene(stopping=StoppingRule(max_iterations=1)), data, runner=runner)


def done(
    work: Callable, data: Any, runner: Executor, pids: Callable[[], list[int]], progress: Callable | None
) -> tuple:
    """Result, rounds, seconds of the clock and of the processor, memory."""
    before, started = used(pids())[0], time.perf_counter()
    result, rounds = work(data, runner, progress)
    after, memory = used(pids())
    return result, rounds, time.perf_counter() - started, after - before, memory


def overhead(cluster: Cluster) -> str:
    """What a task, and a sum of sixteen, cost that do nothing."""
    started, n = time.perf_counter(), 500
    for _ in cluster.each(abs, range(n)):
        pass
    task, started = (time.perf_counter() - started) / n, time.perf_counter()
    for _ in range(10):
        cluster.total(divmod, range(1, 17), (7,))
    return f"a task {1e3 * task:.1f} ms, a sum {1e2 * (time.perf_counter() - started):.0f} ms"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--annotations", type=float, default=1e6)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--cases", type=float, default=20_000)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--memory", default="2GB", help="of each worker")
    parser.add_argument("--kill", action="store_true", help="end a worker after the first iteration")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurality-") as scratch:
        tasks = []
        for name, work, n in (
            ("Dawid-Skene", partial(fitted, asked.iterations), int(asked.annotations)),
            ("Plackett-Luce sweep", swept, PER_CASE * int(asked.cases)),
        ):
            if not n:
                continue
            folder = Path(scratch) / name
            make(folder / "parquet", n)
            started, before = time.perf_counter(), used([])[0]
            tasks.append((name, n, work, partitioned(rows_of(folder / "parquet"), folder)))
            seconds = f"{time.perf_counter() - started:.0f} s by the clock, {used([])[0] - before:.0f} of the processor"
            print(f"{name}: {n:,} annotations in {len(tasks[-1][-1].partitions)} partitions, {seconds}", flush=True)
        measure(tasks, [int(one) for one in asked.workers.split(",")], asked.memory, asked.kill)


def measure(tasks: list, workers: list[int], memory: str, kill: bool) -> None:
    """Each task by one thread and by every number of workers."""
    print("| task, annotations | by | clock s | processor s | MB of a worker | efficiency: clock, processor | equal |")
    print("|---|---|---|---|---|---|---|")
    alone = {}
    for name, n, work, data in tasks:
        with in_line():
            warm(work, data, LocalExecutor())
            result, rounds, wall, cpu, _ = done(work, data, LocalExecutor(), list, None)
        alone[name] = result, wall, cpu
        print(f"| {name}, {n:,} | one thread, {rounds} | {wall:.1f} | {cpu:.1f} | | | |", flush=True)
    for number in workers:
        cluster = Cluster(f"local:{number}", memory)
        print(f"local:{number}: {overhead(cluster)}", flush=True)
        for name, n, work, data in tasks:
            warm(work, data, cluster)
            victim = cluster.processes()[0]

            def end_one(share: float, victim: int = victim, cluster: Cluster = cluster) -> None:
                if kill and victim in cluster.processes():
                    os.kill(victim, signal.SIGKILL)

            result, rounds, wall, cpu, most = done(work, data, cluster, cluster.processes, end_one)
            first, alone_wall, alone_cpu = alone[name]
            equal = all(np.array_equal(one, other) for one, other in zip(first, result, strict=True))
            parts = f"{alone_wall / wall / number:.0%}, {alone_cpu / cpu:.0%}"
            print(
                f"| {name}, {n:,} | local:{number} | {wall:.1f} | {cpu:.1f} | {most:,.0f} | {parts} | {equal} |",
                flush=True,
            )
        cluster.close()


if __name__ == "__main__":
    main()
