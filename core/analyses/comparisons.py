"""Order of the items of paired comparisons: leader board, P(A above B), circular triads, and raters."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from ..agreement.coefficients import both_ways, one_way
from ..agreement.krippendorff import krippendorff_alpha
from ..annotations.dataset import Dataset
from ..figures.comparisons import MOST_ITEMS, above_heatmap
from ..figures.estimates import MOST_LINES, estimates
from ..methods import AS_IS, Verdict
from ..models.circular_triads import CircularTriads, circular_triads
from ..models.comparisons import ComparisonFit, Comparisons, comparisons_of, fit_comparisons
from ..text import number, percent, percent_with_interval, plural, with_interval
from ..thresholds import CLEARLY_AHEAD, FEW_COMPARISONS
from .base import Analysis, AnalysisPart, PartOption
from .blocks import Block, Download, Figure, Finding, Grid, Heading, Name, Span, Words, few_names
from .schema import Column, frame_of, intervals

TERM, TRIADS = "bradley-terry", "circular triad"
ITEMS = (
    Column("place", unit="count"), Column("item"),
    *intervals("strength", "strength (log odds)", "signed", heads=("95% low", "95% high")),
    Column("best", "P(strongest)", "probability"), Column("above_next", "P(above the next)", "probability"),
    Column("n", "comparisons", "count"), Column("won", unit="count"), Column("tied", unit="count"),
    Column("lost", unit="count"), Column("group", unit="count", hidden=True),
)  # fmt: skip
PAIRS = (
    Column("item_1", "item"), Column("item_2", "and item"), Column("above", "P(first is stronger)", "probability"),
    Column("n", "comparisons", "count"), Column("won", "first preferred", "count"), Column("tied", unit="count"),
    Column("lost", "second preferred", "count"),
)  # fmt: skip
RATERS = (
    Column("rater"), Column("n", "comparisons", "count"), Column("tied", "ties", "coefficient"),
    *intervals("accuracy", unit="rate", heads=("95% low", "95% high")),
    Column("followed", "prefers the stronger item", "coefficient"),
    *intervals("discrimination", unit="coefficient", heads=("95% low ", "95% high ")),
    Column("triads", unit="count"), Column("circular", "circular", "count"), Column("zeta", "ζ", "coefficient"),
    Column("p", "p (fewer by chance)", "error"),
)  # fmt: skip
_NAMED = 5


@dataclass(frozen=True, slots=True)
class OrderOptions:
    """Options of the order of items.

    Attributes
    ----------
    level : float
        Level of the intervals.
    seed : int
        Seed of the draws of orders, and of preferences by chance.
    """

    level: float = field(
        default=0.95, metadata={"option": PartOption("Level", help="Confidence level of intervals, 0 to 1")}
    )
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ItemOrder:
    """Order of items, and how consistent raters are.

    Attributes
    ----------
    fit : ComparisonFit
    alpha : tuple of float, or None
        Agreement of annotations of the same pair with its interval, see `agreement_on_pairs`.
    pooled : CircularTriads
        Circular triads of the preferences of all raters together.
    triads : tuple of CircularTriads
        Those of each rater.
    n, tied, followed : ndarray of float, shape (n_raters,)
        Comparisons of each rater, ties, and comparisons that prefer the item that is higher in the order.
    """

    fit: ComparisonFit
    alpha: tuple[float, float, float] | None
    pooled: CircularTriads
    triads: tuple[CircularTriads, ...]
    n: np.ndarray
    tied: np.ndarray
    followed: np.ndarray


def compute(dataset: Dataset, options: OrderOptions) -> ItemOrder:
    """Estimate the order of the items, and count circular triads."""
    data = comparisons_of(dataset)
    fit = fit_comparisons(dataset, level=options.level, seed=options.seed)
    triads = tuple(circular_triads(data.of_rater(rater), options.seed) for rater in range(len(data.raters)))
    alpha, pooled = agreement_on_pairs(dataset, options.level), circular_triads(data, options.seed)
    return ItemOrder(fit, alpha, pooled, triads, *_counts(data, fit))


def agreement_on_pairs(dataset: Dataset, level: float = 0.95) -> tuple[float, float, float] | None:
    """Return Krippendorff's α of annotations of the same pair, with its interval; None if it is undefined.

    Each pair counts in both orders, see `both_ways`. With ties, α is ordinal.

    Parameters
    ----------
    dataset : Dataset
        Dataset of comparisons.
    level : float
    """
    both = both_ways(dataset)
    found = one_way(krippendorff_alpha(both, level, "ordinal" if both.n_classes > 2 else "nominal"), level)
    if found.value is None or found.ci_low is None or found.ci_high is None:
        return None
    return found.value, found.ci_low, found.ci_high


def _counts(data: Comparisons, fit: ComparisonFit) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return comparisons, ties, and comparisons that prefer the stronger item, of each rater."""
    higher = fit.strength[data.first] > fit.strength[data.second]
    kept = np.where(higher, data.count[:, 0], data.count[:, 2])
    parts = (data.count.sum(axis=1), data.count[:, 1], kept)
    n, tied, followed = (np.bincount(data.rater, part, len(data.raters)) for part in parts)
    return n, tied, followed


def lead(found: ItemOrder) -> list[Span]:
    """Return which item is strongest, with its probability, in a sentence without a full stop."""
    fit = found.fit
    first, *others = (int(item) for item in fit.order)
    if fit.n_groups > 1:
        groups = f"they form {fit.n_groups:,} groups with no comparisons between them"
        return ["Cannot order all items: ", groups]
    chance = float(fit.best[first])
    if chance >= CLEARLY_AHEAD:
        return [Name(fit.items[first]), f" is the strongest item (probability {percent(chance)})"]
    second = max(others, key=lambda item: float(fit.best[item]))
    return [
        "No item is clearly the strongest: ", Name(fit.items[first]), " leads with a probability of "
        f"{percent(chance)}, followed by ", Name(fit.items[second]), f" with {percent(float(fit.best[second]))}",
    ]  # fmt: skip


def _certainty(fit: ComparisonFit) -> list[Span]:
    """Say how certain the whole order is, and which neighbours do not clearly differ."""
    after = _above_next(fit)
    known = after[np.isfinite(after)]
    if not len(known):
        return ["Cannot determine the order of any two items."]
    words: list[Span] = [f"The probability that the whole order is correct is {percent(fit.p_order)}."]
    if fit.n_groups > 1:
        words = [f"The probability that the order within each group is correct is {percent(fit.p_order)}."]
    if fit.n_orders is not None and fit.n_orders > 1:
        words.append(f" Together, the {fit.n_orders:,} most probable orders have a probability of 90%.")
    unclear = [place for place, chance in enumerate(after) if chance < CLEARLY_AHEAD]
    if not unclear:
        return [*words, " Each item is clearly stronger than the next one."]
    words.append(f" {len(unclear):,} of {plural(len(known), 'item')} are not clearly stronger than the next one: ")
    if len(unclear) == 1:
        words[-1] = f" 1 of {plural(len(known), 'item')} is not clearly stronger than the next one: "
    for number_of, place in enumerate(unclear[:_NAMED]):
        one, other = (fit.items[int(fit.order[place + shift])] for shift in (0, 1))
        words += [", " if number_of else "", Name(one), " over ", Name(other), f" ({percent(float(after[place]))})"]
    more = len(unclear) - _NAMED
    return [*words, f" and {more:,} more." if more > 0 else "."]


def _above_next(fit: ComparisonFit) -> np.ndarray:
    """Return the probability that each item is stronger than the next in the order; NaN for the last of a group."""
    found = np.full(len(fit.items), np.nan)
    found[:-1] = fit.above[fit.order[:-1], fit.order[1:]]
    return found


def _few(found: ItemOrder) -> list[Block]:
    """Caution that probabilities are approximate if raters have few comparisons each."""
    if len(found.n) < 2 or float(found.n.mean()) >= FEW_COMPARISONS:
        return []
    words = (
        f"Each rater made {number(float(found.n.mean()), 1)} comparisons on average. With fewer than "
        f"{FEW_COMPARISONS}, probabilities over 90% can be about 4 points too high."
    )
    return [Words(words, "note")]


def _sides(fit: ComparisonFit) -> list[Block]:
    """Say how often the item shown first is preferred, if its interval excludes no difference."""
    if fit.side is None or fit.side_low is None or fit.side_high is None or fit.side_low <= 0 <= fit.side_high:
        return []
    which, sign = ("first", 1) if fit.side > 0 else ("second", -1)
    low, share, high = sorted(float(expit(sign * one)) for one in (fit.side_low, fit.side, fit.side_high))
    return [
        Words(
            f"Raters prefer the item shown {which}: between two equal items, they choose it in "
            f"{percent_with_interval(share, low, high)} of decided comparisons. The ranking is corrected for this."
        )
    ]


def _consistency(found: ItemOrder) -> list[Block]:
    """Describe agreement on the same pair, and circular triads of the pooled preferences."""
    blocks: list[Block] = []
    alpha, pooled = found.alpha, found.pooled
    if alpha is not None:
        kind = "ordinal α" if found.fit.tie is not None else "α"
        blocks.append(
            Words(f"Agreement between annotations of the same pair: {kind} = {with_interval(*alpha)}.", term="alpha")
        )
    if pooled.share is None or pooled.p is None:
        words = "Cannot count circular triads: no three items were all compared with each other."
        return [*blocks, Words(words, term=TRIADS)]
    words = (
        f"Circular triads in all preferences combined: {pooled.n_circular:,} of {pooled.n_triads:,} "
        f"({percent(pooled.share)}; 25% expected by chance, {_p(pooled.p)})"
    )
    words += f"; consistence ζ = {number(pooled.zeta)}." if pooled.zeta is not None else "."
    return [*blocks, Words(words, term=TRIADS)]


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {number(value, 3)}"


def present_items(found: ItemOrder, dataset: Dataset, options: OrderOptions) -> list[Block]:
    """Show the leader board with the certainty of its order."""
    fit, table = found.fit, table_of_items(found, dataset, options)
    headline = "".join(span.text if isinstance(span, Name) else str(span) for span in lead(found))
    shown = fit.order[:MOST_LINES]
    lines = [(fit.items[item], *(float(part[item]) for part in (fit.strength, fit.low, fit.high))) for item in shown]
    title = "Strength of items, strongest first"
    n = int(found.n.sum())
    caption = f"{plural(len(fit.items), 'item')}, {plural(n, 'comparison')} by {_raters(dataset)}."
    blocks: list[Block] = [
        Heading("Items in order", TERM),
        Finding(Name(headline)),
        Words(_certainty(fit)),
        *_groups(fit),
        *_few(found),
        *_sides(fit),
        *_consistency(found),
        Figure(
            lambda theme: estimates(lines, theme, title, "log odds relative to the mean item", strong=len(lines)),
            "Strength of each item with its interval, strongest first",
            "item_strengths",
        ),
        Grid(table, caption, 60, ITEMS, "items"),
        Words("Strengths are log odds: if two items differ by 1, the average rater prefers the stronger item in 73% of "
              "decided comparisons.", "note"),
        Download(table, "Items in order", "items", "items_table"),
    ]  # fmt: skip
    return blocks


def _raters(dataset: Dataset) -> str:
    return plural(dataset.n_raters, "rater") if dataset.raters_identified else "raters without names"


def _groups(fit: ComparisonFit) -> list[Block]:
    if fit.n_groups == 1:
        return []
    sizes = np.bincount(fit.group)
    return [
        Words(
            f"No comparisons connect the {fit.n_groups:,} groups of items; the largest group has "
            f"{plural(int(sizes.max()), 'item')}. Strengths are relative to the mean of each group. Cannot determine "
            "the order of items in different groups. Add comparisons between groups.",
            "warning",
        )
    ]


def table_of_items(found: ItemOrder, dataset: Dataset, options: OrderOptions) -> pd.DataFrame:
    """Return one row per item, the strongest first; by group if comparisons do not connect all items."""
    fit, after = found.fit, _above_next(found.fit)
    rows, place, last = [], 0, -1
    for number_of, item in enumerate(fit.order):
        group = int(fit.group[item])
        place, last = (place + 1 if group == last else 1), group
        won, tied, lost = (round(float(count)) for count in fit.won[item])
        rows.append((
            place, fit.items[item], fit.strength[item], fit.low[item], fit.high[item], fit.best[item],
            after[number_of], won + tied + lost, won, tied, lost, group + 1,
        ))  # fmt: skip
    return frame_of(rows, ITEMS)


def present_pairs(found: ItemOrder, dataset: Dataset, options: OrderOptions) -> list[Block]:
    """Show the probability that one item is stronger than another, for each pair."""
    fit, table = found.fit, table_of_pairs(found, dataset, options)
    blocks: list[Block] = [Heading("Pairs of items", TERM)]
    if len(fit.items) <= MOST_ITEMS:
        names = [fit.items[item] for item in fit.order]
        above = fit.above[np.ix_(fit.order, fit.order)]
        blocks.append(
            Figure(
                lambda theme: above_heatmap(names, above, theme, "Probability (%) that the row is above the column"),
                "Probability that the item in the row is stronger than the item in the column",
                "item_pairs",
            )
        )
    else:
        blocks.append(Words(f"With more than {MOST_ITEMS} items, pairs are shown only in the table.", "note"))
    return [
        *blocks,
        Grid(table, "Pairs of items, stronger item first.", 40, PAIRS, "item_pairs_table"),
        Download(table, "Pairs of items", "item_pairs", "item_pairs_download"),
    ]


def table_of_pairs(found: ItemOrder, dataset: Dataset, options: OrderOptions) -> pd.DataFrame:
    """Return one row per pair of items of a group, the stronger one first."""
    fit, data = found.fit, comparisons_of(dataset)
    wins, ties = data.table(), np.zeros((data.n_items, data.n_items))
    np.add.at(ties, (data.first, data.second), data.count[:, 1])
    ties += ties.T
    rows = []
    for place, one in enumerate(fit.order):
        for other in fit.order[place + 1 :]:
            if fit.group[one] == fit.group[other]:
                counts = [round(float(part)) for part in (wins[one, other], ties[one, other], wins[other, one])]
                rows.append((fit.items[one], fit.items[other], fit.above[one, other], sum(counts), *counts))
    return frame_of(rows, PAIRS)


def lead_of_raters(found: ItemOrder) -> list[Span]:
    """Return which raters do not clearly prefer the stronger items, in a sentence."""
    fit = found.fit
    clear = float(ndtri((1 + fit.level) / 2))
    n, reversed_by = len(fit.raters), [fit.raters[rater] for rater in np.flatnonzero(fit.evidence <= -clear)]
    unclear = [fit.raters[rater] for rater in np.flatnonzero(np.abs(fit.evidence) < clear)]
    if len(unclear) == n:
        return ["No rater clearly prefers the stronger items."]
    words: list[Span] = []
    if reversed_by:
        prefer = "prefers" if len(reversed_by) == 1 else "prefer"
        words += [
            *few_names(reversed_by, _NAMED),
            f" {prefer} the weaker items: check whether their annotations were swapped. ",
        ]
    if unclear:
        do = "does" if len(unclear) == 1 else "do"
        words += [
            f"{len(unclear):,} of {plural(n, 'rater')} {do} not clearly prefer the stronger items: ",
            *few_names(unclear, _NAMED),
        ]
        return [*words, "."]
    rest = "All other raters" if reversed_by else "All raters"
    return [*words, f"{rest} clearly prefer the stronger items."]


def present_raters(found: ItemOrder, dataset: Dataset, options: OrderOptions) -> list[Block]:
    """Show how often each rater prefers the stronger item, with the rater's circular triads."""
    table = table_of_raters(found, dataset, options)
    return [
        Heading("Raters and the order", TRIADS),
        Words(lead_of_raters(found), "lead"),
        Grid(table, "Raters, least accurate first.", 60, RATERS, "order_raters"),
        Words(
            "“Prefers the stronger item” is a share of the rater's decided comparisons. Accuracy is the probability "
            "that the rater prefers the stronger item if they prefer either, averaged over all pairs that anyone "
            "compared. Its interval treats the strengths as known. Discrimination is 1 for the average rater "
            "and 0 for random answers; raters with few comparisons are treated as average.",
            "note",
        ),
        Download(table, "Raters", "order_raters", "order_raters_table"),
    ]


def table_of_raters(found: ItemOrder, dataset: Dataset, options: OrderOptions) -> pd.DataFrame:
    """Return one row per rater, the least accurate first."""
    fit, rows = found.fit, []
    for rater in np.argsort(fit.accuracy, kind="stable"):
        triads, n, tied = found.triads[rater], float(found.n[rater]), float(found.tied[rater])
        decided = n - tied
        rows.append((
            fit.raters[rater], round(n), tied / n if n else None, fit.accuracy[rater], fit.accuracy_low[rater],
            fit.accuracy_high[rater], found.followed[rater] / decided if decided else None,
            fit.discrimination[rater], fit.discrimination_low[rater], fit.discrimination_high[rater],
            triads.n_triads, triads.n_circular, triads.zeta, triads.p,
        ))  # fmt: skip
    return frame_of(rows, RATERS)


def _applicable(dataset: Dataset) -> Verdict:
    possible = dataset.compares
    return Verdict("order", "Items in order", possible, AS_IS if possible else "the cases are not pairs of items")


def _of_raters(dataset: Dataset) -> Verdict:
    found = _applicable(dataset)
    if found.possible and (not dataset.raters_identified or dataset.n_raters < 2):
        why = "there is only one rater" if dataset.raters_identified else "the annotations are anonymous"
        return Verdict("order", "Raters and the order", False, why)
    return found


def _part(name: str, title: str, applicable) -> AnalysisPart:
    present, table = f"{__name__}:present_{name}", f"{__name__}:table_of_{name}"
    return AnalysisPart(name, title, applicable, f"{__name__}:compute", present, table, OrderOptions)


ORDER = Analysis(
    "order",
    "Items in order",
    "Which items are preferred?",
    (
        _part("items", "Items in order", _applicable),
        _part("pairs", "Pairs of items", _applicable),
        _part("raters", "Raters and the order", _of_raters),
    ),
)
