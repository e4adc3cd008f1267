"""Quality gate on the command line: exit status 0 if all requirements are met, 1 if not."""

from typing import TYPE_CHECKING

from ..errors import InputError
from .inputs import read_warned, split, with_declared_order
from .parts import answered

if TYPE_CHECKING:
    import pandas as pd

    from ..analyses.gate import GateResult


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
