"""Report on one rater as an HTML file for that rater; the others are not named."""

import numpy as np
import pandas as pd

from ..analyses.blocks import Block, Figure, Grid, Section, Words
from ..analyses.raters.rater import DIFFERENCES, differences_of
from ..figures.raters import rater_over_time
from ..raters.report_card import ReportCard
from ..text import UNKNOWN, number, percent, percent_with_interval, plural
from .page import to_html

_LISTED = 8  # cases and classes, as many as fit on the one page
_CHART = 300  # height in pixels, likewise
_JUDGES = {"gold": "gold", "model": "the other raters"}
_NOT_OWN = "The model and the raters use different classes"


def rater_report(card: ReportCard, dataset_name: str) -> bytes:
    """Return the file."""
    sections = [
        Section("summary", "In short", tuple(_summary(card))),
        Section("differences", "Cases to check again", tuple(_differences(card))),
        Section("answers", "Annotations by class", tuple(_answers(card))),
        Section("time", "Over time", tuple(_over_time(card))),
    ]
    footer = f"Made with Plurality from {dataset_name}. Other raters are pooled and not named."
    return to_html(f"Rater {card.rater}", sections, footer, "card")


def _summary(card: ReportCard) -> list[Block]:
    rows = [
        ("annotations", f"{card.n_annotations:,} on {plural(card.n_cases, 'case')}"),
        (
            "annotations judged by the other raters",
            f"{card.n_judged:,}, including {card.n_clear:,} on cases about which the others are confident",
        ),
        (f"accuracy, judged by {'gold' if card.judged_by == 'gold' else 'the model'}", _triple(card.accuracy)),
        ("accuracy of the other raters, median (middle half)", _triple(card.pool_accuracy)),
        (
            f"correlation with the case score according to {_JUDGES[card.judged_by]}",
            card.follows or UNKNOWN,
        ),
        ("scale", card.reading or UNKNOWN),
        ("agreement with others", _triple(card.agreement)),
        ("median seconds between annotations", number(card.seconds, 0)),
        ("median seconds between annotations, other raters", number(card.pool_seconds, 0)),
    ]
    flags = [Words(f"{title}: {words}") for title, words in card.flags]
    lead = "Nothing stands out." if not flags else f"{plural(len(flags), 'flag')}."
    known = [row for row in rows if row[1] != UNKNOWN]
    return [Words(lead, "lead"), *flags, Grid(pd.DataFrame(known, columns=["what", "value"]), "In numbers.")]


def _answers(card: ReportCard) -> list[Block]:
    if not card.own_classes:
        return [Words(f"{_NOT_OWN}, so annotations are not compared by class.")]
    rows = [
        {
            "class by the others": name,
            "share": _share(card, code),
            "expected annotations": round(float(card.own.n[code])),
            "share of the pool": percent(float(card.pool.share[code, code])),
            "bias": number(float(card.bias[code])),
        }
        for code, name in enumerate(card.classes)
    ]
    if len(rows) > _LISTED:
        rows = [rows[code] for code in np.argsort(-np.asarray(card.own.n), kind="stable")]
    caption = "How often this rater chooses the class that the others chose, compared with the pool of other raters."
    return [Grid(pd.DataFrame(rows), caption, _LISTED)]


def _share(card: ReportCard, code: int) -> str:
    value, low, high = (float(one[code, code]) for one in (card.own.share, card.own.low, card.own.high))
    return UNKNOWN if np.isnan(value) else percent_with_interval(value, low, high)


def _differences(card: ReportCard) -> list[Block]:
    if not card.own_classes:
        return [Words(f"{_NOT_OWN}, so annotations are not compared.")]
    if not card.differences:
        return [Words("The other raters are not confident about any case on which this rater disagrees with them.")]
    total = plural(card.n_differences, "annotation")
    caption = f"{total} in total. The cases about which the others are most confident come first."
    return [Grid(differences_of(card), caption, _LISTED, DIFFERENCES)]


def _over_time(card: ReportCard) -> list[Block]:
    drift = card.over_time
    if drift is None:
        return [Words(card.why_not_over_time)]
    title = "Accuracy in windows, and the control chart with its limit"
    picture = Figure(lambda theme: rater_over_time(drift, theme, title, _CHART), "Accuracy over time")
    told = f"The chart of a stable rater crosses the limit with {percent(drift.false_alarm)} probability."
    if drift.alarm is not None:
        told += (
            f" This chart crosses the limit: accuracy is {percent(drift.before)} before the change and "
            f"{percent(drift.after)} after it."
        )
    return [picture, Words(told, "note")]


def _triple(value: tuple[float, float, float] | None) -> str:
    return UNKNOWN if value is None else percent_with_interval(*value)
