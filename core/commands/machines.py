"""AI raters on the command line: whether one can replace a rater, and how many raters it is worth."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..annotations.dataset import Dataset
from ..annotations.vocabulary import to_numbers
from ..errors import InputError, NotApplicableError
from ..evaluation.predictions import Predictions, open_predictions
from ..evaluation.score_predictions import ScorePredictions, open_score_predictions
from ..evaluation.set_predictions import is_of_label, open_label_predictions
from ..ingest.data_warnings import ONE_RATER
from ..ingest.machine_answers import read_answers
from ..machines.alternative_test import CURVE, AlternativeTest, MachineStanding, alternative_test, people_in_its_place
from ..machines.annotation_scores import TITLES, Score
from ..machines.equivalent_readers import EquivalentReaders, equivalent_readers
from ..machines.joined import as_scores, called, joined, of_predictions
from ..machines.marks import Machine, described, machine_like
from ..machines.sentences import silences
from ..machines.subgroup_differences import subgroup_differences
from ..machines.versions import version_drift
from ..text import plural, was_or_were
from .fits import with_gold
from .inputs import progress, read_warned, split, stamp

_PAIRS = (("_human", "_llm"), ("human_annotations", "llm_annotations"))
_MOST_PEOPLE = 60


def machine(options) -> tuple[dict, pd.DataFrame]:
    """Run the alternative annotator test, and estimate how many raters each AI rater is worth; one row per AI rater."""
    dataset, names, notes, probability, told = _opened(options)
    left_out = options.leave_out.split(",") if options.leave_out else []
    if unknown := [name for name in left_out if name not in dataset.raters]:
        raise InputError(
            f"Could not leave out {unknown[0]!r}: there is no rater with this name.",
            f"Raters: {', '.join(dataset.raters)}.",
        )
    people = [name for name in dataset.raters if name not in {*names, *left_out}]
    score = options.score
    notes += _like_machines(people) + _numbers(dataset, score)
    if score == "rmse" and dataset.kind == "class" and not dataset.ordinal:
        dataset, n = as_scores(dataset)
        notes += [
            f"{plural(n, 'annotation')} that {'is not a number' if n == 1 else 'are not numbers'} {was_or_were(n)} "
            "left out."
        ] * bool(n)
    how = {"epsilon": options.epsilon, "score": score, "q": options.fdr, "level": options.level, "seed": options.seed}
    found = alternative_test(dataset, names, people=people, **how, progress=progress)
    of_people: tuple[MachineStanding, ...] = ()
    if not options.no_people and 3 <= len(people) <= _MOST_PEOPLE:
        of_people = people_in_its_place(dataset, people=people, **how)
    worth = [_worth(dataset, name, tuple(people), options) for name in names]
    notes += silences(dataset, people, found.machines)
    options.cautions.extend(notes)
    rows = [_row(one) | {"readers": readers} for one, readers in zip(found.machines, worth, strict=True)]
    for row in rows:
        given = None if dataset.traits.needs_split else probability.get(row["machine"])
        by_them = None if given is None else _worth(dataset, row["machine"], tuple(people), options, given)
        row["readers_by_probabilities"] = by_them
        row["leads"] = _leads(dataset, row["machine"], people, score, options)
    answer = {
        "machines": rows,
        "score": found.score,
        "score_words": TITLES[found.score],
        "epsilon": found.epsilon,
        "fdr": found.q,
        "level": found.level,
        "differences": [_fields(one) for one in found.differences],
        "people": [_row(one) for one in of_people],
        "versions": _versions(dataset, names, told, people, options),
        "notes": notes,
        "note": "The test rewards agreement with the majority of people, so an AI rater that makes the same "
        "mistakes as people also passes.",
        **stamp(options, dataset),
    }
    return answer, _table(found, worth)


def panel(options) -> tuple[dict, pd.DataFrame]:
    """Estimate what a panel of AI raters is worth; one row each for the panel, raters, each member and each family."""
    from ..analyses.panel import PANEL, options_of

    dataset, names, notes, _, told = _opened(options)
    if dataset.kind != "class":
        dataset = dataset.as_classes(split(options))[0]
    if options.gold:
        dataset = with_gold(dataset, options)
    options.cautions.extend(notes)
    (part,) = PANEL.parts
    verdict = part.applicable(dataset)
    if not verdict.possible:
        raise NotApplicableError(f"“{part.title}” is not available: {verdict.reason}.")
    machines = _in_families(described(names, told.values()), options.family)
    asked = part.with_options(**options_of(dataset, machines), seed=options.seed)
    chosen = asked.resolve(**asked.given(options))
    found = asked.answer(dataset, chosen)
    table = asked.frame(found, dataset, chosen)
    estimates = ("n_effective", "correlation", "against_majority", "people_effective", "vote", "best_accuracy", "gain",
                 "shortfall")  # fmt: skip
    answer = {name: one and one._asdict() for name in estimates for one in [getattr(found, name)]}
    answer |= {name: getattr(found, name) for name in ("truth", "n_cases", "n_people", "best", "independent")}
    answer["added"] = [{"rater": name, "accuracy": accuracy} for name, accuracy in found.added]
    answer["left_out"] = [{"rater": name, "why": why} for name, why in found.left_out]
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return {"words": found.words(), **answer, "rows": rows, "level": chosen.level, **stamp(options, dataset)}, table


def _in_families(machines: tuple[Machine, ...], given: tuple[str, ...]) -> tuple[Machine, ...]:
    """Return the AI raters with the families of the command line instead of those of the file or their names."""
    family_of: dict[str, str] = {}
    for entry in given:
        family, _, members = entry.partition("=")
        names = _parts(members)
        unknown = [name for name in names if name not in {one.name for one in machines}]
        if unknown or not names:
            why = f"{unknown[0]!r} is not an AI rater" if unknown else "it has no members"
            raise InputError(
                f"Could not use the family {entry!r}: {why}.", "Use NAME=A,B, where A and B are names of AI raters."
            )
        family_of |= dict.fromkeys(names, family.strip())
    return tuple(replace(one, family=family_of.get(one.name, one.family)) for one in machines)


def _like_machines(people: list[str]) -> list[str]:
    """Return a note on raters who count as people although they have names of AI raters."""
    found = [one.name for one in machine_like(people)]
    if not found:
        return []
    listed = ", ".join(found[:5]) + (" and more" if len(found) > 5 else "")
    return [
        f"These raters count as people, although their names suggest AI raters: {listed}. Use --leave-out "
        "NAME,... to leave "
        "them out."
    ]


def _numbers(dataset: Dataset, score: Score | None) -> list[str]:
    """Return a note if classes are numbers that are only compared as equal or not, unless that was chosen."""
    if score is not None or dataset.kind != "class" or dataset.n_classes < 3:
        return []
    if not np.isfinite(to_numbers(dataset.classes)).all():
        return []
    return [
        "The classes are numbers, but annotations were only compared for equality. To use the distances between them, "
        "add --score rmse."
    ]


def _missing(reading) -> list[str]:
    """Return a note on annotations of a file that are empty, or codes for missing values."""
    n = 0 if reading.report is None else reading.report.n_missing
    return (
        [f"{plural(n, 'annotation')} of {reading.dataset.name} {was_or_were(n)} left out as missing (empty, null, NA)."]
        if n
        else []
    )


def _row(one: MachineStanding) -> dict:
    why = None if one.raters else "no person has enough cases in common with both the AI rater and another person"
    return {
        "machine": one.machine,
        "omega": one.omega,
        "n_rejected": one.n_rejected,
        "n_raters": len(one.raters),
        "passes": one.passes,
        "rho": one.rho,
        "rho_low": one.rho_low,
        "rho_high": one.rho_high,
        "pass_share": one.pass_share,
        "passes_from": one.passes_from,
        "n_cases": one.n_cases,
        "n_to_pass": one.n_to_pass,
        "raters": [_fields(rater) for rater in one.raters],
        "not_tested": list(one.not_tested),
        "curve": [{"epsilon": e, "omega": w} for e, w in zip(CURVE.tolist(), one.curve.tolist(), strict=False)],
        "why": why,
    }


def _fields(one: object) -> dict:
    return {name: getattr(one, name) for name in type(one).__slots__}  # type: ignore[attr-defined]


def _leads(dataset: Dataset, name: str, people: list[str], score: Score | None, options) -> list[dict]:
    """Return how far raters lead the AI rater by class, certainty and group; empty if no case has it and two raters."""
    try:
        found = subgroup_differences(dataset, name, people, score=score, level=options.level, seed=options.seed)
    except NotApplicableError:
        return []
    return [{key: value for key, value in _fields(one).items() if key != "machine"} for one in found]


def _versions(dataset: Dataset, names: list[str], told: dict[str, Machine], people: list[str], options) -> list[dict]:
    """Compare versions of a family; families and versions are from columns of the file, else from the names."""
    machines = described(names, told.values())
    found = version_drift(dataset, machines, people, score=options.score, level=options.level, seed=options.seed)
    return [
        {
            "family": one.family,
            "n_cases": one.n_cases,
            "versions": [_fields(each) for each in one.versions],
            "changes": [_fields(each) for each in one.changes],
            "people": one.people,
            "left_out": one.left_out or None,
            "words": one.words(),
        }
        for one in found
    ]


def _worth(
    dataset: Dataset, name: str, people: tuple[str, ...], options, probability: np.ndarray | None = None
) -> dict:
    empty = {"k": None, "low": None, "high": None}
    how: dict[str, Any] = {} if probability is None else {"score": "log", "probability": probability}
    try:
        found = equivalent_readers(dataset, name, people, **how, level=options.level, seed=options.seed)
    except NotApplicableError as error:
        return empty | {"why": str(error)}
    curve = [
        {"readers": k, "score": value, "low": low, "high": high}
        for k, (value, low, high) in enumerate(
            zip(found.panel.tolist(), found.panel_low.tolist(), found.panel_high.tolist(), strict=True)
        )
    ]
    return _readers(found) | {
        "words": found.words(),
        "k_max": found.k_max,
        "score": found.score,
        "machine_score": found.value,
        "machine_low": found.low,
        "machine_high": found.high,
        "n_cases": found.n_cases,
        "curve": curve,
        "why": None,
    }


def _readers(found: EquivalentReaders) -> dict:
    """Return numbers of equivalent raters; null if they are beyond what can be estimated, which ``words`` states."""
    ends = {"k": found.k, "low": found.k_low, "high": found.k_high}
    return {name: value if math.isfinite(value) else None for name, value in ends.items()}


def _table(found: AlternativeTest, worth: list[dict]) -> pd.DataFrame:
    table = found.to_frame("machines")
    for name in ("k", "low", "high"):
        table[f"readers_{name}"] = [one[name] for one in worth]
    table["readers_words"] = [one.get("words", one["why"]) for one in worth]
    return table


def _opened(options) -> tuple[Dataset, list[str], list[str], dict[str, np.ndarray], dict[str, Machine]]:
    """Return raters and AI raters in one dataset, requested AI raters, notes, probabilities, and marks by column."""
    reading = read_warned(options, machines_apart=True)
    dataset = whole = reading.dataset
    if dataset.kind == "set":  # a machine is compared label by label
        dataset = dataset.as_classes(split(options))[0]
    notes = _missing(reading)
    files: list[tuple[str | None, Path]] = [(None, Path(name)) for name in options.more]
    asked: list[str] = []
    for entry in [part for given in options.machine for part in _parts(given)]:
        name, _, path = entry.partition("=")
        if entry not in dataset.raters and path and Path(path).is_file():
            files.append((name, Path(path)))
        elif entry not in dataset.raters and Path(entry).is_file():
            files.append((None, Path(entry)))
        else:
            asked.append(entry)
    of_files: list[str] = []
    beside = _beside(options.file)
    if beside is not None and not files and not options.predictions and not set(asked) <= set(dataset.raters):
        files = [(None, beside)]
        notes.append(f"The AI raters were read from {beside.name}.")
    if beside is not None and not files and not options.predictions and not asked:
        files = [(None, beside)]
    for title, file in files:
        other = _read(file, options, whole.classes if whole.kind == "set" else ())
        whose = title or ("" if other.raters_identified else file.stem)
        dataset, names, more = joined(dataset, called(other, whose) if whose else other)
        of_files += [] if title else names
        asked += names if title else ()
        notes += more
    dataset, probability = _with_predictions(dataset, whole, options, asked, notes)
    asked = list(dict.fromkeys(asked or of_files))
    dataset, asked = _by_column(dataset, asked, [name for name, *_ in reading.machines], notes)
    if not asked:
        raise InputError(
            "Could not test an AI rater: none was named.",
            "Name an AI rater in the data (--machine NAME), or provide a file with its annotations.",
        )
    if unknown := [name for name in asked if name not in dataset.raters]:
        raise InputError(f"Could not find the AI rater {unknown[0]!r}.", f"Raters: {', '.join(dataset.raters[:20])}.")
    unasked = [name for name in of_files if name not in asked]
    if unasked:
        dataset = dataset.select(raters=[name for name in dataset.raters if name not in unasked])
    told = {name: Machine(name, family, version) for name, family, version in reading.machines}
    return dataset, asked, notes, probability, told


def _by_column(dataset: Dataset, asked: list[str], told: list[str], notes: list[str]) -> tuple[Dataset, list[str]]:
    """Return the AI raters of a column if none is named; otherwise leave the others of them out of the people."""
    told = [name for name in told if name in dataset.raters and name not in asked]
    if told and asked:
        dataset = dataset.select(raters=[name for name in dataset.raters if name not in told])
        notes.append(
            f"These raters do not count as people, because a column marks them as AI raters: {', '.join(told[:5])}."
        )
    return dataset, asked or told


def _parts(given: str) -> list[str]:
    """Split the names of one option; a file may have commas in its name."""
    return [given] if Path(given).is_file() else [name.strip() for name in given.split(",") if name.strip()]


def _beside(file: str) -> Path | None:
    """Return the file of AI raters next to that of the raters, as the Alternative Annotator Test publishes them."""
    path = Path(file)
    for people, machines in _PAIRS:
        if path.stem.endswith(people):
            found = path.with_name(path.stem.removesuffix(people) + machines + path.suffix)
            return found if found.is_file() else None
    return None


def _read(path: Path, options, labels: tuple[str, ...]) -> Dataset:
    if not path.is_file():
        raise InputError(f"Could not find the file {str(path)!r}.", "Provide a file with the AI rater's annotations.")
    reading = read_answers(path, labels=labels)
    if reading.report is not None:
        options.cautions.extend(one for one in reading.report.warnings if one != ONE_RATER)  # true of these files
        options.cautions.extend(_missing(reading))
    return reading.dataset


def _with_predictions(
    dataset: Dataset, whole: Dataset, options, asked: list[str], notes: list[str]
) -> tuple[Dataset, dict[str, np.ndarray]]:
    """Return the data with classifiers as raters, unless they have a rater's name, and their probabilities."""
    probability = {}
    people = dataset
    for entry in options.predictions:
        name, _, path = entry.partition("=")
        if not path or not Path(path).is_file():
            fault = "the file does not exist" if path else "it is not of the form NAME=FILE"
            raise InputError(f"Could not use {entry!r} as predictions: {fault}.", "Use NAME=FILE.")
        opened: Callable[..., tuple[Predictions | ScorePredictions, ...]]
        opened = open_score_predictions if people.kind == "score" else open_predictions
        if is_of_label(people, whole):
            opened = partial(open_label_predictions, whole=whole)
        for predictions in opened(name, Path(path).read_bytes(), people):
            options.cautions.extend(predictions.notes)
            names: tuple[str, ...] = (predictions.name,)
            if predictions.name not in asked:
                dataset, names, more = joined(dataset, of_predictions(dataset, predictions))
                asked += names
                notes += more
            given = predictions.probabilities(people.n_classes) if isinstance(predictions, Predictions) else None
            if given is not None and dataset.n_classes == people.n_classes:
                probability[names[0]] = given
    return dataset, probability
