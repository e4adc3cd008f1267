"""Opening a file in one call: bytes to dataset, with everything guessed that is not given."""

from dataclasses import dataclass, replace
from pathlib import Path

from core.annotations.dataset import Dataset, Kind
from core.annotations.mapping import Mapping, Repeats, guess_mapping, rater_columns
from core.annotations.readers import RawTable, open_table
from core.annotations.validate import Report, build_dataset
from core.errors import InputError


@dataclass(frozen=True, slots=True)
class Reading:
    """A dataset and the account of how it came from its file."""

    dataset: Dataset
    report: Report


def read(
    source: str | Path | bytes,
    *,
    name: str | None = None,
    case: str | None = None,
    rater: str | None = None,
    answer: str | None = None,
    rank: str | None = None,
    layout: str | None = None,
    kind: Kind | None = None,
    classes: list[str] | None = None,
    ordinal: bool = False,
    repeats: Repeats = "keep",
    has_header: bool | None = None,
) -> Reading:
    """Read annotations from a file (CSV, TSV, Parquet; long or wide).

    Parameters
    ----------
    source : path or bytes
    case, rater, answer, rank : str, optional
        Columns; guessed from their names where not given. ``rater="none"`` says that answers are anonymous.
    layout : {"long", "wide"}, optional
    kind, classes, ordinal, repeats
        See `core.annotations.validate.build_dataset`.
    has_header : bool, optional

    Raises
    ------
    InputError
        Says the line or column, what was found, and what to do.
    """
    if isinstance(source, bytes):
        content, name = source, name or "data"
    else:
        try:
            content = Path(source).read_bytes()
        except OSError as error:
            raise InputError(f"{source} cannot be opened ({error.strerror}).", "Look at the path.") from None
        name = name or Path(source).stem
    raw = open_table(content, has_header=has_header)
    mapping = complete_mapping(raw, case=case, rater=rater, answer=answer, rank=rank, layout=layout)
    dataset, report = build_dataset(raw, mapping, name, kind=kind, classes=classes, ordinal=ordinal, repeats=repeats)
    return Reading(dataset, report)


def complete_mapping(
    raw: RawTable,
    *,
    case: str | None = None,
    rater: str | None = None,
    answer: str | None = None,
    rank: str | None = None,
    layout: str | None = None,
) -> Mapping:
    """The guessed mapping with what the user said put in its place."""
    guess = guess_mapping(raw.columns)
    given = {role: column for role, column in (("case", case), ("answer", answer), ("rank", rank)) if column}
    why = dict(guess.why)
    if rater is not None:
        given["rater"] = None if rater == "none" else rater
        if rater == "none":
            why["anonymous"] = "said so"
    if layout is None:
        layout = "long" if {"rater", "answer", "rank"} & given.keys() else guess.layout
    if layout not in ("long", "wide"):
        raise InputError(f"There is no layout {layout!r}.", "Use long or wide.")
    if layout == "wide":
        case = given.get("case", guess.case)
        raters = rater_columns(raw.columns, case, guess.group)
        return Mapping("wide", case=case, raters=raters, group=guess.group, why=why)
    free = {name: getattr(guess, name) for name in ("case", "rater", "answer", "rank", "time", "group")}
    free = {role: None if column in given.values() else column for role, column in free.items()}
    return replace(guess, layout="long", raters=(), why=why, **(free | given))
