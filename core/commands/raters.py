"""Samples, files, agreement and rater models: each a tree for JSON and a table for CSV."""

import pandas as pd

from core.annotations.samples import SAMPLES
from core.commands.inputs import as_classes, read_file, stamp, write_table
from core.errors import InputError


def samples(options) -> tuple[dict, pd.DataFrame]:
    """The samples that come with the project."""
    rows = [
        {"name": sample.name, "size": sample.size, "answers": sample.answers, "shows": sample.shows}
        for sample in SAMPLES
    ]
    return {"samples": rows}, pd.DataFrame(rows)


def describe(options) -> tuple[dict, pd.DataFrame]:
    """What a file holds, and what became of its rows; the table is of the dropped ones."""
    reading = read_file(options)
    dataset, report = reading.dataset, reading.report
    answer = {
        "name": dataset.name,
        "kind": dataset.kind,
        "n_cases": dataset.n_cases,
        "n_raters": dataset.n_raters,
        "n_classes": dataset.n_classes,
        "n_annotations": dataset.n_annotations,
        "classes": list(dataset.classes),
        "missing": sum(report.missing.values()),
        "missing_tokens": report.missing,
        "n_rows": report.n_rows,
        "n_kept": report.n_kept,
        "repeats": report.n_repeats,
        "dropped": [drop._asdict() for drop in report.dropped],
        "notes": list(report.notes),
        "warnings": list(report.warnings),
        **stamp(options, dataset),
    }
    return answer, pd.DataFrame(report.dropped, columns=["line", "reason"])


def agreement(options) -> tuple[dict, pd.DataFrame]:
    """Coefficients of agreement."""
    from core.agreement.coefficients import agreement_table
    from core.agreement.probability import SPA_WEIGHTINGS
    from core.agreement.weights import WEIGHT_FAMILIES
    from core.annotations.counts import class_counts

    if not 0 < options.level < 1:
        raise InputError(f"The level is {options.level}.", "Give a number between 0 and 1, for example 0.95.")
    if options.spa_weights not in SPA_WEIGHTINGS:
        raise InputError(f"There is no weighting {options.spa_weights!r}.", f"Use {', '.join(SPA_WEIGHTINGS)}.")
    if options.weights not in (None, *WEIGHT_FAMILIES):
        raise InputError(f"There are no weights {options.weights!r}.", f"Use {', '.join(WEIGHT_FAMILIES)}.")
    dataset, left_out = as_classes(options)
    table = agreement_table(
        class_counts(dataset),
        level=options.level,
        spa_weightings=[options.spa_weights],
        weights=options.weights,
        dataset=dataset,
        every=True,
    )
    rows = [{name: getattr(coefficient, name) for name in coefficient.__slots__} for coefficient in table]
    answer = {"coefficients": rows, "level": options.level, "left_out": left_out, **stamp(options, dataset)}
    return answer, pd.DataFrame(rows)


def fit(options) -> tuple[dict, pd.DataFrame]:
    """A fit of a rater model; the table is of class probabilities per case."""
    from core.models.dawid_skene import DawidSkene
    from core.models.majority import MajorityVote

    dataset, left_out = as_classes(options)
    extra = {}
    if options.restarts < 0:
        raise InputError(f"{options.restarts} restarts were asked for.", "Ask for none or more.")
    if options.model == "majority":
        fit = MajorityVote().fit(dataset)
    else:
        model = DawidSkene(options.smoothing)
        fit = model.fit(dataset)
        if options.restarts:
            found = model.restarts(dataset, fit, options.restarts, seed=options.seed)
            extra["restarts"] = {
                "n": options.restarts,
                "differs": found.differs,
                "n_changed_cases": found.n_changed,
                "vote_start_log_likelihood": fit.log_likelihood,
            }
            fit = found.best
    table = pd.DataFrame(fit.class_probability, columns=list(fit.classes))
    table.insert(0, "case", list(fit.cases), allow_duplicates=True)  # a class may be called "case"
    write_table(options.cases_out, table)
    answer = {
        "model": fit.model,
        "method": fit.method,
        "converged": fit.converged,
        "log_likelihood": fit.log_likelihood,
        "n_iterations": len(fit.objective),
        "settings": fit.settings,
        "classes": list(fit.classes),
        "prevalence": dict(zip(fit.classes, fit.prevalence.tolist(), strict=True)),
        "raters": [
            {"rater": rater, "n": int(n), "confusion": confusion.tolist()}
            for rater, n, confusion in zip(fit.raters, fit.n_annotations, fit.confusion, strict=True)
        ],
        "notes": list(fit.notes),
        "left_out": left_out,
        **extra,
        **stamp(options, dataset),
    }
    return answer, table
