"""The t-a-p model with any number of classes: truth, accuracy, and guesses. Eubanks, Kappa Zoo, chapter 9.

Truth is drawn from t. With probability a_j a rater gives it, else guesses from p_j: ``θ[j, k, l] = ā_j p_jl +
a_j 1(k = l)``. The text prints p of the true class where the guessed one is meant, and feeds the class probabilities of
a case back in place of t, which ends in hard labels; t is shared. With an accuracy of each rater it is MACE (Hovy et
al. 2013) with a free t. The step M is exact, see `core.models._tap_kernels`.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from ..checked import checked
from ..options import check_choice
from ..runtime.chunks import CancelToken
from ._tap_kernels import accuracy_and_guesses
from .design import Design
from .em import Summit, no_prior
from .em_model import EmModel, Problem, unshrunk
from .identifiability import left_free, tap_identifiability
from .rater_methods import RaterModelMethod, Variant, em_options
from .reparametrise import LEAST_COUNT, SimplexRows, expit, logit
from .result import RaterModelFit
from .smoothing import default_smoothing, pooled_prior


@checked
@dataclass(frozen=True, slots=True)
class TAP(EmModel):
    """t-a-p by EM, with an accuracy and guesses for each rater or common to all.

    Parameters
    ----------
    smoothing : {"none", "pooled"}, optional
        "pooled" adds 10 pseudo-annotations per rater, spread like the annotations of all raters taken as one, who has
        one more on each true class; it is the default. "none" is maximum likelihood, and the default for parameters
        that are common to all raters: they are the pool.
    stopping, use_gold, repeats, beta, doubt
        See `EmModel`.
    raters : {"own", "common"}

    Notes
    -----
    ``parameters`` of the fit: "t" of shape (n_classes,), "a" of shape (n_raters,) and "p" of shape (n_raters,
    n_classes); (1,) and (1, n_classes) where they are common. An agreeing annotation never lowers the probability of
    its class, for θ[j, k, k] ≥ θ[j, l, k] at every a: so a case on which all name class k keeps at least the odds
    t_k/t_l, and its most likely class changes only where t_l/t_k is greater than Π_j (1 + a_j/(ā_j p_jk)).
    """

    raters: Literal["own", "common"] = "own"

    title = "t-a-p"

    def __post_init__(self) -> None:
        EmModel.__post_init__(self)
        check_choice(self.raters, "Whose parameters they are", ("own", "common"))

    def problem_of(self, data: Design, token: CancelToken | None = None) -> Problem:
        """Build the design with the prior; see `EmModel.problem_of`."""
        common = self.raters == "common"
        smoothing = self.smoothing or ("none" if common else default_smoothing(data.dataset))
        if smoothing == "pooled":
            prior = pooled_prior(data, Guessers(True), token, per_row=False, popular=True)
        else:
            prior = no_prior(data.dataset.n_classes)
        settings = self.settings(smoothing) | {"raters": self.raters}
        notes = () if self.use_gold else tap_identifiability(data.dataset, common)
        if not common:
            notes = (*notes, *unshrunk(smoothing))
        return _TapProblem(data, Guessers(common), prior, settings, notes, *self.shown_at)


class _TapProblem(Problem):
    def fit_at(self, top: Summit, settings: dict) -> RaterModelFit:
        fit = Problem.fit_at(self, top, settings)
        parameters = {"t": fit.prevalence, **fit.parameters}
        return replace(fit, parameters=parameters, notes=(*fit.notes, *left_free(parameters["a"])))


@dataclass(frozen=True, slots=True)
class Guessers:
    """Family of raters who know or guess."""

    common: bool
    name: str = "tap"
    by_class: ClassVar[bool] = False

    @property
    def one_by_one(self) -> bool:
        """True unless the guesses are common to all raters."""
        return not self.common

    def maximise(self, counts: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Compute the exact step; a rater without annotations has accuracy 0 and guesses evenly."""
        n_raters, n_classes, _ = counts.shape
        if n_classes == 1:
            n = 1 if self.common else n_raters
            return np.ones(counts.shape), {"a": np.ones(n), "p": np.ones((n, 1))}
        right, wrong = self._split(counts)
        a = np.zeros(len(right))
        p = np.full(right.shape, 1.0 / n_classes)
        accuracy_and_guesses(right, wrong, a, p)
        return _theta(a, p, n_raters), {"a": a, "p": p}

    def _split(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        right = np.ascontiguousarray(np.einsum("jkk->jk", counts))
        wrong = (counts * (1 - np.eye(counts.shape[1]))).sum(axis=2)
        if self.common:
            return right.sum(axis=0, keepdims=True), wrong.sum(axis=0, keepdims=True)
        return right, wrong

    def chart(self, theta: np.ndarray, parameters: dict[str, np.ndarray], counts: np.ndarray) -> "TapChart":
        """Return logits of accuracies and of guesses.

        Parameters
        ----------
        theta : ndarray, shape (n_raters, n_classes, n_classes)
            Rater, annotated class, true class.
        parameters : dict of str to ndarray
            Those of the fit, by name.
        counts : ndarray, shape as ``theta``
            Expected annotations.
        """
        return TapChart(parameters["a"], parameters["p"], *self._split(counts), len(theta), self._split)


class TapChart:
    """Accuracies by their logits, guesses by the logs of their ratios."""

    def __init__(self, a, p, right, wrong, n_raters, split):
        self._a, self._n_raters, self._split = a, n_raters, split
        total = a[:, None] + (1 - a)[:, None] * p
        knew = np.divide(right * a[:, None], total, out=np.zeros(right.shape), where=total > 0)
        guessed = wrong + right - knew
        self._free = (knew.sum(axis=1) >= LEAST_COUNT) & (guessed.sum(axis=1) >= LEAST_COUNT) & (a < 1)
        self._guesses = SimplexRows(p, guessed)
        self._n_free = int(self._free.sum())
        self.start = np.concatenate([logit(a[self._free]), self._guesses.start])

    def _at(self, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a = self._a.copy()
        a[self._free] = expit(coordinates[: self._n_free])
        return a, self._guesses.at(coordinates[self._n_free :])

    @property
    def free(self) -> np.ndarray:
        """Whose accuracy is not on a bound, bool, shape (n_raters,) or (1,)."""
        return self._free

    def accuracy_and_guesses(self, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return accuracies, shape (n_raters,), and guesses, (n_raters, n_classes); one row if they are common."""
        return self._at(coordinates)

    def theta(self, coordinates: np.ndarray) -> np.ndarray:
        """Return P(annotated | true): rater, annotated, true."""
        return _theta(*self._at(coordinates), self._n_raters)

    def score(self, coordinates: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Compute the derivative of Σ counts · ln θ."""
        a, p = self._at(coordinates)
        right, wrong = self._split(counts)
        hit = a[:, None] + (1 - a)[:, None] * p
        per_hit = np.divide(right, hit, out=np.zeros(right.shape), where=hit > 0)
        by_a = (per_hit * (1 - p)).sum(axis=1) - wrong.sum(axis=1) / np.maximum(1 - a, 1e-300)
        by_guess = wrong + per_hit * (1 - a)[:, None] * p
        return np.concatenate([(by_a * a * (1 - a))[self._free], self._guesses.score(p, by_guess)])


def _theta(a: np.ndarray, p: np.ndarray, n_raters: int) -> np.ndarray:
    guess = (1 - a)[:, None] * p
    theta = np.repeat(guess[:, :, None], p.shape[1], axis=2)
    theta += a[:, None, None] * np.eye(p.shape[1])
    return np.repeat(theta, n_raters, axis=0) if len(a) < n_raters else theta


def _method(name: str, title: str, raters: Literal["own", "common"], place: int, share: str) -> RaterModelMethod:
    return RaterModelMethod(
        name,
        title,
        partial(TAP, raters=raters),
        plainly=f"Every rater either knows the truth or guesses. The model estimates how often {share}.",
        exactly="An annotation is the truth with probability a, otherwise a guess from p. Fitted by EM with an exact "
        "M-step (Eubanks, Kappa Zoo, 9). With one accuracy per rater and a free prevalence, it is MACE (Hovy et al. "
        "2013).",
        sources=("Eubanks, The Kappa Zoo (2024), chapter 9", "Hovy et al., NAACL-HLT (2013), 1120-1130"),
        options=em_options("none", "pooled"),
        variant=Variant("tap", "raters", raters, "parameters of t-a-p", raters == "own"),
        place=place,
        opens=lambda dataset: raters == "own",
        n_parameters=lambda dataset: dataset.n_classes - 1 + dataset.n_raters * dataset.n_classes,
        warm=raters == "own",
    )


METHODS = (
    _method("tap", "t-a-p", "own", 40, "each rater knows it"),
    _method("tap-common", "t-a-p, common", "common", 50, "they know it, with one value for all raters"),
)
