"""lm-evaluation-harness, logged samples as JSON Lines: one file per model, with its answers and the targets."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from .content_columns import CaseTexts
from .evaluation_records import ANSWER, Log, Said, as_class, called, source_of
from .json_text import JsonFile, Progress, all_records, most_are
from .reader import Reader
from .source import Source

NAME, TITLE = "lm_eval", "lm-evaluation-harness (samples, JSONL)"
_KEYS = {"doc_id", "target", "filtered_resps"}


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records with `doc_id`, `target` and `filtered_resps`."""
    return "records with doc_id, target and filtered_resps" if most_are(files, _is_sample) else None


def _is_sample(record: object) -> bool:
    return isinstance(record, dict) and record.keys() >= _KEYS


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read the answer of each file's model: the number of the most probable choice, or the text; the target is gold."""
    names, tasks, log = _models(files), [_task(file.name) for file in files], Log([], CaseTexts(), {})
    for file, number, line, record in all_records(files, progress):
        if not isinstance(record, dict) or not _is_sample(record):
            log.said.append(
                Said(file, line, (number, 1), "", names[file], "", reason="the sample lacks doc_id or target")
            )
            continue
        case = called(tasks[file] if len(set(tasks)) > 1 else "", record["doc_id"])
        log.shown.add(case, record["doc"] if isinstance(record.get("doc"), dict) else {})
        if target := as_class(record["target"]):
            log.gold.setdefault(case, target)
        log.said.append(Said(file, line, (number, 1), case, names[file], ANSWER, _answer(record["filtered_resps"])))
    return source_of(NAME, TITLE, recognise(files) or "said so", files, log, ("sample", "answer"))


def _answer(responses: object) -> object:
    """Return filtered text, or for log-likelihoods of choices the number of the largest, None if tied."""
    if not isinstance(responses, list) or not responses:
        return None
    likely = [one[0] for one in responses if isinstance(one, list) and one and _is_number(one[0])]
    if len(likely) == len(responses) > 1:
        best = max(float(value) for value in likely)
        at = [place for place, value in enumerate(likely) if float(value) == best]
        return str(at[0]) if len(at) == 1 else None
    return responses[0] if isinstance(responses[0], str) else None


def _is_number(value: object) -> bool:
    try:
        return not isinstance(value, bool) and float(value) == float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def _task(name: str) -> str:
    """Return the task of ``samples_<task>_<date>.jsonl``."""
    return PurePosixPath(name.replace("\\", "/")).stem.removeprefix("samples_").rpartition("_")[0]


def _models(files: Sequence[JsonFile]) -> list[str]:
    """Return names of the models: the folder if each file has its own, else the name of the file."""
    paths = [PurePosixPath(file.name.replace("\\", "/")) for file in files]
    folders = [path.parent.name for path in paths]
    return folders if all(folders) and len(set(folders)) == len(folders) else [called(path.stem) for path in paths]


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=78,
    plainly="Logged samples from the lm-evaluation-harness, one file per model.",
    exactly="`samples_<task>_<date>.jsonl`: models are raters, `filtered_resps` annotations, and `target` gold.",
    sources=("lm-evaluation-harness, --log_samples",),
)
