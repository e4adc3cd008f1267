"""Display of results: a few lines in a terminal, a small table in a notebook, a DataFrame in one call."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from .errors import OptionError
from .options import check_choice
from .text import html_text, number, plural, shorten, significant, without_controls

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
WIDTH = 76
ROWS, ROWS_HTML, COLUMNS_HTML = 2, 8, 12
_CELL = 18
_COUNTED = {
    "cases": ("case", "cases"),
    "raters": ("rater", "raters"),
    "classes": ("class", "classes"),
    "classifiers": ("classifier", "classifiers"),
    "coefficients": ("coefficient", "coefficients"),
    "standings": ("model", "models"),
    "flags": ("flag", "flags"),
}

Columns = Mapping[str, Sequence[Any] | np.ndarray]


class Result:
    """Result of a function of the library; a mixin of frozen dataclasses, which are made with ``repr=False``.

    A class lists its tables in ``TABLES``, and makes their columns in `_columns`; a class made of attributes only needs
    ``COLUMNS``. Objects that are part of keys of caches (goals, mappings, models) are not results, because their repr
    must be complete.
    """

    __slots__ = ()
    TABLES: ClassVar[tuple[str, ...]] = ()
    COLUMNS: ClassVar[tuple[str, ...]] = ()

    def to_frame(self, table: str | None = None, *, backend: Backend = "pandas") -> Any:
        """Return a table of the result.

        Parameters
        ----------
        table : str, optional
            One of ``TABLES``; the first if omitted.
        backend : {"pandas", "polars", "pyarrow"}
            Library of the DataFrame; it must be installed.

        Returns
        -------
        DataFrame or Table
            Text that does not exist is missing; undefined numbers are NaN or missing.

        Raises
        ------
        OptionError
            The result has no such table or none at all, or the library is unknown.
        """
        import narwhals as nw

        if not self.TABLES:
            raise OptionError(f"Could not make a table from {type(self).__name__}.", "Use its attributes.")
        table = self.TABLES[0] if table is None else table
        check_choice(table, f"The table of {type(self).__name__}", self.TABLES)
        check_choice(backend, "The backend", BACKENDS)
        columns = {name: _plain(values) for name, values in self._columns(table, None).items()}
        return nw.from_dict(columns, backend=backend).to_native()

    def _columns(self, table: str, most: int | None) -> Columns:
        """Return the columns of a table: all rows if ``most`` is None, else the first ``most`` of them or more.

        Text is a sequence of str or None, numbers are an array.
        """
        found = {name: getattr(self, name) for name in self.COLUMNS}
        return {
            name: value[:most] if isinstance(value, np.ndarray | tuple) else [value] for name, value in found.items()
        }

    def _facts(self) -> Iterable[str]:
        """Yield the parts of the first line: numbers of cases, raters and so on, and fields with a number or a word."""
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.name in _COUNTED and isinstance(value, tuple):
                yield from counted(self, (field.name,))
            elif isinstance(value, str | bool | int | float | np.bool_ | np.number) and value != "":
                yield f"{field.name}={_cell(value)}"

    def __repr__(self) -> str:
        name, facts = type(self).__name__, list(self._facts())
        if not self.TABLES:
            return "\n".join(_filled(f"{name}:", facts, 4))
        lines = _filled(f"{name}:", facts, 1)
        columns = self._columns(self.TABLES[0], ROWS + 1)
        lines += _as_text(columns)
        return "\n".join([*lines, _line(f"to_frame(): {', '.join(self.TABLES)}")])

    def _repr_html_(self) -> str:
        """Return the display for notebooks; everything that comes from a file is escaped."""
        head = "".join(f"<li>{html_text(fact)}</li>" for fact in self._facts())
        parts = [f"<strong>{html_text(type(self).__name__)}</strong>", f"<ul>{head}</ul>" if head else ""]
        if self.TABLES:
            parts.append(_as_html(self._columns(self.TABLES[0], ROWS_HTML + 1)))
            parts.append(f"<p>Tables: {html_text(', '.join(self.TABLES))}</p>")
        return f"<div>{''.join(parts)}</div>"


def counted(result: object, names: Iterable[str]) -> Iterable[str]:
    """Yield how many cases, raters and so on a result has, in words."""
    return (plural(len(getattr(result, name)), *_COUNTED[name]) for name in names)


def rows(results: Iterable[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return columns of attributes, one row for each of several results."""
    listed = list(results)
    return {name: [getattr(one, name) for one in listed] for name in names}


def stacked(values: Sequence[float], results: Sequence[Result], name: str = "reliability") -> Columns:
    """Return the first tables of several results below each other, each with its value in a first column.

    Parameters
    ----------
    values : sequence of float
        Values, one for each result.
    results : sequence of Result
        Results of one type.
    name : str
        Name of the column of values.
    """
    parts = [result._columns(result.TABLES[0], None) for result in results]
    found: dict[str, list[Any]] = {name: []}
    for value, part in zip(values, parts, strict=False):
        found[name] += [value] * min(map(len, part.values()))
        for column, cells in part.items():
            found.setdefault(column, []).extend(_plain(cells))
    return found


def named(names: Sequence[str], codes: np.ndarray) -> list[str | None]:
    """Return names by code; None for a negative code."""
    return [names[code] if code >= 0 else None for code in codes.tolist()]


def _plain(values: Sequence[Any] | np.ndarray) -> Sequence[Any] | np.ndarray:
    """Return a column as each library of DataFrames takes it: an array of numbers, or a list."""
    if isinstance(values, np.ndarray):
        return values.tolist() if values.dtype.kind in "OUS" else np.ascontiguousarray(values)
    return list(values)


def _cell(value: object) -> str:
    """Return a value for people: four digits, one line."""
    if value is None:
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        return _number(float(value))
    return shorten(" ".join(without_controls(value).split()), _CELL)


def _number(value: float) -> str:
    size = abs(value)
    if value == 0 or 0.001 <= size < 1000:
        return number(value, 3)
    return number(value, 1) if 1000 <= size < 1e9 else "–" if np.isnan(value) else significant(value, 3)


def _line(text: str) -> str:
    return shorten(text, WIDTH)


def _filled(first: str, words: Sequence[str], most: int) -> list[str]:
    """Return words separated by commas on at most ``most`` lines; what does not fit is left out, with an ellipsis."""
    lines = [first]
    for place, word in enumerate(words):
        longer = f"{lines[-1]} {word}" + ("," if place < len(words) - 1 else "")
        if len(longer) <= WIDTH - 2:
            lines[-1] = longer
        elif len(lines) < most:
            lines.append(_line(f"  {word}" + ("," if place < len(words) - 1 else "")))
        else:
            lines[-1] = f"{lines[-1].rstrip(',')} …"
            break
    return lines


def _as_text(columns: Columns) -> list[str]:
    """Return a heading and the first rows, with as many columns as fit."""
    shown: list[list[str]] = []
    width, n_rows = 0, min((len(values) for values in columns.values()), default=0)
    for name, values in columns.items():
        cells = [_cell(name), *(_cell(value) for value in values[:ROWS])]
        size = max(map(len, cells))
        if width + size > WIDTH - 3:
            shown.append(["…"] * len(cells))
            break
        shown.append([cell.ljust(size) for cell in cells])
        width += size + 2
    lines = ["  ".join(cells).rstrip() for cells in zip(*shown, strict=True)]
    if n_rows > ROWS:
        lines[-1] = f"{lines[-1]} …" if not lines[-1].endswith("…") else lines[-1]
    return lines


def _as_html(columns: Columns) -> str:
    names = list(columns)[:COLUMNS_HTML]
    more = "<th>…</th>" if len(columns) > COLUMNS_HTML else ""
    head = "".join(f"<th>{html_text(name)}</th>" for name in names) + more
    listed = [[_cell(value) for value in columns[name][:ROWS_HTML]] for name in names]
    body = [
        "<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in row) + "</tr>" for row in zip(*listed, strict=True)
    ]
    if min((len(columns[name]) for name in names), default=0) > ROWS_HTML:
        body.append(f"<tr>{'<td>…</td>' * len(names)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
