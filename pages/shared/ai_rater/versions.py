"""The tab of versions: those of a family side by side on the cases that all of them annotated."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.figures import machines as figures
from core.machines.marks import Machine
from core.machines.versions import VersionDrift, in_order
from core.text import markdown, number, percent
from pages.shared.ai_rater import computed
from pages.shared.ai_rater.computed import Machines
from pages.shared.kit import columns, widgets


def show(machines: Machines, marked: Sequence[Machine], score: str, theme) -> None:
    """Families with two versions or more: a sentence, the sequence, and the differences.

    Parameters
    ----------
    machines : Machines
    marked : sequence of Machine
        With families and versions.
    score : {"accuracy", "rmse", "overlap"}
    theme : Theme
    """
    widgets.heading("Did a new version change the annotations?", "versions")
    found = computed.versions(machines, marked, score)
    if not found:
        st.info(
            "Not available: no model family has two versions among the AI raters. Enter the family and version of "
            "each AI rater under “AI raters”.",
            icon=":material/info:",
        )
        return
    for place, one in enumerate(found):
        st.markdown(markdown(one.words()))
        if left_out := in_order([each for each in marked if each.family == one.family])[1]:
            st.caption(f"Left out of the version order: {markdown(left_out)}.")
        if one.versions:
            _family(one, place, theme)


def _family(one: VersionDrift, place: int, theme) -> None:
    title = f"{'Distance from' if one.score == 'rmse' else 'Agreement with'} people, by version"
    widgets.plot(figures.versions_in_order(one, theme, title), f"versions-{place}", f"Versions of {one.family}")
    st.caption("Bar: 95% interval over cases" + " · Dotted line: agreement between people" * (one.people is not None))
    frame = pd.DataFrame(
        {
            "version": [each.machine for each in one.changes],
            "less": [each.before for each in one.changes],
            "difference": [each.difference for each in one.changes],
            "from": [each.low for each in one.changes],
            "to": [each.high for each in one.changes],
            "changed": [each.changed for each in one.changes],
            "changed from": [each.changed_low for each in one.changes],
            "changed to": [each.changed_high for each in one.changes],
            "nearer": [each.nearer for each in one.changes],
            "farther": [each.farther for each in one.changes],
            "cases": [one.n_cases] * len(one.changes),
        }
    )
    shown, pictures = columns.with_pictures(frame, ("difference", "from", "to", "interval"), difference=True)
    st.dataframe(
        shown, hide_index=True, key=f"versions-rows-{place}",
        column_config=columns.fine("difference", "from", "to") | columns.shares("changed", "changed from", "changed to")
        | columns.counts("nearer", "farther", "cases") | pictures,
    )  # fmt: skip
    m = len(one.changes)
    allowed = (
        f" Intervals are corrected for {m} comparisons ({percent(1 - (1 - one.level) / m, 1)} each)." if m > 1 else ""
    )
    among = ""
    if one.people is not None:
        far = one.score == "rmse"
        among = f" {'Distance' if far else 'Agreement'} between people: {number(abs(one.people))}."
    st.caption(
        "Changed: cases that the newer version annotated differently. Nearer, farther: changed cases that moved "
        "towards or away from people's annotations."
        f"{among}{allowed}"
    )
    widgets.download(one.to_frame("changes"), "Changes", "version_changes", f"versions-changes-{place}")
