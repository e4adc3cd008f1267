"""Errors of predicted scores over plausible truths, against γ."""

import pandas as pd

from ...evaluation.score_errors import ScoreErrors, errors_verdict, score_errors
from ...figures import scores as figures
from ...text import exact
from ..blocks import Block, Control, Download, Figure, Finding, Grid, Heading, Name, Selector, Words
from ..inputs import Inputs
from ..schema import Column
from . import nearest
from .classifiers import in_percent
from .scores import gaussian

COLUMNS = (
    Column("predictor"),
    Column("metric"),
    Column("n_cases", "cases", "count"),
    Column("mean", unit="difference"),
    Column("low", "95% from", "difference"),
    Column("high", "to", "difference"),
    Column("total_low", "with cases, from", "difference"),
    Column("total_high", "to ", "difference"),
    Column("point", "against the means", "difference"),
)
Errors = tuple[ScoreErrors, ...]  # one for each γ


def compute(inputs: Inputs, options) -> Errors:
    """Compute errors of predictors over plausible truths at each γ."""
    how = {"n_draws": options.n_draws, "seed": options.seed}
    model = gaussian(inputs)
    return tuple(
        score_errors(inputs.dataset, model, inputs.predictions, reliability=one, **how) for one in options.reliabilities
    )


def present(found: Errors, inputs: Inputs, options) -> list[Block]:
    """Show errors against γ, and all of them at the γ nearest to the default of pages."""
    metrics = found[0].metrics
    titles = [figures.METRIC_TITLES[one] for one in metrics]
    control = Control("Error", metrics, titles, "score_metric", look="side by side")
    return [Selector((control,), lambda metric: _of_metric(found, inputs, options, metric))]


def table_of(found: Errors, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per γ, predictor and metric."""
    return pd.concat([one.to_frame().assign(reliability=one.reliability) for one in found], ignore_index=True)


def _of_metric(found: Errors, inputs: Inputs, options, metric: str) -> list[Block]:
    shown = found[nearest([one.reliability for one in found], inputs)]
    table = shown.to_frame().replace({"metric": figures.METRIC_TITLES})
    name = figures.METRIC_TITLES[metric]
    title = f"{name[0].upper()}{name[1:]} of each predictor"
    return [
        Finding(Name(errors_verdict(found))),
        Figure(
            lambda theme: figures.errors_against_trust(found, metric, theme, title),
            "Error of each predictor at each γ",
            "score_errors",
        ),
        Words("Line: mean over draws · Band: 95% of draws · ×: with the mean plausible scores as the truth", "legend"),
        Heading(f"At γ = {exact(shown.reliability)}"),
        Grid(
            table, "Errors of predictors over draws, in score units.", columns=COLUMNS,
            key="score_errors_table",
        ),
        Words(
            "The first interval contains 95% of draws. The interval “with cases” also includes the error from "
            "sampling cases. If the truth is uncertain, an error is never 0: it includes the uncertainty about the "
            "truth.",
            "note",
        ),
        Download(table_of(found, inputs, options), "Errors", "score_errors", "score_errors_file"),
        *_better(shown),
    ]  # fmt: skip


def _better(found: ScoreErrors) -> list[Block]:
    if len(found.predictors) < 2:
        return []
    table = pd.DataFrame(found.better, columns=list(found.predictors))
    table.insert(0, "predictor", list(found.predictors), allow_duplicates=True)
    what = "P(row has a lower absolute error than column)"
    return [
        Heading(what, "better"),
        Grid(in_percent(table), f"{what}.", key="better", names_rows=True),
        Download(table, "P(better)", "better", "better"),
    ]
