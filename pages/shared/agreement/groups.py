"""Groups of raters, by facts in a file that stays in this session."""

from core.analyses.groups import GROUPS
from core.annotations.dataset import Dataset
from pages.shared.kit import blocks, groups


def show(view: Dataset) -> None:
    """Ask for facts of the raters, and compare their groups."""
    if not GROUPS.parts[0].applicable(view).possible:
        blocks.answer(GROUPS.parts[0], view)
        return
    facts = groups.ask(view)
    if facts is None:
        return
    for part in GROUPS.parts:
        blocks.answer(part.with_options(facts=facts), view)
