"""Lead of people over an AI rater on parts of the cases: by class, by the panel's certainty, by group.

The lead is the mean of ``d = W^h − W^f`` of the alternative annotator test over people and cases: how much more often a
person than the AI rater is nearer to the others. Against a person the test passes if the lead is clearly below ε. Its
interval is by resampling the cases and two more, one on which every person is nearer and one on which nobody is, to
allow for differences that no case showed: on ten cases without any difference it is not clearly below 0.2. Fewer than
ten cases have no interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..result_base import Result
from .alternative_test import Contest, HumanPanel, check_numbers
from .annotation_scores import Score
from .disagreements import QUARTILES, differences_from_panel, quartile_of
from .equivalent_readers import FEWEST

Part = Literal["class", "certainty", "spread", "group"]
SPREADS = ("least spread quarter", "second", "third", "most spread quarter")
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SubgroupDifference(Result):
    """Lead of people over an AI rater on some of the cases.

    Attributes
    ----------
    machine : str
    by : {"class", "certainty", "spread", "group"}
        Grouping of the cases: the panel's leading class, quartiles of its certainty, of the spread of scores, or the
        group of the cases.
    value : str
    n_cases : int
    rho : float
        Share of pairs of a case and a person on which the AI rater is as near to the others, or nearer.
    lead : float
        Mean d over these pairs.
    low, high : float or None
        Interval of the lead, see the module; None with fewer than ten cases.
    """

    machine: str
    by: Part
    value: str
    n_cases: int
    rho: float
    lead: float
    low: float | None
    high: float | None


def subgroup_differences(
    dataset: Dataset,
    machine: str,
    people: Sequence[str],
    *,
    score: Score | None = None,
    reliability: float = 1.0,
    level: float = 0.95,
    n_resamples: int = 1_000,
    seed: int = 0,
) -> tuple[SubgroupDifference, ...]:
    """Compute the lead of people over an AI rater on each part of the cases; parts without a case are left out.

    Parameters
    ----------
    dataset : Dataset
    machine : str
    people : sequence of str
    score : {"accuracy", "rmse", "overlap"}, optional
        See `core.machines.annotation_scores`.
    reliability : float
        γ of the panel's certainty.
    level : float
        Confidence level of the intervals.
    n_resamples, seed : int

    Raises
    ------
    NotApplicableError
        No case has the AI rater and two people.
    """
    check_numbers(0.0, 0.05, level, n_resamples)
    contest = HumanPanel(dataset, [machine], people, score).contest(machine)
    found = []
    for by, names, value in _parts(dataset, machine, tuple(people), contest.case, reliability):
        for name in names:
            here = contest.on(value == name)
            if here.case.size:
                found.append(_lead(machine, by, name, here, level, n_resamples, seed))
    return tuple(found)


def _parts(
    dataset: Dataset, machine: str, people: tuple[str, ...], cases: np.ndarray, reliability: float
) -> list[tuple[Part, tuple[str, ...], np.ndarray]]:
    """Return the grouping of the cases, the names of the parts in their order, and each case's part, "" for none."""
    parts: list[tuple[Part, tuple[str, ...], np.ndarray]] = []
    if dataset.kind == "score":
        spread = _spread(dataset, people, cases)
        parts.append(("spread", SPREADS, np.array([SPREADS[place] for place in quartile_of(spread)], object)))
    else:
        known = differences_from_panel(dataset, machine, people, reliability=reliability)
        row = {name: place for place, name in enumerate(known.cases)}
        places = np.array([row.get(dataset.cases[case], -1) for case in cases], np.int64)
        quartile = quartile_of(known.certainty)
        lead = [known.classes[known.panel[place]] if place >= 0 else "" for place in places]
        sure = [QUARTILES[quartile[place]] if place >= 0 else "" for place in places]
        parts.append(("certainty", QUARTILES, np.array(sure, object)))
        parts.append(("class", known.classes, np.array(lead, object)))
    if dataset.case_group is not None:
        group = np.array([dataset.case_group[case] for case in cases], object)
        parts.append(("group", tuple(sorted(set(dataset.case_group))), group))
    return parts


def _spread(dataset: Dataset, people: tuple[str, ...], cases: np.ndarray) -> np.ndarray:
    """Compute the standard deviation of people's scores on each of some cases."""
    codes = [place for place, name in enumerate(dataset.raters) if name in set(people)]
    human = np.isin(dataset.rater, codes)
    case, value = dataset.case_of_annotation[human], dataset.score[human]
    n = np.maximum(np.bincount(case, minlength=dataset.n_cases), 1)
    mean = np.bincount(case, value, dataset.n_cases) / n
    return np.sqrt(np.bincount(case, (value - mean[case]) ** 2, dataset.n_cases) / n)[cases]


def _lead(
    machine: str, by: Part, name: str, here: Contest, level: float, n_resamples: int, seed: int
) -> SubgroupDifference:
    n, wins, d = (np.asarray(each.sum(axis=1)).ravel() for each in (here.n, here.wins, here.d))
    told = machine, by, name, n.size, float(wins.sum() / n.sum()), float(d.sum() / n.sum())
    if n.size < FEWEST:
        return SubgroupDifference(*told, None, None)
    both = np.column_stack([np.append(n, [n.mean()] * 2), np.append(d, [n.mean(), -n.mean()])])
    rng = np.random.default_rng([abs(seed), seed < 0, n.size])
    size = len(both)
    drawn, step = [], max(1, _CELLS // size)
    for start in range(0, n_resamples, step):
        weight = rng.multinomial(size, np.full(size, 1 / size), size=min(step, n_resamples - start))
        sums = weight @ both
        drawn.append(sums[:, 1] / sums[:, 0])
    low, high = np.quantile(np.concatenate(drawn), [(1 - level) / 2, (1 + level) / 2])
    return SubgroupDifference(*told, float(low), float(high))
