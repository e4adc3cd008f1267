"""After reviews: figures for the manager, the trail to export, and decisions as a further rater."""

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.intervals import Coefficient
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.ingest.read_files import Reading
from core.plausibility.gaussian import GaussianScores
from core.plausibility.protocol import PlausibilityModel
from core.review.adjudicated import RATER, results, with_opinions, with_reviews
from core.review.decisions import QUICK, Decision, n_quick, quick_words
from core.review.export import result_table, trail_json, trail_table
from core.review.opinions import REASONS
from core.review.random_sample import reviewed_by
from core.review.states import STATES, CaseReview
from core.review.store import ReviewStore
from core.review.summary import DIRECTIONS, Summary, by_reviewer, mean_certainty, summarise_reviews
from core.text import exact, markdown, number, plural, significant, with_interval
from pages.shared.cache import access, sign_in
from pages.shared.cache import datasets as cached
from pages.shared.kit import columns, plausibility_models, provenance, state, widgets


def figures(store: ReviewStore, dataset: Dataset, model: PlausibilityModel, reliability: float) -> None:
    """What settled cases rest on, how blind reads agree, how often the reveal changed a mind, reasons, time."""
    reviews = store.cases(dataset.digest)
    found = summarise_reviews(dataset, reviews)
    if not found.n_reviewed:
        st.info("No case has been reviewed yet.", icon=":material/hourglass_empty:")
        return
    widgets.heading("What the reviews show")
    st.markdown(found.settled.words() or "No case is settled yet.")
    columns = st.columns(4)
    n_settled = found.states["closed"] + found.states["adjudicated"]
    columns[0].metric("Cases reviewed", f"{found.n_reviewed:,} of {found.n_cases:,}", border=True)
    columns[0].caption(f"{n_settled:,} of them settled")
    _metric(columns[1], "Blind reads agree with the panel", found.with_panel, "read")
    _metric(columns[2], "Blind reads agree with each other", found.with_each_other, "read")
    if found.alpha.value is not None:
        columns[2].caption(f"beyond chance (α) {with_interval(*_values(found.alpha))}")
    _metric(columns[3], "Minds changed by the reveal", found.minds.share, "mind")
    by = reviewed_by(reviews, store.sessions_of_others(dataset.digest, ""))
    st.caption(markdown(by.words()), help=widgets.explained("sample or queue"))
    _people(dataset, reviews)
    _lists(found)
    if found.seconds is not None:
        low, middle, high = found.seconds
        spread = f", half of them between {span(low)} and {span(high)}" if found.n_timed > 2 else ""
        st.caption(f"Time on a case: {span(middle)}{spread}; measured {plural(found.n_timed, 'time')}.")
    if words := quick_words(found.decided):
        st.caption(words)
    st.caption(_certainty(dataset, found.decided, model, reliability))


def _metric(place, label: str, share: Coefficient, unit: str) -> None:
    place.metric(label, "–" if share.value is None else number(share.value), border=True)
    if share.value is None:
        place.caption(markdown(share.note))
    else:
        interval = "no interval" if share.ci_low is None else f"{number(share.ci_low)} to {number(share.ci_high)}"
        place.caption(f"{interval} · {plural(share.n_annotations, unit)}, {plural(share.n_cases, 'case')}")


def _values(share: Coefficient) -> tuple[float | None, float | None, float | None]:
    return share.value, share.ci_low, share.ci_high


def _certainty(dataset: Dataset, decided: tuple[Decision, ...], model: PlausibilityModel, reliability: float) -> str:
    """How certain the reviewed cases are with every opinion as one more annotation, and without; in sentences."""
    grown, people = with_opinions(dataset, decided), state.people_of(dataset)  # machines count on neither side
    if people is not dataset:
        grown = state.people_of(grown).select(cases=people.cases)
    if isinstance(model, GaussianScores):
        return _width(people, grown, model, reliability)
    views = [plausibility_models.data_for(model.name, one, quietly=True) for one in (people, grown)]
    found = mean_certainty(
        model, *views, reliability=reliability, n_draws=plausibility_models.N_DRAWS, seed=plausibility_models.SEED
    )
    if found is None:
        return "No opinion changes what this model counts."
    about = f", by the label “{markdown(views[0].classes[1])}”" if dataset.kind == "set" else ""
    title = plausibility_models.method(model.name).title
    return (
        f"{_counted(found.n)} the mean certainty is {number(found.after, zero=True)}{about}, without it "
        f"{number(found.before, zero=True)} "
        f"({title}, reliability γ {exact(reliability)}). Certainty is the probability that the leading class stays "
        "first, not that it is true."
    )


def _width(dataset: Dataset, grown: Dataset, model: GaussianScores, reliability: float) -> str:
    """The same of scores, at the same prior: how wide their intervals are."""
    added = np.diff(grown.case_ptr) > np.diff(dataset.case_ptr)
    if not added.any():
        return "No opinion changes what this model counts."
    before, after = (float(model.posterior(one, reliability).width()[added].mean()) for one in (dataset, grown))
    return (
        f"{_counted(int(added.sum()))} the mean 95% interval is {significant(after, 3, zero=True)} wide, without it "
        f"{significant(before, 3, zero=True)} (reliability γ {exact(reliability)})."
    )


def _counted(n_cases: int) -> str:
    return f"With each opinion on {plural(n_cases, 'case')} counted as one more annotation,"


def _people(dataset: Dataset, reviews: dict[str, CaseReview]) -> None:
    widgets.heading("Reviewers")
    rows = [
        {
            "reviewer": one.name,
            "reads": one.n_reads,
            "of them blind": one.n_blind,
            "agree with the panel": "–" if one.with_panel.value is None else with_interval(*_values(one.with_panel)),
            "changed after the reveal": f"{one.minds.n_changed:,} of {one.minds.n:,}",
            f"under {exact(QUICK)} s": _of(*n_quick(one.decided)),
        }
        for one in by_reviewer(dataset, reviews)
    ]
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, column_config=columns.counts("reads", "of them blind"), key="review_people"
    )
    st.caption("Only blind reads are compared; intervals are Wilson's, 95%, over cases.")


def _of(count: int, n: int) -> str:
    return f"{count:,} of {n:,}" if n else "–"


def _lists(found: Summary) -> None:
    left, middle, right = st.columns(3, gap="large")
    with left:
        widgets.heading("States of cases")
        _counts("state", {STATES[name]: count for name, count in found.states.items()}, "cases", "review_states")
    with middle:
        widgets.heading("Changed minds")
        if found.minds.n_changed:
            ways = {words: found.minds.directions.get(name, 0) for name, words in DIRECTIONS.items()}
            _counts("direction", ways, "times", "review_minds")
        else:
            st.caption("Nobody has changed an opinion after the reveal.")
    with right:
        widgets.heading("Reasons given")
        if found.reasons:
            given = {REASONS[name]: count for name, count in found.reasons.items()}
            _counts("reason", given, "times", "review_reasons")
        else:
            st.caption("Nobody has given a reason.")


def _counts(what: str, counts: dict[str, int], of: str, key: str) -> None:
    rows = [{what: words, of: count} for words, count in counts.items() if count]
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=columns.counts(of), key=key)


def span(seconds: float) -> str:
    """A time in seconds, or in minutes where it is long."""
    if seconds < 100:
        return f"{number(seconds, 0)} s"
    return f"{number(seconds / 60, 0)} min"


def take_away(store: ReviewStore, dataset: Dataset) -> None:
    """The state of every case, the whole trail, and a dataset with the decisions as a further rater."""
    reviews, n_kept_back = access.reviews_to_take(dataset.digest)
    kept_back = f"{plural(n_kept_back, 'case')} that others reviewed and you can still read blind: not among these."
    if not reviews:
        st.info(kept_back if n_kept_back else "There is nothing to export yet.", icon=":material/hourglass_empty:")
        return
    widgets.heading("Export")
    if n_kept_back:
        st.caption(kept_back)
    whole = "The trail of these" if n_kept_back else "The whole trail"
    head = store.head(dataset.digest)
    about = {"record_events": head.number, "record_head": head.hash}
    widgets.download(
        result_table(dataset, reviews),
        "State and result of these cases" if n_kept_back else "State and result of every case",
        "review_results",
        "review_results",
        settings=about,
    )
    widgets.download(
        trail_table(dataset, reviews), f"{whole} as a table", "review_trail", "review_trail", settings=about
    )
    st.download_button(
        f"{whole} as JSON",
        lambda: trail_json(dataset, reviews, head, store.assignments(dataset.digest)),
        file_name=provenance.file_name("review_trail", "json"),
        mime="application/json",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key="trail_json",
    )
    st.caption(
        f"The record: {plural(head.number, 'event')}, each with the hash of the one before; the last is "
        f"`{head.hash[:12]}…`. Exports and reports hold it, and `python -m core verify --head HASH` tells whether the "
        "record still does."
    )
    if sign_in.may("manager"):
        _further_rater(dataset, reviews)
    if access.may(dataset.digest, change=True):
        _erasing(store, dataset, len(reviews))


def _further_rater(dataset: Dataset, reviews: dict[str, CaseReview]) -> None:
    widgets.heading("Decisions as a further rater")
    st.write(
        "Adjudications stand beside the annotations and are left out of what is said of raters. To compute with them, "
        "make a new dataset in which they are one more rater; this one stays as it is."
    )
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    name = left.text_input("Name of that rater", RATER, key="adjudication_rater")
    closed = right.toggle("Also cases closed without arbitration", key="adjudication_closed")
    n_decided = len(results(reviews))
    n_closed = len(results(reviews, closed=True)) - n_decided
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Make the new dataset",
            on_click=_grow,
            args=(dataset, reviews, name, closed),
            key="grow",
            disabled=not (n_decided or (closed and n_closed)),
        )
        st.caption(f"{plural(n_decided, 'case')} decided by arbitration, {n_closed:,} closed without it.")


def _erasing(store: ReviewStore, dataset: Dataset, n_cases: int) -> None:
    widgets.heading("Erase")
    with st.popover("Erase these reviews", icon=":material/delete:"):
        st.write(
            f"This erases {plural(store.count(dataset.digest), 'step')} on {plural(n_cases, 'case')}, of all "
            "reviewers, with their sessions. The annotations stay. This cannot be undone: export the trail first."
        )
        st.button("Erase all reviews of these data", type="primary", on_click=_erase, args=(dataset,), key="erase")


def _erase(dataset: Dataset) -> None:
    try:
        n_events = access.forget_reviews(dataset.digest)
    except PluralityError as error:
        st.session_state["review_error"] = str(error)
        return
    st.toast(f"{plural(n_events, 'step')} erased.")


def _grow(dataset: Dataset, reviews, name: str, closed: bool) -> None:
    try:
        grown = with_reviews(dataset, reviews, rater=name.strip(), closed=closed)
    except PluralityError as error:
        st.session_state["review_error"] = str(error)
        return
    reading = Reading(grown.dataset.renamed(f"{dataset.name} with {name.strip()}"), None, state.whole().facts)
    machines = state.marked_machines()
    state.use(cached.bring(reading))
    if machines:  # they are machines there, too
        access.WriteRight(st.session_state["data"]).mark_machines(machines)
    added = np.flatnonzero(np.diff(grown.dataset.case_ptr) > np.diff(dataset.case_ptr))
    st.session_state["case"] = dataset.cases[int(added[0])]
    st.session_state["go_to"] = "cases"  # a case that was decided, with the decision among its annotations
    st.toast(f"{plural(grown.n_added, 'decision')} added; {len(grown.left_out):,} could not be.")
