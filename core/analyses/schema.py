"""Columns of a result's table: names for files and commands, labels and digits for people."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Unit = Literal[
    "coefficient", "share", "rate", "probability", "difference", "error", "signed", "count", "tenths", "amount",
    "score", "reliability", "text",
]  # fmt: skip
SHARES = ("share", "rate", "probability")  # units that people see in per cent


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table.

    Attributes
    ----------
    name : str
        Name in JSON, in files and in DataFrames.
    label : str
        Label on screen and on paper; the name if omitted.
    unit : str
        Kind of quantity, which sets the digits and picture. Shares, rates and probabilities are in per cent, all
        but rates with a bar; a score has the digits of its table.
    low, high : str
        Names of the columns with the ends of its interval.
    picture : str
        Heading of the column on a page that draws the interval.
    hidden : bool
        True if it is only in files and commands.
    digits : int, optional
        Number of decimals if the unit does not determine it.
    help : str
        Explanation of the column on a page.
    """

    name: str
    label: str = ""
    unit: Unit = "text"
    low: str = ""
    high: str = ""
    picture: str = ""
    hidden: bool = False
    digits: int | None = None
    help: str = ""

    @property
    def shown(self) -> str:
        """Heading that people see."""
        return self.label or self.name


def intervals(
    name: str,
    label: str = "",
    unit: Unit = "coefficient",
    *,
    low: str = "",
    high: str = "",
    heads: tuple[str, str] = ("95% from", "to"),
    picture: str = "",
) -> tuple[Column, Column, Column]:
    """Return the columns of a value and of the ends of its interval.

    Parameters
    ----------
    name, label, unit, picture
        Properties of the value, see `Column`.
    low, high : str
        Names of the ends; that of the value with "_low" and "_high" if omitted.
    heads : tuple of str
        Labels of the ends.
    """
    low, high = low or f"{name}_low", high or f"{name}_high"
    return Column(name, label, unit, low, high, picture), Column(low, heads[0], unit), Column(high, heads[1], unit)


def frame_of(rows: Iterable[Sequence[Any]], columns: Sequence[Column]):
    """Return a DataFrame of rows, with numbers as numbers even if all of them are undefined.

    Parameters
    ----------
    rows : iterable of sequence
        Rows with a value for each column.
    columns : sequence of Column

    Returns
    -------
    DataFrame
    """
    import pandas as pd  # takes longer than all that a command on a small file needs

    frame = pd.DataFrame(list(rows), columns=[column.name for column in columns])
    numbers = [column.name for column in columns if column.unit not in ("text", "count")]
    return frame.astype(dict.fromkeys(numbers, float))


def columns_in(table: Any, columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return those columns that a table has; some depend on the data.

    Parameters
    ----------
    table : DataFrame
    columns : iterable of Column
    """
    return tuple(column for column in columns if column.name in table)
