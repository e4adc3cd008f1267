"""Expected class of ordered classes: mean, median and interval of a case's class probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..text import exact, number, shorten
from .result import CaseEffect, Spread

_ON_A_CLASS = 0.05  # from a class, at which the mean is said to be that class
_LONGEST_NAME = 18


def expected_class(probability: np.ndarray, level: float = 0.95) -> CaseEffect:
    """Compute mean, standard deviation and interval of the true class of each case, classes counted from 1.

    Parameters
    ----------
    probability : ndarray, shape (n_cases, n_classes)
        P(class) of the cases, classes in their order.
    level : float
        Confidence level of the interval: from the first class at which P(this or a lower one) reaches half of the rest,
        to the first at which it reaches 1 less that half. It holds whole classes, so at least ``level`` of the
        probability.
    """
    places = np.arange(1, probability.shape[1] + 1)
    mean = probability @ places
    sd = np.sqrt(np.maximum(probability @ places**2 - mean**2, 0.0))
    below = np.cumsum(probability, axis=1)
    tail = (1 - level) / 2
    low = 1.0 + (below < tail - 1e-12).sum(axis=1)
    high = np.minimum(1.0 + (below < 1 - tail - 1e-12).sum(axis=1), float(places[-1]))
    return CaseEffect("expected_class", mean, Spread(sd, low, high))


def median_class(probability: np.ndarray) -> np.ndarray:
    """Return the lowest class at which P(this or a lower one) reaches one half, shape (n_cases,)."""
    return (np.cumsum(probability, axis=1) < 0.5 - 1e-12).sum(axis=1)


def within_one(probability: np.ndarray) -> np.ndarray:
    """Compute P(the true class is at most one away from the median class) of each case, shape (n_cases,).

    Parameters
    ----------
    probability : ndarray, shape (n_cases, n_classes)
        P(class) of the cases, classes in their order.
    """
    places = np.arange(probability.shape[1])
    near = np.abs(places - median_class(probability)[:, None]) <= 1
    return np.minimum((probability * near).sum(axis=1), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class ClassScale:
    """Place of cases among ordered classes, counted from 1; arrays over cases, named as columns of files.

    Attributes
    ----------
    expected_class, expected_class_low, expected_class_high : ndarray
        Expected class and its 95% interval.
    median_class : ndarray of int
    within_one : ndarray
        P(the true class is at most one away from the median).
    """

    expected_class: np.ndarray
    expected_class_low: np.ndarray
    expected_class_high: np.ndarray
    median_class: np.ndarray
    within_one: np.ndarray

    def columns(self) -> dict[str, np.ndarray]:
        """Return the arrays by the names of their columns."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def class_scale(probability: np.ndarray) -> ClassScale:
    """Return the places of cases by their class probabilities of shape (n_cases, n_classes), classes in order."""
    found = expected_class(probability)
    ends = found.mean, found.spread.low, found.spread.high
    return ClassScale(*ends, median_class(probability) + 1, within_one(probability))


def absolute_error(probability: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Compute |median class − known class| of each case, in classes.

    Of all single answers the median has the least absolute error by the probabilities themselves, as the mean has the
    least squared error: Gneiting (2011), doi:10.1198/jasa.2011.r10138.

    Parameters
    ----------
    probability : ndarray, shape (n_cases, n_classes)
    truth : ndarray of int, shape (n_cases,)
        Codes of the known classes, from 0.
    """
    return np.abs(median_class(probability) - truth)


def class_values(classes: Sequence[str]) -> np.ndarray | None:
    """Return the numbers in class names, float64, (n_classes,); None if they are not evenly spaced numbers.

    Parameters
    ----------
    classes : sequence of str
        In their order, lowest first.
    """
    try:
        values = np.array([float(name) for name in classes])
    except ValueError:
        return None
    steps = np.diff(values)
    even = np.isfinite(values).all() and steps.size and np.allclose(steps, steps[0])
    return values if even else None


def without_shared_words(classes: Sequence[str]) -> tuple[str, ...]:
    """Remove the words with which all names begin: "grade 0", "grade 1" are "0", "1".

    Parameters
    ----------
    classes : sequence of str
    """
    words = [name.split(" ") for name in classes]
    most = min(map(len, words), default=1) - 1
    shared = next((place for place in range(most) if len({one[place] for one in words}) > 1), most)
    return tuple(" ".join(one[shared:]) for one in words) if len(words) > 1 else tuple(classes)


def in_class_names(classes: Sequence[str], places: np.ndarray) -> np.ndarray:
    """Convert places on the scale, the lowest class being 1, to the numbers of class names, if any.

    Parameters
    ----------
    classes : sequence of str
    places : ndarray of float64
        Results of `expected_class`.
    """
    values = class_values(classes)
    return places if values is None else values[0] + (places - 1) * (values[1] - values[0])


def place_said(classes: Sequence[str], place: float) -> str:
    """Format a place on the scale: "1.3" if classes are numbers, else "mild", or "between mild and moderate".

    Parameters
    ----------
    classes : sequence of str
    place : float
        The lowest class being 1.
    """
    if class_values(classes) is not None:
        return number(float(in_class_names(classes, np.array([place]))[0]), 1)
    nearest = round(place)
    if abs(place - nearest) <= _ON_A_CLASS:
        return shorten(classes[nearest - 1], _LONGEST_NAME)
    below = int(np.floor(place))
    lower, upper = (shorten(classes[at - 1], _LONGEST_NAME) for at in (below, below + 1))
    return f"between {lower} and {upper}"


def expected_said(classes: Sequence[str], mean: float, low: float, high: float) -> str:
    """Format the expected class with its interval: "1.3 (1 to 2)", else "mild to moderate" or "grade 1 to 2".

    Parameters
    ----------
    classes : sequence of str
    mean, low, high : float
        Results of `expected_class`; the ends are whole.
    """
    if class_values(classes) is not None:
        ends = in_class_names(classes, np.array([low, high]))
        return f"{place_said(classes, mean)} ({exact(float(ends[0]))} to {exact(float(ends[1]))})"
    first, last = (shorten(classes[int(end) - 1], _LONGEST_NAME) for end in (low, high))
    common = first[: len(first) - len(first.split(" ")[-1])]
    if common and last.removeprefix(common).isdigit():  # of "grade 1" and "grade 2" the second says no new word
        last = last.removeprefix(common)
    return first if low == high else f"{first} to {last}"
