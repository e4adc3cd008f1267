"""SageMaker Ground Truth, JSON: annotations of all workers per data object, worker responses, output manifests."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ...errors import InputError
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_records, most_are, value_of_cell
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "sagemaker", "SageMaker Ground Truth (JSON)"
_METADATA = "-metadata"
_ALL_WORKERS = "annotationsFromAllWorkers"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise data objects with annotations of workers, worker responses, or lines of an output manifest."""
    return "annotations by workerId, or a label with its metadata" if most_are(files, _is_record) else None


def _is_record(record: object) -> bool:
    if not isinstance(record, dict):
        return False
    return any(True for _ in _given(record)) or _is_consolidated(record)


def _is_consolidated(record: dict) -> bool:
    metadata = [value for name, value in record.items() if name.endswith(_METADATA)]
    return ("source" in record or "source-ref" in record) and any(
        isinstance(one, dict) and text_of(one.get("type")).startswith("groundtruth/") for one in metadata
    )


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read every form element of every worker's answer as a question; the case is the data object, or the file.

    Raises
    ------
    InputError
        The labels are consolidated and do not contain the answer of each worker.
    """
    asked, shown = Questionnaire(("record", "annotation"), [file.name for file in files]), CaseTexts()
    n_consolidated = 0
    for file, number, line, record in all_records(files, progress):
        given = list(_given(record)) if isinstance(record, dict) else []
        if not given:
            asked.begin(line, (number, 0), "", "", file=file)
            asked.drop("no annotation by a worker")
            n_consolidated += isinstance(record, dict) and _is_consolidated(record)
        case, data = _case(record, files[file].name, number)
        shown.add(case, data)
        for place, (who, time, content) in enumerate(given, 1):
            asked.begin(line, (number, place), case, who, time, file=file)
            for name, block in _answers(content):
                asked.answer(name, [block] if block else [])
    if n_consolidated and n_consolidated == asked.n_annotations:
        raise InputError(
            "Could not read raters: this SageMaker Ground Truth output manifest has one consolidated label per "
            "data object.",
            "Open the worker responses (annotations/worker-response/…) in one ZIP file, or the consolidation request.",
        )
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(), SideFiles(cases=shown.table()))


def _given(record: dict) -> Iterator[tuple[str, object, object]]:
    """Yield worker, time and answer of each annotation in a record."""
    answers = record.get("answers")
    for one in answers if isinstance(answers, list) else ():
        if isinstance(one, dict) and "workerId" in one and "answerContent" in one:
            yield text_of(one["workerId"]), one.get("submissionTime"), one["answerContent"]
    nested = [value.get(_ALL_WORKERS) for value in record.values() if isinstance(value, dict)]
    for annotations in (record.get("annotations"), *nested):
        for one in annotations if isinstance(annotations, list) else ():
            data = one.get("annotationData") if isinstance(one, dict) else None
            if isinstance(data, dict) and "workerId" in one:
                yield text_of(one["workerId"]), None, data.get("content")


def _case(record: object, file: str, number: int) -> tuple[str, object]:
    """Return the name of the data object and its content; for worker responses, the name of the folder or file."""
    if not isinstance(record, dict):
        return str(number), {}
    data = record.get("dataObject")
    data = data if isinstance(data, dict) else {name: record.get(name) for name in ("source", "source-ref")}
    named = record.get("datasetObjectId")
    if named is None and "answers" in record:
        path = PurePath(file.replace("\\", "/"))
        return (path.parent.name if len(path.parts) > 1 else path.stem), {}
    shown = next((text_of(value) for value in data.values() if value), "")
    return (text_of(named) if named is not None else shown or str(number)), data


def _answers(content: object) -> Iterator[tuple[str, list[str]]]:
    """Yield question and classes of one answer: `{"crowd-classifier": {"label": "cat"}}`, `labels` of several."""
    if isinstance(content, str):
        try:
            content = value_of_cell(content)
        except (ValueError, RecursionError):
            return
    for name, answer in content.items() if isinstance(content, dict) else ():
        if isinstance(answer, dict):
            label = answer.get("label", answer.get("labels"))
            if label is None:
                label = [key for key, chosen in answer.items() if chosen is True]
            answer = label
        given = answer if isinstance(answer, list) else [answer]
        yield name, [text for one in given if not isinstance(one, dict | list) and (text := text_of(one).strip())]


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=22,
    plainly="Annotations by each worker in a SageMaker Ground Truth labeling job.",
    exactly="JSON: `annotations` with `workerId` and `annotationData`, or worker responses with `answers`.",
    sources=("Amazon SageMaker AI, Labeling job output data",),
)
