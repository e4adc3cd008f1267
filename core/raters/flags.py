"""Rules that flag a rater, each with its evidence in words, and how often they flag an honest one.

The chance that honest raters raise any flag at all is at most ``false_alarms``: it is divided evenly over the rules
that can be judged, and within a rule over raters by Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70. That
is the family-wise rate, not the false discovery rate: a flag is a word about a person. Low accuracy, hardly following
the cases, and naming one class only are found at a false discovery rate: see `core.raters.flagged_raters`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..multiplicity import holm
from ..result_base import Columns, Result, rows
from ..text import number, percent, plural
from .carelessness import FAR, Carelessness
from .response_times import ResponseTimes

FALSE_ALARMS = 0.05
LEAST_SHARE = 0.05  # of the clear annotations, below which favouring a class is a habit and not carelessness
RULES = {
    "low": "Accuracy below what is acceptable",
    "follow": "Hardly follows the cases",
    "one_class": "Names hardly any class but one",
    "below_others": "Accuracy far below that of the other raters",
    "adversarial": "Right less often than annotations that ignore the case",
    "spam": "Annotations do not depend on the case",
    "careless": "Favours a class whatever the case shows",
    "streaks": "Repeats the previous annotation",
    "fast": "Much faster than the other raters",
    "drift": "Got worse over time",
    "shift": "Reads the scale higher or lower than the others",
    "spread": "Scatters more than the others",
}
# Where there is room for a word or two: in the cells of a table.
SHORT = {
    "low": "low accuracy",
    "follow": "hardly follows",
    "one_class": "one class",
    "below_others": "below others",
    "adversarial": "adversarial",
    "spam": "ignores case",
    "careless": "careless",
    "streaks": "repeats",
    "fast": "fast",
    "drift": "got worse",
    "shift": "shifted",
    "spread": "scatters",
}
KINDS = {
    "low": "low",
    "follow": "follow",
    "one_class": "one_class",
    "drift": "drift",
    "fast": "fast",
    "streaks": "repeats",
    "adversarial": "blind",
    "spam": "blind",
    "careless": "blind",
    "shift": "shift",
    "spread": "spread",
}
# What is said of a rater and does not count against them: both can be allowed for.
NEUTRAL = frozenset({"shift", "spread"})
# Rules that need the true class of a case by the others, and not only which cases are alike.
OF_TRUE_CLASS = frozenset({"low", "below_others", "adversarial", "careless", "drift"})


@dataclass(frozen=True, slots=True, repr=False)
class Flag(Result):
    """One flag.

    Attributes
    ----------
    rater : int
        Position in the table.
    rule : str
        One of `RULES`.
    p : float
        Chance of evidence as strong from an honest rater, before the number of raters and rules is allowed for; of
        "low" and "follow", the probability that accuracy or correlation is acceptable.
    words : str
        The evidence. Holds the name of a class where there is one, not escaped, and no rater's name.
    """

    rater: int
    rule: str
    p: float
    words: str

    @property
    def title(self) -> str:
        """The rule in words."""
        return RULES[self.rule]

    @property
    def neutral(self) -> bool:
        """Whether it does not count against the rater."""
        return self.rule in NEUTRAL


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What one rule has found: ``p``, shape (n_raters,), NaN where not judged, the words, and who may be flagged."""

    p: np.ndarray
    words: Callable[[int], str]
    may: np.ndarray | None = None


def flag_columns(flags: Sequence[Flag], raters: Sequence[str]) -> Columns:
    """Flags as a table, one row each."""
    return {"rater": [raters[flag.rater] for flag in flags], **rows(flags, ("rule", "p", "words"))}


def raise_flags(evidence: dict[str, Evidence], false_alarms: float) -> tuple[Flag, ...]:
    """Flags by rater, then by rule; rules that judge nobody take no share of the false alarms."""
    judging = {rule: found for rule, found in evidence.items() if np.isfinite(found.p).any()}
    flags = []
    for rule, found in judging.items():
        flags += [
            Flag(int(rater), rule, float(found.p[rater]), found.words(int(rater)))
            for rater in holm(found.p, false_alarms / len(judging))
            if found.may is None or found.may[rater]
        ]
    return tuple(sorted(flags, key=lambda flag: (flag.rater, list(RULES).index(flag.rule))))


def careless_evidence(found: Carelessness, classes: tuple[str, ...]) -> Evidence:
    """Of favourites."""

    def words(rater: int) -> str:
        n_over = int(found.n_over[rater])
        over = "another class" if n_over == 1 else f"one of {n_over} other classes"
        return (
            f"Named {classes[found.favourite[rater]]} {plural(int(found.n_favourite[rater]), 'time')} on cases that "
            f"the others take for {over} and seldom (under {percent(FAR)}) annotate so; "
            f"{number(found.expected[rater], 1)} would be expected of {found.n_far[rater]} such annotations."
        )

    enough = found.n_regardless >= LEAST_SHARE * np.maximum(found.n_clear, 1)
    return Evidence(_judged(found.p_favourite, found.n_clear > 0), words, enough)


def spam_evidence(found: Carelessness) -> Evidence:
    """Of annotations that do not depend on the case."""

    def words(rater: int) -> str:
        return (
            f"On {found.n_clear[rater]:,} cases that the others are certain of, annotations are better explained by "
            f"fixed shares of the classes than by the case, by a factor of e^{number(found.log_factor[rater], 0)}."
        )

    return Evidence(_judged(found.p_spam, np.isfinite(found.log_factor)), words)


def streak_evidence(found: ResponseTimes) -> Evidence:
    """Of repeating the previous annotation."""

    def words(rater: int) -> str:
        share = found.n_kept[rater] / max(found.n_turns[rater], 1)
        return (
            f"Gave the previous annotation again {found.n_kept[rater]:,} times ({percent(share)}) when the next case "
            "was "
            "of another class; annotations in another order would repeat less often."
        )

    return Evidence(_judged(found.p_kept, found.n_turns > 0), words)


def speed_evidence(found: ResponseTimes) -> Evidence:
    """Of speed."""
    usual = np.nanmedian(found.seconds) if np.isfinite(found.seconds).any() else np.nan

    def words(rater: int) -> str:
        own, median = number(found.seconds[rater], 1), number(usual, 1)
        return f"{own} seconds between annotations; the median rater takes {median}."

    return Evidence(_judged(found.p_fast, found.n_gaps > 0), words)


def accuracy_evidence(p: np.ndarray, accuracy: np.ndarray, low: np.ndarray, high: np.ndarray, pool: float) -> Evidence:
    """Of accuracy below the pool.

    Parameters
    ----------
    p : ndarray, shape (n_raters,)
        Probability of such an accuracy, or a lower one, in the pool.
    accuracy, low, high : ndarray, shape (n_raters,)
        With its interval.
    pool : float
        Mean accuracy of all raters.
    """

    def words(rater: int) -> str:
        return (
            f"Right in {number(accuracy[rater])} of annotations ({number(low[rater])} to {number(high[rater])}); the "
            f"mean of all raters is {number(pool)}."
        )

    return Evidence(p, words)


def adversarial_evidence(p: np.ndarray, chance: np.ndarray) -> Evidence:
    """Of accuracy below chance."""

    def words(rater: int) -> str:
        return (
            "Judged by the other raters, right less often than the same shares of classes given blindly, which would "
            f"be right on {number(chance[rater])} of annotations: the classes may be mixed up."
        )

    return Evidence(p, words)


def _judged(p: np.ndarray, some: np.ndarray) -> np.ndarray:
    return np.where(some, p, np.nan)
