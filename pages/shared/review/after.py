"""After reviews: figures for the manager, the trail to export, and decisions as a further rater."""

import numpy as np
import streamlit as st

from core.analyses.inputs import Inputs
from core.analyses.reviews import REVIEWS, ReviewOptions
from core.annotations.dataset import Dataset
from core.ingest.read_files import Reading
from core.plausibility.gaussian import GaussianScores
from core.plausibility.protocol import PlausibilityModel
from core.review.adjudicated import RATER, results, with_opinions, with_reviews
from core.review.decisions import Decision
from core.review.export import result_table, trail_json, trail_table
from core.review.random_sample import reviewed_by
from core.review.states import CaseReview
from core.review.store import ReviewStore
from core.review.summary import mean_certainty
from core.text import exact, markdown, percent, plural, significant, was_or_were
from pages.shared.cache import access, sign_in, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import blocks, plausibility_models, provenance, state, widgets

_COUNTED = "If every opinion counts as one more annotation,"


def figures(store: ReviewStore, dataset: Dataset, model: PlausibilityModel, reliability: float) -> None:
    """Show results of the reviews, and the certainty of the reviewed cases if they are included."""
    reviews = store.cases(dataset.digest)
    part, inputs = REVIEWS.parts[0], Inputs(dataset, reviews=reviews)
    found = part.answer(inputs)
    if not found.summary.n_reviewed:
        st.info("No reviews yet. Review a case to see results.", icon=":material/hourglass_empty:")
        return
    widgets.heading("What the reviews show")
    options = ReviewOptions(reviewed_by(reviews, store.sessions_of_others(dataset.digest, "")))
    blocks.show(part.blocks(found, inputs, options))
    st.caption(_certainty(dataset, found.summary.decided, model, reliability))


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
        return "No opinion changes the annotations that this model uses."
    about = f" for the label “{markdown(views[0].classes[1])}”" if dataset.kind == "set" else ""
    title = plausibility_models.method(model.name).title
    return (
        f"{_COUNTED} the mean certainty of {plural(found.n, 'case')}{about} is {percent(found.after)} instead of "
        f"{percent(found.before)} ({title}, reliability γ = {exact(reliability)}). Certainty is the probability that "
        "the leading class stays first, not that it is true."
    )


def _width(dataset: Dataset, grown: Dataset, model: GaussianScores, reliability: float) -> str:
    """Return a sentence on scores: the width of their intervals with the reviews, at the same prior."""
    added = np.diff(grown.case_ptr) > np.diff(dataset.case_ptr)
    if not added.any():
        return "No opinion changes the annotations that this model uses."
    before, after = (float(model.posterior(one, reliability).width()[added].mean()) for one in (dataset, grown))
    return (
        f"{_COUNTED} the mean width of the 95% intervals for {plural(int(added.sum()), 'case')} is "
        f"{significant(after, 3)} instead of {significant(before, 3)} (reliability γ = {exact(reliability)})."
    )


def take_away(store: ReviewStore, dataset: Dataset) -> None:
    """Draw downloads: state of cases with reviews, audit trail, and a dataset with the decisions as a further rater."""
    reviews, n_kept_back = access.reviews_to_take(dataset.digest)
    them = "it" if n_kept_back == 1 else "them"
    kept_back = (
        f"{plural(n_kept_back, 'case')} reviewed by others {was_or_were(n_kept_back)} left out, because you can still "
        f"review {them} blind."
    )
    if not reviews:
        st.info(
            markdown(kept_back) if n_kept_back else "No reviews yet. Review a case to export results.",
            icon=":material/hourglass_empty:",
        )
        return
    widgets.heading("Export")
    if n_kept_back:
        st.caption(kept_back)
    whole = "Audit trail of these cases" if n_kept_back else "The whole trail"
    head = store.head(dataset.digest)
    about = {"record_events": head.number, "record_head": head.hash}
    widgets.download(
        result_table(dataset, reviews),
        "State and result of these cases" if n_kept_back else "State and result of cases with reviews",
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
        f"The audit trail consists of {plural(head.number, 'event')} linked by hashes. Exports and reports contain "
        "the last hash. Verify the trail with this command."
    )
    st.code(f"python -m core verify --head {head.hash}", language=None, wrap_lines=True)
    if sign_in.may("manager"):
        _further_rater(dataset, reviews)
    if access.may(dataset.digest, change=True):
        _erasing(store, dataset, len(reviews))


def _further_rater(dataset: Dataset, reviews: dict[str, CaseReview]) -> None:
    widgets.heading("Decisions as an additional rater")
    st.write(
        "Decisions are not counted as annotations. To count them, create a new dataset with the decisions as an "
        "additional rater. The current dataset does not change."
    )
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    name = left.text_input("Name of the new rater", RATER, key="adjudication_rater")
    closed = right.toggle("Include cases closed without arbitration", key="adjudication_closed")
    n_decided = len(results(reviews))
    n_closed = len(results(reviews, closed=True)) - n_decided
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Create dataset",
            on_click=_grow,
            args=(dataset, reviews, name, closed),
            key="grow",
            disabled=not (n_decided or (closed and n_closed)),
        )
        st.caption(f"{plural(n_decided, 'case')} decided by arbitration, {n_closed:,} closed without arbitration.")


def _erasing(store: ReviewStore, dataset: Dataset, n_cases: int) -> None:
    widgets.heading("Delete")
    with st.popover("Delete these reviews", icon=":material/delete:"):
        st.write(
            f"This permanently deletes {plural(store.count(dataset.digest), 'review step')} on "
            f"{plural(n_cases, 'case')} and all review sessions, for all reviewers. The annotations are kept. This "
            "cannot be undone, so export the audit trail first."
        )
        st.button("Delete all reviews of these data", type="primary", on_click=_erase, args=(dataset,), key="erase")


def _erase(dataset: Dataset) -> None:
    with visit.error_in("review_error"):
        n_events = access.forget_reviews(dataset.digest)
        st.toast(f"{plural(n_events, 'review step')} deleted.")


@visit.error_in("review_error")
def _grow(dataset: Dataset, reviews, name: str, closed: bool) -> None:
    grown = with_reviews(dataset, reviews, rater=name.strip(), closed=closed)
    reading = Reading(grown.dataset.renamed(f"{dataset.name} with {name.strip()}"), None, state.whole().facts)
    machines = state.marked_machines()
    state.use(cached.bring(reading))
    if machines:  # they are machines there, too
        access.WriteRight(visit.data).mark_machines(machines)
    added = np.flatnonzero(np.diff(grown.dataset.case_ptr) > np.diff(dataset.case_ptr))
    visit.case = dataset.cases[int(added[0])]
    visit.go_to = "cases"  # a case that was decided, with the decision among its annotations
    left_out = f" {plural(len(grown.left_out), 'decision')} could not be added." if grown.left_out else ""
    st.toast(f"{plural(grown.n_added, 'decision')} added.{left_out}")
