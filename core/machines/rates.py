"""Rates among all cases from a machine's labels on all of them and people's on a few: of each class, and its accuracy.

Labels are the people's annotations of a case, as shares, or what reviewers say of the cases of a random sample, whose
chances of being drawn are in the record. See `core.evaluation.corrected_rates` for the methods.

What a sample is to estimate: how likely each case counts towards it, which its chance of being drawn is chosen by.

A rate is estimated best where a case is drawn with a probability in proportion to the standard deviation of what it
would bring [Zrnic & Candès 2024]. Of a class that is ``√(s (1 - s))`` with s the share of the people's annotations of
the case that name it, drawn to the share over all cases by one annotation more, so that two who agree leave doubt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..evaluation.corrected_rates import FEW_DIFFER, CorrectedRate, class_rate
from ..result_base import Columns, Result
from ..review.opinions import Opinion
from ..review.random_sample import ReviewedBy
from ..review.states import CaseReview
from ..text import listed, with_interval

ACCURACY = "accuracy"
AGREEMENT = "agreement with a person"  # the accuracy where people's annotations are the labels: they hold errors
RIGHT = "being right"  # the accuracy where what reviewers decided counts as the truth
MOST_NAMED = 5  # rates in a note


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MachineRate(Result):
    """One rate among all cases.

    Attributes
    ----------
    machine : str
    of : str
        The class, or `ACCURACY`: how often the machine's first class is that of the label.
    is_class : bool
    alone : float or None
        What the machine says without correction; None for accuracy, of which it says nothing.
    people : CorrectedRate
        From the labels alone.
    corrected : CorrectedRate
        From labels and machine.
    """

    machine: str
    of: str
    is_class: bool
    alone: float | None
    people: CorrectedRate
    corrected: CorrectedRate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MachineRates(Result):
    """Rates of one machine.

    Attributes
    ----------
    rates : tuple of MachineRate
        Accuracy, then every class in the order of the data.
    sampled : bool
        Whether labels are of a random sample with known chances; else it is supposed that labelled cases are one.
    n_labelled, n : int
    notes : tuple of str
        What they rest on.
    """

    rates: tuple[MachineRate, ...]
    sampled: bool
    n_labelled: int
    n: int
    notes: tuple[str, ...] = field(default=())

    TABLES = ("rates",)

    def _columns(self, table: str, most: int | None) -> Columns:
        found: dict[str, list] = {
            "machine": [one.machine for one in self.rates],
            "of": [one.of for one in self.rates],
            "machine_alone": [one.alone for one in self.rates],
        }
        for side in ("people", "corrected"):
            for name in ("estimate", "ci_low", "ci_high"):
                found[f"{side}_{name}"] = [getattr(getattr(one, side), name) for one in self.rates]
        return found | {
            "weight": [one.corrected.weight for one in self.rates],
            "n_labelled": [self.n_labelled] * len(self.rates),
            "n": [self.n] * len(self.rates),
        }


def first_classes(dataset: Dataset, rater: str) -> np.ndarray:
    """The first class that a rater gave each case, its code; -1 where none. ndarray of int64, shape (n_cases,)."""
    own = np.flatnonzero(dataset.rater == dataset.raters.index(rater))[::-1]  # of several the first is written last
    first = np.full(dataset.n_cases, -1, np.int64)
    first[dataset.case_of_annotation[own]] = dataset.answer[own]
    return first


def people_labels(dataset: Dataset, people: Sequence[str]) -> np.ndarray:
    """The share of people who name each class on each case, shape (n_cases, n_classes); NaN where nobody annotated.

    Parameters
    ----------
    dataset : Dataset
        Of single classes.
    people : sequence of str
    """
    codes = [place for place, name in enumerate(dataset.raters) if name in set(people)]
    human = np.isin(dataset.rater, codes)
    counts = np.zeros((dataset.n_cases, dataset.n_classes))
    np.add.at(counts, (dataset.case_of_annotation[human], dataset.answer[human]), 1)
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)


def review_labels(dataset: Dataset, reviews: Mapping[str, CaseReview], chance: Mapping[str, float]) -> np.ndarray:
    """What reviewers say of the cases of a sample, shape (n_cases, n_classes): the decision, else the mean of reads.

    Parameters
    ----------
    dataset : Dataset
    reviews : mapping of str to CaseReview
    chance : mapping of str to float
        Cases of the sample (`core.review.random_sample.ReviewedBy.chance`); all others are NaN, and so are those that
        nobody could determine.
    """
    code = {name: place for place, name in enumerate(dataset.classes)}
    found = np.full((dataset.n_cases, dataset.n_classes), np.nan)
    for place, case in enumerate(dataset.cases):
        review = reviews.get(case)
        if case not in chance or review is None:
            continue
        decided = review.adjudication.opinion if review.adjudication is not None else None
        said = [decided] if decided is not None else [read.opinion for read in review.reads]
        shares = [row for opinion in said if (row := _share(opinion, code)) is not None]
        if shares:
            found[place] = np.mean(shares, axis=0)
    return found


def sample_labels(dataset: Dataset, reviews: Mapping[str, CaseReview], by: ReviewedBy) -> tuple[np.ndarray, np.ndarray]:
    """`review_labels` of a random sample, and with which chance each came to have one.

    A sample is read in an order by chance, so that the part with labels is a sample as well: the chance of being drawn
    times the share of the drawn cases that have a label.

    Parameters
    ----------
    dataset : Dataset
    reviews : mapping of str to CaseReview
    by : ReviewedBy
        How they came to be reviewed.

    Returns
    -------
    ndarray, shape (n_cases, n_classes)
    ndarray, shape (n_cases,)
        1 for cases without a label.
    """
    labels = review_labels(dataset, reviews, by.chance)
    known = np.isfinite(labels).all(axis=1)
    read = np.array([case in by.chance for case in dataset.cases])
    share = known.sum() / max(read.sum(), 1) * len(by.chance) / max(len(by.chance) + by.n_unread, 1)
    return labels, np.array(
        [by.chance[case] * share if here else 1.0 for case, here in zip(dataset.cases, known, strict=True)]
    )


def _share(opinion: Opinion, code: Mapping[str, int]) -> np.ndarray | None:
    named = dict(opinion.distribution) or dict.fromkeys(opinion.blocks[0] if opinion.blocks else (), 1.0)
    row = np.zeros(len(code))
    for name, weight in named.items():
        if name in code:
            row[code[name]] = weight
    return row / row.sum() if row.sum() > 0 else None


def machine_rates(
    dataset: Dataset,
    machine: str,
    labels: np.ndarray,
    *,
    probability: np.ndarray | None = None,
    chance: np.ndarray | None = None,
    level: float = 0.95,
) -> MachineRates:
    """How often each class is the label, and how often the machine names it, among all cases that the machine labelled.

    Labels count as they are: people's annotations have people's errors in them, so that rates by them are of what a
    person would say, and the machine's accuracy is its agreement with a person.

    Parameters
    ----------
    dataset : Dataset
        Of single classes; the machine is a rater of it.
    machine : str
    labels : ndarray, shape (n_cases, n_classes)
        Shares of each class by people, NaN on cases without a label.
    probability : ndarray, shape (n_cases, n_classes), optional
        The machine's; its annotations count where not given.
    chance : ndarray, shape (n_cases,), optional
        Probability with which each labelled case was drawn; a simple random sample is supposed where not given.
    level : float
        Of the intervals.

    Raises
    ------
    InputError
        There is no such rater.
    NotApplicableError
        Fewer than two cases of the machine are labelled, or the annotations are no single classes.
    """
    if machine not in dataset.raters:
        raise InputError(f"There is no rater {machine!r}.", "Look at the names of the raters.")
    if dataset.kind != "class":
        raise NotApplicableError("Rates of classes need one class per annotation.")
    first = first_classes(dataset, machine)
    said = first >= 0
    labelled = said & np.isfinite(labels).all(axis=1)
    if labelled.sum() < 2:
        raise NotApplicableError(f"Fewer than two cases of {machine} have a label. Draw a sample on Review.")
    table = np.where(said[:, None], np.eye(dataset.n_classes)[np.maximum(first, 0)], np.nan)
    given = table if probability is None else np.where(said[:, None], probability, np.nan)
    right = np.where(labelled, np.nan_to_num(labels)[np.arange(dataset.n_cases), np.maximum(first, 0)], np.nan)
    sure = np.where(said, given.max(axis=1, initial=0.0, where=np.isfinite(given)), np.nan)
    found = [_rate(machine, ACCURACY, False, right, sure, labelled, chance, level)]
    for code, name in enumerate(dataset.classes):
        y = np.where(labelled, labels[:, code], np.nan)
        found.append(_rate(machine, name, True, y, given[:, code], labelled, chance, level))
    return MachineRates(
        tuple(found), chance is not None, int(labelled.sum()), int(said.sum()), _notes(found, chance is not None)
    )


def rate_words(rate: CorrectedRate) -> str:
    """``0.27 (0.24 to 0.29)``; with a third digit where an interval would read as never or always.

    Parameters
    ----------
    rate : CorrectedRate
    """
    near_an_end = rate.ci_high < 0.01 or rate.ci_low > 0.99
    return with_interval(rate.estimate, rate.ci_low, rate.ci_high, digits=3 if near_an_end else 2)


def _notes(found: Sequence[MachineRate], sampled: bool) -> tuple[str, ...]:
    """Each note once; that of labels that hardly differ says of which rates, unless it is true of all."""
    notes = dict.fromkeys(note for one in found for note in one.corrected.notes)
    accuracy = RIGHT if sampled else AGREEMENT
    few = [one.of if one.is_class else accuracy for one in found if FEW_DIFFER in one.corrected.notes]
    if few and len(few) < len(found):
        first, rest = few[:MOST_NAMED], len(few) - MOST_NAMED
        named = listed([*first, f"{rest:,} more"] if rest > 0 else first)
        notes = {f"Of {named}: {note[0].lower()}{note[1:]}" if note == FEW_DIFFER else note: None for note in notes}
    return tuple(notes)


def _rate(
    machine: str, of: str, is_class: bool, y: np.ndarray, f: np.ndarray, labelled: np.ndarray,
    chance: np.ndarray | None, level: float,
) -> MachineRate:  # fmt: skip
    alone = float(np.nanmean(f)) if is_class else None
    if chance is None:
        people, corrected = (class_rate(y, f, how, level=level) for how in ("humans", "ppi"))
    else:
        p = np.where(labelled, chance, 1.0)
        nothing = np.where(np.isfinite(f), 0.0, np.nan)  # a machine that says nothing leaves the labels alone
        people, corrected = (class_rate(y, one, "sampled", probability=p, level=level) for one in (nothing, f))
    return MachineRate(machine, of, is_class, alone, people, corrected)


def likely_named(dataset: Dataset, people: Sequence[str], name: str) -> np.ndarray:
    """How likely a further person names a class on each case, ndarray of float64, shape (n_cases,).

    Parameters
    ----------
    dataset : Dataset
        Of single classes.
    people : sequence of str
        Raters who count.
    name : str
        The class.

    Raises
    ------
    InputError
        There is no such class.
    NotApplicableError
        The annotations are no single classes.
    """
    _check(dataset)
    if name not in dataset.classes:
        raise InputError(f"There is no class {name!r}.", "Look at the names of the classes.")
    return _drawn_to_all(dataset, people, people_labels(dataset, people)[:, dataset.classes.index(name)])


def likely_right(dataset: Dataset, people: Sequence[str], machine: str) -> np.ndarray:
    """How likely a further person names the class that a machine gave each case; 0 where it gave none.

    Parameters
    ----------
    dataset : Dataset
        Of single classes, with the machine among the raters.
    people : sequence of str
        Raters who count.
    machine : str

    Raises
    ------
    InputError
        There is no such rater.
    NotApplicableError
        The annotations are no single classes.
    """
    _check(dataset)
    if machine not in dataset.raters:
        raise InputError(f"There is no rater {machine!r}.", "Look at the names of the raters.")
    first = first_classes(dataset, machine)
    labels = people_labels(dataset, people)[np.arange(dataset.n_cases), np.maximum(first, 0)]
    said = first >= 0
    return np.where(said, _drawn_to_all(dataset, people, np.where(said, labels, np.nan)), 0.0)


def _check(dataset: Dataset) -> None:
    if dataset.kind != "class":
        raise NotApplicableError("What a sample is to estimate needs one class per annotation.")


def _drawn_to_all(dataset: Dataset, people: Sequence[str], share: np.ndarray) -> np.ndarray:
    """Shares drawn to their mean as if by one annotation; that mean where nobody annotated, a half where nobody did."""
    codes = [place for place, name in enumerate(dataset.raters) if name in set(people)]
    human = np.isin(dataset.rater, codes)
    n = np.bincount(dataset.case_of_annotation[human], minlength=dataset.n_cases)
    known = np.isfinite(share)
    mean = float(share[known].mean()) if known.any() else 0.5
    return np.where(known, (n * np.nan_to_num(share) + mean) / (n + 1), mean)
