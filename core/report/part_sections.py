"""Sections that print parts of analyses as they are: requirements, guideline, groups, columns, items, studies."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from ..analyses.base import AnalysisPart
from ..analyses.blocks import Words
from ..analyses.comparisons import ORDER
from ..analyses.gate import GATE
from ..analyses.groups import GROUPS
from ..analyses.guideline import GUIDELINE
from ..analyses.inputs import Inputs
from ..analyses.models import MODELS
from ..analyses.reliability import RELIABILITY
from ..analyses.study import STUDY, analyse
from ..errors import PluralityError
from .data_sections import single_classes

_GIVEN = ("facts", "requirements", "confident", "look", "n_rows", "n_dropped", "n_draws", "seed")
_OF_STUDY = ("modalities", "readers", "roc")


def of_parts(request, parts: Iterable[AnalysisPart], data: Any, options: Any = None, **how: Any) -> list:
    """Return the blocks of the parts that these data allow, or the reason if one cannot be computed.

    Parameters
    ----------
    request : ReportRequest
        Report, whose facts, requirements, draws and seed are the options of the same name.
    parts : iterable of AnalysisPart
        Parts; those with the same computation share its result.
    data : Dataset or Inputs
    options : object, optional
        Options, if they are known.
    **how
        Cancel token and progress, for parts that take time.
    """
    blocks: list = []
    known: dict[str, Any] = {}
    for part in parts:
        if not part.applicable(data).possible:
            continue
        given = {one.name: getattr(request, one.name) for one in fields(part.options) if one.name in _GIVEN}
        chosen = options or part.resolve(**{name: value for name, value in given.items() if value is not None})
        try:
            if part.compute not in known:
                known[part.compute] = part.answer(data, chosen, **(how if part.work else {}))
            blocks += part.blocks(known[part.compute], data, chosen)
        except PluralityError as error:
            blocks.append(Words(str(error), "note"))
    return blocks


def of_question(part: AnalysisPart) -> Callable[..., list]:
    """Return the function that builds the section of a part of annotations.

    Parameters
    ----------
    part : AnalysisPart
    """

    def section(request, sections, token, progress) -> list:
        data, words = request.dataset, []
        if not part.applicable(data).possible and not request.no_classes:  # then of single classes
            data, words = single_classes(request)
        found = of_parts(request, [part], data, token=token, progress=progress)
        return [*words, *found] if found else []

    return section


def gate(request, sections, token, progress) -> list:
    """Compare the data with the requirements; nothing if there are none.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    return of_parts(request, GATE.parts, request.dataset) if request.requirements else []


def order(request, sections, token, progress) -> list:
    """Return the items of paired comparisons in order, and raters; nothing for other data.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    return of_parts(request, ORDER.parts, request.dataset)


def groups(request, sections, token, progress) -> list:
    """Compare groups of raters; nothing without facts of the raters.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    if request.facts is None:
        return []
    dataset = request.dataset
    if dataset.kind not in ("class", "score"):
        dataset = dataset.as_classes(request.threshold)[0]
    blocks = of_parts(request, GROUPS.parts, dataset)
    if blocks and request.classifiers and dataset.kind == "class":
        inputs = Inputs(dataset, predictions=request.classifiers, settings=request.settings)
        blocks += of_parts(request, [RELIABILITY.part("groups")], inputs)
    return blocks


def covariates(request, sections, token, progress) -> list:
    """Estimate the effects of the chosen columns; nothing if none is chosen.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    if request.covariates is None:
        return []
    view, part = request.dataset.as_classes(request.threshold)[0], MODELS.part("covariates")
    return of_parts(request, [part], view, request.covariates, token=token, progress=progress)


def study(request, sections, token, progress) -> list:
    """Compare modalities by AUC, with the results of each reader and ROC curves.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`, as for every section.
    """
    if request.study is None:
        return []
    parts = [STUDY.part(name) for name in _OF_STUDY]
    verdict = parts[0].applicable(request.study)
    if not verdict.possible:
        return [Words(f"Cannot compare modalities: {verdict.reason}.", "note")]
    options = parts[0].resolve(seed=request.seed)
    analysed = analyse(request.study, options, token, progress)
    return [
        block
        for part in parts
        for block in part.blocks(part.answer(request.study, options, analysed), request.study, options)
    ]


guideline = of_question(GUIDELINE.parts[0])
