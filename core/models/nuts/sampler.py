"""No-U-turn sampler in child processes: chains of one posterior, or of many.

Hoffman & Gelman (2014), as nutpie implements it. Chains are shared out over as many children as there are cores; each
has its own seed, so draws do not depend on how they are shared out.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from ...errors import MissingExtraError
from ...runtime.chunks import CancelToken
from ...runtime.processes import Work, run_workers
from .density import Density

MAX_CHILDREN = 4
TARGET_ACCEPT = 0.8
Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Draws from one posterior.

    Attributes
    ----------
    draws : ndarray, shape (n_chains, n_draws, ndim)
        On the density's own coordinates, without the tuning.
    divergent : ndarray of bool, shape (n_chains, n_draws)
        Draws whose path left the level of energy: the posterior has a corner that the sampler cannot enter.
    seconds, cpu_seconds : float
        Time of tuning and drawing, summed over chains, without starting processes and compiling.
    """

    draws: np.ndarray
    divergent: np.ndarray
    seconds: float
    cpu_seconds: float

    def flat(self) -> np.ndarray:
        """Return all draws, chain after chain, shape (n_chains * n_draws, ndim)."""
        return self.draws.reshape(-1, self.draws.shape[2])


def sample(
    density: Density,
    *,
    n_draws: int = 1000,
    n_tune: int = 1000,
    n_chains: int = 4,
    seed: int = 0,
    start: np.ndarray | None = None,
    target_accept: float = TARGET_ACCEPT,
    token: CancelToken | None = None,
    progress: Progress | None = None,
) -> Chains:
    """Run chains of one posterior; without coordinates all draws are equal, and nothing is run.

    Parameters
    ----------
    density : Density
    n_draws, n_tune : int
        Number of draws and of tuning steps per chain; tuning comes first and is discarded.
    n_chains : int
    seed : int
    start : ndarray, shape (n_chains, ndim), optional
        Starting values of chains; around the posterior mode if omitted.
    target_accept : float
        Nearer to 1 the steps are shorter, for posteriors with narrow corners.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1, and what is being done in words.

    Raises
    ------
    MissingExtraError
        The sampler is not installed.
    core.runtime.processes.WorkerError
        The child process was killed, could not write its draws, or the density overflows everywhere.
    Cancelled
        The token was raised.
    """
    if density.ndim == 0:
        return Chains(np.zeros((n_chains, n_draws, 0)), np.zeros((n_chains, n_draws), bool), 0.0, 0.0)
    if start is None:
        start = density.starts(n_chains, seed)
    tasks = [_Task(0, density, chain, seed, np.ascontiguousarray(start, np.float64)) for chain in range(n_chains)]
    lengths = {"n_draws": n_draws, "n_tune": n_tune, "target_accept": target_accept}
    return _run(tasks, lengths, n_chains, token, progress)[0]


def sample_many(
    densities: Sequence[Density],
    *,
    n_draws: int,
    n_tune: int,
    n_chains: int = 1,
    seeds: Sequence[int],
    token: CancelToken | None = None,
    progress: Progress | None = None,
) -> list[Chains]:
    """Run chains of many posteriors, many in one child process; each child finds its own starts.

    Parameters
    ----------
    densities : sequence of Density
    n_draws, n_tune, n_chains : int
        Draws and steps of tuning of each chain, and how many chains of each density.
    seeds : sequence of int
        One for each density.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1, and what is being done in words.
    """
    tasks = [
        _Task(number, density, chain, seed, None)
        for number, (density, seed) in enumerate(zip(densities, seeds, strict=True))
        for chain in range(n_chains)
    ]
    lengths = {"n_draws": n_draws, "n_tune": n_tune, "target_accept": TARGET_ACCEPT}
    return _run(tasks, lengths, n_chains, token, progress)


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """One chain of one fit."""

    number: int
    density: Density
    chain: int
    seed: int
    start: np.ndarray | None


def _run(
    tasks: list[_Task], lengths: dict, n_chains: int, token: CancelToken | None, progress: Progress | None
) -> list[Chains]:
    if not tasks:
        return []
    if find_spec("nutpie") is None:
        raise MissingExtraError("The full posterior", "sampler")
    n_children = min(os.cpu_count() or 1, MAX_CHILDREN, len(tasks))
    # Neighbours go to one child, so that a fit's chains share its start and its density.
    shares = [[tasks[i] for i in part] for part in np.array_split(np.arange(len(tasks)), n_children)]

    def report(done: int, total: int) -> None:
        words = f"{done:,} of {total:,} draws" if done else "Starting the sampler"
        if progress is not None:
            progress(done / total, words)

    works = [_work(share, lengths, n_chains) for share in shares]
    found: dict[str, np.ndarray] = {}
    for part in run_workers(works, token=token, progress=report if progress is not None else None):
        found |= part
    return [_gathered(found, number, n_chains) for number in sorted({task.number for task in tasks})]


def _work(share: list[_Task], lengths: dict, n_chains: int) -> Work:
    fits: dict[int, dict] = {}
    arrays: dict[str, np.ndarray] = {}
    for task in share:
        if task.number not in fits:
            settings, own = task.density.job()
            arrays |= {f"{task.number}.{name}": array for name, array in own.items()}
            if task.start is not None:
                arrays[f"{task.number}:start"] = task.start
            fits[task.number] = {
                "number": task.number,
                "density": task.density.name,
                "settings": settings,
                "n_starts": n_chains,
                "seed": task.seed,
                "chains": [],
            }
        fits[task.number]["chains"].append((task.chain, _chain_seed(task.seed, task.chain)))
    steps = lengths["n_draws"] + lengths["n_tune"]
    return Work({"fits": list(fits.values()), **lengths}, arrays, total=len(share) * steps)


def _chain_seed(seed: int, chain: int) -> int:
    mask = 0xFFFFFFFFFFFFFFFF
    return int(np.random.SeedSequence([int(seed) & mask, chain]).generate_state(1)[0])


def _gathered(found: dict[str, np.ndarray], number: int, n_chains: int) -> Chains:
    def each(what: str) -> np.ndarray:
        return np.stack([found[f"{number}.{chain}.{what}"] for chain in range(n_chains)])

    wall, cpu = each("seconds").sum(axis=0)
    return Chains(each("draws"), each("divergent"), float(wall), float(cpu))
