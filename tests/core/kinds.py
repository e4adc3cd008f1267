"""The same annotations as another kind."""

import numpy as np

from core.annotations.dataset import Dataset


def as_scores(dataset):
    """Each class as the number of its code."""
    own = (dataset.case_of_annotation, dataset.rater, dataset.answer.astype(float), dataset.time)
    return Dataset.from_scores(dataset.name, dataset.cases, dataset.raters, *own)


def as_rankings(dataset):
    """Each class as a first choice alone."""
    n = dataset.n_annotations
    entries = (np.arange(n + 1), dataset.answer, np.zeros(n), dataset.time)
    names = (dataset.name, dataset.cases, dataset.raters, dataset.classes)
    return Dataset.from_rankings(*names, dataset.case_of_annotation, dataset.rater, *entries)
