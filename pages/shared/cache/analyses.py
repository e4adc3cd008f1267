"""Results of analyses, kept by the content of the data, the part, its options and the version."""

from dataclasses import astuple
from typing import Any

from core.analyses.base import AnalysisPart
from core.annotations.dataset import Dataset
from pages.shared.cache.remembered import known_of_content, of_content


def result(part: AnalysisPart, dataset: Dataset, options: Any = None) -> Any:
    """What a part finds; computed once for each content and options."""
    chosen = part.options() if options is None else options
    return of_content(dataset, _asked(part, chosen), lambda content: part.answer(content, chosen))


def known(part: AnalysisPart, dataset: Dataset, options: Any = None) -> Any:
    """What `result` gave of the same before; None where it has not been asked, and it is not now."""
    return known_of_content(dataset, _asked(part, part.options() if options is None else options))


def _asked(part: AnalysisPart, options: Any) -> tuple:
    return (part.compute, astuple(options))
