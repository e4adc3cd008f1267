"""Reader studies: readers in each modality, and ROC curves."""

from collections.abc import Sequence

import plotly.graph_objects as go

from ..studies.analysis import StudyEstimate
from ..studies.roc import RocCurves
from ..text import exact, plotly
from .labels import between, short_names
from .reliability import DASHES, SYMBOLS
from .theme import Theme, Trace, error_bars, figure_of, rows, scatter

MOST_READERS = 30
MOST_POINTS = 12  # of one reader, beyond which points hide the curves
_SPREAD = 0.5  # of the modalities of a reader, in rows


def forest(estimates: Sequence[StudyEstimate], theme: Theme, title: str, axis: str) -> go.Figure:
    """Draw estimates of each reader with intervals, one colour and symbol per modality; means over readers first.

    Parameters
    ----------
    estimates : sequence of StudyEstimate
        Estimates of modalities and of readers; the first `MOST_READERS` readers are drawn.
    theme : Theme
    title, axis : str
    """
    modalities = list(dict.fromkeys(one.modality for one in estimates))
    readers = list(dict.fromkeys(one.reader for one in estimates if one.reader))[:MOST_READERS]
    place = {name: row for row, name in enumerate(["", *readers])}
    data: list[Trace] = []
    for code, modality in enumerate(modalities):
        colour, own = theme.classes[code % len(theme.classes)], _SPREAD * (code / max(1, len(modalities) - 1) - 0.5)
        shown = [one for one in estimates if one.modality == modality and one.reader in place]
        ends = [(one.low, one.high) if one.low == one.low else (one.value, one.value) for one in shown]
        data.append(
            scatter(
                x=[one.value for one in shown],
                y=[place[one.reader] + (own if len(modalities) > 1 else 0.0) for one in shown],
                mode="markers",
                name=plotly(modality),
                marker={"color": colour, "size": 9, "symbol": SYMBOLS[code % len(SYMBOLS)]},
                error_x=error_bars(
                    [high - one.value for one, (_, high) in zip(shown, ends, strict=True)],
                    [one.value - low for one, (low, _) in zip(shown, ends, strict=True)],
                    colour,
                ),
                customdata=[
                    [plotly(one.reader or "mean over readers"), between(*end)]
                    for one, end in zip(shown, ends, strict=True)
                ],
                hovertemplate="%{customdata[0]}: %{x:0.3f}<br>%{customdata[1]}<extra>" + plotly(modality) + "</extra>",
            )
        )
    names = ["mean over readers", *short_names(readers, 26)]
    height = 140 + (14 + 12 * len(modalities)) * max(2, len(names))
    return figure_of(
        theme,
        data,
        title,
        height,
        xaxis={"title": axis},
        yaxis=rows([plotly(name) for name in names], theme),
        legend_below=True,
    )


def roc(curves: RocCurves, theme: Theme, title: str) -> go.Figure:
    """Average curve of each modality, and the points of its readers; curves of readers if they have many points.

    Parameters
    ----------
    curves : RocCurves
    theme : Theme
    title : str
    """
    modalities = list(dict.fromkeys(one.modality for one in curves.average))
    data: list[Trace] = [
        scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"color": theme.quiet, "dash": "dot", "width": 1},
            hoverinfo="skip", showlegend=False,
        )
    ]  # fmt: skip
    for code, modality in enumerate(modalities):
        colour = theme.classes[code % len(theme.classes)]
        by_reader: dict[str, list] = {}
        for point in curves.points:
            if point.modality == modality:
                by_reader.setdefault(point.reader, []).append(point)
        data += [_reader(reader, points, colour, code) for reader, points in by_reader.items()]
        mean = [one for one in curves.average if one.modality == modality]
        data.append(
            scatter(
                x=[one.false_positive for one in mean],
                y=[one.sensitivity for one in mean],
                mode="lines",
                name=plotly(modality),
                line={"color": colour, "width": 3, "dash": DASHES[code % len(DASHES)]},
                hovertemplate="mean of readers: %{y:0.3f} at %{x:0.3f}<extra>" + plotly(modality) + "</extra>",
            )
        )
    share = {"range": [-0.02, 1.02], "tickformat": "0.1f"}
    return figure_of(
        theme,
        data,
        title,
        460,
        xaxis=share | {"title": "1 − specificity"},
        yaxis=share | {"title": "sensitivity"},
        legend_below=True,
    )


def _reader(reader: str, points: Sequence, colour: str, code: int) -> Trace:
    """Draw the operating points of a reader, or their curve."""
    few = len(points) <= MOST_POINTS
    inner = [one for one in points if not few or (0 < one.false_positive + one.sensitivity < 2)]
    return scatter(
        x=[one.false_positive for one in inner],
        y=[one.sensitivity for one in inner],
        mode="markers" if few else "lines",
        marker={"color": colour, "size": 6, "symbol": SYMBOLS[code % len(SYMBOLS)], "opacity": 0.6} if few else None,
        line=None if few else {"color": colour, "width": 0.8},
        opacity=None if few else 0.5,
        customdata=[[exact(one.threshold)] for one in inner],
        hovertemplate="from score %{customdata[0]}: sensitivity %{y:0.3f}, 1 − specificity %{x:0.3f}<extra>"
        + plotly(reader) + "</extra>",
        showlegend=False,
    )  # fmt: skip
