"""Effects of columns on raters and cases: on accuracy, prevalence and difficulty."""

import pandas as pd

from ...annotations.dataset import Dataset
from ...figures.estimates import estimates
from ...models.difficulty.covariates import CovariateEffect, CovariateFit, fit_covariates
from ...text import number, percent, plural, significant
from ..blocks import Block, Download, Figure, Grid, Name, Span, Words
from ..schema import Column, frame_of

MOST_NAMED = 4
_OF_MODE = (
    " In simulations, 95% intervals around the posterior mode contained the true effect in 85% to 98% of datasets. "
    "The full posterior (NUTS) is slower but more accurate."
)
OUTCOMES = {"accuracy": "accuracy", "prevalence": "prevalence", "difficulty": "accuracy through difficulty"}
COLUMNS = (
    Column("side", "of"),
    Column("column"),
    Column("value"),
    Column("reference", "compared with"),
    Column("outcome", "effect on"),
    Column("difference", unit="signed", low="difference_low", high="difference_high", picture="95% interval"),
    Column("difference_low", "95% low", "signed"),
    Column("difference_high", "95% high", "signed"),
    Column("p", unit="difference"),
    Column("clear"),
    Column("n", "raters or cases", "count"),
)


def compute(dataset: Dataset, options, *, token=None, progress=None) -> CovariateFit:
    """Estimate the effects of the chosen columns.

    Parameters
    ----------
    dataset : Dataset
    options : CovariateOptions
    token, progress
        See `core.models.difficulty.covariates.fit_covariates`.
    """
    of_raters, of_cases = (
        dict(zip(facts.names, facts.values, strict=True)) for facts in (options.of_raters, options.of_cases)
    )
    return fit_covariates(
        dataset, of_raters, of_cases, way=options.method, positive=options.positive or None, level=options.level,
        seed=options.seed, token=token, progress=progress,
    )  # fmt: skip


def present(found: CovariateFit, dataset: Dataset, options) -> list[Block]:
    """Show the clear effects in words, all effects with intervals, and their table."""
    table = table_of(found, dataset, options)
    lines = []
    for one in found.effects:
        value, low, high = (100 * part for part in one.difference)
        lines.append((f"{_value(one)}: {one.outcome}", value, low, high))
    title = "Effects of columns, in percentage points"
    told = f"“{found.positive}”" if dataset.n_classes == 2 else f"“{found.positive}” against all other classes"
    heavy = [] if found.converged else [Words((Name(found.diagnostics),), "warning")]
    return [
        Words(lead(found), "lead", "covariates"),
        *heavy,
        Figure(
            lambda theme: estimates(lines, theme, title, "difference in percentage points", 0.0, strong=len(lines)),
            f"{title}, with intervals",
            "covariate_effects",
        ),
        Grid(
            table, "Effects of columns on raters and cases, as differences in probability.", columns=COLUMNS,
            key="covariates_table",
        ),
        Words(
            (
                "Model: difficulty with covariates, positive class ", Name(told),
                f". Estimated prevalence {percent(found.prevalence)}, mean accuracy {percent(found.accuracy)}, "
                f"spread of raters {number(found.rater_spread)} (log odds). "
                f"{found.diagnostics if found.converged else ''}",
            ),
            "note",
        ),
        Words(
            "Effects are associations, not causes. “Clear”: significant when all effects are tested together (Holm's "
            f"procedure, {percent(1 - found.level)} level). Difficulty: change in accuracy because cases are "
            f"easier or harder.{_OF_MODE if found.way == 'map' else ''}",
            "note",
        ),
        Download(table, "Effects", "covariates", "covariates_download"),
    ]  # fmt: skip


def lead(found: CovariateFit) -> list[Span]:
    """Return the clear effects, one sentence each.

    Parameters
    ----------
    found : CovariateFit
    """
    clear = [one for one in found.effects if one.clear]
    tested = f"{plural(len(found.effects), 'effect')} tested"
    if not clear:
        return [f"No effect is clear ({tested})."]
    spans = [span for one in clear[:MOST_NAMED] for span in _sentence(one, found)]
    more = f"{plural(len(clear) - MOST_NAMED, 'more effect')} clear. " if len(clear) > MOST_NAMED else ""
    return [*spans, f"{more}{tested[0].upper()}{tested[1:]}."]


def _sentence(one: CovariateEffect, found: CovariateFit) -> list[Span]:
    """State an effect in percentage points, with its interval in the same direction."""
    value, low, high = (100 * part for part in one.difference)
    up = value > 0
    ends = (low, high) if up else (-high, -low)
    interval = f" ({percent(found.level)} interval {_signed(ends[0])} to {_signed(ends[1])}). "
    points = f"{_signed(abs(value))} percentage points"
    if one.reference:
        than: list[Span] = [" than with “", Name(one.reference), "”"]
        who: list[Span] = [f"{one.side.capitalize()} with ", Name(one.column), " “", Name(one.value), "”"]
    else:
        than = [f" per increase of {significant(one.unit)}"]
        who = [f"{one.side.capitalize()} with higher ", Name(one.column)]
    if one.outcome == "prevalence":
        return [
            *who, " are ", Name(f"“{found.positive}”"), f" {points} {'more' if up else 'less'} often", *than, interval
        ]  # fmt: skip
    if one.outcome == "difficulty":
        hard = f" are {'easier' if up else 'harder'}: accuracy is {points} {'higher' if up else 'lower'}"
        return [*who, hard, *than, interval]
    return [*who, f" are {points} {'more' if up else 'less'} accurate", *than, interval]


def _signed(value: float) -> str:
    digits = 0 if abs(value) >= 1 else 1
    return number(value, digits)


def _value(one: CovariateEffect) -> str:
    return f"{one.column}: {one.value}" if one.reference else f"{one.column} (+{significant(one.unit)})"


def table_of(found: CovariateFit, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per effect; the value of numbers is one standard deviation."""
    rows = (
        (
            one.side, one.column, one.value if one.reference else f"+{significant(one.unit)}", one.reference,
            OUTCOMES[one.outcome], *one.difference, one.p, one.clear, one.n,
        )
        for one in found.effects
    )  # fmt: skip
    return frame_of(rows, COLUMNS)
