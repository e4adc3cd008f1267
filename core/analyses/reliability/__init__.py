"""Change of certainty and classifiers with the reliability γ: the parts of the analysis, with their options."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from ...analysis_settings import AnalysisSettings, plausibility_names
from ...errors import InputError
from ...methods import Verdict, can_use, method_named
from ...plausibility.protocol import PlausibilityMethod
from ...text import exact
from ..base import Analysis, AnalysisPart, option
from ..blocks import Control
from ..groups import GroupOptions
from ..inputs import Inputs

SWEPT = (1.0, 2.0, 3.0, 5.0, 10.0)
Lacking = Callable[[Inputs], str]  # why a part is not possible; empty if it is


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """Options of draws at several reliabilities.

    Attributes
    ----------
    reliabilities : tuple of float
        Values of γ, ascending.
    n_draws, seed : int
    metric : str
        Metric of classifiers; the default of pages if empty.
    """

    reliabilities: tuple[float, ...] = SWEPT
    n_draws: int = 1000
    seed: int = 0
    metric: str = ""


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """Options of further metrics.

    Attributes
    ----------
    k : int
        Length of the compared lists.
    j : int
        Most plausible classes that must all be among the first k predicted ones.
    n_draws, seed : int
    """

    k: int = option(
        3, "Length of the lists, k", kind="integer", low=1, key="metrics_k", help="Length of the compared lists"
    )
    j: int = option(
        2,
        "Size of the target, j",
        kind="integer",
        low=1,
        key="metrics_j",
        help="Number of leading classes that the predicted list must contain",
    )
    n_draws: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SetOptions:
    """Options of prediction sets.

    Attributes
    ----------
    reliabilities : tuple of float
        Values of γ, ascending.
    n_draws, seed : int
    classifier : int
        Classifier whose sets are shown, among those with scores.
    alpha, folds, n_labels, corrected, within
        See `core.evaluation.prediction_sets.prediction_sets`.
    """

    reliabilities: tuple[float, ...] = SWEPT
    n_draws: int = 1000
    seed: int = 0
    classifier: int = 0
    alpha: float = 0.1
    folds: int = 0
    n_labels: int = 1
    corrected: bool = False
    within: str = ""


@dataclass(frozen=True, slots=True)
class AnchorOptions:
    """Options of the evidence for γ.

    Attributes
    ----------
    n_draws, seed : int
    beta : float, optional
        Independence of the annotations of a case; estimated from held-out annotations if omitted.
    """

    n_draws: int = 1000
    seed: int = 0
    beta: float | None = None


def settings_of(inputs: Inputs) -> AnalysisSettings:
    """Return the settings, which the parts of this analysis need.

    Raises
    ------
    InputError
        There are none.
    """
    if inputs.settings is None:
        raise InputError("Could not start the analysis: the plausibility model is missing.", "Provide settings.")
    return inputs.settings


def nearest(reliabilities: Sequence[float], inputs: Inputs) -> int:
    """Return the position of the value that is nearest to γ of the settings, by its ratio.

    Parameters
    ----------
    reliabilities : sequence of float
    inputs : Inputs
    """
    at = settings_of(inputs).reliability
    return min(range(len(reliabilities)), key=lambda place: abs(log(reliabilities[place] / at)))


def control(reliabilities: Sequence[float], inputs: Inputs, key: str) -> Control:
    """Return the control of one γ, initially the nearest to that of the settings.

    Parameters
    ----------
    reliabilities : sequence of float
    inputs : Inputs
    key : str
        Key of the control.
    """
    titles = [exact(value) for value in reliabilities]
    return Control("At γ =", reliabilities, titles, key, nearest(reliabilities, inputs), look="slider")


def _of_classes(inputs: Inputs) -> str:
    return "the annotations are not classes" if inputs.dataset.traits.needs_split else ""


def _of_single_classes(inputs: Inputs) -> str:
    return inputs.dataset.not_of_kind("class")


def _of_scores(inputs: Inputs) -> str:
    return inputs.dataset.not_of_kind("score")


def _of_sets(inputs: Inputs) -> str:
    return inputs.dataset.not_of_kind("set")


def _with_predictions(inputs: Inputs) -> str:
    return "" if inputs.predictions else "there are no predictions"


def _with_class_scores(inputs: Inputs) -> str:
    known = any(one.score is not None for one in inputs.predictions)
    return "" if known else "the predictions have no class scores, which prediction sets need"


def _with_risk(inputs: Inputs) -> str:
    levels = inputs.dataset.class_risk
    return "" if levels is not None and (levels >= 0).all() else "the classes have no risk levels"


def _with_another_model(inputs: Inputs) -> str:
    settings = settings_of(inputs)
    names = plausibility_names(inputs.dataset, settings.choice)
    return "" if other_model(names, settings.plausibility.name) else "no other model supports these annotations"


def other_model(names: Sequence[str], own: str) -> str | None:
    """Return the first other plausibility model that learns nothing on raters; None if there is none.

    Parameters
    ----------
    names : sequence of str
        Names of the models that take the annotations, in the order of pages.
    own : str
        Name of the chosen model.
    """
    made = (method_named(PlausibilityMethod, name).make() for name in names if name != own)
    return next((model.name for model in made if not hasattr(model, "fitted") and not hasattr(model, "trusted")), None)


def _part(name: str, title: str, *lacking: Lacking, options: type = SweepOptions, compute: str = "") -> AnalysisPart:
    """Return a part from the module of its name; ``compute`` names another module that computes its result."""

    def applicable(inputs: Inputs) -> Verdict:
        settings = inputs.settings
        if settings is None:
            return Verdict(name, title, False, "no plausibility model is chosen")
        why = next((why for each in lacking if (why := each(inputs))), "")
        found = can_use(method_named(PlausibilityMethod, settings.plausibility.name), inputs.dataset)
        return Verdict(found.method, title, False, why) if why else found

    present, table = (f"{__name__}.{name}:{function}" for function in ("present", "table_of"))
    return AnalysisPart(name, title, applicable, f"{__name__}.{compute or name}:compute", present, table, options)


RELIABILITY = Analysis(
    "reliability",
    "Reliability",
    "How do certainty and classifiers change with the reliability γ?",
    (
        _part("certainty", "Certainty", _of_classes),
        _part("classifiers", "Classifiers", _of_classes, _with_predictions, compute="certainty"),
        _part("metrics", "Further metrics", _of_classes, _with_predictions, options=MetricOptions),
        _part("prediction_sets", "Prediction sets", _of_classes, _with_predictions, _with_class_scores,
              options=SetOptions),
        _part("groups", "Groups of raters", _of_single_classes, _with_predictions, options=GroupOptions),
        _part("risk", "Risk", _of_classes, _with_risk, compute="certainty"),
        _part("relations", "Relations", _of_classes, compute="certainty"),
        _part("plausibilities", "Soft labels", _of_classes),
        _part("models", "Another model", _of_classes, _with_another_model),
        _part("evidence", "Classifier as evidence", _of_single_classes, _with_predictions, _with_class_scores),
        _part("anchors", "How γ is chosen", options=AnchorOptions),
        _part("scores", "Certainty of scores", _of_scores),
        _part("predictors", "Predictors", _of_scores, _with_predictions),
        _part("set_classifiers", "Classifiers of sets", _of_sets, _with_predictions),
    ),
)  # fmt: skip
