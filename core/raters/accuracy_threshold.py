"""Raters whose accuracy is below the acceptable one: with which probability, how many, and what they cost.

Acceptable is one number t, at first the mean accuracy over annotations less 0.10, and never below the midpoint between
the accuracy of blind annotations with the shares q of all annotations, ``Σ_k π_k q_k``, and that mean.

Accuracies are those of `core.raters.truth_draws` where rater models are averaged, else those of
`core.raters.learned_pool`, by the annotations of the others; where gold judges, by the number that is right on gold.
Expected right annotations would not do: without the rater's own say they are pulled towards chance, and with it raters
vouch for themselves.

With ``ℓ_j = P(a_j ≥ t)``, those with the smallest ℓ are flagged, as many as keep their mean ℓ at most q: the Bayesian
false discovery rate [Müller, Parmigiani, Robert & Rousseau (2004), DOI 10.1198/016214504000001646]. Nobody is flagged
with ℓ above ½: with 15 clear cases, the mean would allow one more with any ℓ up to 0.8.

The model's ℓ assumes its own posterior of the truth, which does not include mistakes that raters share. If there is too
little gold to judge raters, it is used to check the model (`GoldCheck`), and its results are shown with those of the
model.

Nobody is judged by a model whose latent classes are not those that raters name (`core.raters.own_classes`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..agreement.benchmark_labels import perhaps_chance
from ..agreement.intervals import Z95
from ..agreement.krippendorff import krippendorff_alpha
from ..annotations.counts import raters_per_case
from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..models.gold import note_of_one_class
from ..models.held_out import clustered_error
from ..models.one_class_raters import one_class_raters
from ..models.result import RaterModelFit
from ..order import highest_first, lowest_first
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..runtime.identity_cache import cache_by_identity
from ..text import percent_with_interval
from .learned_pool import LearnedPool, by_others, on_gold
from .leave_one_rater_out import Panel
from .one_class import FALSE_DISCOVERIES, one_class
from .own_classes import own_classes, own_classes_of
from .rates import Rates, shares_of
from .truth_draws import AccuracyDraws

Judge = Literal["gold", "model"]
MARGIN = 0.10
GOLD_EACH = 20
_EVEN = 0.5
_ABOVE_CHANCE = 0.99  # Level of the interval of α that must be above 0.


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """Check of the model's accuracies against gold, on annotations of gold cases.

    Attributes
    ----------
    n, n_cases : int
        Number of annotations, and of their cases.
    right, low, high : float
        Share of these that is correct, with an interval over cases.
    model : float
        Mean of the same raters' accuracies by the model over these annotations.
    n_missed : int
        Number of raters below the acceptable accuracy by `GOLD_EACH` of their own gold annotations or more, at the same
        false discovery rate, whom the model does not flag.
    n_cleared : int
        Number of flagged raters with as many gold annotations whose interval by gold is above the acceptable accuracy.
    """

    n: int
    n_cases: int
    right: float
    low: float
    high: float
    model: float
    n_missed: int
    n_cleared: int

    @property
    def agrees(self) -> bool:
        """True if the model's accuracy is within the interval."""
        return self.low <= self.model <= self.high


class Judged:
    """Measure of each rater against the acceptable value; arrays of shape (n_raters,), NaN if unknown."""

    __slots__ = ()
    chance: np.ndarray
    flagged: np.ndarray

    @property
    def costs(self) -> np.ndarray:
        """Expected number of each rater's annotations that are wrong or lost."""
        raise NotImplementedError

    @property
    def n_judged(self) -> int:
        """Number of raters who can be judged."""
        return int(np.isfinite(self.chance).sum())

    @property
    def n_below(self) -> float:
        """Expected number of raters below the acceptable value."""
        return float(np.nansum(1 - self.chance))

    @property
    def n_flagged(self) -> int:
        """Number of flagged raters."""
        return int(self.flagged.sum())

    @property
    def cost(self) -> float:
        """Sum of the costs of flagged raters."""
        return float(self.costs[self.flagged].sum())

    def order(self) -> np.ndarray:
        """Sort raters by their cost, highest first; unknown ones last."""
        return highest_first(np.nan_to_num(self.costs, nan=-1.0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JudgedAccuracy(Judged, Result):
    """Raters against the acceptable accuracy; arrays of shape (n_raters,), NaN if unknown.

    Attributes
    ----------
    judged_by : {"gold", "model"}
        Source of the accuracies.
    by_gold : ndarray of bool
        True for raters judged by gold: none under "model", those with `GOLD_EACH` annotations on gold cases, or all
        of theirs, under "gold". The others are judged by the model.
    accuracy : Rates
        Posterior mean and equal-tailed interval; ``n`` is the number of annotations it is estimated from. Pages,
        reports, downloads and command line show only this accuracy.
    gold : Rates
        Observed share of correct annotations on gold cases, with Wilson's interval; ``n`` is their number.
    model : Rates
        Accuracy by the model only; equal to ``accuracy`` under "model".
    mean : float or None
        Mean accuracy over annotations; None if nobody can be judged.
    blind : float
        Accuracy of annotations given blindly.
    acceptable : float or None
    default : bool
        True if ``acceptable`` is computed from the data.
    chance : ndarray
        ℓ, P(the accuracy is acceptable or better).
    flagged : ndarray of bool
    n_annotations : ndarray of int64
        All annotations of a rater.
    q : float
        False discovery rate of ``flagged``.
    level : float
        Confidence level of the intervals.
    why : str
        Reason why nobody can be judged; empty if somebody can.
    why_no_order : str
        Reason why raters cannot be ordered by accuracy; empty if they can.
    check : GoldCheck or None
        Check under "model", if at least `GOLD_EACH` gold cases have annotations; else None.
    aside : tuple of int
        Raters who give only one class, or are careless, without whom the others agree beyond chance; empty if all
        raters together do.
    own_classes : bool
        True if the classes of the model are those that raters name, so that the model may judge.
    remedy : str
        Remedy if they are not, as a sentence; empty if they are.
    """

    judged_by: Judge
    by_gold: np.ndarray
    accuracy: Rates
    gold: Rates
    model: Rates
    mean: float | None
    blind: float
    acceptable: float | None
    default: bool
    chance: np.ndarray
    flagged: np.ndarray
    n_annotations: np.ndarray
    q: float
    level: float
    why: str
    why_no_order: str
    check: GoldCheck | None = None
    aside: tuple[int, ...] = ()
    own_classes: bool = True
    remedy: str = ""

    TABLES = ("raters",)
    measure = "accuracy"

    def _columns(self, table: str, most: int | None) -> Columns:
        return {
            "n": self.n_annotations,
            **self.accuracy.columns("accuracy", "ci_low", "ci_high", "n_judged"),
            **self.gold.columns("gold_right", "gold_ci_low", "gold_ci_high", "gold_n"),
            **self.model.columns("model_accuracy", "model_ci_low", "model_ci_high", "model_n"),
            "judged_by": ["gold" if by else "model" for by in self.by_gold.tolist()],
            "p_acceptable": self.chance,
            "low_accuracy": self.flagged,
            "expected_wrong": self.expected_wrong,
        }

    @property
    def rates(self) -> Rates:
        """Rates that raters are judged by: ``accuracy``."""
        return self.accuracy

    @property
    def expected_wrong(self) -> np.ndarray:
        """Expected number of each rater's wrong annotations, n (1 − accuracy)."""
        return self.n_annotations * (1 - self.accuracy.value)

    costs = expected_wrong

    def judge_of(self, rater: int) -> Judge:
        """Return "gold" or "model", whichever judges a rater."""
        return "gold" if self.by_gold[rater] else "model"

    def said(self, rater: int) -> str:
        """Format a rater's accuracy with its interval."""
        rates = self.accuracy
        if not np.isfinite(rates.value[rater]):
            return "–"
        return percent_with_interval(float(rates.value[rater]), float(rates.low[rater]), float(rates.high[rater]))


def judge_accuracy(
    panel: Panel,
    *,
    acceptable: float | None = None,
    q: float = FALSE_DISCOVERIES,
    judged_by: Judge | None = None,
    level: float = 0.95,
    careless: Sequence[int] = (),
    averaged: RaterModelFit | None = None,
    draws: AccuracyDraws | None = None,
    token: CancelToken | None = None,
) -> JudgedAccuracy:
    """Compare the raters of a panel with the acceptable accuracy.

    Parameters
    ----------
    panel : Panel
        Panel of any rater model. Its annotations are not tempered, because tempering overestimates accuracies.
    acceptable : float, optional
        Lowest accuracy that is acceptable; computed from the data if omitted.
    q : float
        Largest expected share of flagged raters who are acceptable.
    judged_by : {"gold", "model"}, optional
        Judge; `default_judge` if omitted.
    careless : sequence of int
        Raters whose annotations do not depend on the case. Agreement beyond chance is tested without them, and without
        those who give only one class.
    averaged, draws : RaterModelFit and AccuracyDraws, optional
        Average of rater models and accuracies by it, in place of those by the panel.
    level, token
        Confidence level of the intervals, and cancel token.

    Raises
    ------
    InputError
        A number is not between 0 and 1, or the judge is unknown.
    NotApplicableError
        Gold is the judge, and no annotation is on a gold case.
    """
    check_asked(acceptable, q, judged_by, level)
    dataset = panel.dataset
    gold = gold_rates(dataset, level)
    judge, by_gold = _judged(dataset, judged_by, gold)
    why, aside = _why(dataset, careless)
    named = own_classes(panel) if averaged is None else own_classes_of(dataset, averaged)
    unjudged = why or named.why_not(dataset.classes)
    model, pool = _pools(panel, gold, by_gold, unjudged, level, draws, token)
    some = bool(by_gold.any())
    mean, blind = pool.mean_over(dataset.annotations_of_raters), _blind(panel, some)
    chosen = _default(mean, blind) if acceptable is None else acceptable
    chance = np.full(dataset.n_raters, np.nan) if chosen is None or mean is None else pool.chance_at_least(chosen)
    flagged = _flagged(chance, q)
    check = None if judge == "gold" or chosen is None else _check_by_gold(dataset, gold, model, chosen, flagged, q)
    reason, no_order = ("", "") if some else (unjudged, why_no_order(dataset))
    return JudgedAccuracy(
        judge, by_gold, pool.rates(level), gold, model, mean, blind, chosen, acceptable is None, chance, flagged,
        dataset.annotations_of_raters, q, level, reason, no_order, check, aside, named.judge,
        _remedy(dataset) if reason and not why else "",
    )  # fmt: skip


def _check_by_gold(
    dataset: Dataset, gold: Rates, model: Rates, acceptable: float, flagged: np.ndarray, q: float
) -> GoldCheck | None:
    """Check the accuracies of the model by gold; None on fewer than `GOLD_EACH` annotated gold cases, or one class."""
    if dataset.gold is None or note_of_one_class(dataset):
        return None
    case = dataset.case_of_annotation
    on = (dataset.gold[case] >= 0) & np.isfinite(model.value[dataset.rater])
    of_case = np.bincount(case, on, dataset.n_cases)
    n, n_cases = int(on.sum()), int((of_case > 0).sum())
    if n_cases < GOLD_EACH:
        return None
    right = on & (dataset.gold[case] == dataset.answer)
    share = right.sum() / n
    half = Z95 * clustered_error(np.bincount(case, right, dataset.n_cases), of_case)
    enough = gold.n >= GOLD_EACH
    below = LearnedPool(on_gold(gold), np.where(enough, gold.n, 0)).chance_at_least(acceptable)
    missed = _flagged(below, q) & ~flagged
    cleared = flagged & enough & (gold.low > acceptable)
    return GoldCheck(
        n,
        n_cases,
        float(share),
        float(max(share - half, 0.0)),
        float(min(share + half, 1.0)),
        float(model.value[dataset.rater[on]].mean()),
        int(missed.sum()),
        int(cleared.sum()),
    )


def _judged(dataset: Dataset, judged_by: Judge | None, gold: Rates) -> tuple[Judge, np.ndarray]:
    """Return who judges, and True for raters that gold judges, bool, shape (n_raters,)."""
    judge = default_judge(dataset) if judged_by is None else judged_by
    if judge == "gold" and not gold.n.any():
        raise NotApplicableError(
            "Cannot compare raters with gold: no gold case is annotated. Add gold, or use the model as the truth."
        )
    return judge, _enough(dataset, gold) & (judge == "gold")


def _remedy(dataset: Dataset) -> str:
    order = "" if dataset.ordinal or dataset.n_classes < 3 else ", declare the order of the classes if they have one"
    return f"Choose a different model{order}{',' if order else ''} or add gold for some cases."


def _pools(
    panel: Panel,
    gold: Rates,
    by_gold: np.ndarray,
    why: str,
    level: float,
    draws: AccuracyDraws | None,
    token: CancelToken | None,
) -> tuple[Rates, "LearnedPool | _DrawnPool"]:
    """Return accuracies by the model, unless it cannot judge, and the pool in which gold judges ``by_gold``."""
    if draws is not None:
        drawn = _DrawnPool(draws, gold, by_gold, bool(why))
        return drawn.by_model, drawn
    n_judged = np.bincount(panel.dataset.rater, panel.judged, panel.dataset.n_raters).astype(np.int64)
    log_likelihood = by_others(panel, token)
    by_model = LearnedPool(log_likelihood, np.zeros_like(n_judged) if why else n_judged)
    model = by_model.rates(level)
    if not by_gold.any():
        return model, by_model
    log_likelihood[by_gold] = on_gold(gold)[by_gold]
    return model, LearnedPool(log_likelihood, np.where(by_gold, gold.n, by_model.n))


class _DrawnPool:
    """Posteriors of raters by draws of the truth, of those whom gold judges under the pool of their own.

    Parameters
    ----------
    draws : AccuracyDraws
    gold : Rates
    by_gold : ndarray of bool, shape (n_raters,)
    unjudged : bool
        True if the model may judge nobody.
    """

    def __init__(self, draws: AccuracyDraws, gold: Rates, by_gold: np.ndarray, unjudged: bool):
        self.draws, self.by_gold, self.unjudged = draws, by_gold, unjudged
        self.gold_pool = LearnedPool(on_gold(gold), np.where(by_gold, gold.n, 0))
        mean, low, high = (np.where(unjudged, np.nan, one) for one in (draws.mean, draws.low, draws.high))
        self.by_model = Rates(mean, low, high, np.where(unjudged, 0, draws.n))

    def rates(self, level: float) -> Rates:
        """Return posterior means and intervals; those of the model have the level of the draws."""
        gold, model = self.gold_pool.rates(level), self.by_model
        return Rates(
            np.where(self.by_gold, gold.value, model.value),
            np.where(self.by_gold, gold.low, model.low),
            np.where(self.by_gold, gold.high, model.high),
            np.where(self.by_gold, gold.n, model.n),
        )

    def mean_over(self, n_annotations: np.ndarray) -> float | None:
        """Average accuracy over the annotations of the raters who are judged."""
        value = self.rates(self.draws.level).value
        seen = np.isfinite(value) & (n_annotations > 0)
        return float(np.average(value[seen], weights=n_annotations[seen])) if seen.any() else None

    def chance_at_least(self, bound: float) -> np.ndarray:
        """Compute P(accuracy ≥ bound) of each rater."""
        model = np.full(self.by_gold.size, np.nan) if self.unjudged else self.draws.chance_at_least(bound)
        return np.where(self.by_gold, self.gold_pool.chance_at_least(bound), model)


def _flagged(chance: np.ndarray, q: float) -> np.ndarray:
    """Flag raters whose accuracy is clearly below the acceptable one, by P(it is not)."""
    return bayesian_discoveries(chance, q) & (chance <= _EVEN)


def bayesian_discoveries(chance: np.ndarray, q: float) -> np.ndarray:
    """Find the largest set of the smallest chances whose mean is at most ``q``, as bool; NaN are never in it.

    Parameters
    ----------
    chance : ndarray, shape (n,)
        P(the discovery would be false).
    q : float
        False discovery rate, above 0, below 1.
    """
    known = np.flatnonzero(np.isfinite(chance))
    order = known[lowest_first(chance[known])]
    kept = np.flatnonzero(np.cumsum(chance[order]) <= q * np.arange(1, order.size + 1))
    found = np.zeros(chance.size, bool)
    found[order[: kept[-1] + 1 if kept.size else 0]] = True
    return found


def gold_rates(dataset: Dataset, level: float = 0.95) -> Rates:
    """Compute every rater's share of correct annotations on gold cases, with Wilson's interval."""
    known = np.full(dataset.n_annotations, -1) if dataset.gold is None else dataset.gold[dataset.case_of_annotation]
    judged = known >= 0
    n = np.bincount(dataset.rater, judged, dataset.n_raters).astype(np.int64)
    return shares_of(np.bincount(dataset.rater, judged & (known == dataset.answer), dataset.n_raters), n, level)


def default_judge(dataset: Dataset) -> Judge:
    """Choose gold if it has several classes and `_enough` of the annotations of half the raters, else the model."""
    some = np.bincount(dataset.rater, minlength=dataset.n_raters) > 0
    enough = _enough(dataset, gold_rates(dataset))[some]
    return "gold" if 2 * enough.sum() >= max(enough.size, 1) and not note_of_one_class(dataset) else "model"


def _enough(dataset: Dataset, gold: Rates) -> np.ndarray:
    """Return True for raters with `GOLD_EACH` annotations on gold cases, or with all of theirs, where no model adds."""
    return (gold.n >= GOLD_EACH) | ((gold.n > 0) & (gold.n == dataset.annotations_of_raters))


@cache_by_identity
def why_not(dataset: Dataset) -> str:
    """Explain why annotations cannot show who is wrong how often; empty if they can."""
    return _why(dataset, ())[0]


def _why(dataset: Dataset, careless: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """Explain why annotations cannot show who is wrong, and find raters without whom the others agree."""
    if dataset.n_classes < 2:
        return "there is only one class, so no annotation can be wrong", ()
    if raters_per_case(dataset).max(initial=0) < 2:
        return "no case has annotations by two raters", ()
    first = dataset.case_ptr[:-1][np.diff(dataset.case_ptr) > 0]
    if (np.diff(dataset.answer)[~np.isin(np.arange(1, dataset.n_annotations), first)] == 0).all():
        return "no two annotations of a case differ, so shared mistakes cannot be detected", ()
    if one_class_raters(dataset).most:
        return (
            "most raters use only one class, so only their choice of cases is informative, and rater models ignore it",
            (),
        )
    if why := why_no_order(dataset):
        return why, ()
    aside = tuple(sorted({*one_class(dataset).found().tolist(), *careless}))
    if not agree_beyond_chance(dataset, aside):
        return "agreement between raters is not clearly better than chance", ()
    return "", aside if aside and not agree_beyond_chance(dataset) else ()


def agree_beyond_chance(dataset: Dataset, aside: Sequence[int] = (), metric: str = "nominal") -> bool:
    """Return True if the whole interval of Krippendorff's α is above 0, at a level of `_ABOVE_CHANCE`.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, or of scores.
    aside : sequence of int
        Positions of raters who are left out.
    metric : str
        See `core.agreement.krippendorff.krippendorff_alpha`.
    """
    if aside:
        rest = [name for place, name in enumerate(dataset.raters) if place not in set(aside)]
        if not rest:
            return False
        dataset = dataset.select(raters=rest)
    alpha = krippendorff_alpha(dataset, _ABOVE_CHANCE, metric)
    return alpha.value is not None and not perhaps_chance(alpha)


def why_no_order(dataset: Dataset) -> str:
    """Explain why annotations cannot show which rater is more accurate: if two differ, each is as likely wrong."""
    n = raters_per_case(dataset)[dataset.case_of_annotation]
    n = n[n >= 2]
    if not n.size or (n >= 3).mean() < 0.5:
        return "most cases have only one or two raters, so the data do not show who is wrong when raters differ"
    return ""


def check_asked(
    acceptable: float | None, q: float, judged_by: str | None, level: float, measure: str = "accuracy"
) -> None:
    """Check the options of the judgement of raters.

    Parameters
    ----------
    acceptable, q, level : float
        Numbers between 0 and 1.
    judged_by : str, optional
    measure : str
        Name of the measure that ``acceptable`` refers to.

    Raises
    ------
    InputError
        A number is not between 0 and 1, or the judge is unknown.
    """
    for name, value in ((f"acceptable {measure}", acceptable), ("false discovery rate", q), ("level", level)):
        if value is not None and not 0 < value < 1:
            raise InputError(f"The {name} must be between 0 and 1; got {value}.", "Use a number such as 0.05 or 0.95.")
    if judged_by not in (None, "gold", "model"):
        raise InputError(f"Cannot compare raters with {judged_by!r}.", "Choose gold or model.")


def _default(mean: float | None, blind: float) -> float | None:
    """Compute the default; if blind annotations reach the mean, only the margin counts."""
    if mean is None:
        return None
    return max(mean - MARGIN, (mean + blind) / 2) if blind < mean else mean - MARGIN


def _blind(panel: Panel, with_gold: bool) -> float:
    """Compute the accuracy of blind annotations with the shares of all annotations, by gold shares if gold judges."""
    dataset = panel.dataset
    share = np.bincount(dataset.answer, minlength=dataset.n_classes) / max(dataset.n_annotations, 1)
    true = panel.fit.prevalence
    if with_gold and dataset.gold is not None:
        known = dataset.gold[dataset.case_of_annotation]
        true = np.bincount(known[known >= 0], minlength=dataset.n_classes) / (known >= 0).sum()
    return float(true @ share)
