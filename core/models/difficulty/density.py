"""Posterior of a difficulty model on unconstrained coordinates, with case effects integrated out.

Parameters are logit π; then, with rater bias, the specificities and as many u, the sensitivity being -specificity +
softplus(u) (or u itself where raters may be adversarial); without bias u alone, α = softplus(u) (or u). One of each
where raters are alike. Model ABDE has none. Coordinates are these parameters, or their distance from ``mode`` in units
of ``scale``: prevalence and sensitivities move together, and a sampler takes a third of the steps if they do not.
"""

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from ...annotations.dataset import Dataset
from ...errors import LimitError
from ...runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..nuts.job_data import packed, unpacked
from ..patterns import Patterns, collapse
from ._case_kernels import pattern_probabilities
from ._kernels import likelihood_and_slopes, value_and_gradient
from .names import Switches, switches
from .nodes import FIRST_COUNTS, LOG_DISCRIMINATION_SD, NodeCounts, Nodes, first_counts, nodes

LARGEST_TABLE = 100_000_000
_CELLS_A_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True)
class Specification:
    """Specification of the model and its positive class.

    Attributes
    ----------
    tag : str
        One of `core.models.difficulty.names.TAGS`.
    cooperative : bool
        Raters do no worse than chance: α^sens > -α^spec, or α > 0. The prior is cut there, not renormalised.
    as_published : bool
        The priors of the authors' programs, where two models depart from their paper: AC has α^sens ~ N(2, 1), and
        ABCE counts the prior of its two α once per rater.
    positive : int
        Code of the class z = 1.
    """

    tag: str
    cooperative: bool = True
    as_published: bool = False
    positive: int = 1

    def prior(self, n_raters: int) -> np.ndarray:
        """Return mean and sd of the specificity, of the sensitivity or tied α, and how often this prior counts."""
        prior = np.array([2.0, 2.0, 1.0, 2.0, 1.0])
        if self.as_published and self.tag == "AC":
            prior[2:4] = 2.0, 1.0
        if self.as_published and self.tag == "ABCE":
            prior[4] = n_raters
        return prior


@dataclass(frozen=True, slots=True, eq=False)
class DifficultyDensity:
    """Density of one model and one dataset of two classes; made by `DifficultyModel.density`.

    Attributes
    ----------
    dataset : Dataset
    specification : Specification
    node_counts : NodeCounts
        Not given: where refinement begins.
    mode : ndarray, shape (ndim,)
        Parameters where the posterior is highest, of what was found. Not given: zeros.
    scale : ndarray, shape (ndim, ndim), or None
        Symmetric; parameters are ``mode + scale @ coordinates``. None: coordinates are the parameters.
    arrived : bool
        False if the search for the mode ran out of steps.
    """

    dataset: Dataset
    specification: Specification
    node_counts: NodeCounts = FIRST_COUNTS
    mode: np.ndarray = field(default_factory=lambda: np.empty(0))
    scale: np.ndarray | None = None
    arrived: bool = True
    name: str = field(default=f"{__name__}:DifficultyDensity", init=False)
    ndim: int = field(init=False)
    case_count: np.ndarray = field(init=False)
    on: Switches = field(init=False)
    patterns: Patterns = field(init=False)
    nodes: Nodes = field(init=False)
    prior: np.ndarray = field(init=False)
    _scale: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__  # the dataclass is frozen
        on, dataset = switches(self.specification.tag), self.dataset
        rater = dataset.rater if on.ability else np.zeros_like(dataset.rater)
        patterns = collapse(dataset.case_ptr, rater, dataset.answer == self.specification.positive)
        counts = self.node_counts
        if counts == FIRST_COUNTS:
            counts = first_counts(on, patterns.longest)
        put(self, "on", on)
        put(self, "patterns", patterns)
        put(self, "case_count", patterns.count)
        put(self, "node_counts", counts)
        n_alpha = dataset.n_raters if on.ability else 1
        size = 4 * n_alpha * counts.difficulty * counts.discrimination * counts.guessing
        if size > LARGEST_TABLE:
            raise LimitError(
                f"Could not fit model {self.specification.tag}: it needs a table of {size:,} cells; the limit is "
                f"{LARGEST_TABLE:,}. Use fewer raters, or a model with fewer case effects, such as AB or ABC."
            )
        put(self, "nodes", nodes(on, counts))
        put(self, "ndim", 1 + n_alpha * (1 + on.bias) if on.bias or on.ability or not on.difficulty else 0)
        put(self, "prior", self.specification.prior(dataset.n_raters))
        put(self, "_scale", np.empty((0, 0)) if self.scale is None else np.ascontiguousarray(self.scale))
        put(self, "mode", self.mode if self.mode.size else np.zeros(self.ndim))

    @property
    def n_alpha(self) -> int:
        """Number of raters with own parameters: all, or one for all."""
        return self.dataset.n_raters if self.on.ability else 1

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return settings and arrays for `from_job`, without names of cases and raters."""
        settings, arrays = packed(self.dataset)
        settings["specification"] = dataclasses.asdict(self.specification)
        settings["node_counts"] = dataclasses.asdict(self.node_counts)
        return settings, arrays | {"mode": self.mode} | ({} if self.scale is None else {"scale": self.scale})

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "DifficultyDensity":
        """Build the same density, its cases and raters named by number."""
        return cls(
            unpacked(settings, arrays),
            Specification(**settings["specification"]),
            NodeCounts(**settings["node_counts"]),
            np.ascontiguousarray(arrays["mode"]),
            arrays.get("scale"),
        )

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log posterior up to a constant, with its gradient; ``-inf`` and zeros on overflow."""
        gradient = np.empty(self.ndim)
        patterns, grid = self.patterns, self.nodes
        shape = (patterns.ptr, patterns.cell, patterns.count, grid.delta, grid.table)
        if self.ndim == 0:
            value, _ = likelihood_and_slopes(np.inf, np.zeros((1, 2)), *shape, np.empty((1, 2)))
            return value, gradient
        flags = not self.on.bias, self.specification.cooperative
        value = value_and_gradient(theta, self.mode, self._scale, self.n_alpha, *flags, self.prior, *shape, gradient)
        return value, gradient

    def starts(self, n_chains: int, seed: int) -> np.ndarray:
        """Return the mode, and points around it: one tenth apart, or, scaled, as the posterior spreads."""
        noise = np.random.default_rng(seed).standard_normal((n_chains, self.ndim))
        noise[:1] = 0.0
        return noise if self.scale is not None else self.mode + 0.1 * noise

    def parameters_at(self, draws: np.ndarray) -> np.ndarray:
        """Convert coordinates to parameters, both of shape (n_draws, ndim)."""
        return np.asarray(draws, float) if self.scale is None else self.mode + np.asarray(draws) @ self.scale

    def gradient_by_coordinates(self, by_parameters: np.ndarray) -> np.ndarray:
        """Convert a gradient by parameters, shape (ndim,), to one by coordinates."""
        return by_parameters if self.scale is None else self.scale @ by_parameters

    def coefficients(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the logit of π, (n_draws,), and α, (n_draws, n_alpha, 2), last axis specificity, sensitivity."""
        n_draws, n_alpha = len(draws), self.n_alpha
        alpha = np.zeros((n_draws, n_alpha, 2))
        if self.ndim == 0:
            return np.full(n_draws, np.inf), alpha
        draws = self.parameters_at(draws)
        own = draws[:, -n_alpha:]
        own = np.logaddexp(0.0, own) if self.specification.cooperative else own
        alpha[:, :, 0] = draws[:, 1 : 1 + n_alpha] if self.on.bias else own
        shifted = self.on.bias and self.specification.cooperative
        alpha[:, :, 1] = own - alpha[:, :, 0] if shifted else own
        return np.ascontiguousarray(draws[:, 0]), alpha

    def quantities(self, draws: np.ndarray) -> dict[str, np.ndarray]:
        """Return ``prevalence`` of the positive class, and ``alpha_sens`` and ``alpha_spec``, or ``alpha`` if tied.

        α are log-odds of a right annotation on a case of no difficulty, shape (n_draws, n_raters), or (n_draws, 1)
        where raters are alike. Empty for ABDE.
        """
        if self.ndim == 0:
            return {}
        logit, alpha = self.coefficients(draws)
        found = {"prevalence": 1 / (1 + np.exp(-np.clip(logit, -700, 700)))}
        if not self.on.bias:
            return found | {"alpha": alpha[:, :, 0]}
        return found | {"alpha_spec": alpha[:, :, 0], "alpha_sens": alpha[:, :, 1]}

    def probabilities(
        self, draws: np.ndarray, first: int = 0, last: int | None = None, token: CancelToken | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute log probability of annotations, and P(z = 1 | annotations), of patterns ``first`` to ``last``.

        Both of shape (n_draws, last - first).

        Parameters
        ----------
        draws : ndarray, shape (n_draws, ndim)
        first, last : int
            Patterns; to the last where ``last`` is not given.
        token : CancelToken, optional
        """
        last = self.case_count.size if last is None else last
        logit, alpha = self.coefficients(draws)
        found = np.empty((2, len(draws), last - first))
        size = max(1, _CELLS_A_CHUNK // max(1, self.nodes.table.shape[1] * self.patterns.cell.size))

        def work(chunk: tuple[int, int]) -> None:
            part = slice(*chunk)
            pattern_probabilities(
                logit[part],
                alpha[part],
                self.patterns.ptr,
                self.patterns.cell,
                self.nodes.delta,
                self.nodes.table,
                first,
                last,
                found[0, part],
                found[1, part],
            )

        for _ in map_chunks(work, chunk_ranges(len(draws), size), token=token):
            pass
        return found[0], found[1]

    def log_likelihood(self, draws: np.ndarray) -> np.ndarray:
        """Compute the log probability of one case of each pattern, effects integrated, shape (n_draws, n_patterns)."""
        return self.probabilities(draws)[0]

    def simulate(self, theta: np.ndarray, seed: int) -> np.ndarray:
        """Simulate annotations of new cases of the same design, as codes of two classes, int32, (n_annotations,)."""
        rng = np.random.default_rng(seed)
        n_cases, case, on = self.dataset.n_cases, self.dataset.case_of_annotation, self.on
        logit, alpha = self.coefficients(np.asarray(theta)[None])
        truth = (rng.random(n_cases) < 1 / (1 + np.exp(-np.maximum(logit[0], -700)))).astype(np.int32)
        rater = self.dataset.rater if on.ability else 0
        log_odds = alpha[0, rater, truth[case]]
        if on.difficulty:
            log_odds = log_odds - rng.standard_normal(n_cases)[case]
        if on.discrimination:
            log_odds = log_odds * rng.lognormal(0.0, LOG_DISCRIMINATION_SD, n_cases)[case]
        right = 1 / (1 + np.exp(-np.maximum(log_odds, -700)))
        if on.guessing:
            guessing = rng.beta(2.0, 2.0, n_cases)[case]
            right = guessing + (1 - guessing) * right
        as_truth = rng.random(case.size) < right
        positive, code = truth[case] == as_truth, np.int32(self.specification.positive)
        return np.where(positive, code, 1 - code).astype(np.int32)
