"""Values of Label Studio as annotations: choices, rating, taxonomy, ranker, number, pairwise."""

from collections.abc import Sequence

from .json_text import value_of_cell
from .questionnaire import AnswerType, text_of

Answer = tuple[Sequence[Sequence[str]], AnswerType]
KINDS = ("choices", "rating", "taxonomy", "ranker", "number", "pairwise")


def answer_in(value: object) -> Answer | None:
    """Return the blocks of classes in a value and its kind of annotation; None if it is of an unknown kind."""
    if not isinstance(value, dict):
        return None
    if isinstance(choices := value.get("choices"), list):
        return _tied(choices), "class"
    if "rating" in value:
        return _tied([value["rating"]]), "grade"
    if "number" in value:
        return _tied([value["number"]]), "score"
    if isinstance(paths := value.get("taxonomy"), list):
        return _tied([" / ".join(map(text_of, path)) if isinstance(path, list) else path for path in paths]), "class"
    if "ranker" in value:
        return _ranked(value["ranker"]), "ranking"
    if "selected" in value:
        return _tied([value["selected"]]), "class"
    return None


def answer_in_cell(cell: str) -> Answer | None:
    """Return the same from a cell of its tables: plain text is one class, the rest is JSON."""
    if not cell.strip():
        return None
    if cell[:1] not in "[{":
        return _tied([cell]), "class"
    try:
        value = value_of_cell(cell)
    except (ValueError, RecursionError):
        return _tied([cell]), "class"
    if isinstance(value, list):
        if len(value) != 1 or not isinstance(value[0], dict):
            return (_tied(value), "class") if value and not any(isinstance(v, dict | list) for v in value) else None
        value = value[0]
    return answer_in(value)


def _tied(names: Sequence[object]) -> list[list[str]]:
    block = [text for name in names if (text := text_of(name).strip())]
    return [block] if block else []


def _ranked(value: object) -> list[list[str]]:
    """Return classes in their order: a list, or buckets of which the one named rank, or the first, counts."""
    if isinstance(value, dict):
        value = value.get("rank", value.get("_", next(iter(value.values()), [])))
    if not isinstance(value, list):
        return []
    return [[text] for text in dict.fromkeys(text_of(name).strip() for name in value) if text]
