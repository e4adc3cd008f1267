"""Companion files of the annotations, on separate cards: gold classes, class table, case table, predictions."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.ingest.companion_files import SideFiles
from core.ingest.formats import tables_beside
from core.ingest.formats.side_tables import SideKind
from core.ingest.formats.source import Question, Source
from core.text import markdown, plural
from pages.shared.cache import datasets as cached
from pages.shared.kit import job_progress, own_predictions
from pages.shared.upload import files

_CARDS: dict[SideKind, tuple[str, str]] = {
    "gold": ("Gold", "A table with the columns case and gold (class, labels or score)."),
    "classes": (
        "Class table",
        "A table with the column class and at least one of display name, order and risk (low, medium, high).",
    ),
    "cases": ("Case table", "A table with the column case and at least one of text, image, group and date."),
}
_SAME_ORDER = "Yes, use it as gold"
_IMAGES = "A zip of PNG, JPEG, GIF or WebP files, named after the cases or as in the case table."
_PREDICTIONS = (
    "A table or JSON Lines: one row per case with one column per class, or one row per case and class (case, class, "
    "score or rank, and optionally classifier). A matrix of scores in the order of the data works as well."
)


@dataclass(frozen=True, slots=True)
class Classifiers:
    """File of predictions as it fits the data: a description of it, and the reason if it cannot be used."""

    name: str
    content: bytes
    said: tuple[str, ...] = ()
    error: str = ""


def classifiers(source: Source, dataset: Dataset) -> tuple[Classifiers, ...]:
    """Every file of predictions that came with the annotations, tried on the data."""
    tried = []
    for file, content in source.side.predictions:
        name = file.rsplit(".", 1)[0]
        try:
            found = cached.own_predictions(name, content, dataset)
        except PluralityError as error:
            tried.append(Classifiers(name, content, error=str(error)))
            continue
        counts = [
            f"{one.name}: predictions for {int(one.predicted.sum()):,} of {dataset.n_cases:,} cases" for one in found
        ]
        tried.append(Classifiers(name, content, (*counts, *(note for one in found for note in one.notes))))
    return tuple(tried)


def side_files(source: Source, n_uploads: int) -> tuple[Source, tuple[str, ...]]:
    """Return the source with the user's companion files, and a key that identifies these files."""
    side, told = source.side, []
    with st.expander("Additional files: gold, class table, case table, images, predictions", key="beside"):
        for kind, (title, what) in _CARDS.items():
            with st.container(border=True):
                st.markdown(f"**{title}**")
                card = st.container()
                for upload in files.brought(what, f"side-{kind}-{n_uploads}"):
                    if (found := _read(upload, kind, title)) is not None:
                        told.append(upload.file_id)
                        side = side.joined(found)
                if known := _found(side, kind):
                    card.markdown(f":material/check_circle: {known}")
        with st.container(border=True):
            st.markdown("**Images of cases**")
            card = st.container()
            for upload in files.brought(_IMAGES, f"side-images-{n_uploads}"):
                if (found := _read(upload, None, "Images")) is not None:
                    told.append(upload.file_id)
                    side = side.joined(found)
            if side.images:
                card.markdown(f":material/check_circle: {plural(len(side.images), 'image')}")
        with st.container(border=True):
            st.markdown("**Predictions of classifiers**")
            card = st.container()
            uploads = files.brought(_PREDICTIONS, f"side-predictions-{n_uploads}", several=True)
            uploads = [upload for upload in uploads if own_predictions.tried(upload)]
            side = side.joined(SideFiles(predictions=tuple((upload.name, upload.getvalue()) for upload in uploads)))
            for name, _ in side.predictions:
                card.markdown(f":material/draft: {markdown(name)}")  # whether it fits is said with the data
    present = [title for kind, (title, _) in _CARDS.items() if _found(side, kind)]
    present += ["images"] * bool(side.images) + ["predictions"] * bool(side.predictions)
    if present:
        st.caption(f":material/check_circle: Additional files: {', '.join(present)}.")
    return replace(source, side=side), tuple(told)


def gold_in_order(source: Source, question: Question, stamp: str) -> tuple[Source, tuple[str, ...], bool]:
    """Ask if files of one column are gold in the order of the cases; the source, a key of the answers, and if all are.

    Parameters
    ----------
    source : Source
    question : Question
        With the columns as chosen.
    stamp : str
        For keys of widgets.
    """
    side, said = replace(source.side, in_order=()), []
    for name, values in source.side.in_order:
        if (gold := tables_beside.gold_in_order(question, values)) is None:
            continue
        answer = st.radio(
            f"**Are the rows of {markdown(name)} in the same order as the cases?** The file has one value for each of "
            f"{plural(len(gold), 'case')}, but no case IDs.",
            (_SAME_ORDER, "No, leave this file out"),
            index=None,
            key=f"in_order-{name}-{stamp}",
            persist_state="session",
        )
        said.append(answer)
        side = side.joined(SideFiles(gold=gold)) if answer == _SAME_ORDER else side
    return replace(source, side=side), tuple(map(str, said)), None not in said


def _read(upload: Any, kind: SideKind | None, title: str) -> SideFiles | None:
    """Return the content of a companion file; None while it is read, and if it cannot be."""
    key = ("side", upload.file_id, kind)
    return job_progress.result_of(key, f"Reading: {title}", lambda job: cached.open_side_upload(job, upload, kind))


def let_go(n_uploads: int) -> None:
    """Forget the companion files of annotations that are in use now."""
    for kind in (*_CARDS, "images", "predictions"):
        files.let_go(f"side-{kind}-{n_uploads}")


def _found(side: SideFiles, kind: str) -> str:
    part = getattr(side, kind)
    if part is None:
        return ""
    if kind == "gold":
        return f"{plural(len(part), 'gold case')}"
    if kind == "classes":
        beside = [word for word, known in (("names", part.display), ("risk", part.risk)) if known]
        return plural(len(part.names), "class", "classes") + (f" with {' and '.join(beside)}" if beside else "")
    beside = [word for word in ("text", "address", "group", "time") if any(getattr(part, word) or ())]
    return f"{plural(len(part.ids), 'case')} with {' and '.join(beside)}"
