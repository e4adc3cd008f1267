"""Agreement of scores: intraclass correlations and Krippendorff's alpha.

ICC(1) takes every score of a case as one of any rater; ICC(2) takes raters as a sample and asks for the same score;
ICC(3) asks for the same differences between cases, whatever the level of each rater. The "k" versions are of the mean
of k scores [Shrout & Fleiss (1979), DOI 10.1037/0033-2909.86.2.420].

Of complete tables of scores intervals are from the F distribution: McGraw & Wong (1996), DOI 10.1037/1082-989X.1.1.30;
with gaps see `core.agreement.score_components`. The intervals of ICC(2) take Satterthwaite's degrees of freedom; with
few raters who differ much they cover too little: of
3 or 4 raters with one to four times the spread of the cases 88 to 92% instead of 95% (30 cases, 2,000 simulations).

Where ICC(2) is negative these degrees of freedom subtract one mean square from another. The interval is the textbook's
there, too (McGraw & Wong, table 7, and the packages that follow it). Of the negative estimates at a true correlation of
0 it covers 0.97 to 1, at 0.05 with 6 to 10 cases 0.98, where degrees of freedom taken at 0 cover 0.95 and 0.93; only
where it does not hold its own estimate, because hardly a degree of freedom is left (6 in 2,000 at most), are they
taken at 0.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import LimitError
from ..methods import AS_IS
from ..text import plural
from .coefficient_methods import CoefficientMethod
from .intervals import Coefficient, few_cases, undefined
from .krippendorff import KRIPPENDORFF_ALPHA, krippendorff_alpha
from .linearised import NO_PAIR
from .score_components import Ends, one_way_reml, two_way

NO_COMPLETE = "fewer than two cases were scored by every rater"
ANONYMOUS = "the scores are anonymous"
EXACT = 1e-13  # of the other mean squares: rounding
FEW_RATERS = 6
LEAST_DF = 1e-3  # F quantiles of fewer are no numbers
SAME = "all scores are the same"
ALIKE = "the cases do not differ, or they differ less than expected by chance"
EXACTLY = "the scores show no random error"


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scores by case, each rater at most once per case; arrays of shape (n_scores,).

    Attributes
    ----------
    case, rater : ndarray of int32
        Codes without gaps, ascending by case and then by rater.
    score : ndarray of float64
        Centred, and scaled to at most 1.
    n_repeats : int
        Scores that a rater repeated on a case: their mean is used.
    """

    case: np.ndarray
    rater: np.ndarray
    score: np.ndarray
    n_repeats: int


def score_table(dataset: Dataset, level: float = 0.95) -> list[Coefficient]:
    """Compute the coefficients that scores allow: `intraclass`, then alpha by interval, ordinal and ratio metric.

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
    """Compute intraclass correlations of one score and of the mean of k.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores.
    level : float
        Confidence level of the intervals, 0 to 1.

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
    dataset.check_kind("score", "Cannot compute intraclass correlations")
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
    note = (
        f"{plural(scored.n_repeats, 'repeated score')} by the same rater on the same case "
        f"{'was' if scored.n_repeats == 1 else 'were'} averaged"
    )
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
        return [
            undefined(
                ICC_1, "ANOVA", "the number of scores differs between cases, or fewer than two cases have two scores"
            ),
            *two,
        ]
    table = scored.score[(n >= 2)[scored.case]].reshape(-1, int(sizes[0]))
    return [*one_way_anova(table, level, f"ANOVA, {sizes[0]} scores per case", ICC_1), *two]


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
        why = (
            "the scores vary less between cases than expected by chance, and there are too many scores for "
            "maximum likelihood"
        )
        return found + [undefined(name, "Henderson" + of, why, n.size, size[0]) for name in (ICC_2, ICC_3)]
    return [
        *found,
        *_both(ICC_2, fit.method + of, fit.absolute, k, *size),
        *_both(ICC_3, fit.method + of, fit.consistent, k, *size),
    ]


def _both(name: str, what: str, ends: Ends, k: int, n_scores: int, n_cases: int) -> list[Coefficient]:
    note = few_cases(n_cases)
    if ends[1] is None:
        note = "no interval: the scores show no random error, or a variance component is 0"
        if what.startswith("Henderson"):
            note = "no interval: there are too many raters and cases for maximum likelihood"
    mean = [None if end is None else spearman_brown(end, k) for end in ends]
    return [
        Coefficient(name, what, ends[0], None, ends[1], ends[2], n_cases, n_scores, note),
        Coefficient(f"{name}k", f"{what}, mean of {k}", mean[0], None, mean[1], mean[2], n_cases, n_scores, note),
    ]


def _noted(coefficient: Coefficient, note: str) -> Coefficient:
    return replace(coefficient, note="; ".join(filter(None, (coefficient.note, note))))


def one_way_anova(table: np.ndarray, level: float, what: str, name: str) -> list[Coefficient]:
    """Compute ICC(1) and its mean-of-k version, for raters that differ between cases.

    Parameters
    ----------
    table : ndarray of float64, shape (n_cases, k)
        The scores of a case in a row, in any order.
    level : float
        Confidence level of the intervals, 0 to 1.
    what : str
        Stands in ``weights`` of the result.
    name : str
        Name of the single score; followed by "k" for the mean.
    """
    n, k = table.shape
    between, within = _between(table), _mean_square(table - table.mean(axis=1, keepdims=True), n * (k - 1))
    return _from_f(name, table, between, within, n * (k - 1), level, what)


def two_way_anova(table: np.ndarray, level: float, what: str, names: tuple[str, str]) -> list[Coefficient]:
    """Compute ICC(2), ICC(3) and their mean-of-k versions.

    Parameters
    ----------
    table : ndarray of float64, shape (n_cases, n_raters)
        Without gaps.
    level : float
        Confidence level of the intervals, 0 to 1.
    what : str
        Stands in ``weights`` of the result.
    names : tuple of two str
        Names of ICC(2) and of ICC(3) for the single score; followed by "k" for the mean.
    """
    absolute, consistent = names
    n, k = table.shape
    raters = table.mean(axis=0)
    residual = table - table.mean(axis=1, keepdims=True) - raters + table.mean()
    df = (n - 1) * (k - 1)
    between, error = _between(table), _mean_square(residual, df)
    by_rater = n * float(np.var(raters, ddof=1))
    single, mean = _from_f(consistent, table, between, error, df, level, what)
    return [*_absolute(absolute, table, between, by_rater, error, level, what), single, mean]


def spearman_brown(value: float, k: float) -> float:
    """Compute the reliability of the mean of k from that of one; monotone for values above −1/(k − 1)."""
    return k * value / (1 + (k - 1) * value)


def _between(table: np.ndarray) -> float:
    return table.shape[1] * float(np.var(table.mean(axis=1), ddof=1))


def _mean_square(residual: np.ndarray, df: int) -> float:
    return float((residual * residual).sum()) / df


def _from_f(
    name: str, table: np.ndarray, between: float, error: float, df: int, level: float, what: str
) -> list[Coefficient]:
    """Compute (F − 1)/(F + k − 1), and 1 − 1/F of the mean, with the ends of F."""
    from scipy.special import fdtri

    n, k = table.shape
    if between + error <= 0:
        return [_none(name, table, what, SAME), _none(name, table, what, SAME, k)]
    value = (between - error) / (between + (k - 1) * error)
    if between <= EXACT * error:
        return [_one(name, table, what, (value, None, None), ALIKE), _none(name, table, what, ALIKE, k)]
    mean = 1 - error / between
    if error <= EXACT * between:
        return [
            _one(name, table, what, (value, None, None), EXACTLY),
            _one(name, table, what, (mean, None, None), EXACTLY, k),
        ]
    upper = (1 + level) / 2
    low, high = between / error / fdtri(n - 1, df, upper), between / error * fdtri(df, n - 1, upper)
    single = value, float((low - 1) / (low + k - 1)), float((high - 1) / (high + k - 1))
    return [
        _one(name, table, what, single),
        _one(name, table, what, (mean, float(1 - 1 / low), float(1 - 1 / high)), k=k),
    ]


def _absolute(
    name: str, table: np.ndarray, between: float, by_rater: float, error: float, level: float, what: str
) -> list[Coefficient]:
    n, k = table.shape
    total = between + by_rater + error
    if total <= 0:
        return [_none(name, table, what, SAME), _none(name, table, what, SAME, k)]
    raters = k * by_rater + (k * n - k - n) * error
    whole, below = n * between + raters, between + (by_rater - error) / n
    if whole <= EXACT * total:
        return [_none(name, table, what, ALIKE), _none(name, table, what, ALIKE, k)]
    value = n * (between - error) / whole
    if below <= EXACT * total or between <= EXACT * error:  # no end could move from the value
        return [_one(name, table, what, (value, None, None), ALIKE), _none(name, table, what, ALIKE, k)]
    mean = (between - error) / below
    if error <= EXACT * total:
        return [
            _one(name, table, what, (value, None, None), EXACTLY),
            _one(name, table, what, (mean, None, None), EXACTLY, k),
        ]
    low, high = _absolute_ends(value, between, by_rater, error, (n, k), level)
    if not low < value < high:
        low, high = _absolute_ends(max(value, 0.0), between, by_rater, error, (n, k), level)
    # Of cases whose scores differ less than by chance the correlation of k scores is -1/(k - 1) at least.
    single = _few_raters(_one(name, table, what, (value, max(low, min(value, -1 / (k - 1))), high)), k)
    if 1 + (k - 1) * low <= 0:
        return [single, _one(name, table, what, (mean, None, None), "no interval: the lower end is unbounded", k)]
    ends = mean, spearman_brown(low, k), spearman_brown(high, k)
    return [single, _few_raters(_one(name, table, what, ends, k=k), k)]


def _absolute_ends(
    at: float, between: float, by_rater: float, error: float, shape: tuple[int, int], level: float
) -> tuple[float, float]:
    """Compute ends of ICC(2), with Satterthwaite's degrees of freedom if the correlation is ``at``."""
    from scipy.special import fdtri

    n, k = shape
    ratio = by_rater / error
    raters = k * by_rater + (k * n - k - n) * error
    rest = n * (1 + (k - 1) * at) - k * at
    spread = (n - 1) * (k * at * ratio) ** 2 + rest**2
    df = max((k - 1) * (n - 1) * (k * at * ratio + rest) ** 2 / spread, LEAST_DF)
    upper = (1 + level) / 2
    f_low, f_high = float(fdtri(n - 1, df, upper)), float(fdtri(df, n - 1, upper))
    low = n * (between - f_low * error) / (f_low * raters + n * between)
    high = n * (f_high * between - error) / (raters + n * f_high * between)
    return low, high


def _few_raters(coefficient: Coefficient, k: int) -> Coefficient:
    if k >= FEW_RATERS:
        return coefficient
    note = "there are few raters: if they differ greatly, the interval is too narrow"
    return replace(coefficient, note="; ".join(filter(None, (coefficient.note, note))))


def _one(name: str, table: np.ndarray, what: str, ends: tuple, why: str = "", k: int = 0) -> Coefficient:
    """Build one coefficient, of the mean of k if k is given; ``why`` it has no interval."""
    note = f"no interval: {why}" if why else few_cases(len(table))
    name, what = (f"{name}k", f"{what}, mean of {k}") if k else (name, what)
    return Coefficient(name, what, ends[0], None, ends[1], ends[2], len(table), table.size, note)


def _none(name: str, table: np.ndarray, what: str, why: str, k: int = 0) -> Coefficient:
    name, what = (f"{name}k", f"{what}, mean of {k}") if k else (name, what)
    return undefined(name, what, why, len(table), table.size)


def _icc(name: str, title: str, place: int, assumes: str) -> CoefficientMethod:
    return CoefficientMethod(
        name,
        title,
        intraclass,
        lambda asked: [one for one in intraclass(asked.dataset, asked.level) if one.name == name],
        plainly="Share of the variance in scores that is due to the cases, not to the raters.",
        exactly="Intraclass correlation from an analysis of variance of complete cases, with F intervals (Shrout & "
        "Fleiss 1979; McGraw & Wong 1996). REML is used if scores are missing.",
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
    _icc("icc_1", "ICC(1)", 110, "raters may differ between cases, so all differences between raters count as error."),
    _icc("icc_1k", "ICC(1,k)", 111, "like ICC(1), but for the mean of k scores."),
    _icc(
        "icc_2",
        "ICC(2,1)",
        112,
        "the same raters, a sample of all raters, scored every case; systematic differences between them count as "
        "error.",
    ),
    _icc("icc_2k", "ICC(2,k)", 113, "like ICC(2,1), but for the mean of k scores."),
    _icc(
        "icc_3",
        "ICC(3,1)",
        114,
        "the results hold for these raters only; systematic differences between them do not count as error.",
    ),
    _icc("icc_3k", "ICC(3,k)", 115, "like ICC(3,1), but for the mean of k scores."),
)
ICC_1, ICC_1K, ICC_2, ICC_2K, ICC_3, ICC_3K = (method.name for method in METHODS)
INTRACLASS = tuple(method.name for method in METHODS)
