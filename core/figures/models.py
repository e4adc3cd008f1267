"""Figures of the Models page."""

import numpy as np
import plotly.graph_objects as go

from ..models.result import RaterModelFit
from ..text import number, percent, percent_range, plotly, plural, shorten
from .labels import model_name, row_height, short_names, slant
from .reliability import SYMBOLS
from .theme import Theme, Trace, bar, dashed, error_bars, figure_of, heatmap, rows, scatter, with_opacity

MOST_CLASSES = 12
MOST_WITH_INTERVALS = 5
MOST_OPAQUE = 0.5  # so that text in the ink of the theme can be read on any cell


def prevalence_by_model(
    fits: dict[str, RaterModelFit], raw: np.ndarray, theme: Theme, title: str, codes: list[int]
) -> go.Figure:
    """Draw prevalence by model with its interval; the upright line is the raw share of annotations.

    ``codes`` are the classes shown, one group of rows each; ``raw`` has shape (n_classes,). A cross is an estimate
    without an interval.

    Parameters
    ----------
    fits : dict of str to RaterModelFit
        Fits by title.
    raw : ndarray, shape (n_classes,)
        Share of each class among all annotations.
    theme : Theme
    title : str
    codes : sequence of int
        Classes to show, in their order.
    """
    first = next(iter(fits.values()))
    span = len(fits) + 1
    one_class = len(codes) == 1
    data = _raw_shares(first, raw, codes, len(fits), theme)
    for place, (name, fit) in enumerate(fits.items()):
        colour = theme.accent if one_class else theme.classes[place % len(theme.classes)]
        symbol = SYMBOLS[0 if one_class else place % len(SYMBOLS)]
        at = np.arange(len(codes)) * span + place
        data.append(_prevalence_marks(fit, codes, at, name, colour, symbol) | {"showlegend": not one_class})
    names = [model_name(name) for name in fits] if one_class else _class_names(first, codes)
    middle = np.arange(len(fits)) if one_class else np.arange(len(codes)) * span + (len(fits) - 1) / 2
    return figure_of(
        theme,
        data,
        title,
        int(130 + (row_height(fits) if one_class else 24) * len(codes) * span),
        xaxis={
            "title": f"share of cases in class {_class_name(first, codes[0])}" if one_class else "share of cases",
            "rangemode": "tozero",
            "tickformat": "0.0%",
        },
        yaxis=rows(names, theme, middle, range=[len(codes) * span - 1.4, -0.6]),
        legend_below=True,
    )


def _prevalence_marks(
    fit: RaterModelFit, codes: list[int], at: np.ndarray, name: str, colour: str, symbol: str
) -> Trace:
    """Draw one model's prevalence of each class with its interval, in the rows ``at``; a cross if there is none."""
    spread = None if fit.uncertainty is None else fit.uncertainty.prevalence
    known = np.zeros(len(codes), bool) if spread is None else np.isfinite(spread.low[codes])
    value = fit.prevalence[codes]
    low, high = (value, value) if spread is None else (spread.low[codes], spread.high[codes])
    interval = [percent_range(a, b, 1) if k else "no interval" for a, b, k in zip(low, high, known, strict=True)]
    label = plotly(shorten(name, 42))
    return scatter(
        x=value,
        y=at,
        mode="markers",
        name=label,
        marker={
            "color": colour,
            "size": 9,
            "symbol": [symbol if k else "x-thin" for k in known],
            "line": {"width": 2, "color": colour},
        },
        error_x=error_bars(np.where(known, high - value, np.nan), np.where(known, value - low, np.nan), colour, 2, 4),
        customdata=[[_class_name(fit, code), text] for code, text in zip(codes, interval, strict=True)],
        hovertemplate="%{customdata[0]}: %{x:0.1%} (%{customdata[1]}), "
        f"{plural(len(fit.cases), 'case')}<extra>{label}</extra>",
    )


def _raw_shares(fit: RaterModelFit, raw: np.ndarray, codes: list[int], n_fits: int, theme: Theme) -> list[Trace]:
    """Draw an upright line across each group of rows: the share of annotations with its class."""
    span = n_fits + 1
    n_annotations = int(fit.n_annotations.sum())
    return [
        scatter(
            x=[raw[code]] * 2,
            y=[group * span - 0.5, group * span + n_fits - 0.5],
            mode="lines",
            name="share of annotations",
            legendgroup="raw",
            showlegend=group == 0,
            line={"color": theme.ink, "width": 2},
            hovertemplate=f"{_class_name(fit, code)}: %{{x:0.3f}} of {n_annotations:,} annotations<extra></extra>",
        )
        for group, code in enumerate(codes)
    ]


def confusion_heatmap(fit: RaterModelFit, rater: int, theme: Theme, title: str) -> go.Figure:
    """Draw one rater's confusion matrix; at most `MOST_CLASSES` classes, those with most annotations of the rater.

    Parameters
    ----------
    fit : RaterModelFit
    rater : int
        Position in the fit.
    theme : Theme
    title : str
    """
    order = np.sort(np.argsort(-fit.evidence[rater], kind="stable")[:MOST_CLASSES])
    names = [plotly(name) for name in short_names([fit.classes[code] for code in order], 18)]
    matrix = fit.confusion[rater][np.ix_(order, order)]
    evidence = fit.evidence[rater][order]
    n_shown = len(order)
    interval = _intervals_of_confusion(fit, rater, order)
    roomy = n_shown <= MOST_WITH_INTERVALS
    text = [
        [
            percent(value) + (f"<br>{ends}" if roomy and ends else "")
            for value, ends in zip(values, row_of_ends, strict=True)
        ]
        for values, row_of_ends in zip(matrix, interval, strict=True)
    ]
    data = [
        heatmap(
            z=matrix,
            x=list(range(n_shown)),
            y=list(range(n_shown)),
            text=text if n_shown <= 12 else None,
            texttemplate="%{text}" if n_shown <= 12 else None,
            textfont={"size": 11, "color": theme.ink},
            hovertext=_cells_in_words(names, matrix, interval, evidence),
            hovertemplate="%{hovertext}<extra></extra>",
            colorscale=[[0, with_opacity(theme.accent, 0.03)], [1, with_opacity(theme.accent, MOST_OPAQUE)]],
            zmin=0,
            zmax=1,
            xgap=2,
            ygap=2,
            showscale=False,
        )
    ]
    ticks = {"tickmode": "array", "tickvals": list(range(n_shown)), "showgrid": False}
    return figure_of(
        theme,
        data,
        title,
        max(300, 130 + (44 if roomy else 30) * n_shown),
        xaxis={**ticks, "ticktext": names, "title": "annotated class", "tickangle": slant(names)},
        yaxis={
            **ticks,
            "ticktext": [
                f"{name}<br>n ≈ {number(n, 0)}" if n_shown <= 12 else name
                for name, n in zip(names, evidence, strict=True)
            ],
            "title": "true class",
            "autorange": "reversed",
        },
    )


def _cells_in_words(
    names: list[str], matrix: np.ndarray, interval: list[list[str]], evidence: np.ndarray
) -> list[list[str]]:
    """Return the hover text of each cell of a confusion matrix; ``evidence`` is the annotations of each row."""
    return [
        [
            f"true {names[k]}, annotated {names[m]}: {percent(matrix[k, m])} {interval[k][m]}".rstrip()
            + f"<br>about {number(evidence[k], 1)} annotations"
            for m in range(len(names))
        ]
        for k in range(len(names))
    ]


def objective_path(fit: RaterModelFit, theme: Theme, title: str) -> go.Figure:
    """Draw the maximised objective against the iteration; it must never fall.

    Parameters
    ----------
    fit : RaterModelFit
    theme : Theme
    title : str
    """
    data = [
        scatter(
            x=list(range(1, len(fit.objective) + 1)),
            y=list(fit.objective),
            mode="lines+markers",
            line={"color": theme.accent, "width": 2},
            marker={"size": 4},
            hovertemplate="iteration %{x}: %{y:,.4f}<extra></extra>",
        )
    ]
    return figure_of(theme, data, title, 240, xaxis={"title": "iteration"}, yaxis={"title": "objective"})


def calibration_curve(
    predicted: np.ndarray,
    observed: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    count: np.ndarray,
    theme: Theme,
    title: str,
) -> go.Figure:
    """Draw how often a probability comes true; on the diagonal, 70% is correct 7 times in 10.

    Arrays over bins: mean probability, share that is true in the gold classes, ends of its interval, and number of
    cases.

    Parameters
    ----------
    predicted, observed : ndarray, shape (n_bins,)
    low, high : ndarray, shape (n_bins,)
    count : ndarray, shape (n_bins,)
    theme : Theme
    title : str
    """
    kept = np.flatnonzero(count > 0)
    predicted, observed, low, high, count = (values[kept] for values in (predicted, observed, low, high, count))
    data = [
        dashed([0, 1], [0, 1], "perfectly calibrated", theme.rest),
        scatter(
            x=predicted,
            y=observed,
            mode="lines+markers",
            name="observed",
            line={"color": theme.accent, "width": 2},
            marker={"size": 9, "color": theme.accent},
            error_y=error_bars(high - observed, observed - low, theme.accent, 1.5, 4),
            customdata=[[a, b, plural(int(n), "case")] for a, b, n in zip(low, high, count, strict=True)],
            hovertemplate="probability %{x:0.0%}: true in %{y:0.0%} (%{customdata[0]:0.0%} to "
            "%{customdata[1]:0.0%}) of %{customdata[2]}<extra></extra>",
        ),
        bar(
            x=predicted,
            y=count,
            yaxis="y2",
            width=0.03,
            name="cases",
            marker={"color": "rgba(0,0,0,0)", "line": {"color": theme.ink, "width": 1}},
            hovertext=[plural(n, "case") for n in count.tolist()],
            hovertemplate="probability %{x:0.0%}: %{hovertext}<extra></extra>",
        ),
    ]
    return figure_of(
        theme,
        data,
        title,
        420,
        xaxis={"anchor": "y2", "range": [-0.03, 1.03], "title": "probability under the model", "tickformat": "0.0%"},
        yaxis={"domain": [0.3, 1], "title": "share true", "range": [-0.03, 1.03], "tickformat": "0.0%"},
        yaxis2={"domain": [0, 0.22], "title": "cases", "nticks": 4},
        legend_below=True,
    )


def calibration_bars(
    predicted: np.ndarray,
    observed: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    count: np.ndarray,
    theme: Theme,
    title: str,
) -> go.Figure:
    """Draw the share of correct cases by bin of probability, for few cases: bars with intervals and no curve.

    Arrays as of `calibration_curve`.

    Parameters
    ----------
    predicted, observed : ndarray, shape (n_bins,)
    low, high : ndarray, shape (n_bins,)
    count : ndarray, shape (n_bins,)
    theme : Theme
    title : str
    """
    names = [f"{percent(mean)}<br>{plural(int(n), 'case')}" for mean, n in zip(predicted, count, strict=True)]
    data = [
        bar(
            x=names,
            y=observed,
            name="share true",
            marker={"color": theme.accent, "opacity": 0.6},
            error_y=error_bars(high - observed, observed - low, theme.ink, 1.5, 4),
            customdata=np.column_stack([low, high]),
            hovertemplate="true in %{y:0.0%} (%{customdata[0]:0.0%} to %{customdata[1]:0.0%})<extra></extra>",
        ),
        scatter(
            x=names,
            y=predicted,
            mode="markers",
            name="mean probability",
            marker={"color": theme.ink, "size": 11, "symbol": "diamond-open", "line": {"width": 2}},
            hovertemplate="mean probability %{y:0.0%}<extra></extra>",
        ),
    ]
    return figure_of(
        theme,
        data,
        title,
        380,
        xaxis={"title": "mean probability in the bin", "type": "category"},
        yaxis={"title": "share true", "range": [0, 1.05], "tickformat": "0.0%"},
        legend_below=True,
    )


def _intervals_of_confusion(fit: RaterModelFit, rater: int, order: np.ndarray) -> list[list[str]]:
    """Return the text of the interval of each cell; empty if there is none."""
    if fit.uncertainty is None:
        return [[""] * len(order) for _ in order]
    low, high = (getattr(fit.uncertainty.confusion, end)[rater][np.ix_(order, order)] for end in ("low", "high"))
    return [
        [f"({percent(a)} to {percent(b)})" if np.isfinite(a) else "" for a, b in zip(*ends, strict=True)]
        for ends in zip(low, high, strict=True)
    ]


def _class_names(fit: RaterModelFit, codes: list[int]) -> list[str]:
    return [plotly(name) for name in short_names([fit.classes[code] for code in codes], 24)]


def _class_name(fit: RaterModelFit, code: int) -> str:
    return plotly(shorten(fit.classes[code], 24))
