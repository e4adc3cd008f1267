"""Certainty of all cases, and plausible truths of one: the parts of the analysis, with their options.

Parts take `Inputs`, whose settings have the plausibility model and γ. Their dataset is as raters annotated; a model of
single classes gets it as single classes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...annotations.dataset import Dataset
from ...methods import Verdict, as_taken, can_use, method_named
from ...plausibility.dirichlet import METHOD as COUNTS
from ...plausibility.gaussian import METHOD as GAUSSIAN
from ...plausibility.protocol import PlausibilityMethod
from ...text import shorten
from ..base import Analysis, AnalysisPart, part_of
from ..inputs import Inputs


@dataclass(frozen=True, slots=True)
class CertaintyOptions:
    """Options of the draws of all cases.

    Attributes
    ----------
    split : float, str or None
        Threshold that makes two classes of scores, or label that makes two of sets.
    max_top, n_draws, seed : int
        See `core.certainty.top_sets.annotation_certainty`.
    """

    split: float | str | None = None
    max_top: int = 3
    n_draws: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CaseOptions:
    """Options of the draws of one case, by its place in the data; the others are those of all cases."""

    case: int = 0
    split: float | str | None = None
    n_draws: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ShownCase:
    """Case that is shown, by its place in the data, with its raters named or not."""

    case: int = 0
    hide_names: bool = False


def view_of(inputs: Inputs, options):
    """Return the dataset as the plausibility model of the settings takes it."""
    return as_taken(_model(inputs), inputs.dataset, options.split)[0]


def of_label(dataset: Dataset, view: Dataset, write: Callable[[str], str] = str) -> str:
    """Return the label in use, as an addition to a headline, if the dataset has label sets; otherwise nothing."""
    return f" for “{write(shorten(view.classes[1], 30))}”" if dataset.kind == "set" else ""


def model_and_reliability(inputs: Inputs) -> tuple[Any, float]:
    """Return the plausibility model of the settings and its γ."""
    assert inputs.settings is not None, "the settings must name the model"
    return inputs.settings.plausibility, inputs.settings.reliability


def _model(inputs: Inputs) -> PlausibilityMethod:
    return method_named(PlausibilityMethod, model_and_reliability(inputs)[0].name)


def _classes(inputs: Inputs) -> Verdict:
    method = _model(inputs)
    found = can_use(method, inputs.dataset)
    if found.possible and method is GAUSSIAN:
        return Verdict(method.name, method.title, False, "scores have their own analyses")
    return found


def _labels(inputs: Inputs) -> Verdict:
    is_counts, title = _model(inputs) is COUNTS, "Certainty of label sets"
    why = inputs.dataset.not_of_kind("set")
    why = why or ("" if is_counts else "the certainty of label sets needs the model “Dirichlet counts”")
    return Verdict("labels", title, not why, why)


def _scores(inputs: Inputs) -> Verdict:
    possible = inputs.dataset.kind == "score" and _model(inputs) is GAUSSIAN
    return Verdict(GAUSSIAN.name, GAUSSIAN.title, possible, "" if possible else "the annotations are not scores")


def _part(name: str, *what: Any) -> AnalysisPart:
    return part_of(f"{__name__}.{name}", name, *what)


CASES = Analysis(
    "certainty",
    "Cases",
    "Which cases are uncertain?",
    (
        _part("certainty", "Certainty of every case", _classes, CertaintyOptions),
        _part("case", "One case", _classes, CaseOptions),
        _part("labels", "Labels of every case", _labels, ShownCase),
        _part("scores", "Plausible scores of every case", _scores),
        _part("score", "Plausible score of one case", _scores, ShownCase),
    ),
)
