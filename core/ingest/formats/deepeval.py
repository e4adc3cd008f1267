"""DeepEval, a test run as JSON: metrics judge the answer of each test case."""

from collections.abc import Sequence

from .content_columns import CaseTexts
from .evaluation_records import SCORE, Log, Said, called, source_of
from .json_text import JsonFile, Progress, all_records, most_are
from .questionnaire import text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "deepeval", "DeepEval (test run, JSON)"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records whose `testCases` have `metricsData`."""
    return "records whose test cases contain metrics" if most_are(files, _is_run) else None


def _cases(record: object) -> list:
    found = record.get("testCases", record.get("test_cases")) if isinstance(record, dict) else None
    return found if isinstance(found, list) else []


def _metrics(case: object) -> list:
    found = case.get("metricsData", case.get("metrics_data")) if isinstance(case, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _is_run(record: object) -> bool:
    cases = _cases(record)
    return bool(cases) and 2 * sum(bool(_metrics(case)) for case in cases) > len(cases)


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read whether each test case passed each metric; its score in the file is not read."""
    log = Log([], CaseTexts(), {})
    for file, number, line, record in all_records(files, progress):
        if not _is_run(record):
            log.said.append(
                Said(file, line, (number, 0), "", "", "", reason="the record is not a test run with metrics")
            )
            continue
        for place, case in enumerate(_cases(record), 1):
            metrics = _metrics(case)
            if not metrics:
                log.said.append(Said(file, line, (number, place), "", "", "", reason="the test case has no metrics"))
                continue
            name = text_of(case.get("name")) or f"test case {place}"
            log.shown.add(
                name, {"input": case.get("input"), "text": case.get("actualOutput", case.get("actual_output"))}
            )
            for metric in metrics:
                judge = called(metric.get("name"), metric.get("evaluationModel", metric.get("evaluation_model")))
                log.said.append(Said(file, line, (number, place), name, judge, SCORE, metric.get("success")))
    return source_of(NAME, TITLE, recognise(files) or "said so", files, log, ("run", "test case"))


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=77,
    plainly="A DeepEval test run, with metrics as raters of test cases.",
    exactly=(
        "A test run as JSON: each metric in `metricsData` is a rater, and `success` is its annotation of the test case."
    ),
    sources=("DeepEval, Test runs: TestRun, MetricData",),
)
