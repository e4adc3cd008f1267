"""Part of a dataset as another dataset."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..errors import InputError, NotFoundError
from .csr import keep_annotations
from .dataset import MISSING_TIME, Dataset


def marked(
    dataset: Dataset,
    raters: Iterable[str] | None,
    cases: Iterable[str] | None,
    groups: Iterable[str] | None,
    since: int | None,
    until: int | None,
) -> np.ndarray:
    """Which annotations a selection takes, bool, shape (n_annotations,); see `Dataset.select`."""
    keep = np.ones(dataset.n_annotations, bool)
    if raters is not None:
        position = {rater: code for code, rater in enumerate(dataset.raters)}
        raters = list(raters)
        unknown = [rater for rater in raters if rater not in position]
        if unknown:
            raise NotFoundError(f"There is no rater {unknown[0]!r} in {dataset.name}.")
        keep &= np.isin(dataset.rater, [position[rater] for rater in raters])
    if cases is not None:
        wanted = np.zeros(dataset.n_cases, bool)
        wanted[[dataset.case_index(case_id) for case_id in cases]] = True
        keep &= wanted[dataset.case_of_annotation]
    if groups is not None:
        if dataset.case_group is None:
            raise InputError("These data have no groups of cases.")
        keep &= np.isin(np.array(dataset.case_group), list(groups))[dataset.case_of_annotation]
    if since is not None or until is not None:
        if dataset.time is None:
            raise InputError("These annotations have no dates.")
        known = dataset.time != MISSING_TIME
        keep &= known & (dataset.time >= (since if since is not None else MISSING_TIME))
        keep &= dataset.time < until if until is not None else True
    return keep


def keep_only(dataset: Dataset, keep: np.ndarray) -> Dataset:
    """A dataset of the annotations marked in ``keep``; cases and raters left without any are gone, classes stay."""
    if not keep.any():
        raise InputError("Nothing is left by this selection.", "Take in more raters, cases or dates.")
    counts = np.diff(keep_annotations(dataset.case_ptr, keep))
    case_kept = counts > 0
    rater_kept = np.zeros(dataset.n_raters, bool)
    rater_kept[dataset.rater[keep]] = True
    new_rater = np.cumsum(rater_kept, dtype=np.int32) - 1
    changes = {}
    if dataset.kind == "ranking":
        entry_keep = np.repeat(keep, np.diff(dataset.entry_ptr))
        changes = {
            "entry_ptr": np.concatenate([[0], np.cumsum(np.diff(dataset.entry_ptr)[keep])]).astype(np.int64),
            "entry_class": dataset.entry_class[entry_keep],
            "entry_block": dataset.entry_block[entry_keep],
        }
    return replace(
        dataset,
        cases=tuple(case_id for case_id, kept in zip(dataset.cases, case_kept, strict=True) if kept),
        raters=tuple(rater for rater, kept in zip(dataset.raters, rater_kept, strict=True) if kept),
        case_ptr=np.concatenate([[0], np.cumsum(counts[case_kept])]).astype(np.int64),
        rater=new_rater[dataset.rater[keep]],
        answer=dataset.answer[keep] if dataset.kind == "class" else dataset.answer,
        score=dataset.score[keep] if dataset.kind == "score" else dataset.score,
        time=None if dataset.time is None else dataset.time[keep],
        case_group=None
        if dataset.case_group is None
        else tuple(group for group, kept in zip(dataset.case_group, case_kept, strict=True) if kept),
        gold=None if dataset.gold is None else dataset.gold[case_kept],
        **changes,
    )
