"""Agreement: how much do the raters agree, beyond chance, two by two, by class, over time, and on which cases."""

import streamlit as st

from core.annotations.capabilities import can_use
from core.annotations.dataset import Dataset
from core.text import plural, with_interval
from pages.shared import (
    agreement_compare,
    agreement_parts,
    agreement_raters,
    agreement_top,
    cached_agreement,
    look,
    menu,
    widgets,
)


def _sentence(found) -> str:
    """The most important thing, from the coefficients that suit the answers."""
    by_name = {one.name: one for one in reversed(found.coefficients)}
    if found.kind == "score":
        icc = by_name["icc_2"] if "icc_2" in by_name and by_name["icc_2"].value is not None else by_name["icc_1"]
        if icc.value is None:
            return f"Agreement of the scores cannot be computed: {icc.note.removeprefix('undefined: ')}"
        words = with_interval(icc.value, icc.ci_low, icc.ci_high)
        return f"Of what varies in a score, {words} is the case and not the rater; n = {plural(icc.n_cases, 'case')}"
    percent = by_name["percent"]
    alpha = next(one for one in found.coefficients if one.name == "krippendorff_alpha")
    if percent.value is None:
        return f"Agreement cannot be computed: {percent.note.removeprefix('undefined: ')}"
    if alpha.value is None:
        return f"Raters agree on {percent.value:.0%} of pairs; beyond chance it is {alpha.note}"
    beyond = with_interval(alpha.value, alpha.ci_low, alpha.ci_high)
    return f"Raters agree on {percent.value:.0%} of pairs; beyond chance {beyond}, n = {plural(alpha.n_cases, 'case')}"


def _order(dataset: Dataset) -> Dataset:
    """Ask whether the classes are ordered; nothing is guessed."""
    if dataset.kind != "class" or not 3 <= dataset.n_classes <= agreement_top.MOST_ORDERED:
        return dataset
    with st.popover("Order of the classes", icon=":material/sort:", type="tertiary", key="class_order_popover"):
        means = st.toggle(
            "Their order means something",
            value=dataset.ordinal,
            key=f"ordinal-{dataset.digest}",
            persist_state="session",
        )
        order = st.multiselect(
            "From the lowest to the highest (take all out and choose them in their order to change it)",
            dataset.classes,
            default=list(dataset.classes),
            key=f"order-{dataset.digest}",
            disabled=not means,
            persist_state="session",
        )
        if not means:
            return dataset
        if len(order) < dataset.n_classes:
            st.info(f"{plural(dataset.n_classes - len(order), 'class', 'classes')} still without a place.")
            return dataset
    if dataset.ordinal and tuple(order) == dataset.classes:
        return dataset
    return cached_agreement.ordered(dataset, order)


def _page() -> None:
    dataset = widgets.require_data().dataset
    theme = look.theme()
    title = st.empty()
    title.title("How much do the raters agree?")
    verdict = can_use("agreement", dataset)
    if not verdict.possible:
        st.info(f"{verdict.title}: not possible with these data, because {verdict.reason}.", icon=":material/block:")
        return
    dataset = _order(dataset)
    found = cached_agreement.suitable(dataset)
    title.title(_sentence(found))
    agreement_top.show(found, theme)
    if dataset.kind == "score":
        widgets.heading("As two classes")
    view = widgets.class_view(dataset, "agreement")
    agreement_compare.warn_of_adaptive_collection(view)
    parts = {
        "Raters two by two": lambda: agreement_raters.pairs(view, theme),
        "By rater": lambda: agreement_raters.each(view, theme),
        "By class": lambda: agreement_parts.by_class(view, theme),
        "Cases": lambda: agreement_parts.cases(view, theme),
        "Over time": lambda: agreement_parts.over_time(view, theme),
        "Compare": lambda: agreement_compare.selections(view, st.session_state.get("threshold")),
        "How precise": lambda: agreement_compare.precision(view, theme),
    }
    for (_, show), tab in zip(
        parts.items(), st.tabs(list(parts), key="agreement_tabs", on_change="rerun"), strict=True
    ):
        if tab.open:
            with tab:
                show()


menu.through_app()
_page()
