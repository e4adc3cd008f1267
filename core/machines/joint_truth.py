"""Posterior of the truth given the annotations of people and the answers of those who are judged.

People err independently given the truth z. Those judged enter together, as one rater whose table ``P(answers | z)`` is
unrestricted: ``P(z | people, answers) ∝ P(people | z) T(answers, z)`` with T by expectation-maximisation and the
likelihood of people fixed. A known truth is a likelihood of 0 and 1, and nothing is left to estimate.
"""

from typing import NamedTuple

import numpy as np

from ..agreement.krippendorff import krippendorff_alpha
from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..models.dawid_skene import DawidSkene
from ..models.one_coin import OneCoin

PSEUDO = 0.1  # Number of annotations that the prior adds to each cell of a table.
MOST_PSEUDO = 0.1  # At most this share of the cases is added, however many cells a table has.
LEAST_CASES = 30
MISSING = -1
_STEPS, _STEPS_AGAIN, _CLOSE = 500, 10, 1e-5
_LEAST_PROBABILITY = 1e-12


class JudgedAnswers(NamedTuple):
    """Answers of the judged raters, which enter the truth as those of one rater.

    Attributes
    ----------
    code : ndarray of int64, shape (n_cases,)
        Code of the answer on each case, 0 to n_answers − 1, all of which occur.
    prior : ndarray, shape (n_answers, n_classes)
        Annotations added to the table.
    """

    code: np.ndarray
    prior: np.ndarray


def one_rater(answers: np.ndarray, n_classes: int) -> JudgedAnswers:
    """Encode answers of any kind, with the same prior for every truth.

    Parameters
    ----------
    answers : ndarray of int, shape (n_cases,) or (n_cases, n_columns)
    n_classes : int
    """
    code = np.unique(answers, axis=0, return_inverse=True)[1].ravel()
    n_answers = int(code.max()) + 1
    added = min(PSEUDO, MOST_PSEUDO * len(code) / (n_answers * n_classes))
    return JudgedAnswers(code, np.full((n_answers, n_classes), added))


def two_raters(
    first: np.ndarray, second: np.ndarray, tables: tuple[np.ndarray, np.ndarray], n_classes: int
) -> JudgedAnswers:
    """Encode answers of two raters together, with a prior that is independent given the truth.

    Parameters
    ----------
    first, second : ndarray of int, shape (n_cases,)
        Codes of answers, as those of `one_rater`.
    tables : tuple of two ndarray, shape (n_answers, n_classes)
        Tables of the two raters, as `posterior` returns them; columns of both sum to the cases of each class.
    n_classes : int
    """
    both = np.column_stack([first, second])
    seen, code = np.unique(both, axis=0, return_inverse=True)
    share = [table / table.sum(axis=0) for table in tables]
    prevalence = tables[0].sum(axis=0) / tables[0].sum()
    total = min(PSEUDO * n_classes**3, MOST_PSEUDO * len(code))
    return JudgedAnswers(code.ravel(), total * prevalence * share[0][seen[:, 0]] * share[1][seen[:, 1]])


def posterior(
    judged: JudgedAnswers, likelihood: np.ndarray, weight: np.ndarray, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute P(z) of each case, and the table of the judged raters.

    Parameters
    ----------
    judged : JudgedAnswers
    likelihood : ndarray, shape (n_cases, n_classes)
        P(annotations of people | z), up to a factor of each case.
    weight : ndarray, shape (n_samples, n_cases)
        Weight of each case.
    start : ndarray, shape (n_answers, n_classes), optional
        Table of all cases, from which a few steps are enough.

    Returns
    -------
    ndarray, shape (n_classes, n_samples, n_cases)
        Classes come first, over which all sums run.
    ndarray, shape (n_classes, n_samples, n_answers)
        Expected annotations, with those added.
    """
    order = np.argsort(judged.code, kind="stable")
    code, by_class = judged.code[order], likelihood.T[:, None, order]
    begins, prior = np.searchsorted(code, np.arange(len(judged.prior))), judged.prior.T[:, None]
    table = np.ones_like(prior) if start is None else start.T[:, None]
    weight, truth = weight[:, order], _truth(table[:, :, code] * by_class)
    known = not (likelihood > 0).sum(axis=1).max() > 1
    for _ in range(1 if known else _STEPS if start is None else _STEPS_AGAIN):
        table = np.add.reduceat(weight * truth, begins, axis=2) + prior
        before, truth = truth, _truth(table[:, :, code] * by_class)
        if start is None and np.abs(truth - before).max() < _CLOSE:
            break
    found = np.empty_like(truth)
    found[:, :, order] = truth
    return found, table


def _truth(product: np.ndarray) -> np.ndarray:
    product /= product.sum(axis=0)
    return product


def likelihood_of_people(people: Dataset) -> np.ndarray:
    """Compute P(annotations | z) of each case up to a factor, by the mean of two models of raters.

    One has a confusion matrix for each rater, and with many classes more parameters than the annotations determine. The
    other has one accuracy for each, and does not see which classes are confused.

    Parameters
    ----------
    people : Dataset
        Dataset of single classes.

    Returns
    -------
    ndarray, shape (n_cases, n_classes)

    Raises
    ------
    NotApplicableError
        Fewer than `LEAST_CASES` cases have two annotations, or people do not clearly agree beyond chance.
    """
    if int((np.diff(people.case_ptr) > 1).sum()) < LEAST_CASES:
        raise NotApplicableError(
            f"Cannot determine people's error rates: fewer than {LEAST_CASES} cases have annotations by two or more "
            "people.",
            "Use gold or the majority of people as the truth.",
        )
    alpha = krippendorff_alpha(class_counts(people), 0.95)
    if alpha.ci_low is not None and alpha.ci_low <= 0:
        raise NotApplicableError(
            "Cannot determine people's error rates: agreement between people is not clearly better than chance.",
            "Use gold as the truth.",
        )
    fits = [DawidSkene("pooled").fit(people), OneCoin("pooled").fit(people)]
    each = [fit.class_probability / np.maximum(fit.prevalence, _LEAST_PROBABILITY) for fit in fits]
    found = np.mean([one / one.sum(axis=1, keepdims=True) for one in each], axis=0)
    return np.maximum(found, _LEAST_PROBABILITY)


def majority_likelihood(counts: np.ndarray) -> np.ndarray:
    """Return 1 for the class with most annotations and 0 for the others; 0 throughout if classes are tied.

    Parameters
    ----------
    counts : ndarray, shape (n_cases, n_classes)
    """
    top = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
    return (top & (top.sum(axis=1, keepdims=True) == 1)).astype(float)
