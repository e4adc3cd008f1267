"""Digests that a file had by the rules of an earlier version, under which reviews and predictions may be stored.

Before classes were ordered by value, and before `#N/A` and similar tokens counted as missing, the same file made
another dataset. The same holds for the time before codes for missing annotations were asked about, before scales in
words were known, and before columns were raters because they share values.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from ..annotations.columns import of_texts
from ..annotations.dataset import Dataset
from ..annotations.ordering import scale_order
from ..annotations.vocabulary import Rule, natural_order, reading_by
from ..errors import PluralityError
from .answer_rules import Treatment
from .missing_codes import looks_like_code

Build = Callable[[Treatment | None, Sequence[str] | None], Dataset]


def earlier_digests(
    build: Build,
    rule: Rule,
    treatment: Treatment | None,
    classes: Sequence[str] | None,
    now: str,
    *,
    now_too: bool = False,
) -> tuple[str, ...]:
    """Return digests of the same annotations by earlier rules, the most probable first; none if nothing changed.

    Parameters
    ----------
    build : callable
        Function that makes the dataset of a treatment and a list of classes.
    rule : Rule
        Rule by which the file was read now.
    treatment : Treatment or None
        Treatment of classes that was chosen.
    classes : sequence of str or None
        Declared list of classes.
    now : str
        Digest by the present rule.
    now_too : bool
        True if the dataset is built in another way than it is now: its digest by the present rule is then an earlier
        one, too.
    """
    found: dict[str, None] = {}
    treatments = _treatments(treatment)
    if now_too:
        with suppress(PluralityError):
            found[build(treatment, classes).digest] = None
    with reading_by(Rule(earlier=True)):
        lists = _lists(classes)
        if not rule.matters and len(treatments) == 1 and len(lists) == 1:
            return ()
        for one in treatments:
            for listed in lists:
                try:
                    found[build(one, listed).digest] = None
                except PluralityError:  # that rule could not read the file
                    continue
    return tuple(digest for digest in found if digest != now)


def _treatments(treatment: Treatment | None) -> list[Treatment | None]:
    """Return the treatment, and the same without codes for missing annotations, which earlier versions ignored."""
    if treatment is None or not (codes := {name for name in treatment.missing if looks_like_code(name)}):
        return [treatment]
    without = replace(treatment, missing=treatment.missing - codes)
    return [without if without.missing or without.renamed or without.raters else None, treatment]


def _lists(classes: Sequence[str] | None) -> list[Sequence[str] | None]:
    """Return the declared list, and its order by earlier rules."""
    if classes is None:
        return [None]
    array = of_texts(list(classes))
    before = array.take(natural_order(array)).to_pylist()
    with reading_by(Rule()):
        now = array.take(natural_order(array)).to_pylist()
    proposed = [list(scale_order(classes) or now), now]
    return [before, classes] if list(classes) in proposed and before != list(classes) else [classes]
