"""Queues: which cases come first and why, from results of other parts. Pure functions on arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..annotations.counts import ClassCounts, raters_per_case
from ..annotations.dataset import RISK_LEVELS, Dataset
from ..certainty.more_raters import OUTCOMES, MoreRaters
from ..certainty.next_opinion import NextOpinion
from ..certainty.score_trust import ScoreTrust, score_digits
from ..certainty.shares import NO_ANNOTATION, ONE_ANNOTATION, CertaintyShares
from ..errors import InputError
from ..evaluation.predictions import Predictions
from ..order import lowest_first
from ..text import exact, number, percent, plural
from ..thresholds import UNCERTAIN_BELOW
from .panel_answer import FEWEST_READERS
from .sessions import Queued

MOST_RISK = len(RISK_LEVELS) - 1
_FEW = (ONE_ANNOTATION, NO_ANNOTATION)


@dataclass(frozen=True, slots=True, eq=False)
class Queue:
    """Cases in their order, the first one first.

    Attributes
    ----------
    name : str
        Name in words, for the title of a session.
    case : ndarray of int64, shape (n_listed,)
        Positions of the cases in the dataset. Cases to which the queue does not apply are left out.
    why : tuple of str, length n_listed
        Reason why each case is here. Not escaped.
    """

    name: str
    case: np.ndarray
    why: tuple[str, ...]

    def batch(
        self, dataset: Dataset, size: int, among: np.ndarray | None = None, last: Sequence[str] = ()
    ) -> list[Queued]:
        """Return the first cases, at most ``size``, for a session.

        Parameters
        ----------
        dataset : Dataset
        size : int
        among : ndarray of bool, shape (n_cases,), optional
            Cases to choose from, as from `core.review.filters`.
        last : sequence of str
            Cases that come after all others, in this order, as from `core.review.sessions.still_to_read`.
        """
        if size < 1:
            raise InputError(f"A session must have at least 1 case; got {size}.", "Use a larger number.")
        listed = zip(self.case.tolist(), self.why, strict=True)
        place = {case_id: at for at, case_id in enumerate(last)}
        chosen = [Queued(dataset.cases[case], why) for case, why in listed if among is None or among[case]]
        return sorted(chosen, key=lambda queued: place.get(queued.case_id, -1))[:size]


def among_all(queue: Queue, part: Dataset, whole: Dataset) -> Queue:
    """Return a queue made from a part of the data, such as without AI raters, for the whole dataset.

    Parameters
    ----------
    queue : Queue
    part, whole : Dataset
        Datasets; cases of the first are cases of the second.
    """
    if part is whole:
        return queue
    place = {case_id: at for at, case_id in enumerate(whole.cases)}
    return Queue(queue.name, np.array([place[part.cases[case]] for case in queue.case], np.int64), queue.why)


def at_reliability(queue: Queue, reliability: float, model: str = "") -> Queue:
    """Return a queue whose reasons state the model and γ of their numbers: a session stores them, and both may change.

    Parameters
    ----------
    queue : Queue
        Queue whose reasons contain numbers that depend on γ.
    reliability : float
        Reliability γ at which they were computed.
    model : str
        Title of the plausibility model; left out if empty.
    """
    at = f"({model and f'{model}, '}γ = {exact(reliability)})"

    def placed(said: str) -> str:
        if said in _FEW:  # true at every γ
            return said
        return f"{said.removesuffix('.')} {at}{'.' * said.endswith('.')}"

    return replace(queue, why=tuple(placed(said) for said in queue.why))


def lowest_certainty(
    certainty: np.ndarray,
    shares: CertaintyShares | None = None,
    more: MoreRaters | None = None,
    correct: np.ndarray | None = None,
) -> Queue:
    """Queue cases by certainty, lowest first; cases with one annotation come last, as they have no certainty.

    Parameters
    ----------
    certainty : ndarray, shape (n_cases,)
        Annotation certainty of the leading class. Cases with NaN are left out.
    shares : CertaintyShares, optional
        Cases with one annotation.
    more : MoreRaters, optional
        Effect of more raters.
    correct : ndarray, shape (n_cases,), optional
        P(correct) of the leading class; NaN if it is not known.
    """
    few = {} if shares is None else {case: said for case, said in enumerate(shares.states()) if said in _FEW}
    score = certainty.copy()
    score[list(few)] += 1

    def why(case: int) -> str:
        if case in few:
            return few[case]
        chance = np.nan if correct is None else float(correct[case])
        also = "" if np.isnan(chance) else f", P(correct) {percent(chance)}"
        does = "" if more is None or not more.outcome[case] else f", {OUTCOMES[more.outcome[case]]}"
        return f"certainty {percent(float(certainty[case]))}{also}{does}"

    return _ordered("lowest certainty", score, why)


def least_known(trust: ScoreTrust) -> Queue:
    """Queue cases of scores: the least certain side of the threshold first, or without one the widest interval.

    Parameters
    ----------
    trust : ScoreTrust
        Results at one γ.
    """
    if trust.above is not None:
        certainty, t = trust.certainty[0], exact(trust.threshold)
        return _ordered(
            "least certain side",
            certainty,
            lambda case: f"certainty about whether the score is above {t}: {percent(float(certainty[case]))}",
        )
    width = trust.width[0]
    digits = score_digits(float(np.median(width)))
    return _ordered(
        "widest interval", -width, lambda case: f"the width of the 95% interval is {number(width[case], digits)}"
    )


def risk_times_uncertainty(certainty: np.ndarray, expected_risk: np.ndarray) -> Queue:
    """Queue cases by expected risk times uncertainty: those with high risk and an uncertain class come first.

    Parameters
    ----------
    certainty : ndarray, shape (n_cases,)
    expected_risk : ndarray, shape (n_cases,)
        Expected risk, 0 low to 2 high (`core.certainty.risk.RiskResult.expected`).
    """
    score = expected_risk * (1 - certainty)

    def why(case: int) -> str:
        risk = f"expected risk {number(expected_risk[case])} out of {MOST_RISK}"
        return f"{risk}, certainty {percent(float(certainty[case]))}"

    return _ordered("risk × uncertainty", -score, why, score > 0)


def split_panel(counts: ClassCounts, classes: Sequence[str]) -> Queue:
    """Queue cases whose first two classes have nearly equal counts; of equal shares, more annotations first.

    Parameters
    ----------
    counts : ClassCounts
        Counts of cases with two annotations or more; others are left out.
    classes : sequence of str
        Names, in the order of the codes.
    """
    n_cases = counts.n_cases
    n, lead = counts.per_case(), np.full(n_cases, np.nan)
    firsts: dict[int, list[tuple[int, int]]] = {}
    for case in np.flatnonzero(n >= 2).tolist():
        entries = slice(counts.ptr[case], counts.ptr[case + 1])
        votes = sorted(zip(-counts.count[entries], counts.class_code[entries], strict=True))[:2]
        firsts[case] = [(-int(votes_of), int(code)) for votes_of, code in votes]
        if len(votes) == 2:
            lead[case] = (votes[1][0] - votes[0][0]) / n[case]

    def why(case: int) -> str:
        (a, first), (b, second) = firsts[case]
        return f"{plural(int(n[case]), 'annotation')}: {a} {classes[first]}, {b} {classes[second]}"

    return _ordered("split panel", lead, why, then=-n)


def classifier_against_panel(
    certainty: np.ndarray,
    top_class: np.ndarray,
    predictions: Predictions,
    classes: Sequence[str],
    certain: float = UNCERTAIN_BELOW,
    n_readers: np.ndarray | None = None,
) -> Queue:
    """Queue cases where a classifier's first class differs from a confident panel's; the most certain first.

    Parameters
    ----------
    certainty : ndarray, shape (n_cases,)
    top_class : ndarray of int, shape (n_cases,)
        Panel's leading class (`core.certainty.top_sets.CertaintyResult.top_class`).
    predictions : Predictions
        Predictions matched to the dataset. A tie for the first place that includes the panel's class is not a
        disagreement.
    classes : sequence of str
        Names of the classes of the dataset.
    certain : float
        Certainty from which a panel counts as certain.
    n_readers : ndarray of int, shape (n_cases,), optional
        Number of raters who have annotated; a panel of fewer than two is never certain.
    """
    enough = np.ones(len(certainty), bool) if n_readers is None else n_readers >= FEWEST_READERS
    against = np.zeros(len(certainty), bool)
    said: dict[int, str] = {}
    for case in np.flatnonzero(enough & predictions.predicted & (certainty >= certain) & (top_class >= 0)).tolist():
        entries = slice(predictions.ptr[case], predictions.ptr[case + 1])
        firsts = predictions.class_code[entries][predictions.group[entries] == 0]
        against[case] = top_class[case] not in firsts
        said[case] = " or ".join(classes[code] for code in firsts)

    def why(case: int) -> str:
        panel = f"the panel's certainty for {classes[top_class[case]]} is {percent(certainty[case])}"
        return f"{panel}, but {predictions.name} predicts {said[case]}"

    return _ordered("classifier disagrees with a confident panel", -certainty, why, against)


def single_rater(dataset: Dataset, certainty: np.ndarray | None = None) -> Queue:
    """Queue cases that only one rater has annotated; the least certain first if certainty is given."""
    n_raters = raters_per_case(dataset) if dataset.raters_identified else np.diff(dataset.case_ptr)
    order = np.zeros(dataset.n_cases) if certainty is None else certainty

    def why(case: int) -> str:
        first = dataset.annotations_of(case)[0]
        who = f"only {dataset.raters[dataset.rater[first]]}" if dataset.raters_identified else "only one rater"
        return f"{who} has annotated"

    return _ordered("single rater", order, why, n_raters == 1)


def largest_gain(found: NextOpinion) -> Queue:
    """Queue cases by how much one more opinion would help the choice, with all three numbers; equal gains by certainty.

    Gains are compared to four decimals: many are 0, as for a vote of 2 to 1, and differ only by integration error.
    """
    gain = -np.round(found.gain, 4)
    return _ordered("largest gain from one more opinion", gain, found.words, then=found.now)


def _ordered(
    name: str, score: np.ndarray, why, among: np.ndarray | None = None, then: np.ndarray | None = None
) -> Queue:
    """Queue cases by score, lowest first; scores that are equal up to rounding by ``then``, then in their order."""
    usable = ~np.isnan(score) if among is None else among & ~np.isnan(score)
    listed = np.flatnonzero(usable)
    case = listed[lowest_first(score[listed], None if then is None else then[listed])]
    return Queue(name, case, tuple(why(int(place)) for place in case))
