"""What anchors γ: two questions, two curves. What a colleague would say, and how sure the top class may be."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.held_out_readers import reach
from core.errors import PluralityError
from core.figures import anchors as figures
from core.plausibility.gaussian import GaussianScores
from core.plausibility.protocol import PlausibilityModel
from core.text import markdown, number, plural
from core.thresholds import LEAST_GOLD
from pages.shared.cache import datasets as cached
from pages.shared.kit import job_progress, opening, widgets


def show(view: Dataset, model: PlausibilityModel, theme) -> None:
    """Both curves side by side, each with its sentence; gold first, where there is some."""
    classes = cached.class_view(view, None)[0]
    settings = opening.settings(view, model, classes)
    found = settings.opening
    if found is not None:
        st.markdown(markdown(found.reason))
        for mark in found.marks:
            st.caption(f"γ = {number(mark.reliability)} · {markdown(mark.sentence)}")
        if found.prior is not None:
            st.caption(markdown(found.prior_sentence))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.heading("What would a colleague say?", "held-out readers")
        _readers(view, model, theme)
    with right:
        widgets.heading("How sure may the top class be?", "certainty against gold")
        _truth(view, model, settings.reliability, theme)


def of_scores(dataset: Dataset, model: GaussianScores, theme) -> None:
    """The one curve that scores have: gold scores are unknown here."""
    found = opening.settings(dataset, model, cached.class_view(dataset, None)[0]).opening
    if found is not None:
        st.markdown(markdown(found.reason))
        for mark in found.marks:
            st.caption(f"γ = {number(mark.reliability)} · {markdown(mark.sentence)}")
    widgets.heading("What would a colleague say?", "held-out readers")
    _readers(dataset, model, theme)


def _readers(view: Dataset, model: PlausibilityModel, theme) -> None:
    if (
        opening.takes_minutes(view)
        and view.kind == "ranking"
        and not st.toggle(f"Compute it for {view.n_cases:,} cases (minutes)", key=f"readers-{view.digest}-{model.name}")
    ):
        return
    curve = job_progress.result_of(
        opening.readers_key(view, model), opening.READERS, opening.readers_work(view, model), of=view
    )
    if curve is None:
        return
    where = "at the lowest γ" if curve.at_end == "lowest" else "at the highest γ" if curve.at_end else ""
    title = (
        f"Best {where}: the data give no maximum"
        if where
        else f"Best at γ = {number(curve.best)} ({reach(curve.low, curve.high, curve.open_ends, number)})"
    )
    widgets.plot(figures.held_out_readers(curve, theme, title), "held_out_readers", "Held-out score against γ")
    st.caption(
        f"{plural(curve.n_held_out, 'annotation')} of {plural(curve.n_cases, 'case')} held out one by one. "
        f"{markdown(curve.note)}"
    )


def _truth(view: Dataset, model: PlausibilityModel, value: float, theme) -> None:
    try:
        curve = opening.truth(view, model)
    except PluralityError as error:
        st.caption(markdown(error))
        return
    if curve is None:
        st.caption(
            "There is no gold with these data, so nothing tells how often the top class is the truth. Add a gold file "
            "on Upload to see it."
        )
        return
    title = f"Least log loss at γ = {number(curve.best)} ({reach(curve.low, curve.high, curve.open_ends, number)})"
    widgets.plot(figures.certainty_loss(curve, theme, title), "truth_loss", f"Log loss of {curve.scored} against γ")
    bins = curve.diagram(value)
    widgets.plot(
        figures.reliability_diagram(bins, theme, f"Certainty at γ = {number(value)} against how often it is right"),
        "truth_diagram",
        "Reliability diagram of certainty",
    )
    few = "" if curve.n_cases >= LEAST_GOLD else f" From {LEAST_GOLD} it decides where γ opens."
    st.caption(f"{plural(curve.n_cases, 'case')} with gold.{few}")
