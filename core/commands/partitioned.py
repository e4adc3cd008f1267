"""Commands on Parquet files that do not fit into memory: the same answers, computed in partitions on disk."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..ingest.formats.parquet import free_memory, memory_needed
from ..ingest.formats.side_tables import read_class_list
from ..ingest.missing_codes import codes_of
from ..methods import method_named
from ..plausibility.protocol import PlausibilityMethod
from ..text import number, significant
from .inputs import PIPE, class_list, declared_order, progress, runner_of, stamp

if TYPE_CHECKING:
    import pandas as pd

    from ..partitioned.dataset import PartitionedDataset
    from ..runtime.executors import Executor

_OF_MEMORY = 0.4  # share of free memory for the rows while they are read; models need as much again
MOST_CHOSEN_BY = 2_000_000  # annotations
Answer = tuple[dict, "Callable[[], pd.DataFrame] | pd.DataFrame"]


IN_MEMORY_TOO = ("certainty", "sweep")  # commands whose chunks of cases a cluster takes from any file


def wanted(options, called: str) -> bool:
    """Return whether a file is processed in partitions: on request, or because it is Parquet too large for memory.

    Parameters
    ----------
    options
        Options of the command.
    called : str
        Name of the command; with ``--cluster`` it takes Parquet in partitions.
    """
    if options.partitions is not None:
        if options.partitions < 1:
            raise InputError(f"--partitions must be 1 or more; got {options.partitions}.", "Use a larger number.")
        return True
    path = Path(options.file)
    if options.file == PIPE or not path.exists():
        return _alone(options, called)
    from ..partitioned.scatter import rows_of

    try:
        n_rows = rows_of(path).n_rows
    except (NotApplicableError, InputError):
        return _alone(options, called)
    if getattr(options, "cluster", None):
        return True
    free = free_memory()
    if free is None or memory_needed(n_rows) < _OF_MEMORY * free:
        return False
    options.cautions.append(
        f"{n_rows:,} rows are too many for {number(free / 2**30, 1)} GB of free memory, so Plurality split the "
        f"data into partitions on disk, in {tempfile.gettempdir()}."
    )
    return True


def _alone(options, called: str) -> bool:
    """Return False for a command without partitions; raise if its cluster would need them."""
    if getattr(options, "cluster", None) and called not in IN_MEMORY_TOO:
        raise NotApplicableError(
            f"{called} --cluster needs Parquet, because each worker reads a part of the file. Save {options.file} as "
            "Parquet."
        )
    return False


@contextmanager
def opened(options) -> Iterator["PartitionedDataset"]:
    """Open the file of a command in partitions, which are on disk as long as the command runs."""
    from ..partitioned.build import partitioned
    from ..partitioned.scatter import rows_of

    for name in (
        "select",
        "question",
        "rank",
        "group",
        "threshold",
        "label",
        "gold",
        "ordinal",
        "missing",
        "not_missing",
        "risk",
        "predictions",
        "restarts",
        "earlier",
    ):
        if getattr(options, name, None):
            raise NotApplicableError(f"Could not use --{name}: it is not available for partitioned data.")
    if options.kind not in (None, "class"):
        raise NotApplicableError(
            f"Could not use partitions: they need one class per annotation, but --kind is {options.kind!r}."
        )
    if getattr(options, "intervals", False):
        raise NotApplicableError("Could not use --intervals: it is not available for partitioned data.")
    given = class_list(options.classes)
    columns = {"case": options.case, "rater": options.rater, "answer": options.answer}
    with tempfile.TemporaryDirectory(prefix="plurality-") as folder:
        yield partitioned(
            rows_of(Path(options.file)),
            Path(folder),
            n_partitions=options.partitions,
            columns=columns,
            kind=options.kind,
            classes=read_class_list(given.name, given.read_bytes()).names if isinstance(given, Path) else given,
        )


def _stamp(options, data: "PartitionedDataset") -> dict:
    return {"partitions": len(data.partitions), **stamp(options, cast(Dataset, data))}


def _warn(data: "PartitionedDataset", options) -> None:
    """Keep the warnings of the report for standard error.

    Raises
    ------
    InputError
        Classes may be codes for missing annotations, and no list of classes shows that they are classes.
    """
    options.cautions.extend(data.report.warnings)
    if options.classes:
        return
    counts = data.patterns
    times = np.repeat(counts.times, np.diff(counts.ptr)) if counts.times.size else 1
    found = codes_of(data.classes, np.bincount(counts.class_code, counts.count * times, data.n_classes).astype(int))
    if found:
        raise InputError(
            f"The data may contain codes for missing annotations: {', '.join(map(repr, found))}.",
            "List all classes with --classes. Include the codes only if they are classes.",
        )


def describe(options) -> Answer:
    """Describe the data as `core.commands.data.describe` does, with the first 100,000 rows left out, by line."""
    import pandas as pd

    with opened(options) as data:
        report = data.report
        answer = {
            "name": data.name,
            "kind": data.kind,
            "n_cases": data.n_cases,
            "n_raters": data.n_raters,
            "n_classes": data.n_classes,
            "n_annotations": data.n_annotations,
            "classes": list(data.classes),
            "missing": report.n_missing,
            "missing_tokens": report.missing,
            "n_rows": report.n_rows,
            "n_kept": report.n_kept,
            "repeats": report.n_repeats,
            "n_dropped": data.n_dropped,
            "dropped": [drop._asdict() for drop in report.dropped],
            "notes": list(report.notes),
            "warnings": list(report.warnings),
            **_stamp(options, data),
        }
        return answer, lambda: pd.DataFrame(report.dropped, columns=["line", "reason"])


def agreement(options) -> Answer:
    """Return agreement as `core.commands.data.agreement` does."""
    import pandas as pd

    from ..partitioned.agreement import partitioned_agreement
    from .data import check_agreement, fields_of, quote_of

    check_agreement(options)
    with runner_of(options) as runner, opened(options) as data:
        _warn(data, options)
        order = {}
        if options.weights not in (None, "identity"):
            order["order"] = _checked_order(data.classes, options)
        how: dict[str, Any] = {"runner": runner, "spa_weightings": [options.spa_weights], "weights": options.weights}
        found = partitioned_agreement(data, options.level, **how)
        rows = [fields_of(one) for one in found.coefficients]
        more: dict = {"left_out": 0}
        if options.weights is None:
            more |= {"kind": found.kind, "not_given": [{"what": one.what, "why": one.why} for one in found.left_out]}
            more["quote"] = quote_of(found)
        answer = {"coefficients": rows, "level": options.level, **more, **order, **_stamp(options, data)}
        return answer, pd.DataFrame(rows)


def _checked_order(classes: Sequence[str], options) -> list[str]:
    """Return the classes of partitions from low to high, as weights need them.

    Raises
    ------
    NotApplicableError
        The classes are in another order.
    """
    order = declared_order(classes, options)
    if tuple(order) != tuple(classes):
        raise NotApplicableError(
            f"Cannot reorder classes when the data are partitioned. Use --classes {','.join(order)}."
        )
    return list(order)


def fit(options) -> Answer:
    """Fit a model as `core.commands.fits.fit`; the table is of raters, ``--cases-out`` writes class probabilities."""
    import pandas as pd

    from ..models.catalogue import em_model
    from ..partitioned.fits import class_probabilities, fit_partitioned
    from .fits import AUTO, answer_of, asked_for

    if options.model == AUTO:
        raise NotApplicableError("The model “auto” is not available for partitioned data. Choose a different model.")
    if options.evidence:
        raise NotApplicableError("Evidence from a classifier is not available for partitioned data.")
    if options.part is not None:
        raise NotApplicableError(
            "Tables from the Models page are not available for partitioned data. Leave out --part."
        )
    asked = asked_for(options)
    if asked.way != "em":
        raise NotApplicableError(
            f"{asked.title} with --method {asked.way} is not available for partitioned data. Use a model with "
            "--method em."
        )
    with runner_of(options) as runner, opened(options) as data:
        _warn(data, options)
        found = fit_partitioned(em_model(asked), data, progress=progress, runner=runner)
        if options.cases_out:
            parts = class_probabilities(found, data, runner)
            _write(options.cases_out, (_by_case(names, found.classes, values) for names, values in parts))
        answer = {**answer_of(options, found), "left_out": 0, **_stamp(options, data)}
        columns = ["rater", "n", "accuracy"]
        return answer, pd.DataFrame(answer["raters"])[columns]


def choose(options) -> Answer:
    """Choose a model as `core.commands.choices.choose` does, on as many partitions as can be scored at once."""
    from ..partitioned.dataset import sampled
    from .choices import answer_of

    with opened(options) as data:
        _warn(data, options)
        dataset = sampled(data, MOST_CHOSEN_BY)
        if dataset.n_cases < data.n_cases:
            each, all_of_them = (significant(one.n_annotations / one.n_raters) for one in (dataset, data))
            options.cautions.append(
                f"Models were scored on {dataset.n_cases:,} of {data.n_cases:,} cases, chosen by a hash of the "
                f"case names. On average, raters have {each} annotations on these cases ({all_of_them} on all cases). "
                "With more annotations, larger models score better."
            )
        answer, table = answer_of(options, dataset, 0)
        return {**answer, "n_cases_scored": dataset.n_cases, **_stamp(options, data)}, table


def certainty(options) -> Answer:
    """Return certainty as `core.commands.plausibilities.certainty`, in one row; ``--cases-out`` writes the cases."""
    import pandas as pd

    from ..thresholds import CERTAIN_LEVELS

    if options.reliability is None:
        raise InputError("The default γ is not available for partitioned data.", "Provide --reliability.")
    if options.plausibilities_out:
        raise InputError(
            "--plausibilities-out is not available for partitioned data.",
            "Leave it out, or use data that fit in memory.",
        )
    if options.p_correct:
        raise InputError(
            "--p-correct is not available for partitioned data.", "Leave it out, or use data that fit in memory."
        )
    tops = range(1, options.top + 1)
    with runner_of(options) as runner, opened(options) as data:
        (found,) = _means(options, data, [options.reliability], runner)
        answer = {
            "model": options.model,
            "mean": {f"top{top}": found.mean(top) for top in tops},
            "se": {f"top{top}": found.mean_se(top) for top in tops},
            "n_below": {str(level): found.below[level] for level in CERTAIN_LEVELS},
            "n_cases": found.n_cases,
            "reliability": options.reliability,
            "left_out": 0,
            **_stamp(options, data),
        }
        return answer, pd.DataFrame([{f"top{top}": found.mean(top) for top in tops}])


def sweep(options) -> Answer:
    """Run a sweep as `core.commands.plausibilities.sweep` does, without classifiers."""
    import pandas as pd

    from .plausibilities import reliabilities_of

    reliabilities = reliabilities_of(options)
    options.top = options.k or options.top
    with runner_of(options) as runner, opened(options) as data:
        found = _means(options, data, reliabilities, runner)
        rows = [
            {"reliability": gamma, **{f"top{top}": one.mean(top) for top in range(1, options.top + 1)}, "metrics": {}}
            for gamma, one in zip(reliabilities, found, strict=True)
        ]
        answer = {"model": options.model, "rows": rows, "better": [], "left_out": 0, **_stamp(options, data)}
        return answer, pd.DataFrame(rows).drop(columns="metrics")


def _means(options, data: "PartitionedDataset", reliabilities: list[float], runner: "Executor") -> list:
    """Return mean certainties at each reliability; write the cases to a file if one is named."""
    from ..analyses.cases.certainty import CaseCertainty
    from ..partitioned.certainty import MeanCertainty, certainties
    from .plausibilities import chosen_model

    if method_named(PlausibilityMethod, options.model).takes.get("class") is None:
        raise NotApplicableError(
            f"Could not use {options.model}: partitioned data contain classes, which this model does not support."
        )
    _warn(data, options)
    means = [MeanCertainty.of_none(options.top) for _ in reliabilities]
    how: dict[str, Any] = {"n_draws": options.draws, "max_top": options.top, "seed": options.seed, "progress": progress}
    found = certainties(chosen_model(options), data, reliabilities, **how, runner=runner)

    def tables() -> Iterator["pd.DataFrame"]:
        for results in found:
            for mean, result in zip(means, results, strict=True):
                mean.add(result)
            yield CaseCertainty(results[0]).to_frame()

    path = getattr(options, "cases_out", None)
    if path:
        _write(path, tables())
    else:
        for _ in tables():
            pass
    return means


def _by_case(names, classes, probability) -> "pd.DataFrame":
    import pandas as pd

    table = pd.DataFrame(probability, columns=list(classes))
    table.insert(0, "case", list(names), allow_duplicates=True)  # a class may be called "case"
    return table


def _write(path: str, tables: Iterator["pd.DataFrame"]) -> None:
    """Write tables with the same columns one below the other, as `core.commands.inputs.write_table` does for one."""
    from ..tables import to_csv

    mark = len("\ufeff".encode())
    try:
        with open(path, "wb") as file:
            for number, table in enumerate(tables):
                content = to_csv(table)
                file.write(content if number == 0 else content[mark:].split(b"\r\n", 1)[1])
    except OSError as error:
        raise InputError(f"Could not write {path}: {error.strerror}. Check the path.") from None
