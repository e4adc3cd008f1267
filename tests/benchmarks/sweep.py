"""The sweep over reliabilities on data of the published shape. Run: python tests/benchmarks/sweep.py [parts].

1,947 cases of 419 classes, 1 to 10 raters, ties: Plackett-Luce at γ = 1, 2, 3, 5, 10 with 500 + 1,000 draws, top-1/2/3
certainty, risk certainty and four classifiers. Targets: 50 CPU seconds, 28 s wall on two cores, 600 MB; 20,000 cases at
the same rate per case; one case with 1,000 draws at γ = 3 in 20 ms; of classifiers that are
added one by one, each after the first within 5 CPU seconds.
"""

import gc
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core import Dataset, PlackettLuce, reliability_sweep
from core.evaluation.predictions import match_predictions
from core.evaluation.sweep_table import growing_sweep, sweep_part
from core.runtime.result_cache import ResultStore

N_CLASSES = 419
RELIABILITIES = (1.0, 2.0, 3.0, 5.0, 10.0)
# Shares of the released dermatology data: raters of a case, blocks of an annotation, classes of a block.
RATERS = (0.009, 0.053, 0.165, 0.248, 0.127, 0.229, 0.044, 0.044, 0.034, 0.047)
BLOCKS = (0.633, 0.305, 0.062)
SIZES = (0.897, 0.091, 0.0103, 0.0017)
STAYS = 0.77  # how often a choice is among the case's own few classes, in order of their weight


def generated(n_cases: int, seed: int = 0) -> Dataset:
    """Differential diagnoses of the published shape, with three risk levels."""
    rng = np.random.default_rng(seed)
    case, rater, ptr, codes, ranks = [], [], [0], [], []
    for number in range(n_cases):
        own = rng.choice(N_CLASSES, size=6, replace=False)
        for reader in range(1 + rng.choice(10, p=RATERS)):
            named: list[int] = []
            for rank in range(1 + rng.choice(3, p=BLOCKS)):
                for _ in range(1 + rng.choice(4, p=SIZES)):
                    code = int(own[min(rng.geometric(0.55) - 1, 5)] if rng.random() < STAYS else rng.choice(own))
                    if code in named:
                        code = int(rng.integers(N_CLASSES)) if rng.random() < 0.3 else int(rng.choice(own))
                    if code not in named:
                        named.append(code)
                        codes.append(code)
                        ranks.append(rank)
            case.append(number)
            rater.append(reader)
            ptr.append(len(codes))
    dataset = Dataset.from_rankings(
        "generated",
        [f"case {number}" for number in range(n_cases)],
        [f"rater {number}" for number in range(10)],
        [f"class {code}" for code in range(N_CLASSES)],
        np.array(case, np.int32),
        np.array(rater, np.int32),
        np.array(ptr),
        np.array(codes),
        np.array(ranks, float),
    )
    return replace(dataset, class_risk=rng.integers(0, 3, N_CLASSES).astype(np.int8))


def classifiers(dataset: Dataset, seed: int = 1):
    """Four classifiers with ten scored classes a case, of falling quality."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(4):
        cases, classes, scores = [], [], []
        for case in range(dataset.n_cases):
            named = np.unique(dataset.entry_class[dataset.entry_ptr[dataset.case_ptr[case]] :][:6])
            right = named[rng.random(len(named)) > 0.2 * number]
            others = rng.choice(N_CLASSES, size=10, replace=False)
            codes = list(dict.fromkeys([*right.tolist(), *others.tolist()]))[:10]
            cases += [dataset.cases[case]] * len(codes)
            classes += [dataset.classes[code] for code in codes]
            scores += np.sort(rng.random(len(codes)))[::-1].tolist()
        found.append(match_predictions(dataset, cases, classes, np.array(scores), f"classifier {number + 1}"))
    return tuple(found)


def sweep(n_cases: int) -> None:
    """One sweep after a warm-up on five cases."""
    dataset = generated(n_cases)
    predictions = classifiers(dataset)
    answers, entries = dataset.n_annotations / n_cases, len(dataset.entry_class) / dataset.n_annotations
    print(f"{n_cases:,} cases: {answers:.2f} annotations a case, {entries:.2f} classes an annotation")
    small = dataset.select(cases=dataset.cases[:5])
    reliability_sweep(PlackettLuce(), small, (1.0,), classifiers=classifiers(small))
    before = start_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    table = reliability_sweep(PlackettLuce(), dataset, RELIABILITIES, classifiers=predictions)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    per_case = 1e3 * cpu / n_cases / len(RELIABILITIES)
    print(
        f"  {cpu:.1f} CPU s, {wall:.1f} s wall, {per_case:.2f} CPU ms per case and reliability, "
        f"peak {peak():.0f} MB in all, {peak() - before:.0f} MB over the data"
    )
    print(f"  mean top-1 certainty {np.round(table.mean(1), 3).tolist()}")


def single_case() -> None:
    """1,000 draws of one case at γ = 3, each case once."""
    dataset = generated(300)
    model, seconds = PlackettLuce(), []
    for case in range(dataset.n_cases):
        started = time.perf_counter()
        for _ in model.draws(dataset, reliability=3.0, n_draws=1000, seed=0, cases=range(case, case + 1)):
            pass
        seconds.append(1e3 * (time.perf_counter() - started))
    seconds = np.sort(seconds[1:])
    print(f"one case: median {np.median(seconds):.1f} ms, 99% below {seconds[int(0.99 * len(seconds))]:.1f} ms")


def start_peak() -> float:
    """Forget the peak of memory so far (Linux); the resident memory now, in MB."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    """Highest resident memory since `start_peak`, in MB."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def added() -> None:
    """Four classifiers one after another, as a page has them: draws are kept, and each costs only its own metrics."""
    dataset = generated(1947)
    predictions, model = classifiers(dataset), PlackettLuce()
    small = dataset.select(cases=dataset.cases[:5])
    reliability_sweep(model, small, (1.0,), classifiers=classifiers(small))
    with tempfile.TemporaryDirectory() as folder:
        store = ResultStore(lambda: Path(folder), lambda: 10**10)

        def part(reliability, _):
            known = store.get(dataset, (reliability,))
            if known is None:
                known = (sweep_part(model, dataset.coded, reliability),)
                store.put(dataset, (reliability,), known[0], "generated")
            return known[0]

        for number in range(1, 5):
            cpu = time.process_time()
            for _ in growing_sweep(model, dataset.coded, RELIABILITIES, part, classifiers=predictions[:number]):
                pass
            print(f"classifier {number}: {time.process_time() - cpu:.1f} CPU s; {store.size() / 2**20:.0f} MB on disk")


PARTS = {"published": lambda: sweep(1947), "added": added, "large": lambda: sweep(20_000), "case": single_case}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        if len(sys.argv) == 2:
            PARTS[part]()
        else:
            subprocess.run([sys.executable, __file__, part], check=True)
