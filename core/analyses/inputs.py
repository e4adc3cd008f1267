"""Inputs that an answer may depend on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..analysis_settings import AnalysisSettings
from ..annotations.dataset import Dataset
from ..review.states import CaseReview


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Inputs of a part of an analysis that needs more than annotations.

    Attributes
    ----------
    dataset : Dataset
    gold : object, optional
        Known truths of the cases, matched to the dataset.
    predictions : tuple
        Predictions of classifiers, matched to the dataset.
    reviews : mapping of str to CaseReview, optional
        Reviews of the cases that have been reviewed.
    settings : AnalysisSettings, optional
        Settings: plausibility model, γ and rater model.
    questions : tuple of (str, Dataset)
        All questions of the upload that the dataset is one of.
    content : mapping of str to mapping
        What raters saw of each case, by name ("text", "link") and case.
    """

    dataset: Dataset
    gold: Any = None
    predictions: tuple[Any, ...] = ()
    reviews: Mapping[str, CaseReview] | None = None
    settings: AnalysisSettings | None = None
    questions: tuple[tuple[str, Dataset], ...] = ()
    content: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
