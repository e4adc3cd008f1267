"""Kinds of annotation, with what differs between them: words, and whether an annotation lists classes."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["class", "ranking", "set", "score"]


@dataclass(frozen=True, slots=True)
class KindTraits:
    """What differs between kinds of annotation.

    Attributes
    ----------
    noun : str
        One annotation, as it is counted.
    plural : str
        Annotations, as the end of "these annotations are".
    lists_classes : bool
        True if an annotation is a list of classes (entries), not one value.
    has_classes : bool
        False if an annotation is a number.
    needs_split : bool
        True if annotations become single classes only by a threshold or a label.
    """

    noun: str
    plural: str
    lists_classes: bool = False
    has_classes: bool = True
    needs_split: bool = False


KINDS: dict[Kind, KindTraits] = {
    "class": KindTraits("annotation", "single classes"),
    "ranking": KindTraits("ranking", "rankings", lists_classes=True),
    "set": KindTraits("label set", "label sets", lists_classes=True, needs_split=True),
    "score": KindTraits("score", "scores", has_classes=False, needs_split=True),
}
