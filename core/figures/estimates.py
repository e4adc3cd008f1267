"""Estimates with their intervals, one line for each."""

from collections.abc import Sequence

import plotly.graph_objects as go

from ..text import plotly
from .labels import between, wrapped_names
from .theme import Theme, cross, error_bars, figure_of, rows, scatter, upright

MOST_LINES = 40


def estimates(
    lines: Sequence[tuple[str, float, float, float]],
    theme: Theme,
    title: str,
    axis: str,
    reference: float | None = None,
    strong: int = 0,
) -> go.Figure:
    """Draw a line for each estimate with its interval, in the given order; at most `MOST_LINES`.

    Parameters
    ----------
    lines : sequence of (name, value, low, high)
    theme : Theme
    title : str
    axis : str
        Title of the axis of values.
    reference : float, optional
        Value drawn as a line to compare with.
    strong : int
        Number of first lines that the others are compared with.
    """
    shown = list(lines[:MOST_LINES])
    ends = [(low, high) if low == low and high == high else (value, value) for _, value, low, high in shown]
    data = [
        scatter(
            x=[value for _, value, _, _ in shown[part]],
            y=list(range(len(shown)))[part],
            mode="markers",
            marker=cross(colour, 9, 2.5),
            error_x=error_bars(
                [end[1] - one[1] for one, end in zip(shown[part], ends[part], strict=True)],
                [one[1] - end[0] for one, end in zip(shown[part], ends[part], strict=True)],
                colour,
            ),
            customdata=[[plotly(one[0]), between(*end)] for one, end in zip(shown[part], ends[part], strict=True)],
            hovertemplate="%{customdata[0]}: %{x:0.3f}<br>%{customdata[1]}<extra></extra>",
            showlegend=False,
        )
        for part, colour in ((slice(0, strong), theme.accent), (slice(strong, None), theme.quiet))
        if shown[part]
    ]
    line = {"color": theme.quiet, "dash": "dot", "width": 1.5}
    names = wrapped_names([name for name, *_ in shown], 26)
    return figure_of(
        theme,
        data,
        title,
        100 + (36 if any("<br>" in name for name in names) else 24) * max(3, len(shown)),
        xaxis={"title": axis},
        yaxis=rows(names, theme),
        shapes=[] if reference is None else [upright(reference, line)],
    )
