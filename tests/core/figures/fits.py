"""Fits with known numbers, for the figures."""

import numpy as np

from core.models.result import CaseEffect, RaterModelFit, Spread, Uncertainty


def spread(value, width=0.05):
    """Intervals that reach further down than up, so that ends that change places are seen."""
    return Spread(np.full(value.shape, width), value - width, value + 0.6 * width)


def fit(n_raters=4, n_classes=2, n_cases=30, interval=True, seed=0, names="rater"):
    rng = np.random.default_rng(seed)
    diagonal = rng.uniform(0.6, 0.95, (n_raters, n_classes))
    confusion = np.repeat(((1 - diagonal) / (n_classes - 1))[:, :, None], n_classes, axis=2)
    confusion[:, np.arange(n_classes), np.arange(n_classes)] = diagonal
    # No two numbers are alike and none stands where its size would put it: the second class is the commonest.
    prevalence = np.roll(np.linspace(2, 1, n_classes), 1) / np.linspace(2, 1, n_classes).sum()
    accuracy = np.einsum("jkk,k->j", confusion, prevalence)
    probability = rng.dirichlet(np.ones(n_classes), n_cases)
    known = Uncertainty("posterior", 0.95, spread(prevalence), spread(accuracy), spread(confusion))
    difficulty = rng.normal(size=n_cases)
    return RaterModelFit(
        model="dawid-skene",
        method="nuts",
        cases=tuple(f"case {i}" for i in range(n_cases)),
        raters=tuple(f"{names} {j}" for j in range(n_raters)),
        classes=tuple(f"class {k}" for k in range(n_classes)),
        prevalence=prevalence,
        confusion=confusion,
        evidence=9.0 + np.arange(n_raters * n_classes).reshape(n_raters, n_classes)[:, ::-1],
        class_probability=probability,
        n_annotations=np.arange(n_raters) + 10,
        uncertainty=known if interval else None,
        effects=(CaseEffect("difficulty", difficulty, spread(difficulty, 0.5)),),
    )
