"""Figures of estimates of a rater model: the accuracy of raters and the difficulty of cases."""

import numpy as np
import plotly.graph_objects as go

from ..models.result import CaseEffect, RaterModelFit
from ..order import FITTED, lowest_first
from ..text import number, percent, percent_with_interval, plotly, shorten
from .labels import between, raters_side_by_side, short_names
from .theme import Theme, Trace, dashed, error_bars, figure_of, scatter, with_opacity

NAMED_RATERS = 30
INTERVAL_RATERS = 60
MOST_RATERS = 2_000
MOST_CASES = 1_000


def sensitivity_specificity(fit: RaterModelFit, theme: Theme, title: str) -> go.Figure:
    """Draw each rater of a model with two classes: sensitivity (of the second class) against specificity.

    On the falling diagonal annotations are independent of the truth; below it they are worse than guessing. Intervals
    are drawn for at most `INTERVAL_RATERS`. Grey: no annotations on cases of one of the classes, by the model.

    Parameters
    ----------
    fit : RaterModelFit
    theme : Theme
    title : str
    """
    chosen = _most_annotated(fit)
    specificity, sensitivity = fit.confusion[chosen, 0, 0], fit.confusion[chosen, 1, 1]
    told = (fit.evidence[chosen] > 0).all(axis=1)
    spam = told & (specificity + sensitivity < 1)
    told_well = told & ~spam
    data = [dashed([0, 1], [1, 0], "independent of the truth", theme.mean)]
    few = len(chosen) <= INTERVAL_RATERS
    for mask, name, symbol, colour in (
        (told_well, "raters", "circle", theme.accent),
        (spam, "worse than guessing", "x", theme.mean),
        (~told, "not estimable", "circle-open", theme.rest),
    ):
        mine = np.flatnonzero(mask)
        if not len(mine):
            continue
        data.append(
            scatter(
                x=specificity[mine],
                y=sensitivity[mine],
                mode="markers",
                name=name,
                marker={
                    "symbol": symbol,
                    "color": colour,
                    "size": 10 if few else 6,
                    "opacity": 0.5 if mask is told_well and not few else 0.9,
                },
                error_x=_bars(fit, chosen[mine], 0, colour) if few else None,
                error_y=_bars(fit, chosen[mine], 1, colour) if few else None,
                customdata=[_rates_in_words(fit, j) for j in chosen[mine]],
                hovertemplate="%{customdata[0]}, %{customdata[3]} annotations<br>sensitivity %{customdata[1]}"
                "<br>specificity %{customdata[2]}<extra></extra>",
            )
        )
    negative, positive = (plotly(shorten(name, 18)) for name in fit.classes)
    return figure_of(
        theme,
        data,
        title,
        460,
        xaxis={"title": f"specificity: correct on {negative}", "range": [-0.03, 1.03], "tickformat": "0.0%"},
        yaxis={"title": f"sensitivity: correct on {positive}", "range": [-0.03, 1.03], "tickformat": "0.0%"},
        legend_below=True,
    )


def _rates_in_words(fit: RaterModelFit, rater: int) -> list[str]:
    """Return name, sensitivity, specificity and number of annotations, for the hover."""
    return [
        plotly(shorten(fit.raters[rater], 40)),
        _interval(fit, "confusion", (rater, 1, 1), fit.confusion[rater, 1, 1]),
        _interval(fit, "confusion", (rater, 0, 0), fit.confusion[rater, 0, 0]),
        f"{fit.n_annotations[rater]:,}",
    ]


def accuracy_by_rater(fit: RaterModelFit, theme: Theme, title: str) -> go.Figure:
    """Draw each rater's accuracy by the model, with intervals, sorted; dashed: always the most frequent class.

    Parameters
    ----------
    fit : RaterModelFit
    theme : Theme
    title : str
    """
    chosen = _most_annotated(fit)
    accuracy = fit.accuracy()
    chosen = chosen[lowest_first(accuracy[chosen].round(FITTED))]
    place = np.arange(len(chosen))
    few = len(chosen) <= NAMED_RATERS
    data: list[Trace] = []
    if fit.uncertainty is not None:
        low, high = fit.uncertainty.accuracy.low[chosen], fit.uncertainty.accuracy.high[chosen]
        data.append(
            scatter(
                x=np.column_stack([place, place, np.full(len(place), np.nan)]).ravel(),
                y=np.column_stack([low, high, np.full(len(place), np.nan)]).ravel(),
                mode="lines",
                name=f"{percent(fit.uncertainty.level)} interval",
                line={"color": with_opacity(theme.accent, 0.45 if few else 0.3), "width": 6 if few else 1.5},
                hoverinfo="skip",
            )
        )
    data.append(
        scatter(
            x=place,
            y=accuracy[chosen],
            mode="markers",
            name="correct according to the model",
            marker={"color": theme.accent if few else theme.ink, "size": 8 if few else 3},
            customdata=[
                [
                    plotly(shorten(fit.raters[j], 40)),
                    _interval(fit, "accuracy", j, accuracy[j]),
                    f"{fit.n_annotations[j]:,}",
                ]
                for j in chosen
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]}<br>%{customdata[2]} annotations<extra></extra>",
        )
    )
    always = "always choosing the most frequent class"
    said: dict[str, str | None] = {"hoverinfo": None}
    said["hovertemplate"] = f"{always}: %{{y:0.0%}}<extra></extra>"
    data.append(dashed([-0.7, len(chosen) - 0.3], [fit.prevalence.max()] * 2, always, theme.mean, **said))
    names = [plotly(name) for name in short_names([fit.raters[j] for j in chosen], 18)] if few else None
    return figure_of(
        theme,
        data,
        title,
        400,
        xaxis=raters_side_by_side(names, len(chosen), ", sorted"),
        yaxis={"title": "accuracy from the model's confusion matrix", "range": [-0.03, 1.03], "tickformat": "0.0%"},
        legend_below=True,
    )


def effect_against_probability(
    fit: RaterModelFit,
    effect: CaseEffect,
    n_annotations: np.ndarray,
    theme: Theme,
    title: str,
    class_code: int = 1,
) -> go.Figure:
    """Draw an effect of each case against its probability of one class; intervals are in the hover.

    At most `MOST_CASES` are drawn, spread evenly over the cases by their effect. ``n_annotations`` has shape
    (n_cases,).

    Parameters
    ----------
    fit : RaterModelFit
    effect : CaseEffect
    n_annotations : ndarray, shape (n_cases,)
    theme : Theme
    title : str
    class_code : int
        Class of the probability.
    """
    by_effect = lowest_first(effect.mean.round(FITTED))
    chosen = by_effect[np.unique(np.linspace(0, len(by_effect) - 1, min(len(by_effect), MOST_CASES)).astype(int))]
    name = _named_class(fit, class_code)
    data = [
        scatter(
            x=fit.class_probability[chosen, class_code],
            y=effect.mean[chosen],
            mode="markers",
            marker={"color": theme.accent, "size": 7 if len(chosen) <= 200 else 5, "opacity": 0.55},
            customdata=[
                [
                    plotly(shorten(fit.cases[i], 40)),
                    _between(effect.mean[i], effect.spread.low[i], effect.spread.high[i]),
                    f"{n_annotations[i]:,}",
                ]
                for i in chosen
            ],
            hovertemplate=f"%{{customdata[0]}}, %{{customdata[2]}} annotations<br>P({name}) %{{x:0.0%}}"
            f"<br>{effect.name} %{{customdata[1]}}<extra></extra>",
            showlegend=False,
        )
    ]
    return figure_of(
        theme,
        data,
        title,
        420,
        xaxis={"title": f"probability of {name}", "range": [-0.03, 1.03], "tickformat": "0.0%"},
        yaxis={"title": effect.name},
    )


def _named_class(fit: RaterModelFit, code: int) -> str:
    return plotly(shorten(fit.classes[code], 24))


def _most_annotated(fit: RaterModelFit) -> np.ndarray:
    """Return the raters shown: all, or the `MOST_RATERS` with most annotations, in their own order."""
    return np.sort(np.argsort(-fit.n_annotations, kind="stable")[:MOST_RATERS])


def _bars(fit: RaterModelFit, raters: np.ndarray, k: int, colour: str) -> dict | None:
    """Return error bars of the diagonal of the confusion matrix in row ``k``; None without intervals."""
    if fit.uncertainty is None:
        return None
    value, spread = fit.confusion[raters, k, k], fit.uncertainty.confusion
    return error_bars(
        spread.high[raters, k, k] - value, value - spread.low[raters, k, k], with_opacity(colour, 0.45), 1.5, 0
    )


def _interval(fit: RaterModelFit, which: str, place: tuple[int, ...] | int, value: float) -> str:
    spread = None if fit.uncertainty is None else getattr(fit.uncertainty, which)
    if spread is None:
        return percent(value)
    low, high = spread.low[place], spread.high[place]
    return percent_with_interval(value, low, high) if np.isfinite(low) else f"{percent(value)}, no interval"


def _between(value: float, low: float, high: float) -> str:
    return f"{number(value, 3)} ({between(low, high, 3)})" if np.isfinite(low) else f"{number(value, 3)}, no interval"
