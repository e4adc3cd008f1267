"""Simulated data that the tests of raters share."""

import numpy as np

from core.annotations.dataset import Dataset


def names(*sizes):
    return [[f"{letter}{i}" for i in range(n)] for letter, n in zip("crk", sizes, strict=True)]


def simulated(seed, accuracy, n_cases=300, per_case=4, n_classes=4, change=None, times=True, spread=None):
    """Cases in order of time, one an hour.

    ``accuracy`` is by rater; ``change`` maps a rater to (case from which, accuracy since). Mistakes fall evenly, or as
    ``spread`` says. Returns the data and the true class of each case.
    """
    rng = np.random.default_rng(seed)
    accuracy = np.asarray(accuracy, float)
    truth = rng.integers(n_classes, size=n_cases)
    rater = rng.random((n_cases, accuracy.size)).argsort(axis=1)[:, :per_case].ravel()
    case = np.repeat(np.arange(n_cases), per_case)
    now = accuracy[rater]
    for j, (since, level) in (change or {}).items():
        now[(rater == j) & (case >= since)] = level
    if spread is None:
        wrong = (truth[case] + rng.integers(1, n_classes, case.size)) % n_classes
    else:
        wrong = (rng.random((case.size, 1)) > spread.cumsum(axis=1)[truth[case]][:, :-1]).sum(axis=1)
    answer = np.where(rng.random(case.size) < now, truth[case], wrong)
    time = 1_700_000_000 + 3600 * case if times else None
    vocabulary = names(n_cases, accuracy.size, n_classes)
    return Dataset.from_classes("simulated", *vocabulary, case, rater, answer, time=time), truth


def rows(data):
    """(case, rater, annotation) arrays that can be changed."""
    return data.case_of_annotation.copy(), data.rater.copy(), data.answer.copy()


def rebuilt(data, answer, time=None):
    """The same data with other annotations, and other times."""
    vocabulary = data.cases, data.raters, data.classes
    time = data.time if time is None else time
    return Dataset.from_classes(data.name, *vocabulary, data.case_of_annotation, data.rater, answer, time=time)
