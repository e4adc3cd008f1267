"""Alternative annotator test: whether an AI rater can replace one of the people.

For each person j, on the cases that j, the machine and at least one other person annotated, R being the annotations of
the other people: ``W^f = 1(S(f, R) ≥ S(y_j, R))``, ``W^h = 1(S(y_j, R) ≥ S(f, R))``, a tie a win for both, and
``ρ_j = mean W^f``. H0: the mean of ``d = W^h − W^f`` is at least ε, what replacing a person saves. One-sided t-test
``t = (d̄ − ε) / (sd(d) / √n_j)``, Benjamini-Yekutieli over people at q. Winning rate ω = share of people with a
rejected H0, passed at ω ≥ ½; average advantage ``ρ = mean_j ρ_j`` [Calderon, Reichart & Dror 2025, arXiv:2501.10970].

Beyond the source: intervals over cases (the people are fixed), differences between machines on the cases that both
annotated, the share of resamples that pass, and how many cases it would take to pass. A case moves ρ by
``u_c = mean_j (W_cj − ρ_j 1_cj) / n_j``; ``se² = C / (C − 1) Σ u_c²`` over C cases. The interval of ρ is Wilson's with
``ρ (1 − ρ) / se²`` effective observations and t of C − 1 degrees of freedom, that of a ρ_j the same with n_j, that of a
difference ± t · se. Percentiles of resampled cases hold ρ less often.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import stdtr, stdtrit

from ..agreement.intervals import wilson
from ..agreement.krippendorff import krippendorff_alpha
from ..annotations.csr import keep_annotations
from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import InputError, NotApplicableError
from ..options import check_level, check_whole
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from .annotation_scores import AnnotationScore, Score

EPSILON = 0.2
EPSILONS: dict[str, float] = {"experts": 0.2, "skilled raters": 0.15, "crowd workers": 0.1}
PASSES = 0.5
LEAST_CASES = 30
ABOVE_CHANCE = 0.99  # level of the interval of alpha that must lie above 0
N_RESAMPLES = 2_000
POWER = 0.8
CURVE = np.round(np.arange(0, 0.501, 0.01), 2)
_TIE = 1e-12
_PAIRS = 1 << 22
_CELLS = 1 << 22
_MOST_TIMES = 64
_TRIES = 200


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AgainstRater(Result):
    """Result of the test of one AI rater against one person.

    Attributes
    ----------
    rater : str
    n : int
        Cases that both and at least one other person annotated.
    rho, rho_low, rho_high : float
        Share of these cases on which the AI rater is at least as near to the others as the person is; interval over
        cases.
    wins, ties, losses : int
        Cases on which the machine is nearer, both are as near, the person is nearer.
    p : float
    rejected : bool
        True if the AI rater does as well as this person, up to ε.
    """

    rater: str
    n: int
    rho: float
    rho_low: float
    rho_high: float
    wins: int
    ties: int
    losses: int
    p: float
    rejected: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MachineStanding(Result):
    """Result of the test for one AI rater, or for one person tested in the same way.

    Attributes
    ----------
    machine : str
    n_cases : int
        Cases of the machine with two other people or more.
    raters : tuple of AgainstRater
        People with `LEAST_CASES` such cases.
    not_tested : tuple of str
        People with fewer cases than that.
    omega : float or None
        Winning rate; None if nobody could be tested.
    passes : bool or None
    rho, rho_low, rho_high : float or None
        Average advantage with its interval over cases.
    pass_share : float or None
        Share of resamples of the cases in which it passes. This is neither a confidence level nor an interval.
    curve : ndarray, shape (len(CURVE),)
        ω at each ε of `CURVE`; empty if nobody could be tested.
    n_to_pass : int or None
        Number of cases like these with which it would pass in `POWER` of resamples; None if no number is enough, or
        nobody could be tested.
    """

    machine: str
    n_cases: int
    raters: tuple[AgainstRater, ...]
    not_tested: tuple[str, ...]
    omega: float | None
    passes: bool | None
    rho: float | None
    rho_low: float | None
    rho_high: float | None
    pass_share: float | None
    curve: np.ndarray = field(default_factory=lambda: np.empty(0))
    n_to_pass: int | None = None

    TABLES = ("raters",)

    def _columns(self, table: str, most: int | None) -> Columns:
        names = ("rater", "n", "rho", "rho_low", "rho_high", "wins", "ties", "losses", "p", "rejected")
        return {name: [getattr(one, name) for one in self.raters] for name in names}

    @property
    def n_rejected(self) -> int:
        """Number of people against whom the AI rater does as well, up to ε."""
        return sum(one.rejected for one in self.raters)

    @property
    def passes_from(self) -> float | None:
        """Smallest ε of `CURVE` from which the AI rater passes; None if it never does."""
        passed = np.flatnonzero(self.curve >= PASSES)
        return float(CURVE[passed[0]]) if passed.size else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MachineDifference(Result):
    """Difference in ρ of two AI raters on the cases that both annotated; None if nobody could be tested.

    Attributes
    ----------
    machine, other : str
    n_cases : int
    difference, low, high : float or None
    """

    machine: str
    other: str
    n_cases: int
    difference: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AlternativeTest(Result):
    """Result of the alternative annotator test for one or more AI raters.

    Attributes
    ----------
    score : {"accuracy", "rmse", "overlap"}
    epsilon, q, level : float
    people : tuple of str
    machines : tuple of MachineStanding
    differences : tuple of MachineDifference
        Every pair of machines.
    by_chance : bool
        True if people do not clearly agree on classes more than by chance, so that any guesser would pass.
    """

    score: Score
    epsilon: float
    q: float
    level: float
    people: tuple[str, ...]
    machines: tuple[MachineStanding, ...]
    differences: tuple[MachineDifference, ...]
    by_chance: bool = False

    TABLES = ("machines", "differences")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "differences":
            names: tuple[str, ...] = ("machine", "other", "n_cases", "difference", "low", "high")
            return {name: [getattr(one, name) for one in self.differences] for name in names}
        names = ("machine", "omega", "passes", "rho", "rho_low", "rho_high", "pass_share", "n_cases", "n_to_pass")
        found: dict[str, Any] = {name: [getattr(one, name) for one in self.machines] for name in names}
        return found | {
            "n_rejected": [m.n_rejected for m in self.machines],
            "n_raters": [len(m.raters) for m in self.machines],
        }


@checked
def alternative_test(
    dataset: Dataset,
    machines: Sequence[str],
    *,
    people: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    score: Score | None = None,
    q: float = 0.05,
    level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    plan: bool = True,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> AlternativeTest:
    """Test whether AI raters can replace a person of the panel.

    Second annotations of a rater on a case are left out. Cases need two people or more, people `LEAST_CASES` of them.

    Parameters
    ----------
    dataset : Dataset
        Dataset with people and AI raters among its raters, see `core.machines.joined`.
    machines : sequence of str
    people : sequence of str, optional
        Names of the people; all other raters if omitted.
    epsilon : float
        Extra cost of a person compared with the AI rater, as a share of cases: `EPSILONS`.
    score : {"accuracy", "rmse", "overlap"}, optional
        See `core.machines.annotation_scores`.
    q : float
        False discovery rate over people.
    level : float
        Confidence level of the intervals.
    n_resamples : int
    plan : bool
        True to compute ``n_to_pass``.
    seed : int
    token, progress : optional

    Raises
    ------
    InputError
        A name is not a rater, a rater is both an AI rater and a person, or a number is out of its range.
    NotApplicableError
        Raters are not identified, or the score does not suit the annotations.
    """
    check_numbers(epsilon, q, level, n_resamples)
    panel = HumanPanel(dataset, machines, people, score)
    contests = [panel.contest(name) for name in machines]
    settings = _Settings(epsilon, q, level, n_resamples, seed)
    standings = []
    for place, (name, contest) in enumerate(zip(machines, contests, strict=True), 1):
        (token or CancelToken()).check()
        standings.append(_standing(panel, name, contest, settings, plan=plan))
        if progress is not None:
            progress(place / len(machines))
    pairs = combinations(zip(machines, contests, strict=True), 2)
    found = tuple(standings), tuple(_difference(f, g, one, two, settings) for (f, one), (g, two) in pairs)
    return AlternativeTest(panel.score.name, epsilon, q, level, panel.people, *found, panel.agree_by_chance())


def people_in_its_place(
    dataset: Dataset,
    *,
    people: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    score: Score | None = None,
    q: float = 0.05,
    level: float = 0.95,
    n_resamples: int = 500,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[MachineStanding, ...]:
    """Test every person in the same way, as if they were the AI rater and all others the panel.

    Parameters
    ----------
    dataset, people, epsilon, score, q, level, n_resamples, seed, token, progress
        See `alternative_test`.

    Returns
    -------
    tuple of MachineStanding
        Results in the order of ``people``; those without a case with two others are not tested against anybody.
    """
    check_numbers(epsilon, q, level, n_resamples)
    everybody = dataset.raters if people is None else tuple(people)
    settings = _Settings(epsilon, q, level, n_resamples, seed)
    found = []
    for place, name in enumerate(everybody):
        (token or CancelToken()).check()
        panel = HumanPanel(dataset, [name], [other for other in everybody if other != name], score)
        found.append(_standing(panel, name, panel.contest(name), settings, plan=False))
        if progress is not None:
            progress((place + 1) / len(everybody))
    return tuple(found)


def check_numbers(epsilon: float, q: float, level: float, n_resamples: int) -> None:
    """Refuse an ε outside of 0 to 1, a rate or level that is not between them, and fewer than 100 resamples.

    Parameters
    ----------
    epsilon, q, level : float
    n_resamples : int
    """
    if not 0 <= epsilon <= 1:
        raise InputError(
            f"ε must be between 0 and 1; got {epsilon}.",
            "Use 0.2 for experts, 0.15 for skilled raters or 0.1 for crowd workers.",
        )
    check_level(q, "The false discovery rate")
    check_level(level)
    check_whole(n_resamples, "The number of resamples", 100)


@dataclass(frozen=True, slots=True)
class _Settings:
    epsilon: float
    q: float
    level: float
    n_resamples: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """Comparison of an AI rater with each person: sums over the cases of each person, as sparse matrices.

    Attributes
    ----------
    case : ndarray of int64, shape (n_cases,)
        Cases of the dataset that count.
    n, wins, d, d2 : csr_matrix, shape (n_cases, n_people)
        1 for each case that counts, W^f, W^h − W^f and its square; each a matrix of cases by people.
    """

    case: np.ndarray
    n: csr_matrix
    wins: csr_matrix
    d: csr_matrix
    d2: csr_matrix

    def on(self, kept: np.ndarray) -> "Contest":
        """Return the same comparison on some of its cases, given as bool of shape (n_cases,)."""
        return Contest(self.case[kept], self.n[kept], self.wins[kept], self.d[kept], self.d2[kept])

    @property
    def tested(self) -> np.ndarray:
        """Places of the people with enough cases, ndarray of int64."""
        return np.flatnonzero(np.asarray(self.n.sum(axis=0)).ravel() >= LEAST_CASES)


class HumanPanel:
    """People's annotations, one per person and case, and the positions of AI raters' annotations.

    Parameters
    ----------
    dataset : Dataset
    machines : sequence of str
    people : sequence of str or None
        Names of the people; all other raters if None.
    score : {"accuracy", "rmse", "overlap"} or None

    Raises
    ------
    InputError, NotApplicableError
        See `alternative_test`.
    """

    def __init__(
        self, dataset: Dataset, machines: Sequence[str], people: Sequence[str] | None, score: Score | None
    ) -> None:
        if not dataset.raters_identified:
            raise NotApplicableError(
                "Cannot compare raters with an AI rater: the annotations are anonymous. To evaluate the AI rater "
                "without rater names, add its predictions on the Reliability page, or use the commands `sweep` and "
                "`sets`."
            )
        code = {name: place for place, name in enumerate(dataset.raters)}
        for name in (*machines, *(people or ())):
            if name not in code:
                raise InputError(f"Could not find rater {name!r} in {dataset.name}.", "Check the names of the raters.")
        if not machines:
            raise InputError("Could not start the test: no AI rater was named.", "Name at least one AI rater.")
        if people is not None and (both := set(machines) & set(people)):
            raise InputError(
                f"Could not use {sorted(both)[0]!r}: it is named both as an AI rater and as a person.",
                "Use each name in only one of the two lists.",
            )
        self.people = tuple(people) if people is not None else tuple(n for n in dataset.raters if n not in machines)
        if len(self.people) < 2:
            raise NotApplicableError("The test needs at least two people in addition to the AI rater.")
        self.dataset = dataset
        self.score = AnnotationScore(dataset, score)
        self._code = code
        first = first_of_each(dataset)
        place_of = np.full(dataset.n_raters, -1, np.int64)
        place_of[[code[name] for name in self.people]] = np.arange(len(self.people))
        self._first = first
        self._human = first[place_of[dataset.rater[first]] >= 0]
        self._person = place_of[dataset.rater[self._human]]

    def agree_by_chance(self) -> bool:
        """Return True if people do not clearly agree on classes more than by chance, or use only one class."""
        if self.dataset.kind != "class":
            return False
        keep = np.zeros(self.dataset.n_annotations, bool)
        keep[self._human] = True
        alpha = krippendorff_alpha(
            replace(
                self.dataset,
                case_ptr=keep_annotations(self.dataset.case_ptr, keep),
                rater=self.dataset.rater[keep],
                answer=self.dataset.answer[keep],
                time=None,
                pairs=None,
            ),
            ABOVE_CHANCE,
        )
        return alpha.value is None or alpha.value <= 0 or (alpha.ci_low is not None and alpha.ci_low <= 0)

    def contest(self, machine: str) -> Contest:
        """Compare one AI rater with every person."""
        dataset = self.dataset
        mine = self._first[dataset.rater[self._first] == self._code[machine]]
        of_case = np.full(dataset.n_cases, -1, np.int64)
        of_case[dataset.case_of_annotation[mine]] = mine
        case = dataset.case_of_annotation[self._human].astype(np.int64)
        n_of = np.bincount(case, minlength=dataset.n_cases)
        kept = (n_of[case] >= 2) & (of_case[case] >= 0)
        human, person, case = self._human[kept], self._person[kept], case[kept]
        near_machine, near_human = self._nearness(human, case, of_case)
        scale = np.maximum(np.abs(near_machine), np.abs(near_human))
        tie = np.abs(near_machine - near_human) <= _TIE * scale
        wins = ((near_machine > near_human) | tie).astype(float)
        d = ((near_human > near_machine) | tie) - wins
        cases, row = np.unique(case, return_inverse=True)
        shape = (cases.size, len(self.people))

        def summed(values: np.ndarray) -> csr_matrix:
            return csr_matrix((values, (row, person)), shape=shape)

        return Contest(cases, summed(np.ones(row.size)), summed(wins), summed(d), summed(d * d))

    def _nearness(self, human: np.ndarray, case: np.ndarray, of_case: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute S(f, R) and S(y_j, R) for each person's annotation, over pairs with the others of its case."""
        near_machine, near_human = np.empty(human.size), np.empty(human.size)
        if not human.size:
            return near_machine, near_human
        bounds = np.flatnonzero(np.append(True, case[1:] != case[:-1]))
        sizes = np.diff(np.append(bounds, case.size))
        cuts = np.searchsorted(np.cumsum(sizes**2), np.arange(0, (sizes**2).sum(), _PAIRS), side="left")
        for low, high in zip(cuts, np.append(cuts[1:], sizes.size), strict=True):
            if low == high:
                continue
            size, start = sizes[low:high], bounds[low:high]
            n = np.repeat(size, size)
            here = slice(int(start[0]), int(start[-1] + size[-1]))
            owner = np.repeat(np.arange(n.size), n)
            within = np.arange(owner.size) - np.repeat(np.cumsum(n) - n, n)
            other = np.repeat(np.repeat(start, size), n) + within - here.start
            pair = owner != other
            owner, other = owner[pair], other[pair]
            mine = human[here]
            machine = of_case[case[here]]
            near_human[here] = self.score.against(mine[owner], mine[other], owner, n.size)
            near_machine[here] = self.score.against(machine[owner], mine[other], owner, n.size)
        return near_machine, near_human


def first_of_each(dataset: Dataset) -> np.ndarray:
    """Return positions of the first annotation of each rater on each case, ascending."""
    key = dataset.case_of_annotation.astype(np.int64) * dataset.n_raters + dataset.rater
    return np.sort(np.unique(key, return_index=True)[1])


def _standing(panel: HumanPanel, name: str, contest: Contest, settings: _Settings, *, plan: bool) -> MachineStanding:
    tested = contest.tested
    few = tuple(panel.people[j] for j in range(len(panel.people)) if j not in set(tested.tolist()))
    if not tested.size:
        return MachineStanding(name, contest.case.size, (), few, None, None, None, None, None, None)
    once = np.ones((1, contest.case.size))
    sums = _sums(contest, tested, once)
    rho = sums.rho[0]
    p = p_values(sums, settings.epsilon)[0]
    rejected = benjamini_yekutieli(p, settings.q)
    replicates = _resampled(contest, tested, settings, contest.case.size, settings.n_resamples)
    passed = [one.passes(settings) for one in replicates]
    all_low, all_high = _interval(contest, tested, rho, settings.level)
    ends = [wilson(float(share), float(n), _t(n - 1, settings.level)) for share, n in zip(rho, sums.n[0], strict=True)]
    raters = tuple(
        AgainstRater(
            panel.people[j],
            int(sums.n[0, k]),
            float(rho[k]),
            *ends[k],
            int(sums.wins[0, k] - (sums.n - sums.d2)[0, k]),
            int((sums.n - sums.d2)[0, k]),
            int(sums.n[0, k] - sums.wins[0, k]),
            float(p[k]),
            bool(rejected[k]),
        )
        for k, j in enumerate(tested)
    )
    omega = float(rejected.mean())
    curve = np.array([benjamini_yekutieli(p_values(sums, eps)[0], settings.q).mean() for eps in CURVE])
    return MachineStanding(
        name, contest.case.size, raters, few, omega, omega >= PASSES, float(rho.mean()), all_low,
        all_high, float(np.concatenate(passed).mean()), curve,
        _cases_to_pass(contest, tested, settings) if plan else None,
    )  # fmt: skip


def _difference(name: str, other: str, one: Contest, two: Contest, settings: _Settings) -> MachineDifference:
    both = np.intersect1d(one.case, two.case)
    one, two = one.on(np.isin(one.case, both)), two.on(np.isin(two.case, both))
    tested = one.tested
    if not tested.size:
        return MachineDifference(name, other, both.size, None, None, None)
    once = np.ones((1, both.size))
    rhos = [_sums(side, tested, once).rho[0] for side in (one, two)]
    value = float(rhos[0].mean() - rhos[1].mean())
    moves = [_moves(side, tested, rho) for side, rho in zip((one, two), rhos, strict=True)]
    half = _t(both.size - 1, settings.level) * _error(moves[0] - moves[1])
    return MachineDifference(name, other, both.size, value, max(-1.0, value - half), min(1.0, value + half))


def _moves(contest: Contest, tested: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Compute u_c, how much each case moves the mean of ρ over people, shape (n_cases,)."""
    share = 1 / (np.asarray(contest.n.sum(axis=0)).ravel()[tested] * tested.size)
    return contest.wins[:, tested] @ share - contest.n[:, tested] @ (share * rho)


def _error(moves: np.ndarray) -> float:
    return float(np.sqrt(moves.size / (moves.size - 1) * (moves**2).sum()))


def _t(freedom: float, level: float) -> float:
    return float(stdtrit(freedom, (1 + level) / 2))


def _interval(contest: Contest, tested: np.ndarray, rho: np.ndarray, level: float) -> tuple[float, float]:
    """Compute the interval of the mean of ρ; if all cases are alike, each counts as one observation."""
    n_cases, mean = contest.case.size, float(rho.mean())
    variance = _error(_moves(contest, tested, rho)) ** 2
    most = float(contest.n[:, tested].sum())  # If all cases are alike, every comparison counts as one observation.
    n_eff = min(most, mean * (1 - mean) / variance) if variance > _TIE else float(n_cases)
    return wilson(mean, n_eff, _t(n_cases - 1, level))


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Sums over weighted cases, each of shape (n_resamples, n_people)."""

    n: np.ndarray
    wins: np.ndarray
    d: np.ndarray
    d2: np.ndarray

    @property
    def rho(self) -> np.ndarray:
        """ρ of each person, NaN without cases."""
        return np.divide(self.wins, self.n, out=np.full(self.n.shape, np.nan), where=self.n > 0)

    def passes(self, settings: _Settings) -> np.ndarray:
        """Return True for each resample in which ω is high enough, shape (n_resamples,)."""
        return benjamini_yekutieli(p_values(self, settings.epsilon), settings.q).mean(axis=1) >= PASSES


def _sums(contest: Contest, tested: np.ndarray, weight: np.ndarray) -> _Sums:
    return _Sums(
        *(np.asarray((matrix[:, tested].T @ weight.T).T) for matrix in (contest.n, contest.wins, contest.d, contest.d2))
    )


def p_values(sums: _Sums, epsilon: float) -> np.ndarray:
    """Compute p-values of the one-sided t-tests of mean d ≥ ε, shaped as the sums; 1 with fewer than two cases."""
    n = np.maximum(sums.n, 2.0)
    mean = sums.d / n
    spread = np.maximum(sums.d2 - sums.d * mean, 0.0) / (n - 1)
    alike = spread <= _TIE
    t = (mean - epsilon) / np.sqrt(np.where(alike, 1.0, spread) / n)
    p = np.where(alike, np.where(mean < epsilon, 0.0, 1.0), stdtr(n - 1, t))
    return np.where(sums.n < 2, 1.0, p)


def benjamini_yekutieli(p: np.ndarray, q: float) -> np.ndarray:
    """Return the hypotheses rejected at false discovery rate q under any dependence, along the last axis.

    Parameters
    ----------
    p : ndarray, shape (..., m)
    q : float

    Returns
    -------
    ndarray of bool
    """
    m = p.shape[-1]
    rank = np.arange(1, m + 1)
    ordered = np.sort(p, axis=-1)
    below = ordered <= rank * q / (m * (1 / rank).sum())
    k = np.where(below.any(axis=-1), m - np.argmax(below[..., ::-1], axis=-1), 0)
    cut = np.take_along_axis(ordered, np.maximum(k - 1, 0)[..., None], axis=-1)
    return (p <= cut) & (k > 0)[..., None]


def _resampled(
    contest: Contest, tested: np.ndarray, settings: _Settings, n_cases: int, n_resamples: int
) -> list[_Sums]:
    """Return sums over resamples of ``n_cases`` cases; equal settings and numbers of cases give equal sums."""
    rng = np.random.default_rng([abs(settings.seed), settings.seed < 0, n_cases])
    own = contest.case.size
    size = max(1, _CELLS // max(own, 1))
    found = []
    for low in range(0, n_resamples, size):
        weight = rng.multinomial(n_cases, np.full(own, 1 / own), size=min(size, n_resamples - low)).astype(float)
        found.append(_sums(contest, tested, weight))
    return found


def _cases_to_pass(contest: Contest, tested: np.ndarray, settings: _Settings) -> int | None:
    """Find the smallest number of cases, to a tenth, with which it passes in `POWER` of resamples of that size."""
    own = contest.case.size

    def enough(n_cases: int) -> bool:
        parts = _resampled(contest, tested, settings, n_cases, _TRIES)
        return bool(np.concatenate([part.passes(settings) for part in parts]).mean() >= POWER)

    high = own
    while not enough(high):
        if high >= own * _MOST_TIMES:
            return None
        high *= 2
    low = max(2, high // 2) if high > own else 2
    while high - low > max(1, high // 20):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
