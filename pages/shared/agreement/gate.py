"""Requirements on the data, as chips, and whether they are met."""

import streamlit as st

from core.analyses.gate import GATE, SUGGESTED
from core.annotations.dataset import Dataset
from pages.shared.kit import blocks, gate, state


def show(dataset: Dataset) -> None:
    """Ask for requirements, and check them."""
    st.multiselect(
        "Requirements", [*dict.fromkeys((*SUGGESTED, *gate.requirements()))], key=gate.REQUIREMENTS,
        accept_new_options=True, placeholder="Choose a requirement, or type one such as alpha >= 0.6",
        persist_state="session",
        help="Enter a measure, a comparison sign and a number. If the measure is unknown, Plurality lists all "
             "measures.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle("The whole interval must meet the requirement", key=gate.CONFIDENT, persist_state="session")
        st.number_input(
            "Look at growing data", 1, None, None, key=gate.LOOK, width=200, placeholder="Only this one",
            persist_state="session",
            help="Number of this look, if you check the data repeatedly while they grow. The intervals are then valid "
                 "over all looks.",
        )  # fmt: skip
    if not gate.requirements():
        st.caption("No requirements yet. Add one to see whether the data meet it.")
        return
    report = None if state.whole() is None else state.whole().report
    part = GATE.part("requirements").with_options(**gate.options())
    if report is not None:
        part = part.with_options(n_rows=report.n_rows, n_dropped=report.n_rows - report.n_kept)
    blocks.answer(part, dataset)
