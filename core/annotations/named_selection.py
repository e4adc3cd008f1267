"""Selection of annotations with a name for the screen, which an address can contain and a dataset can apply."""

import json
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from ..errors import InputError, NotFoundError
from ..options import check_number, check_whole, shown
from ..text import exact, plural, utc
from .dataset import Dataset, keep_only, marked
from .validation import checked_texts

_NAMED = 2


@dataclass(frozen=True, slots=True)
class Selection:
    """Selection of annotations; attributes that are None do not restrict it.

    Attributes
    ----------
    raters : tuple of str or None
        Raters whose annotations are selected.
    classes : tuple of str or None
        Only cases that somebody gave (or ranked) one of these classes, with all of their annotations.
    groups : tuple of str or None
        Only cases of these groups.
    first_day, last_day : str or None
        ISO dates in UTC, both included; annotations without a date are then left out.
    least, most : int or None
        Only cases with that many annotations, counted after all of the others.
    lowest, highest : float or None
        Only cases with a score between them, both included, with all of their scores.
    """

    raters: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    first_day: str | None = None
    last_day: str | None = None
    least: int | None = None
    most: int | None = None
    lowest: float | None = None
    highest: float | None = None

    def __post_init__(self) -> None:
        for name in ("raters", "classes", "groups"):
            names = getattr(self, name)
            if names is not None:
                object.__setattr__(self, name, tuple(checked_texts(names, f"{name} of the selection")))
        for name in ("first_day", "last_day"):
            day = getattr(self, name)
            if day is not None and not isinstance(day, str):
                raise InputError(f"Could not read the date {shown(day)}.", "Write it as 2026-01-31.")
        for name in ("lowest", "highest"):
            if getattr(self, name) is not None:
                check_number(getattr(self, name), f"The {name} score")
                object.__setattr__(self, name, float(getattr(self, name)))
        for name, words in (("least", "lowest"), ("most", "highest")):
            if getattr(self, name) is not None:
                check_whole(getattr(self, name), f"The {words} number of annotations", 1)

    @property
    def everything(self) -> bool:
        """True if nothing is restricted."""
        return self == Selection()

    def apply(self, dataset: Dataset) -> Dataset:
        """Return the dataset of the selected annotations; the same object if nothing is restricted.

        Raises
        ------
        NotFoundError
            A rater or class that the data do not have.
        InputError
            Groups, dates or scores that the data do not have, an invalid date, or nothing is left.
        """
        if self.everything:
            return dataset
        keep = marked(
            dataset, self.raters, None, self.groups, _midnight(self.first_day, 0), _midnight(self.last_day, 1)
        )
        if self.classes is not None:
            keep &= _with_class(dataset, self.classes)[dataset.case_of_annotation]
        if self.lowest is not None or self.highest is not None:
            keep &= _with_score(dataset, self.lowest, self.highest)[dataset.case_of_annotation]
        if self.least is not None or self.most is not None:
            left = np.bincount(dataset.case_of_annotation[keep], minlength=dataset.n_cases)
            wanted = (left >= (self.least or 1)) & (
                left <= (self.most if self.most is not None else left.max(initial=0))
            )
            keep &= wanted[dataset.case_of_annotation]
        return dataset if keep.all() else keep_only(dataset, keep)

    def words(self, dataset: Dataset) -> str:
        """Return the selection in one line, for people; ``dataset`` is the whole one."""
        parts = []
        if self.raters is not None:
            parts.append(_raters(self.raters, dataset.raters))
        if self.classes is not None:
            parts.append("cases with " + " or ".join(self.classes[:_NAMED]) + _more(self.classes, "class", "classes"))
        if self.lowest is not None or self.highest is not None:
            parts.append(f"cases with a score {_between(self.lowest, self.highest)}")
        if self.groups is not None:
            parts.append("groups " + ", ".join(self.groups[:_NAMED]) + _more(self.groups, "group"))
        if self.first_day or self.last_day:
            parts.append(f"{self.first_day or 'the beginning'} to {self.last_day or 'the end'}")
        if self.least is not None and self.most is not None:
            parts.append(f"{self.least:,} to {self.most:,} annotations per case")
        elif self.least is not None:
            parts.append(f"at least {self.least:,} annotations per case")
        elif self.most is not None:
            parts.append(f"at most {plural(self.most, 'annotation')} per case")
        return "; ".join(parts) or "all annotations"

    def to_text(self) -> str:
        """Return compact JSON for an address or a file of settings; empty if nothing is restricted."""
        said = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(said, ensure_ascii=False, separators=(",", ":")) if said else ""

    @classmethod
    def from_text(cls, text: str) -> "Selection":
        """Return the selection that `to_text` wrote.

        Raises
        ------
        InputError
            The text is not a selection.
        """
        if not text:
            return cls()
        try:
            said = json.loads(text)
            known = {field.name for field in fields(cls)}
            if not isinstance(said, dict) or not said.keys() <= known:
                raise ValueError
            checked: dict[str, Any] = {name: _checked(name, value) for name, value in said.items()}
            return cls(**checked)
        except (ValueError, RecursionError):
            raise InputError("Could not read the selection.", "Choose it again under Filter.") from None


def days_of(dataset: Dataset) -> tuple[date, date] | None:
    """Return the first and last day (UTC) of the annotations with a date; None if none has one."""
    from .dataset import MISSING_TIME

    known = dataset.time[dataset.time != MISSING_TIME] if dataset.time is not None else np.empty(0, np.int64)
    if not known.size:
        return None
    first, last = (utc(int(second)).date() for second in (known.min(), known.max()))
    return first, last


def _checked(name: str, value: object) -> object:
    if name in ("raters", "classes", "groups"):
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise ValueError
        return tuple(value)
    if name in ("first_day", "last_day"):
        return date.fromisoformat(str(value)).isoformat()
    if name in ("lowest", "highest") and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError
    return value


def _midnight(day: str | None, later: int) -> int | None:
    if day is None:
        return None
    try:
        at = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC) + timedelta(days=later)
    except (ValueError, OverflowError):
        raise InputError(f"Could not read the date {day!r}.", "Write it as 2026-01-31.") from None
    return int(at.timestamp())


def _with_class(dataset: Dataset, classes: tuple[str, ...]) -> np.ndarray:
    """Return which cases have an annotation that names one of the classes."""
    if dataset.kind == "score":
        raise InputError("Cannot select by class: scores have no classes.")
    position = {name: code for code, name in enumerate(dataset.classes)}
    unknown = [name for name in classes if name not in position]
    if unknown:
        raise NotFoundError(f"Could not find class {unknown[0]!r} in {dataset.name}.")
    wanted = np.zeros(dataset.n_classes, bool)
    wanted[[position[name] for name in classes]] = True
    case, code = dataset.named_classes()
    found = np.zeros(dataset.n_cases, bool)
    found[case[wanted[code]]] = True
    return found


def _with_score(dataset: Dataset, lowest: float | None, highest: float | None) -> np.ndarray:
    """Return which cases have a score between two bounds, of which either may be open."""
    if dataset.kind != "score":
        raise InputError(f"Cannot select by score: {dataset.name} has no scores.", "Select by classes.")
    low, high = (-np.inf if lowest is None else lowest), (np.inf if highest is None else highest)
    found = np.zeros(dataset.n_cases, bool)
    found[dataset.case_of_annotation[(dataset.score >= low) & (dataset.score <= high)]] = True
    return found


def _between(lowest: float | None, highest: float | None) -> str:
    if lowest is None or highest is None:
        return f"of {exact(lowest)} or more" if highest is None else f"of {exact(highest)} or less"
    return f"from {exact(lowest)} to {exact(highest)}"


def _raters(names: tuple[str, ...], of: tuple[str, ...]) -> str:
    """Name one or two selected raters, otherwise those left out if fewer; only count them if names are hidden."""
    if len(names) <= _NAMED:
        return f"{'rater' if len(names) == 1 else 'raters'} {', '.join(names)}"
    chosen = set(names)
    left = [name for name in of if name not in chosen]
    said = f"{len(names):,} of {plural(len(of), 'rater')}"
    if not 0 < len(left) == len(of) - len(names) < len(names):
        return said
    more = f" and {len(left) - _NAMED:,} more" if len(left) > _NAMED else ""
    return f"{said}, without {', '.join(left[:_NAMED])}{more}"


def _more(names: tuple[str, ...], noun: str, nouns: str | None = None) -> str:
    return f" and {plural(len(names) - _NAMED, noun, nouns)} more" if len(names) > _NAMED else ""
