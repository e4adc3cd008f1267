"""The card on which people add a file of predictions to their data, of whatever kind these are."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.evaluation.metrics import TOP
from core.text import markdown, shorten
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import job_progress, predictions, widgets

_CLASSIFIERS = "Add classifier predictions"
_KINDS = {
    "score": (
        "Add predicted scores",
        "CSV, TSV or Parquet: one row per case (columns case, score and optionally predictor), or one column per "
        "predictor",
    ),
    "set": (
        _CLASSIFIERS,
        "CSV, TSV or Parquet: one row per case with all labels in one cell (columns case, labels and optionally "
        "classifier), or one column per label with 0 and 1, or with probabilities",
    ),
}
_CLASSES = (
    _CLASSIFIERS,
    "CSV, TSV, Parquet or JSON Lines: one row per case and class (columns case, class, score or rank, and optionally "
    "classifier), one row per case with one column per class, or a matrix of scores in the order of cases and "
    "classes",
    lambda one: _ties_and_gaps(one),
)


def add(
    view: Dataset,
    title: str,
    what: str,
    remark: Callable[..., str] = lambda one: "",
    otherwise: Callable[[str, bytes], str] | None = None,
) -> None:
    """Add a file of predictions, and show what does not match.

    Parameters
    ----------
    view : Dataset
        Data that predictions are matched to.
    title : str
        Title of the card.
    what : str
        The kinds of file and their rows.
    remark : callable
        Function that returns the remark on predictions after the number of their cases.
    otherwise : callable, optional
        Function of the name and content of a file without predictions; shows its content or raises `PluralityError`.
    """
    if otherwise is None:
        for why in predictions.unusable(view):
            st.warning(markdown(why), icon=":material/warning:")
    may_change = access.may_change(visit.data)
    if not may_change and not predictions.own_names():
        return
    with st.expander(title if may_change else "Predictions in use"):
        upload = widgets.file_uploader(what, key="predictions_file") if may_change else None
        if upload is not None and not tried(upload):
            return
        if upload is None:
            if own := predictions.own_names():
                st.markdown(f"In use: {markdown(', '.join(own))}.")
                _said_again(view, remark, otherwise)
                if may_change:
                    st.button("Remove them", on_click=predictions.remove, key="no_predictions")
            return
        name = upload.name.rsplit(".", 1)[0]
        try:
            _said(name, upload.getvalue(), view, remark, otherwise)
        except PluralityError as error:
            st.error(markdown(error), icon=":material/error:")
            return
        if predictions.add(name, upload.getvalue()):
            st.rerun()  # what stands above does not know of the file


def add_classifiers(dataset: Dataset) -> None:
    """Take in a file of predictions of what raters annotate, and say what does not match."""
    add(dataset, *_KINDS.get(dataset.kind, _CLASSES))


def _ties_and_gaps(one) -> str:
    tied, short = one.n_tied(TOP), one.n_short(TOP)
    words = f" · {tied:,} with tied scores at rank {TOP} (the expected value is used)" if tied else ""
    return words + (f" · {short:,} with fewer than {TOP} classes (missing ranks count as misses)" if short else "")


def tried(upload: Any) -> bool:
    """Return True if an uploaded file of predictions may be read; otherwise show the progress or the reason."""
    key = ("side", upload.file_id, "predictions")
    title = f"Reading {shorten(upload.name, 60)}"  # of its own: a session has one job under each title
    return bool(job_progress.result_of(key, title, lambda job: cached.try_predictions(job, upload)))


def _said_again(view: Dataset, remark: Callable[..., str], otherwise: Callable[[str, bytes], str] | None) -> None:
    """Show the content of the files in use, with the reason for each that does not fit."""
    for name, content in predictions.files():
        if isinstance(content, bytes):
            with suppress(PluralityError):
                _said(name, content, view, remark, otherwise)


def _said(
    name: str, content: bytes, view: Dataset, remark: Callable[..., str], otherwise: Callable[[str, bytes], str] | None
) -> None:
    """Show the content of a file."""
    try:
        found = predictions.matched(name, content, view)
    except PluralityError:
        if otherwise is None:
            raise
        st.markdown(markdown(otherwise(name, content)))
        return
    for one in found:
        cases = f"{one.name}: {int(one.predicted.sum()):,} of {view.n_cases:,} cases"
        st.markdown(markdown(cases + remark(one)))
        for note in one.notes:
            st.caption(markdown(note))
