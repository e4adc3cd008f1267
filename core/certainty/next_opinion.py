"""Effect of one more opinion: the next rater names one class, drawn from the current plausibilities.

With A[k, c] the probability that the next annotation is k and that c is then the top-1 class: certainty now
``C0 = max_c P(top-1 = c)``, after it ``C1 = Σ_k max_c A[k, c]``, and the gain of choosing with the annotation over
choosing without it, ``C1 − max_c Σ_k A[k, c]``, which is never negative. At γ = 1 the gain is C1 − C0 if the model only
multiplies likelihoods. Otherwise C1 may be below C0: the annotation counts γ times but comes once, and certainty falls
if it is unexpected.

Dirichlet counts and PrIRN are Dirichlet distributions before and after, so their effect is exact by integration.
Plackett-Luce reweights its draws (`core.certainty._next_kernels`). Both give the result of the model itself after the
annotation is added to the data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..checked import checked
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
    """Effect of one more opinion on every case.

    Attributes
    ----------
    cases : tuple of str
    now : ndarray, shape (n_cases,)
        C0, the certainty of the top-1 class.
    after : ndarray, shape (n_cases,)
        C1, the expected certainty after one more opinion.
    after_se : ndarray, shape (n_cases,)
        Monte Carlo standard error of ``after``; 0 if exact. A maximum over few draws is biased upward, too.
    gain : ndarray, shape (n_cases,)
        Gain in the probability of a correct choice from that opinion; 0 or more.
    ess : ndarray, shape (n_cases,)
        Smallest effective number of draws of any annotation with probability `LIKELY` or more; infinite if exact.
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
        """Describe the three numbers of one case in plain words."""
        now, after, gain = (100 * float(values[case]) for values in (self.now, self.after, self.gain))
        if round(after) > round(now):
            expected = f"one more opinion is expected to raise it to {number(after, 0)}%"
        elif round(after) < round(now):
            expected = (
                f"one more opinion is expected to lower it to {number(after, 0)}%, because the opinion may name a "
                "different class"
            )
        else:
            expected = "one more opinion is not expected to change it"
        if gain < 0.5:
            worth = "The chosen class would be correct about as often as now"
        else:
            worth = f"The chosen class would be correct {number(gain, 0)} percentage points more often"
        sentence = f"Certainty is {number(now, 0)}% now; {expected}. {worth}."
        if self.after_se[case] > ROUGH:
            sentence += (
                f" This is a rough estimate ({number(after, 0)}% ± {number(200 * self.after_se[case], 0)} "
                "points), because it is effectively based on few draws."
            )
        return sentence


@dataclass(frozen=True, slots=True, eq=False)
class NextOpinions:
    """Reducer of the five numbers of each case in one pass over the draws; `next_opinions` makes it for a model.

    Parameters
    ----------
    of_case : callable
        Function that computes the numbers of a case, in the order of `NextOpinion`.
    """

    of_case: Callable[[int, CaseDraws], Row]

    def init(self, n_cases: int, n_draws: int) -> np.ndarray:
        """Return empty rows."""
        return np.empty((n_cases, 5))

    def update(self, state: np.ndarray, place: int, case: int, draws: CaseDraws) -> None:
        """Compute the numbers of one case.

        Parameters
        ----------
        state : ndarray, shape (n_cases, 5)
        place : int
            Row of the state.
        case : int
            Position of the case in the dataset.
        draws : CaseDraws
        """
        state[place] = self.of_case(case, draws)

    def merge(self, states: Sequence[np.ndarray]) -> np.ndarray:
        """Stack rows of consecutive chunks."""
        return np.concatenate(states)

    def result(self, state: np.ndarray) -> np.ndarray:
        """Return the rows, shape (n_cases, 5); `next_opinion_of` adds names."""
        return state


@checked
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
    """Compute the effect of one more opinion on every case, or on some consecutive ``cases``.

    Parameters
    ----------
    model : DirichletCounts, PrIRN or PlackettLuce
    dataset : Dataset
        Dataset of a kind that the model takes.
    reliability : float
        γ, the trust in the raters, > 0.
    n_draws : int
        Number of draws of Plackett-Luce; the other models are integrated.
    seed : int
    cases : range, optional
        Positions of cases; all if omitted.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The model is not one of Dirichlet counts, PrIRN or Plackett-Luce; scores have no next class.
    """
    reducer = next_opinions(model, dataset, reliability)
    # Integrated models need no draws, but the driver passes one draw per case.
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
    """Convert the rows of the reducer to a result with names."""
    return NextOpinion(cases, *(np.ascontiguousarray(column) for column in state.T))


def next_opinions(model: PlausibilityModel, dataset: Dataset, reliability: float) -> NextOpinions:
    """Build the reducer for a model's draws of a dataset at a reliability; raises as `next_opinion`.

    Parameters
    ----------
    model : DirichletCounts, PrIRN or PlackettLuce
    dataset : Dataset
        Dataset of a kind that the model takes.
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
        "Cannot compute the effect of one more opinion with this model. Use Dirichlet counts, PrIRN or Plackett-Luce."
    )


def _counts(model: DirichletCounts, dataset: Dataset, reliability: float):
    counts = model.votes(dataset)

    def of_case(case: int, draws: CaseDraws) -> Row:
        shape = reliability * counts.count[counts.ptr[case] : counts.ptr[case + 1]] + model.alpha
        raised = np.append(shape, model.alpha) + reliability
        return _exact(shape, shape, raised, model.alpha, draws.n_rest)

    return of_case


def _prirn(model: PrIRN, dataset: Dataset, reliability: float):
    """Compute λ̂' = (W λ̂ + e_k) / (W + 1), W the summed weight of the case, more than its raters who rank further."""
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
    """Compute the result from the current shapes, those of classes not given, and those of the given one."""
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
    """Compute C1 and the gain from P(annotation) and P(first place | annotation), columns as in `next_answers`."""
    expected = float(answered @ after.max(axis=1))
    n_named = len(answered) - 1
    mixed = answered @ after[:, :n_named]
    # A never-named class is the given one in one of n_rest ways.
    one = answered[:-1] @ after[:-1, n_named + 1]
    if n_rest:
        one += answered[-1] * (after[-1, n_named] + (n_rest - 1) * after[-1, n_named + 1]) / n_rest
    best = max(float(mixed.max(initial=0.0)), float(one))
    return expected, max(0.0, expected - best)
