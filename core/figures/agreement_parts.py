"""Figures of the parts of the Agreement page: by class, by rater, over time, and the effect of more annotations."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..agreement.benchmark_labels import Band
from ..agreement.coefficient_methods import CoefficientMethod
from ..agreement.intervals import Coefficient
from ..agreement.over_time import OverTime
from ..agreement.precision import PrecisionCurve, PrecisionPoint
from ..methods import method_named
from ..order import lowest_first
from ..text import exact, plotly, plural, probability
from .labels import between, short_names
from .reliability import DASHES, SYMBOLS
from .theme import Theme, Trace, bar, cross, error_bars, figure_of, filled_band, scatter, upright, with_opacity

MOST_LINES = 40
MOST_WINDOWS_NAMED = 14
APART = 0.12  # distance between two coefficients of a window


def named_forest(
    names: Sequence[str],
    coefficients: Sequence[Coefficient],
    theme: Theme,
    title: str,
    axis: str,
    overall: float | None = None,
) -> go.Figure:
    """Draw one line for each name with its interval, the lowest value on top; at most `MOST_LINES` lines.

    Parameters
    ----------
    names : sequence of str
        Names of classes or raters; undefined ones are left out.
    coefficients : sequence of Coefficient
        One for each name.
    theme : Theme
    title : str
    axis : str
        Title of the axis of values.
    overall : float, optional
        Value drawn as a line to compare with.
    """
    known = [(one.value, name, one) for name, one in zip(names, coefficients, strict=True) if one.value is not None]
    known = [known[place] for place in lowest_first(np.array([value for value, _, _ in known]))]
    values = [value for value, _, _ in known[:MOST_LINES]]
    shown = [(name, one) for _, name, one in known[:MOST_LINES]]
    shapes: list[dict] = []
    low, high = [one.arms[0] for _, one in shown], [one.arms[1] for _, one in shown]
    data = [
        scatter(
            x=values,
            y=list(range(len(shown))),
            mode="markers",
            marker=cross(theme.accent, 9, 2.5),
            error_x=error_bars(high, low, theme.accent, 1.5, 3),
            customdata=[[plotly(name), _ends(one), *_counted(one)] for name, one in shown],
            hovertemplate="%{customdata[0]}: %{x:0.3f}<br>%{customdata[1]}<br>%{customdata[2]}, "
            "%{customdata[3]}<extra></extra>",
            showlegend=False,
        )
    ]
    if overall is not None:
        shapes.append(upright(overall, {"color": theme.quiet, "dash": "dot", "width": 1.5}))
    return figure_of(
        theme,
        data,
        title,
        100 + 24 * max(3, len(shown)),
        xaxis={"title": axis, "range": [min(0.0, *values) - 0.02 if values else 0, 1.02]},
        yaxis={
            "autorange": "reversed",
            "showgrid": False,
            "tickmode": "array",
            "tickvals": list(range(len(shown))),
            "ticktext": [plotly(name) for name in short_names([name for name, _ in shown], 26)],
            "tickfont": {"color": theme.ink},
        },
        shapes=shapes,
    )


def agreement_over_time(found: OverTime, theme: Theme, title: str) -> go.Figure:
    """Draw a line with intervals for each coefficient, window by window; n of the first is below each window.

    Parameters
    ----------
    found : OverTime
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    n_lines = len(found.windows[0].coefficients) if found.windows else 0
    for line in range(n_lines):
        ones = [window.coefficients[line] for window in found.windows]
        known = [place for place, one in enumerate(ones) if one.value is not None]
        colour = theme.classes[line]
        data.append(
            scatter(
                x=[place + (line - (n_lines - 1) / 2) * APART for place in known],
                y=[ones[place].value for place in known],
                mode="lines+markers",
                name=method_named(CoefficientMethod, ones[0].name).title,
                line={"color": colour, "width": 2, "dash": ("solid", "dash")[line % 2]},
                error_y=error_bars(
                    [ones[place].arms[1] for place in known],
                    [ones[place].arms[0] for place in known],
                    with_opacity(colour, 0.6),
                    1.5,
                    3,
                ),
                customdata=[
                    [plotly(found.windows[place].label), _ends(ones[place]), plural(ones[place].n_cases, "case")]
                    for place in known
                ],
                hovertemplate="%{customdata[0]}: %{y:0.3f}<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
            )
        )
    places = list(range(len(found.windows)))
    step = max(1, -(-len(places) // MOST_WINDOWS_NAMED))
    return figure_of(
        theme,
        data,
        title,
        380,
        xaxis={
            "tickmode": "array",
            "tickvals": places[::step],
            "ticktext": [
                f"{plotly(window.label)}<br>n {window.coefficients[0].n_cases:,}" for window in found.windows[::step]
            ],
            "range": [-0.5, len(places) - 0.5],
            "title": "cases by first annotation",
        },
        legend_below=True,
    )


def precision_figure(curves: Sequence[PrecisionCurve], theme: Theme, title: str) -> go.Figure:
    """Draw the width of the interval against annotations added: a line, or a band if the data leave a range.

    Parameters
    ----------
    curves : sequence of PrecisionCurve
        Curves, one for each way.
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    names = {"new_cases": "on new cases", "present_cases": "on the present cases"}
    for place, curve in enumerate(curves):
        colour, x = theme.classes[place], [point.extra for point in curve.points]
        low, high = ([point.width_range[end] for point in curve.points] for end in (0, 1))
        if any(point.width is None for point in curve.points):
            data.append(filled_band(x, low, high, with_opacity(colour, 0.15)))
        data.append(
            scatter(
                x=x,
                y=high,
                mode="lines+markers",
                name=names[curve.how],
                line={"color": colour, "width": 2.5, "dash": ("solid", "dash")[place % 2]},
                customdata=[_counted(point) for point in curve.points],
                hovertemplate="%{x:,} more: interval %{y:0.3f} wide<br>%{customdata[0]}, %{customdata[1]}"
                "<extra></extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        360,
        xaxis={"title": "annotations added", "rangemode": "tozero"},
        yaxis={"title": "width of the 95% interval", "rangemode": "tozero"},
        legend_below=True,
    )


def weight_curves(sizes: np.ndarray, curves: dict[str, np.ndarray], theme: Theme, title: str) -> go.Figure:
    """Draw the weight of a case against its number of annotations; equal weightings share a line.

    Parameters
    ----------
    sizes : ndarray, shape (n_sizes,)
        Numbers of annotations.
    curves : dict of str to ndarray
        Weights by weighting, the largest 1.
    theme : Theme
    title : str
    """
    lines: list[tuple[list[str], np.ndarray]] = []
    for name, weight in curves.items():
        same = next((names for names, known in lines if np.allclose(known, weight, atol=1e-9)), None)
        if same is None:
            lines.append(([name], weight))
        else:
            same.append(name)
    data = [
        scatter(
            x=sizes.tolist(),
            y=weight.tolist(),
            mode="lines+markers",
            name=" = ".join(names),
            line={"color": theme.classes[place], "width": 2.5, "dash": DASHES[place % len(DASHES)]},
            marker={"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 7},
            hovertemplate="%{x} annotations: weight %{y:0.3f}<extra>" + " = ".join(names) + "</extra>",
        )
        for place, (names, weight) in enumerate(lines)
    ]
    return figure_of(
        theme,
        data,
        title,
        360,
        xaxis={"title": "annotations per case", "dtick": 1 if len(sizes) <= 20 else None},
        yaxis={"title": "weight, largest 1", "range": [0, 1.05]},
        legend_below=True,
    )


def band_bar(found: Sequence[Band], theme: Theme, title: str) -> go.Figure:
    """Draw how probable each word of a scale is, as one bar cut into parts.

    Parameters
    ----------
    found : sequence of Band
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    shades = np.linspace(0.05, 0.5, len(found))  # so that text in ink is readable on each
    for band, shade in zip(found, shades, strict=True):
        p = band.probability or 0.0
        data.append(
            bar(
                x=[p],
                y=[""],
                orientation="h",
                text=[f"{band.name} {probability(p)}" if p >= 0.14 else ""],
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": theme.ink},
                marker={"color": with_opacity(theme.accent, float(shade)), "line": {"color": theme.grid, "width": 1}},
                hovertemplate=f"{band.name} ({exact(band.low)} to {exact(band.high)}): "
                f"{probability(p, 1)}<extra></extra>",
                showlegend=False,
            )
        )
    return figure_of(
        theme,
        data,
        title,
        128,
        xaxis={"range": [0, 1], "title": "probability"},
        yaxis={"showgrid": False},
        barmode="stack",
    )


def _counted(one: Coefficient | PrecisionPoint) -> list[str]:
    return [plural(one.n_cases, "case"), plural(one.n_annotations, "annotation")]


def _ends(one: Coefficient) -> str:
    return "no interval" if one.ci_low is None else between(one.ci_low, one.ci_high, 3)
