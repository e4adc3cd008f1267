"""Figures of the Agreement page."""

from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from core.agreement.intervals import Coefficient
from core.agreement.pairs import PairMatrix
from core.figures.theme import Theme, blank, with_opacity
from core.text import plotly, shorten

COEFFICIENT_TITLES = {
    "percent": "Percent agreement",
    "spa": "Sparse probability of agreement",
    "spa_corrected": "SPA beyond chance",
    "cohen_kappa": "Cohen κ",
    "scott_pi": "Scott π",
    "conger_kappa": "Conger κ",
    "fleiss_kappa": "Fleiss κ",
    "gwet_ac": "Gwet AC1",
    "brennan_prediger": "Brennan-Prediger",
    "krippendorff_alpha": "Krippendorff α, nominal",
}


def forest(table: list[Coefficient], theme: Theme, title: str) -> go.Figure:
    """Coefficients as points with their intervals, one line each, the first on top."""
    shown = [coefficient for coefficient in table if coefficient.value is not None]
    labels = [COEFFICIENT_TITLES[coefficient.name] for coefficient in shown]
    figure = blank(theme, title, height=90 + 46 * max(1, len(shown)))
    low = [0.0 if c.ci_low is None else c.value - c.ci_low for c in shown]
    high = [0.0 if c.ci_high is None else c.ci_high - c.value for c in shown]
    figure.add_scatter(
        x=[c.value for c in shown],
        y=labels,
        mode="markers",
        marker={"color": theme.accent, "size": 11, "symbol": "cross-thin", "line": {"width": 3, "color": theme.accent}},
        error_x={"type": "data", "array": high, "arrayminus": low, "color": theme.accent, "thickness": 2, "width": 5},
        customdata=[[_interval(c), c.n_cases, c.n_annotations] for c in shown],
        hovertemplate="%{y}: %{x:.3f}<br>%{customdata[0]}<br>%{customdata[1]:,} cases, %{customdata[2]:,} annotations"
        "<extra></extra>",
        showlegend=False,
    )
    lowest = min([0.0, *(c.ci_low if c.ci_low is not None else c.value for c in shown)])
    figure.update_xaxes(range=[max(-1.0, lowest) - 0.02, 1.02], title_text="0 = chance (κ, α) or never; 1 = always")
    figure.update_yaxes(autorange="reversed", showgrid=False, tickfont={"size": 13, "color": theme.ink})
    return figure


def pair_heatmap(matrix: PairMatrix, theme: Theme, title: str) -> go.Figure:
    """Raters against raters; colour and number are the share that agrees, n stands in every cell."""
    share = matrix.share
    names = [plotly(shorten(rater, 16)) for rater in matrix.raters]
    n_raters = len(names)
    # A rater's own column would say nothing: it is left empty.
    text = [
        [
            ""
            if i == j
            else ("no case<br>shared" if matrix.n[i, j] == 0 else f"{share[i, j]:.2f}<br>n {matrix.n[i, j]}")
            for j in range(n_raters)
        ]
        for i in range(n_raters)
    ]
    hover = [
        ["" if i == j else f"{names[i]} and {names[j]}<br>{_pair_hover(matrix, i, j)}" for j in range(n_raters)]
        for i in range(n_raters)
    ]
    figure = blank(theme, title, height=max(300, 110 + min(44, 700 // n_raters) * n_raters))
    figure.add_heatmap(
        z=share,
        x=list(range(n_raters)),
        y=list(range(n_raters)),
        text=text if n_raters <= 16 else None,
        texttemplate="%{text}" if n_raters <= 16 else None,
        textfont={"size": 10},
        hovertext=hover,
        hovertemplate="%{hovertext}<extra></extra>",
        colorscale=[[0, with_opacity(theme.accent, 0.04)], [1, with_opacity(theme.accent, 0.75)]],
        zmin=float(np.nanmin(share)) if np.isfinite(share).any() else 0,
        zmax=float(np.nanmax(share)) if np.isfinite(share).any() else 1,
        xgap=2,
        ygap=2,
        showscale=False,
    )
    ticks = {"tickmode": "array", "tickvals": list(range(n_raters)), "ticktext": names, "showgrid": False}
    figure.update_xaxes(**ticks, tickangle=-45 if n_raters > 8 else 0)
    figure.update_yaxes(**ticks, autorange="reversed")
    return figure


def case_agreement_histogram(agreement: np.ndarray, theme: Theme, title: str) -> go.Figure:
    """How many cases have which agreement."""
    values = agreement[np.isfinite(agreement)]
    count, edges = np.histogram(values, bins=np.linspace(0, 1, 11))
    figure = blank(theme, title, height=260)
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=count,
        width=0.09,
        marker={"color": with_opacity(theme.accent, 0.25), "line": {"color": theme.ink, "width": 1}},
        customdata=[f"{low:.1f} to {high:.1f}" for low, high in pairwise(edges)],
        hovertemplate="agreement %{customdata}: %{y:,} cases<extra></extra>",
    )
    figure.update_xaxes(title_text="share of agreeing pairs in a case", range=[0, 1])
    figure.update_yaxes(title_text="cases")
    return figure


def annotations_per_case(per_case: np.ndarray, theme: Theme, title: str) -> go.Figure:
    """How many cases have how many annotations."""
    values, count = np.unique(per_case, return_counts=True)
    figure = blank(theme, title, height=260)
    figure.add_bar(
        x=values,
        y=count,
        width=0.8,
        marker={"color": with_opacity(theme.accent, 0.25), "line": {"color": theme.ink, "width": 1}},
        hovertemplate="%{x} annotations: %{y:,} cases<extra></extra>",
    )
    figure.update_xaxes(title_text="annotations of a case", dtick=1 if len(values) <= 20 else None)
    figure.update_yaxes(title_text="cases")
    return figure


def _interval(coefficient: Coefficient) -> str:
    if coefficient.ci_low is None:
        return "interval undetermined"
    return f"interval {coefficient.ci_low:.3f} to {coefficient.ci_high:.3f}"


def _pair_hover(matrix: PairMatrix, i: int, j: int) -> str:
    interval = matrix.interval(i, j)
    if interval is None:
        return "share no case"
    share = matrix.agree[i, j] / matrix.n[i, j]
    return f"agree on {share:.2f} ({interval[0]:.2f} to {interval[1]:.2f}) of {matrix.n[i, j]:,} pairs of answers"
