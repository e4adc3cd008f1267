"""Measures of class probabilities by gold: accuracy, log loss, Brier, ECE, share called certain, and β."""

from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import Z95, wilson
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..result_base import Columns, Result, rows
from ..runtime.chunks import CancelToken
from ..runtime.seeds import case_seeds
from ..thresholds import NEARLY_CERTAIN
from .comparison import FLOOR, top_shares
from .expected_class import absolute_error
from .gold import judging_gold
from .held_out import BETAS
from .result import RaterModelFit
from .tempering import tempered

N_BINS = 10
FEWEST_FOR_BETA = 100
N_FOLDS = 5
N_RESAMPLES = 400


@dataclass(frozen=True, slots=True, repr=False)
class GoldMeasure(Result):
    """Mean over cases with its 95% interval: Wilson's for shares, else the bootstrap over cases."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, repr=False)
class GoldMeasures(Result):
    """A fit against gold classes that it did not use.

    Attributes
    ----------
    n : int
        Cases with a gold class and an annotation.
    accuracy : GoldMeasure
        Share whose most likely class is the known one; tied classes share the case.
    log_loss : GoldMeasure
        Mean −ln of the probability of the gold class, floored at 1e-12.
    brier : GoldMeasure
        Mean Σ_k (p_k − 1(k known))², 0 to 2.
    ece : GoldMeasure
        Σ over ten equal bins of the top probability of |right − said|, per case; an upward biased measure.
    n_certain : int
        Cases whose top probability is 0.99 or more.
    certain_right : GoldMeasure or None
        Share of them that is right; None if there is none.
    absolute_error : GoldMeasure or None
        Mean of |median class − known class|, in classes; None where classes have no order.
    """

    n: int
    accuracy: GoldMeasure
    log_loss: GoldMeasure
    brier: GoldMeasure
    ece: GoldMeasure
    n_certain: int
    certain_right: GoldMeasure | None
    absolute_error: GoldMeasure | None = None

    TABLES = ("measures",)

    def _columns(self, table: str, most: int | None) -> Columns:
        names = ["accuracy", "log_loss", "brier", "ece"]
        each = [getattr(self, name) for name in names]
        if self.certain_right is not None:
            names, each = [*names, "right_where_certain"], [*each, self.certain_right]
        if self.absolute_error is not None:
            names, each = [*names, "absolute_error"], [*each, self.absolute_error]
        return {"measure": names, **rows(each, ("value", "low", "high"))}


@dataclass(frozen=True, slots=True, repr=False)
class GoldBeta(Result):
    """The β with the smallest log loss on gold classes.

    Attributes
    ----------
    beta : float
        On all gold cases; of equal ones the largest.
    log_loss : float
        Cross-validated: of each fifth of the gold cases at the β that is best on the others.
    n : int
    """

    beta: float
    log_loss: float
    n: int


def gold_measures(dataset: Dataset, fit: RaterModelFit, *, seed: int = 0) -> GoldMeasures:
    """Compute measures of a fit's class probabilities by gold classes.

    Parameters
    ----------
    dataset : Dataset
        With gold.
    fit : RaterModelFit
        Fit of these data, without the use of gold.
    seed : int
        Seed of the bootstrap over cases.

    Raises
    ------
    NotApplicableError
        No annotated case has a gold class, or the fit used them.
    """
    cases, truth = judging_gold(dataset, fit)
    probability = fit.class_probability[cases]
    places = np.arange(cases.size)
    top = probability.max(axis=1)
    right = top_shares(probability)[places, truth]
    loss = -np.log(np.maximum(probability[places, truth], FLOOR))
    brier = (probability**2).sum(axis=1) - 2 * probability[places, truth] + 1
    place = np.minimum((top * N_BINS).astype(np.int64), N_BINS - 1)
    away = absolute_error(probability, truth)
    resampled = _resampled(np.stack([loss, brier, away]), right - top, place, seed)
    certain = top >= NEARLY_CERTAIN
    return GoldMeasures(
        cases.size,
        _share(right),
        GoldMeasure(float(loss.mean()), *resampled[0]),
        GoldMeasure(float(brier.mean()), *resampled[1]),
        GoldMeasure(_ece(right - top, place), *resampled[3]),
        int(certain.sum()),
        _share(right[certain]) if certain.any() else None,
        GoldMeasure(float(away.mean()), *resampled[2]) if dataset.ordinal else None,
    )


def _share(right: np.ndarray) -> GoldMeasure:
    value = float(right.mean())
    return GoldMeasure(value, *wilson(value, right.size, Z95))


def _ece(gap: np.ndarray, place: np.ndarray) -> float:
    return float(np.abs(np.bincount(place, gap, N_BINS)).sum() / gap.size)


def _resampled(means: np.ndarray, gap: np.ndarray, place: np.ndarray, seed: int) -> list[tuple[float, float]]:
    """Compute ends of the 95% bootstrap intervals of means, shape (n_means, n_cases), and of the ECE."""
    rng = np.random.default_rng([41, seed])
    n = gap.size
    drawn = np.empty((len(means) + 1, N_RESAMPLES))
    for number in range(N_RESAMPLES):
        chosen = rng.integers(n, size=n)
        drawn[:-1, number] = means[:, chosen].mean(axis=1)
        drawn[-1, number] = _ece(gap[chosen], place[chosen])
    return [(float(low), float(high)) for low, high in np.quantile(drawn, [0.025, 0.975], axis=1).T]


def beta_by_gold(dataset: Dataset, fit: RaterModelFit, *, seed: int = 0, token: CancelToken | None = None) -> GoldBeta:
    """Find the β of `BETAS` with the best log loss by gold, for a fit that takes one, cross-validated by case.

    Parameters
    ----------
    dataset : Dataset
        With gold.
    fit : RaterModelFit
        Fit of these data, without the use of gold.
    seed : int
        Seed of the folds.
    token : CancelToken, optional

    Raises
    ------
    NotApplicableError
        Fewer than 100 annotated cases have a gold class, or the fit used them.
    InputError
        The fit takes no β, or is of other data.
    """
    cases, truth = judging_gold(dataset, fit)
    if cases.size < FEWEST_FOR_BETA:
        raise NotApplicableError(
            f"Cannot determine β from gold: this needs at least {FEWEST_FOR_BETA} annotated gold cases; these data "
            f"have {cases.size}."
        )
    loss = np.stack(
        [
            -np.log(np.maximum(tempered(fit, dataset, float(beta), token).class_probability[cases, truth], FLOOR))
            for beta in BETAS
        ]
    )
    fold = case_seeds(seed, [dataset.cases[case] for case in cases], "β by gold") % N_FOLDS
    held = np.empty(cases.size)
    for number in range(N_FOLDS):
        out = fold == number
        held[out] = loss[_least(loss[:, ~out].sum(axis=1)), out]
    return GoldBeta(float(BETAS[_least(loss.sum(axis=1))]), float(held.mean()), cases.size)


def _least(total: np.ndarray) -> int:
    return int(np.flatnonzero(total <= total.min() + 1e-12)[-1])
