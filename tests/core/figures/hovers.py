"""What plotly shows at each point of a trace, from its template: for tests that read a hover as a reader does."""

import re
from datetime import datetime
from html import unescape

import numpy as np

_HOLE = re.compile(r"%\{(\w+)(?:\[(\d+)\])?(?:([:|])([^}]*))?\}")


def hovers(trace) -> list[str]:
    """The hover of every point, without what is bold in it; ``" | "`` stands before the words in the box beside it."""
    if trace.type == "heatmap":
        cells = [(row, column) for row in range(len(trace.z)) for column in range(len(trace.z[0]))]
        return [_told(trace.hovertemplate, lambda name, at=at: getattr(trace, name)[at[0]][at[1]]) for at in cells]
    return [_told(trace.hovertemplate, lambda name, at=at: getattr(trace, name)[at]) for at in range(len(trace.x))]


def _told(template: str, value_of) -> str:
    def put_in(hole: re.Match) -> str:
        name, place, kind, form = hole.groups()
        value = value_of(name)
        value = value if place is None else value[int(place)]
        if kind == "|":
            return datetime.fromisoformat(value).strftime(form)
        return _formatted(value, form) if kind else _plain(value)

    text, _, beside = template.partition("<extra>")
    said = _HOLE.sub(put_in, text).replace("<br>", " / ")
    beside = beside.removesuffix("</extra>")
    return unescape(said + (f" | {beside}" if beside else ""))


def _plain(value) -> str:
    """As a browser writes it: whole numbers without a point."""
    return str(int(value)) if isinstance(value, float | np.floating) and value.is_integer() else str(value)


def _formatted(value, form: str) -> str:
    """A number as d3 writes it: whole where only separators are asked for, with zeros behind it where no ~ is."""
    if form.endswith("g"):
        form = form.replace("~", "") if "~" in form else f"#{form}"
    return f"{int(value):,}" if form == "," else f"{float(value):{form}}"
