"""Agreement case by case: its distribution, and the cases with least agreement."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agreement.probability import case_agreement
from ...annotations.counts import class_counts
from ...annotations.dataset import Dataset
from ...figures import agreement as figures
from ...text import number, plural
from ..blocks import Block, Download, Figure, Grid, OnPage, Row, Stack, Strong, Words
from ..schema import Column

MOST_ROWS = 500
COLUMNS = (Column("case"), Column("agreement", unit="share"), Column("n_annotations", "annotations", "count"))


@dataclass(frozen=True, slots=True, eq=False)
class CaseAgreement:
    """Agreement of each case.

    Attributes
    ----------
    agreement : ndarray, shape (n_cases,)
        Share of each case's pairs of annotations that agree; NaN with fewer than two annotations.
    per_case : ndarray, shape (n_cases,)
        Number of annotations of each case.
    """

    agreement: np.ndarray
    per_case: np.ndarray


def compute(dataset: Dataset, options) -> CaseAgreement:
    """Compute agreement and number of annotations of each case."""
    return CaseAgreement(*case_agreement(class_counts(dataset)))


def present(found: CaseAgreement, dataset: Dataset, options) -> list[Block]:
    """Show two histograms, and the cases with least agreement."""
    agreement, per_case = found.agreement, found.per_case
    usable = np.isfinite(agreement)
    full = f"All raters agree in {int((agreement[usable] == 1).sum()):,} of {plural(int(usable.sum()), 'case')}"
    mean = f"{number(per_case.mean(), 1)} annotations a case on average"
    left: list[Block] = [
        Figure(
            lambda theme: figures.case_agreement_histogram(agreement, theme, full),
            "Histogram of the agreement of cases",
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
        Words((Strong("Least agreement first"), OnPage("; choose a row to open the case"))),
        Grid(least, "Cases with least agreement.", 20, COLUMNS, "least_agreement", opens_case=True, height=520),
    ]
    return [
        Row((Stack(1, left), Stack(1, right)), gap="large"),
        Download(whole, "Agreement of every case", "agreement_by_case", "case_agreement_table"),
    ]


def table_of(found: CaseAgreement, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per case."""
    return pd.DataFrame(
        {"case": dataset.cases, "agreement": found.agreement, "n_annotations": found.per_case.astype(int)}
    )
