"""Cases: the worklist, least certain first, and one case with what the raters said and what the truth could be."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.explain import why
from core.certainty.regions import dirichlet_region
from core.certainty.top_sets import CertaintyResult, annotation_certainty
from core.figures import cases as figures
from core.figures.theme import class_colours
from core.plausibility.dirichlet import DirichletCounts
from core.text import markdown, plotly, plural, shorten
from pages.shared import cached, jobs_ui, look, menu, state, widgets

N_DRAWS = 1000
SEED = 0
UNCERTAIN_BELOW = 0.9
MOST_ROWS = 400
MOST_LINES = 8
OTHERS = "any other class"


def _settings(view: Dataset) -> tuple[DirichletCounts, float, str]:
    left, middle, right, more = st.columns([4, 3, 3, 2], vertical_alignment="bottom")
    st.session_state.setdefault("reliability", DirichletCounts.default_reliability)
    reliability = left.slider(
        "Reliability γ (trust in the raters)",
        *state.RELIABILITY_RANGE,
        step=0.1,
        key="reliability",
        help=widgets.explained("reliability"),
        persist_state="session",
    )
    middle.selectbox(
        "Model", ["Dirichlet counts"], key="plausibility_model", help=widgets.explained("dirichlet counts")
    )
    find = right.text_input("Find a case", key="find", placeholder="id, class or rater", persist_state="session")
    with more.popover("More", key="more_settings"):
        alpha = st.number_input(
            "Prior α of each class",
            min_value=0.01,
            max_value=10.0,
            value=1.0,
            step=0.1,
            key="alpha",
            help=widgets.explained("alpha"),
            persist_state="session",
        )
        st.toggle("Hide rater names", key="hide_names", persist_state="session")
        st.caption(f"{view.n_classes:,} classes · {N_DRAWS:,} draws a case · seed {SEED}")
    return DirichletCounts(alpha=alpha), reliability, find


def _certainty(view: Dataset, model: DirichletCounts, reliability: float) -> CertaintyResult | None:
    return jobs_ui.result_of(
        (view.digest, model.name, tuple(model.settings().items()), reliability, N_DRAWS, SEED),
        "Certainty of all cases",
        lambda job: annotation_certainty(
            model,
            view,
            reliability=reliability,
            n_draws=N_DRAWS,
            seed=SEED,
            token=job.token,
            progress=lambda share: job.report(share),
        ),
    )


def _order(view: Dataset, dataset: Dataset, result: CertaintyResult, find: str) -> np.ndarray:
    order = np.argsort(result.certainty[:, 0], kind="stable")
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


def _worklist(dataset: Dataset, result: CertaintyResult, order: np.ndarray, case: int) -> None:
    shown = order[:MOST_ROWS]
    top = result.top_class()
    frame = pd.DataFrame(
        {
            "case": [dataset.cases[place] for place in shown],
            "certainty": result.certainty[shown, 0],
            "most plausible": [result.classes[top[place]] if top[place] >= 0 else OTHERS for place in shown],
        }
    )
    key = f"worklist-{dataset.digest}-{st.session_state['reliability']:g}-{len(order)}"
    places = np.flatnonzero(shown == case)

    def choose() -> None:
        cells = st.session_state[key].selection.cells
        if cells:
            st.session_state["case"] = frame["case"].iloc[cells[0][0]]

    st.dataframe(
        frame,
        hide_index=True,
        height=560,
        row_height=32,
        on_select=choose,
        selection_mode="single-cell",
        selection_default={"selection": {"cells": [(int(place), "case") for place in places[:1]]}},
        column_config={
            "case": st.column_config.TextColumn(width=84),
            "certainty": st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1, width=112),
            "most plausible": st.column_config.TextColumn(width=140),
        },
        key=key,
    )
    st.caption(f"{len(shown):,} of {plural(len(order), 'case')}, least certain first · P and N move")
    table = pd.DataFrame({"case": [dataset.cases[place] for place in order]})
    for top_j in range(result.certainty.shape[1]):
        table[f"top{top_j + 1}"], table[f"top{top_j + 1}_se"] = result.certainty[order, top_j], result.se[order, top_j]
    widgets.download(table, "Worklist as CSV", "certainty.csv", "certainty_csv")


def _go(case_id: str) -> None:
    st.session_state["case"] = case_id


def _header(dataset: Dataset, order: np.ndarray | None, case: int, result) -> None:
    left, right = st.columns([5, 3], vertical_alignment="center")
    buttons = right.container(horizontal=True, horizontal_alignment="right", wrap=False)
    value, error = result.certainty[0, 0], result.se[0, 0]
    left.subheader(
        f"Case {markdown(shorten(dataset.cases[case], 60))} · "
        f"certainty {widgets.number(value)} ± {widgets.small(error)} · "
        f"{plural(len(dataset.annotations_of(case)), 'answer')}",
        anchor=False,
        help=widgets.explained("annotation certainty"),
    )
    place = np.flatnonzero(order == case) if order is not None else []
    at = int(place[0]) if len(place) else None
    before = dataset.cases[order[at - 1]] if at else None
    after = dataset.cases[order[at + 1]] if at is not None and at + 1 < len(order) else None
    buttons.button(
        "Previous",
        icon=":material/chevron_left:",
        on_click=_go,
        args=(before,),
        disabled=before is None,
        shortcut="P",
        key="previous",
    )
    buttons.button(
        "Next",
        icon=":material/chevron_right:",
        on_click=_go,
        args=(after,),
        disabled=after is None,
        shortcut="N",
        key="next",
    )


def _case(dataset: Dataset, view: Dataset, case: int, model: DirichletCounts, reliability: float, order_slot) -> None:
    theme = look.theme()
    draws, quantiles, result = cached.case_draws(view, model, case, reliability=reliability, n_draws=N_DRAWS, seed=SEED)
    header = st.container()
    st.markdown(why(dataset, case, len(view.annotations_of(case))) if dataset.kind != "score" else "")
    by_mean = np.argsort(-quantiles.mean[:-1], kind="stable")
    ranked = [int(draws.classes[place]) for place in by_mean]
    colours = class_colours(ranked, view.n_classes, theme)
    left, right = st.columns(2, gap="small")
    with left.container(border=True):
        st.markdown("**What the raters said**")
        widgets.chips(dataset, dataset.annotations_of(case), colours, st.session_state.get("hide_names", False))
    with left.container(border=True):
        _bars(view, draws, quantiles, by_mean, colours, theme)
    with right.container(border=True):
        _simplex(view, case, draws, by_mean, model, reliability, theme)
    _table(view, quantiles, by_mean)
    with header:
        order_slot(result)


def _bars(view: Dataset, draws, quantiles, by_mean: np.ndarray, colours: dict[int, str], theme) -> None:
    lines = list(by_mean[:MOST_LINES])
    names = [view.classes[draws.classes[place]] for place in lines]
    line_colours = [colours.get(int(draws.classes[place]), theme.rest) for place in lines]
    values = draws.share[:, lines]
    mean, low, high = quantiles.mean[lines], quantiles.quantile[0][lines], quantiles.quantile[2][lines]
    beyond = by_mean[MOST_LINES:]
    outside = draws.rest + draws.share[:, beyond].sum(axis=1)
    n_outside = draws.n_rest + len(beyond)
    if n_outside:
        names.append(f"{n_outside} other classes together" if n_outside > 1 else "the other class")
        line_colours.append(theme.rest)
        values = np.column_stack([values, outside])
        mean = np.append(mean, outside.mean())
        low, high = np.append(low, np.quantile(outside, 0.025)), np.append(high, np.quantile(outside, 0.975))
    likely = int((quantiles.quantile[2][lines] > 0.2).sum())
    title = {0: "No class stands out", 1: "One class stays plausible"}.get(likely, f"{likely} classes stay plausible")
    widgets.plot(
        figures.plausibility_bars(names, mean, low, high, values, line_colours, theme, title),
        "bars",
        "Plausibility of each class: bar is the mean, dots are draws, the line holds 95 percent",
    )
    st.caption("Bar: mean · dots: draws · line: 95 % of draws", help=widgets.explained("plausibility"))


def _simplex(view: Dataset, case: int, draws, by_mean: np.ndarray, model, reliability: float, theme) -> None:
    names = {int(draws.classes[place]): view.classes[draws.classes[place]] for place in by_mean}
    if len(names) + draws.n_rest == 1 or not names:
        st.caption("There is one class only, or no answer that can be used: nothing to show on a triangle.")
        return
    if len(names) < 3:
        _few_corners(view, draws, by_mean, names, model, reliability, case, theme)
        return
    default = list(names)[:3]
    key = f"corners-{view.digest}-{case}"
    chosen = st.multiselect(
        "Corners of the triangle",
        list(names),
        default=default,
        format_func=lambda code: shorten(names[code], 40),
        max_selections=3,
        key=key,
        help=widgets.explained("region"),
    )
    corners = chosen if len(chosen) == 3 else default
    if len(chosen) != 3:
        st.caption("Choose three corners; until then the three most plausible are shown.")
    places = [int(np.flatnonzero(draws.classes == code)[0]) for code in corners]
    mass = draws.share[:, places].sum(axis=1)
    shape = _shapes(view, case, model, reliability)
    _triangle([names[code] for code in corners], draws.share[:, places], shape[places], 1 - float(mass.mean()), theme)


def _few_corners(view: Dataset, draws, by_mean: np.ndarray, names: dict, model, reliability: float, case: int, theme):
    listed = list(names.values())
    if len(names) == 2 and draws.n_rest:
        places = list(by_mean)
        shape = _shapes(view, case, model, reliability)
        corners = np.column_stack([draws.share[:, places], draws.rest])
        _triangle([*listed, OTHERS], corners, np.append(shape[places], model.alpha * draws.n_rest), 0.0, theme)
        return
    share = draws.share[:, by_mean[0]]
    other = listed[1] if len(names) == 2 else OTHERS
    if len(names) == 1 and draws.n_rest == 1:
        other = next(name for code, name in enumerate(view.classes) if code not in names)
    low, high = np.quantile(share, [0.025, 0.975])
    title = f"Between {low:.0%} and {high:.0%} of plausibility is on one side"
    widgets.plot(
        figures.interval((listed[0], other), share, theme, title), "simplex", "Draws of the plausibility of two classes"
    )


def _triangle(names: list[str], corners: np.ndarray, shape: np.ndarray, outside: float, theme) -> None:
    corners = corners / corners.sum(axis=1, keepdims=True)
    leading = (corners.argmax(axis=1)[:, None] == np.arange(3)).mean(axis=0)
    best = int(leading.argmax())
    title = (
        f"{plotly(shorten(names[best], 28))} leads in {leading[best]:.0%} of draws"
        if leading[best] < 0.995
        else f"One corner holds the cloud: {plotly(shorten(names[best], 28))}"
    )
    region = dirichlet_region(shape, corners)
    order = [1, 2, 0] if len(names) == 3 else [0, 1, 2]
    widgets.plot(
        figures.triangle([names[k] for k in order], corners[:, order], _reordered(region, order), theme, title),
        "simplex",
        "Draws of the plausibilities on a triangle, their mean, and the region that holds 95 percent",
    )
    rest = f" · {outside:.0%} of plausibility lies on classes that are no corner" if outside > 0.005 else ""
    st.caption(f"Dots: draws, renormalised to the corners · cross: mean · shaded: 95 % region{rest}")


def _reordered(region, order: list[int]):
    return type(region)(tuple(outline[:, order] for outline in region.outlines), region.level)


def _shapes(view: Dataset, case: int, model: DirichletCounts, reliability: float) -> np.ndarray:
    return model.shapes(view, case, reliability)[1]


def _table(view: Dataset, quantiles, by_mean: np.ndarray) -> None:
    places = [*by_mean, len(quantiles.mean) - 1]
    frame = pd.DataFrame(
        {
            "class": [view.classes[code] if code >= 0 else OTHERS for code in quantiles.class_code[places]],
            "mean": quantiles.mean[places],
            "ci_low": quantiles.quantile[0][places],
            "median": quantiles.quantile[1][places],
            "ci_high": quantiles.quantile[2][places],
        }
    )
    with st.expander("The plausibilities as a table"):
        st.dataframe(frame, hide_index=True, key="plausibilities")
        widgets.download(frame, "Plausibilities as CSV", "plausibilities.csv", "plausibilities_csv")


def _page() -> None:
    dataset = widgets.require_data().dataset
    title = st.empty()
    title.title("Which cases are uncertain?")
    view = widgets.class_view(dataset, "dirichlet")
    model, reliability, find = _settings(view)
    narrow, wide = st.container(key="panes").columns([3, 7], gap="medium")
    chosen = st.session_state.get("case")
    if chosen is not None and chosen not in dataset.cases:
        st.session_state.pop("case")
        st.toast(f"There is no case {shorten(chosen, 40)} in these data; the least certain one is shown.")
        chosen = None
    slot = {}

    def header(result) -> None:
        slot["place"], slot["result"] = st.container(), result

    if chosen is not None:  # the case comes first, so that the slider answers at once
        case = dataset.case_index(chosen)
        with wide:
            _case(dataset, view, case, model, reliability, header)
    with narrow:
        result = _certainty(view, model, reliability)
    if result is None:
        if chosen is not None:
            with slot["place"]:
                _header(dataset, None, case, slot["result"])
        return
    n_uncertain = result.n_below(UNCERTAIN_BELOW)
    title.title(f"{n_uncertain:,} of {plural(dataset.n_cases, 'case')} stay uncertain at this trust level")
    order = _order(view, dataset, result, find)
    if not len(order):
        narrow.info("No case matches. Find by a part of the id or class, or a rater's whole name.")
        order = _order(view, dataset, result, "")
    if chosen is None:
        case = int(order[0])
        st.session_state["case"] = dataset.cases[case]
        with wide:
            _case(dataset, view, case, model, reliability, header)
    with slot["place"]:
        _header(dataset, order, case, slot["result"])
    with narrow:
        _worklist(dataset, result, order, case)


menu.through_app()
_page()
