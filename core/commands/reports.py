"""Report on the command line: one HTML file, and a list of its sections."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from ..analyses.models import CovariateOptions
from ..annotations.dataset import Dataset
from ..annotations.named_selection import Selection
from ..errors import InputError, PluralityError
from ..machines.marks import Machine
from ..methods import as_taken, method_named
from ..plausibility.protocol import PlausibilityMethod
from ..report.build import SECTIONS, OtherQuestion, ReportRequest, build_report
from ..report.hidden_names import hidden
from ..review.store import head_of_reviews
from ..runtime.chunks import CancelToken
from .data import facts_if_any, read_chosen_facts
from .inputs import progress, read_file, read_warned, split, stamp, with_declared_order
from .plausibilities import read_classifiers, read_predictors, settings_of
from .questions import ALL_QUESTIONS, each_question
from .studies import read as read_files_of_study


def report(options) -> tuple[dict, pd.DataFrame]:
    """Write the report, of all questions of the file if requested; the table lists its sections."""
    if options.out is None and not options.reference_standard:
        raise InputError(
            "Could not write a report: no output file was given.", "Use --out FILE, or --reference-standard FILE."
        )
    (question, dataset, make), *others = _requests(options)
    sections = tuple(options.sections.split(",")) if options.sections else tuple(SECTIONS)
    request, beside = make(CancelToken()), [OtherQuestion(*one) for one in others]
    if options.hide_names:
        request, beside = hidden(request, beside)
    settings = request.settings
    answer: dict = {}
    rows: list[dict] = []
    if options.reference_standard:
        _write(options.reference_standard, _standard(request, options.reference_standard))
        answer = {"reference_standard": options.reference_standard}
    if options.out is not None:
        content = build_report(
            request,
            sections,
            question=question if others else "",
            others=beside,
            progress=progress,
        )
        _write(options.out, content)
        rows = [{"section": key, "title": SECTIONS[key]} for key in sections]
        answer |= {"out": options.out, "bytes": len(content)}
    answer |= {"sections": rows, "model": settings.plausibility.name}
    answer |= {"reliability": settings.reliability, "rater_model": settings.rater_model and settings.rater_model.model}
    answer |= {"questions": [question, *(name for name, *_ in others)]} if others else {}
    return {**answer, **stamp(options, dataset)}, pd.DataFrame(rows)


def _requests(options) -> list[tuple[str, Dataset, Callable[[CancelToken], ReportRequest]]]:
    """Return the request of a report for each question, or for the only one; warn of questions left out."""
    if options.question != ALL_QUESTIONS:
        return [("", *_request_of(options))]
    found, errors = [], []
    for name, one in each_question(options):
        one.cautions = options.cautions
        try:
            found.append((name, *_request_of(one)))
        except PluralityError as error:
            errors.append(error)
            options.cautions.append(f"Question {name!r} was left out. {error}")
    if not found:
        raise errors[0]
    return found


def _request_of(options) -> tuple[Dataset, Callable[[CancelToken], ReportRequest]]:
    """Return the dataset that the options name, and the function that makes the request of its report."""
    reading = read_warned(options)
    dataset = reading.dataset
    every = read_file(options) if reading.machines and not options.with_machines else None  # machines, too
    if dataset.kind == "set" and options.label is None:
        raise InputError(
            "Could not write a report on sets of labels: a report covers only one label.", "Use --label NAME."
        )
    if dataset.kind == "class":
        dataset = with_declared_order(dataset, options)

    def make(token: CancelToken) -> ReportRequest:
        settings = settings_of(options, dataset)
        view = as_taken(method_named(PlausibilityMethod, settings.plausibility.name), dataset, split(options))[0]
        return ReportRequest(
            dataset=dataset,
            source=options.file,
            settings=settings,
            report=reading.report,
            selection=Selection.from_text(options.select or ""),
            selected=options.select or "",
            threshold=split(options),
            machines=() if every is None else tuple(n for n, *_ in reading.machines if n in every.dataset.raters),
            with_machines=None if every is None else every.dataset,
            marks=tuple(Machine(*one) for one in reading.machines),
            classifiers=(read_predictors if view.kind == "score" else read_classifiers)(options, view),
            n_draws=options.draws,
            seed=options.seed,
            record=head_of_reviews(options.whole),  # reviews belong to the whole dataset
            requirements=tuple(options.require),
            confident=options.confident,
            look=options.look or 0,
            facts=facts_if_any(options, dataset),
            covariates=_covariates(options, dataset),
            study=read_files_of_study(options, options.study).study if options.study else None,
        )

    return dataset, make


def _covariates(options, dataset: Dataset) -> CovariateOptions | None:
    """Return the options of the section on covariates; None if no column is chosen."""
    if not (options.rater_column or options.case_column):
        return None
    of_raters, of_cases = read_chosen_facts(options, dataset)
    return CovariateOptions(positive=options.positive or "", of_raters=of_raters, of_cases=of_cases, seed=options.seed)


def _standard(request: ReportRequest, path: str) -> bytes:
    from ..report.reference_standard import build_reference_standard

    return build_reference_standard(request, Path(path).suffix.removeprefix(".").casefold())


def _write(path: str, content: bytes) -> None:
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise InputError(f"Could not write {path}: {error.strerror}.", "Choose another file.") from None
