"""Requirements on the data that this session has chosen; a report has them too."""

from typing import Any

from pages.shared.cache import visit


def requirements() -> tuple[str, ...]:
    """Return the requirements as chosen or written."""
    return tuple(visit.choices["gate_requirements"])


def options() -> dict[str, Any]:
    """Return the requirements, whether whole intervals must meet them, and the number of the look, 0 for none."""
    confident, look = visit.flag["gate_confident"], int(visit.number["gate_look"] or 0)
    return {"requirements": requirements(), "confident": confident, "look": look}
