"""Certainty and classifiers under another plausibility model, over γ (Stutz et al., figures 6, 7 and 14)."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from ...analysis_settings import plausibility_names
from ...errors import NotApplicableError
from ...evaluation.sweep_table import SweepTable, reliability_sweep
from ...figures import reliability as figures
from ...figures.classifiers import metric_against_reliability
from ...methods import as_taken, method_named
from ...plausibility.protocol import PlausibilityMethod, PlausibilityModel
from ...text import exact, plotly, shorten, with_interval
from ..blocks import Block, Download, Figure, Heading, Row, Stack, Words
from ..inputs import Inputs
from . import other_model, settings_of
from .certainty import middle
from .classifiers import chosen_metric, metric_table
from .relations import relation

CAUTION = Words(
    "Each model has its own scale of γ, so values of γ cannot be compared between models. Certainty is not a target: a "
    "large γ can make it high even if the raters are wrong, and a model with higher certainty need not be more "
    "accurate.",
    "note",
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelComparison:
    """Certainty and classifiers under two models, each over reliabilities γ of its own scale.

    Attributes
    ----------
    models : tuple of str
    sweeps : tuple of SweepTable
        Certainty of every case, and metrics of classifiers, under each model.
    places : tuple of int
        Position in each sweep of the γ at which cases are compared.
    """

    models: tuple[str, str]
    sweeps: tuple[SweepTable, SweepTable]
    places: tuple[int, int]

    @property
    def certainty(self) -> tuple[np.ndarray, np.ndarray]:
        """Compared certainty of every case under each model, each of shape (n_cases,)."""
        first, second = (
            sweep.certainty[at].certainty[:, 0] for sweep, at in zip(self.sweeps, self.places, strict=True)
        )
        return first, second

    @property
    def names(self) -> tuple[str, str]:
        """Names of the two models, with the γ at which cases are compared."""
        first, second = (
            named(model, sweep.reliabilities[at])
            for model, sweep, at in zip(self.models, self.sweeps, self.places, strict=True)
        )
        return first, second


def named(model: str, reliability: float) -> str:
    """Return the title of a model with γ."""
    return f"{method_named(PlausibilityMethod, model).title}, γ = {exact(reliability)}"


def compute(inputs: Inputs, options) -> ModelComparison:
    """Compute certainty under the settings' model at each γ, and under another model over its own scale."""
    settings = settings_of(inputs)
    own = settings.plausibility
    other = other_model(plausibility_names(inputs.dataset, settings.choice), own.name)
    if other is None:
        raise NotApplicableError("No other plausibility model supports these annotations.")
    rival = method_named(PlausibilityMethod, other).make()
    wide = ((own, options.reliabilities), (rival, scale_of(other)))
    first, second = (_sweep(inputs, model, reliabilities, options) for model, reliabilities in wide)
    return compared(own.name, first, rival, second)


def beside(own: SweepTable, inputs: Inputs, options) -> ModelComparison | None:
    """Compare certainty at one γ, computed already, with another model at its default γ; None if there is no other.

    Parameters
    ----------
    own : SweepTable
        Certainty under the settings' model.
    inputs : Inputs
    options : SweepOptions
    """
    settings = settings_of(inputs)
    name = settings.plausibility.name
    if (other := other_model(plausibility_names(inputs.dataset, settings.choice), name)) is None:
        return None
    rival = method_named(PlausibilityMethod, other).make()
    return compared(name, own, rival, _sweep(inputs, rival, (rival.default_reliability,), options))


def compared(own: str, first: SweepTable, rival: PlausibilityModel, second: SweepTable) -> ModelComparison:
    """Compare cases at the middle γ of the chosen model and at the default γ of the other.

    Parameters
    ----------
    own : str
        Name of the chosen model.
    first : SweepTable
        Certainty under the chosen model.
    rival : PlausibilityModel
    second : SweepTable
        Certainty under the other model at the values of `scale_of`, or at its default.
    """
    places = middle(first), second.reliabilities.index(rival.default_reliability)
    return ModelComparison((own, rival.name), (first, second), places)


def scale_of(model: str) -> tuple[float, ...]:
    """Return the values of γ of a model's sweep, with its default."""
    scale = method_named(PlausibilityMethod, model).reliability
    assert scale is not None, "every plausibility model has a γ"
    return tuple(sorted({*scale.sweep, scale.default}))


def _sweep(inputs: Inputs, model: PlausibilityModel, reliabilities: tuple[float, ...], options) -> SweepTable:
    taken = as_taken(method_named(PlausibilityMethod, model.name), inputs.dataset)[0]
    told = {"n_draws": options.n_draws, "seed": options.seed, "classifiers": inputs.predictions}
    return reliability_sweep(model, taken, reliabilities, **told)


def heading(other: str) -> Heading:
    """Return the heading, which a page shows while certainty under the other model is computed.

    Parameters
    ----------
    other : str
        Name of the other model.
    """
    return Heading("The same cases under another model", method_named(PlausibilityMethod, other))


def present(found: ModelComparison, inputs: Inputs, options) -> list[Block]:
    """Show a point for each case, and certainty and classifiers over γ, one model next to the other."""
    return [*by_case(found, inputs), over_reliabilities(found, inputs, options), CAUTION]


def correlation(found: ModelComparison) -> str:
    """Return the correlation of certainty under both models, without a full stop.

    Parameters
    ----------
    found : ModelComparison
    """
    line = relation(*found.certainty)
    return f"Correlation {with_interval(line.correlation, line.ci_low, line.ci_high)}"


def by_case(found: ModelComparison, inputs: Inputs) -> list[Block]:
    """Show a point for each case.

    Parameters
    ----------
    found : ModelComparison
    inputs : Inputs
    """
    title = correlation(found)
    cases = tuple(plotly(shorten(case, 24)) for case in inputs.dataset.cases)
    table = table_of(found, inputs, None)
    return [
        Figure(
            lambda theme: figures.model_against_model(*found.certainty, found.names, cases, theme, title),
            "Certainty of every case under two models",
            "models_relation",
        ),
        Download(table, "Both models", "certainty_models", "certainty_models"),
    ]


def over_reliabilities(found: ModelComparison, inputs: Inputs, options) -> Row:
    """Show the sorted certainty of all cases at each γ, and a metric of classifiers, one model next to the other.

    Parameters
    ----------
    found : ModelComparison
    inputs : Inputs
    options : SweepOptions
    """
    stacks = []
    for place, (model, sweep) in enumerate(zip(found.models, found.sweeps, strict=True)):
        title = method_named(PlausibilityMethod, model).title
        draw = partial(figures.sorted_certainty, sweep, title=title)
        alt = f"Sorted certainty of all cases at each γ under {title}"
        blocks: list[Block] = [Figure(draw, alt, f"models_certainty_{place}")]
        if sweep.evaluation:
            metric = chosen_metric(inputs, options)
            draw = partial(
                metric_against_reliability, sweep.reliabilities, sweep.evaluation, metric, title=f"Classifiers: {title}"
            )
            alt = f"Metric of each classifier at each γ under {title}"
            table = metric_table(sweep, metric)
            blocks += [
                Figure(draw, alt, f"models_metric_{place}"),
                Download(table, f"Classifiers: {title}", f"classifiers_{model}", f"models_metric_{place}"),
            ]
        stacks.append(Stack(1, blocks))
    return Row(tuple(stacks), gap="large")


def table_of(found: ModelComparison, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case, with a column for each model and γ."""
    columns = {
        named(model, reliability): result.certainty[:, 0]
        for model, sweep in zip(found.models, found.sweeps, strict=True)
        for reliability, result in zip(sweep.reliabilities, sweep.certainty, strict=True)
    }
    return pd.DataFrame({"case": inputs.dataset.cases} | columns)
