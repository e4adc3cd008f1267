"""Rankings held out one by one, and their log probability under draws of Plackett-Luce from the other readers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..plausibility.plackett_luce._gibbs_kernels import effective_draws
from ..plausibility.plackett_luce.blocks import ranking_entries
from ..plausibility.plackett_luce.gibbs import PlackettLuce
from ..plausibility.protocol import CaseDraws
from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..runtime.seeds import case_seeds
from ._held_out_kernels import log_ranking

CHUNK_CASES = 32
LARGEST_BIAS = 0.01  # In nats; above this bias, more draws are made of a held-out ranking.
MOST_EXTENSION = 16


@dataclass(frozen=True, slots=True)
class HeldOutRanking:
    """One of the distinct held-out rankings of a case.

    Attributes
    ----------
    case : int
    annotation : int
        Position of the annotation whose probability is computed.
    others : tuple of int
        Positions of the annotations of the other readers of the case.
    times : int
        Number of readers of the case who gave this ranking, each with the same rankings among the others.
    part : str
        Subset of the other readers, if not all of them; it differs between items of the same annotation.
    """

    case: int
    annotation: int
    others: tuple[int, ...]
    times: int
    part: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnScores:
    """Held-out log probabilities at one reliability.

    Attributes
    ----------
    case_sum : ndarray, shape (n_cases,)
        Sum over the readers of a case; 0 if nobody is held out.
    bias : float
        Estimated Monte Carlo bias of the mean over readers, in nats: the logarithm of a mean of draws lies below that
        of what it estimates by half its relative variance.
    mc_se : float
        Monte Carlo standard error of that mean.
    """

    case_sum: np.ndarray
    bias: float
    mc_se: float


def held_out_rankings(dataset: Dataset, held: np.ndarray, reader: np.ndarray) -> list[HeldOutRanking]:
    """List the distinct held-out rankings of every case, in order.

    Parameters
    ----------
    dataset : Dataset
        Dataset of rankings or single classes.
    held : ndarray of int64
        Positions of the held-out annotations: the first of each reader on a case, ascending.
    reader : ndarray of int64, shape (n_annotations,)
    """
    ptr, code, block = ranking_entries(dataset)

    def said(annotation: int) -> tuple[bytes, bytes]:
        entries = slice(ptr[annotation], ptr[annotation + 1])
        return code[entries].tobytes(), block[entries].tobytes()

    found: list[HeldOutRanking] = []
    of_case = dataset.case_of_annotation[held]
    starts = np.flatnonzero(np.diff(of_case, prepend=-1))
    for start, stop in zip(starts, np.append(starts[1:], len(held)), strict=True):
        case = int(of_case[start])
        annotations = list(dataset.annotations_of(case))
        rankings = {annotation: said(annotation) for annotation in annotations}
        distinct: dict[tuple, list[int]] = {}
        for annotation in held[start:stop].tolist():
            hidden = [other for other in annotations if reader[other] == reader[annotation]]
            key = (rankings[annotation], *sorted(rankings[other] for other in hidden))
            distinct.setdefault(key, []).append(annotation)
        for same in distinct.values():
            others = tuple(other for other in annotations if reader[other] != reader[same[0]])
            found.append(HeldOutRanking(case, same[0], others, len(same)))
    return found


def without_reader(dataset: Dataset, items: Sequence[HeldOutRanking]) -> Dataset:
    """Build a dataset with one case per item: that of the item, without the annotations of the held-out reader.

    The ID, which seeds the draws, consists of that of the case, the place of the annotation in it and the part of the
    readers. It does not depend on which other cases are there.
    """
    ptr, code, block = ranking_entries(dataset)
    kept = np.array([other for item in items for other in item.others], np.int64)
    size = ptr[kept + 1] - ptr[kept]
    new_ptr = np.concatenate([[0], np.cumsum(size)])
    entry = np.repeat(ptr[kept] - new_ptr[:-1], size) + np.arange(new_ptr[-1])
    return Dataset(
        name=dataset.name,
        kind="ranking",
        cases=tuple(f"{dataset.cases[i.case]}\x00{i.annotation - dataset.case_ptr[i.case]}{i.part}" for i in items),
        raters=dataset.raters,
        classes=dataset.classes,
        case_ptr=np.concatenate([[0], np.cumsum([len(item.others) for item in items])]).astype(np.int64),
        rater=dataset.rater[kept],
        entry_ptr=new_ptr,
        entry_class=code[entry],
        entry_block=block[entry],
    )


def drawn_scores(
    dataset: Dataset,
    items: Sequence[HeldOutRanking],
    model: PlackettLuce,
    reliability: float,
    *,
    n_draws: int,
    seed: int,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> DrawnScores:
    """Sum the scores of `item_scores` over the readers of each case.

    Parameters
    ----------
    dataset, items, model, reliability, n_draws, seed, token, progress
        See `item_scores`.
    """
    how: dict[str, Any] = {"n_draws": n_draws, "seed": seed, "token": token, "progress": progress}
    score, variance = item_scores(dataset, items, model, reliability, **how)
    times = np.array([item.times for item in items], float)
    case_sum = np.bincount([item.case for item in items], times * score, dataset.n_cases)
    n = times.sum()
    return DrawnScores(case_sum, float(times @ variance / 2 / n), float(np.sqrt(times**2 @ variance) / n))


def item_scores(
    dataset: Dataset,
    items: Sequence[HeldOutRanking],
    model: PlackettLuce,
    reliability: float,
    *,
    n_draws: int,
    seed: int,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute ``log mean_s p(b | λ^(s))`` of every item, λ^(s) drawn from the other readers' rankings at one γ.

    Draws of an item are repeated, four times as many, until its Monte Carlo bias is below `LARGEST_BIAS` or they are
    `MOST_EXTENSION` times ``n_draws``.

    Parameters
    ----------
    dataset : Dataset
    items : sequence of HeldOutRanking
    model : PlackettLuce
    reliability : float
        γ, the trust in the raters, > 0.
    n_draws : int
        Number of draws of each item at first.
    seed : int
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Returns
    -------
    ndarray, shape (n_items,)
    ndarray, shape (n_items,)
        Squared relative Monte Carlo error of the mean in each.
    """
    model = replace(model, depth=1)

    def one(chunk: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        part = list(items[chunk[0] : chunk[1]])
        score, variance = np.empty(len(part)), np.empty(len(part))
        todo, n = np.arange(len(part)), n_draws
        while todo.size:
            chosen = [part[place] for place in todo]
            score[todo], variance[todo] = _scores(dataset, chosen, model, reliability, n, seed)
            todo = todo[variance[todo] / 2 > LARGEST_BIAS]
            n *= 4
            if n > MOST_EXTENSION * n_draws:
                break
        return score, variance

    chunks = chunk_ranges(len(items), CHUNK_CASES)
    parts = list(map_chunks(one, chunks, token=token, progress=progress))
    score, variance = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
    return score, variance


def _scores(
    dataset: Dataset, items: list[HeldOutRanking], model: PlackettLuce, reliability: float, n_draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the log mean of each item, and the squared relative Monte Carlo error of that mean."""
    entries = ranking_entries(dataset)
    others = without_reader(dataset, items)
    seeds = case_seeds(seed, others.cases, "held-out ranking")
    score, variance = np.empty(len(items)), np.empty(len(items))
    for place, draws in model.draws(others, reliability=reliability, n_draws=n_draws, seed=seed):
        logs = log_held_out(draws, entries, items[place].annotation, dataset.n_classes, int(seeds[place]))
        largest = logs.max()
        p = np.exp(logs - largest)
        score[place] = largest + np.log(p.mean())
        ess = effective_draws(p[:, None]) if p.std() > 0 else float(n_draws)
        variance[place] = p.var() / p.mean() ** 2 / ess
    return score, variance


def log_held_out(draws: CaseDraws, entries, annotation: int, n_classes: int, seed: int) -> np.ndarray:
    """Compute ln p(b | λ) of one annotation for each draw, shape (n_draws,).

    A last block after which no class is left adds no information.

    Parameters
    ----------
    draws : CaseDraws
        Draws of the annotation's case.
    entries : tuple of three ndarray
        ``entry_ptr``, classes and blocks of all annotations, from `ranking_entries`.
    annotation : int
        Position of the annotation.
    n_classes : int
    seed : int
        Seed of the proportions in which classes not named in the draws share the remainder.
    """
    ptr, code, block = entries
    codes = code[ptr[annotation] : ptr[annotation + 1]]
    blocks = block[ptr[annotation] : ptr[annotation + 1]]
    if codes.size == n_classes:
        kept = blocks != blocks[-1]
        codes, blocks = codes[kept], blocks[kept]
    if codes.size == 0:
        return np.zeros(draws.n_draws)
    n_named = len(draws.classes)
    member = np.minimum(np.searchsorted(draws.classes, codes), max(n_named - 1, 0)).astype(np.int64)
    new = np.ones(codes.size, bool) if n_named == 0 else draws.classes[member] != codes
    member[new] = n_named + np.arange(new.sum())
    block_ptr = np.append(np.flatnonzero(np.diff(blocks, prepend=-1)), codes.size).astype(np.int64)
    return log_ranking(seed, draws.share, draws.rest, draws.n_rest, block_ptr, member, int(new.sum()))
