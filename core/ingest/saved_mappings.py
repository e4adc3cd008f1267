"""Choices of the user on a file, stored under the home folder and offered again for files of the same shape."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ..annotations.dataset import Kind
from ..annotations.ordering import sorted_as_now
from ..errors import InputError
from ..runtime.files import discard, write_whole
from ..settings import current_settings
from .answer_rules import Treatment
from .column_mapping import Mapping, Repeats, check_mapping
from .formats.source import Question, Source

_FOLDER = "mappings"
_VERSION = 1
_MOST_NOTED = 20  # datasets


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices of the user beyond the guesses; the same names as in `core.ingest.build_dataset.build_dataset`."""

    mapping: Mapping
    kind: Kind | None = None
    classes: tuple[str, ...] | None = None
    ordinal: bool = False
    repeats: Repeats = "keep"
    treatment: Treatment = field(default_factory=Treatment)
    unordered: bool = False  # said of classes that may be a scale


def remember(source: Source, question: Question, choices: Choices, whose: str = "") -> None:
    """Save the choices for files of this shape: of the same format and columns.

    Parameters
    ----------
    source : Source
    question : Question
        One of the source's questions; its columns are the shape.
    choices : Choices
    whose : str
        Person who chose, if people sign in.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    path = _path(source, question, whose)
    mapping = asdict(replace(choices.mapping.clear(), before=None))
    content = {
        "version": _VERSION,
        "format": source.format,
        "columns": question.raw.columns,
        "mapping": mapping,
        "kind": choices.kind,
        "classes": choices.classes,
        "ordinal": choices.ordinal,
        "repeats": choices.repeats,
        "renamed": dict(choices.treatment.renamed),
        "missing": sorted(choices.treatment.missing),
        "kept": sorted(choices.treatment.kept),
        "raters": dict(choices.treatment.raters),
        "unordered": choices.unordered,
    }
    _write(path, json.dumps(content, ensure_ascii=True).encode())


def recall(source: Source, question: Question, whose: str = "") -> Choices | None:
    """Return the choices on the last file of this shape; None if there are none, or the record is damaged.

    Parameters
    ----------
    source : Source
    question : Question
        One of the source's questions.
    whose : str
        See `remember`.
    """
    try:
        content = json.loads(_path(source, question, whose).read_text(encoding="utf-8"))
        if content["version"] != _VERSION:
            return None
        told = content["mapping"]
        tuples = {name: tuple(told[name]) for name in ("raters", "across")}
        signs = tuple(told["separators"]) if told["separators"] is not None else None
        named = tuple((dict(question.mapping.rater_names) | dict(told.get("rater_names", ()))).items())
        classes, ordinal = content["classes"], bool(content["ordinal"])
        choices = Choices(
            Mapping(**{**told, **tuples, "separators": signs, "instead": (), "before": None, "rater_names": named}),
            kind=content["kind"],
            classes=None if classes is None else sorted_as_now(classes, ordinal=ordinal),
            ordinal=ordinal,
            repeats=content["repeats"],
            treatment=Treatment(
                dict(content["renamed"]),
                frozenset(content["missing"]),
                frozenset(content.get("kept", ())),
                dict(content.get("raters", {})),
            ),
            unordered=bool(content.get("unordered", False)),
        )
        check_mapping(choices.mapping, question.raw.columns)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, InputError):
        return None
    return choices


def note_dataset(source: Source, question: Question, digest: str, whose: str = "") -> None:
    """Note that a dataset was made of a file of this shape; see `noted_datasets`.

    Parameters
    ----------
    source : Source
    question : Question
        One of the source's questions.
    digest : str
    whose : str
        See `remember`.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    known = noted_datasets(source, question, whose)
    if digest not in known:
        _write(_path(source, question, whose).with_suffix(".txt"), "\n".join([*known, digest][-_MOST_NOTED:]).encode())


def noted_datasets(source: Source, question: Question, whose: str = "") -> list[str]:
    """Return the digests of the last datasets that a person made of files of this shape.

    Parameters
    ----------
    source : Source
    question : Question
        One of the source's questions.
    whose : str
        See `remember`.
    """
    try:
        return _path(source, question, whose).with_suffix(".txt").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []


def every_noted() -> Iterator[list[str]]:
    """Yield the digests of the last datasets from files of each shape, in the order in which they were opened."""
    for path in (current_settings().home / _FOLDER).glob("*.txt"):
        with suppress(OSError, ValueError):
            yield path.read_text(encoding="ascii").split()


def forget_dataset(digest: str) -> None:
    """Remove a dataset from all notes; those that cannot be read or written keep it."""
    for path in (current_settings().home / _FOLDER).glob("*.txt"):
        with suppress(OSError, ValueError):
            known = path.read_text(encoding="ascii").split()
            if known == [digest]:
                discard(path)
            elif digest in known:
                write_whole(path, "\n".join(one for one in known if one != digest).encode())


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise InputError(
            f"Could not write to the folder {path.parent}: {error.strerror}.",
            "Free up disk space, or set PLURALITY_HOME to a writable folder.",
        ) from None


def _path(source: Source, question: Question, whose: str) -> Path:
    """Return the file of this shape. A table of one question is identified by columns, others also by the question."""
    asked = "" if source.format == "table" and len(source.questions) == 1 else question.name
    shape = json.dumps([source.format, asked, question.raw.columns, *([whose] if whose else [])])
    name = hashlib.sha256(shape.encode("utf-8", "replace")).hexdigest()[:32]
    return current_settings().home / _FOLDER / f"{name}.json"
