"""Agreement: how much do the raters agree, beyond chance, pairwise, by class, over time, and on which cases."""

from shlex import quote

import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.annotations.dataset import Dataset
from core.methods import any_of
from core.text import markdown, plural
from pages.shared.agreement import compare as agreement_compare
from pages.shared.agreement import parts as agreement_parts
from pages.shared.agreement import raters as agreement_raters
from pages.shared.agreement import top as agreement_top
from pages.shared.cache import agreement as cached_agreement
from pages.shared.kit import navigation, provenance, state, widgets
from pages.shared.kit import style as look


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


def _repeats(dataset: Dataset) -> None:
    """What a rater's second annotation on the same case counts as."""
    n_repeats = cached_agreement.n_repeats(dataset)
    if n_repeats and dataset.kind != "score":
        st.caption(
            f":material/repeat: {plural(n_repeats, 'annotation')} of {dataset.n_annotations:,} repeat an earlier one "
            "of the same rater on the same case. Here they count as annotations of another rater; “By rater” shows how "
            "far raters agree with themselves."
        )


def _coefficients(dataset: Dataset, found: ApplicableCoefficients, theme, shares: dict[str, float] | None) -> None:
    agreement_top.show(found, theme, shares)
    _repeats(dataset)
    if dataset.kind not in ("score", "set"):
        agreement_compare.warn_of_adaptive_collection(widgets.class_view(dataset))


def _view(dataset: Dataset) -> Dataset:
    """Single classes, by which raters are compared two by two; scores by a threshold, sets one label at a time."""
    if dataset.kind in ("score", "set"):
        widgets.heading("As two classes" if dataset.kind == "score" else "One label at a time")
    return widgets.class_view(dataset)


def _page() -> None:
    dataset = widgets.require_data().dataset
    theme = look.theme()
    title = st.empty()
    title.title("How much do the raters agree?")
    verdict = any_of("coefficient", dataset)
    if not verdict.possible:
        st.info(
            f"{verdict.title}: not possible with these data, because {markdown(verdict.reason)}.",
            icon=":material/block:",
        )
        return
    dataset = _order(dataset)
    found = cached_agreement.suitable(dataset)
    title.title(found.words())
    shares = None if dataset.kind in ("score", "set") else cached_agreement.class_shares(dataset)
    parts = {
        "Coefficients": lambda: _coefficients(dataset, found, theme, shares),
        "Pairwise agreement": lambda: agreement_raters.pairs(_view(dataset), theme),
        "By rater": lambda: agreement_raters.each(_view(dataset), theme),
        "By class": lambda: agreement_parts.by_class(_view(dataset), theme),
        "Cases": lambda: agreement_parts.cases(_view(dataset), theme),
        "Over time": lambda: agreement_parts.over_time(_view(dataset), theme),
        "Compare": lambda: agreement_compare.selections(_view(dataset), state.split(dataset)),
        "Precision and sample size": lambda: agreement_compare.precision(_view(dataset), theme),
    }
    for (name, show), tab in zip(parts.items(), widgets.tabs(list(parts), "agreement_tabs"), strict=True):
        if tab.open:
            if name != "Compare":
                agreement_compare.out_of_address()
            with tab:
                show()
    ordinal = f" --ordinal --classes {quote(','.join(dataset.classes))}" if found.kind == "ordinal" else ""
    provenance.show(
        dataset, ["agreement"], f"agreement FILE{ordinal}", {"kind": found.kind, "level": 0.95}, "agreement"
    )


navigation.through_app()
_page()
