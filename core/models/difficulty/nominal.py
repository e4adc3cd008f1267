"""Case difficulty with any number of classes: GLAD, and a model with mistakes by true class.

``P(y = z) = logit⁻¹(d_i a_j)`` and ``P(y = k ≠ z) = (1 − logit⁻¹(d_i a_j)) w_zk`` with ``Σ_{k≠z} w_zk = 1``: d_i a_j is
the log odds of being right. ``ln d_i ~ N(0, σ²)`` is integrated over the nodes of a Gauss-Hermite rule. GLAD (Whitehill
et al. 2009) spreads mistakes evenly, w = 1/(K − 1), and lets a_j have any sign; here ``a_j ~ N(μ, τ²)``. The nominal
model estimates w from the mistakes of all raters together, and ``ln a_j ~ N(μ, τ²)``: nobody does worse than chance.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

import numpy as np

from ...agreement.intervals import Z95
from ...annotations.dataset import Dataset
from ...errors import InputError, NotApplicableError
from ...options import check_choice, check_flag
from ...runtime.chunks import CancelToken, map_chunks
from ...thresholds import INTERVAL_LEVEL
from ..design import Design, Repeats, design
from ..held_out import BETAS, FLOOR, HeldOut, HeldOutData, Scores
from ..nuts.fitting import fit_by_nuts
from ..nuts.result import BayesianFit
from ..nuts.sampler import Progress
from ..rater_methods import DRAWS, RaterModelMethod, by_em, em_options
from ..redrawn import Redraw, drawn
from ..reparametrise import expit, logit
from ..result import CaseEffect, RaterModelFit, Spread, Uncertainty, expected_annotations
from ..stopping import StoppingRule
from ..tempering import check_beta, check_doubt, dependence_note, doubt_note
from ._nominal_kernels import (
    ability_table,
    climb_abilities,
    difficulty_of_cases,
    expect_difficult,
    missing_information,
    score_hidden_of_difficult,
    slope_of_spread,
)
from .nodes import difficulty_rule
from .nominal_density import (
    MOST_SPREAD,
    START_SPREAD,
    NominalDensity,
    node_count,
    pseudo_mistakes,
    typical_ability,
)
from .nominal_summary import FAR_APART, confusion_of, mistakes_of, summarise

_STOP, _REFIT = StoppingRule(2000, 1e-8), StoppingRule(200, 1e-7)
_WIDEST, _FINE = 5.0, 101
_SOME_SPREAD = 0.25
_VARIANCE_SHAPE, _VARIANCE_RATE = 1.0, 1.0  # of the inverse gamma that τ² is drawn from
_SCORING_STEPS = 2
_MOST_LOG = 20.0
_LOSS = 1e-3  # what is maximised falls a little at times, because τ² is moved by a step of its own
UNCOUNTED = np.empty(0, np.int64)
_TARGET_ACCEPT = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """State of a climb.

    Attributes
    ----------
    log_prevalence : ndarray, shape (n_classes,)
    log_mistakes : ndarray, shape (n_classes, n_classes)
        ln w: true class, annotated class; 0 on the diagonal, which is not used.
    ability : ndarray, shape (n_raters,)
        a.
    centre, variance : float
        μ and τ², of ln a or, by GLAD, of a.
    spread : float
        σ.
    """

    log_prevalence: np.ndarray
    log_mistakes: np.ndarray
    ability: np.ndarray
    centre: float
    variance: float
    spread: float


@dataclass(frozen=True, slots=True)
class NominalDifficulty:
    """Raters of one ability each and cases of different difficulty, at the posterior mode by EM.

    Parameters
    ----------
    even : bool
        Mistakes are spread evenly and abilities may be negative: GLAD.
    use_gold : bool
        Hold gold cases fixed at their class.
    repeats : {"independent", "first", "refuse"}
        Treatment of further annotations of a rater on the same case.
    beta : float
        What each annotation counts for in class probabilities, above 0 to 1: ``P_β(z | y) ∝ π_z ∫ p(d) Π p(y | z, d)^β
        dd``. It does not touch the parameters.
    doubt : float
        Share of cases whose annotations as a whole may say nothing of the truth, 0 to below 1.

    Notes
    -----
    ``parameters`` of the fit: "ability" of shape (n_raters,), "spread" (σ), "centre" and "variance" (μ, τ²) of shape
    (1,), "mistakes" (w) of shape (n_classes, n_classes), and "class_prior" (π) of shape (n_classes,). Its effect
    "difficulty" is −ln d: 0 is a typical case, and exp(−difficulty) multiplies the log odds of being right. Confusion
    matrices are those on a case not seen, d integrated. The prior adds 1 case to each class, 10 mistakes to each true
    class, spread like all annotations, and takes σ from a half-normal of scale 1, at most 3, μ from N(0, 1) (GLAD: N(1,
    1)) and τ² from an inverse gamma(1, 1); μ and τ² follow by expectation-maximisation with the curvature at a_j as the
    precision of a_j. GLAD estimates no prevalence: every class is as likely before a case is annotated, and the fit's
    prevalence is the mean of the class probabilities.
    """

    even: bool = False
    use_gold: bool = False
    repeats: Repeats = "independent"
    beta: float = 1.0
    doubt: float = 0.0

    def __post_init__(self) -> None:
        check_flag(self.use_gold, "use_gold")
        check_choice(self.repeats, "The rule for repeats", get_args(Repeats))
        check_beta(self.beta)
        check_doubt(self.doubt)

    @property
    def name(self) -> str:
        """Name of its method."""
        return "glad" if self.even else "nominal-difficulty"

    @property
    def title(self) -> str:
        """Name in messages."""
        return "GLAD" if self.even else "Nominal difficulty"

    def fit(
        self,
        dataset: Dataset,
        *,
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> RaterModelFit:
        """Find the mode from the vote shares.

        Parameters
        ----------
        dataset : Dataset
            Dataset of single classes, two or more, with raters who are identified.
        token : CancelToken, optional
        progress : callable, optional
            Called with the share done, 0 to 1.

        Raises
        ------
        NotApplicableError
            There are fewer than two classes; the annotations are not single classes or are anonymous; every case has at
            most one and none is known; gold is to be used and there is none; repeats are to be refused and there are
            some.
        LimitError
            The tables would not fit into memory.
        """
        data = self._design(dataset)
        climbed = self._climb(data, _STOP, token, progress)
        return self._fit_at(data, *climbed, token)

    def sample(
        self,
        dataset: Dataset,
        *,
        n_draws: int = 1000,
        n_tune: int = 1000,
        n_chains: int = 4,
        seed: int = 0,
        level: float = INTERVAL_LEVEL,
        token: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> BayesianFit:
        """Sample the posterior by NUTS in a child process, with predictive checks and leave-one-case-out.

        The priors are those of the mode, but that a row of mistakes and the prevalence of the nominal model have
        Dirichlet priors whose mode on the simplex its pseudo-counts are.

        Parameters
        ----------
        dataset : Dataset
            See `fit`.
        n_draws, n_tune, n_chains : int
            Draws and steps of tuning of each chain, and how many chains.
        seed : int
        level : float
            Confidence level of intervals, 0 to 1.
        token : CancelToken, optional
        progress : callable, optional
            Called with the share done, 0 to 1, and what is being done in words.

        Raises
        ------
        InputError
            β, doubt or gold held fixed is set, which chains do not support.
        NotApplicableError, LimitError
            See `fit`; or the draws would not fit into memory.
        core.runtime.processes.WorkerError
            The sampler's process ended without a result.
        Cancelled
        """
        if self.beta != 1 or self.doubt or self.use_gold:
            raise InputError(
                f"Could not sample {self.title}: sampling does not support β, doubt or fixed gold.",
                "Leave them out, or use the “map” method.",
            )
        data = self._design(dataset).dataset
        return fit_by_nuts(
            NominalDensity(data, self.even),
            partial(summarise, self.name),
            data,
            n_draws=n_draws,
            n_tune=n_tune,
            n_chains=n_chains,
            seed=seed,
            level=level,
            target_accept=_TARGET_ACCEPT,
            token=token,
            progress=progress,
        )

    def has_case_effect(self, fit: RaterModelFit) -> bool:
        """Return True if cases differ in difficulty by this fit; σ below 0.25 hardly changes the odds."""
        return float(fit.parameters["spread"][0]) >= _SOME_SPREAD

    def tempered(
        self, fit: RaterModelFit, dataset: Dataset, *, beta: float, doubt: float, token: CancelToken | None = None
    ) -> RaterModelFit:
        """Return the same fit with its annotations counted as ``beta`` of an independent one each; effects stay.

        Parameters
        ----------
        fit : RaterModelFit
            Fit of ``dataset`` by this model.
        dataset : Dataset
        beta, doubt : float
            As for the model.
        token : CancelToken, optional
        """
        how = {name: fit.settings[name] for name in ("use_gold", "repeats")}
        asked = replace(self, beta=beta, doubt=doubt, **how)
        data = asked._design(dataset)
        posterior = asked._posterior(data, place_of(fit), token)
        old = (*dependence_note(data.dataset, fit.beta), *doubt_note(fit.settings.get("doubt", 0.0)))
        new = (*dependence_note(data.dataset, beta), *doubt_note(doubt))
        return replace(
            fit,
            class_probability=posterior,
            settings={**fit.settings, "beta": beta, "doubt": doubt},
            notes=(*(note for note in fit.notes if note not in old), *new),
        )

    def redraw(self, fit: RaterModelFit) -> Redraw:
        """Return redraws of a fit of this model: new classes and difficulties of cases."""
        place = place_of(fit)
        mistakes, ability = mistakes_of(place.log_mistakes), place.ability

        def redraw(dataset: Dataset, seed: int) -> np.ndarray:
            standard = np.random.default_rng([seed, 1]).standard_normal(dataset.n_cases)
            discrimination = np.exp(place.spread * standard)[dataset.case_of_annotation]

            def chances(rows: slice, truth: np.ndarray) -> np.ndarray:
                right = expit(ability[dataset.rater[rows]] * discrimination[rows])
                found = (1 - right)[:, None] * mistakes[truth]
                found[np.arange(len(found)), truth] = right
                return found

            return drawn(dataset, np.exp(place.log_prevalence), chances, seed)

        return redraw

    def held_out(
        self,
        data: HeldOutData,
        *,
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> HeldOut:
        """Compute the held-out score for every β, difficulty integrated; every fold starts from its votes.

        ``p(y | rest) = Σ_z ∫ p(y | z, d) P_β(z, d | rest) dd``.

        Parameters
        ----------
        data : HeldOutData
        token, progress
            See `core.runtime.chunks.map_chunks`.

        Raises
        ------
        NotApplicableError
            There are fewer than two classes.
        Cancelled
        """
        whole = data.whole.dataset
        self._check(whole)
        scores = Scores(data, BETAS.size)
        for done, refit in enumerate(data.refits, 1):
            found = scores.empty()
            place = self._climb(refit.data, _REFIT, token, None)[0]
            of_model = _tables(place, *_rule(node_count(whole), place.spread))
            folds = refit.folds
            arguments = (whole.case_ptr, whole.rater, whole.answer, *of_model)
            hidden = (folds.fold, folds.scored, refit.number, BETAS, np.log(FLOOR))

            def score(chunk: tuple[int, int], arguments=arguments, hidden=hidden, found=found) -> None:
                score_hidden_of_difficult(*arguments, *hidden, *chunk, found)

            for _ in map_chunks(score, data.whole.chunks, token=token):
                pass
            scores.add(refit, found)
            if progress is not None:
                progress(done / len(data.refits))
        return scores.held_out(BETAS)

    def _check(self, dataset: Dataset) -> None:
        if dataset.n_classes < 2:
            raise NotApplicableError(f"Could not fit {self.title}: it needs at least two classes.")

    def _design(self, dataset: Dataset) -> Design:
        data = design(self.title, dataset, self.use_gold, self.repeats)
        self._check(dataset)
        return data

    def _climb(
        self,
        data: Design,
        stopping: StoppingRule,
        token: CancelToken | None,
        progress: Callable[[float], None] | None,
    ) -> tuple[Place, tuple[float, ...], bool, "Expected"]:
        """Run EM from the vote shares; returns place, objective by iteration, whether it finished, and last E step."""
        rule = difficulty_rule(node_count(data.dataset))
        place, pseudo = self._start(data)

        def expected(at: Place) -> tuple[Expected, float]:
            found = _expect(data, at, rule, token=token)
            return found, found.log_likelihood + self._log_prior(at, pseudo)

        found, height = expected(place)
        objective = [height]
        for step in range(stopping.max_iterations):
            first = self._maximise(found, place, rule, pseudo)
            found, height = expected(first)
            if progress is not None:
                progress((step + 1) / stopping.max_iterations)
            done = abs(height - objective[-1]) <= stopping.tolerance * (1 + abs(height))
            objective.append(height)
            if done:
                return first, tuple(objective), True, found
            second = self._maximise(found, first, rule, pseudo)
            place = self._ahead(place, first, second)
            found, ahead = expected(place)
            if not ahead >= height - _LOSS * (1 + abs(height)):  # the leap was too long
                place = second
                found, ahead = expected(place)
            objective.append(ahead)
        return place, tuple(objective), False, found

    def _ahead(self, place: Place, first: Place, second: Place) -> Place:
        """Extrapolate two steps of EM: scheme S3 of Varadhan & Roland (2008)."""
        start, one, two = (self._packed(each) for each in (place, first, second))
        moved, turned = one - start, two - 2 * one + start
        length = np.linalg.norm(turned)
        far = max(1.0, float(np.linalg.norm(moved) / length)) if length > 0 else 1.0
        return self._unpacked(start + 2 * far * moved + far**2 * turned, second)

    def _packed(self, place: Place) -> np.ndarray:
        rest = [] if self.even else [place.log_prevalence, place.log_mistakes.ravel()]
        own = [place.centre, np.log(place.variance), place.spread]
        return np.concatenate([self._scale(place.ability), own, *rest])

    def _unpacked(self, vector: np.ndarray, like: Place) -> Place:
        n, n_classes = like.ability.size, like.log_prevalence.size
        scale = vector[:n]
        centre, log_variance, spread = (float(value) for value in vector[n : n + 3])
        prevalence, mistakes = like.log_prevalence, like.log_mistakes
        if not self.even:
            prevalence = vector[n + 3 : n + 3 + n_classes]
            prevalence = prevalence - np.logaddexp.reduce(prevalence)
            mistakes = _logs(np.exp(vector[n + 3 + n_classes :].reshape(n_classes, n_classes)))
        ability = scale if self.even else np.exp(np.clip(scale, -_MOST_LOG, _MOST_LOG))
        variance = float(np.exp(np.clip(log_variance, -_MOST_LOG, _MOST_LOG)))
        return Place(prevalence, mistakes, ability, centre, variance, float(np.clip(spread, 0.0, MOST_SPREAD)))

    def _start(self, data: Design) -> tuple[Place, np.ndarray]:
        """Start with raters by the votes, ten pseudo-annotations of the average rater, and mistakes by popularity.

        Returns
        -------
        tuple of (Place, ndarray, shape (n_classes, n_classes))
            The second are the pseudo-mistakes.
        """
        dataset = data.dataset
        pseudo = pseudo_mistakes(dataset)
        even = (1 - np.eye(dataset.n_classes)) / (dataset.n_classes - 1)
        agree = data.start[dataset.case_of_annotation, dataset.answer]
        n = np.bincount(dataset.rater, minlength=dataset.n_raters)
        mean = float(np.clip(agree.mean(), 0.55, 0.95))
        right = (np.bincount(dataset.rater, agree, dataset.n_raters) + 10 * mean) / (n + 10)
        ability = np.maximum(logit(np.clip(right, 0.05, 0.99)), 0.1)
        log_mistakes = _logs(even if self.even else pseudo)
        mass = data.start[np.diff(dataset.case_ptr) > 0].sum(axis=0) + 1.0
        if self.even:
            mass[:] = 1.0
        start = Place(np.log(mass / mass.sum()), log_mistakes, ability, float(np.mean(self._scale(ability))), 1.0,
                      START_SPREAD)  # fmt: skip
        return start, pseudo

    @property
    def _typical(self) -> tuple[float, float]:
        return typical_ability(self.even)

    def _scale(self, ability: np.ndarray) -> np.ndarray:
        """Return abilities on their normal scale: their logs, or for GLAD themselves."""
        return ability if self.even else np.log(ability)

    def _maximise(self, found: "Expected", place: Place, rule: tuple, pseudo: np.ndarray) -> Place:
        node = rule[0]
        scale = np.array(self._scale(place.ability), np.float64)
        discrimination = np.exp(place.spread * node)
        precision = climb_abilities(
            found.right, found.every, discrimination, not self.even, place.centre, place.variance, _SCORING_STEPS, scale
        )
        ability = scale if self.even else np.exp(scale)
        slope, information = slope_of_spread(found.right, found.every, ability, node, place.spread)
        step = (slope - place.spread) / (information + 1)
        mean, sd = self._typical
        own, prior = scale.size / place.variance, 1 / sd**2
        centre = float((own * scale.mean() + prior * mean) / (own + prior))
        squares = float(((scale - centre) ** 2 + 1 / precision).sum())
        variance = (_VARIANCE_RATE + squares / 2) / (_VARIANCE_SHAPE + 1 + scale.size / 2)
        mass = found.cases_of + 1.0
        mistakes = place.log_mistakes if self.even else _logs(found.mistakes + pseudo)
        spread = float(np.clip(place.spread + np.clip(step, -0.3, 0.3), 0.0, MOST_SPREAD))
        log_prevalence = place.log_prevalence if self.even else np.log(mass / mass.sum())
        return Place(log_prevalence, mistakes, ability, centre, float(variance), spread)

    def _log_prior(self, place: Place, pseudo: np.ndarray) -> float:
        scale = self._scale(place.ability)
        value = place.log_prevalence.sum() - place.spread**2 / 2
        value -= ((scale - place.centre) ** 2).sum() / (2 * place.variance) + scale.size * np.log(place.variance) / 2
        value -= _VARIANCE_RATE / place.variance + (_VARIANCE_SHAPE + 1) * np.log(place.variance)
        value -= (place.centre - self._typical[0]) ** 2 / (2 * self._typical[1] ** 2)
        return float(value if self.even else value + (pseudo * place.log_mistakes).sum())

    def _posterior(self, data: Design, place: Place, token: CancelToken | None) -> np.ndarray:
        """Compute class probabilities for display; a gold class stays certain."""
        posterior = np.empty((data.dataset.n_cases, data.dataset.n_classes))
        _expect(data, place, difficulty_rule(node_count(data.dataset)), self.beta, posterior, token)
        if self.doubt:
            free = data.known < 0 if data.known.size else slice(None)
            posterior[free] = (1 - self.doubt) * posterior[free] + self.doubt * np.exp(place.log_prevalence)
        return posterior

    def _fit_at(
        self,
        data: Design,
        place: Place,
        objective: tuple[float, ...],
        converged: bool,
        found: "Expected",
        token: CancelToken | None,
    ) -> RaterModelFit:
        dataset = data.dataset
        posterior = self._posterior(data, place, token)
        prevalence = found.cases_of / found.cases_of.sum() if self.even else np.exp(place.log_prevalence)
        right, low, high = self._right(data, place, found, token)
        return RaterModelFit(
            model=self.name,
            method="map",
            cases=dataset.cases,
            raters=dataset.raters,
            classes=dataset.classes,
            prevalence=prevalence,
            confusion=confusion_of(right, place.log_mistakes),
            evidence=expected_annotations(dataset, posterior),
            class_probability=posterior,
            n_annotations=np.bincount(dataset.rater, minlength=dataset.n_raters),
            log_likelihood=found.log_likelihood,
            objective=objective,
            converged=converged,
            settings={name: getattr(self, name) for name in ("use_gold", "repeats", "beta", "doubt")}
            | {"nodes": node_count(dataset)},
            notes=(
                *(() if converged else ("Not converged: results may still change. Allow more iterations.",)),
                *((FAR_APART,) if place.spread > MOST_SPREAD - 1e-6 else ()),
                *dependence_note(dataset, self.beta),
                *doubt_note(self.doubt),
            ),
            uncertainty=_uncertainty(dataset, posterior, prevalence, place, right, low, high),
            effects=(_difficulty(data, place, token),),
            parameters={
                "class_prior": np.exp(place.log_prevalence),
                "ability": place.ability,
                "spread": np.array([place.spread]),
                "centre": np.array([place.centre]),
                "variance": np.array([place.variance]),
                "mistakes": mistakes_of(place.log_mistakes),
            },
        )

    def _right(
        self, data: Design, place: Place, found: "Expected", token: CancelToken | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute P(right) of each rater on a new case, with its interval from the information on the ability.

        What is not known of the truth and the difficulty of a case is taken off (Louis 1982); μ is as uncertain as the
        raters and its prior leave it; prevalence, mistakes, σ, τ and other raters are taken as known.
        """
        node, weight = difficulty_rule(node_count(data.dataset))
        discrimination = np.exp(place.spread * node)
        scale = np.array(self._scale(place.ability), np.float64)
        complete = climb_abilities(
            found.right, found.every, discrimination, not self.even, place.centre, place.variance, 0, scale
        )
        tables = _tables(place, discrimination, weight)
        arguments = (data.dataset.case_ptr, data.dataset.rater, data.dataset.answer, *tables)

        def missing(chunk: tuple[int, int]) -> np.ndarray:
            return missing_information(*arguments, place.ability, discrimination, not self.even, data.known, *chunk)

        lost = np.zeros(complete.size)
        for part in map_chunks(missing, data.chunks, token=token):
            lost += part
        # The prior's 1/τ² is part of the information on a_j; what is not known of μ goes with it.
        share = 1 / place.variance
        known = np.maximum(complete - lost, share)
        of_centre = scale.size * share + self._typical[1] ** -2 - (share**2 / known).sum()
        sd = np.sqrt(1 / known + (share / known) ** 2 / of_centre)
        ends = (scale, scale - Z95 * sd, scale + Z95 * sd)
        abilities = [end if self.even else np.exp(end) for end in ends]
        right, low, high = ((expit(np.multiply.outer(a, discrimination)) @ weight) for a in abilities)
        return right, low, high


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Result of an E step.

    Attributes
    ----------
    log_likelihood : float
    cases_of : ndarray, shape (n_classes,)
        Expected cases of each class.
    right, every : ndarray, shape (n_raters, n_nodes)
        Expected right annotations, and all, at each difficulty.
    mistakes : ndarray, shape (n_classes, n_classes)
        Expected by true and annotated class.
    """

    log_likelihood: float
    cases_of: np.ndarray
    right: np.ndarray
    every: np.ndarray
    mistakes: np.ndarray


def _rule(n_nodes: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Return values of d and their weights."""
    node, weight = difficulty_rule(n_nodes)
    return np.exp(spread * node), weight


def _tables(place: Place, discrimination: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
    """Build the tables for the kernels."""
    shape = (place.ability.size, discrimination.size)
    gain, log_wrong = np.empty(shape), np.empty(shape)
    ability_table(place.ability, discrimination, gain, log_wrong)
    with np.errstate(divide="ignore"):
        return gain, log_wrong, place.log_mistakes, place.log_prevalence, np.log(weight)


def _expect(
    data: Design,
    place: Place,
    rule: tuple[np.ndarray, np.ndarray],
    beta: float = 1.0,
    posterior: np.ndarray | None = None,
    token: CancelToken | None = None,
) -> Expected:
    """Run the E step; fills ``posterior``, shape (n_cases, n_classes), if it is given."""
    dataset = data.dataset
    tables = _tables(place, np.exp(place.spread * rule[0]), rule[1])
    keep = posterior is not None
    into = posterior if keep else np.empty((0, dataset.n_classes))
    arguments = (dataset.case_ptr, dataset.rater, dataset.answer, *tables, data.known, UNCOUNTED, beta)
    sums: list | None = None

    def one(chunk: tuple[int, int]):
        return expect_difficult(*arguments, *chunk, into, keep)

    for part in map_chunks(one, data.chunks, token=token):
        sums = list(part) if sums is None else [a + b for a, b in zip(sums, part, strict=True)]
    assert sums is not None  # there is at least one case
    return Expected(*sums)


def _logs(mistakes: np.ndarray) -> np.ndarray:
    """Compute logs of rows that sum to 1 off the diagonal, and 0 on it."""
    n_classes = len(mistakes)
    diagonal = np.eye(n_classes, dtype=bool)
    total = np.where(diagonal, 0, mistakes).sum(axis=1, keepdims=True)
    return np.ascontiguousarray(np.log(np.where(diagonal, total, mistakes)) - np.log(total))


def place_of(fit: RaterModelFit) -> Place:
    """Return the state at the end of a fit's climb."""
    centre, variance, spread = (float(fit.parameters[name][0]) for name in ("centre", "variance", "spread"))
    return Place(
        np.log(fit.parameters["class_prior"]),
        _logs(fit.parameters["mistakes"]),
        fit.parameters["ability"],
        centre,
        variance,
        spread,
    )


def _difficulty(data: Design, place: Place, token: CancelToken | None) -> CaseEffect:
    """Compute −ln d of each case: its posterior on an even grid, the truth summed out."""
    dataset = data.dataset
    standard = np.linspace(-_WIDEST, _WIDEST, _FINE)
    value, weight = max(place.spread, 1e-6) * standard, np.exp(-0.5 * standard**2)
    tables = _tables(place, np.exp(value), weight / weight.sum())
    found = np.empty((4, dataset.n_cases))
    arguments = (dataset.case_ptr, dataset.rater, dataset.answer, *tables, data.known, value, (1 - INTERVAL_LEVEL) / 2)

    def work(chunk: tuple[int, int]) -> None:
        difficulty_of_cases(*arguments, *chunk, found)

    for _ in map_chunks(work, data.chunks, token=token):
        pass
    return CaseEffect("difficulty", found[0], Spread(*found[1:]))


def _uncertainty(
    dataset: Dataset,
    posterior: np.ndarray,
    prevalence: np.ndarray,
    place: Place,
    right: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> Uncertainty:
    """Compute intervals of raters by ability, and of prevalence by the spread of case scores, each separately."""
    seen = np.diff(dataset.case_ptr) > 0
    own = prevalence * (1 - prevalence)
    # The prior's case of each class counts as if it had been annotated.
    information = ((posterior[seen] - prevalence) ** 2).sum(axis=0) + len(prevalence) * own
    on_logit = 1 / np.sqrt(information)
    at = logit(prevalence)
    ends = (expit(at - Z95 * on_logit), expit(at + Z95 * on_logit))
    half = (high - low) / (2 * Z95)
    least, most = confusion_of(high, place.log_mistakes), confusion_of(low, place.log_mistakes)
    diagonal = np.eye(len(prevalence), dtype=bool)
    return Uncertainty(
        "observed information",
        INTERVAL_LEVEL,
        Spread(own * on_logit, *ends),
        Spread(half, low, high),
        Spread(
            np.where(diagonal, half[:, None, None], half[:, None, None] * mistakes_of(place.log_mistakes)),
            np.where(diagonal, most, least),
            np.where(diagonal, least, most),
        ),
        notes=("Intervals of each parameter treat the other parameters as known.",),
    )


def _n_parameters(even: bool, dataset: Dataset) -> int:
    """Count abilities, σ, μ and τ; prevalence and mistakes."""
    n_classes = dataset.n_classes
    return dataset.n_raters + 3 + (0 if even else n_classes - 1 + n_classes * max(0, n_classes - 2))


def _fit(model, dataset, way, run, token, progress):
    """Fit at the mode by expectation-maximisation, or by chains."""
    if way == "map":
        return by_em(model, dataset, way, run, token, progress)
    return model.sample(dataset, token=token, progress=progress, **run)


def _method(name: str, title: str, even: bool, place: int, plainly: str, exactly: str, source: str) -> RaterModelMethod:
    return RaterModelMethod(
        name,
        title,
        make=partial(NominalDifficulty, even),
        fit=_fit,
        ways=("map", "nuts"),
        plainly=plainly,
        exactly=exactly,
        sources=(source,),
        options=(*em_options(tempers_prevalence=False), *DRAWS),
        place=place,
        opens=lambda dataset: dataset.n_classes > 2,
        n_parameters=partial(_n_parameters, even),
        warm=not even,
    )


METHODS = (
    _method(
        "glad",
        "GLAD",
        True,
        90,
        "Each rater has one ability, and each case one difficulty. All incorrect classes are equally likely.",
        "The log odds of a correct annotation are ability × discrimination of the case. Mistakes are spread evenly. "
        "The log of the discrimination is normal and integrated out. Fitted by EM at the posterior mode, or by NUTS "
        "(Whitehill et al. 2009).",
        "Whitehill, Wu, Bergsma, Movellan & Ruvolo, Advances in Neural Information Processing Systems 22 (2009)",
    ),
    _method(
        "nominal-difficulty",
        "Nominal difficulty",
        False,
        95,
        "Each rater has one ability, and each case one difficulty. The kind of error depends on the true class.",
        "The log odds of a correct annotation are ability × discrimination of the case. Mistakes depend on the true "
        "class and are common to all raters. The log of the discrimination is normal and integrated out. Fitted by EM "
        "at the posterior mode, or by NUTS (after Whitehill et al. 2009).",
        "Whitehill, Wu, Bergsma, Movellan & Ruvolo, Advances in Neural Information Processing Systems 22 (2009)",
    ),
)
