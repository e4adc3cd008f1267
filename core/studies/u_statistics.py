"""U-statistics of a reader study of any design: unbiased moments of pairs of observations.

The variance of a mean over readers and cases is a sum of second moments, one for each set of things that two
observations can share (the reader, the case without, the case with the condition), weighted with the share of such
pairs. Sums over pairs that share at least a set ("biased") become sums over pairs that share exactly that set by
inclusion and exclusion [Gallas, Bandos, Samuelson & Wagner 2009, DOI 10.1080/03610920802610084]. Each observation has
the same weight. Observations are taken less their mean, which changes nothing if all readings are there. With a fifth
of them missing (300 simulated studies of 5 readers and 100 cases), the standard deviation of the estimated variance is
then 0.6 of its mean instead of 1.2, and no estimate is below zero instead of 11%.

Degrees of freedom by Satterthwaite from the main effects of readers and cases, not fewer than those of the smallest
[Obuchowski, Gallas & Hillis 2012, DOI 10.1016/j.acra.2012.09.012; Gaylor & Hopper 1969,
DOI 10.1080/00401706.1969.10490732], as iMRMC computes them.
"""

from dataclasses import dataclass

import numpy as np

from ._mrmc_kernels import pair_sums
from .accuracy import Measure, decisions
from .estimates import DifferenceComponents, StudyMoments, pairs_of
from .study import ReadingStudy


@dataclass(frozen=True, slots=True, eq=False)
class PairMoments:
    """Second moments of two modalities, axes (M, M, reader, ...kinds of cases); place 1 is "the same", 0 "another".

    Attributes
    ----------
    mean : ndarray, shape (M,)
    unbiased, biased : ndarray, shape (M, M, 2, ...)
    weight : ndarray, shape (M, M, 2, ...)
        Shares of pairs of observations; of pairs that share nothing, less 1: the square of the mean.
    """

    mean: np.ndarray
    unbiased: np.ndarray
    biased: np.ndarray
    weight: np.ndarray

    def covariance(self, biased: bool = False) -> np.ndarray:
        """Return the covariance of the means of modalities, (M, M)."""
        return _total(self.weight * (self.biased if biased else self.unbiased))

    def effective_size(self) -> np.ndarray:
        """Return the effective numbers of readers and of each kind of cases, (M, number of axes)."""
        m = np.arange(len(self.mean))
        own = self.weight[m, m]
        return np.stack([1 / _total(np.take(own, 1, axis + 1), 1) for axis in range(own.ndim - 1)], axis=1)


def auc_moments(study: ReadingStudy, truth: np.ndarray, centre: np.ndarray) -> PairMoments:
    """Compute moments of the AUC: an observation is a reader with a case without and a case with the condition.

    Parameters
    ----------
    study : ReadingStudy
    truth : ndarray of int8, shape (n_cases,)
    centre : ndarray, shape (M,)
        Subtracted from every observation of a modality.
    """
    negative, positive = (np.ascontiguousarray(study.scores[:, :, truth == kind].transpose(2, 0, 1)) for kind in (0, 1))
    by_negative, by_positive, within, across = pair_sums(negative, positive, centre)
    read = [(~np.isnan(of)).astype(np.float64) for of in (negative, positive)]
    total = by_negative.sum(axis=0)
    sums = _arranged(within, across, by_negative, by_positive, total)
    same_negative, same_positive = (np.einsum("imr,ikr->mkr", of, of) for of in read)
    joint_negative, joint_positive = (np.einsum("imr,iks->mkrs", of, of) for of in read)
    n_negative, n_positive = (of.sum(axis=0) for of in read)
    counts = _arranged(
        (same_negative * same_positive).sum(axis=2),
        (joint_negative * joint_positive).sum(axis=(2, 3)),
        read[0] * n_positive,
        read[1] * n_negative,
        n_negative * n_positive,
    )
    mean = total.sum(axis=1) / (n_negative * n_positive).sum(axis=1)
    return _moments(sums, counts, centre + mean)


def mean_moments(observations: np.ndarray, centre: np.ndarray) -> PairMoments:
    """Compute moments of a mean over readers and one kind of cases.

    Parameters
    ----------
    observations : ndarray, shape (M, R, n_cases)
        NaN where a case was not read.
    centre : ndarray, shape (M,)
        Subtracted from every observation of a modality.
    """
    observations = observations - centre[:, None, None]
    counted = (~np.isnan(observations)).astype(np.float64)
    filled = np.nan_to_num(observations)
    sums, counts = (_arranged_once(of) for of in (filled, counted))
    return _moments(sums, counts, centre + filled.sum(axis=(1, 2)) / counted.sum(axis=(1, 2)))


def moments_of(
    study: ReadingStudy, truth: np.ndarray, measure: Measure, threshold: float | None, by_reader: np.ndarray
) -> PairMoments:
    """Compute moments of a measure about its mean.

    Parameters
    ----------
    study : ReadingStudy
    truth : ndarray of int8, shape (n_cases,)
    measure : {"auc", "sensitivity", "specificity"}
    threshold : float, optional
        Threshold of sensitivity and specificity.
    by_reader : ndarray, shape (M, R)
        Measure of each reader in each modality.
    """
    if measure == "auc":
        negative, positive = ((~np.isnan(study.scores[:, :, truth == kind])).sum(axis=2) for kind in (0, 1))
        pairs = negative * positive
        auc = np.where(pairs > 0, by_reader, 0.0)
        return auc_moments(study, truth, (auc * pairs).sum(axis=1) / pairs.sum(axis=1))
    with_condition = measure == "sensitivity"
    correct = decisions(study.scores[:, :, truth == int(with_condition)], threshold, with_condition)
    return mean_moments(correct, np.nanmean(correct, axis=(1, 2)))


def compute_u_statistics(
    moments: PairMoments, by_reader: tuple[np.ndarray, np.ndarray], sizes: tuple[int, ...]
) -> StudyMoments:
    """Analyse a study of any design.

    Parameters
    ----------
    moments : PairMoments
    by_reader : tuple of two ndarray, shape (M, R)
        Measure of each reader in each modality, and its variance.
    sizes : tuple of int
        Cases of each kind, in the order of the axes of the moments.

    Returns
    -------
    StudyMoments
    """
    first, second = pairs_of(len(moments.mean))
    unbiased, biased = moments.covariance(), moments.covariance(biased=True)
    negative = 0

    def positive(found: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        nonlocal negative
        below = found <= 0
        negative += int((below & (otherwise > 0)).sum())
        return np.where(below, np.maximum(otherwise, 0.0), found)

    own = positive(np.diagonal(unbiased), np.diagonal(biased))
    paired = positive(_contrast(unbiased, first, second), _contrast(biased, first, second))
    free = np.maximum(np.rint(moments.effective_size() - 1), 1.0)
    m = np.arange(len(moments.mean))
    return StudyMoments(
        *by_reader,
        value=moments.mean,
        variance=own,
        df=_satterthwaite(own, moments.biased[m, m], free),
        difference=moments.mean[first] - moments.mean[second],
        difference_variance=paired,
        difference_df=_satterthwaite(
            paired, _contrast(moments.biased, first, second), np.minimum(free[first], free[second])
        ),
        components=_components(_contrast(moments.unbiased, first, second), sizes),
        replaced=negative,
    )


def _contrast(of: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return, for each pair of modalities, the parts of the first and the second less twice that of both."""
    contrast: np.ndarray = of[first, first] + of[second, second] - of[first, second] - of[second, first]
    return contrast


def _satterthwaite(variance: np.ndarray, moments: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Compute ``Var² / Σ_k (B_k/f_k)²/f_k`` from the main effects B_k of biased moments, at least the smallest f_k."""
    n_axes = moments.ndim - 1
    by_set = moments.reshape(len(moments), -1)
    parts = np.zeros(len(variance))
    for axis in range(n_axes):
        effect = by_set[:, 2 ** (n_axes - 1 - axis)] - by_set[:, 0]
        parts += effect**2 / free[:, axis] ** 3
    df: np.ndarray = np.divide(variance**2, parts, out=np.full(len(variance), np.inf), where=parts > 0)
    at_least: np.ndarray = np.maximum(df, free.min(axis=1))
    return at_least


def _components(moments: np.ndarray, sizes: tuple[int, ...]) -> DifferenceComponents:
    """Return parts of the variance of one reader at the cases of this study; negative parts are 0."""
    for axis in range(1, moments.ndim):
        other, same = np.take(moments, 0, axis), np.take(moments, 1, axis)
        moments = np.stack([other, same - other], axis=axis)
    for axis, size in enumerate(sizes, 2):
        moments = np.stack([np.take(moments, 0, axis), np.take(moments, 1, axis) / size], axis=axis)
    without_reader, with_reader = (np.take(moments, place, 1).reshape(len(moments), -1) for place in (0, 1))
    parts = (with_reader[:, 0], without_reader[:, 1:].sum(axis=1), with_reader[:, 1:].sum(axis=1))
    return DifferenceComponents(*(np.maximum(part, 0.0) for part in parts))


def _arranged(
    within: np.ndarray, across: np.ndarray, by_negative: np.ndarray, by_positive: np.ndarray, total: np.ndarray
) -> np.ndarray:
    """Arrange sums over pairs that share at least the same reader, negative and positive case: (M, M, 2, 2, 2)."""
    m = len(total)
    sums = np.empty((m, m, 2, 2, 2))
    sums[:, :, 1, 1, 1], sums[:, :, 0, 1, 1] = within, across
    sums[:, :, 1, 1, 0], sums[:, :, 0, 1, 0] = _products(by_negative)
    sums[:, :, 1, 0, 1], sums[:, :, 0, 0, 1] = _products(by_positive)
    sums[:, :, 1, 0, 0], sums[:, :, 0, 0, 0] = _products(total[None])
    return sums


def _arranged_once(of: np.ndarray) -> np.ndarray:
    """Arrange sums over pairs that share at least the same reader and case, with one kind of cases: (M, M, 2, 2)."""
    m = len(of)
    sums = np.empty((m, m, 2, 2))
    sums[:, :, 1, 1], sums[:, :, 0, 1] = _products(of.transpose(2, 0, 1))
    sums[:, :, 1, 0], sums[:, :, 0, 0] = _products(of.sum(axis=2)[None])
    return sums


def _products(of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum products of two modalities over cases (n, M, R): of the same reader, and of all pairs of readers."""
    summed = of.sum(axis=2)
    return np.einsum("imr,ikr->mk", of, of), summed.T @ summed


def _moments(sums: np.ndarray, counts: np.ndarray, mean: np.ndarray) -> PairMoments:
    biased = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    shape = sums.shape
    everything = counts.reshape(*shape[:2], -1)[:, :, :1].copy()
    for axis in range(2, sums.ndim):
        sums, counts = (
            np.stack([np.take(of, 0, axis) - np.take(of, 1, axis), np.take(of, 1, axis)], axis=axis)
            for of in (sums, counts)
        )
    unbiased = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    weight = counts.reshape(*shape[:2], -1) / everything
    weight[:, :, 0] -= 1.0
    return PairMoments(mean, unbiased, biased, weight.reshape(shape))


def _total(of: np.ndarray, kept: int = 2) -> np.ndarray:
    total: np.ndarray = of.sum(axis=tuple(range(kept, of.ndim)))
    return total
