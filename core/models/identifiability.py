"""Limits of identifiability by the design of the data, for any number of cases.

With two annotations per case only pairs of raters are seen: their margins c_j = a_j t + ā_j p_j and, beyond them,
a_j a_h (diag t − t tᵀ). For two classes that matrix is one number. For three or more it gives t and the product a_j a_h
of every pair, hence each a_j where the graph of pairs has an odd cycle within its component; t is shared, so components
need not be joined.
"""

import numpy as np

from ..annotations.dataset import Dataset
from ._pair_kernels import bipartite

_EDGE = 1e-6


def most_per_case(dataset: Dataset) -> int:
    """Return the largest number of annotations of a case."""
    return len(dataset.cases_by_size) - 1


def two_per_case(dataset: Dataset) -> tuple[str, ...]:
    """Return the note of Dawid-Skene if no case has three annotations."""
    if dataset.n_classes < 2 or most_per_case(dataset) > 2:
        return ()
    return (
        "Not identified: no case has three annotations. Different confusion matrices and a different prevalence "
        "would explain the annotations equally well, so the result depends on the votes and the smoothing.",
    )


def tap_identifiability(dataset: Dataset, common: bool) -> tuple[str, ...]:
    """Return the notes of t-a-p if no case has three annotations."""
    if dataset.n_classes < 2 or most_per_case(dataset) > 2:
        return ()
    if dataset.n_classes == 2:
        return (
            "Not identified: with two classes and two annotations per case, the data cannot separate accuracy, "
            "prevalence and guesses, unless raters are alike and guess each class in proportion to its prevalence.",
        )
    if common:
        return ()
    lost = unidentified_raters(dataset)
    if not lost.size:
        return ()
    named = ", ".join(dataset.raters[rater] for rater in lost[:3]) + (" and others" if lost.size > 3 else "")
    return (
        f"Not identified: with two annotations per case, the accuracy of {lost.size:,} of {dataset.n_raters:,} "
        f"raters ({named}) is known only as a product with that of other raters. It would be known by itself if shared "
        "cases linked these raters to a closed chain of an odd number of raters, for example A–B, B–C and C–A.",
    )


def unidentified_raters(dataset: Dataset) -> np.ndarray:
    """Return raters in a component of the graph of pairs without an odd cycle, ascending; repeats make a cycle."""
    return np.flatnonzero(bipartite(dataset.case_ptr, dataset.rater, dataset.n_raters))


def left_free(accuracy: np.ndarray) -> tuple[str, ...]:
    """Return the notes on parameters that are free because an accuracy is 0 or 1."""
    notes = []
    never, always = int((accuracy <= _EDGE).sum()), int((accuracy >= 1 - _EDGE).sum())
    if never == accuracy.size:
        notes.append(
            "All accuracies are 0 in this fit: annotations are guesses, and the data do not determine the prevalence t."
        )
    elif never:
        notes.append(
            f"{never:,} of {accuracy.size:,} raters {'has' if never == 1 else 'have'} an accuracy of 0 in this fit: "
            "their annotations do not depend on the truth."
        )
    if always and accuracy.size:
        have = f"{always:,} of {accuracy.size:,} raters {'has' if always == 1 else 'have'}"
        notes.append(
            f"{have if accuracy.size > 1 else 'All raters have'} an accuracy of 1 in this fit: the data do not show "
            "what they would guess."
        )
    return tuple(notes)
