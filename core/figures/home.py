"""Figures of Home: small, static, one finding each; the text next to them states the finding."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..agreement.coefficient_methods import CoefficientMethod
from ..agreement.coefficients import FLEISS_KAPPA, GWET_AC, PERCENT
from ..agreement.intervals import Coefficient
from ..agreement.krippendorff import KRIPPENDORFF_ALPHA
from ..agreement.label_sets import MEAN_LABEL_ALPHA, SET_ALPHA
from ..agreement.ordered import LEAVE_ONE_OUT_TOP1, MEAN_AVERAGE_OVERLAP
from ..agreement.scores import ICC_1, ICC_2, ICC_3, INTRACLASS
from ..evaluation.metrics import Evaluation
from ..methods import method_named
from ..text import plotly
from .agreement import forest, title_of
from .classifiers import metric_against_reliability
from .labels import short_names
from .reliability import axis_to_one
from .theme import Theme, Trace, bar, error_bars, figure_of, scatter, upright, with_opacity

HEIGHT, WIDE_HEIGHT, SMALL_HEIGHT = 250, 370, 130  # the second next to the next steps, the third above a list
MOST_COEFFICIENTS = 4
MOST_LINES = 8
_FIRST = (
    PERCENT,
    LEAVE_ONE_OUT_TOP1,
    KRIPPENDORFF_ALPHA,
    MEAN_AVERAGE_OVERLAP,
    SET_ALPHA,
    MEAN_LABEL_ALPHA,
    GWET_AC,
    FLEISS_KAPPA,
    ICC_2,
    ICC_1,
    ICC_3,
)


def agreement(table: Sequence[Coefficient], theme: Theme, quoted: Coefficient | None = None) -> go.Figure | None:
    """Draw a few coefficients with their intervals, each once, for sets by both distances; None if none is defined.

    Parameters
    ----------
    table : sequence of Coefficient
    theme : Theme
    quoted : Coefficient, optional
        Coefficient in the title: if it counts near classes in part, coefficients that do so come first.
    """

    def place(one: Coefficient) -> tuple[int, bool, bool]:
        if quoted is None or not quoted.weights.startswith("ordinal"):
            return _FIRST.index(one.name), False, False
        return _FIRST.index(one.name), one.weights != quoted.weights, not one.weights.startswith("ordinal")

    chosen: dict[tuple[str, str], Coefficient] = {}
    for one in sorted((one for one in table if one.name in _FIRST), key=place):
        if one.value is not None and len(chosen) < MOST_COEFFICIENTS:
            chosen.setdefault((one.name, one.weights if one.name == SET_ALPHA else ""), one)
    # The name of the estimator of an intraclass correlation would leave no room for its interval.
    labels = [
        method_named(CoefficientMethod, one.name).title if one.name in INTRACLASS else title_of(one)
        for one in chosen.values()
    ]
    if not chosen:
        return None
    figure = forest(list(chosen.values()), theme, "", labels)
    figure.layout.yaxis.ticktext = [name.replace(", ", ",<br>") for name in figure.layout.yaxis.ticktext]
    figure.layout.xaxis["nticks"] = 3
    return _still(figure)


def certainties(certainty: np.ndarray, below: float, theme: Theme, *, above_list: bool = False) -> go.Figure:
    """Draw how many cases have which certainty, each bar with its number; the uncertain ones in another colour.

    A few uncertain cases next to many certain ones hardly have a bar, but they have their number.

    Parameters
    ----------
    certainty : ndarray, shape (n_cases,)
        Certainty of the leading class.
    below : float
        Certainty below which a case counts as uncertain.
    theme : Theme
    above_list : bool
        True for a small figure without the title of its axis.
    """
    edges = np.linspace(0, 1, 11)
    middle = (edges[:-1] + edges[1:]) / 2
    uncertain = certainty < below
    data: list[Trace] = []
    said, highest = [], 0
    for name, colour, cases in (("uncertain", theme.mean, uncertain), ("certain", theme.accent, ~uncertain)):
        count, _ = np.histogram(certainty[cases], bins=edges)
        some = count > 0
        highest = max(highest, int(count.max()))
        look = {"color": with_opacity(colour, 0.6), "line": {"color": colour, "width": 1}}
        numbers = {"text": [f"{n:,}" for n in count[some].tolist()], "textposition": "outside", "cliponaxis": False}
        data.append(bar(x=middle[some], y=count[some], width=0.09, name=name, marker=look, **numbers))
        said.append(f'<span style="color:{colour}"><b>{int(cases.sum()):,}</b> {name}</span>')
    note = {"text": " · ".join(said), "showarrow": False, "x": 0, "xref": "x domain", "xanchor": "left"}
    return figure_of(
        theme,
        data,
        height=SMALL_HEIGHT if above_list else WIDE_HEIGHT,
        margin={"t": 34} | ({"b": 22, "l": 8, "r": 8} if above_list else {}),
        xaxis=axis_to_one("" if above_list else "certainty of the case"),
        yaxis={"visible": False, "range": [0, 1.15 * highest]},
        shapes=[upright(below, {"color": theme.quiet, "dash": "dot", "width": 1.5})],
        annotations=[{**note, "y": 1, "yref": "y domain", "yanchor": "bottom"}],
        hovermode=False,
        showlegend=False,
        barmode="overlay",
    )


def with_intervals(
    names: Sequence[str],
    value: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    theme: Theme,
    axis: str,
    marked: Sequence[bool] | None = None,
    in_percent: bool = True,
) -> go.Figure:
    """Draw values with their intervals, one line each, the first on top; marked ones are crosses in another colour.

    At most `MOST_LINES` are drawn.

    Parameters
    ----------
    names : sequence of str
    value, low, high : sequence of float
    theme : Theme
    axis : str
        Quantity on the axis.
    marked : sequence of bool, optional
        Lines that are marked.
    in_percent : bool
        True for shares, False for coefficients.
    """
    n = min(len(names), MOST_LINES)
    data: list[Trace] = []
    at, least, most = (np.asarray(each[:n], float) for each in (value, low, high))
    crossed = np.zeros(n, bool) if marked is None else np.asarray(marked[:n], bool)
    for here, colour, symbol in ((~crossed, theme.accent, "circle"), (crossed, theme.mean, "x")):
        places = np.flatnonzero(here)
        data.append(
            scatter(
                x=at[places],
                y=places,
                mode="markers",
                marker={"color": colour, "size": 9, "symbol": symbol},
                error_x=error_bars(
                    most[places] - at[places], at[places] - least[places], with_opacity(colour, 0.7), 1.8, 3
                ),
                showlegend=False,
            )
        )
    return figure_of(
        theme,
        data,
        height=HEIGHT,
        xaxis={"title": axis, "rangemode": "tozero", "nticks": 6} | ({"tickformat": "0.0%"} if in_percent else {}),
        yaxis={
            "range": [n - 0.4, -0.6],
            "showgrid": False,
            "tickmode": "array",
            "tickvals": list(range(n)),
            "ticktext": [plotly(name) for name in short_names(list(names[:n]), 18)],
            "tickfont": {"color": theme.ink},
        },
        hovermode=False,
    )


def classifiers(
    reliabilities: tuple[float, ...], evaluations: tuple[Evaluation, ...], metric: str, theme: Theme
) -> go.Figure:
    """Draw the metric of each classifier against reliability, with bands.

    Parameters
    ----------
    reliabilities : tuple of float
        Reliability γ, ascending.
    evaluations : tuple of Evaluation
        Evaluations, one for each reliability.
    metric : str
        One of the evaluations' metrics.
    theme : Theme
    """
    return _still(metric_against_reliability(reliabilities, evaluations, metric, theme, ""))


def _still(figure: go.Figure) -> go.Figure:
    figure.layout.height, figure.layout.hovermode = HEIGHT, False
    return figure
