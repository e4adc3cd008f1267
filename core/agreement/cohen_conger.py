"""Kappas with chance from each rater's own class shares: Conger's for any number of raters, Cohen's for two.

Conger (1980), DOI 10.1037/0033-2909.88.2.322; Cohen (1960, 1968); Scott (1955). Errors: Gwet, Handbook of Inter-Rater
Reliability (2014), and for two complete raters Fleiss, Cohen and Everitt (1969), DOI 10.1037/h0028106.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError
from ..settings import current_settings
from ..text import plural
from ._kernels import rater_answers, repeated_answers
from .coefficient_methods import GWET, CoefficientMethod, CoefficientRequest
from .formulas import Formula, Sums, beyond_chance, slopes_of_raters
from .intervals import Coefficient, few_cases, undefined
from .linearised import NO_PAIR, from_sums, observed, warn_rare_classes, why_certain
from .ranges import distance_of, least_beyond_chance
from .weights import Weights, resolve_weights

REPEATS = "a rater annotated the same case more than once; keep one annotation per rater and case"


def conger_kappa(
    dataset: Dataset, level: float = 0.95, weights: Weights = None, labels: Sequence[float] | None = None
) -> Coefficient:
    """Compute Conger's kappa: chance is a draw from the class shares of each of two different raters.

    ``p_e = Σ_{g≠h} p_gᵀ W p_h / (J (J − 1))`` over the J raters who gave an annotation. A rater's further annotations
    on a case count as annotations of others; the note says so.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with raters who are identified.
    level : float
        Confidence level of the interval, 0 to 1.
    weights, labels
        See `core.agreement.weights.weight_matrix`.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or rater names carry no identity.
    LimitError
        The table of raters by classes would not fit into memory.
    """
    check_raters(dataset, "Conger's kappa")
    repeats = repeats_of(dataset)
    return warn_repeated(_own_margins("conger_kappa", dataset, level, weights, labels, repeats), repeats)


def warn_repeated(found: Coefficient, repeats: int) -> Coefficient:
    """Add a note on annotations that raters repeated, if any, to Conger's kappa."""
    if not repeats or found.value is None:
        return found
    count = "counts" if repeats == 1 else "count"
    note = f"{plural(repeats, 'repeat annotation')} (same rater, same case) {count} as another rater's"
    return replace(found, note="; ".join(filter(None, (found.note, note))))


def cohen_kappa(
    dataset: Dataset, level: float = 0.95, weights: Weights = None, labels: Sequence[float] | None = None
) -> Coefficient:
    """Compute Cohen's kappa of two raters, with gaps; parameters as in `conger_kappa`.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with raters who are identified.
    level : float
        Confidence level of the interval, 0 to 1.
    weights : str or ndarray of shape (n_classes, n_classes), optional
        See `core.agreement.weights.weight_matrix`; identity if omitted.
    labels : sequence of float, length n_classes, optional
        Numbers of the classes; 1, 2, ... if omitted.

    Raises
    ------
    NotApplicableError
        See `conger_kappa`; or there are not two raters.
    """
    check_raters(dataset, "Cohen's kappa", two=True)
    if repeats_of(dataset):
        return undefined("cohen_kappa", resolve_weights(weights, dataset.n_classes, labels)[0], REPEATS)
    return _own_margins("cohen_kappa", dataset, level, weights, labels, 0)


def cohen_kappa_classic(
    dataset: Dataset, level: float = 0.95, weights: Weights = None, labels: Sequence[float] | None = None
) -> Coefficient:
    """Compute Cohen's kappa of two raters who both annotated every case, with the classic large-sample error.

    The value is that of `cohen_kappa`; the error is that of Fleiss, Cohen and Everitt, with a normal interval. It is
    what most other tools print. Parameters and errors as of `cohen_kappa`.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with raters who are identified.
    level : float
        Confidence level of the interval, 0 to 1.
    weights : str or ndarray of shape (n_classes, n_classes), optional
        See `core.agreement.weights.weight_matrix`; identity if omitted.
    labels : sequence of float, length n_classes, optional
        Numbers of the classes; 1, 2, ... if omitted.
    """
    from scipy.special import ndtri

    check_raters(dataset, "Cohen's kappa", two=True)
    name, matrix = resolve_weights(weights, dataset.n_classes, labels)
    found = cohen_kappa(dataset, level, weights, labels)
    if found.value is None:
        return replace(found, name="cohen_kappa_classic")
    if (np.diff(dataset.case_ptr) == 1).any():
        return undefined("cohen_kappa_classic", name, "some cases were annotated by only one of the two raters")
    first = dataset.rater == dataset.rater.min()
    # Both raters annotated the same cases once each, so their annotations stand in the same order of cases.
    a, b = dataset.answer[first], dataset.answer[~first]
    r, c = (np.bincount(answer, minlength=dataset.n_classes) / len(a) for answer in (a, b))
    if matrix is None:
        by_row, by_column, agree = c, r, (a == b).astype(float)
    else:
        by_row, by_column, agree = matrix @ c, matrix @ r, matrix[a, b]
    p_e = float(r @ by_row)
    kappa = (float(agree.mean()) - p_e) / (1 - p_e)
    term = agree - (by_row[a] + by_column[b]) * (1 - kappa)
    # The mean square less the squared mean, which is κ − p_e (1 − κ): as a variance it cannot fall below 0.
    se = float(np.sqrt(term.var() / len(a)) / (1 - p_e))
    half = float(ndtri((1 + level) / 2)) * se
    n = len(a)
    low = max(kappa - half, least_beyond_chance(np.array([2]), p_e, distance_of(matrix), own=True))
    return Coefficient(
        "cohen_kappa_classic", name, min(1.0, kappa), se, low, min(1.0, kappa + half), n, 2 * n, few_cases(n)
    )


def raters_used(dataset: Dataset) -> int:
    """Count the raters who gave an annotation."""
    return int(np.count_nonzero(np.bincount(dataset.rater, minlength=1)))


def check_raters(dataset: Dataset, what: str, *, two: bool = False) -> None:
    """Refuse annotations that are not classes, anonymous raters and, if need be, any number of raters but two.

    Parameters
    ----------
    dataset : Dataset
    what : str
        Name at the start of a sentence: "Cohen's kappa".
    two : bool
        True if exactly two raters must have given annotations.

    Raises
    ------
    NotApplicableError
    """
    dataset.check_kind("class", f"Cannot compute {what}")
    dataset.check_raters(f"Cannot compute {what}")
    n_used = raters_used(dataset)
    if two and n_used != 2:
        raise NotApplicableError(
            f"Cannot compute {what}: it needs exactly two raters, but these data have {n_used:,}. Select two raters."
        )


def repeats_of(dataset: Dataset) -> int:
    """Count annotations that repeat an earlier one of the same rater on the same case."""
    return repeated_answers(dataset.case_ptr, dataset.rater, dataset.n_raters)


_OWN_MARGINS = Formula(beyond_chance, of="raters")


def _own_margins(
    name: str, dataset: Dataset, level: float, weights: Weights, labels: Sequence[float] | None, n_repeats: int
) -> Coefficient:
    n_raters, n_classes = dataset.n_raters, dataset.n_classes
    check_margins(n_raters, n_classes)
    called, matrix = resolve_weights(weights, n_classes, labels)
    counts = class_counts(dataset)
    seen = observed(counts, matrix)
    table = np.bincount(dataset.rater * np.int64(n_classes) + dataset.answer, minlength=n_raters * n_classes)
    table = table.reshape(n_raters, n_classes)
    if seen.n_usable == 0 or raters_used(dataset) < 2:
        why = NO_PAIR if seen.n_usable == 0 else "there is only one rater"
        return undefined(name, called, why, seen.n_usable, seen.n_annotations)
    chance, slope = margins(table, matrix)
    to_chance = rater_answers(dataset.case_ptr, dataset.rater, dataset.answer, slope)[seen.rated]
    cases = seen.features(to_chance)
    sums = cases.sums(chance)
    squares = partial(cases.squares, n_cases=sums.rated)
    return of_margins(name, called, matrix, counts, table, sums, squares, n_repeats, level)


def margins(table: np.ndarray, matrix: np.ndarray | None) -> tuple[float, np.ndarray]:
    """Compute chance if every rater guesses by their own class shares, and the contribution of each annotation.

    Parameters
    ----------
    table : ndarray of int64, shape (n_raters, n_classes)
        Number of annotations of each class by each rater.
    matrix : ndarray, shape (n_classes, n_classes), optional
        Weights of the classes.
    """
    chance, slope = slopes_of_raters(table[:, :, None], matrix)
    return float(chance[0]), np.ascontiguousarray(slope[:, :, 0])


def of_margins(
    name: str,
    called: str,
    matrix: np.ndarray | None,
    counts: ClassCounts,
    table: np.ndarray,
    sums: Sums,
    squares: Callable[[Sums], float],
    n_repeats: int,
    level: float,
) -> Coefficient:
    """Compute Cohen's or Conger's kappa from sums over cases.

    Parameters
    ----------
    name, called : str
        Names of the coefficient and of its weights.
    matrix, table
        See `margins`.
    counts : ClassCounts
    sums : Sums
    squares : callable
        See `core.agreement.linearised.from_sums`.
    n_repeats : int
        Annotations that a rater repeated on a case.
    level : float
        Confidence level of the interval, 0 to 1.
    """

    def least() -> float:
        n = counts.per_case()
        own = bool((n[n > 0] == np.count_nonzero(table.any(axis=1))).all()) and not n_repeats
        return least_beyond_chance(n[n > 1], sums.chance, distance_of(matrix), own)

    why = why_certain(np.count_nonzero(table.any(axis=0)))
    return warn_rare_classes(from_sums(name, called, _OWN_MARGINS, sums, squares, level, least, why), counts)


def check_margins(n_raters: int, n_classes: int) -> None:
    """Raise `LimitError` if the table of raters and classes would not fit into memory."""
    limit = current_settings().max_model_cells
    if n_raters * n_classes > limit:
        raise LimitError(
            f"Cannot compare raters: {n_raters:,} raters and {n_classes:,} classes need {n_raters * n_classes:,} "
            f"cells; the limit is {limit:,}. Select fewer raters."
        )


def identified(dataset: Dataset | None) -> int:
    """Count identified raters with an annotation; 0 without a dataset or if raters are anonymous."""
    return 0 if dataset is None or not dataset.raters_identified else raters_used(dataset)


def _conger(asked: CoefficientRequest) -> list[Coefficient]:
    if identified(asked.dataset) <= 2:
        return []
    try:
        return [conger_kappa(asked.dataset, **asked.how)]
    except LimitError as error:
        name, _ = resolve_weights(asked.weights, asked.dataset.n_classes, asked.labels)
        return [undefined("conger_kappa", name, str(error))]


METHODS = (
    CoefficientMethod(
        "cohen_kappa",
        "Cohen κ",
        cohen_kappa,
        lambda asked: [cohen_kappa(asked.dataset, **asked.how)] if identified(asked.dataset) == 2 else [],
        plainly="Agreement beyond chance between two raters, if each guesses classes in their own proportions.",
        exactly="(p_a − p_e)/(1 − p_e), with p_e from the margins of both raters. Gwet's linearised variance (Cohen "
        "1960).",
        sources=("Cohen, Educational and Psychological Measurement 20 (1960), 37-46", GWET),
        needs=("overlap", "two raters"),
        assumes="assumes that each rater guesses classes in their own proportions.",
        formula=replace(_OWN_MARGINS, of_pairs=True),
        place=40,
        beyond_chance=True,
    ),
    CoefficientMethod(
        "conger_kappa",
        "Conger κ",
        conger_kappa,
        _conger,
        plainly="Cohen's kappa for more than two raters.",
        exactly="(p_a − p_e)/(1 − p_e), with p_e from the margins of each pair of raters, averaged over pairs. "
        "Gwet's linearised variance (Conger 1980).",
        sources=("Conger, Psychological Bulletin 88 (1980), 322-328", GWET),
        needs=("overlap", "raters"),
        assumes="assumes that every rater guesses classes in their own proportions.",
        formula=_OWN_MARGINS,
        place=60,
        beyond_chance=True,
    ),
)
COHEN_KAPPA, CONGER_KAPPA = (method.name for method in METHODS)
