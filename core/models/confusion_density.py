"""Common parts of the Bayesian confusion-matrix models: data, likelihood of a case, simulation, starts."""

import numpy as np

from ..annotations.dataset import Dataset
from ..runtime.chunks import map_chunks
from ._confusion_kernels import pattern_posteriors
from ._kernels import count_from
from .nuts.mode import posterior_mode
from .patterns import collapse

START_SPREAD = 0.3
_PATTERN_CELLS = 4_000_000


def contrasts(n_classes: int) -> np.ndarray:
    """Build an orthonormal basis of the vectors that sum to 0, shape (n_classes, n_classes - 1): Helmert's."""
    basis = np.zeros((n_classes, n_classes - 1))
    for m in range(n_classes - 1):
        basis[: m + 1, m] = 1.0
        basis[m + 1, m] = -(m + 1.0)
    return basis / np.sqrt((basis**2).sum(axis=0))


def log_softmax(x: np.ndarray) -> np.ndarray:
    """Compute logs of softmax along the last axis."""
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


class ConfusionDensity:
    """Posterior of prevalence and one confusion matrix per rater, with true classes summed out.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    """

    name = ""
    ndim: int

    def __init__(self, dataset: Dataset):
        self.dataset = dataset
        self.n_raters, self.n_classes = dataset.n_raters, dataset.n_classes
        self.patterns = collapse(dataset.case_ptr, dataset.rater, dataset.answer, dataset.n_classes)
        self.basis = contrasts(self.n_classes)
        self.case_count = self.patterns.count
        self._mode: np.ndarray | None = None

    @property
    def settings(self) -> dict:
        """Settings of the model, as reported by a fit."""
        raise NotImplementedError

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return settings and arrays for `from_job`."""
        raise NotImplementedError

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "ConfusionDensity":
        """Build the same density from the result of `job`."""
        raise NotImplementedError

    def logs(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log prevalence, (n_draws, n_classes), and log confusion, (n_draws, n_raters, n_classes, n_classes)."""
        raise NotImplementedError

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log posterior density up to a constant, with its gradient."""
        raise NotImplementedError

    def vote_start(self, log_prevalence: np.ndarray, log_confusion: np.ndarray) -> np.ndarray:
        """Return the coordinates of given parameters, shape (ndim,)."""
        raise NotImplementedError

    def further_parameters(self, draws: np.ndarray, level: float) -> dict[str, np.ndarray]:
        """Return parameters beyond prevalence and confusion, by name, for a fit."""
        return {}

    def starts(self, n_chains: int, seed: int) -> np.ndarray:
        """Return the posterior mode nearest to the vote, plus noise of sd 0.3 on every coordinate."""
        mode = self.mode()
        rng = np.random.default_rng([seed & 0xFFFFFFFF, 1])
        return mode + rng.normal(scale=START_SPREAD, size=(n_chains, mode.size))

    def mode(self) -> np.ndarray:
        """Find the maximum of the posterior near the vote, shape (ndim,)."""
        if self._mode is None:
            self._mode = self._climb(self._from_vote())
        return self._mode

    def _climb(self, start: np.ndarray) -> np.ndarray:
        return posterior_mode(self, start)

    def _from_vote(self) -> np.ndarray:
        own, n_classes = self.dataset, self.n_classes
        votes = np.zeros((own.n_cases, n_classes))
        np.add.at(votes, (own.case_of_annotation, own.answer), 1.0)
        total = votes.sum(axis=1, keepdims=True)
        share = np.divide(votes, total, out=np.full(votes.shape, 1.0 / n_classes), where=total > 0)
        cell = own.rater * np.int32(n_classes) + own.answer
        cases_of, counts = count_from(own.case_ptr, cell, share, self.n_raters * n_classes, np.empty(0))
        counts = counts.reshape(self.n_raters, n_classes, n_classes).transpose(0, 2, 1)
        rows = counts + 1.0 + 1.5 * n_classes * np.eye(n_classes)
        return self.vote_start(
            np.log((cases_of + 1) / (cases_of + 1).sum()), np.log(rows / rows.sum(axis=2, keepdims=True))
        )

    def quantities(self, draws: np.ndarray) -> dict[str, np.ndarray]:
        """Return prevalence, accuracy of each rater, and confusion matrices."""
        log_prevalence, log_confusion = self.logs(draws)
        prevalence, confusion = np.exp(log_prevalence), np.exp(log_confusion)
        return {
            "prevalence": prevalence,
            "accuracy": np.einsum("djkk,dk->dj", confusion, prevalence),
            "confusion": confusion,
        }

    def posteriors(self, draws: np.ndarray):
        """Yield P(true class), (n_draws, n, n_classes), and ln P(pattern), (n_draws, n), for blocks of patterns."""
        own = self.patterns
        log_prevalence, log_theta = self._kernel_logs(draws)
        size = max(1, _PATTERN_CELLS // max(1, log_prevalence.size))
        blocks = [(first, min(first + size, own.count.size)) for first in range(0, own.count.size, size)]
        return map_chunks(
            lambda block: pattern_posteriors(own.ptr, own.cell, log_prevalence, log_theta, *block), blocks
        )

    def expected_answers(self, theta: np.ndarray) -> np.ndarray:
        """Compute expected annotations of each rater by true class at one point, shape (n_raters, n_classes)."""
        posterior = np.concatenate([part[0] for part, _ in self.posteriors(theta[None])])
        expected = np.zeros((self.n_raters, self.n_classes))
        pattern = self.patterns.pattern_of_case[self.dataset.case_of_annotation]
        np.add.at(expected, self.dataset.rater, posterior[pattern])
        return expected

    def likelihood_at(self, log_prevalence: np.ndarray, log_confusion: np.ndarray) -> float:
        """Compute the log likelihood of all the data at one value of prevalence and confusion matrices."""
        own = self.patterns
        log_theta = np.ascontiguousarray(log_confusion.transpose(0, 2, 1).reshape(1, -1, self.n_classes))
        n_patterns = own.count.size
        _, of_pattern = pattern_posteriors(
            own.ptr, own.cell, np.ascontiguousarray(log_prevalence[None]), log_theta, 0, n_patterns
        )
        return float(own.count @ of_pattern[0])

    def log_likelihood(self, draws: np.ndarray) -> np.ndarray:
        """Compute the log probability of one case of each pattern given the draws, shape (n_draws, n_patterns)."""
        return np.concatenate([part for _, part in self.posteriors(draws)], axis=1)

    def simulate(self, theta: np.ndarray, seed: int) -> np.ndarray:
        """Simulate annotations of a dataset of the same design, with new truths, int32, shape (n_annotations,)."""
        own = self.dataset
        rng = np.random.default_rng(seed)
        log_prevalence, log_confusion = (part[0] for part in self.logs(np.asarray(theta)[None]))
        truth = rng.choice(self.n_classes, size=own.n_cases, p=np.exp(log_prevalence) / np.exp(log_prevalence).sum())
        upto = np.exp(log_confusion).cumsum(axis=2)
        rows = upto[own.rater, truth[own.case_of_annotation]]
        return (rng.uniform(size=own.rater.size)[:, None] >= rows[:, :-1]).sum(axis=1).astype(np.int32)

    def _kernel_logs(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        log_prevalence, log_confusion = self.logs(draws)
        by_cell = log_confusion.transpose(0, 1, 3, 2).reshape(len(draws), -1, self.n_classes)
        return np.ascontiguousarray(log_prevalence), np.ascontiguousarray(by_cell)
