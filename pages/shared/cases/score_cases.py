"""Cases of scores: the worklist, least known first, and one case with its scores and what the score could be."""

import zlib

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.score_trust import ScoreTrust, plausible_score, score_digits, score_trust, scores_in_words
from core.figures import scores as figures
from core.order import lowest_first
from core.plausibility.gaussian import METHOD, GaussianScores
from core.text import exact, markdown, plotly, plural, probability, shorten
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cases import content, moves, review_status
from pages.shared.kit import gold_of_reviews, provenance, reliability_slider, scores, state, widgets
from pages.shared.kit import style as look

MOST_ROWS = 2_000
_TRUSTS = np.geomspace(METHOD.reliability.low, METHOD.reliability.high, 61)


def show(dataset: Dataset, title) -> None:
    """The page. ``title`` is the place of its first sentence."""
    left, middle, right, more = st.columns([4, 3, 3, 2], vertical_alignment="bottom")
    below = st.container()
    at = scores.threshold(middle)
    find = right.text_input("Find a case", key="find", placeholder="id or rater", persist_state="session")
    found = scores.model(dataset, at)
    if found is None:
        return
    model, prior = found
    reliability = reliability_slider.choose(left, below, dataset, model)
    with more.popover("More", key="more_settings"):
        scores.about_prior(prior)
        st.toggle("Hide rater names", key="hide_names", persist_state="session")
    trust = score_trust(dataset, model, [reliability])
    digits = scores.digits_of(trust.width)
    title.title("These scores do not tell cases apart" if prior.alike() else _sentence(trust, digits))
    order = _order(dataset, trust, find)
    narrow, wide = st.container(key="panes").columns([3, 7], gap="medium")
    if not len(order):
        narrow.info("No case matches. Find by a part of the id, or a rater's whole name.")
        order = _order(dataset, trust, "")
    case = _opened(dataset, order)
    whole = state.whole().dataset  # reviews belong to the whole dataset, whatever is selected
    reviews = gold_of_reviews.reviews_of(whole)
    with wide:
        _header(dataset, order, case, trust, digits)
        with content.kept_elsewhere(dataset.cases[case]):
            review_status.show(whole, reviews.get(dataset.cases[case]), dataset.cases[case])
            one_case(dataset, case, model, reliability)
    with narrow:
        states = {case_id: review_status.state_of(whole, review) for case_id, review in reviews.items()}
        _worklist(dataset, trust, order, case, model, digits, states)


def _opened(dataset: Dataset, order: np.ndarray) -> int:
    chosen = st.session_state.get("case")
    if chosen is not None and chosen in dataset.cases:
        return dataset.case_index(chosen)
    if chosen is not None:
        named = markdown(shorten(chosen, 40))
        st.toast(f"There is no case {named} in these data; the first of the list is shown.")
    st.session_state["case"] = dataset.cases[order[0]]
    return int(order[0])


def _sentence(trust: ScoreTrust, digits: int) -> str:
    if trust.threshold is None:
        half = scores.written(float(np.median(trust.width)) / 2, digits)
        return f"Half of the cases have a score known to ± {half} or better at this trust level"
    below = int((trust.certainty[0] < UNCERTAIN_BELOW).sum())
    stay = "stays" if below == 1 else "stay"
    return (
        f"{below:,} of {plural(trust.m.shape[1], 'case')} {stay} uncertain: above {exact(trust.threshold)} or not, at "
        "this "
        "trust level"
    )


def _order(dataset: Dataset, trust: ScoreTrust, find: str) -> np.ndarray:
    """Cases by the certainty of their side, lowest first; without a threshold by their interval, widest first."""
    known = -trust.width[0] if trust.threshold is None else trust.certainty[0]
    order = lowest_first(known)
    words = find.casefold().strip()
    if not words:
        return order
    by_id = np.array([words in case_id.casefold() for case_id in dataset.cases])
    raters = [code for code, name in enumerate(dataset.raters) if words == name.casefold()]
    by_rater = np.zeros(dataset.n_cases, bool)
    by_rater[dataset.case_of_annotation[np.isin(dataset.rater, raters)]] = True
    return order[(by_id | by_rater)[order]]


def _header(dataset: Dataset, order: np.ndarray, case: int, trust: ScoreTrust, digits: int) -> None:
    left, right = st.columns([5, 3], vertical_alignment="center")
    buttons = right.container(horizontal=True, horizontal_alignment="right", wrap=False)
    middle, low, high = (scores.written(float(part[0, case]), digits) for part in (trust.m, trust.low, trust.high))
    left.subheader(
        f"Case {markdown(shorten(dataset.cases[case], 60))} · {middle} ({low} to {high}) · "
        f"{plural(len(dataset.annotations_of(case)), 'score')}",
        anchor=False,
        help=widgets.explained(METHOD),
    )
    moves.buttons(buttons, dataset, order, case)


def one_case(dataset: Dataset, case: int, model: GaussianScores, reliability: float) -> None:
    """What the raters gave, what the score could be, and what the trust does to it."""
    theme = look.theme()
    content.show(dataset, dataset.cases[case])
    st.markdown(markdown(scores_in_words(dataset, case)))
    plausible(dataset, case, model, reliability)
    curve = score_trust(dataset, model, [*_TRUSTS, reliability], range(case, case + 1))
    left, right = st.columns(2, gap="small")
    with left.container(border=True):
        if model.threshold is None:
            _interval(curve, reliability, theme)
        else:
            _above(curve, reliability, theme)
    with right:
        given(dataset, case)
    with st.expander("The trust in the raters as a table"):
        _table(curve)


def given(dataset: Dataset, case: int) -> None:
    """What the raters gave, the lowest score first."""
    ordered = sorted(dataset.annotations_of(case), key=lambda annotation: float(dataset.score[annotation]))
    with st.container(border=True):
        st.markdown("**What the raters gave**")
        widgets.chips(dataset, ordered, {}, st.session_state.get("hide_names", False))


def plausible(dataset: Dataset, case: int, model: GaussianScores, reliability: float) -> None:
    """The density of the score with its sentence."""
    found = plausible_score(dataset, model, case, reliability)
    digits = score_digits(found.high - found.low)
    low, high = (scores.written(end, digits) for end in (found.low, found.high))
    title = f"Between {low} and {high} with 95% probability"
    if found.above is not None:
        side, p = (f"above {exact(found.threshold)}", found.above)
        if p < 0.5:
            side, p = f"at most {exact(found.threshold)}", 1 - p
        title = f"{plotly(side[:1].upper() + side[1:])} with {probability(p)} probability"
    with st.container(border=True):
        widgets.plot(
            figures.score_density(found, look.theme(), title, hide_names=st.session_state.get("hide_names", False)),
            "score_density",
            "Density of the plausible score with its 95 percent interval, and the scores of the raters as ticks",
        )
        line = " · dashed: threshold" if found.threshold is not None else ""
        st.caption(
            f"Curve: what the score could be · shaded: 95% · cross: its mean · ticks: the raters' scores{line}",
            help=widgets.explained(METHOD),
        )


def _interval(curve: ScoreTrust, reliability: float, theme) -> None:
    first, last = curve.width[0, 0], curve.width[-1, 0]
    trusts = f"γ = {exact(curve.reliability[0])} to {exact(curve.reliability[-1])}"
    digits = scores.digits_of(curve.width[:, 0])
    narrow = f"{scores.written(float(first), digits)} wide to {scores.written(float(last), digits)} over {trusts}"
    widgets.plot(
        figures.score_against_trust(curve, reliability, theme, f"Interval {narrow}"),
        "score_trust",
        "Plausible score with its interval against reliability",
    )


def _above(curve: ScoreTrust, reliability: float, theme) -> None:
    p = curve.above[:, 0]
    title = "The trust decides the side" if p.min() < 0.5 < p.max() else "The same side at every trust"
    if p.min() > 1 - UNCERTAIN_BELOW and p.max() < UNCERTAIN_BELOW:
        title = "No trust makes it certain"
    widgets.plot(
        figures.above_against_trust(curve, reliability, theme, title),
        "above_trust",
        "Probability of a score above the threshold against reliability",
    )


def _table(curve: ScoreTrust) -> None:
    frame = pd.DataFrame({"reliability": curve.reliability, "score": curve.m[:, 0]})
    frame["ci_low"], frame["ci_high"] = curve.low[:, 0], curve.high[:, 0]
    if curve.above is not None:
        frame["p_above"] = curve.above[:, 0]
    digits = scores.digits_of(curve.width[:, 0])
    shown = {
        "reliability": st.column_config.NumberColumn("reliability γ", format="%.2f"),
        "score": scores.column("plausible score", digits),
        "ci_low": scores.column("95% from", digits),
        "ci_high": scores.column("to", digits),
        "p_above": st.column_config.NumberColumn("P(above the threshold)", format="%.3f"),
    }
    st.dataframe(frame, hide_index=True, column_config=shown, key="score_trust_table")
    widgets.download(frame, "Trust", "score_trust", "score_trust")


def _worklist(
    dataset: Dataset,
    trust: ScoreTrust,
    order: np.ndarray,
    case: int,
    model: GaussianScores,
    digits: int,
    states: dict[str, str],
) -> None:
    table = table_of(dataset, trust, order)
    frame = table[["case", "score", "certainty" if trust.threshold is not None else "ci_width"]].head(MOST_ROWS).copy()
    if any(states.values()):
        frame["review"] = [states.get(case_id, "") for case_id in frame["case"]]
    shown = order[:MOST_ROWS]
    key = f"worklist-{dataset.digest}-{zlib.crc32(shown.tobytes())}-{moves.opened_elsewhere(dataset.cases[case])}"
    places = np.flatnonzero(shown == case)

    def choose() -> None:
        cells = st.session_state[key].selection.cells
        if cells:
            st.session_state["case"] = st.session_state[moves.CLICKED] = frame["case"].iloc[cells[0][0]]

    st.space("medium")  # the buttons of the table stand above it
    st.dataframe(
        frame,
        hide_index=True,
        height=560,
        row_height=32,
        on_select=choose,
        selection_mode="single-cell",
        selection_default={"selection": {"cells": [(int(place), "case") for place in places[:1]]}},
        column_config={
            "score": scores.column("score", digits),
            "ci_width": scores.column("95% width", digits),
            "certainty": st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1),
        },
        key=key,
    )
    first = "widest interval first" if trust.threshold is None else "least certain first"
    uncertain = "" if trust.threshold is None else f" · uncertain: below {exact(UNCERTAIN_BELOW)}"
    st.caption(f"{len(shown):,} of {plural(len(order), 'case')}, {first}{uncertain} · P and N move")
    with st.container(horizontal=True):
        widgets.download(table, "Worklist", "plausible_scores", "certainty")
        reliability = float(trust.reliability[0])
        provenance.show(
            dataset,
            [METHOD.name],
            scores.command(reliability),
            scores.settings(model, reliability),
            "cases",
        )


def table_of(dataset: Dataset, trust: ScoreTrust, order: np.ndarray) -> pd.DataFrame:
    """Plausible score of each case with its interval, and its side where there is a threshold."""
    columns = {
        "case": [dataset.cases[place] for place in order],
        "n": np.diff(dataset.case_ptr)[order],
        "score": trust.m[0, order],
        "ci_low": trust.low[0, order],
        "ci_high": trust.high[0, order],
        "ci_width": trust.width[0, order],
    }
    if trust.above is not None:
        columns |= {"p_above": trust.above[0, order], "certainty": trust.certainty[0, order]}
    return pd.DataFrame(columns)
