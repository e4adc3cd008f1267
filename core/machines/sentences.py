"""Sentences on the alternative annotator test, no more confident than the cases allow."""

from collections.abc import Sequence

import numpy as np

from ..annotations.counts import rater_case_pairs
from ..annotations.dataset import Dataset
from ..text import exact, number, percent, plural, was_or_were, with_interval
from ..thresholds import CLEARLY_AHEAD
from .alternative_test import PASSES, AlternativeTest, MachineStanding

AGAINST_RATERS = "Filled: at most ε worse than the rater in that row · Bar: 95% interval"
_MOST_NAMED = 3


def outcome(one: MachineStanding) -> str:
    """Return "passes", "fails" or "open" for an AI rater; "untested" if nobody could be compared with it."""
    if one.passes is None or one.pass_share is None:
        return "untested"
    if one.passes and one.pass_share >= CLEARLY_AHEAD:
        return "passes"
    return "fails" if not one.passes and one.pass_share <= 1 - CLEARLY_AHEAD else "open"


def verdict(found: AlternativeTest) -> str:
    """State whether the AI raters can replace a rater, in a sentence without a full stop."""
    if found.by_chance and any(outcome(one) != "untested" for one in found.machines):
        return "Agreement between raters is not clearly better than chance, so random guesses would pass this test"
    if len(found.machines) == 1:
        return _of_one(found.machines[0])
    of = {name: [one for one in found.machines if outcome(one) == name] for name in ("passes", "fails", "open")}
    if not any(of.values()):
        return "Too few cases to determine whether an AI rater can replace a rater"
    parts = []
    if of["passes"]:
        parts.append(f"{_named(of['passes'])} can replace a rater")
    if of["fails"]:
        parts.append(f"{_named(of['fails'])} cannot" + ("" if parts else " replace a rater"))
    if of["open"]:
        n = len(of["open"])
        parts.append(f"{'the result is' if n == 1 else 'results are'} inconclusive for {_named(of['open'])}")
    said = "; ".join(parts)
    return said if of["passes"] or of["fails"] else said[0].upper() + said[1:]


def _named(machines: list[MachineStanding]) -> str:
    names = [one.machine for one in machines]
    if len(names) > _MOST_NAMED:
        return f"{len(names):,} AI raters"
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _of_one(one: MachineStanding) -> str:
    kind = outcome(one)
    if kind == "untested":
        return f"Too few cases to determine whether “{one.machine}” can replace a rater"
    against = f"it does as well as {one.n_rejected:,} of {plural(len(one.raters), 'rater')}"
    if kind == "open":
        return (
            f"Inconclusive: more cases are needed to determine whether “{one.machine}” can replace a rater ({against})"
        )
    return f"“{one.machine}” can{'' if kind == 'passes' else 'not'} replace a rater: {against}"


def as_well_as(found: AlternativeTest) -> str:
    """Return a title that counts the raters as whom the tested AI raters do as well, without a name."""
    tested = [one for one in found.machines if one.raters]
    least, most = min(one.n_rejected for one in tested), max(one.n_rejected for one in tested)
    if found.by_chance:
        return "AI raters compared with each rater"
    who = "The AI rater" if len(tested) == 1 else "The best AI rater" if most > least else "Each AI rater"
    raters = plural(max(len(one.raters) for one in tested), "rater")
    return f"{who} does as well as {most:,} of {raters}" + (f", the worst as {least:,} of them" if most > least else "")


def in_detail(one: MachineStanding, epsilon: float) -> str:
    """Describe the test of one AI rater with its numbers, in sentences."""
    if one.omega is None or one.rho is None or one.pass_share is None:
        return (
            f"{one.machine} was not tested: no rater has 30 cases that {one.machine} and another rater also annotated. "
            f"{plural(one.n_cases, 'case')} {'has' if one.n_cases == 1 else 'have'} annotations by {one.machine} and "
            "at least two raters."
        )
    share = percent(one.pass_share)
    words = (
        f"{one.machine} is not worse than {one.n_rejected:,} of {plural(len(one.raters), 'rater')} at ε = "
        f"{exact(epsilon)}. Its winning rate is {number(one.omega)} (pass mark {number(PASSES)}), and its advantage ρ "
        f"is {with_interval(one.rho, one.rho_low, one.rho_high)}. It passes in {share} of resamples of its "
        f"{plural(one.n_cases, 'case')}."
    )
    if outcome(one) == "passes":
        return words
    if one.n_to_pass is None:
        return f"{words} More cases like these would not make it pass."
    if one.n_to_pass > one.n_cases:
        return f"{words} It would need a total of {one.n_to_pass:,} cases like these to pass in 80% of samples."
    return words


def silences(dataset: Dataset, people: Sequence[str], machines: Sequence[MachineStanding]) -> list[str]:
    """Name AI raters without an annotation on some cases of two people, which count neither for nor against them.

    Parameters
    ----------
    dataset : Dataset
        Dataset of people and AI raters.
    people : sequence of str
        Names of the raters who are not AI raters.
    machines : sequence of MachineStanding
        Results of the test.
    """
    codes = [place for place, name in enumerate(dataset.raters) if name in set(people)]
    case, rater = rater_case_pairs(dataset)
    n = int((np.bincount(case[np.isin(rater, codes)], minlength=dataset.n_cases) >= 2).sum())
    return [
        f"{n - one.n_cases:,} of {plural(n, 'case')} with annotations by at least two people "
        f"{was_or_were(n - one.n_cases)} left out because {one.machine} did not annotate "
        f"{'it' if n - one.n_cases == 1 else 'them'}."
        for one in machines
        if one.n_cases < n
    ]
