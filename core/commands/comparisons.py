"""Order of the items of paired comparisons on the command line."""

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .inputs import read_warned
from .parts import answered

if TYPE_CHECKING:
    import pandas as pd

    from ..analyses.comparisons import ItemOrder
    from ..annotations.dataset import Dataset


def order(options) -> tuple[dict, "pd.DataFrame"]:
    """Return the items in order, pairs of items, or raters."""
    from ..analyses.blocks import Words
    from ..analyses.comparisons import ORDER, lead, lead_of_raters

    part = ORDER.part(options.part)

    def words(found: "ItemOrder") -> str:
        return Words(lead_of_raters(found) if part.name == "raters" else [*lead(found), "."]).plain

    return answered(part, options, _read(options), words=words)


def _read(options) -> "Dataset":
    """Read comparisons, also from a table that has other readings as well."""
    again = copy(options)
    again.format, again.cautions = "comparisons", []
    can_ask = options.format is None and Path(options.file).is_file()
    try:
        found = read_warned(options).dataset
    except InputError:
        if not can_ask:
            raise
        found = None
    if found is not None and (found.compares or not can_ask):
        return found
    try:
        dataset = read_warned(again).dataset
    except InputError:
        if found is None:
            raise
        return found
    options.cautions[:], options.whole = again.cautions, again.whole
    return dataset
