"""Digests that a file had by the rules of an earlier version, under which reviews and predictions may be found.

Until classes were put in order by their value, and until `#N/A` and its like counted as missing, the same file made
another dataset. So it did before codes for missing annotations were asked about, before scales in words were known,
and before columns were raters because they share values.
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
    """Digests of the same annotations by earlier rules, the likeliest first; none where they are read as ever.

    Parameters
    ----------
    build : callable
        Makes the dataset of a treatment and a list of classes.
    rule : Rule
        By which the file was read now.
    treatment : Treatment or None
        What was said of classes.
    classes : sequence of str or None
        The declared list.
    now : str
        The digest by the present rule.
    now_too : bool
        The dataset is built in another way than it is now: its digest by the present rule is an earlier one, too.
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
                except PluralityError:  # by that rule it could not be read
                    continue
    return tuple(digest for digest in found if digest != now)


def _treatments(treatment: Treatment | None) -> list[Treatment | None]:
    """What was said of classes, and the same without codes for missing annotations, which nobody asked about."""
    if treatment is None or not (codes := {name for name in treatment.missing if looks_like_code(name)}):
        return [treatment]
    without = replace(treatment, missing=treatment.missing - codes)
    return [without if without.missing or without.renamed or without.raters else None, treatment]


def _lists(classes: Sequence[str] | None) -> list[Sequence[str] | None]:
    """The declared list, and the order in which its names stood before anybody put them in their own."""
    if classes is None:
        return [None]
    array = of_texts(list(classes))
    before = array.take(natural_order(array)).to_pylist()
    with reading_by(Rule()):
        now = array.take(natural_order(array)).to_pylist()
    proposed = [list(scale_order(classes) or now), now]
    return [before, classes] if list(classes) in proposed and before != list(classes) else [classes]
