"""Side files among tables: classes with order and risk, cases with text or group, gold, predictions."""

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ...annotations.vocabulary import encode, to_numbers
from ...errors import InputError
from ...text import first_twice
from ..column_evidence import is_fact_by_name
from ..column_mapping import guess_mapping, likeness
from ..companion_files import CaseTable, ClassTable, SideFiles
from ..images import is_picture
from ..label_columns import NO, YES
from .archive import is_archive, unpack
from .encoding import to_utf8
from .raw_table import RawTable
from .tables import open_tables

_LOOKED_AT = 200
_ROUNDED = 0.02
_MOST_COLUMNS = 2_000
SideKind = Literal["cases", "classes", "gold"]
_RISK = {"risk", "risk level", "severity"}
_ORDER = {"order", "position", "level", "index"}
_DISPLAY = {"display", "display name", "title", "shown as", "label shown"}
_TEXT = {"text", "sentence", "description", "comment", "question", "body"}
_ADDRESS = {
    "image",
    "address",
    "url",
    "path",
    "file",
    "filename",
    "file name",
    "image path",
    "image url",
    "img",
    "picture",
}
_SCORES = {"score", "probability", "prob", "confidence", "p"}
_CLASSIFIERS = {"classifier", "model", "system", "algorithm"}


def read_side_file(name: str, content: bytes, kind: SideKind) -> SideFiles:
    """Read a side file that the user declares as one of cases, classes or gold.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
    kind : {"cases", "classes", "gold"}

    Raises
    ------
    InputError
        It is not a table, or lacks the necessary column.
    """
    (_, raw), *_ = open_tables(name, content)
    side = side_of_table(raw, kind)
    if side is None:
        needs = {
            "cases": "a case column and a text, image, group or date column",
            "classes": "a class column and a risk, order or display name column",
            "gold": "a case column and a gold class column, with each case once",
        }[kind]
        raise InputError(
            f"Could not use {name}: none of its columns is suitable (found: {', '.join(map(repr, raw.columns[:8]))}).",
            f"It needs {needs}.",
        )
    return side


def side_of_table(raw: RawTable, kind: SideKind) -> SideFiles | None:
    """Return the data of a table on cases, classes or gold; None if it has no columns for that."""
    return {"cases": _cases, "classes": _classes, "gold": _gold}[kind](raw)


def read_class_list(name: str, content: bytes) -> ClassTable:
    """Read the closed list of classes in a file: a class table, or one name per line.

    Raises
    ------
    InputError
        The file has no name, or repeats one.
    """
    try:
        tables = open_tables(name, content)
    except InputError:
        tables = []  # one column, or lines that hold commas
    side = _classes(tables[0][1]) if tables else None
    if side is not None and side.classes is not None:
        return side.classes
    names = [line.strip() for line in to_utf8(content)[0].decode().splitlines() if line.strip()]
    if names and likeness(names[0], "answer") == 2 and len(names) > 1:
        names = names[1:]  # the head of a column
    if not names or len(set(names)) < len(names):
        twice = first_twice(names)
        what = f"repeats the class {twice!r}" if twice else "contains no class names"
        raise InputError(f"Could not use {name}: it {what}.", "List each class once, one per line.")
    return ClassTable(tuple(names))


def read_pictures(name: str, content: bytes) -> SideFiles:
    """Read the pictures of cases in a zip archive, or a single picture.

    Raises
    ------
    InputError
        See `core.ingest.formats.archive.unpack`; or there is no picture in it.
    """
    files = unpack(name, content) if is_archive(content) else [(name, content)]
    pictures = tuple((path, data) for path, data in files if is_picture(data))
    if not pictures:
        raise InputError(
            f"Could not read {name}: it contains no PNG, JPEG, GIF or WebP image.", "Put the case images in a ZIP file."
        )
    return SideFiles(images=pictures)


def recognise_side(name: str, raw: RawTable, content: bytes) -> SideFiles | None:
    """Return a table among several files as a side file; None if it may have the annotations itself.

    Parameters
    ----------
    name : str
        Name of the file; "gold", "prediction" or "case" in it count.
    raw : RawTable
    content : bytes
        File as it was uploaded; predictions stay unread.
    """
    stem = name.replace("\\", "/").rsplit("/", 1)[-1].casefold()
    plain = set(map(_plain, raw.columns))
    if "prediction" in stem or (plain & _CLASSIFIERS and plain & (_SCORES | {"rank"})):
        return SideFiles(predictions=((name, content),))
    if _holds_probabilities(raw):
        return SideFiles(predictions=((name, content),))
    if any(likeness(column, "rater") == 2 for column in raw.columns):
        return None
    if side := _classes(raw):
        return side
    named_gold = is_named_gold(name, raw)
    if named_gold and len(raw.columns) == 2 and raw.has_header and not any(map(_says_something, raw.columns)):
        return None  # the first row may be no header: `tables_beside.set_apart` looks
    if named_gold or any(likeness(column, "gold") == 2 for column in raw.columns):
        return _gold(raw)
    if plain & (_TEXT | _ADDRESS) or any(word in stem for word in ("case", "item", "task", "image", "patient")):
        return _cases(raw)
    return None


def is_named_gold(name: str, raw: RawTable) -> bool:
    """Check that the name of a file indicates gold; short names count only with two columns, as raters use them too.

    Parameters
    ----------
    name : str
    raw : RawTable
    """
    return is_gold_name(name, short=len(raw.columns) == 2)


def is_gold_name(name: str, *, short: bool) -> bool:
    """Check that the name of a file indicates gold, by a short word such as gt only if ``short``."""
    stem = name.replace("\\", "/").rsplit("/", 1)[-1].casefold()
    if any(word in stem for word in ("gold", "truth", "true", "reference", "control")):
        return True
    return short and bool({"gt", "correct"} & set(re.split(r"[\W_]+", stem)))


def _says_something(column: str) -> bool:
    return any(likeness(column, role) == 2 for role in ("case", "answer", "gold")) or _plain(column) in {"id", "key"}


def _holds_probabilities(raw: RawTable) -> bool:
    """Return whether most columns are shares that add up to one in every row, as a classifier gives them to classes."""
    sums = np.zeros(min(raw.table.num_rows, _LOOKED_AT))
    n_columns, shares = 0, False
    for column in raw.columns[:_MOST_COLUMNS]:
        coded = encode(raw.table[column].slice(0, _LOOKED_AT))
        values = to_numbers(coded.values)
        if len(values) and (values >= 0).all() and (values <= 1).all():  # NaN is neither
            sums += np.append(values, 0.0)[coded.code]
            n_columns += 1
            shares |= bool((values % 1).any())
    fractional = shares and n_columns > 1 and 2 * n_columns > len(raw.columns)
    return fractional and bool((abs(sums - 1) < _ROUNDED).all())


def _plain(column: str) -> str:
    return " ".join(column.casefold().replace("_", " ").replace("-", " ").split())


def _named(raw: RawTable, names: set[str]) -> str | None:
    return next((column for column in raw.columns if _plain(column) in names), None)


def _column(raw: RawTable, column: str | None, order: Sequence[int]) -> tuple[str, ...] | None:
    if column is None:
        return None
    cells = raw.table[column].to_pylist()
    return tuple(cells[row].strip() for row in order)


def _classes(raw: RawTable) -> SideFiles | None:
    """Return a class table: a column of classes, each once, and one of risk, order or display names."""
    name = next((column for column in raw.columns if likeness(column, "answer") == 2), None)
    name = name or next((column for column in raw.columns if _plain(column) in ("name", "id")), None)
    risk, order, display = (_named(raw, names) for names in (_RISK, _ORDER, _DISPLAY))
    if name is None or (risk is None and order is None and display is None):
        return None
    if any(likeness(column, "case") == 2 for column in raw.columns):
        return None
    names = [cell.strip() for cell in raw.table[name].to_pylist()]
    rows = [row for row, cell in enumerate(names) if cell]
    if len({names[row] for row in rows}) < len(rows):
        return None
    if order is not None:
        places = raw.table[order].to_pylist()
        try:
            rows.sort(key=lambda row: float(places[row]))
        except ValueError:
            raise InputError(
                f"Could not read the order of classes: column {order!r} has values that are not numbers.",
                "Number the classes 1, 2, 3.",
            ) from None
    shown, risks = (_column(raw, column, rows) for column in (display, risk))
    return SideFiles(classes=ClassTable(tuple(names[row] for row in rows), shown, risks, ordered=order is not None))


def _gold(raw: RawTable) -> SideFiles | None:
    """Return gold classes: a column of cases, each once, and one of classes."""
    guess = guess_mapping(raw.columns)
    case = guess.case or (raw.columns[0] if len(raw.columns) == 2 else None)
    gold = next((column for column in raw.columns if likeness(column, "gold") == 2), guess.answer)
    gold = gold or next((column for column in raw.columns if column != case and len(raw.columns) == 2), None)
    if gold is None and case is not None and _are_marks(raw, [column for column in raw.columns if column != case]):
        gold = next(column for column in raw.columns if column != case)
    if case is None or gold is None or gold == case:
        return None
    given = _pairs(raw, case, gold)
    if not given or len({one for one, _ in given}) < len(set(given)):
        return None
    others = [column for column in raw.columns if column != case and not is_fact_by_name(column)]
    several = gold in others and len(others) > 1 and likeness(gold, "gold") < 2
    return SideFiles(gold=dict(given), golds={c: dict(_pairs(raw, case, c)) for c in others} if several else None)


def _are_marks(raw: RawTable, columns: Sequence[str]) -> bool:
    """Return whether at least two columns have nothing but 0 and 1, as labels of a case have."""
    given = ({text.strip().casefold() for text in raw.table[column].to_pylist()} for column in columns)
    return len(columns) > 1 and all(values - {""} and values - {""} <= YES | NO for values in given)


def _pairs(raw: RawTable, case: str, column: str) -> list[tuple[str, str]]:
    """Return the case and the value of a column in each row that has both."""
    pairs = zip(raw.table[case].to_pylist(), raw.table[column].to_pylist(), strict=True)
    return [(one.strip(), known.strip()) for one, known in pairs if one.strip() and known.strip()]


def _cases(raw: RawTable) -> SideFiles | None:
    """Return a case table: a column of cases, each once, and others of text, address, group or date."""
    roles = {"text": _named(raw, _TEXT), "address": _named(raw, _ADDRESS)}
    rest = [column for column in raw.columns if column not in roles.values()]
    case = guess_mapping(rest).case if rest else None
    if case is None and rest and (_plain(rest[0]) in ("id", "row") or any(roles.values())):
        case = rest[0]
    for role in ("group", "time"):
        roles[role] = next((c for c in rest if c != case and likeness(c, role) == 2), None)
    if case is None or not any(roles.values()):
        return None
    ids = [cell.strip() for cell in raw.table[case].to_pylist()]
    rows = list({cell: row for row, cell in reversed(list(enumerate(ids))) if cell}.values())[::-1]
    if len(rows) < sum(map(bool, ids)):
        return None
    parts = {role: _column(raw, column, rows) for role, column in roles.items()}
    return SideFiles(cases=CaseTable(tuple(ids[row] for row in rows), **parts))
