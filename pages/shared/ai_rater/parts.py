"""The tabs of the page: against each rater, over ε, beside people, in readers, and where a machine differs."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.figures import machines as figures
from core.machines.alternative_test import AlternativeTest
from core.machines.differs import Differences
from core.machines.pair_agreement import PairAgreement
from core.machines.sentences import in_detail
from core.machines.worth import Worth
from core.text import markdown, number, plural, shorten
from pages.shared.ai_rater.computed import MOST_PEOPLE, Computed
from pages.shared.ai_rater.computed import differs as computed_differs
from pages.shared.kit import widgets

MOST_DIFFERENCES = 500


def replaces(computed: Computed, theme) -> None:
    """Every machine against every rater, with its numbers, and the differences between machines."""
    found = computed.test
    for one in found.machines:
        st.markdown(markdown(in_detail(one, found.epsilon)))
    tested = [one for one in found.machines if one.raters]
    if tested:
        title = "Filled: holds its own · bars: 95 % over cases"
        widgets.plot(
            figures.against_raters(tested, found.epsilon, theme, title), "against", "Machines against each rater"
        )
    few = {name for one in found.machines for name in one.not_tested}
    if few:
        st.caption(f"{plural(len(few), 'rater')} with fewer than 30 shared cases judge and are not tested.")
    _agreement(computed.agreement, found.score)
    st.caption(
        "The test rewards being where most raters are: a machine that shares the raters' errors passes. It says "
        "nothing of the truth."
    )
    frame = pd.concat([one.to_frame().assign(machine=one.machine) for one in tested] or [pd.DataFrame({"machine": []})])
    widgets.download(frame, "Machines against raters", "machines_against_raters", "against_table")
    _differences(found)


def _agreement(found: Sequence[PairAgreement], score: str) -> None:
    """Agreement of people beside that of machines with people."""
    known = [one for one in found if one.people is not None]
    if not known:
        return
    widgets.heading("People with people, machines with people")
    frame = pd.DataFrame(
        {
            "machine": [one.machine for one in known],
            "cases": [one.n_cases for one in known],
            "people with people": [one.people for one in known],
            "people from": [one.people_low for one in known],
            "people to": [one.people_high for one in known],
            "machine with people": [one.machine_people for one in known],
            "machine from": [one.machine_low for one in known],
            "machine to": [one.machine_high for one in known],
            "difference": [one.difference for one in known],
            "95 % from": [one.low for one in known],
            "to": [one.high for one in known],
        }
    )
    numbers = [name for name in frame.columns if name not in ("machine", "cases")]
    st.dataframe(
        frame, hide_index=True, key="pair_agreement",
        column_config={name: st.column_config.NumberColumn(format="%.3f") for name in numbers},
    )  # fmt: skip
    words = {
        "accuracy": "Share of pairs that agree",
        "rmse": "Minus the distance of a pair",
        "overlap": "Overlap of pairs",
    }
    st.caption(f"{words[score]}, on cases with the machine and two people; means over cases.")
    widgets.download(frame, "Agreement", "machine_agreement", "pair_agreement_table")


def _differences(found: AlternativeTest) -> None:
    known = [one for one in found.differences if one.difference is not None]
    if not known:
        return
    widgets.heading("Machines side by side", "alternative annotator test")
    frame = pd.DataFrame(
        {
            "machine": [one.machine for one in known],
            "less": [one.other for one in known],
            "difference of ρ": [one.difference for one in known],
            "95 % from": [one.low for one in known],
            "to": [one.high for one in known],
            "cases of both": [one.n_cases for one in known],
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        key="machine_differences",
        column_config={
            name: st.column_config.NumberColumn(format="%.3f") for name in ("difference of ρ", "95 % from", "to")
        },
    )
    widgets.download(frame, "Differences", "machine_differences", "machine_differences_table")


def over_epsilon(found: AlternativeTest, theme) -> None:
    """The winning rate against ε, and from which ε each machine passes."""
    known = [one for one in found.machines if one.curve.size]
    if not known:
        st.info("No machine could be tested.", icon=":material/info:")
        return
    widgets.plot(
        figures.over_epsilon(known, found.epsilon, theme, "Passes above the level line · upright: ε in use"),
        "epsilon_curve", "Winning rate over ε",
    )  # fmt: skip
    for one in known:
        start = one.passes_from
        said = "at no ε up to .5" if start is None else f"from ε = {start:.2f} on"
        st.markdown(f"**{markdown(one.machine)}** passes {said}.")
    st.caption("Where the curve is steep at the ε in use, the verdict hangs on that choice.")


def people(computed: Computed, theme) -> None:
    """Every rater through the same test, beside the machines."""
    found, everybody = computed.test, computed.people
    known = [one for one in everybody if one.passes is not None]
    if not known:
        why = "there are too many raters" if len(found.people) > MOST_PEOPLE else "too few cases are shared"
        st.info(f"No rater can be put through the test: {why}.", icon=":material/info:")
        return
    n = sum(bool(one.passes) for one in known)
    passed = "all pass" if n == len(known) else f"{n} of {len(known)} pass"
    st.markdown(
        f"Each rater in the machine's place, the others being the panel: **{passed}**. A rater who does not pass is "
        "one whom the panel would not miss by this measure."
    )
    widgets.plot(
        figures.beside_people(found.machines, known, theme, "Raters and machines through the same test"),
        "beside_people", "Advantage of raters and machines",
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
    widgets.download(frame, "Raters and machines", "through_the_test", "people_table")


def worth(computed: Computed, theme) -> None:
    """How many readers each machine is worth, with the panel's curve."""
    widgets.heading("Worth how many readers?", "worth in readers")
    known = [one for one in computed.worth if isinstance(one, Worth)]
    for one in computed.worth:
        if isinstance(one, str):
            st.info(markdown(one), icon=":material/info:")
    for one in known:
        st.markdown(
            f"**{markdown(one.machine)}**, in readers: **{one.words()}**, on {plural(one.n_cases, 'case')}; panels of "
            f"up to {one.k_max} can be compared."
        )
    of_cases: dict[tuple[int, int], list[Worth]] = {}
    for one in known:
        of_cases.setdefault((one.n_cases, one.k_max), []).append(one)
    for place, group in enumerate(of_cases.values()):
        title = "What a panel foretells of one more reader · band: 95 % over cases"
        widgets.plot(figures.worth_in_readers(group, theme, title), f"worth-{place}", "Score of panels and of machines")
    if known:
        frame = pd.concat([one.to_frame().assign(machine=one.machine, machine_score=one.value) for one in known])
        widgets.download(frame, "Panels", "worth_in_readers", "worth_table")


def differs(dataset: Dataset, machines: tuple[str, ...], people: tuple[str, ...], gamma: float) -> None:
    """Where one machine differs from a decided panel, by class and certainty, and the cases.

    Parameters
    ----------
    dataset : Dataset
    machines, people : tuple of str
        Raters of it.
    gamma : float
        Of the panel's certainty.
    """
    found = computed_differs(dataset, machines, people, gamma)
    known = [one for one in found if isinstance(one, Differences)]
    if not known:
        for said in dict.fromkeys(one for one in found if isinstance(one, str)):
            st.info(markdown(said), icon=":material/info:")
        return
    names = [one.machine for one in known]
    name = names[0] if len(names) == 1 else st.selectbox("Machine", names, key="differs_machine")
    one = known[names.index(name)]
    order = one.order()
    n = len(order)
    decided = f"(certainty {number(one.level)} or more at γ = {one.reliability:g})"
    if not one.n_decided:
        st.markdown(f"The panel is decided on none of {plural(len(one.cases), 'case')} {decided}.")
    else:
        st.markdown(
            f"The panel is decided on **{one.n_decided:,}** of {plural(len(one.cases), 'case')} {decided}; "
            f"{markdown(one.machine)} gives another class on **{n:,}** of them. The panel may be wrong there, too."
        )
    if n:
        frame = one.to_frame().head(MOST_DIFFERENCES)
        st.button(
            f"Review {plural(min(n, MOST_DIFFERENCES), 'case')}", icon=":material/rate_review:", key="review_differing",
            on_click=_propose, args=(one.machine, tuple(frame["case"])),
        )  # fmt: skip
        widgets.open_case_table(frame, f"differs-{name}", shares=("certainty",))
        widgets.download(one.to_frame(), "Cases", "machine_differs", "differs_table")
    _in_groups(one)


def _in_groups(one: Differences) -> None:
    """The machine as the panel, by class, by certainty and by group of cases."""
    for title, groups in (
        ("By the panel's class, decided cases", one.by_class),
        ("By the panel's certainty, all cases", one.by_quartile),
        ("By group of cases", one.by_group),
    ):
        if groups:
            st.markdown(f"**{title}**")
            table = pd.DataFrame(
                {
                    "of": [group.value for group in groups],
                    "cases": [group.n for group in groups],
                    "machine as the panel": [group.agrees for group in groups],
                    "95 % from": [group.low for group in groups],
                    "to": [group.high for group in groups],
                    "raters as the panel": [group.people for group in groups],
                }
            )
            shares = ("machine as the panel", "95 % from", "to", "raters as the panel")
            st.dataframe(
                table, hide_index=True, key=f"by-{title}",
                column_config={name: st.column_config.NumberColumn(format="%.2f") for name in shares},
            )  # fmt: skip
    st.caption("Raters count towards the class that leads them, so that their share is somewhat too high.")


def _propose(machine: str, cases: tuple[str, ...]) -> None:
    st.session_state["review_proposed"] = (st.session_state["data"], f"{shorten(machine, 40)} differs", cases)
    st.session_state["go_to"] = "review"
