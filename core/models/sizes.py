"""Refusal of models that are too large for the data, before memory is exhausted."""

from ..annotations.dataset import Dataset
from ..errors import LimitError
from ..settings import current_settings


def check_size(title: str, dataset: Dataset) -> None:
    """Raise unless the tables of raters × classes × classes and of cases × classes are within the limit.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes.
    LimitError
        Says what to use instead.
    """
    dataset.check_kind("class", f"Could not fit {title}")
    limit = current_settings().max_model_cells
    per_case = dataset.n_cases * dataset.n_classes
    check_raters(title, dataset.n_raters, dataset.n_classes)
    if per_case > limit:
        raise LimitError(
            f"Could not fit {title}: {dataset.n_cases:,} cases × {dataset.n_classes:,} classes = {per_case:,} "
            f"numbers; the limit is {limit:,}. Merge rare classes or use fewer cases."
        )


def check_raters(title: str, n_raters: int, n_classes: int) -> None:
    """Raise `LimitError` unless the table of raters × classes × classes is within the limit.

    Parameters
    ----------
    title : str
        Title of the model, for the message.
    n_raters, n_classes : int
    """
    limit = current_settings().max_model_cells
    per_rater = n_raters * n_classes**2
    if per_rater > limit:
        raise LimitError(
            f"Could not fit {title}: {n_raters:,} raters × {n_classes:,}² classes = {per_rater:,} numbers; the "
            f"limit is {limit:,}. Use majority vote, merge rare classes, or model fewer raters."
        )
