"""Write annotations as a long table that reads back to the same dataset, or as a wide table."""

import numpy as np
import pandas as pd

from ..errors import NotApplicableError
from .dataset import Dataset


def long_table(dataset: Dataset, cases: range | None = None) -> pd.DataFrame:
    """Return one row per annotation, or per ranked class; see `Dataset.long_columns`.

    Parameters
    ----------
    dataset : Dataset
    cases : range, optional
        Run of cases; all if omitted.
    """
    return pd.DataFrame(dataset.long_columns(range(dataset.n_cases) if cases is None else cases))


WIDE_SIGNS = (">", "=")


def wide_table(dataset: Dataset, signs: tuple[str, str] = WIDE_SIGNS) -> pd.DataFrame:
    """Return one row per case: case, (group,) and a column for each rater; an empty cell is a missing annotation.

    Rankings are written as ``A > B = C`` with the given signs between positions and between tied classes. Dates are
    left out, because they belong to single annotations, and annotations of a case are in the order of the raters.

    Raises
    ------
    NotApplicableError
        A rater annotates a case more than once, a class contains one of the signs, a rater has the name of another
        column, or raters are not identified.
    """
    if not dataset.raters_identified:
        raise NotApplicableError(
            "Could not write a column per rater: these data do not identify raters. Use the long format."
        )
    if dataset.pairs is not None:
        raise NotApplicableError(
            "Could not write a column per rater: the annotations are comparisons. Use the long format."
        )
    case, rater = dataset.case_of_annotation, dataset.rater
    pair = case.astype(np.int64) * max(1, dataset.n_raters) + rater
    if len(np.unique(pair)) < pair.size:
        raise NotApplicableError(
            "Could not write one cell per rater: some raters annotated the same case more than once. Use the long "
            "table."
        )
    columns = {"case": np.array(dataset.cases, dtype=object)}
    if dataset.case_group is not None:
        columns["group"] = np.array(dataset.case_group, dtype=object)
    if twice := [name for name in dataset.raters if name in columns]:
        raise NotApplicableError(
            f"Could not write a column per rater: {twice[0]!r} is also the name of another column. Use the long format."
        )
    texts = _texts(dataset, signs)
    for code, name in enumerate(dataset.raters):
        cells = np.full(dataset.n_cases, "", dtype=object)
        cells[case[rater == code]] = texts[rater == code]
        columns[name] = cells
    return pd.DataFrame(columns)


def _texts(dataset: Dataset, signs: tuple[str, str]) -> np.ndarray:
    """Return every annotation as the text of a cell, ndarray of object, shape (n_annotations,)."""
    if dataset.kind == "class":
        return _named(dataset.classes, dataset.answer)
    if dataset.kind == "set":
        return dataset.set_texts(range(dataset.n_annotations))
    if dataset.kind == "score":
        return np.array([repr(float(score)) for score in dataset.score], dtype=object)
    for name in dataset.classes:
        if any(sign.strip() in name for sign in signs):
            raise NotApplicableError(
                f"Could not write rankings: the class {name!r} contains a separator. Use the long format, or "
                "other separators."
            )
    after, tied = (f" {sign.strip()} " for sign in signs)
    return np.array(
        [
            after.join(tied.join(dataset.classes[code] for code in block) for block in dataset.blocks_of(annotation))
            for annotation in range(dataset.n_annotations)
        ],
        dtype=object,
    )


def _named(names: tuple[str, ...], code: np.ndarray) -> np.ndarray:
    return np.array(names, dtype=object)[code]
