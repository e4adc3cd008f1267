"""The section on groups of raters: agreement, cases, and classifiers by group."""

from ..analyses.blocks import Words
from ..analyses.groups import GROUPS
from ..analyses.inputs import Inputs
from ..analyses.reliability import RELIABILITY
from ..errors import PluralityError


def groups(request, sections, token, progress) -> list:
    """Compare groups of raters; nothing without facts of the raters.

    Parameters
    ----------
    request : ReportRequest
    sections : sequence of str
        Keys of the sections that were chosen; not used here.
    token, progress
        See `core.runtime.chunks.map_chunks`; not used here.
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
