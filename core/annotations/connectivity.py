"""Connectivity of raters and cases: groups without shared cases or raters cannot be compared."""

import numpy as np

from .dataset import Dataset


def n_groups(dataset: Dataset) -> int:
    """Return the number of groups of cases and raters that no annotation joins; 1 if everything is connected."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = dataset.n_cases + dataset.n_raters
    answers = np.ones(dataset.n_annotations, np.int8)
    joined = coo_array((answers, (dataset.case_of_annotation, dataset.n_cases + dataset.rater)), shape=(size, size))
    return int(connected_components(joined, directed=False, return_labels=False))


def classes_per_case(dataset: Dataset) -> np.ndarray:
    """Count the different classes given to each case, int64, shape (n_cases,); not defined for scores."""
    case, code = dataset.named_classes()
    pairs = np.unique(case.astype(np.int64) * dataset.n_classes + code)
    return np.bincount(pairs // max(1, dataset.n_classes), minlength=dataset.n_cases)
