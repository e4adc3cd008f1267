"""Figures of the Models page."""

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import Theme, blank, legend_below, with_opacity
from core.models.result import RaterModelFit
from core.text import plotly, shorten

MOST_CLASSES = 12
MODEL_TITLES = {"majority": "Majority vote", "dawid-skene": "Dawid-Skene"}


def prevalence_bars(fits: list[RaterModelFit], theme: Theme, title: str) -> go.Figure:
    """Prevalence of each class by vote and by model, the commonest first; at most `MOST_CLASSES` are drawn."""
    order = np.argsort(-fits[-1].prevalence, kind="stable")[:MOST_CLASSES]
    names = [plotly(shorten(fits[0].classes[code], 24)) for code in order]
    figure = blank(theme, title, height=130 + 26 * len(order))
    for place, fit in enumerate(fits):
        colour = theme.classes[1 - place]
        figure.add_bar(
            y=list(range(len(order))),
            x=fit.prevalence[order],
            orientation="h",
            name=MODEL_TITLES[fit.model],
            marker={"color": with_opacity(colour, 0.75), "pattern": {"shape": "/" if place == 0 else ""}},
            customdata=names,
            hovertemplate="%{customdata}: %{x:.3f}<extra>" + MODEL_TITLES[fit.model] + "</extra>",
        )
    figure.update_xaxes(title_text="share of cases", rangemode="tozero")
    figure.update_yaxes(
        tickmode="array", tickvals=list(range(len(order))), ticktext=names, autorange="reversed", showgrid=False
    )
    figure.update_layout(barmode="group")
    return legend_below(figure)


def confusion_heatmap(fit: RaterModelFit, rater: int, theme: Theme, title: str) -> go.Figure:
    """One rater's confusion matrix; at most `MOST_CLASSES` classes, those the rater met most."""
    order = np.sort(np.argsort(-fit.evidence[rater], kind="stable")[:MOST_CLASSES])
    names = [plotly(shorten(fit.classes[code], 18)) for code in order]
    matrix = fit.confusion[rater][np.ix_(order, order)]
    evidence = fit.evidence[rater][order]
    n_shown = len(order)
    text = [[f"{value:.2f}" for value in row] for row in matrix]
    hover = [
        [
            f"true {names[k]}, answered {names[m]}: {matrix[k, m]:.3f}<br>about {evidence[k]:,.1f} annotations"
            for m in range(n_shown)
        ]
        for k in range(n_shown)
    ]
    figure = blank(theme, title, height=max(300, 130 + 30 * n_shown))
    figure.add_heatmap(
        z=matrix,
        x=list(range(n_shown)),
        y=list(range(n_shown)),
        text=text if n_shown <= 12 else None,
        texttemplate="%{text}" if n_shown <= 12 else None,
        hovertext=hover,
        hovertemplate="%{hovertext}<extra></extra>",
        colorscale=[[0, with_opacity(theme.accent, 0.03)], [1, with_opacity(theme.accent, 0.85)]],
        zmin=0,
        zmax=1,
        xgap=2,
        ygap=2,
        showscale=False,
    )
    ticks = {"tickmode": "array", "tickvals": list(range(n_shown)), "ticktext": names, "showgrid": False}
    figure.update_xaxes(**ticks, title_text="answered class", tickangle=-45 if n_shown > 5 else 0)
    figure.update_yaxes(**ticks, title_text="true class", autorange="reversed")
    return figure


def objective_path(fit: RaterModelFit, theme: Theme, title: str) -> go.Figure:
    """What was maximised against the iteration: it must never fall."""
    figure = blank(theme, title, height=240)
    figure.add_scatter(
        x=list(range(1, len(fit.objective) + 1)),
        y=list(fit.objective),
        mode="lines+markers",
        line={"color": theme.accent, "width": 2},
        marker={"size": 4},
        hovertemplate="iteration %{x}: %{y:,.4f}<extra></extra>",
    )
    figure.update_xaxes(title_text="iteration")
    figure.update_yaxes(title_text="objective")
    return figure
