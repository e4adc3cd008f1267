"""Argilla, JSON records of versions 1 and 2, and the same as Hugging Face datasets with one column per part."""

from collections.abc import Iterator, Sequence

from ..companion_files import SideFiles
from .budget import spend_as_objects
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_records, most_are
from .label_studio_values import Answer
from .parquet import MAGIC as PARQUET
from .parquet import open_parquet
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "argilla", "Argilla (records)"
_Response = tuple[str, str, object, str]  # question, user, value, status


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records with `responses`, or columns that end in `.responses`."""
    if most_are(files, _is_record):
        return "records with fields and responses"
    return "columns that end in .responses" if most_are(files, _is_row) else None


def _is_record(record: object) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("responses"), dict | list)
        and ("fields" in record or "status" in record)
    )


def _is_row(record: object) -> bool:
    return isinstance(record, dict) and any(name.endswith(".responses") for name in record)


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read submitted responses of every question; drop drafts and discarded ones, and skip suggestions."""
    return source_of_records(all_records(files, progress), [file.name for file in files], recognise(files) or "said so")


def source_of_records(
    records: Iterator[tuple[int, int, int, object]], files: Sequence[str], why: str, word: str = "record"
) -> Source:
    """Return the source of records that are already objects.

    Parameters
    ----------
    records : iterator of (int, int, int, object)
        Number of the file, number of the record, its line, and the record.
    files : sequence of str
        Names of the files.
    why : str
        Reason why the format was recognised.
    word : str
        Name of a record in the account of rows left out.
    """
    asked, shown = Questionnaire((word, "response"), files), CaseTexts()
    for file, number, line, record in records:
        record = record if isinstance(record, dict) else {}
        case = text_of(record.get("id")) or text_of(record.get("_server_id")) or str(number)
        fields = record.get("fields")
        shown.add(case, fields if isinstance(fields, dict) else record.get("text"))
        found = _by_user(record)
        if not found:
            asked.begin(line, (number, 0), case, "", file=file)
            asked.drop("nobody responded")
        for place, (user, status, values) in enumerate(found, 1):
            asked.begin(line, (number, place), case, user, file=file)
            if status not in ("", "submitted"):
                asked.drop(f"the response is {status[:40]}")
                continue
            for question, value in values.items():
                asked.answer(question, *_answer(value))
    return Source(NAME, TITLE, why, asked.questions(), SideFiles(cases=shown.table()))


def _by_user(record: dict) -> list[tuple[str, str, dict[str, object]]]:
    """Return user, status, and answers by question; a second answer of a user to one question is another response."""
    found: dict[tuple[str, str, int], dict[str, object]] = {}
    for question, user, value, status in _responses(record):
        times = 0
        while question in found.setdefault((user, status, times), {}):
            times += 1
        found[user, status, times][question] = value
    return [(user, status, values) for (user, status, _), values in found.items()]


def _responses(record: dict) -> Iterator[_Response]:
    responses = record.get("responses")
    if isinstance(responses, dict):  # version 2: by question
        for question, given in responses.items():
            for one in given if isinstance(given, list) else [given]:
                if isinstance(one, dict):
                    yield question, text_of(one.get("user_id")), one.get("value"), text_of(one.get("status"))
        return
    if isinstance(responses, list):  # version 1: by user
        for one in responses:
            values = one.get("values") if isinstance(one, dict) else None
            for question, value in values.items() if isinstance(values, dict) else ():
                inner = value.get("value") if isinstance(value, dict) and "value" in value else value
                yield question, text_of(one.get("user_id")), inner, text_of(one.get("status"))
        return
    for name, values in record.items():  # columns of a Hugging Face dataset
        if not name.endswith(".responses") or not isinstance(values, list):
            continue
        users, statuses = (record.get(f"{name}.{part}") for part in ("users", "status"))
        for place, value in enumerate(values):
            user, status = (
                text_of(column[place]) if isinstance(column, list) and place < len(column) else ""
                for column in (users, statuses)
            )
            yield name.removesuffix(".responses"), user, value, status


def _answer(value: object) -> Answer:
    """Return one class or number; a list as several classes, or as a ranking if its parts have ranks."""
    if not isinstance(value, list):
        if isinstance(value, dict):
            return [], "class"
        text = text_of(value).strip()
        return ([[text]] if text else []), "class"
    if value and all(isinstance(one, dict) and "value" in one for one in value):
        by_rank: dict[float, list[str]] = {}
        for place, one in enumerate(value):
            rank = one.get("rank", place)
            by_rank.setdefault(float(rank) if isinstance(rank, int | float) else place, []).append(
                text_of(one["value"])
            )
        return [by_rank[rank] for rank in sorted(by_rank)], "ranking"
    names = [text for one in value if not isinstance(one, dict | list) and (text := text_of(one).strip())]
    return ([names] if names else []), "class"


def read_parquet(name: str, content: bytes) -> Source | None:
    """Return records as Hugging Face stores them, with columns that end in ``.responses``; None if there are none."""
    if not content.startswith(PARQUET):
        return None
    from pyarrow import ArrowException, BufferReader, parquet

    try:
        names = parquet.read_schema(BufferReader(content)).names
    except (ArrowException, OSError, ValueError):
        return None
    if not any(column.endswith(".responses") for column in names):
        return None
    table = open_parquet(content)
    spend_as_objects(table)
    rows = table.to_pylist()
    return source_of_records(
        ((0, number, number, row) for number, row in enumerate(rows, 1)),
        [name],
        "columns that end in .responses",
        "row",
    )


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    of_parquet=read_parquet,
    place=30,
    plainly="Argilla records with the responses of each rater.",
    exactly="JSON records of versions 1 and 2, or Hugging Face datasets with one column per part of a record.",
    sources=("Argilla, records of versions 1 and 2",),
)
