"""Weights of cases by their number of annotations, and the weighting with the least variance on these data."""

import numpy as np
import pandas as pd

from ...agreement.weightings import WeightingComparison, compare_weightings, weight_curve
from ...annotations.dataset import Dataset
from ...figures import agreement_parts as figures
from ...text import number, probability
from ...thresholds import CLEARLY_AHEAD
from ..blocks import Block, Control, Download, Figure, Finding, Grid, Heading, Selector, Words
from ..schema import Column, frame_of

COLUMNS = (
    Column("weighting"),
    Column("value", "SPA", "coefficient", "ci_low", "ci_high", "95% interval"),
    Column("ci_low", "95% low", "coefficient"),
    Column("ci_high", "95% high", "coefficient"),
    Column("se", "standard error", "error", digits=4),
    Column("p_least", "P(smallest error)", "probability"),
)
_TO_ONE = 9  # annotations of the common class to one of all others


def compute(dataset: Dataset, options) -> WeightingComparison:
    """Compare the weightings."""
    return compare_weightings(dataset)


def present(found: WeightingComparison, dataset: Dataset, options) -> list[Block]:
    """Show the weighting with the least error, all weightings, and their weights under three class distributions."""
    table = table_of(found, dataset, options)
    shares = distributions(found)
    names = tuple(shares)
    control = Control("Class distribution", names, names, "weight_distribution", look="side by side")

    def curves(name: str) -> list[Block]:
        lines = {one: found.curve(one, shares[name]) for one in found.weightings}
        return [
            Figure(
                lambda theme: figures.weight_curves(
                    found.sizes, lines, theme, "Weight of a case by its number of annotations"
                ),
                "Weight of a case by its number of annotations, for each weighting",
                "weight_curves",
            )
        ]

    return [
        Finding(verdict(found)),
        Grid(table, "SPA under each weighting.", columns=COLUMNS, key="weightings"),
        Words(
            "P(smallest error): share of resamples in which a weighting has the smallest standard error. Decide on a "
            "weighting before you see the results; otherwise its interval is too narrow.",
            "note",
        ),
        Download(table, "Weightings", "weightings", "weightings_table"),
        Heading("Weights of cases"),
        Selector((control,), curves),
        Words("Of these weightings, only inv_var_class depends on the class distribution.", "note"),
        Download(_curves(found), "Weights by annotations", "weight_curves", "weight_curves_table"),
    ]


def distributions(found: WeightingComparison) -> dict[str, np.ndarray]:
    """Return class distributions that weights are shown for: of the data, all classes alike, one class with 90%.

    Parameters
    ----------
    found : WeightingComparison
    """
    k = max(2, len(found.class_shares))
    skewed = np.full(k, 1 / ((_TO_ONE + 1) * (k - 1)))
    skewed[0] = _TO_ONE / (_TO_ONE + 1)
    return {"These data": found.class_shares, "All classes alike": np.full(k, 1 / k), "One class 90%": skewed}


def _curves(found: WeightingComparison) -> pd.DataFrame:
    rows = [
        (name, weighting, int(n), weight)
        for name, shares in distributions(found).items()
        for weighting in found.weightings
        for n, weight in zip(found.sizes, weight_curve(weighting, found.sizes, shares), strict=True)
    ]
    return pd.DataFrame(rows, columns=["class_distribution", "weighting", "n_annotations", "weight"])


def table_of(found: WeightingComparison, dataset: Dataset, options) -> pd.DataFrame:
    """Return the table with one row per weighting."""
    rows = (
        (name, one.value, one.ci_low, one.ci_high, one.se, p)
        for name, one, p in zip(found.weightings, found.values, found.p_least.tolist(), strict=True)
    )
    return frame_of(rows, COLUMNS)


def verdict(found: WeightingComparison) -> str:
    """Name the weighting with the least standard error, or state that none clearly has it.

    Parameters
    ----------
    found : WeightingComparison
    """
    errors = np.array([np.nan if one.se is None else one.se for one in found.values])
    if np.isnan(errors).any():
        return "Cannot determine which weighting has the lowest variance: at most one case has two annotations"
    if np.isnan(found.p_least).any():
        why = "all cases have the same agreement" if len(found.sizes) and np.ptp(errors) == 0 and errors[0] == 0 else ""
        return f"The weightings do not differ: {why or 'all cases have the same number of annotations'}"
    best = int(errors.argmin())
    same = np.flatnonzero(np.isclose(errors, errors[best], rtol=1e-9))
    p, flat = float(found.p_least[same].sum()), errors[found.weightings.index("flat")]
    name = " and ".join(found.weightings[place] for place in same)
    others = f"standard error {number(errors[best], 4)}; with flat weights {number(flat, 4)}"
    if p >= CLEARLY_AHEAD:
        verb = "have" if len(same) > 1 else "has"
        return f"{name} {verb} the lowest variance in these data ({others}; lowest in {probability(p)} of resamples)"
    return f"No weighting clearly has the lowest variance in these data (lowest: {name}, {others})"
