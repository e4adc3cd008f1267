"""Figures of the Reliability page."""

import numpy as np
import plotly.graph_objects as go

from core.evaluation.sweep_table import SweepTable
from core.figures.theme import Theme, blank

_DASHES = ("solid", "dash", "dot")
_MOST_POINTS = 600


def mean_certainty(sweep: SweepTable, theme: Theme, title: str) -> go.Figure:
    """Mean annotation certainty against reliability, for top-1, top-2 and top-3 sets."""
    figure = blank(theme, title, height=360)
    for top in range(1, sweep.certainty[0].certainty.shape[1] + 1):
        mean = sweep.mean(top)
        if np.isnan(mean).any():
            continue
        error = [1.96 * result.mean_se(top) for result in sweep.certainty]
        figure.add_scatter(
            x=list(sweep.reliabilities),
            y=mean,
            mode="lines+markers",
            name=f"top-{top}",
            line={"color": theme.classes[top - 1], "width": 2.5, "dash": _DASHES[(top - 1) % 3]},
            marker={"size": 7},
            error_y={"type": "data", "array": error, "thickness": 1, "width": 3},
            customdata=error,
            hovertemplate="γ %{x:g}: %{y:.3f} ± %{customdata:.4f}<extra>top-" + str(top) + "</extra>",
        )
    figure.update_xaxes(
        title_text="reliability γ (trust in the raters)",
        type="log",
        tickmode="array",
        tickvals=list(sweep.reliabilities),
        ticktext=[f"{reliability:g}" for reliability in sweep.reliabilities],
    )
    figure.update_yaxes(title_text="mean annotation certainty", range=[0, 1.02])
    return figure


def sorted_certainty(sweep: SweepTable, theme: Theme, title: str) -> go.Figure:
    """Certainty of every case, sorted, one curve for each reliability."""
    figure = blank(theme, title, height=360)
    n_lines = len(sweep.reliabilities)
    for place, (reliability, result) in enumerate(zip(sweep.reliabilities, sweep.certainty, strict=True)):
        ordered = np.sort(result.certainty[:, 0])
        keep = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_POINTS)).astype(int))
        figure.add_scatter(
            x=(keep + 0.5) / len(ordered),
            y=ordered[keep],
            mode="lines",
            name=f"γ = {reliability:g}",
            line={"color": theme.accent, "width": 1.5 + 2 * place / max(1, n_lines - 1)},
            opacity=0.35 + 0.65 * (place + 1) / n_lines,
            hovertemplate="%{x:.0%} of cases are below %{y:.2f}<extra>γ = " + f"{reliability:g}</extra>",
        )
    figure.update_xaxes(title_text="share of cases, least certain first", tickformat=".0%", range=[0, 1])
    figure.update_yaxes(title_text="annotation certainty, top-1", range=[0, 1.02])
    return figure
