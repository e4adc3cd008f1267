"""Agreement of annotations that are sets of labels: alpha by Jaccard's and by the MASI distance, and for each label.

Passonneau, Measuring agreement on set-valued items (MASI), LREC 2006; Krippendorff, Content Analysis (2004).
"""

from dataclasses import replace

import numpy as np

from ..annotations._kernels import count_classes
from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset
from ..errors import LimitError, OptionError
from ..methods import AS_IS
from ..text import listed, plural
from .coefficient_methods import CoefficientMethod
from .intervals import Coefficient, undefined, with_t_interval
from .krippendorff import alpha_and_deviations, alpha_by_distance, krippendorff_alpha
from .ranges import least_beyond_chance

SET_METRICS = ("jaccard", "masi")
TITLES = {"jaccard": "Jaccard distance", "masi": "MASI distance"}
MOST_SETS = 3_000


def set_distance(first: np.ndarray, second: np.ndarray, metric: str = "masi") -> np.ndarray:
    """Compute the distance of each set of one list to each of another: 0 for equal sets, 1 for disjoint ones.

    Jaccard: ``1 − |A∩B| / |A∪B|``. MASI: ``1 − m |A∩B| / |A∪B|`` with m = 1 for equal sets, 2/3 if one contains the
    other, 1/3 if they overlap, 0 else. Two empty sets are equal.

    Parameters
    ----------
    first : ndarray of bool, shape (n_first, n_classes)
        Labels that each set contains.
    second : ndarray of bool, shape (n_second, n_classes)
    metric : {"jaccard", "masi"}

    Returns
    -------
    ndarray of float64, shape (n_first, n_second)

    Raises
    ------
    OptionError
        The metric is unknown.
    """
    if metric not in SET_METRICS:
        raise OptionError(f"`metric` must be one of {', '.join(SET_METRICS)}; got {metric!r}")
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    sizes = first.sum(axis=1)[:, None], second.sum(axis=1)[None, :]
    common = first @ second.T
    union = sizes[0] + sizes[1] - common
    share = np.where(union == 0, 1.0, common / np.maximum(union, 1.0))
    if metric == "masi":
        equal = union == common
        inside = (common == sizes[0]) | (common == sizes[1])
        share = share * np.where(equal, 1.0, np.where(inside, 2 / 3, np.where(common > 0, 1 / 3, 0.0)))
    return 1.0 - share


def distinct_sets(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the different sets that were given, and which of them each annotation is.

    Every label alone comes first, given or not, in the order of the classes; then the others as they come.

    Returns
    -------
    sets : ndarray of bool, shape (n_sets, n_classes)
    which : ndarray of int32, shape (n_annotations,)

    Raises
    ------
    LimitError
        There are more than `MOST_SETS` different sets in addition to single labels.
    """
    ptr, n_classes = dataset.entry_ptr, dataset.n_classes
    which = dataset.entry_class[ptr[:-1]].copy()
    places: dict[bytes, int] = {}
    several = np.flatnonzero(np.diff(ptr) > 1)
    for annotation in several:
        key = dataset.entry_class[ptr[annotation] : ptr[annotation + 1]].tobytes()
        which[annotation] = n_classes + places.setdefault(key, len(places))
    if len(places) > MOST_SETS:
        raise LimitError(
            f"Could not compute distances: {len(places):,} different sets of labels exceed the limit of "
            f"{MOST_SETS:,}. Compute agreement for each label instead."
        )
    sets = np.zeros((n_classes + len(places), n_classes), bool)
    sets[np.arange(n_classes), np.arange(n_classes)] = True
    for key, place in places.items():
        sets[n_classes + place, np.frombuffer(key, np.int32)] = True
    return sets, which


def alpha_of_sets(dataset: Dataset, level: float = 0.95, metric: str = "masi") -> Coefficient:
    """Compute Krippendorff's alpha of sets of labels; if each has one label it equals nominal alpha.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    level : float
        Confidence level of the interval, 0 to 1.
    metric : {"jaccard", "masi"}
        See `set_distance`.

    Raises
    ------
    NotApplicableError
        The annotations are not sets.
    OptionError
        The metric is unknown.
    LimitError
        Too many different sets: see `distinct_sets`.
    """
    _check(dataset)
    if metric not in SET_METRICS:
        raise OptionError(f"`metric` must be one of {', '.join(SET_METRICS)}; got {metric!r}")
    sets, which = distinct_sets(dataset)
    ptr, code, count = count_classes(dataset.case_ptr, which, len(sets))
    counts = ClassCounts(ptr, code, count, len(sets))
    distance = None if len(sets) == dataset.n_classes else set_distance(sets, sets, metric)
    return replace(alpha_by_distance(counts, distance, TITLES[metric], level, "set of labels"), name=SET_ALPHA)


def label_alphas(dataset: Dataset, level: float = 0.95) -> list[Coefficient]:
    """Compute nominal alpha of each label, given or not, with interval; ``weights`` of each is the label.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    level : float
        Confidence level of the intervals, 0 to 1.
    """
    _check(dataset)
    of_label = (krippendorff_alpha(class_counts(dataset.as_classes(label)[0]), level) for label in dataset.classes)
    return [replace(one, name=LABEL_ALPHA, weights=label) for one, label in zip(of_label, dataset.classes, strict=True)]


def mean_label_alpha(dataset: Dataset, level: float = 0.95) -> Coefficient:
    """Compute the mean of `label_alphas` over labels that have one, with an interval for labels of the same cases.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    level : float
        Confidence level of the interval, 0 to 1.
    """
    _check(dataset)
    found, left_out = [], []
    for label in dataset.classes:
        one = alpha_and_deviations(class_counts(dataset.as_classes(label)[0]))
        found.append(one) if one is not None else left_out.append(label)
    if not found:
        return undefined(
            MEAN_LABEL_ALPHA, "identity", "each label was either always or never chosen in cases with two annotations"
        )
    value = float(np.mean([alpha for alpha, _ in found]))
    deviation = np.mean([own for _, own in found], axis=0)
    n = np.diff(dataset.case_ptr)
    n_annotations, m = int(n[n >= 2].sum()), deviation.size
    variance = float(np.square(deviation).sum()) / (m * (m - 1)) if m > 1 else 0.0

    def least() -> float:
        return least_beyond_chance(n[n >= 2], 0.0, None, own=True)

    mean = with_t_interval(MEAN_LABEL_ALPHA, "identity", value, variance, m - 1, m, n_annotations, level, least)
    if not left_out:
        return mean
    named = listed([*left_out[:3], *([f"{len(left_out) - 3:,} more"] if len(left_out) > 3 else [])])
    note = f"mean over {plural(len(found), 'label')}; undefined for {named}"
    return replace(mean, note="; ".join(filter(None, (mean.note, note))))


def set_agreement(dataset: Dataset, level: float = 0.95) -> list[Coefficient]:
    """Compute alpha by both distances, the mean over labels, then alpha of each label.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    level : float
        Confidence level of the intervals, 0 to 1.
    """
    whole = [alpha_of_sets(dataset, level, metric) for metric in SET_METRICS]
    return [*whole, mean_label_alpha(dataset, level), *label_alphas(dataset, level)]


def _check(dataset: Dataset) -> None:
    dataset.check_kind("set", "Cannot compare sets")


METHODS = (
    CoefficientMethod(
        "set_alpha",
        "Krippendorff α for label sets",
        alpha_of_sets,
        lambda asked: [alpha_of_sets(asked.dataset, asked.level, metric) for metric in SET_METRICS],
        plainly="Agreement beyond chance on sets of labels, with partial credit for shared labels.",
        exactly="1 − D_o/D_e. The distance is 1 − |A∩B|/|A∪B| (Jaccard), or 1 − m |A∩B|/|A∪B| with m = 1, 2/3, 1/3 and "
        "0 for equal, nested, overlapping and disjoint sets (MASI, Passonneau 2006).",
        sources=(
            "Passonneau, Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation (2006)",
            "Krippendorff, Content Analysis (2004)",
        ),
        takes={"set": AS_IS},
        assumes="like Krippendorff α, with partial credit for shared labels.",
        place=135,
        beyond_chance=True,
    ),
    CoefficientMethod(
        "mean_label_alpha",
        "Mean α over labels",
        mean_label_alpha,
        lambda asked: [mean_label_alpha(asked.dataset, asked.level)],
        plainly="Agreement beyond chance on whether a label applies, averaged over the labels.",
        exactly="Mean over labels of Krippendorff's nominal α, each label being either given or not. The interval "
        "follows from the influence of each case on this mean.",
        sources=("Krippendorff, Content Analysis (2004)",),
        takes={"set": AS_IS},
        assumes="gives every label the same weight, even rare ones.",
        place=140,
        beyond_chance=True,
        says_how=False,
    ),
    CoefficientMethod(
        "label_alpha",
        "α of a label",
        label_alphas,
        lambda asked: label_alphas(asked.dataset, asked.level),
        plainly="Agreement beyond chance on whether this label applies.",
        exactly="Krippendorff's nominal α with two classes: the annotation has the label, or it does not.",
        sources=("Krippendorff, Content Analysis (2004)",),
        takes={"set": AS_IS},
        assumes="a label that the rater did not name counts as absent.",
        place=150,
        beyond_chance=True,
    ),
)
SET_ALPHA, MEAN_LABEL_ALPHA, LABEL_ALPHA = (method.name for method in METHODS)
