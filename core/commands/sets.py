"""Metrics of classifiers, and prediction sets, on the command line."""

import pandas as pd

from ..analyses.inputs import Inputs
from ..analyses.reliability import RELIABILITY
from ..analyses.reliability.evidence import verdict as weight_in_words
from ..analyses.reliability.metrics import verdict
from ..analyses.reliability.models import correlation
from ..analysis_settings import AnalysisSettings
from ..errors import InputError
from ..evaluation.prediction_sets import CoveredShare, PredictionSets, majority_votes, prediction_sets, sets_table
from ..evaluation.sweep_table import kept_plausibilities
from ..plausibility.protocol import offered
from .fits import with_gold
from .inputs import progress, read_warned, rows_of, stamp, write_table
from .plausibilities import chosen_model, learned_of, opened_reliability, read_classifiers, read_input


def sets(options) -> tuple[dict, pd.DataFrame]:
    """Return sets of each classifier, keys of the first on top; the table has one row per case and classifier."""
    reading = read_warned(options)
    options.top, options.model = 3, options.model or offered(reading.dataset)[0].name
    dataset, left_out = read_input(options, reading)
    if options.gold:
        dataset = with_gold(dataset, options)
    own = {entry.partition("=")[0] for entry in options.predictions}
    classifiers = sorted(read_classifiers(options, dataset), key=lambda one: one.name not in own)
    if not classifiers:
        raise InputError("Could not compute prediction sets: no classifier was given.", "Use --predictions NAME=FILE.")
    model = chosen_model(options, learned_of(options, dataset))
    reliability = opened_reliability(options, dataset)
    kept = kept_plausibilities(
        model, dataset, reliability, n_draws=options.draws, seed=options.seed, progress=progress
    )  # fmt: skip
    votes = majority_votes(model, dataset)
    found = [
        prediction_sets(
            one,
            dataset,
            kept,
            alpha=options.error,
            votes=votes,
            calibrate=options.calibrate,
            folds=options.folds,
            n_labels=options.labels,
            corrected=options.corrected,
            within=options.within or "",
            seed=options.seed,
            level=options.level,
        )
        for one in classifiers
    ]
    table = pd.concat([sets_table(one, dataset) for one in found], ignore_index=True)
    write_table(options.cases_out, table)
    rows = [_row(one, reliability) for one in found]
    more = {"classifiers": rows[1:]} if len(rows) > 1 else {}
    about = {"model": model.name, "reliability": reliability, "alpha": options.error, "left_out": left_out}
    return {**rows[0], **about, **more, **stamp(options, dataset)}, table


def _row(found: PredictionSets, reliability: float) -> dict:
    shares = {"aggregated": found.aggregated, "voted": found.voted, "true": found.true}
    known = {name: share for name, share in shares.items() if share is not None}
    return {
        "classifier": found.classifier,
        "threshold": found.threshold,
        "mean_size": found.mean_size,
        "coverage": {name: share.value for name, share in known.items()},
        "intervals": {name: [share.low, share.high] for name, share in known.items()},
        "by": [
            {
                "by": one.by,
                "value": one.value,
                "n": one.n,
                "aggregated": one.aggregated.value,
                "voted": None if one.voted is None else one.voted.value,
                "mean_size": one.mean_size,
                "intervals": {"aggregated": _ends(one.aggregated), "voted": _ends(one.voted)},
            }
            for one in found.groups
        ],
        "strata": [{"value": one.value, "n": one.n, "threshold": one.threshold} for one in found.strata],
        "promise": found.promise(reliability),
        "all_classes": found.all_classes,
        "n_calibration": found.n_calibration,
        "n_test": found.n_test,
        "labels": found.n_labels,
        "listed": found.listed,
        "region": {"threshold": found.region, "covered": getattr(found.region_covered, "value", None)},
    }


def _ends(share: CoveredShare | None) -> list[float] | None:
    return None if share is None else [share.low, share.high]


def relations(options) -> tuple[dict, pd.DataFrame]:
    """Return certainty under another plausibility model, or with each classifier as evidence, by case."""
    dataset, left_out = read_input(options)
    options.reliability = opened_reliability(options, dataset)
    inputs = Inputs(
        dataset,
        predictions=tuple(read_classifiers(options, dataset)),
        settings=AnalysisSettings(chosen_model(options), options.reliability),
    )
    part = RELIABILITY.part(options.part)
    possible = part.applicable(inputs)
    if not possible.possible:
        raise InputError(f"Could not compute “{part.title}”: {possible.reason}.", "Add --predictions.")
    chosen = part.resolve(reliabilities=(options.reliability,), n_draws=options.draws, seed=options.seed)
    found = part.answer(inputs, chosen)
    table = part.frame(found, inputs, chosen)
    words = [weight_in_words(one) for one in found] if part.name == "evidence" else correlation(found)
    answer = {"model": options.model, "reliability": options.reliability, "words": words, "rows": rows_of(table)}
    return answer | {"left_out": left_out, **stamp(options, dataset)}, table


def metrics(options) -> tuple[dict, pd.DataFrame]:
    """Compute each metric of each classifier, with the sentence of its page."""
    dataset, left_out = read_input(options)
    if dataset.traits.needs_split:
        raise InputError(
            "Could not compute these metrics: they need rankings, or one class per annotation.",
            "For scores and sets, use the sweep command.",
        )
    classifiers = read_classifiers(options, dataset)
    if not classifiers:
        raise InputError("No predictions.", "Provide --predictions NAME=FILE.")
    options.reliability = opened_reliability(options, dataset)
    inputs = Inputs(
        dataset,
        predictions=tuple(classifiers),
        settings=AnalysisSettings(chosen_model(options), options.reliability),
    )
    part = RELIABILITY.part("metrics")
    chosen = part.resolve(**part.given(options), n_draws=options.draws)
    found = part.answer(inputs, chosen, progress=progress)
    table = part.frame(found, inputs, chosen)
    words = {one.name: verdict(found, one) for one in found.metrics if found.values[one.name]}
    answer = {
        "model": options.model,
        "reliability": options.reliability,
        "words": words,
        "rows": rows_of(table),
        "left_out": left_out,
        **stamp(options, dataset),
    }
    return answer, table
