"""Small pictures for the cells of a table: an interval on an axis that all rows share."""

from base64 import b64encode

import numpy as np

from .theme import Theme

# A grid scales a picture to the height of its rows, which are 35 pixels high, less 3 above and 3 below.
WIDTH, HEIGHT = 176, 29
_MARGIN = 6


def intervals(
    value: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    theme: Theme,
    *,
    mark: float | None = None,
    flagged: np.ndarray | None = None,
    most: float | None = 1.0,
    width: int = WIDTH,
) -> list[str | None]:
    """Draw each interval as a line with a point, on an axis from the least end to ``most``; a dashed line at ``mark``.

    A value without an interval is an open point, because a filled one would look like an interval without width.

    Parameters
    ----------
    value, low, high : ndarray, shape (n_rows,)
        Values and ends; NaN if unknown.
    theme : Theme
    mark : float, optional
    flagged : ndarray of bool, shape (n_rows,), optional
        Rows in the colour of a warning, with a cross instead of a point.
    most : float, optional
        Right end of the axis; None for an axis from the least to the greatest end, ``mark`` among them.
    width : int
        Width in pixels; a cell cuts what is wider.

    Returns
    -------
    list of str or None
        SVG as data URLs; None if the value is unknown.
    """
    ends = [one for one in (*low, *value, *high, mark) if one is not None and np.isfinite(one)]
    least, most = _axis(ends, most)
    warned = np.zeros(len(value), bool) if flagged is None else flagged

    def at(share: float) -> float:
        return _MARGIN + (width - 2 * _MARGIN) * (share - least) / (most - least)

    found: list[str | None] = []
    for v, a, b, warn in zip(value, low, high, warned, strict=True):
        known = np.isfinite(v)
        found.append(_picture(at, width, float(v), float(a), float(b), bool(warn), mark, theme) if known else None)
    return found


def _axis(ends: list[float], most: float | None) -> tuple[float, float]:
    least = float(np.floor(min(ends, default=0.0) * 10) / 10)
    if most is not None:
        return min(most - 0.1, least), most
    return least, max(least + 0.1, float(np.ceil(max(ends, default=1.0) * 10) / 10))


def _picture(
    at, width: int, value: float, low: float, high: float, warn: bool, mark: float | None, theme: Theme
) -> str:
    colour, y = theme.mean if warn else theme.accent, HEIGHT / 2
    parts = [f'<path d="M{_MARGIN} {y}H{width - _MARGIN}" stroke="{theme.grid}"/>']
    if mark is not None:
        parts.append(f'<path d="M{at(mark):.1f} 1V{HEIGHT - 1}" stroke="{theme.quiet}" stroke-dasharray="3 2"/>')
    known = np.isfinite(low) and np.isfinite(high)
    if known:
        left, right = at(low), at(high)
        parts.append(
            f'<path d="M{left:.1f} {y}H{right:.1f}M{left:.1f} {y - 3}v6M{right:.1f} {y - 3}v6" '
            f'stroke="{colour}" stroke-width="1.6" fill="none"/>'
        )
    x = at(value)
    if warn:
        parts.append(f'<path d="M{x - 4:.1f} {y - 4}l8 8m0 -8l-8 8" stroke="{colour}" stroke-width="2.4" fill="none"/>')
    else:
        filled = f'r="4" fill="{colour}"' if known else f'r="3.5" fill="none" stroke="{colour}" stroke-width="1.4"'
        parts.append(f'<circle cx="{x:.1f}" cy="{y}" {filled}/>')
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}">'
        f"{''.join(parts)}</svg>"
    )
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
