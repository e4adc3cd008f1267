"""Metrics of the whole rankings and probabilities of classifiers against plausible truths, at one γ."""

import pandas as pd

from ...evaluation.further_metrics import FurtherMetric, FurtherMetrics, further_metrics
from ...text import exact, percent_with_interval, plural, probability, with_interval
from ...thresholds import CLEARLY_AHEAD
from ..blocks import Block, Control, Download, Finding, Grid, Name, Selector, Words
from ..inputs import Inputs
from ..schema import Column
from . import settings_of

COLUMNS = (
    Column("metric", hidden=True),
    Column("title", "metric"),
    Column("classifier"),
    Column("mean", "mean over draws", "difference"),
    Column("ci_low", "95% low", "difference"),
    Column("ci_high", "95% high", "difference"),
    Column("sd", unit="difference"),
    Column("case_se", "SE from cases", "error", digits=4),
    Column("total_se", "total SE", "error", digits=4),
    Column("n_cases", "cases", "count"),
    Column("p_best", "P(best on these cases)", "probability"),
)


def compute(inputs: Inputs, options, token=None, progress=None) -> FurtherMetrics:
    """Compute further metrics of all classifiers at the γ of the settings."""
    settings = settings_of(inputs)
    return further_metrics(
        settings.plausibility,
        inputs.dataset,
        inputs.predictions,
        reliability=settings.reliability,
        top=options.k,
        target=options.j,
        n_draws=options.n_draws,
        seed=options.seed,
        token=token,
        progress=progress,
    )


def present(found: FurtherMetrics, inputs: Inputs, options) -> list[Block]:
    """Show the best classifier by one metric, and all metrics."""
    table = table_of(found, inputs, options)
    known = [metric for metric in found.metrics if found.values[metric.name]]
    control = Control(
        "Metric", [one.name for one in known], [one.title for one in known], "further_metric", look="list"
    )

    def finding(name: str) -> list[Block]:
        metric = next(one for one in known if one.name == name)
        return [Finding(Name(verdict(found, metric))), Words(metric.exactly, "note")]

    missing = len(known) < len(found.metrics)
    without = "Distances need class probabilities, which these predictions do not have."
    return [
        *([Selector((control,), finding)] if known else [Words("No annotated case has a prediction.", "info")]),
        *([Words(without, "note")] if missing and known else []),
        Grid(table, f"Further metrics at γ = {exact(found.reliability)}.", columns=COLUMNS, key="further_metrics"),
        Words(
            "Mean and 95% range over draws. P(best): share of draws in which a classifier is best on the cases that "
            "all classifiers predict. “Total SE” includes the error from sampling cases.",
            "note",
        ),
        *([Download(table, "Further metrics", "further_metrics", "further_metrics_table")] if len(table) else []),
    ]


def table_of(found: FurtherMetrics, inputs: Inputs, options) -> pd.DataFrame:
    """Return the table with one row per metric and classifier."""
    rows = [
        {"metric": metric.name, "title": metric.title, "classifier": name}
        | {column.name: getattr(value, column.name) for column in COLUMNS[3:]}
        for metric in found.metrics
        for name, value in found.values[metric.name].items()
    ]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def verdict(found: FurtherMetrics, metric: FurtherMetric) -> str:
    """Name the best classifier by a metric, with its interval, or state that none clearly is the best.

    Parameters
    ----------
    found : FurtherMetrics
    metric : FurtherMetric
        Name of a metric that some classifier has.
    """
    values, at = found.values[metric.name], f"at γ = {exact(found.reliability)}"
    share = "within" in metric.name
    if len(values) == 1:
        ((name, one),) = values.items()
        interval = percent_with_interval if share else with_interval
        said = interval(one.mean, one.ci_low, one.ci_high)
        return f"{metric.title} of {name}: {said} {at}, n = {plural(one.n_cases, 'case')}"
    best = max(values, key=lambda name: -1.0 if values[name].p_best != values[name].p_best else values[name].p_best)
    p = values[best].p_best
    if p != p:
        return f"{metric.title}: cannot determine the best classifier because no case is predicted by all classifiers"
    if p >= CLEARLY_AHEAD:
        return f"{metric.title} {at}: {best} is best on these cases ({probability(p)} probability)"
    return f"{metric.title} {at}: no classifier is clearly best"
