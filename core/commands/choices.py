"""Choice among rater models, and the t-a-p model, on the command line."""

from typing import Any

import numpy as np
import pandas as pd

from ..analyses.models import MODELS
from ..analysis_settings import rater_request
from ..annotations.dataset import Dataset
from ..annotations.write import long_table
from ..errors import InputError, NotApplicableError
from ..models.average import average_models
from ..models.choice_cost import seconds_to_choose
from ..models.choose import Choice, Standing
from ..models.choose import choose as choose_model
from ..models.gold import gold_cases
from ..models.result import RaterModelFit
from ..models.tempering import OPTION
from .fits import with_gold
from .inputs import progress, read_classes, rows_of, say_duration, stamp, with_declared_order, write_table
from .parts import answered

MOST_LISTED = 100


def choose(options) -> tuple[dict, pd.DataFrame]:
    """Score all models on held-out data and average them; the table has one row per model."""
    dataset, left_out = read_classes(options)
    dataset = with_declared_order(dataset, options)
    if options.gold:
        dataset = with_gold(dataset, options)
    return answer_of(options, dataset, left_out)


def answer_of(options, dataset: Dataset, left_out: int) -> tuple[dict, pd.DataFrame]:
    """Return the answer of `choose` for data that were read.

    Parameters
    ----------
    options
        Options of the command.
    dataset : Dataset
        Dataset of single classes.
    left_out : int
        Number of annotations that are not in it.
    """
    say_duration(seconds_to_choose(dataset))
    found = choose_model(dataset, seed=options.seed, cases=True, independent=False, progress=progress)
    rows, opens = [_row(each) for each in found.standings], rater_request(found, dataset)
    answer: dict[str, Any] = {
        "models": rows,
        "chosen": found.chosen,
        "opens": None if opens is None else opens.model,
        "reason": found.reason,
        "families": [list(each) for each in found.families],
        "n_hidden": found.n_hidden,
        "n_unanimous": found.n_unanimous,
        "left_out": left_out,
    }
    if dataset.gold is not None and (dataset.gold >= 0).any():
        for row, each in zip(rows, found.standings, strict=True):
            row["gold"] = None if each.fit is None else _by_gold(dataset, each.fit, options.seed)
        answer |= _beta_by_gold(dataset, found, options.seed)
    if options.average:
        answer["average"] = _average(dataset, found, options.seed)
    flat = [{name: value for name, value in row.items() if name != "gold"} for row in rows]
    return answer | stamp(options, dataset), pd.DataFrame(flat)


def _average(dataset: Dataset, found: Choice, seed: int) -> dict:
    """Return the average of the models with its weights, and its comparison with gold."""
    averaged = average_models(found, dataset)
    first, second = (averaged.differ_as[:MOST_LISTED].T.tolist()) if averaged.differ.size else ([], [])
    return {
        "members": averaged.to_frame().replace({np.nan: None}).to_dict("records"),
        "sentence": f"{averaged.sentence}.",
        "beta": [each.beta.sentence for each in averaged.members],
        "left_out": [{"model": title, "why": why} for title, why in averaged.left_out],
        "flipped": averaged.flipped,
        "n_differ": int(averaged.differ.size),
        "differ": [
            {"case": dataset.cases[case], "first": dataset.classes[one], "second": dataset.classes[other]}
            for case, one, other in zip(averaged.differ[:MOST_LISTED].tolist(), first, second, strict=True)
        ],
        "gold": _by_gold(dataset, averaged.fit, seed) if gold_cases(dataset).size else None,
    }


def _row(each: Standing) -> dict:
    held = each.held
    scores = None if held is None else held.case_score
    cases = None if scores is None else scores[~np.isnan(scores)]
    return {
        "model": each.candidate.name,
        "score": None if held is None else held.score,
        "se": None if held is None else held.se,
        "diff": each.diff,
        "diff_se": each.diff_se,
        "n_parameters": each.n_parameters,
        "beta": None if held is None else held.beta,
        "beta_shown": None if held is None else each.beta,
        "doubt": None if held is None else each.doubt,
        OPTION: None if held is None else held.temper_prevalence,
        "within_one_se": None if held is None else each.within_one_se,
        "case_score": float(cases.mean()) if cases is not None and cases.size else None,
        "flipped": each.flipped,
        "converged": None if each.fit is None else each.fit.converged,
        "excluded": each.excluded or None,
    }


def _by_gold(dataset: Dataset, fit: RaterModelFit, seed: int) -> dict:
    from ..models.gold_measures import gold_measures

    found = gold_measures(dataset, fit, seed=seed)
    certain = found.certain_right
    return {
        "n": found.n,
        **{name: getattr(found, name).value for name in ("accuracy", "log_loss", "brier", "ece")},
        "intervals": {
            name: [getattr(found, name).low, getattr(found, name).high]
            for name in ("accuracy", "log_loss", "brier", "ece")
        },
        "at_99": {
            "n": found.n_certain,
            "right": None if certain is None else certain.value,
            "interval": None if certain is None else [certain.low, certain.high],
        },
        **_absolute_error(found),
    }


def _absolute_error(found) -> dict:
    """Return the absolute error, for ordered classes only."""
    away = found.absolute_error
    return {} if away is None else {"absolute_error": away.value, "absolute_error_interval": [away.low, away.high]}


def _beta_by_gold(dataset: Dataset, found: Choice, seed: int) -> dict:
    """Return β by the gold classes for the chosen model; nothing if they are too few or it takes none."""
    from ..models.gold_measures import beta_by_gold

    fit = found.best.fit
    if fit is None:
        return {}
    try:
        by_gold = beta_by_gold(dataset, fit, seed=seed)
    except (NotApplicableError, InputError):  # too few gold cases; or the model takes no β afterwards
        return {}
    return {"beta_by_gold": {"beta": by_gold.beta, "log_loss": by_gold.log_loss, "n": by_gold.n}}


_NO_DATA: Any = None  # ratings are simulated, whatever the data are


def tap(options) -> tuple[dict, pd.DataFrame]:
    """Compute the parts of agreement, the test of t = p, and accuracy and guesses of each rater."""
    dataset, left_out = read_classes(options)
    more: dict = {}

    def words(found) -> str:
        rates, test = found.rates, found.test
        more["agreement"] = {name: getattr(rates, name) for name in rates.__slots__} | {
            "expected": rates.total,
            "observed": found.observed.value,
            "kappa_expected": rates.kappa,
            "kappa": found.kappa.value,
        }
        more["guesses_follow_prevalence"] = {name: getattr(test, name) for name in test.__slots__}
        return test.words

    answer, table = answered(MODELS.part("tap"), options, dataset, left_out, words)
    return answer | more, table


def simulate(options) -> tuple[dict, pd.DataFrame]:
    """Compute coefficients and models on simulated ratings, next to their expected values under t, a and p."""
    part = MODELS.part("explore")
    chosen = part.resolve(**part.given(options))
    found = part.answer(_NO_DATA, chosen)
    table = part.frame(found, _NO_DATA, chosen)
    write_table(options.out, long_table(found.ratings))
    rates = {name: getattr(found.rates, name) for name in found.rates.__slots__}
    return {"agreement": rates, "rows": rows_of(table), "seed": options.seed}, table
