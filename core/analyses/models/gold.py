"""Models and the majority vote compared with gold classes that they did not use."""

from dataclasses import dataclass

import pandas as pd

from ...annotations.dataset import Dataset
from ...errors import PluralityError
from ...figures import models as figures
from ...models.comparison import GoldScore, against_gold
from ...text import plotly
from ..blocks import Block, Download, Figure, Grid, Heading, Name, Words
from ..schema import Column, frame_of
from .agreement import with_vote
from .fits import FittedModels, label

COLUMNS = (
    Column("model"),
    Column("accuracy", "", "coefficient", "ci_low", "ci_high", "95% interval"),
    Column("ci_low", "95% from", "coefficient"),
    Column("ci_high", "to", "coefficient"),
    Column("log-loss", unit="error"),
    Column("cases", unit="count"),
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelsByGold:
    """Scores by label of the model, and the reason if there are none.

    Attributes
    ----------
    scores : dict of str to GoldScore
    without : dict of str to str
    shown : str
        Label of the model in detail.
    """

    scores: dict[str, GoldScore]
    without: dict[str, str]
    shown: str


def compute(models: FittedModels, options) -> ModelsByGold:
    """Score the models on gold cases."""
    scores, without = {}, {}
    for name, fit in with_vote(models).items():
        try:
            scores[name] = against_gold(models.shown.dataset, fit)
        except PluralityError as error:
            without[name] = str(error)
    return ModelsByGold(scores, without, label(models.shown))


def present(found: ModelsByGold, dataset: Dataset, options) -> list[Block]:
    """Show a row for each model, and the calibration of the one in detail."""
    blocks: list[Block] = [Heading("Against gold", "calibration")]
    blocks += [Words((Name(name), ": ", Name(why)), "note") for name, why in found.without.items()]
    if found.scores:
        table = table_of(found, dataset, options)
        blocks.append(Grid(table, "Models against gold.", 40, COLUMNS, "gold_table"))
        blocks.append(Download(table, "Against gold", "known_classes", "gold_download"))
    if found.shown in found.scores:
        curve = found.scores[found.shown].calibration
        title = f"How sure {plotly(found.shown)} is, and how often it is right"
        blocks.append(
            Figure(
                lambda theme: figures.calibration_curve(
                    curve.mean, curve.share, curve.low, curve.high, curve.n, theme, title
                ),
                "Calibration against gold",
                "calibration",
            )
        )
    return blocks


def table_of(found: ModelsByGold, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per model."""
    rows = ((name, one.accuracy, one.low, one.high, one.log_loss, one.n_cases) for name, one in found.scores.items())
    return frame_of(rows, COLUMNS)
