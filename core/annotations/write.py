"""Annotations as understood, as a long table that reads back to the same dataset."""

import numpy as np
import pandas as pd

from core.annotations.dataset import MISSING_TIME, Dataset


def long_table(dataset: Dataset, cases: range | None = None) -> pd.DataFrame:
    """One row per annotation, or per ranked class: case, rater, (time,) (rank,) class or score, (group).

    Parameters
    ----------
    cases : range, optional
        A run of cases; all where not given.
    """
    cases = range(dataset.n_cases) if cases is None else cases
    start, stop = dataset.case_ptr[cases.start], dataset.case_ptr[cases.stop]
    annotations = np.arange(start, stop)
    if dataset.kind == "ranking":
        entries = np.arange(dataset.entry_ptr[start], dataset.entry_ptr[stop])
        annotations = np.repeat(annotations, np.diff(dataset.entry_ptr[start : stop + 1]))
    case_of = dataset.case_of_annotation[annotations]
    columns = {"case": _named(dataset.cases, case_of), "rater": _named(dataset.raters, dataset.rater[annotations])}
    if dataset.time is not None:
        stamps = dataset.time[annotations]
        iso = np.datetime_as_string(np.where(stamps == MISSING_TIME, 0, stamps).astype("datetime64[s]"))
        columns["time"] = np.where(stamps == MISSING_TIME, "", iso)
    if dataset.kind == "ranking":
        columns["rank"] = dataset.entry_block[entries] + 1
        columns["class"] = _named(dataset.classes, dataset.entry_class[entries])
    elif dataset.kind == "class":
        columns["class"] = _named(dataset.classes, dataset.answer[annotations])
    else:
        columns["score"] = dataset.score[annotations]
    if dataset.case_group is not None:
        columns["group"] = _named(dataset.case_group, case_of)
    return pd.DataFrame(columns)


def _named(names: tuple[str, ...], code: np.ndarray) -> np.ndarray:
    return np.array(names, dtype=object)[code]
