"""Raters who share errors, on the pages of raters and of machines."""

from collections.abc import Sequence

from core.analyses.raters import RATERS, SharedOptions
from core.analyses.raters.shared_errors import HEADING, blocks_of
from core.annotations.dataset import Dataset
from core.machines.marks import Machine
from pages.shared.kit import blocks


def show(view: Dataset, machines: Sequence[Machine], key: str) -> None:
    """Draw the part of a page on shared errors.

    Parameters
    ----------
    view : Dataset
        Data with one class per annotation.
    machines : sequence of Machine
        AI raters of the data, which the fit leaves out.
    key : str
        Key of the page's part.
    """
    blocks.show([HEADING])
    codes = dict(zip(view.raters, view.coded.raters, strict=True))
    named = tuple(codes[one.name] for one in machines if one.name in codes)
    found = blocks.result_of(RATERS.part("shared-errors"), view, SharedOptions(named))
    if found is not None:
        blocks.show(blocks_of(found, view.n_raters, machines, key))
