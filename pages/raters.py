"""Raters: whom to train and when quality slips; one rater in detail; who overlaps with whom."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from core.agreement.coefficient_methods import any_coefficient
from core.agreement.pairs import METHOD as PAIRS
from core.analyses.agreement import AGREEMENT
from core.analyses.blocks import Download, Words
from core.analyses.raters import RATERS, scale
from core.analyses.raters import rater as one
from core.analyses.raters import scores as score_parts
from core.analyses.raters import table as assessed
from core.analyses.raters.scores import by_gold, digits_of, made_of, sentences
from core.analyses.raters.table import AssessedRaters
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.methods import can_use
from core.models.catalogue import fit_request
from core.models.ordinal import METHOD as ORDINAL
from core.models.result import RaterModelFit
from core.raters.drift import drift_of
from core.raters.influence import influence
from core.raters.monitoring import default_request
from core.raters.rates import BlindReads, Rates, agreement_with_blind
from core.raters.report_card import report_card
from core.report.rater_card import rater_report
from core.text import listed, markdown, percent, plural
from core.thresholds import INTERVAL_LEVEL
from pages.shared.cache import access, analyses, visit
from pages.shared.kit import (
    blocks,
    gold_of_reviews,
    job_progress,
    navigation,
    opening,
    plausibility_models,
    presentation,
    provenance,
    rater_accuracy,
    scores,
    shared_errors,
    state,
    trusted_raters,
    widgets,
)
from pages.shared.raters import plan as raters_plan
from pages.shared.raters import settings as raters_settings
from pages.shared.raters import table as raters_table

_SCORES, _CLASSES = "Scores", "Two classes, split at a threshold"


def _as_scores() -> bool:
    """Return True if scores count as they are; otherwise as two classes, with flags and planning."""
    return (
        st.segmented_control(
            "Analyse as",
            [_SCORES, _CLASSES],
            default=_SCORES,
            required=True,
            key="raters_scores_as",
            persist_state="session",
        )
        == _SCORES
    )


def _of_scores(dataset: Dataset, title) -> None:
    """Draw the page. ``title`` is the place of its first sentence."""
    following = scores.following(dataset)
    if following is None:
        return
    raters = following.scores
    first, *rest = sentences(following)
    title.title(markdown(first))
    for sentence in rest:
        st.markdown(f"{markdown(sentence)}.")
    part, gold, time = (RATERS.part(name) for name in ("scores", "score-gold", "score-time"))
    blocks.show(part.blocks(following, dataset))
    if gold.applicable(dataset).possible and (found := blocks.result_of(gold, dataset)) is not None:
        blocks.show(by_gold(found, digits_of(raters)))
    verdict = time.applicable(dataset)
    if verdict.possible:
        blocks.show(time.blocks(time.answer(dataset, raters=raters), dataset))
    else:
        widgets.heading("Over time")
        st.info(markdown(f"{verdict.reason[0].upper()}{verdict.reason[1:]}."), icon=":material/block:")
    blocks.show(made_of(raters, analyses.result(AGREEMENT.part("coefficients"), dataset)))
    provenance.show(
        dataset, ["score raters"], "raters FILE", {"level": raters.level, "raters": "severity and spread"}, "raters"
    )


_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")
_RATES = (0.01, 0.05, 0.1, 0.2)


def _all(view: Dataset, found: AssessedRaters) -> None:
    if (blind := blind_reads(view, state.whole().dataset.digest)) is not None:
        found = replace(found, table=replace(found.table, blind=blind))
    if found.ranked:
        widgets.heading(assessed.least(found.act, markdown))
    chosen: list[str] = []
    left, right = st.columns([12, 5], gap="medium")
    with left:
        blocks.show(assessed.listed(found), {"raters_table": lambda _: chosen.extend(raters_table.show(found))})
        blocks.show(assessed.of_pairs(view))
    with right, st.container(border=True):
        _looked_at(view, found, chosen)
    if found.ranked and (fit := _ordinal_fit(view)) is not None:
        blocks.show(scale.all_raters(fit))
    blocks.show(assessed.basis(found))


def _looked_at(view: Dataset, found: AssessedRaters, chosen: list[str]) -> None:
    """Show the evidence on the selected raters, or on the one flagged first, and what can be done about them."""
    raters = found.table.raters
    names = chosen or ([raters[one.first_of(found)]] if found.act.flags else [])
    if not names:
        select = "" if presentation.on() else " Select rows to message raters, to leave them out, or to export them."
        st.markdown(f"No rater is flagged.{select}")
        return
    places = [raters.index(name) for name in names]
    widgets.heading(markdown(names[0]) if len(names) == 1 else plural(len(names), "rater"))
    if len(names) == 1:
        blocks.show(
            [one.numbers(found, places[0]), *(one.flags(found, places[0], advise=False) or [Words("No flag.")])]
        )
    else:
        st.markdown(markdown(", ".join(names)))
    if presentation.on():
        return
    with st.container(horizontal=True):
        if len(names) == 1:
            st.button("Details", icon=":material/person_search:", on_click=_open_one, args=names, key="rater_details")
        if st.button("Message", icon=":material/mail:", key="rater_message"):
            _message(found, places)
        keep = [raters[place] for place in places if not one.may_leave(found, place)]
        if not keep:
            _leave_out(names, "exclude_raters")
    if keep:
        st.caption(f"No flag counts against {markdown(listed(keep))}, so “Leave out” is not available.")
    if len(names) > 1:
        rows = assessed.table_of(found)
        blocks.show([Download(rows[rows["rater"].isin(names)], "Selected raters", "raters", "raters_chosen")])


@st.dialog("Message")  # a popover would be cut at the bottom of the window
def _message(found: AssessedRaters, places: list[int]) -> None:
    st.caption("Change the message as you like, then copy or download it. Plurality does not send it.")
    for place in places:
        rater = found.table.raters[place]
        said = st.text_area(
            f"To {markdown(rater)}", one.message(found, place), height="content", key=f"message-{place}"
        )
        with st.container(horizontal=True):
            with st.popover("Copy", icon=":material/content_copy:", key=f"message_copy-{place}"):
                st.code(said, language=None, wrap_lines=True)
            st.download_button(
                "Download",
                said,
                file_name=provenance.file_name(f"message to {rater}", "txt"),
                mime="text/plain",
                icon=":material/download:",
                on_click="ignore",
                key=f"message_download-{place}",
            )


def _open_one(rater: str) -> None:
    visit.rater = rater
    widgets.open_tab("rater_tabs", state.ONE_RATER)


def _choose_one() -> None:
    visit.rater = visit.choice["one_rater"]


def _leave_out(raters: list[str], key: str) -> None:
    st.button(
        "Leave out",
        icon=":material/person_remove:",
        on_click=_exclude,
        args=raters,
        help="Selects the annotations of all other raters. You can remove the selection at the top of every page.",
        key=key,
    )


def blind_reads(view: Dataset, digest: str) -> Rates | None:
    """Return how often blind opinions agree with each rater; None if no case of these data was reviewed blind.

    Parameters
    ----------
    view : Dataset
        Data of single classes.
    digest : str
        Digest of the whole dataset, under which reviews are kept.
    """
    try:
        reviews = access.store().cases(digest).values() if access.n_reviews(digest) else ()
    except PluralityError:  # a home folder that cannot be read is told on the Review page
        return None
    rows = [
        (review.case_id, read.reviewer, read.first.first[0])
        for review in reviews
        for read in review.reads
        if read.visible == "blind" and len(read.first.first) == 1
    ]
    if not rows:
        return None
    reads = BlindReads(*(tuple(column) for column in zip(*rows, strict=True)))
    found = agreement_with_blind(view, reads, INTERVAL_LEVEL)
    return found if np.isfinite(found.value).any() else None


def _ordinal_fit(view: Dataset) -> RaterModelFit | None:
    """Return the ordinal model of raters, once models are fitted."""
    judged = opening.choice(view) if view.ordinal else None
    return (
        None if judged is None else next((one.fit for one in judged.choice.standings if one.candidate is ORDINAL), None)
    )


def _one(view: Dataset, found: AssessedRaters) -> None:
    table, act = found.table, found.act
    wanted = visit.rater
    visit.choice["one_rater"] = wanted if wanted in table.raters else table.raters[one.first_of(found)]
    left, hand = st.columns([2, 5], vertical_alignment="bottom")
    rater = left.selectbox("Rater", table.raters, key="one_rater", on_change=_choose_one)
    place, card = table.raters.index(rater), report_card(table, act, rater)
    hand.download_button(
        "Download summary",
        partial(rater_report, card, state.whole().dataset.name),  # called outside of this session
        file_name=provenance.file_name(f"rater {rater}", "html"),
        mime="text/html",
        icon=":material/description:",
        on_click="ignore",
        key="rater_report",
        type="primary",
        help="A printable one-page report (A4) about this rater. The other raters are pooled and not named.",
    )
    blocks.show(one.flags(found, place))
    if act.following is not None:
        blocks.show(one.follows(act.following, place))
    blocks.show(one.distance(table, place, card))
    fit = _ordinal_fit(view)
    if fit is not None and rater in fit.raters:
        blocks.show(scale.one_rater(fit, rater))
    if view.time is None:
        st.info(
            "Cannot show changes over time: these annotations have no dates.",
            icon=":material/block:",
        )
    elif act.following is None and card.own_classes:
        _over_time(found, place)
    elif act.following is not None and act.following.scores is not None:
        drifts, _ = score_parts.compute_time(view, None, raters=act.following.scores)
        blocks.show(score_parts.over_time(drifts, place, act.following.digits, act.following.unit))
    blocks.show(one.by_class(card))
    if one.may_leave(found, place):
        _without(view, rater)


def _over_time(found: AssessedRaters, place: int) -> None:
    left, right = st.columns([2, 5], vertical_alignment="bottom")
    kind = left.segmented_control(
        "Control chart", ["cusum", "ewma"], default="cusum", required=True, format_func=str.upper, key="chart_kind",
        help=widgets.explained("control chart"),
    )  # fmt: skip
    rate = right.select_slider("False-alarm rate of the control chart", _RATES, value=0.05, format_func=percent,
                               key="chart_alarms", width=260)  # fmt: skip
    try:
        drift = drift_of(found.table.panel, place, kind=kind, false_alarm=rate)
    except PluralityError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    blocks.show(one.over_time(found, place, drift))


def _without(view: Dataset, rater: str) -> None:
    """Show what changes if a rater is left out, and a button that selects the data without the rater."""
    widgets.heading("Without this rater")
    asked = default_request(view)
    fit = job_progress.result_of(
        (view.content_digest, "model", asked),
        f"Fitting {asked.title}",
        lambda job: fit_request(asked, view.coded, token=job.token, progress=job.report),
        of=view,
    )
    if fit is None:
        return
    try:
        change = influence(view, fit.fit, [rater])
    except PluralityError as error:
        blocks.show([one.without(None, str(error))])
        return
    blocks.show([one.without(change)])
    _leave_out([rater], "exclude_rater")


def _exclude(*raters: str) -> None:
    chosen, whole = state.selection(), state.whole()
    kept = chosen.raters or (whole.dataset.raters if whole is not None else ())
    state.choose(replace(chosen, raters=tuple(name for name in kept if name not in raters)))


def _trust(dataset: Dataset) -> None:
    """Draw the estimated reliability of each rater with its interval, or the cost of estimating it."""
    model = trusted_raters.default_model(dataset)
    view = plausibility_models.data_for(model.name, dataset, quietly=True)
    widgets.heading("How much should each rater count?", plausibility_models.method(model.name))
    model = trusted_raters.asked_for(view, model)
    if model is not None:
        blocks.show(RATERS.part("trust").blocks(model.trusted, view))


def _instead(dataset: Dataset, reason: str) -> None:
    """Why raters cannot be compared, and where to go on."""
    st.info(f"Cannot compare raters with these data: {markdown(reason)}.", icon=":material/block:")
    if not dataset.raters_identified:
        st.markdown(
            "You can still see how much raters agree and which cases are uncertain. If your file contains rater "
            "names, open it again and choose the column of names as the rater."
        )
    with st.container(horizontal=True):
        if any_coefficient(dataset).possible:
            st.page_link("pages/agreement.py", label="How much do the raters agree?", icon=":material/handshake:")
        st.page_link("pages/cases.py", label="Which cases are uncertain?", icon=":material/view_list:")
        st.page_link("pages/upload.py", label="Open a file", icon=":material/upload_file:")


def _page() -> None:
    dataset = widgets.require_data().dataset
    title = st.empty()
    title.title("How are the raters doing?")
    verdict = can_use(PAIRS, dataset)
    if not verdict.possible:
        _instead(dataset, verdict.reason)
        return
    if dataset.kind == "score" and _as_scores():
        _of_scores(dataset, title)
        return
    dataset = gold_of_reviews.switched(dataset)
    view = widgets.class_view(dataset)
    options, fit = raters_settings.choose(view)
    found = rater_accuracy.judged(view, options, fit)
    if found is None:
        return
    if fit is None and rater_accuracy.is_open(view, options):
        st.caption(opening.CHOOSING_RATERS)
        job_progress.redraw_after(opening.choice_job(view))
    else:
        first, *rest = _SENTENCES.split(found.act.words())
        about = f"“{view.classes[1]}”: " if dataset.kind == "set" else ""
        title.title(markdown(about + first.removesuffix(".")))
        if rest:
            st.markdown(markdown(" ".join(rest)))
    _tabs(dataset, view, found)
    settings = {
        "judged by": found.act.judged.judged_by,
        "model": found.table.model,
        "acceptable": options.acceptable,
        "judged_by": options.judged_by,
        "q": options.fdr,
        "false_alarms": options.false_alarms,
        "seed": options.seed,
    }
    provenance.show(dataset, ["monitoring"], "raters FILE", settings, "raters")


def _tabs(dataset: Dataset, view: Dataset, found: AssessedRaters) -> None:
    coverage = RATERS.part("coverage")
    parts = {
        "All raters": lambda: _all(view, found),
        state.ONE_RATER: lambda: _one(view, found),
        "Shared cases": lambda: blocks.answer(coverage, view),
        "Shared errors": lambda: shared_errors.show(view, (), "raters"),
        "Planning": lambda: raters_plan.show(view, found.act.acceptable),
    }
    if trusted_raters.default_model(dataset) is not None:
        parts["Trust"] = lambda: _trust(dataset)
    parts |= {part.title: partial(blocks.answer, part, view) for part in RATERS.declared}
    for (_, show), tab in zip(parts.items(), widgets.tabs(list(parts), "rater_tabs"), strict=True):
        if tab.open:
            with tab:
                show()


navigation.through_app()
_page()
