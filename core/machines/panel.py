"""Worth of a panel of AI raters: its number of independent raters, and its vote compared with its best member.

With errors ``e_ij = 1 − [y_ij = z_i]`` and ρ̄ the mean φ of two raters' errors over common cases,
``n_eff = n / (1 + (n − 1) ρ̄)``, cut to 1..n [Kish 1965, the design effect of a cluster]. The truth z is gold, the
majority of people, or its posterior given people and those judged together, see `core.machines.joint_truth`: a pair for
its φ, the vote for the accuracy of the vote. If AI raters were assumed independent given z, their shared mistakes would
count as the truth. If the truth came from people only, people's mistakes would count as mistakes of AI raters.

Intervals are percentiles over resampled cases, the table fitted again to each. Shares and their differences get the two
added cases of `core.machines.resampling`. The model of people stays at its fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np

from ..agreement.intervals import IntervalEstimate, percentile_interval
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..options import check_choice, check_level, check_whole
from ..result_base import Columns, Result, rows
from ..runtime.chunks import CancelToken
from ..text import number, percent_with_interval, plural, with_interval
from .joint_truth import (
    LEAST_CASES,
    MISSING,
    JudgedAnswers,
    likelihood_of_people,
    majority_likelihood,
    one_rater,
    posterior,
    two_raters,
)

Truth = Literal["joint", "majority", "gold"]
TRUTHS: tuple[Truth, ...] = get_args(Truth)
TITLES: dict[str, str] = {
    "joint": "People, corrected for mistakes",
    "majority": "Majority of people",
    "gold": "Gold",
}
MOST_RATERS = 24
MOST_PEOPLE = 30
MOST_ADDED = 12  # With more raters, the order of adding them is not computed.
N_RESAMPLES = 200
_FOLDS, _SPLITS, _SPLITS_AGAIN = 5, 10, 2
_SIMULATED, _SIMULATED_AGAIN = 20_000, 2_000
_CELLS = 1 << 21


@dataclass(frozen=True, slots=True, repr=False)
class PanelMember(Result):
    """Contribution of a member or a family to a panel.

    Attributes
    ----------
    name : str
    is_family : bool
    accuracy : IntervalEstimate or None
        None for a family.
    correlation : float or None
        Mean φ of its errors with those of the others; None for a family.
    vote_without : IntervalEstimate
        Accuracy of the vote of the others.
    change : IntervalEstimate
        ``vote_without`` less the accuracy of the vote of all.
    n_effective_without : float
    """

    name: str
    is_family: bool
    accuracy: IntervalEstimate | None
    correlation: float | None
    vote_without: IntervalEstimate
    change: IntervalEstimate
    n_effective_without: float

    COLUMNS = ("name", "is_family", "correlation", "n_effective_without")


@dataclass(frozen=True, slots=True, repr=False)
class PanelWorth(Result):
    """Worth of a panel of AI raters.

    Attributes
    ----------
    truth : {"joint", "majority", "gold"}
    raters : tuple of str
    left_out : tuple of (str, str)
        Raters who could not be judged, and why.
    n_cases : int
        Number of cases with a known or estimated truth and an answer of the panel.
    correlation, n_effective : IntervalEstimate
    against_majority : IntervalEstimate or None
        ``n_effective`` against the majority of people; None if that is the truth already, or there is none.
    n_people : int
        Median number of people per case, which ``people_effective`` refers to.
    people_effective : IntervalEstimate or None
        Effective number of people; None if they cannot be judged.
    vote : IntervalEstimate
        Accuracy of the panel's vote; ties count in part.
    best : str
        The rater who is most often correct on all cases.
    best_accuracy : IntervalEstimate
        Accuracy of the best rater, who is chosen on other cases than those used to judge them.
    gain : IntervalEstimate
        ``vote`` less ``best_accuracy``.
    independent : float
        Accuracy of the vote if the same errors were independent.
    shortfall : IntervalEstimate
        ``independent`` less ``vote``.
    members : tuple of PanelMember
        Raters, then families.
    added : tuple of (str, float)
        Raters in the order in which the vote gains most, with the accuracy of the vote so far.
    """

    truth: Truth
    raters: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    n_cases: int
    correlation: IntervalEstimate
    n_effective: IntervalEstimate
    against_majority: IntervalEstimate | None
    n_people: int
    people_effective: IntervalEstimate | None
    vote: IntervalEstimate
    best: str
    best_accuracy: IntervalEstimate
    gain: IntervalEstimate
    independent: float
    shortfall: IntervalEstimate
    members: tuple[PanelMember, ...]
    added: tuple[tuple[str, float], ...]

    TABLES = ("members",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.members, PanelMember.COLUMNS)

    def words(self) -> str:
        """Return sentences to quote."""
        n = plural(len(self.raters), "AI rater")
        against = {"joint": "After correction for people's own mistakes", "gold": "Compared with gold"}
        people = "the only person" if self.n_people == 1 else "the majority of people"
        said = f"{against.get(self.truth, f'Compared with {people}')}, {n} are worth about {_few(self.n_effective)} "
        said += "independent raters"
        if self.against_majority is not None:
            said += f". Compared with the majority of people, they are worth about {_few(self.against_majority)}"
        best, vote = (percent_with_interval(*one) for one in (self.best_accuracy, self.vote))
        return f"{said}. The panel's vote is correct on {vote} of cases, its best member on {best}. {self.verdict()}."

    def verdict(self) -> str:
        """State whether the vote or the best single rater is better."""
        between = f"difference {points(self.gain)}"
        if self.gain.low > 0:
            return f"The vote is better than the best member: {between}"
        if self.gain.high < 0:
            value, low, high = self.gain
            return (
                f"The best member is better than the vote: difference {points(IntervalEstimate(-value, -high, -low))}"
            )
        return f"The vote and the best member do not clearly differ: {between}"


def _few(one: IntervalEstimate) -> str:
    return with_interval(*one, digits=1)


def points(one: IntervalEstimate) -> str:
    """Write a difference of shares in percentage points, with its interval.

    Parameters
    ----------
    one : IntervalEstimate
    """
    value, low, high = (number(100 * share, 0) for share in one)
    return f"{value} points ({low} to {high})"


def panel_worth(
    dataset: Dataset,
    machines: Sequence[str],
    *,
    truth: Truth = "joint",
    families: Mapping[str, Sequence[str]] | None = None,
    level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    token: CancelToken | None = None,
) -> PanelWorth:
    """Compute the effective number, the vote and the members of a panel of AI raters.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes; all raters who are not AI raters are people.
    machines : sequence of str
        Names of the panel; if there are more than `MOST_RATERS`, those with most annotations.
    truth : {"joint", "majority", "gold"}
    families : mapping of str to sequence of str, optional
        Members of the panel by family.
    level : float
        Confidence level of the intervals, 0 to 1.
    n_resamples, seed : int
    token : CancelToken, optional

    Raises
    ------
    NotApplicableError
        Annotations are not single classes, fewer than two AI raters can be judged, or the truth is not available.
    """
    check_choice(truth, "The truth", TRUTHS)
    check_level(level)
    check_whole(n_resamples, "The number of resamples", 20)
    dataset.check_kind("class", "Cannot compute the panel's effective number of raters")
    dataset.check_raters("Cannot compute the panel's effective number of raters")
    panel = _most_annotations(dataset, set(machines), MOST_RATERS)
    people = _most_annotations(dataset, set(dataset.raters) - set(machines), dataset.n_raters)
    voices = _matrix(dataset, people)
    likelihood = _likelihood(dataset, people, voices, truth)
    known = likelihood.sum(axis=1) > 0
    answers, names = _matrix(dataset, panel), tuple(dataset.raters[code] for code in panel)
    judged, left_out = _judgeable(answers, names, likelihood)
    if len(judged) < 2:
        why = "fewer than two AI raters can be judged" if left_out else "the panel has fewer than two raters"
        reasons = "".join(f" {name}: {reason}." for name, reason in left_out)
        raise NotApplicableError(f"Cannot compute the panel's effective number of raters: {why}.{reasons}")
    names, answers = tuple(names[place] for place in judged), answers[:, judged]
    kept = known & (answers != MISSING).any(axis=1)
    votes = _without_each(names, families or {})
    sample = _Sample(_Panel(answers[kept], likelihood[kept], votes), n_resamples, seed, level, token)
    found = _assembled(sample, truth, names, left_out, [name for name, _ in votes][len(names) :])
    against = None
    if truth == "joint":
        against = _against_majority(answers, voices, dataset.n_classes, n_resamples, seed, level, token)
    effective, size = _people(sample, voices if truth == "majority" else voices[kept], truth)
    return replace(found, against_majority=against, people_effective=effective, n_people=size)


def _most_annotations(dataset: Dataset, wanted: set[str], most: int) -> np.ndarray:
    """Choose the wanted raters with most annotations, as ascending codes."""
    codes = np.array([code for code, name in enumerate(dataset.raters) if name in wanted], np.int64)
    return np.sort(codes[np.argsort(-dataset.annotations_of_raters[codes], kind="stable")[:most]])


def _matrix(dataset: Dataset, raters: np.ndarray) -> np.ndarray:
    """Arrange first answers by case and rater, `MISSING` if there is none."""
    column = np.full(dataset.n_raters, -1, np.int64)
    column[raters] = np.arange(raters.size)
    found = np.full((dataset.n_cases, raters.size), MISSING, np.int64)
    # The first of several answers must win, so it is written last.
    kept = np.flatnonzero(column[dataset.rater] >= 0)[::-1]
    found[dataset.case_of_annotation[kept], column[dataset.rater[kept]]] = dataset.answer[kept]
    return found


def _counts(answers: np.ndarray, n_classes: int) -> np.ndarray:
    """Count answers of each class by case."""
    return np.stack([(answers == k).sum(axis=1) for k in range(n_classes)], axis=1)


def _likelihood(dataset: Dataset, people: np.ndarray, voices: np.ndarray, truth: Truth) -> np.ndarray:
    """Compute the likelihood of each truth without the panel; 0 throughout if there is no information."""
    if truth == "gold":
        if dataset.gold is None:
            raise NotApplicableError(
                "Cannot use gold as the truth: no case has a gold class. Add a gold file, or use another truth."
            )
        return (dataset.gold[:, None] == np.arange(dataset.n_classes)).astype(float)
    if not people.size:
        raise NotApplicableError(
            "Cannot use people as the truth: all raters are AI raters. Use gold as the truth, or add people's "
            "annotations."
        )
    if truth == "majority":
        return majority_likelihood(_counts(voices, dataset.n_classes))
    alone = dataset.select(raters=[dataset.raters[code] for code in people])
    place = {case: position for position, case in enumerate(dataset.cases)}
    found = np.zeros((dataset.n_cases, dataset.n_classes))
    found[[place[case] for case in alone.cases]] = likelihood_of_people(alone)
    return found


def _judgeable(
    answers: np.ndarray, names: Sequence[str], likelihood: np.ndarray
) -> tuple[list[int], tuple[tuple[str, str], ...]]:
    """Find raters whose errors can be counted, and the reasons for leaving out the others."""
    left_out: list[tuple[str, str]] = []
    for place, name in enumerate(names):
        given = (answers[:, place] != MISSING) & (likelihood.sum(axis=1) > 0)
        n = int(given.sum())
        likely = likelihood[given].argmax(axis=1) == answers[given, place]
        if n < LEAST_CASES:
            left_out.append((name, f"{plural(n, 'case')} with a known truth, but at least {LEAST_CASES} are needed"))
        elif likely.all() or not likely.any():
            left_out.append((name, f"{'correct' if likely.all() else 'wrong'} on every case"))
    out = {name for name, _ in left_out}
    return [place for place, name in enumerate(names) if name not in out], tuple(left_out)


def _without_each(names: Sequence[str], families: Mapping[str, Sequence[str]]) -> list[tuple[str, list[int]]]:
    """List the columns that remain without each rater, and without each family of several raters."""
    found = [(name, [place for place, other in enumerate(names) if other != name]) for name in names]
    for family, members in families.items():
        rest = [place for place, name in enumerate(names) if name not in set(members)]
        if 0 < len(rest) < len(names) - 1:
            found.append((family, rest))
    return found


class _Judgement(NamedTuple):
    """Answers as those of one rater, their table on all cases, and the score of each class as the truth."""

    judged: JudgedAnswers
    table: np.ndarray
    score: np.ndarray
    present: np.ndarray


class _Panel:
    """Answers of a panel, judged one by one, in pairs, and by votes with and without each rater."""

    def __init__(self, answers: np.ndarray, likelihood: np.ndarray, votes: Sequence[tuple[str, list[int]]]):
        self.answers, self.likelihood = answers, likelihood
        self.n_cases, self.n_raters = answers.shape
        self.ones = [self._judge(one_rater(each, self.n_classes), self._said(each)) for each in answers.T]
        self.pairs: dict[tuple[int, int], _Judgement] = {}
        for j, k in combinations(range(self.n_raters), 2):
            if ((answers[:, j] != MISSING) & (answers[:, k] != MISSING)).sum() >= LEAST_CASES:
                one, other = self.ones[j], self.ones[k]
                both = two_raters(one.judged.code, other.judged.code, (one.table, other.table), self.n_classes)
                self.pairs[j, k] = self._judge(both, one.score)
        self.vote = self.vote_of(list(range(self.n_raters)))
        self.columns = [columns for _, columns in votes]
        self.votes = [self.vote_of(columns) for columns in self.columns]

    @property
    def n_classes(self) -> int:
        return self.likelihood.shape[1]

    def vote_of(self, columns: list[int]) -> _Judgement:
        """Return the vote of some raters; tied classes share the score."""
        counts = _counts(self.answers[:, columns], self.n_classes)
        top = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
        return self._judge(one_rater(top, self.n_classes), top / np.maximum(top.sum(axis=1, keepdims=True), 1))

    def _said(self, answers: np.ndarray) -> np.ndarray:
        return (answers[:, None] == np.arange(self.n_classes)).astype(float)

    def _judge(self, judged: JudgedAnswers, score: np.ndarray) -> _Judgement:
        table = posterior(judged, self.likelihood, np.ones((1, self.n_cases)))[1][:, 0].T
        return _Judgement(judged, table, score.T[:, None], np.asarray(score.any(axis=1)))

    def fitted(self, one: _Judgement, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Fit P(z) given people and these answers, and their table, to weighted cases; see `posterior`."""
        return posterior(one.judged, self.likelihood, weight, one.table)

    def correlations(self, weight: np.ndarray) -> np.ndarray:
        """Compute φ of the errors of each pair; shape (n_samples, n_pairs), NaN if errors do not vary."""
        found = [self._correlation(j, k, self.fitted(one, weight)[0], weight) for (j, k), one in self.pairs.items()]
        return np.stack(found, axis=1) if found else np.full((len(weight), 1), np.nan)

    def _correlation(self, j: int, k: int, truth: np.ndarray, weight: np.ndarray) -> np.ndarray:
        one, other = self.ones[j], self.ones[k]
        first, second = (1 - (truth * each.score).sum(axis=0) for each in (one, other))
        both = 1 - (truth * np.maximum(one.score, other.score)).sum(axis=0)
        return phi(first, second, both, weight * (one.present & other.present))

    def vote_if_independent(self, prevalence: np.ndarray, tables: Sequence[np.ndarray], uniform: np.ndarray) -> float:
        """Simulate the accuracy of the vote of raters with these tables if they err independently given the truth.

        Parameters
        ----------
        prevalence : ndarray, shape (n_classes,)
        tables : sequence of ndarray, shape (n_answers, n_classes)
            Table of each rater.
        uniform : ndarray, shape (n_simulated, n_raters + 1)
        """
        truth = np.searchsorted(np.cumsum(prevalence)[:-1], uniform[:, 0])
        drawn = np.empty((len(uniform), self.n_raters), np.int64)
        for place, table in enumerate(tables):
            steps = np.cumsum(table / table.sum(axis=0), axis=0)[:-1, truth]
            drawn[:, place] = np.unique(self.answers[:, place])[(uniform[:, place + 1] > steps).sum(axis=0)]
        counts = _counts(drawn, self.n_classes)
        top = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
        given = top.any(axis=1)
        return float((top[np.arange(len(truth)), truth] / np.maximum(top.sum(axis=1), 1))[given].mean())


def phi(first: np.ndarray, second: np.ndarray, both: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Compute the correlation of two errors from their probabilities on each case, NaN if one does not vary.

    Parameters
    ----------
    first, second, both : ndarray, shape (n_cases,) or (n_samples, n_cases)
        Probability that the first, the second, and both are wrong.
    weight : ndarray, shape (n_samples, n_cases)

    Returns
    -------
    ndarray, shape (n_samples,)
    """
    total = np.maximum(weight.sum(axis=1), 1e-12)
    a, b, ab = ((weight * each).sum(axis=1) / total for each in (first, second, both))
    spread = a * (1 - a) * b * (1 - b)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 1e-12, (ab - a * b) / np.sqrt(spread), np.nan)


def effective_number(correlation: np.ndarray | float, n: float) -> np.ndarray:
    """Compute how many independent raters n raters count as, ``n / (1 + (n − 1) ρ)``, limited to 1..n.

    Parameters
    ----------
    correlation : ndarray or float
    n : float
    """
    return np.clip(n / np.maximum(1 + (n - 1) * np.asarray(correlation, float), 1e-12), 1, n)


def _known_mean(values: np.ndarray) -> np.ndarray:
    """Average values that are not NaN over the last axis; NaN if all are."""
    known = np.isfinite(values)
    total = np.where(known, values, 0).sum(axis=-1)
    return np.where(known.any(axis=-1), total / np.maximum(known.sum(axis=-1), 1), np.nan)


class _Statistics(NamedTuple):
    """Statistics of a panel, for each sample of the cases.

    Attributes
    ----------
    correlation : ndarray, shape (n_samples, n_pairs)
    accuracy : ndarray, shape (n_samples, n_raters)
    vote, best, independent : ndarray, shape (n_samples,)
    without : ndarray, shape (n_samples, n_votes)
    """

    correlation: np.ndarray
    accuracy: np.ndarray
    vote: np.ndarray
    best: np.ndarray
    independent: np.ndarray
    without: np.ndarray


class _Sample:
    """Statistics of a panel on all cases, and on resampled ones.

    The last two of the n + 2 weights of a resample are those of the added cases: one on which everybody is correct, and
    one on which everybody is wrong.
    """

    def __init__(self, panel: _Panel, n_resamples: int, seed: int, level: float, token: CancelToken | None):
        self.panel, self.level = panel, level
        self.n = panel.n_cases
        self.n_resamples, self.seed = n_resamples, seed
        rng, self.weight = self.resamples(self.n)
        self._fold = [rng.permutation(self.n) % _FOLDS for _ in range(_SPLITS)]
        self._uniform = rng.random((_SIMULATED, panel.n_raters + 1))
        self.all = self._statistics(np.append(np.ones(self.n), [0.0, 0.0])[None], _SPLITS, _SIMULATED)
        parts, step = [], max(1, _CELLS // (self.n * panel.n_classes))
        for low in range(0, n_resamples, step):
            if token is not None:
                token.check()
            parts.append(self._statistics(self.weight[low : low + step], _SPLITS_AGAIN, _SIMULATED_AGAIN))
        self.resampled = _Statistics(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def resamples(self, n: int) -> tuple[np.random.Generator, np.ndarray]:
        """Draw how often each of n cases and the two added ones counts, and return the generator as well."""
        rng = np.random.default_rng([abs(self.seed), self.seed < 0, n])
        return rng, rng.multinomial(n, np.full(n + 2, 1 / (n + 2)), size=self.n_resamples).astype(float)

    def interval(self, value: float, replicates: np.ndarray) -> IntervalEstimate:
        """Return the value with percentiles of its replicates."""
        return percentile_interval(value, replicates, self.level)

    def difference(self, value: float, replicates: np.ndarray, size: float) -> IntervalEstimate:
        """Return a difference of shares with its interval; two added cases differ by ``size``, up and down."""
        more = (self.weight[:, -2] - self.weight[:, -1]) * size / self.n
        return self.interval(value, replicates + more)

    def _statistics(self, weight: np.ndarray, n_splits: int, n_simulated: int) -> _Statistics:
        panel, cases = self.panel, weight[:, :-2]
        fitted = [panel.fitted(one, cases) for one in panel.ones]
        correct = np.stack([_correct(one, truth) for one, (truth, _) in zip(panel.ones, fitted, strict=True)], axis=2)
        folds = self._fold[:n_splits]
        accuracy = np.stack([_mean(each, weight) for each in np.moveaxis(correct, 2, 0)], axis=1)
        truths = [panel.fitted(one, cases)[0] for one in (panel.vote, *panel.votes)]
        vote, *without = (
            _mean(_correct(one, truth), weight) for one, truth in zip((panel.vote, *panel.votes), truths, strict=True)
        )
        prevalence = ((cases * truths[0]).sum(axis=2) / cases.sum(axis=1)).T
        alone = [
            panel.vote_if_independent(share, [table[:, row].T for _, table in fitted], self._uniform[:n_simulated])
            for row, share in enumerate(prevalence)
        ]
        best = np.mean([_chosen_elsewhere(correct, weight, fold) for fold in folds], axis=0)
        return _Statistics(panel.correlations(cases), accuracy, vote, best, np.array(alone), np.stack(without, axis=1))


def _correct(one: _Judgement, truth: np.ndarray) -> np.ndarray:
    """Compute P(correct) of each case, NaN without an answer; shape (n_samples, n_cases)."""
    return np.where(one.present, (truth * one.score).sum(axis=0), np.nan)


def _mean(correct: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Compute the accuracy in each sample, with the added cases; shape (n_samples,)."""
    cases, right, wrong = weight[:, :-2], weight[:, -2], weight[:, -1]
    given = np.isfinite(correct)
    return ((cases * np.where(given, correct, 0)).sum(axis=1) + right) / ((cases * given).sum(axis=1) + right + wrong)


def _chosen_elsewhere(correct: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Compute the accuracy of the best rater, who is chosen on the other folds; shape (n_samples,).

    Parameters
    ----------
    correct : ndarray, shape (n_samples, n_cases, n_raters)
        P(correct), NaN without an answer.
    weight : ndarray, shape (n_samples, n_cases + 2)
    fold : ndarray of int, shape (n_cases,)
    """
    given = np.isfinite(correct) * weight[:, :-2, None]
    right = given * np.where(np.isfinite(correct), correct, 0)
    total, n = weight[:, -2].copy(), weight[:, -2] + weight[:, -1]
    rows_ = np.arange(len(weight))
    for one in range(_FOLDS):
        there = fold == one
        elsewhere = right[:, ~there].sum(axis=1) / np.maximum(given[:, ~there].sum(axis=1), 1e-12)
        best = elsewhere.argmax(axis=1)
        total += right[:, there].sum(axis=1)[rows_, best]
        n += given[:, there].sum(axis=1)[rows_, best]
    return total / n


def _assembled(
    sample: _Sample,
    truth: Truth,
    names: tuple[str, ...],
    left_out: tuple[tuple[str, str], ...],
    families: Sequence[str],
) -> PanelWorth:
    """Build the result, without the statistics of people and of their majority."""
    panel, found, again = sample.panel, sample.all, sample.resampled
    correlation, effective = _of_correlations(sample, panel.n_raters)
    vote, best, alone = float(found.vote[0]), float(found.best[0]), float(found.independent[0])
    apart = np.sqrt(vote * (1 - best) + best * (1 - vote)) if 0 < vote < 1 else 1.0
    members = tuple(_member(sample, place, name, apart) for place, name in enumerate((*names, *families)))
    return PanelWorth(
        truth=truth,
        raters=names,
        left_out=left_out,
        n_cases=panel.n_cases,
        correlation=correlation,
        n_effective=effective,
        against_majority=None,
        n_people=0,
        people_effective=None,
        vote=sample.interval(vote, again.vote),
        best=names[int(found.accuracy[0].argmax())],
        best_accuracy=sample.interval(best, again.best),
        gain=sample.difference(vote - best, again.vote - again.best, 1.0),
        independent=alone,
        shortfall=sample.interval(alone - vote, again.independent - again.vote),
        members=members,
        added=_order_of_adding(panel, names, found.accuracy[0]),
    )


def _of_correlations(sample: _Sample, n: int) -> tuple[IntervalEstimate, IntervalEstimate]:
    """Compute the mean φ of the panel, and the effective number of raters."""
    every, again = sample.all.correlation[0], sample.resampled.correlation
    if not np.isfinite(every).any():
        raise NotApplicableError(
            "Cannot compute the panel's effective number of raters: no two AI raters have "
            f"{LEAST_CASES} or more cases with a known truth in common."
        )
    one = sample.interval(float(_known_mean(every)), _known_mean(again[:, np.isfinite(every)]))
    value, high, low = (float(each) for each in effective_number(np.array(one), n))
    return one, IntervalEstimate(value, low, high)


def _member(sample: _Sample, place: int, name: str, apart: float) -> PanelMember:
    """Build the member for a rater, or for a family, which comes after the raters."""
    panel, found, again = sample.panel, sample.all, sample.resampled
    is_family = place >= panel.n_raters
    vote = float(found.without[0, place])
    rest = set(panel.columns[place])
    correlation = dict(zip(panel.pairs, found.correlation[0], strict=True)) if panel.pairs else {}
    own = [value for pair, value in correlation.items() if place in pair and np.isfinite(value)]
    others = [value for pair, value in correlation.items() if set(pair) <= rest and np.isfinite(value)]
    return PanelMember(
        name,
        is_family,
        None if is_family else sample.interval(found.accuracy[0, place], again.accuracy[:, place]),
        float(np.mean(own)) if own and not is_family else None,
        sample.interval(vote, again.without[:, place]),
        sample.difference(vote - float(found.vote[0]), again.without[:, place] - again.vote, 0.0),
        float(effective_number(np.mean(others), len(rest))) if others else float(len(rest)),
    )


def _order_of_adding(panel: _Panel, names: Sequence[str], accuracy: np.ndarray) -> tuple[tuple[str, float], ...]:
    """Order raters from the best one, each time adding the one with whom the vote is most often correct."""
    chosen = [int(accuracy.argmax())]
    found = [(names[chosen[0]], float(accuracy.max()))]
    if panel.n_raters > MOST_ADDED:
        return ()
    every = np.append(np.ones(panel.n_cases), [0.0, 0.0])[None]
    while len(chosen) < panel.n_raters:
        rest = [place for place in range(panel.n_raters) if place not in chosen]
        votes = [panel.vote_of(sorted([*chosen, place])) for place in rest]
        value = [float(_mean(_correct(one, panel.fitted(one, every[:, :-2])[0]), every)[0]) for one in votes]
        best = int(np.argmax(value))
        chosen.append(rest[best])
        found.append((names[rest[best]], value[best]))
    return tuple(found)


def _against_majority(
    answers: np.ndarray, voices: np.ndarray, n_classes: int, n_resamples: int, seed: int, level: float,
    token: CancelToken | None,
) -> IntervalEstimate | None:  # fmt: skip
    """Compute the effective number against the majority of people; None if too few cases have one."""
    likelihood = majority_likelihood(_counts(voices, n_classes))
    kept = (likelihood.sum(axis=1) > 0) & (answers != MISSING).any(axis=1)
    if kept.sum() < LEAST_CASES:
        return None
    every = list(range(answers.shape[1]))
    sample = _Sample(_Panel(answers[kept], likelihood[kept], [("", every)]), n_resamples, seed, level, token)
    try:
        return _of_correlations(sample, answers.shape[1])[1]
    except NotApplicableError:
        return None


def _people(sample: _Sample, voices: np.ndarray, truth: Truth) -> tuple[IntervalEstimate | None, int]:
    """Compute the effective number of people, against the same truth, and how many people a case has.

    A majority is that of the other people, on all cases: if the votes of a pair counted, their φ would be negative.

    Parameters
    ----------
    sample : _Sample
    voices : ndarray of int, shape (n_cases, n_people)
        Answers of people on the cases of the panel, or on all cases for a majority.
    truth : {"joint", "majority", "gold"}
    """
    if voices.shape[1] < 2:
        return None, voices.shape[1]
    given, n_classes = voices != MISSING, sample.panel.n_classes
    size = max(2, int(np.median(given.sum(axis=1))))
    busy = np.argsort(-given.sum(axis=0), kind="stable")[:MOST_PEOPLE]
    every = _counts(voices, n_classes)
    known = sample.panel.fitted(sample.panel.vote, np.ones((1, sample.n)))[0][:, 0].T
    weight = sample.resamples(len(voices))[1][:, :-2]
    value, again = [], []
    for j, k in combinations(busy.tolist(), 2):
        both = given[:, j] & given[:, k]
        if truth == "majority":
            known = majority_likelihood(every - _counts(voices[:, [j, k]], n_classes))
            both &= known.any(axis=1)
        if both.sum() < LEAST_CASES:
            continue
        said = [(voices[both, place, None] == np.arange(n_classes)).astype(float) for place in (j, k)]
        one, other, joint = (1 - (known[both] * each).sum(axis=1) for each in (*said, np.maximum(*said)))
        value.append(phi(one, other, joint, np.ones((1, int(both.sum()))))[0])
        again.append(phi(one, other, joint, weight[:, both]))
    if not np.isfinite(value).any():
        return None, size
    known_again = np.array(again)[np.isfinite(value)].T
    mean = sample.interval(float(_known_mean(np.array(value))), _known_mean(known_again))
    found, high, low = (float(each) for each in effective_number(np.array(mean), size))
    return IntervalEstimate(found, low, high), size
