"""What a sample is to estimate: how likely each case counts towards it, which its chance of being drawn is chosen by.

A rate is estimated best where a case is drawn with a probability in proportion to the standard deviation of what it
would bring [Zrnic & Candès 2024]. Of a class that is ``√(s (1 - s))`` with s the share of the people's annotations of
the case that name it, drawn to the share over all cases by one annotation more, so that two who agree leave doubt.
"""

from collections.abc import Sequence

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from .rates import first_classes, people_labels


def likely_named(dataset: Dataset, people: Sequence[str], name: str) -> np.ndarray:
    """How likely a further person names a class on each case, ndarray of float64, shape (n_cases,).

    Parameters
    ----------
    dataset : Dataset
        Of single classes.
    people : sequence of str
        Raters who count.
    name : str
        The class.

    Raises
    ------
    InputError
        There is no such class.
    NotApplicableError
        The annotations are no single classes.
    """
    _check(dataset)
    if name not in dataset.classes:
        raise InputError(f"There is no class {name!r}.", "Look at the names of the classes.")
    return _drawn_to_all(dataset, people, people_labels(dataset, people)[:, dataset.classes.index(name)])


def likely_right(dataset: Dataset, people: Sequence[str], machine: str) -> np.ndarray:
    """How likely a further person names the class that a machine gave each case; 0 where it gave none.

    Parameters
    ----------
    dataset : Dataset
        Of single classes, with the machine among the raters.
    people : sequence of str
        Raters who count.
    machine : str

    Raises
    ------
    InputError
        There is no such rater.
    NotApplicableError
        The annotations are no single classes.
    """
    _check(dataset)
    if machine not in dataset.raters:
        raise InputError(f"There is no rater {machine!r}.", "Look at the names of the raters.")
    first = first_classes(dataset, machine)
    labels = people_labels(dataset, people)[np.arange(dataset.n_cases), np.maximum(first, 0)]
    said = first >= 0
    return np.where(said, _drawn_to_all(dataset, people, np.where(said, labels, np.nan)), 0.0)


def _check(dataset: Dataset) -> None:
    if dataset.kind != "class":
        raise NotApplicableError("What a sample is to estimate needs one class per annotation.")


def _drawn_to_all(dataset: Dataset, people: Sequence[str], share: np.ndarray) -> np.ndarray:
    """Shares drawn to their mean as if by one annotation; that mean where nobody annotated, a half where nobody did."""
    codes = [place for place, name in enumerate(dataset.raters) if name in set(people)]
    human = np.isin(dataset.rater, codes)
    n = np.bincount(dataset.case_of_annotation[human], minlength=dataset.n_cases)
    known = np.isfinite(share)
    mean = float(share[known].mean()) if known.any() else 0.5
    return np.where(known, (n * np.nan_to_num(share) + mean) / (n + 1), mean)
