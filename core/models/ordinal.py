"""Raters of ordered classes: how much higher or lower each reads, how widely, and how often a reading is a slip.

``P(y = k | z, j) = (1 − e_j) φ_jz(k) + e_j g_k``, ``φ_jz(k) ∝ exp(−(k − z − δ_j)²/(2ψ_j²))``: the signal-detection part
of the hierarchical rater model of Patz, Junker, Johnson & Mariano (2002), doi:10.3102/10769986027004341, with slips,
which are annotations from the shares g of all. The truth stands on the raters' own scale, 1 to K, so that severity δ
and spread ψ are in classes. Priors: ``δ ~ N(0, 0.5²)``, ``ln ψ ~ N(ln 0.7, 0.5²)``, ``logit e ~ N(−1.5, 1.5²)``, one
case of each class.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from ..agreement.intervals import Z95
from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..methods import AS_IS
from ..multiplicity import benjamini_hochberg
from ..runtime.chunks import CancelToken
from ..text import number
from ._ordinal_kernels import (
    climb_raters,
    observed_information,
    rows_of_raters,
    slope_and_information,
    squared_scores,
    take_off_the_unknown_truth,
)
from .confusion_density import contrasts
from .confusion_summary import summarise
from .design import Design, design
from .em import Point, Prior, Summit
from .em_model import EmModel, Problem
from .nuts.fitting import fit_by_nuts
from .nuts.result import BayesianFit
from .nuts.sampler import Progress
from .ordinal_density import MEAN, NAMES, SD, OrdinalDensity, guesses_of, natural
from .rater_methods import DRAWS, RaterModelMethod, by_em, em_options
from .reparametrise import logit
from .result import RaterModelFit

_STEPS, _TOLERANCE = 40, 1e-8
MOST_JOINT = 400  # raters whose standard errors come from one matrix
MOST_WALKED = 20_000  # annotations × classes: a second of a chain, or so
_SEED = 1
_TARGET_ACCEPT = 0.9  # spread and slip trade places along a bent ridge: shorter steps follow it
_FALSE_DISCOVERIES = 0.05
AT_THE_MODE = (
    "Intervals of severity, spread and slip treat the other raters as known, so they are too narrow. Sample the full "
    "posterior (NUTS) to avoid this."
)


@dataclass(frozen=True, slots=True)
class Ordinal(EmModel):
    """Severity, spread and slip of each rater, by EM at the posterior mode.

    Parameters
    ----------
    smoothing
        Not used: the priors shrink.
    stopping, use_gold, repeats, beta, doubt
        See `EmModel`.

    Notes
    -----
    ``parameters`` of the fit, each of shape (n_raters,): "severity" in classes, above 0 for a rater who reads higher
    than the truth; "spread" in classes; "slip", 0 to 1; and the ends of their 95% intervals, "severity_low",
    "severity_high" and so on. "guesses" of shape (n_classes,) are g. Intervals are those of a
    short chain of Langevin steps on the posterior, up to 20,000 annotations × classes; beyond, and where gold is held
    fixed, they are normal on (δ, ln ψ, logit e) by the observed information on all raters and the prevalence, the true
    classes unknown. With more than 400 raters, or where the mode is a corner, the other raters are taken as known, and
    a note says so. On 60 or 300 cases and 6 raters of 5 classes the chain's hold 0.93 to 0.96; on 300 cases 0.87 to
    0.90 where slips fall otherwise than the annotations of all raters do (tests/benchmarks/ordinal_recovery.py).
    """

    smoothings: ClassVar[tuple[str, ...]] = ()
    title = "Ordinal"

    def sample(
        self,
        dataset: Dataset,
        *,
        n_draws: int = 1000,
        n_tune: int = 1000,
        n_chains: int = 4,
        seed: int = 0,
        level: float = 0.95,
        token: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> BayesianFit:
        """Sample the posterior by NUTS in a child process, with predictive checks and leave-one-case-out.

        The priors are those of the mode; the prevalence has a Dirichlet(2), whose mode is the one case of each class.

        Parameters
        ----------
        dataset : Dataset
            See `EmModel.fit`, with the order of its classes declared.
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
            See `EmModel.fit`; or the draws would not fit into memory.
        core.runtime.processes.WorkerError
            The sampler's process ended without a result.
        Cancelled
        """
        if self.shown_at != (1.0, 0.0, False) or self.use_gold:
            raise InputError(
                "Could not sample the ordinal model: sampling does not support β, doubt or fixed gold.",
                "Leave them out, or fit the model by expectation-maximisation (em).",
            )
        data = design(self.title, dataset, False, self.repeats).dataset
        _check_order(data)
        return fit_by_nuts(
            OrdinalDensity(data),
            partial(summarise, "ordinal"),
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

    def problem_of(self, data: Design, token: CancelToken | None = None) -> Problem:
        """Build the design with the prior; see `EmModel.problem_of`.

        Raises
        ------
        NotApplicableError
            The order of the classes is not declared, or there is one class.
        """
        dataset = data.dataset
        _check_order(dataset)
        family = OrdinalRows(guesses_of(dataset))
        prior = RaterPrior(np.ones(dataset.n_classes), np.zeros((dataset.n_classes, dataset.n_classes)))
        return _OrdinalProblem(data, family, prior, self.settings("prior"), (), *self.shown_at)


def _check_order(dataset: Dataset) -> None:
    if not dataset.ordinal or dataset.n_classes < 2:
        raise NotApplicableError(
            "Could not fit the ordinal model: it needs at least two ordered classes. Declare the order of the classes."
        )


class _OrdinalProblem(Problem):
    def fit_at(self, top: Summit, settings: dict) -> RaterModelFit:
        fit = Problem.fit_at(self, top, settings)
        parameters, notes = dict(fit.parameters), fit.notes
        own = coordinates_of(parameters)
        ends = self._ends(top, own)
        if ends is None:
            half = Z95 * self._errors_alone(top, own)
            ends, notes = (own - half, own + half), (*notes, AT_THE_MODE)
        for end, values in zip(("low", "high"), ends, strict=True):
            for name, value in zip(NAMES, natural(values), strict=True):
                parameters[f"{name}_{end}"] = value
        return replace(fit, parameters=parameters, notes=notes)

    def _ends(self, top: Summit, own: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Compute ends of the intervals of (δ, ln ψ, logit e), (n_raters, 3); None if there are too many raters.

        From a short chain where the posterior is quickly computed, else normal by the joint information.
        """
        if len(own) > MOST_JOINT:
            return None
        try:
            covariance = self._covariance(top, own)
        except np.linalg.LinAlgError:  # the mode is a corner, or lies on a ridge
            return None
        data, n_own = self.data, own.size
        if data.known.size or data.dataset.n_annotations * data.dataset.n_classes > MOST_WALKED:
            half = Z95 * np.sqrt(np.diag(covariance)[:n_own]).reshape(-1, 3)
            return own - half, own + half
        density = OrdinalDensity(data.dataset, top.point.parameters["guesses"])
        start = np.concatenate([top.point.log_prevalence @ density.basis, ((own - MEAN) / SD).ravel()])
        order = np.concatenate([np.arange(n_own, start.size), np.arange(n_own)])
        unit = np.concatenate([np.tile(SD, len(own)), np.ones(start.size - n_own)])
        scaled = covariance / np.outer(unit, unit)
        drawn = density.own(density.walk(start, scaled[np.ix_(order, order)], _SEED)[0])
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        return np.minimum(low, own), np.maximum(high, own)

    def _covariance(self, top: Summit, own: np.ndarray) -> np.ndarray:
        """Invert the observed information on all raters and the prevalence, true classes unknown (Louis 1982).

        Raters one after the other, (δ, ln ψ, logit e) of each; then the log ratios of the prevalence.

        Raises
        ------
        numpy.linalg.LinAlgError
            The information is not positive definite.
        """
        dataset, guess = self.data.dataset, top.point.parameters["guesses"]
        n_raters, n_classes, n_own = dataset.n_raters, dataset.n_classes, 3 * dataset.n_raters
        counts = np.zeros((n_raters, n_classes, n_classes))
        np.add.at(counts, (dataset.rater, dataset.answer), top.posterior[dataset.case_of_annotation])
        of_rater = np.empty((n_raters, 3, 3))
        observed_information(counts, own, guess, MEAN, SD, of_rater)
        whole = np.zeros((n_own + n_classes, n_own + n_classes))
        for rater in range(n_raters):
            part = slice(3 * rater, 3 * rater + 3)
            whole[part, part] = of_rater[rater]
        prevalence = np.exp(top.point.log_prevalence)
        n_cases = float((np.diff(dataset.case_ptr) > 0).sum()) + n_classes  # with the prior's case of each class
        whole[n_own:, n_own:] = n_cases * (np.diag(prevalence) - np.outer(prevalence, prevalence))
        take_off_the_unknown_truth(dataset.case_ptr, dataset.rater, dataset.answer, top.posterior, own, guess, whole)
        basis = np.zeros((n_own + n_classes, n_own + n_classes - 1))
        basis[:n_own, :n_own] = np.eye(n_own)
        basis[n_own:, n_own:] = contrasts(n_classes)
        inverse = np.linalg.inv(np.linalg.cholesky(basis.T @ whole @ basis))
        return inverse.T @ inverse

    def _errors_alone(self, top: Summit, own: np.ndarray) -> np.ndarray:
        """Compute standard errors of (δ, ln ψ, logit e), (n_raters, 3), the other raters taken as known."""
        dataset = self.data.dataset
        information = np.tile(np.diag(SD**-2), (dataset.n_raters, 1, 1))
        guess = top.point.parameters["guesses"]
        squared_scores(dataset.case_ptr, dataset.rater, dataset.answer, top.posterior, own, guess, information)
        return np.sqrt(np.einsum("jaa->ja", np.linalg.inv(information)))


@dataclass(frozen=True, slots=True, eq=False)
class RaterPrior(Prior):
    """Pseudo-cases, and the normal prior of every rater's (δ, ln ψ, logit e)."""

    def log_density(self, point: Point) -> float:
        """Compute the log prior up to a constant."""
        own = coordinates_of(point.parameters)
        return Prior.log_density(self, point) - float((((own - MEAN) / SD) ** 2).sum()) / 2

    def drawn(self, rng: np.random.Generator, n_raters: int) -> "RaterPrior":
        """Draw random pseudo-cases around these; the prior of raters is unchanged.

        Parameters
        ----------
        rng : Generator
        n_raters : int
        """
        return RaterPrior(rng.standard_gamma(self.cases), self.answers)


@dataclass(frozen=True, slots=True, eq=False)
class OrdinalRows:
    """Rows of confusion matrices by three numbers of a rater.

    Attributes
    ----------
    guess : ndarray, shape (n_classes,)
        Distribution of the classes of a slip.
    """

    guess: np.ndarray
    name: ClassVar[str] = "ordinal"
    by_class: ClassVar[bool] = False
    one_by_one: ClassVar[bool] = False

    def maximise(self, counts: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Find the mode of each rater's three numbers; those of the prior without annotations."""
        own = np.tile(MEAN, (len(counts), 1))
        climb_raters(np.ascontiguousarray(counts, np.float64), self.guess, MEAN, SD, _STEPS, _TOLERANCE, own)
        return self.theta(own), dict(zip(NAMES, natural(own), strict=True)) | {"guesses": self.guess}

    def theta(self, own: np.ndarray) -> np.ndarray:
        """Compute P(annotated | true), (n_raters, n_classes, n_classes), from coordinates, (n_raters, 3)."""
        found = np.empty((len(own), self.guess.size, self.guess.size))
        rows_of_raters(np.ascontiguousarray(own), self.guess, found)
        return found

    def chart(self, theta: np.ndarray, parameters: dict[str, np.ndarray], counts: np.ndarray) -> "OrdinalChart":
        """Return the coordinates of all raters.

        Parameters
        ----------
        theta : ndarray, shape (n_raters, n_classes, n_classes)
            Rater, annotated class, true class.
        parameters : dict of str to ndarray
            Those of the fit, by name.
        counts : ndarray, shape as ``theta``
            Expected annotations.
        """
        return OrdinalChart(self, coordinates_of(parameters))


class OrdinalChart:
    """(δ, ln ψ, logit e) of every rater on one line; the score includes the prior."""

    def __init__(self, family: OrdinalRows, own: np.ndarray):
        self._family = family
        self.start = own.ravel()

    def theta(self, coordinates: np.ndarray) -> np.ndarray:
        """Return P(annotated | true): rater, annotated, true."""
        return self._family.theta(coordinates.reshape(-1, 3))

    def score(self, coordinates: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Compute the derivative of Σ counts · ln θ and the log prior."""
        own = coordinates.reshape(-1, 3)
        slope, spare = np.empty(own.shape), np.empty((3, 3))
        for j in range(len(own)):
            of_rater = np.ascontiguousarray(counts[j], np.float64)
            slope_and_information(of_rater, own[j], self._family.guess, MEAN, SD, slope[j], spare)
        return slope.ravel()


def coordinates_of(parameters: dict[str, np.ndarray]) -> np.ndarray:
    """Return (δ, ln ψ, logit e) of every rater, shape (n_raters, 3)."""
    severity, spread, slip = (parameters[name] for name in NAMES)
    return np.ascontiguousarray(np.stack([severity, np.log(spread), logit(slip)], axis=1))


def severity_sentence(fit: RaterModelFit, most: int = 2) -> str:
    """Describe which raters read higher or lower than the panel, at a false discovery rate of 0.05; empty if other.

    Of a hundred raters who read as the panel does, five intervals of 95% miss it all the same: p by the half of the
    interval that faces it, as of a normal distribution, and `core.multiplicity.benjamini_hochberg`.

    Parameters
    ----------
    fit : RaterModelFit
    most : int
        Raters that are named, those furthest from the panel first.
    """
    if "severity_low" not in fit.parameters:
        return ""
    some = np.flatnonzero(fit.n_annotations > 0)
    at, low, high = (fit.parameters[name][some] for name in ("severity", "severity_low", "severity_high"))
    half = np.where(at >= 0, at - low, high - at) / Z95
    beyond = np.divide(np.abs(at), half, out=np.zeros(some.size), where=half > 0)
    apart = benjamini_hochberg(2 * ndtr(-beyond), _FALSE_DISCOVERIES)
    if not apart.size:
        return f"None of the {some.size:,} raters clearly rates higher or lower than the panel."
    named = apart[np.argsort(-np.abs(at[apart]), kind="stable")][:most]
    words = "; ".join(f"{fit.raters[j]} {reads(fit, int(j))}" for j in some[named])
    who = f"{apart.size:,} of {some.size:,} raters {'rates' if apart.size == 1 else 'rate'}"
    rate = number(_FALSE_DISCOVERIES)
    return f"{who} higher or lower than the panel (false discovery rate {rate}): {words}."


def reads(fit: RaterModelFit, rater: int) -> str:
    """Describe a rater's severity: "rates 0.31 classes higher than the panel (0.12 to 0.50)".

    Parameters
    ----------
    fit : RaterModelFit
        Fit of the ordinal model.
    rater : int
    """
    at, low, high = (float(fit.parameters[name][rater]) for name in ("severity", "severity_low", "severity_high"))
    way, end = ("higher", fit.classes[-1]) if at >= 0 else ("lower", fit.classes[0])
    if abs(at) >= len(fit.classes) - 1:
        return f"names “{end}” or its neighbours regardless of the case"
    ends = (low, high) if at >= 0 else (-high, -low)
    said = (f"−{number(-value)}" if value < 0 else number(value) for value in ends)
    ends_said = " to ".join(said)
    if ends[0] <= 0:
        return f"does not clearly rate higher or lower than the panel: {number(abs(at))} classes {way} ({ends_said})"
    return f"rates {number(abs(at))} classes {way} than the panel ({ends_said})"


def _opens(dataset: Dataset) -> bool:
    return dataset.ordinal and dataset.n_classes > 2


def _fit(model, dataset, way, run, token, progress):
    """Fit at the mode by expectation-maximisation, or by chains."""
    if way == "em":
        return by_em(model, dataset, way, run, token, progress)
    return model.sample(dataset, token=token, progress=progress, **run)


METHOD = RaterModelMethod(
    "ordinal",
    "Ordinal",
    make=Ordinal,
    fit=_fit,
    ways=("em", "nuts"),
    plainly="For ordered classes. Estimates how much higher or lower than the panel each rater rates, how much "
    "their annotations vary, and how often they make a careless mistake.",
    exactly="Annotations are normal around the true class plus the rater's severity, cut into classes. Careless "
    "mistakes follow the class shares among all annotations. Fitted by EM at the posterior mode, or by NUTS (after "
    "Patz et al. 2002).",
    sources=("Patz, Junker, Johnson & Mariano, Journal of Educational and Behavioral Statistics 27 (2002), 341-384",),
    options=(*em_options(), *DRAWS),
    takes={"class": AS_IS},
    needs=("overlap", "raters", "order"),
    place=55,
    opens=_opens,
    n_parameters=lambda dataset: dataset.n_classes - 1 + 3 * dataset.n_raters,
)
