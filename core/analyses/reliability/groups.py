"""Classifiers measured by the annotations of each group of raters, with the group for which each does worst."""

import pandas as pd

from ...figures.estimates import estimates
from ...raters.group_views import GroupRates, rate_classifiers
from ...raters.groups import FEWEST_RATERS
from ...text import number, percent, plural
from ..blocks import Block, Download, Figure, Grid, Heading, Name, Span, Words
from ..groups import TERM, GroupOptions
from ..inputs import Inputs
from ..schema import Column, frame_of, intervals

COLUMNS = (
    Column("classifier"),
    Column("fact"),
    Column("group"),
    Column("n_raters", "raters", "count"),
    Column("n_cases", "cases", "count"),
    Column("rate", "agrees with the group", "rate"),
    Column("others", "with the others", "coefficient"),
    *intervals("difference", heads=("low", "high")),
)


def compute(inputs: Inputs, options: GroupOptions) -> GroupRates:
    """Compute the rates of all classifiers by group."""
    return rate_classifiers(
        inputs.dataset, options.facts, inputs.predictions, level=options.level, seed=options.seed
    )  # fmt: skip


def present(found: GroupRates, inputs: Inputs, options: GroupOptions) -> list[Block]:
    """Show the worst group of each classifier, differences with intervals, and a table."""
    table = table_of(found, inputs, options)
    several = len(inputs.predictions) > 1
    lines = [
        (f"{one.classifier}, {one.group}" if several else f"{one.fact}: {one.group}", *one.difference)
        for one in found.rates
    ]
    worse = sum(one.difference.high < 0 for one in found.rates)
    title = (
        f"Agreement is clearly lower in {worse:,} of {plural(len(found.rates), 'comparison')}"
        if worse
        else "No group has clearly lower agreement"
    )
    return [
        Heading("Does a classifier agree less with some groups of raters?", TERM),
        *(Words(sentence(found, name), "lead") for name in dict.fromkeys(one.classifier for one in found.rates)),
        Figure(
            lambda theme: estimates(
                lines, theme, title, "agreement with the group minus agreement with the others", 0.0
            ),
            "Difference between a classifier's agreement with each group and with the other raters",
            "group_rates",
        ),
        Words(
            "Agreement: share of annotations that match the classifier's first class, on cases that both the group "
            "and other raters annotated. Intervals are simultaneous over all groups of a classifier. "
            f"Groups with fewer than {FEWEST_RATERS} raters are not shown.",
            "note",
        ),
        Grid(table, "Classifiers by group of raters.", 60, COLUMNS, "group_rates_table"),
        Download(table, "Groups of raters", "classifiers_by_group", "group_rates_download"),
    ]


def sentence(found: GroupRates, classifier: str) -> list[Span]:
    """Name the worst group of a classifier, and state if it is clearly worse.

    Parameters
    ----------
    found : GroupRates
    classifier : str
    """
    one = found.worst(classifier)
    low, value, high = (number(100 * each, 0) for each in
                        (one.difference.low, one.difference.value, one.difference.high))  # fmt: skip
    both = f" ({percent(one.rate)}, other raters {percent(one.others)}): difference {value} points ({low} to {high})."
    if one.difference.high < 0:
        return [Name(classifier), " agrees least with ", Name(f"{one.fact}: {one.group}"), both]
    return [
        "No group of raters clearly agrees less with ", Name(classifier),
        " than the other raters do. Lowest agreement: ", Name(f"{one.fact}: {one.group}"), both,
    ]  # fmt: skip


def table_of(found: GroupRates, inputs: Inputs, options: GroupOptions) -> pd.DataFrame:
    """Return the table with one row per classifier and group."""
    rows = [
        (one.classifier, one.fact, one.group, one.n_raters, one.n_cases, one.rate, one.others, *one.difference)
        for one in found.rates
    ]
    return frame_of(rows, COLUMNS)
