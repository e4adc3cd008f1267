"""Figures of paired comparisons."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..text import plotly, probability, shorten
from .labels import short_names, slant
from .theme import Theme, figure_of, heatmap, with_opacity

MOST_ITEMS = 25
_MOST_WITH_TEXT = 12
_MOST_OPAQUE = 0.5  # so that text in the ink of the theme can be read on any cell


def above_heatmap(names: Sequence[str], above: np.ndarray, theme: Theme, title: str) -> go.Figure:
    """Draw the probability that the item of a row is stronger than that of a column.

    Parameters
    ----------
    names : sequence of str
        Items, in the order of both axes.
    above : ndarray, shape (n_items, n_items)
        Probabilities; NaN if unknown.
    theme : Theme
    title : str
    """
    few, n = len(names) <= _MOST_WITH_TEXT, len(names)
    text = [["" if np.isnan(value) else probability(float(value)) for value in row] for row in above]
    pairs = [[f"P({plotly(shorten(a))} above {plotly(shorten(b))})" for b in names] for a in names]
    hover = [[f"{pair}: {cell}" for pair, cell in zip(*rows, strict=True)] for rows in zip(pairs, text, strict=True)]
    shown = [plotly(name) for name in short_names(list(names), 16)]
    data = [
        heatmap(
            z=above,
            x=list(range(n)),
            y=list(range(n)),
            zmin=0,
            zmax=1,
            colorscale=[
                [0, with_opacity(theme.quiet, _MOST_OPAQUE)],
                [0.5, theme.paper],
                [1, with_opacity(theme.accent, _MOST_OPAQUE)],
            ],
            text=[[_short(cell) for cell in row] for row in text] if few else None,
            texttemplate="%{text}" if few else None,
            textfont={"size": 11, "color": theme.ink},
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
            xgap=2,
            ygap=2,
            showscale=not few,
            colorbar={"thickness": 10, "outlinewidth": 0, "tickfont": {"color": theme.quiet}, "tickformat": "0.0%"},
        )
    ]
    axis = {"tickmode": "array", "tickvals": list(range(n)), "ticktext": shown, "showgrid": False}
    return figure_of(
        theme,
        data,
        title,
        max(300, 110 + min(44, 700 // n) * n),
        xaxis={**axis, "range": [-0.5, n - 0.5], "tickangle": slant(shown)},
        yaxis={**axis, "range": [n - 0.5, -0.5]},
    )


def _short(cell: str) -> str:
    """Return a percentage as it fits in a narrow cell."""
    return cell.replace("over ", ">").replace("under ", "<").removesuffix("%")
