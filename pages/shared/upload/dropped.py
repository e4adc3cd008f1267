"""Files that were dropped on Home and are read on the Upload page."""

import streamlit as st

_DROPPED = "dropped_files"


def zone() -> None:
    """A drop zone; what lands in it is handed to the Upload page."""
    uploads = st.file_uploader(
        "Drop files of annotations here, or a zip of them",
        accept_multiple_files=True,
        key=f"home_drop-{st.session_state.get('n_drops', 0)}",
        help="CSV, Excel, Parquet, JSON and what annotation tools write. Files stay on this computer.",
    )
    if uploads:
        st.session_state[_DROPPED] = uploads
        st.session_state["n_drops"] = st.session_state.get("n_drops", 0) + 1  # another key empties the drop zone
        st.session_state.pop("upload_done", None)
        st.switch_page("pages/upload.py")


def dropped() -> list:
    """What was dropped and not used yet, as Streamlit's uploaded files; says which, with a way to let them go."""
    uploads = st.session_state.get(_DROPPED, [])
    if uploads:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f":material/draft: From Home: {', '.join(name_of(upload) for upload in uploads)}")
            st.button("Discard", type="tertiary", on_click=discard_dropped, key="discard_dropped")
    return uploads


def name_of(upload) -> str:
    """The name of a file, safe to show."""
    from core.text import markdown, shorten

    return markdown(shorten(upload.name, 60))


def discard_dropped() -> None:
    """Forget what was dropped."""
    st.session_state.pop(_DROPPED, None)
