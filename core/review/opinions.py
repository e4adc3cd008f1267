"""Opinions of a reviewer on a case: a class, a ranking, a set of labels, a distribution, a score, or undetermined."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..annotations.kinds import KINDS, Kind
from ..errors import InputError
from ..text import exact, significant, typed

REASONS = {
    "unclear_image": "unclear image",
    "missing_information": "missing information",
    "guideline_gap": "guideline gap",
    "rater_error": "rater error",
    "truly_ambiguous": "truly ambiguous",
}
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Opinion:
    """Opinion: `of_class`, `of_ranking`, `of_labels`, `of_distribution` or `of_score`, or `UNDETERMINED`.

    Equal opinions are equal objects: the order within a tie, or of the classes of a distribution, does not matter.

    Attributes
    ----------
    blocks : tuple of tuples of str
        Classes, first choice first; tied classes are in one block. A single class is one block with one class.
    distribution : tuple of (str, float)
        Class and probability; classes with probability 0 are left out.
    score : float or None
        Score, if annotations are scores.
    within : tuple of float, or None
        For the panel: the interval in which a reviewer's score agrees with it.
    is_set : bool
        True if the one block is a set of labels that all apply, not a tie.
    plausible : tuple of str, or tuple of float, or None
        For an undecided panel: its plausible set (`core.thresholds.PLAUSIBLE_SET`), classes or labels by name, for
        scores the lowest and the highest. None if unknown, as in records of earlier versions. Equal opinions may differ
        in it.
    """

    blocks: tuple[tuple[str, ...], ...] = ()
    distribution: tuple[tuple[str, float], ...] = ()
    score: float | None = None
    within: tuple[float, float] | None = None
    is_set: bool = False
    plausible: tuple[str, ...] | tuple[float, float] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Raise `InputError` if the opinion is of two kinds at once."""
        said = bool(self.blocks) + bool(self.distribution) + (self.score is not None)
        if said > 1 or (self.is_set and len(self.blocks) != 1) or (self.within is not None and self.score is None):
            raise InputError(
                "Could not record the opinion: it mixes different kinds of opinion.",
                "Use only one of class, set, ranking or score.",
            )

    @classmethod
    def of_class(cls, name: str) -> "Opinion":
        """Return an opinion of one class."""
        return cls(blocks=((name,),))

    @classmethod
    def of_ranking(cls, blocks: Iterable[Iterable[str]]) -> "Opinion":
        """Return an opinion of classes in order, with ties.

        Raises
        ------
        InputError
            A block is empty, a class is repeated, or there is none.
        """
        ordered = tuple(tuple(sorted(block)) for block in blocks)
        named = [name for block in ordered for name in block]
        if not named or not all(ordered):
            raise InputError(
                "Could not record the ranking: a position has no class.", "Choose at least one class for each position."
            )
        if len(set(named)) < len(named):
            raise InputError("Could not record the ranking: a class occurs twice.", "Use each class once.")
        return cls(blocks=ordered)

    @classmethod
    def of_labels(cls, labels: Iterable[str]) -> "Opinion":
        """Return an opinion that is a set of labels, one or several.

        Raises
        ------
        InputError
            A label is repeated, or there is none.
        """
        named = tuple(sorted(labels))
        if not named:
            raise InputError(
                "Could not record the set: it contains no label.", "Choose a label, or “cannot be determined”."
            )
        if len(set(named)) < len(named):
            raise InputError("Could not record the set: a label occurs twice.", "Use each label once.")
        return cls(blocks=(named,), is_set=True)

    @classmethod
    def of_distribution(cls, shares: Mapping[str, float]) -> "Opinion":
        """Return an opinion of probabilities of classes.

        Raises
        ------
        InputError
            A probability is negative or not a number, or they do not sum to one.
        """
        if any(not math.isfinite(share) or share < 0 for share in shares.values()):
            raise InputError(
                "Could not record the opinion: a probability is negative or not a number.",
                "Use a probability from 0 to 1 for each class.",
            )
        total = math.fsum(shares.values())
        if abs(total - 1) > _SUM_TOLERANCE:
            raise InputError(
                f"The probabilities must add up to 1, but they add up to {significant(total, 4)}.", "Change them."
            )
        return cls(distribution=tuple(sorted((name, float(share)) for name, share in shares.items() if share > 0)))

    @classmethod
    def of_score(cls, score: float, within: tuple[float, float] | None = None) -> "Opinion":
        """Return an opinion of a score; for the panel with the interval in which a reviewer's score agrees with it.

        Parameters
        ----------
        score : float
        within : tuple of float, optional

        Raises
        ------
        InputError
            A value is not a finite number, or the score is outside the interval.
        """
        if not all(math.isfinite(value) for value in (score, *(within or ()))):
            raise InputError("Could not record the opinion: a score is not a finite number.", "Enter a number.")
        if within is not None and not within[0] <= score <= within[1]:
            raise InputError(
                "Could not record the opinion: the score is outside its interval.",
                "Use an interval that contains the score.",
            )
        return cls(score=float(score), within=None if within is None else (float(within[0]), float(within[1])))

    @property
    def kind(self) -> str:
        """Kind of opinion: "class", "ranking", "set", "distribution", "score" or "undetermined"."""
        if self.score is not None:
            return "score"
        if self.distribution:
            return "distribution"
        if not self.blocks:
            return "undetermined"
        if self.is_set:
            return "set"
        return "class" if len(self.blocks) == 1 and len(self.blocks[0]) == 1 else "ranking"

    @property
    def first(self) -> tuple[str, ...]:
        """First choice, more than one class if they are tied or a set; a score as text; empty if undetermined."""
        if self.score is not None:
            return (typed(self.score),)
        if self.distribution:
            most = max(share for _, share in self.distribution)
            return tuple(name for name, share in self.distribution if share == most)
        return self.blocks[0] if self.blocks else ()

    @property
    def classes(self) -> tuple[str, ...]:
        """Every class that the opinion names."""
        return tuple(name for block in self.blocks for name in block) + tuple(name for name, _ in self.distribution)

    @property
    def decided(self) -> bool:
        """True if the opinion is one class or one set; a tie and "undetermined" decide nothing."""
        return self.is_set or len(self.first) == 1

    def check_classes(self, classes: Sequence[str], kind: Kind) -> None:
        """Raise `InputError` if the opinion names an unknown class, or does not fit data of this kind.

        Parameters
        ----------
        classes : sequence of str
        kind : Kind
            Kind of the annotations, `Dataset.kind`.
        """
        if self != UNDETERMINED and self.kind not in _FITS[kind]:
            raise InputError(
                f"Could not record the opinion: it is a {self.kind}, but these annotations are {KINDS[kind].plural}.",
                f"Use a {kind}.",
            )
        plausible = [name for name in self.plausible or () if isinstance(name, str)]
        unknown = [name for name in (*self.classes, *plausible) if name not in classes]
        if unknown:
            raise InputError(
                f"Could not record the opinion: class {unknown[0]!r} is not in the list of classes.",
                "Choose from the list.",
            )

    def agrees_with(self, panel: "Opinion") -> bool:
        """Return whether both have the same first choice, or the same set of labels.

        A tie that contains the other's class does not settle a case, so it does not agree; nor does "undetermined",
        unless both are. A score agrees with a panel's score if it is in its interval.
        """
        if self.score is not None and panel.within is not None:
            return panel.within[0] <= self.score <= panel.within[1]
        return set(self.first) == set(panel.first)

    @property
    def plausible_set(self) -> tuple[str, ...] | tuple[float, float] | None:
        """Plausible set of an undecided panel; the classes of its tie if only these are known."""
        return (self.first or None) if self.plausible is None else self.plausible

    def is_outside(self, panel: "Opinion") -> bool:
        """Return whether the opinion is outside the plausible set of an undecided panel; False if that set is unknown.

        A ranking counts by its first choice. A tie or a set is outside if any of its classes is.
        """
        known = panel.plausible_set
        if panel.decided or known is None:
            return False
        if self.score is not None:
            return not float(known[0]) <= self.score <= float(known[1])
        return not set(self.first) <= set(known)

    def words(self) -> str:
        """Return the opinion as a line of text: ``A = B › C``, or ``A + B`` for a set. Not escaped."""
        if self.score is not None:
            ends = " to ".join(significant(end) for end in self.within or ())
            return f"{exact(self.score)} ({ends})" if ends else exact(self.score)
        if self.is_set:
            return " + ".join(self.blocks[0])
        if self.distribution:
            ordered = sorted(self.distribution, key=lambda entry: -entry[1])
            return ", ".join(f"{name} {significant(100 * share, 3)}%" for name, share in ordered)
        return " › ".join(" = ".join(block) for block in self.blocks) or "cannot be determined"

    def to_json(self) -> str:
        """Return the opinion as JSON for the database and for export."""
        if self.score is not None:
            value: dict[str, Any] = {"score": self.score} | ({"within": self.within} if self.within else {})
        elif self.distribution:
            value = {"distribution": dict(self.distribution)}
        else:
            what = "labels" if self.is_set else "ranking"
            value = {what: self.blocks[0] if self.is_set else self.blocks} if self.blocks else {"undetermined": True}
        if self.plausible is not None:
            value["plausible"] = self.plausible
        return json.dumps(value, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Opinion":
        """Return the opinion that `to_json` wrote."""
        value = json.loads(text)
        if "score" in value:
            return cls.of_score(value["score"], value.get("within"))
        if "distribution" in value:
            return cls.of_distribution(value["distribution"])
        if "labels" in value:
            return cls.of_labels(value["labels"])
        found = cls.of_ranking(value["ranking"]) if "ranking" in value else UNDETERMINED
        return replace(found, plausible=tuple(value["plausible"])) if "plausible" in value else found


_FITS = {
    "class": ("class", "ranking", "distribution"),
    "ranking": ("class", "ranking", "distribution"),
    "set": ("set",),
    "score": ("score",),
}

UNDETERMINED = Opinion()
