"""Raters of scores: comparison of each with the others, with gold and over time."""

import streamlit as st

from core.analyses.agreement import AGREEMENT
from core.analyses.raters import RATERS
from core.analyses.raters.scores import by_gold, digits_of, made_of, sentences
from core.annotations.dataset import Dataset
from core.text import markdown
from pages.shared.cache import analyses
from pages.shared.kit import blocks, provenance, widgets
from pages.shared.kit import scores as kit

_SCORES, _CLASSES = "Scores", "Split scores into two classes, by a threshold"


def as_scores() -> bool:
    """Return True if scores count as they are; otherwise as two classes, with flags and planning."""
    return (
        st.segmented_control(
            "Scores count as",
            [_SCORES, _CLASSES],
            default=_SCORES,
            required=True,
            key="raters_scores_as",
            persist_state="session",
        )
        == _SCORES
    )


def show(dataset: Dataset, title) -> None:
    """Draw the page. ``title`` is the place of its first sentence."""
    following = kit.following(dataset)
    if following is None:
        return
    raters = following.scores
    first, *rest = sentences(following)
    title.title(markdown(first))
    for sentence in rest:
        st.markdown(f"{markdown(sentence)}.")
    part, gold, time = (RATERS.part(name) for name in ("scores", "score-gold", "score-time"))
    blocks.show(part.blocks(following, dataset))
    if gold.applicable(dataset).possible and (found := blocks.result_of(gold, dataset)) is not None:
        blocks.show(by_gold(found, digits_of(raters)))
    verdict = time.applicable(dataset)
    if verdict.possible:
        blocks.show(time.blocks(time.answer(dataset, raters=raters), dataset))
    else:
        widgets.heading("Over time")
        st.info(markdown(f"{verdict.reason[0].upper()}{verdict.reason[1:]}."), icon=":material/block:")
    blocks.show(made_of(raters, analyses.result(AGREEMENT.part("coefficients"), dataset)))
    provenance.show(
        dataset, ["score raters"], "raters FILE", {"level": raters.level, "raters": "severity and spread"}, "raters"
    )
