"""Blocks of an answer: words, figures with their tables, and tables.

A block states what is shown and not how: pages draw blocks, the report prints them. Words of the program are unchanged,
and may be set in markdown; text from data is a `Name`, which pages and reports escape in their own way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from ..methods import Method
from .schema import Column

if TYPE_CHECKING:  # not imported for commands that print tables, which need no figure
    import plotly.graph_objects as go

    from ..figures.theme import Theme


@dataclass(frozen=True, slots=True)
class Name:
    """Text of somebody else that is shown letter for letter."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Emphasised text."""

    text: "str | Name"


@dataclass(frozen=True, slots=True)
class OnPage:
    """Words about what can be done on a page, which paper leaves out."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Caution on the words before it."""

    text: "str | Name"


Span = str | Name | Strong | Remark | OnPage


def few_names(names: Sequence[str], most: int) -> Sequence[Span]:
    """Return the first names in a list, and how many more there are.

    Parameters
    ----------
    names : sequence of str
    most : int
    """
    parts: list[Span] = []
    for name in names[:most]:
        parts += [", ", Name(name)]
    return [*parts[1:], *([f" and {len(names) - most:,} more"] if len(names) > most else [])]


@dataclass(frozen=True, slots=True)
class Words:
    """Paragraph.

    Attributes
    ----------
    text : str, or sequence of str, Name, Strong, Remark and OnPage
    kind : {"text", "lead", "note", "legend", "code", "todo", "impossible", "warning", "apart", "info"}
        Kind of paragraph: the most important sentence, a remark in small type, what the marks of a figure are (behind a
        help icon on a page, a remark on paper), text to copy (folded), what to do (only
        in the summary of a report), why something is not possible, a warning, why two numbers differ, or other words
        that a page separates.
    term : str or Method
        Term of the glossary, or a method, if a page offers an explanation.
    icon : str
        Name of a material symbol before the words on a page, or instead of that of their kind.
    """

    text: str | Sequence[Span]
    kind: Literal["text", "lead", "note", "legend", "code", "todo", "impossible", "warning", "apart", "info"] = "text"
    term: str | Method = ""
    icon: str = ""

    @property
    def spans(self) -> tuple[Span, ...]:
        """Parts of the paragraph."""
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)

    @property
    def plain(self) -> str:
        """Paragraph as plain text."""
        return "".join(_plain(span) for span in self.spans)


def _plain(span: Span) -> str:
    if isinstance(span, str):
        return span
    if isinstance(span, OnPage):
        return ""
    if isinstance(span, Name):
        return span.text
    return f"{_plain(span.text)}." if isinstance(span, Remark) else _plain(span.text)


@dataclass(frozen=True, slots=True)
class Finding:
    """Sentence that answers the question, without a full stop: a heading on a page, the lead of a section on paper.

    Attributes
    ----------
    text : str or Name
    term : str
        Term of the glossary, if a page offers an explanation.
    """

    text: str | Name
    term: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """Heading within an answer.

    Attributes
    ----------
    text : str
    term : str or Method
        Term of the glossary, or the method, if a page offers an explanation.
    """

    text: str
    term: str | Method = ""


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """Number with its label, and remarks on it."""

    label: str
    value: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """Place of content that only a page can show; empty on paper.

    Attributes
    ----------
    key : str
        Key by which the page identifies the content.
    about : object
        Object that the content is about.
    """

    key: str
    about: Any = None


Badge = tuple[Sequence[Span], Literal["warning", "failed"]]


@dataclass(frozen=True, slots=True)
class Badges:
    """Short warnings that a page shows side by side.

    Attributes
    ----------
    items : sequence of Badge
        Words of each warning, and their kind.
    """

    items: Sequence[Badge]


@dataclass(frozen=True, slots=True)
class Figure:
    """Figure, drawn once for each theme.

    Attributes
    ----------
    draw : callable
        Function from the theme to the figure.
    alt : str
        Description of the figure for those who do not see it.
    key : str
        Key on a page.
    """

    draw: "Callable[[Theme], go.Figure]"
    alt: str
    key: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Table; without columns, numbers are shown with three digits and the rest letter for letter.

    Attributes
    ----------
    table : DataFrame
    caption : str
    most : int
        Number of printed rows; the caption states how many more there are.
    columns : sequence of Column
        Columns of the table on a page and in a report, in this order.
    key : str
        Key on a page.
    opens_case : bool
        True if a row on a page opens its case, whose id is the first column.
    height : int, optional
        Largest height in pixels on a page.
    names_rows : bool
        True if the first column names the rows, and all columns are written as they stand.
    selects : {"", "row", "first"}
        Selection of a row on a page (see `Chosen`): none, one, or the first until another is selected.
    digits : int
        Decimals of columns of scores.
    """

    table: pd.DataFrame
    caption: str = ""
    most: int = 60
    columns: Sequence[Column] = ()
    key: str = ""
    opens_case: bool = False
    height: int | None = None
    names_rows: bool = False
    selects: Literal["", "row", "first"] = ""
    digits: int = 2


@dataclass(frozen=True, slots=True)
class Chosen:
    """Blocks on a page for the row selected in a table; a report leaves them out.

    Attributes
    ----------
    grid : Grid
        Table, which may be after this block.
    then : callable
        Function from the position of the row to blocks.
    case : callable, optional
        Function from the position of the row to the id of the case that a button opens.
    """

    grid: Grid
    then: "Callable[[int], Sequence[Block]]"
    case: Callable[[int], str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FileFormat:
    """Format of a file that only some tables have.

    Attributes
    ----------
    ending, title : str
    write : callable
        Function from the table to the content of the file.
    mime : str
    """

    ending: str
    title: str
    write: Callable[[pd.DataFrame], bytes]
    mime: str


@dataclass(frozen=True, slots=True, eq=False)
class Download:
    """Table that people can download from a page.

    Attributes
    ----------
    table : DataFrame, or callable without arguments that makes it
    label : str
        Label of the button.
    name : str
        Name of the file.
    key : str
    n_rows : int, optional
        Number of rows of a table that is not made yet.
    settings : mapping, optional
        Settings of this table, in addition to those of its page.
    formats : tuple of FileFormat
        Formats in addition to CSV, Excel and Parquet.
    """

    table: pd.DataFrame | Callable[[], pd.DataFrame]
    label: str
    name: str
    key: str
    n_rows: int | None = None
    settings: Mapping[str, Any] | None = None
    formats: tuple[FileFormat, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """Table, made if necessary."""
        return self.table if isinstance(self.table, pd.DataFrame) else self.table()


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that a page folds.

    Attributes
    ----------
    title : str or Name
    blocks : sequence of Block
    unfolded : bool
    printed : bool
        True if a report prints them.
    """

    title: str | Name
    blocks: "Sequence[Block]"
    unfolded: bool = False
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """Blocks of one column of a page.

    Attributes
    ----------
    width : float
        Width relative to the other columns.
    blocks : sequence of Block
    """

    width: float
    blocks: "Sequence[Block]"


@dataclass(frozen=True, slots=True)
class Row:
    """Columns of a page, which a report prints one after the other."""

    stacks: Sequence[Stack]
    gap: Literal["small", "large"] = "small"


@dataclass(frozen=True, slots=True)
class Selector:
    """Choice that only changes the drawing: a page offers the values, a report takes the first.

    Attributes
    ----------
    controls : sequence of Control
    then : callable
        Function from the chosen values to blocks.
    """

    controls: "Sequence[Control]"
    then: "Callable[..., Sequence[Block]]"


@dataclass(frozen=True, slots=True)
class Control:
    """Control with one choice.

    Attributes
    ----------
    label : str
    values : sequence
    titles : sequence of str
        Label of each value.
    key : str
    first : int
        Position of the initial value.
    term : str
        Term of the glossary.
    look : {"list", "side by side", "slider"}
        Form of the control on a page; a single value is not offered.
    most : int
        Number of values that can be chosen at once; if more than one, the chosen values are a list that starts with the
        first.
    """

    label: str
    values: Sequence[Any]
    titles: Sequence[str]
    key: str
    first: int = 0
    term: str = ""
    look: Literal["list", "side by side", "slider"] = "list"
    most: int = 1

    @property
    def opens(self) -> Any:
        """Initial value."""
        opens = self.values[self.first]
        return opens if self.most == 1 else [opens, *(one for one in self.values if one != opens)][: self.most]


Block = (
    Words | Finding | Heading | KeyFigure | Slot | Badges | Figure | Grid | Chosen | Download | Details | Row | Selector
)


@dataclass(frozen=True, slots=True)
class Section:
    """Heading with its blocks."""

    key: str
    title: str
    blocks: tuple[Block, ...]
