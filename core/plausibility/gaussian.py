"""Gaussian scores: posterior of a case's mean score, and plausibility of each side of a threshold.

``y ~ N(μ, σ²)``, ``μ | σ² ~ N(m0, σ²/κ0)``, ``σ² ~ InvGamma(a0, b0)`` [Stutz et al., Evaluating AI systems under
uncertain ground truth, appendix A]. Erratum: the pair of priors in the footnote there is not conjugate to this
likelihood; these are, and give the posterior and the marginal likelihood in closed form. With γ the reliability,
n = γ · scores and ȳ the mean score of a case,

    κn = κ0 + n,  mn = (κ0 m0 + n ȳ)/κn,  an = a0 + n/2,  bn = b0 + γ ½ Σ(y − ȳ)² + κ0 n (ȳ − m0)²/(2 κn).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import InputError, OptionError
from ..methods import AS_IS, UGT
from ..options import check_number, check_whole
from ..result_base import Columns, Result
from ..runtime.seeds import case_seeds
from ..text import typed
from .dirichlet import LARGEST, SMALLEST, SPLIT_DEPTH
from .protocol import CaseDraws, PlausibilityMethod, ReliabilityScale, check_sampling


@dataclass(frozen=True, slots=True, eq=False)
class ScoreStatistics:
    """Statistics of the scores of each case that the posterior needs.

    Attributes
    ----------
    n, mean, squares : ndarray of float64, shape (n_cases,)
        Number of scores, their mean (0 if there are none) and Σ(y − ȳ)².
    """

    n: np.ndarray
    mean: np.ndarray
    squares: np.ndarray


def score_statistics(dataset: Dataset, cases: range | None = None) -> ScoreStatistics:
    """Compute the statistics of consecutive cases, or of all if omitted.

    Raises
    ------
    NotApplicableError
        The annotations are not scores.
    """
    dataset.check_kind("score", "Could not use the Gaussian model")
    cases = range(dataset.n_cases) if cases is None else cases
    if cases.step != 1:
        raise OptionError(f"`cases` must be consecutive, not in steps of {cases.step}")
    pointers = dataset.case_ptr[cases.start : cases.start + len(cases) + 1]
    score = dataset.score[pointers[0] : pointers[-1]]
    count = np.diff(pointers)
    case = np.repeat(np.arange(len(cases)), count)
    mean = np.bincount(case, score, len(cases)) / np.maximum(count, 1)
    squares = np.bincount(case, (score - mean[case]) ** 2, len(cases))
    return ScoreStatistics(count.astype(np.float64), mean, squares)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GaussianPosterior(Result):
    """Posterior of each case, ``μ | σ² ~ N(m, σ²/κ)``, ``σ² ~ InvGamma(a, b)``.

    The case's mean score μ is then Student's t about m with 2a degrees of freedom and the scale √(b/(a κ)).

    Attributes
    ----------
    threshold : float or None
        Threshold; None if scores are not split, so that there is no certainty of a side.
    m, k, a, b : ndarray of float64, shape (n_cases,)
    """

    threshold: float | None
    m: np.ndarray
    k: np.ndarray
    a: np.ndarray
    b: np.ndarray

    TABLES = ("cases",)

    def _columns(self, table: str, most: int | None) -> Columns:
        low, high = self.interval()
        columns: dict[str, np.ndarray] = {"m": self.m, "low": low, "high": high, "k": self.k, "a": self.a, "b": self.b}
        if self.threshold is not None:
            columns |= {"at_most": self.at_most, "certainty": self.certainty, "predictive": self.predictive}
        return {name: values[:most] for name, values in columns.items()}

    @property
    def scale(self) -> np.ndarray:
        """Scale of the Student t of each case's mean score, in units of the scores, shape (n_cases,)."""
        return np.sqrt(self.b / (self.a * self.k))

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Compute the ends of the central interval of each case's mean score μ, each of shape (n_cases,).

        Parameters
        ----------
        level : float
            Probability of the interval, between 0 and 1.
        """
        return self._around(self.scale, level)

    def of_colleague(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Compute the ends of the central interval of one further score of each case, each of shape (n_cases,).

        Parameters
        ----------
        level : float
            Probability of the interval, as in `interval`.
        """
        return self._around(self.scale * np.sqrt(self.k + 1), level)

    def _around(self, scale: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        from scipy.special import stdtrit

        check_number(level, "The level", 0, 1)
        # There are as many distinct values as numbers of scores per case.
        freedom, place = np.unique(2 * self.a, return_inverse=True)
        reach = stdtrit(freedom, 0.5 + level / 2)[place] * scale
        return self.m - reach, self.m + reach

    def width(self, level: float = 0.95) -> np.ndarray:
        """Compute the width of the interval of the mean score, in units of the scores, shape (n_cases,).

        Parameters
        ----------
        level : float
            Probability of the interval, as in `interval`.
        """
        low, high = self.interval(level)
        return high - low

    def density(self, case: int, score: np.ndarray) -> np.ndarray:
        """Compute the density of a case's mean score μ, per unit of the scores, with the shape of ``score``.

        Parameters
        ----------
        case : int
            Index among the cases of this posterior.
        score : ndarray
            Scores at which the density is computed.
        """
        from scipy.special import gammaln

        a, scale = self.a[case], self.scale[case]
        t = (score - self.m[case]) / scale
        log_top = gammaln(a + 0.5) - gammaln(a) - 0.5 * np.log(2 * np.pi * a) - np.log(scale)
        return np.exp(log_top - (a + 0.5) * np.log1p(t**2 / (2 * a)))

    def _standardised(self, spread: np.ndarray) -> np.ndarray:
        """Return the distance of the threshold from m, in units of the scale √(b · spread / a) of a Student t."""
        if self.threshold is None:
            raise InputError(
                "Could not compare scores with the threshold: no threshold is set.",
                "Choose a threshold.",
            )
        return (self.threshold - self.m) / np.sqrt(self.b * spread / self.a)

    @property
    def at_most(self) -> np.ndarray:
        """Probability p = P(μ ≤ t | b) that the case's mean score is at most the threshold, shape (n_cases,)."""
        from scipy.special import stdtr

        return stdtr(2 * self.a, self._standardised(1 / self.k))

    @property
    def above(self) -> np.ndarray:
        """Probability P(μ > t | b) that the case's mean score is above the threshold, shape (n_cases,)."""
        from scipy.special import stdtr

        return stdtr(2 * self.a, -self._standardised(1 / self.k))

    @property
    def certainty(self) -> np.ndarray:
        """Annotation certainty max(p, 1 − p), shape (n_cases,)."""
        from scipy.special import stdtr

        return stdtr(2 * self.a, np.abs(self._standardised(1 / self.k)))

    @property
    def predictive(self) -> np.ndarray:
        """P(y ≤ t | b), the share of further scores at most the threshold, shape (n_cases,).

        This is not a certainty: it does not tend to 0 or 1 with more raters.
        """
        from scipy.special import stdtr

        return stdtr(2 * self.a, self._standardised((self.k + 1) / self.k))


@checked
@dataclass(frozen=True, slots=True)
class GaussianScores:
    """Conjugate posterior of scores, drawn as plausibilities of two classes: at most the threshold, and above it.

    Parameters
    ----------
    threshold : float or None
        Threshold t; if None, only the posterior of the mean score is available, without draws of two classes.
    m0, k0 : float
        Prior mean, and its weight κ0 as a number of scores.
    a0, b0 : float
        Shape and scale of the inverse gamma prior of the variance within a case.
    depth : int
        Columns of ``top`` in the draws; those beyond the second are -1, since there are two classes.
    """

    name: ClassVar[str] = "gaussian"
    default_reliability: ClassVar[float] = 1.0
    threshold: float | None
    m0: float
    k0: float
    a0: float
    b0: float
    depth: int = SPLIT_DEPTH

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_number(self.threshold, "The threshold")
        check_number(self.m0, "The prior mean m0")
        check_number(self.k0, "The prior's κ0", SMALLEST, LARGEST)
        check_number(self.a0, "The prior's a0", SMALLEST, LARGEST)
        check_number(self.b0, "The prior's b0")
        check_whole(self.depth, "The depth", 1)
        if self.b0 <= 0:  # b0 is in squared units of the scores, so it has no fixed range.
            raise InputError(f"The prior's b0 must be above 0; got {self.b0}.", "Use a positive number.")

    @property
    def classes(self) -> tuple[str, str]:
        """Names of the two classes of the draws, those of `Dataset.as_classes`."""
        threshold = self._split()
        return f"≤ {typed(threshold)}", f"> {typed(threshold)}"

    def _split(self) -> float:
        if self.threshold is None:
            raise InputError("Cannot split scores into two classes: no threshold is set.", "Choose a threshold.")
        return self.threshold

    def settings(self) -> dict:
        """Return the parameters that change the draws."""
        return {"threshold": self.threshold, "m0": self.m0, "k0": self.k0, "a0": self.a0, "b0": self.b0}

    def posterior(self, dataset: Dataset, reliability: float = 1.0, cases: range | None = None) -> GaussianPosterior:
        """Compute the posterior of each case in closed form; the prior if a case has no score.

        Parameters
        ----------
        dataset : Dataset
            Dataset of scores.
        reliability : float
            Reliability γ, above 0 and at most 1e9: how many times each score counts; not necessarily an integer.
        cases : range, optional
            Positions of consecutive cases; all if omitted. The result has rows for these only.

        Raises
        ------
        NotApplicableError
            The annotations are not scores.
        InputError
            The reliability is out of its range.
        """
        check_sampling(reliability, n_draws=1)
        scores = score_statistics(dataset, cases)
        n = reliability * scores.n
        k = self.k0 + n
        between = self.k0 * n * (scores.mean - self.m0) ** 2 / (2 * k)
        return GaussianPosterior(
            self.threshold,
            (self.k0 * self.m0 + n * scores.mean) / k,
            k,
            self.a0 + n / 2,
            self.b0 + reliability * scores.squares / 2 + between,
        )

    def point_shares(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean plausibilities of the two classes at γ = 1, the predictive shares: ptr, class codes, shares."""
        below = self.posterior(dataset).predictive
        codes = np.tile(np.arange(2, dtype=np.int32), len(below))
        return np.arange(len(below) + 1) * 2, codes, np.column_stack([below, 1 - below]).ravel()

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Draw ``λ = (Φ((t − μ)/σ), 1 − Φ((t − μ)/σ))`` of each case independently.

        Parameters
        ----------
        dataset : Dataset
            Dataset of scores.
        reliability : float
            Reliability γ, above 0 and at most 1e9.
        n_draws : int
        seed : int
        cases : range, optional
            Positions of cases; all if omitted.

        Raises
        ------
        NotApplicableError
            The annotations are not scores.
        InputError
            A parameter is out of its range, or no threshold is set.
        """
        from scipy.special import ndtr

        threshold = self._split()
        check_sampling(reliability, n_draws)
        cases = range(dataset.n_cases) if cases is None else cases
        start = min(cases, default=0)
        posterior = self.posterior(dataset, reliability, range(start, max(cases, default=-1) + 1))
        seeds = case_seeds(seed, [dataset.cases[case] for case in cases], self.name)
        for case, case_seed in zip(cases, seeds, strict=True):
            m, k, a, b = (
                float(column[case - start]) for column in (posterior.m, posterior.k, posterior.a, posterior.b)
            )
            rng = np.random.default_rng(int(case_seed))
            # 1/σ²; a tiny value may underflow to 0, which has no effect here.
            precision = rng.standard_gamma(a, n_draws) / b
            x = (threshold - m) * np.sqrt(precision) - rng.standard_normal(n_draws) / np.sqrt(k)
            share = np.column_stack([ndtr(x), ndtr(-x)])
            top = np.full((n_draws, self.depth), -1, np.int32)
            first = share.argmax(axis=1)
            top[:, :2] = np.column_stack([first, 1 - first])[:, : self.depth]
            both, nothing = np.arange(2, dtype=np.int32), np.zeros(n_draws)
            yield case, CaseDraws(both, share, nothing, top, 0, 1.0, float(n_draws), int(case_seed))


METHOD = PlausibilityMethod(
    "gaussian",
    "Gaussian scores",
    plainly="Estimates the mean score of a case, and the certainty that it is above or below the threshold.",
    exactly="Normal scores with a conjugate normal-inverse-gamma prior, which is fitted by empirical Bayes unless you "
    "set it. Certainty is max(p, 1 − p) with p = P(μ ≤ threshold | scores) (Stutz et al., appendix A).",
    sources=(UGT,),
    takes={"score": AS_IS},
    make=GaussianScores,
    place=40,
    reliability=ReliabilityScale(
        GaussianScores.default_reliability,
        0.1,
        30.0,
        (1.0, 2.0, 3.0),
        (1.0, 2.0, 3.0),
        published="Published value: 1, which counts each score once.",
    ),
    on_pages=False,
    sentence="The distribution of the mean score of a case was taken as its posterior under a normal model with a "
    "conjugate prior.",
)
