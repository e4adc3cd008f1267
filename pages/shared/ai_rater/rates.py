"""The tab of rates: each class and the machine's accuracy among all cases, from its labels and a few of people's."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from core.machines.rates import AGREEMENT, RIGHT, MachineRates, machine_rates, people_labels, rate_words, sample_labels
from core.review.random_sample import ReviewedBy, reviewed_by
from core.text import markdown, percent, plural
from pages.shared.ai_rater.computed import Machines
from pages.shared.cache import access, visit
from pages.shared.kit import columns, gold_of_reviews, state, widgets

_WIDTH = 118  # of pictures, so that the table fits at 1,280 pixels
SOURCES = {"people": "People's annotations", "sample": "The random sample from Review"}


def show(machines: Machines) -> None:
    """One machine's rates, from the labels that the reader chooses.

    Parameters
    ----------
    machines : Machines
    """
    widgets.heading("Rates over all cases", "corrected rate")
    dataset = machines.dataset
    if dataset.kind != "class":
        st.info("Not available: rates need one class per annotation.", icon=":material/block:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = machines.names[0]
        if len(machines.names) > 1:
            name = st.selectbox("AI rater", machines.names, key="rates_machine", width=260)
        by, reviews = _reviewed()
        source = "people"
        if by is not None and by.chance:
            source = st.segmented_control(
                "Labels", list(SOURCES), default="people", required=True, format_func=SOURCES.get, key="rates_source"
            )
    try:
        found = _rates(machines, name, source, by, reviews)
    except NotApplicableError as error:
        st.info(markdown(error), icon=":material/info:")
        return
    _table(found, source)
    _said(found, source, by, machines.notes.get(name, ()))


def _reviewed() -> tuple[ReviewedBy | None, dict]:
    """Return how the reviewed cases were selected, and their reviews; None if nobody has reviewed."""
    whole: Dataset = state.whole().dataset
    reviews = gold_of_reviews.reviews_of(whole)
    if not reviews:
        return None, {}
    return reviewed_by(reviews, access.store().sessions_of_others(whole.digest, "")), reviews


def _rates(machines: Machines, name: str, source: str, by: ReviewedBy | None, reviews: dict) -> MachineRates:
    dataset, given = machines.dataset, machines.probability.get(name)
    if source == "people" or by is None:
        return machine_rates(dataset, name, people_labels(dataset, machines.people), probability=given)
    labels, chance = sample_labels(dataset, reviews, by)
    return machine_rates(dataset, name, labels, probability=given, chance=chance)


def _draw() -> None:
    """Review opens at a new session of a random sample."""
    visit.choice["queue"], visit.go_to = "sample", "review"


def _table(found: MachineRates, source: str) -> None:
    """Each rate in words and as an interval in its row, all on one axis: of the labels alone, and corrected."""
    near = AGREEMENT if source == "people" else RIGHT
    rows = [
        {
            "rate of": one.of if one.is_class else near,
            "AI rater only": "–" if one.alone is None else percent(one.alone),
            "labels only": rate_words(one.people),
            "corrected": rate_words(one.corrected),
            "Weight of the AI rater, λ": one.corrected.weight,
        }
        for one in found.rates
    ]
    frame = pd.DataFrame(rows)
    drawn = []
    for said, side in (("labels only", "people"), ("corrected", "corrected")):
        rates = [getattr(one, side) for one in found.rates]
        ends = (f"{side} at", f"{side} from", f"{side} to")
        frame[list(ends)] = [[one.estimate, one.ci_low, one.ci_high] for one in rates]
        drawn.append((*ends, f"{said}, 95%"))
    shown, pictures = columns.with_pictures(frame, *drawn, width=_WIDTH)
    weight = st.column_config.NumberColumn(
        "λ", format=columns.TWO, help="Weight of the AI rater, from 0 (only people's labels count) to 1."
    )
    order = ["rate of", "AI rater only", "labels only", "labels only, 95%", "corrected", "corrected, 95%"]
    st.dataframe(
        shown, hide_index=True, key="machine_rates", column_order=[*order, "Weight of the AI rater, λ"],
        column_config={"Weight of the AI rater, λ": weight, "rate of": st.column_config.Column(width=175)} | pictures,
    )  # fmt: skip
    widgets.download(found.to_frame(), "Rates", "machine_rates", "machine_rates_table")


def _said(found: MachineRates, source: str, by: ReviewedBy | None, notes: Sequence[str]) -> None:
    """Describe the cases that these rates apply to, and the data that they are based on."""
    for note in notes:
        st.caption(markdown(note))
    if any("not in the data" in note for note in notes):
        st.caption(
            "These rates cover only the cases in these data. To include every case that the AI rater labelled, "
            "upload its annotations together with these data."
        )
    whose = "a label from people" if source == "people" else "a label in the random sample"
    st.caption(
        f"{found.n_labelled:,} of {plural(found.n, 'case')} that the AI rater labelled also "
        f"{'has' if found.n_labelled == 1 else 'have'} {whose}. Intervals: 95%. "
        f"{' '.join(markdown(note) for note in found.notes)}"
    )
    st.caption(
        "These rates estimate how people would label all cases. People make errors, so their labels may differ from "
        "the truth."
        if source == "people"
        else "The truth of a case is the reviewers' decision or, without a decision, the mean of their opinions. "
        "Each rate is estimated separately, so the rates of all classes may not add up to 1."
    )
    if source == "people" and found.n_labelled < found.n:
        st.caption(
            "If people annotated only hard cases, these rates apply only to hard cases. If you do not know how cases "
            "were chosen for annotation, use a random sample."
        )
    if by is None or not by.chance:
        st.button("Draw a sample on the Review page", icon=":material/shuffle:", key="draw_sample", on_click=_draw)
    if by is not None:
        st.caption(markdown(by.of_rates()))
