"""Files that a person has brought and not used yet: a look at another page does not lose them."""

from typing import Any

import streamlit as st

from core.text import markdown, shorten
from pages.shared.cache import visit
from pages.shared.kit import widgets


def annotations_key() -> str:
    """Under which files of annotations are brought; another one after each use, which empties the drop zone."""
    return f"upload-{visit.n_uploads}"


def zone() -> None:
    """Draw the drop zone of Home; its files are passed to the Upload page."""
    uploads = widgets.file_uploader(
        "Drop annotation files here, or a zip file that contains them",
        accept_multiple_files=True,
        key=f"home_drop-{visit.n_drops}",
        help="CSV, Excel, Parquet, JSON and exports from annotation tools. Files stay on this computer.",
    )
    if uploads:
        visit.files[f"files_held-{annotations_key()}"] = list(uploads)
        visit.n_drops += 1  # another key empties the drop zone
        del visit.upload_done
        st.switch_page("pages/upload.py")


def brought(label: str, key: str, *, several: bool = False) -> list[Any]:
    """Draw a drop zone with its files, including those added before another page was opened.

    Streamlit empties a drop zone when its page is left. What was in it stands below it then, with a way to let it go.

    Parameters
    ----------
    label : str
        Label of the drop zone.
    key : str
        Key of the drop zone, unique on all pages.
    several : bool
        True if it takes several files; otherwise a new file replaces the one before.

    Returns
    -------
    list of UploadedFile
    """
    if key not in visit.other and (last := visit.files[f"files_last-{key}"]):
        visit.files[f"files_held-{key}"] = [*visit.files[f"files_held-{key}"], *last] if several else last
        del visit.files[f"files_last-{key}"]
    now = widgets.file_uploader(label, accept_multiple_files=several, key=key, on_change=_note, args=(key,))
    uploads = list(now) if several else [now] * (now is not None)
    held = visit.files[f"files_held-{key}"]
    if held and (several or not uploads):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f":material/draft: Not used yet: {', '.join(name_of(upload) for upload in held)}")
            st.button("Discard", type="tertiary", on_click=let_go, args=(key,), key=f"discard-{key}")
        uploads = held + uploads
    return uploads


def name_of(upload) -> str:
    """Return the name of a file, safe to show."""
    return markdown(shorten(upload.name, 60))


def let_go(key: str) -> None:
    """Forget what was brought under a key."""
    del visit.files[f"files_held-{key}"], visit.files[f"files_last-{key}"]


def _note(key: str) -> None:
    """Remember the files in a drop zone, because the session loses them when its page is left."""
    now = visit.other[key]
    visit.files[f"files_last-{key}"] = now if isinstance(now, list) else [now] * (now is not None)
