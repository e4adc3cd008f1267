"""Additions to a dataset: predictions, selections, AI raters, links, people with access, choices, other questions.

They are on disk under the address of the dataset: permanently for saved data and samples, for others while the server
runs. So they are the same in every tab, after a reload, and for everybody who is sent the address.
"""

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from .annotations.named_selection import Selection
from .errors import InputError
from .ingest.samples import SAMPLES
from .library import is_kept, present_digest
from .machines.marks import Machine
from .runtime.files import discard, unkept_folder, write_whole
from .runtime.locks import alone
from .settings import current_settings

_INDEX, _LOCK = "belongings.json", "belongings"
_KINDS = ("predictions", "studies")  # of files
_DRAFTS = "drafts"  # folder of a dataset's: what people typed in reviews and did not record, a file per person
_MOST_DRAFTS, _LONGEST_DRAFT = 50, 50_000  # cases, characters
_lock = threading.Lock()


def predictions_of(address: str) -> dict[str, bytes | InputError]:
    """Return files of predictions by name, as they were added, or the error if one cannot be read any more."""
    return _files_of(address, "predictions")


def add_predictions(address: str, name: str, content: bytes) -> None:
    """Add a file of predictions; replace one with the same name.

    Parameters
    ----------
    address : str
        Address of the dataset: its digest, or the name of a sample.
    name : str
        Name of the classifier.
    content : bytes
        File as it was uploaded.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    _add_file(address, "predictions", name, content)


def remove_predictions(address: str) -> None:
    """Remove all files of predictions that were added."""
    _remove_files(address, "predictions")


def studies_of(address: str) -> dict[str, bytes | InputError]:
    """Return the files of reader studies by name, or the reason why one cannot be read any more."""
    return _files_of(address, "studies")


def add_study(address: str, name: str, content: bytes) -> None:
    """Add a file of a reader study; one of the same name is replaced.

    Parameters
    ----------
    address : str
        Address of the dataset.
    name : str
        Name of the file.
    content : bytes

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    _add_file(address, "studies", name, content)


def remove_studies(address: str) -> None:
    """Remove all files of reader studies that were added."""
    _remove_files(address, "studies")


def selections_of(address: str) -> dict[str, str]:
    """Return named selections, each as `core.annotations.named_selection.Selection.to_text` wrote it."""
    return dict(_read(address).get("selections", {}))


def add_selection(address: str, name: str, text: str) -> None:
    """Save a selection under a name.

    Parameters
    ----------
    address : str
        Address of the dataset.
    name : str
    text : str
        Selection as it is in an address.
    """
    _change(address, lambda told, _: told.setdefault("selections", {}).__setitem__(name, text))


def remove_selection(address: str, name: str) -> None:
    """Remove the selection saved under a name, if there is one."""
    _change(address, lambda told, _: told.get("selections", {}).pop(name, None))


def machines_of(address: str, told_by_file: Iterable[Machine] = ()) -> tuple[Machine, ...]:
    """Return raters who are marked as AI raters.

    Parameters
    ----------
    address : str
        Address of the dataset.
    told_by_file : iterable of Machine
        AI raters that the file itself names, used if nobody has marked or unmarked any.
    """
    told = _read(address).get("machines")
    if told is None:
        return tuple(told_by_file)
    return tuple(Machine.from_dict(name, said) for name, said in told.items()) if isinstance(told, dict) else ()


def has_marks(address: str) -> bool:
    """Return whether somebody has marked AI raters, or stated that there are none.

    Parameters
    ----------
    address : str
        Address of the dataset.
    """
    return _read(address).get("machines") is not None


def mark_machines(address: str, machines: Iterable[Machine]) -> None:
    """Save which raters are AI raters, all of them; write nothing if it is already saved.

    Parameters
    ----------
    address : str
        Address of the dataset.
    machines : iterable of Machine
    """
    marked = {machine.name: machine.to_dict() for machine in machines}
    if marked != _read(address).get("machines"):
        _change(address, lambda told, _: told.__setitem__("machines", marked))


def chosen_for(address: str) -> dict[str, Any]:
    """Return the last choices: "model", "reliability"."""
    return dict(_read(address).get("chosen", {}))


def choose(address: str, chosen: dict[str, Any]) -> None:
    """Save the present choices; write nothing if they are already saved."""
    if chosen != chosen_for(address):
        _change(address, lambda told, _: told.__setitem__("chosen", chosen))


def questions_of(address: str) -> dict[str, str]:
    """Return the digests of all questions of a dataset's upload, by name; empty if it has only one question."""
    told = _read(address).get("questions", {})
    return {str(name): present_digest(str(digest)) for name, digest in told.items()} if isinstance(told, dict) else {}


def set_questions(address: str, questions: Mapping[str, str]) -> None:
    """Record the questions that the upload of a dataset has.

    Parameters
    ----------
    address : str
        Address of the dataset.
    questions : mapping of str to str
        Names to digests, in the order of the file.
    """
    if dict(questions) != questions_of(address):
        _change(address, lambda told, _: told.__setitem__("questions", dict(questions)))


def owners_of(address: str) -> tuple[str, ...]:
    """Return the names of the owners of these data; empty if nobody was signed in when they were added."""
    return tuple(_read(address).get("owners", ()))


def shared_with(address: str) -> tuple[str, ...]:
    """Return the names of the people with whom their owner shares the data."""
    return tuple(_read(address).get("shared", ()))


def groups_with(address: str) -> tuple[str, ...]:
    """Return the names of the groups with which their owner shares the data."""
    return tuple(_read(address).get("groups", ()))


def set_people(
    address: str, owners: tuple[str, ...], shared: tuple[str, ...], groups: tuple[str, ...] | None = None
) -> None:
    """Save the owners of data, and with whom they are shared.

    Parameters
    ----------
    address : str
        Address of the dataset.
    owners, shared : tuple of str
        Names of people.
    groups : tuple of str, optional
        Groups of people; if omitted, they do not change.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    said = {"owners": list(owners), "shared": list(shared)} | ({} if groups is None else {"groups": list(groups)})
    _change(address, lambda told, _: told.update(said))


def link_of(address: str) -> str:
    """Return the link template of cases, with ``{case}`` in it; empty if none was set."""
    return str(_read(address).get("link", ""))


def set_link(address: str, template: str) -> None:
    """Set the link template of cases.

    Parameters
    ----------
    address : str
        Address of the dataset.
    template : str
        Template such as ``https://viewer.example/case/{case}``; empty for none.

    Raises
    ------
    InputError
        The template is not an address of a web page, or has no place for the case.
    """
    if template:
        case_link(template, "1")
    _change(address, lambda told, _: told.__setitem__("link", template))


def case_link(template: str, case_id: str) -> str:
    """Return the address of one case; its id is escaped, so that it cannot change the rest of the address.

    Raises
    ------
    InputError
        See `set_link`.
    """
    parts = urlsplit(template)
    if parts.scheme not in ("http", "https") or not parts.hostname or any(letter.isspace() for letter in template):
        raise InputError(f"Could not use {template!r}: it is not a web address.", "Start the address with https://.")
    if "{case}" not in template or "{case}" in parts.netloc:
        raise InputError(
            f"Could not use {template!r}: it has no placeholder for the case name.",
            "Put {case} after the host name, where the case name belongs.",
        )
    return template.replace("{case}", quote(case_id, safe=""))


def bring_over(before: str, after: str, raters: Callable[[Iterable[str]], tuple[str, ...]] = tuple) -> None:
    """Add what belongs to an earlier reading of a dataset to the present one; replace nothing.

    Parameters
    ----------
    before, after : str
        Digests.
    raters : callable
        Present names of raters by those of the earlier reading, in marks of AI raters and in selections.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    told_before, folder_before = _read(before), _folder(before)
    if not told_before:
        return
    if isinstance(marked := told_before.get("machines"), dict):
        told_before["machines"] = {now: told for name, told in marked.items() for now in raters([name])}
    if named := told_before.get("selections"):
        told_before["selections"] = {name: _with_raters(text, raters) for name, text in named.items()}

    def change(told: dict[str, Any], folder: Path) -> None:
        for name, value in told_before.items():
            if isinstance(value, list):  # people
                told[name] = list(dict.fromkeys((*told.get(name, ()), *value)))
            elif name in (*_KINDS, "selections"):
                told[name] = value | told.get(name, {})
            else:
                told.setdefault(name, value)
        for path in (path for kind in _KINDS for path in folder_before.glob(f"*.{kind}")):
            if not (folder / path.name).exists():
                shutil.copyfile(path, folder / path.name)

    _change(after, change)


def _with_raters(text: str, raters: Callable[[Iterable[str]], tuple[str, ...]]) -> str:
    """Return a selection with the present names of its raters; as it was if none of them exists any more."""
    try:
        selection = Selection.from_text(text)
    except InputError:  # of a version to come
        return text
    present = raters(selection.raters or ())
    return replace(selection, raters=present).to_text() if present else text


def drafts_of(address: str, person: str) -> dict[str, Any]:
    """Return what a person typed in reviews of a dataset and did not record, by case."""
    try:
        told = json.loads(_drafts_file(_folder(address), person).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def set_draft(address: str, person: str, case: str, typed: Mapping[str, Any]) -> None:
    """Save what a person has typed on a case, so that it survives the end of their session; forget it if empty.

    Parameters
    ----------
    address : str
        Address of the dataset.
    person : str
    case : str
        Case in its review session.
    typed : mapping
        Values of the form. The oldest drafts go if there are many, and a very long one is not saved.
    """
    path = _drafts_file(_folder(address), person)
    with _lock, suppress(OSError), alone(_LOCK):  # a draft that cannot be saved must not stop the review
        told = drafts_of(address, person)
        told.pop(case, None)
        if typed and len(json.dumps(typed)) <= _LONGEST_DRAFT:
            told[case] = dict(typed)
        if not told:
            discard(path)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(dict(list(told.items())[-_MOST_DRAFTS:])).encode())


def move_belongings(address: str) -> None:
    """Move what belongs to a dataset after it is saved, or is no longer saved."""
    after = _folder(address)
    with _lock, alone(_LOCK):
        for before in (unkept_folder() / "belongings" / _name(address), _lasting() / _name(address)):
            if before != after and before.is_dir() and not after.exists():
                after.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(before, after)


def forget_belongings(address: str) -> bool:
    """Erase what belongs to a dataset; return whether there was anything."""
    folders = [folder / _name(address) for folder in (unkept_folder() / "belongings", _lasting())]
    there = any(folder.is_dir() for folder in folders)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return there


def forget_person(name: str) -> int:
    """Remove a person from the owners and the people of all saved data, and their drafts; return from how many.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    found = 0
    for index in sorted(_lasting().glob(f"*/{_INDEX}")):
        try:
            with _lock, alone(_LOCK):
                told = json.loads(index.read_text(encoding="utf-8"))
                lists = {key: told[key] for key in ("owners", "shared") if name in told.get(key, ())}
                if lists:
                    told |= {key: [one for one in names if one != name] for key, names in lists.items()}
                    write_whole(index, json.dumps(told, ensure_ascii=False).encode())
        except (OSError, ValueError) as error:
            raise InputError(
                f"Could not change {index}: {error}.", "Check that the file can be read and written."
            ) from None
        found += bool(lists)
    for folder in (_lasting(), unkept_folder() / "belongings"):
        for path in folder.glob(f"*/{_DRAFTS}/{_name(name)}.json"):
            found += discard(path)
    return found


def changed_at(address: str) -> float:
    """Return when what belongs to a dataset was last changed, seconds since 1970-01-01 UTC; 0 if nothing does."""
    try:
        return (_folder(address) / _INDEX).stat().st_mtime
    except OSError:
        return 0.0


def _files_of(address: str, kind: str) -> dict[str, bytes | InputError]:
    """Return the files of a kind by name, or the reason why one cannot be read any more."""
    found: dict[str, bytes | InputError] = {}
    for name, file in _read(address).get(kind, {}).items():
        try:
            found[name] = (_folder(address) / file).read_bytes()
        except OSError as error:
            found[name] = InputError(
                f"Could not read the saved {kind} {name!r}: {error.strerror or error}.", "Add the file again."
            )
    return found


def _add_file(address: str, kind: str, name: str, content: bytes) -> None:
    file = f"{hashlib.blake2b(content, digest_size=16).hexdigest()}.{kind}"

    def change(told: dict[str, Any], folder: Path) -> None:
        write_whole(folder / file, content)
        told.setdefault(kind, {})[name] = file

    _change(address, change)


def _remove_files(address: str, kind: str) -> None:
    def change(told: dict[str, Any], folder: Path) -> None:
        told.pop(kind, None)
        for path in folder.glob(f"*.{kind}"):
            discard(path)

    _change(address, change)


def _lasting() -> Path:
    return current_settings().home / "belongings"


def _name(address: str) -> str:
    return hashlib.blake2b(address.encode(), digest_size=16).hexdigest()


def _drafts_file(folder: Path, person: str) -> Path:
    return folder / _DRAFTS / f"{_name(person)}.json"


def _folder(address: str) -> Path:
    lasts = is_kept(address) or any(sample.name == address for sample in SAMPLES)
    return (_lasting() if lasts else unkept_folder() / "belongings") / _name(address)


def _read(address: str) -> dict[str, Any]:
    """Return what the index says, for reading only: it is parsed once for each version of the file."""
    index = _folder(address) / _INDEX
    try:
        status = index.stat()
        told = _parsed(index, (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


@lru_cache(maxsize=256)
def _parsed(index: Path, version: tuple[int, ...]) -> Any:
    return json.loads(index.read_text(encoding="utf-8"))


def _change(address: str, change: Callable[[dict[str, Any], Path], None]) -> None:
    folder = _folder(address)
    with _lock:
        try:
            with alone(_LOCK):
                told = deepcopy(_read(address))
                folder.mkdir(parents=True, exist_ok=True)
                change(told, folder)
                write_whole(folder / _INDEX, json.dumps(told, ensure_ascii=False).encode())
        except OSError as error:
            raise InputError(
                f"Could not write to the folder {folder}: {error.strerror or error}.",
                "Free up disk space, or set PLURALITY_HOME to a writable folder.",
            ) from None
