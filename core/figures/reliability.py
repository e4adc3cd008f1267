"""Figures of the Reliability page: certainty and risk against the trust in the raters."""

import numpy as np
import plotly.graph_objects as go

from ..annotations.dataset import RISK_LEVELS
from ..certainty.risk import RiskResult
from ..evaluation.sweep_table import SweepTable
from .theme import Theme, blank, legend_below, with_opacity

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "star")
_MOST_POINTS = 600


def reliability_axis(figure: go.Figure, reliabilities: tuple[float, ...]) -> None:
    """The axis of γ, logarithmic, with a tick at each value that was computed."""
    figure.update_xaxes(
        title_text="reliability γ (trust in the raters)",
        type="log",
        tickmode="array",
        tickvals=list(reliabilities),
        ticktext=[f"{reliability:g}" for reliability in reliabilities],
    )


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
            line={"color": theme.classes[top - 1], "width": 2.5, "dash": DASHES[(top - 1) % 3]},
            marker={"size": 7},
            error_y={"type": "data", "array": error, "thickness": 1, "width": 3},
            customdata=error,
            hovertemplate="γ %{x:g}: %{y:.3f} ± %{customdata:.4f}<extra>top-" + str(top) + "</extra>",
        )
    reliability_axis(figure, sweep.reliabilities)
    figure.update_yaxes(title_text="mean annotation certainty", range=[0, 1.02])
    return legend_below(figure)


def sorted_certainty(sweep: SweepTable, theme: Theme, title: str) -> go.Figure:
    """Certainty of every case, sorted, one curve for each reliability."""
    figure = blank(theme, title, height=360)
    n_lines = len(sweep.reliabilities)
    for place, (reliability, result) in enumerate(zip(sweep.reliabilities, sweep.certainty, strict=True)):
        share, ordered = _sorted(result.certainty[:, 0])
        figure.add_scatter(
            x=share,
            y=ordered,
            mode="lines",
            name=f"γ = {reliability:g}",
            line={"color": theme.accent, "width": 1.5 + 2 * place / max(1, n_lines - 1)},
            opacity=0.35 + 0.65 * (place + 1) / n_lines,
            hovertemplate="%{x:.0%} of cases are below %{y:.2f}<extra>γ = " + f"{reliability:g}</extra>",
        )
    figure.update_xaxes(title_text="share of cases, least certain first", tickformat=".0%", range=[0, 1])
    figure.update_yaxes(title_text="annotation certainty, top-1", range=[0, 1.02])
    return legend_below(figure)


def model_against_model(
    first: np.ndarray, second: np.ndarray, names: tuple[str, str], cases: tuple[str, ...], theme: Theme, title: str
) -> go.Figure:
    """Certainty of every case under two models, one dot a case."""
    figure = blank(theme, title, height=360)
    keep = np.linspace(0, len(first) - 1, min(len(first), 2 * _MOST_POINTS)).astype(int)
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": theme.grid, "width": 1}, hoverinfo="skip", showlegend=False
    )
    figure.add_scatter(
        x=first[keep],
        y=second[keep],
        mode="markers",
        marker={"size": 5, "color": theme.accent, "opacity": 0.45},
        customdata=[cases[case] for case in keep],
        hovertemplate="%{customdata}: %{x:.2f} and %{y:.2f}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title_text=f"certainty under {names[0]}", range=[0, 1.02])
    figure.update_yaxes(title_text=f"certainty under {names[1]}", range=[0, 1.02])
    return figure


def risk_certainty(risk: RiskResult, theme: Theme, title: str) -> go.Figure:
    """Certainty of the risk level of every case, sorted, both ways."""
    figure = blank(theme, title, height=340)
    pairs = (("of the top-1 class", risk.of_top1, "solid"), ("of most plausibility", risk.summed, "dash"))
    for name, values, dash in pairs:
        share, ordered = _sorted(values)
        figure.add_scatter(
            x=share,
            y=ordered,
            mode="lines",
            name=name,
            line={"color": theme.accent, "width": 2.5, "dash": dash},
            hovertemplate="%{x:.0%} of cases are below %{y:.2f}<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title_text="share of cases, least certain first", tickformat=".0%", range=[0, 1])
    figure.update_yaxes(title_text="certainty of the risk level", range=[0, 1.02])
    return legend_below(figure)


def expected_risk(risk: RiskResult, theme: Theme, title: str) -> go.Figure:
    """How many cases have which expected risk; colours and words say the level."""
    figure = blank(theme, title, height=340)
    edges = np.linspace(0, 2, 21)
    count, _ = np.histogram(risk.expected, bins=edges)
    centres = (edges[:-1] + edges[1:]) / 2
    level = np.digitize(centres, (0.5, 1.5))
    for code, name in enumerate(RISK_LEVELS):
        here = level == code
        figure.add_bar(
            x=centres[here],
            y=count[here],
            width=0.09,
            name=name,
            marker={"color": with_opacity(theme.risk[code], 0.6), "line": {"color": theme.risk[code], "width": 1}},
            hovertemplate="expected risk about %{x:.2f}: %{y:,} cases<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title_text="expected risk (low 0, medium 1, high 2)", range=[-0.03, 2.03])
    figure.update_yaxes(title_text="cases")
    return legend_below(figure)


def by_risk(values: list[np.ndarray], theme: Theme, title: str, axis: str) -> go.Figure:
    """Distribution of a count per case for low, medium and high expected risk."""
    figure = blank(theme, title, height=300)
    for code, name in enumerate(RISK_LEVELS):
        if not len(values[code]):
            continue
        numbers, count = np.unique(values[code], return_counts=True)
        figure.add_scatter(
            x=numbers,
            y=count / count.sum(),
            mode="lines+markers",
            name=f"{name} ({len(values[code]):,} cases)",
            line={"color": theme.risk[code], "width": 2, "dash": DASHES[code]},
            marker={"symbol": SYMBOLS[code], "size": 7},
            hovertemplate="%{x}: %{y:.0%} of cases<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title_text=axis, dtick=1)
    figure.update_yaxes(title_text="share of cases", tickformat=".0%", rangemode="tozero")
    return legend_below(figure)


def certainty_and_agreement(
    agreement: np.ndarray, certainty: np.ndarray, line: tuple[float, float], theme: Theme, title: str
) -> go.Figure:
    """Certainty against leave-one-out agreement, one dot a case, with the line of least squares.

    Parameters
    ----------
    agreement, certainty : ndarray, shape (n_cases,)
    line : tuple of float
        Intercept and slope.
    """
    figure = blank(theme, title, height=360)
    keep = np.linspace(0, len(agreement) - 1, min(len(agreement), 2 * _MOST_POINTS)).astype(int)
    jitter = np.random.default_rng(0).uniform(-0.008, 0.008, len(keep))
    figure.add_scatter(
        x=agreement[keep] + jitter,
        y=certainty[keep],
        mode="markers",
        marker={"size": 5, "color": theme.accent, "opacity": 0.4},
        hovertemplate="agreement %{x:.2f}, certainty %{y:.2f}<extra></extra>",
        showlegend=False,
    )
    ends = np.array([agreement.min(), agreement.max()])
    figure.add_scatter(
        x=ends,
        y=line[0] + line[1] * ends,
        mode="lines",
        line={"color": theme.mean, "width": 2},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_xaxes(title_text="leave-one-rater-out agreement", range=[-0.03, 1.03])
    figure.update_yaxes(title_text="annotation certainty", range=[0, 1.02])
    return figure


def _sorted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ordered = np.sort(values)
    keep = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_POINTS)).astype(int))
    return (keep + 0.5) / len(ordered), ordered[keep]
