"""Raters with evenly spread mistakes: one rate of being right for each, or one for each true class.

``θ[j, k, k] = a_j`` and ``θ[j, k, l] = (1 − a_j)/(K − 1)``; class-conditional with ``a_jk`` for ``a_j``. With one class
every annotation is right.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checked import checked
from ..runtime.chunks import CancelToken
from ._kernels import right_and_wrong
from .design import Design
from .em import no_prior
from .em_model import EmModel, Problem, unshrunk
from .rater_methods import DAWID_SKENE_1979, EM_SOURCE, RaterModelMethod, em_options
from .reparametrise import RateChart
from .smoothing import default_smoothing, pooled_prior


@checked
@dataclass(frozen=True, slots=True)
class OneCoin(EmModel):
    """One accuracy for each rater, regardless of the true class.

    Parameters
    ----------
    smoothing : {"none", "pooled"}, optional
        "pooled" adds 10 pseudo-annotations per rater with the accuracy of all raters taken as one; it is the
        default. "none" is maximum likelihood.
    stopping, use_gold, repeats, beta, doubt
        See `EmModel`.

    Notes
    -----
    ``parameters["a"]`` of the fit, shape (n_raters,), are the accuracies.
    """

    title = "One-coin"

    def problem_of(self, data: Design, token: CancelToken | None = None) -> Problem:
        """Build the design with the prior; see `EmModel.problem_of`."""
        return _problem(self, data, EvenMistakes(False), token)


@checked
@dataclass(frozen=True, slots=True)
class ClassConditional(EmModel):
    """One accuracy for each rater and true class; for two classes it is Dawid-Skene.

    Parameters
    ----------
    smoothing : {"none", "pooled"}, optional
        "pooled" adds 10 pseudo-annotations per rater and true class with the accuracy of all raters taken as one; it
        is the default. "none" is maximum likelihood.
    stopping, use_gold, repeats, beta, doubt
        See `EmModel`.

    Notes
    -----
    ``parameters["a"]`` of the fit, shape (n_raters, n_classes), are the accuracies by true class.
    """

    title = "Class-conditional"

    def problem_of(self, data: Design, token: CancelToken | None = None) -> Problem:
        """Build the design with the prior; see `EmModel.problem_of`."""
        return _problem(self, data, EvenMistakes(True), token)


def _problem(model: EmModel, data: Design, family: "EvenMistakes", token: CancelToken | None) -> Problem:
    smoothing = model.smoothing or default_smoothing(data.dataset)
    if smoothing == "pooled":
        prior = pooled_prior(data, family, token, per_row=family.by_class)
    else:
        prior = no_prior(data.dataset.n_classes)
    return Problem(data, family, prior, model.settings(smoothing), unshrunk(smoothing), *model.shown_at)


@dataclass(frozen=True, slots=True)
class EvenMistakes:
    """Rates of being right, by rater or by rater and true class, with evenly spread mistakes."""

    by_class: bool
    one_by_one: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Name of the model."""
        return "class-conditional" if self.by_class else "one-coin"

    def maximise(self, counts: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Compute the share of right annotations; 1/K if there are none."""
        right, wrong = self._split(counts)
        rate = np.full(right.shape, 1.0 / counts.shape[1])
        np.divide(right, right + wrong, out=rate, where=right + wrong > 0)
        return self._theta(rate, counts.shape[1]), {"a": rate}

    def _split(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        right, wrong = np.empty((2, *counts.shape[:2]))
        right_and_wrong(np.ascontiguousarray(counts), right, wrong)
        return (right, wrong) if self.by_class else (right.sum(axis=1), wrong.sum(axis=1))

    def _theta(self, rate: np.ndarray, n_classes: int) -> np.ndarray:
        by_class = rate if self.by_class else np.repeat(rate[:, None], n_classes, axis=1)
        if n_classes == 1:
            return np.ones((len(rate), 1, 1))
        even = ((1 - by_class) / (n_classes - 1))[:, None, :]
        return np.where(np.eye(n_classes, dtype=bool), by_class[:, None, :], even)

    def chart(self, theta: np.ndarray, parameters: dict[str, np.ndarray], counts: np.ndarray) -> RateChart:
        """Return logits of the rates.

        Parameters
        ----------
        theta : ndarray, shape (n_raters, n_classes, n_classes)
            Rater, annotated class, true class.
        parameters : dict of str to ndarray
            Those of the fit, by name.
        counts : ndarray, shape as ``theta``
            Expected annotations.
        """
        n_classes = theta.shape[1]
        return RateChart(parameters["a"], *self._split(counts), lambda rate: self._theta(rate, n_classes), self._split)


METHODS = (
    RaterModelMethod(
        "one-coin",
        "One coin",
        OneCoin,
        plainly="Estimates one accuracy per rater, whatever the true class, and weights annotations by it.",
        exactly="Latent class model with one accuracy per rater and mistakes spread evenly over the other classes, "
        "fitted by EM (Dawid & Skene 1979 with one parameter per rater).",
        sources=(DAWID_SKENE_1979, EM_SOURCE),
        options=em_options("none", "pooled"),
        place=10,
        opens=lambda dataset: True,
        n_parameters=lambda dataset: dataset.n_classes - 1 + dataset.n_raters,
        sentence="Rater accuracy and the probability of each class for each case were estimated with a "
        "latent class model that has one accuracy per rater, fitted by expectation-maximisation starting from the "
        "vote shares.",
    ),
    RaterModelMethod(
        "class-conditional",
        "Class-conditional",
        ClassConditional,
        plainly="Estimates one accuracy per rater for each true class.",
        exactly="Latent class model with one accuracy per rater and true class and mistakes spread evenly, fitted by "
        "EM. With two classes, it is Dawid-Skene.",
        sources=(DAWID_SKENE_1979, EM_SOURCE),
        options=em_options("none", "pooled"),
        place=20,
        opens=lambda dataset: dataset.n_classes > 2,  # with two it is Dawid-Skene
        n_parameters=lambda dataset: dataset.n_classes - 1 + dataset.n_raters * dataset.n_classes,
    ),
)
