"""What may be said of the alternative annotator test in a sentence, no surer than the cases."""

from collections.abc import Sequence

import numpy as np

from ..annotations.counts import rater_case_pairs
from ..annotations.dataset import Dataset
from ..text import exact, number, percent, plural, with_interval
from ..thresholds import CLEARLY_AHEAD
from .alternative_test import PASSES, AlternativeTest, MachineStanding

_MOST_NAMED = 3


def outcome(one: MachineStanding) -> str:
    """Whether a machine "passes", "fails", or the cases leave it "open"; "untested" where nobody could be compared."""
    if one.passes is None or one.pass_share is None:
        return "untested"
    if one.passes and one.pass_share >= CLEARLY_AHEAD:
        return "passes"
    return "fails" if not one.passes and one.pass_share <= 1 - CLEARLY_AHEAD else "open"


def verdict(found: AlternativeTest) -> str:
    """Whether the machines may stand in for a rater, in a sentence without an end."""
    if found.by_chance and any(outcome(one) != "untested" for one in found.machines):
        return "The raters do not surely agree more than by chance, and whoever guesses may stand in for one"
    if len(found.machines) == 1:
        return _of_one(found.machines[0])
    of = {name: [one for one in found.machines if outcome(one) == name] for name in ("passes", "fails", "open")}
    if not any(of.values()):
        return "Too few cases to say whether any of the machines may stand in for a rater"
    parts = []
    if of["passes"]:
        parts.append(f"{_named(of['passes'])} may stand in for a rater")
    if of["fails"]:
        parts.append(f"{_named(of['fails'])} may not" + ("" if parts else " stand in for a rater"))
    if of["open"]:
        parts.append(f"of {_named(of['open'])} the cases do not tell")
    said = "; ".join(parts)
    return said[0].upper() + said[1:] if said.startswith("of ") else said


def _named(machines: list[MachineStanding]) -> str:
    names = [one.machine for one in machines]
    if len(names) > _MOST_NAMED:
        return f"{len(names):,} machines"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _of_one(one: MachineStanding) -> str:
    kind = outcome(one)
    if kind == "untested":
        return f"Too few cases to say whether {one.machine} may stand in for a rater"
    against = f"it holds its own against {one.n_rejected:,} of {plural(len(one.raters), 'rater')}"
    if kind == "open":
        return f"These cases do not tell whether {one.machine} may stand in for a rater: {against}"
    return f"{one.machine} may{'' if kind == 'passes' else ' not'} stand in for a rater: {against}"


def in_detail(one: MachineStanding, epsilon: float) -> str:
    """The same of one machine with its numbers, as a sentence."""
    if one.omega is None or one.rho is None or one.pass_share is None:
        return (
            f"{one.machine}: no rater has 30 cases with it and another rater, so nothing can be tested "
            f"({plural(one.n_cases, 'case')} with it and two raters)."
        )
    share = percent(one.pass_share)
    words = (
        f"{one.machine}: winning rate {number(one.omega)} ({one.n_rejected:,} of {plural(len(one.raters), 'rater')} at "
        f"ε = {exact(epsilon)}; {number(PASSES)} passes), advantage ρ "
        f"{with_interval(one.rho, one.rho_low, one.rho_high)}; passes in {share} of resamples of its "
        f"{plural(one.n_cases, 'case')}."
    )
    if outcome(one) == "passes":
        return words
    if one.n_to_pass is None:
        return f"{words} More cases like these would not make it pass."
    if one.n_to_pass > one.n_cases:
        return f"{words} Were more cases like these, {one.n_to_pass:,} would do to pass in 80% of samples."
    return words


def silences(dataset: Dataset, people: Sequence[str], machines: Sequence[MachineStanding]) -> list[str]:
    """Machines that are silent on cases of two people: what they would have been there counts neither way.

    Parameters
    ----------
    dataset : Dataset
        Of people and machines.
    people : sequence of str
        Names of the raters who are no machines.
    machines : sequence of MachineStanding
        As the test has them.
    """
    codes = [place for place, name in enumerate(dataset.raters) if name in set(people)]
    case, rater = rater_case_pairs(dataset)
    n = int((np.bincount(case[np.isin(rater, codes)], minlength=dataset.n_cases) >= 2).sum())
    return [
        f"{one.machine} gave no annotation on {n - one.n_cases:,} of {plural(n, 'case')} with two people, left out."
        for one in machines
        if one.n_cases < n
    ]
