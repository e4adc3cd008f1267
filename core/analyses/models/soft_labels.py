"""Class probabilities for training, also as log-odds and weights; never only the best class."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...models.catalogue import Fitted
from ...models.classifier_evidence import evidence_settings
from ...models.soft_labels import SoftLabels, by_class, soft_labels
from ..blocks import Block, Download, Grid, Heading, Name, Words
from ..schema import Column
from .fits import FittedModels, label

_FIRST = 20


@dataclass(frozen=True, slots=True, eq=False)
class ModelLabels:
    """Labels by the model in detail."""

    shown: Fitted
    labels: SoftLabels


def compute(models: FittedModels, options) -> ModelLabels:
    """Compute the class probabilities in three forms."""
    return ModelLabels(models.shown, soft_labels(models.shown.dataset, models.shown.fit))


def present(found: ModelLabels, dataset: Dataset, options) -> list[Block]:
    """Show three tables to download, and the first cases."""
    shown, labels = found.shown, found.labels
    blocks: list[Block] = [Heading("Soft labels for training", "soft labels")]
    if not shown.request.method.is_truth:
        said = "This model is a baseline without parameters, so its probabilities cannot be used as labels."
        return [*blocks, Words(said, "info")]
    if not shown.fit.converged:
        blocks.append(Words((Name(label(shown)), ": its labels may still change."), "warning"))
    ending = "" if shown.fit.converged else "_not_converged"
    name = label(shown)
    about = {"model": name, "converged": shown.fit.converged} | evidence_settings(shown.fit)
    table = table_of(found, dataset, options)
    blocks += [
        Words(
            "To train a classifier, use probabilities or log-odds: unlike the most likely class, they show uncertainty."
        ),
        *(
            Download(frame, words, f"{key}{ending}", key, settings=about)
            for frame, words, key in (
                (table, "Class probabilities of all cases", "class_probabilities"),
                (by_class(labels.cases, labels.classes, labels.log_odds), "Log-odds", "log_odds"),
            )
        ),
        Download(
            partial(_examples, labels, name),
            "Weights of examples",
            f"weights{ending}",
            "weights",
            int((labels.weight > 0).sum()),
            about,
        ),
    ]
    if table.columns.is_unique:
        columns = [Column("case"), *(Column(name, unit="error") for name in labels.classes)]
        grid = Grid(table.head(_FIRST), "Class probabilities.", _FIRST, columns, "soft_rows")
        blocks += [Words("The first twenty cases", "note"), grid]
    return blocks


def table_of(found: ModelLabels, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per case with the probability of each class."""
    return by_class(found.labels.cases, found.labels.classes, found.labels.probability)


def _examples(labels: SoftLabels, model: str) -> pd.DataFrame:
    """Return one row per example for training: a case with a possible class, and the weight of the example."""
    case, code = np.nonzero(labels.weight > 0)
    return pd.DataFrame(
        {
            "case": np.array(labels.cases, dtype=object)[case],
            "class": np.array(labels.classes, dtype=object)[code],
            "weight": labels.weight[case, code],
            "model": model,
        }
    )
