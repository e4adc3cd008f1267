"""One row per case of scores: its estimated score with the standard error, and who decided it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...certainty.score_trust import score_digits
from ...errors import NotApplicableError
from ...plausibility.gaussian import METHOD as GAUSSIAN
from ...plausibility.gaussian import GaussianScores
from ...text import number, plural
from ..blocks import Block, Grid, Words
from ..inputs import Inputs
from ..schema import Column, columns_in
from . import SCORE_RULES
from .labels import IN_REVIEW, REVIEWED, UNDETERMINED, decided, download, gold_column, pending, with_content

COLUMNS = (
    Column("case"),
    Column("label", "score", "score"),
    Column("standard_error", "standard error", "score"),
    Column("status"),
    Column("n", "annotations", "count"),
    Column("decided_by", "decided by"),
    Column("gold", unit="score", help="Gold for the case, used only for comparison."),
    Column("text"),
    Column("link"),
)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreLabels:
    """Estimated scores; arrays and lists have one entry per case.

    Attributes
    ----------
    label, standard_error : ndarray
        NaN if they cannot be estimated.
    status, decided_by : list of str
    """

    label: np.ndarray
    standard_error: np.ndarray
    status: list[str]
    decided_by: list[str]

    def methods(self, inputs: Inputs) -> list[str]:
        """Return the names of the methods of the scores, for the methods section of a paper.

        Parameters
        ----------
        inputs : Inputs
        """
        return [GAUSSIAN.name] if SCORE_RULES["average"] in self.decided_by else []

    def headline(self, bar: float | None = None) -> str:
        """Return how precisely half of the scores are known, in a title.

        Parameters
        ----------
        bar : float, optional
            Not used: scores have no certainty.
        """
        known = self.standard_error[np.isfinite(self.standard_error)]
        if not known.size:
            return "Cannot determine how precise the scores are"
        half = float(np.median(known))
        return f"Half of the scores have a standard error of at most {number(half, score_digits(4 * half))}"


def compute(inputs: Inputs, options) -> ScoreLabels:
    """Estimate the score of every case by the plausible score of the settings, or by the mean.

    Raises
    ------
    NotApplicableError
        The plausibility model is not that of scores.
    """
    dataset, settings = inputs.dataset, inputs.settings
    if settings is None or not isinstance(settings.plausibility, GaussianScores):
        raise NotApplicableError(f"Cannot estimate scores: choose the model “{GAUSSIAN.title}”.")
    n = np.diff(dataset.case_ptr)
    if options.rule == "vote":
        label, error, by = *_means(dataset.score, dataset.case_of_annotation, n), SCORE_RULES["vote"]
    else:
        found, by = settings.plausibility.posterior(dataset, settings.reliability), SCORE_RULES["average"]
        with np.errstate(divide="ignore", invalid="ignore"):
            label, error = found.m.copy(), np.where(found.a > 1, np.sqrt(found.b / (found.k * (found.a - 1))), np.nan)
    label[n == 0] = error[n == 0] = np.nan
    status = ["no annotation" if count == 0 else "estimated" for count in n]
    decided_by = [by] * dataset.n_cases
    for case in pending(inputs) if options.rule == "review" else ():
        status[case] = IN_REVIEW
    for case, (score, who) in decided(inputs).items() if options.rule == "review" else ():
        label[case], error[case] = (np.nan if score is None else score), np.nan
        status[case], decided_by[case] = (UNDETERMINED if score is None else REVIEWED), who
    return ScoreLabels(label, error, status, decided_by)


def _means(score: np.ndarray, case: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean score of each case and its standard error; NaN with fewer than two scores."""
    mean = np.bincount(case, score, len(n)) / np.maximum(n, 1)
    squares = np.bincount(case, (score - mean[case]) ** 2, len(n))
    return mean, np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1)), np.nan)


def table_of(found: ScoreLabels, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case."""
    table = pd.DataFrame(
        {
            "case": list(inputs.dataset.cases),
            "label": found.label,
            "standard_error": found.standard_error,
            "status": found.status,
            "n": np.diff(inputs.dataset.case_ptr),
            "decided_by": found.decided_by,
            **gold_column(inputs.dataset),
        }
    )
    return with_content(table, inputs) if options.text else table


def about(found: ScoreLabels, inputs: Inputs, options) -> dict[str, Any]:
    """Return the settings and counts of the scores, for the file of methods.

    Parameters
    ----------
    found : ScoreLabels
    inputs : Inputs
    options : ScoreLabelsOptions
    """
    settings = inputs.settings
    assert settings is not None, "the settings must name the model"
    counts = {status: found.status.count(status) for status in dict.fromkeys(found.status)}
    model = settings.plausibility
    given = {name: value for name, value in model.settings().items() if value is not None}
    return {
        "rule": options.rule, "plausibility": model.name, **given, "reliability": settings.reliability, "counts": counts
    }  # fmt: skip


def present(found: ScoreLabels, inputs: Inputs, options) -> list[Block]:
    """Show the table and the file."""
    table = table_of(found, inputs, options)
    known = found.standard_error[np.isfinite(found.standard_error)]
    digits = score_digits(4 * float(np.median(known))) if known.size else 2
    shown = columns_in(table, COLUMNS)
    return [
        Grid(table, "Scores of the cases.", 60, shown, "labels_table", opens_case=True, digits=digits),
        Words(f"{plural(len(table), 'case')}. To see certainties, set a threshold on the Cases page.", "note"),
        download(table, lambda: table, about(found, inputs, options)),
    ]
