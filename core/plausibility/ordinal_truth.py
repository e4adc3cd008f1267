"""True class of a case with ordered classes, corrected for raters who read higher, wider or carelessly.

``P_γ(z | y) ∝ π_z Π_n P(y_n | z, rater n)^γ`` under the ordinal model at its mode (`core.models.ordinal`, after Patz et
al. 2002), each annotation counted γ times. Counts of 3 and 5 give no support to 4; here, 4 is the class compatible with
both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..methods import AS_IS
from ..models.classifier_evidence import check_not_evidence
from ..models.design import design
from ..models.ordinal import Ordinal
from ..models.result import RaterModelFit
from ..models.tempering import point_of, tempered_posterior
from ..options import check_whole
from ..runtime.seeds import case_seeds
from .protocol import CaseDraws, PlausibilityMethod, ReliabilityScale, check_sampling

SPLIT_DEPTH = 3
STREAM = "ordinal truth"


@dataclass(frozen=True, slots=True, eq=False)
class OrdinalTruth:
    """True class of each case under the ordinal model; a draw has all its plausibility on one class.

    Parameters
    ----------
    depth : int
        Number of classes of a draw that are ordered: the truth, then the truth if the ones before were excluded.
    fitted : RaterModelFit, optional
        Ordinal model of the same data by EM, as returned by `fit`; it is fitted if omitted.
    ready : tuple, optional
        Digest of the data, γ and class probabilities, as set by `prepare`.
    """

    name: ClassVar[str] = "ordinal-truth"
    default_reliability: ClassVar[float] = 1.0
    depth: int = SPLIT_DEPTH
    fitted: RaterModelFit | None = field(default=None, repr=False)
    ready: tuple[str, float, np.ndarray] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_whole(self.depth, "The depth", 1)
        if self.fitted is not None:  # These draws are the truth that classifiers are compared with.
            check_not_evidence(self.fitted)

    def settings(self) -> dict:
        """Return the parameters that change the draws."""
        return {"depth": self.depth}

    def probability(self, dataset: Dataset, reliability: float, token=None, progress=None) -> np.ndarray:
        """Compute P_γ(true class) of each case, shape (n_cases, n_classes).

        Parameters
        ----------
        dataset : Dataset
            Dataset of single classes in a declared order.
        reliability : float
            Reliability γ > 0: how many times each annotation counts after the model is fitted.
        token, progress
            See `core.runtime.chunks.map_chunks`.

        Raises
        ------
        NotApplicableError
            The order of the classes is not declared, or `core.models.em_model.EmModel.fit` refuses the data.
        InputError
            γ is out of its range, or ``fitted`` belongs to other data.
        """
        check_sampling(reliability, 1)
        if self.ready is not None and self.ready[:2] == (dataset.content_digest, float(reliability)):
            return self.ready[2]
        fit = self.fit(dataset, token=token, progress=progress) if self.fitted is None else self.fitted
        if fit.class_probability.shape != (dataset.n_cases, dataset.n_classes) or len(fit.raters) != dataset.n_raters:
            raise InputError(
                "Could not use the ordinal model: it was fitted to different data.", "Fit the model to these data."
            )
        return tempered_posterior(design(Ordinal.title, dataset), point_of(fit), reliability, token=token)

    def fit(self, dataset: Dataset, *, token=None, progress=None) -> RaterModelFit:
        """Fit the ordinal model of all raters, which does not depend on γ; see `core.models.ordinal.Ordinal`.

        Parameters
        ----------
        dataset : Dataset
            Dataset as in `probability`.
        token, progress
            See `core.runtime.chunks.map_chunks`.
        """
        return Ordinal().fit(dataset, token=token, progress=progress)

    def prepare(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, token=None, progress=None
    ) -> "OrdinalTruth":
        """Return the model with the class probabilities of all cases; drivers call this first.

        Parameters
        ----------
        dataset, reliability
            Dataset as in `probability`.
        n_draws, seed : int
            Not used, because nothing is drawn yet.
        token, progress
            See `core.runtime.chunks.map_chunks`.
        """
        found = self.probability(dataset, reliability, token, progress)
        return replace(self, ready=(dataset.content_digest, float(reliability), found))

    def point_shares(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return class probabilities at γ = 1 over all classes, in CSR: ptr, class codes, shares."""
        found = self.probability(dataset, 1.0)
        n_cases, n_classes = found.shape
        codes = np.tile(np.arange(n_classes, dtype=np.int32), n_cases)
        return np.arange(n_cases + 1, dtype=np.int64) * n_classes, codes, found.ravel()

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Draw the true class of each case independently.

        Parameters
        ----------
        dataset : Dataset
            Dataset as in `probability`.
        reliability : float
            Reliability γ, above 0.
        n_draws, seed : int
        cases : range, optional
            Positions of cases; all if omitted.
        """
        check_sampling(reliability, n_draws)
        with np.errstate(divide="ignore"):
            logs = np.log(self.probability(dataset, reliability))
        cases = range(dataset.n_cases) if cases is None else cases
        n_classes = dataset.n_classes
        codes, depth = np.arange(n_classes, dtype=np.int32), min(self.depth, n_classes)
        for case, case_seed in zip(cases, case_seeds(seed, [dataset.cases[c] for c in cases], STREAM), strict=True):
            # The largest of ln p + Gumbel noise has the distribution p, the next that of the rest without it.
            noise = np.random.default_rng(case_seed).gumbel(size=(n_draws, n_classes))
            top = np.full((n_draws, self.depth), -1, np.int32)
            top[:, :depth] = np.argsort(-(logs[case] + noise), axis=1, kind="stable")[:, :depth]
            share = (codes == top[:, :1]).astype(np.float64)
            yield (
                case,
                CaseDraws(codes, share, np.zeros(n_draws), top, 0, 1.0, float(n_draws), int(case_seed)),
            )


METHOD = PlausibilityMethod(
    OrdinalTruth.name,
    "Ordinal truth",
    plainly="For ordered classes. Estimates the true class, corrected for raters who rate higher or lower than the "
    "others.",
    exactly="P(z | y) ∝ π_z Π P(y | z, rater)^γ under the ordinal model at its mode (after Patz et al. 2002). "
    "Certainty is the largest probability, in closed form.",
    sources=("Patz, Junker, Johnson & Mariano, Journal of Educational and Behavioral Statistics 27 (2002), 341-384",),
    takes={"class": AS_IS},
    needs=("overlap", "raters", "order"),
    make=OrdinalTruth,
    place=50,
    most_cases=20_000,
    reliability=ReliabilityScale(
        OrdinalTruth.default_reliability, 0.1, 3.0, (0.25, 0.5, 1.0), (0.25, 0.5, 1.0, 2.0), published=""
    ),
    sentence="The distribution of the true class of a case was taken as its posterior under the ordinal model of "
    "raters.",
)
