"""Differences between an AI rater and a confident panel, by case, class and the panel's certainty."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..agreement.intervals import wilson
from ..annotations.dataset import Dataset
from ..certainty.first_place import exact_first_place
from ..errors import NotApplicableError
from ..order import FITTED, highest_first
from ..plausibility.dirichlet import DirichletCounts
from ..result_base import Columns, Result
from ..thresholds import PANEL_DECIDED
from .alternative_test import first_of_each

QUARTILES = ("least certain quarter", "second", "third", "most certain quarter")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OnSomeCases(Result):
    """Agreement of an AI rater with the panel on some of the cases.

    Attributes
    ----------
    value : str
        The panel's class, the group of the cases, or the quartile of certainty.
    n : int
        Number of cases.
    agrees, low, high : float
        Share of these cases on which the AI rater gives the panel's leading class, with Wilson's interval.
    people : float
        Mean share of the people of those cases who give the leading class: what a person reaches.
    """

    value: str
    n: int
    agrees: float
    low: float
    high: float
    people: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Differences(Result):
    """Differences of an AI rater from a panel; arrays over the cases with the AI rater and two people or more.

    Attributes
    ----------
    machine : str
    classes : tuple of str
    cases : tuple of str
    said, panel : ndarray of int32
        Class given by the AI rater, and the panel's leading class.
    certainty : ndarray
        P(that class is the most plausible), from people's annotations only.
    n_people : ndarray of int64
    level : float
        Certainty from which the panel is decided.
    reliability : float
    by_class, by_quartile, by_group : tuple of OnSomeCases
        Agreement by class on decided cases, by quartile of the certainty and by group on all cases.
    """

    machine: str
    classes: tuple[str, ...]
    cases: tuple[str, ...]
    said: np.ndarray
    panel: np.ndarray
    certainty: np.ndarray
    n_people: np.ndarray
    level: float
    reliability: float
    by_class: tuple[OnSomeCases, ...]
    by_quartile: tuple[OnSomeCases, ...]
    by_group: tuple[OnSomeCases, ...]

    TABLES = ("cases",)

    def _columns(self, table: str, most: int | None) -> Columns:
        order = self.order()
        return {
            "case": [self.cases[place] for place in order],
            "machine": [self.classes[code] for code in self.said[order]],
            "panel": [self.classes[code] for code in self.panel[order]],
            "certainty": self.certainty[order],
            "people": self.n_people[order],
        }

    @property
    def decided(self) -> np.ndarray:
        """True for cases whose panel is decided."""
        return self.certainty >= self.level

    @property
    def n_decided(self) -> int:
        """Number of cases whose panel is decided."""
        return int(self.decided.sum())

    def order(self) -> np.ndarray:
        """Sort decided cases on which the AI rater gives another class, the most certain first."""
        differ = np.flatnonzero(self.decided & (self.said != self.panel))
        return differ[highest_first(self.certainty[differ].round(FITTED))]


def differences_from_panel(
    dataset: Dataset,
    machine: str,
    people: tuple[str, ...],
    *,
    reliability: float = 1.0,
    level: float = PANEL_DECIDED,
) -> Differences:
    """Compare an AI rater with the people of each case, under Dirichlet counts of their annotations.

    Parameters
    ----------
    dataset : Dataset
        Dataset of classes, or of rankings, which count by their single first class.
    machine : str
    people : tuple of str
    reliability : float
        Reliability γ, how much each annotation counts.
    level : float
        Certainty from which the panel is decided.

    Raises
    ------
    NotApplicableError
        The annotations are scores, or no case has the machine and two people.
    """
    if dataset.kind == "score":
        raise NotApplicableError("Cannot compare an AI rater with a panel by class: the annotations are scores.")
    dataset = dataset.as_classes()[0]
    first = first_of_each(dataset)
    codes = {name: place for place, name in enumerate(dataset.raters)}
    human = first[np.isin(dataset.rater[first], [codes[name] for name in people])]
    mine = first[dataset.rater[first] == codes[machine]]
    counts = np.zeros((dataset.n_cases, dataset.n_classes), np.int64)
    np.add.at(counts, (dataset.case_of_annotation[human], dataset.answer[human]), 1)
    said = np.full(dataset.n_cases, -1, np.int32)
    said[dataset.case_of_annotation[mine]] = dataset.answer[mine]
    kept = np.flatnonzero((counts.sum(axis=1) >= 2) & (said >= 0))
    if not kept.size:
        raise NotApplicableError(f"Could not compare {machine!r}: none of its cases was annotated by two people.")
    counts, said = counts[kept], said[kept]
    lead, certainty = _leads(counts, dataset.classes, reliability)
    groups = None if dataset.case_group is None else [dataset.case_group[case] for case in kept]
    same, share = said == lead, counts[np.arange(len(kept)), lead] / counts.sum(axis=1)
    decided = certainty >= level
    of_class = [dataset.classes[code] if sure else "" for code, sure in zip(lead, decided, strict=True)]
    return Differences(
        machine,
        dataset.classes,
        tuple(dataset.cases[case] for case in kept),
        said,
        lead,
        certainty,
        counts.sum(axis=1),
        level,
        reliability,
        _groups(of_class, same, share, dataset.classes),
        _groups([QUARTILES[place] for place in quartile_of(certainty)], same, share, QUARTILES),
        () if groups is None else _groups(groups, same, share, tuple(sorted(set(groups)))),
    )


def _leads(counts: np.ndarray, classes: tuple[str, ...], reliability: float) -> tuple[np.ndarray, np.ndarray]:
    """Find the leading class of each case and P(it is the most plausible), once per distinct vector of counts."""
    vectors, which = np.unique(counts, axis=0, return_inverse=True)
    lead, certainty = np.empty(len(vectors), np.int32), np.empty(len(vectors))
    model = DirichletCounts()
    for place, vector in enumerate(vectors):
        answer = np.repeat(np.arange(len(classes)), vector)
        rows = np.arange(answer.size)
        names = [str(n) for n in rows]
        one = Dataset.from_classes("case", ["case"], names, classes, np.zeros(answer.size, np.int32), rows, answer)
        found = exact_first_place(model, one, 0, reliability)
        assert found is not None
        named, chance = found
        best = int(chance[:-1].argmax())
        lead[place], certainty[place] = named[best], chance[best]
    return lead[which.ravel()], certainty[which.ravel()]


def quartile_of(value: np.ndarray) -> np.ndarray:
    """Return the quartile of each value, 0 to 3, ndarray of int64; equal values share one."""
    return np.searchsorted(np.quantile(value, [0.25, 0.5, 0.75]), value, side="left")


def _groups(value: list[str], same: np.ndarray, share: np.ndarray, names: tuple[str, ...]) -> tuple[OnSomeCases, ...]:
    of = np.array(value, dtype=object)
    z = float(ndtri(0.975))
    found = []
    for name in names:
        here = of == name
        n = int(here.sum())
        if n and name:
            low, high = wilson(float(same[here].mean()), n, z)
            found.append(OnSomeCases(name, n, float(same[here].mean()), low, high, float(share[here].mean())))
    return tuple(found)
