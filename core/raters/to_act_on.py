"""Raters to act on: everything that speaks against a rater, of one kind each, with its evidence in words.

Accuracy below what is acceptable, and one class only, are found at a false discovery rate; drift, speed, repetition and
annotations that do not depend on the case by the family-wise tests of `core.raters.monitoring`.
"""

from dataclasses import dataclass

import numpy as np

from ..chunks import CancelToken
from ..multiplicity import benjamini_hochberg
from ..result_base import Columns, Result
from ..text import number, percent, plural, with_interval
from .acceptable import FALSE_DISCOVERIES, Acceptable, GoldCheck, Judge, acceptable_of
from .flags import KINDS, RULES, Flag, flag_columns
from .monitoring import RaterTable
from .one_class import OneClass, one_class


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToActOn(Result):
    """Raters with what speaks against them.

    Attributes
    ----------
    raters : tuple of str
    acceptable : Acceptable
    one_class : OneClass
    flags : tuple of Flag
        By expected wrong annotations of the rater, most first, then by rule.
    """

    raters: tuple[str, ...]
    acceptable: Acceptable
    one_class: OneClass
    flags: tuple[Flag, ...]

    TABLES = ("raters", "flags")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "flags":
            return flag_columns(self.flags, self.raters)
        kinds = [" ".join(self.kinds_of(rater)) or None for rater in range(len(self.raters))]
        return {"rater": self.raters, **self.acceptable._columns("raters", None), "flags": kinds}

    def kinds_of(self, rater: int) -> tuple[str, ...]:
        """What a rater is flagged for: some of low, one_class, drift, fast, repeats and blind, each once."""
        return tuple(dict.fromkeys(KINDS[flag.rule] for flag in self.flags if flag.rater == rater))

    def flagged(self) -> tuple[int, ...]:
        """Raters with any flag, by expected wrong annotations, most first."""
        return tuple(dict.fromkeys(flag.rater for flag in self.flags))

    def words(self) -> str:
        """How many are below what is acceptable, how many are flagged, and what these cost, in a sentence or two."""
        found = self.acceptable
        if found.acceptable is None or not found.n_judged:
            return f"Nothing can be said of how accurate the raters are: {found.why}."
        n_judged = found.n_judged
        bar = f"acceptable ({number(found.acceptable)} of annotations right, as {_JUDGES[found.judged_by]})"
        about = round(found.n_below)
        if not found.n_flagged:
            unsure = f"; about {about:,} of {n_judged:,} raters may be" if n_judged > 1 else "; the one rater may be"
            return f"Nobody is surely below what is {bar}{unsure if about else ''}.{_checked(found.check)}"
        total = float(np.nansum(found.expected_wrong))
        them = "This one" if found.n_flagged == 1 else f"These {found.n_flagged:,}"
        share = percent(found.cost / total) if total > 0 else "none"
        n = int(found.n_annotations[found.flagged].sum())
        n_below = max(about, found.n_flagged)
        who = f"About {n_below:,} of {plural(n_judged, 'rater')}" if n_judged > 1 else "The one rater"
        flagged = f"{found.n_flagged:,} of them flagged for it" if n_below > 1 else "and is flagged for it"
        return (
            f"{who} {'is' if n_below == 1 else 'are'} below what is {bar}, {flagged}. "
            f"{them} gave {plural(n, 'annotation')}, of which about {round(found.cost):,} are wrong: "
            f"{share} of all that are expected to be wrong.{_checked(found.check)}"
        )


_JUDGES = {"gold": "gold judges", "model": "the model judges"}


def _checked(check: GoldCheck | None) -> str:
    """What gold, too scarce to judge, says of what the model judged."""
    if check is None:
        return ""
    said = (
        f" By gold, known of {plural(check.n, 'annotation')}, {with_interval(check.right, check.low, check.high)} are "
        f"right; the model takes these raters to be right on {number(check.model)}"
    )
    if check.agrees:
        said += ", which agrees."
    else:
        better = "better" if check.model > check.right else "worse"
        said += f", so it takes raters for {better} than they are: what it says of each is less sure than it looks."
    if check.n_missed:
        is_ = "rater is" if check.n_missed == 1 else "raters are"
        said += f" Judged by gold {check.n_missed:,} more {is_} below what is acceptable."
    if check.n_cleared:
        is_ = "is" if check.n_cleared == 1 else "are"
        said += f" Of those flagged, {check.n_cleared:,} {is_} above it by gold."
    return said


def raters_to_act_on(
    table: RaterTable,
    *,
    acceptable: float | None = None,
    q: float = FALSE_DISCOVERIES,
    judged_by: Judge | None = None,
    token: CancelToken | None = None,
) -> ToActOn:
    """All flags of the raters of a table.

    Parameters
    ----------
    table : RaterTable
        Of `core.raters.monitoring.monitor`, whose flags for drift, speed, repetition and annotations that do not depend
        on the case are taken as they are. Those below other raters are not: others may all be acceptable.
    acceptable, q, judged_by
        See `core.raters.acceptable.acceptable_of`.
    token : CancelToken, optional

    Raises
    ------
    InputError, NotApplicableError
        As `core.raters.acceptable.acceptable_of`.
    """
    found = acceptable_of(table.panel, acceptable=acceptable, q=q, judged_by=judged_by, level=table.level, token=token)
    single = one_class(table.panel)
    # Where annotations do not tell who is wrong, of two who mix up classes either is called so, by chance.
    unsaid = {"adversarial"} if found.why else set()
    flags = [flag for flag in table.flags if flag.rule in KINDS and flag.rule not in unsaid]
    flags += [
        Flag(int(rater), "low", float(found.chance[rater]), _low(found, rater))
        for rater in np.flatnonzero(found.flagged).tolist()
    ]
    flags += [
        Flag(int(rater), "one_class", float(single.p[rater]), _single(single, rater, table.classes))
        for rater in benjamini_hochberg(single.p, q)
    ]
    place, rules = np.argsort(found.order()), list(RULES)
    flags.sort(key=lambda flag: (place[flag.rater], rules.index(flag.rule)))
    return ToActOn(table.raters, found, single, tuple(flags))


def _low(found: Acceptable, rater: int) -> str:
    judge = {"gold": "gold", "model": "the model"}[found.judge_of(rater)]
    chance = float(found.chance[rater])
    return (
        f"Accuracy {found.said(rater)}, judged by {judge} on {plural(int(found.accuracy.n[rater]), 'annotation')}; "
        "acceptable "
        f"is {number(found.acceptable)}, which this rater reaches with probability "
        f"{'below .001' if chance < 0.001 else number(chance, 3)}."
    )


def _single(found: OneClass, rater: int, classes: tuple[str, ...]) -> str:
    return (
        f"Named {classes[found.favourite[rater]]} on {found.n_named[rater]:,} of "
        f"{plural(int(found.n[rater]), 'annotation')}; on the same cases other raters would name it "
        f"{number(found.expected[rater], 0)} times."
    )
