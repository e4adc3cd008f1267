"""Part of an analysis on the command line: the rows of its table, as on its page and in its downloads."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..analyses.base import AnalysisPart, declared_part
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from .inputs import progress, read_warned, rows_of, split, stamp, with_declared_order

if TYPE_CHECKING:
    import pandas as pd


def answer_part(
    part: AnalysisPart,
    options,
    with_more: Callable[[Dataset], Dataset] = lambda dataset: dataset,
    *,
    as_classes: bool = False,
) -> tuple[dict, "pd.DataFrame"]:
    """Return the rows of a part, for unsplit scores if the part takes them.

    Parameters
    ----------
    part : AnalysisPart
    options
        Options of the command line.
    with_more : callable
        Function that adds to the data, such as gold.
    as_classes : bool
        The part takes single classes, as on its page, whatever the annotations are.

    Raises
    ------
    NotApplicableError
        The part is not possible with these data.
    """
    dataset, left_out = read_warned(options).dataset, 0
    if dataset.kind == "score" and options.threshold is None:
        dataset = with_more(dataset)
    if as_classes or dataset.kind == "class" or not part.applicable(dataset).possible:
        dataset, left_out = dataset.as_classes(split(options))
        dataset = with_more(with_declared_order(dataset, options))
    return answered(part, options, dataset, left_out)


def of_declared(options) -> tuple[dict, "pd.DataFrame"]:
    """Return the rows of the part that is called like the command; of single classes if it needs them.

    Parameters
    ----------
    options
        Options of the command line.
    """
    return answer_part(declared_part(options.command), options, as_classes=split(options) is not None)


def answered(
    part: AnalysisPart, options, dataset: Dataset, left_out: int = 0, words: Callable[[Any], str] | None = None
) -> tuple[dict, "pd.DataFrame"]:
    """Return the rows of a part of an analysis, as on its page and in its downloads.

    Parameters
    ----------
    part : AnalysisPart
    options
        Options of the command line.
    dataset : Dataset
    left_out : int
        Number of annotations that are not in the dataset.
    words : callable, optional
        Function from the result to sentences to output.

    Raises
    ------
    NotApplicableError
        The part is not possible with these data.
    """
    verdict = part.applicable(dataset)
    if not verdict.possible:
        raise NotApplicableError(f"“{part.title}” is not available: {verdict.reason}.")
    chosen = part.resolve(**part.given(options))
    found = part.answer(dataset, chosen, **({} if part.work is None else {"progress": progress}))
    table = part.frame(found, dataset, chosen)
    said = {} if words is None else {"words": words(found)}
    return {"part": part.name, **said, "rows": rows_of(table), "left_out": left_out, **stamp(options, dataset)}, table
