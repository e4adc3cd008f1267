"""Figures of what anchors γ: what a colleague would say, and certainty against the truth."""

import numpy as np
import plotly.graph_objects as go

from ..certainty.calibration import ReliabilityBin
from ..certainty.held_out_readers import HeldOutCurve
from ..certainty.truth_curve import TruthCurve
from .theme import Theme, blank, with_opacity

_WITHIN = 2.0  # standard errors, as the range of the curve


def held_out_readers(curve: HeldOutCurve, theme: Theme, title: str) -> go.Figure:
    """Held-out score against γ less that of the best γ, with a band of two standard errors of the difference."""
    figure = _against_reliability(curve.reliability, theme, title, "score less the best, nats a reader")
    _band(figure, theme, curve.reliability, curve.diff - _WITHIN * curve.diff_se, curve.diff + _WITHIN * curve.diff_se)
    _line(figure, theme, curve.reliability, curve.diff, curve.score, "γ %{x:.3g}: %{customdata:.3f} nats a reader")
    _best(figure, theme, curve.best, curve.low, curve.high)
    return figure


def certainty_loss(curve: TruthCurve, theme: Theme, title: str) -> go.Figure:
    """Log loss of certainty as P(the top class is the truth) against γ, with its 95 % interval over cases."""
    figure = _against_reliability(curve.reliability, theme, title, "log loss of certainty")
    _band(figure, theme, curve.reliability, curve.log_loss_low, curve.log_loss_high)
    _line(figure, theme, curve.reliability, curve.log_loss, curve.ece, "γ %{x:.3g}: %{y:.3f}, ECE %{customdata:.3f}")
    _best(figure, theme, curve.best, curve.low, curve.high)
    return figure


def reliability_diagram(bins: tuple[ReliabilityBin, ...], theme: Theme, title: str) -> go.Figure:
    """How often the top class is the truth against how certain it was, with intervals and the diagonal."""
    figure = blank(theme, title, height=330)
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": theme.quiet, "dash": "dot"}, hoverinfo="skip", showlegend=False
    )
    right = np.array([one.right for one in bins])
    figure.add_scatter(
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
        customdata=[one.n for one in bins],
        hovertemplate="certainty %{x:.2f}: right in %{y:.2f} of %{customdata:,} cases<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title_text="mean certainty of the cases in a bin", range=[0, 1.02])
    figure.update_yaxes(title_text="share whose top class is the truth", range=[0, 1.02])
    return figure


def _against_reliability(reliability: np.ndarray, theme: Theme, title: str, what: str) -> go.Figure:
    figure = blank(theme, title, height=330)
    figure.update_xaxes(title_text="reliability γ (trust in the raters)", type="log")
    figure.update_yaxes(title_text=what)
    return figure


def _band(figure: go.Figure, theme: Theme, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    figure.add_scatter(
        x=[*x, *x[::-1]],
        y=[*high, *low[::-1]],
        fill="toself",
        fillcolor=with_opacity(theme.accent, 0.18),
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def _line(figure: go.Figure, theme: Theme, x: np.ndarray, y: np.ndarray, more: np.ndarray, hover: str) -> None:
    figure.add_scatter(
        x=list(x),
        y=list(y),
        mode="lines+markers",
        line={"color": theme.accent, "width": 2.5},
        marker={"size": 6},
        customdata=list(more),
        hovertemplate=f"{hover}<extra></extra>",
        showlegend=False,
    )


def _best(figure: go.Figure, theme: Theme, best: float, low: float, high: float) -> None:
    """A line at the best γ, and the range that the data do not tell from it."""
    figure.add_vrect(x0=low, x1=high, fillcolor=with_opacity(theme.quiet, 0.12), line_width=0)
    figure.add_vline(x=best, line={"color": theme.ink, "dash": "dash", "width": 1.5})
