"""Probabilistic inverse rank normalisation (PrIRN): plausibilities around the IRN weights of a case.

``λ | b ~ Dirichlet(γ λ̂ + ε 1)``, λ̂ the normalised IRN [Stutz et al., Evaluating AI systems under uncertain ground
truth, appendix B.3].
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from ..annotations.dataset import Dataset
from ..checked import checked
from ..methods import RANKED, UGT, Option
from ..options import check_choice, check_number, check_whole
from ..rankings.irn import IRNWeights, Ties, irn
from ..runtime.seeds import case_seeds
from ._kernels import dirichlet_draws
from .dirichlet import LARGEST, SMALLEST, SPLIT_DEPTH
from .protocol import CaseDraws, PlausibilityMethod, ReliabilityScale, check_sampling


@checked
@dataclass(frozen=True, slots=True)
class PrIRN:
    """Dirichlet plausibilities of partial rankings; their mean tends to the normalised IRN as the reliability grows.

    λ̂ sums to 1 for any number of raters, so the reliability weights all raters of a case together.

    Parameters
    ----------
    epsilon : float
        Pseudo-count of every class of the declared list, 1e-9 to 1e9; 0.01 in the published code.
    ties : {"split", "full"}
        Weight of tied classes: they share the weight of the block, or each gets all of it, as in the published figures.
    depth : int
        Number of the largest never-named classes that draws distinguish; certainty of top-j sets needs j of them.
    """

    name: ClassVar[str] = "prirn"
    default_reliability: ClassVar[float] = 30.0
    epsilon: float = 0.01
    ties: Ties = "split"
    depth: int = SPLIT_DEPTH

    def __post_init__(self) -> None:
        check_number(self.epsilon, "The pseudo-count ε", SMALLEST, LARGEST)
        check_choice(self.ties, "The rule for ties", get_args(Ties))
        check_whole(self.depth, "The depth", 1)

    def settings(self) -> dict:
        """Return the parameters that change the draws."""
        return {"epsilon": self.epsilon, "ties": self.ties, "depth": self.depth}

    def point(self, dataset: Dataset) -> IRNWeights:
        """Compute the deterministic plausibilities at the centre of the draws: ``normalised`` of the IRN weights."""
        return irn(dataset, self.ties)

    def point_shares(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the normalised IRN of each case, in CSR over the classes named there: ptr, class codes, shares."""
        weights = self.point(dataset)
        return weights.ptr, weights.class_code, weights.normalised

    def shapes(self, dataset: Dataset, case: int, reliability: float) -> tuple[np.ndarray, np.ndarray, int]:
        """Return named classes of a case, their Dirichlet shapes ``γ λ̂ + ε``, and the number of never-named classes.

        Parameters
        ----------
        dataset : Dataset
        case : int
            Position of the case in the dataset.
        reliability : float
            γ > 0.
        """
        weights = irn(dataset, self.ties, range(case, case + 1))
        named = weights.class_code
        return named, reliability * weights.normalised + self.epsilon, dataset.n_classes - len(named)

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Draw plausibilities of each case independently; from the prior if a case has no annotation.

        Parameters
        ----------
        dataset : Dataset
            Dataset of rankings or single classes.
        reliability : float
            Reliability γ, above 0 and at most 1e9: the pseudo-counts of all raters of a case together.
        n_draws : int
        seed : int
        cases : range, optional
            Positions of cases; all if omitted.

        Raises
        ------
        NotApplicableError
            The annotations are scores.
        InputError
            A parameter is out of its range.
        """
        check_sampling(reliability, n_draws)
        cases = range(dataset.n_cases) if cases is None else cases
        first = min(cases, default=0)
        weights = irn(dataset, self.ties, range(first, max(cases, default=-1) + 1))
        normalised = weights.normalised
        seeds = case_seeds(seed, [dataset.cases[case] for case in cases], self.name)
        for case, case_seed in zip(cases, seeds, strict=True):
            entries = slice(weights.ptr[case - first], weights.ptr[case - first + 1])
            named = weights.class_code[entries]
            shape = reliability * normalised[entries] + self.epsilon
            n_rest = dataset.n_classes - len(named)
            share, rest, top = dirichlet_draws(case_seed, shape, self.epsilon, n_rest, n_draws, self.depth)
            yield case, CaseDraws(named, share, rest, top, n_rest, self.epsilon, float(n_draws), int(case_seed))


METHOD = PlausibilityMethod(
    "prirn",
    "PrIRN",
    plainly="First choices have weight 1, second choices 1/2, third choices 1/3, and so on. Weights are summed over "
    "raters.",
    exactly="λ ~ Dirichlet(γ·IRN + ε), where IRN is the normalised sum of inverse ranks and ε = 0.01 (Stutz et al., "
    "B.2-B.3).",
    sources=(UGT,),
    takes=RANKED,
    make=PrIRN,
    options=(
        Option(
            "epsilon", float, 0.01, "Pseudo-count ε of each class", "pseudo-count of each class", SMALLEST, LARGEST,
            on_page=False,
        ),
        Option(
            "ties", str, "split", "Tied classes", "weight of tied classes",
            choices={"split": "share the weight of their block", "full": "each gets the whole weight"},
        ),
    ),
    place=20,
    reliability=ReliabilityScale(
        PrIRN.default_reliability,
        1.0,
        100.0,
        (10.0, 20.0, 30.0, 50.0, 100.0),
        (5.0, 10.0, 20.0, 30.0, 50.0, 100.0),
        "Published value: 30, the middle of the range 10 to 100 in the case study.",
    ),
    most_cases=3_000,
    sentence="Plausibilities of classes were drawn from a Dirichlet distribution around the inverse-rank-normalised "
    "weights of the classes.",
    warm=True,
)  # fmt: skip
