"""Raters to act on: all evidence against a rater, by kind, in words.

Accuracy below what is acceptable, and one class only, are found at a false discovery rate; drift, speed, repetition and
annotations that do not depend on the case by the family-wise tests of `core.raters.monitoring`.

Of three ordered classes or more nobody is flagged for accuracy, nor for what rests on it. There raters are judged by
how they follow the cases (`core.raters.following`); shift and spread are separate from it, and count against nobody.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..models.one_class_raters import one_class_raters
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import listed, number, percent, percent_with_interval, plural, probability
from .accuracy_threshold import GoldCheck, Judge, JudgedAccuracy, judge_accuracy
from .flags import ACCEPTABLE, OF_TRUE_CLASS, RULES, SHORT, Flag, flag_columns
from .following import Following, can_follow, following_of, without_words
from .monitoring import RaterTable
from .one_class import FALSE_DISCOVERIES, OneClass, one_class


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FlaggedRaters(Result):
    """Raters with the evidence against them.

    Attributes
    ----------
    raters : tuple of str
    acceptable : JudgedAccuracy
    one_class : OneClass
    flags : tuple of Flag
        By what the rater costs (`judged`), most first, then by rule.
    following : Following or None
        Following of three ordered classes or more.
    """

    raters: tuple[str, ...]
    acceptable: JudgedAccuracy
    one_class: OneClass
    flags: tuple[Flag, ...]
    following: Following | None = None

    TABLES = ("raters", "flags")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "flags":
            return flag_columns(self.flags, self.raters)
        kinds = ["; ".join(self.kinds_of(rater)) or None for rater in range(len(self.raters))]
        found = {"rater": self.raters, **self.acceptable._columns("raters", None)}
        if self.following is not None:
            found |= {name: value for name, value in self.following._columns("raters", None).items() if name != "n"}
        return found | {"flags": kinds}

    @property
    def judged(self) -> JudgedAccuracy | Following:
        """Measure that raters are judged by: how they follow the cases of ordered classes, else accuracy."""
        return self.acceptable if self.following is None else self.following

    @property
    def others(self) -> str:
        """Judge of those whom gold does not judge: a model of classes, or the other raters."""
        return "model" if self.following is None else "others"

    def kinds_of(self, rater: int) -> tuple[str, ...]:
        """Return the short names of a rater's flags: some of the values of `core.raters.flags.SHORT`."""
        return tuple(SHORT[flag.rule] for flag in self.flags if flag.rater == rater)

    def flagged(self) -> tuple[int, ...]:
        """Return raters with any flag that counts against them, by their cost, highest first."""
        return tuple(dict.fromkeys(flag.rater for flag in self.against()))

    def against(self) -> tuple[Flag, ...]:
        """Return the flags that count against a rater."""
        return tuple(flag for flag in self.flags if not flag.neutral)

    def words(self) -> str:
        """Describe how many raters are below the acceptable value, how many are flagged, and their cost."""
        if self.following is not None:
            return " ".join([self.following.words(), *self._otherwise()])
        found = self.acceptable
        if found.acceptable is None or not found.n_judged:
            return " ".join(filter(None, (f"Cannot determine rater accuracy: {found.why}.", found.remedy)))
        said = self._accuracies(found)
        return " ".join([said, *([without_words(self.raters, found.aside)] if found.aside else self._otherwise())])

    def _otherwise(self) -> list[str]:
        """Return who is flagged by other evidence, if nobody is flagged for the acceptable value."""
        others = [self.raters[rater] for rater in self.flagged()]
        if self.judged.n_flagged or not others or self.judged.aside:
            return []
        named = others[:_MOST_NAMED] + [plural(len(others) - _MOST_NAMED, "other")] * (len(others) > _MOST_NAMED)
        return [f"{listed(named)} {'is' if len(others) == 1 else 'are'} flagged for other reasons."]

    def _accuracies(self, found: JudgedAccuracy) -> str:
        n_judged = found.n_judged
        estimated = found.judged_by == "model" and n_judged > 1  # which the sentence says once
        judges = "" if estimated else f", {_JUDGES[found.judged_by]}"
        bar = f"the acceptable accuracy ({percent(found.acceptable)}{judges})"
        about = round(found.n_below)
        if not found.n_flagged:
            judge = "" if about and found.judged_by == "model" else f". Accuracy is {_JUDGES[found.judged_by]}"
            said = f"below the acceptable accuracy ({percent(found.acceptable)})"
            if about and n_judged > 1:
                who = f"About {about:,} of {plural(n_judged, 'rater')} {'is' if about == 1 else 'are'} probably"
                likely = [self.raters[rater] for rater in np.flatnonzero(found.chance < 0.5)]
                sure = about <= _MOST_NAMED and len(likely) == about
                said = f"{who} {said}, " + (f"most likely {listed(likely)}" if sure else "but it is not clear which")
            else:
                said = f"No rater is clearly {said}" + (", but the only rater may be" if about else "")
            return f"{said}{judge}.{_checked(found.check)}"
        total = float(np.nansum(found.expected_wrong))
        them = "the flagged rater's" if found.n_flagged == 1 else "the flagged raters'"
        share = percent(found.cost / total) if total > 0 else "none"
        n = int(found.n_annotations[found.flagged].sum())
        n_below = max(about, found.n_flagged)
        who = f"{n_below:,} of {plural(n_judged, 'rater')}" if n_judged > 1 else "The only rater"
        are = "is" if n_below == 1 else "are"
        said = f"{who} {are} flagged as below {bar}."
        if n_below > found.n_flagged:
            flagged = f"{found.n_flagged:,} {'is' if found.n_flagged == 1 else 'are'} flagged"
            said = f"About {who} {are} probably below {bar}; {flagged}."
        return (
            f"{said} An estimated {round(found.cost):,} of {them} {plural(n, 'annotation')} are wrong, {share} of all "
            f"wrong annotations.{_checked(found.check)}"
        )


_MOST_NAMED = 3
_CARELESS = ("spam", "careless")  # rules by which annotations do not depend on the case
_JUDGES = {"gold": "measured against gold", "model": "estimated by the model"}


def _checked(check: GoldCheck | None) -> str:
    """Describe what gold shows about accuracies that the model judged, if there is too little gold to judge."""
    if check is None:
        return ""
    said = (
        f" Of {plural(check.n, 'annotation')} with gold, {percent_with_interval(check.right, check.low, check.high)} "
        f"are correct. The model estimates {percent(check.model)}"
    )
    if check.agrees:
        said += ", which agrees."
    else:
        rates = "overrates" if check.model > check.right else "underrates"
        said += f", so it {rates} raters. Treat its estimates with caution."
    if check.n_missed:
        is_ = "rater is" if check.n_missed == 1 else "raters are"
        said += f" Measured against gold, {check.n_missed:,} more {is_} below the acceptable accuracy."
    if check.n_cleared:
        is_ = "is" if check.n_cleared == 1 else "are"
        said += (
            f" Measured against gold, {check.n_cleared:,} of the flagged raters {is_} above the acceptable accuracy."
        )
    return said


def flag_raters(
    table: RaterTable,
    *,
    acceptable: float | None = None,
    q: float = FALSE_DISCOVERIES,
    judged_by: Judge | None = None,
    token: CancelToken | None = None,
) -> FlaggedRaters:
    """Raise all flags of the raters of a table.

    Parameters
    ----------
    table : RaterTable
        Table of `core.raters.monitoring.monitor`, whose flags for drift, speed, repetition and annotations that do not
        depend on the case are taken as they are. Those below other raters are not: others may all be acceptable.
    acceptable, q, judged_by
        See `core.raters.accuracy_threshold.judge_accuracy`.
    token : CancelToken, optional

    Raises
    ------
    InputError, NotApplicableError
        See `core.raters.accuracy_threshold.judge_accuracy`.
    """
    single = one_class(table.panel.dataset)
    careless = sorted({flag.rater for flag in table.flags if flag.rule in _CARELESS})
    dataset, ordered = table.panel.dataset, can_follow(table.panel.dataset)
    found = judge_accuracy(
        table.panel,
        acceptable=None if ordered else acceptable,
        q=q,
        judged_by=judged_by,
        level=table.level,
        careless=careless,
        averaged=table.averaged,
        draws=table.draws,
        token=token,
    )
    following = None
    if ordered:
        following = following_of(
            dataset,
            acceptable=acceptable,
            q=q,
            judged_by=found.judged_by,
            level=table.level,
            aside=sorted({*single.found().tolist(), *careless}),
            token=token,
        )
    act = FlaggedRaters(table.raters, found, single, (), following)
    flags = _flags(table, act, q)
    place, rules = np.argsort(act.judged.order()), list(RULES)
    flags.sort(key=lambda flag: (place[flag.rater], rules.index(flag.rule)))
    return replace(act, flags=tuple(flags))


def _flags(table: RaterTable, act: FlaggedRaters, q: float) -> list[Flag]:
    """Return the flags of the table that may be raised, and those of accuracy, of following, and of one class."""
    found, single = act.acceptable, act.one_class
    # Where annotations do not tell who is wrong, of two who mix up classes either is called so, by chance.
    unsaid = {"adversarial"} if found.why else set()
    if act.following is not None or not found.own_classes:
        unsaid |= OF_TRUE_CLASS
    flags = [flag for flag in table.flags if flag.rule != "below_others" and flag.rule not in unsaid]
    if one_class_raters(table.panel.dataset).most:
        return [flag for flag in flags if flag.rule == "fast"]
    if act.following is not None:
        flags += act.following.flags()
    else:
        flags += [
            Flag(int(rater), "low", float(found.chance[rater]), _low(found, rater))
            for rater in np.flatnonzero(found.flagged).tolist()
        ]
    flags += [
        Flag(int(rater), "one_class", float(single.p[rater]), _single(single, rater, table.classes))
        for rater in single.found(q)
    ]
    return flags


def _low(found: JudgedAccuracy, rater: int) -> str:
    judge = {"gold": "measured with gold on", "model": "estimated from"}[found.judge_of(rater)]
    chance, n, n_own = float(found.chance[rater]), int(found.accuracy.n[rater]), int(found.n_annotations[rater])
    of = f"{n:,} of " if found.judge_of(rater) == "model" and n < n_own else ""
    return (
        f"Accuracy {found.said(rater)}, {judge} {of}{plural(n_own if of else n, 'annotation')}."
        f"{ACCEPTABLE} (at least {percent(found.acceptable)}): {probability(chance, 1)}."
    )


def _single(found: OneClass, rater: int, classes: tuple[str, ...]) -> str:
    return (
        f"Named {classes[found.favourite[rater]]} in {found.n_named[rater]:,} of "
        f"{plural(int(found.n[rater]), 'annotation')}. On the same cases, other raters would name it "
        f"{number(found.expected[rater], 0)} times."
    )
