"""The section on reviews: how many cases were decided, how blind reads compare, and the decisions themselves."""

import pandas as pd

from ..agreement.intervals import Coefficient
from ..analyses.blocks import Grid, Words
from ..review.decisions import QUICK, decision_table, decisions, n_quick
from ..review.summary import summarise_reviews
from ..text import exact, percent, plural, with_interval

_LISTED = 60


def reviews(request, sections, token, progress) -> list:
    """Cases by state, blind reads against the panel and each other, minds changed, and every decision that stands.

    Parameters
    ----------
    request, sections, token, progress
        As of every section, see `core.report.build`.
    """
    here = {case: request.reviews[case] for case in request.dataset.cases if case in request.reviews}
    left = []
    if request.n_kept_back:
        what = plural(request.n_kept_back, "case")
        left = [Words(f"Of {what} reviews of others are left out: who made this report can still read them blind.")]
    left = [*_assigned(request.assigned), *left]
    if not here:
        return left
    found, listed = summarise_reviews(request.dataset, here), decisions(here)
    settled, waits = found.states["closed"] + found.states["adjudicated"], found.states["arbitration"]
    lead = f"{found.n_reviewed:,} of {plural(found.n_cases, 'case')} reviewed, {settled:,} settled"
    rows = [
        ("blind reads agree with a decided panel", _said(found.with_panel), found.with_panel.n_annotations),
        ("blind reads agree with each other", _said(found.with_each_other), found.with_each_other.n_annotations),
        ("minds changed by the reveal", _said(found.minds.share), found.minds.n),
    ]
    quick, timed = n_quick(listed)
    if timed:
        rows.append((f"decisions in less than {exact(QUICK)} seconds", percent(quick / timed), timed))
    blocks: list = [Words(f"{lead}{f', {waits:,} in arbitration' if waits else ''}.", "lead")]
    if waits:
        blocks.append(Words(f"Decide {plural(waits, 'case')} in arbitration.", "todo"))
    if found.settled.one:
        blocks.append(Words(found.settled.words()))
    blocks.append(
        Grid(pd.DataFrame(rows, columns=["share", "value", "of"]), "Shares with intervals of 95% over cases.")
    )
    if request.reviewed is not None:
        blocks.append(Words(request.reviewed.words()))
    if listed:
        table = decision_table(request.dataset, listed).drop(columns="data")
        blocks.append(Grid(table, "Decisions that stand, the latest first.", _LISTED))
    return [*blocks, *left]


def _assigned(table: pd.DataFrame | None) -> list:
    """Cases that were given to people: to whom, until when, and how many are done."""
    if table is None:
        return []
    standing = table[~table["withdrawn"]].drop(columns=["withdrawn", "number"])
    late = int(standing["overdue"].sum())
    said = f"{plural(len(standing), 'assignment')} of cases{f', {late:,} overdue' if late else ''}."
    if standing["group"].any():
        said += " Of a group each member reads all cases, and a case is done when every member has done it."
    return [Grid(standing, said, _LISTED)] if len(standing) else []


def _said(share: Coefficient) -> str:
    return share.note if share.value is None else with_interval(share.value, share.ci_low, share.ci_high)
