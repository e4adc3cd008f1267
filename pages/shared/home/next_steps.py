"""Next steps with these data, each with a link, next to the uncertain cases on Home."""

from contextlib import suppress

import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.agreement.benchmark_labels import before_opinions
from core.analyses.cases.certainty import CaseCertainty
from core.models.gold import gold_cases
from core.raters.flagged_raters import FlaggedRaters
from core.review.filters import open_cases
from core.review.review_errors import StoreError
from core.review.states import CaseReview
from core.text import plural
from pages.shared.cache import access
from pages.shared.home import known as home_known
from pages.shared.kit import state


def show(
    views: home_known.Views,
    certain: CaseCertainty | None,
    act: FlaggedRaters | None,
    agreement: ApplicableCoefficients | None,
) -> None:
    """Draw a line for each step; one whose result is still being computed is drawn once it is known."""
    st.subheader("What to do next", anchor=False)
    n_open, whole = (0, 0) if certain is None else (_n_open(views, certain), certain.shares.n_uncertain)
    unsettled = certain is not None and certain.shares.unsettled
    if unsettled and agreement is not None and (first := before_opinions(agreement.quoted)):
        _line(*first, "agreement", "Open")
    elif n_open:
        of = f"{n_open:,} of " if n_open < whole else ""
        why = "Still open, least certain first" if of else "Least certain first"
        _line(f"{of}{plural(whole, 'uncertain case')}", why, "review", "Start review")
    if act is not None and (flags := act.against()):
        flagged = len(act.flagged())
        _line(f"{plural(flagged, 'rater')} flagged", f"Evidence for {plural(len(flags), 'flag')}", "raters", "Open")
    if not len(gold_cases(views.classes)):
        _line("No gold", "Review a sample to estimate accuracy", "review", "Start")
    if views.classifiers:
        _line(plural(len(views.classifiers), "classifier"), "", "reliability", "Compare")
    else:
        _line("No predictions", "Add a file to compare classifiers", "reliability", "Add")
    _line("Labels", "", "labels", "Export")
    _line("Report", "", "report", "Export")


def _n_open(views: home_known.Views, certain: CaseCertainty) -> int:
    reviews: dict[str, CaseReview] = {}
    with suppress(StoreError):  # Review says why they cannot be read
        reviews, _ = access.reviews_to_show(state.whole().dataset.digest)
    return int((certain.shares.uncertain & open_cases(views.plausible, reviews)).sum())


def _line(what: str, why: str, page: str, label: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(f"**{what}**" + (f"  \n:small[{why}]" if why else ""), width="stretch")
        st.page_link(f"pages/{page}.py", label=label, icon=":material/arrow_forward:", width="content")
