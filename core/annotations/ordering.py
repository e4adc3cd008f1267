"""Declared order of the classes, and its correction by the user."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputError
from ..text import shorten
from .columns import of_texts
from .dataset import Dataset
from .vocabulary import Rule, natural_order, reading_by, values_of

# Scales from low to high, separated by blank lines. The words of a step have the same meaning.
_SCALES = """
none|no|normal|absent|healthy; doubtful|questionable; minimal|trace|very mild; mild|slight|minor; mild to moderate;
moderate|medium; moderately severe|moderate to severe; severe|major|serious; very severe;
extreme|critical|profound|life threatening; fatal

negligible|insignificant; minor; moderate|significant; major|serious; critical|severe; catastrophic

none; minimal|extremely low; very low; low; moderately low|low to medium;
medium|moderate|intermediate|average|normal; moderately high|medium to high; high; very high; extremely high|extreme

extra small|tiny|xs; very small; small|s; medium|m; large|l|big; very large; extra large|huge|xl

never|not at all; almost never|hardly ever|very rarely|nearly never; rarely|seldom; occasionally; sometimes|about
half the time; often|frequently|regularly; very often|very frequently; usually|most of the time; almost
always|nearly always; always|every time|all the time

not at all; several days; more than half the days; nearly every day

terrible|awful|unacceptable; very bad|extremely poor; bad; very poor; poor|inadequate; below average;
fair|average|acceptable|adequate|ok|okay|neutral|satisfactory|so so; above average; good; very good;
excellent|great; outstanding|exceptional|perfect

strongly disagree|completely disagree|totally disagree|fully disagree|disagree strongly|disagree completely; mostly
disagree; disagree; moderately disagree|disagree moderately; somewhat disagree|slightly disagree|mildly
disagree|tend to disagree|rather disagree|disagree somewhat|disagree slightly|disagree a little|partly disagree;
neutral|neither agree nor disagree|neither disagree nor agree|neither|undecided|neither nor; somewhat agree|slightly
agree|mildly agree|tend to agree|rather agree|agree somewhat|agree slightly|agree a little|partly agree; moderately
agree|agree moderately; agree; mostly agree; strongly agree|completely agree|totally agree|fully agree|agree
strongly|agree completely

impossible; rare|almost impossible|extremely unlikely; very unlikely|highly unlikely; unlikely|improbable; somewhat
unlikely|slightly unlikely|rather unlikely; possible|neutral|neither likely nor unlikely|neither|even
chance|undecided; somewhat likely|slightly likely|rather likely; likely|probable; very likely|highly likely;
extremely likely|almost certain; certain|definite

definitely not|certainly not; probably not; possibly|maybe|might or might not|perhaps; probably;
definitely|certainly

no|absent|negative; doubtful|questionable|equivocal|indeterminate; suspected|possible; probable|likely;
definite|certain|confirmed|positive

extremely negative; very negative|strongly negative; negative; somewhat negative|slightly negative|mildly negative;
neutral|mixed|neither; somewhat positive|slightly positive|mildly positive; positive; very positive|strongly
positive; extremely positive

extremely dissatisfied|completely dissatisfied; very dissatisfied|very unsatisfied; dissatisfied|unsatisfied;
somewhat dissatisfied|slightly dissatisfied; neutral|neither satisfied nor dissatisfied|neither; somewhat
satisfied|slightly satisfied; satisfied; very satisfied; extremely satisfied|completely satisfied

none|nothing|not at all|not; a little|a bit|a little bit|slightly|low; somewhat|some|partly|partially;
moderately|medium|moderate; quite a bit|quite|mostly|considerably; very|very much|a lot|high; extremely;
completely|fully

unimportant|not important|not at all important; slightly important|of little importance|a little important; somewhat
important; moderately important|neutral; important; very important; extremely important

not at all confident|not confident; slightly confident; somewhat confident; moderately confident|fairly confident;
confident; very confident; extremely confident|completely confident

no pain|none; minimal pain|very mild pain; mild pain|a little pain; discomforting; moderate pain; distressing;
severe pain; very severe pain|intense pain; horrible; excruciating; worst pain|worst possible pain|worst pain
possible|worst pain imaginable|unbearable pain
"""
_STEPS = tuple(
    {" ".join(word.split()): place for place, step in enumerate(scale.split(";")) for word in step.split("|")}
    for scale in _SCALES.split("\n\n")
)
_NUMBERED = re.compile(
    r"(?:(?:grade|stage|level|class|score|type|category|bi-?rads|tier)[\W_]*)?[-+]?\d+(?:\.\d+)?[a-c]?"
)
_MOST_NAMED = 12


def may_be_ordered(classes: Sequence[str]) -> bool:
    """Return whether the names look like a scale, so that it is worth asking whether their order has a meaning.

    They do if there are three or more numbers or numbered grades, or three or more words of a common scale. This is
    always a question, because numbers may be codes.
    """
    return len(classes) > 2 and (_are_numbered(classes) or scale_order(classes) is not None)


def scale_order(classes: Sequence[str]) -> tuple[str, ...] | None:
    """Return names that are words of one known scale, from low to high; None if they are not, or if scales differ.

    Parameters
    ----------
    classes : sequence of str
    """
    words = _as_words(classes)
    found = set()
    for steps in _STEPS:
        places = [steps.get(word) for word in words]
        if None not in places and len(set(places)) == len(places):
            found.add(tuple(name for _, name in sorted(zip(places, classes, strict=True))))
    return found.pop() if len(found) == 1 and len(classes) > 1 else None


def are_of_one_scale(classes: Sequence[str]) -> bool:
    """Return whether all names are words of one known scale, however few."""
    return any(all(word in steps for word in _as_words(classes)) for steps in _STEPS)


def _as_words(classes: Sequence[str]) -> list[str]:
    return [" ".join(re.sub(r"[-_/]", " ", name).casefold().split()) for name in classes]


def order_by_name(classes: Sequence[str]) -> tuple[str, ...] | None:
    """Return names from low to high as words of a known scale, numbers, or numbered grades; None if they are none.

    Parameters
    ----------
    classes : sequence of str
    """
    if (scale := scale_order(classes)) is not None:
        return scale
    stems = {name.rstrip("0123456789") for name in classes}
    if not _are_numbered(classes) and (len(stems) > 1 or not stems.isdisjoint(classes)):
        return None
    return _sorted(classes)


def _are_numbered(classes: Sequence[str]) -> bool:
    names = [name.strip().casefold() for name in classes]
    return values_of(names) is not None or all(_NUMBERED.fullmatch(name) for name in names)


def sorted_as_now(classes: Sequence[str], *, ordinal: bool) -> tuple[str, ...]:
    """Return classes that an earlier version sorted in their present order; other classes do not change.

    An earlier version sorted numbers as text, and the words of a scale alphabetically.

    Parameters
    ----------
    classes : sequence of str
    ordinal : bool
        True if their order has a meaning.
    """
    with reading_by(Rule(earlier=True)):
        if _sorted(classes) != tuple(classes):
            return tuple(classes)
    return (scale_order(classes) if ordinal else None) or _sorted(classes)


def _sorted(classes: Sequence[str]) -> tuple[str, ...]:
    array = of_texts(list(classes))
    return tuple(array.take(natural_order(array)).to_pylist()) if len(array) else ()


def order_in_words(classes: Sequence[str]) -> str:
    """Return the order as text, ``none < mild < severe``; for many classes only the ends."""
    named = [shorten(name, 24) for name in classes]
    if len(named) > _MOST_NAMED:
        named = [*named[:3], "…", *named[-3:]]
    return " < ".join(named)


def with_class_order(dataset: Dataset, classes: Sequence[str]) -> Dataset:
    """Return the same annotations with the classes in another order that has a meaning, lowest first.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    classes : sequence of str
        Every class once.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes.
    InputError
        A class is missing, unknown, or named twice.
    """
    dataset.check_kind("class", "Could not order the classes")
    missing = [name for name in dataset.classes if name not in classes]
    if missing:
        raise InputError(f"Could not order the classes: {missing[0]!r} is missing.", "Include every class.")
    if len(classes) != dataset.n_classes:
        raise InputError(
            f"Could not order the classes: {len(classes):,} names were given for {dataset.n_classes:,} classes.",
            "Name each class once.",
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
