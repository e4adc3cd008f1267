"""Drift of an AI rater's versions against a fixed set: the same cases, annotated by every version of one family.

On the cases that all versions and a person annotated, agreement of a version is the mean over cases of S(f_i, R_i), R_i
the people's annotations (`core.machines.annotation_scores`). Versions follow each other by their numbers. Each is
compared with the one before, and the last with the first, as paired differences over the same cases; intervals by
resampling cases, those of differences at 1 − (1 − level)/m for m comparisons (Bonferroni), so that many versions do not
make it more likely to seem to drift. Two cases are added, see `core.machines.resampling`: four annotations that all
changed for the better are not a clear rise (sign test, p = 0.125), although percentiles of the cases without them would
show one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..agreement.intervals import wilson
from ..annotations.dataset import Dataset
from ..result_base import Columns, Result, rows
from ..text import listed, number, percent, plural, with_interval
from .alternative_test import LEAST_CASES, check_numbers, first_of_each
from .annotation_scores import AnnotationScore, Score
from .marks import Machine
from .pair_agreement import among_people
from .resampling import of_agreement, of_differences, resampled, scale_of

_SAME = 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VersionStanding(Result):
    """Result of one version on the fixed set.

    Attributes
    ----------
    machine, version : str
    agreement, low, high : float
        Agreement with people, with its interval over cases; distances are negative.
    """

    machine: str
    version: str
    agreement: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VersionChange(Result):
    """Difference of a later version and an earlier one.

    Attributes
    ----------
    machine, before : str
    difference, low, high : float
        Difference in agreement with people; the interval allows for all comparisons of the family.
    n_changed : int
        Cases on which the annotations differ.
    changed, changed_low, changed_high : float
        Share of these cases, with Wilson's interval at the same level.
    nearer, farther : int
        Number of these cases on which the later version is nearer to the people, or farther away.
    """

    machine: str
    before: str
    difference: float
    low: float
    high: float
    n_changed: int
    changed: float
    changed_low: float
    changed_high: float
    nearer: int
    farther: int

    @property
    def sure(self) -> bool:
        """True if the interval of the difference excludes 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VersionDrift(Result):
    """Versions of one family, and the differences between them.

    Attributes
    ----------
    family : str
    score : {"accuracy", "rmse", "overlap"}
    n_cases : int
        Number of cases that every version and a person annotated.
    versions : tuple of VersionStanding
        Versions, the earliest first; empty with fewer than `LEAST_CASES` cases.
    changes : tuple of VersionChange
        Each version against the one before, then the last against the first if there are three or more.
    people : float or None
        Agreement of people with people on the same cases; None if no case has two.
    level : float
    left_out : str
        AI raters of the family whose place in the order is unknown, with the reason; empty if none.
    """

    family: str
    score: Score
    n_cases: int
    versions: tuple[VersionStanding, ...]
    changes: tuple[VersionChange, ...]
    people: float | None
    level: float
    left_out: str = ""

    TABLES = ("changes", "versions")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "versions":
            found: Columns = rows(self.versions, ("machine", "version", "agreement", "low", "high"))
        else:
            names = ("machine", "before", "difference", "low", "high", "changed", "changed_low", "changed_high")
            found = rows(self.changes, (*names, "n_changed", "nearer", "farther"))
        n = len(self.versions if table == "versions" else self.changes)
        return {"family": [self.family] * n, **found, "cases": [self.n_cases] * n}

    def words(self) -> str:
        """Describe the drift, no more confidently than the cases allow; the names must be escaped before display."""
        cases = plural(self.n_cases, "case")
        if not self.versions:
            few = f"only {cases} {'has' if self.n_cases == 1 else 'have'}" if self.n_cases else "no case has"
            return (
                f"Cannot determine the drift of {self.family}: {few} annotations by all versions and at least one "
                "person."
            )
        steps = self.changes[: len(self.versions) - 1]
        sure = [_said(one, self.score) for one in self.changes if one.sure]
        if not any(one.n_changed for one in steps):
            return f"All versions of {self.family} give the same annotations on {cases}."
        moved = [f"{percent(one.changed)} of cases between {one.before} and {one.machine}" for one in steps[:1]]
        moved += [f"{percent(one.changed)} between {one.before} and {one.machine}" for one in steps[1:]]
        if sure:
            what = "distance to" if self.score == "rmse" else "agreement with"
            told = f"{self.family}: {what} people {listed(sure)}, on {cases}."
        else:
            most = max(max(abs(one.low), abs(one.high)) for one in steps)
            told = (
                f"{self.family}: no version clearly differs from the previous one in agreement with people on "
                f"{cases}. A difference of {number(most)} cannot be ruled out."
            )
        return f"{told} Annotations changed on {listed(moved)}."


def _said(one: VersionChange, score: Score) -> str:
    """Describe one clear difference; a distance falls when agreement rises."""
    how = "rose" if (one.difference > 0) == (score != "rmse") else "fell"
    least, most = sorted((abs(one.low), abs(one.high)))
    return f"{how} by {with_interval(abs(one.difference), least, most)} from {one.before} to {one.machine}"


def version_drift(
    dataset: Dataset,
    machines: Sequence[Machine],
    people: Sequence[str],
    *,
    score: Score | None = None,
    level: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
) -> tuple[VersionDrift, ...]:
    """Compare the versions of every family.

    Parameters
    ----------
    dataset : Dataset
        Dataset with people and AI raters among its raters.
    machines : sequence of Machine
        AI raters with families and versions; those without are in no sequence.
    people : sequence of str
    score : {"accuracy", "rmse", "overlap"}, optional
        See `core.machines.annotation_scores`.
    level : float
    n_resamples, seed : int

    Returns
    -------
    tuple of VersionDrift
        Families with two versions or more.
    """
    check_numbers(0.0, 0.05, level, n_resamples)
    how = AnnotationScore(dataset, score)
    found = []
    for family in dict.fromkeys(one.family for one in machines if one.family):
        ordered, left_out = in_order([one for one in machines if one.family == family])
        if len(ordered) > 1:
            found.append(_drift(dataset, how, family, ordered, tuple(people), left_out, level, n_resamples, seed))
    return tuple(found)


def in_order(machines: Sequence[Machine]) -> tuple[tuple[Machine, ...], str]:
    """Sort AI raters of one family by version, the earliest first, and explain why others are left out.

    Parameters
    ----------
    machines : sequence of Machine
    """
    of_version: dict[str, list[Machine]] = {}
    for one in machines:
        of_version.setdefault(one.version.casefold(), []).append(one)
    alone = [group[0] for version, group in of_version.items() if version and len(group) == 1]
    reasons = [
        f"{listed([one.name for one in group])} "
        f"{'have the same' if version else 'have no' if len(group) > 1 else 'has no'} version"
        for version, group in of_version.items()
        if len(group) > 1 or not version
    ]
    return tuple(sorted(alone, key=lambda one: _place(one.version))), "; ".join(reasons)


def _place(version: str) -> tuple:
    """Sort numbers by size, words by letters, a word after its number: 3.5 < 4 < 4o < 10 < 2024-05-13."""
    parts = re.findall(r"\d+|[a-z]+", version.casefold())
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)


def _drift(
    dataset: Dataset, how: AnnotationScore, family: str, ordered: tuple[Machine, ...], people: tuple[str, ...],
    left_out: str, level: float, n_resamples: int, seed: int,
) -> VersionDrift:  # fmt: skip
    human, row, said = _fixed_set(dataset, [one.name for one in ordered], people)
    n_cases = said.shape[0]
    if n_cases < LEAST_CASES:
        return VersionDrift(family, how.name, n_cases, (), (), None, level, left_out)
    near = np.column_stack([how.against(said[row, place], human, row, n_cases) for place in range(len(ordered))])
    scale = scale_of(how, human)
    drawn = resampled(np.column_stack([of_agreement(one, how, scale) for one in near.T]), n_resamples, seed)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    mean = near.mean(axis=0)
    versions = tuple(
        VersionStanding(one.name, one.version, float(mean[place]), float(low[place]), float(high[place]))
        for place, one in enumerate(ordered)
    )
    pairs = [(place, place - 1) for place in range(1, len(ordered))]
    pairs += [(len(ordered) - 1, 0)] if len(ordered) > 2 else []
    stricter = 1 - (1 - level) / len(pairs)
    apart = resampled(
        np.column_stack([of_differences(near[:, a] - near[:, b], scale) for a, b in pairs]), n_resamples, seed
    )
    changes = []
    for place, (a, b) in enumerate(pairs):
        names = ordered[a].name, ordered[b].name
        changes.append(_change(how, *names, said[:, [a, b]], near[:, [a, b]], apart[:, place], stricter))
    return VersionDrift(family, how.name, n_cases, versions, tuple(changes), _among(how, human, row), level, left_out)


def _fixed_set(dataset: Dataset, names: Sequence[str], people: tuple[str, ...]) -> tuple[np.ndarray, ...]:
    """Select the cases that all versions and a person annotated.

    Returned are people's annotations, the case of each from 0, and the versions' annotations, (n_cases, n_versions).
    """
    first = first_of_each(dataset)
    codes = {name: place for place, name in enumerate(dataset.raters)}
    of_case = np.full((dataset.n_cases, len(names)), -1, np.int64)
    for place, name in enumerate(names):
        mine = first[dataset.rater[first] == codes[name]]
        of_case[dataset.case_of_annotation[mine], place] = mine
    human = first[np.isin(dataset.rater[first], [codes[name] for name in people])]
    case = dataset.case_of_annotation[human]
    kept = (of_case[case] >= 0).all(axis=1)
    cases, row = np.unique(case[kept], return_inverse=True)
    return human[kept], row, of_case[cases]


def _change(
    how: AnnotationScore, name: str, before: str, said: np.ndarray, near: np.ndarray, drawn: np.ndarray, level: float
) -> VersionChange:
    n = len(said)
    alike = how.against(said[:, 0], said[:, 1], np.arange(n), n)
    best = 0.0 if how.name == "rmse" else 1.0
    other = alike < best - _SAME
    apart = near[:, 0] - near[:, 1]
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    share = float(other.mean())
    ends = wilson(share, n, float(ndtri((1 + level) / 2)))
    return VersionChange(
        name, before, float(apart.mean()), float(low), float(high), int(other.sum()), share, *ends,
        int((apart > _SAME).sum()), int((apart < -_SAME).sum()),
    )  # fmt: skip


def _among(how: AnnotationScore, human: np.ndarray, row: np.ndarray) -> float | None:
    """Compute the agreement of people with people on the cases that have two."""
    several = np.bincount(row)[row] > 1
    if not several.any():
        return None
    return float(among_people(how, human[several], np.unique(row[several], return_inverse=True)[1]).mean())
