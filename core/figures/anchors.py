"""Figures of evidence for γ: prediction of another rater, and certainty against the truth."""

import numpy as np
import plotly.graph_objects as go

from ..certainty.calibration import ReliabilityBin
from ..certainty.held_out_readers import HeldOutCurve
from ..certainty.truth_curve import TruthCurve
from ..text import plural
from .reliability import RELIABILITY, axis_to_one
from .theme import Theme, Trace, figure_of, filled_band, scatter, upright, upright_band, with_opacity

_WITHIN = 2.0  # standard errors, as the range of the curve


def held_out_readers(curve: HeldOutCurve, theme: Theme, title: str) -> go.Figure:
    """Draw held-out score against γ minus that of the best γ, with a band of two standard errors of the difference.

    Parameters
    ----------
    curve : HeldOutCurve
    theme : Theme
    title : str
    """
    within = _WITHIN * curve.diff_se
    around = _around(theme, curve.reliability, curve.diff - within, curve.diff + within)
    words = "γ %{x:0.3~g}: %{customdata:0.3f} nats per rater"
    line = _line(theme, curve.reliability, curve.diff, curve.score, words)
    return _against_reliability([around, line], curve, theme, title, "score minus the best score, nats per rater")


def certainty_loss(curve: TruthCurve, theme: Theme, title: str) -> go.Figure:
    """Draw log loss of certainty as P(leading class is true), or of the true class, against γ, with its 95% interval.

    Parameters
    ----------
    curve : TruthCurve
    theme : Theme
    title : str
    """
    around = _around(theme, curve.reliability, curve.log_loss_low, curve.log_loss_high)
    line = _line(theme, curve.reliability, curve.log_loss, curve.ece, "γ %{x:0.3~g}: %{y:0.3f}, ECE %{customdata:0.3f}")
    return _against_reliability([around, line], curve, theme, title, f"log loss of {curve.scored}")


def reliability_diagram(bins: tuple[ReliabilityBin, ...], theme: Theme, title: str) -> go.Figure:
    """Draw how often the leading class is true against its certainty, with intervals and the diagonal.

    Parameters
    ----------
    bins : tuple of ReliabilityBin
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    data.append(
        scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            line={"color": theme.quiet, "dash": "dot"},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    right = np.array([one.right for one in bins])
    data.append(
        scatter(
            x=[one.certainty for one in bins],
            y=right,
            mode="markers",
            marker={"size": 9, "color": theme.accent},
            error_y={
                "type": "data",
                "array": [one.right_high for one in bins] - right,
                "arrayminus": right - [one.right_low for one in bins],
                "thickness": 1.5,
            },
            customdata=[plural(one.n, "case") for one in bins],
            hovertemplate="certainty %{x:0.0%}: correct in %{y:0.0%} of %{customdata}<extra></extra>",
            showlegend=False,
        )
    )
    return figure_of(
        theme,
        data,
        title,
        330,
        xaxis=axis_to_one("mean certainty of the cases in the bin"),
        yaxis=axis_to_one("share of cases with a correct leading class"),
    )


def _against_reliability(
    data: list[Trace], curve: HeldOutCurve | TruthCurve, theme: Theme, title: str, what: str
) -> go.Figure:
    """Draw traces against γ, with a line at the best γ and the range of values that do not clearly differ from it."""
    return figure_of(
        theme,
        data,
        title,
        330,
        xaxis={"title": RELIABILITY, "type": "log"},
        yaxis={"title": what},
        shapes=[
            upright_band(curve.low, curve.high, with_opacity(theme.quiet, 0.12)),
            upright(curve.best, {"color": theme.ink, "dash": "dash", "width": 1.5}),
        ],
    )


def _around(theme: Theme, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Trace:
    return filled_band(x, low, high, with_opacity(theme.accent, 0.18))


def _line(theme: Theme, x: np.ndarray, y: np.ndarray, more: np.ndarray, hover: str) -> Trace:
    return scatter(
        x=list(x),
        y=list(y),
        mode="lines+markers",
        line={"color": theme.accent, "width": 2.5},
        marker={"size": 6},
        customdata=list(more),
        hovertemplate=f"{hover}<extra></extra>",
        showlegend=False,
    )
