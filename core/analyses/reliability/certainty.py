"""Certainty of all cases against γ."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...certainty.shares import CertaintyShares
from ...evaluation.sweep_table import SweepTable, reliability_sweep
from ...figures import reliability as figures
from ...models.expected_class import within_one
from ...plausibility.ordinal_truth import OrdinalTruth
from ...text import exact, percent, plural, typed
from ...thresholds import CERTAIN_LEVELS, UNCERTAIN_BELOW
from ..blocks import Block, Download, Figure, Grid, Heading, Row, Stack
from ..inputs import Inputs
from ..schema import Column, columns_in
from . import settings_of

COLUMNS = (
    Column("reliability", "reliability γ", "reliability"),
    Column("n_cases", "cases", "count"),
    *(
        column
        for top in (1, 2, 3)
        for column in (
            Column(f"top{top}", f"top-{top}", "difference"),
            Column(f"top{top}_se", f"top-{top} SE", "error", digits=4),
        )
    ),
    Column("within one", "within one class", "difference"),
    Column("risk of top-1", unit="difference"),
    Column("risk summed", unit="difference"),
    *(Column(f"below {level}", f"below {percent(level)}", "count") for level in CERTAIN_LEVELS),
)


def compute(inputs: Inputs, options) -> SweepTable:
    """Compute certainty, risk and metrics of classifiers at each γ."""
    how = {"classifiers": inputs.predictions, "n_draws": options.n_draws, "seed": options.seed}
    return reliability_sweep(settings_of(inputs).plausibility, inputs.dataset, options.reliabilities, **how)


def present(found: SweepTable, inputs: Inputs, options) -> list[Block]:
    """Show two figures and their numbers; sets of all classes are left out."""
    table = table_of(found, inputs, options)
    whole = {f"top{top}{end}" for top in (1, 2, 3) if top not in found.tops for end in ("", "_se")}
    shown = table.drop(columns=list(whole)).dropna(axis=1, how="all")
    return [
        figures_of(found),
        Heading("The numbers", "annotation certainty"),
        Grid(shown, "Mean certainty over cases at each γ.", columns=columns_in(shown, COLUMNS), key="sweep_table"),
        Download(table, "Sweep", "sweep", "sweep"),
        Download(
            partial(by_case, inputs.dataset, found), "Certainty of every case", "certainty_by_case", "sweep_cases",
            n_rows=inputs.dataset.n_cases,
        ),
    ]  # fmt: skip


def figures_of(found: SweepTable, reliabilities: tuple[float, ...] | None = None) -> Row:
    """Show mean certainty, and that of every case.

    Parameters
    ----------
    found : SweepTable
    reliabilities : tuple of float, optional
        All reliabilities of the final figure, while only the first are computed.
    """
    mean = Figure(
        lambda theme: figures.mean_certainty(found, theme, "Mean certainty at each γ", reliabilities),
        "Mean certainty over cases at each γ",
        "mean_certainty",
    )
    every = Figure(
        lambda theme: figures.sorted_certainty(found, theme, "Certainty of every case, sorted"),
        "Sorted certainty of all cases at each γ",
        "sorted_certainty",
    )
    return Row((Stack(1, [mean]), Stack(1, [every])), gap="large")


def table_of(found: SweepTable, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per γ."""
    model = settings_of(inputs).plausibility
    rows = []
    for place, (reliability, result) in enumerate(zip(found.reliabilities, found.certainty, strict=True)):
        row: dict[str, Any] = {"reliability": reliability, "n_cases": len(result.cases)}
        for top in (1, 2, 3):
            row[f"top{top}"], row[f"top{top}_se"] = result.mean(top), result.mean_se(top)
        if isinstance(model, OrdinalTruth):
            row["within one"] = within_one(model.probability(inputs.dataset, reliability)).mean()
        if found.risk:
            row["risk of top-1"], row["risk summed"] = found.risk[place].of_top1.mean(), found.risk[place].summed.mean()
        rows.append(row | {f"below {level}": result.n_below(level) for level in CERTAIN_LEVELS})
    return pd.DataFrame(rows)


def by_case(dataset: Dataset, found: SweepTable) -> pd.DataFrame:
    """Return the certainty of every case, with a column for each γ.

    Parameters
    ----------
    dataset : Dataset
    found : SweepTable
    """
    at = zip(found.reliabilities, found.certainty, strict=True)
    return pd.DataFrame(
        {"case": list(dataset.cases)}
        | {f"certainty at {typed(reliability)}": result.certainty[:, 0] for reliability, result in at}
    )


def middle(found: SweepTable) -> int:
    """Return the position of the γ that represents all of them."""
    return len(found.reliabilities) // 2


def over_trust(sweep: SweepTable, shares: CertaintyShares | None = None, about: str = "") -> str:
    """Return how certainty changes with γ, and how many cases stay uncertain at the highest, in a sentence.

    Parameters
    ----------
    sweep : SweepTable
    shares : CertaintyShares, optional
        Groups of its cases. Cases with fewer than two annotations have no certainty and are then not counted.
    about : str
        Label in use, with a preposition.
    """
    several = ""
    if shares is not None and (shares.single | shares.empty).any():
        if not shares.any_known:
            return shares.why_none
        several, known = " with two or more annotations", ~(shares.single | shares.empty)
        sweep = SweepTable(sweep.reliabilities, tuple(result.of_cases(known) for result in sweep.certainty))
    first, last = sweep.certainty[0], sweep.certainty[-1]
    counted = plural(len(first.cases), "case") + several
    if len(sweep.reliabilities) == 1:
        below = f"{first.n_below(UNCERTAIN_BELOW):,} of {counted}"
        return f"Certainty{about} is below {percent(UNCERTAIN_BELOW)} in {below} at γ = {exact(sweep.reliabilities[0])}"
    means = [result.mean() or 0.0 for result in sweep.certainty]
    errors = [result.mean_se() or 0.0 for result in sweep.certainty]
    before, after = percent(first.mean()), percent(last.mean())
    if len({percent(mean) for mean in means}) == 1:
        words = f"Mean certainty{about} is {before} at every γ"
    elif abs(means[-1] - means[0]) <= 2 * np.hypot(errors[0], errors[-1]):
        words = f"Mean certainty{about} does not clearly change with γ ({before} to {after})"
    else:
        way = "rises" if means[-1] > means[0] else "falls"
        words = f"Mean certainty{about} {way} from {before} to {after} as γ increases"
    counts = [result.n_below(UNCERTAIN_BELOW) for result in sweep.certainty]
    remaining = counts[-1]
    if not any(counts):
        return f"{words}; no case{several} is below {percent(UNCERTAIN_BELOW)}"
    if not remaining:
        place = max(place for place, count in enumerate(counts) if count) + 1
        at = exact(sweep.reliabilities[place])
        return f"{words}; at γ = {at}, every case{several} reaches {percent(UNCERTAIN_BELOW)}"
    stay = "is still" if remaining == 1 else "are still"
    at = f"{percent(UNCERTAIN_BELOW)} at γ = {exact(sweep.reliabilities[-1])}"
    return f"{words}; {remaining:,} of {counted} {stay} below {at}"
