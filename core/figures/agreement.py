"""Figures of the Agreement page."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from ..agreement.coefficient_methods import CoefficientMethod
from ..agreement.intervals import Coefficient
from ..agreement.pairs import PairMatrix
from ..methods import method_named
from ..text import number, plotly, plural
from .labels import between, short_names, slant
from .theme import Theme, Trace, bar, cross, error_bars, figure_of, heatmap, rows, scatter, with_opacity

FEW_PAIRS = 5
MOST_WITH_TEXT = 16
MOST_OPAQUE = 0.5  # so that text in the ink of the theme can be read on any cell


def title_of(coefficient: Coefficient) -> str:
    """Return the name on screen, with the weights, metric, method or depth if it has one."""
    return title_with(coefficient.name, coefficient.weights)


def title_with(name: str, how: str) -> str:
    """Return the name on screen of a coefficient with its weights, metric, method or depth.

    Parameters
    ----------
    name, how : str
        Key of the coefficient, and its weights as results have them.
    """
    method = method_named(CoefficientMethod, name)
    if how == "identity" or not method.says_how:
        return method.title
    return f"{method.title_weighted or method.title}, {how}"


def forest(
    table: Sequence[Coefficient],
    theme: Theme,
    title: str,
    labels: Sequence[str] | None = None,
    headings: dict[int, str] | None = None,
) -> go.Figure:
    """Draw coefficients as points with their intervals, one line each, the first on top; leave out undefined ones.

    Parameters
    ----------
    table : sequence of Coefficient
    theme : Theme
    title : str
    labels : sequence of str, optional
        Names on the axis, instead of those of `title_of`.
    headings : dict of int to str, optional
        Headings, by the place in ``table`` before which they are drawn; a heading whose coefficients are all undefined
        is left out.
    """
    labels = [title_of(one) for one in table] if labels is None else labels
    shown, ticks, lines, heading = [], [], [], None
    for place, (one, label) in enumerate(zip(table, labels, strict=True)):
        heading = (headings or {}).get(place, heading)
        if one.value is None:
            continue
        if heading is not None:
            ticks.append(f"<b>{plotly(heading)}</b>")
            heading = None
        lines.append(len(ticks))
        ticks.append(plotly(label))
        shown.append(one)
    low, high = [c.arms[0] for c in shown], [c.arms[1] for c in shown]
    data = [
        scatter(
            x=[c.value for c in shown],
            y=lines,
            mode="markers",
            marker=cross(theme.accent, 11, 3),
            error_x=error_bars(high, low, theme.accent, 2, 5),
            customdata=[
                [ticks[y], _interval(c), plural(c.n_cases, "case"), plural(c.n_annotations, "annotation")]
                for y, c in zip(lines, shown, strict=True)
            ],
            hovertemplate="%{customdata[0]}: %{x:0.3f}<br>%{customdata[1]}<br>%{customdata[2]}, "
            "%{customdata[3]}<extra></extra>",
            showlegend=False,
        )
    ]
    ends = [c.value if c.ci_low is None else c.ci_low for c in shown]
    lowest = min([0.0, *(end for end in ends if end is not None)])
    return figure_of(
        theme,
        data,
        title,
        90 + (46 if len(ticks) <= 6 else 36 if len(ticks) <= 12 else 26) * len(ticks),
        xaxis={"range": [max(-1.0, lowest) - 0.02, 1.02], "nticks": 6, "title": "1 = full agreement"},
        yaxis=rows(ticks, theme),
    )


def pair_heatmap(matrix: PairMatrix, order: np.ndarray, theme: Theme, title: str) -> go.Figure:
    """Draw raters against raters in a given order; colour and number are the coefficient, n is in every cell.

    Two raters with fewer than `FEW_PAIRS` pairs of annotations have no colour, because one annotation more could change
    it. Above `MOST_WITH_TEXT` raters, numbers are in the hover, and a scale shows what a colour means. ``customdata``
    of a point contains the positions of its two raters, for a click.

    Parameters
    ----------
    matrix : PairMatrix
    order : ndarray, shape (n_raters,)
        Positions of raters, in the order of both axes.
    theme : Theme
    title : str
    """
    value = matrix.value[np.ix_(order, order)]
    n_raters = len(order)
    names = [plotly(name) for name in short_names([matrix.raters[code] for code in order], 16)]
    few = n_raters <= MOST_WITH_TEXT
    # A rater's own cell has no meaning, so it is left empty.
    text = [["" if i == j else _cell(matrix, i, j) for j in order] for i in order] if few else None
    hover = [["" if i == j else _pair_hover(matrix, i, j) for j in order] for i in order]
    coloured = np.where(matrix.n[np.ix_(order, order)] >= FEW_PAIRS, value, np.nan)
    known = coloured[np.isfinite(coloured)]
    data = [
        heatmap(
            z=coloured,
            x=list(range(n_raters)),
            y=list(range(n_raters)),
            text=text,
            texttemplate="%{text}" if few else None,
            textfont={"size": 11, "color": theme.ink},
            hoverinfo="skip",
            colorscale=[[0, with_opacity(theme.accent, 0.04)], [1, with_opacity(theme.accent, MOST_OPAQUE)]],
            zmin=float(known.min()) if known.size else 0,
            zmax=float(known.max()) if known.size else 1,
            xgap=2,
            ygap=2,
            showscale=not few and known.size > 0,
            colorbar={"thickness": 10, "outlinewidth": 0, "tickfont": {"color": theme.quiet}, "nticks": 5},
        ),
        _clickable(order, hover),
    ]
    ends = {"range": [-0.5, n_raters - 0.5], "tickmode": "array", "tickvals": list(range(n_raters)), "showgrid": False}
    return figure_of(
        theme,
        data,
        title,
        max(300, 110 + min(44, 700 // n_raters) * n_raters),
        xaxis={**ends, "ticktext": names, "tickangle": slant(names)},
        yaxis={**ends | {"range": [n_raters - 0.5, -0.5]}, "ticktext": names},
        hoverdistance=-1,
        hovermode="closest",
    )


def _clickable(order: np.ndarray, hover: list[list[str]]) -> Trace:
    """Return invisible points in the middle of the cells for hover and click, which a heatmap does not offer."""
    cells = [(x, y) for y in range(len(order)) for x in range(len(order)) if x != y]
    return scatter(
        x=[x for x, _ in cells],
        y=[y for _, y in cells],
        mode="markers",
        marker={"size": 8, "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        customdata=[[int(order[y]), int(order[x])] for x, y in cells],
        hovertext=[hover[y][x] for x, y in cells],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )


def case_agreement_histogram(agreement: np.ndarray, theme: Theme, title: str) -> go.Figure:
    """Draw how many cases have which agreement.

    Parameters
    ----------
    agreement : ndarray, shape (n_cases,)
        Agreement of each case.
    theme : Theme
    title : str
    """
    values = agreement[np.isfinite(agreement)]
    count, edges = np.histogram(values, bins=np.linspace(0, 1, 11))
    data = [
        bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=count,
            width=0.09,
            marker={"color": with_opacity(theme.accent, 0.25), "line": {"color": theme.ink, "width": 1}},
            customdata=[between(low, high, 1) for low, high in pairwise(edges)],
            hovertext=[plural(n, "case") for n in count.tolist()],
            hovertemplate="agreement %{customdata}: %{hovertext}<extra></extra>",
        )
    ]
    return figure_of(
        theme,
        data,
        title,
        260,
        xaxis={"title": "share of annotation pairs that agree, per case", "range": [0, 1]},
        yaxis={"title": "cases"},
    )


def annotations_per_case(per_case: np.ndarray, theme: Theme, title: str) -> go.Figure:
    """Draw how many cases have how many annotations.

    Parameters
    ----------
    per_case : ndarray, shape (n_cases,)
    theme : Theme
    title : str
    """
    values, count = np.unique(per_case, return_counts=True)
    data = [
        bar(
            x=values,
            y=count,
            width=0.8,
            marker={"color": with_opacity(theme.accent, 0.25), "line": {"color": theme.ink, "width": 1}},
            hovertext=[
                f"{plural(n, 'annotation')}: {plural(cases, 'case')}"
                for n, cases in zip(values.tolist(), count.tolist(), strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    ]
    return figure_of(
        theme,
        data,
        title,
        260,
        xaxis={"title": "annotations per case", "dtick": 1 if values[-1] - values[0] <= 20 else None},
        yaxis={"title": "cases"},
    )


def _interval(coefficient: Coefficient) -> str:
    if coefficient.ci_low is None:
        return "interval undetermined"
    return f"interval {between(coefficient.ci_low, coefficient.ci_high, 3)}"


def _cell(matrix: PairMatrix, i: int, j: int) -> str:
    if matrix.n[i, j] == 0:
        return "no case<br>shared"
    value = matrix.value[i, j]
    return f"{number(value) if np.isfinite(value) else 'undefined'}<br>n {matrix.n[i, j]:,}"


def _pair_hover(matrix: PairMatrix, i: int, j: int) -> str:
    who = f"{plotly(matrix.raters[i])} and {plotly(matrix.raters[j])}"
    if why := matrix.why(i, j):
        return f"{who}<br>{why}"
    interval = matrix.interval(i, j)
    ends = f" ({number(interval[0])} to {number(interval[1])})" if interval else ""
    name = method_named(CoefficientMethod, matrix.coefficient).title
    return f"{who}<br>{name} {number(matrix.value[i, j])}{ends}<br>{plural(matrix.n[i, j], 'pair')} of annotations"
