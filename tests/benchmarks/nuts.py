"""Processor seconds of the Bayesian rater models. Run: python tests/benchmarks/nuts.py [anaesthesia] [caries] [all18].

Seconds are of the processor, without imports and compiling; ``children`` is all that the child processes used, imports
included. Chains are 4 × (1,000 + 1,000).
"""

import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import core
from core.models.bayesian_dawid_skene import BayesianDawidSkene
from core.models.difficulty.model import DifficultyModel
from core.models.difficulty.names import TAGS
from core.models.hierarchical import HierarchicalDawidSkene
from core.models.nuts.diagnostics import estimates
from core.models.nuts.sampler import sample

# Processor seconds allowed.
LIMITS = {"hierarchical": 20.0, "ABC": 2.0, "AB": 10.0, "A": 30.0, "posterior mode": 2.0, "all eighteen": 300.0}


def children() -> float:
    """Processor seconds of child processes so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(name: str, density, dataset, first: float, limit: float | None) -> float:
    """Sample, print, and give the seconds of the chains."""
    before = children()
    chains = sample(density, seed=1, target_accept=0.9 if name == "hierarchical" else 0.8)
    _, diagnostics = estimates(density.quantities(chains.flat()), chains.divergent, dataset, 0.95)
    verdict = "" if limit is None else "ok" if chains.cpu_seconds <= limit else f"over {limit} s"
    print(
        f"{name:14s} {density.ndim:5d} coordinates  posterior mode {first:5.2f} s  chains {chains.cpu_seconds:6.2f} s "
        f"(children {children() - before:6.2f} s)  {diagnostics.words}  {verdict}"
    )
    return chains.cpu_seconds


def timed(make):
    """Result of a call, made twice so that compiling does not count, and the processor seconds of the second."""
    make()
    began = time.process_time()
    found = make()
    return found, time.process_time() - began


def confusion_models() -> None:
    """The 45 anaesthesia patients: 5 raters, 7 readings, 4 classes."""
    dataset = core.load_sample("anaesthesia")
    for name, model in (("dawid-skene", BayesianDawidSkene()), ("hierarchical", HierarchicalDawidSkene())):
        _, first = timed(lambda model=model: model.fit(dataset, method="map"))
        row(name, model.density(dataset), dataset, first, LIMITS.get(name))


def difficulty_models(tags) -> None:
    """The 3,869 X-rays of caries by five dentists."""
    dataset, total = core.load_sample("caries"), 0.0
    for tag in tags:
        density, first = timed(lambda tag=tag: DifficultyModel(tag).density(dataset))
        if density.ndim:
            total += row(tag, density, density.dataset, first, LIMITS.get(tag))
    print(f"{len(tags)} models: {total:.1f} s of chains; all eighteen may take {LIMITS['all eighteen']:.0f} s")


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["anaesthesia", "caries"]
    if "anaesthesia" in chosen:
        confusion_models()
    if "caries" in chosen:
        difficulty_models(["ABC", "AB", "A"])
    if "all18" in chosen:
        difficulty_models(TAGS)
