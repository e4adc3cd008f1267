"""One case: its plausible truths, their certainty, and its risk."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...annotations.dataset import RISK_LEVELS, Dataset
from ...certainty.explain import BelowPeers
from ...certainty.first_place import exact_top
from ...certainty.regions import Region, draws_region
from ...certainty.risk import RiskResult, risk_of
from ...certainty.shares import votes_per_case
from ...certainty.top_sets import OTHERS, CertaintyResult, certainty_of, most_plausible, short_of_certain
from ...figures import cases as figures
from ...figures.theme import Theme, class_colours
from ...models.expected_class import class_scale, place_said
from ...order import highest_first
from ...plausibility.dirichlet import DirichletCounts
from ...plausibility.ordinal_truth import OrdinalTruth
from ...plausibility.protocol import CaseDraws, PlausibilityModel
from ...reducers.all_draws import WholeCases
from ...reducers.protocol import Reducer, reduce_draws
from ...reducers.quantiles import PlausibilityQuantiles, Quantiles
from ...reducers.risk import RiskLevels, level_masses
from ...reducers.sets import TopSets
from ...text import as_name, listed, number, percent, percent_range, plotly, plural, probability, shorten
from ..blocks import Block, Download, Figure, Grid, Name, Words
from ..inputs import Inputs
from ..schema import Column, frame_of
from . import model_and_reliability, view_of
from .certainty import reason

MOST_LINES = 8
CORNERS = 3
_PLAUSIBLE = 0.2  # a class is listed if its line goes beyond this
_ASIDE = 0.005  # smallest share of plausibility on classes without a corner that is mentioned
COLUMNS = (
    Column("class"),
    Column("mean", unit="coefficient"),
    Column("ci_low", "95% from", "coefficient"),
    Column("median", unit="coefficient"),
    Column("ci_high", "to", "coefficient"),
)
SIDE_BY_SIDE = (
    Column("model"),
    Column("γ"),
    Column("most plausible"),
    Column("certainty", unit="rate"),
    Column("± error", unit="error"),
    Column("mean plausibility", unit="coefficient"),
    Column("next"),
    Column("other classes", unit="coefficient"),
)


@dataclass(frozen=True, slots=True, eq=False)
class OneCase:
    """Results for one case at one γ.

    Attributes
    ----------
    draws : CaseDraws
    quantiles : PlausibilityQuantiles
        Quantiles for each named class, and for all others together.
    certainty : CertaintyResult
        Certainty of this case only.
    risk : RiskResult or None
        Risk; None if some class has no risk level.
    point : dict of int to float
        Point estimate by class code.
    n_votes : int
        Number of raters of the case; with fewer than two no certainty is shown.
    """

    draws: CaseDraws
    quantiles: PlausibilityQuantiles
    certainty: CertaintyResult
    risk: RiskResult | None
    point: dict[int, float]
    n_votes: int

    @property
    def by_mean(self) -> np.ndarray:
        """Places of the named classes among those of the draws, the most plausible first."""
        return highest_first(self.quantiles.mean[:-1])

    def colours(self, view: Dataset, theme: Theme) -> dict[int, str]:
        """Return a colour for each named class, by its code."""
        named = [int(self.draws.classes[place]) for place in self.by_mean]
        return class_colours(named, view.n_classes, theme, view.ordinal)


def compute(inputs: Inputs, options) -> OneCase:
    """Draw for one case at the γ of the settings, and reduce the draws in one pass."""
    model, reliability = model_and_reliability(inputs)
    view, case = view_of(inputs, options), options.case
    here = range(case, case + 1)
    reducers: list[Reducer] = [WholeCases(), Quantiles(), TopSets()]
    if view.class_risk is not None and (view.class_risk >= 0).all():
        reducers.append(RiskLevels(view.class_risk))
    whole, quantiles, sets, *risk = reduce_draws(
        model, view, reducers, reliability=reliability, n_draws=options.n_draws, seed=options.seed, cases=here
    )
    certainty = certainty_of(sets, (view.cases[case],), view.classes, exact_top(model, view, reliability, here))
    n_votes, point = int(votes_per_case(view, model, here)[0]), _point(view, model, case)
    return OneCase(whole[case], quantiles, certainty, risk_of(risk[0]) if risk else None, point, n_votes)


def _point(view: Dataset, model: PlausibilityModel, case: int) -> dict[int, float]:
    if not len(view.annotations_of(case)):
        return {}
    if isinstance(model, DirichletCounts):  # its families of raters are those of all cases
        counts = model.votes(view, range(case, case + 1))
        codes, shares = counts.class_code, counts.count / counts.count.sum()
    elif hasattr(model, "fitted"):  # it learns raters from all cases
        ptr, codes, shares = model.point_shares(view)
        codes, shares = codes[ptr[case] : ptr[case + 1]], shares[ptr[case] : ptr[case + 1]]
    else:
        _, codes, shares = model.point_shares(view.select(cases=[view.cases[case]]))
    return dict(zip(codes.tolist(), shares.tolist(), strict=True))


def present(found: OneCase, inputs: Inputs, options) -> list[Block]:
    """Show the annotations in a sentence, and the plausible truths."""
    view = view_of(inputs, options)
    model, reliability = model_and_reliability(inputs)
    blocks: list[Block] = [Words((Name(reason(inputs, view, options.case)),)), summary(found, view.n_classes)]
    if isinstance(model, OrdinalTruth):  # its draws are whole classes
        return [*blocks, *scale(model.probability(view, reliability), view, options.case, found.colours)]
    blocks += bars(found, view)
    blocks += triangle_of(found, view, corners_of(found, view))
    if found.risk is not None:
        blocks.append(risk_triangle(found, view))
    return [*blocks, *as_table(table_of(found, inputs, options))]


def table_of(found: OneCase, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per named class, the most plausible first, and one for all others; or per ordered class."""
    model, reliability = model_and_reliability(inputs)
    if isinstance(model, OrdinalTruth):
        view = view_of(inputs, options)
        return scale_table(model.probability(view, reliability), view, options.case)
    quantiles, classes = found.quantiles, found.certainty.classes
    low, median, high = quantiles.quantile
    rows = (
        (classes[code] if (code := quantiles.class_code[place]) >= 0 else OTHERS, quantiles.mean[place],
         low[place], median[place], high[place])
        for place in (*found.by_mean, len(quantiles.mean) - 1)
    )  # fmt: skip
    return frame_of(rows, COLUMNS)


def as_table(table: pd.DataFrame) -> list[Block]:
    """Show the plausibilities of a case as a table."""
    return [
        Grid(table, "Plausibility of each class.", columns=COLUMNS, key="plausibilities"),
        Download(table, "Plausibilities", "plausibilities", "plausibilities"),
    ]


def below_peers_said(found: BelowPeers, dataset: Dataset, case: int, hide_names: bool) -> str:
    """Return a sentence on the raters of the case who give the majority class clearly less often than their peers.

    Parameters
    ----------
    found : BelowPeers
    dataset : Dataset
    case : int
    hide_names : bool
        True to refer to raters by their places in the list of the case.

    Returns
    -------
    str
        Sentence to append to another one, or "".
    """
    names: dict[int, tuple[str, str]] = {}
    for place, annotation in enumerate(dataset.annotations_of(case), 1):
        rater = int(dataset.rater[annotation])
        if found.named[rater] and rater not in names:
            who = f"rater {place}" if hide_names else dataset.raters[rater]
            own, peers = percent(1 - found.own[rater]), percent(1 - found.peers[rater])
            names[rater] = who, f"{own} of {plural(int(found.n[rater]), 'annotation')}, against {peers}"
    if not names:
        return ""
    more = "with the majority more often than the other raters"
    if len(names) == 1:
        who, of = names.popitem()[1]
        return f" Across all cases, {who} disagrees {more} ({of})."
    each = listed([f"{who} ({of})" for who, of in names.values()])
    return f" Across all cases, these raters disagree {more}: {each}."


def few_said(found: OneCase) -> str:
    """Explain why a case has no certainty; empty if it has one.

    Parameters
    ----------
    found : OneCase
    """
    return {
        0: "Certainty is not available: the case has no annotations.",
        1: "Certainty is not available: the case has only one annotation.",
    }.get(found.n_votes, "")


def summary(found: OneCase, n_classes: int) -> Words:
    """Return certainty of the first places and risk, with their largest simulation error."""
    result, risk = found.certainty, found.risk
    certainty = [float(short_of_certain(result.certainty[0, 0])), *result.certainty[0, 1:]]
    tops = [  # all classes together are certain
        top
        for top in range(min(result.certainty.shape[1], max(n_classes - 1, 1)))
        if np.isfinite(result.certainty[0, top])
    ]
    errors = [*result.se[0, : len(tops)]]
    words = f"Certainty of the leading class: {probability(certainty[0])}." if found.n_votes > 1 else few_said(found)
    for top in tops[1:] if found.n_votes > 1 else []:
        kind = " Certainty of the leading 2 classes, in any order" if top == 1 else f"; of the leading {top + 1}"
        words += f"{kind}: {probability(certainty[top])}"
    words += "." * (not words.endswith("."))
    if risk is not None:
        errors.append(risk.summed_se[0])
        level, sure = RISK_LEVELS[risk.level[0]], probability(float(risk.summed[0]))
        words += f" Risk: {level} (certainty {sure}). Expected risk: {number(risk.expected[0])} on a scale of 0 to 2."
    if error := float(np.nanmax(errors, initial=0.0)):
        words += f" Simulation error: up to {percent(error, 1)}."
    return Words(words, "note", "annotation certainty" if risk is None else "risk")


def bars(found: OneCase, view: Dataset) -> list[Block]:
    """Show plausibility of each class: point estimate, draws and the line with 95% of them."""
    draws, quantiles, by_mean = found.draws, found.quantiles, found.by_mean
    lines = _in_order(view, draws, by_mean[:MOST_LINES])
    codes = [int(draws.classes[place]) for place in lines]
    names = [view.classes[code] for code in codes]
    values = draws.share[:, lines]
    points = np.array([found.point.get(code, 0.0) for code in codes])
    mean, low, high = quantiles.mean[lines], quantiles.quantile[0][lines], quantiles.quantile[2][lines]
    beyond = by_mean[MOST_LINES:]
    outside = draws.rest + draws.share[:, beyond].sum(axis=1)
    n_outside = draws.n_rest + len(beyond)
    if n_outside:
        names.append(f"{n_outside:,} other classes together" if n_outside > 1 else "the other class")
        values = np.column_stack([values, outside])
        points = np.append(points, max(0.0, 1 - points.sum()))
        mean = np.append(mean, outside.mean())
        low, high = np.append(low, np.quantile(outside, 0.025)), np.append(high, np.quantile(outside, 0.975))
    likely = int((quantiles.quantile[2][lines] > _PLAUSIBLE).sum())
    others = bool(n_outside) and bool(high[-1] > _PLAUSIBLE)
    likely += others and n_outside == 1
    title = {0: "No class clearly leads", 1: "Only one class is plausible"}.get(
        likely, f"{likely} classes are plausible"
    )
    if likely and others and n_outside > 1:  # which of several unnamed classes leads is unknown
        title = "At least one class is plausible" if likely == 1 else f"At least {title}"

    def draw(theme: Theme):
        colours = found.colours(view, theme)
        line_colours = [*(colours.get(code, theme.rest) for code in codes), *[theme.rest] * bool(n_outside)]
        return figures.plausibility_bars(names, points, mean, low, high, values, line_colours, theme, title)

    return [
        Figure(
            draw,
            "Plausibility of each class: a bar for the point estimate, dots for draws, and a line covering 95 "
            "percent of them",
            "bars",
        ),
        Words(
            "Bar: point estimate · Dots: draws · Line: 95% of draws, tick at the mean · Plausible: the line extends "
            f"beyond {percent(_PLAUSIBLE)}",
            "legend",
            "plausibility",
        ),
    ]


def _in_order(view: Dataset, draws: CaseDraws, places: Iterable[int]) -> list[int]:
    """Return places in the order of the classes if they have a declared one; else unchanged."""
    order = list(places)
    return sorted(order, key=lambda place: int(draws.classes[place])) if view.ordinal else order


def named_classes(found: OneCase, view: Dataset) -> dict[int, str]:
    """Return classes that somebody named on the case, by their codes, the most plausible first.

    For fewer than three ordered ones, the lowest is first.
    """
    draws, by_mean = found.draws, list(found.by_mean)
    places = _in_order(view, draws, by_mean) if draws.classes.size < CORNERS else by_mean
    return {int(draws.classes[place]): view.classes[draws.classes[place]] for place in places}


def corners_of(found: OneCase, view: Dataset) -> list[int]:
    """Return the three initial classes of a triangle; the one in the list of cases is always included."""
    top = found.certainty.leading(0)[0]
    return sorted(named_classes(found, view), key=lambda code: code != top)[:CORNERS]


def triangle_of(
    found: OneCase, view: Dataset, corners: Sequence[int], region: Callable[[np.ndarray], Region] = draws_region
) -> list[Block]:
    """Show the draws on a triangle of three classes; for two classes, on a line.

    Parameters
    ----------
    found : OneCase
    view : Dataset
    corners : sequence of int
        Codes of classes, from `corners_of` or chosen by the user.
    region : callable
        Function from the draws to the region with 95% of them.
    """
    draws, names = found.draws, named_classes(found, view)
    top, *level = found.certainty.leading(0)
    if not names or len(names) + draws.n_rest == 1:
        return [Words("There is only one class, or no annotation can be used, so no triangle is shown.", "note")]
    if len(names) < CORNERS:
        return _few_corners(view, draws, names, region)
    if view.ordinal:  # lowest at the left, highest at the right, middle one on top
        low, middle, high = sorted(corners)
        corners = [middle, low, high]
    share = draws.share[:, [int(np.flatnonzero(draws.classes == code)[0]) for code in corners]]
    outside = 1 - float(share.sum(axis=1).mean())
    return _triangle([names[code] for code in corners], share, outside, region, names.get(top), not level)


def _few_corners(
    view: Dataset, draws: CaseDraws, names: Mapping[int, str], region: Callable[[np.ndarray], Region]
) -> list[Block]:
    shown = list(names.values())
    places = [int(np.flatnonzero(draws.classes == code)[0]) for code in names]
    if len(shown) == 2 and draws.n_rest:
        return _triangle([*shown, OTHERS], np.column_stack([draws.share[:, places], draws.rest]), 0.0, region)
    share = draws.share[:, places[0]]
    other = shown[1] if len(shown) == 2 else OTHERS
    if len(shown) == 1 and draws.n_rest == 1:
        other = next(name for code, name in enumerate(view.classes) if code not in names)
    low, high = np.quantile(share, [0.025, 0.975])
    title = f"{plotly(as_name(shorten(shown[0], 14)))}: {percent_range(low, high)} plausible"
    return [
        Figure(
            lambda theme: figures.interval((shown[0], other), share, theme, title),
            "Draws of the plausibility of two classes",
            "simplex",
        )
    ]


def _triangle(
    names: Sequence[str],
    corners: np.ndarray,
    outside: float,
    region: Callable[[np.ndarray], Region],
    top: str | None = None,
    alone: bool = True,
) -> list[Block]:
    """Show the draws on a triangle; ``top`` is the class in the list, of all classes, leading alone or tied."""
    corners = corners / corners.sum(axis=1, keepdims=True)
    title = _leading_said(names, corners, outside, top, alone)
    order = [1, 2, 0]
    shown = corners[:, order]
    rest = [Words(f"Classes outside the triangle: {percent(outside)} of the plausibility", "note")]
    return [
        Figure(
            lambda theme: figures.triangle([names[k] for k in order], shown, region(shown), theme, title),
            "Draws of the plausibilities on a triangle, their mean, and a region that contains 95 percent",
            "simplex",
        ),
        *(rest if outside > _ASIDE else []),
        Words(
            "Dots: draws, rescaled so that the three corners add up to 100% · Cross: mean · Shaded: 95% region",
            "legend",
        ),
    ]


def _leading_said(names: Sequence[str], corners: np.ndarray, outside: float, top: str | None, alone: bool) -> str:
    """Return which corner leads, as in the list of cases if other classes have a share."""
    leading = (corners.argmax(axis=1)[:, None] == np.arange(3)).mean(axis=0)
    best = int(np.argmax(leading))
    name = plotly(as_name(shorten(names[best], 22)))
    apart = leading[best] - leading
    level = apart <= 2 * np.sqrt((leading[best] + leading - apart**2) / len(corners))
    tied = [names[k] for k in highest_first(leading) if level[k]]
    if outside <= _ASIDE:
        return f"{name} leads in {'nearly all' if leading[best] >= 0.995 else f'{percent(leading[best])} of'} draws"
    if len(tied) > 1 and (top not in names or top in tied):
        if len(tied) > 2:
            return "The three classes are nearly tied"
        return f"Near tie: {', '.join(plotly(as_name(shorten(name, 16))) for name in tied)}"
    if not alone:
        return "No class clearly leads"
    if top is not None and top in names:
        return f"{plotly(as_name(shorten(top, 22)))} is the leading class"
    # No share of draws is shown for renormalised draws, because it is not the case's certainty.
    return f"{name} leads among these three classes"


def risk_triangle(found: OneCase, view: Dataset, region: Callable[[np.ndarray], Region] = draws_region) -> Figure:
    """Show the draws on a triangle of low, medium and high risk.

    Parameters
    ----------
    found : OneCase
    view : Dataset
    region : callable
        Function from the draws to the region that is shaded.
    """
    assert view.class_risk is not None and found.risk is not None, "each class must have a risk level"
    mass = np.maximum(level_masses(found.draws, view.class_risk)[0], 1e-12)
    mass /= mass.sum(axis=1, keepdims=True)
    level = int(found.risk.level[0])
    title = f"Most likely risk: {RISK_LEVELS[level]} ({probability(found.risk.summed[0])} of draws)"
    order = [0, 2, 1]
    shown, names = mass[:, order], [RISK_LEVELS[k] for k in order]
    return Figure(
        lambda theme: figures.triangle(names, shown, region(shown), theme, title, colour=theme.risk[level]),
        "Draws of the plausibility of low, medium and high risk, with the 95 percent region",
        "risk",
    )


def scale(
    class_probability: np.ndarray, view: Dataset, case: int, colours: Callable[[Dataset, Theme], dict[int, str]]
) -> list[Block]:
    """Show the probability of each class in order, with the interval of the expected one.

    Parameters
    ----------
    class_probability : ndarray, shape (n_cases, n_classes)
    view : Dataset
        Dataset of ordered classes.
    case : int
    colours : callable
        Function from data and theme to colours of classes, see `OneCase.colours`.
    """
    table = scale_table(class_probability, view, case)
    own, named = (table[name].to_numpy() for name in ("probability", "named by"))
    at = class_scale(class_probability[case : case + 1])
    mean, low, high = float(at.expected_class[0]), int(at.expected_class_low[0]), int(at.expected_class_high[0])
    near, median = probability(float(at.within_one[0])), view.classes[int(at.median_class[0]) - 1]
    first, last = (plotly(shorten(view.classes[end - 1], 18)) for end in (low, high))
    title = f"True class: {first if low == high else f'{first} to {last}'} (95% interval)"

    def draw(theme: Theme):
        known = colours(view, theme)
        shades = [known.get(code, theme.rest) for code in range(view.n_classes)]
        return figures.class_scale(view.classes, own, named, (mean, low, high), shades, theme, title)

    return [
        Figure(
            draw,
            "Probability of each class in order, with the expected class and its 95 percent interval",
            "class_scale",
        ),
        Words(
            (
                "Expected class: ", Name(place_said(view.classes, mean)),
                ". The true class is within one class of “", Name(median), f"” with probability {near}.",
            ),
            "note",
        ),
        Words(
            "Bar: probability that the class is the true one, with its number of annotations · Line: 95% interval of "
            "the true class · Diamond: expected class",
            "legend",
        ),
        Download(table, "Probabilities", "class_scale", "plausibilities"),
    ]  # fmt: skip


def scale_table(class_probability: np.ndarray, view: Dataset, case: int) -> pd.DataFrame:
    """Return one row per class in order: its probability, and how many annotations name it.

    Parameters
    ----------
    class_probability : ndarray, shape (n_cases, n_classes)
    view : Dataset
        Dataset of ordered classes.
    case : int
    """
    named = np.bincount(view.answer[view.annotations_of(case)], minlength=view.n_classes)
    return pd.DataFrame({"class": view.classes, "probability": class_probability[case], "named by": named})


def _certainty(found: OneCase) -> tuple[float, float]:
    """Compute the certainty of the leading class with its error; NaN for a case with one annotation."""
    result = found.certainty
    return (result.certainty[0, 0], result.se[0, 0]) if found.n_votes > 1 else (np.nan, np.nan)


def side_by_side(models: Iterable[tuple[str, float, OneCase, Dataset]]) -> list[Block]:
    """Show the results of other models for the case.

    Parameters
    ----------
    models : iterable of tuple
        Title, γ, result, and the data as each model takes them.
    """
    rows = []
    for title, reliability, found, view in models:
        draws, quantiles, result = found.draws, found.quantiles, found.certainty
        leading = result.leading(0)
        by_mean = [int(draws.classes[place]) for place in found.by_mean]
        beside = next((code for code in by_mean if code not in leading), None)
        top = float(quantiles.mean[[*draws.classes.tolist(), -1].index(leading[0])])
        rows.append(
            (title, reliability, most_plausible(result, [0], view.classes)[0], *_certainty(found), top,
             "" if beside is None else view.classes[beside], float(quantiles.mean[-1]))
        )  # fmt: skip
    return [
        Grid(frame_of(rows, SIDE_BY_SIDE), "Models side by side.", columns=SIDE_BY_SIDE, key="models_side_by_side"),
        Words((Name("The chosen model uses the γ on the slider; every other model uses its default γ."),), "note"),
    ]
