"""Truth of every label of a case, with a reliability of each rater that the labels share.

A label is fitted as two classes, the annotation names it or not, by any model fitted by expectation-maximisation. The
shrinkage of a rater is what the labels share: instead of the pool's rates on this label, a rater's pseudo-annotations
have the pool's odds of being right times a factor of the rater's own, one on cases with the label and one on cases
without, the same on all labels.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..annotations.dataset import Dataset, label_sign
from ..annotations.none_of_these import label_of_none
from ..errors import InputError, NotApplicableError
from ..options import check_flag
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from .dawid_skene import DawidSkene
from .em import Prior, climb
from .em_model import EmModel, Problem
from .held_out import HeldOut, better_tempering, both_temperings, prepare
from .reparametrise import expit, logit
from .result import RaterModelFit
from .tempering import truth_beta, truth_doubt

Model = TypeVar("Model", bound=EmModel)


def with_label_dependence(
    dataset: Dataset,
    model: Model,
    *,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Model:
    """Set one β and one doubt for all labels, from the summed held-out scores of single labels.

    A rater who shares mistakes with others on one label does so on the next, and most labels are too rare to tell by
    themselves. Without a label that can be held out the model is given back as it is.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets, by raters who are identified.
    model : EmModel
        Model of the raters on one label.
    seed : int
        Seed of the folds.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    Cancelled
    """
    none = label_of_none(dataset)
    labels = [label for label in dataset.classes if label != none]
    scores, most = [], 1.0
    for place, label in enumerate(labels, 1):
        try:
            data = prepare(dataset.as_classes(label)[0], seed=seed, token=token)
            scores.append(both_temperings(data, model, token=token))
        except NotApplicableError:  # a label that all or no annotations have says nothing about tempering
            continue
        finally:
            if progress is not None:
                progress(place / len(labels))
        most = min(most, data.independent)
    if not scores:
        return model
    held = better_tempering(*(_summed(kind) for kind in zip(*scores, strict=True)))
    return replace(
        model,
        beta=truth_beta(min(held.middle_beta, most)),
        doubt=truth_doubt(min(held.beta, most)),
        temper_prevalence=held.temper_prevalence,
    )


def _summed(scores: tuple[HeldOut, ...]) -> HeldOut:
    """Sum the scores of all labels, whose annotations of a case are one cluster."""
    return replace(
        scores[0],
        by_case=sum((one.by_case for one in scores[1:]), scores[0].by_case),
        n_of_case=sum((one.n_of_case for one in scores[1:]), scores[0].n_of_case),
    )


_ROUNDS, _STEPS, _SETTLED, _SURE = 12, 8, 1e-2, 1e-6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelFits(Result):
    """One fit for each label.

    Attributes
    ----------
    labels : tuple of str
    fits : tuple of RaterModelFit
        Fits of two classes each: without the label, and with it.
    shared : bool
        True if labels share the trust in a rater.
    log_factor : ndarray, shape (n_raters, 2)
        By how much the log odds of a rater being right differ from the pool's on any label, on cases without it and
        with it; 0 if nothing is shared.
    none : str or None
        The label that says that none of the others applies (`core.annotations.none_of_these`), whose truth follows from
        theirs; None if there is none.
    """

    labels: tuple[str, ...]
    fits: tuple[RaterModelFit, ...]
    shared: bool
    log_factor: np.ndarray
    none: str | None = None

    TABLES = ("labels", "raters", "cases")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "raters":
            return {
                "rater": self.raters,
                "n_annotations": self.fits[0].n_annotations,
                "accuracy": self.accuracy(),
                "without": np.exp(self.log_factor[:, 0]),
                "with": np.exp(self.log_factor[:, 1]),
            }
        if table == "cases":
            likely = self.probability
            found: dict[str, Any] = {"case": self.cases[:most], "labels": self.sets()[:most]}
            found["probability"] = self.set_probability[:most]
            return found | {f"P({label})": likely[:most, place] for place, label in enumerate(self.labels)}
        return {
            "label": self.labels,
            "prevalence": [float(fit.prevalence[1]) for fit in self.fits],
            "converged": [fit.converged for fit in self.fits],
            "log_likelihood": [fit.log_likelihood for fit in self.fits],
        }

    @property
    def cases(self) -> tuple[str, ...]:
        """Cases, the same of all labels."""
        return self.fits[0].cases

    @property
    def raters(self) -> tuple[str, ...]:
        """Raters, the same of all labels."""
        return self.fits[0].raters

    @property
    def converged(self) -> bool:
        """True if the fits of all labels have converged."""
        return all(fit.converged for fit in self.fits)

    @property
    def probability(self) -> np.ndarray:
        """Probability that each label applies, shape (n_cases, n_labels); for ``none`` that no other does."""
        likely = np.stack([fit.class_probability[:, 1] for fit in self.fits], axis=1)
        if self.none is not None:
            likely[:, ~self._others] = (1 - likely[:, self._others]).prod(axis=1, keepdims=True)
        return likely

    @property
    def applies(self) -> np.ndarray:
        """Labels of the most likely set of each case, bool, shape (n_cases, n_labels)."""
        found = self.probability > 0.5
        if self.none is not None:  # each of the others is likelier absent, though perhaps not all of them together
            found[:, ~self._others] = ~found[:, self._others].any(axis=1, keepdims=True)
        return found

    @property
    def _others(self) -> np.ndarray:
        """Labels whose truth does not follow from that of the others, bool, shape (n_labels,)."""
        return np.array([label != self.none for label in self.labels])

    @property
    def set_probability(self) -> np.ndarray:
        """Probability of the most likely set, labels independent given the annotations, shape (n_cases,)."""
        likely = self.probability[:, self._others]
        return np.maximum(likely, 1 - likely).prod(axis=1)

    def accuracy(self) -> np.ndarray:
        """Average over labels how often each rater is right on whether it applies, shape (n_raters,)."""
        return np.mean([fit.accuracy() for fit in self.fits], axis=0)

    def sets(self) -> list[str]:
        """Return the most likely labels of each case in one text; ``none``, or "", if no other is likely."""
        sign = label_sign(self.labels)
        return [sign.join(self.labels[k] for k in np.flatnonzero(own)) for own in self.applies]


def fit_labels(
    dataset: Dataset,
    model: EmModel | None = None,
    *,
    shared: bool = True,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> LabelFits:
    """Fit the truth of every label. Without shared reliability it equals the fit of each label, bit for bit.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets, by raters who are identified.
    model : EmModel, optional
        Model of the raters on one label; Dawid-Skene if omitted.
    shared : bool
        True if labels share the trust in a rater; it takes the place of the pool in the shrinkage "pooled".
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    NotApplicableError
        The annotations are not sets, or not of identified raters.
    InputError
        Shared trust is set with a model without the shrinkage "pooled".
    """
    model = DawidSkene() if model is None else model
    check_flag(shared, "shared")
    dataset.check_kind("set", "Could not fit labels")
    views = [dataset.as_classes(label)[0] for label in dataset.classes]
    factor, n = np.zeros((dataset.n_raters, 2)), len(views)
    problems, none = [model.problem(view, token) for view in views], label_of_none(dataset)
    if shared:  # who overlooks labels says too often that none applies: that is the same trust, not more of it
        sharing = [place for place, label in enumerate(dataset.classes) if label != none]
        found, factor = _with_shared_trust([problems[place] for place in sharing], model, token)
        for place, problem in zip(sharing, found, strict=True):
            problems[place] = problem
    fits = []
    for place, problem in enumerate(problems):
        fit = problem.fit_from(problem.data.start, model.stopping, token)
        fits.append(replace(fit, settings={**fit.settings, "start": "vote"}))
        if progress is not None:
            progress((place + 1) / n)
    return LabelFits(dataset.classes, tuple(fits), shared, factor, none)


def _with_shared_trust(
    problems: list[Problem], model: EmModel, token: CancelToken | None
) -> tuple[list[Problem], np.ndarray]:
    """Build the problems with pseudo-annotations of each rater, and the log factors of raters behind them.

    Factors and expected annotations are estimated in turn, until no rater's odds move by more than 1%.
    """
    if any(p.settings["smoothing"] != "pooled" or p.prior.answers.ndim != 2 for p in problems):
        raise InputError(
            f"Could not share accuracies between labels: {model.title} with smoothing "
            f"{problems[0].settings['smoothing']!r} does not support this.",
            "Use smoothing='pooled', or fit each label separately.",
        )
    pools = np.stack([problem.prior.answers for problem in problems])  # label, annotated, true
    size = pools.sum(axis=1)
    share = np.einsum("lzz->lz", pools) / np.where(size > 0, size, 1.0)
    of_pool = logit(np.clip(np.where(size > 0, share, 0.5), _SURE, 1 - _SURE))
    n_raters = problems[0].data.dataset.n_raters
    factor, variance = np.zeros((n_raters, 2)), np.ones(2)
    points: list = [problem.data.start for problem in problems]
    shared = problems
    for _ in range(_ROUNDS):
        counts = []
        for place, problem in enumerate(shared):
            top = climb(problem.data, problem.family, problem.prior, points[place], model.stopping, token=token)
            points[place] = top.point
            counts.append(top.counts.reshape(n_raters, 2, 2))
        before = factor
        factor, variance = log_factors(np.stack(counts), of_pool, factor, variance)
        rate = expit(of_pool[:, None, :] + factor)  # label, rater, true
        shared = [
            replace(problem, prior=Prior(problem.prior.cases, _pseudo(rate[place], size[place])))
            for place, problem in enumerate(problems)
        ]
        if np.abs(factor - before).max(initial=0.0) <= _SETTLED:
            break
    return shared, factor


def _pseudo(rate: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return pseudo-annotations from rates of being right, (n_raters, 2 annotated, 2 true), ``size`` per truth."""
    answers = np.empty((len(rate), 2, 2))
    for true in (0, 1):
        answers[:, true, true] = size[true] * rate[:, true]
        answers[:, 1 - true, true] = size[true] * (1 - rate[:, true])
    return answers


def log_factors(
    counts: np.ndarray, of_pool: np.ndarray, factor: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate log factors on the pool's odds of being right, f_jz ~ N(0, σ_z²), at their mode, and σ².

    Newton's method for f and expectation-maximisation for σ², under σ² ~ inverse gamma(1, 1), with the curvature as the
    variance of f: `core.models.smoothing.rater_rows` over labels in place of classes.

    Parameters
    ----------
    counts : ndarray, shape (n_labels, n_raters, 2, 2)
        Expected annotations: annotated, true.
    of_pool : ndarray, shape (n_labels, 2)
        Log odds of the pool of being right, by truth.
    factor : ndarray, shape (n_raters, 2)
        Starting point.
    variance : ndarray, shape (2,)

    Returns
    -------
    factor : ndarray, shape (n_raters, 2)
    variance : ndarray, shape (2,)
    """
    right, n = np.einsum("ljzz->jz", counts), counts.sum(axis=2)
    for _ in range(_STEPS):
        rate = expit(of_pool[:, None, :] + factor)
        curvature = (n * rate * (1 - rate)).sum(axis=0) + 1 / variance
        step = (right - (n * rate).sum(axis=0) - factor / variance) / curvature
        factor = factor + np.clip(step, -1.0, 1.0)
        variance = ((factor**2 + 1 / curvature).sum(axis=0) + 2.0) / (len(factor) + 4.0)
    return factor, variance
