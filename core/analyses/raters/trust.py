"""Reliability of each rater by mixture Plackett-Luce: an order of raters, without an accuracy."""

from collections.abc import Callable

import pandas as pd

from ...annotations.dataset import Dataset
from ...extremes import clearly_least
from ...figures import raters as figures
from ...methods import as_taken
from ...plausibility.plackett_luce.rater_trust import RaterTrust
from ...plausibility.plackett_luce.trust import METHOD, MixturePlackettLuce
from ...runtime.chunks import CancelToken
from ...text import plotly, shorten, with_interval
from ..blocks import Block, Download, Figure, Grid, Name, Words
from ..schema import Column, intervals

TRUST = (
    Column("rater"),
    Column("n", "annotations", "count"),
    Column("trust", unit="coefficient"),
    Column("sd", "SD", "coefficient", help="posterior standard deviation"),
    *intervals("trust", low="ci_low", high="ci_high")[1:],
    Column("place", unit="count", help="1 is trusted most"),
    Column("place_low", "95% place from", "count"),
    Column("place_high", "place to", "count"),
    Column("rhat", "R-hat", "coefficient"),
    Column("ess", "ESS", "count", help="effective sample size of the draws"),
)


def compute(
    dataset: Dataset, options, *, token: CancelToken | None = None, progress: Callable[[float], None] | None = None
) -> RaterTrust:
    """Estimate the reliability of each rater, by a chain over all cases."""
    model = MixturePlackettLuce()
    how = {"reliability": model.default_reliability, "n_draws": options.n_draws, "seed": options.seed}
    return model.fit(as_taken(METHOD, dataset)[0], **how, token=token, progress=progress).raters


def table_of(found: RaterTrust, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per rater."""
    return found.to_frame().rename(columns={"mean": "trust"})


def present(found: RaterTrust, dataset: Dataset, options) -> list[Block]:
    """Show the reliabilities with their intervals, the lowest first."""
    least = clearly_least(found.mean, found.ci_low, found.ci_high) if found.converged else None
    title = "No rater clearly has the least weight"
    if least is not None:
        said = with_interval(float(found.mean[least]), float(found.ci_low[least]), float(found.ci_high[least]))
        title = f"Least weight: {plotly(shorten(found.raters[least], 20))}, {said}"
    frame = table_of(found, dataset, options)
    return [
        Figure(
            lambda theme: figures.trust_of_raters(found, theme, title),
            "Weight of each rater with its 95% interval",
            "trust",
        ),
        Grid(frame.sort_values("trust", kind="stable"), "Raters, least weight first.", 40, TRUST, "trust_table"),
        Download(frame, "Trust", "rater_trust", "rater_trust"),
        *(Words((Name(note),), "note") for note in found.notes),
    ]
