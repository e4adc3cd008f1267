"""Rater models on the command line: any of them, by any of its methods."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from core.annotations.dataset import Dataset
from core.annotations.readers import open_table
from core.annotations.side_files import SideFiles, with_side_files
from core.commands.inputs import as_classes, progress, stamp, write_table
from core.errors import InputError, NotApplicableError
from core.models.catalogue import EM, Fitted, Request, em_model, fit_request, usual_method
from core.models.precision import precision_of

AUTO, EMPIRICAL = "auto", "dawid-skene-empirical"
MODELS = (
    *(AUTO, "majority", "one-coin", "class-conditional", "dawid-skene", EMPIRICAL, "tap"),
    *("bayesian-dawid-skene", "hierarchical", "difficulty"),
)


def fit(options) -> tuple[dict, pd.DataFrame]:
    """A fit of a rater model; the table is of class probabilities per case."""
    if options.restarts < 0:
        raise InputError(f"{options.restarts} restarts were asked for.", "Ask for none or more.")
    dataset, left_out = as_classes(options)
    if options.gold:
        dataset = with_gold(dataset, options)
    extra, request = {}, None
    if options.model == AUTO:
        request, extra = _chosen(options, dataset)
    request = request or _request(options)
    fitted = fit_request(request, dataset, progress=lambda share, words="": progress(share))
    if request.model in EM:
        fitted, more = _em(options, fitted)
        extra |= more
    found = fitted.fit
    table = pd.DataFrame(found.class_probability, columns=list(found.classes))
    table.insert(0, "case", list(found.cases), allow_duplicates=True)  # a class may be called "case"
    write_table(options.cases_out, table)
    spread = found.uncertainty
    answer = {
        "model": options.model,
        "method": found.method,
        "converged": found.converged,
        "log_likelihood": found.log_likelihood,
        "n_iterations": len(found.objective),
        "settings": found.settings,
        "beta": found.beta,
        "classes": list(found.classes),
        "prevalence": dict(zip(found.classes, found.prevalence.tolist(), strict=True)),
        "prevalence_interval": None
        if spread is None
        else {
            name: {"sd": sd, "ci_low": low, "ci_high": high}
            for name, sd, low, high in zip(
                found.classes, spread.prevalence.sd, spread.prevalence.low, spread.prevalence.high, strict=True
            )
        },
        "raters": [_rater(found, place) for place in range(len(found.raters))],
        "parameters": {name: np.asarray(value).tolist() for name, value in found.parameters.items()},
        "notes": list(found.notes),
        "left_out": left_out,
        **_of_posterior(fitted),
        **extra,
        **stamp(options, dataset),
    }
    return answer, table


def _chosen(options, dataset: Dataset) -> tuple[Request, dict]:
    """The model that the held-out scores choose, without a look at known classes."""
    from core.models.choose import choose

    given = [
        name
        for name in ("method", "smoothing", "beta", "doubt", "difficulty", "positive")
        if getattr(options, name) is not None
    ]
    if given or options.raters != "own":
        raise InputError("auto chooses the model and its options.", "Name a model to set options of your own.")
    found = choose(dataset, seed=options.seed, progress=progress)
    request = replace(found.best.request(), use_gold=bool(options.gold) and found.best.request().method == "em")
    if options.gold and not request.use_gold:
        raise NotApplicableError(f"{found.chosen} opens here and cannot hold known classes fixed. Name another model.")
    return request, {"chosen": found.chosen, "reason": found.reason}


def _request(options) -> Request:
    model = options.model
    if model == EMPIRICAL:
        if options.smoothing not in (None, "empirical"):
            raise InputError(f"{EMPIRICAL} is smoothed by empirical Bayes.", "Leave --smoothing out.")
        model, options.smoothing = "dawid-skene", "empirical"
    if model == "difficulty":
        model = f"difficulty-{options.difficulty or 'AB'}"
        from core.models.difficulty.names import canonical

        model = f"difficulty-{canonical(model.removeprefix('difficulty-'))}"
    elif options.difficulty:
        raise InputError("--model names a difficulty model.", "Use it with: fit difficulty FILE --model AB.")
    if model == "tap" and options.raters == "common":
        model = "tap-common"
    if options.smoothing and model not in EM:
        raise InputError(f"{options.model} takes no smoothing.", "Leave --smoothing out.")
    return Request(
        model,
        options.method or usual_method(model),
        smoothing=options.smoothing,
        beta=1.0 if options.beta is None else options.beta,
        doubt=options.doubt or 0.0,
        use_gold=bool(options.gold),
        positive=options.positive,
        n_draws=options.draws,
        n_tune=options.tune,
        n_chains=options.chains,
        seed=options.seed,
    )


def _em(options, fitted: Fitted) -> tuple[Fitted, dict]:
    """Restarts and intervals of a fit by expectation-maximisation."""
    model, found, extra = em_model(fitted.request), fitted.fit, {}
    if options.restarts:
        tried = model.restarts(fitted.dataset, found, options.restarts, seed=options.seed)
        extra["restarts"] = {
            "n": options.restarts,
            "differs": tried.differs,
            "n_changed_cases": tried.n_changed,
            "vote_start_log_likelihood": found.log_likelihood,
        }
        found = tried.best
    if options.intervals:
        uncertainty = precision_of(model, fitted.dataset, found, seed=options.seed, progress=progress)
        found = replace(found, uncertainty=uncertainty)
    return replace(fitted, fit=found), extra


def _rater(found, place: int) -> dict:
    row = {
        "rater": found.raters[place],
        "n": int(found.n_annotations[place]),
        "confusion": found.confusion[place].tolist(),
        "accuracy": float(found.accuracy()[place]),
    }
    if found.uncertainty is not None:
        accuracy = found.uncertainty.accuracy
        row |= {"ci_low": float(accuracy.low[place]), "ci_high": float(accuracy.high[place])}
    return row


def _of_posterior(fitted: Fitted) -> dict:
    """What only draws can tell."""
    bayes = fitted.bayes
    if bayes is None:
        return {}
    found, answer = fitted.fit, {}
    if len(found.classes) == 2 and found.uncertainty is not None:
        spread = found.uncertainty.prevalence
        answer["pi"] = {
            "mean": float(found.prevalence[1]),
            "sd": float(spread.sd[1]),
            "ci_low": float(spread.low[1]),
            "ci_high": float(spread.high[1]),
        }
    if bayes.loo is not None:
        answer |= {"elpd_loo": bayes.loo.elpd, "elpd_se": bayes.loo.se, "n_high_k": bayes.loo.n_high_k}
    if bayes.paper is not None:
        answer["as_in_paper"] = {
            "elpd": bayes.paper.elpd,
            "se": bayes.paper.se,
            "n_annotations": bayes.paper.n_annotations,
            "n_high_k": bayes.paper.n_high_k,
        }
    diagnostics = bayes.diagnostics
    if diagnostics is not None:
        answer |= {
            "rhat_max": diagnostics.rhat_max,
            "ess_min": diagnostics.ess_bulk_min,
            "n_divergent": diagnostics.n_divergent,
            "convergence": diagnostics.words,
        }
    for check in bayes.checks:
        answer[f"p_{check.kind}"] = check.headline
        answer[f"{check.kind}_check"] = {"fails": check.fails, "n_statistics": check.n_statistics}
    return answer


def with_gold(dataset: Dataset, options) -> Dataset:
    """Known classes from a table: case, class."""
    try:
        content = Path(options.gold).read_bytes()
    except OSError as error:
        raise InputError(f"{options.gold} cannot be opened ({error.strerror}).", "Look at the path.") from None
    raw = open_table(content)
    if len(raw.columns) < 2:
        raise InputError(f"{options.gold} has one column.", "Give a table with the case and its class.")
    case, known = (raw.table[raw.columns[place]].to_pylist() for place in (0, 1))
    found, notes = with_side_files(dataset, SideFiles(gold=dict(zip(case, known, strict=True))))
    options.cautions.extend(notes)
    return found
