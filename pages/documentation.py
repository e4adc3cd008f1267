"""Documentation: the pages of ``docs/pages`` inside the app, so that help opens without a network."""

import re

import streamlit as st

from core.figures.theme import DARK
from pages.shared.cache import visit
from pages.shared.kit import documentation, navigation, style

_PICTURE = re.compile(r"^!\[([^\]]*)\]\((.+?\.png)(?:#only-(light|dark))?\)$", re.MULTILINE)


def _show(name: str) -> None:
    """Show the text of a page below its title, with the pictures for the colours in use."""
    words, dark = documentation.text(name).partition("\n")[2], style.theme() is DARK
    start = 0
    for picture in _PICTURE.finditer(words):
        st.markdown(words[start : picture.start()])
        start = picture.end()
        if picture[3] != ("light" if dark else "dark"):
            st.image((documentation.FOLDER / name).parent / picture[2], alt=picture[1])
    st.markdown(words[start:])


navigation.through_app()
titles = documentation.titles()
asked = st.query_params.get("page")
if asked in titles and asked != visit.documentation_asked:
    visit.documentation_asked = visit.choice["documentation"] = asked
place = st.container()  # the title is known once a page is chosen
name = st.selectbox(
    "Page of the documentation",
    list(titles),
    list(titles).index(documentation.START),
    titles.get,
    key="documentation",
    persist_state="session",
)
place.title(titles[name], anchor=False)
_show(name)
