"""Names shortened to fit their figure, but still distinct."""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import unescape
from textwrap import wrap

import numpy as np

from ..text import number, plotly, shorten, significant

_LEVEL_WIDTH = 40  # characters of ticks that fit side by side on a screen 390 pixels wide
NOT_CONVERGED = ", not converged"
ELLIPSIS = "…"


def between(low: float | None, high: float | None, digits: int = 2) -> str:
    """Return ``0.81 to 0.87`` for the hover, with a leading zero like the values that plotly writes itself.

    Parameters
    ----------
    low, high : float, optional
    digits : int
        Number of decimals.
    """
    return f"{number(low, digits)} to {number(high, digits)}"


def score_between(low: float, high: float) -> str:
    """Return an interval of scores, with four significant digits."""
    return f"{significant(low, 4)} to {significant(high, 4)}"


def short_names(names: Sequence[str], length: int) -> list[str]:
    """Shorten names to at most ``length`` characters; cut those that start alike elsewhere to keep them distinct.

    They are cut in the middle, or on both sides of the place where they start to differ. They are not escaped.
    """
    cuts = [[shorten(name, length), _without_middle(name, length)] for name in names]
    short = _distinct(names, [cut[0] for cut in cuts], [cut[1] for cut in cuts])
    for alike in {text for text, times in Counter(short).items() if times > 1}:
        places = [place for place, text in enumerate(short) if text == alike]
        letters = zip(*(names[place] for place in places), strict=False)
        differ = next((place for place, found in enumerate(letters) if len(set(found)) > 1), 0)
        for place in places:
            if len(names[place]) > length:
                start = max(0, min(differ - length // 3, len(names[place]) - length + 2))
                short[place] = ELLIPSIS + names[place][start : start + length - 2].strip() + ELLIPSIS
    return short


def wrapped_names(names: Sequence[str], length: int) -> list[str]:
    """Break names over two lines of at most ``length`` characters, shortened if they do not fit; safe for plotly.

    Parameters
    ----------
    names : sequence of str
    length : int
    """
    lines = [wrap(name, length) for name in names]
    return [
        "<br>".join(map(plotly, part)) if len(part) == 2 else plotly(one)
        for part, one in zip(lines, short_names(names, length), strict=True)
    ]


def _distinct(names: Sequence[str], first: list[str], second: list[str]) -> list[str]:
    times = Counter(first)
    return [b if times[a] > 1 and a != name else a for name, a, b in zip(names, first, second, strict=True)]


def _without_middle(name: str, length: int) -> str:
    if len(name) <= length:
        return name
    head = (length - 1) // 2
    return name[:head].rstrip() + ELLIPSIS + name[-(length - 1 - head) :].lstrip()


def model_name(name: str) -> str:
    """Return the escaped name of a model for the tick of an axis; "not converged" is in a line below."""
    title, found, _ = name.partition(NOT_CONVERGED)
    return plotly(shorten(title, 26)) + (f"<br>{NOT_CONVERGED.removeprefix(', ')}" if found else "")


def row_height(names: Iterable[str]) -> int:
    """Return how many pixels a row for each model needs."""
    return 38 if any(NOT_CONVERGED in name for name in names) else 28


def raters_side_by_side(names: Sequence[str] | None, n_raters: int, unnamed: str) -> dict:
    """Return the axis of raters side by side, with their names, or with one title if they are too many.

    Parameters
    ----------
    names : sequence of str, optional
        Names safe for plotly; None if they are not shown.
    n_raters : int
    unnamed : str
        Text after the number of raters in the title that replaces their names.
    """
    axis = {"showgrid": False, "range": [-0.7, n_raters - 0.3]}
    if names is None:
        return axis | {"showticklabels": False, "title": f"{n_raters:,} raters{unnamed}"}
    return axis | {"tickmode": "array", "tickvals": list(range(n_raters)), "ticktext": names, "tickangle": slant(names)}


def slant(names: Sequence[str]) -> int:
    """Return the angle of tick labels: level if all of them fit on a narrow screen."""
    return -45 if sum(len(unescape(name)) + 2 for name in names) > _LEVEL_WIDTH else 0


def dates(seconds: np.ndarray) -> list[str]:
    """Return times in seconds since 1970-01-01 UTC as axes of time take them."""
    return np.asarray(seconds, np.int64).astype("datetime64[s]").astype(str).tolist()
