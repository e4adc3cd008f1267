"""Models and the majority vote compared with gold classes that they did not use."""

from dataclasses import dataclass

import pandas as pd

from ...annotations.dataset import Dataset
from ...errors import PluralityError
from ...models.comparison import GoldScore, against_gold
from ...models.gold import note_of_one_class
from ..blocks import Block, Download, Grid, Heading, Name, Words
from ..schema import Column, frame_of
from .agreement import with_vote
from .fits import FittedModels

COLUMNS = (
    Column("model"),
    Column("accuracy", "", "rate", "ci_low", "ci_high", "95% interval"),
    Column("ci_low", "95% from", "rate"),
    Column("ci_high", "to", "rate"),
    Column("log-loss", unit="error"),
    Column("cases", unit="count"),
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelsByGold:
    """Scores by label of the model, and the reason if there are none."""

    scores: dict[str, GoldScore]
    without: dict[str, str]


def compute(models: FittedModels, options) -> ModelsByGold:
    """Score the models on gold cases."""
    scores, without = {}, {}
    for name, fit in with_vote(models).items():
        try:
            scores[name] = against_gold(models.shown.dataset, fit)
        except PluralityError as error:
            without[name] = str(error)
    return ModelsByGold(scores, without)


def present(found: ModelsByGold, dataset: Dataset, options) -> list[Block]:
    """Show a row for each model."""
    blocks: list[Block] = [Heading("Against gold", "gold")]
    blocks += [Words((Name(name), ": ", Name(why)), "note") for name, why in found.without.items()]
    if found.scores:
        table = table_of(found, dataset, options)
        blocks += of_one_class(dataset)
        blocks.append(Grid(table, "Models against gold.", 40, COLUMNS, "gold_table"))
        blocks.append(Download(table, "Against gold", "known_classes", "gold_download"))
    return blocks


def of_one_class(dataset: Dataset) -> list[Block]:
    """Warn if all gold cases have the same class."""
    note = note_of_one_class(dataset)
    return [Words((Name(note),), "warning")] if note else []


def table_of(found: ModelsByGold, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per model."""
    rows = ((name, one.accuracy, one.low, one.high, one.log_loss, one.n_cases) for name, one in found.scores.items())
    return frame_of(rows, COLUMNS)
