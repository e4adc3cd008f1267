"""Learning With Disagreements (LeWiDi), JSON: one object of cases, annotations as strings (2023) or objects (2025)."""

from collections.abc import Iterator, Sequence

from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_heads
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "lewidi", "LeWiDi (JSON)"
_QUESTION = "annotations"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise one object of cases with `annotators` and `annotations`."""
    for value in all_heads(files):
        if not isinstance(value, dict) or not value:
            return None
        cases = [case for _, case in zip(range(25), value.values(), strict=False)]
        fitting = [isinstance(case, dict) and {"annotators", "annotations"} <= case.keys() for case in cases]
        if 2 * sum(fitting) <= len(fitting):
            return None
    return "an object with the annotators and annotations of each case"


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read annotations by annotator; skip `soft_label` and `hard_label`, which follow from the annotations."""
    asked, shown = Questionnaire(("case", "annotation"), [file.name for file in files]), CaseTexts()
    for place, file in enumerate(files):
        for line, value in file.records(progress):
            for number, (key, case) in enumerate(value.items() if isinstance(value, dict) else (), 1):
                case = case if isinstance(case, dict) else {}
                shown.add(key, case.get("text"))
                given = list(_annotations(case))
                for index, (rater, answer) in enumerate(given, 1):
                    asked.begin(line, (number, index), key, rater, group=case.get("split"), file=place)
                    block = [text.strip() for text in text_of(answer).split(",") if text.strip()]
                    asked.answer(_QUESTION, [block] if block else [])
                if not given:
                    asked.begin(line, (number, 0), key, "", file=place)
                    asked.drop("the numbers of annotators and annotations differ")
    notes = ("soft_label and hard_label were left out: they are computed from the annotations.",)
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(notes), SideFiles(cases=shown.table()))


def _annotations(case: dict) -> Iterator[tuple[str, object]]:
    """Yield annotator and annotation. Strings are lists separated by commas; an object names its annotators."""
    annotators, annotations = case.get("annotators"), case.get("annotations")
    if isinstance(annotations, dict):
        yield from annotations.items()
        return
    who, given = (
        [part.strip() for part in one.split(",")] if isinstance(one, str) else one for one in (annotators, annotations)
    )
    if isinstance(who, list) and isinstance(given, list) and len(who) == len(given):
        yield from ((text_of(rater), answer) for rater, answer in zip(who, given, strict=True))


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=50,
    plainly="Cases from the Learning With Disagreements tasks.",
    exactly="JSON: one object with all cases. Annotations are strings (2023) or objects (2025).",
    sources=("LeWiDi shared tasks, 2023 and 2025",),
)
