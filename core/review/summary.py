"""Statistics for the manager on the progress of the reviews, from their events."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..agreement.coefficients import PERCENT, percent_agreement
from ..agreement.intervals import Coefficient, undefined
from ..agreement.krippendorff import KRIPPENDORFF_ALPHA, krippendorff_alpha
from ..agreement.probability import share_of_agreement
from ..annotations.dataset import Dataset
from ..certainty.top_sets import annotation_certainty, data_of_cases
from ..plausibility.ordinal_truth import OrdinalTruth
from ..plausibility.protocol import PlausibilityModel
from ..text import listed, plural
from .decisions import Decision, decisions
from .events import Event
from .states import STATES, CaseReview, ReviewerOpinion, effective, review_of

DIRECTIONS = {
    "to_panel": "to the panel's class",
    "from_panel": "away from the panel's class",
    "elsewhere": "from one class to another, both different from the panel's",
    "within": "without a change in the first choice",
    "undecided": "to a different class while the panel had no leading class",
}


@dataclass(frozen=True, slots=True, eq=False)
class Minds:
    """Number and share of reviewers who changed their opinion after the reveal.

    Attributes
    ----------
    n : int
        Number of reviewers who gave an opinion blind and finished after the reveal.
    n_changed : int
    share : Coefficient
        Share ``n_changed / n`` with an interval over cases.
    directions : dict
        Number of changes in each direction; the keys are those of `DIRECTIONS`.
    """

    n: int
    n_changed: int
    share: Coefficient
    directions: dict[str, int]


@dataclass(frozen=True, slots=True)
class Settled:
    """Number of settled cases by how they were settled.

    Attributes
    ----------
    one : int
        Number closed by one reviewer.
    several : int
        Number closed by two or more reviewers who agree.
    arbitration : int
    unsupported : int
        Number in ``one`` that were closed with an opinion outside the panel's plausible set.
    """

    one: int
    several: int
    arbitration: int
    unsupported: int

    def words(self) -> str:
        """Return how cases were settled, in sentences; empty if there are none."""
        ways = {"by one reviewer": self.one, "by reviewers who agree": self.several, "by arbitration": self.arbitration}
        n = sum(ways.values())
        if not n:
            return ""
        how = listed([f"{count:,} {way}" for way, count in ways.items() if count])
        words = f"{plural(n, 'case is', 'cases are')} settled: {how}."
        if self.one:
            words += " A single reviewer's opinion is not the truth."
        if self.unsupported:
            closed = plural(self.one, "case")
            words += f" In {self.unsupported:,} of {closed} closed by one reviewer, the opinion is outside the panel's "
            words += "plausible set."
        return words


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Statistics of one dataset's reviews.

    Attributes
    ----------
    n_cases : int
        Number of cases of the dataset.
    states : dict
        Number of cases in each state; those without an event are open.
    n_reviewed : int
        Number of cases with an opinion.
    with_panel : Coefficient
        Share of blind first opinions that agree with the decided panel revealed afterwards, interval over cases;
        ``n_annotations`` and ``n_cases`` are the numbers compared.
    with_each_other, alpha : Coefficient
        Percent agreement and Krippendorff's alpha of blind first opinions: of those with a single first class, or of
        sets of labels, which agree if they are equal.
    minds : Minds
    reasons : dict
        Number of times each reason was given, in current events.
    seconds : tuple of float, or None
        Quartiles of the time that a reviewer spent on a case; None if none was measured.
    n_timed : int
        Number of pairs of reviewer and case behind ``seconds``.
    settled : Settled
    decided : tuple of Decision
        Current decisions; `core.review.decisions.quick_words` states how many were given too quickly.
    """

    n_cases: int
    states: dict[str, int]
    n_reviewed: int
    with_panel: Coefficient
    with_each_other: Coefficient
    alpha: Coefficient
    minds: Minds
    reasons: dict[str, int]
    seconds: tuple[float, float, float] | None
    n_timed: int
    settled: Settled
    decided: tuple[Decision, ...]


_NOT_COMPARED = {
    "set": "no case has two blind sets of labels",
    "score": "two scores are rarely equal, so the share of equal scores is not informative",
}


@dataclass(frozen=True, slots=True)
class WithOpinions:
    """Mean certainty over the reviewed cases without and with the reviewers' opinions, and their number."""

    before: float
    after: float
    n: int


def summarise_reviews(dataset: Dataset, reviews: Mapping[str, CaseReview]) -> Summary:
    """Return statistics of the reviews of a dataset (`ReviewStore.cases`), including all rounds of a reopened case."""
    here = [reviews[case_id] for case_id in dataset.cases if case_id in reviews]
    states = Counter(review.state for review in here)
    states["open"] += dataset.n_cases - len(here)
    reads = {review.case_id: _rounds(review) for review in here}
    blind = {case_id: [read for read in given if read.visible == "blind"] for case_id, given in reads.items()}
    standing = [event for review in here for event in effective(review.events)]
    times = times_of(event for review in here for event in review.events)
    among = _as_dataset(dataset, blind)
    why = _NOT_COMPARED.get(dataset.kind, "no case has two blind opinions that each name one class first")
    each_other, alpha = (undefined(name, "identity", why) for name in (PERCENT, KRIPPENDORFF_ALPHA))
    if among is not None:
        each_other, alpha = percent_agreement(among), krippendorff_alpha(among)
    return Summary(
        dataset.n_cases,
        {state: states[state] for state in STATES},
        sum(bool(given) for given in reads.values()),
        _share("with_panel", _compared(blind), "no blind opinion could be compared with a confident panel"),
        each_other,
        alpha,
        _minds(blind),
        dict(Counter(event.reason for event in standing if event.reason).most_common()),
        _quartiles(times),
        len(times),
        _settled(here),
        tuple(decisions({review.case_id: review for review in here})),
    )


def _settled(reviews: Iterable[CaseReview]) -> Settled:
    closed = [review for review in reviews if review.state == "closed"]
    one = [review for review in closed if len(review.reads) == 1]
    arbitration = sum(review.state == "adjudicated" for review in reviews)
    unsupported = sum(review.closed_unsupported for review in one)
    return Settled(len(one), len(closed) - len(one), arbitration, unsupported)


@dataclass(frozen=True, slots=True, eq=False)
class Reviewer:
    """Opinions of one reviewer on a dataset.

    Attributes
    ----------
    name : str
    n_reads : int
        Number of opinions, one for each round of a case.
    n_blind : int
        Number of them that were given blind.
    with_panel : Coefficient
        Share of the blind first opinions that agree with the decided panel revealed afterwards; Wilson's interval over
        cases. ``n_annotations`` is the number compared.
    minds : Minds
    decided : tuple of Decision
        Current decisions.
    """

    name: str
    n_reads: int
    n_blind: int
    with_panel: Coefficient
    minds: Minds
    decided: tuple[Decision, ...] = ()


def by_reviewer(dataset: Dataset, reviews: Mapping[str, CaseReview]) -> list[Reviewer]:
    """List every reviewer with an opinion on a dataset, those with most blind opinions first."""
    given: dict[str, dict[str, list[ReviewerOpinion]]] = {}
    decided = decisions({case_id: reviews[case_id] for case_id in dataset.cases if case_id in reviews})
    for case_id in dataset.cases:
        for read in _rounds(reviews[case_id]) if case_id in reviews else ():
            given.setdefault(read.reviewer, {}).setdefault(case_id, []).append(read)
    found = []
    for name, by_case in given.items():
        blind = {case_id: [read for read in reads if read.visible == "blind"] for case_id, reads in by_case.items()}
        n_reads, n_blind = (sum(map(len, reads.values())) for reads in (by_case, blind))
        share = _share("with_panel", _compared(blind), "no blind opinion could be compared with a confident panel")
        mine = tuple(one for one in decided if one.reviewer == name)
        found.append(Reviewer(name, n_reads, n_blind, share, _minds(blind), mine))
    return sorted(found, key=lambda one: (-one.n_blind, -one.n_reads, one.name))


def mean_certainty(
    model: PlausibilityModel, before: Dataset, after: Dataset, *, reliability: float, n_draws: int = 1000, seed: int = 0
) -> WithOpinions | None:
    """Return mean certainty over cases with an opinion of a reviewer, with and without it; None if there are none.

    Parameters
    ----------
    model : PlausibilityModel
    before, after : Dataset
        Dataset as read, and with the opinions as further annotations (`core.review.adjudicated.with_opinions`).
    reliability : float
        Reliability γ: how much each annotation counts, > 0.
    n_draws, seed : int
    """
    added = np.flatnonzero(np.diff(after.case_ptr) > np.diff(before.case_ptr))
    if added.size == 0:
        return None
    means = []
    for dataset in (before, after):
        if dataset is after and isinstance(model, OrdinalTruth):  # It is fitted again, as reviewers are further raters.
            model = replace(model, fitted=None)
        part = data_of_cases(model, dataset, added.tolist())
        found = annotation_certainty(model, part, reliability=reliability, n_draws=n_draws, max_top=1, seed=seed)
        ids = {dataset.cases[case] for case in added}
        means.append(found.of_cases(np.array([case in ids for case in found.cases])).mean(1))
    first, second = means
    return None if first is None or second is None else WithOpinions(first, second, int(added.size))


def _rounds(review: CaseReview) -> list[ReviewerOpinion]:
    """List the opinions of every round of a case."""
    standing = effective(review.events)
    ends = [place for place, event in enumerate(standing) if event.kind == "reopen"]
    return [read for end in (*ends, len(standing)) for read in review_of(review.case_id, standing[:end]).reads]


def _compared(blind: Mapping[str, list[ReviewerOpinion]]) -> dict[str, list[bool]]:
    """Return whether each blind first opinion agrees with the panel, for cases with a decided panel revealed."""
    return {
        case_id: [read.first.agrees_with(read.panel) for read in given if read.panel is not None and read.panel.decided]
        for case_id, given in blind.items()
    }


def _share(name: str, by_case: Mapping[str, list[bool]], why: str) -> Coefficient:
    """Return the share of true values, weighted by their number per case, with Wilson's interval over cases."""
    told = [values for values in by_case.values() if values]
    if not told:
        return undefined(name, "annotations", why)
    n = np.array([len(values) for values in told], np.float64)
    shares = np.array([sum(values) for values in told]) / n
    return share_of_agreement(name, "annotations", shares, n, 0.95, int(n.sum()))


def _minds(blind: Mapping[str, list[ReviewerOpinion]]) -> Minds:
    through = {case_id: [r for r in given if r.settled and r.looked] for case_id, given in blind.items()}
    directions = dict.fromkeys(DIRECTIONS, 0)
    changed = {}
    for case_id, given in through.items():
        changed[case_id] = [read.opinion != read.first for read in given]
        for read in given:
            if read.opinion != read.first:
                directions[_direction(read)] += 1
    n, n_changed = sum(map(len, changed.values())), sum(map(sum, changed.values()))
    share = _share("changed", changed, "no reviewer has given a blind opinion, seen the panel and finished the case")
    return Minds(n, n_changed, share, directions)


def _quartiles(times: list[float]) -> tuple[float, float, float] | None:
    if not times:
        return None
    low, middle, high = np.quantile(times, (0.25, 0.5, 0.75)).tolist()
    return low, middle, high


def _direction(read: ReviewerOpinion) -> str:
    if set(read.first.first) == set(read.opinion.first):
        return "within"
    if read.panel is None or not read.panel.decided:
        return "undecided"
    if read.opinion.agrees_with(read.panel):
        return "to_panel"
    return "from_panel" if read.first.agrees_with(read.panel) else "elsewhere"


def times_of(events: Iterable[Event]) -> list[float]:
    """List the seconds of each reviewer on each case."""
    spent: dict[tuple[str, str], float] = {}
    for event in events:
        if event.seconds is not None:
            key = (event.case_id, event.reviewer)
            spent[key] = spent.get(key, 0.0) + event.seconds
    return list(spent.values())


def _as_dataset(dataset: Dataset, blind: Mapping[str, list[ReviewerOpinion]]) -> Dataset | None:
    """Return blind first opinions with a single first class, or whole sets, as annotations; None if no case has two."""
    is_set = dataset.kind == "set"
    rows = [
        (case_id, read.reviewer, tuple(sorted(read.first.first)))
        for case_id, given in blind.items()
        for read in given
        if len(read.first.first) == 1 or (is_set and read.first.first)
    ]
    # Two scores are seldom exactly equal, so percent agreement is not informative.
    if dataset.kind == "score" or max(Counter(case_id for case_id, _, _ in rows).values(), default=0) < 2:
        return None
    cases, raters = list(dict.fromkeys(row[0] for row in rows)), list(dict.fromkeys(row[1] for row in rows))
    named: list[tuple[str, ...]] = [(name,) for name in dataset.classes]
    if is_set:
        named = sorted({row[2] for row in rows})
    case = np.array([cases.index(case_id) for case_id, _, _ in rows])
    rater = np.array([raters.index(who) for _, who, _ in rows])
    answer = np.array([named.index(names) for _, _, names in rows])
    classes = [f"set {place}" for place in range(len(named))] if is_set else dataset.classes
    return Dataset.from_classes("blind reads", cases, raters, classes, case, rater, answer)
