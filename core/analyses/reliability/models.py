"""Certainty of the same cases under another plausibility model."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...analysis_settings import plausibility_names
from ...certainty.top_sets import annotation_certainty
from ...errors import NotApplicableError
from ...figures import reliability as figures
from ...methods import as_taken, method_named
from ...plausibility.protocol import PlausibilityModel
from ...text import exact, plotly, shorten, with_interval
from ..blocks import Block, Download, Figure, Heading
from ..inputs import Inputs
from . import other_model, settings_of
from .relations import relation


@dataclass(frozen=True, slots=True, eq=False)
class ModelComparison:
    """Certainty under two models, each at a γ of its own.

    Attributes
    ----------
    models : tuple of str
    reliabilities : tuple of float
        Reliability γ of each model.
    certainty : tuple of ndarray
        Certainty of every case under each model, each of shape (n_cases,).
    """

    models: tuple[str, str]
    reliabilities: tuple[float, float]
    certainty: tuple[np.ndarray, np.ndarray]

    @property
    def names(self) -> tuple[str, str]:
        """Names of the two models, with their γ."""
        first, second = (
            f"{method_named('plausibility', name).title}, γ = {exact(at)}"
            for name, at in zip(self.models, self.reliabilities, strict=True)
        )
        return first, second


def compute(inputs: Inputs, options) -> ModelComparison:
    """Compute certainty under the settings' model at the middle γ, and under another model at its default γ."""
    settings = settings_of(inputs)
    own, at = settings.plausibility, options.reliabilities[len(options.reliabilities) // 2]
    other = other_model(plausibility_names(inputs.dataset, settings.choice), own.name)
    if other is None:
        raise NotApplicableError("No other plausibility model supports these annotations.")
    rival = method_named("plausibility", other).make()
    reliabilities = at, float(rival.default_reliability)
    pairs = zip((own, rival), reliabilities, strict=True)
    first, second = (_certainty(inputs, model, reliability, options) for model, reliability in pairs)
    return ModelComparison((own.name, rival.name), reliabilities, (first, second))


def _certainty(inputs: Inputs, model: PlausibilityModel, reliability: float, options) -> np.ndarray:
    taken = as_taken(method_named("plausibility", model.name), inputs.dataset)[0]
    how = {"reliability": reliability, "n_draws": options.n_draws, "seed": options.seed}
    return annotation_certainty(model, taken, **how).certainty[:, 0]


def heading(other: str) -> Heading:
    """Return the heading, which a page shows while certainty under the other model is computed.

    Parameters
    ----------
    other : str
        Name of the other model.
    """
    return Heading("The same cases under another model", method_named("plausibility", other))


def present(found: ModelComparison, inputs: Inputs, options) -> list[Block]:
    """Show a point for each case."""
    line = relation(*found.certainty)
    title = f"Correlation {with_interval(line.correlation, line.ci_low, line.ci_high)}"
    cases = tuple(plotly(shorten(case, 24)) for case in inputs.dataset.cases)
    table = table_of(found, inputs, options)
    return [
        Figure(
            lambda theme: figures.model_against_model(*found.certainty, found.names, cases, theme, title),
            "Certainty of every case under two models",
            "models_relation",
        ),
        Download(table, "Both models", "certainty_models", "certainty_models"),
    ]


def table_of(found: ModelComparison, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case."""
    columns = dict(zip(found.names, found.certainty, strict=True))
    return pd.DataFrame({"case": inputs.dataset.cases} | columns)
