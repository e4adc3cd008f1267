"""Home of scores: how far one score can be relied on, how well scores are known, which case least, and the raters."""

import numpy as np
import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.annotations.dataset import Dataset
from core.certainty.score_trust import ScoreTrust, plausible_score, score_digits, score_trust
from core.certainty.scores_by_gold import scores_by_gold
from core.figures import scores as figures
from core.models.gold import gold_cases
from core.order import lowest_first
from core.plausibility.gaussian import METHOD
from core.text import exact, markdown, percent, plural, shorten
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.home import doors, limits, numbers
from pages.shared.kit import predictions, reliability_slider, scores, widgets


def show(dataset: Dataset, found: ApplicableCoefficients | None, why: str, title, theme) -> None:
    """Draw the dashboard. ``title`` is the place of its first sentence."""
    title.title(numbers.sentence(dataset, found, None))
    at = scores.threshold()
    cards = [column.container(border=True, height="stretch") for column in st.columns(4)]
    places = [column.container(border=True, height="stretch") for column in st.columns(3)]
    with cards[0]:
        numbers.cases(dataset)
    with cards[1]:
        numbers.agreement(found, why)
    with cards[3]:
        if not len(gold_cases(dataset)):
            numbers.mean_score(dataset)
    with places[0]:
        doors.agreement(found, why, theme)
    with places[2]:
        _raters(dataset, theme)
    with places[1]:
        known = scores.model(dataset, at)
        if known is not None:
            _least_known(dataset, known[0], cards, theme)
    limits.show(dataset, len(predictions.classifiers(dataset)))


def _least_known(dataset: Dataset, model, cards, theme) -> None:
    """Draw the cards of all cases and of gold, and the case with the least certain score."""
    reliability = reliability_slider.opens(dataset, model)
    trust = score_trust(dataset, model, [reliability])
    digits = scores.digits_of(trust.width)
    if len(gold_cases(dataset)):
        with cards[3]:
            _by_gold(dataset, trust, digits)
    with cards[2]:
        if trust.above is None:
            half = scores.written(float(np.median(trust.width)) / 2, digits)
            st.metric("Median half-width of 95% intervals", f"± {half}", help=widgets.explained(METHOD))
            st.caption(f"Half of the intervals are no wider than this (γ = {exact(reliability)}).")
        else:
            below = int((trust.certainty[0] < UNCERTAIN_BELOW).sum())
            st.metric(
                "Uncertain cases", percent(below / dataset.n_cases), help=widgets.explained("annotation certainty")
            )
            st.caption(
                f"In {below:,} of {plural(dataset.n_cases, 'case')}, it is less than {percent(UNCERTAIN_BELOW)} "
                f"certain whether the score is above {exact(trust.threshold)} (γ = {exact(reliability)})."
            )
    known = -trust.width[0] if trust.above is None else trust.certainty[0]
    case = int(lowest_first(known)[0])
    n_same = int(np.isclose(known, known[case], rtol=1e-9).sum())
    one = plausible_score(dataset, model, case, reliability)
    low, high = (scores.written(end, digits) for end in (one.low, one.high))
    what = (
        f"Widest interval: {markdown(shorten(one.case, 20))}"
        if n_same == 1
        else f"One of {n_same:,} cases with the widest interval"
    )
    st.subheader(f"{what}, {low} to {high}", anchor=False)
    doors.plot_still(
        figures.score_density(one, theme, ""), "home_cases", "Plausible scores for the case with the widest interval"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link("pages/cases.py", label="Open Cases", icon=":material/view_list:", width="content")
        doors.case_button("Open this case", one.case)


def _by_gold(dataset: Dataset, trust: ScoreTrust, digits: int) -> None:
    """How far plausible scores are off from the known ones."""
    found = scores_by_gold(dataset, trust)
    st.metric(
        "Mean difference from gold", scores.written(float(found.error[0]), digits + 1), help=widgets.explained("gold")
    )
    st.caption(markdown(found.words(0, digits + 1)))


def _raters(dataset: Dataset, theme) -> None:
    """Draw the raters who differ most from the others."""
    if not dataset.raters_identified or np.diff(dataset.case_ptr).max() < 2:
        st.caption("Cannot compare raters: no case has scores from two named raters.")
        return
    raters = scores.raters(dataset)
    if raters is None:
        return
    digits = score_digits(float(np.nanmedian(raters.severity_high - raters.severity_low)))  # as on Raters
    n = int(raters.severe.sum())
    differ = f"{plural(n, 'rater')} clearly {'differs' if n == 1 else 'differ'}" if n else "No rater clearly differs"
    words = f"{differ} from the average in severity"
    st.subheader(words, anchor=False)
    doors.plot_still(figures.severities(raters, theme, ""), "home_raters", "Severity of each rater with its interval")
    st.caption(markdown(f"{raters.sentences(digits)[0]}."))
    st.page_link("pages/raters.py", label="Open Raters", icon=":material/groups:")
