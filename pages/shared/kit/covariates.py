"""Columns about raters and cases whose effects are estimated: chosen on Models, and printed by the report."""

from dataclasses import replace

import streamlit as st

from core.analyses.models import MODELS, CovariateOptions
from core.annotations.dataset import Dataset
from core.annotations.facts import RaterFacts, with_case_group
from core.models.difficulty.covariate_design import MOST_COLUMNS
from pages.shared.cache import visit
from pages.shared.kit import blocks, groups

_HELP = (
    f"At most {MOST_COLUMNS} columns. Effects of text columns are relative to the most frequent value, and "
    "effects of numeric columns are per standard deviation."
)
_SIDES = {"rater": "of_raters", "case": "of_cases"}
_PURPOSE = {
    "rater": "to estimate how these facts affect accuracy",
    "case": "to estimate how these facts affect prevalence and difficulty",
}


def choose(view: Dataset) -> CovariateOptions | None:
    """Ask for facts, columns and the positive class; return None, with a message, while no column is chosen."""
    for place, noun in zip(st.columns(2), _SIDES, strict=True):
        with place:
            groups.ask_for(view, noun, _PURPOSE[noun])
            if names := _known(view, noun).names:
                st.multiselect(
                    f"Columns about {noun}s", names, key=f"{noun}_columns", max_selections=MOST_COLUMNS, help=_HELP,
                    persist_state="session",
                )  # fmt: skip
    if view.n_classes > 2:
        st.selectbox(
            "Class to compare with all others", view.classes, key=f"covariate_positive-{view.digest}",
            persist_state="session", width=420,
        )  # fmt: skip
    chosen = chosen_columns(view)
    if chosen is None:
        st.info("Choose at least one column about raters or cases.")
        return None
    return replace(chosen, method=blocks.controls(MODELS.part("covariates")).method)


def chosen_columns(view: Dataset) -> CovariateOptions | None:
    """Return the options with the columns that were chosen in this session; None if there is none.

    Parameters
    ----------
    view : Dataset
    """
    found = {}
    for noun, side in _SIDES.items():
        known = _known(view, noun)
        found[side] = known.only([name for name in visit.choices[f"{noun}_columns"] if name in known.names])
    if not any(facts.names for facts in found.values()):
        return None
    default = view.classes[0] if view.n_classes > 2 else ""
    return CovariateOptions(positive=visit.choice[f"covariate_positive-{view.digest}"] or default, **found)


def _known(view: Dataset, noun: str) -> RaterFacts:
    facts = groups.every_fact(view, noun) or RaterFacts()
    return with_case_group(facts, view) if noun == "case" else facts
