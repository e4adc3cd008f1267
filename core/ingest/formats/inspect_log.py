"""Inspect, logs of evaluations as JSON: models answer samples, and scorers judge each answer."""

from collections.abc import Sequence

from .content_columns import CaseTexts
from .evaluation_records import ANSWER, SCORE, Log, Said, as_class, as_object, called, source_of
from .json_text import JsonFile, Progress, all_records, most_are
from .questionnaire import text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "inspect", "Inspect (evaluation log, JSON)"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records with `eval` and `samples`."""
    return "records with eval and samples" if most_are(files, _is_log) else None


def _is_log(record: object) -> bool:
    return isinstance(record, dict) and isinstance(record.get("eval"), dict) and isinstance(record.get("samples"), list)


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read the answers of models and the scores of scorers; the target of a sample is gold of its answers."""
    log = Log([], CaseTexts(), {})
    for file, number, line, record in all_records(files, progress):
        if not isinstance(record, dict) or not _is_log(record):
            log.said.append(Said(file, line, (number, 0), "", "", "", reason="the log lacks eval or samples"))
            continue
        model = called(record["eval"].get("model"))
        for place, sample in enumerate(record["samples"], 1):
            _sample(log, sample, model, file, line, (number, place))
    return source_of(NAME, TITLE, recognise(files) or "said so", files, log, ("log", "sample"))


def _sample(log: Log, sample: object, model: str, file: int, line: int, numbers: tuple[int, int]) -> None:
    if not isinstance(sample, dict) or text_of(sample.get("id")) == "":
        log.said.append(Said(file, line, numbers, "", model, "", reason="the sample has no id"))
        return
    case, epoch = text_of(sample["id"]), sample.get("epoch", 1)
    log.shown.add(case, {"input": _asked(sample.get("input"))})
    if target := as_class(sample.get("target")):
        log.gold.setdefault(case, target)
    scores = as_object(sample.get("scores"))
    judged = {name: score if isinstance(score, dict) else {"value": score} for name, score in scores.items()}
    answer = next((score["answer"] for score in judged.values() if as_class(score.get("answer"))), None)
    log.said.append(Said(file, line, numbers, case, model, ANSWER, answer))
    whose = called(case, model, f"epoch {epoch}" if epoch not in (1, None) else "")
    log.said.extend(
        [Said(file, line, numbers, whose, name, SCORE, score.get("value")) for name, score in judged.items()]
    )


def _asked(value: object) -> str:
    """Return the question of a sample: its text, or the last message of a conversation."""
    if isinstance(value, list):
        value = next((one.get("content") for one in reversed(value) if isinstance(one, dict)), "")
    return value if isinstance(value, str) else ""


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=75,
    plainly="Inspect log with models' answers and their scores.",
    exactly="EvalLog as JSON: raters are models (answers to `samples`) or scorers (`scores`); `target` is gold.",
    sources=("Inspect, Log Files: EvalLog, EvalSample, Score",),
)
