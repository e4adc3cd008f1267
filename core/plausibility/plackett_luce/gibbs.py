"""Plackett-Luce plausibilities: a Gibbs sampler for partial rankings with ties, exact for any number of classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...annotations.dataset import Dataset
from ...checked import checked
from ...errors import InputError
from ...methods import RANKED, UGT, Option
from ...options import check_number, check_whole
from ...runtime.seeds import case_seeds
from ..protocol import CaseDraws, PlausibilityMethod, ReliabilityScale, check_sampling
from ._gibbs_kernels import effective_draws, gibbs
from ._kernels import LARGEST_TABLE
from .blocks import case_blocks, ranking_entries
from .point import plackett_luce_mode

MOST_THINNING = 8
MOST_COPIES = 1000  # Most copies of a block that is too large for the table; the cost grows with them.


@checked
@dataclass(frozen=True, slots=True)
class PlackettLuce:
    """Posterior of the plausibilities λ of a case from its raters' differential diagnoses.

    Each annotation counts ``reliability`` times, in whole or fractional copies. Prior: Gamma(alpha) on every class that
    somebody named, Gamma(1) on the sum of all others, split Dirichlet(1, ..., 1).

    Parameters
    ----------
    alpha : float
        Prior shape of a named class, >= 1.
    n_burn : int
        Number of sweeps that are discarded first.
    least_ess : float
        Smallest effective number of draws, as a share of ``n_draws``; a chain below it is run again and thinned, at
        most eightfold.
    depth : int
        Number of first places that draws distinguish.
    """

    name: ClassVar[str] = "plackett-luce"
    default_reliability: ClassVar[float] = 3.0
    alpha: float = 1.0
    n_burn: int = 500
    least_ess: float = 0.1
    depth: int = 3

    def __post_init__(self) -> None:
        check_number(self.alpha, "The prior α of Plackett-Luce", 1)
        check_number(self.least_ess, "The minimum share of effective draws", 0, 1)
        check_whole(self.depth, "The depth", 1)
        check_whole(self.n_burn, "The burn-in", 0)

    def settings(self) -> dict:
        """Return the parameters that change the draws."""
        return {"alpha": self.alpha, "n_burn": self.n_burn, "least_ess": self.least_ess, "depth": self.depth}

    def point_shares(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute each case's posterior mode at γ = 1, in CSR over classes named there: ptr, class codes, shares."""
        mode = plackett_luce_mode(dataset)
        return mode.ptr, mode.class_code, mode.share

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Draw plausibilities of each case, with the effective number of draws.

        Parameters
        ----------
        dataset : Dataset
            Dataset of rankings or single classes.
        reliability : float
            Reliability γ > 0.
        n_draws, seed : int
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
        entries = ranking_entries(dataset)
        cases = range(dataset.n_cases) if cases is None else cases
        seeds = case_seeds(seed, [dataset.cases[case] for case in cases], self.name)
        for case, case_seed in zip(cases, seeds, strict=True):
            yield case, self._case(dataset, case, entries, reliability, n_draws, case_seed)

    def _case(self, dataset: Dataset, case: int, entries, reliability: float, n_draws: int, seed: int) -> CaseDraws:
        blocks = case_blocks(dataset, case, entries)
        largest = int(np.diff(blocks.block_ptr).max(initial=0))
        if largest > LARGEST_TABLE and blocks.weight(reliability).max() > MOST_COPIES:
            raise InputError(
                f"Could not sample case {dataset.cases[case]!r}: it has {largest} tied classes, too many at this γ.",
                f"Use a reliability γ of at most {MOST_COPIES:,} divided by the number of raters with the same "
                "ranking.",
            )
        thin = 1
        while True:
            share, rest, top, _ = gibbs(
                seed,
                blocks.rater_ptr,
                blocks.block_ptr,
                blocks.member,
                blocks.weight(reliability),
                len(blocks.classes),
                blocks.n_rest,
                self.alpha,
                self.n_burn,
                n_draws,
                thin,
                self.depth,
            )
            ess = effective_draws(share) if len(blocks.classes) else float(n_draws)
            if ess >= self.least_ess * n_draws or thin >= MOST_THINNING:
                break
            thin = min(MOST_THINNING, max(2 * thin, int(np.ceil(thin * 2 * self.least_ess * n_draws / ess))))
        return CaseDraws(blocks.classes, share, rest, top, blocks.n_rest, 1.0, ess, int(seed))


METHOD = PlausibilityMethod(
    "plackett-luce",
    "Plackett-Luce",
    plainly="For rankings, such as differential diagnoses. Classes named earlier are more likely. Ties and unnamed "
            "classes count too.",
    exactly="Plackett-Luce over partial rankings with ties. Draws of λ come from its posterior by Gibbs sampling "
    "(Stutz et al., B.4).",
    sources=(UGT,),
    takes=RANKED,
    make=PlackettLuce,
    options=(
        Option(
            "alpha", float, 1.0, "Prior α of each named class", "prior shape of each named class", 1.0, on_page=False
        ),
        Option("n_burn", int, 500, "Burn-in", "number of initial sweeps to discard", 0, on_page=False, flag="--burn"),
        Option(
            "least_ess", float, 0.1, "Minimum share of effective draws",
            "minimum share of effective draws; chains with a smaller share are thinned", 0.0, 1.0, on_page=False,
        ),
    ),
    place=10,
    leads=("ranking",),
    reliability=ReliabilityScale(
        PlackettLuce.default_reliability,
        0.1,
        10.0,
        (1.0, 2.0, 3.0, 5.0, 10.0),
        (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0),
        "Published value: 3, for medium reliability of the raters in the case study.",
    ),
    most_cases=3_000,
    sentence="Plausibilities of classes were drawn from the posterior of a Plackett-Luce model of partial rankings "
    "with ties, in which the classes that a rater did not name rank below those named.",
    warm=True,
)  # fmt: skip
