"""Raters on the command line: how accurate, by gold or by the model, and what speaks against them."""

from dataclasses import asdict

import numpy as np
import pandas as pd

from ..annotations.dataset import Dataset
from ..annotations.vocabulary import to_numbers
from ..errors import InputError
from ..ingest.formats.tables import open_table
from ..models.gold import gold_cases
from ..raters.acceptable import Acceptable
from ..raters.following import Following, following_of
from ..raters.monitoring import RaterTable, monitor
from ..raters.score_drift import score_drifts
from ..raters.score_gold import score_gold
from ..raters.score_raters import score_raters
from ..raters.to_act_on import ToActOn, raters_to_act_on
from ..text import plural
from .fits import with_gold
from .inputs import progress, read_warned, split, stamp, with_declared_order
from .plausibilities import read_bytes


def raters(options) -> tuple[dict, pd.DataFrame]:
    """Raters against what is acceptable, with flags; the table has a row for each, those that cost most first.

    Raters of ordered classes, and of scores without a threshold, are judged by how they follow the cases, with severity
    and spread; of scores with gold bias and error against it are given, too.
    """
    whole = read_warned(options).dataset
    if whole.kind == "score" and options.threshold is None:
        return _of_scores(options, whole)
    dataset, n_left_out = whole.as_classes(split(options))
    dataset = with_declared_order(dataset, options)
    if options.gold:
        dataset = with_gold(dataset, options)
    table = monitor(dataset, level=options.level, seed=options.seed, progress=progress)
    found = raters_to_act_on(table, acceptable=options.acceptable, q=options.fdr, judged_by=options.judged_by)
    act, judged = found.acceptable, found.judged
    rows = [_row(found, int(rater)) | _off(table, int(rater)) for rater in judged.order()]
    answer = {
        "raters": rows,
        "acceptable": judged.acceptable,
        "acceptable_given": not judged.default,
        **_costs(judged),
        "mean_accuracy": act.mean,
        "blind_accuracy": act.blind,
        "judged_by": act.judged_by,
        "fdr": act.q,
        "level": act.level,
        "flagged": [found.raters[rater] for rater in found.flagged()],
        "n_low": judged.n_flagged,
        "n_below": judged.n_below,
        "words": found.words(),
        "why_not": act.why,
        "remedy": act.remedy,
        "agreement_without": [found.raters[rater] for rater in judged.aside],
        "why_no_order": act.why_no_order,
        "gold_check": None if act.check is None else asdict(act.check),
        "model": table.model,
        "notes": list(table.notes),
        "left_out": n_left_out,
        **stamp(options, dataset),
    }
    return answer, _table(rows)


_SEVERITY = tuple(f"{name}{end}" for name in ("severity", "spread", "with_others") for end in ("", "_low", "_high"))
_DRIFT = ("p", *(f"{name}{end}" for name in ("before", "after") for end in ("", "_low", "_high")))
_GOLD = tuple(f"{name}{end}" for name in ("bias", "error") for end in ("", "_low", "_high"))


def _costs(judged: Acceptable | Following) -> dict:
    """What raters are measured by, and what those flagged cost."""
    if isinstance(judged, Following):
        return {"measure": "correlation", "mean_correlation": judged.mean, "lost_of_low": judged.cost}
    return {"measure": "accuracy", "wrong_of_low": judged.cost}


def _follows(found: Following, rater: int) -> dict:
    """How a rater follows the cases, and what is lost of their annotations."""
    rates = found.rates
    return {
        "follows": _number(rates.value[rater]),
        "follows_low": _number(rates.low[rater]),
        "follows_high": _number(rates.high[rater]),
        "follows_n": int(rates.n[rater]),
        "p_acceptable": _number(found.chance[rater]),
        "low": bool(found.flagged[rater]),
        "lost": _number(found.lost[rater]),
        "judged_by": "gold" if found.by_gold[rater] else "model",
    }


def _of_scores(options, dataset: Dataset) -> tuple[dict, pd.DataFrame]:
    """How raters of scores follow the cases, severity and spread, as the Raters page has them; most lost first."""
    found = score_raters(dataset, level=options.level)
    asked = {"acceptable": options.acceptable, "q": options.fdr, "judged_by": options.judged_by, "level": options.level}
    following = following_of(dataset, **asked)
    known = None if options.gold is None else known_scores(options.gold)
    if unknown := len(set(known or ()) - set(dataset.cases)):
        options.cautions.append(f"Gold of {plural(unknown, 'case')} without an annotation was left out.")
    gold = None
    if known is not None or len(gold_cases(dataset)):
        gold = score_gold(dataset, known, level=options.level)
    drifts = None if dataset.time is None else score_drifts(dataset, found, level=options.level).to_frame()
    rows = []
    for place in np.lexsort((-np.abs(np.nan_to_num(found.severity)), -np.nan_to_num(following.lost, nan=-1.0))):
        row = {"rater": found.raters[place], "n": int(found.n[place])}
        row |= {name: _number(getattr(found, name)[place]) for name in _SEVERITY}
        row |= {"severe": bool(found.severe[place]), "erratic": bool(found.erratic[place])}
        row["against"] = bool(found.against[place])
        row |= _follows(following, int(place))
        if gold is not None:
            row["gold"] = {"n": int(gold.n[place])} | {name: _number(getattr(gold, name)[place]) for name in _GOLD}
        if drifts is not None:
            one = drifts.iloc[place]
            row["drift"] = {"alarm": bool(one["alarm"]), "since": one["since"] if one["alarm"] else None}
            row["drift"] |= {name: _number(one[name]) for name in _DRIFT}
        rows.append(row)
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
    flat = [
        {name: value for name, value in row.items() if name not in ("gold", "drift")}
        | {f"{part}_{name}": value for part in ("gold", "drift") for name, value in row.get(part, {}).items()}
        for row in rows
    ]
    return answer, pd.DataFrame(flat).replace({np.nan: None})


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def known_scores(path: str) -> dict[str, float]:
    """Known scores from a table: case, score. Rows with an empty cell are no gold.

    Raises
    ------
    InputError
        The file cannot be read, has one column, or a score is no number.
    """
    raw = open_table(read_bytes(path))
    if len(raw.columns) < 2:
        raise InputError(f"{path} has one column.", "Give a table with the case and its score.")
    case, value = (raw.table[raw.columns[place]].to_pylist() for place in (0, 1))
    texts = tuple("" if text is None else str(text).strip() for text in value)
    number = to_numbers(texts, decimal_comma=raw.decimal_comma)
    found = {}
    for place, (case_id, text) in enumerate(zip(case, texts, strict=True)):
        if not text or not case_id or not case_id.strip():
            continue
        if not np.isfinite(number[place]):
            raise InputError(f"{path}: {text!r} in row {place + 1} is no score.", "Give numbers.")
        found[case_id.strip()] = float(number[place])  # as annotations are read
    return found


def _off(table: RaterTable, rater: int) -> dict:
    """How many classes off a rater is on average, of ordered classes."""
    if not table.distance.n.any():
        return {}
    ends = {"": table.distance.value, "_low": table.distance.low, "_high": table.distance.high}
    return {f"classes_off{end}": _number(values[rater]) for end, values in ends.items()}


def _row(found: ToActOn, rater: int) -> dict:
    act, following = found.acceptable, found.following
    accuracy, gold, model = act.accuracy, act.gold, act.model
    return {
        "rater": found.raters[rater],
        "n": int(act.n_annotations[rater]),
        "accuracy": accuracy.value[rater],
        "ci_low": accuracy.low[rater],
        "ci_high": accuracy.high[rater],
        "judged_by": "gold" if act.by_gold[rater] else "model",
        "n_judged": int(accuracy.n[rater]),
        "gold": {
            "n": int(gold.n[rater]),
            "right": gold.value[rater],
            "ci_low": gold.low[rater],
            "ci_high": gold.high[rater],
        },
        "model": {"accuracy": model.value[rater], "ci_low": model.low[rater], "ci_high": model.high[rater]},
        "p_acceptable": act.chance[rater],
        **({} if following is None else _follows(following, rater) | _reading(following, rater)),
        "flags": list(found.kinds_of(rater)),
        "evidence": [flag.words for flag in found.flags if flag.rater == rater],
        "expected_wrong": act.expected_wrong[rater],
    }


def _reading(found: Following, rater: int) -> dict:
    """How a rater reads the scale: severity and spread with their intervals."""
    names = [f"{name}{end}" for name in ("severity", "spread") for end in ("", "_low", "_high")]
    return {name: _number(found.reading(name)[rater]) for name in names}


def _table(rows: list[dict]) -> pd.DataFrame:
    flat = []
    for row in rows:
        gold = {f"gold_{name}": value for name, value in row["gold"].items()}
        model = {f"model_{name}": value for name, value in row["model"].items()}
        words = {"flags": " ".join(row["flags"]), "evidence": " ".join(row["evidence"])}
        flat.append(
            {name: value for name, value in row.items() if name not in ("gold", "model")} | gold | model | words
        )
    return pd.DataFrame(flat).replace({np.nan: None})
