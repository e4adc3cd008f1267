"""The declared order of the classes, put right by the user."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputError, NotApplicableError
from .dataset import Dataset

_SCALE_WORDS = (
    ("none", "mild", "moderate", "severe"),
    ("low", "medium", "high"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("poor", "fair", "good", "excellent"),
)
_NUMBERED = re.compile(
    r"(?:(?:grade|stage|level|class|score|type|category|bi-?rads|tier)[\W_]*)?[-+]?\d+(?:\.\d+)?[a-c]?"
)


def may_be_ordered(classes: Sequence[str]) -> bool:
    """Whether the names look like a scale, so that it is worth asking whether their order means something.

    Three or more numbers or numbered grades, or three or more words of a common scale. It is never taken for granted:
    numbers may be codes.
    """
    names = [name.strip().casefold() for name in classes]
    if len(names) < 3:
        return False
    if all(_NUMBERED.fullmatch(name) for name in names):
        return True
    return any(set(names) <= set(words) for words in _SCALE_WORDS)


def with_class_order(dataset: Dataset, classes: Sequence[str]) -> Dataset:
    """The same annotations with the classes in another order that means something, lowest first.

    Parameters
    ----------
    dataset : Dataset
        Of single classes.
    classes : sequence of str
        Every class once.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes.
    InputError
        A class is missing, unknown, or named twice.
    """
    if dataset.kind != "class":
        raise NotApplicableError(f"An order is declared of single classes; these are {dataset.kind}s.")
    missing = [name for name in dataset.classes if name not in classes]
    if missing:
        raise InputError(f"The order leaves out {missing[0]!r}.", "Put every class in its place.")
    if len(classes) != dataset.n_classes:
        raise InputError(
            f"The order has {len(classes):,} names for {dataset.n_classes:,} classes.", "Name each class once."
        )
    place = {name: code for code, name in enumerate(classes)}
    new = np.array([place[name] for name in dataset.classes], np.int32)
    old = np.argsort(new)
    return replace(
        dataset,
        classes=tuple(classes),
        answer=new[dataset.answer],
        ordinal=True,
        class_risk=None if dataset.class_risk is None else dataset.class_risk[old],
        gold=None if dataset.gold is None else np.append(new, -1)[dataset.gold].astype(np.int32),
    )
