"""Plausible score of one case: the annotations, the plausible scores, and the effect of γ."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...certainty.score_trust import (
    PlausibleScore,
    ScoreTrust,
    plausible_score,
    score_digits,
    score_trust,
    scores_in_words,
)
from ...figures import scores as figures
from ...plausibility.gaussian import METHOD
from ...text import exact, number, plotly, probability
from ...thresholds import UNCERTAIN_BELOW
from ..blocks import Block, Download, Figure, Grid, Name, Words
from ..inputs import Inputs
from ..schema import Column, frame_of
from . import model_and_reliability

assert METHOD.reliability is not None
_TRUSTS = np.geomspace(METHOD.reliability.low, METHOD.reliability.high, 61)
COLUMNS = (
    Column("reliability", "reliability γ", "coefficient"),
    Column("score", "plausible score", "coefficient"),
    Column("ci_low", "95% from", "coefficient"),
    Column("ci_high", "to", "coefficient"),
    Column("p_above", "P(above the threshold)", "rate"),
)


@dataclass(frozen=True, slots=True, eq=False)
class OneScore:
    """Score of one case at the γ of the settings, and over all γ."""

    here: PlausibleScore
    curve: ScoreTrust


def compute(inputs: Inputs, options) -> OneScore:
    """Compute the plausible score of a case, and the effect of γ on it."""
    dataset, case = inputs.dataset, options.case
    model, reliability = model_and_reliability(inputs)
    return OneScore(
        plausible_score(dataset, model, case, reliability),
        score_trust(dataset, model, [*_TRUSTS, reliability], range(case, case + 1)),
    )


def table_of(found: OneScore, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per γ."""
    return table_of_curve(found.curve)


def present(found: OneScore, inputs: Inputs, options) -> list[Block]:
    """Show the annotations in a sentence, the plausible scores, and the effect of γ."""
    return [
        Words((Name(scores_in_words(inputs.dataset, options.case)),)),
        *density(found.here, options.hide_names),
        against_reliability(found),
        *as_table(found.curve),
    ]


def density(found: PlausibleScore, hide_names: bool = False) -> list[Block]:
    """Show the density of the score with its sentence; without names of raters if these are hidden."""
    digits = score_digits(found.high - found.low)
    title = f"Score between {number(found.low, digits)} and {number(found.high, digits)} with 95% probability"
    if found.above is not None:
        side, p = f"Score above {exact(found.threshold)}", found.above
        if p < 0.5:
            side, p = f"Score at most {exact(found.threshold)}", 1 - p
        title = f"{plotly(side)} with {probability(p)} probability"
    line = " · dashed: threshold" if found.threshold is not None else ""
    return [
        Figure(
            lambda theme: figures.score_density(found, theme, title, hide_names=hide_names),
            "Density of the plausible score with its 95 percent interval, and the scores of the raters as ticks",
            "score_density",
        ),
        Words(
            f"Curve: plausible scores · Shaded: 95% · Cross: mean · Ticks: raters' scores{line}",
            "legend",
            METHOD,
        ),
    ]


def against_reliability(found: OneScore) -> Figure:
    """Show the effect of γ on the interval of the score, or on its side of the threshold."""
    curve, reliability = found.curve, found.here.reliability
    if curve.threshold is None:
        title = interval_said(curve)
        return Figure(
            lambda theme: figures.score_against_trust(curve, reliability, theme, title),
            "Plausible score with its interval at each γ",
            "score_trust",
        )
    assert curve.above is not None, "there is a threshold"
    title = side_said(curve.above[:, 0])
    return Figure(
        lambda theme: figures.above_against_trust(curve, reliability, theme, title),
        "Probability of a score above the threshold, at each γ",
        "above_trust",
    )


def interval_said(curve: ScoreTrust) -> str:
    """Return the width of the interval at the lowest and at the highest γ, in words."""
    width = curve.width[:, 0]
    digits = score_digits(float(np.median(width)))
    return (
        f"Interval width: {number(float(width[0]), digits)} at γ = {exact(curve.reliability[0])}, "
        f"{number(float(width[-1]), digits)} at γ = {exact(curve.reliability[-1])}"
    )


def side_said(above: np.ndarray) -> str:
    """Return whether γ decides the side of the threshold, by the probability above it at each γ."""
    if above.min() > 1 - UNCERTAIN_BELOW and above.max() < UNCERTAIN_BELOW:
        return "The side of the threshold is uncertain at every γ"
    return (
        "Whether the score is above the threshold depends on γ"
        if above.min() < 0.5 < above.max()
        else "The score is on the same side of the threshold at every γ"
    )


def table_of_curve(curve: ScoreTrust) -> pd.DataFrame:
    """Return one row per γ."""
    columns = [curve.reliability, curve.m[:, 0], curve.low[:, 0], curve.high[:, 0]]
    if curve.above is not None:
        columns.append(curve.above[:, 0])
    return frame_of(zip(*columns, strict=True), COLUMNS[: len(columns)])


def as_table(curve: ScoreTrust) -> list[Block]:
    """Show the effect of γ as a table."""
    frame = table_of_curve(curve)
    digits = score_digits(float(np.median(curve.width[:, 0])))
    shown = [COLUMNS[0], *(replace(one, digits=digits) for one in COLUMNS[1:4]), *COLUMNS[4 : frame.shape[1]]]
    return [
        Grid(frame, "The score at each γ.", columns=shown, key="score_trust_table"),
        Download(frame, "Trust", "score_trust", "score_trust"),
    ]
