"""Posterior of GLAD and of the nominal difficulty model, for the sampler.

Coordinates: the ability of every rater (its logarithm by the nominal model), μ, ln τ² and the logit of σ as a share of
its largest value; by the nominal model then the log ratios of the prevalence and of each row of mistakes. The priors
are those of the mode: μ ~ N(1, 1) by GLAD and N(0, 1) by the nominal model, τ² ~ inverse gamma(1, 1), σ half-normal(1)
cut at 3, prevalence Dirichlet(2), mistakes Dirichlet(1 + 10 shares of all annotations).
"""

import numpy as np

from ...annotations.dataset import Dataset
from ...runtime.chunks import map_chunks
from ..confusion_density import contrasts, log_softmax
from ..nuts.job_data import packed, unpacked
from ..nuts.mode import posterior_mode
from ..patterns import collapse
from ..reparametrise import expit
from ._nominal_posterior_kernels import difficult_patterns, difficult_posterior, difficulty_shares
from .nodes import difficulty_rule

MOST_SPREAD = 3.0
START_SPREAD = 0.7
MISTAKES = 10.0  # pseudo-mistakes on each true class, spread like all annotations
_START_NOISE = 0.1
_CELLS = 4_000_000
_FINE, _REACH = 161, 5.0


def typical_ability(even: bool) -> tuple[float, float]:
    """Return mean and sd of μ: with a = 1 a typical rater is right on 0.73 of typical cases."""
    return (1.0 if even else 0.0), 1.0


def pseudo_mistakes(dataset: Dataset) -> np.ndarray:
    """Return ten mistakes per true class, spread like all annotations, (n_classes, n_classes); 0 on the diagonal."""
    popularity = np.bincount(dataset.answer, minlength=dataset.n_classes) + 1.0
    pseudo = (1 - np.eye(dataset.n_classes)) * popularity
    return pseudo * (MISTAKES / pseudo.sum(axis=1, keepdims=True))


def node_count(dataset: Dataset) -> int:
    """Return enough nodes for nearly all cases: at 10 annotations and σ = 2, 31 differ from 61 by 2e-4 in mean."""
    longest = np.quantile(np.diff(dataset.case_ptr), 0.99)
    return 15 if longest <= 5 else 31


class NominalDensity:
    """The density of one dataset; see `core.models.nuts.density.Density`.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, two or more.
    even : bool
        GLAD.
    pseudo : ndarray, shape (n_classes, n_classes), optional
        Pseudo-mistakes; `pseudo_mistakes` if omitted.
    """

    name = f"{__name__}:NominalDensity"

    def __init__(self, dataset: Dataset, even: bool, pseudo: np.ndarray | None = None):
        self.dataset, self.even = dataset, even
        self.n_raters, self.n_classes = dataset.n_raters, dataset.n_classes
        self.pseudo = np.ascontiguousarray(pseudo_mistakes(dataset) if pseudo is None else pseudo, np.float64)
        self.patterns = collapse(dataset.case_ptr, dataset.rater, dataset.answer, dataset.n_classes)
        self.case_count = self.patterns.count
        self.ndim = self.n_raters + 3 + (0 if even else self.n_classes - 1 + self.n_classes * (self.n_classes - 2))
        self.n_nodes = node_count(dataset)
        self.node, self.weight = difficulty_rule(self.n_nodes)
        with np.errstate(divide="ignore"):
            self._log_node = np.log(self.weight)
        self.basis, self.inner = contrasts(self.n_classes), contrasts(self.n_classes - 1)
        rater, answer = np.divmod(self.patterns.cell, np.int32(self.n_classes))
        self._cases = self.patterns.ptr, np.ascontiguousarray(rater), np.ascontiguousarray(answer)
        # Dirichlet parameters: the density by log ratios is Π w ** parameter.
        self._rows = (self.pseudo + 1) * (1 - np.eye(self.n_classes))
        self._mode: np.ndarray | None = None

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return sizes, annotations and pseudo-mistakes."""
        settings, arrays = packed(self.dataset)
        return settings | {"even": self.even}, arrays | {"pseudo": self.pseudo}

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "NominalDensity":
        """Build the same posterior, without the names of cases and raters."""
        return cls(unpacked(settings, arrays), settings["even"], arrays["pseudo"])

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log posterior density up to a constant, with its gradient."""
        return difficult_posterior(
            theta, self.basis, self.inner, *self._cases, self.case_count, self.even, self._rows,
            typical_ability(self.even)[0], MOST_SPREAD, self.node, self._log_node,
        )  # fmt: skip

    def starts(self, n_chains: int, seed: int) -> np.ndarray:
        """Return the mode near equal raters, plus noise of sd 0.1 on every coordinate."""
        rng = np.random.default_rng([seed & 0xFFFFFFFF, 1])
        return self.mode() + rng.normal(scale=_START_NOISE, size=(n_chains, self.ndim))

    def mode(self) -> np.ndarray:
        """Find the maximum of the posterior near equal raters who are right more often than not."""
        if self._mode is None:
            start = np.zeros(self.ndim)
            start[: self.n_raters + 1] = 1.0 if self.even else 0.3
            start[self.n_raters + 2] = np.log(START_SPREAD / (MOST_SPREAD - START_SPREAD))
            self._mode = posterior_mode(self, start)
        return self._mode

    def ability(self, draws: np.ndarray) -> np.ndarray:
        """Return abilities, shape (n_draws, n_raters)."""
        own = draws[:, : self.n_raters]
        return np.ascontiguousarray(own if self.even else np.exp(own))

    def spread(self, draws: np.ndarray) -> np.ndarray:
        """Return σ, shape (n_draws,)."""
        return MOST_SPREAD * expit(draws[:, self.n_raters + 2])

    def logs(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log prevalence, (n_draws, n_classes), and log mistakes, (n_draws, n_classes, n_classes), diagonal 0.

        By GLAD every class is as likely, and so is every mistake.
        """
        n, n_draws = self.n_classes, len(draws)
        log_w = np.zeros((n_draws, n, n))
        off = ~np.eye(n, dtype=bool)
        if self.even:
            log_w[:, off] = -np.log(n - 1)
            return np.full((n_draws, n), -np.log(n)), log_w
        free = draws[:, self.n_raters + 3 :]
        rows = free[:, n - 1 :].reshape(n_draws, n, n - 2)
        log_w[:, off] = log_softmax(rows @ self.inner.T).reshape(n_draws, -1)
        return np.ascontiguousarray(log_softmax(free[:, : n - 1] @ self.basis.T)), log_w

    def right(self, draws: np.ndarray) -> np.ndarray:
        """Compute P(right) of each rater on a new case, shape (n_draws, n_raters)."""
        ability, spread = self.ability(draws), self.spread(draws)
        found = np.empty(ability.shape)
        size = max(1, _CELLS // max(1, self.n_raters * self.node.size))
        for first in range(0, len(draws), size):
            part = slice(first, first + size)
            discrimination = np.exp(spread[part, None] * self.node)
            found[part] = expit(ability[part, :, None] * discrimination[:, None]) @ self.weight
        return found

    def quantities(self, draws: np.ndarray) -> dict[str, np.ndarray]:
        """Return accuracy and ability of raters, σ, μ and τ²; for the nominal model also prevalence and mistakes."""
        found = {
            "accuracy": self.right(draws),
            "ability": self.ability(draws),
            "difficulty_spread": self.spread(draws),
            "centre": draws[:, self.n_raters],
            "variance": np.exp(draws[:, self.n_raters + 1]),
        }
        if self.even:
            return found
        log_prevalence, log_w = self.logs(draws)
        return found | {"prevalence": np.exp(log_prevalence), "mistakes": np.exp(log_w) * (1 - np.eye(self.n_classes))}

    def _drawn(self, draws: np.ndarray) -> tuple[np.ndarray, ...]:
        return *self._cases, self.ability(draws), self.spread(draws), *self.logs(draws)

    def posteriors(self, draws: np.ndarray):
        """Yield P(true class), (n_draws, n, n_classes), and ln P(pattern), (n_draws, n), for blocks of patterns."""
        arguments = self._drawn(draws)
        n_patterns = self.case_count.size
        size = max(1, _CELLS // max(1, len(draws) * self.n_classes))
        blocks = [(first, min(first + size, n_patterns)) for first in range(0, n_patterns, size)]
        return map_chunks(lambda block: difficult_patterns(*arguments, self.node, self._log_node, *block), blocks)

    def log_likelihood(self, draws: np.ndarray) -> np.ndarray:
        """Compute the log probability of one case of each pattern given the draws, shape (n_draws, n_patterns)."""
        return np.concatenate([part for _, part in self.posteriors(draws)], axis=1)

    def difficulties(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return an even grid of ln d, and its probabilities for each pattern over draws, (n_patterns, n_grid)."""
        arguments = self._drawn(draws)
        value = np.linspace(-_REACH, _REACH, _FINE) * max(float(self.spread(draws).max()), 1e-6)
        n_patterns = self.case_count.size
        share = np.zeros((n_patterns, value.size))
        blocks = [(first, min(first + 500, n_patterns)) for first in range(0, n_patterns, 500)]
        for _ in map_chunks(lambda block: difficulty_shares(*arguments, value, *block, share), blocks):
            pass
        return value, share / len(draws)

    def simulate(self, theta: np.ndarray, seed: int) -> np.ndarray:
        """Simulate annotations of new cases of the same design, int32, shape (n_annotations,)."""
        rng, own, draws = np.random.default_rng(seed), self.dataset, np.asarray(theta)[None]
        log_prevalence, log_w = (part[0] for part in self.logs(draws))
        prevalence = np.exp(log_prevalence)
        truth = rng.choice(self.n_classes, size=own.n_cases, p=prevalence / prevalence.sum())
        discrimination = np.exp(self.spread(draws)[0] * rng.standard_normal(own.n_cases))
        case = own.case_of_annotation
        odds = self.ability(draws)[0, own.rater] * discrimination[case]
        right = rng.uniform(size=case.size) < expit(odds)
        upto = (np.exp(log_w) * (1 - np.eye(self.n_classes))).cumsum(axis=1)[truth[case]]
        wrong = (rng.uniform(size=case.size)[:, None] * upto[:, -1:] >= upto[:, :-1]).sum(axis=1)
        return np.where(right, truth[case], wrong).astype(np.int32)
