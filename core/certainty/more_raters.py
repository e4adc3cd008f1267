"""Uncertain cases: those that more raters would settle, and those whose uncertainty is inherent.

m = max(3, n) more raters of a case with n annotations are drawn from its posterior: ``λ ~ Dirichlet(γ n_k + α)``, their
counts x multinomial. p is the probability that the certainty of the counts n + x, at the same α and γ, reaches the bar.
A case with few annotations mostly needs more raters. One with many that differ stays uncertain (Stutz et al.,
Evaluating AI systems under uncertain ground truth, 3.1 and D, tell the two apart by annotators and by γ; γ alone
cannot, since every case but exact ties becomes certain as it grows).
"""

from collections import defaultdict
from dataclasses import dataclass
from math import comb

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.validation import frozen
from ..plausibility.dirichlet import DirichletCounts
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import listed, plural
from ..thresholds import HARDLY_HELPS, HELPS, UNCERTAIN_BELOW
from .first_place import certainty_of_counts

FEWEST_MORE = 3
N_DRAWS = 1000
_MOST_EXACT = 400  # outcomes that are enumerated; with more, raters are drawn
OUTCOMES = ("certain", "more raters would help", "more raters might help", "more raters would hardly help")
IN_SHORT = ("", "would help", "might help", "hardly help")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MoreRaters(Result):
    """Effect of more raters on each case; arrays of shape (n_cases,).

    Attributes
    ----------
    cases : tuple of str
    chance : ndarray
        P(the certainty reaches the bar); NaN for a case that has reached it with two annotations or more.
    se : ndarray
        Monte Carlo standard error of ``chance``; 0 where all outcomes were enumerated.
    outcome : ndarray of int64
        Place in `OUTCOMES`.
    n_more : ndarray of int64
                Number of further raters.
    bar : float
    """

    cases: tuple[str, ...]
    chance: np.ndarray
    se: np.ndarray
    outcome: np.ndarray
    n_more: np.ndarray
    bar: float

    TABLES = ("cases",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return {
            "case": self.cases[:most],
            "outcome": [OUTCOMES[place] for place in self.outcome[:most]],
            "chance": self.chance[:most],
            "chance_se": self.se[:most],
            "n_more": self.n_more[:most],
        }

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases of each outcome."""
        return _counted(self.outcome)

    def sentence(self, several: np.ndarray) -> str:
        """Return in words how many uncertain cases more raters would settle; empty if every case is certain.

        Parameters
        ----------
        several : ndarray of bool, shape (n_cases,)
            Cases with two annotations or more; only these are uncertain or certain.
        """
        counts = _counted(self.outcome[several])
        found = [(name.removeprefix("more raters "), n) for name, n in counts.items() if n and name != OUTCOMES[0]]
        if not found:
            return ""
        (first, n), *rest = found
        if n > 1 and not rest:
            every = "any" if first == "would hardly help" else "all"
            return f"More raters {first} in {every} of the {n:,} uncertain cases."
        said = [f"{first} in {plural(n, 'case')}", *(f"{does} in {k:,}" for does, k in rest)]
        return f"More raters {listed(said)}."

    def in_short(self) -> np.ndarray:
        """Describe in two words what more raters would do for each case, shape (n_cases,); empty if it is certain."""
        return np.array(IN_SHORT, object)[self.outcome]


def more_raters(
    dataset: Dataset,
    model: DirichletCounts,
    *,
    reliability: float = 1.0,
    bar: float = UNCERTAIN_BELOW,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    token: CancelToken | None = None,
) -> MoreRaters:
    """Compute whether more raters would bring the certainty of each case to a bar.

    Cases with the same counts, in whatever order of classes, have the same chance.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    model : DirichletCounts
    reliability : float
        γ, above 0.
    bar : float
        Required certainty, 0 to 1.
    n_draws : int
        Number of draws of further raters, if their answers are too many to enumerate.
    seed : int
    token : CancelToken, optional

    Raises
    ------
    NotApplicableError
        The annotations are not single classes.
    Cancelled
    """
    counts, token = model.votes(dataset), token or CancelToken()
    panel = _Panel(model.alpha, reliability, dataset.n_classes, bar)
    known: dict[tuple[float, ...], tuple[float, float, int, int]] = {}
    found = np.empty((dataset.n_cases, 4))
    for case, (start, stop) in enumerate(zip(counts.ptr[:-1].tolist(), counts.ptr[1:].tolist(), strict=True)):
        key = tuple(sorted(counts.count[start:stop].tolist(), reverse=True))
        if key not in known:
            token.check()
            known[key] = _of_counts(panel, key, n_draws, seed)
        found[case] = known[key]
    chance, se, outcome, n_more = found.T
    outcome, n_more = (frozen(part.astype(np.int64)) for part in (outcome, n_more))
    return MoreRaters(dataset.cases, frozen(chance.copy()), frozen(se.copy()), outcome, n_more, bar)


def _counted(outcome: np.ndarray) -> dict[str, int]:
    return dict(zip(OUTCOMES, np.bincount(outcome, minlength=len(OUTCOMES)).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Panel:
    """Parameters on which certainty depends in addition to the counts of a case."""

    alpha: float
    reliability: float
    n_classes: int
    bar: float

    def reached(self, count: np.ndarray) -> np.ndarray:
        """Return True if certainties reach the bar, from counts (n, n_columns), 0 if a class is not named.

        Σ P(λ_j > λ_top) bounds 1 − certainty from above and its largest term from below, with P(λ_j > λ_top) =
        I_{1/2}(a_top, a_j); only what lies between is integrated.
        """
        from scipy.special import betainc

        count = np.sort(count, axis=1)[:, ::-1]
        distinct, place = np.unique(count, axis=0, return_inverse=True)
        shape = self.reliability * distinct + self.alpha
        behind = betainc(shape[:, :1], shape[:, 1:], 0.5)
        most = behind.sum(axis=1)
        rest = self.n_classes - distinct.shape[1]  # with the prior alone, as are columns of 0
        single = betainc(shape[:, 0], self.alpha, 0.5)
        most += rest * single
        least = np.maximum(behind.max(axis=1, initial=0.0), single if rest else 0.0)
        found = 1 - most >= self.bar
        for row in np.flatnonzero(~found & (1 - least >= self.bar)):
            named = distinct[row][distinct[row] > 0]
            found[row] = certainty_of_counts(named, self.alpha, self.reliability, self.n_classes)[0] >= self.bar
        return found[place.ravel()]


def _of_counts(panel: _Panel, key: tuple[float, ...], n_draws: int, seed: int) -> tuple[float, float, int, int]:
    """Compute chance, its error, outcome and number of raters from the counts of a case, in descending order."""
    count = np.array(key)
    n_more = max(FEWEST_MORE, round(float(count.sum())))
    several = count.sum() > 1  # one annotation has no certainty
    if several and certainty_of_counts(count, panel.alpha, panel.reliability, panel.n_classes)[0] >= panel.bar:
        return np.nan, 0.0, 0, n_more
    n_rest = panel.n_classes - count.size
    if comb(n_more + count.size - (n_rest == 0), n_more) <= _MOST_EXACT:
        further, weight = enumerated(panel.reliability * count + panel.alpha, panel.alpha, n_rest, n_more)
        se = 0.0
    else:
        rng = np.random.default_rng([seed, *(round(each * 1e6) for each in key)])
        further = drawn(panel.reliability * count + panel.alpha, panel.alpha, n_rest, n_more, n_draws, rng)
        weight = np.full(n_draws, 1 / n_draws)
        se = np.nan
    total = further.astype(float)
    total[:, : count.size] += count
    chance = float(min(weight @ panel.reached(total), 1.0))
    if np.isnan(se):
        se = float(np.sqrt(chance * (1 - chance) / n_draws))
    return chance, se, 1 if chance >= HELPS else 3 if chance <= HARDLY_HELPS else 2, n_more


def enumerated(shape: np.ndarray, alpha: float, n_rest: int, n_more: int) -> tuple[np.ndarray, np.ndarray]:
    """Enumerate counts of further raters with their Dirichlet-multinomial probabilities, by Pólya's urn.

    Parameters
    ----------
    shape : ndarray, shape (n_named,)
        Shape parameters of the named classes.
    alpha : float
        Shape of each class that nobody named. They are exchangeable: outcomes that differ in their order are one.
    n_rest : int
                Number of these classes.
    n_more : int

    Returns
    -------
    ndarray of int64, shape (n_outcomes, n_named + min(n_rest, n_more))
    ndarray, shape (n_outcomes,)
        Sums to 1.
    """
    n_named, n_columns = shape.size, shape.size + min(n_rest, n_more)
    now: dict[tuple[int, ...], float] = {(0,) * n_columns: 1.0}
    base = np.append(shape, np.full(n_columns - n_named, alpha))
    for step in range(n_more):
        total = shape.sum() + n_rest * alpha + step
        then: dict[tuple[int, ...], float] = defaultdict(float)
        for state, p in now.items():
            first = next((k for k in range(n_named, n_columns) if state[k] == 0), n_columns)
            for k in range(min(first + 1, n_columns)):
                weight = (n_rest - (first - n_named)) * alpha if k == first else base[k] + state[k]
                rest = sorted((*state[n_named:k], state[k] + 1, *state[k + 1 :]), reverse=True) if k >= n_named else ()
                after = (*state[:n_named], *rest) if rest else (*state[:k], state[k] + 1, *state[k + 1 :])
                then[after] += p * weight / total
        now = then
    return np.array(list(now), np.int64).reshape(len(now), n_columns), np.array(list(now.values()))


def drawn(
    shape: np.ndarray, alpha: float, n_rest: int, n_more: int, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw counts of further raters, in the form of `enumerated`: int64, shape (n_draws, n_columns).

    Parameters
    ----------
    shape, alpha, n_rest, n_more
        See `enumerated`.
    n_draws : int
    rng : numpy.random.Generator
    """
    n_named, n_new = shape.size, min(n_rest, n_more)
    found = np.zeros((n_draws, n_named + n_new), np.int64)
    n_used, rows = np.zeros(n_draws, np.int64), np.arange(n_draws)
    for _ in range(n_more):
        weight = found + np.append(shape, np.zeros(n_new))
        new = n_named + np.arange(n_new)[None] < n_named + n_used[:, None]
        weight[:, n_named:] += alpha * new
        weight = np.column_stack([weight, (n_rest - n_used) * alpha])
        upto = weight.cumsum(axis=1)
        column = (rng.random((n_draws, 1)) * upto[:, -1:] >= upto).sum(axis=1)
        fresh = column == n_named + n_new
        column[fresh] = n_named + n_used[fresh]
        found[rows, column] += 1
        n_used += fresh
    return found
