"""Relation of certainty to agreement."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agreement.ordered import METHODS as RANKED_COEFFICIENTS
from ...correlation import fisher_interval
from ...evaluation.sweep_table import SweepTable
from ...figures import reliability as figures
from ...rankings.leave_one_out import leave_one_out
from ...result_base import Result
from ...text import with_interval
from ..blocks import Block, Download, Figure, Heading, Words
from ..inputs import Inputs
from .certainty import middle


@dataclass(frozen=True, slots=True, repr=False)
class Relation(Result):
    """Least-squares line and Pearson's correlation with its 95% interval (Fisher's transformation).

    Attributes
    ----------
    intercept, slope, correlation : float or None
        Estimates; None with fewer than three pairs or without spread.
    ci_low, ci_high : float or None
        Ends of the interval; None with fewer than four pairs.
    n : int
    """

    intercept: float | None
    slope: float | None
    correlation: float | None
    ci_low: float | None
    ci_high: float | None
    n: int


def relation(x: np.ndarray, y: np.ndarray) -> Relation:
    """Compute line and correlation of two arrays of the same length."""
    n = len(x)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Relation(None, None, None, None, None, n)
    slope = float(np.cov(x, y)[0, 1] / np.var(x, ddof=1))
    r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    low, high = (None if np.isnan(end) else float(end) for end in fisher_interval(np.array(r), np.array(n), 0.025))
    return Relation(float(y.mean() - slope * x.mean()), slope, r, low, high, n)


def present(found: SweepTable, inputs: Inputs, options) -> list[Block]:
    """Show the certainty of each case against the agreement of each of its raters with the others."""
    table = table_of(found, inputs, options)
    both = table[table["agreement"].notna()]
    agreement, certainty = both["agreement"].to_numpy(), both["certainty"].to_numpy()
    line = relation(agreement, certainty)
    heading = Heading("Certainty and agreement", RANKED_COEFFICIENTS[0])
    if line.correlation is None or line.intercept is None or line.slope is None:
        why = (
            "Not available: a correlation needs at least three cases with two or more annotations, and their agreement "
            "and certainty must vary."
        )
        return [heading, Words(why, "impossible")]
    ends = line.intercept, line.slope
    title = f"Correlation {with_interval(line.correlation, line.ci_low, line.ci_high)}, n = {line.n:,} cases"
    return [
        heading,
        Figure(
            lambda theme: figures.certainty_and_agreement(agreement, certainty, ends, theme, title),
            "Certainty and leave-one-rater-out agreement",
            "certainty_agreement",
        ),
        Download(table, "Both", "certainty_agreement", "certainty_agreement"),
    ]


def table_of(found: SweepTable, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case."""
    certainty = found.certainty[middle(found)].certainty[:, 0]
    agreement = leave_one_out(inputs.dataset).case
    return pd.DataFrame({"case": inputs.dataset.cases, "agreement": agreement, "certainty": certainty})
