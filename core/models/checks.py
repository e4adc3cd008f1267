"""Posterior predictive checks: datasets simulated from a fit, compared with the data [Han et al., 1.1, 6.1]."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..result_base import Result
from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..thresholds import INTERVAL_LEVEL
from ._check_kernels import count_statistics, tally
from .loo import psis_loo
from .nuts.density import Density

__all__ = ["PredictiveCheck", "predictive_checks", "psis_loo", "replicates_for"]

PER_STATISTIC = 40  # replicates that resolve 0.025 / S: below it a statistic fails only if none of them goes beyond
BAND_REPLICATES = 2_000  # of which bands and medians are taken; all replicates count for p
MOST_ANSWERS = 400_000_000
CHUNK = 25


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PredictiveCheck(Result):
    """One kind of statistic, observed and replicated. Arrays of shape (S,), one entry per statistic.

    Attributes
    ----------
    kind : {"raters", "votes"}
    title : str
        Name of the counted units.
    labels : tuple of str
        Label of each statistic: the rater or the number of votes, with the class if there are more than two.
    class_code : ndarray of int64
        Class whose annotations a statistic counts. With two classes only the second, the positive one, is counted.
    place : ndarray of int64
        Index of the rater ("raters") or number of votes ("votes").
    total : ndarray of int64
        Number of annotations of the rater, or of annotated cases.
    observed : ndarray of int64
    low, median, high : ndarray of float64
        Middle and 95% band of the replicates.
    p : ndarray of float64
        Share of replicates above the data, ties counted one half.
    headline : float
        min(p, 1 - p) over all statistics. It is not a p-value: it grows smaller the more statistics there are.
    n_statistics : int
        S, over all classes.
    threshold : float
        0.025 / S.
    fails : bool or None
        True if the headline is below the threshold; None if it is, but fewer than 40 S replicates were possible.
    n_replicates : int
    """

    kind: str
    title: str
    labels: tuple[str, ...]
    class_code: np.ndarray
    place: np.ndarray
    total: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    median: np.ndarray
    high: np.ndarray
    p: np.ndarray
    headline: float
    n_statistics: int
    threshold: float
    fails: bool | None
    n_replicates: int

    TABLES = ("statistics",)
    COLUMNS = ("labels", "total", "observed", "low", "median", "high", "p")


def predictive_checks(
    density: Density,
    draws: np.ndarray,
    dataset: Dataset,
    *,
    n_replicates: int = 500,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[PredictiveCheck, PredictiveCheck]:
    """Compare annotations per rater, and the histogram of votes per case, with replicates of the same design.

    With two classes the annotations of the second, ``dataset.classes[1]``, are counted; with more, those of every
    class. Raters without annotations and cases without annotations are left out.

    Parameters
    ----------
    density : Density
        Its `simulate` makes one replicate.
    draws : ndarray, shape (n_draws, ndim)
        Draws of the posterior; ndim may be 0. Replicates use draws spread evenly over them.
    dataset : Dataset
        Data that the model was fitted to.
    n_replicates : int
        At least; more are made where the number of statistics asks for it, see `replicates_for`.
    seed : int
        Replicate r depends on the seed, on r, and on its draw.
    token, progress : optional
        Looked at and told between chunks of replicates.

    Returns
    -------
    tuple of PredictiveCheck
        "raters", then "votes".

    Raises
    ------
    NotApplicableError
        Annotations are not of one class each, or fewer than two classes are declared.
    InputError
        There are no draws or no annotations.
    Cancelled
        On request.
    """
    if dataset.kind != "class" or dataset.n_classes < 2:
        raise NotApplicableError("Predictive checks need one class per annotation and at least two classes.")
    draws = np.ascontiguousarray(np.atleast_2d(draws), np.float64)
    if not len(draws) or not dataset.n_annotations:
        raise InputError(
            "Cannot simulate replicates: there are no draws or no annotations.",
            "Use at least one draw and one annotation.",
        )
    layout = _Layout(dataset)
    observed = layout.statistics(np.ascontiguousarray(dataset.answer, np.int32))
    n_made = replicates_for(layout.most_statistics, n_replicates, dataset.n_annotations)
    p, band = _compared(density, draws, layout, observed, n_made, seed, token, progress)
    return (
        _check("raters", layout, layout.rater_entries, observed, band, p, n_made),
        _check("votes", layout, layout.vote_entries, observed, band, p, n_made),
    )


def _compared(
    density: Density,
    draws: np.ndarray,
    layout: "_Layout",
    observed: np.ndarray,
    n_made: int,
    seed: int,
    token: CancelToken | None,
    progress: Callable[[float], None] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute for each statistic P(replicated > observed), ties counted half, and low, median and high, (3, n)."""
    seeds = np.random.SeedSequence(seed).generate_state(n_made)
    picks = (np.arange(n_made) * len(draws)) // n_made if n_made <= len(draws) else np.arange(n_made) % len(draws)

    def replicate(bounds: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        above = np.zeros(observed.size, np.int64)
        equal = np.zeros(observed.size, np.int64)
        kept = np.empty((max(0, min(bounds[1], BAND_REPLICATES) - bounds[0]), observed.size), np.int32)
        for place, r in enumerate(range(*bounds)):
            answer = density.simulate(draws[picks[r]], int(seeds[r]))
            made = layout.statistics(np.ascontiguousarray(answer, np.int32))
            tally(made, observed, above, equal)
            if place < len(kept):
                kept[place] = made
        return above, equal, kept

    parts = list(map_chunks(replicate, chunk_ranges(n_made, CHUNK), token=token, progress=progress))
    above, tied = (sum((part[place] for part in parts[1:]), parts[0][place]) for place in (0, 1))
    p = (above + 0.5 * tied) / n_made
    tail = (1 - INTERVAL_LEVEL) / 2
    band = np.quantile(np.concatenate([part[2] for part in parts]), [tail, 0.5, 1 - tail], axis=0)
    return p, band


def replicates_for(n_statistics: int, at_least: int, n_annotations: int) -> int:
    """Choose the number of replicates: at least 40 per statistic of a kind, within `MOST_ANSWERS` annotations.

    A statistic fails below 0.025 / S. With 40 S replicates that means that no replicate goes beyond the data, which
    under the true model happens to one of S statistics in 5% of datasets at most, as the threshold promises.

    Parameters
    ----------
    n_statistics : int
        Number of statistics of one kind.
    at_least : int
        Whatever the limit says.
    n_annotations : int
        Number of annotations in the data, and so in each replicate.
    """
    possible = max(at_least, MOST_ANSWERS // max(1, n_annotations))
    return min(possible, max(at_least, PER_STATISTIC * n_statistics))


class _Layout:
    """Places of the statistics of a dataset in one flat array: raters by class, then votes by class."""

    def __init__(self, dataset: Dataset):
        self.dataset = dataset
        self.counted = np.arange(dataset.n_classes) if dataset.n_classes > 2 else np.array([1])
        self.row_of_class = np.full(dataset.n_classes, -1, np.int64)
        self.row_of_class[self.counted] = np.arange(len(self.counted))
        per_case = np.diff(dataset.case_ptr)
        self.n_answered = int((per_case > 0).sum())
        self.per_rater = np.bincount(dataset.rater, minlength=dataset.n_raters)
        self.n_votes = int(per_case.max()) + 1
        n_rows = len(self.counted)
        present = np.flatnonzero(self.per_rater)
        entries = np.arange(n_rows * dataset.n_raters).reshape(n_rows, -1)
        self.rater_entries = entries[:, present].ravel()
        self.vote_entries = n_rows * dataset.n_raters + np.arange(n_rows * self.n_votes)
        self.most_statistics = max(len(self.rater_entries), len(self.vote_entries))

    def statistics(self, answer: np.ndarray) -> np.ndarray:
        """Compute all statistics of one set of annotations, int64."""
        dataset = self.dataset
        of_rater = np.empty((len(self.counted), dataset.n_raters), np.int64)
        of_votes = np.empty((len(self.counted), self.n_votes), np.int64)
        count_statistics(dataset.case_ptr, dataset.rater, answer, self.row_of_class, of_rater, of_votes)
        return np.concatenate([of_rater.ravel(), of_votes.ravel()])


def _check(
    kind: str,
    layout: _Layout,
    entries: np.ndarray,
    observed: np.ndarray,
    band: np.ndarray,
    p: np.ndarray,
    n_replicates: int,
) -> PredictiveCheck:
    dataset = layout.dataset
    if kind == "raters":
        row, place = np.divmod(entries, dataset.n_raters)
        names = [dataset.raters[j] for j in place]
        total = layout.per_rater[place]
    else:
        row, place = np.divmod(entries - len(layout.counted) * dataset.n_raters, layout.n_votes)
        names = [str(m) for m in place]
        total = np.full(len(entries), layout.n_answered)
    class_code = layout.counted[row]
    if dataset.n_classes > 2:
        names = [f"{name} · {dataset.classes[code]}" for name, code in zip(names, class_code, strict=True)]
        what = "of each class"
    else:
        what = dataset.classes[1]
    p = p[entries]
    headline, threshold, fails = outcome(p, n_replicates)
    return PredictiveCheck(
        kind=kind,
        title=f"Annotations {what} per rater" if kind == "raters" else f"Votes {what} per case",
        labels=tuple(names),
        class_code=class_code.astype(np.int64),
        place=place.astype(np.int64),
        total=total.astype(np.int64),
        observed=observed[entries],
        low=band[0, entries],
        median=band[1, entries],
        high=band[2, entries],
        p=p,
        headline=headline,
        n_statistics=len(entries),
        threshold=threshold,
        fails=fails,
        n_replicates=n_replicates,
    )


def outcome(p: np.ndarray, n_replicates: int) -> tuple[float, float, bool | None]:
    """Return headline min(p, 1 - p) over statistics, the threshold 0.025 / S, and whether it fails, None if unresolved.

    This is how table 2 of Han et al. is made: it neither doubles nor halves the smaller tail.
    """
    headline = float(np.minimum(p, 1 - p).min())
    threshold = 0.025 / len(p)
    if headline >= threshold:
        return headline, threshold, False
    return headline, threshold, True if n_replicates >= PER_STATISTIC * len(p) else None
