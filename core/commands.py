"""Commands: the same numbers as the screens, as JSON or CSV. Exit status 0, or 2 with one clear line for bad input."""

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from core.annotations.dataset import Dataset
from core.annotations.reading import Reading, read
from core.annotations.samples import SAMPLES, read_sample
from core.errors import InputError, PluralityError
from core.version import __version__

_EXAMPLES = {
    "samples": "python -m core samples",
    "describe": "python -m core describe readings.csv",
    "agreement": "python -m core agreement readings.csv --level 0.9",
    "fit": "python -m core fit dawid-skene caries --smoothing none --cases-out truth.csv",
    "certainty": "python -m core certainty dirichlet skin --reliability 3 --top 2",
    "sweep": "python -m core sweep dirichlet skin --reliabilities 1,3,10",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = _parser().parse_args(arguments)
    started = time.perf_counter()
    try:
        answer, table = options.run(options)
    except PluralityError as error:
        print(f"plurality: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    answer |= {"version": __version__, "seconds": round(time.perf_counter() - started, 3)}
    try:
        if options.csv:
            sys.stdout.write(table.to_csv(index=False))
        else:
            json.dump(_plain(answer), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
            sys.stdout.write("\n")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core", description="Ground truth that people disagree about.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, summary: str, *, file: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary, epilog=f"example: {_EXAMPLES[name]}")
        sub.set_defaults(run=run)
        sub.add_argument("--csv", action="store_true", help="a table instead of JSON")
        return sub

    def takes_file(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("file", metavar="FILE", help="CSV, TSV or Parquet, or the name of a sample")
        sub.add_argument("--format", choices=("long", "wide"), help="layout of the table; guessed where not given")
        sub.add_argument("--case", metavar="COLUMN", help="column of case ids")
        sub.add_argument("--rater", metavar="COLUMN", help="column of rater ids, or 'none' for anonymous answers")
        sub.add_argument("--class", metavar="COLUMN", dest="answer", help="column of classes or scores")
        sub.add_argument("--rank", metavar="COLUMN", help="column of ranks (differential diagnoses)")
        sub.add_argument("--classes", metavar="A,B,C", help="the closed list of classes, in its order")
        sub.add_argument(
            "--threshold", type=float, metavar="T", help="scores: split in two classes, at most T and above"
        )
        sub.add_argument("--seed", type=int, default=0)

    def takes_model(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("model", choices=("dirichlet",))
        takes_file(sub)
        sub.add_argument("--draws", type=int, default=1000, metavar="M")
        sub.add_argument("--top", type=int, default=3, metavar="J", help="largest set of classes, 1 to J")
        sub.add_argument("--alpha", type=float, default=1.0, metavar="A", help="prior pseudo-count of each class")

    command("samples", _samples, "List the samples.")
    takes_file(command("describe", _describe, "What a file holds, as understood."))
    sub = command("agreement", _agreement, "Coefficients of agreement with intervals.")
    takes_file(sub)
    sub.add_argument("--level", type=float, default=0.95, metavar="L", help="of the intervals, 0 to 1")
    sub.add_argument("--spa-weights", default="annotations_m1", metavar="S", help="weighting of SPA")
    sub = command("fit", _fit, "Fit a model of raters and truth.")
    sub.add_argument("model", choices=("majority", "dawid-skene"))
    takes_file(sub)
    sub.add_argument("--method", choices=("em",), default="em")
    sub.add_argument("--smoothing", choices=("none", "diagonal", "pooled"))
    sub.add_argument("--restarts", type=int, default=0, metavar="N", help="random starts beside the vote start")
    sub.add_argument("--cases-out", metavar="FILE", help="write class probabilities per case as CSV")
    sub = command("certainty", _certainty, "Annotation certainty of every case.")
    takes_model(sub)
    sub.add_argument("--reliability", type=float, required=True, metavar="G", help="γ, the trust in the raters")
    sub.add_argument("--cases-out", metavar="FILE", help="write certainty per case as CSV")
    sub = command("sweep", _sweep, "Certainty against reliability.")
    takes_model(sub)
    sub.add_argument("--reliabilities", required=True, metavar="1,2,3", help="values of γ")
    return parser


def _samples(options) -> tuple[dict, pd.DataFrame]:
    rows = [
        {"name": sample.name, "size": sample.size, "answers": sample.answers, "shows": sample.shows}
        for sample in SAMPLES
    ]
    return {"samples": rows}, pd.DataFrame(rows)


def _describe(options) -> tuple[dict, pd.DataFrame]:
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


def _agreement(options) -> tuple[dict, pd.DataFrame]:
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


def _fit(options) -> tuple[dict, pd.DataFrame]:
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
    table.insert(0, "case", list(fit.cases))
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


def _certainty(options) -> tuple[dict, pd.DataFrame]:
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
        "left_out": left_out,
        **_stamp(options, dataset),
    }
    return answer, table


def _sweep(options) -> tuple[dict, pd.DataFrame]:
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
    return {"rows": rows, "better": [], "left_out": left_out, **_stamp(options, dataset)}, table


def _plausibility_model(options):
    from core.plausibility.dirichlet import DirichletCounts

    if not 1 <= options.top <= 10:
        raise InputError(f"Sets of up to {options.top} classes were asked for.", "Ask for 1 to 10.")
    return DirichletCounts(alpha=options.alpha, depth=options.top)


def _read(options) -> Reading:
    if any(sample.name == options.file for sample in SAMPLES) and not Path(options.file).exists():
        return read_sample(options.file)
    return read(
        options.file,
        layout=options.format,
        case=options.case,
        rater=options.rater,
        answer=options.answer,
        rank=options.rank,
        classes=options.classes.split(",") if options.classes else None,
    )


def _classes(options) -> tuple[Dataset, int]:
    reading = _read(options)
    for line in reading.report.warnings:
        print(f"plurality: {line}", file=sys.stderr)
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


def _plain(value):
    """The same with numpy's numbers as Python's and what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
