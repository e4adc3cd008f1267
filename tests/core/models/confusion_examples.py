"""Slow and obvious references for confusion-matrix models."""

from itertools import product

import numpy as np
from scipy.special import gammaln


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def answers_of_cases(dataset):
    """For each case its list of (rater, annotation)."""
    return [
        [(int(dataset.rater[a]), int(dataset.answer[a])) for a in range(dataset.case_ptr[i], dataset.case_ptr[i + 1])]
        for i in range(dataset.n_cases)
    ]


def case_probabilities(dataset, prevalence, confusion):
    """P(true class and annotations) of each case, shape (n_cases, n_classes)."""
    joint = np.tile(prevalence, (dataset.n_cases, 1))
    for i, answers in enumerate(answers_of_cases(dataset)):
        for rater, answer in answers:
            joint[i] *= confusion[rater, :, answer]
    return joint


def log_likelihood(dataset, prevalence, confusion):
    return float(np.log(case_probabilities(dataset, prevalence, confusion).sum(axis=1)).sum())


def log_beta(a):
    return gammaln(a).sum(axis=-1) - gammaln(a.sum(axis=-1))


def exact_posterior(dataset, prevalence_prior, row_prior):
    """Posterior means of prevalence, confusion and P(true class) by going through all true classes."""
    n_classes, cases = dataset.n_classes, answers_of_cases(dataset)
    weights, prevalences, confusions, truths = [], [], [], []
    for truth in product(range(n_classes), repeat=dataset.n_cases):
        a = prevalence_prior + np.bincount(truth, minlength=n_classes)
        b = np.tile(row_prior, (dataset.n_raters, 1, 1))
        for z, answers in zip(truth, cases, strict=True):
            for rater, answer in answers:
                b[rater, z, answer] += 1
        weights.append(log_beta(a) + log_beta(b).sum())
        prevalences.append(a / a.sum())
        confusions.append(b / b.sum(axis=2, keepdims=True))
        truths.append(np.eye(n_classes)[list(truth)])
    weight = softmax(np.array(weights))
    return tuple(np.tensordot(weight, np.array(part), 1) for part in (prevalences, confusions, truths))


def simulated(build, rng, prevalence, confusion, n_cases, per_case=None):
    """A dataset of the model: every rater on every case, or ``per_case`` of them at random."""
    n_raters, n_classes = confusion.shape[:2]
    truth = rng.choice(n_classes, size=n_cases, p=prevalence)
    rows = []
    for case, z in enumerate(truth):
        chosen = range(n_raters) if per_case is None else rng.choice(n_raters, per_case, replace=False)
        rows += [(case, int(j), int(rng.choice(n_classes, p=confusion[j, z]))) for j in chosen]
    return build(rows, n_classes, n_cases=n_cases, n_raters=n_raters), truth
