"""Advice on classes to merge, split or rewrite in the guideline, and raters to train instead."""

from dataclasses import dataclass, field
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from ..agreement.coefficient_methods import any_coefficient
from ..agreement.guideline import ConfusedPair, GuidelineReview, review_guideline
from ..agreement.intervals import UNDEFINED, IntervalEstimate
from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..figures.estimates import estimates
from ..methods import Verdict, can_use
from ..models.dawid_skene import METHOD as DAWID_SKENE
from ..models.dawid_skene import DawidSkene
from ..raters.groups import FEWEST_RATERS, RaterFacts, sides_of
from ..text import number, percent, percent_with_interval, plural, utc, with_interval
from .base import Analysis, option, part_of
from .blocks import (
    Block,
    Control,
    Download,
    Figure,
    Grid,
    Heading,
    Name,
    OnPage,
    Selector,
    Slot,
    Span,
    Words,
    few_names,
)
from .schema import Column, frame_of, intervals

TERM = "guideline"
MOST_NAMED = 12
_NAMED = 3
FEWEST_CLASSES = 3
_DO = {"merge": "merge", "rewrite": "rewrite the guideline for", "train": "train raters for"}
_WHO = {
    "everybody": "All raters confuse these classes.",
    "one group": "These classes are confused mostly by raters with ",
    "some raters": "These classes are confused mostly by ",
    "one rater": "These classes are confused mostly by ",
    "unknown": "Cannot determine which raters confuse these classes: at least three identified raters are needed.",
}
COLUMNS = (
    Column("first", "class"),
    Column("second", "and class"),
    Column("advice"),
    Column("share", "share of disagreement", "rate"),
    Column("share_low", "95% low", "rate"),
    Column("share_high", "95% high", "rate"),
    Column("who", "confused by"),
    Column("raters"),
    Column("lost", "information lost", "coefficient"),
    Column("lost_low", "95% low ", "coefficient"),
    Column("lost_high", "95% high ", "coefficient"),
    Column("told_apart", "α for this pair", "coefficient"),
    Column("n_pairs", "pairs of annotations", "count"),
    Column("alpha_merged", "α if merged", "coefficient"),
    Column("cases", hidden=True),
    *(
        Column(f"{name}{end}", "", "difference", hidden=True)
        for name in ("before", "after", "change")
        for end in ("", "_low", "_high")
    ),
)
CHANGES = (
    Column("class"),
    *intervals("before", heads=("before, 95% low", "before, 95% high")),
    *intervals("after", heads=("after, 95% low", "after, 95% high")),
    *intervals("change", heads=("change, 95% low", "change, 95% high")),
)


@dataclass(frozen=True, slots=True)
class GuidelineOptions:
    """Options of pairs of classes.

    Attributes
    ----------
    level : float
    since : int or None
        Start of a new guideline, in seconds since 1970-01-01 UTC.
    version : str
        Group of cases that were annotated by a new guideline.
    facts : RaterFacts
        Facts on the raters of the dataset, in their order.
    seed : int
    """

    level: float = option(0.95, "The confidence level of the intervals")
    since: int | None = None
    version: str = ""
    facts: RaterFacts = field(default_factory=RaterFacts)
    seed: int = 0


def truth_of(dataset: Dataset) -> np.ndarray:
    """Return P(class) of each case by Dawid-Skene, or vote shares for anonymous raters; (n_cases, n_classes)."""
    if can_use(DAWID_SKENE, dataset).possible:
        return DawidSkene("pooled").fit(dataset).class_probability
    counts = class_counts(dataset)
    found = np.full((dataset.n_cases, dataset.n_classes), 1e-9)
    found[np.repeat(np.arange(dataset.n_cases), np.diff(counts.ptr)), counts.class_code] += counts.count
    return found / found.sum(axis=1, keepdims=True)


def large_groups(facts: RaterFacts) -> dict[str, np.ndarray]:
    """Return the raters of each group by its fact and value; groups that are too small to be shown are left out.

    Parameters
    ----------
    facts : RaterFacts
    """
    return {
        f"{fact}: {group}": member
        for fact, values in zip(facts.names, facts.values, strict=True)
        for group, member, other in sides_of(values)
        if min(member.sum(), other.sum()) >= FEWEST_RATERS
    }


def compute(dataset: Dataset, options: GuidelineOptions) -> GuidelineReview:
    """Find pairs of classes that raters confuse."""
    how: dict[str, Any] = {name: getattr(options, name) for name in ("since", "version", "level", "seed")}
    return review_guideline(dataset, truth_of(dataset), groups=large_groups(options.facts), **how)


def present(found: GuidelineReview, dataset: Dataset, options: GuidelineOptions) -> list[Block]:
    """Show the pairs with the largest share of disagreement, with advice and typical cases."""
    table = table_of(found, dataset, options)
    shown = found.pairs[:MOST_NAMED]
    lines = [(f"{one.first} and {one.second}", *one.share) for one in shown]
    blocks: list[Block] = [
        Heading("Which classes should be merged or redefined?", TERM),
        Words(lead(found), "lead"),
        Figure(
            lambda theme: estimates(lines, theme, _title(found), "share of all disagreement", strong=len(lines)),
            "Share of disagreement for each pair of classes, with its interval",
            "guideline_shares",
        ),
    ]
    labels = [f"{one.first} / {one.second}" for one in found.pairs]
    caption = f"Pairs of classes; {plural(found.n_cases, 'case')} with at least two annotations."
    return [
        *blocks,
        Grid(table, caption, 40, COLUMNS, "guideline_pairs"),
        Words(
            "Merging classes tends to raise α, so check how much information is lost. If all raters confuse two "
            "classes, the guideline is unclear; if only one rater does, explain the classes to that rater.",
            "note",
        ),
        Selector(
            [Control("Pair of classes", list(range(len(labels))), labels, "guideline_pair")],
            lambda place: _one_pair(found, found.pairs[place], dataset, options),
        ),
        Download(table, "Pairs of classes", "guideline", "guideline_table"),
        *_changes(found, options),
    ]


def _changes(found: GuidelineReview, options: GuidelineOptions) -> list[Block]:
    """Show agreement on each class under earlier guidelines and under the new one; nothing if none is new."""
    if not found.changes:
        return []
    if isnan(found.changes[0].change.value):
        return [Words((Name(lead_of_changes(found, options)),))]
    table = table_of_changes(found)
    return [
        Words((Name(lead_of_changes(found, options)),), "lead"),
        Grid(table, "Agreement on each class before and after the new guideline.", 40, CHANGES, "guideline_changes"),
        Words("Each interval is for one class. With many classes, some differences are due to chance.", "note"),
        Download(table, "Agreement before and after", "guideline_changes", "guideline_changes_table"),
    ]


def lead_of_changes(found: GuidelineReview, options: GuidelineOptions) -> str:
    """Compare agreement under earlier guidelines with that under the new one, in a sentence.

    Parameters
    ----------
    found : GuidelineReview
        With changes.
    options : GuidelineOptions
    """
    whole, earlier, new = found.changes[0], *_sides(options)
    if isnan(whole.change.value):
        return f"Cannot compare agreement {earlier} and {new}: one of the two groups has no cases."
    said = f"Raters agree on {percent_with_interval(*whole.before)} of annotation pairs {earlier}, and on "
    return f"{said}{percent_with_interval(*whole.after)} {new}; {_difference(whole.change)}."


def _title(found: GuidelineReview) -> str:
    shares = np.cumsum([one.share.value for one in found.pairs])
    if found.by_chance or shares[-1] < 0.5:
        return "Pairs of classes by share of disagreement"
    most = int(np.argmax(shares >= 0.5)) + 1
    if most == found.n_pairs:
        return "Pairs of classes by share of disagreement"
    cause = "causes" if most == 1 else "cause"
    of = f"{most:,} of {plural(found.n_pairs, 'pair')} of classes"
    return f"{of} {cause} {percent(float(shares[most - 1]))} of the disagreement"


def table_of_changes(found: GuidelineReview) -> pd.DataFrame:
    """Return the agreement on each class under earlier guidelines and under the new one.

    Parameters
    ----------
    found : GuidelineReview
    """
    return frame_of([(one.name, *one.before, *one.after, *one.change) for one in found.changes[1:]], CHANGES)


def _one_pair(found: GuidelineReview, pair: ConfusedPair, dataset: Dataset, options: GuidelineOptions) -> list[Block]:
    """Show who confuses a pair, what a merger would do, disagreement before and after, and typical cases."""
    whose = [Name(pair.group)] if pair.group else few_names(pair.raters, _NAMED)
    words: list[Span] = [_WHO[pair.who], *whose, "." if whose else ""]
    lost = percent_with_interval(*pair.lost)
    words.append(f" If the classes are merged, {lost} of the information about the truth is lost")
    if found.alpha is not None and pair.alpha_merged == pair.alpha_merged:
        words.append(f", and α is {number(pair.alpha_merged)} instead of {number(found.alpha)}")
    blocks: list[Block] = [Words([*words, "."])]
    if pair.change is not None:
        blocks.append(Words((Name(_change(pair, options)),)))
    votes = [_votes(dataset, case) for case in pair.cases]
    table = pd.DataFrame({"case": list(pair.cases), "annotations": votes})
    caption = "Cases that best show this confusion."
    return [
        *blocks,
        Words((caption, OnPage(" Choose a row to open the case.")), "note"),
        Grid(table, caption, key="guideline_cases", opens_case=True),
        Slot("guideline_merge", (pair.first, pair.second)),
    ]


def _votes(dataset: Dataset, case: str) -> str:
    """Return the classes of a case with their numbers of annotations, the most frequent first."""
    place = dataset.cases.index(case)
    counts = np.bincount(dataset.answer[dataset.case_ptr[place] : dataset.case_ptr[place + 1]])
    order = np.argsort(-counts, kind="stable")
    return ", ".join(f"{counts[code]:,} × {dataset.classes[code]}" for code in order if counts[code])


def _change(pair: ConfusedPair, options: GuidelineOptions) -> str:
    """Compare disagreement between two classes under earlier guidelines with that under the new one."""
    earlier, new = _sides(options)
    if pair.before is None or pair.after is None or pair.change is None or pair.change.value != pair.change.value:
        return f"Cannot compare disagreement {earlier} and {new}: one of the two groups has no cases."
    before, after = percent_with_interval(*pair.before), percent_with_interval(*pair.after)
    pairs = "Annotation pairs that disagree on these classes"
    return f"{pairs}: {before} {earlier}, {after} {new}; {_difference(pair.change)}."


def _sides(options: GuidelineOptions) -> tuple[str, str]:
    """Return words for cases of earlier guidelines, and for those of the new one."""
    if options.version or options.since is None:
        return f"in versions other than {options.version}", f"in {options.version}"
    day = utc(options.since).strftime("%d %b %Y").lstrip("0")
    return f"before {day}", f"from {day} on"


def _difference(change: IntervalEstimate) -> str:
    value, low, high = (100 * each for each in change)
    points = with_interval(value, low, high, 1).replace(" (", " points (", 1)
    return f"{'' if change.low > 0 or change.high < 0 else 'no clear '}difference: {points}"


def lead(found: GuidelineReview) -> list[Span]:
    """Return the pair with the largest share of disagreement, and advice on it, in a sentence.

    Parameters
    ----------
    found : GuidelineReview
    """
    one = found.pairs[0]
    said: list[Span] = ["Confusion between “", Name(one.first), "” and “", Name(one.second), "” accounts for "]
    said.append(f"{percent_with_interval(*one.share)} of all disagreement.")
    if found.by_chance:
        return [
            *said,
            " Agreement between raters is not clearly better than chance, so Plurality suggests no changes to the "
            "classes.",
        ]
    if one.who in ("one rater", "some raters"):
        said += [" Without ", *few_names(one.raters, _NAMED), ", this disagreement falls by half or more."]
    elif one.who == "one group":
        said += [" Without raters with ", Name(one.group), ", this disagreement falls by half or more."]
    elif one.who == "everybody":
        said[-1] = str(said[-1]).removesuffix(".") + " and is not due to a single rater."
    if one.advice in ("merge", "rewrite"):
        said.append(
            f" Merging these classes would lose {percent_with_interval(*one.lost)} of the information about the truth."
        )
    counts = [(name, sum(pair.advice == name for pair in found.pairs)) for name in _DO]
    parts = [f"{_DO[name]} {_pairs(n, name == one.advice)}" for name, n in counts if n]
    said.append(f" Advice: {'; '.join(parts)}." if parts else " No pair of classes needs a change.")
    if found.broad:
        said += [
            " Split or describe more clearly: ",
            *few_names(found.broad, _NAMED),
            ", which all raters confuse with more than one other class.",
        ]
    return said


def _pairs(n: int, this: bool) -> str:
    """Count pairs of classes that get the same advice; the first pair is the one that the sentence is about."""
    if not this:
        return plural(n, "other pair")
    return "this pair" if n == 1 else f"this pair and {plural(n - 1, 'other')}"


def table_of(found: GuidelineReview, dataset: Dataset, options: GuidelineOptions) -> pd.DataFrame:
    """Return one row per pair of classes."""
    rows = []
    for one in found.pairs:
        row = {name: getattr(one, name) for name in ("first", "second", "who", "told_apart", "alpha_merged")}
        row |= {"n_pairs": round(one.n_pairs), "advice": one.advice if one.advice in _DO else ""}
        row |= {"raters": one.group or ", ".join(one.raters), "cases": ", ".join(one.cases)}
        for name in ("share", "lost", "before", "after", "change"):
            value, low, high = getattr(one, name) or UNDEFINED
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append([row[column.name] for column in COLUMNS])
    return frame_of(rows, COLUMNS)


def _applicable(dataset: Dataset) -> Verdict:
    if dataset.kind != "class":
        return Verdict(
            "guideline", "Guideline", False, f"does not support {dataset.kind}s; choose a threshold or a label"
        )
    if dataset.n_classes < FEWEST_CLASSES:
        return Verdict("guideline", "Guideline", False, "there are fewer than three classes, so none can be merged")
    return any_coefficient(dataset)


_PAIRS = part_of(__name__, "pairs", "Guideline", _applicable, GuidelineOptions)
GUIDELINE = Analysis("guideline", "Guideline", "Which classes should be merged, split or redefined?", (_PAIRS,))
