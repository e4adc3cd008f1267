"""Rates among all cases, from an AI rater's labels on all of them and people's on a few: of classes, and its accuracy.

Labels are the people's annotations of a case, as shares, or the opinions of reviewers on a random sample of cases,
whose chances of being drawn are in the record. See `core.evaluation.corrected_rates` for the methods.

The rate that a sample is to estimate gives each case a probability of counting, by which its chance of being drawn is
chosen.

A rate is estimated best where a case is drawn with a probability in proportion to the standard deviation of its
contribution [Zrnic & Candès 2024]. Of a class that is ``√(s (1 - s))`` with s the share of the people's annotations of
the case that name it, drawn to the share over all cases by one annotation more, so that two people who agree do not
remove all doubt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..annotations.dataset import Dataset
from ..checked import check_shapes, checked
from ..errors import InputError, NotApplicableError
from ..evaluation.corrected_rates import FEW_DIFFER, CorrectedRate, class_rate
from ..result_base import Columns, Result
from ..review.opinions import Opinion
from ..review.random_sample import ReviewedBy
from ..review.states import CaseReview
from ..text import listed, percent_with_interval

ACCURACY = "accuracy"
# Name of the accuracy if people's annotations, which have errors, are the labels.
AGREEMENT = "agreement with a person"
RIGHT = "being right"  # Name of the accuracy if the reviewers' decisions count as the truth.
MOST_NAMED = 5  # A note lists at most this many rates.


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MachineRate(Result):
    """One rate among all cases.

    Attributes
    ----------
    machine : str
    of : str
        Class, or `ACCURACY`: how often the AI rater's first class is that of the label.
    is_class : bool
    alone : float or None
        Rate by the AI rater without correction; None for accuracy, which it does not estimate.
    people : CorrectedRate
        Rate from labels only.
    corrected : CorrectedRate
        Rate from labels and the AI rater.
    """

    machine: str
    of: str
    is_class: bool
    alone: float | None
    people: CorrectedRate
    corrected: CorrectedRate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MachineRates(Result):
    """Rates of one AI rater.

    Attributes
    ----------
    rates : tuple of MachineRate
        Accuracy, then every class in the order of the data.
    sampled : bool
        True if labels are of a random sample with known chances; otherwise labelled cases are assumed to be one.
    n_labelled, n : int
    notes : tuple of str
        Assumptions of the rates.
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
    """Return the first class that a rater gave each case; -1 if none. ndarray of int64, shape (n_cases,)."""
    # The first of several must win, so it is written last.
    own = np.flatnonzero(dataset.rater == dataset.raters.index(rater))[::-1]
    first = np.full(dataset.n_cases, -1, np.int64)
    first[dataset.case_of_annotation[own]] = dataset.answer[own]
    return first


@checked
def people_labels(dataset: Dataset, people: Sequence[str]) -> np.ndarray:
    """Compute the share of people who name each class on each case, (n_cases, n_classes); NaN if nobody annotated.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    people : sequence of str
    """
    codes = [place for place, name in enumerate(dataset.raters) if name in set(people)]
    human = np.isin(dataset.rater, codes)
    counts = np.zeros((dataset.n_cases, dataset.n_classes))
    np.add.at(counts, (dataset.case_of_annotation[human], dataset.answer[human]), 1)
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)


def review_labels(dataset: Dataset, reviews: Mapping[str, CaseReview], chance: Mapping[str, float]) -> np.ndarray:
    """Return reviewers' classes on a sample, shape (n_cases, n_classes): the decision, or else the mean of opinions.

    Parameters
    ----------
    dataset : Dataset
    reviews : mapping of str to CaseReview
    chance : mapping of str to float
        Chance of being drawn of each case of the sample (`core.review.random_sample.ReviewedBy.chance`). All other
        cases are NaN, and so are those that nobody could determine.
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
    """Return `review_labels` of a random sample, and the chance with which each case came to have one.

    A sample is reviewed in random order, so that the part with labels is a sample as well: the chance of being drawn
    times the share of the drawn cases that have a label.

    Parameters
    ----------
    dataset : Dataset
    reviews : mapping of str to CaseReview
    by : ReviewedBy
        How the cases came to be reviewed.

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


@checked
def machine_rates(
    dataset: Dataset,
    machine: str,
    labels: np.ndarray,
    *,
    probability: np.ndarray | None = None,
    chance: np.ndarray | None = None,
    level: float = 0.95,
) -> MachineRates:
    """Estimate how often each class is the label, and is given by the AI rater, among all cases it labelled.

    Labels count as they are. People's annotations have errors, so that rates by them are rates of what a person would
    answer, and the AI rater's accuracy is its agreement with a person.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with the AI rater among the raters.
    machine : str
    labels : ndarray, shape (n_cases, n_classes)
        Shares of each class by people, NaN on cases without a label.
    probability : ndarray, shape (n_cases, n_classes), optional
        Class probabilities of the AI rater; its annotations count if omitted.
    chance : ndarray, shape (n_cases,), optional
        Probability with which each labelled case was drawn; a simple random sample is assumed if omitted.
    level : float
        Confidence level of the intervals.

    Raises
    ------
    InputError
        The rater is unknown.
    NotApplicableError
        Fewer than two cases of the AI rater are labelled, or the annotations are not single classes.
    """
    if machine not in dataset.raters:
        raise InputError(f"Unknown rater {machine!r}.", "Check the name.")
    dataset.check_kind("class", "Could not estimate rates")
    shape = dataset.n_cases, dataset.n_classes
    check_shapes(labels=(labels, shape), probability=(probability, shape), chance=(chance, shape[:1]))
    first = first_classes(dataset, machine)
    said = first >= 0
    labelled = said & np.isfinite(labels).all(axis=1)
    if labelled.sum() < 2:
        raise NotApplicableError(
            f"Cannot estimate rates: fewer than two of the cases that {machine} annotated have a label from people. "
            "Draw a sample on the Review page."
        )
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
    """Format a rate as ``0.27 (0.24 to 0.29)``; with a third digit if an interval would read as never or always.

    Parameters
    ----------
    rate : CorrectedRate
    """
    near_an_end = rate.ci_high < 0.01 or rate.ci_low > 0.99
    return percent_with_interval(rate.estimate, rate.ci_low, rate.ci_high, digits=1 if near_an_end else 0)


def _notes(found: Sequence[MachineRate], sampled: bool) -> tuple[str, ...]:
    """List each note once; a note on labels that hardly differ names its rates, unless it applies to all."""
    notes = dict.fromkeys(note for one in found for note in one.corrected.notes)
    accuracy = RIGHT if sampled else AGREEMENT
    few = [one.of if one.is_class else accuracy for one in found if FEW_DIFFER in one.corrected.notes]
    if few and len(few) < len(found):
        first, rest = few[:MOST_NAMED], len(few) - MOST_NAMED
        named = listed([*first, f"{rest:,} more"] if rest > 0 else first)
        notes = {f"For {named}: {note[0].lower()}{note[1:]}" if note == FEW_DIFFER else note: None for note in notes}
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
        nothing = np.where(np.isfinite(f), 0.0, np.nan)  # If the AI rater adds no information, only the labels count.
        people, corrected = (class_rate(y, one, "sampled", probability=p, level=level) for one in (nothing, f))
    return MachineRate(machine, of, is_class, alone, people, corrected)


def likely_named(dataset: Dataset, people: Sequence[str], name: str) -> np.ndarray:
    """Estimate how likely a further person names a class on each case, ndarray of float64, shape (n_cases,).

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    people : sequence of str
        Names of the raters who count.
    name : str
        The class.

    Raises
    ------
    InputError
        The class is unknown.
    NotApplicableError
        The annotations are not single classes.
    """
    _check(dataset)
    if name not in dataset.classes:
        raise InputError(f"Unknown class {name!r}.", "Check the name.")
    return _drawn_to_all(dataset, people, people_labels(dataset, people)[:, dataset.classes.index(name)])


def likely_right(dataset: Dataset, people: Sequence[str], machine: str) -> np.ndarray:
    """Estimate how likely a further person gives the AI rater's class on each case; 0 if it gave none.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with the AI rater among the raters.
    people : sequence of str
        Names of the raters who count.
    machine : str

    Raises
    ------
    InputError
        The rater is unknown.
    NotApplicableError
        The annotations are not single classes.
    """
    _check(dataset)
    if machine not in dataset.raters:
        raise InputError(f"Unknown rater {machine!r}.", "Check the name.")
    first = first_classes(dataset, machine)
    labels = people_labels(dataset, people)[np.arange(dataset.n_cases), np.maximum(first, 0)]
    said = first >= 0
    return np.where(said, _drawn_to_all(dataset, people, np.where(said, labels, np.nan)), 0.0)


def _check(dataset: Dataset) -> None:
    dataset.check_kind("class", "Could not draw a sample for this rate")


def _drawn_to_all(dataset: Dataset, people: Sequence[str], share: np.ndarray) -> np.ndarray:
    """Shrink shares to their mean by one annotation; the mean if nobody annotated a case, 0.5 if nobody any case."""
    codes = [place for place, name in enumerate(dataset.raters) if name in set(people)]
    human = np.isin(dataset.rater, codes)
    n = np.bincount(dataset.case_of_annotation[human], minlength=dataset.n_cases)
    known = np.isfinite(share)
    mean = float(share[known].mean()) if known.any() else 0.5
    return np.where(known, (n * np.nan_to_num(share) + mean) / (n + 1), mean)
