"""Annotation certainty: the probability that the top-j classes of a case stay the same under the posterior.

``Certainty(C) = P(C = top-|C| set of λ)``, ``AnnotationCertainty_j = max_C`` [Stutz et al., eq. 2-6].

Certainty of a given label or set: a gold label, a second opinion, a classifier's guesses.

``Certainty(C) = P(C = top-|C| set of λ)``, and the probability that C contains the top-1 class
[Stutz et al., eq. 2-4].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.validation import check_range, checked_integers
from ..checked import checked
from ..errors import InputError
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.protocol import CaseDraws, PlausibilityModel
from ..reducers.metrics import score_case
from ..reducers.protocol import reduce_draws
from ..reducers.sets import TopSets, TopSetState
from ..result_base import Columns, Result, named
from ..runtime.chunks import CancelToken
from ..runtime.executors import Executor
from ..runtime.identity_cache import cache_by_identity
from ..text import shorten
from ..thresholds import UNCERTAIN_BELOW
from .first_place import ExactTop, exact_top

OTHERS = "any other class"  # A class that nobody named.
_NO_SECOND = -2  # Next to the code of a class that leads clearly.


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class CertaintyResult(Result):
    """Annotation certainty of every case for j = 1..max_top.

    A maximum over sets is biased upwards when draws are few.

    Attributes
    ----------
    cases, classes : tuple of str
    certainty, se : ndarray, shape (n_cases, max_top)
        Certainty; NaN if the class list has fewer than j classes. ``se`` is the Monte Carlo standard error, 0 if no
        draws are needed, as for top-1 of Dirichlet counts.
    top_set : ndarray of int32, shape (n_cases, max_top, max_top)
        Classes of the most frequent set of j; -1 for a class that nobody named, and beyond j.
    never_named : ndarray, shape (n_cases, max_top)
        Share of draws in which a class that nobody named is among the first j.
    """

    cases: tuple[str, ...]
    classes: tuple[str, ...]
    certainty: np.ndarray
    se: np.ndarray
    top_set: np.ndarray
    never_named: np.ndarray

    TABLES = ("cases",)

    def _columns(self, table: str, most: int | None) -> Columns:
        found: dict[str, Any] = {"case": self.cases[:most], "class": named(self.classes, self.top_class()[:most])}
        for place in range(self.certainty.shape[1]):
            found[f"top{place + 1}"] = self.certainty[:most, place]
            found[f"top{place + 1}_se"] = self.se[:most, place]
        return found

    def mean(self, top: int = 1) -> float | None:
        """Return the mean over cases; None if there are fewer classes than ``top``."""
        return self._means()[top - 1][0]

    def mean_se(self, top: int = 1) -> float | None:
        """Return the Monte Carlo standard error of the mean."""
        return self._means()[top - 1][1]

    @cache_by_identity
    def _means(self) -> tuple[tuple[float | None, float | None], ...]:
        """Compute the mean and its standard error for each j."""
        pairs = zip(self.certainty.T, self.se.T, strict=True)
        return tuple((_unless_nan(values, _mean), _unless_nan(errors, _mean_error)) for values, errors in pairs)

    def of_cases(self, chosen: np.ndarray) -> "CertaintyResult":
        """Return the same for some of the cases.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_cases,)
        """
        cases = tuple(compress(self.cases, chosen.tolist()))
        arrays = (part[chosen] for part in (self.certainty, self.se, self.top_set, self.never_named))
        return CertaintyResult(cases, self.classes, *arrays)

    def n_below(self, level: float, top: int = 1) -> int:
        """Count cases whose certainty is below ``level``."""
        return int((self.certainty[:, top - 1] < level).sum())

    def top_class(self) -> np.ndarray:
        """Return the most probable top-1 class of each case; -1 if it is a class that nobody named."""
        return self.top_set[:, 0, 0]

    def leading(self, case: int) -> tuple[int, ...]:
        """Return codes of the classes that may be called the most plausible of a case; -1 for any that is not named.

        This is only the top-1 class if it is clearly more likely to be first than all others together, so that no other
        class can be level with it. Otherwise the second most likely class is added if these two clearly take the first
        two places, and -1 if they do not. "Clearly" is beyond two Monte Carlo standard errors.
        """
        top, second = self._leading(np.array([case]))[0].tolist()
        return (top,) if second == _NO_SECOND else (top, second)

    def _leading(self, cases: np.ndarray) -> np.ndarray:
        """Return `leading` of several cases, shape (n, 2); `_NO_SECOND` if the first class leads clearly."""
        top, firm = self.top_set[cases, 0, 0], self.certainty[cases] - 2 * self.se[cases] > 0.5
        second = np.full(len(cases), -1)
        if firm.shape[1] > 1:
            one, other = self.top_set[cases, 1, 0], self.top_set[cases, 1, 1]
            beside = np.where(one == top, other, np.where(other == top, one, -1))
            second = np.where(firm[:, 1] & (one != other), beside, -1)
        return np.stack([top, np.where(firm[:, 0], _NO_SECOND, second)], axis=1)


def _unless_nan(values: np.ndarray, summary: Callable[[np.ndarray], float]) -> float | None:
    return None if np.isnan(values).any() else summary(values)


def _mean(values: np.ndarray) -> float:
    return float(values.mean())


def _mean_error(errors: np.ndarray) -> float:
    return float(np.sqrt((errors**2).sum()) / len(errors))


def most_plausible(
    result: CertaintyResult, cases: Sequence[int] | np.ndarray, names: Sequence[str], letters: int = 40
) -> list[str]:
    """Name the class that comes first, or "x or y", "x or others" if none is more likely than all others together.

    If a label and its absence are equally likely, the result is "even".

    Parameters
    ----------
    result : CertaintyResult
    cases : sequence of int
        Codes of cases.
    names : sequence of str
        Names of the classes.
    letters : int
        Largest number of letters of a name next to another one.
    """
    pairs, of_case = np.unique(result._leading(np.asarray(cases, np.int64)), axis=0, return_inverse=True)
    words = [_in_words(top, second, names, letters) for top, second in pairs.tolist()]
    return [words[pair] for pair in of_case.ravel().tolist()]


def _in_words(top: int, second: int, names: Sequence[str], letters: int) -> str:
    first = names[top] if top >= 0 else ""
    if second == _NO_SECOND:
        return first or OTHERS
    if not first:
        return "no leading class"
    if names[0] == f"not {names[-1]}":
        return "even"
    return f"{shorten(first, letters)} or {shorten(names[second], letters) if second >= 0 else 'others'}"


def short_of_certain(certainty: np.ndarray) -> np.ndarray:
    """Round certainty to two digits so that a case just below `UNCERTAIN_BELOW` is not printed as if it reached it.

    It is printed as 0.89 instead, next to the word "uncertain".
    """
    least = UNCERTAIN_BELOW - 0.01
    return np.where((certainty < UNCERTAIN_BELOW) & (certainty > least), least, certainty)


@checked
def annotation_certainty(
    model: PlausibilityModel,
    dataset: Dataset,
    *,
    reliability: float,
    n_draws: int = 1000,
    max_top: int = 3,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    runner: Executor | None = None,
) -> CertaintyResult:
    """Compute the annotation certainty of all cases under a plausibility model.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of a kind that the model takes.
    reliability : float
        γ, the trust in the raters, > 0.
    n_draws, max_top, seed : int
    token, progress
        See `core.runtime.chunks.map_chunks`.
    runner : Executor, optional
        Executor that makes the draws; this process if omitted.
    """
    (state,) = reduce_draws(
        model,
        dataset,
        [TopSets(max_top)],
        reliability=reliability,
        n_draws=n_draws,
        seed=seed,
        token=token,
        progress=progress,
        runner=runner,
    )
    classes = getattr(model, "classes", dataset.classes)
    return certainty_of(state, dataset.cases, classes, exact_top(model, dataset, reliability))


def data_of_cases(model: PlausibilityModel, dataset: Dataset, cases: Sequence[int]) -> Dataset:
    """Return the data that give certainty of some cases: only these, or all if the model needs all raters.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
    cases : sequence of int
        Positions of cases.
    """
    if hasattr(model, "prepare") or (isinstance(model, DirichletCounts) and model.families):
        return dataset
    return dataset.select(cases=[dataset.cases[case] for case in cases])


def certainty_of(
    state: TopSetState, cases: tuple[str, ...], classes: tuple[str, ...], exact: ExactTop | None = None
) -> CertaintyResult:
    """Convert frequencies to a result with errors and names; top-1 has no error if ``exact`` has it.

    Parameters
    ----------
    state : TopSetState
        State of the reducer.
    cases, classes : tuple of str
        Names in the data, in their order.
    exact : ExactTop, optional
    """
    certainty = state.frequency.copy()
    certainty[:, len(classes) :] = np.nan
    se = np.sqrt(certainty * (state.ceiling - certainty).clip(0) / state.ess[:, None])
    members, never_named = state.members, state.with_rest
    if exact is not None:
        members, never_named = members.copy(), never_named.copy()
        certainty[:, 0], se[:, 0] = exact.certainty, 0.0
        members[:, 0, 0], never_named[:, 0] = exact.top_class, exact.never_named
    return CertaintyResult(cases, classes, certainty, se, members, never_named)


@dataclass(frozen=True, slots=True, repr=False)
class SetCertainty(Result):
    """Certainty of one set of classes on one case, with Monte Carlo standard errors.

    Attributes
    ----------
    is_top, is_top_se : float
        P(the set is the set of the most plausible classes, as many as it has).
    holds_top1, holds_top1_se : float
        P(the most plausible class is in the set).
    """

    is_top: float
    is_top_se: float
    holds_top1: float
    holds_top1_se: float

    TABLES = ("certainty",)
    COLUMNS = ("is_top", "is_top_se", "holds_top1", "holds_top1_se")


@checked
def set_certainty(draws: CaseDraws, class_codes: Sequence[int]) -> SetCertainty:
    """Compute the certainty of a set of classes; a class that nobody named is one of the exchangeable rest.

    Parameters
    ----------
    draws : CaseDraws
        Draws with a ``top`` at least as deep as the set is large.
    class_codes : sequence of int
        Codes of distinct classes.

    Raises
    ------
    InputError
        The set is empty, names a class twice, or is larger than the depth of the draws.
    """
    codes = checked_integers(class_codes, "class_codes", np.int32)
    check_range(codes, "class_codes", 0, np.iinfo(np.int32).max, "a class code")
    if codes.size == 0 or np.unique(codes).size < codes.size:
        raise InputError(
            "Could not use the set: it is empty or contains a class twice.",
            "Use at least one class, and each only once.",
        )
    if codes.size > draws.top.shape[1]:
        raise InputError(
            f"Could not use the set: it has {codes.size} classes, but the draws rank only the first "
            f"{draws.top.shape[1]} classes.",
            f"Set the depth of the plausibility model to {codes.size}.",
        )
    scores = score_case(draws, codes, np.arange(codes.size), codes.size)
    is_top, holds = float(scores[2].mean()), float(scores[1].mean())
    return SetCertainty(is_top, _error(scores[2], draws.ess), holds, _error(scores[1], draws.ess))


def _error(values: np.ndarray, ess: float) -> float:
    return float(values.std() / np.sqrt(ess))
