"""Groups of raters, by facts in a file that stays in this session."""

import streamlit as st

from core.analyses.groups import GROUPS
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.raters.groups import facts_of_file
from core.text import listed, markdown
from pages.shared.kit import blocks, widgets


def show(view: Dataset) -> None:
    """Ask for facts of the raters, and compare their groups."""
    part = GROUPS.part("groups")
    if not part.applicable(view).possible:
        blocks.answer(part, view)
        return
    upload = widgets.file_uploader(
        "Facts of the raters", key="rater_facts",
        help="A table with a row per rater, or annotations with columns on their raters. It is not saved.",
    )  # fmt: skip
    if upload is None:
        st.caption("No facts of the raters yet. Add a table of raters to compare their groups.")
        return
    try:
        facts = facts_of_file(upload.name, upload.getvalue(), view.raters)
    except PluralityError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    st.caption(f"Facts: {markdown(listed(facts.names))}.")
    blocks.answer(part.with_options(facts=facts), view)
