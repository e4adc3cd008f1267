"""Predictions of classifiers: those of a sample, and files that the user added.

Files are kept unchanged with the dataset and matched again to each selection, so that a selection changes their cases
but does not remove them.
"""

import hashlib
from contextlib import suppress

from core.annotations.dataset import Dataset
from core.errors import InputError, PluralityError
from core.evaluation.score_predictions import ScorePredictions
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached


def classifiers(view: Dataset) -> tuple:
    """All predictions for the dataset in use; the user's replace those of the same name."""
    found = []
    with suppress(PluralityError):  # none of their cases may be selected
        found += cached.sample_predictions(visit.data, view)
    found += [one for _, own in _own(view) if not isinstance(own, PluralityError) for one in own]
    return tuple({predictions.name: predictions for predictions in found}.values())


def unusable(view: Dataset) -> list[str]:
    """Why files that the user added are not used for the view, each with its name; `classifiers` leaves them out."""
    refused = [(name, own) for name, own in _own(view) if isinstance(own, PluralityError)]
    return [str(error) if name in str(error) else f"{name}: {error}" for name, error in refused]


def answers(view: Dataset) -> list[Dataset]:
    """Return AI raters' annotations from files that do not hold predictions for the view."""
    found = []
    for name, content in files():
        if not isinstance(content, PluralityError):
            try:
                matched(name, content, view)
            except PluralityError:
                with suppress(PluralityError):
                    found.append(cached.machine_answers(name, content))
    return found


def _own(view: Dataset) -> list[tuple[str, tuple | PluralityError]]:
    """Return the predictions of each of the user's files, or the reason why they do not fit the view."""
    found: list[tuple[str, tuple | PluralityError]] = []
    for name, content in files():
        if isinstance(content, PluralityError):
            found.append((name, content))
            continue
        try:
            found.append((name, matched(name, content, view)))
        except PluralityError as error:
            found.append((name, error))
    return found


def matched(name: str, content: bytes, view: Dataset) -> tuple:
    """Return the predictions in a file for the view; rows of a matrix without names are the cases of all data.

    Raises
    ------
    InputError
        They do not fit the data.
    """
    return cached.own_predictions(name, content, view, cached.open_dataset(visit.data).dataset)


def own_names() -> list[str]:
    """Names of the files that the user added for the dataset in use."""
    return [name for name, _ in files()]


def add(name: str, content: bytes) -> bool:
    """Keep a file of predictions with the dataset in use, one of the same name is replaced; whether it is a new one."""
    if dict(files()).get(name) == content:
        return False
    access.WriteRight(visit.data).add_predictions(name, content)
    return True


def remove() -> None:
    """Let the user's files go."""
    access.WriteRight(visit.data).remove_predictions()


def fingerprint(predictions) -> str:
    """Return a hash of one classifier's predictions: a corrected file has the same name and often the same length."""
    if isinstance(predictions, ScorePredictions):
        return fingerprint_of(predictions.score)
    return fingerprint_of(predictions.ptr, predictions.class_code, predictions.group, predictions.score)


def fingerprint_of(*arrays) -> str:
    """Return a hash of predictions by content; arrays that are None are left out."""
    found = hashlib.blake2b(digest_size=16)
    for array in arrays:
        if array is not None:
            found.update(array.tobytes())
    return found.hexdigest()


def files() -> list[tuple[str, bytes | InputError]]:
    """Return the files added to the dataset in use, by name, unchanged, or the error if one cannot be read."""
    return list(access.ReadRight(visit.data).predictions().items())
