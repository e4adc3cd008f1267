"""Predicted scores, matched to a dataset: one score per case of each predictor."""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.validation import LARGEST_SCORE
from ..annotations.vocabulary import encode
from ..errors import InputError
from ..ingest.formats.raw_table import RawTable
from ..ingest.formats.tables import open_table
from ..result_base import Columns, Result
from .predictions import by_classifier, columns_of, match_rows, numbers_of, texts_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScorePredictions(Result):
    """Scores of one predictor.

    Attributes
    ----------
    name : str
    cases : tuple of str
    score : ndarray of float64, shape (n_cases,)
        Predicted scores; NaN without a prediction.
    notes : tuple of str
        Notes on what was left out.
    """

    name: str
    cases: tuple[str, ...]
    score: np.ndarray
    notes: tuple[str, ...]

    TABLES = ("scores",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return {"case": self.cases[:most], "score": self.score[:most]}

    @property
    def predicted(self) -> np.ndarray:
        """True for cases with a prediction, bool, shape (n_cases,)."""
        return np.isfinite(self.score)


def open_score_predictions(name: str, content: bytes, dataset: Dataset) -> tuple[ScorePredictions, ...]:
    """Read predicted scores from a file: a row per case (case, score, perhaps predictor), or a column per predictor.

    Parameters
    ----------
    name : str
        Name of the file, and of the predictor if no column names it.
    content : bytes
    dataset : Dataset
        Dataset of scores.

    Raises
    ------
    InputError
        No column contains numbers, a case occurs twice, or no case is in the data; the remedy is included.
    """
    raw = open_table(content)
    roles = columns_of(raw.columns, ())
    cases = texts_of(encode(raw.table[roles["case"]]))
    if "score" in roles:
        score = _numbers(raw, roles["score"])
        parts = by_classifier(raw, roles, name)
        return tuple(_matched(dataset, title, cases[rows], score[rows]) for title, rows in parts)
    found = []
    for column in raw.columns:
        score = _numbers(raw, column)
        if column != roles["case"] and np.isfinite(score).any():
            found.append(_matched(dataset, column, cases, score))
    if not found:
        raise InputError(
            f"Could not read {name}: it has no column of predicted scores.",
            "Use one row per case (columns case, score and optionally predictor), or one column per predictor.",
        )
    return tuple(found)


def _matched(dataset: Dataset, name: str, case_ids: np.ndarray, score: np.ndarray) -> ScorePredictions:
    rows, case, notes = match_rows(dataset, name, case_ids, np.isfinite(score), "score")
    values = np.full(dataset.n_cases, np.nan)
    values[case] = score[rows]
    return ScorePredictions(name, dataset.cases, values, notes)


def _numbers(raw: RawTable, column: str) -> np.ndarray:
    values = numbers_of(raw, column)
    return np.where(np.abs(values) <= LARGEST_SCORE, values, np.nan)
