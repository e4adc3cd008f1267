"""Prodigy, JSON Lines: one decision per line; raters by `_annotator_id`, `_session_id`, or one file each."""

from collections.abc import Sequence

from ...errors import InputError
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_records, most_are
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "prodigy", "Prodigy (JSONL)"
CHOICE = "choice"
_HASHES = ("_input_hash", "_task_hash")


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records with `_input_hash` and an `answer`."""
    return "records with _input_hash and answer" if most_are(files, _is_decision) else None


def _is_decision(record: object) -> bool:
    return isinstance(record, dict) and any(name in record for name in _HASHES) and "answer" in record


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read the choices, or for every label whether it was accepted; ignored decisions are left out.

    Raises
    ------
    InputError
        The decisions are only on spans of text or picture.
    """
    asked, shown = Questionnaire(("record",), [file.name for file in files]), CaseTexts()
    names = [file.name.rsplit("/", 1)[-1].rsplit(".", 1)[0] for file in files]
    by_file = n_spans = 0
    for file, number, line, record in all_records(files, progress):
        if not isinstance(record, dict) or not _is_decision(record):
            asked.begin(line, (number,), "", "", file=file)
            asked.drop("the record has no answer")
            continue
        case = text_of(record.get("_input_hash", record.get("_task_hash")))
        rater = text_of(record.get("_annotator_id")) or text_of(record.get("_session_id"))
        if not rater:
            rater = names[file]
            by_file += 1
        is_choice = isinstance(record.get("accept"), list) or "options" in record
        label = record.get("label")
        only = text_of(label) if isinstance(label, str | int) and not is_choice else None
        asked.begin(line, (number,), case, rater, record.get("_timestamp"), file=file, only=only)
        shown.add(case, {name: record.get(name) for name in ("text", "image", "html", "audio", "video")})
        answer = record.get("answer")
        if answer == "ignore":
            asked.drop("the rater ignored the task")
        elif answer not in ("accept", "reject"):
            asked.drop(f"the answer is {text_of(answer)[:40]!r} instead of accept, reject or ignore")
        elif is_choice:
            _choice(asked, record)
        elif only is not None:
            asked.answer(only, [[answer]])
        elif "spans" in record or "relations" in record:
            n_spans += 1
            asked.drop("the decision is about spans, not classes of the case")
        else:
            asked.answer("answer", [[answer]])
    if n_spans == asked.n_annotations:
        raise InputError(
            "Could not use the annotations: they are spans of text or parts of images, not classes of whole cases.",
            "Export a text classification or choice task.",
        )
    notes = []
    if by_file:
        notes.append(
            "Each rater is named after their file."
            if len(files) > 1
            else "No record names its rater, so all annotations count as those of one rater. Export one file per "
            "session or per rater."
        )
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(notes), SideFiles(cases=shown.table()))


def _choice(asked: Questionnaire, record: dict) -> None:
    if record["answer"] == "reject":
        asked.drop("the rater rejected the task")
        return
    accepted = record.get("accept")
    options = record.get("options")
    titles = {
        text_of(option.get("id")): text_of(option.get("text")) or text_of(option.get("id"))
        for option in (options if isinstance(options, list) else [])
        if isinstance(option, dict)
    }
    chosen = [text_of(name) for name in accepted] if isinstance(accepted, list) else []
    block = [titles.get(name, name) for name in chosen if name]
    asked.answer(CHOICE, [block] if block else [])


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=40,
    plainly="Prodigy decisions, one per line.",
    exactly="Prodigy, JSON Lines: one decision per line. Raters come from `_annotator_id` or `_session_id`, or "
    "from one file per rater.",
    sources=("Prodigy, JSONL of db-out",),
)
