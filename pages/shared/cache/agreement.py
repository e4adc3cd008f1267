"""What the Agreement page computes, kept by the content of the data, the parameters and the version."""

from collections.abc import Sequence

import numpy as np

from core.annotations.dataset import Dataset
from pages.shared.cache.remembered import remembered


@remembered
def suitable(dataset: Dataset, level: float = 0.95):
    """The coefficients that make sense for these annotations, and why others are left out."""
    from core.agreement.applicable_coefficients import coefficients_for
    from core.agreement.probability import SPA_WEIGHTINGS

    return coefficients_for(dataset, level, spa_weightings=SPA_WEIGHTINGS)


@remembered
def class_shares(dataset: Dataset) -> dict[str, float]:
    """Share of each class among the annotations, first choices of rankings."""
    view, _ = dataset.as_classes()
    count = np.bincount(view.answer, minlength=view.n_classes)
    return dict(zip(view.classes, (count / max(1, count.sum())).tolist(), strict=True))


@remembered
def n_repeats(dataset: Dataset) -> int:
    """Annotations that repeat an earlier one of the same rater on the same case; none where raters are not known."""
    if not dataset.raters_identified:
        return 0
    case = np.repeat(np.arange(dataset.n_cases), np.diff(dataset.case_ptr))
    return int(dataset.n_annotations - len(np.unique(case * dataset.n_raters + dataset.rater)))


@remembered
def agreement(dataset: Dataset, level: float = 0.95):
    """All coefficients of single classes; agreement of each case; annotations of each case."""
    from core.agreement.coefficients import agreement_table
    from core.agreement.probability import SPA_WEIGHTINGS, case_agreement
    from core.annotations.counts import class_counts

    counts = class_counts(dataset)
    table = agreement_table(counts, level=level, spa_weightings=SPA_WEIGHTINGS, dataset=dataset)
    return table, *case_agreement(counts)


@remembered
def _ordered(dataset: Dataset, classes: tuple[str, ...]) -> Dataset:
    from core.annotations.ordering import with_class_order

    return with_class_order(dataset, classes)


def ordered(dataset: Dataset, classes: Sequence[str]) -> Dataset:
    """The dataset with its classes in an order that means something."""
    return _ordered(dataset, tuple(classes))


@remembered
def pairs(dataset: Dataset, coefficient: str):
    """A coefficient of every two raters, and an order in which similar raters stand together."""
    from core.agreement.pairs import pair_matrix, similarity_order

    matrix = pair_matrix(dataset, coefficient)
    return matrix, similarity_order(matrix)


@remembered
def by_rater(dataset: Dataset, coefficient: str):
    """Each rater with the others and left out; and with themselves."""
    from core.agreement.by_rater import by_rater, intra_rater

    return by_rater(dataset, coefficient), intra_rater(dataset)


@remembered
def by_class(dataset: Dataset):
    """Specific agreement of each class."""
    from core.agreement.specific import specific_agreement

    return specific_agreement(dataset)


@remembered
def over_time(dataset: Dataset, by: str):
    """Agreement in windows of time."""
    from core.agreement.over_time import over_time

    return over_time(dataset, by)


@remembered
def precision(dataset: Dataset):
    """What precision there is, and what more annotations would buy, on new cases and on the present ones."""
    from core.agreement.precision import WAYS, precision_curve

    return tuple(precision_curve(dataset, how=how) for how in WAYS)


@remembered
def adaptive(dataset: Dataset):
    """Whether the number of annotations of a case depends on early disagreement."""
    from core.agreement.adaptive import adaptive_collection

    return adaptive_collection(dataset)
