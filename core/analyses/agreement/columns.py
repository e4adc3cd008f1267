"""Columns that parts of agreement share, and tables of coefficients with them."""

from collections.abc import Sequence

from ...agreement.intervals import Coefficient
from ..schema import Column, frame_of

NUMBERS = (
    Column("value", unit="coefficient", low="ci_low", high="ci_high", picture="95% interval"),
    Column("se", unit="error"),
    Column("ci_low", "95% from", "coefficient"),
    Column("ci_high", "to", "coefficient"),
    Column("n_cases", "cases", "count"),
    Column("n_annotations", "annotations", "count"),
    Column("note"),
)
COEFFICIENT = (Column("coefficient"), Column("name", hidden=True), Column("weights", hidden=True), *NUMBERS)


def coefficient_table(names: Sequence[str], coefficients: Sequence[Coefficient], first: str = "coefficient"):
    """Return one row per coefficient.

    Parameters
    ----------
    names : sequence of str
        Names of the coefficients, classes or windows.
    coefficients : sequence of Coefficient
    first : str
        Name of the column of names.

    Returns
    -------
    DataFrame
    """
    rows = (
        (name, *(getattr(one, column.name) for column in NUMBERS))
        for name, one in zip(names, coefficients, strict=True)
    )
    return frame_of(rows, (Column(first), *NUMBERS))
