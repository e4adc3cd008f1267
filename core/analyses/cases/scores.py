"""Plausible scores of every case with their intervals, and their side of a threshold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...certainty.score_trust import ScoreTrust, score_digits, score_trust
from ...order import lowest_first
from ...plausibility.gaussian import GaussianScores
from ...text import exact, number, percent, plural
from ...thresholds import CERTAIN_LEVELS, INTERVAL_LEVEL, UNCERTAIN_BELOW
from ..blocks import Block, Download, Grid, Words
from ..inputs import Inputs
from . import model_and_reliability

_LISTED = 20


@dataclass(frozen=True, slots=True, eq=False)
class PlausibleScores:
    """Scores of every case at one γ.

    Attributes
    ----------
    trust : ScoreTrust
    predictive : ndarray, shape (n_cases,), or None
        Predictive share above the threshold; None without one.
    """

    trust: ScoreTrust
    predictive: np.ndarray | None

    @property
    def digits(self) -> int:
        """Number of decimals of scores with these intervals."""
        return score_digits(float(np.median(self.trust.width)))

    def order(self) -> np.ndarray:
        """Return cases by the certainty of their side, lowest first; without a threshold by interval, widest first."""
        trust = self.trust
        return lowest_first(-trust.width[0] if trust.threshold is None else trust.certainty[0])

    def known_to(self) -> str:
        """Return how precisely half of the scores are known, in words."""
        half = number(float(np.median(self.trust.width)) / 2, self.digits)
        return f"The score is known to within {half} for half of the cases"

    def headline(self) -> str:
        """Return how many cases are uncertain, or how precisely half of the scores are known, in a sentence."""
        trust = self.trust
        if trust.threshold is None:
            return f"{self.known_to()} at γ = {exact(float(trust.reliability[0]))}"
        below, n = int((trust.certainty[0] < UNCERTAIN_BELOW).sum()), plural(trust.m.shape[1], "case")
        return f"In {below:,} of {n}, it is uncertain at this γ whether the score is above {exact(trust.threshold)}"

    def to_dict(self) -> dict[str, Any]:
        """Return means over cases and how many are uncertain, as on the command line."""
        trust, found = self.trust, {}
        if self.predictive is not None:
            side = trust.certainty[0]
            found = {
                "mean": {"top1": float(side.mean())},
                "se": {"top1": 0.0},
                "predictive_share": float(self.predictive.mean()),
                "n_below": {str(level): int((side < level).sum()) for level in CERTAIN_LEVELS},
            }
        width = trust.width[0]
        return {**found, "width": {"mean": float(width.mean()), "median": float(np.median(width))}}


def plausible_scores(dataset: Dataset, model: GaussianScores, reliability: float) -> PlausibleScores:
    """Compute the plausible scores of every case.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores.
    model : GaussianScores
        Model with its prior.
    reliability : float
        Reliability γ.
    """
    predictive = None if model.threshold is None else model.posterior(dataset, reliability).predictive
    return PlausibleScores(score_trust(dataset, model, [reliability]), predictive)


def compute(inputs: Inputs, options) -> PlausibleScores:
    """Compute the plausible scores of every case at the γ of the settings."""
    return plausible_scores(inputs.dataset, *model_and_reliability(inputs))


def table_of(found: PlausibleScores, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case."""
    trust = found.trust
    columns: dict[str, Any] = {"case": list(inputs.dataset.cases)}
    if trust.above is not None:
        columns |= {"top1": trust.certainty[0], "p_at_most": 1 - trust.above[0], "predictive_share": found.predictive}
    columns |= {"score": trust.m[0], "ci_low": trust.low[0], "ci_high": trust.high[0]}
    return pd.DataFrame(columns)


def present(found: PlausibleScores, inputs: Inputs, options) -> list[Block]:
    """Show how precisely scores are known, and the cases whose score is least certain."""
    trust, table = found.trust, table_of(found, inputs, options)
    widest = np.argsort(-trust.width[0], kind="stable")[:_LISTED]
    frame = table.iloc[widest][["case", "score", "ci_low", "ci_high"]].reset_index(drop=True)
    if trust.above is not None:
        frame[f"P(above {exact(trust.threshold)})"] = trust.above[0, widest]
    at = f"{percent(INTERVAL_LEVEL)}, γ = {exact(float(trust.reliability[0]))}"
    shown = f"{len(widest):,} of {plural(len(table), 'case')}, widest interval first."
    return [
        Words(f"{found.known_to()} ({at})."),
        Grid(frame, shown, key="widest"),
        Download(table, "Worklist", "plausible_scores", "certainty"),
    ]
