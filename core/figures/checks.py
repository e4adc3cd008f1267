"""Figures that show whether a rater model can be believed: predictive checks and leave-one-out."""

import numpy as np
import plotly.graph_objects as go

from ..models.checks import PredictiveCheck
from ..models.loo import LooRow
from ..order import lowest_first
from ..text import number, plotly, plural, shorten
from .labels import model_name, raters_side_by_side, row_height, short_names
from .reliability import SYMBOLS
from .theme import Theme, bar, error_bars, figure_of, rows, scatter, upright, with_opacity

MOST_MODELS = 5
MOST_RATERS = 200
NAMED_RATERS = 30


def vote_bands(
    checks: dict[str, PredictiveCheck], theme: Theme, title: str, class_code: int | None = None
) -> go.Figure:
    """Draw observed annotations per case as outlines against each model's 95% band of replicates [Han et al., fig. 3].

    Above in cases; below as replicated minus observed, so that small counts are readable. At most `MOST_MODELS`.
    ``class_code`` chooses the class if there are more than two.

    Parameters
    ----------
    checks : dict of str to PredictiveCheck
        Checks by title of the model.
    theme : Theme
    title : str
    class_code : int, optional
    """
    checks = dict(list(checks.items())[:MOST_MODELS])
    first = next(iter(checks.values()))
    mine = _of_class(first, class_code)
    votes, observed = first.place[mine], first.observed[mine]
    data = [
        bar(
            x=votes,
            y=observed,
            width=0.92,
            name="observed",
            marker={"color": "rgba(0,0,0,0)", "line": {"color": theme.ink, "width": 1.6}},
            customdata=first.total[mine],
            hovertemplate="%{x} votes: %{y:,} of %{customdata:,} cases<extra>observed</extra>",
        )
    ]
    step = 0.8 / len(checks)
    width = float(np.clip(60 / (len(votes) * len(checks)), 1.5, 5))
    for place, (name, check) in enumerate(checks.items()):
        mine = _of_class(check, class_code)
        colour, label = theme.classes[place % len(theme.classes)], plotly(shorten(name, 42))
        low, median, high = check.low[mine], check.median[mine], check.high[mine]
        hover = (
            "%{customdata[0]} votes: %{customdata[2]:,.0f} to %{customdata[4]:,.0f} cases replicated (median "
            "%{customdata[3]:,.0f})<br>observed %{customdata[1]:,} of %{customdata[6]:,}, p %{customdata[5]:0.3f}"
            f"<extra>{label}</extra>"
        )
        for axis, shift in (("y", 0), ("y2", observed)):
            data.append(
                scatter(
                    x=votes + (place - (len(checks) - 1) / 2) * step,
                    y=median - shift,
                    yaxis=axis,
                    mode="markers",
                    name=label,
                    legendgroup=label,
                    showlegend=axis == "y",
                    marker={"color": colour, "symbol": SYMBOLS[place % len(SYMBOLS)], "size": width + 4},
                    error_y=error_bars(high - median, median - low, colour, width, 0),
                    customdata=np.column_stack([votes, observed, low, median, high, check.p[mine], check.total[mine]]),
                    hovertemplate=hover,
                )
            )
    return figure_of(theme, data, title, 500, **_cases_above_differences(len(votes), theme), legend_below=True)


def _cases_above_differences(n_votes: int, theme: Theme) -> dict:
    """Return axes of cases above and of differences below, the latter with a line at 0."""
    zero = {"color": theme.ink, "width": 1.6}
    return {
        "xaxis": {
            "anchor": "y2",
            "title": "votes per case",
            "dtick": 1 if n_votes <= 20 else None,
            "showgrid": False,
        },
        "yaxis": {"domain": [0.5, 1], "title": "cases", "rangemode": "tozero"},
        "yaxis2": {"domain": [0, 0.42], "title": "replicated − observed"},
        "shapes": [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": "y2", "y0": 0, "y1": 0, "line": zero}],
    }


def rater_bands(check: PredictiveCheck, theme: Theme, title: str, class_code: int | None = None) -> go.Figure:
    """Draw a rater's share of annotations that name the class: circles observed, bars the 95% band of replicates.

    Raters are ordered by their observed share. At most `MOST_RATERS`, those for whom the model does worst; crosses are
    outside their band.

    Parameters
    ----------
    check : PredictiveCheck
    theme : Theme
    title : str
    class_code : int, optional
    """
    mine = _of_class(check, class_code)
    if len(mine) > MOST_RATERS:
        mine = mine[lowest_first(np.minimum(check.p, 1 - check.p)[mine])[:MOST_RATERS]]
    share = check.observed[mine] / check.total[mine]
    order = lowest_first(share)
    mine, share = mine[order], share[order]
    low, high, total = check.low[mine], check.high[mine], check.total[mine]
    outside = (check.observed[mine] < low) | (check.observed[mine] > high)
    names = [plotly(name) for name in short_names([check.labels[entry] for entry in mine], 20)]
    place = np.arange(len(mine))
    few = len(mine) <= NAMED_RATERS
    x, y = _segments(place, low / total, high / total)
    band = {"color": with_opacity(theme.accent, 0.4), "width": 9 if few else 3}
    data = [scatter(x=x, y=y, mode="lines", name="95% of replicates", line=band, hoverinfo="skip")]
    for inside, name, symbol, colour in (
        (True, "observed", "circle-open", theme.ink),
        (False, "observed, outside the band", "x", theme.mean),
    ):
        chosen = np.flatnonzero(outside != inside)
        data.append(
            scatter(
                x=place[chosen],
                y=share[chosen],
                mode="markers",
                name=name,
                marker={"symbol": symbol, "color": colour, "line": {"width": 1.6 if few else 1}}
                | {"size": 9 if few else 5 if inside else 7},
                customdata=[
                    [names[i], f"{check.observed[mine[i]]:,}", f"{total[i]:,}", low[i], high[i], check.p[mine[i]]]
                    for i in chosen
                ],
                hovertemplate="%{customdata[0]}: %{customdata[1]} of %{customdata[2]} annotations<br>replicated "
                "%{customdata[3]:,.0f} to %{customdata[4]:,.0f}, p %{customdata[5]:0.3f}<extra></extra>",
            )
        )
    shares = {"tickformat": "0.0%", "range": _with_room(low / total, high / total, share)}
    return figure_of(
        theme,
        data,
        title,
        380,
        xaxis=raters_side_by_side(names if few else None, len(mine), " by observed value"),
        yaxis={"title": "share of annotations"} | shares,
        legend_below=True,
    )


def loo_forest(compared: tuple[LooRow, ...], theme: Theme, title: str) -> go.Figure:
    """Draw the difference of each model's elpd to the best, ± one standard error; the best on top.

    Models far behind the others are at the edge as arrows, so that those in front can be distinguished. Open symbols
    mark models with unreliable importance weights for some cases.

    Parameters
    ----------
    compared : tuple of LooRow
    theme : Theme
    title : str
    """
    difference = np.array([row.difference for row in compared])
    edge = _edge(difference)
    beyond = difference < edge
    place = np.arange(len(compared))
    error = np.array(
        [
            np.nan if row.difference_se is None or far else row.difference_se
            for row, far in zip(compared, beyond, strict=True)
        ]
    )
    symbols = np.where(beyond, "triangle-left", "circle")
    doubtful = [row.n_high_k > 0 for row in compared]
    written = ["best", *(_difference_in_words(row) for row in compared[1:])]
    data = [
        scatter(
            x=np.maximum(difference, edge),
            y=place,
            mode="markers",
            marker={
                "symbol": [
                    f"{symbol}-open" if open_ else str(symbol) for symbol, open_ in zip(symbols, doubtful, strict=True)
                ],
                "color": theme.accent,
                "size": 10,
                "line": {"width": 2, "color": theme.accent},
            },
            error_x={"type": "data", "array": error, "color": theme.accent, "thickness": 2, "width": 4},
            customdata=[_loo_words(row, text) for row, text in zip(compared, written, strict=True)],
            hovertemplate="%{customdata[0]}: %{customdata[1]}<br>elpd %{customdata[2]} over %{customdata[3]} cases, "
            "p_loo %{customdata[4]}%{customdata[5]}<extra></extra>",
            showlegend=False,
        )
    ]
    names = [model_name(row.name) for row in compared]
    return figure_of(
        theme,
        data,
        title,
        110 + row_height([row.name for row in compared]) * len(compared),
        xaxis={"title": "difference in elpd from the best model, ± SE", "nticks": 6},
        yaxis=rows(names, theme),
        shapes=[upright(0, {"color": theme.rest, "width": 1})],
        annotations=_beside(written, theme),
        margin={"r": 110},
    )


def _difference_in_words(row: LooRow) -> str:
    """Return how far a model is behind the best, with its standard error if it has one."""
    return number(row.difference, 1) + ("" if row.difference_se is None else f" ± {number(row.difference_se, 1)}")


def _loo_words(row: LooRow, difference: str) -> list[str]:
    """Return the lines of the hover of a model."""
    return [
        plotly(shorten(row.name, 40)),
        difference,
        number(row.elpd, 1) + ("" if row.se is None else f" ± {number(row.se, 1)}"),
        f"{row.n_cases:,}",
        number(row.p_loo, 1),
        f"<br>k too high for {plural(row.n_high_k, 'case')}" if row.n_high_k else "",
    ]


def _beside(written: list[str], theme: Theme) -> list[dict]:
    """Return one text for each line, right of the axes."""
    place = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 8, "showarrow": False}
    return [
        {**place, "y": i, "text": text, "font": {"size": 12, "color": theme.quiet}} for i, text in enumerate(written)
    ]


def _with_room(*shares: np.ndarray) -> list[float]:
    """Return the range of an axis on which no band ends at its edge, and that goes little below 0 and above 1."""
    every = np.concatenate(shares)
    width = max(float(np.ptp(every)), 0.04)
    room, beyond = max(0.05 * width, 0.02), 0.05 * width
    return [max(float(every.min()) - room, -beyond), min(float(every.max()) + room, 1 + beyond)]


def _of_class(check: PredictiveCheck, class_code: int | None) -> np.ndarray:
    """Return the entries of a check that count this class; all if None."""
    return np.arange(check.n_statistics) if class_code is None else np.flatnonzero(check.class_code == class_code)


def _segments(place: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[list, list]:
    """Return upright segments as one broken line, so that a thousand raters are one trace."""
    x, y = [], []
    for at, start, stop in zip(place.tolist(), low.tolist(), high.tolist(), strict=True):
        x += [at, at, None]
        y += [start, stop, None]
    return x, y


def _edge(difference: np.ndarray) -> float:
    """Return the end of the axis: three times the median difference, if the worst is more than twice as far as that."""
    behind = difference[difference < 0]
    if not len(behind):
        return -np.inf
    edge = 3 * float(np.median(behind))
    return edge if behind.min() < 2 * edge else -np.inf
