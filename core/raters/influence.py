"""Influence of some raters: agreement, most likely classes and held-out scores with and without them.

Class probabilities are those of the given model with unchanged parameters, ``P(z_i | y) ∝ π_z Π_n θ_{j,z,y}^β``
over the annotations that are counted. Only cases that the raters have annotated can change, so that one pass over these
is enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..agreement.coefficients import percent_agreement
from ..agreement.intervals import Coefficient, undefined
from ..agreement.krippendorff import krippendorff_alpha
from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..errors import InputError, NotFoundError
from ..models.gold import known_classes
from ..models.majority import METHOD as MAJORITY
from ..models.result import RaterModelFit
from ..models.tempering import check_beta
from ..result_base import Result

HeldOut = Callable[[Dataset, tuple[str, ...]], tuple[float, float]]
_NEVER = 1e-300
_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Influence(Result):
    """Results with and without some raters; pairs are (with, without).

    Attributes
    ----------
    raters : tuple of str
    n_annotations : int
        Number of annotations that are left out.
    n_cases : int
        Number of cases that the raters have annotated.
    n_without : int
        Number of cases that nobody else has annotated.
    changed : ndarray of int64
        Positions of the cases whose most likely class changes.
    undecided, decided : ndarray of int64
        Positions of the cases with one most likely class before and two or more afterwards, and vice versa.
    percent, alpha : tuple of (Coefficient, Coefficient)
        Percent agreement and Krippendorff's alpha of classes.
    held_out : tuple of (float, float), or None
        Mean log probability of the held-out annotations of all other raters; None if not computed.
    gold : tuple of (float, float), or None
        Share of gold cases whose most likely class is correct, ties as shares, on cases that others have annotated.
    n_gold : int
    """

    raters: tuple[str, ...]
    n_annotations: int
    n_cases: int
    n_without: int
    changed: np.ndarray
    undecided: np.ndarray
    decided: np.ndarray
    percent: tuple[Coefficient, Coefficient]
    alpha: tuple[Coefficient, Coefficient]
    held_out: tuple[float, float] | None
    gold: tuple[float, float] | None
    n_gold: int

    @property
    def n_changed(self) -> int:
        """Number of cases whose most likely class changes."""
        return int(self.changed.size)


def influence(
    dataset: Dataset,
    fit: RaterModelFit,
    raters: Sequence[str],
    *,
    beta: float = 1.0,
    level: float = 0.95,
    held_out: HeldOut | None = None,
) -> Influence:
    """Compute the changes if all annotations of some raters are left out.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    fit : RaterModelFit
        Fit of these data. If the model has effects of cases, they are set to 0; a majority vote is counted again.
    raters : sequence of str
        Names of one or more raters, but not all.
    beta : float
        Weight of an annotation if its case has others, 0 to 1.
    level : float
        Confidence level of the intervals.
    held_out : callable, optional
        Function of the dataset and the names of the raters, which returns the mean log probability of the held-out
        annotations of all others, for models fitted with and without these raters.

    Raises
    ------
    InputError
        No rater is named, nobody would be left, ``beta`` is out of range, or the fit belongs to other data.
    NotFoundError
        A rater is not in the data.
    """
    names = tuple(dict.fromkeys(raters))
    _check(dataset, fit, names, beta)
    out = _annotations_of(dataset, names)
    case_of = dataset.case_of_annotation
    cases = np.unique(case_of[out])
    before, after = (_tops(dataset, fit, cases, kept, beta) for kept in (np.ones(out.size, bool), ~out))
    others = np.setdiff1d(np.arange(dataset.n_raters), np.unique(dataset.rater[out]))
    rest = dataset.select(raters=[dataset.raters[rater] for rater in others])
    counts = class_counts(dataset), class_counts(rest)
    first, second = before.argmax(axis=1), after.argmax(axis=1)
    clear = [top.sum(axis=1) == 1 for top in (before, after)]
    annotated = after.any(axis=1)
    return Influence(
        names,
        int(out.sum()),
        int(cases.size),
        int((~annotated).sum()),
        cases[clear[0] & clear[1] & (first != second)],
        cases[clear[0] & ~clear[1] & annotated],
        cases[~clear[0] & clear[1]],
        (_coefficient(percent_agreement, counts[0], level), _coefficient(percent_agreement, counts[1], level)),
        (_coefficient(krippendorff_alpha, counts[0], level), _coefficient(krippendorff_alpha, counts[1], level)),
        None if held_out is None else held_out(dataset, names),
        *_gold(dataset, fit, cases, before, after),
    )


def _check(dataset: Dataset, fit: RaterModelFit, names: tuple[str, ...], beta: float) -> None:
    unknown = [name for name in names if name not in set(dataset.raters)]
    if unknown:
        raise NotFoundError(f"Could not find rater {unknown[0]!r} in these data.")
    check_beta(beta)
    if (fit.raters, fit.classes, fit.cases) != (dataset.raters, dataset.classes, dataset.cases):
        raise InputError(
            "Could not use the fit: it was made with different cases, raters or classes.",
            "Fit the model to these data.",
        )


def _annotations_of(dataset: Dataset, names: tuple[str, ...]) -> np.ndarray:
    """Return True for annotations by raters with these names, bool, shape (n_annotations,)."""
    out = np.isin(dataset.rater, [dataset.raters.index(name) for name in names])
    if not names or out.all():
        raise InputError(
            f"Could not leave out {len(names):,} of {dataset.n_raters:,} raters: at least one must remain.",
            "Leave out fewer raters.",
        )
    return out


def _tops(dataset: Dataset, fit: RaterModelFit, cases: np.ndarray, kept: np.ndarray, beta: float) -> np.ndarray:
    """Find the most likely classes of cases by the kept annotations, bool, shape (n, n_classes).

    A case has more than one if they are tied, and none if no annotation is kept.
    """
    place = np.full(dataset.n_cases, -1)
    place[cases] = np.arange(cases.size)
    rows = np.flatnonzero(kept & (place[dataset.case_of_annotation] >= 0))
    at = place[dataset.case_of_annotation[rows]]
    score = np.zeros((cases.size, dataset.n_classes))
    if fit.model == MAJORITY.name:
        np.add.at(score, (at, dataset.answer[rows]), 1.0)
    else:
        score += np.log(np.maximum(fit.prevalence, _NEVER))
        step = max(1, _CELLS_AT_ONCE // dataset.n_classes)
        for start in range(0, rows.size, step):
            part, to = rows[start : start + step], at[start : start + step]
            likelihood = np.maximum(fit.confusion[dataset.rater[part], :, dataset.answer[part]], _NEVER)
            first = np.flatnonzero(np.diff(to, prepend=-1))  # Annotations of a case are consecutive.
            score[to[first]] += beta * np.add.reduceat(np.log(likelihood), first)
    known = known_classes(dataset, bool(fit.settings.get("use_gold")))
    if known.size:
        held = np.flatnonzero(known[cases] >= 0)
        score[held] = -np.inf
        score[held, known[cases[held]]] = 0.0
    best = score.max(axis=1, keepdims=True)
    some = np.bincount(at, minlength=cases.size) > 0
    return (score >= best - 1e-9 * np.maximum(1.0, np.abs(best))) & some[:, None]


def _coefficient(of, counts, level: float) -> Coefficient:
    if not (counts.per_case() > 1).any():
        return undefined(of.__name__, "identity", "no case has two annotations")
    return of(counts, level)


def _gold(dataset: Dataset, fit: RaterModelFit, cases: np.ndarray, before: np.ndarray, after: np.ndarray):
    """Compute the share of gold cases that are correct with and without, on cases with an annotation in both."""
    if dataset.gold is None or fit.settings.get("use_gold"):
        return None, 0
    usable = (dataset.gold >= 0) & (np.diff(dataset.case_ptr) > 0)
    usable[cases[~after.any(axis=1)]] = False
    n = int(usable.sum())
    if not n:
        return None, 0
    right = np.zeros(dataset.n_cases)
    top = fit.class_probability
    best = top >= top.max(axis=1, keepdims=True) - 1e-9
    right[usable] = (best / best.sum(axis=1, keepdims=True))[usable, dataset.gold[usable]]
    shares = []
    for found in (before, after):
        own = right.copy()
        share = found / np.maximum(found.sum(axis=1, keepdims=True), 1)
        own[cases] = share[np.arange(cases.size), np.maximum(dataset.gold[cases], 0)]
        shares.append(float(own[usable].mean()))
    return tuple(shares), n
