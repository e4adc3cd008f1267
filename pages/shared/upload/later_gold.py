"""Gold added after the annotations: a file of cases of the data in use and their classes is added to them."""

from dataclasses import replace

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.ingest.companion_files import with_side_files
from core.ingest.formats.raw_table import RawTable
from core.ingest.formats.side_tables import side_of_table
from core.ingest.formats.source import Question
from core.models.gold import gold_cases
from core.text import markdown, plural
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import presentation, state

MOST_ROWS = 200_000  # they are looked at in every run


def offer(question: Question) -> None:
    """Show how many cases of the data in use have a class in the file, with a button; nothing if too few match."""
    found = _known(question.raw)
    if found is None:
        return
    grown, notes = found
    n_gold = _n_gold(grown)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="later_gold"):
        st.markdown(
            f"**Use this file as gold for {markdown(grown.name)}?** It contains gold for {n_gold:,} of "
            f"{plural(grown.n_cases, 'case')}. Reviews stay with the version without gold.",
            width="stretch",
        )
        st.button("Use as gold", type="primary", on_click=_use, args=(grown,), key="gold_of_file")
    for note in notes:
        st.caption(markdown(note))


def _known(raw: RawTable) -> tuple[Dataset, tuple[str, ...]] | None:
    """Return the data in use with the gold of the file, and what did not match; None if it is not gold of them."""
    address = visit.data
    if not address or presentation.on() or raw.table.num_rows > MOST_ROWS:
        return None
    try:
        dataset = cached.open_dataset(address).dataset
        side = side_of_table(raw, "gold")
        if dataset.kind == "score" or side is None or side.gold is None:
            return None
        grown, notes = with_side_files(replace(dataset, gold=None, gold_sets=None), side)
    except PluralityError:  # another file: it is read as annotations, and what is wrong with it is said there
        return None
    return (grown, notes) if 2 * _n_gold(grown) > len(side.gold) else None


def _n_gold(dataset: Dataset) -> int:
    if dataset.gold_sets is not None:
        return int((dataset.gold_sets >= 0).any(axis=1).sum())
    return len(gold_cases(dataset))


@visit.error_in("data_error")
def _use(grown: Dataset) -> None:
    """Switch to the data with gold, with their earlier predictions and marks of AI raters (callback)."""
    right = access.ReadRight(visit.data)
    files, machines = right.predictions(), right.machines()
    reading = cached.open_dataset(visit.data)
    address = cached.bring(replace(reading, dataset=grown))
    state.use(address)
    if access.may_change(address):
        changed = access.WriteRight(address)
        for name, content in files.items():
            if isinstance(content, bytes):
                changed.add_predictions(name, content)
        if machines:
            changed.mark_machines(machines)
    visit.upload_done = grown.digest
    visit.n_uploads += 1  # another key empties the drop zone
