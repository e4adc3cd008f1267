"""Label Studio, JSON: tasks with their annotations (older exports: completions), in one file or one file per task."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ...text import plural, was_or_were
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_heads, all_records, most_are
from .label_studio_values import KINDS, Answer, answer_in
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .regions import no_regions
from .source import Source

NAME, TITLE = "label-studio", "Label Studio (JSON)"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise tasks that are objects with ``data`` and a list of ``annotations`` or ``completions``."""
    if not most_are(files, _is_task):
        return None
    newer = any(isinstance(task, dict) and "annotations" in task for task in all_heads(files))
    return "tasks with data and annotations" if newer else "tasks with completions"


def _is_task(task: object) -> bool:
    return isinstance(task, dict) and isinstance(task.get("data"), dict) and isinstance(_annotations(task), list)


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read every question (``from_name``) of the annotations; leave out skipped and repeated annotations."""
    asked = Questionnaire(("task", "annotation"), [file.name for file in files])
    shown = CaseTexts()
    known: set = set()
    gold: dict[str, dict[str, str]] = {}
    passed: Counter[str] = Counter()
    n_untouched = 0
    for file, number, line, task in all_records(files, progress):
        if not isinstance(task, dict) or not isinstance(annotations := _annotations(task), list):
            asked.begin(line, (number, 0), "", "", file=file)
            asked.drop("the task has no annotations")
            continue
        case = text_of(task.get("id")) or text_of(task.get("inner_id")) or str(number)
        shown.add(case, task.get("data"))
        for place, annotation in enumerate(annotations, 1):
            if not isinstance(annotation, dict):
                asked.begin(line, (number, place), case, "", file=file)
                asked.drop("the export contains only the number of the annotation, not the annotation itself")
                continue
            rater, time = _rater(annotation), annotation.get("created_at")
            asked.begin(line, (number, place), case, rater, time, file=file)
            if (reason := _unusable(annotation, known)) is not None:
                asked.drop(reason)
                continue
            results = annotation.get("result")
            answers, of_model = _answers(results if isinstance(results, list) else [], passed)
            n_untouched += of_model
            for name, (blocks, kind) in answers.items():
                asked.answer(name, blocks, kind)
                if annotation.get("ground_truth") is True and blocks and len(set(blocks[0])) == 1:
                    gold.setdefault(name, {})[case] = blocks[0][0]
    if passed and not asked.has_answers:
        kinds = {name.removesuffix("labels") + " regions": count for name, count in sorted(passed.items())}
        raise no_regions(TITLE, kinds, "choices, ratings or taxonomies")
    notes = [
        f"{plural(count, 'annotation')} of type {name} {was_or_were(count)} left out."
        for name, count in sorted(passed.items())
    ]
    if n_untouched:
        notes.append(
            f"{plural(n_untouched, 'annotation')} came from a model and {was_or_were(n_untouched)} left "
            "unchanged by the rater."
        )
    if gold:
        notes.append("Annotations marked as ground truth count both as gold and as the rater's annotations.")
    questions = tuple(replace(question, gold=gold.get(question.name)) for question in asked.questions(notes))
    return Source(NAME, TITLE, recognise(files) or "said so", questions, SideFiles(cases=shown.table()))


def _annotations(task: dict) -> object:
    return task.get("annotations", task.get("completions"))


def _rater(annotation: dict) -> str:
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("username") or who.get("id")
    return text_of(who) if not isinstance(who, list) else ""


def _unusable(annotation: dict, known: set) -> str | None:
    number = annotation.get("id")
    if isinstance(number, int | str):
        if number in known:
            return f"annotation ID {number} is repeated in the file"
        known.add(number)
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        return "the rater skipped the task"
    return None


def _answers(results: list, passed: Counter[str]) -> tuple[dict[str, Answer], int]:
    """Return answers by question, and how many were an unchanged model's. The caller handles two to one question."""
    answers: dict[str, Answer] = {}
    n_untouched = 0
    for result in results:
        if not isinstance(result, dict):
            continue
        kind = text_of(result.get("type"))
        answer = answer_in(result.get("value")) if kind in KINDS or not kind else None
        if answer is None:
            passed[kind or "nothing"] += 1
            continue
        name = text_of(result.get("from_name")) or kind
        # Each region of the picture has its own answer to the same question, so there is no single one.
        answers[name] = answer if name not in answers or answers[name] == answer else ([], answer[1])
        n_untouched += result.get("origin") == "prediction"
    return answers, n_untouched


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=10,
    plainly="Label Studio tasks with the annotations of each rater.",
    exactly="JSON: tasks with their annotations (older exports: completions), in one file or one file per task.",
    sources=("Label Studio, export format JSON",),
)
