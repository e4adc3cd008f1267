"""What raters were shown of a case: its text, letter for letter, and its images; nothing of what anybody said."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.annotations.dataset import Dataset
from core.belongings import case_link
from core.errors import PluralityError
from core.ingest.images import CaseImage, pictures_of
from core.settings import current_settings
from core.text import html_lines, markdown, shorten
from pages.shared.cache import access, visit
from pages.shared.cache import images as cached_images
from pages.shared.kit import state

# On the page an image leaves room for what follows; its own button shows it as large as the screen.
_STYLE = """
<style>
.case-text { max-height: 16rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; }
.st-key-case_facts [data-testid="stFullScreenFrame"]:not(:has([aria-label="Close fullscreen"])) img {
  max-height: 20rem; max-width: 100%; width: auto; object-fit: contain; }
</style>
"""
_TEXT = '<div class="case-text" role="region" aria-label="Text of the case" tabindex="0" dir="auto">{}</div>'


def link(case_id: str) -> bool:
    """Draw a link to the case in the system that keeps it; return True if an address has been set."""
    template = access.ReadRight(visit.data).link()
    if template:
        st.link_button("Open the case", case_link(template, case_id), icon=":material/open_in_new:")
    return bool(template)


@contextmanager
def kept_elsewhere(case_id: str) -> Iterator[None]:
    """Draw the way to where a case is kept above what is drawn within; while nobody said where, the question below."""
    known_at = access.ReadRight(visit.data).link()
    if known_at:
        with st.container(horizontal=True, vertical_alignment="center"):
            link(case_id)
            link_setting()
    yield
    if not known_at:
        link_setting()


def link_setting() -> None:
    """Draw the field for the address at which cases are kept, for users who may change the dataset."""
    if not access.may_change(visit.data):
        return
    visit.text.begin(f"case_link-{visit.data}", access.ReadRight(visit.data).link())
    with st.popover("Link to your viewer", icon=":material/link:", type="tertiary"):
        st.text_input(
            "Link to a case, with {case} for the case ID", key=f"case_link-{visit.data}",
            placeholder="https://viewer.example/case/{case}", on_change=_set_link,
        )  # fmt: skip
        if error := visit.case_link_error:
            st.error(markdown(error), icon=":material/link_off:")


def _set_link() -> None:
    del visit.case_link_error
    with visit.error_in("case_link_error"):
        access.WriteRight(visit.data).set_link(visit.text[f"case_link-{visit.data}"].strip())


def show(dataset: Dataset, case_id: str) -> bool:
    """Draw what is known of a case; gives whether there was anything.

    Parameters
    ----------
    dataset : Dataset
        Dataset in use, or a selection of it.
    case_id : str
    """
    reading = state.whole()
    facts = reading.facts if reading is not None else None
    if case_id not in dataset.cases:
        return False
    try:
        settings = current_settings()
    except PluralityError as error:
        st.warning(markdown(error), icon=":material/settings:")
        return False
    text = facts.text.get(case_id, "") if facts is not None else ""
    pictures = pictures_of(facts, case_id, settings)
    if not text and not pictures:
        return False
    st.html(_STYLE)
    with st.container(border=True, key="case_facts"):
        if text:
            st.html(_TEXT.format(html_lines(text)))
        if pictures:
            _pictures(pictures, case_id)
    return True


def known(dataset: Dataset, case_id: str) -> bool:
    """Return True if there is a text or an image of the case to show."""
    reading = state.whole()
    facts = reading.facts if reading is not None else None
    try:
        return case_id in dataset.cases and bool(
            (facts is not None and facts.text.get(case_id)) or pictures_of(facts, case_id, current_settings())
        )
    except PluralityError:
        return False


def _pictures(pictures: list[CaseImage], case_id: str) -> None:
    ready = [picture for picture in pictures if picture.source is not None]
    lines = [_missing(picture) for picture in pictures if picture.source is None]
    drawn = []
    for picture in ready:
        source, reason = (
            (picture.source, "") if isinstance(picture.source, str) else cached_images.prepared(picture.source)
        )
        if source is None:
            lines.append(_missing(CaseImage(None, picture.address, reason)))
        else:
            drawn.append(source)
    with st.container(horizontal=True) if drawn else st.container():
        for place, source in enumerate(drawn, 1):
            of = f"Image {place} of {len(drawn):,} for case {case_id}" if len(drawn) > 1 else f"Image of case {case_id}"
            st.image(source, width="content", output_format=_format(source), alt=of)
    for line in dict.fromkeys(lines):
        st.caption(line)


def _missing(picture: CaseImage) -> str:
    return f":material/hide_image: {markdown(shorten(picture.address, 120))}: {markdown(picture.reason)}."


def _format(source: bytes | str) -> str:
    return "PNG" if isinstance(source, bytes) and source.startswith(b"\x89PNG") else "auto"
