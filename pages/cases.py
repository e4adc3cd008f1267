"""Cases: the worklist, least certain first, and one case with what the raters said and what the truth could be."""

import numpy as np
import streamlit as st

from core.analyses.cases import CASES
from core.analyses.cases.certainty import CaseCertainty, headline, listed
from core.analyses.inputs import Inputs
from core.annotations.dataset import Dataset
from core.certainty.top_sets import CertaintyResult, short_of_certain
from core.order import lowest_first
from core.plausibility.protocol import PlausibilityModel
from core.text import markdown, shorten, simulated, typed
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cache import cases as cached_cases
from pages.shared.cases import content, one_case, review_status, score_cases, worklist
from pages.shared.kit import (
    class_order,
    columns,
    gold_of_reviews,
    navigation,
    opening,
    plausibility_models,
    predictions,
    provenance,
    reliability_slider,
    state,
    trusted_raters,
    widgets,
)

_SHORT, _SHORTER = 14, 8  # letters of each of two classes in a cell of the worklist, and beside a column of reviews
_ALL, _UNCERTAIN, _REVIEWED = "All", "Uncertain", "Reviewed"


def _settings(dataset: Dataset) -> tuple[PlausibilityModel, float, bool, str]:
    left, middle, right, more = st.columns([4, 3, 3, 2], vertical_alignment="bottom")
    below = st.container()
    name = plausibility_models.choose_model(middle, dataset)
    reliability = reliability_slider.choose(left, below, dataset, plausibility_models.as_chosen(dataset))
    find = right.text_input("Find a case", key="find", placeholder="id, class or rater", persist_state="session")
    with more.popover("More", key="more_settings"):
        model = plausibility_models.choose_prior(st, name)
        st.toggle("Hide rater names", key="hide_names", persist_state="session")
        st.caption(f"{plausibility_models.N_DRAWS:,} draws a case · seed {plausibility_models.SEED}")
    with below:
        class_order.say(dataset, name)
    is_open = reliability_slider.in_use(dataset, plausibility_models.as_chosen(dataset)).reliability_open
    if is_open:
        st.caption(opening.CHOOSING)
    return model, reliability, is_open, find


def _order(view: Dataset, dataset: Dataset, result: CertaintyResult, find: str) -> np.ndarray:
    words = find.casefold().strip()
    classes = [code for code, name in enumerate(view.classes) if words in name.casefold()]
    order = lowest_first(result.certainty[:, 0])
    return worklist.found_by(dataset, order, find, np.isin(result.top_class(), classes))


def _filter(dataset: Dataset, result: CertaintyResult, order: np.ndarray, reviews: dict) -> np.ndarray:
    """The cases of the worklist that are asked for; all where none is of that kind."""
    kinds = [_ALL, _UNCERTAIN, *[_REVIEWED] * bool(reviews)]
    asked = st.segmented_control(
        "Cases", kinds, default=_ALL, required=True, key="worklist_kind", label_visibility="collapsed"
    )
    if asked == _UNCERTAIN:
        kept = result.certainty[order, 0] < UNCERTAIN_BELOW
    elif asked == _REVIEWED:
        kept = np.array([dataset.cases[case] in reviews for case in order], bool)
    else:
        return order
    if not kept.any():
        st.caption(f"None of these cases is {asked.lower()}; all are shown.")
        return order
    return order[kept]


def _worklist(
    dataset: Dataset, found: CaseCertainty, order: np.ndarray, case: int, asked: Inputs, states: dict[str, str]
) -> None:
    """The worklist as on screen, of ordered classes with where the true class stands, and as a file."""
    reviewed = any(states.values())
    frame = listed(found, order[: worklist.MOST_ROWS], _SHORTER if reviewed else _SHORT)
    frame["certainty"] = columns.never_quite(short_of_certain(frame["certainty"].to_numpy()))
    longest = int(frame["case"].str.len().max())
    config = worklist.widths(longest, reviewed=reviewed, ordered=found.scale is not None)
    worklist.show(dataset, frame, order, case, states, config, "least certain first")
    model, reliability = asked.settings.plausibility, asked.settings.reliability
    with st.container(horizontal=True):
        widgets.download(
            lambda: worklist.file(CASES.part("certainty").frame(found, asked), order, states),
            "Worklist",
            "certainty",
            "certainty",
            n_rows=len(order),
            settings={"model": model.name, "reliability": reliability},
        )
        provenance.show(
            dataset,
            [model.name, "certainty"],
            f"certainty {model.name} FILE{plausibility_models.options_of(model)} --reliability {typed(reliability)}",
            {"model": model.name, **model.settings(), "reliability": reliability, **plausibility_models.SAMPLING},
            "cases",
        )


def _header(dataset: Dataset, order: np.ndarray | None, case: int, result: CertaintyResult) -> None:
    said = f"certainty {simulated(float(short_of_certain(result.certainty[0, 0])), float(result.se[0, 0]))}"
    worklist.header(dataset, order, case, said, "annotation", "annotation certainty")


def _page() -> None:
    dataset = gold_of_reviews.applied(widgets.require_data().dataset)
    title = st.empty()
    title.title("Which cases are uncertain?")
    if dataset.kind == "score":
        score_cases.show(dataset, title)
        return
    model, reliability, is_open, find = _settings(dataset)
    view = plausibility_models.data_for(model.name, dataset)
    model = trusted_raters.asked_for(view, model)
    if model is None:
        return
    classifiers = predictions.classifiers(view)
    whole = state.whole().dataset  # reviews belong to the whole dataset, whatever is selected
    reviews = gold_of_reviews.reviews_of(whole)
    narrow, wide = st.container(key="panes").columns([35, 65], gap="medium")
    case = worklist.opened(dataset, "the least certain one")

    def show(case: int):
        heading = wide.container()
        with wide, content.kept_elsewhere(dataset.cases[case]):
            review_status.show(whole, reviews.get(dataset.cases[case]), dataset.cases[case])
            one_case.show(dataset, view, case, model, reliability, classifiers)
        return heading

    heading = None
    if case is not None:  # the case comes first, so that the slider responds at once
        heading = show(case)
    with narrow:
        found = plausibility_models.case_certainty(view, model, reliability)
    order = None
    if found is not None:
        result = found.certainty
        about = f" about “{markdown(shorten(view.classes[1], 30))}”" if dataset.kind == "set" else ""
        if not is_open:
            title.title(headline(result, reliability, about))
        order = _order(view, dataset, result, find)
        if not len(order):
            narrow.info("No case matches. Find by a part of the id or class, or a rater's whole name.")
            order = _order(view, dataset, result, "")
        with narrow:
            order = _filter(dataset, result, order, reviews)
        if heading is None:
            case = int(order[0])
            st.session_state["case"] = dataset.cases[case]
            heading = show(case)
    if heading is not None:
        with heading:
            _header(dataset, order, case, cached_cases.one_case(view, model, case, reliability).certainty)
    if order is not None:
        with narrow:
            states = {case_id: review_status.state_of(whole, review) for case_id, review in reviews.items()}
            _worklist(dataset, found, order, case, cached_cases.inputs(view, model, reliability), states)


navigation.through_app()
_page()
