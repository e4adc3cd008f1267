"""Style that all figures share: one template for light and one for dark, and colours with one meaning everywhere.

Point estimates are bars or crosses, posteriors are dots, bands and regions, observed data are outlines.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from hashlib import blake2b
from html import unescape
from typing import Any

import orjson
import plotly.graph_objects as go

Trace = dict[str, Any]

# Okabe & Ito's palette, safe for colour-blind readers, ordered so that neighbours differ in lightness too.
_CLASSES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#8A8F98")
_CLASSES_ON_DARK = ("#4FA6E8", "#E69F00", "#22C197", "#E08FC0", "#9AD4F7", "#F0783C", "#D9CB3A", "#A6ADB5")
TITLE_WIDTH = 40  # characters that fit side by side on a screen 390 pixels wide with a wide font
AXIS_WIDTH = 36  # the same under an axis, which begins at the right of the names of its rows
_ON_AXES = ("bar", "heatmap", "scatter")
_TITLE_LINE, _AXIS_LINE = 21, 16  # pixels
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
    ordered: tuple[str, str, str]  # of classes with an order: the lowest, the middle and the highest


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
    ordered=("#49A79A", "#2F6F9F", "#3B2A78"),
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
    ordered=("#5468D4", "#38A3C6", "#A9F0C4"),
)


def _template(theme: Theme) -> go.layout.Template:
    """Return everything that figures have in common, so that a figure contains only its own properties."""
    axis = {
        "gridcolor": theme.grid,
        "gridwidth": 1,
        "zeroline": False,
        "linecolor": theme.grid,
        "ticks": "",
        "tickfont": {"color": theme.quiet, "size": 12},
        "title": {"font": {"color": theme.quiet, "size": 12}, "standoff": 15},
        "automargin": True,
    }
    letters = {"color": theme.ink, "family": FONT}
    return go.layout.Template(
        layout={
            "autotypenumbers": "strict",
            "title": {"font": {"size": 15, "color": theme.ink, "weight": 600}, "x": 0, "xref": "container"},
            "font": {**letters, "size": 13},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 8, "r": 18, "t": 8, "b": 8},  # a last tick of "100%" is hidden if it does not fit
            "legend": {
                "orientation": "h",
                "yref": "container",
                "y": 0,
                "yanchor": "bottom",
                "x": 0,
                "font": {"color": theme.quiet, "size": 12},
            },
            "hovermode": "closest",
            "hoverlabel": {"align": "left", "bgcolor": theme.paper, "bordercolor": theme.grid, "font": letters},
            "colorway": theme.classes,
            "xaxis": axis,
            "yaxis": axis,
            "dragmode": False,
        },
        data={
            "bar": [
                {
                    "marker": {
                        "line": {"color": "#E5ECF6", "width": 0.5},
                        "pattern": {"fillmode": "overlay", "size": 10, "solidity": 0.2},
                    }
                }
            ],
            "heatmap": [{"colorbar": {"outlinewidth": 0, "ticks": ""}}],
        },
    )


_TEMPLATES = {theme: _template(theme).to_plotly_json() for theme in (LIGHT, DARK)}


def figure_of(
    theme: Theme,
    data: Sequence[Trace] = (),
    title: str = "",
    height: int = 320,
    *,
    legend_below: bool = False,
    **layout: Any,
) -> go.Figure:
    """Return a figure in the project's style, made in one construction and without plotly's checks.

    The checks took a quarter of the time of a page; tests of figures and of pages also make each figure with them, and
    compare. A later change of a layout is not checked, and takes as long as making the figure again.

    Parameters
    ----------
    theme : Theme
    data : sequence of dict
        Traces as plotly takes them, with their ``type``.
    title : str
        Finding in one line; text of users in it must be escaped.
    height : int
        Height in pixels; each further line of the title of an axis adds to it.
    legend_below : bool
        True for room for the legend under the title of the axis.
    **layout
        Own properties of the figure: ``xaxis``, ``shapes``, …
    """
    more = _AXIS_LINE * _title_axes(layout)
    margin = ({"t": 44} if title else {}) | ({"b": 64 + more} if legend_below else {}) | layout.pop("margin", {})
    own = {"template": _TEMPLATES[theme], "title": {"text": title}, "height": height + more, "margin": margin, **layout}
    return unchecked(_without_none(data), _without_none(own))


def _without_none(part: Any) -> Any:
    """Remove properties that are None, which leave the value to the template."""
    if isinstance(part, dict):
        return {name: _without_none(each) for name, each in part.items() if each is not None}
    several = isinstance(part, list | tuple) and part and isinstance(part[0], dict)
    return [_without_none(each) for each in part] if several else part


class PlainFigure(go.Figure):
    """Figure with the template that it is given or none, whose arrays are always numbers in JSON.

    Plotly would write them as bytes, and a browser takes repeated bytes as changed data.
    """

    def _initialize_layout_template(self) -> None:
        pass

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as it was made, in copies."""
        return {"data": deepcopy(self._data), "layout": deepcopy(self._layout)}


class _DrawnFigure(PlainFigure):
    """Figure that is only sent: plotly makes no objects and no copies of its parts."""

    def __init__(self, data: list[Trace], layout: dict[str, Any]) -> None:
        self._data, self._layout = data, layout

    def to_dict(self) -> dict[str, Any]:
        """Return the parts themselves."""
        return {"data": self._data, "layout": self._layout}


def unchecked(data: Sequence[Trace], layout: dict[str, Any]) -> go.Figure:
    """Return a figure from parts that plotly would not change: traces with type, titles with text, nothing None.

    Parameters
    ----------
    data : sequence of dict
    layout : dict
    """
    return PlainFigure(data=data, layout=layout, _validate=False)


def drawn_once(figure: go.Figure) -> go.Figure:
    """Return the same figure in a form that a browser draws once, not twice; it can only be sent.

    Streamlit sends each figure to the browser a second time right after it is drawn. Plotly then takes a template, and
    arrays without a revision, as changed, and draws everything again. So the properties of the template are copied to
    the figure itself, and its data have a revision.
    """
    own = dict(figure._layout)
    template = own.pop("template", {})
    kinds = template.get("data", {})
    data = [_over(kinds[trace["type"]][0], trace) if trace["type"] in kinds else trace for trace in figure._data]
    common = dict(template.get("layout", {}))
    axes = {letter: common.pop(f"{letter}axis", {}) for letter in "xy"}
    layout = _over(common, own)
    for name in _axes_of(data, layout):
        layout[name] = _over(axes[name[0]], layout.get(name, {}))
    return _DrawnFigure(data, layout | {"datarevision": _digest(data)})


def _axes_of(data: Sequence[Trace], layout: dict[str, Any]) -> set[str]:
    """Return the names of the axes of a figure: those with properties, and those of its traces."""
    named = {name for name in layout if name.startswith(("xaxis", "yaxis"))}
    flat = [trace for trace in data if trace["type"] in _ON_AXES]
    own = {f"{letter}axis{trace.get(f'{letter}axis', '')[1:]}" for trace in flat for letter in "xy"}
    return named | own | ({"xaxis", "yaxis"} if not data else set())


def _over(common: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Merge common properties with a figure's own, which take precedence."""
    found = common | own
    for name, value in common.items():
        if isinstance(value, dict) and isinstance(own.get(name), dict):
            found[name] = _over(value, own[name])
    return found


def _digest(data: Sequence[Trace]) -> str:
    told = orjson.dumps(data, default=_as_list, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
    return blake2b(told, digest_size=8).hexdigest()


def _as_list(value: Any) -> Any:
    """Return types that orjson does not know as lists: arrays that are not contiguous or contain objects, and dates."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _title_axes(layout: dict[str, Any]) -> int:
    """Return titles of axes with line breaks for long level ones, and how many lines more than one they have."""
    most = 1
    for name, axis in layout.items():
        if name.startswith(("xaxis", "yaxis")) and isinstance(axis.get("title"), str):
            lines = in_lines(axis["title"], AXIS_WIDTH) if name.startswith("xaxis") else [axis["title"]]
            layout[name] = axis | {"title": {"text": "<br>".join(lines)}}
            most = max(most, len(lines))
    return most - 1


def in_lines(text: str, width: int = TITLE_WIDTH) -> list[str]:
    """Split escaped text into lines of at most ``width`` characters as shown; a longer word has a line of its own."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(unescape(f"{lines[-1]} {word}")) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def title_in_lines(spec: dict[str, Any]) -> None:
    """Break the title of a figure's JSON into lines that fit a narrow screen; each further line makes it higher."""
    layout = spec["layout"]
    lines = in_lines(layout["title"]["text"])
    more = _TITLE_LINE * max(0, len(lines) - 1)
    if more:
        layout["title"]["text"] = "<br>".join(lines)
        layout["margin"]["t"] += more
        layout["height"] += more


def scatter(**own: Any) -> Trace:
    """Return a trace of points and lines, as plotly takes it."""
    return {"type": "scatter", **own}


def bar(**own: Any) -> Trace:
    """Return a trace of bars, as plotly takes it."""
    return {"type": "bar", **own}


def error_bars(above: Any, below: Any, colour: str, thickness: float = 1.5, width: float = 3) -> Trace:
    """Return an interval around each point: how far it extends above and below, in units of the axis; sizes in pixels.

    Parameters
    ----------
    above, below : array_like, shape (n_points,)
        Lengths in units of the axis, 0 or more.
    colour : str
    thickness, width : float
        Widths of the line and of its ends, in pixels.
    """
    return {
        "type": "data",
        "array": above,
        "arrayminus": below,
        "color": colour,
        "thickness": thickness,
        "width": width,
    }


def cross(colour: str, size: float, width: float) -> Trace:
    """Return the marker of an estimate: a thin upright cross, sizes in pixels.

    Parameters
    ----------
    colour : str
    size, width : float
        Size of the cross and width of its lines, in pixels.
    """
    return {"color": colour, "size": size, "symbol": "cross-thin", "line": {"width": width, "color": colour}}


def rows(names: Sequence[str], theme: Theme, places: Any = None, **own: Any) -> dict:
    """Return an upright axis with a name for each row, the first on top; at 0, 1, 2, … or at ``places``.

    Parameters
    ----------
    names : sequence of str
        Names safe for plotly.
    theme : Theme
    places : array_like, optional
        Positions of the names.
    **own
        Further properties of the axis.
    """
    return {
        "range": [len(names) - 0.4, -0.6],
        "showgrid": False,
        "tickmode": "array",
        "tickvals": list(range(len(names))) if places is None else places,
        "ticktext": list(names),
        "tickfont": {"size": 13, "color": theme.ink},
        **own,
    }


def dashed(x: Any, y: Any, name: str, colour: str, **own: Any) -> Trace:
    """Return a line to compare with, named in the legend.

    Parameters
    ----------
    x, y : array_like, shape (n_points,)
    name, colour : str
    **own
        Further properties of the trace.
    """
    line = {"color": colour, "dash": "dash", "width": 1.5}
    return scatter(x=x, y=y, mode="lines", name=name, line=line, **({"hoverinfo": "skip"} | own))


def filled_band(x: Any, low: Any, high: Any, fill: str, **own: Any) -> Trace:
    """Return a band from low to high at each place, to draw behind a line; not in the legend.

    Parameters
    ----------
    x, low, high : array_like, shape (n_points,)
    fill : str
        Colour of the band.
    **own
        Further properties of the trace.
    """
    shape = {"x": [*x, *x[::-1]], "y": [*high, *low[::-1]], "mode": "lines", "fill": "toself", "fillcolor": fill}
    return scatter(**shape, line={"width": 0}, hoverinfo="skip", **({"showlegend": False} | own))


def heatmap(**own: Any) -> Trace:
    """Return a trace of coloured cells, as plotly takes it."""
    return {"type": "heatmap", **own}


def upright(x: float | str, line: dict) -> dict:
    """Return a shape: a line from bottom to top at ``x``."""
    return {"type": "line", "xref": "x", "x0": x, "x1": x, "yref": "y domain", "y0": 0, "y1": 1, "line": line}


def level(y: float, line: dict) -> dict:
    """Return a shape: a line from side to side at ``y``."""
    return {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "yref": "y", "y0": y, "y1": y, "line": line}


def upright_band(low: float | str, high: float | str, colour: str) -> dict:
    """Return a shape: everything between two places, from bottom to top.

    Parameters
    ----------
    low, high : float or str
        Places on the axis; dates as text.
    colour : str
    """
    ends = {"xref": "x", "x0": low, "x1": high, "yref": "y domain", "y0": 0, "y1": 1}
    return {"type": "rect", **ends, "fillcolor": colour, "line": {"width": 0}}


def enlarge(figure: go.Figure, by: float) -> go.Figure:
    """Return the same figure with larger text, marks and height, to be read from a distance."""
    spec = figure.to_plotly_json()
    layout, template = spec["layout"], spec["layout"]["template"]
    _larger_letters(spec, by)
    layout["height"] = round(layout["height"] * by)  # a browser draws again if it has to round
    for part in (layout, template["layout"]):
        if "t" in part.get("margin", {}):
            part["margin"]["t"] *= by
    for trace in spec["data"]:
        marker = trace.get("marker", {})
        if isinstance(marker.get("size"), int | float):  # sizes with a meaning do not change
            marker["size"] *= by
    return unchecked(spec["data"], layout)


def _larger_letters(part: Any, by: float) -> None:
    """Enlarge every font within to ``by`` times its size."""
    if isinstance(part, list | tuple):
        for each in part:
            _larger_letters(each, by)
    elif isinstance(part, dict):
        for name, each in part.items():
            if name.endswith("font") and isinstance(each, dict) and isinstance(each.get("size"), int | float):
                each["size"] *= by
            else:
                _larger_letters(each, by)


def class_colours(codes: list[int], n_classes: int, theme: Theme, ordinal: bool = False) -> dict[int, str]:
    """Return the colour of each class code, by its place in the class list if it has at most eight, else in ``codes``.

    Ordered classes have the colours of a ramp, however many they are. Of others, there is no colour beyond the eighth,
    and none for -1 (classes that nobody named): use the theme's ``rest``.

    Parameters
    ----------
    codes : sequence of int
        Codes of classes.
    n_classes : int
    theme : Theme
    ordinal : bool
        True if the classes have an order.
    """
    if ordinal:
        return {code: _on_ramp(code / max(1, n_classes - 1), theme.ordered) for code in codes if code >= 0}
    if n_classes <= len(theme.classes):
        return {code: theme.classes[code] for code in codes if code >= 0}
    named = [code for code in codes if code >= 0]
    return dict(zip(named, theme.classes, strict=False))


def _on_ramp(share: float, ramp: tuple[str, str, str]) -> str:
    """Return the colour at a place between 0 and 1 of a ramp, mixed from the two colours next to it."""
    place = min(int(2 * share), 1)
    weight = 2 * share - place
    pairs = ((int(ramp[place][at : at + 2], 16), int(ramp[place + 1][at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(low + weight * (high - low)):02X}" for low, high in pairs)


def with_opacity(colour: str, opacity: float) -> str:
    """Return a hexadecimal colour as rgba."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
