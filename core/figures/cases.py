"""Figures of the Cases page: plausibilities of one case as bars with draws, and on a triangle or an interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ..certainty.regions import Region
from ..models.expected_class import expected_said
from ..text import percent, percent_range, plotly, shorten
from .theme import Theme, Trace, bar, figure_of, scatter, with_opacity

SHOWN_DRAWS = 80
MOST_TRIANGLE_DRAWS = 500  # a browser draws each of them as an element of its own
_HEIGHT = np.sqrt(3) / 2
_BESIDE = -0.05  # position next to the bars, in units of the axis


def plausibility_bars(
    names: list[str],
    point: np.ndarray,
    mean: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    draws: np.ndarray,
    colours: list[str],
    theme: Theme,
    title: str,
) -> go.Figure:
    """Draw one line per class: bar = point estimate, dots = draws, line = 95% of them with a tick at their mean.

    Parameters
    ----------
    names : list of str
        Names as in the data.
    point, mean, low, high : ndarray, shape (n_lines,)
    draws : ndarray, shape (n_draws, n_lines)
    colours : list of str
    theme : Theme
    title : str
    """
    labels = [plotly(shorten(name, 26)) for name in names]
    data = [
        bar(
            x=point,
            y=list(range(len(names))),
            orientation="h",
            width=0.62,
            marker={"color": [with_opacity(colour, 0.32) for colour in colours]},
            customdata=[
                [label, f"{percent(m, 1)} ({percent_range(a, b, 1)})"]
                for label, m, a, b in zip(labels, mean, low, high, strict=True)
            ],
            hovertemplate="%{customdata[0]}: point estimate %{x:0.1%}<br>draws %{customdata[1]}<extra></extra>",
            showlegend=False,
        ),
        _dots(draws, colours),
        *_intervals(mean, low, high, theme),
    ]
    widest = max(float(draws.max()), float(point.max()))
    return figure_of(
        theme,
        data,
        title,
        96 + 34 * len(names),
        xaxis={
            "range": [0, min(1.0, max(0.3, widest * 1.05))],
            "title": "plausibility",
            "tickformat": "0.0%",
            "nticks": 3,
        },
        yaxis=_class_lines(labels, theme) | {"autorange": "reversed"},
    )


def _dots(draws: np.ndarray, colours: list[str]) -> Trace:
    """Draw at most `SHOWN_DRAWS` draws of each line, shifted up and down at random to make them distinguishable."""
    step = max(1, len(draws) // SHOWN_DRAWS)
    shown = draws[::step][:SHOWN_DRAWS]
    jitter = np.random.default_rng(0).uniform(-0.2, 0.2, shown.shape)
    return scatter(
        x=shown.T.ravel(),
        y=(np.arange(draws.shape[1])[:, None] + jitter.T).ravel(),
        mode="markers",
        marker={
            "size": 4,
            "color": np.repeat(np.array(colours, dtype=object), len(shown)).tolist(),
            "opacity": 0.55,
        },
        hoverinfo="skip",
        showlegend=False,
    )


def class_scale(
    names: Sequence[str],
    probability: np.ndarray,
    named: np.ndarray,
    expected: tuple[float, float, float],
    colours: list[str],
    theme: Theme,
    title: str,
) -> go.Figure:
    """Draw one bar for each class in order, and next to them the expected class with its interval.

    Parameters
    ----------
    names : sequence of str
        Classes, lowest first, which is on top.
    probability : ndarray, shape (n_classes,)
        Probability that the class is the true one.
    named : ndarray of int, shape (n_classes,)
        Number of annotations with the class.
    expected : tuple of float
        Mean and ends of the interval, classes counted from 1.
    colours : list of str
        Colours of the classes.
    theme : Theme
    title : str
    """
    labels = [plotly(shorten(name, 26)) for name in names]
    mean, low, high = (value - 1 for value in expected)
    shade = [with_opacity(one, 0.75 if low <= place <= high else 0.3) for place, one in enumerate(colours)]
    data = [
        bar(
            x=probability,
            y=list(range(len(names))),
            orientation="h",
            width=0.62,
            marker={"color": shade},
            text=[f"{count} of {int(named.sum())}" if count else "" for count in named.tolist()],
            textposition="outside",
            textfont={"color": theme.ink},
            customdata=[[label, int(count)] for label, count in zip(labels, named, strict=True)],
            hovertemplate="%{customdata[0]}: probability %{x:0.3f}<br>named by %{customdata[1]}<extra></extra>",
            showlegend=False,
            cliponaxis=False,
        ),
        *_expected(mean, low, high, plotly(expected_said(names, *expected)), theme),
    ]
    right = max(0.4, float(probability.max()) * 1.35)
    return figure_of(
        theme,
        data,
        title,
        96 + 34 * len(names),
        xaxis={
            "range": [2 * _BESIDE, right],  # no tick below 0
            "tickvals": [tick for tick in (0, 0.2, 0.4, 0.6, 0.8, 1) if tick <= right],
            "tickformat": "0.0%",
            "title": "probability that the class is true",
        },
        yaxis=_class_lines(labels, theme) | {"range": [len(names) - 0.5, -0.5]},
    )


def _expected(mean: float, low: float, high: float, said: str, theme: Theme) -> tuple[Trace, Trace]:
    """Draw the expected class's interval as a line next to the bars, with a diamond at the mean; classes from 0."""
    line = scatter(
        x=[_BESIDE] * 2,
        y=[low, high],
        mode="lines",
        line={"color": theme.ink, "width": 2},
        hoverinfo="skip",
        showlegend=False,
    )
    diamond = scatter(
        x=[_BESIDE],
        y=[mean],
        mode="markers",
        marker={"symbol": "diamond", "size": 10, "color": theme.ink},
        hovertemplate=f"expected class {said}<extra></extra>",
        showlegend=False,
    )
    return line, diamond


def _class_lines(labels: list[str], theme: Theme) -> dict:
    """Return an axis with a line for each class."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        "showgrid": False,
        "tickfont": {"size": 13, "color": theme.ink},
    }


def _intervals(mean: np.ndarray, low: np.ndarray, high: np.ndarray, theme: Theme) -> tuple[Trace, Trace]:
    """Draw one line for each interval, above the dots, with a tick at the mean."""
    line = scatter(
        x=[value for a, b in zip(low, high, strict=True) for value in (a, b, None)],
        y=[value for line in range(len(mean)) for value in (line + 0.36, line + 0.36, None)],
        mode="lines",
        line={"color": theme.ink, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )
    tick = scatter(
        x=mean,
        y=np.arange(len(mean)) + 0.36,
        mode="markers",
        marker={"symbol": "line-ns", "size": 9, "line": {"width": 2, "color": theme.ink}},
        hoverinfo="skip",
        showlegend=False,
    )
    return line, tick


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Straight cut through a triangle: plausibilities λ with ``Σ_k λ_k E_k ≥ τ`` are on one side.

    Attributes
    ----------
    score : ndarray, shape (3,)
        Score E at the corners.
    threshold : float
        Threshold τ.
    """

    score: np.ndarray
    threshold: float

    @property
    def inside(self) -> np.ndarray:
        """Corners on the side of the region, bool, shape (3,)."""
        return self.score >= self.threshold

    @property
    def region(self) -> np.ndarray:
        """Corners of the part beyond the cut, shape (n_points, 3); empty if the cut leaves nothing."""
        points = []
        for a, b in ((0, 1), (1, 2), (2, 0)):
            if self.inside[a]:
                points.append(np.eye(3)[a])
            if self.inside[a] != self.inside[b]:
                share = (self.threshold - self.score[b]) / (self.score[a] - self.score[b])
                points.append(share * np.eye(3)[a] + (1 - share) * np.eye(3)[b])
        return np.array(points).reshape(-1, 3)


def triangle(
    names: list[str],
    corners: np.ndarray,
    region: Region,
    theme: Theme,
    title: str,
    colour: str | None = None,
    cut: Cut | None = None,
) -> go.Figure:
    """Draw draws on the triangle of three corners, with their mean and the region with 95% of the distribution.

    Drawn in plain coordinates rather than as a ternary subplot: it redraws several times quicker, and names at the
    corners are not cut.

    Parameters
    ----------
    names : list of str
        Names of the three corners: left, right, top.
    corners : ndarray, shape (n_draws, 3)
        Draws renormalised to the corners; at most `MOST_TRIANGLE_DRAWS` are drawn.
    region : Region
    theme : Theme
    title : str
    colour : str, optional
    cut : Cut, optional
        Cut, drawn as a dashed outline of the part beyond it.
    """
    colour = colour or theme.accent
    shown = corners[:: max(1, -(-len(corners) // MOST_TRIANGLE_DRAWS))]
    labels = [plotly(shorten(name, 22)) for name in names]
    hover = "<br>".join(f"{label} %{{customdata[{place}]:0.0%}}" for place, label in enumerate(labels))
    data = [
        *_grid(theme),
        *(_outline(outline, colour) for outline in region.outlines),
        *([] if cut is None else [_beyond(cut, theme)]),
        *_cloud(shown, corners.mean(axis=0, keepdims=True), hover, colour, theme),
    ]
    return figure_of(
        theme,
        data,
        title,
        350,
        annotations=_corner_names(labels, theme),
        xaxis={"visible": False, "range": [-0.17, 1.17], "fixedrange": True},
        yaxis={
            "visible": False,
            "range": [-0.16, _HEIGHT + 0.13],
            "scaleanchor": "x",
            "constrain": "domain",
            "fixedrange": True,
        },
    )


def _cloud(shown: np.ndarray, mean: np.ndarray, hover: str, colour: str, theme: Theme) -> list[Trace]:
    """Draw draws as dots and their mean as a cross."""
    return [
        scatter(
            **_plane(shown),
            mode="markers",
            marker={"size": 4, "color": colour, "opacity": 0.38},
            customdata=shown.astype(np.float32),  # shown to two decimals
            hovertemplate=hover + "<extra>draw</extra>",
            showlegend=False,
        ),
        scatter(
            **_plane(mean),
            mode="markers",
            marker={"size": 15, "symbol": "cross", "color": theme.ink, "line": {"width": 1.5, "color": theme.paper}},
            customdata=mean,
            hovertemplate=hover + "<extra>mean</extra>",
            showlegend=False,
        ),
    ]


def _grid(theme: Theme) -> list[Trace]:
    """Draw the sides, and lines at a quarter, a half and three quarters of each corner."""
    lines = []
    for share in (0.25, 0.5, 0.75):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            c = 3 - a - b
            ends = np.full((3, 3), np.nan)  # one trace of all lines, with a gap after each
            ends[:2] = 0
            ends[:2, c] = share
            ends[0, a] = ends[1, b] = 1 - share
            lines.append(ends)
    return [_line(np.concatenate(lines), theme.grid, 1), _line(np.eye(3)[[0, 1, 2, 0]], theme.quiet, 1.5)]


def _outline(outline: np.ndarray, colour: str) -> Trace:
    return scatter(
        **_plane(outline),
        mode="lines",
        fill="toself",
        fillcolor=with_opacity(colour, 0.14),
        line={"color": colour, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _beyond(cut: Cut, theme: Theme) -> Trace:
    beyond = cut.region
    closed = np.concatenate([beyond, beyond[:1]])
    line = {"color": theme.ink, "width": 1.5, "dash": "dash"}
    fill = {"fill": "toself", "fillcolor": with_opacity(theme.ink, 0.07)}
    return scatter(**_plane(closed), mode="lines", **fill, line=line, hoverinfo="skip", name="cut", showlegend=False)


def _corner_names(labels: list[str], theme: Theme) -> list[dict]:
    places = ((0, -0.03, "top"), (1, -0.03, "top"), (0.5, _HEIGHT + 0.03, "bottom"))
    font = {"color": theme.ink, "size": 12}
    return [
        {"x": x, "y": y, "text": _wrapped(label), "showarrow": False, "yanchor": anchor, "font": font}
        for label, (x, y, anchor) in zip(labels, places, strict=True)
    ]


def interval(names: tuple[str, str], share: np.ndarray, theme: Theme, title: str) -> go.Figure:
    """Draw two classes: draws of the first one's share along a line, with mean and the central 95% interval.

    Parameters
    ----------
    names : tuple of two str
        Names at the right end and at the left end.
    share : ndarray, shape (n_draws,)
    theme : Theme
    title : str
    """
    low, high = np.quantile(share, [0.025, 0.975])
    shown = share[:: max(1, -(-len(share) // MOST_TRIANGLE_DRAWS))]
    jitter = np.random.default_rng(0).uniform(-0.28, 0.28, len(shown))
    data = [
        scatter(
            x=[low, high, high, low, low],
            y=[-0.4, -0.4, 0.4, 0.4, -0.4],
            mode="lines",
            fill="toself",
            fillcolor=with_opacity(theme.accent, 0.14),
            line={"color": theme.accent, "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        ),
        scatter(
            x=shown,
            y=jitter,
            mode="markers",
            marker={"size": 4, "color": theme.accent, "opacity": 0.4},
            hovertemplate="%{x:0.2f}<extra>draw</extra>",
            showlegend=False,
        ),
        scatter(
            x=[float(share.mean())],
            y=[0],
            mode="markers",
            marker={"size": 15, "symbol": "cross", "color": theme.mean, "line": {"width": 1.5, "color": theme.paper}},
            hovertemplate="%{x:0.3f}<extra>mean</extra>",
            showlegend=False,
        ),
    ]
    first = plotly(shorten(names[0], 28))
    return figure_of(
        theme,
        data,
        title,
        230,
        xaxis={
            "range": [-0.02, 1.02],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "tickformat": "0.0%",
            "title": f"plausibility of {first}",
        },
        yaxis={"visible": False, "range": [-0.6, 0.6], "fixedrange": True},
    )


def _plane(points: np.ndarray) -> dict[str, np.ndarray]:
    """Convert barycentric to plane coordinates; corners left, right, top."""
    return {"x": points[:, 1] + points[:, 2] / 2, "y": points[:, 2] * _HEIGHT}


def _line(points: np.ndarray, colour: str, width: float) -> Trace:
    line = {"color": colour, "width": width}
    return scatter(**_plane(points), mode="lines", line=line, hoverinfo="skip", showlegend=False)


def _wrapped(label: str) -> str:
    if len(label) <= 11 or " " not in label:
        return label
    middle = min((place for place, letter in enumerate(label) if letter == " "), key=lambda p: abs(p - len(label) / 2))
    return f"{label[:middle]}<br>{label[middle + 1 :]}"
