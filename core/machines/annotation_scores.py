"""Nearness of one annotation to others of its case: share that are equal, distance of scores, overlap of rankings."""

from typing import Literal, get_args

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.vocabulary import to_numbers
from ..errors import NotApplicableError
from ..options import check_choice
from ..rankings.overlap import pair_mean_ao

Score = Literal["accuracy", "rmse", "overlap"]
SCORES: tuple[Score, ...] = get_args(Score)
DEPTH = 3
TITLES: dict[Score, str] = {
    "accuracy": "share of the other raters with the same annotation",
    "rmse": "root mean squared distance from the other raters",
    "overlap": f"average overlap with the other raters up to rank {DEPTH}",
}


class AnnotationScore:
    """S(a, R): how near annotation ``a`` is to the annotations ``R`` of others on its case; larger is nearer.

    Parameters
    ----------
    dataset : Dataset
    name : {"accuracy", "rmse", "overlap"}, optional
        Share equal; −√mean squared difference; mean normalised average overlap to place 3. Chosen by the kind of
        annotations if omitted.

    Raises
    ------
    OptionError
        The score is unknown.
    NotApplicableError
        The score does not suit the annotations.
    """

    def __init__(self, dataset: Dataset, name: Score | None = None) -> None:
        if dataset.kind == "set":
            raise NotApplicableError(
                "Could not compare AI raters: the annotations are sets of labels. Choose one label to compare them."
            )
        if name is None:
            by_kind: dict[str, Score] = {"class": "accuracy", "score": "rmse", "ranking": "overlap"}
            name = by_kind[dataset.kind]
        check_choice(name, "The score", SCORES)
        if (name == "overlap" and dataset.kind == "score") or (name != "overlap" and dataset.kind == "ranking"):
            what = "numbers" if dataset.kind == "score" else "rankings"
            raise NotApplicableError(f"Could not compute the score {name!r}: the annotations are {what}.")
        self.name: Score = name
        self._dataset = dataset
        self._value = _numbers(dataset) if name == "rmse" else dataset.score if dataset.kind == "score" else None

    @property
    def numbers(self) -> np.ndarray:
        """Number of each annotation, for distances."""
        assert self._value is not None
        return self._value

    def against(self, first: np.ndarray, second: np.ndarray, owner: np.ndarray, n_owners: int) -> np.ndarray:
        """Compute S of each owner from pairs of annotations.

        Parameters
        ----------
        first, second : ndarray of int, shape (n_pairs,)
            Positions of annotations: the scored one, and one of the others.
        owner : ndarray of int, shape (n_pairs,)
            Owner to whose S the pair counts.
        n_owners : int

        Returns
        -------
        ndarray of float64, shape (n_owners,)
            S of each owner, over at least one pair.
        """
        if self.name == "overlap":
            depth = min(DEPTH, self._dataset.n_classes)
            each = pair_mean_ao(self._dataset, first, second, depth)
        elif self.name == "rmse":
            assert self._value is not None
            each = (self._value[first] - self._value[second]) ** 2
        else:
            said = self._dataset.answer if self._value is None else self._value
            each = (said[first] == said[second]).astype(float)
        mean = np.bincount(owner, each, n_owners) / np.bincount(owner, minlength=n_owners)
        return -np.sqrt(mean) if self.name == "rmse" else mean


def _numbers(dataset: Dataset) -> np.ndarray:
    """Return each annotation's number: its score, the number in its class name, or the place of an ordered class."""
    if dataset.kind == "score":
        return dataset.score
    of_class = to_numbers(dataset.classes)
    if not np.isfinite(of_class).all():
        if not dataset.ordinal:
            named = next(name for name, value in zip(dataset.classes, of_class, strict=True) if not np.isfinite(value))
            raise NotApplicableError(
                f"Could not compute the score 'rmse': it needs numbers, but the class {named!r} is not a number."
            )
        of_class = np.arange(dataset.n_classes, dtype=float)
    return of_class[dataset.answer]
