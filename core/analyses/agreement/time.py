"""Agreement over time, in windows of cases by the date of their first annotation."""

from ...agreement.intervals import Coefficient
from ...agreement.over_time import OverTime, over_time
from ...annotations.dataset import Dataset
from ...figures import agreement_parts as figures
from ...text import plotly, plural, with_interval
from ..blocks import Block, Download, Figure, Words
from ..schema import Column, frame_of
from .columns import COEFFICIENT, NUMBERS


def compute(dataset: Dataset, options) -> OverTime:
    """Compute agreement in windows of time."""
    return over_time(dataset, options.by)


def present(found: OverTime, dataset: Dataset, options) -> list[Block]:
    """Show a line through the windows for each coefficient."""
    known = [window for window in found.windows if window.coefficients[0].value is not None]
    title = "Agreement over time"
    if len(known) > 1:
        first, last = (_said(window.coefficients[0]) for window in (known[0], known[-1]))
        title = f"SPA was {first} in {plotly(known[0].label)} and {last} in {plotly(known[-1].label)}"
    undated = f"Left out: {plural(found.n_undated, 'case')} without a date. " if found.n_undated else ""
    return [
        Figure(lambda theme: figures.agreement_over_time(found, theme, title), "Agreement by time window", "over_time"),
        Words(f"{undated}n: number of cases with at least two annotations.", "note"),
        Download(table_of(found, dataset, options), "Windows", "agreement_over_time", "over_time_table"),
    ]


def _said(one: Coefficient) -> str:
    return with_interval(one.value, one.ci_low, one.ci_high)


def table_of(found: OverTime, dataset: Dataset, options):
    """Return one row per coefficient and window."""
    rows = (
        (window.label, one.name, *(getattr(one, column.name) for column in NUMBERS))
        for window in found.windows
        for one in window.coefficients
    )
    return frame_of(rows, (Column("window"), COEFFICIENT[0], *NUMBERS))
