"""Figures of prediction sets: coverage and size against γ, and coverage of groups of cases."""

import numpy as np
import plotly.graph_objects as go

from ..evaluation.prediction_sets import CoveredShare, PredictionSets, SetGroup
from ..text import plotly, plural, shorten
from .reliability import DASHES, SYMBOLS, reliability_axis
from .theme import Theme, Trace, error_bars, figure_of, filled_band, level, scatter, upright, with_opacity

TITLES = {"aggregated": "the truth (aggregated)", "voted": "the majority vote", "true": "gold"}
_BY = {"certainty": "certainty", "group": "group", "risk": "expected risk"}


def coverage_against_reliability(
    reliabilities: tuple[float, ...], found: tuple[PredictionSets, ...], theme: Theme, title: str
) -> go.Figure:
    """Draw coverage of the truth, the majority vote and gold, with intervals over test cases and the target.

    Parameters
    ----------
    reliabilities : tuple of float
        Reliability γ, ascending.
    found : tuple of PredictionSets
        Prediction sets of one classifier, one for each reliability.
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    for number, (name, label) in enumerate(TITLES.items()):
        shares = [getattr(one, name) for one in found]
        if any(share is None for share in shares):
            continue
        colour = theme.classes[number]
        x, low, high = list(reliabilities), [one.low for one in shares], [one.high for one in shares]
        data.append(filled_band(x, low, high, with_opacity(colour, 0.14)))
        data.append(
            scatter(
                x=x,
                y=[one.value for one in shares],
                mode="lines+markers",
                name=label,
                line={"color": colour, "width": 2.5, "dash": DASHES[number]},
                marker={"symbol": SYMBOLS[number], "size": 8},
                customdata=[[one.low, one.high, plural(one.n, "test case")] for one in shares],
                hovertemplate="γ %{x:~g}: %{y:0.3f} (%{customdata[0]:0.3f} to %{customdata[1]:0.3f}), "
                "%{customdata[2]}<extra>" + label + "</extra>",
            )
        )
    promise = 1 - found[0].alpha
    lowest = min(min(trace["y"]) for trace in data)
    return figure_of(
        theme,
        data,
        title,
        380,
        xaxis=reliability_axis(reliabilities),
        yaxis={"title": "share of sets that contain the class", "range": [_from(lowest, promise), 1.02]},
        shapes=[level(promise, {"color": theme.quiet, "dash": "dot", "width": 1.5})],
        legend_below=True,
    )


def size_against_reliability(
    reliabilities: tuple[float, ...], found: dict[str, tuple[PredictionSets, ...]], theme: Theme, title: str
) -> go.Figure:
    """Draw the mean number of classes in a set for each classifier.

    Parameters
    ----------
    reliabilities : tuple of float
    found : dict of str to tuple of PredictionSets
        Prediction sets by name of the classifier, one for each reliability.
    theme : Theme
    title : str
    """
    data = []
    for number, (name, sets) in enumerate(found.items()):
        label = plotly(shorten(name, 24))
        data.append(
            scatter(
                x=list(reliabilities),
                y=[one.mean_size for one in sets],
                mode="lines+markers",
                name=label,
                line={"color": theme.classes[number % len(theme.classes)], "width": 2.5, "dash": DASHES[number % 6]},
                marker={"symbol": SYMBOLS[number % 6], "size": 8},
                customdata=[[one.threshold, plural(one.n_test, "test case")] for one in sets],
                hovertemplate="γ %{x:~g}: %{y:0.2f} classes, threshold %{customdata[0]:0.4~g}, "
                "%{customdata[1]}<extra>" + label + "</extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        380,
        xaxis=reliability_axis(reliabilities),
        yaxis={"title": "mean number of classes per set", "rangemode": "tozero"},
        legend_below=True,
    )


def conditional_coverage(groups: tuple[SetGroup, ...], promise: float, theme: Theme, title: str) -> go.Figure:
    """Draw coverage of groups of test cases, one line each: dot and interval for the truth, open dot for the vote.

    Parameters
    ----------
    groups : tuple of SetGroup
    promise : float
        Target 1 − α, drawn as an upright line.
    theme : Theme
    title : str
    """
    rows = list(range(len(groups)))
    names = [f"{_BY[one.by]}: {plotly(shorten(one.value, 22))} ({plural(one.n, 'case')})" for one in groups]
    aggregated = [one.aggregated for one in groups]
    voted = [(row, one.voted) for row, one in enumerate(groups) if one.voted is not None]
    data = [
        _dots(aggregated, rows, groups, "the truth (aggregated)", "circle", theme.classes[0]),
        _dots([share for _, share in voted], [row for row, _ in voted], groups, "the majority vote", "square-open",
              theme.classes[1]),
    ]  # fmt: skip
    lowest = min(share.low for share in aggregated)
    return figure_of(
        theme,
        data,
        title,
        130 + 34 * len(groups),
        xaxis={"title": "share of sets that contain the class", "range": [_from(lowest, promise), 1.02]},
        yaxis={"tickmode": "array", "tickvals": rows, "ticktext": names, "autorange": "reversed", "showgrid": False},
        shapes=[upright(promise, {"color": theme.quiet, "dash": "dot", "width": 1.5})],
        legend_below=True,
    )


def _from(lowest: float, promise: float) -> float:
    """Return where an axis of coverage starts: below all that is drawn."""
    return max(0.0, min(lowest, promise) - 0.05)


def _dots(shares: list[CoveredShare], rows: list[int], groups, name: str, symbol: str, colour: str) -> Trace:
    value = np.array([share.value for share in shares])
    above, below = np.array([share.high for share in shares]) - value, value - [share.low for share in shares]
    return scatter(
        x=value,
        y=rows,
        mode="markers",
        name=name,
        marker={"symbol": symbol, "size": 10, "color": colour},
        error_x=error_bars(above, below, colour),
        customdata=[[share.low, share.high, groups[row].mean_size] for share, row in zip(shares, rows, strict=True)],
        hovertemplate="%{x:0.3f} (%{customdata[0]:0.3f} to %{customdata[1]:0.3f}), mean size %{customdata[2]:0.2f}"
        "<extra>" + name + "</extra>",
    )
