"""Raters with shared errors: the matrix, the pairs that stand out, and the number of independent raters."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...figures import machines as figures
from ...machines.marks import Machine
from ...raters.shared_errors import LEAST_CASES, SharedErrors, shared_errors
from ...runtime.chunks import CancelToken
from ...text import number, plural, significant
from ..blocks import Block, Download, Figure, Grid, Heading, Name, Words
from ..schema import Column

MOST_PAIRS = 50
PAIRS = (
    Column("rater"),
    Column("other"),
    Column("correlation", "agreement beyond what accuracy explains", "coefficient"),
    Column("cases", "common cases", "count"),
    Column("p", "p by chance"),
)
HEADING = Heading("Who shares errors?", "shared errors")
_TITLE = "Colour: agreement beyond what accuracy explains · ×: beyond chance"


def compute(
    dataset: Dataset, options, *, token: CancelToken | None = None, progress: Callable[[float], None] | None = None
) -> SharedErrors:
    """Find raters who share errors; AI raters are not used in the fit."""
    return shared_errors(dataset, machines=options.machines, seed=options.seed, token=token)


def table_of(found: SharedErrors, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per pair of raters."""
    return found.to_frame()


def present(found: SharedErrors, dataset: Dataset, options) -> list[Block]:
    """Show the matrix and the pairs, of people only."""
    return [HEADING, *blocks_of(found, dataset.n_raters)]


def blocks_of(found: SharedErrors, n_raters: int, machines: Sequence[Machine] = (), key: str = "raters") -> list[Block]:
    """Show the matrix and the pairs.

    Parameters
    ----------
    found : SharedErrors
    n_raters : int
        Number of raters in the data.
    machines : sequence of Machine
        Known facts about those who were not used in the fit.
    key : str
        Key on the page.
    """
    family = {one.name: one.family for one in machines}
    families = [family.get(name, "") for name in found.raters]
    order = drawn(found, families)
    blocks: list[Block] = [
        Words(sentence(found)),
        Figure(
            lambda theme: figures.shared_errors_matrix(found, order, families, theme, _TITLE),
            "Raters who share errors",
            f"shared-{key}",
        ),
    ]
    if len(order) < n_raters:
        blocks.append(Words(_which(found, order, n_raters), "note"))
    pairs = found.to_frame()
    if pairs["shares"].any():
        shown = pairs[pairs["shares"]].head(MOST_PAIRS)[[column.name for column in PAIRS]]
        shown["p"] = ["<0.0001" if p < 1e-4 else significant(p, 2) for p in shown["p"]]
        blocks.append(
            Grid(shown, "Pairs of raters who share errors, strongest first.", 20, PAIRS, f"shared-{key}-pairs")
        )
    return [
        *blocks,
        Words(
            "Estimated from people's annotations by a Dawid-Skene fit in which raters who copy each other count as one."
            " Raters also share errors on cases that are hard for everyone. Rare copying may go undetected and bias the"
            " fit towards those raters; others may then seem to share errors. Without gold, errors that all raters "
            "share cannot be detected.",
            "note",
        ),
        Download(pairs, "Pairs", "shared_errors", f"shared-{key}-table"),
    ]


def drawn(found: SharedErrors, families: Sequence[str]) -> list[int]:
    """List the raters to draw, families together and AI raters last; leave out those without a determined pair.

    If these are too many: AI raters, then those with most pairs that share errors, then with most pairs.
    """
    told = np.isfinite(found.residual) & ~np.eye(len(found.raters), dtype=bool)
    n_told, n_shared = told.sum(axis=1), found.shares.sum(axis=1)
    known = sorted(np.flatnonzero(n_told).tolist(), key=lambda j: (not found.machine[j], -n_shared[j], -n_told[j], j))
    return sorted(known[: figures.MOST_ROWS], key=lambda j: (bool(found.machine[j]), families[j], j))


def _which(found: SharedErrors, order: Sequence[int], n_raters: int) -> tuple:
    few = f"the rest share fewer than {LEAST_CASES} cases with every other rater"
    if len(order) == figures.MOST_ROWS or n_raters > len(found.raters):
        few += ", or have fewer annotations or pairs than those shown"
    said = f"Shown: {len(order):,} of {plural(n_raters, 'rater')}; {few}."
    left = [name for j, name in enumerate(found.raters) if found.machine[j] and j not in order]
    return (f"{said} Not shown: the AI raters ", Name(", ".join(left)), ".") if left else (said,)


def sentence(found: SharedErrors) -> str:
    """Return how many pairs share errors, and how many independent raters people are worth, in a sentence."""
    pairs = found.pairs()
    n = int(np.isfinite(found.residual[np.triu_indices(len(found.raters), 1)]).sum())
    share = "shares" if len(pairs) == 1 else "share"
    said = f"{len(pairs):,} of {plural(n, 'pair')} of raters {share} errors beyond chance."
    if not pairs:
        said = f"No two raters clearly share errors ({plural(n, 'pair')} with at least 30 shared cases)."
    if found.n_people < 2 or found.n_untold:
        return said
    worth = (
        f"Because they share errors, {plural(found.n_people, 'person', 'people')} count as "
        f"{number(found.n_effective, 1)} independent raters."
    )
    return f"{said} {worth}" if any(not found.machine[list(pair)].any() for pair in pairs) else said
