"""Agreement case by case: its distribution, and the cases with least agreement."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agreement.probability import case_agreement
from ...annotations.counts import class_counts
from ...annotations.dataset import Dataset
from ...figures import agreement as figures
from ...text import number, percent, plural
from ..blocks import Block, Download, Figure, Grid, OnPage, Row, Stack, Strong, Words
from ..schema import Column

MOST_ROWS = 500
COLUMNS = (Column("case"), Column("agreement", unit="share"), Column("n_annotations", "annotations", "count"),
           Column("leading", "leading class"))  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class CaseAgreement:
    """Agreement of each case.

    Attributes
    ----------
    agreement : ndarray, shape (n_cases,)
        Share of each case's pairs of annotations that agree; NaN with fewer than two annotations.
    per_case : ndarray, shape (n_cases,)
        Number of annotations of each case.
    leading : ndarray of int64, shape (n_cases,)
        Annotations of the class that is named most.
    unique : ndarray of bool, shape (n_cases,)
        No other class is named as often.
    """

    agreement: np.ndarray
    per_case: np.ndarray
    leading: np.ndarray
    unique: np.ndarray

    @property
    def strong(self) -> np.ndarray:
        """Cases with two annotations or more of which two thirds or more name one class."""
        return (self.per_case >= 2) & (3 * self.leading >= 2 * self.per_case)

    @property
    def weak(self) -> np.ndarray:
        """Cases with two annotations or more on which one class is named more often than each other."""
        return (self.per_case >= 2) & self.unique


def compute(dataset: Dataset, options) -> CaseAgreement:
    """Compute agreement, number of annotations and leading class of each case."""
    counts = class_counts(dataset)
    padded = np.append(counts.count, 0)
    leading = np.zeros(counts.n_cases, np.int64)
    named = np.diff(counts.ptr) > 0
    leading[named] = np.maximum.reduceat(padded, counts.ptr[:-1][named]) if named.any() else 0
    case = np.repeat(np.arange(counts.n_cases), np.diff(counts.ptr))
    n_leading = np.bincount(case[counts.count == leading[case]], minlength=counts.n_cases)
    return CaseAgreement(*case_agreement(counts), leading, n_leading == 1)


def present(found: CaseAgreement, dataset: Dataset, options) -> list[Block]:
    """Show two histograms, and the cases with least agreement."""
    agreement, per_case = found.agreement, found.per_case
    usable = np.isfinite(agreement)
    full = f"All raters agree on {int((agreement[usable] == 1).sum()):,} of {plural(int(usable.sum()), 'case')}"
    mean = f"{number(per_case.mean(), 1)} annotations per case on average"
    left: list[Block] = [
        Figure(
            lambda theme: figures.case_agreement_histogram(agreement, theme, full),
            "Histogram of agreement per case",
            "case_agreement",
        ),
        Figure(
            lambda theme: figures.annotations_per_case(per_case, theme, mean),
            "Histogram of annotations per case",
            "per_case",
        ),
    ]
    whole = table_of(found, dataset, options)
    order = np.argsort(np.where(usable, agreement, np.inf), kind="stable")
    least = whole.iloc[order[usable[order]][:MOST_ROWS]].reset_index(drop=True)
    right: list[Block] = [
        Words((Strong("Lowest agreement first"), OnPage("; choose a row to open the case"))),
        Grid(least, "Cases with the lowest agreement.", 20, COLUMNS, "least_agreement", opens_case=True, height=520),
    ]
    return [
        *_counted(found),
        Row((Stack(1, left), Stack(1, right)), gap="large"),
        Download(whole, "Agreement of every case", "agreement_by_case", "case_agreement_table"),
    ]


def table_of(found: CaseAgreement, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per case."""
    kinds = np.select([found.per_case < 2, found.strong, found.weak], ["", "two thirds", "plurality"], "tied")
    return pd.DataFrame(
        {
            "case": dataset.cases,
            "agreement": found.agreement,
            "n_annotations": found.per_case.astype(int),
            "leading": kinds,
        }
    )


def _counted(found: CaseAgreement) -> list[Block]:
    """Count the cases with strong and with weak agreement, among those with two annotations or more."""
    n = int((found.per_case >= 2).sum())
    if not n:
        return []
    strong, weak = int(found.strong.sum()), int(found.weak.sum())
    return [
        Words(
            f"Raters agree strongly on {strong:,} of {plural(n, 'case')} ({percent(strong / n)}): at least two thirds "
            f"chose the same class. They agree at least weakly on {weak:,} ({percent(weak / n)}): one class was chosen "
            "most often."
        )
    ]
