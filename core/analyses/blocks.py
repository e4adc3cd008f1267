"""Blocks that an answer is made of: words, figures with their tables, and tables.

A block says what is shown and not how: pages draw blocks, the report prints them. Words of the program stand as they
are, and may be set in markdown; text that comes from somebody's data is a `Name`, which each room escapes in its way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from ..methods import Method
from .schema import Column

if TYPE_CHECKING:  # commands that print tables need no figure
    import plotly.graph_objects as go

    from ..figures.theme import Theme


@dataclass(frozen=True, slots=True)
class Name:
    """Text that is shown letter for letter, because somebody else wrote it."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Text that stands out."""

    text: "str | Name"


@dataclass(frozen=True, slots=True)
class OnPage:
    """Words about what can be done on a page, which paper leaves out."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """What to mind of the words before it."""

    text: "str | Name"


Span = str | Name | Strong | Remark | OnPage


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph.

    Attributes
    ----------
    text : str, or sequence of str, Name, Strong, Remark and OnPage
    kind : {"text", "lead", "note", "code", "todo", "impossible", "warning", "apart", "info"}
        The most important sentence, a remark in small type, text to copy (folded), what to do (which stands in the
        summary of a report alone), why something is not possible, a warning, why two numbers differ, or other words
        that a page sets apart.
    term : str or Method
        Of the glossary, or a method, where a page offers an explanation.
    icon : str
        Name of a material symbol before the words of a page, or in place of that of their kind.
    """

    text: str | Sequence[Span]
    kind: Literal["text", "lead", "note", "code", "todo", "impossible", "warning", "apart", "info"] = "text"
    term: str | Method = ""
    icon: str = ""

    @property
    def spans(self) -> tuple[Span, ...]:
        """The parts of the paragraph."""
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)

    @property
    def plain(self) -> str:
        """The paragraph as plain text."""
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
    """The sentence that answers the question, without a full stop: a heading on a page, the lead of a section on paper.

    Attributes
    ----------
    text : str or Name
    term : str
        Of the glossary, if a page offers an explanation.
    """

    text: str | Name
    term: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within an answer.

    Attributes
    ----------
    text : str
    term : str or Method
        Of the glossary, or the method, where a page offers an explanation.
    """

    text: str
    term: str | Method = ""


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One number with its label, and what there is to say of it."""

    label: str
    value: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of what only a page can show; nothing on paper.

    Attributes
    ----------
    key : str
        By which the page says what is there.
    about : object
        What it is about.
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
        Words, and what they are.
    """

    items: Sequence[Badge]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, drawn once for each theme.

    Attributes
    ----------
    draw : callable
        Theme to figure.
    alt : str
        What is seen, for those who do not see it.
    key : str
        Of a page.
    """

    draw: "Callable[[Theme], go.Figure]"
    alt: str
    key: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A table; where it has no columns, numbers are shown with three digits and the rest letter for letter.

    Attributes
    ----------
    table : DataFrame
    caption : str
    most : int
        Rows that are printed; the caption says how many there are beyond.
    columns : sequence of Column
        What a page and a report show of the table, in this order.
    key : str
        Of a page.
    opens_case : bool
        A row of a page opens its case, whose id is the first column.
    height : int, optional
        Most pixels on a page.
    names_rows : bool
        The first column names the rows.
    selects : {"", "row", "first"}
        Whether a row can be chosen on a page (see `Chosen`), and whether it is the first until somebody chooses.
    digits : int
        Of columns of scores.
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
    """What a page shows of the row that is chosen in a table, which a report leaves out.

    Attributes
    ----------
    grid : Grid
        The table, which may stand after this block.
    then : callable
        Position of the row to blocks.
    case : callable, optional
        Position of the row to the id of the case that a button opens.
    """

    grid: Grid
    then: "Callable[[int], Sequence[Block]]"
    case: Callable[[int], str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Download:
    """A table that a page lets people download.

    Attributes
    ----------
    table : DataFrame, or callable without arguments that makes it
    label : str
        Of the button.
    name : str
        Of the file.
    key : str
    n_rows : int, optional
        Of a table that is yet to be made.
    settings : mapping, optional
        Of this table, besides those of its page.
    """

    table: pd.DataFrame | Callable[[], pd.DataFrame]
    label: str
    name: str
    key: str
    n_rows: int | None = None
    settings: Mapping[str, Any] | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The table, made if it is yet to be made."""
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
        Whether a report prints them.
    """

    title: str | Name
    blocks: "Sequence[Block]"
    unfolded: bool = False
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """Blocks of one of the columns of a page.

    Attributes
    ----------
    width : float
        Beside the others.
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
    """What changes the drawing alone: a page offers the choices, a report takes the first of them.

    Attributes
    ----------
    controls : sequence of Control
    then : callable
        The chosen values to blocks.
    """

    controls: "Sequence[Control]"
    then: "Callable[..., Sequence[Block]]"


@dataclass(frozen=True, slots=True)
class Control:
    """One thing to choose.

    Attributes
    ----------
    label : str
    values : sequence
    titles : sequence of str
        What each value is called.
    key : str
    first : int
        Position of the value that stands before anybody chooses.
    term : str
        Of the glossary.
    look : {"list", "side by side", "slider"}
        How a page offers the values; one value alone is not offered.
    most : int
        Values that can be chosen at once; of more than one the chosen values are a list, which begins with the first.
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
        """What is chosen before anybody chooses."""
        opens = self.values[self.first]
        return opens if self.most == 1 else [opens, *(one for one in self.values if one != opens)][: self.most]


Block = (
    Words | Finding | Heading | KeyFigure | Slot | Badges | Figure | Grid | Chosen | Download | Details | Row | Selector
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its blocks."""

    key: str
    title: str
    blocks: tuple[Block, ...]
