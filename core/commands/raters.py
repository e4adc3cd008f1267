"""Raters on the command line: their accuracy, by gold or by the model, and flags with evidence."""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd

from ..analyses.raters import RATERS
from ..analyses.raters.table import rows_of, written
from ..annotations.dataset import Dataset
from ..annotations.vocabulary import to_numbers
from ..errors import InputError
from ..ingest.formats.tables import open_table
from ..models.gold import gold_cases
from ..raters.accuracy_threshold import JudgedAccuracy
from ..raters.following import Following
from ..raters.score_drift import score_drifts
from ..raters.score_gold import score_gold
from ..text import plural
from .fits import with_gold
from .inputs import progress, read_warned, split, stamp, with_declared_order
from .parts import answer_part
from .plausibilities import read_bytes


def raters(options) -> tuple[dict, pd.DataFrame]:
    """Return raters against the acceptable accuracy, with flags, or another part; one row each, most costly first.

    Raters of ordered classes, and of scores without a threshold, are judged by how they follow the cases, with severity
    and spread; for scores with gold, bias and error against it are included.
    """
    part = RATERS.part(options.part)
    if options.costs:
        options.costs = tuple(known_scores(options.costs).items())
    if part is not RATERS.parts[0]:
        return answer_part(part, options, lambda dataset: _with_gold(dataset, options))
    whole = read_warned(options).dataset
    if whole.kind == "score" and options.threshold is None:
        return _of_scores(options, whole)
    dataset, n_left_out = whole.as_classes(split(options))
    dataset = with_declared_order(dataset, options)
    dataset = _with_gold(dataset, options)
    chosen = part.resolve(**part.given(options))
    found = part.answer(dataset, chosen, progress=progress)
    act, judged = found.act.acceptable, found.act.judged
    answer = {
        "raters": rows_of(found),
        "acceptable": judged.acceptable,
        "acceptable_given": not judged.default,
        **_costs(judged),
        "mean_accuracy": act.mean,
        "blind_accuracy": act.blind,
        "judged_by": act.judged_by,
        "fdr": act.q,
        "level": act.level,
        "flagged": [found.act.raters[rater] for rater in found.act.flagged()],
        "n_low": judged.n_flagged,
        "n_below": judged.n_below,
        "words": found.act.words(),
        "why_not": act.why,
        "remedy": act.remedy,
        "agreement_without": [found.act.raters[rater] for rater in judged.aside],
        "why_no_order": act.why_no_order,
        "gold_check": None if act.check is None else asdict(act.check),
        "model": found.table.model,
        "notes": list(found.table.notes),
        "left_out": n_left_out,
        **stamp(options, dataset),
    }
    return answer, written(found)


def _with_gold(dataset: Dataset, options) -> Dataset:
    if not options.gold:
        return dataset
    if dataset.kind != "score":
        return with_gold(dataset, options)
    known = known_scores(options.gold)
    return replace(dataset, gold_scores=np.array([known.get(case, np.nan) for case in dataset.cases]))


def _costs(judged: JudgedAccuracy | Following) -> dict:
    """Return the measure of raters, and the cost of flagged ones."""
    if isinstance(judged, Following):
        return {"measure": "correlation", "mean_correlation": judged.mean, "lost_of_low": judged.cost}
    return {"measure": "accuracy", "wrong_of_low": judged.cost}


def _of_scores(options, dataset: Dataset) -> tuple[dict, pd.DataFrame]:
    """Return how raters of scores follow the cases, severity and spread, as on the Raters page; most lost first."""
    part = RATERS.part("scores")
    chosen = part.resolve(**part.given(options))
    following = part.answer(dataset, chosen)
    found = following.scores
    known = None if options.gold is None else known_scores(options.gold)
    if unknown := len(set(known or ()) - set(dataset.cases)):
        options.cautions.append(f"Gold was left out for {plural(unknown, 'case')} without an annotation.")
    frame = part.frame(following, dataset, chosen).drop(columns="clear")
    beside: dict[str, pd.DataFrame] = {}
    if known is not None or len(gold_cases(dataset)):
        beside["gold"] = score_gold(dataset, known, level=options.level).to_frame()
    if dataset.time is not None:
        drifts = score_drifts(dataset, found, level=options.level).to_frame().drop(columns="n")
        beside["drift"] = drifts.assign(since=drifts["since"].where(drifts["alarm"]))
    rows = frame.to_dict("records")
    for name, table in beside.items():
        of_rater = table.set_index("rater").to_dict("index")
        for row in rows:
            row[name] = of_rater[row["rater"]]
        frame = frame.join(table.set_index("rater").add_prefix(f"{name}_"), on="rater")
    answer = {
        "raters": rows,
        "mean": found.mean,
        "between_cases": found.between_cases,
        "between_raters": found.between_raters,
        "median_spread": found.median_spread,
        "level": found.level,
        "converged": found.converged,
        "words": f"{following.who()} {found.words()}.",
        "acceptable": following.acceptable,
        "acceptable_given": not following.default,
        **_costs(following),
        "fdr": following.q,
        "flagged": [found.raters[rater] for rater in np.flatnonzero(following.flagged)],
        "n_low": following.n_flagged,
        "n_below": following.n_below,
        "left_out": 0,
        **stamp(options, dataset),
    }
    return answer, frame


def known_scores(path: str) -> dict[str, float]:
    """Read known scores from a table: case, score. Rows with an empty cell have no gold.

    Raises
    ------
    InputError
        The file cannot be read, has one column, or a score is not a number.
    """
    raw = open_table(read_bytes(path))
    if len(raw.columns) < 2:
        raise InputError(
            f"Could not use {path}: it has only one column.", "Use a table with a case column and a score column."
        )
    case, value = (raw.table[raw.columns[place]].to_pylist() for place in (0, 1))
    texts = tuple("" if text is None else str(text).strip() for text in value)
    number = to_numbers(texts, decimal_comma=raw.decimal_comma)
    found = {}
    for place, (case_id, text) in enumerate(zip(case, texts, strict=True)):
        if not text or not case_id or not case_id.strip():
            continue
        if not np.isfinite(number[place]):
            raise InputError(
                f"Could not use {path}: row {place + 1} contains {text!r}, which is not a score.", "Use numbers."
            )
        found[case_id.strip()] = float(number[place])  # trimmed, as annotations are
    return found
