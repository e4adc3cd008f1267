"""Rate of a class among all cases, from an AI rater's labels on all of them and people's on a few.

The rate from an AI rater's labels has the errors of the AI rater. There are three corrections: prediction-powered
inference if the labelled cases are a random sample of all [PPI++: Angelopoulos, Duchi & Zrnic 2023], selection
probabilities if each case had a known chance of a label [Zrnic & Candès 2024], and Rogan & Gladen's if the labelled
cases are others [interval of Lee et al. 2025].
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ..checked import check_shapes, checked
from ..errors import InputError, NotApplicableError
from ..options import check_choice, check_level
from ..plausibility.protocol import check_sampling
from ..result_base import Result
from ..text import exact, number, plural

RateMethod = Literal["ppi", "sampled", "rogan-gladen", "humans"]
RATE_METHODS: tuple[RateMethod, ...] = get_args(RateMethod)
T_BELOW = 100
FEW_ERRORS = 5
HOLDS = {
    "ppi": "The estimate is valid if the labelled cases are a simple random sample of all cases.",
    "humans": (
        "The estimate is valid if the labelled cases are a simple random sample of all cases. The AI rater is not used."
    ),
    "sampled": "The interval is valid if the cases to label were drawn at random, with the recorded probabilities.",
    "rogan-gladen": (
        "The estimate is valid if the AI rater is as accurate on unlabelled cases as on labelled cases with the same "
        "true class. The labelled cases may come from any source."
    ),
}
FEW_DIFFER = (
    "Few labels differ from one another or from those of the AI rater, so the interval allows for errors that do not "
    "appear in the sample."
)
WHOLE = "Every case is labelled, so the AI rater is not used. The interval is for similar new cases."


@dataclass(frozen=True, slots=True, repr=False)
class CorrectedRate(Result):
    """Mean over all cases, with its interval.

    Attributes
    ----------
    method : {"ppi", "sampled", "rogan-gladen", "humans"}
    estimate, se, ci_low, ci_high : float
        ``se`` is NaN for Rogan-Gladen, whose interval is not symmetric.
    weight : float
        Weight λ of the AI rater; 0 means people only. NaN for Rogan-Gladen.
    n_labelled, n : int
        Number of labelled cases, and of all cases of the rate.
    machine_rate : float
        Rate from the AI rater's labels without correction.
    notes : tuple of str
        Assumptions, and adjustments for few labels.
    """

    method: str
    estimate: float
    se: float
    ci_low: float
    ci_high: float
    weight: float
    n_labelled: int
    n: int
    machine_rate: float
    notes: tuple[str, ...] = ()

    TABLES = ("rate",)
    COLUMNS = ("method", "estimate", "se", "ci_low", "ci_high", "weight", "n_labelled", "n", "machine_rate")


def ppi_rate(
    labels: np.ndarray,
    machine: np.ndarray,
    machine_rest: np.ndarray,
    *,
    weight: float | None = None,
    level: float = 0.95,
    careful: bool = True,
) -> CorrectedRate:
    """Estimate a rate by PPI++: ``θ = λ mean(f̃) + mean(Y − λ f)``, ``se² = var(λ f̃)/N + var(Y − λ f)/n``.

    Parameters
    ----------
    labels : ndarray, shape (n,) or (n_draws, n)
        Labels Y: 1 or 0, or a share if people differ; rows are draws of uncertain labels.
    machine : ndarray, shape (n,)
        Labels f of the AI rater on the labelled cases.
    machine_rest : ndarray, shape (N,)
        Labels f̃ of the AI rater on all other cases. If there are none, only people count.
    weight : float, optional
        Weight λ; the one with the smallest variance from 0 to 1 if omitted. 0 means people only.
    level : float
        Confidence level of the interval.
    careful : bool
        True to use Student's t below 100 labels, and a variance that allows for errors that were not seen if people and
        the AI rater hardly ever differ; False for the normal interval.

    Raises
    ------
    InputError
        Fewer than two labels, or arrays that do not fit.
    """
    check_level(level)
    drawn = np.atleast_2d(np.asarray(labels, np.float64))
    f, rest = np.asarray(machine, np.float64), np.asarray(machine_rest, np.float64)
    n, n_rest = _checked(drawn, f), len(rest)
    found = [_ppi(one, f, rest, 0.0 if not n_rest and weight is None else weight, careful) for one in drawn]
    estimate, se = combined([one[0] for one in found], [one[1] for one in found])
    low, high = _interval(estimate, se, n, level, careful)
    used = float(np.mean([one[2] for one in found]))
    method = "humans" if weight == 0 else "ppi"
    says = float(np.concatenate([f, rest]).mean())
    return CorrectedRate(
        method, estimate, se, low, high, used, n, n + n_rest, says, _notes(method, n, n_rest, found, careful)
    )


def _ppi(y: np.ndarray, f: np.ndarray, rest: np.ndarray, weight: float | None, careful: bool):
    """Compute the estimate, its error and λ, and whether unseen errors were allowed for."""
    n, n_rest = len(y), len(rest)
    if weight is None:
        spread = float(np.concatenate([f, rest]).var(ddof=1))
        weight = 0.0 if spread <= 0 else float(np.cov(y, f)[0, 1]) / ((1 + n / n_rest) * spread)
        weight = float(np.clip(weight, 0.0, 1.0))
    left = y - weight * f
    variance, few = _variance(left, y, f, weight, careful)
    se2 = variance / n + (weight**2 * rest.var(ddof=1) / n_rest if n_rest > 1 else 0.0)
    return weight * (rest.mean() if n_rest else 0.0) + left.mean(), float(np.sqrt(se2)), weight, few


def _variance(left: np.ndarray, y: np.ndarray, f: np.ndarray, weight: float, careful: bool) -> tuple[float, bool]:
    """Compute the variance of labels less the prediction, at least that with two more errors in four more cases."""
    n, variance = len(left), float(left.var(ddof=1))
    if not careful:
        return variance, False
    unlike = (np.abs(y - f) > 0.5).sum() if weight >= 0.5 else min((y > 0.5).sum(), (y <= 0.5).sum())
    if unlike >= FEW_ERRORS:
        return variance, False
    share = (float(unlike) + 2) / (n + 4)
    return max(variance, share * (1 - share)), True


def sampled_rate(
    labels: np.ndarray,
    labelled: np.ndarray,
    machine: np.ndarray,
    probability: np.ndarray,
    *,
    weight: float | None = None,
    level: float = 0.95,
    careful: bool = True,
) -> CorrectedRate:
    """Estimate a rate with known selection probabilities: ``θ = mean(λ f + (Y − λ f) ξ/p)``.

    ``se² = var of the terms / N``, ``λ = cov(a, b)/var(a)``, ``a = f(ξ/p − 1)``, ``b = Y ξ/p``; λ is not clipped.

    Parameters
    ----------
    labels : ndarray, shape (n_cases,) or (n_draws, n_cases)
        Labels Y; values of cases without a label are ignored.
    labelled : ndarray of bool, shape (n_cases,)
        Indicator ξ of a label, by independent draws.
    machine : ndarray, shape (n_cases,)
        Labels f of the AI rater.
    probability : ndarray, shape (n_cases,)
        Probability p of a label, above 0, at most 1; used only for cases with a label.
    weight, level, careful
        Arguments of `ppi_rate`.

    Raises
    ------
    InputError
        Fewer than two labels, arrays that do not fit, or a probability out of its range.
    """
    check_level(level)
    drawn = np.atleast_2d(np.asarray(labels, np.float64))
    f, xi = np.asarray(machine, np.float64), np.asarray(labelled, bool)
    p = np.where(xi, np.asarray(probability, np.float64), 1.0)
    if not ((p > 0) & (p <= 1)).all():
        raise InputError(
            "Selection probabilities must be above 0 and at most 1.",
            "Provide the selection probability of each labelled case.",
        )
    n = _checked(drawn[:, xi], f[xi])
    found = [_sampled(np.where(xi, one, 0.0), xi, f, p, weight, careful) for one in drawn]
    estimate, se = combined([one[0] for one in found], [one[1] for one in found])
    low, high = _interval(estimate, se, n, level, careful)
    used = float(np.mean([one[2] for one in found]))
    notes = _notes("sampled", n, len(f) - n, found, careful)
    return CorrectedRate("sampled", estimate, se, low, high, used, n, len(f), float(f.mean()), notes)


def _sampled(y: np.ndarray, xi: np.ndarray, f: np.ndarray, p: np.ndarray, weight: float | None, careful: bool):
    a, b = f * (xi / p - 1), y * xi / p
    if weight is None:
        spread = float(a.var(ddof=1))
        weight = float(np.cov(a, b)[0, 1] / spread) if spread > 0 else 0.0
    terms = b - weight * a
    variance, few = float(terms.var(ddof=1)), False
    if careful:
        least, few = _variance(y[xi] - weight * f[xi], y[xi], f[xi], abs(weight), True)
        variance = max(variance, least * float((1 / p[xi]).mean())) if few else variance
    return float(terms.mean()), float(np.sqrt(variance / len(f))), weight, few


def rogan_gladen_rate(
    judged_positive: float, n: int, specificity: float, n_negative: int, sensitivity: float, n_positive: int,
    *, level: float = 0.95,
) -> CorrectedRate:  # fmt: skip
    """Estimate a rate by Rogan & Gladen: ``θ = (p + q0 − 1)/(q0 + q1 − 1)``, cut to 0 to 1; interval of Lee et al.

    Parameters
    ----------
    judged_positive : float
        Share p of n cases without labels on which the AI rater names the class.
    n : int
    specificity, sensitivity : float
        Shares q0 of ``n_negative`` and q1 of ``n_positive`` labelled cases.
    n_negative, n_positive : int
    level : float

    Raises
    ------
    InputError
        A share is not between 0 and 1, or a number of cases below 1.
    NotApplicableError
        The AI rater does not distinguish the class well enough: ``q0 + q1 − 1`` is within two standard errors of 0.
    """
    from scipy.special import ndtri

    check_level(level)
    p, q0, q1 = judged_positive, specificity, sensitivity
    if not all(0 <= share <= 1 for share in (p, q0, q1)) or min(n, n_negative, n_positive) < 1:
        raise InputError(
            "The Rogan-Gladen method needs shares from 0 to 1, each based on at least one case.",
            "Label some cases that have the class and some that do not.",
        )
    apart = q0 + q1 - 1
    z = float(ndtri((1 + level) / 2))
    q0s, q1s = (n_negative * q0 + 1) / (n_negative + 2), (n_positive * q1 + 1) / (n_positive + 2)
    spread = np.sqrt(q0s * (1 - q0s) / (n_negative + 2) + q1s * (1 - q1s) / (n_positive + 2))
    if apart <= 2 * spread:
        raise NotApplicableError(
            "The AI rater does not distinguish the class well enough from other classes: sensitivity + specificity − "
            f"1 is {number(apart)} ± {number(float(spread))}.",
            "Label more cases, or use only people's labels.",
        )
    ps, ns, m0, m1, d = (n * p + z * z / 2) / (n + z * z), n + z * z, n_negative + 2, n_positive + 2, q0s + q1s - 1
    theta = (ps + q0s - 1) / d
    shift = 2 * z * z * (-(1 - theta) * q0s * (1 - q0s) / m0 + theta * q1s * (1 - q1s) / m1)
    half = z * np.sqrt(
        ps * (1 - ps) / ns + (1 - theta) ** 2 * q0s * (1 - q0s) / m0 + theta**2 * q1s * (1 - q1s) / m1
    ) / d  # fmt: skip
    ends = np.clip([theta + shift - half, theta + shift + half], 0.0, 1.0)
    estimate = float(np.clip((p + q0 - 1) / apart, 0.0, 1.0))
    return CorrectedRate(
        "rogan-gladen", estimate, np.nan, float(ends[0]), float(ends[1]), np.nan, n_negative + n_positive, n, p,
        (HOLDS["rogan-gladen"],),
    )  # fmt: skip


def best_probabilities(variance: np.ndarray, budget: float, uniform: float = 0.1) -> np.ndarray:
    """Compute the best probabilities of a label for a rate: ``p ∝ √(posterior variance of Y)``, at most 1 each.

    They are mixed with equal ones, so that a case that looks certain can still be labelled.

    Parameters
    ----------
    variance : ndarray, shape (n_cases,)
        Variance of the truth of each case, 0 or more.
    budget : float
        Expected number of labels.
    uniform : float
        Share of the budget that is spread equally, above 0, at most 1.

    Raises
    ------
    InputError
        The budget or the share is out of its range.
    """
    n = len(variance)
    if not 0 < budget <= n:
        raise InputError(
            f"The budget must be between 1 and {n:,} labels for {plural(n, 'case')}; got {exact(budget)}.",
            "Choose another budget.",
        )
    if not 0 < uniform <= 1:
        raise InputError(f"The uniform share must be above 0 and at most 1; got {uniform}.", "Use a share such as 0.1.")
    root = np.sqrt(np.maximum(np.asarray(variance, np.float64), 0.0))
    p = np.full(n, budget / n)
    if root.sum() > 0:
        p = uniform * budget / n + (1 - uniform) * _filled(root, budget)
    return np.minimum(p, 1.0)


def _filled(root: np.ndarray, budget: float) -> np.ndarray:
    """Scale ``root`` to add up to the budget, none above 1; the excess is divided among the others."""
    p, whole = np.zeros(len(root)), np.zeros(len(root), bool)
    for _ in range(len(root)):
        left = root[~whole].sum()
        if left <= 0:  # All remaining roots are 0, so the rest is divided equally.
            p[~whole] = max(0.0, budget - whole.sum()) / max(1, (~whole).sum())
            break
        p[~whole] = root[~whole] * (budget - whole.sum()) / left
        over = (p > 1) & ~whole
        if not over.any():
            break
        whole |= over
        p[whole] = 1.0
    return p


def drawn_labels(
    named: np.ndarray, n: np.ndarray, reliability: float, *, n_draws: int = 100, seed: int = 0
) -> np.ndarray:  # fmt: skip
    """Draw the plausibility of the class on each case, for labels that are uncertain.

    ``Beta(γ named + π, γ (n − named) + 1 − π)``, π the class's share of all annotations: a prior with the weight of one
    annotation, which does not change the mean over cases.

    Parameters
    ----------
    named, n : ndarray, shape (n_cases,)
        Number of annotations that name the class, and of all; draws are NaN if there are none.
    reliability : float
        γ > 0.
    n_draws, seed : int

    Returns
    -------
    ndarray, shape (n_draws, n_cases)

    Raises
    ------
    InputError
        γ is out of its range.
    """
    check_sampling(reliability, n_draws)
    known = np.flatnonzero(n > 0)
    share = float(np.clip(named.sum() / max(n.sum(), 1), 1e-6, 1 - 1e-6))
    found = np.full((n_draws, len(n)), np.nan)
    for_it, against = reliability * named[known] + share, reliability * (n - named)[known] + 1 - share
    found[:, known] = np.random.default_rng(seed).beta(for_it, against, (n_draws, len(known)))
    return found


def combined(estimates: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """Pool estimates from several draws of uncertain labels: ``se² = mean se² + (1 + 1/S) var of the estimates``.

    Parameters
    ----------
    estimates, errors : sequence of float, length n_draws
    """
    s = len(estimates)
    between = float(np.var(estimates, ddof=1)) if s > 1 else 0.0
    return float(np.mean(estimates)), float(np.sqrt(np.mean(np.square(errors)) + (1 + 1 / s) * between))


def _checked(drawn: np.ndarray, f: np.ndarray) -> int:
    """Check the arrays, and return the number of labels."""
    n = drawn.shape[1]
    if n != len(f):
        raise InputError(
            f"Could not match labels: people provided {n:,}, but the AI rater provided {len(f):,}.",
            "Provide labels from people and from the AI rater for the same cases.",
        )
    if n < 2:
        raise InputError(f"An interval needs at least 2 labelled cases; got {n}.", "Label more cases.")
    return n


def _interval(estimate: float, se: float, n: int, level: float, careful: bool) -> tuple[float, float]:
    from scipy.special import ndtri, stdtrit

    tail = (1 + level) / 2
    t = float(stdtrit(n - 1, tail)) if careful and n < T_BELOW else float(ndtri(tail))
    return estimate - t * se, estimate + t * se


def _notes(method: str, n: int, n_rest: int, found: list, careful: bool) -> tuple[str, ...]:
    notes = [HOLDS[method] if n_rest else WHOLE]
    if careful and n < T_BELOW:
        notes.append(f"With only {plural(n, 'label')}, the interval uses Student's t.")
    if any(one[3] for one in found):
        notes.append(FEW_DIFFER)
    return tuple(notes)


def check_rate_method(method: str) -> None:
    """Raise `InputError` unless it is one of `RATE_METHODS`."""
    check_choice(method, "The method", RATE_METHODS)


@checked
def class_rate(
    labels: np.ndarray,
    machine: np.ndarray,
    method: RateMethod = "ppi",
    *,
    probability: np.ndarray | None = None,
    level: float = 0.95,
) -> CorrectedRate:
    """Estimate the share of all cases that have a class, within 0 to 1.

    Parameters
    ----------
    labels : ndarray, shape (n_cases,) or (n_draws, n_cases)
        Labels: 1 or 0, or the share of people who named the class; NaN if nobody labelled. Rows are draws of the truth.
    machine : ndarray, shape (n_cases,)
        Labels of the AI rater: 1 or 0, or a probability; NaN without a label, and such cases are left out.
    method : {"ppi", "sampled", "rogan-gladen", "humans"}
    probability : ndarray, shape (n_cases,), optional
        Probability of a label, for "sampled".
    level : float
        Confidence level of the interval.

    Raises
    ------
    InputError
        The method is unknown, fewer than two cases are labelled, or probabilities are missing.
    NotApplicableError
        The rate is refused as in `rogan_gladen_rate`, or every case has a label, so that no correction is needed.
    """
    check_rate_method(method)
    drawn, said = np.atleast_2d(np.asarray(labels, np.float64)), np.asarray(machine, np.float64)
    check_shapes(machine=(said, drawn.shape[1:]))
    known = np.isfinite(said)
    drawn, f = drawn[:, known], said[known]
    labelled = np.isfinite(drawn[0])
    if method == "sampled":
        if probability is None:
            raise InputError(
                "Could not estimate the rate: the selection probabilities of labelled cases are missing.",
                "Choose the column that contains them.",
            )
        found = sampled_rate(drawn, labelled, f, np.asarray(probability, np.float64)[known], level=level)
    elif method == "rogan-gladen":
        found = _by_rogan_gladen(drawn[:, labelled].mean(axis=0), f[labelled], f[~labelled], level)
    else:
        weight = 0.0 if method == "humans" else None
        found = ppi_rate(drawn[:, labelled], f[labelled], f[~labelled], weight=weight, level=level)
    notes = found.notes
    if (n_silent := int((~known).sum())) and method != "humans":
        notes += (
            f"{plural(n_silent, 'case')} without a label from the AI rater {'was' if n_silent == 1 else 'were'} "
            "left out.",
        )
    ends = [float(np.clip(value, 0.0, 1.0)) for value in (found.estimate, found.ci_low, found.ci_high)]
    return replace(found, estimate=ends[0], ci_low=ends[1], ci_high=ends[2], notes=notes)


def _by_rogan_gladen(y: np.ndarray, f: np.ndarray, rest: np.ndarray, level: float) -> CorrectedRate:
    if not len(rest):
        raise NotApplicableError(
            "Every case is already labelled, so no correction is needed.", "Use only people's labels."
        )
    positive, negative, named = float(y.sum()), float((1 - y).sum()), f > 0.5
    if min(positive, negative) < 1:
        raise NotApplicableError(
            "Could not estimate the rate: either all labelled cases have the class, or none has it.",
            "Label some cases that have the class and some that do not.",
        )
    found = rogan_gladen_rate(
        float((rest > 0.5).mean()), len(rest), float((1 - y)[~named].sum()) / negative, round(negative),
        float(y[named].sum()) / positive, round(positive), level=level,
    )  # fmt: skip
    return replace(found, notes=(*found.notes, f"The rate is for the {plural(len(rest), 'case')} without labels."))
