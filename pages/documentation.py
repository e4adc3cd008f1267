"""Documentation: the pages of ``docs/pages`` inside the app, so that help opens without a network."""

import re

import streamlit as st

from core.figures.theme import DARK
from pages.shared.kit import documentation, navigation, style

_PICTURE = re.compile(r"^!\[([^\]]*)\]\((.+?\.png)(?:#only-(light|dark))?\)$", re.MULTILINE)


def _show(name: str) -> None:
    """Show the text of a page, with the pictures for the colours in use."""
    words, dark = documentation.text(name), style.theme() is DARK
    start = 0
    for picture in _PICTURE.finditer(words):
        st.markdown(words[start : picture.start()])
        start = picture.end()
        if picture[3] != ("light" if dark else "dark"):
            st.image((documentation.FOLDER / name).parent / picture[2], caption=picture[1])
    st.markdown(words[start:])


navigation.through_app()
titles = documentation.titles()
asked = st.query_params.get("page")
if asked in titles and asked != st.session_state.get("_documentation_asked"):
    st.session_state["_documentation_asked"] = st.session_state["documentation"] = asked
st.title("Documentation")
name = st.selectbox(
    "Page",
    list(titles),
    list(titles).index(documentation.START),
    titles.get,
    key="documentation",
    persist_state="session",
)
_show(name)
