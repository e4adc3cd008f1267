"""Precision of scores against γ: widths of their intervals, the side of the threshold, and gold."""

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...certainty.score_trust import ScoreTrust, score_digits, score_trust
from ...certainty.scores_by_gold import scores_by_gold
from ...errors import InputError
from ...figures import scores as figures
from ...models.gold import gold_cases
from ...plausibility.gaussian import METHOD, GaussianScores
from ...text import exact, number, percent, plural, typed
from ...thresholds import UNCERTAIN_BELOW
from ..blocks import Block, Download, Figure, Grid, Heading, Name, Row, Stack, Words
from ..inputs import Inputs
from ..schema import Column, columns_in
from . import nearest, settings_of

_BELOW = (0.9, 0.99)
_CASES = {"m": "score", "low": "95% from", "high": "95% to", "above": "P(above)"}


def compute(inputs: Inputs, options) -> ScoreTrust:
    """Compute plausible scores of all cases at each γ."""
    return score_trust(inputs.dataset, gaussian(inputs), options.reliabilities)


def gaussian(inputs: Inputs) -> GaussianScores:
    """Return the model of the settings, which must be the one of scores.

    Raises
    ------
    InputError
        It is another model.
    """
    model = settings_of(inputs).plausibility
    if not isinstance(model, GaussianScores):
        raise InputError(f"Could not use the model {model.name}: it does not support scores.", f"Use {METHOD.name}.")
    return model


def present(found: ScoreTrust, inputs: Inputs, options) -> list[Block]:
    """Show widths and sides against γ, and the numbers."""
    dataset = inputs.dataset
    widths = Figure(
        lambda theme: figures.widths(found, theme, "Width of the 95% interval at each γ"),
        "Interval width at each γ",
        "score_widths",
    )
    legend = Words("Line: median case · Band: middle half of the cases", "legend")
    words = "Set a threshold to see the probability that each score is above it."
    shown: list[Block] = [widths, legend, Words(words, "note")]
    if found.above is not None:
        side = Figure(
            lambda theme: figures.sides(
                found, theme, f"Certainty about whether each score is above {exact(found.threshold)}"
            ),
            "Probability of a score above the threshold, all cases sorted",
            "score_sides",
        )
        shown = [Row((Stack(1, [widths, legend]), Stack(1, [side])), gap="large")]
    table, digits = table_of(found, inputs, options), score_digits(float(np.median(found.width[0]))) + 1
    gold: list[Block] = []
    if "error" in table:
        at = nearest(found.reliability.tolist(), inputs)
        gold.append(Words((Name(scores_by_gold(dataset, found).words(at, digits)),)))
    columns = columns_in(table, _columns(digits))
    return [
        *shown,
        Heading("The numbers", METHOD),
        *gold,
        Grid(table, "Interval width of the cases at each γ.", columns=columns, key="sweep_table"),
        Download(table, "Sweep", "sweep", "sweep"),
        Download(by_case(dataset, found), "Score of every case", "scores_by_case", "sweep_cases"),
    ]


def _columns(digits: int) -> tuple[Column, ...]:
    widths = {
        "width_quarter": "width, lower quartile",
        "width_median": "width, median",
        "width_three_quarters": "width, upper quartile",
    }
    errors = {"error": "off from gold", "error_low": "95% from", "error_high": "to"}
    held = {"held": "intervals that contain it", "held_low": "95% from ", "held_high": "to "}
    return (
        Column("reliability", "reliability γ", "reliability"),
        *(Column(name, label, "error", digits=digits) for name, label in (widths | errors).items()),
        Column("certainty", "mean certainty", "rate"),
        *(Column(f"below {percent(level)}", unit="count") for level in _BELOW),
        *(Column(name, label, "coefficient") for name, label in held.items()),
    )


def table_of(found: ScoreTrust, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per γ."""
    quarter, median, three = found.quartiles
    columns = {"reliability": found.reliability, "width_quarter": quarter, "width_median": median}
    table = pd.DataFrame(columns | {"width_three_quarters": three})
    if found.above is not None:
        table["certainty"] = found.certainty.mean(axis=1)
        for level in _BELOW:
            table[f"below {percent(level)}"] = (found.certainty < level).sum(axis=1)
    if len(gold_cases(inputs.dataset)):
        for name, values in scores_by_gold(inputs.dataset, found).to_frame().items():
            table[name] = values.to_numpy()
    return table


def by_case(dataset: Dataset, found: ScoreTrust) -> pd.DataFrame:
    """Return the score of every case with its interval, at each γ.

    Parameters
    ----------
    dataset : Dataset
    found : ScoreTrust
    """
    cases = pd.DataFrame({"case": list(dataset.cases)})
    for place, reliability in enumerate(found.reliability):
        for name in ("m", "low", "high", *([] if found.above is None else ["above"])):
            cases[f"{_CASES[name]} at {typed(reliability)}"] = getattr(found, name)[place]
    return cases


def finding(found: ScoreTrust) -> str:
    """Return how γ changes the precision, over all cases, in a sentence.

    Parameters
    ----------
    found : ScoreTrust
    """
    first, last = (exact(found.reliability[place]) for place in (0, -1))
    alone = len(found.reliability) == 1
    if found.above is None:
        digits = score_digits(float(np.median(found.width[-1])))
        wide = [number(float(np.median(found.width[place])), digits) for place in (0, -1)]
        words = f"Median width of the 95% interval: {wide[0]} at γ = {first}"
        return words if alone else f"{words}, {wide[1]} at γ = {last}"
    below = (found.certainty < UNCERTAIN_BELOW).sum(axis=1)
    where = f"in {below[0]:,} of {plural(found.m.shape[1], 'case')}"
    words = f"At γ = {first}, it is uncertain {where} whether the score is above {exact(found.threshold)}"
    return words if alone else f"{words}; at γ = {last}, in {plural(int(below[-1]), 'case')}"
