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
    "krippendorff_alpha": "Krippendorff α",
    "icc_1": "ICC(1)",
    "icc_1k": "ICC(1,k)",
    "icc_2": "ICC(2,1)",
    "icc_2k": "ICC(2,k)",
    "icc_3": "ICC(3,1)",
    "icc_3k": "ICC(3,k)",
    "leave_one_out_top1": "First choice of the others",
    "mean_average_overlap": "Average overlap",
}


def title_of(coefficient: Coefficient) -> str:
    """Name on screen, with the weights, metric, method or depth where it has one."""
    name, how = coefficient.name, coefficient.weights
    if name == "gwet_ac":
        return "Gwet AC1" if how == "identity" else f"Gwet AC2, {how}"
    title = COEFFICIENT_TITLES[name]
    if name == "spa" or name == "spa_corrected" or name == "leave_one_out_top1" or how == "identity":
        return title
    return f"{title}, {how}"


def forest(table: list[Coefficient], theme: Theme, title: str) -> go.Figure:
    """Coefficients as points with their intervals, one line each, the first on top."""
    shown = [coefficient for coefficient in table if coefficient.value is not None]
    labels = [title_of(coefficient) for coefficient in shown]
    figure = blank(theme, title, height=90 + (46 if len(shown) <= 12 else 30) * max(1, len(shown)))
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


def pair_heatmap(matrix: PairMatrix, order: np.ndarray, theme: Theme, title: str) -> go.Figure:
    """Raters against raters in a given order; colour and number are the coefficient, n stands in every cell.

    ``customdata`` of a cell holds the positions of its two raters, for a click.
    """
    value = matrix.value[np.ix_(order, order)]
    names = [plotly(shorten(matrix.raters[code], 16)) for code in order]
    n_raters = len(names)
    few = n_raters <= 16
    # A rater's own column would say nothing: it is left empty.
    text = [["" if i == j else _cell(matrix, i, j) for j in order] for i in order] if few else None
    hover = [["" if i == j else _pair_hover(matrix, i, j) for j in order] for i in order]
    figure = blank(theme, title, height=max(300, 110 + min(44, 700 // n_raters) * n_raters))
    known = value[np.isfinite(value)]
    figure.add_heatmap(
        z=value,
        x=list(range(n_raters)),
        y=list(range(n_raters)),
        text=text,
        texttemplate="%{text}" if few else None,
        textfont={"size": 10},
        hovertext=hover,
        customdata=[[[int(i), int(j)] for j in order] for i in order],
        hovertemplate="%{hovertext}<extra></extra>",
        colorscale=[[0, with_opacity(theme.accent, 0.04)], [1, with_opacity(theme.accent, 0.75)]],
        zmin=float(known.min()) if known.size else 0,
        zmax=float(known.max()) if known.size else 1,
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


def _cell(matrix: PairMatrix, i: int, j: int) -> str:
    if matrix.n[i, j] == 0:
        return "no case<br>shared"
    return f"{matrix.value[i, j]:.2f}<br>n {matrix.n[i, j]}" if np.isfinite(matrix.value[i, j]) else "undefined"


def _pair_hover(matrix: PairMatrix, i: int, j: int) -> str:
    who = f"{plotly(matrix.raters[i])} and {plotly(matrix.raters[j])}"
    if why := matrix.why(i, j):
        return f"{who}<br>{why}"
    interval = matrix.interval(i, j)
    ends = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
    name = COEFFICIENT_TITLES[matrix.coefficient]
    return f"{who}<br>{name} {matrix.value[i, j]:.2f}{ends}<br>{matrix.n[i, j]:,} pairs of answers"
