"""The sections on groups of raters, by agreement, cases and classifiers, and on covariates."""

from ..analyses.blocks import Words
from ..analyses.groups import GROUPS
from ..analyses.inputs import Inputs
from ..analyses.models import MODELS
from ..analyses.reliability import RELIABILITY
from ..errors import PluralityError


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
    if not GROUPS.parts[0].applicable(dataset).possible:
        return []
    asked = [(part.with_options(facts=request.facts, seed=request.seed), dataset) for part in GROUPS.parts]
    if request.classifiers and dataset.kind == "class":
        inputs = Inputs(dataset, predictions=request.classifiers, settings=request.settings)
        asked.append((RELIABILITY.part("groups").with_options(facts=request.facts, seed=request.seed), inputs))
    blocks: list = []
    for part, data in asked:
        try:
            blocks += part.blocks(part.answer(data), data)
        except PluralityError as error:
            blocks.append(Words(str(error), "note"))
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
    if not part.applicable(view).possible:
        return []
    try:
        found = part.answer(view, request.covariates, token=token, progress=progress)
    except PluralityError as error:
        return [Words(str(error), "note")]
    return part.blocks(found, view, request.covariates)
