"""Rows of (case, rater, annotation) that the tests of rater models share."""

import numpy as np
import pytest


def random_rows(seed, n_cases=25, n_raters=4, n_classes=3, answered=0.7, accuracy=0.65):
    """Gaps, repeats now and then, and raters who are often right; the first case has two annotations."""
    rng = np.random.default_rng(seed)
    rows = [(0, 0, 0), (0, n_raters - 1, 0)]
    for case in range(n_cases):
        truth = int(rng.integers(n_classes))
        for rater in range(n_raters):
            times = int(rng.random() < answered) + int(rng.random() < 0.05)
            answers = [truth if rng.random() < accuracy else int(rng.integers(n_classes)) for _ in range(times)]
            rows += [(case, rater, answer) for answer in answers]
    return rows


def simulated(seed, n_cases, confusion, prevalence, per_case):
    """Rows and true classes from confusion matrices of shape (n_raters, n_classes, n_classes)."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(prevalence), size=n_cases, p=prevalence)
    rows = []
    for case in range(n_cases):
        raters = rng.choice(len(confusion), size=per_case, replace=False)
        rows += [(case, int(r), int(rng.choice(len(prevalence), p=confusion[r, truth[case]]))) for r in raters]
    return rows, truth


def rules(seed, prevalence, other, n_cases=400, n_first=6, n_second=4):
    """Rows and true classes of rules that name one class each, and another one by mistake.

    The first rules name class 0, the others class 1: on 45% of the cases of their class and on 8% of the others. A
    share ``other`` of what they say is of the other class. Cases without an annotation are left out.
    """
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_cases) < prevalence).astype(int)
    own = np.repeat([0, 1], [n_first, n_second])
    given = rng.random((n_cases, own.size)) < np.where(truth[:, None] == own, 0.45, 0.08)
    answer = np.where(rng.random(given.shape) < other, 1 - own, own)
    seen = given.any(axis=1)
    case = np.cumsum(seen) - 1
    return [(int(case[i]), int(j), int(answer[i, j])) for i, j in zip(*np.nonzero(given), strict=True)], truth[seen]


def shifted(seed, n_cases=600, n_raters=180, per_case=5, careful=0.38, shift=0.72):
    """Rows and true classes of five ordered grades that most raters often read one higher, and some hardly ever."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, size=n_cases, p=np.array([0.16, 0.18, 0.28, 0.07, 0.3]) / 0.99)
    exact = rng.random(n_raters) < careful
    rows = []
    for case in range(n_cases):
        for rater in rng.choice(n_raters, per_case, replace=False):
            if rng.random() < 0.06:
                answer = int(rng.integers(5))
            elif exact[rater] or rng.random() > shift:
                answer = int(truth[case])
            else:
                answer = min(int(truth[case]) + 1, 4)
            rows.append((case, int(rater), answer))
    return rows, truth


def share_right(probability, truth):
    """Share of cases whose most probable class is the true one; a tied case is shared."""
    top = probability >= probability.max(axis=1, keepdims=True) - 1e-12
    return float((top[np.arange(len(truth)), truth] / top.sum(axis=1)).mean())


def degenerate_rows(seed):
    """Small data of every unpleasant kind: unused classes, raters with one annotation, repeats, one rater."""
    rng = np.random.default_rng(seed)
    n_classes, n_raters, n_cases = int(rng.integers(1, 5)), int(rng.integers(1, 6)), int(rng.integers(1, 12))
    used = int(rng.integers(1, n_classes + 1))
    rows = [(0, 0, int(rng.integers(used))), (0, n_raters - 1, int(rng.integers(used)))]
    rows += [
        (int(rng.integers(n_cases)), int(rng.integers(n_raters)), int(rng.integers(used)))
        for _ in range(int(rng.integers(0, 30)))
    ]
    return rows, n_classes, n_cases, n_raters


def check_sane(fit):
    """No NaN, and all that are distributions sum to 1."""
    for array in (fit.prevalence, fit.confusion, fit.class_probability, fit.evidence, np.array(fit.objective)):
        assert np.isfinite(array).all()
    assert fit.prevalence.sum() == pytest.approx(1, abs=1e-9)
    assert fit.confusion.sum(axis=2) == pytest.approx(np.ones(fit.confusion.shape[:2]), abs=1e-9)
    assert fit.class_probability.sum(axis=1) == pytest.approx(np.ones(len(fit.cases)), abs=1e-9)
    assert np.isfinite(fit.log_likelihood)
