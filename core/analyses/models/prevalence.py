"""Prevalence of each class: by model with its interval, by majority vote and among annotations."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...figures import models as figures
from ...models.comparison import most_moved
from ...text import percent, percent_range, plotly, shorten
from ..blocks import Block, Download, Figure, Heading, Words
from .fits import FittedModels, label

MOST_CODES = 6


@dataclass(frozen=True, slots=True, eq=False)
class ModelPrevalence:
    """Prevalence of each class.

    Attributes
    ----------
    models : FittedModels
    raw : ndarray, shape (n_classes,)
        Share of annotations of each class.
    order : ndarray of int64, shape (n_classes,)
        Classes, those with the largest change by the model in detail first.
    """

    models: FittedModels
    raw: np.ndarray
    order: np.ndarray


def compute(models: FittedModels, options) -> ModelPrevalence:
    """Count annotations, and order classes by the change."""
    data = models.shown.dataset
    raw = np.bincount(data.answer, minlength=data.n_classes) / max(1, data.n_annotations)
    return ModelPrevalence(models, raw, most_moved(models.shown.fit, models.vote))


def present(found: ModelPrevalence, dataset: Dataset, options) -> list[Block]:
    """Show a row for each model with its interval, for the classes with the largest change."""
    models, fit = found.models, found.models.shown.fit
    codes = np.sort(found.order[:MOST_CODES]).tolist()
    if len(fit.classes) == 2:
        codes = [1]
    code = int(found.order[0]) if len(codes) > 1 else codes[0]
    spread = None if fit.uncertainty is None else fit.uncertainty.prevalence
    ends = f" ({percent_range(spread.low[code], spread.high[code])})" if spread is not None else ""
    title = (
        f"“{plotly(shorten(fit.classes[code], 40))}”: {percent(models.vote.prevalence[code])} of cases by majority "
        f"vote, {percent(fit.prevalence[code])}{ends} by {plotly(label(models.shown))}"
    )
    fits = {"Majority vote": models.vote} | {label(one): one.fit for one in _truths(models)}
    blocks: list[Block] = [
        Heading("Prevalence", "prevalence"),
        Figure(
            lambda theme: figures.prevalence_by_model(fits, found.raw, theme, title, codes),
            "Prevalence by majority vote and by model",
            "prevalence",
        ),
    ]
    if len(_truths(models)) < len(models.same):
        blocks.append(Words("Difficulty ABDE, the baseline without parameters, is left out.", "note"))
    if len(codes) < len(fit.classes) > 2:
        blocks.append(Words(f"Shown: the {len(codes):,} classes (of {len(fit.classes):,}) that change most.", "note"))
    table = table_of(found, dataset, options)
    return [*blocks, Download(table, "Prevalence", "prevalence", "prevalence_table")]


def table_of(found: ModelPrevalence, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per class."""
    models = found.models
    columns = {
        "class": models.shown.fit.classes,
        "share of annotations": found.raw,
        "Majority vote": models.vote.prevalence,
    }
    for one in _truths(models):
        columns[label(one)] = one.fit.prevalence
        if one.fit.uncertainty is not None:
            spread = one.fit.uncertainty.prevalence
            columns |= {f"{label(one)} ci_low": spread.low, f"{label(one)} ci_high": spread.high}
    return pd.DataFrame(columns)


def _truths(models: FittedModels) -> list:
    return [one for one in models.same if one.request.method.is_truth]
