"""Rater models on the command line, fitted by any of their methods."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from ..annotations.dataset import Dataset
from ..annotations.label_text import by_label
from ..errors import InputError, NotApplicableError
from ..evaluation.predictions import open_predictions
from ..ingest.companion_files import SideFiles, with_side_files
from ..ingest.formats.tables import open_table
from ..methods import methods
from ..models.average import METHOD as AVERAGE
from ..models.average import average_models
from ..models.bayesian_dawid_skene import METHOD as BAYESIAN
from ..models.bayesian_dawid_skene import PRIORS, prior_in_words
from ..models.catalogue import Fitted, Request, em_model, fit_request, request
from ..models.classifier_evidence import WEIGHT, WEIGHTS, evidence_weight, with_classifier
from ..models.expected_class import class_scale
from ..models.ordinal import METHOD as ORDINAL
from ..models.ordinal import NAMES
from ..models.precision import precision_of
from ..models.rater_methods import RaterModelMethod
from ..models.result import RaterModelFit
from ..models.soft_labels import by_class
from .inputs import progress, read_warned, rows_of, say_duration, split, stamp, with_declared_order, write_table
from .labels import fit_of_labels, of_all_labels

AUTO = "auto"
MOST_WRITTEN = 1_000_000


def fit(options) -> tuple[dict, pd.DataFrame]:
    """Fit a rater model; the table has class probabilities per case."""
    if options.restarts < 0:
        raise InputError(f"--restarts must be 0 or more; got {options.restarts}.", "Use a larger number.")
    dataset = read_warned(options).dataset
    if of_all_labels(options, dataset):
        return _of_labels(options, dataset)
    dataset, left_out = _single(options, dataset)
    extra: dict = {}
    beta = None
    if options.model == AUTO:
        asked, beta, extra = _chosen(options, dataset)
    else:
        asked = asked_for(options)
    if options.intervals and asked.method is AVERAGE:
        fitted = _average_with_intervals(asked, dataset, options.seed)
    else:
        fitted = fit_request(asked, dataset, progress=lambda share, words="": progress(share))
    if asked.way == "em":
        fitted, more = _em(options, fitted)
        extra |= more
    if options.evidence:
        fitted, more = _with_evidence(options, fitted, beta)
        extra |= more
    if options.part is not None:
        return _part(options, fitted, left_out)
    found = fitted.fit
    table = by_class(found.cases, found.classes, found.class_probability)
    _add_scale(table, fitted)
    write_table(options.cases_out, table)
    answer = {**answer_of(options, found), "left_out": left_out, **_of_posterior(fitted), **extra}
    return answer | stamp(options, dataset), table


def _average_with_intervals(asked: Request, dataset: Dataset, seed: int) -> Fitted:
    """Return the average of rater models with intervals by draws of models, β and truths."""
    from ..models.choose import choose
    from ..raters.truth_draws import uncertainty_of

    began = perf_counter()
    averaged = average_models(choose(dataset, independent=False, progress=progress), dataset)
    fit = replace(averaged.fit, uncertainty=uncertainty_of(averaged, dataset, seed=seed))
    return Fitted(asked, dataset, fit, None, perf_counter() - began)


def _part(options, fitted: Fitted, left_out: int) -> tuple[dict, pd.DataFrame]:
    """Return a part of the analysis of models, as on its page and in its downloads."""
    from ..analyses.models import MODELS
    from ..analyses.models.fits import of_fits  # loads figures, which takes longer than a small fit

    part = MODELS.part(options.part)
    dataset = fitted.dataset
    verdict = part.applicable(dataset)
    if not verdict.possible:
        raise NotApplicableError(f"“{part.title}” is not available: {verdict.reason}.")
    chosen = part.resolve(**part.given(options))
    table = part.frame(part.answer(dataset, chosen, of_fits([fitted])), dataset, chosen)
    return {"part": part.name, "rows": rows_of(table), "left_out": left_out, **stamp(options, dataset)}, table


def answer_of(options, found: RaterModelFit) -> dict:
    """Return the fields of a fit, for any kind of data."""
    spread = found.uncertainty
    whole = options.parameters or found.confusion.size <= MOST_WRITTEN
    accuracy = found.accuracy()
    if not whole:
        options.cautions.append(
            f"The confusion matrices have {found.confusion.size:,} cells, so they were left out. Use "
            "--parameters to write them."
        )
    return {
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
        "raters": [_rater(found, place, whole, accuracy) for place in range(len(found.raters))],
        "parameters": {name: np.asarray(value).tolist() for name, value in found.parameters.items()} if whole else {},
        "notes": list(found.notes),
    }


def _add_scale(table: pd.DataFrame, fitted: Fitted) -> None:
    """Add the position of cases on the scale of ordered classes; for two classes it would repeat the probability."""
    if not fitted.dataset.ordinal or fitted.dataset.n_classes <= 2:
        return
    for name, values in class_scale(fitted.fit.class_probability).columns().items():
        table.insert(len(table.columns), name, values, allow_duplicates=True)


def _single(options, dataset: Dataset) -> tuple[Dataset, int]:
    """Return single classes with their order and gold, and how many annotations were left out."""
    dataset, left_out = dataset.as_classes(split(options))
    dataset = with_declared_order(dataset, options, asked=options.model == ORDINAL.name)
    return (with_gold(dataset, options) if options.gold else dataset), left_out


def _of_labels(options, dataset: Dataset) -> tuple[dict, pd.DataFrame]:
    """Fit every label of sets."""
    if options.model == AUTO:
        raise InputError(
            "Could not use the model “auto”: it needs one class per annotation.",
            "Name another model, or choose a label (--label NAME).",
        )
    if options.evidence:
        raise InputError(
            "Could not use a classifier as evidence: this needs one class per annotation.",
            "Choose a label (--label NAME).",
        )
    return fit_of_labels(options, dataset, asked_for(options))


def _chosen(options, dataset: Dataset) -> tuple[Request, float | None, dict]:
    """Return the model chosen by held-out scores without use of gold, its held-out β, and a description."""
    from ..models.choice_cost import seconds_to_choose
    from ..models.choose import choose

    known = {option.name for each in methods(RaterModelMethod).values() for option in each.options} - {"seed"}
    given = [name for name in ("method", *known) if getattr(options, name, None) is not None]
    given += [name for name, value in vars(options).items() if name.startswith("variant_") and value is not None]
    if given:
        raise InputError(
            "Could not set model options: “auto” chooses the model and its options.",
            "Choose a model to set its options.",
        )
    say_duration(seconds_to_choose(dataset))
    found = choose(dataset, seed=options.seed, progress=progress)
    held = found.best.held
    flips = {"flipped": found.best.flipped, "n_unanimous": found.n_unanimous}
    extra = {"chosen": found.chosen, "reason": found.reason, **flips}
    return found.request(use_gold=bool(options.gold)), None if held is None else held.beta, extra


def asked_for(options) -> Request:
    """Return the model that the options name, and how to fit it."""
    named = [method for method in methods(RaterModelMethod).values() if method.command == options.model]
    method = _variant(named, options)
    known = {option.name for each in methods(RaterModelMethod).values() for option in each.options}
    given = {name: value for name in known if (value := getattr(options, name, None)) is not None}
    if options.gold:
        given["use_gold"] = True
    if all(option.name != "seed" for option in method.options):
        given.pop("seed")  # only restarts and intervals use it
    return request(method.name, options.method, **given)


def _variant(named: list[RaterModelMethod], options) -> RaterModelMethod:
    """Return the one of several methods with a name that the options select."""
    given = {
        name.removeprefix("variant_"): value
        for name, value in vars(options).items()
        if name.startswith("variant_") and value is not None
    }
    own = named[0].variant
    variants = [(method, method.variant) for method in named if method.variant is not None]
    for name in given:
        if own is None or own.option != name:
            raise InputError(
                f"Could not use --{name}: {named[0].title} has no such option.",
                "Leave it out, or use a model that has it.",
            )
    if own is None:
        return named[0]
    if own.option not in given:
        return next(method for method, variant in variants if variant.is_default)
    wanted = own.normalise(given[own.option])
    found = next((method for method, variant in variants if variant.value == wanted), None)
    if found is None:
        values = ", ".join(variant.value for _, variant in variants)
        raise InputError(f"--{own.option} is {wanted!r}.", f"Use one of {values}.")
    return found


def _em(options, fitted: Fitted) -> tuple[Fitted, dict]:
    """Add restarts and intervals to a fit by expectation-maximisation."""
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


def _with_evidence(options, fitted: Fitted, beta: float | None) -> tuple[Fitted, dict]:
    """Return the fit with a classifier as evidence, weighted at the held-out β, or at that of the fit if unknown."""
    name, _, path = options.evidence.partition("=")
    if not path or not Path(path).is_file():
        fault = "the file does not exist" if path else "it is not of the form NAME=FILE"
        raise InputError(f"Could not use {options.evidence!r} as evidence: {fault}.", "Use NAME=FILE.")
    if fitted.request.way != "em":
        raise InputError(
            f"{fitted.title} does not support a classifier as evidence.",
            "Use a model fitted by expectation-maximisation (--method em).",
        )
    (predictions, *others), dataset = open_predictions(name, Path(path).read_bytes(), fitted.dataset), fitted.dataset
    if others:
        raise InputError(
            f"Could not use {path}: it contains predictions from {1 + len(others)} classifiers.",
            "Use a file with predictions from one classifier.",
        )
    options.cautions.extend(predictions.notes)
    probability = predictions.probabilities(dataset.n_classes)
    if probability is None:
        raise InputError(
            f"Could not use {predictions.name} as evidence: it has no probabilities.",
            "Provide the probability of each class.",
        )
    model, fit = em_model(fitted.request), fitted.fit
    weighed = evidence_weight(
        dataset, model, predictions.name, probability, beta=fit.beta if beta is None else beta,
        temper_prevalence=model.temper_prevalence, seed=options.seed, progress=progress,
    )  # fmt: skip
    gain, error = weighed.gain(weighed.best)
    told = {
        "classifier": weighed.classifier,
        "weight": weighed.weight,
        "best": float(WEIGHTS[weighed.best]),
        "gain": gain,
        "gain_se": error,
        "weights": weighed.to_frame().to_dict("records"),
        "words": weighed.words(),
    }
    found = with_classifier(fit, dataset, weighed, probability)
    return replace(fitted, fit=found), {"evidence": told | {"weight_shown": found.settings.get(WEIGHT, 0.0)}}


def _rater(found, place: int, whole: bool, accuracy: np.ndarray) -> dict:
    row = {
        "rater": found.raters[place],
        "n": int(found.n_annotations[place]),
        **({"confusion": found.confusion[place].tolist()} if whole else {}),
        "accuracy": float(accuracy[place]),
    }
    if NAMES[0] in found.parameters:
        row |= {
            f"{name}{end}": float(found.parameters[f"{name}{end}"][place])
            for name in NAMES
            for end in ("", "_low", "_high")
        }
    if found.uncertainty is not None:
        spread = found.uncertainty.accuracy
        row |= {"ci_low": float(spread.low[place]), "ci_high": float(spread.high[place])}
    return row


def _of_posterior(fitted: Fitted) -> dict:
    """Return the results that only draws can give."""
    bayes = fitted.bayes
    if bayes is None:
        return {}
    found = fitted.fit
    answer: dict[str, Any] = {}
    if found.model == BAYESIAN.name:
        given = {option.name: found.settings[option.name] for option in PRIORS}
        answer["prior"] = prior_in_words(len(found.classes), **given)
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
    """Add gold classes from a table: case, class; or if a label of sets was chosen, known sets: case, labels."""
    try:
        content = Path(options.gold).read_bytes()
    except OSError as error:
        raise InputError(f"Could not open {options.gold}: {error.strerror}.", "Check the path.") from None
    raw = open_table(content)
    case, known = (raw.table[raw.columns[place]].to_pylist() for place in (0, 1))
    if getattr(options, "label", None) is not None and dataset.kind == "class":
        known = [by_label(text, options.label) for text in known]
    gold = {case_id: text for case_id, text in zip(case, known, strict=True) if case_id and text is not None}
    found, notes = with_side_files(dataset, SideFiles(gold=gold))
    options.cautions.extend(notes)
    return found
