"""Agreement of scores: intraclass correlations and Krippendorff's alpha.

ICC(1) takes every score of a case as one of any rater; ICC(2) takes raters as a sample and asks for the same score;
ICC(3) asks for the same differences between cases, whatever the level of each rater. The "k" versions are of the mean
of k scores [Shrout & Fleiss (1979), DOI 10.1037/0033-2909.86.2.420].
"""

from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError
from ..methods import AS_IS, Method
from ..text import plural
from .coefficient_methods import coefficient_method
from .intervals import Coefficient, few_cases, undefined
from .krippendorff import KRIPPENDORFF_ALPHA, krippendorff_alpha
from .linearised import NO_PAIR
from .score_anova import one_way_anova, spearman_brown, two_way_anova
from .score_one_way import Ends, one_way_reml
from .score_two_way import two_way

NO_COMPLETE = "fewer than two cases were scored by every rater"
ANONYMOUS = "the scores are anonymous, so raters cannot be told apart"


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scores by case, each rater at most once on a case; arrays of shape (n_scores,).

    Attributes
    ----------
    case, rater : ndarray of int32
        Codes without gaps, ascending by case and then by rater.
    score : ndarray of float64
        Centred, and scaled to at most 1.
    n_repeats : int
        Scores that a rater repeated on a case: their mean stands for them.
    """

    case: np.ndarray
    rater: np.ndarray
    score: np.ndarray
    n_repeats: int


def score_table(dataset: Dataset, level: float = 0.95) -> list[Coefficient]:
    """The coefficients that scores allow: `intraclass`, then alpha by interval, ordinal and ratio metric.

    The ratio metric is left out of scores below 0.

    Raises
    ------
    NotApplicableError
        The annotations are not scores.
    """
    found = intraclass(dataset, level)
    metrics = ("interval", "ordinal") if (dataset.score < 0).any() else ("interval", "ordinal", "ratio")
    for metric in metrics:
        try:
            found.append(krippendorff_alpha(dataset, level, metric))
        except LimitError as error:
            found.append(undefined(KRIPPENDORFF_ALPHA, f"{metric} metric", str(error)))
    return found


def intraclass(dataset: Dataset, level: float = 0.95) -> list[Coefficient]:
    """Intraclass correlations of one score and of the mean of k.

    Parameters
    ----------
    dataset : Dataset
        Of scores.
    level : float
        Of the intervals, 0 to 1.

    Returns
    -------
    list of Coefficient
        Named as in `INTRACLASS`, by analysis of variance, with F intervals, of the cases that every rater scored.
        Where that leaves scores out the same follow from variance components of all cases (restricted maximum
        likelihood; components are 0 or more). ``weights`` says which, and of how many raters.

    Raises
    ------
    NotApplicableError
        The annotations are not scores.

    Notes
    -----
    Where a rater scored a case more than once the mean of these scores counts; the note says how many were joined.
    Without any case that all scored, ICC(1) by analysis of variance takes the cases with two scores if these have the
    same number of them. The mean is of as many as a complete case has; by components, of the median number.
    """
    if dataset.kind != "score":
        kinds = {"class": "classes", "ranking": "rankings"}
        raise NotApplicableError(f"Intraclass correlations are of scores; these are {kinds[dataset.kind]}.")
    scored = _joined(dataset)
    n = np.bincount(scored.case)
    paired = n >= 2
    if not paired.any():
        return [undefined(name, "ANOVA", NO_PAIR) for name in (ICC_1, ICC_2, ICC_3)]
    found = _by_anova(dataset, scored, n, level)
    asked = found if dataset.raters_identified else [one for one in found if one.name in (ICC_1, ICC_1K)]
    if any(one.n_annotations < scored.score.size for one in asked):
        found += _by_components(dataset, scored, n, level)
    if not scored.n_repeats:
        return found
    note = f"{plural(scored.n_repeats, 'repeated score')} of a rater on a case joined into means"
    return [_noted(one, note) for one in found]


def _joined(dataset: Dataset) -> Scored:
    case = dataset.case_of_annotation.astype(np.int64)
    used, rater = np.unique(dataset.rater, return_inverse=True)
    # Anonymous scores are each of a rater of their own.
    cell = case * used.size + rater if dataset.raters_identified else np.arange(case.size)
    cell, first, place = np.unique(cell, return_index=True, return_inverse=True)
    low, high = float(dataset.score.min()), float(dataset.score.max())
    score = (dataset.score / 2 - (low / 4 + high / 4)) / max(high / 2 - low / 2, np.finfo(float).tiny)
    mean = np.bincount(place, score) / np.bincount(place)
    _, case = np.unique(case[first], return_inverse=True)
    mean = mean - mean.mean()
    return Scored(case.astype(np.int32), rater[first].astype(np.int32), mean, dataset.n_annotations - cell.size)


def _by_anova(dataset: Dataset, scored: Scored, n: np.ndarray, level: float) -> list[Coefficient]:
    n_raters = int(scored.rater.max()) + 1
    complete = n == n_raters if dataset.raters_identified and n_raters > 1 else np.zeros(n.size, bool)
    if complete.sum() >= 2:
        table = scored.score[complete[scored.case]].reshape(-1, n_raters)
        what = f"ANOVA, {plural(n_raters, 'rater')}"
        return [*one_way_anova(table, level, what, ICC_1), *two_way_anova(table, level, what, (ICC_2, ICC_3))]
    why = NO_COMPLETE if dataset.raters_identified else ANONYMOUS
    two = [undefined(name, "ANOVA", why) for name in (ICC_2, ICC_3)]
    sizes = np.unique(n[n >= 2])
    if sizes.size > 1 or (n >= 2).sum() < 2:
        return [undefined(ICC_1, "ANOVA", "cases have different numbers of scores, or there is one"), *two]
    table = scored.score[(n >= 2)[scored.case]].reshape(-1, int(sizes[0]))
    return [*one_way_anova(table, level, f"ANOVA, {sizes[0]} scores a case", ICC_1), *two]


def _by_components(dataset: Dataset, scored: Scored, n: np.ndarray, level: float) -> list[Coefficient]:
    n_raters = int(scored.rater.max()) + 1
    k = max(2, int(np.median(n[n >= 2])))
    size = scored.score.size, n.size
    squares = float(scored.score @ scored.score)
    if squares < 1e-24 or n.size < 2:
        why = "all scores are the same" if squares < 1e-24 else "there is only one case"
        return [undefined(name, "REML", why, *size[::-1]) for name in (ICC_1, ICC_2, ICC_3)]
    one = one_way_reml(n.astype(float), np.bincount(scored.case, scored.score), squares, level)
    found = _both(ICC_1, "REML, profile interval", one, k, *size)
    if not dataset.raters_identified:
        return found
    of = f", {plural(n_raters, 'rater')}"
    if n_raters < 2 or np.bincount(scored.rater).max() < 2:
        why = "there is only one rater" if n_raters < 2 else "no rater scored two cases"
        return found + [undefined(name, "REML" + of, why, n.size, size[0]) for name in (ICC_2, ICC_3)]
    fit = two_way(scored.case, scored.rater, scored.score, level)
    if fit is None:
        why = "the scores vary less between cases than chance would have it, and are too many for likelihood"
        return found + [undefined(name, "Henderson" + of, why, n.size, size[0]) for name in (ICC_2, ICC_3)]
    return [
        *found,
        *_both(ICC_2, fit.method + of, fit.absolute, k, *size),
        *_both(ICC_3, fit.method + of, fit.consistent, k, *size),
    ]


def _both(name: str, what: str, ends: Ends, k: int, n_scores: int, n_cases: int) -> list[Coefficient]:
    note = few_cases(n_cases)
    if ends[1] is None:
        note = "undetermined interval: scores of a case differ by nothing but raters, or a part is at its bound of 0"
        if what.startswith("Henderson"):
            note = "undetermined interval: too many raters and cases for likelihood"
    mean = [None if end is None else spearman_brown(end, k) for end in ends]
    return [
        Coefficient(name, what, ends[0], None, ends[1], ends[2], n_cases, n_scores, note),
        Coefficient(f"{name}k", f"{what}, mean of {k}", mean[0], None, mean[1], mean[2], n_cases, n_scores, note),
    ]


def _noted(coefficient: Coefficient, note: str) -> Coefficient:
    return replace(coefficient, note="; ".join(filter(None, (coefficient.note, note))))


def _icc(name: str, title: str, place: int, assumes: str) -> Method:
    return coefficient_method(
        name,
        title,
        intraclass,
        lambda asked: [one for one in intraclass(asked.dataset, asked.level) if one.name == name],
        plainly="How much of the differences between scores comes from the cases, and not from who scored them.",
        exactly="Intraclass correlation by analysis of variance on complete cases, F intervals (Shrout & Fleiss 1979; "
        "McGraw & Wong 1996), and by REML with gaps.",
        sources=(
            "Shrout & Fleiss, Psychological Bulletin 86 (1979), 420-428",
            "McGraw & Wong, Psychological Methods 1 (1996), 30-46",
        ),
        takes={"score": AS_IS},
        needs=("overlap",) if name.startswith("icc_1") else ("overlap", "raters"),
        assumes=assumes,
        place=place,
    )


METHODS = (
    _icc("icc_1", "ICC(1)", 110, "each score may come from any rater: all differences between raters count as error."),
    _icc("icc_1k", "ICC(1,k)", 111, "as ICC(1), for the mean of k scores."),
    _icc(
        "icc_2",
        "ICC(2,1)",
        112,
        "the same raters scored all cases and are a sample: level differences count as error.",
    ),
    _icc("icc_2k", "ICC(2,k)", 113, "as ICC(2,1), for the mean of k scores."),
    _icc("icc_3", "ICC(3,1)", 114, "only these raters matter, and their different levels do not count as error."),
    _icc("icc_3k", "ICC(3,k)", 115, "as ICC(3,1), for the mean of k scores."),
)
ICC_1, ICC_1K, ICC_2, ICC_2K, ICC_3, ICC_3K = (method.name for method in METHODS)
INTRACLASS = tuple(method.name for method in METHODS)
