"""promptfoo, results of an evaluation as JSON: assertions judge the answer of each provider."""

from collections.abc import Sequence

from ..column_mapping import names_cases
from .content_columns import CaseTexts
from .evaluation_records import ANSWER, SCORE, Log, Said, as_object, called, source_of
from .json_text import JsonFile, Progress, all_records, most_are
from .questionnaire import text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "promptfoo", "promptfoo (results, JSON)"
_LONGEST = 100


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records whose `results` have providers and grades."""
    return "records whose results contain providers and grades" if most_are(files, _is_evaluation) else None


def _rows(record: object) -> list:
    results = record.get("results") if isinstance(record, dict) else None
    rows = results.get("results") if isinstance(results, dict) else results
    return rows if isinstance(rows, list) else []


def _is_evaluation(record: object) -> bool:
    rows = [row for row in _rows(record) if isinstance(row, dict)]
    return bool(rows) and sum(
        "provider" in row and ("gradingResult" in row or "success" in row) for row in rows
    ) * 2 > len(rows)


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read the answer of each provider to each test, and whether each assertion passed.

    A test is named by the one of its variables that names cases, such as ``id`` or ``ticket``, if each test has its
    own; else by its number.
    """
    log = Log([], CaseTexts(), {})
    named = _names_of_tests(files)
    for file, number, line, record in all_records(files, progress):
        if not _is_evaluation(record):
            log.said.append(Said(file, line, (number, 0), "", "", "", reason="the results lack providers or grades"))
            continue
        for place, row in enumerate(_rows(record), 1):
            _row(log, row, file, line, (number, place), named)
    return source_of(NAME, TITLE, recognise(files) or "said so", files, log, ("evaluation", "result"))


def _names_of_tests(files: Sequence[JsonFile]) -> dict[int, str]:
    """Return the name of each test from a variable of its own; empty if no variable names them."""
    tests: dict[int, dict] = {}
    for *_, record in all_records(files):
        for row in _rows(record):
            if not isinstance(row, dict) or not isinstance(row.get("testIdx"), int):
                continue
            given = as_object(row.get("vars"))
            if tests.setdefault(row["testIdx"], given) != given:
                return {}  # two evaluations number other tests alike
    for variable in next(iter(tests.values()), {}):
        if names_cases(variable):
            named = {test: _short(given.get(variable)) for test, given in tests.items()}
            if all(named.values()) and len(set(named.values())) == len(named):
                return named
    return {}


def _short(value: object) -> str:
    """Return a name of a case; "" if it is not text or is empty."""
    text = text_of(value).strip() if isinstance(value, str | int) else ""
    return text if len(text) <= _LONGEST and "\n" not in text else ""


def _row(log: Log, row: object, file: int, line: int, numbers: tuple[int, int], named: dict[int, str]) -> None:
    if not isinstance(row, dict) or "provider" not in row:
        log.said.append(Said(file, line, numbers, "", "", "", reason="the result has no provider"))
        return
    maker = row["provider"]
    provider = called(maker.get("label") or maker.get("id")) if isinstance(maker, dict) else called(maker)
    prompt = row.get("promptIdx") if isinstance(row.get("promptIdx"), int) and row["promptIdx"] else ""
    test = row["testIdx"] if isinstance(row.get("testIdx"), int) else numbers[1]
    case = called(named.get(test) or f"test {test}", f"prompt {prompt}" if prompt else "")
    log.shown.add(case, as_object(row.get("vars")))
    response = as_object(row.get("response"))
    log.said.append(Said(file, line, numbers, case, provider, ANSWER, response.get("output")))
    grading = as_object(row.get("gradingResult"))
    judged = grading.get("componentResults")
    parts = [part for part in judged if isinstance(part, dict)] if isinstance(judged, list) else []
    whose = called(case, provider)
    if not parts:
        log.said.append(
            Said(file, line, numbers, whose, "all assertions", SCORE, grading.get("pass", row.get("success")))
        )
    for place, part in enumerate(parts, 1):
        rule = as_object(part.get("assertion"))
        name = called(rule.get("metric") or rule.get("type") or f"assertion {place}")
        log.said.append(Said(file, line, numbers, whose, name, SCORE, part.get("pass")))


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=76,
    plainly="promptfoo results, with providers and assertions as raters.",
    exactly="JSON output: raters are providers (`response.output`) or assertions (`gradingResult.componentResults`).",
    sources=("promptfoo, Output formats: JSON",),
)
