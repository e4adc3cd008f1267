"""The pages of the dashboard, and the one way into them."""

from copy import copy
from functools import cache

import streamlit as st

from pages.shared.cache import sign_in, visit
from pages.shared.kit import presentation, style

HOME = "pages/home.py"
_BY_NAME = "home"


def pages() -> dict[str, list]:
    """Sections of the navigation with their pages, in copies, because Streamlit marks the one that it runs."""
    return {section: [copy(page) for page in made] for section, made in _pages().items()}


@cache  # Streamlit looks up the file of each page, in every run
def _pages() -> dict[str, list]:
    return {
        "": [
            st.Page(HOME, title="Home", icon=":material/home:", url_path="", default=True),
            st.Page(_to_home, title="Home", url_path=_BY_NAME, visibility="hidden"),
        ],
        "Data": [st.Page("pages/upload.py", title="Upload", icon=":material/upload_file:")],
        "Raters": [
            st.Page("pages/agreement.py", title="Agreement", icon=":material/handshake:"),
            st.Page("pages/models.py", title="Models", icon=":material/network_node:"),
            st.Page("pages/raters.py", title="Raters", icon=":material/groups:"),
            st.Page("pages/ai_rater.py", title="AI as a rater", icon=":material/smart_toy:"),
        ],
        "Cases": [
            st.Page("pages/cases.py", title="Cases", icon=":material/view_list:"),
            st.Page("pages/review.py", title="Review", icon=":material/rate_review:"),
        ],
        "Classifiers": [
            st.Page("pages/reliability.py", title="Reliability", icon=":material/trending_up:"),
            st.Page("pages/reader_study.py", title="Reader study", icon=":material/compare:"),
        ],
        "Export": [
            st.Page("pages/labels.py", title="Labels", icon=":material/label:"),
            st.Page("pages/report.py", title="Report", icon=":material/description:"),
        ],
        "Plurality": [
            st.Page("pages/settings.py", title="Settings", icon=":material/settings:"),
            st.Page("pages/documentation.py", title="Documentation", icon=":material/help:"),
        ],
    }


def navigate():
    """Return the requested page; `/home` redirects to Home, whose own address is `/`. Called only by ``app.py``."""
    visit.entered_by_app = True
    page = st.navigation(pages(), position="hidden" if presentation.on() else "sidebar", expanded=True)
    if page.url_path == _BY_NAME:
        _to_home()
    return page


def hidden() -> None:
    """Declare all pages without showing them, so that Streamlit runs none of them by itself."""
    st.navigation(pages(), position="hidden")


def _to_home() -> None:
    st.switch_page(HOME)


def name_of(page) -> str:
    """Name of a page's file, by which pages are switched."""
    return page.url_path or _BY_NAME


def through_app() -> None:
    """First line of every page: make sure that ``app.py`` has drawn the frame around it.

    Until somebody has called ``st.navigation`` in a server, Streamlit takes a folder named ``pages`` for the pages
    themselves and runs the one that the first address names by itself, without its frame and its dataset. Declaring
    the navigation and starting over puts that right for good. Nothing is drawn for who has not signed in.
    """
    if not sign_in.gate():
        st.stop()
    if not visit.entered_by_app:
        # Before the navigation: without an icon the browser asks for that of the page, at another computer.
        st.set_page_config(page_icon=style.ICON)
        st.navigation(pages())
        st.rerun()
