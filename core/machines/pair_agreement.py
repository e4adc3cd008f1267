"""Agreement among people next to that of each AI rater with them, on the same cases."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..result_base import Result
from .alternative_test import check_numbers, first_of_each
from .annotation_scores import AnnotationScore, Score
from .equivalent_readers import FEWEST
from .resampling import of_agreement, of_differences, resampled, scale_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairAgreement(Result):
    """Mean agreement among people, and of an AI rater with them, as means over cases of means over pairs.

    Attributes
    ----------
    machine : str
    n_cases : int
        Number of cases with the AI rater and two people or more.
    people, people_low, people_high : float or None
        Mean over pairs of people; None without such a case.
    machine_people, machine_low, machine_high : float or None
        Mean over pairs of the AI rater and a person.
    difference, low, high : float or None
        ``machine_people`` less ``people``; interval by resampling cases and two more, see `core.machines.resampling`.
        Fewer than ten cases have no intervals.
    """

    machine: str
    n_cases: int
    people: float | None = None
    people_low: float | None = None
    people_high: float | None = None
    machine_people: float | None = None
    machine_low: float | None = None
    machine_high: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None

    COLUMNS = ("machine", "n_cases", "people", "machine_people", "difference", "low", "high")
    TABLES = ("agreement",)


def pair_agreement(
    dataset: Dataset,
    machine: str,
    people: Sequence[str],
    *,
    score: Score | None = None,
    level: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
) -> PairAgreement:
    """Compute agreement among people, and between an AI rater and people, as S of one annotation against another.

    Parameters
    ----------
    dataset : Dataset
    machine : str
    people : sequence of str
    score : {"accuracy", "rmse", "overlap"}, optional
        See `core.machines.annotation_scores`; distances are negative.
    level : float
        Confidence level of the intervals.
    n_resamples, seed : int
    """
    check_numbers(0.0, 0.05, level, n_resamples)
    how = AnnotationScore(dataset, score)
    first = first_of_each(dataset)
    codes = {name: place for place, name in enumerate(dataset.raters)}
    human = first[np.isin(dataset.rater[first], [codes[name] for name in people])]
    mine = first[dataset.rater[first] == codes[machine]]
    of_case = np.full(dataset.n_cases, -1, np.int64)
    of_case[dataset.case_of_annotation[mine]] = mine
    case = dataset.case_of_annotation[human]
    n_of = np.bincount(case, minlength=dataset.n_cases)
    kept = (n_of[case] >= 2) & (of_case[case] >= 0)
    human, case = human[kept], case[kept]
    if not case.size:
        return PairAgreement(machine, 0)
    cases, row = np.unique(case, return_inverse=True)
    within = among_people(how, human, row)
    between = how.against(of_case[case], human, row, cases.size)
    both = np.column_stack([within, between, between - within])
    if cases.size < FEWEST:
        people_mean, machine_mean, difference = both.mean(axis=0).tolist()
        return PairAgreement(
            machine, int(cases.size), people_mean, machine_people=machine_mean, difference=difference
        )  # fmt: skip
    scale = scale_of(how, human)
    wider = [of_agreement(within, how, scale), of_agreement(between, how, scale)]
    drawn = resampled(np.column_stack([*wider, of_differences(both[:, 2], scale)]), n_resamples, seed)
    ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    told = [float(value) for column in range(3) for value in (both[:, column].mean(), *ends[:, column])]
    return PairAgreement(machine, int(cases.size), *told)


def among_people(how: AnnotationScore, human: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Compute S between the people of each case, as the mean over pairs, shape (n_cases,).

    Parameters
    ----------
    how : AnnotationScore
    human : ndarray of int64, shape (n,)
        Positions of annotations, grouped by case.
    row : ndarray of int64, shape (n,)
        Case of each annotation, from 0; each case has two people or more.
    """
    size = np.bincount(row)
    start, n = np.cumsum(size) - size, size[row]
    one = np.repeat(np.arange(human.size), n)
    other = np.repeat(start[row] - np.cumsum(n) + n, n) + np.arange(one.size)
    later = other > one
    return how.against(human[one[later]], human[other[later]], row[one[later]], size.size)
