"""Table of all raters: their accuracy, or how closely they follow the cases, and their flags."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...analysis_settings import SEED, can_choose
from ...annotations.dataset import Dataset
from ...annotations.paired_items import NAMED_FIRST
from ...extremes import clearly_least
from ...models.average import METHOD as AVERAGE
from ...models.average import AveragedModels, average_models
from ...models.catalogue import em_model, request
from ...models.choose import choose
from ...models.rater_summary import leaning
from ...models.result import RaterModelFit
from ...raters.accuracy_threshold import why_not
from ...raters.flagged_raters import FlaggedRaters, flag_raters
from ...raters.following import Following, can_follow
from ...raters.monitoring import RaterTable, monitor, with_draws
from ...raters.truth_draws import N_DRAWS, judging_draws
from ...runtime.chunks import CancelToken
from ...runtime.identity_cache import cache_by_identity
from ...text import percent, plotly, plural, shorten
from ..blocks import Block, Details, Download, Figure, Grid, Name, Strong, Words
from ..schema import Column, Unit, intervals

MOST_FLAGS, MOST_LISTED = 12, 100
DEFAULT_MODEL = "usual"
_LOOKED = 0.2  # share of the time that looking at raters takes, if models are averaged afterwards

_ENDS = ("interval, lower end", "interval, upper end")
_ACCURACY = intervals("accuracy", unit="rate", low="ci_low", high="ci_high", heads=_ENDS)
READING = (
    *intervals("severity", "reads higher", heads=("reads higher, from", "reads higher, to")),
    *intervals("spread", heads=("spread, from", "spread, to")),
)
_FOLLOWING = (
    *intervals("follows", heads=_ENDS),
    Column("follows_n", "judged cases", "count"),
    Column("low"),
    Column("lost", unit="count"),
    *READING,
)
_OF_CLASSES = ("bias", "adversarial", "p_drift", "classes_off", "classes_off_low", "classes_off_high")
_OFF = intervals("classes_off", "classes off", heads=("classes off, from", "classes off, to"))
_BLIND_ENDS = ("blind reads agree, lower end", "blind reads agree, upper end")
# Columns that monitoring adds to files of the page; JSON and the command's table have only those before.
MONITORED = (
    Column("n_cases", "cases", "count"),
    Column("agreement", "with others", "share"),
    Column("leans_to", "leans to"),
    Column("bias", unit="coefficient"),
    Column("spam", "P(spam)", "rate"),
    Column("adversarial", "P(adversarial)", "rate"),
    Column("seconds", unit="count"),
    Column("repeats_previous", "same as previous annotation", "rate"),
    Column("repeats", "repeats annotations", "rate"),
    Column("with_self", "with themselves", "share"),
    Column("entropy", "bits of classes used", "coefficient"),
    Column("entropy_of_cases", "bits of the cases", "coefficient"),
    Column("p_drift", "p of drift", "coefficient"),
    *intervals("blind", "blind reads agree", "rate", heads=_BLIND_ENDS),
    Column("blind_n", "blind cases", "count"),
)
# Orders in which people see the columns, by the measure that raters are judged by.
_BY_ACCURACY = ("expected_wrong", "accuracy", "ci_low", "ci_high", "p_acceptable", "n_judged")
_BY_FOLLOWING = (
    "lost", "follows", "follows_low", "follows_high", "p_acceptable", "follows_n", *(one.name for one in READING),
)  # fmt: skip


def columns_of(followed: bool, ordered: bool) -> tuple[Column, ...]:
    """Return the columns of the table of raters, without those of `MONITORED`.

    Parameters
    ----------
    followed : bool
        True if raters are judged by how they follow the cases, as for three or more ordered classes.
    ordered : bool
        True if it is known how many classes off raters are.
    """
    return (
        Column("rater"),
        Column("n", "annotations", "count"),
        *_ACCURACY,
        Column("judged_by", "judged by"),
        Column("n_judged", "judged annotations", "count"),
        Column("p_acceptable", "P(acceptable)", "share"),
        *(_FOLLOWING if followed else ()),
        Column("flags"),
        Column("evidence"),
        Column("expected_wrong", "expected wrong", "count"),
        *(_OFF if ordered else ()),
        Column("gold_n", "gold annotations", "count"),
        *intervals("gold_right", "right by gold", "rate", low="gold_ci_low", high="gold_ci_high"),
        *intervals("model_accuracy", unit="rate", low="model_ci_low", high="model_ci_high"),
    )


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class AssessedRaters:
    """Raters as a model and gold judge them.

    Attributes
    ----------
    table : RaterTable
    act : FlaggedRaters
    """

    table: RaterTable
    act: FlaggedRaters

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the table that the command line writes."""
        return columns_of(self.act.following is not None, bool(self.table.distance.n.any()))

    @property
    def shown_columns(self) -> tuple[Column, ...]:
        """Columns that a page shows, in its order."""
        judged = _BY_ACCURACY if self.act.following is None else _BY_FOLLOWING
        off = [column.name for column in _OFF] if _OFF[0] in self.columns else []
        cases, agreement, *rest = (column.name for column in MONITORED)
        names = ("rater", "flags", "n", cases, *judged, "gold_right", "gold_n", agreement, *off, *rest)
        known = {column.name: column for column in (*self.columns, *MONITORED)}
        return tuple(known[name] for name in names)

    @property
    def ranked(self) -> bool:
        """True if a ranking of raters is justified."""
        return not (self.act.judged.why_no_order or self.act.judged.why)

    def titles(self) -> list[str]:
        """Return the flags of each rater, in full."""
        return ["; ".join(flag.title for flag in self.act.flags if flag.rater == rater) for rater in self.order()]

    def order(self) -> np.ndarray:
        """Return raters by their cost, most first."""
        return self.act.judged.order()


def look(
    dataset: Dataset,
    options,
    *,
    fit: RaterModelFit | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> RaterTable:
    """Return the raters as the chosen model judges them.

    Parameters
    ----------
    dataset : Dataset
    options : AssessedOptions
    fit : RaterModelFit, optional
        Posterior of these data, instead of a model to fit.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """
    model = fit if fit is not None or options.model == DEFAULT_MODEL else em_model(request(options.model))
    how = {"level": options.level, "false_alarms": options.false_alarms, "seed": options.seed}
    return monitor(dataset, model=model, **how, token=token, progress=progress)


def compute(
    dataset: Dataset,
    options,
    *,
    table: RaterTable | None = None,
    averaged: AveragedModels | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> AssessedRaters:
    """Compute all results on each rater, and their flags.

    Accuracies are those of the average of rater models, unless a single model is chosen.

    Parameters
    ----------
    dataset : Dataset
    options : AssessedOptions
    table : RaterTable, optional
        Table of `look`, if it is known.
    averaged : AveragedModels, optional
        The average, if it is known; worked out if neither this nor the table is.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """
    if table is None:
        table = look(dataset, options, token=token, progress=progress and (lambda done: progress(_LOOKED * done)))
        if averaged is None and takes_average(dataset, options):
            rest = progress and (lambda done: progress(_LOOKED + (1 - _LOOKED) * done))
            scored = choose(dataset, seed=SEED, independent=False, token=token, progress=rest)
            averaged = average_models(scored, dataset, token=token)
    if averaged is not None and takes_average(dataset, options):
        how = {"level": options.level, "seed": options.seed, "token": token}
        if (draws := judging_draws(averaged, dataset, **how)) is not None:
            table = with_draws(table, averaged.fit, draws)
    asked = {"acceptable": options.acceptable, "q": options.fdr, "judged_by": options.judged_by}
    return AssessedRaters(table, flag_raters(table, **asked, token=token))


def takes_average(dataset: Dataset, options) -> bool:
    """Check that the average of rater models judges accuracy: no model is named, and the data identify accuracy.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    options : AssessedOptions
    """
    asked = options.model == DEFAULT_MODEL and can_choose(dataset)
    return asked and not can_follow(dataset) and not why_not(dataset)


def table_of(found: AssessedRaters, dataset: Dataset | None = None, options=None) -> pd.DataFrame:
    """Return one row per rater, most costly first; with the flags as on the command line."""
    return _table_of(found).copy(deep=False)


@cache_by_identity
def _table_of(found: AssessedRaters) -> pd.DataFrame:
    table, act, times = found.table, found.act, found.table.response_times
    leans = leaning(table.bias)
    own, rows = act.acceptable.own_classes, range(leans.size)
    frame = act.to_frame()
    frame = frame.join(table.to_frame().drop(columns=["accuracy", *frame.columns], errors="ignore"))
    frame = frame.rename(columns={column.name.replace("classes_off", "distance"): column.name for column in _OFF})
    frame = frame.assign(
        flags=["; ".join(act.kinds_of(rater)) for rater in rows],
        evidence=[" ".join(evidence_of(act, rater)) for rater in rows],
        leans_to=[table.classes[code] if code >= 0 else "" for code in leans],
        bias=np.where(leans >= 0, table.bias[rows, leans], np.nan),
        seconds=times.seconds,
        repeats_previous=times.repeated,
    )
    if not own:  # columns that need the model's classes are not valid for raters with other classes
        frame = frame.assign(leans_to=None, **dict.fromkeys(_OF_CLASSES, np.nan))
    if act.acceptable.why:
        frame = frame.assign(adversarial=np.nan)
    names = [column.name for column in (*found.columns, *MONITORED)]
    return frame[names].iloc[found.order()].reset_index(drop=True)


def evidence_of(act: FlaggedRaters, rater: int) -> list[str]:
    """Return the evidence for each flag of a rater."""
    return [flag.words for flag in act.flags if flag.rater == rater]


def written(found: AssessedRaters) -> pd.DataFrame:
    """Return the columns of the table that the command line writes."""
    return table_of(found)[[column.name for column in found.columns]]


def rows_of(found: AssessedRaters) -> list[dict]:
    """Return the same as in JSON: gold and model within each rater, flags and their evidence as lists."""
    rows = []
    for rater, record in zip(found.order().tolist(), written(found).to_dict("records"), strict=True):
        row = {name: value for name, value in record.items() if not name.startswith(("gold_", "model_"))}
        for part in ("gold", "model"):
            row[part] = {n.removeprefix(f"{part}_"): value for n, value in record.items() if n.startswith(f"{part}_")}
        rows.append(row | {"flags": list(found.act.kinds_of(rater)), "evidence": evidence_of(found.act, rater)})
    return rows


@cache_by_identity
def shown(found: AssessedRaters) -> pd.DataFrame:
    """Return the table with flags in full, and the judge in words for people."""
    frame = table_of(found)
    judges = frame["judged_by"].replace("model", found.act.others)
    return frame.assign(flags=found.titles(), judged_by=judges)


def present(found: AssessedRaters, dataset: Dataset, options) -> list[Block]:
    """Show the table with its picture, and every flag with its evidence."""
    return [*raters(found), *of_pairs(dataset), *flags(found)]


def of_pairs(dataset: Dataset) -> list[Block]:
    """Return the caution on comparisons of items; nothing for other data."""
    return [Words(NAMED_FIRST, "note")] if dataset.compares else []


def raters(found: AssessedRaters) -> list[Block]:
    """Show the table, and for print the raters with their intervals against all."""
    return [*listed(found), *_against_pool(found)]


@cache_by_identity
def listed(found: AssessedRaters) -> list[Block]:
    """Show the table; on a page it is the figure as well."""
    judged, followed = found.act.judged, found.act.following is not None
    names = _PRINTED_FOLLOWING if followed else _PRINTED
    known = {column.name: column for column in found.columns}
    columns = tuple(Column(name, *_HEADS.get(name, (known[name].shown, known[name].unit))) for name in names)
    blocks: list[Block] = [
        Grid(shown(found), _caption(found), 40, columns, "raters_table"),
        Download(table_of(found), "Raters", "raters", "raters_monitor"),
    ]
    if not found.ranked:
        why = judged.why_no_order or judged.why
        blocks.append(Words(("Raters are not ranked: ", Name(why), "."), "note"))
    return blocks


def _against_pool(found: AssessedRaters) -> list[Block]:
    from ...figures import raters as figures  # loads plotly, which no command needs

    act = found.act
    judged, followed = act.judged, act.following is not None
    n_known = int(np.isfinite(judged.rates.value).sum())
    if not (found.ranked and n_known):
        return []
    measure, title = judged.measure.capitalize(), least(act)
    blocks: list[Block] = [
        Figure(
            lambda theme: figures.accuracy_against_pool(act, theme, title),
            f"{measure} of each rater compared with the other raters",
            "pool",
        )
    ]
    if n_known > figures.MOST_LINES:
        lowest = "have the weakest correlation with the case scores" if followed else "are the least accurate"
        blocks.append(
            Words(f"{figures.MOST_LINES} of {n_known:,} raters are shown: those who are flagged or {lowest}.", "note")
        )
    return blocks


_PRINTED = ("rater", "n", "accuracy", "ci_low", "ci_high", "judged_by", "expected_wrong", "flags")
_PRINTED_FOLLOWING = (
    "rater", "n", "follows", "follows_low", "follows_high", "judged_by", "lost", "severity", "spread", "flags",
)  # fmt: skip
# Columns that a report names or shows differently from the file.
_HEADS: dict[str, tuple[str, Unit]] = {
    "ci_low": ("95% from", "coefficient"),
    "ci_high": ("to", "coefficient"),
    "follows_low": ("95% from", "coefficient"),
    "follows_high": ("to", "coefficient"),
    "follows": ("Correlation with the case", "coefficient"),
    "lost": ("annotations lost", "count"),
    "severity": ("severity", "coefficient"),
}


def least(act: FlaggedRaters, escape: Callable[[str], str] = plotly) -> str:
    """Return a title with the rater who is clearly the least accurate, or the weakest correlation with the case scores.

    Parameters
    ----------
    act : FlaggedRaters
    escape : callable
        Escape of names where the title is shown.
    """
    judged, followed = act.judged, act.following is not None
    one = clearly_least(judged.rates.value, judged.rates.low, judged.rates.high)
    if one is not None:
        what = "Weakest correlation with the case scores" if followed else "Least accurate"
        return f"{what}: {escape(shorten(act.raters[one], 20))}, {judged.said(one)}"
    if np.isfinite(judged.rates.value).sum() > 1 and act.against():  # "No rater" would seem to contradict a flag.
        return f"{judged.measure.capitalize()} of each rater"
    if np.isfinite(judged.rates.value).sum() > 1:
        what = (
            "clearly has the weakest correlation with the case scores" if followed else "is clearly the least accurate"
        )
        return f"No rater {what}"
    return f"{judged.measure.capitalize()} of the rater"


def _caption(found: AssessedRaters) -> str:
    """Return the meaning of the order of raters."""
    if not found.ranked:
        return "Raters. These annotations do not allow a ranking."
    if found.act.following is None:
        return "Raters, highest expected number of wrong annotations first."
    return (
        "Raters, most annotations lost first. Lost: number of annotations minus the number that an average rater "
        "needs for the same information. Severity: number of classes above the average rater. Spread: variation "
        "around what is expected for the case, in classes."
    )


def flags(found: AssessedRaters) -> list[Block]:
    """Show every flag with its evidence, and the basis of the judgement."""
    act = found.act
    n = len(act.flags)
    lines = [
        Words(
            (Strong(Name(act.raters[flag.rater])), f" · {flag.title}: ", Name(flag.words)),
            icon="info" if flag.neutral else "flag",
        )
        for flag in act.flags[:MOST_LISTED]
    ]
    if n > MOST_LISTED:
        lines.append(Words(f"The table contains {plural(n - MOST_LISTED, 'more flag')}.", "note"))
    title = "Evidence for the flag" if n == 1 else f"Evidence for all {plural(n, 'flag')}"
    return [*([Details(title, lines, n <= MOST_FLAGS)] if n else []), *basis(found)]


def basis(found: AssessedRaters) -> list[Block]:
    """Show how flags are raised, and by what accuracy is judged."""
    act, table = found.act, found.table
    return [
        Words(
            "Rules for drift, speed, repetition and careless annotation are set so that the chance of flagging "
            f"even one careful rater is at most {percent(table.false_alarms)}. "
            f"{_judged(act, table.draws is not None)}",
            "note",
            "signs",
        ),
        *(Words((Name(note),), "note") for note in table.notes),
    ]


def _judged(act: FlaggedRaters, by_draws: bool) -> str:
    """Return the measure by which raters are judged, in a sentence.

    Parameters
    ----------
    act : FlaggedRaters
    by_draws : bool
        The model is the average of rater models, with draws of the truth.
    """
    if act.following is not None:
        return _followed(act.following)
    if not act.acceptable.n_judged:
        return ""
    others = "from the other raters of each case, weighted by the model"
    if by_draws:
        others = (
            f"from {N_DRAWS:,} draws of the truth by the {AVERAGE.title.lower()}, so intervals include the uncertainty "
            "about the truth"
        )
    n_gold = int(act.acceptable.by_gold.sum())
    if not n_gold:
        return f"Accuracy is estimated {others}. Estimates are shrunk towards the mean of all raters."
    people = plural(n_gold, "rater")
    if n_gold == act.acceptable.n_judged:
        return f"The accuracy of {people} is measured against gold and shrunk towards the mean of all raters."
    return (
        f"Accuracy is measured against gold for {people} with enough gold annotations. For raters with too few, it is "
        f"estimated {others}. Values are shrunk towards the mean of all raters."
    )


def _followed(found: Following) -> str:
    by = "the other raters of each case, adjusted for their severity"
    if n_gold := int(found.by_gold.sum()):
        by = f"gold for {plural(n_gold, 'rater')}" + (
            f" and, for raters with too little gold, from {by}" if n_gold < found.n_judged else ""
        )
    return (
        f"Each rater's correlation with the case scores is computed from {by}. Correlations are shrunk towards the "
        "mean of all raters. Higher or more scattered annotations do not count against a rater."
    )


def whom_to_look_at(flagged: Sequence[str], first: int = 6) -> list[Block]:
    """List flagged raters, as a task."""
    if not flagged:
        return []
    named = ", ".join(shorten(name, 30) for name in flagged[:first])
    return [Words(f"Check {plural(len(flagged), 'flagged rater')}: {named}{' …' * (len(flagged) > first)}", "todo")]
