"""Coverage: overlap of raters, missing overlap, and whether the design can identify the models."""

from dataclasses import dataclass

import numpy as np

from ..agreement.pairs import pair_matrix
from ..annotations.counts import raters_per_case
from ..annotations.dataset import Dataset
from ..errors import OptionError
from ..models.dawid_skene import METHOD as DAWID_SKENE
from ..models.identifiability import most_per_case, tap_identifiability, two_per_case, unidentified_raters
from ..models.result import RaterModelFit
from ..models.tap import METHODS as TAP
from ..text import plural

FEW = 10


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """Design of the data: overlap of raters and of classes.

    Attributes
    ----------
    raters, classes : tuple of str
    shared : ndarray of int64, shape (n_raters, n_raters)
        Number of pairs of annotations on the same case; 0 on the diagonal.
    few : int
        Smallest overlap that does not count as lacking.
    lacking : ndarray of int64, shape (n_pairs, 2)
        Pairs of raters with a smaller overlap, smallest first.
    component : ndarray of int64, shape (n_raters,)
        Number of each rater's group, 0 for the largest; raters connected by cases, directly or through others, are in
        one group.
    n_components : int
    answers_per_case : ndarray of int64, shape (most + 1,)
        Number of cases by their number of annotations.
    class_cases : ndarray, shape (n_classes,)
        Expected number of cases of each class.
    class_shared : ndarray, shape (n_classes,)
        Expected number of these with two raters or more.
    class_met : ndarray, shape (n_raters, n_classes)
        Expected number of annotations of a rater on cases of a class.
    lacking_classes : ndarray of int64
        Classes with fewer than ``few`` expected cases that two raters share, fewest first.
    not_met : ndarray of int64, shape (n_raters,)
        Number of classes on which a rater has less than one expected annotation.
    odd_cycle : ndarray of bool, shape (n_raters,)
        True if the pairs around a rater form an odd cycle, which models need if no case has three annotations.
    identified : dict
        Note on what the design does not identify, by the name of a model; empty if all is identified.
    notes : tuple of str
    """

    raters: tuple[str, ...]
    classes: tuple[str, ...]
    shared: np.ndarray
    few: int
    lacking: np.ndarray
    component: np.ndarray
    n_components: int
    answers_per_case: np.ndarray
    class_cases: np.ndarray
    class_shared: np.ndarray
    class_met: np.ndarray
    lacking_classes: np.ndarray
    not_met: np.ndarray
    odd_cycle: np.ndarray
    identified: dict[str, str]
    notes: tuple[str, ...]


def coverage(dataset: Dataset, fit: RaterModelFit, few: int = FEW) -> Coverage:
    """Compute the overlap of raters and of classes, connected groups, and identifiability.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with identified raters.
    fit : RaterModelFit
        Fit of these data, for the classes of cases.
    few : int
        Smallest sufficient overlap, 1 or more.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or are anonymous.
    LimitError
        The matrix of raters × raters would not fit into memory.
    """
    if few < 1:
        raise OptionError(f"`few` must be at least 1; got {few}")
    dataset.check_kind("class", "Cannot compute overlap")
    dataset.check_raters("Cannot compute overlap")
    shared = pair_matrix(dataset).n.copy()
    np.fill_diagonal(shared, 0)
    first, second = np.triu_indices(dataset.n_raters, 1)
    scarce = np.flatnonzero(shared[first, second] < few)
    scarce = scarce[np.argsort(shared[first, second][scarce], kind="stable")]
    component, n_components = _components(shared)
    size = np.diff(dataset.case_ptr)
    two = raters_per_case(dataset) > 1
    class_shared = fit.class_probability[two].sum(axis=0)
    met = np.empty((dataset.n_raters, dataset.n_classes))
    for k in range(dataset.n_classes):
        met[:, k] = np.bincount(dataset.rater, fit.class_probability[dataset.case_of_annotation, k], dataset.n_raters)
    lacking_classes = np.flatnonzero(class_shared < few)
    odd = np.ones(dataset.n_raters, bool)
    odd[unidentified_raters(dataset)] = False
    return Coverage(
        dataset.raters,
        dataset.classes,
        shared,
        few,
        np.stack([first[scarce], second[scarce]], axis=1),
        component,
        n_components,
        np.bincount(size),
        fit.class_probability[size > 0].sum(axis=0),
        class_shared,
        met,
        lacking_classes[np.argsort(class_shared[lacking_classes], kind="stable")],
        (met < 1).sum(axis=1),
        odd,
        _identified(dataset),
        _notes(dataset, n_components, len(scarce), first.size, few),
    )


def _identified(dataset: Dataset) -> dict[str, str]:
    """Return by model why it is not identified, empty if it is."""
    return {
        DAWID_SKENE.name: " ".join(two_per_case(dataset)),
        TAP[0].name: " ".join(tap_identifiability(dataset, common=False)),
        TAP[1].name: " ".join(tap_identifiability(dataset, common=True)),
    }


def _components(shared: np.ndarray) -> tuple[np.ndarray, int]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, label = connected_components(csr_array(shared > 0), directed=False)
    order = np.argsort(-np.bincount(label, minlength=n), kind="stable")
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    return rank[label], int(n)


def _notes(dataset: Dataset, n_components: int, n_scarce: int, n_pairs: int, few: int) -> tuple[str, ...]:
    notes = []
    if n_components > 1:
        notes.append(
            f"Raters form {n_components:,} groups with no cases in common. Comparisons across groups assume that "
            "their cases are similar."
        )
    if n_scarce:
        share = "shares" if n_scarce == 1 else "share"
        notes.append(f"{n_scarce:,} of {plural(n_pairs, 'pair')} of raters {share} fewer than {few:,} cases.")
    most = most_per_case(dataset)
    if most < 3:
        notes.append(
            f"No case has more than {plural(most, 'annotation')}. Rater models can separate truth from error if some "
            "cases have three annotations."
        )
    return tuple(notes)
