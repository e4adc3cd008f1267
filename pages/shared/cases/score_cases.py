"""Cases of scores: the worklist, least known first, and one case with its scores and what the score could be."""

import numpy as np
import streamlit as st

from core.analyses.cases import CASES
from core.analyses.cases import score as answer
from core.analyses.cases.scores import PlausibleScores
from core.analyses.inputs import Inputs
from core.annotations.dataset import Dataset
from core.certainty.score_trust import plausible_score, scores_in_words
from core.plausibility.gaussian import METHOD, GaussianScores
from core.text import markdown
from pages.shared.cache import cases as cached_cases
from pages.shared.cache import visit
from pages.shared.cases import content, one_case, review_status, worklist
from pages.shared.kit import blocks, columns, gold_of_reviews, provenance, reliability_slider, scores, state, widgets


def show(dataset: Dataset, title) -> None:
    """Draw the page. ``title`` is the place of its first sentence."""
    left, middle, right, more = st.columns([4, 3, 3, 2])
    below = st.container()
    at = scores.threshold(middle)
    find = right.text_input("Find a case", key="find", placeholder="Case ID or rater", persist_state="session")
    fitted = scores.model(dataset, at)
    if fitted is None:
        return
    model, prior = fitted
    reliability = reliability_slider.choose(left, below, dataset, model)
    more.space(worklist.LABEL_HEIGHT)
    with more.popover("More", key="more_settings"):
        scores.about_prior(prior)
        st.toggle("Hide rater names", key="hide_names", persist_state="session")
    asked = cached_cases.inputs(dataset, model, reliability)
    found = CASES.part("scores").answer(asked)
    title.title("These scores do not distinguish between cases" if prior.alike() else found.headline())
    order = worklist.found_by(dataset, found.order(), find)
    narrow, wide = st.container(key="panes").columns([3, 7], gap="medium")
    if not len(order):
        narrow.info("No case matches. Search for part of a case ID, or for a rater's full name.")
        order = found.order()
    case = worklist.opened(dataset, "the first case in the list")
    if case is None:
        case = int(order[0])
        visit.case = dataset.cases[case]
    whole = state.whole().dataset  # reviews belong to the whole dataset, whatever is selected
    reviews = gold_of_reviews.reviews_of(whole)
    with wide:
        _header(dataset, order, case, found)
        with content.kept_elsewhere(dataset.cases[case]):
            review_status.show(whole, reviews.get(dataset.cases[case]), dataset.cases[case])
            _one_case(asked, case)
    with narrow:
        states = {case_id: review_status.state_of(whole, review) for case_id, review in reviews.items()}
        _worklist(asked, found, order, case, states)


def _header(dataset: Dataset, order: np.ndarray, case: int, found: PlausibleScores) -> None:
    ends = (found.trust.m, found.trust.low, found.trust.high)
    middle, low, high = (scores.written(float(part[0, case]), found.digits) for part in ends)
    worklist.header(dataset, order, case, f"{middle} ({low} to {high})", "score", METHOD)


def _one_case(asked: Inputs, case: int) -> None:
    """Draw the raters' scores, the plausible score, and the effect of γ on it."""
    dataset, part = asked.dataset, CASES.part("score")
    found = part.answer(asked, part.options(case))
    content.show(dataset, dataset.cases[case])
    st.markdown(markdown(scores_in_words(dataset, case)))
    one_case.gold(dataset, case)
    _density(found.here)
    left, right = st.columns(2, gap="small")
    with left.container(border=True):
        blocks.show([answer.against_reliability(found)])
    with right:
        given(dataset, case)
    with st.expander("Values at each γ as a table"):
        blocks.show(answer.as_table(found.curve))


def _density(found) -> None:
    with st.container(border=True):
        blocks.show(answer.density(found, visit.flag["hide_names"]))


def given(dataset: Dataset, case: int) -> None:
    """Draw the raters' scores, the lowest first."""
    ordered = sorted(dataset.annotations_of(case), key=lambda annotation: float(dataset.score[annotation]))
    with st.container(border=True):
        st.markdown("**Raters' scores**")
        widgets.chips(dataset, ordered, {}, visit.flag["hide_names"])


def plausible(dataset: Dataset, case: int, model: GaussianScores, reliability: float) -> None:
    """Draw the density of the score with its sentence."""
    _density(plausible_score(dataset, model, case, reliability))


def _worklist(asked: Inputs, found: PlausibleScores, order: np.ndarray, case: int, states: dict[str, str]) -> None:
    dataset, trust = asked.dataset, found.trust
    table = CASES.part("scores").frame(found, asked)
    table.insert(1, "n", np.diff(dataset.case_ptr))
    table = worklist.file(table, order, states)
    frame = table[["case", "score"]].head(worklist.MOST_ROWS)
    shown = order[: worklist.MOST_ROWS]
    if trust.threshold is None:
        frame, first = frame.assign(ci_width=trust.width[0, shown]), "widest interval first"
    else:
        frame, first = frame.assign(certainty=trust.certainty[0, shown]), "least certain first"
    config = {
        "score": scores.column("score", found.digits),
        "ci_width": scores.column("95% width", found.digits),
        "certainty": st.column_config.ProgressColumn(format=columns.PERCENT, min_value=0, max_value=1),
    }
    worklist.show(dataset, frame, order, case, states, config, first, uncertain=trust.threshold is not None)
    with st.container(horizontal=True):
        widgets.download(table, "Worklist", "plausible_scores", "certainty")
        model, reliability = asked.settings.plausibility, asked.settings.reliability
        command = scores.command(reliability)
        provenance.show(dataset, [METHOD.name], command, scores.settings(model, reliability), "cases")
