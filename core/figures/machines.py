"""Figures of AI raters: against each rater, over ε, next to raters, by part, and in equivalent raters."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..machines.alternative_test import CURVE, PASSES, MachineStanding
from ..machines.equivalent_readers import EquivalentReaders
from ..machines.subgroup_differences import SubgroupDifference
from ..machines.versions import VersionDrift
from ..raters.shared_errors import SharedErrors
from ..text import exact, plotly, plural, shorten, significant
from .theme import (
    Theme,
    Trace,
    error_bars,
    figure_of,
    filled_band,
    heatmap,
    level,
    rows,
    scatter,
    upright,
    with_opacity,
)

MOST_ROWS = 60
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon")


def against_raters(standings: Sequence[MachineStanding], epsilon: float, theme: Theme, title: str) -> go.Figure:
    """Draw ρ of each AI rater against each rater with its interval; open if the AI rater is not better than this rater.

    Parameters
    ----------
    standings : sequence of MachineStanding
    epsilon : float
    theme : Theme
    title : str
    """
    names = list(dict.fromkeys(one.rater for standing in standings for one in standing.raters))[:MOST_ROWS]
    data: list[Trace] = []
    for number, standing in enumerate(standings):
        colour, symbol = theme.classes[number % len(theme.classes)], _SYMBOLS[number % len(_SYMBOLS)]
        shown = [one for one in standing.raters if one.rater in names]
        if not shown:
            continue
        shift = 0.5 * ((number + 0.5) / len(standings) - 0.5)
        rho = np.array([one.rho for one in shown])
        low, high = (np.array([getattr(one, end) for one in shown]) for end in ("rho_low", "rho_high"))
        data += _filled_in_legend(
            scatter(
                x=rho,
                y=[names.index(one.rater) + shift for one in shown],
                mode="markers",
                name=plotly(shorten(standing.machine, 24)),
                marker={
                    "color": colour,
                    "size": 9,
                    "symbol": [symbol if one.rejected else f"{symbol}-open" for one in shown],
                },
                error_x=error_bars(high - rho, rho - low, with_opacity(colour, 0.6), 1.4, 2),
                customdata=[[plotly(one.rater), plural(one.n, "case"), significant(one.p, 3)] for one in shown],
                hovertemplate="%{customdata[0]}: ρ %{x:0.2f}, %{customdata[1]}, p %{customdata[2]}<extra></extra>",
            ),
            symbol,
        )
    each = max(22, 9 * len(standings))
    return figure_of(
        theme,
        data,
        title,
        140 + each * max(3, len(names)),
        xaxis={
            "title": "ρ: share of cases on which the AI rater agrees with the others "
            "at least as well as this rater does",
            "range": [0, 1],
        },
        yaxis=rows([plotly(shorten(name, 24)) for name in names], theme),
        shapes=[upright(0.5, {"color": theme.quiet, "dash": "dot", "width": 1.2})],
        legend_below=True,
    )


def _filled_in_legend(points: Trace, symbol: str) -> list[Trace]:
    """Return points, and their entry in the legend, filled even if the first point is open."""
    entry = {"name": points["name"], "legendgroup": points["name"], "mode": "markers", "hoverinfo": "skip"}
    marker = points["marker"] | {"symbol": symbol}
    return [
        points | {"legendgroup": points["name"], "showlegend": False},
        scatter(x=[None], y=[None], marker=marker, **entry),
    ]


def over_epsilon(standings: Sequence[MachineStanding], epsilon: float, theme: Theme, title: str) -> go.Figure:
    """Draw the winning rate of each AI rater against ε, with the line from which it passes and the ε in use.

    Parameters
    ----------
    standings : sequence of MachineStanding
    epsilon : float
    theme : Theme
    title : str
    """
    data: list[Trace] = []
    for number, standing in enumerate(standings):
        if standing.curve.size:
            data.append(
                scatter(
                    x=CURVE,
                    y=standing.curve,
                    mode="lines",
                    name=plotly(shorten(standing.machine, 24)),
                    line={
                        "color": theme.classes[number % len(theme.classes)],
                        "dash": _DASHES[number % len(_DASHES)],
                        "width": 2,
                        "shape": "hv",
                    },
                    hovertemplate="ε %{x:0.2f}: ω %{y:0.2f}<extra></extra>",
                )
            )
    quiet = {"color": theme.quiet, "dash": "dot", "width": 1.2}
    return figure_of(
        theme,
        data,
        title,
        340,
        xaxis={"title": "ε: extra cost of a rater compared with the AI rater", "range": [0, 0.5]},
        yaxis={"title": "winning rate ω", "range": [-0.03, 1.03]},
        shapes=[level(PASSES, quiet), upright(epsilon, quiet)],
        legend_below=True,
    )


def beside_people(
    machines: Sequence[MachineStanding], people: Sequence[MachineStanding], theme: Theme, title: str
) -> go.Figure:
    """Draw ρ of AI raters and of every rater through the same test, the largest on top.

    Parameters
    ----------
    machines, people : sequence of MachineStanding
    theme : Theme
    title : str
    """
    known = [(one, True) for one in machines if one.rho is not None]
    known += [(one, False) for one in people if one.rho is not None]
    known = sorted(known, key=lambda pair: -(pair[0].rho or 0.0))[:MOST_ROWS]
    data: list[Trace] = []
    for is_machine, name, colour, symbol in (
        (False, "raters", theme.accent, "circle"),
        (True, "machines", theme.mean, "diamond"),
    ):
        places = [place for place, (_, which) in enumerate(known) if which == is_machine]
        shown = [known[place][0] for place in places]
        rho = np.array([one.rho for one in shown], float)
        low = np.array([one.rho_low for one in shown], float)
        high = np.array([one.rho_high for one in shown], float)
        data.append(
            scatter(
                x=rho,
                y=places,
                mode="markers",
                name=name,
                marker={
                    "color": colour,
                    "size": 10,
                    "symbol": [symbol if one.passes else f"{symbol}-open" for one in shown],
                },
                error_x=error_bars(high - rho, rho - low, with_opacity(colour, 0.6), 1.5, 3),
                customdata=[[plotly(one.machine), f"{one.n_rejected:,} of {len(one.raters):,}"] for one in shown],
                hovertemplate="%{customdata[0]}: ρ %{x:0.2f}, not worse than %{customdata[1]}<extra></extra>",
            )
        )
    return figure_of(
        theme,
        data,
        title,
        140 + 24 * max(3, len(known)),
        xaxis={"title": "average advantage ρ (hollow: does not pass)", "range": [0, 1]},
        yaxis=rows([plotly(shorten(one.machine, 24)) for one, _ in known], theme),
        legend_below=True,
    )


def worth_in_readers(
    found: Sequence[EquivalentReaders], theme: Theme, title: str, machines: Sequence[str] = ()
) -> go.Figure:
    """Draw how well panels of 0, 1, … raters predict one more, with a band, and the AI raters as level lines.

    There are no bands if the cases are too few.

    Parameters
    ----------
    found : sequence of EquivalentReaders
        Results of one score on the same cases.
    theme : Theme
    title : str
    machines : sequence of str
        All AI raters that are compared, so that each keeps its colour whichever are here; those of ``found`` if
        omitted.
    """
    place = {name: number for number, name in enumerate(machines or [one.machine for one in found])}
    first = found[0]
    k = np.arange(first.k_max + 1)
    data: list[Trace] = []
    if first.has_interval:
        data.append(filled_band(k, first.panel_low, first.panel_high, with_opacity(theme.accent, 0.18)))
    data.append(
        scatter(
            x=k,
            y=first.panel,
            mode="lines+markers",
            name="panel of people",
            line={"color": theme.accent, "width": 2.5},
            hovertext=[plural(n, "person", "people") for n in k.tolist()],
            hovertemplate="%{hovertext}: %{y:0.3f}<extra></extra>",
        )
    )
    for one in found:
        number = place[one.machine]
        colour = theme.classes[number % len(theme.classes)]
        if first.has_interval:
            data.append(filled_band([0, first.k_max], [one.low] * 2, [one.high] * 2, with_opacity(colour, 0.1)))
        data.append(
            scatter(
                x=[0, first.k_max],
                y=[one.value, one.value],
                mode="lines",
                name=plotly(shorten(one.machine, 24)),
                line={"color": colour, "dash": _DASHES[1 + number % (len(_DASHES) - 1)], "width": 2},
                hovertemplate=f"{plotly(one.machine)}: %{{y:0.3f}}, worth {plotly(one.words())}<extra></extra>",
            )
        )
    words = {"agreement": "agreement with one more rater", "log": "log score", "squared": "− squared distance"}
    return figure_of(
        theme,
        data,
        title,
        340,
        xaxis={"title": "raters in the panel", "dtick": 1},
        yaxis={"title": words[first.score]},
        legend_below=True,
    )


def shared_errors_matrix(
    found: SharedErrors, order: Sequence[int], family: Sequence[str], theme: Theme, title: str
) -> go.Figure:
    """Draw the correlation of errors of every two raters; a cross if they clearly share errors, families framed.

    Parameters
    ----------
    found : SharedErrors
    order : sequence of int
        Raters from left to right.
    family : sequence of str
        Family of each rater of ``found``; empty for none. Raters of one family should be neighbours.
    theme : Theme
    title : str
    """
    order = list(order)[:MOST_ROWS]
    value = found.correlation[np.ix_(order, order)].copy()
    np.fill_diagonal(value, np.nan)
    names = [plotly(shorten(found.raters[rater], 18)) for rater in order]
    cases = found.n_common[np.ix_(order, order)]
    data: list[Trace] = [
        heatmap(
            z=value,
            customdata=[[plural(n, "case") for n in row] for row in cases.tolist()],
            zmin=-1,
            zmax=1,
            colorscale=[[0, theme.risk[0]], [0.5, theme.paper], [1, theme.mean]],
            xgap=1,
            ygap=1,
            hoverongaps=False,
            text=[[f"{a} and {b}" for b in names] for a in names],
            hovertemplate="%{text}: %{z:0.2f}, %{customdata}<extra></extra>",
        )
    ]
    y, x = np.nonzero(found.shares[np.ix_(order, order)])
    data.append(
        scatter(
            x=x,
            y=y,
            mode="markers",
            marker={"symbol": "x-thin", "size": 8, "line": {"width": 1.6, "color": theme.ink}},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    axis = {"tickmode": "array", "tickvals": list(range(len(order))), "ticktext": names, "showgrid": False}
    return figure_of(
        theme,
        data,
        title,
        170 + 26 * len(order),
        xaxis=axis,
        yaxis={**axis, "autorange": "reversed"},
        shapes=_frames([family[rater] for rater in order], theme),
    )


def _frames(family: Sequence[str], theme: Theme) -> list[dict]:
    """Draw a frame around each run of raters of one family."""
    found, start = [], 0
    for place in range(1, len(family) + 1):
        if place == len(family) or family[place] != family[start]:
            if family[start] and place - start > 1:
                ends = {"x0": start - 0.5, "y0": start - 0.5, "x1": place - 0.5, "y1": place - 0.5}
                found.append({"type": "rect", **ends, "line": {"color": theme.ink, "width": 2}})
            start = place
    return found


def leads_by_part(found: Sequence[SubgroupDifference], epsilon: float, theme: Theme, title: str) -> go.Figure:
    """Draw how far raters lead each AI rater on parts of the cases; filled if clearly below ε, with a dotted line at ε.

    Parts with too few cases for an interval are open and have no bar.

    Parameters
    ----------
    found : sequence of SubgroupDifference
        Results of one or several AI raters.
    epsilon : float
    theme : Theme
    title : str
    """
    machines = list(dict.fromkeys(one.machine for one in found))
    parts = list(dict.fromkeys((one.by, one.value) for one in found))[:MOST_ROWS]
    data: list[Trace] = []
    for number, machine in enumerate(machines):
        colour, symbol = theme.classes[number % len(theme.classes)], _SYMBOLS[number % len(_SYMBOLS)]
        shown = [one for one in found if one.machine == machine and (one.by, one.value) in parts]
        shift = 0.6 * ((number + 0.5) / len(machines) - 0.5)
        lead = np.array([one.lead for one in shown])
        low, high = (np.array([getattr(one, end) for one in shown], float) for end in ("low", "high"))
        data += _filled_in_legend(
            scatter(
                x=lead,
                y=[parts.index((one.by, one.value)) + shift for one in shown],
                mode="markers",
                name=plotly(shorten(machine, 24)),
                marker={
                    "color": colour,
                    "size": 8,
                    "symbol": [symbol if end < epsilon else f"{symbol}-open" for end in high],
                },
                error_x=error_bars(high - lead, lead - low, with_opacity(colour, 0.6), 1.4, 2),
                customdata=[[plotly(one.value), plural(one.n_cases, "case")] for one in shown],
                hovertemplate="%{customdata[0]}: %{x:0.2f}, %{customdata[1]}<extra></extra>",
            ),
            symbol,
        )
    breaks = [row - 0.5 for row in range(1, len(parts)) if parts[row][0] != parts[row - 1][0]]
    return figure_of(
        theme,
        data,
        title,
        150 + max(24, 9 * len(machines)) * max(3, len(parts)),
        xaxis={"title": f"raters' advantage over the AI rater (ε = {exact(epsilon)})"},
        yaxis=rows([plotly(shorten(value, 28)) for _, value in parts], theme),
        shapes=[
            upright(epsilon, {"color": theme.quiet, "dash": "dot", "width": 1.2}),
            *(level(row, {"color": theme.grid, "width": 1}) for row in breaks),
        ],
        legend_below=True,
    )


def versions_in_order(found: VersionDrift, theme: Theme, title: str) -> go.Figure:
    """Draw agreement of each version with raters, the earliest first, with its interval; agreement among raters dotted.

    Parameters
    ----------
    found : VersionDrift
        Results with two versions or more.
    theme : Theme
    title : str
    """
    value = np.array([one.agreement for one in found.versions])
    low, high = (np.array([getattr(one, end) for one in found.versions]) for end in ("low", "high"))
    names = [plotly(shorten(one.machine, 24)) for one in found.versions]
    data = [
        scatter(
            x=np.arange(value.size),
            y=value,
            mode="lines+markers",
            name=plotly(shorten(found.family, 24)),
            line={"color": theme.accent, "width": 2},
            marker={"color": theme.accent, "size": 9},
            error_y=error_bars(high - value, value - low, with_opacity(theme.accent, 0.6), 1.5, 4),
            text=names,
            hovertemplate="%{text}: %{y:0.3f}<extra></extra>",
            showlegend=False,
        )
    ]
    among = [] if found.people is None else [level(found.people, {"color": theme.quiet, "dash": "dot", "width": 1.5})]
    words = {"accuracy": "agreement with people", "rmse": "− distance to people", "overlap": "overlap with people"}
    return figure_of(
        theme,
        data,
        title,
        320,
        xaxis={
            "tickmode": "array",
            "tickvals": list(range(value.size)),
            "ticktext": names,
            "range": [-0.5, value.size - 0.5],
        },
        yaxis={"title": words[found.score]},
        shapes=among,
    )
