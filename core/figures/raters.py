"""Figures of the Raters page: accuracy against the panel, and one rater's annotations over time."""

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go

from ..order import lowest_first
from ..plausibility.plackett_luce.rater_trust import RaterTrust
from ..raters.drift import Drift
from ..raters.flagged_raters import FlaggedRaters
from ..raters.planning import Forecast
from ..text import percent, plotly, shorten
from .labels import between, dates
from .theme import Theme, Trace, error_bars, figure_of, filled_band, level, scatter, upright, upright_band, with_opacity

MOST_LINES = 12


def accuracy_against_pool(found: FlaggedRaters, theme: Theme, title: str) -> go.Figure:
    """Draw each rater's accuracy with its interval, the lowest on top; flagged raters are crosses in another colour.

    For ordered classes it is the correlation with the case. At most `MOST_LINES` raters: the flagged ones, then the
    lowest. Lines are at the mean over annotations and at the acceptable value.

    Parameters
    ----------
    found : FlaggedRaters
    theme : Theme
    title : str
    """
    judged = found.judged
    value, low, high = judged.rates.value, judged.rates.low, judged.rates.high
    known, flagged = _least_accurate(found)
    n = judged.n_annotations
    data = rater_traces(known, found.raters, (value, low, high), n, flagged, theme, second="flagged")
    places = np.arange(len(known))
    lines = ((judged.mean, "dot"), (judged.acceptable, "dash"))
    return figure_of(
        theme,
        data,
        title,
        130 + 22 * max(4, len(known)),
        xaxis={
            "title": f"{judged.measure} (dotted: mean over annotations, dashed: acceptable)",
            "tickformat": "0.0%" if judged.measure == "accuracy" else None,
        },
        yaxis={
            "tickmode": "array",
            "tickvals": places,
            "ticktext": [plotly(shorten(found.raters[r], 24)) for r in known],
            "autorange": "reversed",
            "showgrid": False,
            "tickfont": {"color": theme.ink},
        },
        shapes=[
            upright(at, {"color": theme.quiet, "dash": dash, "width": 1.5}) for at, dash in lines if at is not None
        ],
        legend_below=True,
    )


def rater_traces(
    known: np.ndarray,
    names: Sequence[str],
    ends: tuple[np.ndarray, np.ndarray, np.ndarray],
    n: np.ndarray,
    marked: np.ndarray,
    theme: Theme,
    *,
    second: str,
    form: str = "0.2f",
    unit: str = "annotations",
    in_words: Callable[[float, float], str] = between,
) -> list[Trace]:
    """Draw a point with its interval for each rater, one below the other; marked ones are crosses in another colour.

    Parameters
    ----------
    known : ndarray of int
        Raters that are drawn, from top to bottom.
    names : sequence of str
    ends : tuple of ndarray, shape (n_raters,)
        Values, and the ends of their intervals.
    n, marked : ndarray, shape (n_raters,)
    theme : Theme
    second : str
        Name of the marked ones.
    form, unit, in_words
        Formats of the value, of ``n`` and of the interval in the hover.
    """
    value, low, high = ends
    traces = []
    for mark, name, symbol, colour in ((False, "raters", "circle", theme.accent), (True, second, "x", theme.mean)):
        shown = np.flatnonzero(marked[known] == mark)
        who = known[shown]
        traces.append(
            scatter(
                x=value[who],
                y=shown,
                mode="markers",
                name=name,
                marker={"color": colour, "symbol": symbol, "size": 9},
                error_x=error_bars(high[who] - value[who], value[who] - low[who], with_opacity(colour, 0.7), 1.6, 3),
                customdata=[[plotly(names[r]), in_words(low[r], high[r]), f"{n[r]:,}"] for r in who],
                hovertemplate=f"%{{customdata[0]}}: %{{x:{form}}} (%{{customdata[1]}})<br>%{{customdata[2]}} {unit}"
                "<extra></extra>",
            )
        )
    return traces


def _least_accurate(found: FlaggedRaters) -> tuple[np.ndarray, np.ndarray]:
    """Return at most `MOST_LINES` raters by the measure used, flagged ones first, and a mask of the flagged ones."""
    value = found.judged.rates.value
    flagged = np.zeros(len(found.raters), bool)
    flagged[list(found.flagged())] = True
    known = np.flatnonzero(np.isfinite(value))
    known = known[lowest_first(~flagged[known], value[known])][:MOST_LINES]
    return known[lowest_first(value[known])], flagged


def trust_of_raters(trust: RaterTrust, theme: Theme, title: str) -> go.Figure:
    """Draw the reliability of each rater with its interval, the lowest on top; at most `MOST_LINES` raters.

    Parameters
    ----------
    trust : RaterTrust
    theme : Theme
    title : str
    """
    shown = lowest_first(trust.mean)[:MOST_LINES]
    ends = trust.mean, trust.ci_low, trust.ci_high
    data, _ = rater_traces(shown, trust.raters, ends, trust.n, np.zeros(len(trust.raters), bool), theme, second="")
    data["showlegend"] = False
    return figure_of(
        theme,
        [data],
        title,
        130 + 22 * max(4, len(shown)),
        xaxis={"title": "weight: share of annotations that depend on the case (not accuracy)"},
        yaxis={
            "tickmode": "array",
            "tickvals": np.arange(len(shown)),
            "ticktext": [plotly(shorten(trust.raters[r], 24)) for r in shown],
            "autorange": "reversed",
            "showgrid": False,
            "tickfont": {"color": theme.ink},
        },
    )


def rater_over_time(drift: Drift, theme: Theme, title: str, height: int = 480) -> go.Figure:
    """Draw accuracy in windows with intervals above, the control chart with its limit below; both over dates.

    Parameters
    ----------
    drift : Drift
    theme : Theme
    title : str
    height : int
        Height in pixels.
    """
    windows = drift.windows
    middle = (windows.start + windows.stop) // 2
    data = [
        scatter(
            x=dates(middle),
            y=windows.accuracy,
            mode="lines+markers",
            name="accuracy in windows",
            line={"color": theme.accent, "width": 2},
            error_y=error_bars(
                windows.high - windows.accuracy, windows.accuracy - windows.low, with_opacity(theme.accent, 0.6), 1.5, 3
            ),
            customdata=np.column_stack([windows.low, windows.high, windows.n]),
            hovertemplate="%{x|%Y-%m-%d}: %{y:0.0%} (%{customdata[0]:0.0%} to %{customdata[1]:0.0%}), "
            "%{customdata[2]:,} annotations<extra></extra>",
        ),
        scatter(
            x=dates(drift.time),
            y=drift.chart,
            yaxis="y2",
            mode="lines",
            name=f"{drift.kind.upper()} chart",
            line={"color": theme.ink, "width": 1.4},
            hovertemplate="%{x|%Y-%m-%d}: %{y:0.2f}<extra></extra>",
        ),
    ]
    limit = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": "y2", "y0": drift.limit, "y1": drift.limit}
    shapes = [{**limit, "line": {"color": theme.mean, "dash": "dash", "width": 1.6}}]
    if drift.alarm is not None:
        shapes.append(upright(dates(drift.time[[drift.alarm]])[0], {"color": theme.mean, "width": 1.5}))
    if drift.change_low is not None and drift.change_high is not None:
        low, high = dates(drift.time[[drift.change_low, drift.change_high]])
        shapes.append(upright_band(low, high, with_opacity(theme.mean, 0.12)))
    return figure_of(
        theme,
        data,
        title,
        height,
        shapes=shapes,
        xaxis={"anchor": "y2"},
        yaxis={"domain": [0.55, 1], "title": "accuracy", "range": [0, 1.02], "tickformat": "0.0%"},
        yaxis2={"domain": [0, 0.45], "title": "chart"},
        legend_below=True,
    )


def plan_forecast(found: Forecast, theme: Theme, title: str) -> go.Figure:
    """Draw the result of further annotations: the median over simulations with its band, and the target as a line.

    Parameters
    ----------
    found : Forecast
    theme : Theme
    title : str
    """
    x = found.extra.tolist()
    data = [
        filled_band(
            x,
            found.low,
            found.high,
            with_opacity(theme.accent, 0.15),
            name=f"{percent(found.level)} of simulated plans",
            showlegend=True,
        ),
        scatter(
            x=x,
            y=found.value,
            mode="lines+markers",
            name="median",
            line={"color": theme.accent, "width": 2.5},
            customdata=np.column_stack([found.low, found.high]),
            hovertemplate="%{x:,} more: %{y:0.3f} (%{customdata[0]:0.3f} to %{customdata[1]:0.3f})<extra></extra>",
        ),
    ]
    shapes = [level(found.goal.target, {"color": theme.mean, "dash": "dash", "width": 1.5})]
    return figure_of(
        theme,
        data,
        title,
        340,
        xaxis={"title": "annotations added", "rangemode": "tozero"},
        shapes=shapes,
        legend_below=True,
    )
