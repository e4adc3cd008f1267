"""The reader study that belongs to the dataset in use: its files, and what is taken as truth."""

from dataclasses import replace
from typing import Literal

from core.annotations.dataset import Dataset
from core.errors import InputError, PluralityError
from core.studies.files import StudyReading
from core.studies.study import ReadingStudy
from pages.shared.cache import access, studies, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import presentation

Source = Literal["files", "gold", "panel"]
SOURCES: dict[Source, str] = {"files": "of the files", "gold": "gold of these data", "panel": "raters of these data"}


def files() -> list[tuple[str, bytes | InputError]]:
    """Return the files added to the dataset in use, by name, unchanged, or the error if one cannot be read."""
    return list(access.ReadRight(visit.data).studies().items())


def add(name: str, content: bytes) -> bool:
    """Keep a file with the dataset in use, one of the same name is replaced; whether it is a new one."""
    if dict(files()).get(name) == content:
        return False
    access.WriteRight(visit.data).add_study(name, content)
    return True


def remove() -> None:
    """Remove the files (callback)."""
    access.WriteRight(visit.data).remove_studies()


def sources(dataset: Dataset) -> list[Source]:
    """Return the possible sources of truth of the study, the default first."""
    found: list[Source] = []
    plain = _read(None, None, "")
    if plain.study.truth is not None or plain.choices:
        found.append("files")
    shared = set(plain.study.cases) & set(dataset.cases)
    if not shared or dataset.kind != "class" or dataset.n_classes < 2:
        return found
    if dataset.gold is not None and any(
        code >= 0 for case, code in zip(dataset.cases, dataset.gold, strict=True) if case in shared
    ):
        found.append("gold")
    if dataset.raters_identified and dataset.n_raters > 1:
        found.append("panel")
    return found


def reading(dataset: Dataset) -> StudyReading | None:
    """Return the study in use with its truth as chosen; None if no file was added.

    Parameters
    ----------
    dataset : Dataset
        Dataset in use, whose raters may be the panel.

    Raises
    ------
    PluralityError
        The files cannot be read as a study.
    """
    if not files():
        return None
    offered = sources(dataset)
    source = visit.choice["study_truth"]
    source = source if source in offered else next(iter(offered), "files")
    positive = visit.choice["study_positive"] or ""
    truth = None
    if source == "gold":
        truth = {
            case: dataset.classes[code] for case, code in zip(dataset.cases, dataset.gold, strict=True) if code >= 0
        }
    found = _read(truth, dataset if source == "panel" else None, positive)
    return replace(found, study=_veiled(found.study))


def in_use(dataset: Dataset) -> ReadingStudy | None:
    """Return the study in use, for a report; None if there is none or it cannot be read."""
    try:
        found = reading(dataset)
    except PluralityError:
        return None
    return None if found is None or found.choices else found.study


def _read(truth: dict[str, str] | None, panel: Dataset | None, positive: str) -> StudyReading:
    usable = [(name, content) for name, content in files() if isinstance(content, bytes)]
    try:
        return studies.study_of(usable, truth, panel, positive)
    except InputError:
        if not positive:
            raise
        return studies.study_of(usable, truth, panel, "")  # chosen of other classes


def _veiled(study: ReadingStudy) -> ReadingStudy:
    """Return the study as it may be shown: in a presentation its readers have no names."""
    if not presentation.on():
        return study
    return replace(study, readers=tuple(f"Reader {place}" for place in range(1, len(study.readers) + 1)))


def open_readings(study: ReadingStudy, name: str, contents: dict[str, bytes]) -> str:
    """Open the readings as a dataset of scores to which the files belong; returns its address."""
    from core.ingest.read_files import Reading
    from core.studies.files import as_dataset

    address = cached.bring(Reading(as_dataset(study, name), None))
    right = access.WriteRight(address)
    for file, content in contents.items():
        right.add_study(file, content)
    return address
