"""A random sample of cases to review, whose chances are kept, and whether reviewed cases are a sample's or a queue's.

A queue of the least certain cases says nothing of all cases: rates over what it brought are rates of hard cases. A case
of a sample has its chance of being drawn in the record, so that rates can be computed from it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..evaluation.corrected_rates import best_probabilities
from ..seeds import case_seeds
from ..text import plural, typed
from .sessions import Queued, Session
from .states import CaseReview, effective
from .worklist import Queue

SAMPLE = "Random sample"
_CHANCE = "drawn with probability "
_UNIFORM = 0.2  # of the budget, spread over all cases whatever their certainty


def random_sample(dataset: Dataset, budget: int, seed: int = 0, certainty: np.ndarray | None = None) -> Queue:
    """Cases drawn at random, each by itself, so that their number is near the budget and not always it.

    Parameters
    ----------
    dataset : Dataset
    budget : int
        Expected number of cases.
    seed : int
    certainty : ndarray, shape (n_cases,), optional
        Draws by doubt: more often where ``certainty × (1 − certainty)`` is large, which estimates rates best. All cases
        have the same chance where it is not given; NaN counts as full doubt.

    Raises
    ------
    InputError
        The budget is below 1 or above the number of cases.
    """
    if budget < 1:
        raise InputError(f"A sample of {budget:,} cases was asked for.", "Ask for at least one.")
    sure = np.full(dataset.n_cases, 0.5) if certainty is None else np.nan_to_num(certainty, nan=0.5)
    chance = best_probabilities(sure * (1 - sure), budget, _UNIFORM)
    drawn = np.flatnonzero(case_seeds(seed, dataset.cases, "random sample") / 2.0**32 < chance)
    order = np.argsort(case_seeds(seed, dataset.cases, "order of the sample")[drawn], kind="stable")
    cases = drawn[order]
    title = f"{SAMPLE}: about {budget:,} of {plural(dataset.n_cases, 'case')}, seed {seed}"
    return Queue(title, cases, tuple(f"{_CHANCE}{typed(chance[case])}" for case in cases.tolist()))


def chance_of(queued: Queued) -> float | None:
    """The probability with which a case of a session was drawn; None for a case of a queue."""
    if not queued.why.startswith(_CHANCE):
        return None
    return float(queued.why.removeprefix(_CHANCE))


@dataclass(frozen=True, slots=True)
class ReviewedBy:
    """How the reviewed cases came to be reviewed.

    Attributes
    ----------
    chance : dict of str to float
        Reviewed cases of samples, each with its probability of being drawn (of two samples the larger).
    n_queue : int
        Reviewed cases that no sample drew.
    n_unread : int
        Cases that a sample drew and nobody has read yet.
    """

    chance: dict[str, float]
    n_queue: int
    n_unread: int

    def words(self) -> str:
        """Whose rates those over the reviewed cases are, in a sentence."""
        if not self.chance:
            return (
                f"The {plural(self.n_queue, 'reviewed case')} came from queues and not by chance: what is said here is "
                "said of these cases and is no rate of all cases. Draw a random sample for that."
            )
        left = ""
        if self.n_unread:
            left = (
                f" {plural(self.n_unread, 'case')} of it still to be read; the order is by chance, so that those read "
                "stand for all of it, unless some were skipped for what they are."
            )
        if not self.n_queue:
            which = plural(len(self.chance), "reviewed case is", "reviewed cases are")
            return f"The {which} of a random sample, with the chances in the record.{left}"
        return (
            f"Of the reviewed cases {len(self.chance):,} came by a random sample and {self.n_queue:,} from queues: "
            f"what is said here is said of these cases together and is no rate of all cases.{left}"
        )


def reviewed_by(reviews: Mapping[str, CaseReview], sessions: Iterable[Session]) -> ReviewedBy:
    """Which reviewed cases a sample drew.

    Parameters
    ----------
    reviews : mapping of str to CaseReview
        Of the dataset (`ReviewStore.cases`).
    sessions : iterable of Session
        Of all reviewers.
    """
    drawn: dict[str, float] = {}
    for session in sessions:
        for queued in session.cases:
            if (chance := chance_of(queued)) is not None:
                drawn[queued.case_id] = max(chance, drawn.get(queued.case_id, 0.0))
    read = {
        case_id
        for case_id, review in reviews.items()
        if any(event.kind == "opinion" for event in effective(review.events))
    }
    of_sample = {case_id: chance for case_id, chance in drawn.items() if case_id in read}
    return ReviewedBy(of_sample, len(read) - len(of_sample), len(drawn) - len(of_sample))
