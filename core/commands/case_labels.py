"""Labels of cases on the command line: the table of their page, a file, and a second file with the methods."""

from pathlib import Path

import pandas as pd

from ..analyses.blocks import Download
from ..analyses.inputs import Inputs
from ..analyses.labels import LABELS
from ..analysis_settings import AnalysisSettings
from ..annotations.dataset import Dataset
from ..errors import InputError
from ..ingest.case_facts import contents
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.gaussian import METHOD as GAUSSIAN
from ..report.methods import methods_text
from ..review.store import reviews_of
from ..tables import to_csv, to_json, to_parquet
from ..version import __version__
from .fits import with_gold
from .inputs import progress, read_warned, rows_of, split, stamp, with_declared_order, write_bytes
from .plausibilities import settings_of


def labels(options) -> tuple[dict, pd.DataFrame]:
    """Label every case."""
    reading = read_warned(options)
    dataset = reading.dataset
    if dataset.kind == "class" or split(options) is not None:
        dataset = with_declared_order(dataset.as_classes(split(options))[0], options)
    dataset = with_gold(dataset, options) if options.gold else dataset
    reviews = reviews_of(options.whole) if options.rule == "review" else None
    inputs = Inputs(dataset, reviews=reviews, settings=_settings(options, dataset), content=contents(reading.facts))
    part = LABELS.part("score_labels" if dataset.kind == "score" else "labels")
    own = {} if dataset.kind == "score" else {"n_draws": options.draws}
    chosen = part.resolve(**part.given(options), **own)
    found = part.answer(inputs, chosen, **({} if dataset.kind != "set" else {"progress": progress}))
    table = part.frame(found, inputs, chosen)
    taken = next((block for block in part.blocks(found, inputs, chosen) if isinstance(block, Download)), None)
    about = {**(taken.settings or {} if taken else {}), **stamp(options, dataset)}
    if options.out:
        _write(options.out, taken, {"version": __version__, "methods": methods_text(found.methods(inputs)), **about})
    return {**about, "rows": rows_of(table)}, table


def _settings(options, dataset: Dataset) -> AnalysisSettings:
    if dataset.kind == "score":
        options.model = GAUSSIAN.name
    if dataset.kind != "set":
        return settings_of(options, dataset)
    model = DirichletCounts() if options.alpha is None else DirichletCounts(options.alpha)
    return AnalysisSettings(model, options.reliability or model.default_reliability)


def _write(path: str, taken: Download | None, about: dict) -> None:
    """Write the labels in the format of the file's ending, and the methods beside them."""
    if taken is None:
        raise InputError(
            "Could not write labels: no label is certain enough.",
            "Lower --bar, or use “--below mark” to mark uncertain cases.",
        )
    formats = {f".{one.ending}": one.write for one in taken.formats}
    formats |= {".csv": to_csv, ".parquet": lambda table: to_parquet(table, about)}
    write = formats.get(Path(path).suffix.casefold())
    if write is None:
        raise InputError(
            f"Could not write {path}: this file extension is not supported.", f"Use one of {', '.join(formats)}."
        )
    write_bytes(path, write(taken.frame))
    write_bytes(str(Path(path).with_suffix(".methods.json")), to_json(about))
