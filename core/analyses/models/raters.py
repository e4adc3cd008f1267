"""Raters by a model: their accuracy, the classes that they prefer, and their confusion matrix."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...extremes import clearly_least, clearly_most
from ...figures import models as figures
from ...figures import rater_models as rater_figures
from ...models.hierarchical import METHOD as HIERARCHICAL
from ...models.ordinal import METHOD as ORDINAL
from ...models.ordinal import NAMES as SCALES
from ...models.ordinal import severity_sentence
from ...models.rater_summary import RaterSummary, leaning, rater_summary
from ...models.result import RaterModelFit
from ...text import percent_with_interval, plotly, shorten
from ..blocks import Block, Chosen, Download, Figure, Grid, Heading, Name, OnPage, Row, Stack, Words
from ..schema import Column
from .fits import FittedModels, label

SPAM = 0.1
ENOUGH = 10
COLUMNS = {
    column.name: column
    for column in (
        Column("sign", "flag", help="Points to check before you use this rater's annotations."),
        Column("annotations", unit="count"),
        Column("right by matrix", "accuracy by the matrix", "rate", "ci_low", "ci_high", "95% interval"),
        Column("ci_low", "95% from", "rate"),
        Column("ci_high", "to", "rate"),
        Column(
            "dependence",
            "depends on the truth",
            "share",
            help="0: annotations do not depend on the truth, like guesses; 1: the truth determines them. Square root "
            "of the score of Raykar and Yu (2012); |sensitivity + specificity − 1| for two classes.",
        ),
        Column(
            "leans to",
            help="Class that this rater overuses most, compared with its expected share given the other raters.",
        ),
        Column(
            "bias",
            unit="signed",
            help="Share of that class among the rater's annotations minus its share among the true classes.",
        ),
    )
}


@dataclass(frozen=True, slots=True, eq=False)
class ModelRaters:
    """Raters of the model in detail."""

    models: FittedModels
    summary: RaterSummary


def compute(models: FittedModels, options) -> ModelRaters:
    """Summarise the raters."""
    return ModelRaters(models, rater_summary(models.shown.dataset, models.shown.fit))


def present(found: ModelRaters, dataset: Dataset, options) -> list[Block]:
    """Show accuracy with intervals, bias and flags; and one rater's confusion matrix."""
    shown, summary = found.models.shown, found.summary
    fit = shown.fit
    title = _least_right(label(shown), summary)
    draw = rater_figures.sensitivity_specificity if len(fit.classes) == 2 else rater_figures.accuracy_by_rater
    accuracy = Figure(
        lambda theme: draw(fit, theme, title), "Accuracy of each rater according to the model, with intervals",
        "rater_accuracy",
    )  # fmt: skip
    table = table_of(found, dataset, options)
    first = ["rater", "sign"]  # a flag at the right edge would be cut
    columns = [COLUMNS.get(name) or _column(name) for name in (*first, *table.columns.drop(first))]
    grid = Grid(table, "Raters according to the model.", 40, columns, "rater_table", selects="first")
    blocks: list[Block] = [
        Heading("Raters", "confusion matrix"),
        Row((Stack(1, [accuracy]), Stack(1, [Chosen(grid, lambda rater: _confusion(fit, rater))])), "large"),
    ]
    if severity := severity_sentence(fit):
        blocks.append(Words((Name(severity),), term=ORDINAL))
    if not summary.from_uncertainty:
        blocks.append(
            Words(
                "These intervals treat the true classes as known, so they are too narrow. Intervals from the fit "
                "will replace them.",
                "note",
            )
        )
    return [
        *blocks,
        Words(
            (
                OnPage("Choose a row to see that rater's confusion matrix. "),
                "The Raters page measures accuracy against gold, if available.",
            ),
            "note",
        ),
        grid,
        Download(table, "Raters", "raters", "raters"),
        *_new_rater(fit),
    ]


def extremes(summary: RaterSummary) -> tuple[int | None, int | None]:
    """Return who is clearly the least and the most accurate, or None; among raters with `ENOUGH` annotations."""
    chosen = _compared(summary)
    ends = [part[chosen] for part in (summary.accuracy, summary.low, summary.high)]
    least, most = clearly_least(*ends), clearly_most(*ends)
    return None if least is None else int(chosen[least]), None if most is None else int(chosen[most])


def _compared(summary: RaterSummary) -> np.ndarray:
    known = np.isfinite(summary.accuracy)
    enough = known & (summary.n_annotations >= ENOUGH)
    return np.flatnonzero(enough if enough.sum() >= 2 else known)


def _least_right(name: str, summary: RaterSummary) -> str:
    """Return a title with the rater who is clearly the least accurate, with the interval."""
    least, _ = extremes(summary)
    model = plotly(name)
    if least is None:
        several = len(_compared(summary)) > 1
        return f"No rater is clearly the least accurate under {model}" if several else f"Rater accuracy under {model}"
    ends = percent_with_interval(float(summary.accuracy[least]), float(summary.low[least]), float(summary.high[least]))
    return f"Least accurate under {model}: {plotly(shorten(summary.raters[least], 40))}, {ends}"


def _confusion(fit: RaterModelFit, rater: int) -> list[Block]:
    title = f"Annotations of {plotly(shorten(fit.raters[rater], 40))}, given the true class"
    blocks: list[Block] = [
        Figure(
            lambda theme: figures.confusion_heatmap(fit, rater, theme, title), "Confusion matrix of the chosen rater",
            "confusion",
        )
    ]  # fmt: skip
    if len(fit.classes) > figures.MOST_CLASSES:
        said = f"Shown: the {figures.MOST_CLASSES} classes (of {len(fit.classes):,}) that this rater saw most often."
        blocks.append(Words(said, "note"))
    return blocks


def _column(name: str) -> Column:
    return Column(name, unit="text" if name == "rater" else "coefficient")


def table_of(found: ModelRaters, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per rater."""
    fit, summary = found.models.shown.fit, found.summary
    leans = leaning(summary.bias)
    frame = {
        "rater": fit.raters,
        "annotations": summary.n_annotations,
        "right by matrix": summary.accuracy,
        "ci_low": summary.low,
        "ci_high": summary.high,
    }
    if SCALES[0] in fit.parameters:
        frame |= {f"{name}{end}": fit.parameters[f"{name}{end}"] for name in SCALES for end in ("", "_low", "_high")}
    if len(fit.classes) == 2:
        frame |= {f"right on {name}": fit.confusion[:, code, code] for code, name in enumerate(fit.classes)}
    return pd.DataFrame(
        frame
        | {
            "dependence": summary.dependence,
            "leans to": [fit.classes[code] if code >= 0 else "" for code in leans],
            "bias": np.where(leans >= 0, summary.bias[np.arange(len(leans)), leans], np.nan),
            "sign": np.where(
                summary.adversarial, "worse than chance", np.where(summary.dependence < SPAM, "uninformative", "")
            ),
        }
    )


def _new_rater(fit: RaterModelFit) -> list[Block]:
    """Show what an unseen rater would annotate, by the population of raters, if the model has one."""
    if "new_rater" not in fit.parameters:
        return []
    mean, low, high = (fit.parameters[f"new_rater{end}"].tolist() for end in ("", "_low", "_high"))
    rows = range(len(fit.classes))
    columns = {
        f"gives {other}": [percent_with_interval(mean[row][code], low[row][code], high[row][code]) for row in rows]
        for code, other in enumerate(fit.classes)
    }
    frame = pd.DataFrame({"true class": fit.classes} | columns)
    return [Heading("A new rater", HIERARCHICAL), Grid(frame, "A new rater.", key="new_rater")]
