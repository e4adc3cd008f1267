"""How γ is chosen: two questions, two curves, each drawn as soon as it is there."""

import streamlit as st

from core.analyses.blocks import Words
from core.analyses.reliability import anchors
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.plausibility.protocol import PlausibilityModel
from core.text import markdown
from pages.shared.cache import datasets as cached
from pages.shared.kit import blocks, job_progress, opening


def show(view: Dataset, model: PlausibilityModel) -> None:
    """Draw both curves side by side, each with its sentence; scores have only the first, as their gold has no class."""
    settings = opening.settings(view, model, cached.class_view(view, None)[0])
    blocks.show(anchors.opening_words(settings.opening))
    left, right = (st.container(), None) if view.kind == "score" else st.columns(2, gap="large")
    with left:
        blocks.show([anchors.READERS_HEADING])
        _readers(view, model)
    if right is not None:
        with right:
            blocks.show([anchors.TRUTH_HEADING])
            _truth(view, model, settings.reliability)


def _readers(view: Dataset, model: PlausibilityModel) -> None:
    if (
        opening.takes_minutes(view)
        and view.kind == "ranking"
        and not st.toggle(
            f"Compute for {view.n_cases:,} cases (takes minutes)", key=f"readers-{view.digest}-{model.name}"
        )
    ):
        return
    curve = job_progress.result_of(
        opening.readers_key(view, model), opening.READERS, opening.readers_work(view, model), of=view
    )
    if curve is not None:
        blocks.show(anchors.readers_blocks(curve))


def _truth(view: Dataset, model: PlausibilityModel, value: float) -> None:
    try:
        curve = opening.truth(view, model)
    except PluralityError as error:
        st.caption(markdown(error))
        return
    blocks.show([Words(anchors.NO_GOLD, "note")] if curve is None else anchors.truth_blocks(curve, value))
