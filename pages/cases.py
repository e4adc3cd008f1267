"""Cases: the worklist, least certain first, and one case with what the raters said and what the truth could be."""

import zlib

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.top_sets import CertaintyResult, most_plausible
from core.models.expected_class import expected_said, without_shared_words
from core.order import lowest_first
from core.plausibility.protocol import PlausibilityModel
from core.text import exact, markdown, plural, shorten, simulated, typed
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cases import class_scale, content, list_columns, moves, one_case, review_status, score_cases
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

MOST_ROWS = 2_000
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
    order = lowest_first(result.certainty[:, 0])
    words = find.casefold().strip()
    if not words:
        return order
    by_id = np.array([words in case_id.casefold() for case_id in dataset.cases])
    classes = [code for code, name in enumerate(view.classes) if words in name.casefold()]
    by_class = np.isin(result.top_class(), classes)
    raters = [code for code, name in enumerate(dataset.raters) if words == name.casefold()]
    by_rater = np.zeros(dataset.n_cases, bool)
    by_rater[dataset.case_of_annotation[np.isin(dataset.rater, raters)]] = True
    return order[(by_id | by_class | by_rater)[order]]


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


def _rows(
    dataset: Dataset, result: CertaintyResult, shown: np.ndarray, scale: class_scale.CaseScale | None, letters: int
) -> pd.DataFrame:
    """The worklist as on screen: of ordered classes with where the true class stands."""
    names = result.classes if scale is None else without_shared_words(result.classes)
    frame = pd.DataFrame(
        {
            "case": [dataset.cases[place] for place in shown],
            "certainty": columns.never_quite(columns.short_of_certain(result.certainty[shown, 0])),
            "most plausible": [most_plausible(result, int(place), names, letters) for place in shown],
        }
    )
    if scale is not None:
        ends = zip(scale.mean[shown], scale.low[shown], scale.high[shown], strict=True)
        frame.insert(2, "expected", [expected_said(names, *one) for one in ends])
    return frame


def _file(
    dataset: Dataset, result: CertaintyResult, order: np.ndarray, scale: class_scale.CaseScale | None, states: dict
) -> pd.DataFrame:
    """The worklist as it is downloaded."""
    table = pd.DataFrame({"case": [dataset.cases[place] for place in order]})
    if any(states.values()):
        table["review"] = [states.get(case_id, "") for case_id in table["case"]]
    for top_j in range(result.certainty.shape[1]):
        table[f"top{top_j + 1}"], table[f"top{top_j + 1}_se"] = result.certainty[order, top_j], result.se[order, top_j]
    if scale is not None:
        table["expected_class"], table["median_class"] = scale.mean[order], scale.median[order]
        table["expected_class_low"], table["expected_class_high"] = scale.low[order], scale.high[order]
        table["within_one"] = scale.near[order]
    return table


def _worklist(
    dataset: Dataset,
    view: Dataset,
    result: CertaintyResult,
    order: np.ndarray,
    case: int,
    model,
    reliability,
    states: dict[str, str],
) -> None:
    shown = order[:MOST_ROWS]
    scale = class_scale.standing(view, model, reliability) if class_scale.is_for(model) else None
    reviewed = any(states.values())
    frame = _rows(dataset, result, shown, scale, _SHORTER if reviewed else _SHORT)
    if reviewed:
        frame["review"] = [states.get(case_id, "") for case_id in frame["case"]]
    key = f"worklist-{dataset.digest}-{zlib.crc32(shown.tobytes())}-{moves.opened_elsewhere(dataset.cases[case])}"
    places = np.flatnonzero(shown == case)

    def choose() -> None:
        cells = st.session_state[key].selection.cells
        if cells:
            st.session_state["case"] = st.session_state[moves.CLICKED] = frame["case"].iloc[cells[0][0]]

    st.dataframe(
        frame,
        hide_index=True,
        height=560,
        row_height=32,
        on_select=choose,
        selection_mode="single-cell",
        selection_default={"selection": {"cells": [(int(place), "case") for place in places[:1]]}},
        column_config=list_columns.widths(
            int(frame["case"].str.len().max()), reviewed=reviewed, ordered=scale is not None
        ),
        key=key,
    )
    st.caption(
        f"{len(shown):,} of {plural(len(order), 'case')}, least certain first · "
        f"uncertain: below {exact(UNCERTAIN_BELOW)} · P and N move"
    )
    with st.container(horizontal=True):
        widgets.download(
            lambda: _file(dataset, result, order, scale, states), "Worklist", "certainty", "certainty",
            n_rows=len(order), settings={"model": model.name, "reliability": reliability},
        )  # fmt: skip
        provenance.show(
            dataset,
            [model.name, "certainty"],
            f"certainty {model.name} FILE{plausibility_models.options_of(model)} --reliability {typed(reliability)}",
            {"model": model.name, **model.settings(), "reliability": reliability, **plausibility_models.SAMPLING},
            "cases",
        )


def _header(dataset: Dataset, order: np.ndarray | None, case: int, result: CertaintyResult) -> None:
    left, right = st.columns([5, 3], vertical_alignment="center")
    buttons = right.container(horizontal=True, horizontal_alignment="right", wrap=False)
    value, error = float(columns.short_of_certain(result.certainty[0, 0])), result.se[0, 0]
    left.subheader(
        f"Case {markdown(shorten(dataset.cases[case], 60))} · "
        f"certainty {simulated(value, float(error))} · "
        f"{plural(len(dataset.annotations_of(case)), 'annotation')}",
        anchor=False,
        help=widgets.explained("annotation certainty"),
    )
    moves.buttons(buttons, dataset, order, case)


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
    chosen = st.session_state.get("case")
    if chosen is not None and chosen not in dataset.cases:
        st.session_state.pop("case")
        st.toast(f"There is no case {markdown(shorten(chosen, 40))} in these data; the least certain one is shown.")
        chosen = None

    def show(case: int):
        heading = wide.container()
        with wide, content.kept_elsewhere(dataset.cases[case]):
            review_status.show(whole, reviews.get(dataset.cases[case]), dataset.cases[case])
            one_case.show(dataset, view, case, model, reliability, classifiers)
        return heading

    heading = None
    if chosen is not None:  # the case comes first, so that the slider responds at once
        case = dataset.case_index(chosen)
        heading = show(case)
    with narrow:
        result = plausibility_models.certainty(view, model, reliability)
    order = None
    if result is not None:
        n_uncertain = result.n_below(UNCERTAIN_BELOW)
        stay = "stays" if n_uncertain == 1 else "stay"
        about = f" about “{markdown(shorten(view.classes[1], 30))}”" if dataset.kind == "set" else ""
        trust = f"at trust γ = {exact(reliability)}"
        if not is_open:
            title.title(f"{n_uncertain:,} of {plural(dataset.n_cases, 'case')} {stay} uncertain{about} {trust}")
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
            _header(dataset, order, case, one_case.certainty_of_case(view, model, case, reliability))
    if order is not None:
        with narrow:
            states = {case_id: review_status.state_of(whole, review) for case_id, review in reviews.items()}
            _worklist(dataset, view, result, order, case, model, reliability, states)


navigation.through_app()
_page()
