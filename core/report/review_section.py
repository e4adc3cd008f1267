"""Section on reviews: results as on the Review page, and the decisions themselves."""

import pandas as pd

from ..analyses.blocks import Grid, Words
from ..analyses.inputs import Inputs
from ..analyses.reviews import REVIEWS, ReviewOptions
from ..review.decisions import decision_table, decisions
from ..text import plural

_LISTED = 60


def reviews(request, sections, token, progress) -> list:
    """Return cases by state, blind opinions against panel and each other, changed opinions, and every current decision.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    here = {case: request.reviews[case] for case in request.dataset.cases if case in request.reviews}
    left = []
    if request.n_kept_back:
        what = plural(request.n_kept_back, "case")
        left = [
            Words(
                f"Reviews of {what} by others are left out, because the author of this report can still review these "
                "cases blind."
            )
        ]
    left = [*_assigned(request.assigned), *left]
    if not here:
        return left
    part, inputs = REVIEWS.parts[0], Inputs(request.dataset, reviews=here)
    found = part.answer(inputs)
    summary, listed = found.summary, decisions(here)
    settled, waits = summary.states["closed"] + summary.states["adjudicated"], summary.states["arbitration"]
    lead = f"{summary.n_reviewed:,} of {plural(summary.n_cases, 'case')} reviewed, {settled:,} settled"
    blocks: list = [Words(f"{lead}{f', {waits:,} in arbitration' if waits else ''}.", "lead")]
    if waits:
        blocks.append(Words(f"Decide {plural(waits, 'case')} in arbitration.", "todo"))
    blocks += part.blocks(found, inputs, ReviewOptions(request.reviewed))
    if listed:
        table = decision_table(request.dataset, listed).drop(columns="data")
        blocks.append(Grid(table, "Current decisions, the latest first.", _LISTED))
    return [*blocks, *left]


def _assigned(table: pd.DataFrame | None) -> list:
    """Return assigned cases: to whom, due when, and how many are done."""
    if table is None:
        return []
    standing = table[~table["withdrawn"]].drop(columns=["withdrawn", "number"])
    late = int(standing["overdue"].sum())
    said = f"{plural(len(standing), 'assignment')} of cases{f', {late:,} overdue' if late else ''}."
    if standing["group"].any():
        said += " Each group member reviews all cases. A case is done when every member has reviewed it."
    return [Grid(standing, said, _LISTED)] if len(standing) else []
