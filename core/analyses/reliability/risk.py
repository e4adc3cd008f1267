"""Levels of risk: their certainty, and related numbers."""

import numpy as np
import pandas as pd

from ...annotations.counts import classes_per_case
from ...annotations.dataset import Dataset
from ...certainty.risk import RiskResult
from ...evaluation.sweep_table import SweepTable
from ...figures import reliability as figures
from ...text import exact, percent, plural
from ...thresholds import UNCERTAIN_BELOW
from ..blocks import Block, Download, Figure, Finding, Row, Stack
from ..inputs import Inputs
from .certainty import middle

_LEVELS = (0.5, 1.5)


def present(found: SweepTable, inputs: Inputs, options) -> list[Block]:
    """Show certainty of the level and the expected risk; annotations and classes of cases by their risk."""
    dataset, place = inputs.dataset, middle(found)
    risk = found.risk[place]
    unsure = int((risk.summed < UNCERTAIN_BELOW).sum())
    table = _table(risk, dataset)
    level = np.digitize(risk.expected, _LEVELS)
    annotations, classes = (
        [table[name].to_numpy()[level == one] for one in range(3)] for name in ("annotations", "distinct_classes")
    )
    return [
        Finding(
            f"At γ = {exact(found.reliabilities[place])}, the certainty of the risk level is below "
            f"{percent(UNCERTAIN_BELOW)} in {unsure:,} of {plural(dataset.n_cases, 'case')}",
            "risk",
        ),
        _pair(
            Figure(
                lambda theme: figures.risk_certainty(risk, theme, "Certainty of the risk level, sorted"),
                "Sorted certainty of the risk level",
                "risk_certainty",
            ),
            Figure(
                lambda theme: figures.expected_risk(risk, theme, "Expected risk of the cases"),
                "Expected risk",
                "expected_risk",
            ),
        ),
        _pair(
            Figure(
                lambda theme: figures.by_risk(annotations, theme, "Annotations by risk", "annotations"),
                "Annotations per case by expected risk",
                "annotations_by_risk",
            ),
            Figure(
                lambda theme: figures.by_risk(classes, theme, "Classes named by risk", "distinct classes"),
                "Distinct classes per case by expected risk",
                "classes_by_risk",
            ),
        ),
        Download(table, "Risk of every case", "risk", "risk"),
    ]


def table_of(found: SweepTable, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case."""
    return _table(found.risk[middle(found)], inputs.dataset)


def _table(risk: RiskResult, dataset: Dataset) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "case": dataset.cases,
            "expected_risk": risk.expected,
            "risk_of_top1": risk.of_top1,
            "risk_summed": risk.summed,
            "annotations": np.diff(dataset.case_ptr),
            "distinct_classes": classes_per_case(dataset),
        }
    )


def _pair(left: Figure, right: Figure) -> Row:
    return Row((Stack(1, [left]), Stack(1, [right])), gap="large")
