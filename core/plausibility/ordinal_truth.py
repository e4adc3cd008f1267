"""Which class is the truth of a case, for ordered classes: raters who read higher, wider or carelessly counted as such.

``P_γ(z | y) ∝ π_z Π_n P(y_n | z, rater n)^γ`` under the ordinal model at its mode (`core.models.ordinal`, after Patz et
al. 2002), each annotation counted γ times. A count of 3 and 5 says nothing of 4; here 4 is what they have in common.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..methods import AS_IS, Method, ReliabilityScale
from ..models.classifier_evidence import check_not_evidence
from ..models.design import design
from ..models.ordinal import Ordinal
from ..models.result import RaterModelFit
from ..models.tempering import point_of, tempered_posterior
from ..options import check_whole
from ..runtime.seeds import case_seeds
from .protocol import CaseDraws, check_sampling

SPLIT_DEPTH = 3
STREAM = "ordinal truth"


@dataclass(frozen=True, slots=True, eq=False)
class OrdinalTruth:
    """The true class of each case under the ordinal model; a draw has all its plausibility on one class.

    Parameters
    ----------
    depth : int
        How many classes of a draw are put in order: the truth, then as if the ones before were ruled out.
    fitted : RaterModelFit, optional
        The ordinal model of the same data by EM, as `fit` gives it; it is fitted anew where it is not given.
    ready : tuple, optional
        Content of the data, γ and class probabilities, as `prepare` leaves them.
    """

    name: ClassVar[str] = "ordinal-truth"
    default_reliability: ClassVar[float] = 1.0
    depth: int = SPLIT_DEPTH
    fitted: RaterModelFit | None = field(default=None, repr=False)
    ready: tuple[str, float, np.ndarray] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_whole(self.depth, "The depth", 1)
        if self.fitted is not None:  # classifiers are judged by these draws
            check_not_evidence(self.fitted)

    def settings(self) -> dict:
        """Parameters that change the draws."""
        return {"depth": self.depth}

    def probability(self, dataset: Dataset, reliability: float, token=None, progress=None) -> np.ndarray:
        """P_γ(true class) of each case, shape (n_cases, n_classes).

        Parameters
        ----------
        dataset : Dataset
            Of single classes in a declared order.
        reliability : float
            γ > 0: how many times each annotation counts once the model is fitted.
        token, progress
            See `core.runtime.chunks.map_chunks`.

        Raises
        ------
        NotApplicableError
            The order of the classes is not declared, or as `core.models.em_model.EmModel.fit`.
        InputError
            γ is out of its range, or ``fitted`` is of other data.
        """
        check_sampling(reliability, 1)
        if self.ready is not None and self.ready[:2] == (dataset.content_digest, float(reliability)):
            return self.ready[2]
        fit = self.fit(dataset, token=token, progress=progress) if self.fitted is None else self.fitted
        if fit.class_probability.shape != (dataset.n_cases, dataset.n_classes) or len(fit.raters) != dataset.n_raters:
            raise InputError("The ordinal model was fitted to other data.", "Fit it to these.")
        return tempered_posterior(design(Ordinal.title, dataset), point_of(fit), reliability, token=token)

    def fit(self, dataset: Dataset, *, token=None, progress=None) -> RaterModelFit:
        """The ordinal model of all raters, which does not depend on γ; see `core.models.ordinal.Ordinal`.

        Parameters
        ----------
        dataset : Dataset
            As for `probability`.
        token, progress
            See `core.runtime.chunks.map_chunks`.
        """
        return Ordinal().fit(dataset, token=token, progress=progress)

    def prepare(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, token=None, progress=None
    ) -> "OrdinalTruth":
        """The same model with the class probabilities of all cases. Drivers call it first.

        Parameters
        ----------
        dataset, reliability
            As for `probability`.
        n_draws, seed : int
            Not used: nothing is drawn yet.
        token, progress
            See `core.runtime.chunks.map_chunks`.
        """
        found = self.probability(dataset, reliability, token, progress)
        return replace(self, ready=(dataset.content_digest, float(reliability), found))

    def point_shares(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Class probabilities at γ = 1 over all classes, in CSR: ptr, class codes, shares."""
        found = self.probability(dataset, 1.0)
        n_cases, n_classes = found.shape
        codes = np.tile(np.arange(n_classes, dtype=np.int32), n_cases)
        return np.arange(n_cases + 1, dtype=np.int64) * n_classes, codes, found.ravel()

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Independent draws of the true class of each case.

        Parameters
        ----------
        dataset : Dataset
            As for `probability`.
        reliability : float
            γ, above 0.
        n_draws, seed : int
        cases : range, optional
            Which cases; all where not given.
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


METHOD = Method(
    OrdinalTruth.name,
    "plausibility",
    "Ordinal truth",
    plainly="For ordered classes: which class is the true one, by raters of whom it is known how much higher or lower "
    "they read; 3 lies between 2 and 4.",
    exactly="P(z | y) ∝ π_z Π P(y | z, rater)^γ under the ordinal model at its mode (after Patz et al. 2002); "
    "certainty is the largest probability, in closed form.",
    sources=("Patz, Junker, Johnson & Mariano, Journal of Educational and Behavioral Statistics 27 (2002), 341-384",),
    takes={"class": AS_IS},
    needs=("overlap", "raters", "order"),
    make=OrdinalTruth,
    place=50,
    most_cases=20_000,
    reliability=ReliabilityScale(
        OrdinalTruth.default_reliability, 0.05, 3.0, (0.25, 0.5, 1.0), (0.25, 0.5, 1.0, 2.0), published=""
    ),
    sentence="The true class of a case was taken as the posterior of the ordinal model of raters.",
)
