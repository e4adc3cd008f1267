"""Prior of the counts of a case, learned from how similar the annotations of one case are.

The counts of a case are Dirichlet-multinomial with the same prior s / K for each of the K classes. Their strength s
maximises the likelihood of all cases that two raters or more annotated, times that of one added pair of annotations
that disagree, which is in proportion to s / (s + 1). The pair keeps s above 0 where every case is unanimous. The prior
is symmetric on purpose: unequal ones run away on data without agreement, and let a class lead that nobody named.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..text import number, plural

FEWEST_CASES = 5
_BOUNDS = np.log((0.01, 1000.0))
PUBLISHED_ALPHA = 1.0  # Stutz et al., appendix A


@dataclass(frozen=True, slots=True)
class VotePrior:
    """Prior of the counts of a case.

    Attributes
    ----------
    strength : float
        s: how many annotations the prior is worth, s / K for each of K classes.
    n_cases : int
        Cases of two raters or more, where a family of raters who copy each other counts as one.
    learned : bool
        True if s was learned. With fewer than `FEWEST_CASES` such cases it is K, one annotation per class.
    """

    strength: float
    n_cases: int
    learned: bool

    def sentence(self) -> str:
        """Describe the weight of the prior, and its source."""
        cases = plural(self.n_cases, "case")
        if not self.n_cases:
            return "The prior is one annotation per class because no case has two raters to learn it from."
        if not self.learned:
            return (
                f"The prior is one annotation per class because {cases} with at least two raters "
                f"{'is' if self.n_cases == 1 else 'are'} too few to learn it."
            )
        return f"The prior, learned from {cases}, weighs as much as {number(self.strength)} annotations."


def learn_vote_prior(dataset: Dataset, family: np.ndarray | None = None) -> VotePrior:
    """Learn the strength of the prior of counts from all cases.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    family : ndarray of int64, shape (n_raters,), optional
        Raters who count as one, see `core.models.families.families`. If omitted, each rater counts as one.

    Returns
    -------
    VotePrior
    """
    n_classes = dataset.n_classes
    weight = annotation_weights(dataset, family)
    total = np.bincount(dataset.case_of_annotation, weight, dataset.n_cases).round(9)
    several = total > 1
    n_cases = int(several.sum())
    if n_cases < FEWEST_CASES or n_classes < 2:
        return VotePrior(PUBLISHED_ALPHA * n_classes, n_cases, False)
    used = several[dataset.case_of_annotation]
    cell = dataset.case_of_annotation[used] * np.int64(n_classes) + dataset.answer[used]
    _, place = np.unique(cell, return_inverse=True)
    named = np.bincount(place, weight[used]).round(9)
    sizes, counts = np.unique(total[several], return_counts=True), np.unique(named, return_counts=True)
    return VotePrior(_strength(*sizes, *counts, n_classes), n_cases, True)


def annotation_weights(dataset: Dataset, family: np.ndarray | None = None, cases: range | None = None) -> np.ndarray:
    """Compute the share of its rater's one vote on the case that each annotation has, shape (n_annotations,).

    The annotations of one family on one case share one vote, and so do repeats of a rater. Anonymous annotations have
    one vote each.

    Parameters
    ----------
    dataset : Dataset
    family : ndarray of int64, shape (n_raters,), optional
        Raters who count as one. If omitted, each rater counts as one.
    cases : range, optional
        A run of cases, of whose annotations the weights are; all by default.
    """
    rows = slice(None) if cases is None else slice(*dataset.case_ptr[[cases.start, max(cases.start, cases.stop)]])
    rater = dataset.rater[rows]
    if not dataset.raters_identified:
        return np.ones(rater.size)
    source = rater if family is None else family[rater]
    key = dataset.case_of_annotation[rows] * np.int64(dataset.n_raters) + source
    _, place, times = np.unique(key, return_inverse=True, return_counts=True)
    return 1.0 / times[place]


def _strength(
    size: np.ndarray, n_of_size: np.ndarray, count: np.ndarray, n_of_count: np.ndarray, n_classes: int
) -> float:
    """Find the strength with the largest penalised likelihood, from numbers of cases by size and by count.

    The maximum is flat: further digits than four would differ between processors, and everything that follows.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    def loss(log_strength: float) -> float:
        s = np.exp(log_strength)
        alpha = s / n_classes
        by_case = n_of_size @ (gammaln(s) - gammaln(s + size))
        by_class = n_of_count @ (gammaln(alpha + count) - gammaln(alpha))
        return -(by_case + by_class - np.log1p(1 / s))

    found = float(np.exp(minimize_scalar(loss, bounds=_BOUNDS, method="bounded", options={"xatol": 1e-8}).x))
    return round(found, 3 - int(np.floor(np.log10(found))))
