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


def with_spammers(seed=0, n_cases=400, n_raters=20, accuracy=0.85):
    """Two of many good raters on each case of two classes, and two more on all: one always NO, one always YES.

    Returns the data, spammers last, and the true class of each case.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_cases)
    good = rng.random((n_cases, n_raters)).argsort(axis=1)[:, :2]
    spam = np.tile([n_raters, n_raters + 1], (n_cases, 1))
    case, rater = np.repeat(np.arange(n_cases), 4), np.hstack([good, spam]).ravel()
    answer = np.where(rng.random(case.size) < accuracy, truth[case], 1 - truth[case])
    answer = np.where(rater >= n_raters, rater - n_raters, answer)
    cases, _, _ = names(n_cases, 1, 1)
    raters = [*(f"good{j}" for j in range(n_raters)), "allno", "allyes"]
    return Dataset.from_classes("spam", cases, raters, ["NO", "YES"], case, rater, answer), truth


def rare(seed, prevalence, n_cases=2000, n_raters=12, per_case=4):
    """Good raters of two classes of which one is rare; they differ in how many they miss and how many they add."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n_cases) < prevalence
    finds, spares = rng.uniform(0.6, 0.95, n_raters), rng.uniform(0.97, 0.999, n_raters)
    rater = rng.random((n_cases, n_raters)).argsort(axis=1)[:, :per_case].ravel()
    case = np.repeat(np.arange(n_cases), per_case)
    chance = np.where(truth[case], finds[rater], 1 - spares[rater])
    answer = (rng.random(case.size) < chance).astype(int)
    return Dataset.from_classes("rare", *names(n_cases, n_raters, 2), case, rater, answer)


def one_class_each(seed, prevalence=0.3, n_cases=400, n_raters=10):
    """Rules that give one class each where they find something, up to a tenth of it on cases of the other class."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_cases) < prevalence).astype(int)
    own = np.arange(n_raters) % 2
    fires = np.where(truth[:, None] == own, 0.4, 0.03)
    case, rater = np.nonzero(rng.random((n_cases, n_raters)) < fires)
    return Dataset.from_classes("rules", *names(n_cases, n_raters, 2), case, rater, own[rater])


def ratings(seed=0, n_cases=1500, n_raters=262, each=50, shift=0.6, ordinal=True):
    """Ratings from 1 to 5 of opinions: raters follow the cases weakly, half say 1, few 5, and levels differ.

    Returns the data, and of each rater how far they read higher on the latent scale and their spread there; the truth
    has a spread of 1.
    """
    rng = np.random.default_rng(seed)
    truth, shifts = rng.normal(0, 1, n_cases), rng.normal(0, shift, n_raters)
    spread = 1.1 * np.exp(rng.normal(0, 0.25, n_raters))
    case = np.concatenate([rng.choice(n_cases, each, replace=False) for _ in range(n_raters)])
    rater = np.repeat(np.arange(n_raters), each)
    latent = truth[case] + shifts[rater] + spread[rater] * rng.normal(0, 1, case.size)
    answer = np.searchsorted([-0.1, 0.75, 1.5, 2.3], latent)
    cases, raters, _ = names(n_cases, n_raters, 1)
    data = Dataset.from_classes("ratings", cases, raters, list("12345"), case, rater, answer, ordinal=ordinal)
    return data, shifts - shifts.mean(), spread
