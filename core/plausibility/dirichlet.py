"""Dirichlet counts: plausibilities of a case from how often each class was named.

``λ | b ~ Dirichlet(γ s + α 1)``, s the counts of a case [Stutz et al., Evaluating AI systems under uncertain ground
truth, appendix A].
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset
from ..checked import checked
from ..methods import ONE_CLASS, UGT, Option
from ..models.vote_prior import annotation_weights
from ..options import check_number, check_whole
from ..runtime.seeds import case_seeds
from ._kernels import dirichlet_draws
from .protocol import CaseDraws, PlausibilityMethod, ReliabilityScale, check_sampling

SPLIT_DEPTH = 3
SMALLEST, LARGEST = 1e-9, 1e9  # Beyond these limits, draws are a single point in double precision.


@checked
@dataclass(frozen=True, slots=True)
class DirichletCounts:
    """Dirichlet posterior of each case's plausibilities, one class per annotation.

    Parameters
    ----------
    alpha : float
        Prior pseudo-count of every class of the declared list, 1e-9 to 1e9.
    depth : int
        Number of the largest never-named classes that draws distinguish; certainty of top-j sets needs j of them.
    once : bool
        True if repeats of a rater on a case share one vote, and so do raters of one family.
    families : tuple of tuple of int
        Codes of raters whose annotations agree as if they copied each other (`core.models.families`).
    n_raters : int
        Least number of raters in data to which these codes apply: in data of fewer, the same code is another rater.
    """

    name: ClassVar[str] = "dirichlet"
    default_reliability: ClassVar[float] = 1.0
    alpha: float = 1.0
    depth: int = SPLIT_DEPTH
    once: bool = False
    families: tuple[tuple[int, ...], ...] = ()
    n_raters: int = 0

    def __post_init__(self) -> None:
        check_number(self.alpha, "The prior α", SMALLEST, LARGEST)
        check_whole(self.depth, "The depth", 1)

    def settings(self) -> dict:
        """Return the parameters that change the draws."""
        counted = {"once": True, "families": self.families} if self.once else {}
        return {"alpha": self.alpha, "depth": self.depth} | counted

    def votes(self, dataset: Dataset, cases: range | None = None) -> ClassCounts:
        """Count how often each class was named on each case; fractions if annotations share a vote.

        Parameters
        ----------
        dataset : Dataset
            Dataset of single classes.
        cases : range, optional
            Positions of consecutive cases, of which the first is case 0 of the counts; all by default.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes.
        ValueError
            The data have fewer raters than those in which the families were found.
        """
        if dataset.n_raters < self.n_raters:
            raise ValueError(
                "Could not use these families of raters: some of the raters used to find them are missing."
            )
        counts = class_counts(dataset, cases)
        if not self.once:
            return counts
        family = np.arange(dataset.n_raters)
        for each in self.families:
            family[list(each)] = each[0]
        weight = annotation_weights(dataset, family, cases)
        first = 0 if cases is None else cases.start
        begin = dataset.case_ptr[first]
        rows = slice(begin, begin + weight.size)
        cell = dataset.case_of_annotation[rows] * np.int64(dataset.n_classes) + dataset.answer[rows]
        _, place = np.unique(cell, return_inverse=True)  # Sort by case, then by class, like the counts.
        return replace(counts, count=np.bincount(place, weight, counts.class_code.size).round(9))

    def shapes(self, dataset: Dataset, case: int, reliability: float) -> tuple[np.ndarray, np.ndarray, int]:
        """Return named classes of a case, their Dirichlet shapes ``γ s + α``, and the number of never-named classes.

        Parameters
        ----------
        dataset : Dataset
        case : int
            Position of the case in the dataset.
        reliability : float
            γ > 0.
        """
        counts = self.votes(dataset, range(case, case + 1))
        return counts.class_code, reliability * counts.count + self.alpha, dataset.n_classes - len(counts.class_code)

    def point_shares(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return shares of the votes of each case, in CSR over the classes named there: ptr, class codes, shares."""
        counts = self.votes(dataset)
        per_case = np.repeat(counts.per_case(), np.diff(counts.ptr))
        return counts.ptr, counts.class_code, counts.count / per_case

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Draw plausibilities of each case independently.

        Parameters
        ----------
        dataset : Dataset
            Dataset of single classes (`Dataset.as_classes`).
        reliability : float
            Reliability γ, above 0 and at most 1e9: how many times each annotation counts.
        n_draws : int
        seed : int
        cases : range, optional
            Positions of cases; all if omitted.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes.
        InputError
            A parameter is out of its range.
        """
        check_sampling(reliability, n_draws)
        cases = range(dataset.n_cases) if cases is None else cases
        first = min(cases, default=0)
        counts = self.votes(dataset, range(first, max(cases, default=-1) + 1))
        seeds = case_seeds(seed, [dataset.cases[case] for case in cases], "dirichlet")
        for case, case_seed in zip(cases, seeds, strict=True):
            entries = slice(counts.ptr[case - first], counts.ptr[case - first + 1])
            named = counts.class_code[entries]
            shape = reliability * counts.count[entries] + self.alpha
            n_rest = dataset.n_classes - len(named)
            share, rest, top = dirichlet_draws(case_seed, shape, self.alpha, n_rest, n_draws, self.depth)
            yield case, CaseDraws(named, share, rest, top, n_rest, self.alpha, float(n_draws), int(case_seed))


METHOD = PlausibilityMethod(
    "dirichlet",
    "Dirichlet counts",
    plainly="Counts how often raters chose each class. Classes that nobody chose remain possible.",
    exactly="λ | b ~ Dirichlet(γ·counts + α), with α for every class of the closed list (Stutz et al., appendix A).",
    sources=(UGT,),
    takes=ONE_CLASS,
    make=DirichletCounts,
    options=(
        Option("alpha", float, 1.0, "Prior α of each class", "prior pseudo-count of each class", SMALLEST, LARGEST),
    ),
    place=30,
    leads=("class", "score"),
    reliability=ReliabilityScale(
        DirichletCounts.default_reliability,
        0.1,
        30.0,
        (1.0, 2.0, 3.0, 5.0, 10.0),
        (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0),
        published="Published value: 1, which counts each annotation once.",
    ),
    most_cases=20_000,
    sentence="Plausibilities of classes were drawn from their Dirichlet posterior given the annotation counts.",
    warm=True,
)
