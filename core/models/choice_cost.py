"""Time and memory that scoring a rater model on held-out annotations takes, estimated before it is begun."""

from ..annotations.dataset import Dataset
from ..errors import LimitError
from ..methods import methods
from ..text import number, plural
from .held_out import FEWEST_FOR_ONE_SET, N_FOLDS, N_SETS
from .rater_methods import RaterModelMethod

MOST_SECONDS, MOST_BYTES = 180.0, 1e9
_STEPS, _STEPS_OF_FOLD = 100, 40
_OF_CELL, _OF_ANNOTATION = 25e-9, 3e-9  # seconds of a step: of a cell of the confusion matrices, of a class weighed
_BYTES_OF_CELL = 8 * 6  # a fit and its next step have six tables of all cells


def seconds_to_score(dataset: Dataset) -> float:
    """Estimate the processor time that one model takes, in seconds.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    """
    n_folds = N_FOLDS * (N_SETS if dataset.n_annotations < FEWEST_FOR_ONE_SET else 1)
    step = _OF_CELL * _cells(dataset) + _OF_ANNOTATION * dataset.n_annotations * dataset.n_classes
    return step * (_STEPS + n_folds * _STEPS_OF_FOLD)


def seconds_to_choose(dataset: Dataset) -> float:
    """Estimate the processor time of scoring all models, in seconds; those that `check_cost` refuses take none.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    """
    if _too_much(dataset):
        return 0.0
    candidates = [one for one in methods(RaterModelMethod).values() if one.opens(dataset)]
    return len(candidates) * seconds_to_score(dataset)


def check_cost(dataset: Dataset) -> None:
    """Refuse a model whose confusion matrices are too large to be fitted to every fold.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.

    Raises
    ------
    LimitError
        It would take more than `MOST_SECONDS` or `MOST_BYTES`.
    """
    if not _too_much(dataset):
        return
    minutes, size = max(round(seconds_to_score(dataset) / 60), 1), _bytes(dataset) / 1e9
    raise LimitError(
        f"Could not score this model: it would take about {plural(minutes, 'minute')} and {number(size, 1)} GB "
        f"with {dataset.n_classes:,} classes. Choose the model by name to fit it without a score, or merge rare "
        "classes."
    )


def _too_much(dataset: Dataset) -> bool:
    return seconds_to_score(dataset) > MOST_SECONDS or _bytes(dataset) > MOST_BYTES


def _bytes(dataset: Dataset) -> float:
    return _BYTES_OF_CELL * _cells(dataset)


def _cells(dataset: Dataset) -> int:
    return dataset.n_raters * dataset.n_classes**2
