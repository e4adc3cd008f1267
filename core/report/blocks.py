"""What a report is made of: words, pictures with their tables, and tables."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from ..figures.theme import Theme


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph of plain text.

    Attributes
    ----------
    text : str
        Shown letter for letter.
    kind : {"text", "lead", "note", "code", "todo"}
        The most important sentence, a remark in small type, text to copy (folded), or what to do, which stands in the
        summary alone.
    """

    text: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Figure:
    """A live figure, drawn once for each theme.

    Attributes
    ----------
    draw : callable
        Theme to figure.
    alt : str
        What is seen, for those who do not see it.
    """

    draw: Callable[[Theme], go.Figure]
    alt: str


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A table; numbers are shown with three digits, the rest letter for letter.

    Attributes
    ----------
    table : DataFrame
    caption : str
    most : int
        Rows that are shown; the caption says how many there are beyond.
    """

    table: pd.DataFrame
    caption: str
    most: int = 60


Block = Words | Figure | Grid


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its blocks."""

    key: str
    title: str
    blocks: tuple[Block, ...]
