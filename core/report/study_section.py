"""The section on a reader study: modalities compared, readers and ROC curves."""

from ..analyses.blocks import Words
from ..analyses.study import STUDY, analyse

_PARTS = ("modalities", "readers", "roc")


def study(request, sections, token, progress) -> list:
    """Compare modalities by AUC, with the results of each reader and ROC curves.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`, as for every section.
    """
    if request.study is None:
        return []
    part = STUDY.part(_PARTS[0])
    verdict = part.applicable(request.study)
    if not verdict.possible:
        return [Words(f"Cannot compare modalities: {verdict.reason}.", "note")]
    options = part.with_options(seed=request.seed).resolve()
    analysed = analyse(request.study, options, token, progress)
    found = [(one, one.answer(request.study, options, analysed)) for one in map(STUDY.part, _PARTS)]
    blocks = [one.blocks(result, request.study, options) for one, result in found]
    return [block for each in blocks for block in each]
