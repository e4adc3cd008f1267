"""A random sample of cases to review, whose chances are kept, and whether reviewed cases are a sample's or a queue's.

A queue of the least certain cases says nothing of all cases: rates over what it brought are rates of hard cases. A case
of a sample has its chance of being drawn in the record, so that rates can be computed from it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..evaluation.corrected_rates import best_probabilities
from ..runtime.seeds import case_seeds
from ..text import plural, typed
from .sessions import Queued, Session
from .states import CaseReview, effective
from .worklist import Queue

SAMPLE = "Random sample"
_CHANCE = re.compile(r"drawn with probability ([-+.e\d]+)(?: by seed (\d+))?")
_UNIFORM = 0.2  # of the budget, spread over all cases whatever their certainty


def random_sample(
    dataset: Dataset, budget: int, seed: int = 0, likely: np.ndarray | None = None, what: str = ""
) -> Queue:
    """Cases drawn at random, each by itself, so that their number is near the budget and not always it.

    The same seed with a larger budget draws the same cases and more.

    Parameters
    ----------
    dataset : Dataset
    budget : int
        Expected number of cases.
    seed : int
    likely : ndarray, shape (n_cases,), optional
        How likely each case counts towards what is to be estimated (see `core.machines.rates.likely_named`), or how
        certain its most plausible class is: cases are drawn more often where ``likely × (1 − likely)`` is large, which
        estimates that rate best. All have the same chance where it is not given; NaN counts as full doubt.
    what : str
        What is to be estimated, for the title.

    Raises
    ------
    InputError
        The budget is below 1 or above the number of cases.
    """
    if budget < 1:
        raise InputError(f"A sample of {budget:,} cases was asked for.", "Ask for at least one.")
    p = np.full(dataset.n_cases, 0.5) if likely is None else np.nan_to_num(likely, nan=0.5)
    chance = best_probabilities(p * (1 - p), budget, _UNIFORM)
    drawn = np.flatnonzero(case_seeds(seed, dataset.cases, "random sample") / 2.0**32 < chance)
    order = np.argsort(case_seeds(seed, dataset.cases, "order of the sample")[drawn], kind="stable")
    cases = drawn[order]
    title = f"{SAMPLE}: about {budget:,} of {plural(dataset.n_cases, 'case')}, seed {seed}{what and f', for {what}'}"
    why = (f"drawn with probability {typed(chance[case])} by seed {seed}" for case in cases.tolist())
    return Queue(title, cases, tuple(why))


def chance_of(queued: Queued) -> float | None:
    """The probability with which a case of a session was drawn; None for a case of a queue."""
    found = _CHANCE.fullmatch(queued.why)
    return float(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class ReviewedBy:
    """How the reviewed cases came to be reviewed.

    Attributes
    ----------
    chance : dict of str to float
        Reviewed cases of the sample, each with its probability of being drawn. Of samples with different seeds it is
        the one of which most is read: with which chance its cases were in the other is not known.
    n_queue : int
        Reviewed cases that it did not draw.
    n_unread : int
        Cases that it drew and nobody has read yet.
    n_apart : int
        How many of ``n_queue`` came by a sample with another seed.
    """

    chance: dict[str, float]
    n_queue: int
    n_unread: int
    n_apart: int = 0

    def words(self) -> str:
        """Whose rates those over the reviewed cases are, in a sentence."""
        if not self.chance:
            return (
                f"The {plural(self.n_queue, 'reviewed case')} came from queues and not by chance: what is said here is "
                "said of these cases and is no rate of all cases. Draw a random sample for that."
            )
        if not self.n_queue:
            which = plural(len(self.chance), "reviewed case is", "reviewed cases are")
            return f"The {which} of a random sample, with the chances in the record.{self._left()}"
        return (
            f"Of the reviewed cases {len(self.chance):,} came by a random sample and {self._others()}: "
            f"what is said here is said of these cases together and is no rate of all cases.{self._left()}"
        )

    def of_rates(self) -> str:
        """Which reviewed cases rates among all cases can be had from, in sentences: those of the sample alone."""
        if not self.chance:
            return (
                f"The {plural(self.n_queue, 'reviewed case')} came from queues and not by chance, so that no rate "
                "among all cases can be had from them, and none here is."
            )
        if not self.n_queue:
            return self.words()
        return (
            f"Of the reviewed cases {len(self.chance):,} came by a random sample, which rates by it count, and "
            f"{self._others()}, which they do not.{self._left()}"
        )

    def _left(self) -> str:
        if not self.n_unread:
            return ""
        return (
            f" {plural(self.n_unread, 'case')} of it still to be read; the order is by chance, so that those read "
            "stand for all of it, unless some were skipped for what they are."
        )

    def _others(self) -> str:
        if not self.n_apart:
            return f"{self.n_queue:,} from queues"
        others = f"{self.n_apart:,} by one with another seed, which cannot be counted with it"
        return f"{others}, and {self.n_queue - self.n_apart:,} from queues" if self.n_queue > self.n_apart else others


def reviewed_by(reviews: Mapping[str, CaseReview], sessions: Iterable[Session]) -> ReviewedBy:
    """Which reviewed cases a sample drew.

    Parameters
    ----------
    reviews : mapping of str to CaseReview
        Of the dataset (`ReviewStore.cases`).
    sessions : iterable of Session
        Of all reviewers.
    """
    drawn: dict[str, dict[str, float]] = {}  # by seed: of two samples with one seed the larger chance is that of both
    for session in sessions:
        for queued in session.cases:
            if found := _CHANCE.fullmatch(queued.why):
                of_seed = drawn.setdefault(found[2] or "", {})
                of_seed[queued.case_id] = max(float(found[1]), of_seed.get(queued.case_id, 0.0))
    read = {
        case_id
        for case_id, review in reviews.items()
        if any(event.kind == "opinion" for event in effective(review.events))
    }
    most = max(drawn, key=lambda seed: (len(read & drawn[seed].keys()), -len(drawn[seed])), default="")
    sample = drawn.get(most, {})
    of_sample = {case_id: chance for case_id, chance in sample.items() if case_id in read}
    apart = {case_id for each in drawn.values() for case_id in each if case_id in read} - of_sample.keys()
    return ReviewedBy(of_sample, len(read) - len(of_sample), len(sample) - len(of_sample), len(apart))
