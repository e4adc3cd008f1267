"""Three small pictures on Home, each the door to its page."""

import numpy as np
import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.agreement.intervals import Z95, Share
from core.agreement.pairs import METHOD as PAIRS
from core.analyses.cases.certainty import CaseCertainty
from core.annotations.dataset import Dataset
from core.certainty.top_sets import short_of_certain
from core.evaluation.choice import verdict
from core.evaluation.sweep_table import SweepTable
from core.extremes import clearly_least, clearly_most_cases
from core.figures import home as figures
from core.figures.theme import drawn_once
from core.methods import can_use
from core.order import highest_first, lowest_first
from core.raters.flagged_raters import FlaggedRaters
from core.text import markdown, number, percent, plural, probability, shorten, with_interval
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cache import home as cached_home
from pages.shared.cache import visit
from pages.shared.home import known as home_known
from pages.shared.home import numbers as home_numbers
from pages.shared.kit import opening

_STILL = {"staticPlot": True, "displayModeBar": False}


def agreement(found: ApplicableCoefficients | None, why: str, theme) -> None:
    """Draw the forest of coefficients, with the link to Agreement."""
    figure = figures.agreement(found.coefficients, theme, found.quoted) if found else None
    if figure is None:
        _title("Cannot determine agreement")
        st.write(markdown((why or "No coefficient is available").capitalize()) + ".")
    else:
        quoted = found.quoted
        if quoted.value is None:
            _title("Agreement")
        else:
            words = "Agreement between scores" if found.kind == "score" else "Agreement beyond chance"
            _title(f"{words} is {with_interval(quoted.value, quoted.ci_low, quoted.ci_high)}")
        plot_still(figure, "home_agreement", "Agreement coefficients with 95% intervals")
    st.page_link("pages/agreement.py", label="Open Agreement", icon=":material/handshake:")


def cases(views: home_known.Views, theme) -> CaseCertainty | None:
    """Certainty of cases and the most ambiguous one → Cases; returns what it shows."""
    place = st.container()
    certain = home_known.certainty(views)
    with place:
        if certain is None:
            _title("Certainty of cases")
            if views.settings.reliability_open:
                st.caption(opening.CHOOSING)
            elif not views.plausible.n_annotations:
                st.write("No annotation can be used: every ranking has a tied first choice.")
        else:
            shares, value = certain.shares, certain.certainty.certainty[:, 0]
            known = ~(shares.single | shares.empty)
            _title(least_certain(certain))
            alt = f"Number of cases by certainty ({shares.n_uncertain:,} uncertain)"
            if known.any():
                plot_still(figures.certainties(value[known], UNCERTAIN_BELOW, theme), "home_cases", alt)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link("pages/cases.py", label="Open Cases", icon=":material/view_list:", width="content")
        if certain is not None:
            case_id = certain.certainty.cases[certain.shares.order(certain.certainty.certainty[:, 0])[0]]
            words = "Open the first case" if " cases" in least_certain(certain) else "Open this case"
            case_button(words, case_id)
    return certain


def least_certain(certain: CaseCertainty) -> str:
    """Which case is the most ambiguous, or how many are as ambiguous as each other to two digits or by few draws.

    Cases with one annotation have no certainty.
    """
    kept = np.flatnonzero(~(certain.shares.single | certain.shares.empty))
    if not kept.size:
        return certain.shares.why_none
    result = certain.certainty
    value, se = short_of_certain(result.certainty[kept, 0]), result.se[kept, 0]
    least = int(lowest_first(value)[0])
    said = probability(float(value[least]))
    alike = np.rint(100 * value) == np.rint(100 * value[least])
    n_same = int((alike | (value - value[least] <= Z95 * np.hypot(se, se[least]))).sum())
    if n_same == len(value) > 1:
        every = "Both" if len(value) == 2 else f"All {len(value):,}"
        return f"{every} cases have about the same certainty: {said}"
    if n_same > 1:
        return f"Most ambiguous: {n_same:,} cases, certainty about {said}"
    return f"Most ambiguous: case {markdown(shorten(result.cases[kept[least]], 24))}, certainty {said}"


def classifiers(views: home_known.Views, theme) -> SweepTable | None:
    """Classifiers against reliability → Reliability; returns what it shows."""
    place, metric = st.container(), home_numbers.metric_of(views)
    sweep = home_known.sweep(views)
    with place:
        if sweep is None:
            _title("Classifiers under uncertain ground truth")
            if views.settings.reliability_open:
                st.caption(opening.CHOOSING)
        else:
            _title(markdown(verdict(sweep.reliabilities, sweep.evaluation, metric)))
            plot_still(
                figures.classifiers(sweep.reliabilities, sweep.evaluation, metric, theme),
                "home_classifiers",
                "Metric of each classifier at each γ, with bands over draws",
            )
    st.page_link("pages/reliability.py", label="Open Reliability", icon=":material/trending_up:")
    return sweep


def raters(views: home_known.Views, theme) -> FlaggedRaters | None:
    """Draw the accuracy of raters, or shares of classes if they cannot be compared; return the raters shown."""
    if not can_use(PAIRS, views.dataset).possible or not can_use(PAIRS, views.classes).possible:
        _shares(views, theme)
        return None
    place = st.container()
    found = home_known.raters(views)
    act = None if found is None else found.act
    with place:
        if act is None or not act.judged.n_judged:
            _title("Raters")
            if act is not None:
                st.write(markdown(act.words()))
            elif views.settings.rater_model_open:
                st.caption(opening.CHOOSING_RATERS)
        else:
            _accuracies(act, theme)
    st.page_link("pages/raters.py", label="Open Raters", icon=":material/groups:")
    return act


def _accuracies(act: FlaggedRaters, theme) -> None:
    judged, rates = act.judged, act.judged.rates
    value = rates.value
    flagged = np.zeros(len(act.raters), bool)
    flagged[list(act.flagged())] = True
    known = np.flatnonzero(np.isfinite(value))
    shown = known[lowest_first(value[known])]
    shown = shown[np.argsort(~flagged[shown], kind="stable")][: figures.MOST_LINES]
    n = int(flagged.sum())
    if n:
        _title(f"{n:,} of {plural(len(act.raters), 'rater')} flagged")
    elif judged.why_no_order or judged.why:
        _title("No rater is flagged")
    else:
        least = clearly_least(value, rates.low, rates.high)
        if least is None:
            _title("No rater is flagged")
        else:
            lowest, form = (
                ("is the least accurate", percent)
                if act.following is None
                else ("correlates least with the case scores", number)
            )
            name = markdown(shorten(act.raters[least], 20))
            _title(f"No rater is flagged; {name} {lowest} ({form(float(value[least]))})")
    figure = figures.with_intervals(
        [act.raters[rater] for rater in shown],
        value[shown],
        rates.low[shown],
        rates.high[shown],
        theme,
        judged.measure[:1].lower() + judged.measure[1:],
        flagged[shown],
        in_percent=act.following is None,
    )
    alt = f"{judged.measure.capitalize()} of raters with intervals: flagged raters first, then the lowest"
    plot_still(figure, "home_raters", alt)
    if len(known) > len(shown):
        lowest = "least accurate" if act.following is None else "lowest correlations"
        st.caption(f"{len(shown):,} of {plural(len(known), 'rater')}: flagged raters first, then the {lowest}.")


def _shares(views: home_known.Views, theme) -> None:
    view = views.classes
    if not view.n_annotations:
        _title("Classes")
        st.write("No annotation names exactly one class.")
    else:
        shares = cached_home.vote_shares(view)
        order = highest_first([share.value for share in shares])[: figures.MOST_LINES]
        _title(commonest(view, shares))
        ends = ([getattr(shares[code], end) for code in order] for end in ("value", "low", "high"))
        figure = figures.with_intervals(
            [view.classes[code] for code in order], *ends, theme, "share of cases by majority vote"
        )
        plot_still(figure, "home_shares", "Share of each class among the cases, with intervals")
    st.page_link("pages/models.py", label="Open Models", icon=":material/network_node:")


def commonest(view: Dataset, shares: tuple[Share, ...]) -> str:
    """Return a sentence on the class that most cases have by vote, if there is one."""
    top = clearly_most_cases([share.value for share in shares], shares[0].n)
    if top is None:
        return "No class is clearly the most common by majority vote"
    name = markdown(shorten(view.classes[top], 24))
    return f"Most common by majority vote: {name}, {percent(shares[top].value)} of cases"


def _title(words: str) -> None:
    st.subheader(words, anchor=False)


def plot_still(figure, key: str, alt: str) -> None:
    """Draw a small figure without tools."""
    st.plotly_chart(drawn_once(figure), theme=None, config=_STILL, key=key, alt=alt)


def case_button(words: str, case_id: str) -> None:
    """Draw the button that opens a case on the Cases page."""
    icon = ":material/visibility:"
    st.button(words, icon=icon, type="tertiary", on_click=_open_case, args=(case_id,), key="home_case")


def _open_case(case_id: str) -> None:
    """Open the case on the Cases page (callback)."""
    visit.case, visit.go_to = case_id, "cases"
