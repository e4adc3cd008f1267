"""The slider of the reliability γ with its marks, and why it stands where it opens; the same on every page.

Marks come from the data in the background, and nothing waits for them: what moves γ draws the page anew when it is
there, any other mark stands there from the next run.
"""

import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.opening import Mark, Opening
from core.methods import ReliabilityScale
from core.plausibility.protocol import PlausibilityModel
from core.text import html_text, markdown, number
from pages.shared.cache import datasets as cached
from pages.shared.kit import opening, plausibility_models, widgets

_OPENED = "_reliability_opened"
SIGNS = {"gold": "◆", "readers": "●", "beta": "■", "published": "▲"}
NAMES = {"gold": "gold", "readers": "readers", "beta": "β", "published": "published"}


def choose(place, dataset: Dataset, model: PlausibilityModel) -> float:
    """The slider, its marks and its reason; the choice stays on all pages."""
    offer = plausibility_models.method(model.name).reliability
    opened, found = _opening(dataset, model)
    wanted = st.session_state.get("reliability")
    if wanted is None or wanted == st.session_state.get(_OPENED):
        wanted = st.session_state[_OPENED] = opened
    st.session_state["reliability"] = min(max(float(wanted), offer.low), offer.high)
    reliability = place.slider(
        "Reliability γ (trust in the raters)",
        offer.low,
        offer.high,
        step=0.1,
        key="reliability",
        help=widgets.explained("reliability"),
        on_change=plausibility_models.remember_choice,
        persist_state="session",
    )
    with place:
        if found is not None:
            st.html(_strip(found.marks, offer))
            words = found.reason
            if abs(reliability - opened) > 1e-9:
                words = f"Set by you; it opens at {number(opened)}. {words}"
            _said(words, found)
    return reliability


def marks(dataset: Dataset, model: PlausibilityModel) -> float:
    """The marks alone, where γ is not chosen by a slider; returns where sliders open."""
    opened, found = _opening(dataset, model)
    if found is not None:
        st.html(_legend(found.marks))
        _said(f"Other pages open at γ = {number(opened)}. {found.reason}", found)
    return opened


def _opening(dataset: Dataset, model: PlausibilityModel) -> tuple[float, Opening | None]:
    classes = cached.class_view(dataset, st.session_state.get("threshold"))[0]
    view = plausibility_models.data_for(model.name, dataset, quietly=True)
    opened, found = opening.reliability(view, model, classes)
    for job in opening.at_work(view, model, classes):
        opening.wait_for(job)
    return opened, found


def _said(words: str, found: Opening) -> None:
    listed = "\n".join(
        f"- {SIGNS[mark.name]} γ = {number(mark.reliability)} · {markdown(mark.sentence)}" for mark in found.marks
    )
    st.caption(markdown(words), help=listed or None)


def _strip(found: tuple[Mark, ...], offer: ReliabilityScale) -> str:
    """Signs where they stand on the slider, and below what they are."""
    signs = []
    for mark in found:
        share = (mark.reliability - offer.low) / (offer.high - offer.low)
        style, sign = f"left:{min(max(share, 0.0), 1.0):.2%}", SIGNS[mark.name]
        signs.append(f'<span class="{mark.name}" style="{style}" title="{html_text(mark.sentence)}">{sign}</span>')
    return f'<div class="gamma-marks" aria-hidden="true">{"".join(signs)}</div>{_legend(found)}'


def _legend(found: tuple[Mark, ...]) -> str:
    entries = []
    for mark in found:
        reach = "" if mark.low is None or mark.high is None else f" ({number(mark.low)} to {number(mark.high)})"
        entries.append(
            f'<span title="{html_text(mark.sentence)}"><b class="{mark.name}">{SIGNS[mark.name]}</b> '
            f"{NAMES[mark.name]} {number(mark.reliability)}{reach}</span>"
        )
    return f'<div class="gamma-legend">{"".join(entries)}</div>'
