"""Raters: whom to train and when quality slips; one rater in detail; who overlaps with whom."""

import re
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.pairs import METHOD as PAIRS
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.extremes import clearly_least
from core.figures import raters as figures
from core.methods import any_of, can_use
from core.models.dawid_skene import DawidSkene
from core.raters.acceptable import GOLD_EACH
from core.raters.coverage import Coverage, coverage
from core.raters.drift import drift_of
from core.raters.flags import FALSE_ALARMS
from core.raters.following import Following
from core.raters.monitoring import RaterTable
from core.raters.rates import Rates
from core.raters.report_card import ReportCard, report_card
from core.raters.to_act_on import ToActOn
from core.report.rater_card import rater_report
from core.runtime.jobs import Job
from core.text import markdown, number, percent, plotly, plural, shorten
from pages.shared.kit import columns as kit_columns
from pages.shared.kit import gold_of_reviews, job_progress, navigation, provenance, shared_errors, state, widgets
from pages.shared.kit import style as look
from pages.shared.raters import act_on as raters_act_on
from pages.shared.raters import answers as raters_answers
from pages.shared.raters import blind as raters_blind
from pages.shared.raters import model as raters_model
from pages.shared.raters import plan as raters_plan
from pages.shared.raters import scores as raters_scores
from pages.shared.raters import table as raters_table
from pages.shared.raters import trust as raters_trust

MOST_ROWS = 500
_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")
MOST_FLAGS, MOST_LISTED = 12, 100
_RATES = (0.01, 0.05, 0.1, 0.2)


def _all(view: Dataset, table: RaterTable, act: ToActOn, blind: Rates | None, theme) -> None:
    judged = act.judged
    why = judged.why_no_order or judged.why
    raters_table.show(raters_table.frame_of(table, act, blind), "rater", ranked=not why, acceptable=judged.acceptable)
    if why:
        st.caption(f"Raters are not ranked: {markdown(why)}.")
    known = np.isfinite(judged.rates.value)
    if known.any() and not why:
        least = clearly_least(judged.rates.value, judged.rates.low, judged.rates.high)
        lowest = "is clearly the least accurate" if act.following is None else "clearly follows the cases least"
        measure = judged.measure.capitalize()
        title = f"No rater {lowest}" if known.sum() > 1 else f"{measure} of the one rater"
        if least is not None:
            what = "Least accurate" if act.following is None else "Follows the cases least"
            title = f"{what}: {plotly(shorten(table.raters[least], 20))}, {judged.said(least)}"
        widgets.plot(figures.accuracy_against_pool(act, theme, title), "pool", f"{measure} of raters against the pool")
        if known.sum() > figures.MOST_LINES:
            lowest = "least accurate" if act.following is None else "follow least"
            st.caption(f"The {figures.MOST_LINES} raters flagged or {lowest}, of {int(known.sum()):,}.")
    if not why:
        raters_answers.all_on_the_scale(view)
    if act.flags:
        _flags(table, act)
    st.caption(
        "Drift, speed, repetition and careless annotations are flagged with a probability of "
        f"{percent(table.false_alarms)} "
        f"at most that an honest rater is among them. {_judged(act)}",
        help=widgets.explained("signs"),
    )
    for note in table.notes:
        st.caption(markdown(note))


def _flags(table: RaterTable, act: ToActOn) -> None:
    """Every flag with what speaks for it."""
    n = len(act.flags)
    title = "The flag with its evidence" if n == 1 else f"All {plural(n, 'flag')} with the evidence"
    with st.expander(title, expanded=n <= MOST_FLAGS):
        for flag in act.flags[:MOST_LISTED]:
            name = markdown(table.raters[flag.rater])
            mark = ":material/info:" if flag.neutral else ":material/flag:"
            st.markdown(f"{mark} **{name}** · {flag.title}: {markdown(flag.words)}")
        if len(act.flags) > MOST_LISTED:
            st.caption(f"{len(act.flags) - MOST_LISTED:,} more stand in the table.")


def _judged(act: ToActOn) -> str:
    """What the accuracies rest on, in a sentence."""
    if act.following is not None:
        return _followed(act.following)
    if not act.acceptable.n_judged:
        return ""
    others = "the other raters of each case, as the model weighs them"
    n_gold = int(act.acceptable.by_gold.sum())
    if not n_gold:
        return f"Accuracy is judged by {others}, and is shrunk towards all raters."
    people = plural(n_gold, "rater")
    if n_gold == act.acceptable.n_judged:
        return f"Accuracy is judged by gold, and shrunk towards all raters, for {people}."
    return (
        f"Accuracy is judged by gold for {people} with {GOLD_EACH} gold annotations or more, for the rest by {others}, "
        "and is shrunk towards all raters."
    )


def _followed(found: Following) -> str:
    """What the correlations rest on, in a sentence."""
    by = "the other raters of each case, less their severity"
    if n_gold := int(found.by_gold.sum()):
        by = f"gold for {plural(n_gold, 'rater')}" + (f", for the rest by {by}" if n_gold < found.n_judged else "")
    return (
        f"How closely raters follow the cases is judged by {by}, and shrunk towards all raters. To read higher or "
        "lower, or to scatter more, counts against nobody."
    )


def _one(view: Dataset, table: RaterTable, act: ToActOn, theme) -> None:
    wanted = st.session_state.get("rater")
    first = next(iter((*act.against(), *act.flags))).rater if act.flags else 0
    index = table.raters.index(wanted) if wanted in table.raters else first
    left, hand = st.columns([2, 5], vertical_alignment="bottom")
    rater = left.selectbox("Rater", table.raters, index=index, key=f"one_rater-{table.raters[index]}")
    card = report_card(table, act, rater)
    hand.download_button(
        "Hand over",
        partial(rater_report, card, state.whole().dataset.name),  # called outside of this session
        file_name=provenance.file_name(f"rater {rater}", "html"),
        mime="text/html",
        icon=":material/description:",
        on_click="ignore",
        key="rater_report",
        type="primary",
        help="One page (A4) about this rater, to print or send; the other raters are pooled and not named.",
    )
    place = table.raters.index(rater)
    for flag in (flag for flag in act.flags if flag.rater == place):
        if flag.neutral:
            st.info(f"{flag.title}: {markdown(flag.words)} It does not count against them.", icon=":material/info:")
        else:
            st.warning(f"{flag.title}: {markdown(flag.words)}", icon=":material/flag:")
    if act.following is not None:
        raters_answers.follows(act.following, place)
    raters_answers.on_the_scale(view, table, rater, by_class=card.own_classes)
    if view.time is None:
        st.info("These annotations have no dates, so nothing can be said over time.", icon=":material/block:")
    elif act.following is not None:
        raters_scores.one_over_time(view, act.following.scores, place, act.following.digits, theme)
    elif card.own_classes:
        _over_time(table, act, place, theme)
    if card.own_classes:
        raters_answers.show(card)
        _differences(card, rater)
    else:
        st.info(
            "The classes of the model are not those of the raters, so annotations are not compared by class.",
            icon=":material/block:",
        )
    raters_act_on.without(view, table, act, rater)


def _differences(card: ReportCard, rater: str) -> None:
    """Cases on which this rater differs from others who are certain."""
    widgets.heading("Cases where the others are certain of another class")
    if card.differences:
        frame = pd.DataFrame(
            {
                "case": [one.case for one in card.differences],
                "annotation": [one.answer for one in card.differences],
                "the others": [one.others for one in card.differences],
                "how sure": kit_columns.never_quite(np.array([one.sure for one in card.differences])),
                "of them agree": [f"{one.n_agree:,} of {one.n_others:,}" for one in card.differences],
            }
        )
        st.caption(f"{plural(card.n_differences, 'annotation')}, most certain first. Choose a row to open the case.")
        widgets.open_case_table(frame, f"differences-{rater}", shares=("how sure",))
    else:
        st.write("There is none.")


def _over_time(table: RaterTable, act: ToActOn, place: int, theme) -> None:
    left, right = st.columns([2, 5], vertical_alignment="bottom")
    kind = left.segmented_control(
        "Control chart", ["cusum", "ewma"], default="cusum", required=True, format_func=str.upper, key="chart_kind",
        help=widgets.explained("control chart"),
    )  # fmt: skip
    rate = right.select_slider("False alarms of the chart", _RATES, value=0.05, format_func=percent,
                               key="chart_alarms", width=260)  # fmt: skip
    try:
        drift = drift_of(table.panel, place, kind=kind, false_alarm=rate)
    except PluralityError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    rater = table.raters[place]
    if drift.alarm is None:
        title = f"{plotly(shorten(rater, 24))} shows no drift: accuracy {number(drift.accuracy)} by the other raters"
    else:
        title = f"{plotly(shorten(rater, 24))} got worse: {number(drift.before)} before, {number(drift.after)} after"
    widgets.plot(figures.rater_over_time(drift, theme, title), "drift", "Accuracy over time and the control chart")
    if act.acceptable.judge_of(place) == "gold":
        st.caption(
            f"Windows and chart count as right what the other raters find; by gold accuracy is "
            f"{act.acceptable.said(place)}."
        )
    if drift.n_undated:
        st.caption(f"{plural(drift.n_undated, 'annotation')} without a date left out.")


def _coverage(view: Dataset) -> None:
    def work(job: Job) -> Coverage:
        return coverage(view.coded, DawidSkene().fit(view.coded, token=job.token))

    found = job_progress.result_of((view.content_digest, "coverage"), "Who overlaps with whom", work, of=view)
    if found is None:
        return
    columns = st.columns(3)
    columns[0].metric("Groups of raters without a case in common", f"{found.n_components:,}", border=True)
    columns[1].metric(
        f"Pairs of raters with fewer than {found.few:,} shared cases", f"{len(found.lacking):,}", border=True
    )
    columns[2].metric("Classes that few raters share", f"{len(found.lacking_classes):,}", border=True)
    for note in dict.fromkeys([*found.notes, *found.identified.values()]):
        if note:
            st.markdown(f":material/info: {markdown(note)}")
    pairs = pd.DataFrame(
        [(found.raters[a], found.raters[b], int(found.shared[a, b])) for a, b in found.lacking[:MOST_ROWS]],
        columns=["rater", "other rater", "shared cases"],
    )
    if len(pairs):
        widgets.heading("Pairs that lack overlap")
        st.dataframe(
            pairs,
            hide_index=True,
            column_config=kit_columns.counts("shared cases"),
            key="lacking_pairs",
            height=min(360, 36 * (len(pairs) + 1) + 2),
        )
    widgets.heading("Raters")
    raters = pd.DataFrame(
        {
            "rater": found.raters,
            "group": found.component + 1,
            "classes hardly met": found.not_met,
            "in an odd cycle": found.odd_cycle,
        }
    )
    st.caption(
        "Raters of one group are joined by cases. Where no case has three annotations, models need raters in odd "
        "cycles."
    )
    st.dataframe(
        raters,
        hide_index=True,
        column_config=kit_columns.counts("group"),
        key="rater_coverage",
        height=min(360, 36 * (len(raters) + 1) + 2),
    )
    with st.container(horizontal=True):
        widgets.download(raters, "Raters", "rater_coverage", "rater_coverage_table")
        met = pd.DataFrame(found.class_met, columns=list(found.classes))
        met.insert(0, "rater", list(found.raters), allow_duplicates=True)
        widgets.download(met, "Expected annotations by rater and class", "class_met", "class_met")
    sizes = [f"{count:,} with {n}" for n, count in enumerate(found.answers_per_case) if count]
    st.caption(f"Cases by their number of annotations: {', '.join(sizes[:12])}{' …' if len(sizes) > 12 else ''}.")
    _coverage_of_classes(found)


def _coverage_of_classes(found: Coverage) -> None:
    classes = pd.DataFrame(
        {
            "class": found.classes,
            "expected cases": found.class_cases,
            "of them with two raters or more": found.class_shared,
        }
    ).sort_values("of them with two raters or more", kind="stable")
    widgets.heading("Classes")
    st.dataframe(
        classes,
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="%.1f") for name in classes.columns[1:]},
        key="class_coverage",
        height=min(360, 36 * (len(classes) + 1) + 2),
    )
    widgets.download(classes, "Classes", "class_coverage", "class_coverage_table")


def _instead(dataset: Dataset, reason: str) -> None:
    """Why raters cannot be compared, and where to go on."""
    st.info(f"Raters cannot be compared with these data: {markdown(reason)}.", icon=":material/block:")
    if not dataset.raters_identified:
        st.markdown(
            "Without names it can still be told how far annotations agree, and which cases are uncertain. "
            "If the file says who annotated, open it again and choose that column as the rater."
        )
    with st.container(horizontal=True):
        if any_of("coefficient", dataset).possible:
            st.page_link("pages/agreement.py", label="How much do the raters agree?", icon=":material/handshake:")
        st.page_link("pages/cases.py", label="Which cases are uncertain?", icon=":material/view_list:")
        st.page_link("pages/upload.py", label="Open a file", icon=":material/upload_file:")


def _page() -> None:
    dataset = widgets.require_data().dataset
    theme = look.theme()
    title = st.empty()
    title.title("How are the raters doing?")
    verdict = can_use(PAIRS, dataset)
    if not verdict.possible:
        _instead(dataset, verdict.reason)
        return
    if dataset.kind == "score" and raters_scores.as_scores():
        raters_scores.show(dataset, title, theme)
        return
    dataset = gold_of_reviews.switched(dataset)
    view = widgets.class_view(dataset)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = raters_model.choose(view)
        asked = raters_act_on.settings(view)
        with st.popover("Error rates", icon=":material/tune:", key="error_rates"):
            rate = st.select_slider(
                "False alarms over all raters",
                _RATES,
                value=FALSE_ALARMS,
                format_func=percent,
                key="false_alarms",
                help=widgets.explained("signs"),
                persist_state="session",
                width=260,
            )
            asked["q"] = raters_act_on.false_discoveries()
    table = raters_model.monitored(view, chosen, rate)
    if table is None:
        return
    act = raters_act_on.found(view, table, (chosen, rate), asked)
    if act is None:
        return
    first, *rest = _SENTENCES.split(act.words())
    about = f"“{view.classes[1]}”: " if dataset.kind == "set" else ""
    title.title(markdown(about + first.removesuffix(".")))
    if rest:
        st.markdown(markdown(" ".join(rest)))
    judged = {
        "judged by": act.judged.judged_by,
        "model": table.model,
        **asked,
        "false_alarms": rate,
        "seed": raters_model.SEED,
    }
    _tabs(dataset, view, table, act, theme)
    provenance.show(dataset, ["monitoring"], "raters FILE", judged, "raters")


def _tabs(dataset: Dataset, view: Dataset, table: RaterTable, act: ToActOn, theme) -> None:
    shared = state.whole().dataset.digest
    parts = {
        "All raters": lambda: _all(view, table, act, raters_blind.agreement(view, shared), theme),
        "One rater": lambda: _one(view, table, act, theme),
        "Who overlaps with whom": lambda: _coverage(view),
        "Shared errors": lambda: shared_errors.show(view, (), theme, "raters"),
        "Planning": lambda: raters_plan.show(view, act.acceptable, theme),
    }
    if raters_trust.is_offered(dataset):
        parts["Trust"] = lambda: raters_trust.show(dataset, theme)
    for (_, show), tab in zip(parts.items(), widgets.tabs(list(parts), "rater_tabs"), strict=True):
        if tab.open:
            with tab:
                show()


navigation.through_app()
_page()
