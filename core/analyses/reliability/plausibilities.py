"""Plausibilities of all cases as soft labels: to download, and to train classifiers on."""

from typing import Any

import numpy as np
import pandas as pd

from ...certainty.plausibilities import Plausibilities, plausibilities
from ...text import exact, percent, plural
from ..blocks import Block, Download, Grid, Heading, Words
from ..inputs import Inputs
from ..schema import Column
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
        Words(
            f"Mean plausibility of each class at γ = {exact(found.reliability)}, over "
            f"{plural(len(found.cases), 'case')}. Mean of the largest plausibility: "
            f"{percent(found.mean.max(axis=1).mean())}. A point estimate does not show its uncertainty."
        ),
        *downloads(found),
        Words(f"The leading class of the first {plural(len(first), 'case')}", "note"),
        Grid(first, "Most plausible classes.", _FIRST, COLUMNS, "plausibilities"),
    ]


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
