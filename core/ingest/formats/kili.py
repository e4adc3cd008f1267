"""Kili, JSON: assets with the labels of each author, a question for each classification job."""

from collections.abc import Sequence

from ...text import plural, was_or_were
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_records, most_are, value_of_cell
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .regions import no_regions
from .source import Source

NAME, TITLE = "kili", "Kili (JSON)"
_LEFT_OUT = {
    "PREDICTION": "a model's prediction",
    "INFERENCE": "a model's prediction",
    "AUTOSAVE": "saved without being submitted",
}


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise assets with `externalId` and `labels`, which have `jsonResponse`."""
    return "assets with externalId, labels and jsonResponse" if most_are(files, _is_asset) else None


def _is_asset(record: object) -> bool:
    if not isinstance(record, dict) or "externalId" not in record:
        return False
    labels = record.get("labels")
    if not isinstance(labels, list):
        return False
    return not labels or (isinstance(labels[0], dict) and "jsonResponse" in labels[0])


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read the categories that each author chose for each job; several are a set of labels.

    Raises
    ------
    InputError
        No job is a classification.
    """
    asked, shown, n_others = Questionnaire(("asset", "label"), [file.name for file in files]), CaseTexts(), 0
    for file, number, line, asset in all_records(files, progress):
        if not isinstance(asset, dict) or not isinstance(labels := asset.get("labels"), list):
            continue
        case = text_of(asset.get("externalId")) or text_of(asset.get("id"))
        shown.add(case, {"text": asset.get("content")})
        for place, label in enumerate((one for one in labels if isinstance(one, dict)), 1):
            author = label.get("author")
            who = text_of(author.get("email")) or text_of(author.get("id")) if isinstance(author, dict) else ""
            asked.begin(line, (number, place), case, who, label.get("createdAt"), file=file)
            reason = _LEFT_OUT.get(text_of(label.get("labelType")), "")
            if reason or label.get("isLatestLabelForUser") is False:
                asked.drop(reason or "an earlier label by the same author")
                continue
            for job, response in _jobs(label.get("jsonResponse")).items():
                categories = response.get("categories") if isinstance(response, dict) else None
                if not isinstance(categories, list):
                    n_others += 1
                    continue
                names = [text_of(one.get("name")) for one in categories if isinstance(one, dict)]
                asked.answer(job, [names] if names else [])
    if n_others and not asked.has_answers:
        raise no_regions(TITLE, {"responses to jobs other than classification": n_others}, "classification jobs")
    others = f"{plural(n_others, 'response')} to jobs other than classification {was_or_were(n_others)} left out."
    notes = [others] if n_others else []
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(notes), SideFiles(cases=shown.table()))


def _jobs(response: object) -> dict:
    """Return the response to each job, which may be JSON in a text."""
    if isinstance(response, str):
        try:
            response = value_of_cell(response)
        except (ValueError, RecursionError):
            return {}
    return response if isinstance(response, dict) else {}


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=26,
    plainly="Kili classifications, with authors as raters and jobs as questions.",
    exactly="JSON: assets with `externalId` and `labels` (`author.email`, `jsonResponse`, `labelType`).",
    sources=("Kili, export in the Kili format",),
)
