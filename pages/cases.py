"""Cases: the worklist, least certain first, and one case with what the raters said and what the truth could be."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from core.analyses.cases import CASES, of_label
from core.analyses.cases.case import OneCase
from core.analyses.cases.certainty import CaseCertainty, listed
from core.analyses.comparisons import ORDER
from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY, SweepOptions
from core.annotations.dataset import Dataset
from core.certainty.more_raters import IN_SHORT
from core.certainty.shares import ONE_ANNOTATION, UNCERTAIN
from core.certainty.top_sets import short_of_certain
from core.figures import home as figures
from core.plausibility.protocol import PlausibilityModel
from core.text import exact, markdown, percent, probability, typed
from core.thresholds import PROBABLY_WRONG, UNCERTAIN_BELOW
from pages.shared.cache import cases as cached_cases
from pages.shared.cache import visit
from pages.shared.cases import content, item_order, one_case, review_status, score_cases, worklist
from pages.shared.cases import correct as case_correct
from pages.shared.home.doors import plot_still
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
from pages.shared.kit import style as look

_SHORT = 22  # letters of each of two classes in a cell of the worklist
_WORTH_A_FIGURE = 20  # cases
_ALL, _REVIEWED = "All", "Reviewed"


def _settings(dataset: Dataset) -> tuple[PlausibilityModel, float, bool, str]:
    left, middle, right, more = st.columns([4, 3, 3, 2])
    below = st.container()
    name = plausibility_models.choose_model(middle, dataset)
    reliability = reliability_slider.choose(left, below, dataset, plausibility_models.as_chosen(dataset))
    find = right.text_input("Find a case", key="find", placeholder="Case ID, class or rater", persist_state="session")
    more.space(worklist.LABEL_HEIGHT)
    with more.popover("More", key="more_settings"):
        model = plausibility_models.choose_prior(st, name, dataset)
        st.toggle("Hide rater names", key="hide_names", persist_state="session")
        st.caption(f"{plausibility_models.N_DRAWS:,} draws per case · seed {plausibility_models.SEED}")
    with below:
        class_order.say(dataset, name)
    is_open = reliability_slider.in_use(dataset, plausibility_models.as_chosen(dataset)).reliability_open
    if is_open:
        st.caption(opening.CHOOSING)
    return model, reliability, is_open, find


def _order(view: Dataset, dataset: Dataset, found: CaseCertainty, find: str) -> np.ndarray:
    words, result = find.casefold().strip(), found.certainty
    classes = [code for code, name in enumerate(view.classes) if words in name.casefold()]
    order = found.shares.order(result.certainty[:, 0])
    return worklist.found_by(dataset, order, find, np.isin(result.top_class(), classes))


def _filter(dataset: Dataset, found: CaseCertainty, order: np.ndarray, reviews: dict) -> np.ndarray:
    """Return the cases of the chosen kind in order of the worklist, or all cases if none is of that kind."""
    kinds = _kinds(dataset, found, reviews)
    if found.correct is not None:
        wrong = found.p_correct() < PROBABLY_WRONG
        kinds |= {f"P(correct) below {percent(PROBABLY_WRONG)}": wrong} if wrong.any() else {}
    counts = {kind: int(kept[order].sum()) for kind, kept in kinds.items()}
    asked = st.pills(
        "Cases",
        [_ALL, *kinds],
        default=_ALL,
        required=True,
        format_func=lambda kind: kind if kind == _ALL else f"{kind} ({counts[kind]:,})",
        key="worklist_kind",
        label_visibility="collapsed",
        wrap=True,
    )
    if asked == _ALL:
        return order
    if not counts[asked]:
        st.caption(f"No case matches “{asked}”. All cases are shown.")
        return order
    return order[kinds[asked][order]]


def _between(found: CaseCertainty, order: np.ndarray) -> np.ndarray:
    """Draw how many cases have which certainty, and return the cases between two values that can be chosen."""
    certainty = found.certainty.certainty[:, 0]
    known = ~(found.shares.single | found.shares.empty)
    if known.sum() < _WORTH_A_FIGURE:
        return order
    figure = figures.certainties(certainty[known], UNCERTAIN_BELOW, look.theme(), above_list=True)
    plot_still(figure, "certainties", "Number of cases by certainty")
    lowest, highest = st.slider(
        "Certainty of the cases shown", 0.0, 1.0, (0.0, 1.0), 0.05, format=columns.PERCENT, key="certainty_between"
    )
    if (lowest, highest) == (0.0, 1.0):
        return order
    within = known & (certainty >= lowest) & (certainty <= highest)
    if within[order].any():
        return order[within[order]]
    st.caption("No case has a certainty in this range. All cases are shown.")
    return order


def _kinds(dataset: Dataset, found: CaseCertainty, reviews: dict) -> dict[str, np.ndarray]:
    """Return the kinds of cases by which the worklist can be filtered, as arrays of shape (n_cases,)."""
    shares = found.shares
    kinds = {UNCERTAIN.capitalize(): shares.uncertain}
    if shares.single.any():
        kinds[ONE_ANNOTATION.capitalize()] = shares.single
    if found.more is not None:
        does, several = found.more.in_short(), ~(shares.single | shares.empty)
        each = {f"More raters {'would ' * (w == IN_SHORT[-1])}{w}": several & (does == w) for w in IN_SHORT[1:]}
        kinds |= {words: kept for words, kept in each.items() if kept.any()}
    if dataset.gold is not None and (dataset.gold >= 0).any():
        known = (dataset.gold >= 0) & ~shares.empty
        kinds["Differs from gold"] = known & (found.certainty.top_class() != dataset.gold)
    if reviews:
        kinds[_REVIEWED] = np.array([case_id in reviews for case_id in dataset.cases], bool)
    return kinds


def _worklist(
    dataset: Dataset,
    found: CaseCertainty,
    order: np.ndarray,
    case: int,
    asked: Inputs,
    states: dict[str, str],
) -> None:
    """Draw the worklist and its export; ordered classes also get the interval of the true class."""
    frame = listed(found, order[: worklist.MOST_ROWS], _SHORT)
    for name in {"certainty", "P(correct)"} & set(frame):
        frame[name] = columns.never_quite(frame[name].to_numpy())
    if found.correct is not None:
        frame["P(correct)"] *= 100
    longest = int(frame["case"].str.len().max())
    config, first = worklist.fitting(longest, {*frame, *["review"] * any(states.values())})
    worklist.show(dataset, frame, order, case, states, config, "least certain first", open_with=first)
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
        if dataset.kind != "set" and asked.dataset.kind in ("class", "ranking"):
            widgets.download(
                lambda: _soft_labels(asked),
                "Soft labels",
                "plausibilities",
                "cases_plausibilities",
                n_rows=asked.dataset.n_cases * asked.dataset.n_classes,
                settings={"model": model.name, "reliability": reliability},
            )
        provenance.show(
            dataset,
            [model.name, "certainty"],
            f"certainty {model.name} FILE{plausibility_models.options_of(model, asked.dataset)} "
            f"--reliability {typed(reliability)}",
            {"model": model.name, **model.settings(), "reliability": reliability, **plausibility_models.SAMPLING},
            "cases",
        )


def _soft_labels(asked: Inputs) -> pd.DataFrame:
    """Plausibilities of all cases, as on Reliability."""
    part = RELIABILITY.part("plausibilities")
    options = SweepOptions(n_draws=plausibility_models.N_DRAWS, seed=plausibility_models.SEED)
    return part.frame(part.answer(asked, options), asked, options)


def _beside(found: CaseCertainty) -> None:
    """Show the certainty of unanimous cases if no case is certain."""
    if found.shares.beside:
        st.caption(found.shares.beside)


def _header(dataset: Dataset, order: np.ndarray | None, case: int, found: OneCase) -> None:
    said = f"certainty {probability(float(short_of_certain(found.certainty.certainty[0, 0])))}"
    said = said if found.n_votes > 1 else "no certainty"
    worklist.header(dataset, order, case, said, "annotation", "annotation certainty")


def _page() -> None:
    dataset = gold_of_reviews.applied(widgets.require_data().dataset)
    title = st.empty()
    title.title("Which cases are uncertain?")
    if not dataset.compares:
        _cases(dataset, title)
        return
    cases, items = widgets.tabs(["Cases", ORDER.title], "cases_tabs")
    if cases.open:
        with cases:
            _cases(dataset, title)
    if items.open:
        with items:
            title.title(ORDER.question)
            item_order.show(dataset)


def _cases(dataset: Dataset, title) -> None:
    """Show the worklist and one case; ``title`` is the place of the first sentence."""
    if dataset.kind == "score":
        score_cases.show(dataset, title)
        return
    label = st.container()
    model, reliability, is_open, find = _settings(dataset)
    with label:
        view = plausibility_models.data_for(model.name, dataset)
    model = trusted_raters.asked_for(view, model)
    if model is None:
        return
    classifiers = predictions.classifiers(view)
    whole = state.whole().dataset  # reviews belong to the whole dataset, whatever is selected
    reviews = gold_of_reviews.reviews_of(whole)
    beside = st.container()
    narrow, wide = st.container(key="panes").columns([38, 62], gap="medium")
    case = worklist.opened(dataset, "the least certain one")

    def show(case: int):
        heading = wide.container()
        with wide, content.kept_elsewhere(dataset.cases[case]):
            review_status.show(whole, reviews.get(dataset.cases[case]), dataset.cases[case])
            one_case.show(dataset, view, case, model, reliability, classifiers)
        return heading

    correct = case_correct.known(dataset)
    heading = None
    if case is not None:  # the case comes first, so that the slider responds at once
        heading = show(case)
    with narrow:
        found = plausibility_models.case_certainty(view, model, reliability)
    order = None
    if found is not None:
        found = replace(found, correct=correct)
        if not is_open:
            about = of_label(dataset, view, markdown)
            title.title(found.shares.headline(f" at γ = {exact(reliability)}", about))
            with beside:
                _beside(found)
                case_correct.calibration(dataset)
        order = _order(view, dataset, found, find)
        if not len(order):
            narrow.info("No case matches. Search for part of a case ID or class, or for a rater's full name.")
            order = _order(view, dataset, found, "")
        with narrow:
            order = _between(found, order)
            order = _filter(dataset, found, order, reviews)
        if heading is None:
            case = int(order[0])
            visit.case = dataset.cases[case]
            heading = show(case)
    if heading is not None:
        with heading:
            _header(dataset, order, case, cached_cases.one_case(view, model, case, reliability))
    if order is not None:
        with narrow:
            states = {case_id: review_status.state_of(whole, review) for case_id, review in reviews.items()}
            _worklist(dataset, found, order, case, cached_cases.inputs(view, model, reliability), states)


navigation.through_app()
_page()
