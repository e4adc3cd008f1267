"""Results of analyses, kept by the content of the data, the part, its options, the settings and the version."""

from dataclasses import astuple, replace
from typing import Any

from core.analyses.base import AnalysisPart
from core.analyses.inputs import Inputs
from core.annotations.dataset import Dataset
from pages.shared.cache.remembered import known_of_content, of_content


def result(part: AnalysisPart, data: Dataset | Inputs, options: Any = None) -> Any:
    """Return the result of a part, computed once for each content, settings and options."""
    chosen = part.resolve() if options is None else options
    dataset, asked = _asked(part, data, chosen)
    return of_content(dataset, asked, lambda content: part.answer(_with(data, content), chosen))


def known(part: AnalysisPart, data: Dataset | Inputs, options: Any = None) -> Any:
    """Return what `result` computed for the same arguments before, or None; computes nothing."""
    return known_of_content(*_asked(part, data, part.resolve() if options is None else options))


def _with(data: Dataset | Inputs, content: Dataset) -> Dataset | Inputs:
    return replace(data, dataset=content) if isinstance(data, Inputs) else content


def _asked(part: AnalysisPart, data: Dataset | Inputs, options: Any) -> tuple[Dataset, tuple]:
    asked = (part.compute, astuple(options))
    if not isinstance(data, Inputs):
        return data, asked
    if data.settings is None:
        return data.dataset, asked
    model = data.settings.plausibility
    return data.dataset, (*asked, model.name, tuple(sorted(model.settings().items())), data.settings.reliability)
