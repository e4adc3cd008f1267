"""Figures of scores: plausible scores of a case, the effect of reliability γ on them, and errors."""

import numpy as np
import plotly.graph_objects as go

from ..certainty.score_trust import PlausibleScore, ScoreTrust
from ..evaluation.score_errors import ScoreErrors
from ..order import lowest_first
from ..raters.score_drift import ScoreDrift
from ..raters.score_gold import ScoreGold
from ..raters.score_raters import ScoreRaters
from ..text import exact, plotly, shorten
from .classifiers import named_crosses
from .labels import dates, score_between
from .raters import rater_traces
from .reliability import DASHES, SYMBOLS, axis_to_one, reliability_axis
from .theme import (
    Theme,
    Trace,
    cross,
    error_bars,
    figure_of,
    filled_band,
    level,
    rows,
    scatter,
    upright,
    upright_band,
    with_opacity,
)

_STRIP, _STEP = -0.09, 0.075  # where ticks stand below the density, whose top is 1, and how far apart equal ones are
_MOST_STACKED = 6
_WHO = 6  # raters named at a tick
METRIC_TITLES = {
    "absolute": "mean absolute error",
    "root_squared": "root mean squared error",
    "bias": "bias, predicted minus plausible",
    "right_side": "share on the correct side of the threshold",
}
_MOST_POINTS = 600
MOST_RATERS = 60
_TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)


def score_density(
    found: PlausibleScore,
    theme: Theme,
    title: str,
    *,
    hide_names: bool = False,
    predictions: tuple[tuple[str, float], ...] = (),
) -> go.Figure:
    """Draw the density of a case's plausible score, its 95% interval shaded; each rater's score is a tick below.

    Parameters
    ----------
    found : PlausibleScore
    theme : Theme
    title : str
    hide_names : bool
        True to leave out names of raters at the ticks.
    predictions : tuple of (str, float)
        Predicted scores by name, as diamonds on the axis.
    """
    data = [*_curve(found, theme), _ticks(found, theme, hide_names)]
    if predictions:
        data.append(
            scatter(
                x=[value for _, value in predictions],
                y=[0] * len(predictions),
                mode="markers",
                marker={"symbol": "diamond", "size": 11, "color": theme.mean},
                customdata=[plotly(shorten(name, 30)) for name, _ in predictions],
                hovertemplate="%{customdata}: %{x:0.4~g}<extra>predicted</extra>",
                name="predicted",
                showlegend=False,
            )
        )
    shapes = [level(0, {"color": theme.grid, "width": 1})]
    if found.threshold is not None:
        shapes.append(upright(found.threshold, {"color": theme.ink, "width": 1.5, "dash": "dash"}))
    return figure_of(
        theme,
        data,
        title,
        320,
        xaxis={"title": "score"},
        yaxis={"visible": False, "range": [_STRIP - _STEP * _MOST_STACKED, 1.06], "fixedrange": True},
        shapes=shapes,
    )


def _curve(found: PlausibleScore, theme: Theme) -> list[Trace]:
    """Draw the density with the interval shaded, and a cross at the mean."""
    height = found.density / found.density.max()
    inside = (found.x >= found.low) & (found.x <= found.high)
    x, y = found.x[inside], height[inside]
    return [
        filled_band(x, np.zeros(len(x)), y, with_opacity(theme.accent, 0.18)),
        scatter(
            x=found.x,
            y=height,
            mode="lines",
            line={"color": theme.accent, "width": 2.5},
            hovertemplate="plausible score %{x:0.4~g}<extra></extra>",
            showlegend=False,
        ),
        scatter(
            x=[found.m],
            y=[0],
            mode="markers",
            marker=cross(theme.ink, 15, 2.5),
            hovertemplate=f"mean %{{x:0.4~g}} ({score_between(found.low, found.high)})<extra></extra>",
            name="mean",
            showlegend=False,
        ),
    ]


def _ticks(found: PlausibleScore, theme: Theme, hide_names: bool) -> Trace:
    """Draw one tick per score; equal ones are below each other, and beyond a few at the last place."""
    values, place, count = np.unique(found.score, return_inverse=True, return_counts=True)
    first = np.concatenate([[0], np.cumsum(count)])[:-1]
    stacked = np.minimum(np.arange(len(found.score)) - first[place], _MOST_STACKED - 1)
    said = []
    for start, n in zip(first, count, strict=True):
        names = [plotly(shorten(name, 24)) for name in found.rater[start : start + min(n, _WHO)]]
        more = f" and {n - _WHO:,} more" if n > _WHO else ""
        said.append(f"{n:,}" if hide_names else ", ".join(names) + more)
    return scatter(
        x=values[place],
        y=_STRIP - _STEP * stacked,
        mode="markers",
        marker={"symbol": "line-ns", "size": 12, "line": {"width": 2.5, "color": theme.ink}},
        customdata=[said[at] for at in place],
        hovertemplate="%{x:~g}: %{customdata}<extra></extra>",
        name="raters",
        showlegend=False,
    )


def score_against_trust(found: ScoreTrust, reliability: float, theme: Theme, title: str) -> go.Figure:
    """Draw one case's plausible score with its interval against γ; a line is at the γ in use.

    Parameters
    ----------
    found : ScoreTrust
        Result for one case.
    reliability : float
    theme : Theme
    title : str
    """
    shapes = [upright(reliability, {"color": theme.quiet, "width": 1.5, "dash": "dot"})]
    if found.threshold is not None:
        shapes.append(level(found.threshold, {"color": theme.ink, "width": 1.5, "dash": "dash"}))
    ends = np.column_stack([found.low[:, 0], found.high[:, 0]])
    return figure_of(
        theme,
        [
            filled_band(found.reliability, found.low[:, 0], found.high[:, 0], with_opacity(theme.accent, 0.18)),
            scatter(
                x=found.reliability,
                y=found.m[:, 0],
                mode="lines",
                line={"color": theme.accent, "width": 2.5},
                customdata=ends,
                hovertemplate="γ %{x:0.2~g}: %{y:0.4~g} (%{customdata[0]:0.4~g} to %{customdata[1]:0.4~g})"
                "<extra></extra>",
                showlegend=False,
            ),
        ],
        title,
        300,
        xaxis=_trust_axis(found.reliability),
        yaxis={"title": "plausible score, 95%"},
        shapes=shapes,
    )


def above_against_trust(found: ScoreTrust, reliability: float, theme: Theme, title: str) -> go.Figure:
    """Draw the probability that one case's score is above the threshold, against γ; a line is at the γ in use.

    Parameters
    ----------
    found : ScoreTrust
        Result for one case, with a threshold.
    reliability : float
    theme : Theme
    title : str
    """
    data = [
        scatter(
            x=found.reliability,
            y=found.above[:, 0] if found.above is not None else [],
            mode="lines",
            line={"color": theme.accent, "width": 2.5},
            hovertemplate="γ %{x:0.2~g}: %{y:0.3f}<extra></extra>",
            showlegend=False,
        )
    ]
    return figure_of(
        theme,
        data,
        title,
        260,
        xaxis=_trust_axis(found.reliability),
        yaxis={"title": f"P(score above {exact(found.threshold)})", "range": [-0.02, 1.02]},
        shapes=[
            upright(reliability, {"color": theme.quiet, "width": 1.5, "dash": "dot"}),
            level(0.5, {"color": theme.grid, "width": 1.5}),
        ],
    )


def _trust_axis(reliabilities: np.ndarray) -> dict:
    """Return the axis of γ with a few round ticks within the range."""
    low, high = reliabilities.min(), reliabilities.max()
    return reliability_axis(tuple(tick for tick in _TICKS if low <= tick <= high))


def widths(found: ScoreTrust, theme: Theme, title: str) -> go.Figure:
    """Draw the width of intervals of all cases against γ: median, and the middle half of the cases as a band.

    Parameters
    ----------
    found : ScoreTrust
        Result for all cases.
    theme : Theme
    title : str
    """
    low, middle, high = found.quartiles
    line = {"color": theme.accent, "width": 2.5}
    return figure_of(
        theme,
        [
            filled_band(found.reliability, low, high, with_opacity(theme.accent, 0.18)),
            scatter(
                x=found.reliability,
                y=middle,
                mode="lines+markers",
                line=line,
                marker={"size": 7},
                customdata=np.column_stack([low, high]),
                hovertemplate="γ %{x:~g}: %{y:0.4~g} (%{customdata[0]:0.4~g} to %{customdata[1]:0.4~g})<extra></extra>",
                showlegend=False,
            ),
        ],
        title,
        340,
        xaxis=reliability_axis(tuple(found.reliability)),
        yaxis={"title": "width of the 95% interval", "rangemode": "tozero"},
    )


def sides(found: ScoreTrust, theme: Theme, title: str) -> go.Figure:
    """Draw P(score above the threshold) of every case, sorted, one curve for each γ.

    Parameters
    ----------
    found : ScoreTrust
        Result for all cases, with a threshold.
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    above = np.empty((0, 0)) if found.above is None else np.sort(found.above, axis=1)
    for number, (reliability, p) in enumerate(zip(found.reliability, above, strict=True)):
        keep = np.unique(np.linspace(0, len(p) - 1, min(len(p), _MOST_POINTS)).astype(int))
        name = f"γ = {exact(reliability)}"
        line = {"color": theme.accent, "width": 1.5 + 2 * number / max(1, len(above) - 1)}
        data.append(
            scatter(
                x=(keep + 0.5) / len(p),
                y=p[keep],
                mode="lines",
                name=name,
                line=line,
                opacity=0.35 + 0.65 * (number + 1) / len(above),
                hovertemplate=f"%{{x:0.0%}} of cases are below %{{y:0.2f}}<extra>{name}</extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        340,
        xaxis={"title": "share of cases, lowest first", "tickformat": "0.0%", "range": [0, 1]},
        yaxis=axis_to_one(f"P(score above {exact(found.threshold)})"),
        legend_below=True,
    )


def errors_against_trust(found: tuple[ScoreErrors, ...], metric: str, theme: Theme, title: str) -> go.Figure:
    """Draw an error of each predictor against γ: line = mean over plausible truths, band = 95% of them, × = the point.

    Parameters
    ----------
    found : tuple of ScoreErrors
        Errors, one for each γ, ascending.
    metric : str
        Name of one of its metrics.
    theme : Theme
    title : str
    """
    x = [one.reliability for one in found]
    at = found[0].metrics.index(metric)
    data: list[Trace] = []
    for number, name in enumerate(found[0].predictors):
        colour, label = theme.classes[number % len(theme.classes)], plotly(shorten(name, 24))
        low, high = ([float(getattr(one, end)[number, at]) for one in found] for end in ("low", "high"))
        data.append(filled_band(x, low, high, with_opacity(colour, 0.14)))
        data.append(
            scatter(
                x=x,
                y=[float(one.mean[number, at]) for one in found],
                mode="lines+markers",
                name=label,
                line={"color": colour, "width": 2.5, "dash": DASHES[number % len(DASHES)]},
                marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 8},
                customdata=np.column_stack([low, high]),
                hovertemplate="γ %{x:~g}: %{y:0.4~g} (%{customdata[0]:0.4~g} to %{customdata[1]:0.4~g})<extra>"
                + label
                + "</extra>",
            )
        )
        data.append(
            scatter(
                x=[x[-1] * 1.22],
                y=[float(found[-1].point[number, at])],
                mode="markers",
                marker={"symbol": "x", "size": 11, "color": colour},
                hovertemplate="with the mean plausible scores as the truth: %{y:0.4~g}<extra>" + label + "</extra>",
                showlegend=False,
            )
        )
    named = {"title": METRIC_TITLES[metric]}
    zero = {} if metric == "bias" else {"rangemode": "tozero"}
    axes = {"xaxis": reliability_axis(tuple(x)), "yaxis": named | zero}
    return figure_of(theme, named_crosses(data, theme), title, 360, **axes, legend_below=True)


def severities(found: ScoreRaters, theme: Theme, title: str) -> go.Figure:
    """Draw each rater's severity with its interval, the lowest scores on top; clear ones are crosses in another colour.

    Parameters
    ----------
    found : ScoreRaters
    theme : Theme
    title : str
    """
    ends = found.severity, found.severity_low, found.severity_high
    return _of_raters(found, ends, found.severe, theme, title, "score relative to the average rater", 0.0)


def spreads(found: ScoreRaters, theme: Theme, title: str) -> go.Figure:
    """Draw each rater's spread with its interval, the least on top; clear ones are crosses in another colour.

    Parameters
    ----------
    found : ScoreRaters
    theme : Theme
    title : str
    """
    ends = found.spread, found.spread_low, found.spread_high
    return _of_raters(found, ends, found.erratic, theme, title, "spread around the case score", found.median_spread)


def biases(found: ScoreGold, theme: Theme, title: str) -> go.Figure:
    """Draw how far each rater scores above the known scores, with its interval, the lowest scores on top.

    Parameters
    ----------
    found : ScoreGold
    theme : Theme
    title : str
    """
    ends = found.bias, found.bias_low, found.bias_high
    nobody = np.zeros(len(found.raters), bool)
    return _of_raters(found, ends, nobody, theme, title, "score minus gold", 0.0)


def severity_over_time(found: ScoreDrift, theme: Theme, title: str, unit: str = "") -> go.Figure:
    """Draw how far one rater scores above the others, by date: means of stretches, and each score as a dot.

    If severity changed, the interval of the time of change is shaded and the means before and after are lines.

    Parameters
    ----------
    found : ScoreDrift
    theme : Theme
    title : str
    unit : str
        "class" for ordered classes, empty for scores.
    """
    each, many = ("an annotation", "annotations") if unit else ("a score", "scores")
    mean, low, high, first, last, n = found.windows.T
    keep = np.unique(np.linspace(0, len(found.time) - 1, min(len(found.time), _MOST_POINTS)).astype(int))
    shapes = [level(0, {"color": theme.quiet, "dash": "dot", "width": 1.5})]
    data: list[Trace] = [
        scatter(
            x=dates(found.time[keep]),
            y=found.above[keep],
            mode="markers",
            name=each,
            marker={"color": with_opacity(theme.quiet, 0.55), "size": 5},
            hovertemplate="%{x|%Y-%m-%d}: %{y:0.4~g} above the others<extra></extra>",
        ),
        scatter(
            x=dates((first + last) / 2),
            y=mean,
            mode="lines+markers",
            name="mean of a period, 95%",
            line={"color": theme.accent, "width": 2},
            error_y=error_bars(high - mean, mean - low, with_opacity(theme.accent, 0.6), 1.5, 3),
            customdata=[[score_between(a, b), f"{int(count):,}"] for a, b, count in zip(low, high, n, strict=True)],
            hovertemplate="%{x|%Y-%m-%d}: %{y:0.4~g} (%{customdata[0]})<br>%{customdata[1]} "
            + many
            + "<extra></extra>",
        ),
    ]
    if found.before is not None and found.after is not None:
        start, at, stop = dates(found.time[np.array([found.change_low, found.change, found.change_high], np.int64)])
        shapes.append(upright_band(start, stop, with_opacity(theme.mean, 0.15)))
        begin, end = dates(found.time[[0, -1]])
        for name, part, x in (("before", found.before, [begin, at]), ("after", found.after, [at, end])):
            data.append(
                scatter(
                    x=x,
                    y=[part[0]] * 2,
                    mode="lines",
                    name=name,
                    line={"color": theme.mean, "width": 3, "dash": "solid" if name == "after" else "dash"},
                    hovertemplate=f"{name}: %{{y:0.4~g}} ({score_between(part[1], part[2])})<extra></extra>",
                )
            )
    axis = f"{unit}es above the others" if unit else "score relative to the others"
    return figure_of(theme, data, title, 380, yaxis={"title": axis}, shapes=shapes, legend_below=True)


def _of_raters(
    found: ScoreRaters | ScoreGold,
    ends: tuple[np.ndarray, np.ndarray, np.ndarray],
    clear: np.ndarray,
    theme: Theme,
    title: str,
    axis: str,
    at: float,
) -> go.Figure:
    value = ends[0]
    known = np.flatnonzero(np.isfinite(value))
    if len(known) > MOST_RATERS:  # those clearly different first, then those farthest from the line
        known = known[lowest_first(~clear[known], -np.abs(value[known] - at))][:MOST_RATERS]
    known = known[lowest_first(value[known])]
    data = rater_traces(
        known, found.raters, ends, found.n, clear, theme, second="clear", form="0.4~g", unit="scores",
        in_words=score_between,
    )  # fmt: skip
    for trace in data:
        trace["showlegend"] = False
    return figure_of(
        theme,
        data,
        title,
        110 + 22 * max(4, len(known)),
        xaxis={"title": axis},
        yaxis=rows([plotly(shorten(found.raters[r], 24)) for r in known], theme),
        shapes=[upright(at, {"color": theme.quiet, "dash": "dot", "width": 1.5})],
    )
