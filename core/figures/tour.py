"""Figure of a slide of the guided tour: marks with direct labels, to be read from the back of a room."""

import numpy as np
import plotly.graph_objects as go

from ..story import Mark, Slide
from ..text import exact, plotly
from .labels import wrapped_names
from .theme import Theme, Trace, bar, enlarge, error_bars, figure_of, rows, scatter

LARGE = 1.35  # letters against those of a presented page
_BAR = 0.55  # of the height of a row
_APART = 4 * "\N{NO-BREAK SPACE}"  # between a mark and its label


def draw(slide: Slide, theme: Theme) -> go.Figure:
    """Draw the marks of a slide, those that its claim is about in another colour.

    Parameters
    ----------
    slide : Slide
    theme : Theme
    """
    make = {"intervals": _intervals, "bars": _bars, "columns": _columns, "lines": _lines}[slide.kind]
    data, layout = make(slide, theme)
    figure = figure_of(theme, data, "", 360, margin={"l": 20, "r": 90, "t": 10, "b": 60}, **layout)
    return enlarge(figure, LARGE)


def _intervals(slide: Slide, theme: Theme) -> tuple[list[Trace], dict]:
    marks = slide.marks
    compared = [(one.reference, row) for row, one in enumerate(marks) if one.reference is not None]
    data = []
    for strong, colour in ((False, theme.accent), (True, theme.mean)):
        shown = [(row, one) for row, one in enumerate(marks) if one.strong == strong]
        value = np.array([one.value for _, one in shown])
        low, high = (np.array([_end(one, end) for _, one in shown]) for end in ("low", "high"))
        y = [row for row, _ in shown]
        ends = error_bars(high - value, value - low, colour, 4, 0)
        data += [
            scatter(x=value, y=y, mode="markers", marker={"color": colour, "size": 16}, error_x=ends, hoverinfo="skip"),
            # Next to a cross, a label would seem to be that of the cross.
            _labels(value, [row - 0.12 for row in y], [one for _, one in shown], colour, "top center")
            if compared
            else _labels(high, y, [one for _, one in shown], colour),
        ]
    if compared:
        places, at = zip(*compared, strict=True)
        mark = {"symbol": "x", "size": 14, "color": theme.quiet}
        data.append(scatter(x=places, y=at, mode="markers", marker=mark, hoverinfo="skip"))
    return data, {"xaxis": _share(slide), "yaxis": _names(slide, theme), "showlegend": False}


def _bars(slide: Slide, theme: Theme) -> tuple[list[Trace], dict]:
    value, y = [one.value for one in slide.marks], list(range(len(slide.marks)))
    data = [
        bar(x=value, y=y, orientation="h", width=_BAR, marker={"color": _colours(slide, theme)}, hoverinfo="skip"),
        _labels(value, y, slide.marks, theme.ink),
    ]
    axis = {"title": slide.axis, "rangemode": "tozero", "showticklabels": False, "showgrid": False}
    return data, {"xaxis": axis, "yaxis": _names(slide, theme), "showlegend": False}


def _columns(slide: Slide, theme: Theme) -> tuple[list[Trace], dict]:
    x, value = [one.at for one in slide.marks], [one.value for one in slide.marks]
    data = [
        bar(x=x, y=value, marker={"color": _colours(slide, theme)}, hoverinfo="skip"),
        _labels(x, value, slide.marks, theme.ink, "top center"),
    ]
    axis = {"title": slide.axis, "tickformat": ".0%", "showgrid": False}
    return data, {"xaxis": axis, "yaxis": {"visible": False, "rangemode": "tozero"}, "bargap": 0.1, "showlegend": False}


def _lines(slide: Slide, theme: Theme) -> tuple[list[Trace], dict]:
    data = []
    for number, name in enumerate(dict.fromkeys(one.name for one in slide.marks)):
        points = [one for one in slide.marks if one.name == name]
        colour = theme.classes[number % len(theme.classes)] if points[0].strong else theme.rest
        x, y = [one.at for one in points], [one.value for one in points]
        line = {"color": colour, "width": 5 if points[0].strong else 3}
        data += [
            scatter(x=x, y=y, mode="lines+markers", line=line, marker={"size": 12}, hoverinfo="skip"),
            _labels(x[-1:], y[-1:], [Mark(name, y[-1], label=name)], colour),
        ]
    ticks = sorted({one.at for one in slide.marks if one.at is not None})
    axis = {"title": "reliability γ", "type": "log", "tickvals": ticks, "ticktext": [exact(one) for one in ticks]}
    return data, {"xaxis": axis, "yaxis": {"title": slide.axis, "tickformat": ".0%"}, "showlegend": False}


def _labels(x, y, marks, colour: str, position: str = "middle right") -> Trace:
    """Return the texts next to the marks; not cut at the edge."""
    text = [f"{_APART}{plotly(one.label)}" if position == "middle right" else plotly(one.label) for one in marks]
    font = {"color": colour, "size": 13}
    return scatter(
        x=x, y=y, mode="text", text=text, textposition=position, textfont=font, cliponaxis=False, hoverinfo="skip"
    )


def _end(mark: Mark, end: str) -> float:
    found = getattr(mark, end)
    return mark.value if found is None else found


def _colours(slide: Slide, theme: Theme) -> list[str]:
    return [theme.rest if one.open else theme.mean if one.strong else theme.accent for one in slide.marks]


def _share(slide: Slide) -> dict:
    return {"title": slide.axis, "tickformat": ".0%"}


def _names(slide: Slide, theme: Theme) -> dict:
    return rows(wrapped_names([one.name for one in slide.marks], 24), theme)
