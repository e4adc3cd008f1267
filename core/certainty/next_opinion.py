"""What one more opinion would change: the next rater names one class, drawn from the plausibilities as they are now.

With A[k, c] the probability that the next annotation is k and that c is then the top-1 class: certainty now
``C0 = max_c P(top-1 = c)``, after it ``C1 = Σ_k max_c A[k, c]``, and what choosing by the annotation gains over
choosing without it, ``C1 − max_c Σ_k A[k, c]``, which is never negative. At γ = 1 the gain is C1 − C0 where the model
only multiplies likelihoods. Elsewhere C1 may lie below C0: the annotation counts γ times but comes once, and certainty
falls where it surprises.

Dirichlet counts and PrIRN are Dirichlet distributions before and after, so theirs is exact by integration.
Plackett-Luce reweights the draws in hand (`core.certainty._next_kernels`). Each says what the model itself would say
when the annotation is added to the data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.plackett_luce.gibbs import PlackettLuce
from ..plausibility.prirn import PrIRN
from ..plausibility.protocol import CaseDraws, PlausibilityModel
from ..rankings.irn import irn
from ..reducers.protocol import reduce_draws
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import number
from ._next_kernels import next_answers
from .first_place import first_place

Row = tuple[float, float, float, float, float]
LIKELY = 0.05
ROUGH = 0.02


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NextOpinion(Result):
    """What one more opinion would change, for every case.

    Attributes
    ----------
    cases : tuple of str
    now : ndarray, shape (n_cases,)
        C0, the certainty of the top-1 class.
    after : ndarray, shape (n_cases,)
        C1, the certainty to be expected after one more opinion.
    after_se : ndarray, shape (n_cases,)
        Monte Carlo standard error of ``after``; 0 where exact. A maximum over few draws is biased upward, too.
    gain : ndarray, shape (n_cases,)
        How much more often choosing by that opinion is right than choosing without it; 0 or more.
    ess : ndarray, shape (n_cases,)
        Effective draws behind the least known of the annotations of probability `LIKELY` or more; infinite where exact.
    """

    cases: tuple[str, ...]
    now: np.ndarray
    after: np.ndarray
    after_se: np.ndarray
    gain: np.ndarray
    ess: np.ndarray

    TABLES = ("cases",)

    def _columns(self, table: str, most: int | None) -> Columns:
        names = ("now", "after", "after_se", "gain", "ess")
        return {"case": self.cases[:most], **{name: getattr(self, name)[:most] for name in names}}

    def words(self, case: int) -> str:
        """The three numbers of one case, plainly."""
        now, after, gain = (100 * float(values[case]) for values in (self.now, self.after, self.gain))
        if round(after) > round(now):
            expected = f"one more opinion should bring it to {number(after, 0)}%"
        elif round(after) < round(now):
            expected = f"one more opinion should lower it to {number(after, 0)}%, because it may surprise"
        else:
            expected = "one more opinion should leave it there"
        if gain < 0.5:
            worth = "Whatever the annotation, the choice would hardly be better for it"
        else:
            worth = (
                f"Choosing by the annotation is right {number(gain, 0)} percentage points more often than without it"
            )
        sentence = f"Certainty is {number(now, 0)}% now; {expected}. {worth}."
        if self.after_se[case] > ROUGH:
            sentence += (
                f" Rough: {number(after, 0)}% ± {number(200 * self.after_se[case], 0)}, as few draws stand behind some "
                "annotations."
            )
        return sentence


@dataclass(frozen=True, slots=True, eq=False)
class NextOpinions:
    """The reducer: the five numbers of each case in one pass over the draws. `next_opinions` makes it for a model.

    Parameters
    ----------
    of_case : callable
        The numbers of a case, in the order of `NextOpinion`.
    """

    of_case: Callable[[int, CaseDraws], Row]

    def init(self, n_cases: int, n_draws: int) -> np.ndarray:
        """Empty rows."""
        return np.empty((n_cases, 5))

    def update(self, state: np.ndarray, place: int, case: int, draws: CaseDraws) -> None:
        """Work out one case.

        Parameters
        ----------
        state : ndarray, shape (n_cases, 5)
        place : int
            Row of the state.
        case : int
            Position in the dataset.
        draws : CaseDraws
        """
        state[place] = self.of_case(case, draws)

    def merge(self, states: Sequence[np.ndarray]) -> np.ndarray:
        """Rows of consecutive chunks under one another."""
        return np.concatenate(states)

    def result(self, state: np.ndarray) -> np.ndarray:
        """The rows, shape (n_cases, 5); `next_opinion_of` gives them names."""
        return state


def next_opinion(
    model: PlausibilityModel,
    dataset: Dataset,
    *,
    reliability: float,
    n_draws: int = 1000,
    seed: int = 0,
    cases: range | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> NextOpinion:
    """What one more opinion would change on every case, or on a run of ``cases``.

    Parameters
    ----------
    model : DirichletCounts, PrIRN or PlackettLuce
    dataset : Dataset
        Of a kind that the model takes.
    reliability : float
        γ, the trust in the raters, > 0.
    n_draws : int
        Of Plackett-Luce; the others are integrated.
    seed : int
    cases : range, optional
        Which cases; all where not given.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The model is not one of Dirichlet counts, PrIRN or Plackett-Luce; scores have no next class.
    """
    reducer = next_opinions(model, dataset, reliability)
    # What is integrated needs no draws, but the driver feeds one of each case.
    n_draws = n_draws if isinstance(model, PlackettLuce) else 1
    (state,) = reduce_draws(
        model,
        dataset,
        [reducer],
        reliability=reliability,
        n_draws=n_draws,
        seed=seed,
        cases=cases,
        token=token,
        progress=progress,
    )
    return next_opinion_of(state, dataset.cases if cases is None else tuple(dataset.cases[case] for case in cases))


def next_opinion_of(state: np.ndarray, cases: tuple[str, ...]) -> NextOpinion:
    """The reducer's rows with their names."""
    return NextOpinion(cases, *(np.ascontiguousarray(column) for column in state.T))


def next_opinions(model: PlausibilityModel, dataset: Dataset, reliability: float) -> NextOpinions:
    """The reducer for a model's draws of a dataset at a reliability; raises as `next_opinion`.

    Parameters
    ----------
    model : DirichletCounts, PrIRN or PlackettLuce
    dataset : Dataset
        Of a kind that the model takes.
    reliability : float
        γ, the trust in the raters, > 0.
    """
    if isinstance(model, DirichletCounts):
        return NextOpinions(_counts(model, dataset, reliability))
    if isinstance(model, PrIRN):
        return NextOpinions(_prirn(model, dataset, reliability))
    if isinstance(model, PlackettLuce):
        return NextOpinions(_plackett_luce(model, reliability))
    raise NotApplicableError(
        "What one more opinion would change is known for Dirichlet counts, PrIRN and Plackett-Luce, not for others."
    )


def _counts(model: DirichletCounts, dataset: Dataset, reliability: float):
    counts = model.votes(dataset)

    def of_case(case: int, draws: CaseDraws) -> Row:
        shape = reliability * counts.count[counts.ptr[case] : counts.ptr[case + 1]] + model.alpha
        raised = np.append(shape, model.alpha) + reliability
        return _exact(shape, shape, raised, model.alpha, draws.n_rest)

    return of_case


def _prirn(model: PrIRN, dataset: Dataset, reliability: float):
    """λ̂' = (W λ̂ + e_k) / (W + 1), W the summed weight of the case, which is more than its raters who rank further."""
    weights = irn(dataset, model.ties)

    def of_case(case: int, draws: CaseDraws) -> Row:
        weight = weights.weight[weights.ptr[case] : weights.ptr[case + 1]]
        total = weight.sum()
        now = reliability * weight / max(total, 1e-300) + model.epsilon
        lowered = reliability * weight / (total + 1) + model.epsilon
        raised = reliability * (np.append(weight, 0.0) + 1) / (total + 1) + model.epsilon
        return _exact(now, lowered, raised, model.epsilon, draws.n_rest)

    return of_case


def _plackett_luce(model: PlackettLuce, reliability: float):
    def of_case(case: int, draws: CaseDraws) -> Row:
        first = np.ascontiguousarray(draws.top[:, 0])
        n_named = len(draws.classes)
        answered, effective, after = next_answers(
            np.uint32(draws.seed ^ 0x4E455854), draws.share, draws.rest, first, draws.n_rest, reliability, model.alpha
        )
        now = np.bincount(first, minlength=n_named + 1) / draws.n_draws
        now[n_named] /= max(draws.n_rest, 1)
        likely = answered >= min(LIKELY, answered.max())
        n_draws = effective * draws.ess
        chosen = after.max(axis=1)
        error = np.sqrt((answered**2 * chosen * (1 - chosen) / np.maximum(n_draws, 1)).sum())
        expected, gain = _expected(answered, after, draws.n_rest)
        return float(now.max()), expected, float(error), gain, float(n_draws[likely].min())

    return of_case


def _exact(now: np.ndarray, lowered: np.ndarray, raised: np.ndarray, rest_shape: float, n_rest: int) -> Row:
    """From the shapes now, those of classes that were not given, and those of the given one, never-named last."""
    n_named = len(now)
    answered = np.append(now, rest_shape * n_rest)
    after = np.zeros((n_named + 1, n_named + 2))
    for k in range(n_named):
        shape = lowered.copy()
        shape[k] = raised[k]
        after[k, [*range(n_named), n_named + 1]] = first_place(shape, rest_shape, n_rest)
    if n_rest:
        after[n_named] = first_place(np.append(lowered, raised[n_named]), rest_shape, n_rest - 1)
    expected, gain = _expected(answered / answered.sum(), after, n_rest)
    return float(first_place(now, rest_shape, n_rest).max()), expected, 0.0, gain, np.inf


def _expected(answered: np.ndarray, after: np.ndarray, n_rest: int) -> tuple[float, float]:
    """C1 and the gain from P(annotation) and P(first place | annotation), with columns as of `next_answers`."""
    expected = float(answered @ after.max(axis=1))
    n_named = len(answered) - 1
    mixed = answered @ after[:, :n_named]
    # A given never-named class: it is the one given in one of n_rest ways.
    one = answered[:-1] @ after[:-1, n_named + 1]
    if n_rest:
        one += answered[-1] * (after[-1, n_named] + (n_rest - 1) * after[-1, n_named + 1]) / n_rest
    best = max(float(mixed.max(initial=0.0)), float(one))
    return expected, max(0.0, expected - best)
