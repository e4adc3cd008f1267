"""How certainty and classifiers change with the reliability γ: the parts of the answer, with their options."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from ...analysis_settings import AnalysisSettings, plausibility_names
from ...errors import InputError
from ...methods import Verdict, can_use, method_named
from ...text import exact
from ..base import Analysis, AnalysisPart
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
        Of classifiers; the one that pages open with if empty.
    """

    reliabilities: tuple[float, ...] = SWEPT
    n_draws: int = 1000
    seed: int = 0
    metric: str = ""


@dataclass(frozen=True, slots=True)
class SetOptions:
    """Options of prediction sets.

    Attributes
    ----------
    reliabilities : tuple of float
        Values of γ, ascending.
    n_draws, seed : int
    classifier : int
        Whose sets are shown, of the classifiers with scores.
    alpha, folds, n_labels, corrected, within
        As of `core.evaluation.prediction_sets.prediction_sets`.
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
    """Options of what anchors γ.

    Attributes
    ----------
    n_draws, seed : int
    beta : float, optional
        How far the annotations of a case are independent; estimated from held-out annotations if omitted.
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
        raise InputError("No plausibility model is chosen.", "Provide settings.")
    return inputs.settings


def nearest(reliabilities: Sequence[float], inputs: Inputs) -> int:
    """Return the place of the value, by its ratio, that is nearest to γ of the settings.

    Parameters
    ----------
    reliabilities : sequence of float
    inputs : Inputs
    """
    at = settings_of(inputs).reliability
    return min(range(len(reliabilities)), key=lambda place: abs(log(reliabilities[place] / at)))


def control(reliabilities: Sequence[float], inputs: Inputs, key: str) -> Control:
    """Return the choice of one γ, the nearest to that of the settings at first.

    Parameters
    ----------
    reliabilities : sequence of float
    inputs : Inputs
    key : str
        Of the control.
    """
    titles = [exact(value) for value in reliabilities]
    return Control("At γ =", reliabilities, titles, key, nearest(reliabilities, inputs), look="slider")


def _of_classes(inputs: Inputs) -> str:
    return "these are no classes" if inputs.dataset.kind in ("score", "set") else ""


def _of_scores(inputs: Inputs) -> str:
    return "" if inputs.dataset.kind == "score" else "these are no scores"


def _of_sets(inputs: Inputs) -> str:
    return "" if inputs.dataset.kind == "set" else "these are no sets of labels"


def _with_predictions(inputs: Inputs) -> str:
    return "" if inputs.predictions else "there are no predictions"


def _with_class_scores(inputs: Inputs) -> str:
    known = any(one.score is not None for one in inputs.predictions)
    return "" if known else "the predictions hold no scores of classes, which prediction sets need"


def _with_risk(inputs: Inputs) -> str:
    levels = inputs.dataset.class_risk
    return "" if levels is not None and (levels >= 0).all() else "classes have no levels of risk"


def _with_another_model(inputs: Inputs) -> str:
    settings = settings_of(inputs)
    names = plausibility_names(inputs.dataset, settings.choice)
    return "" if other_model(names, settings.plausibility.name) else "no other model takes these annotations"


def other_model(names: Sequence[str], own: str) -> str | None:
    """Return the first further plausibility model that needs to learn nothing of raters; None if there is none.

    Parameters
    ----------
    names : sequence of str
        Of the models that take the annotations, in the order in which pages offer them.
    own : str
        Of the model that is chosen.
    """
    made = (method_named("plausibility", name).make() for name in names if name != own)
    return next((model.name for model in made if not hasattr(model, "fitted") and not hasattr(model, "trusted")), None)


def _part(name: str, title: str, *lacking: Lacking, options: type = SweepOptions, compute: str = "") -> AnalysisPart:
    """A part of the module of its name; ``compute`` names another module that computes its result."""

    def applicable(inputs: Inputs) -> Verdict:
        settings = inputs.settings
        if settings is None:
            return Verdict(name, title, False, "no plausibility model is chosen")
        why = next((why for each in lacking if (why := each(inputs))), "")
        found = can_use(method_named("plausibility", settings.plausibility.name), inputs.dataset)
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
        _part("prediction_sets", "Prediction sets", _of_classes, _with_predictions, _with_class_scores,
              options=SetOptions),
        _part("groups", "Groups of raters", _of_classes, _with_predictions, options=GroupOptions),
        _part("risk", "Risk", _of_classes, _with_risk, compute="certainty"),
        _part("relations", "Relations", _of_classes, compute="certainty"),
        _part("models", "Another model", _of_classes, _with_another_model),
        _part("anchors", "What anchors γ", options=AnchorOptions),
        _part("scores", "Certainty of scores", _of_scores),
        _part("predictors", "Predictors", _of_scores, _with_predictions),
        _part("set_classifiers", "Classifiers of sets", _of_sets, _with_predictions),
    ),
)  # fmt: skip
