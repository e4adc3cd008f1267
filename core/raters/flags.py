"""Rules that flag a rater, each with its evidence in words, and how often they flag an honest one.

The chance that honest raters raise any flag at all is at most ``false_alarms``: it is divided equally among the rules
that can be judged, and within a rule over raters by Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70. That
is the family-wise rate, not the false discovery rate, because a flag concerns a person. Low accuracy, hardly following
the cases, and naming one class only are found at a false discovery rate: see `core.raters.flagged_raters`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..multiplicity import holm
from ..result_base import Columns, Result, rows
from ..text import number, percent, percent_with_interval, plural, significant
from .carelessness import FAR, Carelessness
from .response_times import ResponseTimes

FALSE_ALARMS = 0.05
LEAST_SHARE = 0.05  # If a smaller share of the clear annotations favours a class, it is a habit and not carelessness.
RULES = {
    "low": "Accuracy below the acceptable level",
    "follow": "Weak correlation with the case scores",
    "one_class": "Chooses the same class almost every time",
    "below_others": "Accuracy far below that of the other raters",
    "adversarial": "Less accurate than annotations that ignore the case",
    "spam": "Annotations do not depend on the case",
    "careless": "Favours a class regardless of the case",
    "streaks": "Repeats the previous annotation",
    "fast": "Much faster than the other raters",
    "drift": "Became less accurate over time",
    "shift": "Rates higher or lower than the others",
    "spread": "Varies more than the others",
}
# What to do about it, in words for whoever talks to the rater.
ADVICE = {
    "low": "Discuss some of these cases together before more are assigned.",
    "follow": "Ask what they look at in a case.",
    "one_class": "Ask how they distinguish the other classes.",
    "below_others": "Discuss some of these cases together before more are assigned.",
    "adversarial": "Check whether two classes are swapped in their tool.",
    "spam": "Before more cases are assigned, ask how they work.",
    "careless": "Show them the cases for which nobody else chose this class.",
    "streaks": "Check whether their tool keeps the previous annotation.",
    "fast": "Ask whether they saw the whole case.",
    "drift": "Ask what has changed since then: guideline, tool or workload.",
    "shift": "Discuss how to use the scale, not how carefully they work.",
    "spread": "Show example cases for each point on the scale.",
}
# Sentence in the evidence that is for whoever judges the raters, up to the value.
ACCEPTABLE = " Probability that it is acceptable"
# What a message says and asks, to the rater.
TO_RATER = {
    "low": ("Your annotations often differ from the reference.", "Could we discuss some of these cases together?"),
    "follow": (
        "We found only a weak relation between your annotations and the cases.",
        "What do you look at in a case?",
    ),
    "one_class": ("You chose the same class almost every time.", "Would examples of the other classes help you?"),
    "below_others": (
        "Your annotations match the reference less often than those of the others.",
        "Could we discuss some of these cases together?",
    ),
    "adversarial": (
        "Your annotations often contradict those of the others.",
        "Could two classes be swapped in your tool?",
    ),
    "spam": ("Your annotations are similar whatever the case.", "Could you tell us how you work through the cases?"),
    "careless": ("You often chose one class when the others chose another.", "Could we discuss some of these cases?"),
    "streaks": ("You often repeated your previous annotation.", "Does your tool keep the previous annotation?"),
    "fast": ("You were much faster than the others.", "Does your tool show you the whole case from the start?"),
    "drift": (
        "Your annotations match the reference less often than before.",
        "Did the guideline, your tool or your workload change?",
    ),
    "shift": (
        "Your ratings are higher or lower than those of the others. This does not count against you.",
        "Could we discuss how to use the scale?",
    ),
    "spread": (
        "Your annotations vary more than those of the others. This does not count against you.",
        "Would examples for each point on the scale help you?",
    ),
}
# Short names for the cells of a table, in files as on screen.
SHORT = {
    "low": "low accuracy",
    "follow": "weak correlation",
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
# These flags do not count against a rater, because both can be corrected for.
NEUTRAL = frozenset({"shift", "spread"})
# These rules need the true class of a case by the others, and not only which cases are similar.
OF_TRUE_CLASS = frozenset({"low", "below_others", "adversarial", "careless", "drift"})


@dataclass(frozen=True, slots=True, repr=False)
class Flag(Result):
    """Flag of one rater by one rule.

    Attributes
    ----------
    rater : int
        Position in the table.
    rule : str
        One of `RULES`.
    p : float
        Probability of evidence as strong from an honest rater, before correction for the number of raters and rules;
        for "low" and "follow", the probability that accuracy or correlation is acceptable.
    words : str
        Evidence in words. It contains the name of a class if there is one, not escaped, and no name of a rater.
    """

    rater: int
    rule: str
    p: float
    words: str

    @property
    def title(self) -> str:
        """Rule in words."""
        return RULES[self.rule]

    @property
    def advice(self) -> str:
        """Sentence on what to do about it."""
        return ADVICE[self.rule]

    @property
    def neutral(self) -> bool:
        """True if it does not count against the rater."""
        return self.rule in NEUTRAL


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Evidence by one rule: ``p``, shape (n_raters,), NaN if not judged, the words, and who may be flagged."""

    p: np.ndarray
    words: Callable[[int], str]
    may: np.ndarray | None = None


def flag_columns(flags: Sequence[Flag], raters: Sequence[str]) -> Columns:
    """Return flags as a table, one row each."""
    return {"rater": [raters[flag.rater] for flag in flags], **rows(flags, ("rule", "p", "words"))}


def raise_flags(evidence: dict[str, Evidence], false_alarms: float) -> tuple[Flag, ...]:
    """Raise flags, sorted by rater, then by rule; rules that judge nobody have no share of the false alarms."""
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
    """Return the evidence of favourites."""

    def words(rater: int) -> str:
        return (
            f"Named “{classes[found.favourite[rater]]}” {plural(int(found.n_favourite[rater]), 'time')} in "
            f"{found.n_far[rater]} cases where other raters rarely did (under {percent(FAR)}); "
            f"expected: {number(found.expected[rater], 1)} times."
        )

    enough = found.n_regardless >= LEAST_SHARE * np.maximum(found.n_clear, 1)
    return Evidence(_judged(found.p_favourite, found.n_clear > 0), words, enough)


def spam_evidence(found: Carelessness) -> Evidence:
    """Return the evidence of annotations that do not depend on the case."""

    def words(rater: int) -> str:
        return (
            f"On {found.n_clear[rater]:,} cases where the others are confident, the annotations are "
            f"{_times(float(found.log_factor[rater]))} more likely if they ignore the case than if they follow it like "
            "those of the others."
        )

    return Evidence(_judged(found.p_spam, np.isfinite(found.log_factor)), words)


def _times(log_factor: float) -> str:
    """Return a factor in words, so that nobody has to read a power of e."""
    most = 1_000_000
    if log_factor >= np.log(most):
        return f"over {most:,} times"
    return f"about {significant(np.exp(log_factor), 1)} times"


def streak_evidence(found: ResponseTimes) -> Evidence:
    """Return the evidence of repeating the previous annotation."""

    def words(rater: int) -> str:
        share = found.n_kept[rater] / max(found.n_turns[rater], 1)
        return (
            f"Repeated the previous annotation {found.n_kept[rater]:,} of {found.n_turns[rater]:,} times "
            f"({percent(share)}) when the class changed from one case to the next. Annotations in random order would "
            "repeat less often."
        )

    return Evidence(_judged(found.p_kept, found.n_turns > 0), words)


def speed_evidence(found: ResponseTimes) -> Evidence:
    """Return the evidence of speed."""
    usual = np.nanmedian(found.seconds) if np.isfinite(found.seconds).any() else np.nan

    def words(rater: int) -> str:
        own, median = number(found.seconds[rater], 1), number(usual, 1)
        return f"{own} seconds between annotations (median rater: {median} seconds)."

    return Evidence(_judged(found.p_fast, found.n_gaps > 0), words)


def accuracy_evidence(p: np.ndarray, accuracy: np.ndarray, low: np.ndarray, high: np.ndarray, pool: float) -> Evidence:
    """Return the evidence of accuracy below the pool.

    Parameters
    ----------
    p : ndarray, shape (n_raters,)
        Probability of such an accuracy, or a lower one, in the pool.
    accuracy, low, high : ndarray, shape (n_raters,)
        Accuracy with its interval.
    pool : float
        Mean accuracy of all raters.
    """

    def words(rater: int) -> str:
        return (
            f"Accuracy: {percent_with_interval(accuracy[rater], low[rater], high[rater])}; mean of all raters: "
            f"{percent(pool)}."
        )

    return Evidence(p, words)


def adversarial_evidence(p: np.ndarray, chance: np.ndarray) -> Evidence:
    """Return the evidence of accuracy below chance."""

    def words(rater: int) -> str:
        return (
            "Compared with the other raters, accuracy is below that of guesses with the same class shares, which "
            f"would be correct in {percent(chance[rater])} of annotations. The classes may be swapped."
        )

    return Evidence(p, words)


def _judged(p: np.ndarray, some: np.ndarray) -> np.ndarray:
    return np.where(some, p, np.nan)
