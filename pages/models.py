"""Models: who is right, which raters are accurate, which cases are hard, and may the model be believed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.capabilities import can_use
from core.models.catalogue import Fitted
from core.text import markdown, plural
from pages.shared import cached, look, menu, models_choose, models_compare, models_parts, widgets


def _restarts(shown: Fitted, n_restarts: int) -> Fitted:
    """The vote start, or the best restart where that is another one and the user wants it."""
    found = models_choose.restarted(shown, n_restarts)
    if found is None:
        return shown
    models_parts.explain_restarts(shown.fit, found)
    if not found.differs:
        return shown
    which = st.segmented_control(
        "Show", ["Start from the votes", "Best restart"], default="Start from the votes", required=True, key="which"
    )
    return replace(shown, fit=found.best) if which == "Best restart" else shown


def _shown(fitted: list[Fitted], n_restarts: int) -> Fitted:
    """The model that the tabs are about, with its remarks."""
    titles = [one.title for one in fitted]
    place = 0
    if len(fitted) > 1:
        title = st.segmented_control(
            "In detail", titles, default=titles[0], required=True, key="model_shown", help="Which model the tabs show"
        )
        place = titles.index(title) if title in titles else 0
    shown = _restarts(fitted[place], n_restarts)
    for note in dict.fromkeys(shown.fit.notes):
        place_for = st.caption if shown.fit.method == "map" else st.warning
        place_for(markdown(note))
    return models_choose.with_precision(shown)


def _page() -> None:
    dataset = widgets.require_data().dataset
    theme = look.theme()
    title = st.empty()
    title.title("Who is right, and which raters are accurate?")
    view = widgets.class_view(dataset, "majority")
    verdict = can_use("dawid-skene", view)
    if not verdict.possible:
        vote = cached.majority(view)
        title.title("Only a majority vote is possible with these data")
        st.info(f"Rater models are not possible: {verdict.reason}.", icon=":material/block:")
        frame = pd.DataFrame({"class": vote.classes, "prevalence": vote.prevalence})
        st.dataframe(frame, hide_index=True, key="vote_only")
        return
    requests, n_restarts = models_choose.choose(view)
    fitted = models_choose.fits(view, requests)
    if not fitted:
        if not requests:
            st.info("Choose at least one model.")
        return
    shown = _shown(fitted, n_restarts)
    fitted = [shown if one.request == shown.request else one for one in fitted]
    vote = models_choose.vote_of(shown)
    answered = np.diff(shown.dataset.case_ptr) > 0
    n_differ = int(((vote.top_class() != shown.fit.top_class()) & answered).sum())
    title.title(
        f"Weighing raters by accuracy changes the answer of {n_differ:,} of {plural(int(answered.sum()), 'case')}"
    )
    code = int(np.abs(shown.fit.prevalence - vote.prevalence).argmax()) if len(shown.fit.classes) > 2 else 1
    models_compare.table(fitted, min(code, len(shown.fit.classes) - 1))
    parts = {
        "Cases": lambda: models_parts.cases(shown, vote, theme),
        "Raters": lambda: models_parts.raters(shown, theme),
        "Prevalence": lambda: models_parts.prevalence(fitted, shown, vote, theme),
        "Checks": lambda: models_compare.checks(fitted, shown, theme),
        "Soft labels": lambda: models_parts.soft(shown),
        "Agreement": lambda: models_compare.agreement(fitted, shown, theme),
        "How the fit came about": lambda: models_parts.came_about(shown, theme),
    }
    for (_, show), tab in zip(parts.items(), st.tabs(list(parts), key="model_tabs", on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                show()


menu.through_app()
_page()
