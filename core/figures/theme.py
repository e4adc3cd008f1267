"""The look that all figures share: one template for light and one for dark, and colours that mean the same everywhere.

Point estimates are bars or crosses, posteriors are dots, bands and regions, observed data are outlines.
"""

from dataclasses import dataclass

import plotly.graph_objects as go

# Okabe & Ito's palette, safe for colour-blind readers, ordered so that neighbours differ in lightness too.
_CLASSES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#8A8F98")
_CLASSES_ON_DARK = ("#4FA6E8", "#E69F00", "#22C197", "#E08FC0", "#9AD4F7", "#F0783C", "#D9CB3A", "#A6ADB5")
FONT = "'Source Sans', 'Source Sans 3', 'Source Sans Pro', sans-serif"


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of one theme."""

    accent: str
    ink: str
    quiet: str
    grid: str
    paper: str
    rest: str
    mean: str
    risk: tuple[str, str, str]
    classes: tuple[str, ...]


LIGHT = Theme(
    accent="#0F766E",
    ink="#1B2626",
    quiet="#5B6767",
    grid="#E3E8E8",
    paper="#FFFFFF",
    rest="#9AA5A5",
    mean="#D55E00",
    risk=("#0072B2", "#B57B00", "#D55E00"),
    classes=_CLASSES,
)
DARK = Theme(
    accent="#2DD4BF",
    ink="#E6EEEE",
    quiet="#A3B1B1",
    grid="#2A3636",
    paper="#101717",
    rest="#6F7D7D",
    mean="#F0783C",
    risk=("#4FA6E8", "#E69F00", "#F0783C"),
    classes=_CLASSES_ON_DARK,
)


def blank(theme: Theme, title: str = "", height: int = 320) -> go.Figure:
    """An empty figure in the project's look. ``title`` says what is seen; user text in it must be escaped."""
    figure = go.Figure()
    axis = {
        "gridcolor": theme.grid,
        "gridwidth": 1,
        "zeroline": False,
        "linecolor": theme.grid,
        "tickfont": {"color": theme.quiet, "size": 12},
        "title": {"font": {"color": theme.quiet, "size": 12}},
        "automargin": True,
    }
    figure.update_layout(
        height=height,
        title={"text": title, "font": {"size": 15, "color": theme.ink, "weight": 600}, "x": 0, "xref": "container"},
        font={"family": FONT, "color": theme.ink, "size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 8, "r": 12, "t": 44 if title else 8, "b": 8},
        legend={
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "x": 0,
            "font": {"color": theme.quiet, "size": 12},
        },
        hoverlabel={"bgcolor": theme.paper, "bordercolor": theme.grid, "font": {"color": theme.ink, "family": FONT}},
        colorway=list(theme.classes),
        xaxis=axis,
        yaxis=axis,
        dragmode=False,
    )
    return figure


def enlarge(figure: go.Figure, by: float) -> go.Figure:
    """The same figure with all of its letters and its height larger, to be read from afar."""

    def larger(part) -> None:
        if part is not None and part.size is not None:
            part.size = part.size * by

    layout = figure.layout
    figure.update_layout(height=(layout.height or 320) * by, margin_t=(layout.margin.t or 0) * by)
    for part in (layout.font, layout.title.font, layout.legend.font, layout.hoverlabel.font):
        larger(part)
    axes = [axis for kind in ("xaxes", "yaxes") for axis in getattr(figure, f"select_{kind}")()]
    axes += [axis for ternary in figure.select_ternaries() for axis in (ternary.aaxis, ternary.baxis, ternary.caxis)]
    for axis in axes:
        larger(axis.tickfont)
        larger(axis.title.font)
    for annotation in layout.annotations:
        larger(annotation.font)
    for trace in figure.data:
        if "textfont" in trace:
            larger(trace.textfont)
        if "marker" in trace and isinstance(getattr(trace.marker, "size", None), int | float):
            trace.marker.size = trace.marker.size * by
    return figure


def legend_below(figure: go.Figure) -> go.Figure:
    """Room for the legend under the axis title."""
    figure.update_layout(margin_b=64)
    return figure


def class_colours(codes: list[int], n_classes: int, theme: Theme) -> dict[int, str]:
    """Colour of each class code, by its place in the class list where there are at most eight, else in ``codes``.

    Beyond the eighth class, and for -1 (classes nobody named), there is none; use the theme's ``rest``.
    """
    if n_classes <= len(theme.classes):
        return {code: theme.classes[code] for code in codes if code >= 0}
    named = [code for code in codes if code >= 0]
    return dict(zip(named, theme.classes, strict=False))


def with_opacity(colour: str, opacity: float) -> str:
    """A hexadecimal colour as rgba."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
