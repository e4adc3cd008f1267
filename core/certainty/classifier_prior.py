"""A classifier's probabilities as evidence for plausibilities, with a weight from held-out annotations.

``λ_i | b_i, x_i ~ Dirichlet(γ s_i + α 1 + w f(x_i))``, s_i the counts of a case and f(x_i) the classifier's
probabilities: the classifier counts as much as w / γ annotations. At w = 0, p(λ|b, x) = p(λ|b), as Stutz et al. (2023)
assume.

w is the one at which an annotation is predicted best by the other annotations of its case, with probability
``(α + γ (s_k − 1) + w f_k) / (K α + γ (n − 1) + w)``. It is 0 unless these predictions are better, by more than one
standard error, than the best ones with the mean of f over cases, which knows no case: any prior can make up for a γ
that is too large.
Mistakes that classifier and raters share remain undetected.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError
from ..models.classifier_evidence import checked_probabilities
from ..options import check_whole
from ..plausibility._kernels import dirichlet_draws
from ..plausibility.dirichlet import DirichletCounts
from ..runtime.chunks import CancelToken
from ..runtime.seeds import case_seeds
from ..settings import current_settings

WEIGHTS = (0.0, *(0.25 * 2.0**power for power in range(9)))  # 0 to 64


@dataclass(frozen=True, slots=True, eq=False)
class ClassifierPrior:
    """Certainty of cases without and with a classifier as evidence.

    Attributes
    ----------
    classifier : str
    cases, classes : tuple of str
    alpha, reliability : float
        α and γ.
    score : ndarray, shape (n_weights,)
        Mean log probability of a held-out annotation at each of `WEIGHTS`.
    weight : float
        w, 0 if no weight clearly improves predictions.
    gain, gain_se : float
        Improvement of the best weight on predictions with the mean of f, per held-out annotation, in nats, with its
        standard error over cases.
    n_held_out, n_predicted : int
        Annotations that were held out, and cases with a prediction.
    certainty : ndarray, shape (2, n_cases)
        Probability that the leading class is the most plausible one, without and with the classifier.
    leading : ndarray of int64, shape (2, n_cases)
        Codes of the leading classes.
    """

    classifier: str
    cases: tuple[str, ...]
    classes: tuple[str, ...]
    alpha: float
    reliability: float
    score: np.ndarray
    weight: float
    gain: float
    gain_se: float
    n_held_out: int
    n_predicted: int
    certainty: np.ndarray
    leading: np.ndarray


def classifier_prior(
    model: DirichletCounts,
    dataset: Dataset,
    classifier: str,
    probability: np.ndarray,
    *,
    reliability: float,
    n_draws: int = 1000,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> ClassifierPrior:
    """Compute the weight of a classifier, and the certainty of every case without and with it.

    Parameters
    ----------
    model : DirichletCounts
    dataset : Dataset
        Dataset of single classes.
    classifier : str
        Name of the classifier; no rater's.
    probability : ndarray, shape (n_cases, n_classes)
        The classifier's; rows sum to one, NaN on cases without a prediction.
    reliability : float
        γ > 0.
    n_draws, seed : int
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    InputError
        The probabilities do not fit the data, or the classifier has a rater's name.
    NotApplicableError
        No case has two annotations, or the annotations are not single classes.
    LimitError
        Cases by classes are more than a model may have.
    """
    check_whole(n_draws, "The number of draws", 1)
    cells, limit = dataset.n_cases * dataset.n_classes, current_settings().max_model_cells
    if cells > limit:
        raise LimitError(
            f"Cannot add a classifier: the data have {cells:,} cells (cases × classes); the limit is {limit:,}."
        )
    given = checked_probabilities(dataset, classifier, probability)
    counts = class_counts(dataset)
    table = np.zeros((dataset.n_cases, dataset.n_classes))
    table[np.repeat(np.arange(dataset.n_cases), np.diff(counts.ptr)), counts.class_code] = counts.count
    known = np.where(np.isfinite(given), given, 0.0)
    score, weight, gain, gain_se, n_held_out = _weighed(table, known, model.alpha, reliability)
    seeds = case_seeds(seed, dataset.cases, "classifier as evidence")
    sides = []
    for part, own in enumerate((0.0, weight)):
        shape = reliability * table + model.alpha + own * known
        sides.append(_leading(shape, seeds, n_draws, token, progress, part))
    leading, certainty = (np.array(parts) for parts in zip(*sides, strict=True))
    return ClassifierPrior(
        classifier, dataset.cases, dataset.classes, model.alpha, float(reliability), score, weight, gain, gain_se,
        n_held_out, int(np.isfinite(given[:, 0]).sum()), certainty, leading,
    )  # fmt: skip


def _weighed(
    table: np.ndarray, known: np.ndarray, alpha: float, reliability: float
) -> tuple[np.ndarray, float, float, float, int]:
    """Return the score at each weight, the weight, its gain with its standard error, and held-out annotations."""
    scores, n = _held_out(table, known, alpha, reliability)
    told = known.sum(axis=1, keepdims=True)
    of_no_case = _held_out(table, told * (known.sum(axis=0) / told.sum()), alpha, reliability)[0]
    best, rival = (int(np.argmax(one.sum(axis=0))) for one in (scores, of_no_case))
    apart = scores[:, best] - of_no_case[:, rival]
    gain = float(apart.sum() / n.sum())
    gain_se = float(np.sqrt(((apart - gain * n) ** 2).sum()) / n.sum())
    weight = WEIGHTS[best] if gain > gain_se else 0.0
    return scores.sum(axis=0) / n.sum(), weight, gain, gain_se, int(n.sum())


def _held_out(table: np.ndarray, known: np.ndarray, alpha: float, reliability: float) -> tuple[np.ndarray, np.ndarray]:
    """Return log probabilities of annotations given the others, by case and weight, and their number by case."""
    size = table.sum(axis=1)
    usable = size >= 2
    if not usable.any():
        raise NotApplicableError("Cannot weight the classifier: no case has two annotations.")
    case, code = np.nonzero(table * usable[:, None])
    count, own, n = table[case, code], known[case, code], size[case]
    told = known.sum(axis=1)[case]
    scores = np.zeros((len(table), len(WEIGHTS)))
    for place, weight in enumerate(WEIGHTS):
        above = alpha + reliability * (count - 1) + weight * own
        below = alpha * table.shape[1] + reliability * (n - 1) + weight * told
        scores[:, place] = np.bincount(case, count * np.log(above / below), len(table))
    return scores, np.where(usable, size, 0.0)


def _leading(
    shape: np.ndarray,
    seeds: np.ndarray,
    n_draws: int,
    token: CancelToken | None,
    progress: Callable[[float], None] | None,
    part: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class that is most often the most plausible one of each case, and how often."""
    leading, certainty = np.zeros(len(shape), np.int64), np.zeros(len(shape))
    for case, own in enumerate(shape):
        if token is not None and case % 64 == 0:
            token.check()
        first = dirichlet_draws(seeds[case], own, 1.0, 0, n_draws, 1)[2][:, 0]
        counts = np.bincount(first, minlength=len(own))
        leading[case] = counts.argmax()
        certainty[case] = counts[leading[case]] / n_draws
        if progress is not None and case % 64 == 0:
            progress((part + case / len(shape)) / 2)
    return leading, certainty
