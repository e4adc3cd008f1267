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


def as_sets(dataset, second=True):
    """Each class as a set of labels: alone, or every third time with the class after it."""
    n, k = dataset.n_annotations, dataset.n_classes
    two = np.arange(n) % 3 == 0 if second else np.zeros(n, bool)
    ptr = np.concatenate([[0], np.cumsum(1 + two)])
    codes = np.empty(ptr[-1], np.int64)
    codes[ptr[:-1]] = dataset.answer
    codes[ptr[1:][two] - 1] = (dataset.answer[two] + 1) % k
    names = (dataset.name, dataset.cases, dataset.raters, dataset.classes)
    return Dataset.from_sets(*names, dataset.case_of_annotation, dataset.rater, ptr, codes, dataset.time)
