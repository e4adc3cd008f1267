"""Course of the fit of the model in detail."""

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...figures import models as figures
from ...text import number, percent
from ..blocks import Block, Details, Figure, Grid, Name, Words
from ..schema import Column, frame_of
from .fits import FittedModels

_QUANTITIES = (
    Column("quantity"),
    *(Column(name, unit="coefficient") for name in ("mean", "sd")),
    Column("ci_low", "95% from", "coefficient"),
    Column("ci_high", "to", "coefficient"),
    Column("R-hat", unit="error"),
    Column("ESS", unit="count"),
)
_FIELDS = ("mean", "sd", "low", "high", "rhat", "ess")
_SETTINGS = (Column("setting"), Column("value"))


def compute(models: FittedModels, options) -> FittedModels:
    """Return the models unchanged."""
    return models


def present(found: FittedModels, dataset: Dataset, options) -> list[Block]:
    """Show the objective by iteration, or the diagnostics of the chains."""
    shown, fit = found.shown, found.shown.fit
    blocks: list[Block] = []
    if fit.objective:
        blocks += [
            Words(
                (
                    f"{'Converged' if fit.converged else 'Stopped'} after {len(fit.objective):,} iterations, "
                    f"starting from the majority vote; log-likelihood {number(fit.log_likelihood, 3)}; smoothing "
                    f"{fit.settings.get('smoothing', 'none')}.",
                ),
                "note",
            ),
            Figure(
                lambda theme: figures.objective_path(fit, theme, "The objective never decreases"),
                "Objective by iteration",
                "path",
            ),
        ]
    if fit.uncertainty is not None:
        said = f"{percent(fit.uncertainty.level)} intervals by {fit.uncertainty.method}."
        blocks.append(Words(said, "note"))
    if shown.bayes is not None:
        if len(table := table_of(found, dataset, options)):
            blocks.append(Grid(table, "Posterior quantities.", 40, _QUANTITIES, "quantities"))
        if shown.bayes.diagnostics is not None:
            blocks.append(Words((Name(shown.bayes.diagnostics.words),), "note", "convergence"))
        settings = frame_of(((name, str(value)) for name, value in fit.settings.items()), _SETTINGS)
        again = Grid(settings, "Settings.", 40, _SETTINGS, "model_settings")
        blocks.append(Details("Reproduce this result", [again]))
    return blocks


def table_of(found: FittedModels, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per quantity of the posterior, or per iteration."""
    if found.shown.bayes is None:
        values = found.shown.fit.objective
        return pd.DataFrame({"iteration": range(1, len(values) + 1), "objective": values})
    rows = (
        (name, *(None if (part := getattr(value, field)) is None else float(part) for field in _FIELDS))
        for name, value in found.shown.bayes.quantities.items()
        if np.size(value.mean) == 1
    )
    return frame_of(rows, _QUANTITIES)
