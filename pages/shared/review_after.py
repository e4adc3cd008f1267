"""After reviews: figures for the manager, the trail to take away, and decisions as a further rater."""

import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.reading import Reading
from core.errors import PluralityError
from core.review.adjudicated import RATER, with_reviews
from core.review.export import result_table, trail_json, trail_table
from core.review.opinions import REASONS
from core.review.states import STATES
from core.review.store import ReviewStore
from core.review.summary import DIRECTIONS, summarise
from core.text import markdown, plural, with_interval
from pages.shared import cached, state, widgets


def figures(store: ReviewStore, dataset: Dataset) -> None:
    """How many, how blind reads agree, how often the reveal changed a mind, reasons, time."""
    reviews = store.cases(dataset.digest)
    found = summarise(dataset, reviews)
    if not found.n_reviewed:
        st.info("No case has been reviewed yet.", icon=":material/hourglass_empty:")
        return
    columns = st.columns(4)
    columns[0].metric("Cases reviewed", f"{found.n_reviewed:,} of {found.n_cases:,}", border=True)
    columns[1].metric("Blind reads agree with the panel", _share(found.with_panel), border=True)
    columns[2].metric("Blind reads agree with each other", _share(found.with_each_other), border=True)
    columns[3].metric("Minds changed by the reveal", f"{found.minds.n_changed} of {found.minds.n}", border=True)
    for label, one in (("with the panel", found.with_panel), ("with each other", found.with_each_other)):
        if one.value is None:
            st.caption(f"Agreement {label}: {markdown(one.note)}")
    left, right = st.columns(2, gap="large")
    with left:
        widgets.heading("States of cases")
        rows = [{"state": STATES[name], "cases": count} for name, count in found.states.items() if count]
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="review_states")
    with right:
        widgets.heading("Changed minds and reasons")
        rows = [{"what": words, "times": found.minds.directions.get(name, 0)} for name, words in DIRECTIONS.items()]
        rows += [{"what": words, "times": found.reasons.get(name, 0)} for name, words in REASONS.items()]
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="review_reasons")
    if found.seconds is not None:
        low, middle, high = found.seconds
        st.caption(
            f"Time on a case: {middle:.0f} s (half of them between {low:.0f} and {high:.0f} s), n = {found.n_timed:,}."
        )


def take_away(store: ReviewStore, dataset: Dataset) -> None:
    """The state of every case, the whole trail, and a dataset with the decisions as a further rater."""
    reviews = store.cases(dataset.digest)
    if not reviews:
        st.info("There is nothing to take away yet.", icon=":material/hourglass_empty:")
        return
    widgets.heading("To take away")
    widgets.download(
        result_table(dataset, reviews), "State and result of every case", "review_results", "review_results"
    )
    widgets.download(trail_table(dataset, reviews), "The whole trail as a table", "review_trail", "review_trail")
    st.download_button(
        "The whole trail as JSON", lambda: trail_json(dataset, reviews), file_name="review_trail.json",
        mime="application/json", icon=":material/download:", type="tertiary", on_click="ignore", key="trail_json",
    )  # fmt: skip
    widgets.heading("Decisions as a further rater")
    st.write(
        "Adjudications stand beside the answers and are left out of what is said of raters. To compute with them, make "
        "a new dataset in which they are one more rater; this one stays as it is."
    )
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    name = left.text_input("Name of that rater", RATER, key="adjudication_rater")
    closed = right.toggle("Also cases closed by agreement", key="adjudication_closed")
    st.button("Make the new dataset", on_click=_grow, args=(dataset, reviews, name, closed), key="grow")


def _grow(dataset: Dataset, reviews, name: str, closed: bool) -> None:
    try:
        grown = with_reviews(dataset, reviews, rater=name.strip(), closed=closed)
    except PluralityError as error:
        st.session_state["review_error"] = str(error)
        return
    reading = Reading(grown.dataset.renamed(f"{dataset.name} with {name.strip()}"), None)
    state.use(cached.registry().add(reading))
    st.toast(f"{plural(grown.n_added, 'decision')} added; {len(grown.left_out):,} could not be.")


def _share(one) -> str:
    return "–" if one.value is None else with_interval(one.value, one.ci_low, one.ci_high)
