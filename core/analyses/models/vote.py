"""Prevalence of each class by majority vote only, for data without a possible rater model."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agreement.intervals import Share, share_of
from ...annotations.dataset import Dataset
from ...extremes import clearly_most_cases
from ...models.majority import MajorityVote
from ...text import percent_with_interval, plural, shorten
from ..blocks import Block, Download, Grid, Name, Strong, Words
from ..schema import Column, frame_of

COLUMNS = (
    Column("class"),
    Column("share of cases", unit="rate"),
    Column("ci_low", "95% from", "rate"),
    Column("ci_high", "to", "rate"),
)
_MOST_CLASSES = 20  # on paper


@dataclass(frozen=True, slots=True)
class VoteShares:
    """Share of each class among the cases with annotations, ties split; intervals over cases."""

    shares: tuple[Share, ...]


def compute(dataset: Dataset, options) -> VoteShares:
    """Count the cases that each class wins."""
    n = int((np.diff(dataset.case_ptr) > 0).sum())
    return VoteShares(tuple(share_of(share * n, n) for share in MajorityVote().fit(dataset).prevalence.tolist()))


def present(found: VoteShares, dataset: Dataset, options) -> list[Block]:
    """Show the most common class, and all that win a case; count those that win none."""
    table = table_of(found, dataset, options)
    never = int((table["share of cases"] == 0).sum())
    rest = f" {never:,} of {len(table):,} classes {'wins' if never == 1 else 'win'} no cases." if never else ""
    first, n = table.iloc[0], found.shares[0].n
    cases = f"{plural(n, 'case')} with annotations; tied cases are split.{rest}"
    if clearly_most_cases(table["share of cases"], n) is None:
        words = Words(f"No class is clearly the most common by majority vote in {cases}")
    else:
        share = percent_with_interval(first["share of cases"], first["ci_low"], first["ci_high"])
        name = Strong(Name(shorten(first["class"], 60)))
        words = Words(("Most common by majority vote: ", name, f", {share} of {cases}"))
    return [
        words,
        Grid(
            table[table["share of cases"] > 0], "Prevalence of classes that win a majority vote.",
            _MOST_CLASSES, COLUMNS, "vote_only",
        ),
        Download(table, "Shares of classes", "vote_shares", "vote_shares_table"),
    ]  # fmt: skip


def table_of(found: VoteShares, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per class, the most common first."""
    rows = ((name, one.value, one.low, one.high) for name, one in zip(dataset.classes, found.shares, strict=True))
    table = frame_of(rows, COLUMNS)
    return table.sort_values("share of cases", ascending=False, kind="stable", ignore_index=True)
