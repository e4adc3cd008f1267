"""The frame around every page: styles, theme, sidebar, and the place where errors are shown."""

from collections.abc import Callable

import streamlit as st

from core.errors import PluralityError
from core.figures.theme import DARK, LIGHT, Theme
from core.text import markdown, plural, shorten
from pages.shared import cached, selection_view, state

_STYLE = """
<style>
[data-testid="stHeader"] { background: transparent; height: 2.6rem; min-height: 2.6rem; }
.stMainBlockContainer { padding: 2.2rem 2.6rem 3rem; max-width: 1560px; }
[data-testid="stSidebarHeader"] { height: 2.6rem; margin-bottom: 0; }
[data-testid="stSidebarUserContent"] { padding-top: 0; }
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] { gap: .35rem; }
h1 { font-size: 1.7rem !important; line-height: 1.25 !important; padding: 0.2rem 0 0.4rem !important; }
h2 { font-size: 1.25rem !important; } h3 { font-size: 1.05rem !important; padding-top: 0.2rem !important; }
[data-testid="stCaptionContainer"] { color: inherit; opacity: .78; }
.chips { display: flex; flex-wrap: wrap; gap: .3rem; align-items: center; margin: .1rem 0 .45rem; line-height: 1.5; }
.chips .who { min-width: 3.4rem; font-size: .86rem; opacity: .75; overflow-wrap: anywhere; }
.chips .block { display: inline-flex; flex-wrap: wrap; border-radius: .4rem; border: 1px solid rgba(128,140,140,.45);
  overflow: hidden; font-size: .9rem; }
.chips .block.first { border-color: var(--chip); background: color-mix(in srgb, var(--chip) 12%, transparent); }
.chips .block span { padding: .06rem .5rem; }
.chips .block span + span { border-left: 1px dashed rgba(128,140,140,.65); }
.chips .then { opacity: .6; padding: 0 .05rem; }
.chips .note { font-size: .82rem; opacity: .7; }
[data-testid="stSidebarUserContent"] { margin-top: .8rem; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding-left: 1rem; padding-right: 1rem; padding-top: 3rem; }
  h1 { font-size: 1.35rem !important; }
  .st-key-panes > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {
    flex-direction: column-reverse; }
}
</style>
"""


# Streamlit writes white on its primary colour; on the light teal of the dark theme that cannot be read.
_STYLE_ON_DARK = """
<style>
[data-testid^="stBaseButton-primary"]:not(:disabled), [data-testid="stMultiSelectTagsContainer"] [data-tag] * {
  color: #0B1414; }
</style>
"""


def apply() -> None:
    """Styles of our own; as few as the design needs."""
    st.html(_STYLE + (_STYLE_ON_DARK if theme() is DARK else ""))


def theme() -> Theme:
    """Colours of the theme that the reader has chosen."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def sidebar() -> None:
    """The dataset in use, under the navigation, with a way to change it."""
    reading = state.whole()
    with st.sidebar:
        if cached.compiling():
            st.caption("First start: preparing the numerical kernels. Pages answer slowly for about a minute.")
        if reading is None:
            st.caption("No data open yet.")
            st.page_link("pages/upload.py", label="Open a file", icon=":material/upload_file:")
            return
        dataset = reading.dataset
        answers = {"class": "answer", "ranking": "ranking", "score": "score"}[dataset.kind]
        st.caption("Data in use")
        st.markdown(f"**{markdown(shorten(dataset.name, 44))}**")
        st.caption(
            f"{plural(dataset.n_cases, 'case')} · {plural(dataset.n_raters, 'rater')} · "
            f"{plural(dataset.n_annotations, answers)}"
        )
        selection_view.button(dataset)
        st.button("Close or change", icon=":material/swap_horiz:", type="tertiary", on_click=_close, key="close_data")


def _close() -> None:
    state.leave()
    st.session_state["go_home"] = True


def guarded(run: Callable[[], None]) -> None:
    """Run a page; the project's own errors are shown in words, anything else is a bug and surfaces as one."""
    if st.session_state.pop("go_home", False):
        st.switch_page("pages/home.py")
    state.current()  # so that an address that does not fit is said before the page, not after
    if error := st.session_state.pop("data_error", None):
        st.error(markdown(error), icon=":material/link_off:")
    try:
        selection_view.line()
        run()
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
