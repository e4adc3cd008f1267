"""Figures of classifiers under uncertain truth."""

import numpy as np
import plotly.graph_objects as go

from ..evaluation.metrics import Evaluation, PointScores
from ..text import percent, plotly, plural, shorten
from .reliability import DASHES, SYMBOLS, reliability_axis
from .theme import Theme, Trace, bar, error_bars, figure_of, filled_band, scatter, with_opacity


def metric_against_reliability(
    reliabilities: tuple[float, ...],
    evaluations: tuple[Evaluation, ...],
    metric: str,
    theme: Theme,
    title: str,
    scores: PointScores | None = None,
) -> go.Figure:
    """Draw a metric against reliability: line = mean over draws, band = 95% of them, cross = at the point estimate.

    Parameters
    ----------
    reliabilities : tuple of float
        Reliability γ, ascending.
    evaluations : tuple of Evaluation
        Evaluations, one for each reliability, or for the first ones while the others are computed.
    metric : str
        Name of one of the evaluations' metrics.
    theme : Theme
    title : str
    scores : dict, optional
        Scores against the point estimate by classifier and metric, for the crosses without an evaluation yet.
    """
    data: list[Trace] = []
    x = list(reliabilities)
    done = x[: len(evaluations)]
    alone = len(done) == 1  # a band of one place would not be seen
    for code, name in enumerate(evaluations[0].classifiers if evaluations else scores or ()):
        values = [evaluation.values[name][metric] for evaluation in evaluations]
        colour, label = theme.classes[code % len(theme.classes)], plotly(shorten(name, 24))
        low, high = [value.ci_low for value in values], [value.ci_high for value in values]
        if values:
            data.append(filled_band(done, low, high, with_opacity(colour, 0.14)))
        mean = [value.mean for value in values]
        ends = error_bars([high[0] - mean[0]], [mean[0] - low[0]], colour) if alone else None
        data.append(
            scatter(
                x=done or x,  # a line without a point has its name in the legend as well
                y=mean or [None] * len(x),
                error_y=ends,
                mode="lines+markers",
                name=label,
                line={"color": colour, "width": 2.5, "dash": DASHES[code % len(DASHES)]},
                marker={"symbol": SYMBOLS[code % len(SYMBOLS)], "size": 8},
                customdata=[[value.ci_low, value.ci_high, plural(value.n_cases, "case")] for value in values],
                hovertemplate="γ %{x:~g}: %{y:0.1%} (%{customdata[0]:0.1%} to %{customdata[1]:0.1%}), "
                "%{customdata[2]}<extra>" + label + "</extra>",
            )
        )
        data.append(_cross(x[-1] * 1.22, values[0].point if values else (scores or {})[name][metric], colour, label))
    return figure_of(
        theme,
        named_crosses(data, theme),
        title,
        420,
        xaxis=reliability_axis(reliabilities) | {"range": [np.log10(x[0] * 0.9), np.log10(x[-1] * 1.35)]},
        yaxis={"title": metric_title(metric), "tickformat": "0.0%"},
        legend_below=True,
    )


def named_crosses(data: list[Trace], theme: Theme) -> list[Trace]:
    """Return traces with an entry in the legend for all their crosses; nothing if there are none.

    Parameters
    ----------
    data : list of dict
    theme : Theme
    """
    marker = {"symbol": "x", "size": 11, "color": theme.quiet}
    entry = scatter(x=[None], y=[None], mode="markers", name="point estimate", marker=marker)
    return [*data, entry] if data else data


def _cross(x: float, y: float, colour: str, label: str) -> Trace:
    """Draw the score against one label per case."""
    return scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker={"symbol": "x", "size": 11, "color": colour},
        hovertemplate="with the point estimate as the truth: %{y:0.1%}<extra>" + label + "</extra>",
        showlegend=False,
    )


def draws_histogram(evaluation: Evaluation, metric: str, theme: Theme, title: str) -> go.Figure:
    """Draw the metric over plausible truths: a histogram per classifier, with its worst and best draw.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation at one reliability.
    metric : str
        Name of one of the evaluations' metrics.
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    place = evaluation.metrics.index(metric)
    everything = evaluation.by_draw[:, place]
    edges = np.linspace(everything.min() - 1e-9, everything.max() + 1e-9, 41)
    for code, name in enumerate(evaluation.classifiers):
        count, _ = np.histogram(everything[code], bins=edges)
        colour, value = theme.classes[code % len(theme.classes)], evaluation.values[name][metric]
        data.append(
            bar(
                x=(edges[:-1] + edges[1:]) / 2,
                y=count / count.sum(),
                width=edges[1] - edges[0],
                name=f"{plotly(shorten(name, 24))}: worst {percent(value.min)}, best {percent(value.max)}",
                marker={"color": with_opacity(colour, 0.5), "line": {"color": colour, "width": 1}},
                hovertemplate="%{x:0.1%}: %{y:0.1%} of draws<extra>" + plotly(shorten(name, 24)) + "</extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        320,
        xaxis={"title": metric_title(metric), "tickformat": "0.0%"},
        yaxis={"title": "share of draws", "tickformat": "0.0%"},
        barmode="overlay",
        legend_below=True,
    )


def metric_per_case(evaluation: Evaluation, metric: str, theme: Theme, title: str) -> go.Figure:
    """Draw the metric of every case, mean over draws, sorted, one curve per classifier.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation at one reliability.
    metric : str
        Name of one of the evaluations' metrics.
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    place = evaluation.metrics.index(metric)
    for code, name in enumerate(evaluation.classifiers):
        values = evaluation.by_case[:, code, place]
        values = np.sort(values[np.isfinite(values)])
        keep = np.unique(np.linspace(0, len(values) - 1, min(len(values), 600)).astype(int))
        data.append(
            scatter(
                x=(keep + 0.5) / len(values),
                y=values[keep],
                mode="lines",
                name=plotly(shorten(name, 24)),
                line={
                    "color": theme.classes[code % len(theme.classes)],
                    "width": 2,
                    "dash": DASHES[code % len(DASHES)],
                },
                hovertemplate="%{x:0.0%} of cases are below %{y:0.0%}<extra></extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        320,
        xaxis={"title": "share of cases, worst first", "tickformat": "0.0%", "range": [0, 1]},
        yaxis={"title": metric_title(metric), "range": [-0.02, 1.02], "tickformat": "0.0%"},
        legend_below=True,
    )


def metric_title(metric: str) -> str:
    """Return the name of a metric for people."""
    kind, _, top = metric.rpartition("_")
    if metric.endswith("accuracy"):
        return metric.replace("_", " ").replace("top", "top-", 1)
    return f"{kind.replace('_', ' ')} at {top}"
