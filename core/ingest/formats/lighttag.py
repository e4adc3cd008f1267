"""LightTag, JSON: examples with classifications, each with the annotators who chose it."""

from collections.abc import Sequence

from ...text import plural, was_or_were
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_records, most_are
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .regions import no_regions
from .source import Source

NAME, TITLE = "lighttag", "LightTag (JSON)"
_QUESTION = "classification"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise an object with `schema` and `examples`, which have `classifications` or `annotations`."""
    return "examples with classifications and annotations" if most_are(files, _is_export) else None


def _is_export(record: object) -> bool:
    examples = record.get("examples") if isinstance(record, dict) else None
    if not isinstance(examples, list) or not examples or not isinstance(examples[0], dict):
        return False
    return "example_id" in examples[0] and bool({"classifications", "annotations"} & examples[0].keys())


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read the classifications of each annotator of each example; several of one annotator are a set of labels.

    Raises
    ------
    InputError
        There are only spans of text.
    """
    asked, shown, n_spans = Questionnaire(("example", "annotator"), [file.name for file in files]), CaseTexts(), 0
    for file, _, line, record in all_records(files, progress):
        examples = record.get("examples") if isinstance(record, dict) else None
        for number, example in enumerate(examples if isinstance(examples, list) else (), 1):
            if not isinstance(example, dict):
                continue
            case = text_of(example.get("example_id")) or str(number)
            shown.add(case, {"text": example.get("content")})
            n_spans += len(example.get("annotations") or ())
            chosen: dict[str, tuple[object, list[str]]] = {}
            classifications = example.get("classifications")
            for one in classifications if isinstance(classifications, list) else ():
                by = one.get("annotated_by") if isinstance(one, dict) else None
                for annotator in by if isinstance(by, list) else ():
                    if isinstance(annotator, dict):
                        who = text_of(annotator.get("annotator")) or text_of(annotator.get("annotator_id"))
                        time, names = chosen.setdefault(who, (annotator.get("timestamp"), []))
                        names.append(text_of(one.get("classname")))
            for place, (who, (time, names)) in enumerate(chosen.items(), 1):
                asked.begin(line, (number, place), case, who, time, file=file)
                asked.answer(_QUESTION, [names])
            if not chosen:
                asked.begin(line, (number, 0), case, "", file=file)
                asked.drop("no classification")
    if n_spans and not asked.has_answers:
        raise no_regions(TITLE, {"spans of text": n_spans}, "classifications")
    notes = [f"{plural(n_spans, 'text span')} {was_or_were(n_spans)} left out."] if n_spans else []
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(notes), SideFiles(cases=shown.table()))


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=23,
    plainly="LightTag classifications with the annotators who chose each class.",
    exactly="JSON: `examples` with `classifications` (`classname`, `annotated_by`).",
    sources=("LightTag, downloading annotations",),
)
