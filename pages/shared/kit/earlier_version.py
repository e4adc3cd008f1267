"""What changed since the last saved version of a dataset: while its file is opened, and where it is in use."""

from datetime import datetime

import pandas as pd
import streamlit as st

from core import library
from core.annotations.dataset import Dataset
from core.annotations.earlier_version import VersionComparison, compare_with_earlier
from core.errors import PluralityError
from core.ingest import saved_mappings
from core.text import day_words, markdown, plural, shorten
from pages.shared.cache import datasets as cached
from pages.shared.kit import job_progress, widgets

_MOST_CHANGED = 500


def of_dataset_in_use(now: Dataset) -> None:
    """Offer, folded, the comparison with the last saved dataset from an earlier file of the same shape, if any."""
    earlier = _noted_before(now.digest)
    if earlier is None:
        return
    folded = st.expander(f"Changes since {_named(earlier)}", key="earlier_version", on_change="rerun")
    if not folded.open:
        return
    with folded:
        found = compared(earlier, now)
        if found is not None:
            st.markdown(words(earlier, found))
            table(earlier, now, found)


def compared(earlier: library.Kept, now: Dataset) -> VersionComparison | None:
    """Return what changed since a saved dataset; None while that is computed, or if the dataset is damaged."""
    try:
        before = cached.open_dataset(earlier.digest).dataset
    except PluralityError:  # Home says so
        return None
    return job_progress.result_of(
        ("compared", f"{before.digest} {now.digest}"),
        "Comparing with the saved dataset",
        lambda job: compare_with_earlier(before, now),
    )


def words(earlier: library.Kept, found: VersionComparison) -> str:
    """Return the number of changes in a sentence."""
    return f"Compared with {_named(earlier)}: {markdown(found.words)}"


def table(earlier: library.Kept, now: Dataset, found: VersionComparison) -> None:
    """Show the changed annotations, with a download of these and of the added and removed ones."""
    if not len(found.change):
        return
    n_shown = min(found.n_changed, _MOST_CHANGED)
    shown = pd.DataFrame({name: getattr(found, name)[:n_shown] for name in found.COLUMNS[1:]})
    if n_shown < found.n_changed:
        st.caption(f"First {n_shown} of {plural(found.n_changed, 'changed annotation')}.")
    if n_shown:
        st.dataframe(shown.dropna(axis=1, how="all"), hide_index=True, key="changed_annotations")
    about = {"data": now.name, "name": now.name, "digest": now.digest, "select": "", "selected": "all annotations"}
    about |= {"rows": "differences", "earlier": earlier.digest}
    label, n_rows = "All changed, added and removed annotations", len(found.change)
    widgets.download(found.to_frame, label, "compared", "compared_table", n_rows=n_rows, settings=about)


def _named(earlier: library.Kept) -> str:
    return f"{markdown(shorten(earlier.name, 44))}, saved on {day_words(datetime.fromisoformat(earlier.kept_at))}"


def _noted_before(digest: str) -> library.Kept | None:
    """Return the last saved dataset that the user may open of an earlier file of the same shape; None if there is none.

    Parameters
    ----------
    digest : str
        Dataset in use.
    """
    saved = {one.digest: one for one in cached.kept() if not one.damaged}
    for noted in saved_mappings.every_noted():
        known = list(map(library.present_digest, noted))
        if digest in known:
            before = known[: known.index(digest)]
            if (found := next((saved[one] for one in reversed(before) if one in saved), None)) is not None:
                return found
    return None
