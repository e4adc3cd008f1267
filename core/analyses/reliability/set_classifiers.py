"""Quality of predicted sets of labels, as a whole and by label: over plausible truths, or against known sets."""

import pandas as pd

from ...evaluation.set_metrics import WHOLE, SetMetrics, set_metrics
from ...extremes import clearly_most
from ...plausibility.dirichlet import DirichletCounts
from ...text import exact, number, plural, with_interval
from ..blocks import Block, Download, Finding, Grid, Heading, Name, Words
from ..inputs import Inputs
from ..schema import Column
from . import settings_of

TITLES = {
    "jaccard": "Jaccard, mean over cases", "exact": "exact match of the set", "micro_f1": "F1 over all labels",
    "macro_f1": "F1, mean over labels",
}  # fmt: skip
COLUMNS = (
    Column("classifier"),
    Column("metric"),
    Column("n_cases", "cases", "count"),
    Column("mean", unit="difference"),
    Column("low", "95% from", "difference"),
    Column("high", "to", "difference"),
    Column("total_low", "with cases, from", "difference"),
    Column("total_high", "to ", "difference"),
)


def counts(inputs: Inputs) -> DirichletCounts:
    """Return the model of the settings, or counts with their default prior, because known sets need no other."""
    model = settings_of(inputs).plausibility
    return model if isinstance(model, DirichletCounts) else DirichletCounts()


def compute(inputs: Inputs, options) -> SetMetrics:
    """Compute metrics at the γ of the settings; against the known sets of the inputs, if any."""
    how = {"model": counts(inputs), "gold": inputs.gold, "n_draws": options.n_draws, "seed": options.seed}
    return set_metrics(inputs.dataset, inputs.predictions, reliability=settings_of(inputs).reliability, **how)


def present(found: SetMetrics, inputs: Inputs, options) -> list[Block]:
    """Show which classifier has the best sets, and the metrics of whole sets and of each label."""
    table, by_gold = table_of(found, inputs, options), inputs.gold is not None
    whole = table[table["metric"].isin(WHOLE)].replace({"metric": TITLES})
    each = table[~table["metric"].isin(WHOLE)]
    each = each.assign(metric=each["metric"].str.replace("^f1", "F1", regex=True))
    at = "against gold" if by_gold else f"at γ = {exact(settings_of(inputs).reliability)}"
    return [
        Finding(Name(verdict(found, by_gold))),
        Heading(f"Whole sets, {at}"),
        Grid(whole, f"Whole sets, {at}.", columns=COLUMNS, key="set_metrics"),
        Heading("Each label"),
        Grid(each, "Each label.", columns=COLUMNS, key="label_metrics"),
        Words(
            "Gold has no uncertainty, so both ends of the first interval equal the mean. The interval “with cases” "
            "includes the error from sampling cases."
            if by_gold
            else "The first interval contains 95% of draws. The interval “with cases” also includes the error from "
            "sampling cases. Labels are treated as independent. “None of these” applies if no other label does. If the "
            "truth is uncertain, no classifier reaches 1.",
            "note",
        ),
        Download(table, "Metrics", "set_metrics", "set_metrics_file"),
    ]


def table_of(found: SetMetrics, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per classifier and metric."""
    return found.to_frame()


def verdict(result: SetMetrics, by_gold: bool = False) -> str:
    """Return which classifier clearly has the largest mean Jaccard, with its interval; or that the best two tie."""
    what = "the gold labels" if by_gold else "the plausible labels"
    mean, low, high = result.mean[:, 0], result.total_low[:, 0], result.total_high[:, 0]
    best = int(mean.argmax())
    ends = with_interval(mean[best], low[best], high[best])
    said = f"{result.classifiers[best]} has a Jaccard index of {ends}"
    cases = plural(int(result.n_cases[best]), "case")
    others = [who for who in range(len(mean)) if who != best]
    if not others:
        return f"{said} compared with {what} of {cases}"
    others.sort(key=lambda who: -mean[who])
    near = [who for who in others if clearly_most(*(part[[best, who]] for part in (mean, low, high))) is None]
    second = (near or others)[0]
    if near:
        both = f"{result.classifiers[best]} and {result.classifiers[second]}"
        return f"{both} do not clearly differ: Jaccard index {ends} and {number(mean[second])}"
    return f"{said}, compared with {number(mean[second])} for {result.classifiers[second]}"
