"""Dependence of the best classifier on γ: a metric against γ, and gold."""

import numpy as np
import pandas as pd

from ...annotations.dataset import RISK_LEVELS
from ...evaluation.choice import verdict
from ...evaluation.gold_accuracy import gold_accuracy
from ...evaluation.metrics import TOP, Evaluation, PointScores, first_metric, metric_names
from ...evaluation.sweep_table import SweepTable
from ...figures import classifiers as figures
from ...models.gold import gold_cases
from ...text import exact, percent
from ..blocks import (
    Block,
    Control,
    Details,
    Download,
    Figure,
    Finding,
    Grid,
    Heading,
    Name,
    Row,
    Selector,
    Stack,
    Words,
)
from ..inputs import Inputs
from ..schema import Column
from . import control

COLUMNS = (
    Column("reliability", "reliability γ", "reliability"),
    Column("classifier"),
    Column("mean", unit="difference"),
    Column("sd", unit="difference"),
    Column("ci_low", "95% from", "coefficient"),
    Column("ci_high", "to", "coefficient"),
    Column("min", unit="difference"),
    Column("max", unit="difference"),
    Column("point", unit="difference"),
    Column("case_se", "SE from cases", "error", digits=4),
    Column("total_se", "total SE", "error", digits=4),
    Column("n_cases", "cases", "count"),
)
BY_GOLD = (
    Column("classifier"),
    Column("top", unit="count"),
    Column("n_gold", "cases with gold", "count"),
    Column("right_by_gold", "right by gold", "rate", "ci_low", "ci_high", "95% interval"),
    Column("ci_low", "95% from", "rate"),
    Column("ci_high", "to", "rate"),
)


def present(found: SweepTable, inputs: Inputs, options) -> list[Block]:
    """Show a metric of each classifier against γ, their accuracy by gold, and more at one γ."""
    metrics = found.evaluation[0].metrics
    metric = Control(
        "Metric", metrics, [figures.metric_title(one) for one in metrics], "metric",
        metrics.index(chosen_metric(inputs, options)), "top3 accuracy", "side by side",
    )  # fmt: skip
    return [Selector((metric,), lambda chosen: _of_metric(found, inputs, chosen))]


def table_of(found: SweepTable, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per γ and classifier, for one metric."""
    return metric_table(found, chosen_metric(inputs, options))


def lines(
    reliabilities: tuple[float, ...],
    evaluations: tuple[Evaluation, ...],
    metric: str,
    scores: PointScores | None = None,
) -> Figure:
    """Show the metric of each classifier against γ.

    Parameters
    ----------
    reliabilities : tuple of float
    evaluations : tuple of Evaluation
        Evaluations of the first reliabilities only, while the others are computed.
    metric : str
    scores : dict, optional
        Scores against the point estimate, while there is no evaluation.
    """
    name = figures.metric_title(metric)
    title = f"{name[0].upper()}{name[1:]} of each classifier"
    return Figure(
        lambda theme: figures.metric_against_reliability(reliabilities, evaluations, metric, theme, title, scores),
        "Metric of each classifier at each γ",
        "metric_lines",
    )


def chosen_metric(inputs: Inputs, options) -> str:
    """Return the metric of the options, or the one that opens for these classes.

    Parameters
    ----------
    inputs : Inputs
    options : SweepOptions
    """
    return options.metric or first_metric(TOP, inputs.dataset.n_classes)


def metric_table(found: SweepTable, metric: str) -> pd.DataFrame:
    """Return one row per γ and classifier, for one metric.

    Parameters
    ----------
    found : SweepTable
    metric : str
    """
    every = found.to_frame("classifiers")
    return every[every["metric"] == metric].drop(columns="metric").reset_index(drop=True)


def _of_metric(found: SweepTable, inputs: Inputs, metric: str) -> list[Block]:
    table, reliabilities = metric_table(found, metric), found.reliabilities
    title = figures.metric_title(metric)
    at = control(reliabilities, inputs, "at_reliability")
    return [
        Finding(Name(verdict(reliabilities, found.evaluation, metric))),
        lines(reliabilities, found.evaluation, metric),
        Words("Line: mean over draws · Band: 95% of draws · ×: with the point estimate as the truth", "legend"),
        *_by_gold(inputs, metric),
        Details(
            "Table with standard errors (from sampling cases, and total)",
            [Grid(table, f"{title} over draws, for all cases.", 100, COLUMNS, "metric_table")],
            printed=True,
        ),
        Download(table, "Metric", "metric", "metric"),
        Selector((at,), lambda reliability: _at(found, reliability, metric)),
    ]


def _by_gold(inputs: Inputs, metric: str) -> list[Block]:
    """Show how often each classifier is correct by gold."""
    if not len(gold_cases(inputs.dataset)):
        return []
    top = 1 if metric == metric_names(TOP)[0] else TOP
    found = gold_accuracy(inputs.dataset, inputs.predictions, top)
    if not found.n.any():
        return []
    table, words = found.to_frame(), found.words()
    return [
        Heading(f"Top-{top} accuracy compared with gold", "gold"),
        Grid(table, "Accuracy on gold cases, with Wilson intervals.", columns=BY_GOLD, key="gold_accuracy"),
        *([Words((Name(words),))] if words else []),
        Download(table, "Accuracy by gold", "gold_accuracy", "gold_accuracy_table"),
    ]


def _at(found: SweepTable, reliability: float, metric: str) -> list[Block]:
    """Show which classifier is better, and the metric over draws, cases and levels of risk."""
    evaluation = found.evaluation[found.reliabilities.index(reliability)]
    place, names, at = evaluation.metrics.index(metric), list(evaluation.classifiers), f"at γ = {exact(reliability)}"
    better = _by_classifier(names, evaluation.better[:, :, place], "better", names)
    draws = Figure(
        lambda theme: figures.draws_histogram(evaluation, metric, theme, f"Over draws {at}"),
        "Histogram of the metric over draws",
        "metric_draws",
    )
    cases = Figure(
        lambda theme: figures.metric_per_case(evaluation, metric, theme, f"Per case {at}"),
        "Sorted metric per case",
        "metric_cases",
    )
    by_draw = pd.DataFrame(evaluation.by_draw[:, place].T, columns=names)
    by_case = _by_classifier(names, evaluation.by_case[:, :, place], "case", found.certainty[0].cases)
    return [
        Heading("P(row is better than column)", "better"),
        Grid(in_percent(better), f"P(row is better than column) {at}.", key="better", names_rows=True),
        Words(
            f"Probabilities are taken over {evaluation.by_draw.shape[-1]:,} shared draws of the truth and over "
            "samples of cases.",
            "note",
        ),
        Download(better, "P(better)", "better", "better"),
        Row((Stack(1, [draws]), Stack(1, [cases])), gap="large"),
        Download(by_draw, "Metric of every draw", "metric_draws", "metric_draws"),
        Download(by_case, "Metric of every case", "metric_cases", "metric_cases"),
        *_by_risk(evaluation, place),
    ]


def in_percent(better: pd.DataFrame) -> pd.DataFrame:
    """Return probabilities of row against column as in sentences; the diagonal has none."""
    names, values = better.iloc[:, :1], better.iloc[:, 1:]
    return pd.concat([names, values.map(lambda share: "" if pd.isna(share) else percent(share))], axis=1)


def _by_classifier(names: list[str], values: np.ndarray, first: str, labels) -> pd.DataFrame:
    """Return a column for each classifier, after one of labels."""
    table = pd.DataFrame(values, columns=names)
    table.insert(0, first, list(labels), allow_duplicates=True)
    return table


def _by_risk(evaluation: Evaluation, place: int) -> list[Block]:
    by_risk, n = evaluation.by_risk, evaluation.n_by_risk
    if by_risk is None or n is None:
        return []
    rows = [
        {"classifier": name}
        | {f"{level} risk (n {n[who, code]:,})": by_risk[who, code, place] for code, level in enumerate(RISK_LEVELS)}
        for who, name in enumerate(evaluation.classifiers)
    ]
    table = pd.DataFrame(rows)
    columns = [Column("classifier"), *(Column(name, unit="difference") for name in table.columns[1:])]
    name = figures.metric_title(evaluation.metrics[place])
    title = f"{name[0].upper()}{name[1:]} by expected risk of the case"
    return [
        Heading(title, "risk"),
        Grid(table, f"{title}.", columns=columns, key="by_risk"),
    ]
