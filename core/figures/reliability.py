"""Figures of the Reliability page: certainty and risk against the reliability γ of raters."""

import numpy as np
import plotly.graph_objects as go

from ..agreement.intervals import Z95
from ..annotations.dataset import RISK_LEVELS
from ..certainty.risk import RiskResult
from ..evaluation.sweep_table import SweepTable
from ..text import exact, plural, typed
from .theme import Theme, Trace, bar, figure_of, scatter, with_opacity

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "star")
RELIABILITY = "reliability γ"
_MOST_POINTS = 600
_BESIDE = 1.15  # room before the first and after the last γ, as a factor
_CASES_SORTED = {"title": "share of cases, least certain first", "tickformat": "0.0%", "range": [0, 1]}


def reliability_axis(reliabilities: tuple[float, ...]) -> dict:
    """Return the axis of γ, logarithmic, with a tick at each value that was computed."""
    return {
        "title": RELIABILITY,
        "type": "log",
        "tickmode": "array",
        "tickvals": list(reliabilities),
        "ticktext": [typed(reliability) for reliability in reliabilities],
    }


def axis_to_one(title: str) -> dict:
    """Return the axis of a probability, with room for marks at 1."""
    return {"title": title, "range": [0, 1.02], "tickformat": "0.0%"}


def mean_certainty(
    sweep: SweepTable, theme: Theme, title: str, reliabilities: tuple[float, ...] | None = None
) -> go.Figure:
    """Draw mean annotation certainty against reliability, for top-1, top-2 and top-3 sets that leave a class out.

    Parameters
    ----------
    sweep : SweepTable
    theme : Theme
    title : str
    reliabilities : tuple of float, optional
        Values of γ that the axis has room for; those of the sweep if omitted.
    """
    wide = reliabilities or sweep.reliabilities
    data: list[Trace] = []
    for top in sweep.tops:
        error = [Z95 * (result.mean_se(top) or 0.0) for result in sweep.certainty]
        data.append(
            scatter(
                x=list(sweep.reliabilities),
                y=sweep.mean(top),
                mode="lines+markers",
                name=f"top-{top}",
                line={"color": theme.classes[top - 1], "width": 2.5, "dash": DASHES[(top - 1) % 3]},
                marker={"size": 7},
                error_y={"type": "data", "array": error, "thickness": 1, "width": 3},
                customdata=error,
                hovertemplate="γ %{x:~g}: %{y:0.1%} ± %{customdata:0.2%}<extra>top-" + str(top) + "</extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        360,
        xaxis=reliability_axis(wide) | {"range": [np.log10(wide[0] / _BESIDE), np.log10(wide[-1] * _BESIDE)]},
        yaxis=axis_to_one("mean annotation certainty"),
        legend_below=True,
    )


def sorted_certainty(sweep: SweepTable, theme: Theme, title: str) -> go.Figure:
    """Draw the certainty of every case, sorted, one curve for each reliability.

    Parameters
    ----------
    sweep : SweepTable
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    n_lines = len(sweep.reliabilities)
    for place, (reliability, result) in enumerate(zip(sweep.reliabilities, sweep.certainty, strict=True)):
        line = {"color": theme.accent, "width": 1.5 + 2 * place / max(1, n_lines - 1)}
        curve = _sorted_curve(result.certainty[:, 0], f"γ = {exact(reliability)}", line)
        data.append(curve | {"opacity": 0.35 + 0.65 * (place + 1) / n_lines})
    return figure_of(
        theme,
        data,
        title,
        360,
        xaxis=_CASES_SORTED,
        yaxis=axis_to_one("annotation certainty, top-1"),
        legend_below=True,
    )


def model_against_model(
    first: np.ndarray, second: np.ndarray, names: tuple[str, str], cases: tuple[str, ...], theme: Theme, title: str
) -> go.Figure:
    """Draw the certainty of every case under two models, one dot per case.

    Parameters
    ----------
    first, second : ndarray, shape (n_cases,)
    names : (str, str)
        Names of the two models.
    cases : tuple of str
    theme : Theme
    title : str
    """
    keep = np.linspace(0, len(first) - 1, min(len(first), 2 * _MOST_POINTS)).astype(int)
    data = [
        scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"color": theme.grid, "width": 1}, hoverinfo="skip", showlegend=False
        ),
        scatter(
            x=first[keep],
            y=second[keep],
            mode="markers",
            marker={"size": 5, "color": theme.accent, "opacity": 0.45},
            customdata=[cases[case] for case in keep],
            hovertemplate="%{customdata}: %{x:0.0%} and %{y:0.0%}<extra></extra>",
            showlegend=False,
        ),
    ]
    return figure_of(
        theme,
        data,
        title,
        360,
        xaxis=axis_to_one(f"certainty under {names[0]}"),
        yaxis=axis_to_one(f"certainty under {names[1]}"),
    )


def risk_certainty(risk: RiskResult, theme: Theme, title: str) -> go.Figure:
    """Draw the certainty of the risk level of every case, sorted, both ways.

    Parameters
    ----------
    risk : RiskResult
    theme : Theme
    title : str
    """
    pairs = (("of the leading class", risk.of_top1, "solid"), ("of most plausibility", risk.summed, "dash"))
    data = [
        _sorted_curve(values, name, {"color": theme.accent, "width": 2.5, "dash": dash}) for name, values, dash in pairs
    ]
    return figure_of(
        theme,
        data,
        title,
        340,
        xaxis=_CASES_SORTED,
        yaxis=axis_to_one("certainty of the risk level"),
        legend_below=True,
    )


def expected_risk(risk: RiskResult, theme: Theme, title: str) -> go.Figure:
    """Draw how many cases have which expected risk; colours and words show the level.

    Parameters
    ----------
    risk : RiskResult
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    edges = np.linspace(0, 2, 21)
    count, _ = np.histogram(risk.expected, bins=edges)
    centres = (edges[:-1] + edges[1:]) / 2
    level = np.digitize(centres, (0.5, 1.5))
    for code, name in enumerate(RISK_LEVELS):
        here = level == code
        data.append(
            bar(
                x=centres[here],
                y=count[here],
                width=0.09,
                name=name,
                marker={"color": with_opacity(theme.risk[code], 0.6), "line": {"color": theme.risk[code], "width": 1}},
                hovertext=[plural(n, "case") for n in count[here].tolist()],
                hovertemplate="expected risk about %{x:0.2f}: %{hovertext}<extra>" + name + "</extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        340,
        xaxis={"title": "expected risk (low 0, medium 1, high 2)", "range": [-0.03, 2.03]},
        yaxis={"title": "cases"},
        legend_below=True,
    )


def by_risk(values: list[np.ndarray], theme: Theme, title: str, axis: str) -> go.Figure:
    """Draw the distribution of a count per case for low, medium and high expected risk.

    Parameters
    ----------
    values : sequence of ndarray, each of shape (n_cases,)
        Counts for low, medium and high expected risk.
    theme : Theme
    title : str
    axis : str
        Quantity on the axis.
    """
    data: list[Trace] = []
    for code, name in enumerate(RISK_LEVELS):
        if not len(values[code]):
            continue
        numbers, count = np.unique(values[code], return_counts=True)
        data.append(
            scatter(
                x=numbers,
                y=count / count.sum(),
                mode="lines+markers",
                name=f"{name} ({plural(len(values[code]), 'case')})",
                line={"color": theme.risk[code], "width": 2, "dash": DASHES[code]},
                marker={"symbol": SYMBOLS[code], "size": 7},
                hovertemplate="%{x}: %{y:0.0%} of cases<extra>" + name + "</extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        300,
        xaxis={"title": axis, "dtick": 1},
        yaxis={"title": "share of cases", "tickformat": "0.0%", "rangemode": "tozero"},
        legend_below=True,
    )


def certainty_and_agreement(
    agreement: np.ndarray, certainty: np.ndarray, line: tuple[float, float], theme: Theme, title: str
) -> go.Figure:
    """Draw certainty against leave-one-out agreement, one dot per case, with the line of least squares.

    Parameters
    ----------
    agreement, certainty : ndarray, shape (n_cases,)
    line : tuple of float
        Intercept and slope of the line.
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    keep = np.linspace(0, len(agreement) - 1, min(len(agreement), 2 * _MOST_POINTS)).astype(int)
    jitter = np.random.default_rng(0).uniform(-0.008, 0.008, len(keep))
    data.append(
        scatter(
            x=agreement[keep] + jitter,
            y=certainty[keep],
            mode="markers",
            marker={"size": 5, "color": theme.accent, "opacity": 0.4},
            customdata=agreement[keep],
            hovertemplate="agreement %{customdata:0.2f}, certainty %{y:0.0%}<extra></extra>",
            showlegend=False,
        )
    )
    ends = np.array([agreement.min(), agreement.max()])
    data.append(
        scatter(
            x=ends,
            y=line[0] + line[1] * ends,
            mode="lines",
            line={"color": theme.mean, "width": 2},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    return figure_of(
        theme,
        data,
        title,
        360,
        xaxis={"title": "leave-one-rater-out agreement", "range": [-0.03, 1.03]},
        yaxis=axis_to_one("annotation certainty"),
    )


def _sorted_curve(values: np.ndarray, name: str, line: dict) -> Trace:
    """Draw values of cases in ascending order, against the share of cases below them."""
    ordered = np.sort(values)
    keep = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_POINTS)).astype(int))
    return scatter(
        x=(keep + 0.5) / len(ordered),
        y=ordered[keep],
        mode="lines",
        name=name,
        line=line,
        hovertemplate=f"%{{x:0.0%}} of cases are below %{{y:0.2f}}<extra>{name}</extra>",
    )
