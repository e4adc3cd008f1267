"""Parts of the AI rater page: verdicts, comparison with each rater, ε, people, worth, groups, and differences."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.figures import machines as figures
from core.machines.alternative_test import CURVE, AlternativeTest
from core.machines.disagreements import Differences
from core.machines.equivalent_readers import EquivalentReaders
from core.machines.pair_agreement import PairAgreement
from core.machines.sentences import AGAINST_RATERS, as_well_as, outcome
from core.machines.subgroup_differences import SubgroupDifference
from core.text import exact, markdown, number, percent, plural, shorten, was_or_were, with_interval
from core.thresholds import PANEL_DECIDED
from pages.shared.ai_rater.computed import MOST_PEOPLE, Computed, Machines
from pages.shared.ai_rater.computed import differs as computed_differs
from pages.shared.cache import visit
from pages.shared.kit import columns, state, widgets

MOST_DIFFERENCES = 500
LEVELS = (0.5, 0.65, PANEL_DECIDED, 0.95)  # certainty from which a panel may be called decided
MOST_SILENT = 4
_WIDTH = 120  # of pictures, where three stand in a row
COMPARED = {"agreement": "agreement", "log": "log score of probabilities", "squared": "squared distance"}
BY = {"class": "panel's class", "certainty": "panel's certainty", "spread": "spread of scores", "group": "group"}


_HEADS = {
    "machine": st.column_config.TextColumn("AI rater"),
    "less": st.column_config.TextColumn("minus"),
    "people from": st.column_config.NumberColumn("people, 95% low", format=columns.THREE),
    "people to": st.column_config.NumberColumn("people, 95% high", format=columns.THREE),
    "machine from": st.column_config.NumberColumn("AI rater, 95% low", format=columns.THREE),
    "machine to": st.column_config.NumberColumn("AI rater, 95% high", format=columns.THREE),
}  # as they are called on screen; the names in files stay
_WORTH = (
    "How many raters together predict an annotation as well as the AI rater does. An AI rater can fail the test with "
    "a high number, or pass it with a low one."
)
_TO_PASS = (
    "How many similar cases the AI rater needs to pass in 80% of samples. “Can replace a rater” is “yes” if it passes "
    "in at least 95% of resamples."
)
# What fits at 1,280 pixels: a number that is cut off would read as another number, so words come last.
_FIRST = (
    "machine", "may replace a rater", "holds against", "advantage ρ", "cases", "cases to pass", "worth in raters",
    "by its probabilities",
)  # fmt: skip
MAY = {"passes": "yes", "fails": "no", "open": "inconclusive", "untested": "too few cases"}
GUESSES = "like guessing"


def verdicts(computed: Computed, silences: Sequence[str] = ()) -> None:
    """Draw a row for each AI rater: whether it can replace a rater, by how much, and its worth in raters.

    Parameters
    ----------
    computed : Computed
    silences : sequence of str
        Sentences on cases without annotations of an AI rater.
    """
    found = computed.test
    shown = verdict_table(computed)
    shares = columns.never_quite(shown["passes in resamples"].to_numpy(float)).tolist()
    shown["passes in resamples"] = [percent(share) if share == share else "–" for share in shares]
    st.dataframe(
        shown, hide_index=True, key="verdicts", width="stretch",
        column_order=[name for name in _FIRST if name in shown],
        column_config={
            "machine": st.column_config.TextColumn("AI rater", pinned=True),
            "may replace a rater": st.column_config.TextColumn("can replace a rater"),
            "holds against": st.column_config.TextColumn("not worse than"),
            "worth in raters": st.column_config.TextColumn("equivalent raters", help=_WORTH),
            **columns.counts("cases"),
            "cases to pass": st.column_config.TextColumn(help=_TO_PASS),
        },
    )  # fmt: skip
    said = [f"Advantage ρ with 95% intervals (ε = {exact(found.epsilon)})."]
    known = [one for one in computed.people if one.rho is not None]
    if known:
        n = sum(bool(one.passes) for one in known)
        ends = " to ".join(dict.fromkeys(number(end(one.rho for one in known)) for end in (min, max)))
        said.append(f"{n:,} of {plural(len(known), 'rater')} would pass the same test. ρ of the tested raters: {ends}.")
    said.append("The test rewards agreement with most raters, so an AI rater that shares their errors can pass.")
    st.caption(" ".join(said))
    if silences:
        more = len(silences) - MOST_SILENT
        others = f" {plural(more, 'other AI rater')} also left some cases unannotated." if more > 0 else ""
        listed = " ".join(markdown(one) for one in silences[:MOST_SILENT])
        st.caption(f"{listed}{others} If those cases are hard, ρ is too high.")


def verdict_table(computed: Computed) -> pd.DataFrame:
    """Return the table that `verdicts` shows, by AI rater."""
    logs = {one.machine: one for one in computed.by_log_score}
    rows = []
    for one, worth in zip(computed.test.machines, computed.worth, strict=True):
        row = {
            "machine": one.machine,
            "may replace a rater": GUESSES if computed.test.by_chance and one.raters else MAY[outcome(one)],
            "holds against": f"{one.n_rejected:,} of {len(one.raters):,}" if one.raters else "–",
            "advantage ρ": "–" if one.rho is None else with_interval(one.rho, one.rho_low, one.rho_high),
            "worth in raters": worth.words() if isinstance(worth, EquivalentReaders) else "–",
        }
        if logs:
            row["by its probabilities"] = logs[one.machine].words() if one.machine in logs else "–"
        needed = (
            "–"
            if not one.raters
            else ("no number of cases is enough")
            if one.n_to_pass is None
            else f"{one.n_to_pass:,}"
        )
        rows.append(row | {"passes in resamples": one.pass_share, "cases": one.n_cases, "cases to pass": needed})
    return pd.DataFrame(rows)


def replaces(computed: Computed, theme) -> None:
    """Compare every AI rater with every rater, agreement among people, and AI raters with each other."""
    found = computed.test
    tested = [one for one in found.machines if one.raters]
    if not tested:
        st.info(
            "Not available: no rater shares at least 30 cases with both an AI rater and another rater.",
            icon=":material/info:",
        )
    else:
        title = as_well_as(found)
        widgets.plot(figures.against_raters(found.machines, found.epsilon, theme, title), "against", title)
        st.caption(AGAINST_RATERS)
    few = {name for one in found.machines for name in one.not_tested}
    if few:
        st.caption(
            f"{plural(len(few), 'rater')} with fewer than 30 shared cases {was_or_were(len(few))} left out of the "
            "test, but not of the panel."
        )
    frame = pd.concat([one.to_frame().assign(machine=one.machine) for one in tested] or [pd.DataFrame({"machine": []})])
    widgets.download(frame, "AI raters compared with people", "machines_against_raters", "against_table")
    _agreement(computed.agreement, found.score)
    _differences(found)


def _agreement(found: Sequence[PairAgreement], score: str) -> None:
    """Draw the agreement among people and that of AI raters with people."""
    known = [one for one in found if one.people is not None]
    if not known:
        return
    widgets.heading("Agreement among people and with AI raters")
    frame = pd.DataFrame(
        {
            "machine": [one.machine for one in known],
            "cases": [one.n_cases for one in known],
            "among people": [one.people for one in known],
            "people from": [one.people_low for one in known],
            "people to": [one.people_high for one in known],
            "with people": [one.machine_people for one in known],
            "machine from": [one.machine_low for one in known],
            "machine to": [one.machine_high for one in known],
            "difference": [one.difference for one in known],
            "95% from": [one.low for one in known],
            "to": [one.high for one in known],
        }
    )
    people = ("among people", "people from", "people to", "people, 95%")
    machine = ("with people", "machine from", "machine to", "AI rater, 95%")
    shown, levels = columns.with_pictures(frame, people, machine, width=_WIDTH) if score != "rmse" else (frame, {})
    apart = ("difference", "95% from", "to", "95% interval")
    shown, difference = columns.with_pictures(shown, apart, difference=True, width=_WIDTH)
    numbers = [name for name in frame.columns if name not in ("machine", "cases")]
    st.dataframe(
        shown, hide_index=True, key="pair_agreement",
        column_config=columns.fine(*numbers) | columns.counts("cases") | _HEADS | levels | difference,
    )  # fmt: skip
    words = {
        "accuracy": "Share of pairs that agree",
        "rmse": "Negative distance between the annotations of a pair (0: equal)",
        "overlap": "Overlap of pairs",
    }
    st.caption(f"{words[score]}, averaged over cases annotated by the AI rater and at least two people.")
    widgets.download(frame, "Agreement", "machine_agreement", "pair_agreement_table")


def _differences(found: AlternativeTest) -> None:
    known = [one for one in found.differences if one.difference is not None]
    if not known:
        return
    widgets.heading("AI raters compared", "alternative annotator test")
    frame = pd.DataFrame(
        {
            "machine": [one.machine for one in known],
            "less": [one.other for one in known],
            "difference of ρ": [one.difference for one in known],
            "95% from": [one.low for one in known],
            "to": [one.high for one in known],
            "cases of both": [one.n_cases for one in known],
        }
    )
    ends = ("difference of ρ", "95% from", "to", "95% interval")
    shown, pictures = columns.with_pictures(frame, ends, difference=True)
    st.dataframe(
        shown,
        hide_index=True,
        key="machine_differences",
        column_config=columns.fine(*ends[:3]) | columns.counts("cases of both") | _HEADS | pictures,
    )
    widgets.download(frame, "Differences", "machine_differences", "machine_differences_table")


def over_epsilon(found: AlternativeTest, theme) -> None:
    """Draw the winning rate against ε, and the ε from which each AI rater passes."""
    known = [one for one in found.machines if one.curve.size]
    if not known:
        st.info("Not available: no AI rater could be tested.", icon=":material/info:")
        return
    title = "AI raters above the horizontal line pass the test · Vertical line: ε"
    widgets.plot(
        figures.over_epsilon(found.machines, found.epsilon, theme, title), "epsilon_curve", "Winning rate at each ε"
    )
    st.dataframe(
        pd.DataFrame(
            {
                "machine": [one.machine for one in known],
                "passes from ε": [one.passes_from for one in known],
                f"winning rate at ε = {exact(found.epsilon)}": [one.omega for one in known],
            }
        ),
        hide_index=True, key="passes_from",
        column_config=columns.numbers("passes from ε", f"winning rate at ε = {exact(found.epsilon)}") | _HEADS,
    )  # fmt: skip
    st.caption(
        "Empty cell: the AI rater does not pass at any ε up to 0.5. If the curve is steep at your ε, the result "
        "depends strongly on your choice. The curve applies only to these cases. The result above shows how often the "
        "AI rater would pass on similar cases."
    )
    frame = pd.concat([pd.DataFrame({"machine": one.machine, "ε": CURVE, "ω": one.curve}) for one in known])
    widgets.download(frame, "Winning rates", "winning_rate_over_epsilon", "epsilon_table")


def people(computed: Computed, theme) -> None:
    """Draw the same test with every rater in the place of the AI rater, next to the AI raters."""
    found, everybody = computed.test, computed.people
    known = [one for one in everybody if one.passes is not None]
    if not known:
        why = "there are too many raters" if len(found.people) > MOST_PEOPLE else "the raters share too few cases"
        if len(found.people) < 3:
            why = "the test needs at least three raters: one to replace and two others"
        st.info(f"Not available: {why}.", icon=":material/info:")
        return
    n = sum(bool(one.passes) for one in known)
    passed = "all pass" if n == len(known) else f"{n} of {len(known):,} {'passes' if n == 1 else 'pass'}"
    st.markdown(
        f"Each rater in turn takes the place of the AI rater and is tested against the other raters: **{passed}**. "
        "A rater who does not pass agrees less with the others than the test requires of an AI rater."
    )
    widgets.plot(
        figures.beside_people(found.machines, known, theme, "Raters and AI raters in the same test"),
        "beside_people", "Advantage of raters and AI raters",
    )  # fmt: skip
    frame = pd.DataFrame(
        {
            "who": [one.machine for one in (*found.machines, *known)],
            "machine": [True] * len(found.machines) + [False] * len(known),
            "ω": [one.omega for one in (*found.machines, *known)],
            "ρ": [one.rho for one in (*found.machines, *known)],
            "ρ_low": [one.rho_low for one in (*found.machines, *known)],
            "ρ_high": [one.rho_high for one in (*found.machines, *known)],
        }
    )
    widgets.download(frame, "Raters and AI raters", "through_the_test", "people_table")


def worth(computed: Computed, theme, ranked: bool) -> None:
    """How many readers each machine is worth, with the panel's curve, by agreement and by its probabilities.

    Parameters
    ----------
    computed : Computed
    theme : Theme
    ranked : bool
        True if annotations are rankings.
    """
    widgets.heading("How many raters predict as well as an AI rater?", "equivalent raters")
    for why in dict.fromkeys(one for one in computed.worth if isinstance(one, str)):
        st.info(markdown(why), icon=":material/info:")
    known = [*(one for one in computed.worth if isinstance(one, EquivalentReaders)), *computed.by_log_score]
    if not known:
        return
    frame = pd.DataFrame(
        {
            "machine": [one.machine for one in known],
            "compared by": [COMPARED[one.score] for one in known],
            "readers": [one.said(one.k) for one in known],
            "95% from": [one.said(one.k_low) for one in known],
            "to": [one.said(one.k_high) for one in known],
            "its score": [one.value for one in known],
            "cases": [one.n_cases for one in known],
            "largest panel": [one.k_max for one in known],
        }
    )
    st.dataframe(
        frame, hide_index=True, key="worth_rows",
        column_config=dict.fromkeys(("95% from", "to"), st.column_config.TextColumn(width=110))
        | {"readers": st.column_config.TextColumn("raters", width=110)}
        | columns.numbers("its score") | columns.counts("cases") | _HEADS,
    )  # fmt: skip
    of_cases: dict[tuple[str, int, int], list[EquivalentReaders]] = {}
    for one in known:
        of_cases.setdefault((one.score, one.n_cases, one.k_max), []).append(one)
    for place, group in enumerate(of_cases.values()):
        bands = " · bands: 95%" if group[0].has_interval else " · too few cases for bands"
        title = f"By {COMPARED[group[0].score]}{bands}"
        figure = figures.worth_in_readers(group, theme, title, [one.machine for one in computed.test.machines])
        widgets.plot(figure, f"worth-{place}", "Scores of panels and AI raters")
    st.caption(
        "Vertical axis: how well a panel of k raters predicts one more rater. Bands need at least 10 cases. An "
        "AI rater that predicts one more rater as well as three raters do is worth three raters. When probabilities "
        "are compared, confident errors cost most. Worth measures similarity to the raters, not correctness: an AI "
        "rater that makes the same errors is worth more."
        + (" Agreement uses only first choices, and probabilities are compared with whole rankings." if ranked else "")
    )
    frame = pd.concat(
        [one.to_frame().assign(machine=one.machine, by=one.score, machine_score=one.value) for one in known]
    )
    widgets.download(frame, "Panels", "worth_in_readers", "worth_table")


def by_part(found: Sequence[SubgroupDifference], left_out: Mapping[str, str], epsilon: float, theme) -> None:
    """How far raters lead each machine, by class, by certainty, by group.

    Parameters
    ----------
    found : sequence of SubgroupDifference
    left_out : mapping of str to str
        Machines that are not in it, each with the reason.
    epsilon : float
    theme : Theme
    """
    for name, why in left_out.items():
        st.caption(f"{markdown(name)} is not shown: {markdown(why)}")
    if not found:
        st.info("Not available: no case was annotated by an AI rater and at least two raters.", icon=":material/info:")
        return
    n_below = sum(one.high is not None and one.high < epsilon for one in found)
    title = f"Raters' advantage is clearly below ε in {n_below:,} of {len(found):,} comparisons"
    widgets.plot(figures.leads_by_part(found, epsilon, theme, title), "by_part", title)
    st.caption(f"Filled: advantage clearly below ε = {exact(epsilon)} · Bar: 95% interval")
    frame = pd.DataFrame(
        {
            "machine": [one.machine for one in found],
            "by": [BY[one.by] for one in found],
            "of": [one.value for one in found],
            "cases": [one.n_cases for one in found],
            "advantage of raters": [one.lead for one in found],
            "95% from": np.array([one.low for one in found], float),
            "to": np.array([one.high for one in found], float),
            "ρ": [one.rho for one in found],
        }
    )
    ends = ("advantage of raters", "95% from", "to", "95% interval")
    shown, pictures = columns.with_pictures(frame, ends, difference=True)
    st.dataframe(
        shown, hide_index=True, key="by_part_rows",
        column_config=columns.numbers(*ends[:3], "ρ") | columns.counts("cases") | _HEADS | pictures,
    )  # fmt: skip
    st.caption(
        "Advantage: how much more often a rater agrees with the other raters than the AI rater does. If the panel is "
        "split, raters disagree with each other too, so their advantage is small. Intervals are not corrected for "
        "multiple comparisons. Classes and groups with fewer than ten cases have no interval."
    )
    widgets.download(frame, "Parts", "machines_by_part", "by_part_table")


def differs(machines: Machines, gamma: float) -> None:
    """Where one machine differs from a decided panel, by class and certainty, and the cases.

    Parameters
    ----------
    machines : Machines
    gamma : float
        Reliability γ of the panel's certainty.
    """
    level = visit.number["differs_level"] or PANEL_DECIDED
    found = computed_differs(machines, gamma, level)
    known = [one for one in found if isinstance(one, Differences)]
    if not known:
        for said in dict.fromkeys(one for one in found if isinstance(one, str)):
            st.info(markdown(said), icon=":material/info:")
        return
    one = _which(known)
    order = one.order()
    n = len(order)
    bar, gamma_used = percent(one.level), exact(one.reliability)
    if not one.n_decided:
        least = (
            f" The highest certainty is {percent(one.certainty.max())}: choose a lower threshold to see where "
            "the AI rater differs."
        )
        lower = least if one.certainty.max() >= min(LEVELS) and one.level > min(LEVELS) else ""
        st.markdown(f"No case has a confident panel (certainty of at least {bar} at γ = {gamma_used}).{lower}")
    else:
        differing = (
            f"{markdown(one.machine)} chose a different class for **{n:,}** of them"
            if n
            else (f"{markdown(one.machine)} chose the panel's class for all of them")
        )
        st.markdown(
            f"The panel is confident about **{one.n_decided:,}** of {plural(len(one.cases), 'case')} (certainty of at "
            f"least {bar} at γ = {gamma_used}). {differing}.{' The panel or the AI rater may be wrong.' if n else ''}"
        )
    if n:
        frame = one.to_frame().head(MOST_DIFFERENCES)
        st.button(
            f"Review {plural(min(n, MOST_DIFFERENCES), 'case')}", icon=":material/rate_review:", key="review_differing",
            on_click=_propose, args=(one.machine, tuple(frame["case"])),
        )  # fmt: skip
        widgets.open_case_table(frame, f"differs-{one.machine}", shares=("certainty",))
        widgets.download(one.to_frame(), "Cases", "machine_differs", "differs_table")
    _in_groups(one)


def _which(known: Sequence[Differences]) -> Differences:
    """Draw the choice of an AI rater and of the certainty from which a panel is decided; return its differences."""
    names = [one.machine for one in known]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = names[0] if len(names) == 1 else st.selectbox("AI rater", names, key="differs_machine", width=320)
        st.segmented_control(
            "Minimum certainty for a confident panel", LEVELS, default=PANEL_DECIDED, required=True,
            key="differs_level", format_func=number, width="content",
        )  # fmt: skip
    return known[names.index(name)]


def _in_groups(one: Differences) -> None:
    """Compare the AI rater with the panel by class, by certainty and by group of cases."""
    for title, groups in (
        ("Cases with a confident panel, by the panel's class", one.by_class),
        ("All cases, by the panel's certainty", one.by_quartile),
        ("All cases, by group", one.by_group),
    ):
        if groups:
            st.markdown(f"**{title}**")
            table = pd.DataFrame(
                {
                    "of": [group.value for group in groups],
                    "cases": [group.n for group in groups],
                    "AI rater agrees": [group.agrees for group in groups],
                    "95% from": [group.low for group in groups],
                    "to": [group.high for group in groups],
                    "raters agree": [group.people for group in groups],
                }
            )
            shares = ("AI rater agrees", "95% from", "to", "raters agree")
            st.dataframe(
                table, hide_index=True, key=f"by-{title}",
                column_config={name: st.column_config.NumberColumn(format="%.2f") for name in shares},
            )  # fmt: skip
    said = "Raters are compared with a panel that includes them, so “raters agree” is slightly too high."
    if (n := [group.n for group in one.by_quartile]) and max(n) > min(n) + 1:
        said += " Cases with the same certainty are in the same quarter, so the quarters differ in size."
    st.caption(said)


def _propose(machine: str, cases: tuple[str, ...]) -> None:
    """Put these cases forward for a review; the list says what the panel's class is, so that no read is blind."""
    for case_id in cases:
        visit.review_seen |= {(state.whole().dataset.digest, case_id)}
    visit.review_proposed = (visit.data, f"{shorten(machine, 40)} differs", cases)
    visit.go_to = "review"
