"""Random sample of cases to review, with recorded probabilities, and the origin of reviewed cases: sample or queue.

A queue of the least certain cases does not represent all cases: rates over its cases are rates of hard cases. The
record has the probability with which each case of a sample was drawn, so that rates can be computed from it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..evaluation.corrected_rates import best_probabilities
from ..runtime.seeds import case_seeds
from ..text import listed, plural, typed
from .sessions import Session
from .states import CaseReview, effective
from .worklist import Queue

SAMPLE = "Random sample"
_CHANCE = re.compile(r"drawn with probability ([-+.e\d]+)(?: by seed (\d+))?")
_UNIFORM = 0.2  # share of the budget that is spread over all cases whatever their certainty


def random_sample(
    dataset: Dataset, budget: int, seed: int = 0, likely: np.ndarray | None = None, what: str = ""
) -> Queue:
    """Draw cases at random and independently, so that their number is close to the budget but not always equal to it.

    The same seed with a larger budget draws the same cases and further ones.

    Parameters
    ----------
    dataset : Dataset
    budget : int
        Expected number of cases.
    seed : int
    likely : ndarray, shape (n_cases,), optional
        Probability that each case counts towards the estimated rate (see `core.machines.rates.likely_named`), or
        certainty of its leading class: cases are drawn more often if ``likely × (1 − likely)`` is large, which
        estimates that rate best. If omitted, all have the same probability; NaN counts as 0.5.
    what : str
        Name of the estimated rate, for the title.

    Raises
    ------
    InputError
        The budget is below 1 or above the number of cases.
    """
    if budget < 1:
        raise InputError(f"The sample must have at least 1 case; got {budget:,}.", "Use a larger number.")
    p = np.full(dataset.n_cases, 0.5) if likely is None else np.nan_to_num(likely, nan=0.5)
    chance = best_probabilities(p * (1 - p), budget, _UNIFORM)
    drawn = np.flatnonzero(case_seeds(seed, dataset.cases, "random sample") / 2.0**32 < chance)
    order = np.argsort(case_seeds(seed, dataset.cases, "order of the sample")[drawn], kind="stable")
    cases = drawn[order]
    title = f"{SAMPLE}: about {budget:,} of {plural(dataset.n_cases, 'case')}, seed {seed}{what and f', for {what}'}"
    why = (f"drawn with probability {typed(chance[case])} by seed {seed}" for case in cases.tolist())
    return Queue(title, cases, tuple(why))


@dataclass(frozen=True, slots=True)
class ReviewedBy:
    """Origin of the reviewed cases.

    Attributes
    ----------
    chance : dict of str to float
        Probability of being drawn for each reviewed case of the sample. If samples have different seeds, the one with
        most reviewed cases is used: the probability of its cases in the other is unknown.
    n_queue : int
        Number of reviewed cases that the sample did not draw.
    n_unread : int
        Number of cases in the sample that nobody has reviewed yet.
    n_apart : int
        Number of cases in ``n_queue`` that are from a sample with another seed.
    """

    chance: dict[str, float]
    n_queue: int
    n_unread: int
    n_apart: int = 0

    def words(self) -> str:
        """Return which cases the rates over reviewed cases represent, in a sentence."""
        if not self.chance:
            these = "this case" if self.n_queue == 1 else "these cases"
            return (
                f"{self._came()}, not from a random sample. The results apply only to {these}. To estimate rates for "
                "all cases, draw a random sample."
            )
        if not self.n_queue:
            which = plural(len(self.chance), "reviewed case is", "reviewed cases are")
            return f"The {which} from a random sample, with recorded sampling probabilities.{self._left()}"
        sources = listed([f"{len(self.chance):,} came from a random sample", *self._others()])
        return (
            f"Of the reviewed cases, {sources}. The results apply only to these cases, not to all cases.{self._left()}"
        )

    def of_rates(self) -> str:
        """Return which reviewed cases can be used for rates among all cases, in sentences: only those of the sample."""
        if not self.chance:
            they = "it is" if self.n_queue == 1 else "they are"
            return f"{self._came()}, not from a random sample, so {they} not used to estimate rates among all cases."
        if not self.n_queue:
            return self.words()
        are = "is" if len(self.chance) == 1 else "are"
        return (
            f"{len(self.chance):,} of the reviewed cases came from a random sample and {are} used to estimate rates "
            f"among all cases. The others ({listed(self._others())}) are not used.{self._left()}"
        )

    def _came(self) -> str:
        if self.n_queue == 1:
            return "The reviewed case came from a queue"
        return f"The {self.n_queue:,} reviewed cases came from queues"

    def _left(self) -> str:
        if not self.n_unread:
            return ""
        has = "has" if self.n_unread == 1 else "have"
        return (
            f" {plural(self.n_unread, 'case')} in the sample {has} not been reviewed yet. The sample is in random "
            "order, so its reviewed cases represent all of it, unless some were skipped because of their content."
        )

    def _others(self) -> list[str]:
        counts = {"from a sample with a different seed": self.n_apart, "from queues": self.n_queue - self.n_apart}
        return [f"{count:,} {source}" for source, count in counts.items() if count]


def reviewed_by(reviews: Mapping[str, CaseReview], sessions: Iterable[Session]) -> ReviewedBy:
    """Return which reviewed cases a sample drew.

    Parameters
    ----------
    reviews : mapping of str to CaseReview
        Reviews of the dataset (`ReviewStore.cases`).
    sessions : iterable of Session
        Sessions of all reviewers.
    """
    drawn: dict[str, dict[str, float]] = {}  # by seed: of two samples with one seed, the larger probability is valid
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
