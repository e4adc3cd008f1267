"""Commands on samples, files, agreement and requirements: each returns a tree for JSON and a table for CSV."""

from collections.abc import Callable
from copy import copy
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..annotations.ordering import may_be_ordered, order_by_name
from ..errors import InputError, NotFoundError, PluralityError
from ..ingest.samples import SAMPLES
from ..options import check_level
from ..text import number, shorten
from .inputs import read_file, read_warned, rows_of, split, stamp, with_declared_order, write_table
from .parts import answer_part, answered

if TYPE_CHECKING:
    import pandas as pd

    from ..agreement.guideline import GuidelineReview
    from ..analyses.gate import GateResult
    from ..annotations.dataset import Dataset
    from ..raters.groups import RaterFacts


def samples(options) -> tuple[dict, Callable[[], "pd.DataFrame"]]:
    """List the samples that come with the project."""
    rows = [
        {"name": sample.name, "size": sample.size, "answers": sample.answers, "shows": sample.shows}
        for sample in SAMPLES
    ]
    return {"samples": rows}, lambda: _frame(rows)


def describe(options) -> tuple[dict, Callable[[], "pd.DataFrame"]]:
    """Describe a file and what became of its rows; the table lists the rows left out."""
    reading = read_file(options)
    dataset, report = reading.dataset, reading.report
    if report is None:
        raise InputError(
            "Could not describe these data: the record of how they were read is missing.",
            "Run this command on the original file.",
        )
    answer = {
        "name": dataset.name,
        "kind": dataset.kind,
        "n_cases": dataset.n_cases,
        "n_raters": dataset.n_raters,
        "n_classes": dataset.n_classes,
        "n_annotations": dataset.n_annotations,
        "classes": list(dataset.classes),
        "missing": report.n_missing,
        "missing_tokens": report.missing,
        "n_rows": report.n_rows,
        "n_kept": report.n_kept,
        "repeats": report.n_repeats,
        "dropped": [drop._asdict() for drop in report.dropped],
        "notes": list(report.notes),
        "warnings": [*report.warnings, *([] if report.codes else _scale_or_names(dataset, options))],
        **stamp(options, dataset),
    }
    if options.earlier:
        answer["compared"] = _compared(options, dataset)
    return answer, lambda: _frame(report.dropped, columns=["line", "reason"])


def _compared(options, dataset: "Dataset") -> dict:
    """Return how many annotations differ from the file of ``--earlier``, and how many cases and raters are new."""
    from ..annotations.earlier_version import compare_with_earlier  # loads pandas

    before = copy(options)
    before.file = options.earlier
    earlier = read_file(before).dataset
    found = compare_with_earlier(earlier, dataset)
    counts = {name: getattr(found, name) for name in ("n_changed", "n_added", "n_removed", "n_unchanged")}
    new = {"n_new_cases": len(found.new_cases), "n_new_raters": len(found.new_raters)}
    return {"words": f"Compared with {earlier.name}: {found.words}", **counts, **new}


def _scale_or_names(dataset: "Dataset", options) -> list[str]:
    """Return the agreement of classes that may be a scale as a scale and as names; nothing if they are decided."""
    if dataset.kind != "class" or dataset.ordinal or not may_be_ordered(dataset.classes):
        return []
    from ..agreement.krippendorff import alpha_as_scale_and_names  # loads kernels, which describing rarely needs

    order = (None if options.classes else order_by_name(dataset.classes)) or dataset.classes
    as_scale, as_names = (
        "undefined" if alpha.value is None else number(alpha.value)
        for alpha in alpha_as_scale_and_names(dataset, order)
    )
    return [
        f"Are the classes from {shorten(order[0], 24)!r} to {shorten(order[-1], 24)!r} ordered? Krippendorff α is "
        f"{as_scale} if they are (--ordinal), {as_names} if not. Without --ordinal, classes count as unordered."
    ]


def fields_of(coefficient) -> dict:
    """Return the fields of a coefficient."""
    return {name: getattr(coefficient, name) for name in coefficient.__slots__}


def quote_of(found) -> dict:
    """Return the coefficients to quote, and the reason."""
    percentage = None if found.percentage is None else fields_of(found.percentage)
    return {
        "coefficient": fields_of(found.quoted),
        "percentage": percentage,
        "words": found.words(),
        "reason": found.reason,
    }


def check_agreement(options) -> None:
    """Raise `InputError` unless level and weights are valid."""
    from ..agreement.probability import SPA_WEIGHTINGS
    from ..agreement.weights import WEIGHT_FAMILIES

    check_level(options.level)
    if options.spa_weights not in SPA_WEIGHTINGS:
        raise InputError(f"Unknown weighting {options.spa_weights!r}.", f"Use one of {', '.join(SPA_WEIGHTINGS)}.")
    if options.weights not in (None, *WEIGHT_FAMILIES):
        raise InputError(f"Unknown weights {options.weights!r}.", f"Use one of {', '.join(WEIGHT_FAMILIES)}.")


def agreement(options) -> tuple[dict, "pd.DataFrame"]:
    """Return the agreement coefficients for these annotations, weighted ones for classes, or another part."""
    from ..agreement.applicable_coefficients import coefficients_for
    from ..agreement.coefficients import agreement_table
    from ..annotations.counts import class_counts

    if options.part != "coefficients":
        from ..analyses.agreement import AGREEMENT

        return answer_part(AGREEMENT.part(options.part), options, as_classes=True)
    check_agreement(options)
    reading = read_warned(options)
    dataset = reading.dataset
    more: dict = {"left_out": 0}
    split_in_two = (dataset.kind == "score" and options.threshold is not None) or (
        dataset.kind == "set" and options.label is not None
    )
    if options.weights is not None or split_in_two:
        dataset, more["left_out"] = dataset.as_classes(split(options))
        if options.ordinal or options.weights not in (None, "identity"):
            dataset = with_declared_order(dataset, options, asked=True)
        how = {"level": options.level, "spa_weightings": [options.spa_weights]}
        table = agreement_table(class_counts(dataset), weights=options.weights, dataset=dataset, **how)
    else:
        if dataset.kind == "ranking":
            more["left_out"] = dataset.as_classes()[1]
        if dataset.kind == "class":
            dataset = with_declared_order(dataset, options)
            options.cautions.extend(_scale_or_names(dataset, options))
        found = coefficients_for(dataset, options.level, spa_weightings=[options.spa_weights])
        table = list(found.coefficients)
        more |= {"kind": found.kind, "not_given": [{"what": one.what, "why": one.why} for one in found.left_out]}
        more["quote"] = quote_of(found)
    rows = [fields_of(coefficient) for coefficient in table]
    answer = {"coefficients": rows, "level": options.level, **more, **stamp(options, dataset)}
    return answer, _frame(rows)


def guideline(options) -> tuple[dict, "pd.DataFrame"]:
    """Return pairs of classes that raters confuse; or, with ``--merge``, the dataset in which two are one."""
    from ..agreement.guideline import merge_classes
    from ..analyses.blocks import Words
    from ..analyses.guideline import GUIDELINE, lead, lead_of_changes, table_of_changes
    from ..annotations.write import long_table

    dataset, left_out = read_warned(options).dataset.as_classes(split(options))
    dataset = with_declared_order(dataset, options)
    part = GUIDELINE.part("pairs").with_options(seed=options.seed, version=options.guideline_version or "")
    more: dict[str, Any] = {}
    if (facts := facts_if_any(options, dataset)) is not None:
        part = part.with_options(facts=facts)
    if options.since is not None and options.guideline_version:
        raise InputError(
            "Could not use --since and --guideline-version together: both define the new guideline.", "Use one of them."
        )
    if options.since is not None:
        part = part.with_options(since=int(options.since.replace(tzinfo=UTC).timestamp()))
    if options.merge:
        merged = merge_classes(dataset, *options.merge)
        write_table(options.out, long_table(merged))
        more["merged"] = {"classes": list(merged.classes), "digest": merged.digest, "file": options.out}

    def words(found: "GuidelineReview") -> str:
        if found.changes:
            more["changes"] = rows_of(table_of_changes(found))
            return f"{Words(lead(found)).plain} {lead_of_changes(found, part.resolve())}"
        return Words(lead(found)).plain

    answer, table = answered(part, options, dataset, left_out, words)
    return answer | more, table


def groups(options) -> tuple[dict, "pd.DataFrame"]:
    """Compare groups of raters by facts in a table of raters, or by columns of the file itself."""
    from ..analyses.blocks import Words
    from ..analyses.groups import GROUPS, lead, lead_of_cases

    dataset, left_out = read_warned(options).dataset, 0
    if dataset.traits.lists_classes or split(options) is not None:
        dataset, left_out = dataset.as_classes(split(options))
    if dataset.kind == "class":
        dataset = with_declared_order(dataset, options)
    facts = read_facts(options.facts or options.file, dataset).with_groups
    if options.part == "classifiers":
        return _classifiers_by_group(options, dataset, facts, left_out)
    part = GROUPS.part(options.part).with_options(facts=facts, seed=options.seed)
    of_groups = options.part == "groups"
    return answered(
        part, options, dataset, left_out, lambda found: Words((lead if of_groups else lead_of_cases)(found)).plain
    )


def facts_if_any(options, dataset: "Dataset") -> "RaterFacts | None":
    """Read the facts with groups of ``--facts``, otherwise those that the file itself has; None if it has none.

    Parameters
    ----------
    options
        Options of the command line, with ``file`` and ``facts``.
    dataset : Dataset
    """
    from ..raters.groups import FEWEST_RATERS

    if options.facts:
        return read_facts(options.facts, dataset).with_groups
    if dataset.n_raters < 2 * FEWEST_RATERS or not Path(options.file).is_file():
        return None
    try:
        return read_facts(options.file, dataset).with_groups
    except PluralityError:
        return None


def covariates(options) -> tuple[dict, "pd.DataFrame"]:
    """Estimate the effects of columns on raters and cases; columns of the file itself, or of tables beside it."""
    from ..analyses.blocks import Words
    from ..analyses.models import MODELS
    from ..analyses.models.covariates import lead

    dataset, left_out = read_warned(options).dataset.as_classes(split(options))
    of_raters, of_cases = read_chosen_facts(options, dataset)
    part = MODELS.part("covariates").with_options(of_raters=of_raters, of_cases=of_cases, seed=options.seed)
    return answered(part, options, dataset, left_out, lambda found: Words(lead(found)).plain)


def read_chosen_facts(options, dataset: "Dataset") -> "tuple[RaterFacts, RaterFacts]":
    """Read the chosen columns about raters and about cases.

    Parameters
    ----------
    options
        Options of the command line.
    dataset : Dataset

    Raises
    ------
    NotFoundError
        There is no such column.
    """
    from ..annotations.facts import CASE_GROUP, RaterFacts, with_case_group

    found = []
    for noun, source, names in (
        ("rater", options.facts, options.rater_column),
        ("case", options.case_facts, options.case_column),
    ):
        facts = RaterFacts()
        if names and not (noun == "case" and source is None and set(names) == {CASE_GROUP}):
            facts = read_facts(source or options.file, dataset, noun)
        facts = with_case_group(facts, dataset) if noun == "case" else facts
        for name in names:
            if name not in facts.names:
                names_known = ", ".join(facts.names)
                known = f"Columns: {names_known}." if facts.names else f"The table has no facts about {noun}s."
                raise NotFoundError(f"Could not find {name!r} among the facts about {noun}s. {known}")
        found.append(facts.only(names))
    return found[0], found[1]


def read_facts(source: str, dataset: "Dataset", noun: str = "rater") -> "RaterFacts":
    """Read the facts of the raters, or of the cases, in a file.

    Parameters
    ----------
    source : str
        Its path.
    dataset : Dataset
    noun : {"rater", "case"}

    Raises
    ------
    InputError
        There is no such file, or it has no facts of these raters.
    """
    from ..raters.groups import facts_of_file
    from .plausibilities import read_bytes

    if not Path(source).is_file():
        raise InputError(
            f"Could not read facts about {noun}s: {source!r} is not a file.",
            f"Provide a table with one row per {noun} ({'--facts' if noun == 'rater' else '--case-facts'} FILE).",
        )
    names = dataset.raters if noun == "rater" else dataset.cases
    return facts_of_file(Path(source).name, read_bytes(source), names, noun)


def _classifiers_by_group(
    options, dataset: "Dataset", facts: "RaterFacts", left_out: int
) -> tuple[dict, "pd.DataFrame"]:
    from ..analyses.blocks import Words
    from ..analyses.inputs import Inputs
    from ..analyses.reliability import RELIABILITY
    from ..analyses.reliability.groups import sentence
    from .inputs import rows_of
    from .plausibilities import read_classifiers

    dataset.check_kind("class", "Could not compare classifiers", "Use --threshold or --label.")
    found = read_classifiers(options, dataset)
    if not found:
        raise InputError("No predictions.", "Add --predictions NAME=FILE.")
    inputs, part = (
        Inputs(dataset, predictions=found),
        RELIABILITY.part("groups").with_options(facts=facts, seed=options.seed),
    )
    chosen = part.resolve(**part.given(options))
    rates = part.answer(inputs, chosen)
    table = part.frame(rates, inputs, chosen)
    words = " ".join(Words(sentence(rates, one.name)).plain for one in found)
    return {
        "part": "classifiers",
        "words": words,
        "rows": rows_of(table),
        "left_out": left_out,
        **stamp(options, dataset),
    }, table


def _frame(rows, **how) -> "pd.DataFrame":
    import pandas as pd  # loading it takes longer than reading a small file, so it is loaded only to write a table

    return pd.DataFrame(rows, **how)


def check(options) -> tuple[dict, "pd.DataFrame"]:
    """Check requirements; append a summary to a file if one is named."""
    from ..analyses.gate import GATE

    reading = read_warned(options)
    dataset, left_out, report = reading.dataset, 0, reading.report
    if split(options) is not None:
        dataset, left_out = dataset.as_classes(split(options))
    if dataset.kind == "class":
        dataset = with_declared_order(dataset, options)
    found: list[GateResult] = []
    part = GATE.part("requirements").with_options(
        requirements=tuple(options.require), confident=options.confident, look=options.look or 0, seed=options.seed,
        n_rows=report.n_rows if report else 0, n_dropped=report.n_rows - report.n_kept if report else 0,
    )  # fmt: skip

    def words(result: "GateResult") -> str:
        found.append(result)
        return result.words()

    answer, table = answered(part, options, dataset, left_out, words)
    if options.summary:
        _append(options.summary, found[0], dataset.name)
    return {"ok": found[0].passed, "confident": found[0].confident, "look": options.look, **answer}, table


def _append(path: str, found: "GateResult", name: str) -> None:
    from ..analyses.gate import summary

    try:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(summary(found, name))
    except OSError as error:
        raise InputError(f"Could not write {path}: {error.strerror}.", "Check the path.") from None
