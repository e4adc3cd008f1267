"""Rate of a class among all cases on the command line: an AI rater's labels corrected by those of raters."""

from pathlib import Path

import numpy as np
import pandas as pd

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..evaluation.corrected_rates import class_rate, drawn_labels
from ..evaluation.predictions import open_predictions
from ..ingest.formats.tables import open_table
from .fits import with_gold
from .inputs import read_classes, stamp
from .plausibilities import read_bytes


def rate(options) -> tuple[dict, pd.DataFrame]:
    """Estimate the corrected rate; the table is its row."""
    dataset, left_out = read_classes(options, keep=(options.machine,))
    if options.gold:
        dataset = with_gold(dataset, options)
    if options.klass not in dataset.classes:
        raise InputError(f"Unknown class {options.klass!r}.", f"Use one of {', '.join(dataset.classes[:20])}.")
    code = dataset.classes.index(options.klass)
    name, _, path = options.machine.partition("=")
    said = _by_predictions(options, dataset, name, path, code) if path else _by_rater(dataset, name, code)
    people = dataset.case_of_annotation, dataset.answer
    if not path:
        own = dataset.rater != dataset.raters.index(name)
        people = dataset.case_of_annotation[own], dataset.answer[own]
    labels = _labels(options, dataset, *people, code)
    probability = None if options.probabilities is None else _probabilities(options, dataset)
    found = class_rate(labels, said, options.method, probability=probability, level=options.level)
    answer = {
        "machine": name,
        "class": options.klass,
        "method": found.method,
        "estimate": found.estimate,
        "se": found.se,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
        "lambda": found.weight,
        "n_labelled": found.n_labelled,
        "n": found.n,
        "machine_rate": found.machine_rate,
        "labels": "draws" if options.reliability else "gold and shares" if options.gold else "shares",
        "notes": list(found.notes),
        "left_out": left_out,
        **stamp(options, dataset),
    }
    return answer, pd.DataFrame([{key: value for key, value in answer.items() if key != "notes"}])


def _by_rater(dataset: Dataset, name: str, code: int) -> np.ndarray:
    """Return whether the AI rater names the class, by case: a share for several annotations, NaN for none."""
    if not dataset.raters_identified or name not in dataset.raters:
        raise InputError(
            f"Could not find the rater {name!r}.", "Use the name of a rater in FILE, or --machine NAME=FILE."
        )
    own = dataset.rater == dataset.raters.index(name)
    return _shares(dataset, dataset.case_of_annotation[own], dataset.answer[own], code)


def _shares(dataset: Dataset, case: np.ndarray, answer: np.ndarray, code: int) -> np.ndarray:
    n = np.bincount(case, minlength=dataset.n_cases).astype(np.float64)
    named = np.bincount(case, answer == code, dataset.n_cases)
    return np.divide(named, n, out=np.full(dataset.n_cases, np.nan), where=n > 0)


def _by_predictions(options, dataset: Dataset, name: str, path: str, code: int) -> np.ndarray:
    """Return the AI rater's probability of the class; if scores are not probabilities, whether the class is first."""
    one, *others = open_predictions(name, read_bytes(path), dataset)
    options.cautions.extend(one.notes)
    if others:
        options.cautions.append(f"{path} contains predictions from more than one classifier; only {one.name} was used.")
    case = np.repeat(np.arange(dataset.n_cases), np.diff(one.ptr))
    score = np.asarray(one.score)
    found = np.where(one.predicted, 0.0, np.nan)
    if score.size and score.min() >= 0 and score.max() <= 1:
        here = one.class_code == code
        found[case[here]] = score[here]
        return found
    options.cautions.append(
        f"{one.name}: the scores are not probabilities, so only the class with the highest score was used."
    )
    first = one.group == 0
    return _shares(dataset, case[first], one.class_code[first], code)


def _labels(options, dataset: Dataset, case: np.ndarray, answer: np.ndarray, code: int) -> np.ndarray:
    """Return what raters annotate on each case: gold if known, else shares, or draws of the truth; NaN if nothing."""
    n = np.bincount(case, minlength=dataset.n_cases)
    named = np.bincount(case, answer == code, dataset.n_cases)
    if options.only_gold:
        n = np.zeros_like(n)
    if options.reliability:
        labels = drawn_labels(named, n, options.reliability, n_draws=options.draws, seed=options.seed)
    else:
        labels = np.divide(named, n, out=np.full((1, dataset.n_cases), np.nan), where=n > 0)
    if dataset.gold is not None:
        labels = np.where(dataset.gold >= 0, (dataset.gold == code).astype(np.float64), labels)
    return labels


def _probabilities(options, dataset: Dataset) -> np.ndarray:
    """Return the column of FILE with each case's probability of being labelled; NaN if it is empty."""
    try:
        raw = open_table(Path(options.file).read_bytes())
    except OSError as error:
        raise InputError(
            f"Could not open {options.file}: {error.strerror}.",
            "Check the path. --probabilities needs a table file.",
        ) from None
    frame = raw.table.to_pandas()
    if options.probabilities not in frame.columns:
        raise InputError(
            f"Could not find the column {options.probabilities!r}.", f"Columns: {', '.join(frame.columns[:20])}."
        )
    cases = options.case or next((name for name in frame.columns if name.casefold() in ("case", "case id")), None)
    if cases is None or cases not in frame.columns:
        which = "the case column" if cases is None else f"the column {cases!r}"
        raise InputError(f"Could not find {which}.", f"Use --case COLUMN. Columns: {', '.join(frame.columns[:20])}.")
    told = pd.to_numeric(frame[options.probabilities], errors="coerce").to_numpy()
    of_case = dict(zip(frame[cases].astype(str), told, strict=True))
    return np.array([of_case.get(name, np.nan) for name in dataset.cases])
