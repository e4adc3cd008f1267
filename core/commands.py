"""Commands: the same numbers as the screens, as a tree for JSON and a table for CSV."""

import sys
from pathlib import Path

import pandas as pd

from core.annotations.dataset import Dataset
from core.annotations.reading import Reading, read
from core.annotations.samples import SAMPLES, read_sample
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
    reading = _read(options)
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
        **_stamp(options, dataset),
    }
    return answer, pd.DataFrame(report.dropped, columns=["line", "reason"])


def agreement(options) -> tuple[dict, pd.DataFrame]:
    """Coefficients of agreement."""
    from core.agreement.coefficients import agreement_table
    from core.agreement.probability import SPA_WEIGHTINGS
    from core.annotations.counts import class_counts

    if not 0 < options.level < 1:
        raise InputError(f"The level is {options.level}.", "Give a number between 0 and 1, for example 0.95.")
    if options.spa_weights not in SPA_WEIGHTINGS:
        raise InputError(f"There is no weighting {options.spa_weights!r}.", f"Use {', '.join(SPA_WEIGHTINGS)}.")
    dataset, left_out = _classes(options)
    table = agreement_table(class_counts(dataset), level=options.level, spa_weightings=[options.spa_weights])
    rows = [{name: getattr(coefficient, name) for name in coefficient.__slots__} for coefficient in table]
    answer = {"coefficients": rows, "level": options.level, "left_out": left_out, **_stamp(options, dataset)}
    return answer, pd.DataFrame(rows)


def fit(options) -> tuple[dict, pd.DataFrame]:
    """A fit of a rater model; the table is of class probabilities per case."""
    from core.models.dawid_skene import DawidSkene
    from core.models.majority import MajorityVote

    dataset, left_out = _classes(options)
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
    _write_table(options.cases_out, table)
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
        **_stamp(options, dataset),
    }
    return answer, table


def certainty(options) -> tuple[dict, pd.DataFrame]:
    """Annotation certainty, its mean over cases; the table is per case."""
    from core.certainty.top_sets import annotation_certainty

    dataset, left_out = _classes(options)
    result = annotation_certainty(
        _plausibility_model(options),
        dataset,
        reliability=options.reliability,
        n_draws=options.draws,
        max_top=options.top,
        seed=options.seed,
    )
    tops = range(1, options.top + 1)
    table = pd.DataFrame({"case": list(result.cases)})
    for top in tops:
        table[f"top{top}"], table[f"top{top}_se"] = result.certainty[:, top - 1], result.se[:, top - 1]
    table["top_class"] = [result.classes[code] if code >= 0 else "" for code in result.top_class()]
    _write_table(options.cases_out, table)
    answer = {
        "mean": {f"top{top}": result.mean(top) for top in tops},
        "se": {f"top{top}": result.mean_se(top) for top in tops},
        "n_below": {str(level): result.n_below(level) for level in (0.5, 0.9, 0.99)},
        "n_cases": dataset.n_cases,
        "reliability": options.reliability,
        **_undefined_tops(options, dataset),
        "left_out": left_out,
        **_stamp(options, dataset),
    }
    return answer, table


def sweep(options) -> tuple[dict, pd.DataFrame]:
    """Mean annotation certainty at each reliability."""
    from core.evaluation.sweep_table import reliability_sweep

    try:
        reliabilities = [float(value) for value in options.reliabilities.split(",")]
    except ValueError:
        raise InputError(f"{options.reliabilities!r} is not a list of numbers.", "Write for example 1,3,10.") from None
    dataset, left_out = _classes(options)
    sweep = reliability_sweep(
        _plausibility_model(options),
        dataset,
        reliabilities,
        n_draws=options.draws,
        max_top=options.top,
        seed=options.seed,
        progress=_progress,
    )
    rows = [
        {
            "reliability": reliability,
            **{f"top{top}": result.mean(top) for top in range(1, options.top + 1)},
            "metrics": {},
        }
        for reliability, result in zip(sweep.reliabilities, sweep.certainty, strict=True)
    ]
    table = pd.DataFrame([{key: value for key, value in row.items() if key != "metrics"} for row in rows])
    undefined = _undefined_tops(options, dataset)
    return {"rows": rows, "better": [], **undefined, "left_out": left_out, **_stamp(options, dataset)}, table


def _undefined_tops(options, dataset: Dataset) -> dict:
    if options.top <= dataset.n_classes:
        return {}
    return {"note": f"undefined above top{dataset.n_classes}: there are no more classes"}


def _plausibility_model(options):
    from core.plausibility.dirichlet import DirichletCounts

    if not 1 <= options.top <= 10:
        raise InputError(f"Sets of up to {options.top} classes were asked for.", "Ask for 1 to 10.")
    return DirichletCounts(alpha=options.alpha, depth=options.top)


def _read(options) -> Reading:
    if any(sample.name == options.file for sample in SAMPLES) and not Path(options.file).is_file():
        return read_sample(options.file)
    return read(
        options.file,
        layout=options.format,
        case=options.case,
        rater=options.rater,
        answer=options.answer,
        rank=options.rank,
        classes=[name.strip() for name in options.classes.split(",")] if options.classes else None,
    )


def _classes(options) -> tuple[Dataset, int]:
    reading = _read(options)
    options.cautions.extend(reading.report.warnings)
    return reading.dataset.as_classes(options.threshold)


def _stamp(options, dataset: Dataset) -> dict:
    return {"seed": options.seed, "digest": dataset.digest}


def _write_table(path: str | None, table: pd.DataFrame) -> None:
    if path is None:
        return
    from core.tables import to_csv

    try:
        Path(path).write_bytes(to_csv(table))
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}).") from None


def _progress(share: float) -> None:
    if sys.stderr.isatty():
        print(f"\r{share:4.0%}", end="" if share < 1 else "\n", file=sys.stderr, flush=True)
