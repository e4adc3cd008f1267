"""Plausibilities of all cases as soft labels: to download, and to train classifiers on."""

from typing import Any

import numpy as np
import pandas as pd

from ...certainty.plausibilities import Plausibilities, plausibilities
from ...text import exact, percent, plural
from ..blocks import Block, Download, Finding, Grid, Heading, Words
from ..inputs import Inputs
from ..schema import Column, frame_of
from . import settings_of

_FIRST = 20
COLUMNS = (
    Column("case"),
    Column("class"),
    Column("plausibility", unit="coefficient"),
    Column("sd", "SD over draws", "coefficient"),
    Column("point", "point estimate", "coefficient"),
    Column("irn", "IRN", "coefficient"),
)
SHAPE = (
    Column("largest", "largest plausibility"),
    Column("n_cases", "cases", "count"),
    Column("share", unit="rate"),
    Column("n_classes", "effective classes", "coefficient"),
)
_BANDS = ((0.9, "90% or more"), (0.5, "50% to 90%"), (0.0, "below 50%"))


def compute(inputs: Inputs, options, token=None, progress=None) -> Plausibilities:
    """Compute plausibilities at the γ of the settings."""
    settings = settings_of(inputs)
    return plausibilities(
        settings.plausibility,
        inputs.dataset,
        reliability=settings.reliability,
        n_draws=options.n_draws,
        seed=options.seed,
        token=token,
        progress=progress,
    )


def present(found: Plausibilities, inputs: Inputs, options) -> list[Block]:
    """Show both downloads, and the most plausible class of the first cases."""
    table = table_of(found, inputs, options)
    n_classes = len(found.classes)
    leading = found.mean[:_FIRST].argmax(axis=1) + n_classes * np.arange(min(_FIRST, len(found.cases)))
    first = table.iloc[leading].reset_index(drop=True)
    return [
        Heading("Soft labels for training", "soft labels"),
        *shape(found),
        Words("Point estimates do not show uncertainty.", "note"),
        *downloads(found),
        Words(f"The leading class of the first {plural(len(first), 'case')}", "note"),
        Grid(first, "Most plausible classes.", _FIRST, COLUMNS, "plausibilities"),
    ]


def shape(found: Plausibilities) -> list[Block]:
    """Show how many cases have one plausible class, and how many classes share the plausibility of the others.

    Parameters
    ----------
    found : Plausibilities
    """
    table = shape_table(found)
    clear, n = int(table["n_cases"].iloc[0]), len(found.cases)
    return [
        Finding(
            f"{clear:,} of {plural(n, 'case')} ({percent(clear / n)}) {'has' if clear == 1 else 'have'} a class with a "
            f"mean plausibility of 90% or more at γ = {exact(found.reliability)}"
        ),
        Grid(table, "Cases by the mean plausibility of their leading class.", columns=SHAPE, key="plausibility_shape"),
        Words("Effective classes: exponential of the entropy; 1 if one class has all the plausibility.", "note"),
    ]


def shape_table(found: Plausibilities) -> pd.DataFrame:
    """Return cases, their share and their effective number of classes by the largest plausibility.

    Parameters
    ----------
    found : Plausibilities
    """
    largest, above = found.mean.max(axis=1), np.inf
    entropy = -(found.mean * np.log(np.where(found.mean > 0, found.mean, 1.0))).sum(axis=1)
    rows = []
    for low, title in _BANDS:
        own = (largest >= low) & (largest < above)
        classes = float(np.exp(entropy[own]).mean()) if own.any() else None
        rows.append((title, int(own.sum()), float(own.mean()), classes))
        above = low
    return frame_of(rows, SHAPE)


def downloads(found: Plausibilities) -> list[Block]:
    """Return the tables that pages offer: a row per case and class, and a row per case with lists.

    Parameters
    ----------
    found : Plausibilities
    """
    settings: dict[str, Any] = {
        "model": found.model,
        "reliability": found.reliability,
        "classes": list(found.classes),
    }
    long, lists = found.long_table, found.by_case
    n = len(found.cases)
    return [
        Download(long(), "Plausibilities", "plausibilities", "plausibilities_table", n * len(found.classes), settings),
        Download(lists, "One row per case (Hugging Face)", "soft_labels", "soft_labels_by_case", n, settings),
    ]


def table_of(found: Plausibilities, inputs: Inputs, options) -> pd.DataFrame:
    """Return the table with one row per case and class."""
    return found.long_table()
