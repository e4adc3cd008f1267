"""Slider of the reliability γ with its marks, and the reason for its default; the same on every page.

Marks are computed in the background, and nothing waits for them. A result that changes γ redraws the page when it is
ready; any other mark appears with the next run.
"""

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.certainty.default_reliability import DefaultReliability, ReliabilityAnchor
from core.certainty.held_out_readers import reach
from core.plausibility.protocol import PlausibilityModel, ReliabilityScale
from core.text import exact, html_text, markdown, number, percent
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import job_progress, opening, plausibility_models, state, trusted_raters, widgets

SIGNS = {"gold": "◆", "readers": "●", "beta": "■", "published": "▲", "default": "▲"}
NAMES = {
    "gold": "gold",
    "readers": "estimated from raters",
    "beta": "β",
    "published": "published",
    "default": "default",
}
_STEP = 0.1
_SIGN = 0.6  # rem, the height of a mark
_TOO_CLOSE = 0.035  # share of the slider's width
_SAME = 0.02  # as a share: nearer values read the same


def places() -> list[DeltaGenerator]:
    """Return the places of a choice of reliabilities, a field and a button, of which the last two stay together."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    left = row.container(width="content")
    both = row.container(horizontal=True, vertical_alignment="bottom", width="content")
    return [left, both.container(width=280), both.container(width="content")]


def choose(place, below, dataset: Dataset, model: PlausibilityModel) -> float:
    """Draw the slider with its marks in one place, legend and reason below; the choice applies to all pages."""
    offer = plausibility_models.method(model.name).reliability
    settings = _opening(dataset, model, waits=True)
    opened, found = settings.reliability, settings.opening
    plausibility_models.carry_prior(model, dataset)
    wanted = visit.reliability
    if wanted is None or wanted == visit.reliability_opened:
        wanted = visit.reliability_opened = opened
    visit.reliability = min(max(float(wanted), offer.low), offer.high)
    reliability = place.slider(
        "Reliability γ: how much each annotation counts",
        offer.low,
        offer.high,
        step=_STEP,
        key="reliability",
        help=widgets.explained("reliability"),
        on_change=plausibility_models.remember_choice,
        persist_state="session",
    )
    if found is not None:
        place.html(_strip(found.marks, offer))
        words = _words(found, opened)
        if abs(reliability - opened) > 1e-9:
            words = f"You set this γ. The default is γ = {number(opened)}. {found.reason}"
        with below:
            _said(words, found)
    if plausibility_models.earlier_prior(model):
        with below:
            _say_earlier_prior()
    return reliability


def _say_earlier_prior() -> None:
    """Show which prior an earlier γ belongs to, with a link to the learned one."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            "This γ was chosen with the published prior (α = 1), and the same prior is used here.", width="content"
        )
        st.button(
            "Use the learned prior", type="tertiary", on_click=plausibility_models.use_learned_prior, key="learn_prior"
        )


def opens(dataset: Dataset, model: PlausibilityModel) -> float:
    """Where sliders open."""
    return _opening(dataset, model).reliability


def in_use(dataset: Dataset, model: PlausibilityModel, *, waits: bool = False) -> AnalysisSettings:
    """Return the settings of pages without controls for them: γ and rater model as chosen elsewhere, or as they open.

    A page that ``waits`` is redrawn when a result that may change them is ready.
    """
    found, wanted = _opening(dataset, model, waits=waits), visit.reliability
    if is_chosen():
        offer = plausibility_models.method(model.name).reliability
        found = replace(found, reliability=min(max(float(wanted), offer.low), offer.high), reliability_open=False)
    if trusted_raters.is_awaited(dataset, plausibility_models.as_chosen(dataset), model):
        found = replace(found, reliability_open=True)
    of, mine = visit.rater_model or ("", None)
    if mine is None or of != _views(dataset, model)[2].content_digest:
        return found
    return replace(found, rater_model=mine, rater_model_open=False)


def is_chosen() -> bool:
    """Return True if the user chose γ, on any page."""
    return visit.reliability not in (None, visit.reliability_opened)


def marks(dataset: Dataset, model: PlausibilityModel) -> None:
    """Draw only the marks, if γ is not chosen by a slider."""
    settings = _opening(dataset, model, waits=True)
    if settings.opening is not None:
        _said(_words(settings.opening, settings.reliability), settings.opening)


def _words(found: DefaultReliability, opened: float) -> str:
    """Why γ opens there; where the slider has no such step, that pages open next to it."""
    if abs(found.reliability - opened) <= _SAME * found.reliability:
        return found.reason
    return f"{found.reason} The default is the nearest step on the slider, γ = {number(opened)}."


def _views(dataset: Dataset, model: PlausibilityModel) -> tuple[Dataset, PlausibilityModel, Dataset]:
    view = plausibility_models.data_for(model.name, dataset, quietly=True)
    return view, model, cached.class_view(dataset, state.split(dataset))[0]


def _opening(dataset: Dataset, model: PlausibilityModel, *, waits: bool = False) -> AnalysisSettings:
    views = _views(dataset, model)
    for job in opening.at_work(*views) if waits else ():
        job_progress.redraw_after(job)
    return opening.settings(*views)


def _said(words: str, found: DefaultReliability) -> None:
    sentences = (
        f"- {SIGNS[mark.name]} γ = {number(mark.reliability)} · {markdown(mark.sentence)}" for mark in found.marks
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(_legend(found.marks), width="content")
        st.caption(markdown(words), help="\n".join(sentences), width="content")


def _strip(found: tuple[ReliabilityAnchor, ...], offer: ReliabilityScale) -> str:
    """Return the marks at their positions on the slider; one that would hide another is below it."""
    signs, last, below = [], -1.0, 0.0
    for mark in sorted(found, key=lambda one: one.reliability):
        share = min(max((mark.reliability - offer.low) / (offer.high - offer.low), 0.0), 1.0)
        below = below + _SIGN if share - last < _TOO_CLOSE else 0.0
        last = share
        style = f"left:{percent(share, 2, rounded=True)};top:{exact(below)}rem"
        sign = SIGNS[mark.name]
        signs.append(f'<span class="{mark.name}" style="{style}" title="{html_text(mark.sentence)}">{sign}</span>')
    return f'<div class="gamma-marks" aria-hidden="true">{"".join(signs)}</div>'


def _legend(found: tuple[ReliabilityAnchor, ...]) -> str:
    entries = []
    for mark in found:
        between = ""
        if mark.low is not None and mark.high is not None:
            between = f" ({reach(mark.low, mark.high, mark.open_ends, number)})"
        entries.append(
            f'<span title="{html_text(mark.sentence)}"><span class="{mark.name}">{SIGNS[mark.name]}</span> '
            f"{NAMES[mark.name]} {number(mark.reliability)}{between}</span>"
        )
    return f'<div class="gamma-legend">{"".join(entries)}</div>'
