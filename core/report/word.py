"""Sections as a Word document: headings, paragraphs and tables; figures are left out."""

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import Any

from ..analyses.blocks import Block, Grid, Section, Words
from ..errors import NotApplicableError
from ..text import without_controls
from .page import cells_of, printed


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
            "Word documents need the package python-docx.", "Install it, or use a name that ends in html."
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
            run.bold, run.italic = block.kind == "lead", block.kind == "note"
        elif isinstance(block, Grid):
            _add_table(document, *cells_of(block))


def _add_table(document: Any, caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = document.add_table(rows=1, cols=len(head), style="Light Grid Accent 1")
    for cells, texts in ((table.rows[0].cells, head), *((table.add_row().cells, row) for row in rows)):
        for cell, text in zip(cells, texts, strict=True):
            cell.text = _clean(text)
    document.add_paragraph().add_run(_clean(caption)).italic = True


def _clean(text: object) -> str:
    """Remove characters that XML does not allow from a text."""
    return str(without_controls(text))
