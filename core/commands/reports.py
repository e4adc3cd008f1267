"""A report: one HTML file written, and what stands in it."""

from pathlib import Path

import pandas as pd

from ..annotations.named_selection import Selection
from ..errors import InputError
from ..machines.marks import Machine
from ..methods import as_taken, method_named
from ..report.build import SECTIONS, ReportRequest, build_report
from ..review.store import head_of_reviews
from .data import read_facts
from .inputs import progress, read_file, read_warned, split, stamp, with_declared_order
from .plausibilities import read_classifiers, read_predictors, settings_of
from .studies import read as read_files_of_study


def report(options) -> tuple[dict, pd.DataFrame]:
    """Write the report; the table lists its sections."""
    if options.out is None and not options.reference_standard:
        raise InputError("No file to write.", "Use --out FILE, or --reference-standard FILE.")
    reading = read_warned(options)
    dataset = reading.dataset
    every = read_file(options) if reading.machines and not options.with_machines else None  # machines, too
    if dataset.kind == "set" and options.label is None:
        raise InputError("Sets of labels are reported label by label.", "Give --label NAME.")
    if dataset.kind == "class":
        dataset = with_declared_order(dataset, options)
    settings = settings_of(options, dataset)
    model = settings.plausibility
    view = as_taken(method_named("plausibility", model.name), dataset, split(options))[0]
    sections = tuple(options.sections.split(",")) if options.sections else tuple(SECTIONS)
    request = ReportRequest(
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
        facts=read_facts(options.facts, dataset) if options.facts else None,
        study=read_files_of_study(options, options.study).study if options.study else None,
    )
    if options.reference_standard:
        _write(options.reference_standard, _standard(request, options.reference_standard))
    answer: dict = {"reference_standard": options.reference_standard} if options.reference_standard else {}
    rows = []
    if options.out is not None:
        content = build_report(request, sections, progress=progress)
        _write(options.out, content)
        rows = [{"section": key, "title": SECTIONS[key]} for key in sections]
        answer |= {"out": options.out, "bytes": len(content)}
    answer |= {"sections": rows, "model": model.name}
    answer |= {"reliability": settings.reliability, "rater_model": settings.rater_model and settings.rater_model.model}
    return {**answer, **stamp(options, dataset)}, pd.DataFrame(rows)


def _standard(request: ReportRequest, path: str) -> bytes:
    from ..report.reference_standard import build_reference_standard

    return build_reference_standard(request, Path(path).suffix.removeprefix(".").casefold())


def _write(path: str, content: bytes) -> None:
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}).", "Choose another file.") from None
