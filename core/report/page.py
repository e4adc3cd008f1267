"""Write sections as one HTML file that needs no network: figures and their engine included, light and dark, printable.

The markup, the style and the script are in ``templates``. jinja2 escapes everything that a template prints; only the
style and the scripts are marked as safe. A Content-Security-Policy in the file forbids every request and every script
except those included, so that a name that was not escaped could do nothing.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

import jinja2
import numpy as np
import pandas as pd
from plotly.offline import get_plotlyjs
from plotly.utils import PlotlyJSONEncoder

from ..analyses.blocks import (
    Badges,
    Block,
    Details,
    Figure,
    Finding,
    Grid,
    Heading,
    KeyFigure,
    Row,
    Section,
    Selector,
    Words,
)
from ..analyses.schema import SHARES, Column
from ..figures.theme import DARK, LIGHT, title_in_lines
from ..text import exact, number, percent, probability, without_controls

_SHORT = 24
_HEADS = {
    "ci_low": "95% from",
    "ci_high": "to",
    "se": "standard error",
    "n_cases": "cases",
    "note": "remark",
}
_HEIGHT = 320


@dataclass(frozen=True, slots=True)
class _Cell:
    """Cell of a table, with the class of its element: a number, or short."""

    text: str
    mark: str = ""


def to_html(title: str, sections: list[Section], footer: str, kind: str = "report") -> bytes:
    """Return the whole file.

    Parameters
    ----------
    title, footer : str
        Plain text.
    sections : list of Section
    kind : {"report", "card"}
        Kind of file: a report, whose summary is printed on a page of its own, or a card for one rater.
    """
    figures: list[dict] = []
    shown = [
        {"key": one.key, "title": one.title, "blocks": [_block(block, figures) for block in printed(one.blocks)]}
        for one in sections
    ]
    scripts = [get_plotlyjs(), _text("script.js")]
    page = _environment().get_template("page.html")
    text = page.render(
        title=title,
        kind=kind,
        sections=shown,
        footer=footer,
        figures=figures,
        policy=_policy(scripts),
        style=_text("style.css"),
        scripts=scripts,
    )
    return text.encode()


def _text(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    """Return templates that escape everything they print, and fail on an undefined name."""
    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if hasattr(value, "__html__") else without_controls(value),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.policies["json.dumps_kwargs"] = {"cls": PlotlyJSONEncoder, "separators": (",", ":")}
    return found


def render(template: str, **values: object) -> str:
    """Render a template of this folder with the style of the report; everything else that it prints is escaped.

    Parameters
    ----------
    template : str
        Name of its file.
    **values
        What the template names.
    """
    return _environment().get_template(template).render(style=_text("style.css"), **values)


def _policy(scripts: Iterable[str]) -> str:
    """Return the Content-Security-Policy of a file with these scripts.

    Styles have no hashes, because the engine of the figures sets its own. They cannot fetch anything either. ``blob:``
    is needed to save a figure as a picture.
    """
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(f"'sha256-{one}'" for one in hashes),
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def printed(blocks: Iterable[Block]) -> Iterator[Words | Figure | Grid]:
    """Yield blocks as on paper: one below the other, without folded parts and parts that only a page can show."""
    for block in blocks:
        match block:
            case Row():
                for stack in block.stacks:
                    yield from printed(stack.blocks)
            case Details():
                if block.printed:
                    yield from printed(block.blocks)
            case Selector():
                yield from printed(block.then(*(one.opens for one in block.controls)))
            case Finding():
                yield Words((block.text, "."), "lead")
            case Heading():
                yield Words(block.text)
            case KeyFigure():
                yield Words(f"{block.label}: {block.value}{block.caption and f' ({block.caption})'}")
            case Badges():
                yield from (Words((*words, "."), "note") for words, _ in block.items)
            case Words() | Figure() | Grid():
                yield block


def _block(block: Words | Figure | Grid, figures: list[dict]) -> dict:
    """Return what the template of a block prints; add a figure's data to the list."""
    if isinstance(block, Words):
        kind = "note" if block.kind == "legend" else block.kind
        return {"template": "words.html", "kind": kind, "text": block.plain}
    if isinstance(block, Figure):
        both = {name: block.draw(theme).to_plotly_json() for name, theme in (("light", LIGHT), ("dark", DARK))}
        for spec in both.values():
            title_in_lines(spec)
        figures.append(both)
        height = int(both["light"]["layout"].get("height", _HEIGHT))
        return {"template": "figure.html", "alt": block.alt, "place": len(figures) - 1, "height": height}
    return _grid(block)


def cells_of(grid: Grid) -> tuple[str, list[str], list[list[str]]]:
    """Return caption, heads and cells of a table as it is printed."""
    shown = _grid(grid)
    return (
        shown["caption"],
        [cell.text for cell in shown["head"]],
        [[cell.text for cell in row] for row in shown["rows"]],
    )


def _grid(grid: Grid) -> dict:
    table = grid.table.iloc[: grid.most]
    columns = [column for column in grid.columns if not column.hidden and column.name in table]
    if columns:
        table = table[[column.name for column in columns]].copy()
        for column in columns:
            if column.unit == "count":
                table[column.name] = table[column.name].round().astype("Int64")
        table.columns = [column.shown for column in columns]
    caption = grid.caption
    if len(grid.table) > grid.most:
        caption += f" The first {grid.most:,} of {len(grid.table):,} rows are shown."
    marks = ["n" if pd.api.types.is_numeric_dtype(table.iloc[:, place]) else "" for place in range(table.shape[1])]
    head = [
        _Cell(_HEADS.get(str(name).removeprefix("right "), str(name)), mark)
        for name, mark in zip(table.columns, marks, strict=True)
    ]
    schema = columns or [Column("")] * table.shape[1]
    rows = [
        [_cell(value, mark, column) for value, mark, column in zip(row, marks, schema, strict=True)]
        for row in table.itertuples(index=False, name=None)
    ]
    return {"template": "grid.html", "caption": caption, "head": head, "rows": rows}


def _number(value: float, column: Column) -> str:
    if column.unit in SHARES:
        return probability(value) if column.unit == "probability" else percent(value)
    return exact(value) if column.unit == "reliability" else number(value, column.digits or 3)


def _cell(value: object, mark: str, column: Column) -> _Cell:
    if value is None or value is pd.NA or (isinstance(value, float | np.floating) and not np.isfinite(value)):
        return _Cell("–", mark)
    if isinstance(value, float | np.floating):
        return _Cell(_number(float(value), column), mark)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return _Cell(f"{value:,}", mark)
    text = str(value)
    return _Cell(text, mark or ("s" if len(text) <= _SHORT else ""))
