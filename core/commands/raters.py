"""Raters on the command line: how accurate, by gold or by the model, and what speaks against them."""

import numpy as np
import pandas as pd

from ..raters.monitoring import monitor
from ..raters.to_act_on import ToActOn, raters_to_act_on
from .fits import with_gold
from .inputs import progress, read_classes, stamp


def raters(options) -> tuple[dict, pd.DataFrame]:
    """Raters against what is acceptable, with flags; the table has a row for each, most wrong annotations first."""
    dataset, n_left_out = read_classes(options)
    if options.gold:
        dataset = with_gold(dataset, options)
    table = monitor(dataset, level=options.level, seed=options.seed, progress=progress)
    found = raters_to_act_on(table, acceptable=options.acceptable, q=options.fdr, judged_by=options.judged_by)
    act = found.acceptable
    rows = [_row(found, int(rater)) for rater in act.order()]
    answer = {
        "raters": rows,
        "acceptable": act.acceptable,
        "acceptable_given": not act.default,
        "mean_accuracy": act.mean,
        "blind_accuracy": act.blind,
        "judged_by": act.judged_by,
        "fdr": act.q,
        "level": act.level,
        "flagged": [found.raters[rater] for rater in found.flagged()],
        "n_low": act.n_flagged,
        "n_below": act.n_below,
        "wrong_of_low": act.cost,
        "words": found.words(),
        "why_not": act.why,
        "why_no_order": act.why_no_order,
        "model": table.model,
        "notes": list(table.notes),
        "left_out": n_left_out,
        **stamp(options, dataset),
    }
    return answer, _table(rows)


def _row(found: ToActOn, rater: int) -> dict:
    act = found.acceptable
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
        "flags": list(found.kinds_of(rater)),
        "evidence": [flag.words for flag in found.flags if flag.rater == rater],
        "expected_wrong": act.expected_wrong[rater],
    }


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
