"""Requirements on the data that this session has chosen; a report has them too."""

from typing import Any

import streamlit as st

REQUIREMENTS, CONFIDENT, LOOK = "gate_requirements", "gate_confident", "gate_look"


def requirements() -> tuple[str, ...]:
    """Return the requirements as chosen or written."""
    return tuple(st.session_state.get(REQUIREMENTS) or ())


def options() -> dict[str, Any]:
    """Return the requirements, whether whole intervals must meet them, and the number of the look, 0 for none."""
    chosen = st.session_state
    return {
        "requirements": requirements(),
        "confident": bool(chosen.get(CONFIDENT)),
        "look": int(chosen.get(LOOK) or 0),
    }
