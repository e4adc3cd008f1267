"""Certainty of cases, and the sweep over reliabilities: each a tree for JSON and a table for CSV."""

import csv
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..analyses.cases import CASES, CertaintyOptions
from ..analyses.cases.certainty import fitted_once
from ..analyses.cases.labels import to_dict as sets_in_numbers
from ..analyses.inputs import Inputs
from ..analysis_settings import AnalysisSettings, compute_settings
from ..annotations.dataset import RISK_LEVELS, Dataset
from ..certainty.label_p_correct import p_correct_of_labels
from ..certainty.label_sets import label_set_certainty
from ..certainty.p_correct import p_correct
from ..certainty.plausibilities import plausibilities
from ..certainty.score_trust import score_trust
from ..certainty.scores_by_gold import scores_by_gold
from ..errors import InputError
from ..evaluation.predictions import Predictions, open_predictions
from ..evaluation.score_errors import score_errors
from ..evaluation.score_predictions import ScorePredictions, open_score_predictions
from ..evaluation.set_metrics import SetMetrics, set_metrics
from ..evaluation.set_predictions import open_set_predictions
from ..evaluation.sweep_table import SweepTable, reliability_sweep
from ..ingest.read_files import Reading
from ..ingest.samples import SAMPLES, sample_predictions
from ..methods import as_taken, method_named, methods
from ..models.gold import gold_cases
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.gaussian import GaussianScores
from ..plausibility.gaussian_prior import fit_prior
from ..plausibility.learned_counts import LearnedCounts, learned_counts
from ..plausibility.plackett_luce.trust import MixturePlackettLuce
from ..plausibility.protocol import PlausibilityMethod, PlausibilityModel
from ..runtime.executors import Executor
from ..tables import to_parquet
from ..thresholds import CERTAIN_LEVELS
from .inputs import progress, read_warned, runner_of, split, stamp, with_declared_order, write_bytes, write_table
from .labels import counts_of_sets, of_all_labels

_BETTER = {"classifier": "a", "other_classifier": "b", "metric": "metric", "p_better": "p"}


def certainty(options) -> tuple[dict, pd.DataFrame]:
    """Return annotation certainty and risk, with means over cases; the table is per case."""
    reading = None if _closed_form(options) else read_warned(options)
    if reading is not None and of_all_labels(options, reading.dataset):
        if options.reliability is None:
            raise InputError(
                "Could not choose γ: each label has its own default value.",
                "Provide --reliability, or choose a label (--label NAME).",
            )
        if options.plausibilities_out:
            raise InputError(
                "Could not use --plausibilities-out: it needs rankings, or one class per annotation.",
                "Choose a label (--label NAME).",
            )
        return _certainty_of_sets(options, reading.dataset)
    dataset, left_out = read_input(options, reading)
    if options.plausibilities_out and dataset.traits.needs_split:
        raise InputError(
            "Could not use --plausibilities-out: it needs rankings, or one class per annotation.",
            "Leave it out, or split the annotations into two classes (--threshold or --label).",
        )
    learned = learned_of(options, dataset)
    options.reliability = opened_reliability(options, dataset)
    if _closed_form(options):
        return _gaussian_certainty(options, dataset)
    model = fitted_once(chosen_model(options, learned), dataset)
    asked = _inputs(dataset, model, options)
    how = CertaintyOptions(max_top=options.top, n_draws=options.draws, seed=options.seed)
    part = CASES.part("certainty")
    with runner_of(options) as runner:
        found = part.answer(asked, how, progress=progress, runner=runner)
        _write_plausibilities(options, model, dataset, runner)
    if options.p_correct:
        classes = dataset.as_classes(split(options))[0]
        found = dataclasses.replace(found, correct=p_correct(classes, seed=options.seed, progress=progress))
    table = part.frame(found, asked, how)
    answer = {
        "model": options.model,
        **found.to_dict(options.top),
        "n_cases": dataset.n_cases,
        "reliability": options.reliability,
        **_undefined_tops(options, dataset),
        "left_out": left_out,
        **_prior_of(learned, dataset),
        **_trust(options, model, dataset, options.reliability),
        **stamp(options, dataset),
    }
    write_table(options.cases_out, table)
    return answer, table


def _write_plausibilities(options, model: PlausibilityModel, dataset: Dataset, runner: Executor) -> None:
    """Write soft labels to the requested file: a row per case in Parquet, per case and class in CSV."""
    path = options.plausibilities_out
    if not path:
        return
    found = plausibilities(
        model,
        dataset,
        reliability=options.reliability,
        n_draws=options.draws,
        seed=options.seed,
        n_kept=options.plausibility_draws,
        runner=runner,
    )
    if not path.lower().endswith(".parquet"):
        write_table(path, found.long_table())
        return
    about = {"model": found.model, "reliability": found.reliability, "classes": list(found.classes)}
    write_bytes(path, to_parquet(found.by_case(), about | stamp(options, dataset)))


def _inputs(dataset: Dataset, model: PlausibilityModel, options) -> Inputs:
    return Inputs(dataset, settings=AnalysisSettings(model, options.reliability))


def learned_of(options, dataset: Dataset) -> LearnedCounts | None:
    """Return counts with the learned prior, if requested, or if neither γ nor α is given; None otherwise.

    Parameters
    ----------
    options
        Options of the command.
    dataset : Dataset
        Dataset of `read_input`.

    Raises
    ------
    InputError
        The learned prior is combined with another model, with α, or with one label of sets.
    """
    learns = _learns(options)
    return learned_counts(dataset) if learns and options.model == DirichletCounts.name else None


def _learns(options) -> bool:
    """Check that counts take the learned prior; a γ or β without a prior keeps the published one."""
    asked, of_label = getattr(options, "learned_prior", False), getattr(options, "label", None) is not None
    alpha = getattr(options, "alpha", None)
    if asked and (options.model not in (None, DirichletCounts.name) or alpha is not None or of_label):
        raise InputError(
            "Could not use --learned-prior: it needs one class per annotation and a Dirichlet counts model with no "
            "fixed α.",
            "Use --model dirichlet, without --prior-alpha or --label.",
        )
    given = (getattr(options, name, None) is not None for name in ("reliability", "reliabilities", "beta", "alpha"))
    return asked or not (of_label or any(given))


def _prior_of(learned: LearnedCounts | None, dataset: Dataset) -> dict:
    if learned is None:
        return {}
    prior = learned.prior
    return {
        "prior": {
            "strength": prior.strength,
            "alpha": learned.model.alpha,
            "n_cases": prior.n_cases,
            "learned": prior.learned,
            "sentence": prior.sentence(),
        }
    }


def reliabilities_of(options) -> list[float]:
    """Return the values of γ of a sweep."""
    try:
        return [float(value) for value in options.reliabilities.split(",")]
    except ValueError:
        raise InputError(
            f"Could not read {options.reliabilities!r}: it is not a list of numbers.", "Use for example 1,3,10."
        ) from None


def sweep(options) -> tuple[dict, pd.DataFrame]:
    """Return certainty, risk and classifiers at each reliability; the table has a row for each."""
    reliabilities = reliabilities_of(options)
    reading = None if _closed_form(options) else read_warned(options)
    if reading is not None and of_all_labels(options, reading.dataset):
        return _sweep_of_sets(options, reading.dataset, reliabilities)
    if options.gold:
        raise InputError(
            "Could not use --gold: the sweep command supports it only for sets of labels.", "Leave it out."
        )
    dataset, left_out = read_input(options, reading)
    if _closed_form(options):
        return _gaussian_sweep(options, dataset, reliabilities)
    options.top = options.k or options.top
    classifiers = read_classifiers(options, dataset)
    learned = learned_of(options, dataset)
    model = fitted_once(chosen_model(options, learned), dataset)
    found = _run(options, model, dataset, reliabilities, classifiers)
    rows: list[dict[str, Any]] = []
    better: list[dict[str, Any]] = []
    for place, (reliability, result) in enumerate(zip(found.reliabilities, found.certainty, strict=True)):
        row: dict[str, Any] = {
            "reliability": reliability,
            **{f"top{top}": result.mean(top) for top in range(1, options.top + 1)},
        }
        if found.risk:
            risk = found.risk[place]
            row["risk"] = {"of_top1": float(risk.of_top1.mean()), "summed": float(risk.summed.mean())}
        row |= _trust(options, model, dataset, reliability)
        row["metrics"] = {}
        if found.evaluation:
            evaluation = found.evaluation[place]
            row["metrics"] = _by_metric(evaluation.to_frame("metrics"))
            pairs = evaluation.to_frame("better")[list(_BETTER)].rename(columns=_BETTER)
            better += [{"reliability": reliability} | pair for pair in pairs.to_dict("records")]
        rows.append(row)
    table = pd.DataFrame([_flat(row) for row in rows]).drop(columns=["raters", "notes"], errors="ignore")
    answer = {
        "model": options.model,
        "rows": rows,
        "better": better,
        **_prior_of(learned, dataset),
        **_undefined_tops(options, dataset),
        "left_out": left_out,
        **stamp(options, dataset),
    }
    return answer, table


def read_input(options, reading: Reading | None = None) -> tuple[Dataset, int]:
    """Return the data as the model takes them, with risk levels if given; use data already read, if any."""
    if _closed_form(options):
        reading = read_warned(options, kind="score")
        return reading.dataset, 0
    reading = reading or read_warned(options)
    method = method_named(PlausibilityMethod, options.model)
    dataset, left_out = as_taken(method, reading.dataset, split(options))
    if "order" in method.needs:
        dataset = with_declared_order(dataset, options, asked=True)
    if getattr(options, "risk", None):
        dataset = dataclasses.replace(dataset, class_risk=_read_risk(options.risk, dataset))
    return dataset, left_out


def chosen_model(options, learned: LearnedCounts | None = None) -> PlausibilityModel:
    """Return the plausibility model that the options name, with its prior.

    Parameters
    ----------
    options
        Options of the command.
    learned : LearnedCounts, optional
        Result of `learned_of`.
    """
    if not 1 <= options.top <= 10:
        raise InputError(f"The set size must be between 1 and 10; got {options.top}.", "Change --top.")
    if learned is not None:
        return dataclasses.replace(learned.model, depth=options.top)
    method = method_named(PlausibilityMethod, options.model)
    known = {option.name for each in methods(PlausibilityMethod).values() for option in each.options}
    given = {name: value for name in known if (value := getattr(options, name, None)) is not None}
    return method.make(**method.checked(given), depth=options.top)


def settings_of(options, dataset: Dataset, *, weighing: bool = True) -> AnalysisSettings:
    """Return the default settings of the data, with the model, its prior and γ replaced by the options.

    Parameters
    ----------
    options
        Options of the command.
    dataset : Dataset
    weighing : bool
        See `core.analysis_settings.compute_settings`.
    """
    learn, whole = _learns(options), dataset.kind == "score" and split(options) is None

    def make(name: str) -> PlausibilityModel:
        options.model = name
        return _gaussian_model(options, dataset)[0] if _closed_form(options) else chosen_model(options)

    found = compute_settings(
        dataset,
        split(options),
        name=options.model or (GaussianScores.name if whole else None),
        make=make,
        weighing=weighing,
        learn=learn,
        progress=progress,
    )
    return found if options.reliability is None else dataclasses.replace(found, reliability=options.reliability)


def opened_reliability(options, dataset: Dataset) -> float:
    """Return γ as it was given, or else the default of pages.

    Parameters
    ----------
    options
        Options of the command.
    dataset : Dataset
        Dataset, as `read_input` returns it.
    """
    return (
        settings_of(options, dataset, weighing=False).reliability
        if options.reliability is None
        else options.reliability
    )


def _closed_form(options) -> bool:
    """Return whether the model's certainty needs no draws."""
    return method_named(PlausibilityMethod, options.model).make is GaussianScores


def _run(options, model: PlausibilityModel, dataset: Dataset, reliabilities, classifiers) -> SweepTable:
    with runner_of(options) as runner:
        return reliability_sweep(
            model,
            dataset,
            reliabilities,
            classifiers=classifiers,
            n_draws=options.draws,
            max_top=options.top,
            seed=options.seed,
            progress=progress,
            runner=runner,
        )


def _gaussian_certainty(options, dataset: Dataset) -> tuple[dict, pd.DataFrame]:
    """Return certainty of scores in closed form: without draws, and so without Monte Carlo error."""
    if dataset.kind != "score":
        raise InputError(
            "Could not use the Gaussian model: it needs scores, but these annotations are not scores.",
            "Use another model.",
        )
    if options.p_correct:
        raise InputError(
            "Could not use --p-correct: it needs classes, rankings or labels, not scores.",
            "Split the scores into classes with --threshold, and use a different model.",
        )
    model, fitted = _gaussian_model(options, dataset)
    asked, part = _inputs(dataset, model, options), CASES.part("scores")
    found = part.answer(asked)
    table = part.frame(found, asked)
    write_table(options.cases_out, table)
    answer = {
        "model": model.name,
        **found.to_dict(),
        "prior": {"m0": model.m0, "k0": model.k0, "a0": model.a0, "b0": model.b0, "fitted": fitted},
        "n_cases": dataset.n_cases,
        "reliability": options.reliability,
        "left_out": 0,
        **stamp(options, dataset),
    }
    return answer, table


def _gaussian_sweep(options, dataset: Dataset, reliabilities: list[float]) -> tuple[dict, pd.DataFrame]:
    """Return widths and sides at each γ in closed form, and errors of predicted scores over plausible truths."""
    model, fitted = _gaussian_model(options, dataset)
    trust = score_trust(dataset, model, reliabilities)
    by_gold = scores_by_gold(dataset, trust) if len(gold_cases(dataset)) else None
    predictors = read_predictors(options, dataset)
    rows: list[dict[str, Any]] = []
    better: list[dict[str, Any]] = []
    for place, value in enumerate(trust.reliability.tolist()):
        quarter, median, three = trust.quartiles[:, place].tolist()
        row: dict[str, Any] = {"reliability": value, "width": {"quarter": quarter, "median": median, "three": three}}
        if trust.above is not None:
            side = trust.certainty[place]
            row["mean"] = {"top1": float(side.mean())}
            row["n_below"] = {str(level): int((side < level).sum()) for level in CERTAIN_LEVELS}
        if by_gold is not None:
            row["gold"] = {"n": by_gold.n} | {name: float(getattr(by_gold, name)[place]) for name in _GOLD_PARTS}
        if predictors:
            how = {"n_draws": options.draws, "seed": options.seed}
            found = score_errors(dataset, model, predictors, reliability=value, **how)
            row["errors"] = _by_metric(found.to_frame().drop(columns="n_cases"))
            better += [
                {"reliability": value, "a": a, "b": b, "p": float(found.better[i, j])}
                for i, a in enumerate(found.predictors)
                for j, b in enumerate(found.predictors)
                if i != j and np.isfinite(found.better[i, j])
            ]
        rows.append(row)
    answer = {
        "model": model.name,
        "rows": rows,
        "better": better,
        "prior": {"m0": model.m0, "k0": model.k0, "a0": model.a0, "b0": model.b0, "fitted": fitted},
        "left_out": 0,
        **stamp(options, dataset),
    }
    return answer, pd.DataFrame([_flat(row) for row in rows])


def _certainty_of_sets(options, dataset: Dataset) -> tuple[dict, pd.DataFrame]:
    """Return certainty of every label and of the set; the table is per case."""
    asked, part = _inputs(dataset, counts_of_sets(options), options), CASES.part("labels")
    found = part.answer(asked)
    if options.p_correct:
        correct = p_correct_of_labels(dataset, seed=options.seed, progress=progress)
        found = dataclasses.replace(found, correct=correct)
    table = part.frame(found, asked)
    write_table(options.cases_out, table)
    answer = {
        "model": options.model,
        **sets_in_numbers(found),
        "n_cases": dataset.n_cases,
        "reliability": options.reliability,
        "left_out": 0,
        **stamp(options, dataset),
    }
    return answer, table


def _sweep_of_sets(options, dataset: Dataset, reliabilities: list[float]) -> tuple[dict, pd.DataFrame]:
    """Return certainty of sets at each γ, and predicted sets over plausible truths and against known ones."""
    found = _read_matched(options, dataset, open_set_predictions)
    gold = None
    if options.gold:
        (gold,) = open_set_predictions("gold", read_bytes(options.gold), dataset)[:1]
    model = counts_of_sets(options)
    how: dict[str, Any] = {"model": model, "n_draws": options.draws, "seed": options.seed}
    rows: list[dict[str, Any]] = []
    parts = []
    for value in reliabilities:
        whole = label_set_certainty(dataset, model, reliability=value).whole
        below = {str(level): int((whole < level).sum()) for level in CERTAIN_LEVELS}
        rows.append({"reliability": value, "mean": {"set": float(whole.mean())}, "n_below": below})
        if found:
            of_truths = set_metrics(dataset, found, reliability=value, **how)
            rows[-1]["metrics"] = _defined(of_truths)
            parts.append(of_truths.to_frame().assign(reliability=value))
    answer: dict[str, Any] = {"model": options.model, "rows": rows}
    if gold is not None and found:
        against = set_metrics(dataset, found, reliability=reliabilities[0], gold=gold, **how)
        answer["gold"] = _defined(against)
        parts.append(against.to_frame().assign(reliability="gold"))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame([_flat(row) for row in rows])
    return {**answer, "left_out": 0, **stamp(options, dataset)}, table


def _by_metric(table: pd.DataFrame) -> dict[str, dict[str, dict]]:
    """Return the rows of a table by its first two columns: classifier or predictor, and metric."""
    who, metric = table.columns[:2]
    found: dict[str, dict[str, dict]] = {}
    for row in table.to_dict("records"):
        found.setdefault(row.pop(who), {})[row.pop(metric)] = row
    return found


def _defined(found: SetMetrics) -> dict[str, dict[str, dict]]:
    """Return metrics of classifiers of sets; None if one is undefined."""
    table = found.to_frame().drop(columns="n_cases")
    return _by_metric(table.astype(object).where(table.notna(), None))


_GOLD_PARTS = ("error", "error_low", "error_high", "held", "held_low", "held_high")


def model_for(options, dataset: Dataset) -> PlausibilityModel:
    """Return the plausibility model for these data: its prior is fitted or learned, unless it is given."""
    if _closed_form(options):
        return _gaussian_model(options, dataset)[0]
    return chosen_model(options, learned_of(options, dataset))


def _gaussian_model(options, dataset: Dataset) -> tuple[GaussianScores, bool]:
    """Return the model with the given or else the fitted prior, and whether it was fitted."""
    if getattr(options, "prior", None):
        try:
            m0, k0, a0, b0 = (float(value) for value in options.prior.split(","))
        except ValueError:
            raise InputError(
                f"Could not read the prior {options.prior!r}: it is not a list of four numbers.",
                "Use four numbers: m0,k0,a0,b0.",
            ) from None
        return GaussianScores(options.threshold, m0, k0, a0, b0), False
    prior = fit_prior(dataset)
    options.cautions.extend(caution for caution in (prior.undetermined(), prior.alike()) if caution)
    return prior.model(options.threshold), True


def read_classifiers(options, dataset: Dataset) -> tuple[Predictions, ...]:
    """Read predictions of a sample and of the files named, matched to the dataset."""
    return _read_matched(options, dataset, open_predictions)


def read_predictors(options, dataset: Dataset) -> tuple[ScorePredictions, ...]:
    """Read predicted scores of a sample and of the files named, matched to the dataset."""
    return _read_matched(options, dataset, open_score_predictions)


def _read_matched(options, dataset: Dataset, opened: Callable) -> tuple:
    found: list[Any] = []
    if any(sample.name == options.file for sample in SAMPLES) and not Path(options.file).is_file():
        content = sample_predictions(options.file)
        if content is not None:
            found += opened(options.file, content, dataset)
    for entry in options.predictions:
        name, _, path = entry.partition("=")
        if not path:
            raise InputError(
                f"Could not use {entry!r} as predictions: it is not of the form NAME=FILE.", "Use NAME=FILE."
            )
        found += opened(name, read_bytes(path), dataset)
    for predictions in found:
        options.cautions.extend(predictions.notes)
    return tuple(found)


def read_bytes(path: str) -> bytes:
    """Return the content of a file; raise `InputError` if it cannot be opened."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"Could not open {path}: {error.strerror}.", "Check the path.") from None


def _read_risk(path: str, dataset: Dataset) -> np.ndarray:
    """Read risk levels from a table class,risk, or from one number per line in the order of the classes."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"Could not read {path}: it is not UTF-8.", "Save it as UTF-8.") from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    words = {name: code for code, name in enumerate(RISK_LEVELS)} | {str(code): code for code in range(3)}
    if lines and all(line.casefold() in words for line in lines):
        if len(lines) != dataset.n_classes:
            raise InputError(
                f"Could not use {path}: it has {len(lines):,} risk levels for {dataset.n_classes:,} classes.",
                "Provide one risk level per class.",
            )
        return np.array([words[line.casefold()] for line in lines], np.int8)
    cells = list(csv.reader(lines))
    levels = {",".join(row[:-1]).strip(): row[-1].strip().casefold() for row in cells}  # a name may hold commas
    for name in dataset.classes:
        if levels.get(name) not in words:
            raise InputError(
                f"Could not use {path}: it has no valid risk level for class {name!r}.",
                "Use low, medium or high (or 0, 1, 2).",
            )
    return np.array([words[levels[name]] for name in dataset.classes], np.int8)


def _trust(options, model: PlausibilityModel, dataset: Dataset, reliability: float) -> dict:
    """Return the reliability per rater, in the order of the data, if the model estimates it, from the last chain."""
    if not isinstance(model, MixturePlackettLuce):
        return {}
    fit = model.fit(dataset, reliability=reliability, n_draws=options.draws, seed=options.seed)
    trust = fit.raters
    columns = ("n", "mean", "sd", "ci_low", "ci_high", "place", "place_low", "place_high", "rhat", "ess")
    names = {"mean": "trust"}
    raters = [
        {"rater": rater, **{names.get(name, name): getattr(trust, name)[row] for name in columns}}
        for row, rater in enumerate(trust.raters)
    ]
    return {"raters": raters, "trust_prior": {"a": trust.prior[0], "b": trust.prior[1]}, "notes": list(trust.notes)}


def _undefined_tops(options, dataset: Dataset) -> dict:
    if options.top <= dataset.n_classes:
        return {}
    return {"note": f"undefined above top{dataset.n_classes:,}: there are only {dataset.n_classes:,} classes"}


def _flat(row: dict, prefix: str = "") -> dict:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
