"""Sections as a Word document: headings, paragraphs and tables; figures are left out."""

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import Any

from ..analyses.blocks import Block, Grid, Section, Words
from ..errors import NotApplicableError
from ..text import without_controls
from .page import cells_of, printed

_WIDEST = 24  # letters of a line in the widest column of a table


def to_docx(title: str, sections: Iterable[Section]) -> bytes:
    """Write the document.

    Parameters
    ----------
    title : str
    sections : iterable of Section

    Raises
    ------
    NotApplicableError
        The package python-docx is not installed.
    """
    try:
        from docx import Document
    except ImportError:
        raise NotApplicableError(
            "Could not write a Word document: the package python-docx is not installed.",
            "Install plurality[word], or choose a name that ends in .html.",
        ) from None

    document = Document()
    document.add_heading(_clean(title), 0)
    for section in sections:
        document.add_heading(_clean(section.title), 1)
        _add(document, section.blocks)
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _add(document: Any, blocks: Sequence[Block]) -> None:
    for block in printed(blocks):
        if isinstance(block, Words):
            run = document.add_paragraph().add_run(_clean(block.plain))
            run.bold, run.italic = block.kind == "lead", block.kind in ("note", "legend")
        elif isinstance(block, Grid):
            _add_table(document, *cells_of(block))


def _add_table(document: Any, caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Add a table with columns as wide as their texts need, and its head again on each page."""
    from docx.oxml import OxmlElement

    table = document.add_table(rows=1, cols=len(head), style="Light Grid Accent 1")
    longest = [min(max(len(_clean(text)) for text in column), _WIDEST) + 6 for column in zip(head, *rows, strict=True)]
    room = sum(column.width for column in table.columns)
    for column, size in zip(table.columns, longest, strict=True):
        column.width = room * size // sum(longest)
    for row, texts in ((table.rows[0], head), *((table.add_row(), each) for each in rows)):
        for cell, column, text in zip(row.cells, table.columns, texts, strict=True):
            cell.text, cell.width = _clean(text), column.width
        row._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))
    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    document.add_paragraph().add_run(_clean(caption)).italic = True


def _clean(text: object) -> str:
    """Remove characters that XML does not allow from a text."""
    return str(without_controls(text))
