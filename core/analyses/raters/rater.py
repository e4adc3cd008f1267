"""One rater: flags, annotations by class next to those of the panel, and the effect of leaving them out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...errors import PluralityError
from ...extremes import clearly_most
from ...figures import raters as figures
from ...models.catalogue import em_model
from ...raters.drift import Drift
from ...raters.flags import ACCEPTABLE, TO_RATER
from ...raters.following import Following
from ...raters.influence import Influence, influence
from ...raters.monitoring import RaterTable, default_request
from ...raters.report_card import ReportCard, report_card
from ...runtime.chunks import CancelToken
from ...text import number, percent, percent_with_interval, plotly, plural, shorten, with_interval
from ..blocks import Block, Download, Figure, Grid, Heading, Name, OnPage, Strong, Words
from ..schema import Column, intervals
from . import table
from .table import AssessedRaters

MOST_ROWS = 200
ENOUGH = 5  # smallest number of annotations on a class to report on it
_SEEN = 0.5  # expected annotations below which a cell is not listed
ANSWERS = (
    Column("class by the others"),
    Column("answered", "annotation"),
    *intervals("share", unit="rate", low="ci_low", high="ci_high", picture="95% interval"),
    Column("expected answers", "n", "count"),
    *intervals("share of the pool", unit="rate", low="pool from", high="pool to", picture="of the pool, 95%"),
    Column("answers of the pool", "n of the pool", "count"),
)
DIFFERENCES = (
    Column("case"),
    Column("annotation"),
    Column("the others"),
    Column("how sure", "P(class)", "probability"),
    Column("of them agree", "others who agree"),
)


@dataclass(frozen=True, slots=True, eq=False)
class OneRater:
    """One rater among all.

    Attributes
    ----------
    all : AssessedRaters
    card : ReportCard
    without : Influence or None
    why_not : str
        Reason why the effect of leaving them out is not available; empty if it is.
    """

    all: AssessedRaters
    card: ReportCard
    without: Influence | None
    why_not: str = ""

    @property
    def place(self) -> int:
        """Position of the rater."""
        return self.all.table.raters.index(self.card.rater)


def first_of(found: AssessedRaters) -> int:
    """Return the initial rater: the one flagged first."""
    act = found.act
    return next(iter((*act.against(), *act.flags))).rater if act.flags else 0


def compute(
    dataset: Dataset,
    options,
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> OneRater:
    """Assess the rater of the options, or the one flagged first.

    Parameters
    ----------
    dataset : Dataset
    options : OneRaterOptions
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """
    found = table.compute(dataset, options, token=token, progress=progress)
    rater = options.who or found.table.raters[first_of(found)]
    card = report_card(found.table, found.act, rater)
    try:
        fit = found.table.panel.fit
        if options.model != table.DEFAULT_MODEL:
            fit = em_model(default_request(dataset)).fit(dataset, token=token)
        return OneRater(found, card, influence(dataset, fit, [rater]))
    except PluralityError as error:
        return OneRater(found, card, None, str(error))


def table_of(found: OneRater, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per pair of classes that the rater gave, next to the panel's share; the most frequent first."""
    return answers_of(found.card)


def answers_of(card: ReportCard) -> pd.DataFrame:
    """Return the annotations of the rater of a card, as in `table_of`."""
    own, pool = card.own, card.pool
    expected = np.nan_to_num(own.share) * own.n[:, None]
    true, answered = np.nonzero((expected >= _SEEN) | ((np.eye(len(card.classes)) > 0) & (own.n[:, None] >= _SEEN)))
    frame = pd.DataFrame(
        {
            "class by the others": [card.classes[code] for code in true],
            "answered": [card.classes[code] for code in answered],
            "share": own.share[true, answered],
            "ci_low": own.low[true, answered],
            "ci_high": own.high[true, answered],
            "expected answers": own.n[true],
            "share of the pool": pool.share[true, answered],
            "pool from": pool.low[true, answered],
            "pool to": pool.high[true, answered],
            "answers of the pool": pool.n[true],
        }
    )
    order = np.lexsort((-expected[true, answered], true, -own.n[true]))
    return frame.iloc[order].reset_index(drop=True)


def present(found: OneRater, dataset: Dataset, options) -> list[Block]:
    """Show flags, how the rater follows the cases, accuracy over time, annotations by class, and the effect without."""
    following = found.all.act.following
    drift = found.card.over_time
    return [
        *flags(found.all, found.place),
        *([] if following is None else follows(following, found.place)),
        *distance(found.all.table, found.place, found.card),
        *([] if drift is None else over_time(found.all, found.place, drift)),
        *by_class(found.card),
        *([_download(found.card)] if not found.card.own_classes and len(answers_of(found.card)) else []),
        *((_WITHOUT, without(found.without, found.why_not)) if may_leave(found.all, found.place) else ()),
    ]


def flags(found: AssessedRaters, place: int, *, advise: bool = True) -> list[Block]:
    """Show the flags of a rater, and remarks that are not against them.

    Parameters
    ----------
    found : AssessedRaters
    place : int
        Position of the rater in the table.
    advise : bool
        True to add what to do about each.
    """
    blocks: list[Block] = []
    for flag in (flag for flag in found.act.flags if flag.rater == place):
        against = "This does not count against the rater. " if flag.neutral else ""
        said = Strong(flag.title), ": ", Name(flag.words), f" {against}{flag.advice if advise else ''}".rstrip()
        blocks.append(Words(said, icon="info" if flag.neutral else "flag"))
    return blocks


def numbers(found: AssessedRaters, place: int) -> Words:
    """Show how many annotations of a rater there are, and what they are worth, or how many are expected to be wrong."""
    row = table.table_of(found).set_index("rater").loc[found.table.raters[place]]
    n = int(found.table.n_annotations[place])
    said = [plural(n, "annotation")]
    if found.act.following is not None:
        if np.isfinite(row["lost"]):
            said.append(f"as informative as {number(n - row['lost'], 0)} from the average rater")
    elif np.isfinite(row["expected_wrong"]) and found.ranked:
        said.append(f"an estimated {number(row['expected_wrong'], 0)} wrong")
    return Words(", ".join(said), "note")


def message(found: AssessedRaters, place: int) -> str:
    """Return a message to a rater: thanks, each flag with evidence and a question, and an offer to talk."""
    n = plural(int(found.table.n_annotations[place]), "annotation")
    told = []
    for flag in found.act.flags:
        if flag.rater == place:
            what, ask = TO_RATER[flag.rule]
            seen = flag.words.partition(ACCEPTABLE)[0].replace("Rates ", "You rate ", 1)
            told.append(f"{what} {seen} {ask}")
    reference = "gold and the other raters" if found.act.judged.by_gold[place] else "the other raters"
    said = (
        "We noticed the following and would like to understand it.",
        *told,
        f"There may be good reasons for this. The reference ({reference}) can be wrong. If you see the cases "
        "differently, please tell us. We are happy to talk about it.",
    )
    return "\n\n".join(
        (
            f"Hello {found.table.raters[place]},",
            f"Thank you for your {n}. We compared them with those of the other raters.",
            *(said if told else ("Nothing stood out.",)),
        )
    )


def follows(found: Following, rater: int) -> list[Block]:
    """Show for ordered classes how closely a rater follows the cases, and how they use the scale."""
    if found.why or not np.isfinite(found.rates.value[rater]):
        why = found.why or "too few annotations"
        return [
            Words(
                ("Cannot determine how strongly this rater's annotations depend on the case: ", Name(why), "."), "note"
            )
        ]
    said = (
        f": correlation with the case scores {found.said(rater)}, n = {plural(int(found.rates.n[rater]), 'case')}. "
        f"This rater {found.shift(rater)}."
    )
    return [Words((Strong(Name(found.raters[rater])), said), term="follows")]


def distance(found: RaterTable, place: int, card: ReportCard) -> list[Block]:
    """Show the distance of a rater from ordered classes, unless the model's classes differ from the raters'.

    Parameters
    ----------
    found : RaterTable
    place : int
        Position of the rater.
    card : ReportCard
    """
    off = found.distance
    if not card.own_classes or not np.isfinite(off.value[place]):
        return []
    low, high = (None if np.isnan(end[place]) else float(end[place]) for end in (off.low, off.high))
    said = (
        f": annotations are on average {with_interval(float(off.value[place]), low, high)} classes away from the true "
        f"class (estimated from the other raters), n = {plural(int(off.n[place]), 'annotation')}."
    )
    return [Words((Strong(Name(card.rater)), said))]


def over_time(found: AssessedRaters, place: int, drift: Drift) -> list[Block]:
    """Show accuracy over time with its control chart.

    Parameters
    ----------
    found : AssessedRaters
    place : int
        Position of the rater.
    drift : Drift
    """
    name = plotly(shorten(found.table.raters[place], 24))
    if drift.alarm is None:
        title = f"{name} shows no drift: accuracy {percent(drift.accuracy)}, judged by the other raters"
    else:
        title = f"{name} became less accurate: {percent(drift.before)} before, {percent(drift.after)} after"
    blocks: list[Block] = [
        Figure(
            lambda theme: figures.rater_over_time(drift, theme, title),
            "Accuracy over time, with control chart",
            "drift",
        )
    ]
    accuracy = found.act.acceptable
    if accuracy.judge_of(place) == "gold":
        said = (
            "In these charts, an annotation counts as correct if it matches the other raters. Accuracy compared "
            f"with gold: {accuracy.said(place)}."
        )
        blocks.append(Words(said, "note"))
    if drift.n_undated:
        blocks.append(Words(f"Left out: {plural(drift.n_undated, 'annotation')} without a date.", "note"))
    return blocks


def by_class(card: ReportCard) -> list[Block]:
    """Show annotations on each class next to the panel's, and cases whose other raters are certain of another class."""
    if card.own_classes:
        return [*answers(card), *differences(card)]
    said = "The model and the raters use different classes, so annotations are not compared by class."
    return [Words(said, "impossible")]


def answers(card: ReportCard) -> list[Block]:
    """Show where the rater differs most, and the table."""
    heading, frame = Heading("Annotations by class", "confusion matrix"), answers_of(card)
    if frame.empty:
        return [heading, Words("None of this rater's annotations can be compared with those of the other raters.")]
    return [
        heading,
        *_most_unlike(frame),
        Grid(frame.head(MOST_ROWS), "Annotations by class, compared with those of the other raters.", 60, ANSWERS,
             "rater_answers", height=360),
        Words(
            f"{plural(len(frame), 'row')}. Each row shows how often the rater named one class on cases of a given "
            "class (weighted by its probability), with a Wilson interval.",
            "note",
        ),
        _download(card),
    ]  # fmt: skip


def _download(card: ReportCard) -> Download:
    return Download(answers_of(card), "Annotations by class", "rater_answers", "rater_answers_table")


def _most_unlike(frame: pd.DataFrame) -> list[Block]:
    """Return the wrong class that the rater gives clearly more often than the panel, by the largest margin, if any."""
    wrong = frame[(frame["class by the others"] != frame["answered"]) & (frame["expected answers"] >= ENOUGH)]
    own, pool = wrong["share"], wrong["share of the pool"]
    above = own - pool
    low = above - np.hypot(own - wrong["ci_low"], wrong["pool to"] - pool)
    high = above + np.hypot(wrong["ci_high"] - own, pool - wrong["pool from"])
    place = 0 if len(wrong) == 1 else clearly_most(above, low, high)
    if place is None or not low.iloc[place] > 0:
        return []
    worst = wrong.iloc[place]
    said = percent_with_interval(worst["share"], worst["ci_low"], worst["ci_high"])
    return [
        Words(
            (
                "Largest difference from the other raters: when they choose ",
                Name(shorten(worst["class by the others"], 40)),
                ", this rater chooses ", Strong(Name(shorten(worst["answered"], 40))),
                f" in {said} of annotations, compared with {percent(worst['share of the pool'])} for the others.",
            )
        )
    ]  # fmt: skip


def differences(card: ReportCard) -> list[Block]:
    """Show cases on which this rater differs from others who are certain."""
    heading = Heading("Cases where the other raters are confident in a different class")
    if not card.differences:
        return [heading, Words("There are no such cases.")]
    said = f"{plural(card.n_differences, 'annotation')}, most confident first."
    return [
        heading,
        Words((said, OnPage(" Choose a row to open the case.")), "note"),
        Grid(differences_of(card), said, 20, DIFFERENCES, f"differences-{card.rater}", opens_case=True),
    ]


def differences_of(card: ReportCard) -> pd.DataFrame:
    """Return one row per such case."""
    rows = (
        (one.case, one.answer, one.others, one.sure, f"{one.n_agree:,} of {one.n_others:,}") for one in card.differences
    )
    return pd.DataFrame(list(rows), columns=[column.name for column in DIFFERENCES])


_WITHOUT = Heading("Without this rater")


def may_leave(found: AssessedRaters, place: int) -> bool:
    """Return whether leaving a rater out is worth asking; for ordered classes only if they are flagged.

    Rating higher or lower is not a reason to leave a rater out.
    """
    return found.act.following is None or place in found.act.flagged()


def without(change: Influence | None, why_not: str = "") -> Words:
    """Show the effect of leaving a rater out, or why it is not available."""
    if change is None:
        return Words((Name(why_not),), "note")

    def moved(pair, written=number) -> str:
        values = ["–" if one.value is None else written(one.value) for one in pair]
        return f"{values[0]} → {values[1]}"

    words = (
        f"Without this rater's {plural(change.n_annotations, 'annotation')}, the most likely class changes in "
        f"{change.n_changed:,} of {plural(change.n_cases, 'case')}. Percent agreement: "
        f"{moved(change.percent, percent)}. Krippendorff α: {moved(change.alpha)}."
    )
    if change.n_without:
        have = "case has" if change.n_without == 1 else "cases have"
        words += f" {change.n_without:,} {have} no other annotation."
    if change.gold is not None:
        words += (
            f" Accuracy compared with gold: {percent(change.gold[0])} → {percent(change.gold[1])}, "
            f"n = {plural(change.n_gold, 'case')}."
        )
    return Words(words)
