"""Requirements on the data that this session has chosen; a report has them too."""

import streamlit as st

REQUIREMENTS = "gate_requirements"


def requirements() -> tuple[str, ...]:
    """Return the requirements as chosen or written."""
    return tuple(st.session_state.get(REQUIREMENTS) or ())
