"""Datasets that the user saves: Parquet and JSON under the home folder, found again by their digest."""

import json
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from .annotations.dataset import Dataset
from .annotations.paired_items import PairedItems
from .errors import InputError, NotFoundError, PluralityError
from .ingest.build_dataset import ImportReport
from .ingest.case_content import read_case_facts, write_case_facts
from .ingest.case_facts import CaseFacts
from .ingest.saved_mappings import forget_dataset
from .runtime.encoding import DAMAGED, from_bytes, to_bytes
from .runtime.files import discard, draft_name, erase_whole, put_in_place, sweep_drafts, unkept_folder, write_whole
from .runtime.result_cache import kept_results
from .settings import current_settings
from .text import utc
from .version import __version__

_DIGEST = re.compile(r"[0-9a-f]{32}")
_PER_ANNOTATION = ("rater", "answer", "score", "time")
_PER_ENTRY = ("entry_class", "entry_block")
_META = "dataset.json"
_REPORT = "report.result"
_DAMAGED = (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, pa.ArrowException)


@dataclass(frozen=True, slots=True)
class Kept:
    """One line of the list of saved datasets.

    Attributes
    ----------
    digest, name, kind : str
    n_cases, n_raters, n_annotations : int
    kept_at : str
        Time as ISO 8601 in UTC.
    raters_identified : bool
        True if raters are identified.
    damaged : bool
        True if its description cannot be read: only its digest and the time of its folder are known, and it can be
        deleted, or saved again from its file.
    """

    digest: str
    name: str
    kind: str
    n_cases: int
    n_raters: int
    n_annotations: int
    kept_at: str
    raters_identified: bool = True
    damaged: bool = False


def keep(dataset: Dataset, facts: CaseFacts | None = None) -> Path:
    """Save a dataset under its digest; a second time changes only its name, or repairs damaged files.

    The folder appears whole or not at all: it is written next to its place and then moved. Facts on cases, if given,
    are in it and replace earlier ones.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    folder = current_settings().datasets / dataset.digest
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists() and _is_sound(dataset.digest):
            rename(dataset.digest, dataset.name)
            if facts is not None:
                write_case_facts(facts, folder)
            return folder
        draft = folder.parent / draft_name("keeping")
        draft.mkdir()
        try:
            _write(dataset, draft)
            if facts is not None:
                write_case_facts(facts, draft)
            if folder.exists():
                erase_whole(folder)
            put_in_place(draft, folder)
        except BaseException as error:
            shutil.rmtree(draft, ignore_errors=True)
            if not isinstance(error, OSError) or not _is_sound(dataset.digest):  # another process was quicker
                raise
    except OSError as error:
        raise _not_writable(error) from None
    return folder


def facts_of(digest: str) -> CaseFacts | None:
    """Return the facts on the cases of a saved dataset; None if there are none, or they cannot be read any more.

    Raises
    ------
    NotFoundError
        It was not saved, or has been deleted.
    """
    return read_case_facts(_folder(digest))


def is_kept(digest: str) -> bool:
    """Return whether a dataset of that digest is saved."""
    try:
        _folder(digest)
    except NotFoundError:
        return False
    return True


def kept() -> list[Kept]:
    """List all saved datasets, the latest first; mark as damaged those whose description cannot be read."""
    folders = [path for path in current_settings().datasets.glob("*") if _DIGEST.fullmatch(path.name) and path.is_dir()]
    entries = [_described(folder) for folder in folders]
    return sorted(entries, key=lambda entry: entry.kept_at, reverse=True)


def _described(folder: Path) -> Kept:
    try:
        meta = json.loads((folder / _META).read_text(encoding="utf-8"))
        name, kind, kept_at = (str(meta[key]) for key in ("name", "kind", "kept_at"))
        n_cases, n_raters, n_annotations = (int(meta[key]) for key in ("n_cases", "n_raters", "n_annotations"))
        identified = bool(meta["raters_identified"])
        datetime.fromisoformat(kept_at)
        return Kept(folder.name, name, kind, n_cases, n_raters, n_annotations, kept_at, identified)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        since = utc(folder.stat().st_mtime).isoformat(timespec="microseconds")
        return Kept(folder.name, f"Damaged dataset {folder.name[:8]}", "", 0, 0, 0, since, damaged=True)


def reopen(digest: str) -> Dataset:
    """Return a saved dataset by its digest.

    Raises
    ------
    NotFoundError
        It was not saved, or has been deleted.
    InputError
        Its files were changed or damaged since.
    """
    folder = _folder(digest)
    try:
        dataset = _read(folder)
        changed = dataset.digest != digest
    except (InputError, *_DAMAGED) as error:
        raise InputError(
            f"Could not read the saved dataset {digest[:8]} ({type(error).__name__}).",
            "Delete it, and open the original file again.",
        ) from None
    if changed:
        raise InputError(
            f"Could not open the saved dataset {digest[:8]}: its files have been changed.",
            "Delete it, and open the original file again.",
        )
    return dataset


def name_of(digest: str) -> str:
    """Return the name of a saved dataset, without its annotations.

    Raises
    ------
    NotFoundError
        It was not saved, or has been deleted.
    """
    return _described(_folder(digest)).name


def rename(digest: str, name: str) -> None:
    """Rename a saved dataset; its digest and address do not change."""
    name = " ".join(name.split())
    if not name:
        raise InputError("Could not save the dataset: the name is empty.", "Enter a name for the dataset.")
    path = _folder(digest) / _META
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
        write_whole(path, json.dumps({**meta, "name": name}, ensure_ascii=False).encode())
    except (OSError, TypeError, ValueError) as error:
        raise _not_writable(error) from None


def set_aside(dataset: Dataset, facts: CaseFacts | None, report: ImportReport | None) -> None:
    """Write data that are not saved to where the server finds them while it runs, whole or not at all.

    Parameters
    ----------
    dataset : Dataset
    facts : CaseFacts or None
        Facts on its cases.
    report : ImportReport or None
        Report on the rows of its file.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    folder = _aside(dataset.digest)
    draft = folder.parent / draft_name("keeping")
    try:
        draft.mkdir(parents=True)
        if facts is not None:
            write_case_facts(facts, draft)
        if report is not None:
            write_whole(draft / _REPORT, to_bytes(report, dataset))
        _write(dataset, draft)
        if folder.exists():
            erase_whole(folder)
        put_in_place(draft, folder)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        if fetch_aside(dataset.digest) is None:  # or another process was quicker
            raise _not_writable(error) from None


def fetch_aside(digest: str) -> tuple[Dataset, CaseFacts | None, ImportReport | None] | None:
    """Return the data that were set aside under that digest; None if there are none, or they cannot be read."""
    folder = _aside(digest)
    if not _DIGEST.fullmatch(digest) or not (folder / _META).exists():
        return None
    try:
        dataset = _read(folder)
        report = folder / _REPORT
        told = from_bytes(report.read_bytes(), dataset) if report.exists() else None
        return dataset, read_case_facts(folder), told
    except DAMAGED:
        return None


def erase_aside(digest: str) -> None:
    """Erase data that were set aside, if any."""
    with suppress(OSError):
        erase_whole(_aside(digest))


def stamp(digest: str) -> tuple[bool, int] | None:
    """Return a stamp that differs after each change of a dataset on disk by any process; None if it is not on disk.

    The stamp is whether it is saved, and when it was written, renamed or given facts.
    """
    for kept_there, folder in ((True, current_settings().datasets / digest), (False, _aside(digest))):
        with suppress(OSError):
            return kept_there, folder.stat().st_mtime_ns
    return None


def keep_no_more(digest: str) -> None:
    """Remove a dataset from the saved ones; its reviews stay, and continue if it is saved again."""
    try:
        erase_whole(_folder(digest))
    except OSError as error:
        raise _not_writable(error) from None


def continue_as(before: str, after: str) -> None:
    """Record that a dataset was read again, so that its earlier digest opens the present one; it is saved only once.

    Parameters
    ----------
    before, after : str
        Digests.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    folder = current_settings().datasets / before
    try:
        if is_kept(after):
            _continued().mkdir(parents=True, exist_ok=True)
            write_whole(_continued() / before, after.encode())
            if folder.is_dir():
                erase_whole(folder)
    except OSError as error:
        raise _not_writable(error) from None
    erase_aside(before)
    kept_results().erase(before)


def present_digest(digest: str) -> str:
    """Return the digest of a dataset since it was read again; the same digest if it was not."""
    seen = {digest}
    while _DIGEST.fullmatch(digest):
        try:
            digest = (_continued() / digest).read_text(encoding="utf-8")
        except OSError:
            break
        if digest in seen:
            break
        seen.add(digest)
    return digest


def leave_apart(earlier: str, present: str) -> None:
    """Save that what is stored under an earlier digest of a dataset stays there.

    Parameters
    ----------
    earlier, present : str
        Digests of the dataset as it was read before, and as it is now.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    try:
        _continued().mkdir(parents=True, exist_ok=True)
        write_whole(_continued() / f"{earlier}-{present}", present.encode())
    except OSError as error:
        raise _not_writable(error) from None


def is_left_apart(earlier: str, present: str) -> bool:
    """Return whether `leave_apart` was called with these digests."""
    return (_continued() / f"{earlier}-{present}").is_file()


def _continued() -> Path:
    return current_settings().home / "continued"


def _aside(digest: str) -> Path:
    return unkept_folder() / "datasets" / digest


def forget(digest: str) -> None:
    """Erase a saved dataset from the disk, its reviews first, and its results.

    Raises
    ------
    NotFoundError
        It was not saved, or has been deleted.
    StoreError
        Its reviews cannot be erased; the dataset is not deleted either.
    InputError
        The home folder cannot be written.
    """
    folder = _folder(digest)
    # Loaded here, because the database and its migrations take time, and no other work on datasets needs them.
    from .review.store import forget_reviews

    forget_reviews(digest)
    try:
        erase_whole(folder)
    except OSError as error:
        raise _not_writable(error) from None
    erase_aside(digest)
    kept_results().erase(digest)
    for path in _continued().glob("*"):
        with suppress(OSError):
            if path.name.startswith(digest) or path.read_text(encoding="utf-8") == digest:
                discard(path)
    forget_dataset(digest)


def sweep() -> None:
    """Remove what killed processes left: incomplete files and datasets, and results of data that are not saved."""
    settings = current_settings()
    sweep_drafts(settings.home)
    sweep_drafts(settings.datasets)
    belongings = settings.home / "belongings"
    for folder in (belongings, settings.home / "mappings", *_folders(settings.datasets), *_folders(belongings)):
        sweep_drafts(folder, named_whole=True)


def _folders(place: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in place.iterdir() if path.is_dir()]
    return []


def _is_sound(digest: str) -> bool:
    try:
        reopen(digest)
    except PluralityError:
        return False
    return True


def _folder(digest: str) -> Path:
    folder = current_settings().datasets / digest
    if not _DIGEST.fullmatch(digest) or not folder.is_dir():
        raise NotFoundError(
            f"Could not find the dataset {digest[:12]!r} on this computer. Open the original file again."
        )
    return folder


def _not_writable(error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(
        f"Could not write to the folder {current_settings().datasets}: {reason}.",
        "Free up disk space, or set PLURALITY_HOME to a writable folder.",
    )


def _write(dataset: Dataset, folder: Path) -> None:
    columns = {"case": dataset.case_of_annotation}
    columns |= {name: array for name in _PER_ANNOTATION if (array := getattr(dataset, name)) is not None and array.size}
    if dataset.traits.lists_classes:
        columns["n_entries"] = np.diff(dataset.entry_ptr).astype(np.int32)
        entries = {name: getattr(dataset, name) for name in _PER_ENTRY}
        parquet.write_table(pa.table(entries), folder / "entries.parquet")
    if dataset.pairs is not None and dataset.pairs.swapped is not None:
        columns["swapped"] = dataset.pairs.swapped
    parquet.write_table(pa.table(columns), folder / "annotations.parquet")
    cases: dict[str, Any] = {"case": list(dataset.cases)}
    if dataset.case_group is not None:
        cases["group"] = list(dataset.case_group)
    if dataset.gold is not None:
        cases["gold"] = dataset.gold
    if dataset.gold_sets is not None:
        cases["gold_set"] = list(dataset.gold_sets)
    if dataset.gold_scores is not None:
        cases["gold_score"] = dataset.gold_scores
    if dataset.pairs is not None:
        cases |= {f"item_{place + 1}": dataset.pairs.of_case[:, place] for place in (0, 1)}
    parquet.write_table(pa.table(cases), folder / "cases.parquet")
    meta = {
        "name": dataset.name,
        "kind": dataset.kind,
        "n_cases": dataset.n_cases,
        "n_raters": dataset.n_raters,
        "n_annotations": dataset.n_annotations,
        "kept_at": datetime.now(UTC).isoformat(timespec="microseconds"),
        "version": __version__,
        "raters": dataset.raters,
        "classes": dataset.classes,
        "ordinal": dataset.ordinal,
        "raters_identified": dataset.raters_identified,
        "class_risk": None if dataset.class_risk is None else dataset.class_risk.tolist(),
    } | ({} if dataset.pairs is None else {"items": dataset.pairs.items})
    (folder / _META).write_text(json.dumps(meta, ensure_ascii=False), encoding="utf-8")


def _read(folder: Path) -> Dataset:
    meta = json.loads((folder / _META).read_text(encoding="utf-8"))
    annotations = parquet.read_table(folder / "annotations.parquet")
    cases = parquet.read_table(folder / "cases.parquet")
    names = tuple(cases["case"].to_pylist())
    counts = np.bincount(annotations["case"].to_numpy(), minlength=len(names))
    fields = {
        name: np.ascontiguousarray(annotations[name].to_numpy())
        for name in _PER_ANNOTATION
        if name in annotations.column_names
    }
    if meta["kind"] in ("ranking", "set"):
        entries = parquet.read_table(folder / "entries.parquet")
        fields["entry_ptr"] = np.concatenate([[0], np.cumsum(annotations["n_entries"].to_numpy())]).astype(np.int64)
        fields |= {name: np.ascontiguousarray(entries[name].to_numpy()) for name in _PER_ENTRY}
    return Dataset(
        name=meta["name"],
        kind=meta["kind"],
        cases=names,
        raters=tuple(meta["raters"]),
        classes=tuple(meta["classes"]),
        case_ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        ordinal=meta["ordinal"],
        raters_identified=meta["raters_identified"],
        class_risk=None if meta["class_risk"] is None else np.array(meta["class_risk"], np.int8),
        case_group=tuple(cases["group"].to_pylist()) if "group" in cases.column_names else None,
        gold=cases["gold"].to_numpy().astype(np.int32) if "gold" in cases.column_names else None,
        gold_sets=np.array(cases["gold_set"].to_pylist(), np.int8) if "gold_set" in cases.column_names else None,
        gold_scores=cases["gold_score"].to_numpy() if "gold_score" in cases.column_names else None,
        pairs=None if "items" not in meta else _pairs(meta["items"], cases, annotations),
        **fields,
    )


def _pairs(items: list[str], cases: pa.Table, annotations: pa.Table) -> PairedItems:
    """Return the items of the cases of a saved dataset of comparisons."""
    of_case = np.stack([cases[f"item_{place}"].to_numpy() for place in (1, 2)], 1)
    swapped = annotations["swapped"].to_numpy() if "swapped" in annotations.column_names else None
    return PairedItems(tuple(items), of_case, swapped)
