"""Leave-one-out predictions of a model by Pareto smoothed importance sampling.

One case is left out, with all its annotations, and its effects are integrated out: the prediction of a new case's
annotations. Vehtari, Gelman & Gabry (2017), doi:10.1007/s11222-016-9696-4; k as in Vehtari et al. (2024), JMLR 25(72).
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtraError
from ..result_base import Result

LEAST_DRAWS = 100
BLOCK = 256


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PsisLoo(Result):
    """Leave-one-case-out of one model; values of cases are stored once per annotation pattern.

    Attributes
    ----------
    elpd : float
        Expected log predictive density: sum over cases of log p(its annotations | all other cases).
    se : float or None
        Standard error of ``elpd`` over cases; None with one case.
    p_loo : float
        Effective number of parameters: log density with the case in hand, less ``elpd``.
    pointwise : ndarray, shape (n_patterns,)
        Contribution of one case of each pattern.
    pareto_k : ndarray, shape (n_patterns,)
        Shape of the tail of the importance weights; -inf where the weights are all equal, and inf where too few of
        them differ for a tail to be fitted.
    case_count : ndarray of int64, shape (n_patterns,)
    n_cases : int
    n_high_k : int
        Cases with k above ``k_limit``: their contribution, and with it ``elpd``, is not to be trusted.
    k_limit : float
        min(1 - 1 / log10(n_draws), 0.7).
    n_draws : int
    case_pattern : ndarray of int64, shape (n_cases,), or None
        Pattern of each case of the dataset, -1 for a case without annotations; needed to compare models.
    """

    elpd: float
    se: float | None
    p_loo: float
    pointwise: np.ndarray
    pareto_k: np.ndarray
    case_count: np.ndarray
    n_cases: int
    n_high_k: int
    k_limit: float
    n_draws: int
    case_pattern: np.ndarray | None = None

    def by_case(self) -> np.ndarray:
        """Return the contribution of each case of the dataset, shape (n_cases,); 0 for a case without annotations.

        Raises
        ------
        InputError
            The pattern of each case is unknown.
        """
        if self.case_pattern is None:
            raise InputError(
                "Could not compute held-out scores: the annotation pattern of each case is unknown.",
                "Call psis_loo with case_pattern.",
            )
        return np.where(self.case_pattern >= 0, self.pointwise[self.case_pattern], 0.0)


@dataclass(frozen=True, slots=True, repr=False)
class LooRow(Result):
    """Row of one model in a comparison.

    Attributes
    ----------
    name : str
    elpd : float
    se : float or None
    difference : float
        To the best model, 0 or negative.
    difference_se : float or None
        Over the differences case by case; 0 for the best itself.
    p_loo : float
    n_high_k, n_cases : int
    """

    name: str
    elpd: float
    se: float | None
    difference: float
    difference_se: float | None
    p_loo: float
    n_high_k: int
    n_cases: int


@dataclass(frozen=True, slots=True, repr=False)
class PaperScore(Result):
    """Leave-one-annotation-out, see `as_in_paper`; ``n_high_k`` annotations have k above ``k_limit``."""

    elpd: float
    se: float | None
    n_annotations: int
    n_high_k: int
    k_limit: float


def psis_loo(log_likelihood: np.ndarray, case_count: np.ndarray, case_pattern: np.ndarray | None = None) -> PsisLoo:
    """Compute leave-one-case-out.

    Parameters
    ----------
    log_likelihood : ndarray, shape (n_draws, n_patterns)
        Log probability of the annotations of one case of each pattern.
    case_count : ndarray of int, shape (n_patterns,)
        Cases of each pattern, at least one.
    case_pattern : ndarray of int, shape (n_cases,), optional
        Pattern of each case, -1 for a case without annotations.

    Raises
    ------
    InputError
        Shapes do not fit together, a value is not finite, or there are fewer than 100 draws.
    """
    log_likelihood, case_count = _checked(log_likelihood, case_count)
    if case_pattern is not None:
        case_pattern = np.ascontiguousarray(case_pattern, np.int64)
        used = case_pattern[case_pattern >= 0]
        if not np.array_equal(np.bincount(used, minlength=len(case_count)), case_count):
            raise InputError("Could not score the model: case_pattern and case_count describe different cases.")
    pointwise, pareto_k, in_sample = _smoothed(log_likelihood)
    elpd, se = _sum_and_error(pointwise, case_count)
    limit = k_limit(len(log_likelihood))
    return PsisLoo(
        elpd=elpd,
        se=se,
        p_loo=float(case_count @ in_sample) - elpd,
        pointwise=pointwise,
        pareto_k=pareto_k,
        case_count=case_count,
        n_cases=int(case_count.sum()),
        n_high_k=int(case_count[pareto_k > limit].sum()),
        k_limit=limit,
        n_draws=len(log_likelihood),
        case_pattern=case_pattern,
    )


def compare_loo(models: dict[str, PsisLoo]) -> tuple[LooRow, ...]:
    """Sort models from best to worst, each with its difference to the best, paired over cases.

    Raises
    ------
    InputError
        Models are not of the same cases.
    """
    if not models:
        return ()
    values = {name: loo.by_case() for name, loo in models.items()}
    answered = {name: loo.case_pattern >= 0 for name, loo in models.items() if loo.case_pattern is not None}
    order = sorted(models, key=lambda name: -models[name].elpd)
    best = order[0]
    rows = []
    for name in order:
        if not np.array_equal(answered[name], answered[best]):
            raise InputError(
                "Could not compare models: they were fitted to different cases.",
                "Fit them to the same data.",
            )
        difference = (values[name] - values[best])[answered[best]]
        _, error = _sum_and_error(difference, np.ones(len(difference), np.int64))
        loo = models[name]
        rows.append(
            LooRow(name, loo.elpd, loo.se, float(difference.sum()), error, loo.p_loo, loo.n_high_k, loo.n_cases)
        )
    return tuple(rows)


def as_in_paper(blocks: Iterable[tuple[np.ndarray, np.ndarray]]) -> PaperScore:
    """Compute leave-one-annotation-out, the score in table 2 of Han et al.

    Per draw and annotation it takes log(π p_1 + (1 - π) p_0), p_z the probability of that annotation if the truth is z,
    given rater and case effects of the draw. The prevalence stands where the case's other annotations would tell more
    of its truth, so it says little of how well truths are found and prefers models that fail their predictive checks.

    Parameters
    ----------
    blocks : iterable of (log_probability, count)
        Shapes (n_draws, m) and (m,): annotations with the same log probability in every draw may stand once, with
        their number. Given effects of the case drawn from its posterior; or, what this tends to with many draws,
        -log E[1 / p], the expectation over the posterior of the effects. (log E[p] would be another score.)

    Raises
    ------
    InputError
        See `psis_loo`; or no block is given.
    """
    pointwise, counts, n_draws, n_high = [], [], 0, 0
    for log_probability, count in blocks:
        log_probability, count = _checked(log_probability, count)
        values, pareto_k, _ = _smoothed(log_probability)
        n_draws = len(log_probability)
        n_high += int(count[pareto_k > k_limit(n_draws)].sum())
        pointwise.append(values)
        counts.append(count)
    if not pointwise:
        raise InputError("Cannot score the model: the data have no annotations.")
    elpd, se = _sum_and_error(np.concatenate(pointwise), np.concatenate(counts))
    return PaperScore(elpd, se, int(sum(count.sum() for count in counts)), n_high, k_limit(n_draws))


def k_limit(n_draws: int) -> float:
    """Return the largest k at which ``n_draws`` draws suffice (Vehtari et al. 2024, 3.2.4); 0.7 from 2,155 draws on."""
    return min(float(1 - 1 / np.log10(n_draws)), 0.7)


def _checked(log_likelihood: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    log_likelihood = np.asarray(log_likelihood, np.float64)
    count = np.ascontiguousarray(count, np.int64)
    if log_likelihood.ndim != 2 or count.shape != log_likelihood.shape[1:] or not count.size or count.min() < 1:
        raise InputError(
            f"Could not score the model: log probabilities of shape {log_likelihood.shape} do not match counts of "
            f"shape {count.shape}.",
            "Provide one column and one positive count per pattern.",
        )
    if len(log_likelihood) < LEAST_DRAWS:
        raise InputError(
            f"Could not score the model: there are only {len(log_likelihood):,} draws.",
            f"Use at least {LEAST_DRAWS} draws.",
        )
    if not np.isfinite(log_likelihood).all():
        raise InputError(
            "Could not score the model: a log probability is not finite, because of an overflow in a draw."
        )
    return log_likelihood, count


def import_arviz() -> Any:
    """Import ArviZ, without the notice that it prints on its import.

    Raises
    ------
    MissingExtraError
        It is not installed.
    """
    if find_spec("arviz") is None:
        raise MissingExtraError("Leave-one-out by importance sampling", "sampler")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*ArviZ is undergoing a major refactor.*")
        import arviz
    return arviz


def _smoothed(log_likelihood: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute leave-one-out log density, k, and log density with the case, each of shape (n_patterns,)."""
    psislw = import_arviz().psislw
    n_draws, n_patterns = log_likelihood.shape
    left_out = np.empty(n_patterns)
    pareto_k = np.empty(n_patterns)
    in_sample = np.empty(n_patterns)
    for start in range(0, n_patterns, BLOCK):
        part = slice(start, min(start + BLOCK, n_patterns))
        values = np.ascontiguousarray(log_likelihood[:, part].T)
        in_sample[part] = _log_mean(values)
        with np.errstate(all="ignore"):  # where no tail can be fitted the next lines say so
            weights, pareto_k[part] = psislw(-values)
        left_out[part] = _log_mean(weights + values) + np.log(n_draws)
    unfitted = ~np.isfinite(left_out) | np.isnan(pareto_k)
    left_out[unfitted] = -_log_mean(-log_likelihood[:, unfitted].T)
    pareto_k[unfitted] = np.inf
    # A tail of equal weights cannot be fitted, and needs no fit: leaving the case out changes nothing.
    equal = np.ptp(log_likelihood, axis=0) < 1e-9
    left_out[equal] = in_sample[equal]
    pareto_k[equal] = -np.inf
    return left_out, pareto_k, in_sample


def _log_mean(values: np.ndarray) -> np.ndarray:
    """Compute the log of the mean over the last axis of exp(values)."""
    highest = values.max(axis=-1)
    return highest + np.log(np.exp(values - highest[..., None]).mean(axis=-1))


def _sum_and_error(values: np.ndarray, count: np.ndarray) -> tuple[float, float | None]:
    """Sum values that occur ``count`` times each, with the standard error over them."""
    n = int(count.sum())
    total = float(count @ values)
    if n < 2:
        return total, None
    spread = float(count @ (values - total / n) ** 2)
    return total, float(np.sqrt(n * spread / (n - 1)))
